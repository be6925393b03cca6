//! The CUDA backend: one resident graph on one GPU, and three ways to run a
//! program on it.
//!
//! The driver is loaded when a device is first asked for, so the same binary
//! starts without one. Everything unsafe about it stays in this module: raw
//! handles have one owner each, owners hold what they depend on, and nothing
//! is freed while the device may still use it. Planning, encoding and choosing
//! between backends happen elsewhere.
//!
//! A run takes no memory, queues its work on one stream and ends with one
//! readback of the control block. Should a kernel outlast its own time budget,
//! the host gives up after a grace and leaks the device's memory instead of
//! hanging in a free.

mod error;
mod driver;
mod device;
mod context;
mod memory;
mod stream;
mod staging;
mod module;
mod cluster;
mod launch;
mod walk;
mod tables;
mod resident;
mod loaded;
mod running;
mod mega;
mod launches;
mod graph;
mod session;
mod shape;
mod batch;
mod bound;
pub mod measure;

pub use batch::CudaBatch;
pub use device::{DeviceLimits, probe};
pub use launch::GridShape;
pub use module::{BASELINE, HOPPER};
pub use session::CudaSession;

use super::{BackendError, RunLimits, Session};
use crate::graph::Graph;

/// How a program runs on a GPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Executor {
    /// One persistent cooperative kernel for the whole program.
    Mega,
    /// One launch a group; the host decides when a loop ends.
    Launches,
    /// A CUDA graph of the same launches.
    Graph,
}

/// How [`Executor::Graph`] runs loops.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LoopNodes {
    /// As conditional `while` nodes: one launch and one wait for a whole program.
    /// Needs a driver for CUDA 12.3 or later.
    Conditional,
    /// Unrolled in chunks of iterations; the host looks after each chunk whether the
    /// loop has ended.
    Unrolled,
}

/// How to open a session.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CudaOptions {
    /// Number of the device, as [`probe`] lists it.
    pub device: u32,
    /// Blocks of a grid; nothing fills each multiprocessor with 1024 lanes.
    pub blocks: Option<u32>,
    /// Lanes of a block, a multiple of 32; nothing takes as many as the kernel
    /// allows, at most 1024.
    pub lanes: Option<u32>,
    /// Most blocks of a cluster, a power of two up to 16, of which 1 means
    /// none; nothing lets graphs of low degree have clusters where the device
    /// does. Only programs that do nothing but search run in clusters.
    pub cluster: Option<u32>,
    /// Limits of each run.
    pub limits: RunLimits,
    /// Device memory that the session may take in all, bytes; nothing leaves
    /// it to what is free.
    pub budget_bytes: Option<u64>,
    /// Whether programs that gather over incoming edges do so by tiles of rows;
    /// nothing leaves it to the graph. The sums are the same, bit for bit. Tiles of
    /// 134 M edges take 0.37 to 0.44 s to make with 16 threads and pay from about 600
    /// iterations on; where [`crate::run::execute`] chooses the machine, it says no for
    /// less.
    pub tiles: Option<bool>,
    /// How [`Executor::Graph`] runs loops; nothing takes conditional nodes where the
    /// driver has them. Results are the same.
    pub loops: Option<LoopNodes>,
}

/// Opens a session of `executor` with `graph` resident on a device.
///
/// The graph stays borrowed, because weights and incoming edges go up only
/// when a program reads them. The session belongs to the calling thread.
///
/// # Errors
/// [`BackendError::Unavailable`] without a usable driver or device; otherwise
/// as for [`CudaSession::open`].
///
/// ```
/// use seawall::backend::{BackendError, cuda};
/// use seawall::graph::Graph;
///
/// let graph = Graph::from_edges(3, &[(0, 1), (1, 2)], false)?;
/// match cuda::open(cuda::Executor::Mega, &graph, cuda::CudaOptions::default()) {
///     Ok(session) => println!("{}", session.device().name),
///     Err(BackendError::Unavailable { reason }) => println!("no GPU: {reason}"),
///     Err(error) => println!("{error}"),
/// }
/// # Ok::<(), seawall::graph::GraphError>(())
/// ```
pub fn open<'g>(
    executor: Executor,
    graph: &'g Graph,
    options: CudaOptions,
) -> Result<Box<dyn Session + 'g>, BackendError> {
    Ok(Box::new(CudaSession::open(executor, graph, options)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn opening_without_the_device_says_why_for_every_executor() {
        let graph = Graph::from_edges(2, &[(0, 1)], false).unwrap();
        for executor in [Executor::Mega, Executor::Launches, Executor::Graph] {
            let options = CudaOptions {
                device: u32::MAX,
                ..CudaOptions::default()
            };
            let error = open(executor, &graph, options).err().unwrap();
            assert!(matches!(error, BackendError::Unavailable { .. }), "{error}");
        }
    }
}
