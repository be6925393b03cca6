//! The driver's library: found, initialised and recent enough, or the reason why not.
//!
//! The bindings panic if the library or a symbol is missing. So nothing else in this module calls
//! them before [`Driver::open`] has succeeded: it searches for the library first, and queries its
//! version before any symbol that an old driver lacks.

use super::error;
use crate::backend::BackendError;
use crate::backend::gpu::version_text;
use cudarc::driver::sys;
use std::sync::OnceLock;

/// Oldest driver that has every symbol used here, as CUDA counts versions.
const VERSION_MIN: u32 = 12_000;

/// Proof that the driver is loaded and initialised.
#[derive(Clone, Copy, Debug)]
pub(super) struct Driver {
    /// CUDA version that the driver supports, 1000 × major + 10 × minor.
    pub(super) version: u32,
}

impl Driver {
    /// Loads and initialises the driver, once per process.
    ///
    /// # Errors
    /// [`BackendError::Unavailable`] without a driver, with one older than
    /// CUDA 12.0, or with one that does not start.
    pub(super) fn open() -> Result<Self, BackendError> {
        static DRIVER: OnceLock<Result<Driver, String>> = OnceLock::new();
        DRIVER
            .get_or_init(Self::load)
            .clone()
            .map_err(|reason| BackendError::Unavailable { reason })
    }

    fn load() -> Result<Self, String> {
        // SAFETY: opens and closes the library under the names that the bindings use; running its
        // initialisers is intended.
        if !unsafe { sys::is_culib_present() } {
            return Err("the driver's library (libcuda) was not found".to_owned());
        }
        let version = Self::version()?;
        if version < VERSION_MIN {
            return Err(too_old(version));
        }
        // SAFETY: flags must be zero, and they are.
        let started = unsafe { sys::cuInit(0) };
        match started as u32 {
            0 => Ok(Self { version }),
            code => Err(init_failed(code)),
        }
    }

    fn version() -> Result<u32, String> {
        let mut version = 0;
        // SAFETY: one valid integer to write to; works before cuInit.
        let answer = unsafe { sys::cuDriverGetVersion(&raw mut version) };
        match answer as u32 {
            0 => Ok(u32::try_from(version).unwrap_or(0)),
            code => Err(init_failed(code)),
        }
    }
}

fn too_old(version: u32) -> String {
    format!(
        "the driver supports CUDA {}, {} is needed",
        version_text(version),
        version_text(VERSION_MIN)
    )
}

fn init_failed(code: u32) -> String {
    let name = error::name_of(code);
    match error::remedy(code) {
        Some(remedy) => format!("the driver did not start: {name}; {remedy}"),
        None => format!("the driver did not start: {name}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_old_driver_is_refused_with_both_versions() {
        let text = too_old(11_040);
        assert!(text.contains("11.4") && text.contains("12.0"), "{text}");
    }

    #[test]
    fn a_failed_start_names_the_error_and_the_remedy() {
        let text = init_failed(100);
        assert!(text.contains("CUDA_ERROR_NO_DEVICE"), "{text}");
        assert!(text.contains("nvidia-smi"), "{text}");
        assert!(init_failed(9_999).contains("9999"));
    }

    #[test]
    fn opening_answers_and_never_panics() {
        // Both results are valid, with a driver and without, and the same each time.
        let first = Driver::open()
            .map(|driver| driver.version)
            .map_err(|e| e.to_string());
        let second = Driver::open()
            .map(|driver| driver.version)
            .map_err(|e| e.to_string());
        assert_eq!(first, second);
        if let Err(text) = first {
            assert!(text.contains("no usable CUDA device"), "{text}");
        }
    }
}
