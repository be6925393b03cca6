//! Replacement of the CUDA backend in a build without the feature `cuda`: there is no device.
//!
//! The names are those of the real backend, so callers need not distinguish the two. Types that
//! need a device have no values.

use super::batch::{BatchError, BatchSession, Job};
use super::{BackendError, Session};
use crate::graph::Graph;

pub use super::gpu::{CudaOptions, DeviceLimits, GridShape, LoopNodes};
pub use crate::executor::Executor;

/// Kernels for a machine; there are none.
#[derive(Debug)]
pub enum Embedded {}

impl Embedded {
    /// As in the CUDA backend.
    #[must_use]
    pub fn target(&self) -> &'static str {
        match *self {}
    }

    /// As in the CUDA backend.
    #[must_use]
    pub fn text(&self) -> &str {
        match *self {}
    }
}

/// The embedded kernels: none.
pub static EMBEDDED: [&Embedded; 0] = [];

/// As in the CUDA backend: no machine.
#[must_use]
pub fn precompiled_for() -> Vec<String> {
    Vec::new()
}

fn absent() -> BackendError {
    BackendError::Unavailable {
        reason: "this build has no CUDA backend (feature `cuda`)".to_owned(),
    }
}

/// Describes every CUDA device; fails, as there is none.
///
/// # Errors
/// [`BackendError::Unavailable`], always.
pub fn probe() -> Result<Vec<DeviceLimits>, BackendError> {
    Err(absent())
}

/// Releases the context that the process keeps of a device; fails, as there is none.
///
/// # Errors
/// [`BackendError::Unavailable`], always.
pub fn release(_ordinal: u32) -> Result<(), BackendError> {
    Err(absent())
}

/// Opens a session on a device; fails, as there is none.
///
/// # Errors
/// [`BackendError::Unavailable`], always.
pub fn open<'g>(
    _executor: Executor,
    _graph: &'g Graph,
    _options: CudaOptions,
) -> Result<Box<dyn Session + 'g>, BackendError> {
    Err(absent())
}

/// Opens a batch on a device; fails, as there is none.
///
/// # Errors
/// [`BackendError::Unavailable`], always.
pub fn open_batch<'g>(
    _jobs: &[Job<'g>],
    _options: CudaOptions,
) -> Result<Box<dyn BatchSession + 'g>, BatchError> {
    Err(absent().into())
}

pub mod measure {
    //! Costs of a device that does not exist.

    use super::{BackendError, DeviceLimits, GridShape, absent};

    /// Measures one device.
    #[derive(Debug)]
    pub enum Meter {}

    /// A measurement that no device can make.
    macro_rules! unmeasured {
        ($($name:ident),*) => {$(
            /// See the CUDA backend.
            ///
            /// # Errors
            /// Cannot fail: there is no value to call this on.
            pub fn $name(&mut self) -> Result<f64, BackendError> {
                match *self {}
            }
        )*};
    }

    impl Meter {
        /// Opens a device; fails, as there is none.
        ///
        /// # Errors
        /// [`BackendError::Unavailable`], always.
        pub fn open(_ordinal: u32) -> Result<Self, BackendError> {
            Err(absent())
        }

        /// Limits of the device.
        #[must_use]
        pub fn device(&self) -> &DeviceLimits {
            match *self {}
        }

        /// Time of one grid barrier, nanoseconds.
        ///
        /// # Errors
        /// Cannot fail: there is no value to call this on.
        pub fn barrier_ns(
            &mut self,
            _lanes: Option<u32>,
            _blocks: Option<u32>,
        ) -> Result<(f64, GridShape), BackendError> {
            match *self {}
        }

        unmeasured!(
            launch_ns,
            graph_node_ns,
            launch_sync_ns,
            readback_ns,
            memory_bytes_per_s,
            upload_bytes_per_s
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_entry_point_reports_that_there_is_no_device() {
        let graph = Graph::from_edges(2, &[(0, 1)], false).unwrap();
        let reasons = [
            probe().err(),
            release(0).err(),
            measure::Meter::open(0).err(),
            open(Executor::Mega, &graph, CudaOptions::default()).err(),
        ];
        for reason in reasons {
            let text = reason.unwrap().to_string();
            assert!(text.contains("no CUDA backend"), "{text}");
        }
    }
}

/// As in the CUDA backend.
pub(crate) mod serve {
    use super::absent;
    use crate::backend::BackendError;
    use crate::backend::serve::{Serving, Started};
    use std::time::Duration;

    /// Fails, as there is no device.
    pub(crate) fn run(
        _: &Serving<'_>,
        _: u32,
        _: impl FnOnce(Started) + Send,
        _: (impl Fn() -> bool, Duration),
    ) -> Result<(), BackendError> {
        Err(absent())
    }
}

/// As in the CUDA backend.
pub(crate) mod streaming {
    use super::absent;
    use crate::backend::BackendError;
    use crate::backend::streaming::{Open, StreamJob};

    /// Fails, as there is no device.
    pub(crate) fn run<R>(
        _: &StreamJob<'_>,
        _: u32,
        _: impl FnOnce(&Open<'_>) -> R,
    ) -> Result<(R, Vec<u32>), BackendError> {
        Err(absent())
    }
}

pub(crate) mod stepped {
    use super::{CudaOptions, Graph, absent};
    use crate::backend::BackendError;
    use crate::backend::stepped::SteppedSession;

    /// Fails, as there is no device.
    pub(crate) fn open<'g>(
        _: &'g Graph,
        _: &[u32],
        _: CudaOptions,
    ) -> Result<SteppedSession<'g>, BackendError> {
        Err(absent())
    }
}

pub(crate) mod rank {
    use super::absent;
    use crate::backend::multi::{DeviceFound, MultiJob};
    use crate::backend::processes::Processes;

    /// Fails, as there is no device.
    pub(crate) fn run(_: &MultiJob<'_>, _: u32, ranks: &Processes<'_>) -> Option<DeviceFound> {
        ranks.all(Err(absent()))
    }
}

pub(crate) mod multi {
    use super::absent;
    use crate::backend::BackendError;
    use crate::backend::multi::{DeviceFound, Meeting, MultiJob};

    /// Fails, as there is no device.
    pub(crate) fn run(
        _: &[MultiJob<'_>],
        _: &[u32],
        _: Meeting<'_>,
    ) -> Result<Vec<DeviceFound>, BackendError> {
        Err(absent())
    }
}
