//! Translation of CUDA's result codes to errors with a remedy.
//!
//! Codes are compared as numbers: a driver newer than the bindings may return a code that they do
//! not list. The name comes from the driver itself, the remedy from the table here.

use super::lost::loses_context;
use crate::backend::BackendError;
use cudarc::driver::sys::{self, CUresult};
use std::ffi::CStr;

/// `CUDA_ERROR_OUT_OF_MEMORY`.
pub(super) const OUT_OF_MEMORY: u32 = 2;
/// `CUDA_ERROR_NOT_READY`: not an error, the work continues.
pub(super) const NOT_READY: u32 = 600;

/// Turns the result of a driver call into an error that names the step (`doing`).
pub(super) fn check(doing: &'static str, result: CUresult) -> Result<(), BackendError> {
    match result as u32 {
        0 => Ok(()),
        code if loses_context(code) => Err(BackendError::ContextLost {
            doing,
            name: driver_name(result).unwrap_or_else(|| name_of(code)),
            remedy: reopening(code),
        }),
        code => Err(BackendError::Cuda {
            doing,
            name: driver_name(result).unwrap_or_else(|| name_of(code)),
            remedy: remedy(code),
        }),
    }
}

/// Remedy after a loss.
const REOPEN: &str = "close all sessions of this process on it and open a new one; run under compute-sanitizer to find the fault";

/// Returns the remedy for an error that lost the context.
const fn reopening(code: u32) -> &'static str {
    match code {
        214 | 220 => {
            "the hardware reported an uncorrectable error: see nvidia-smi -q -d ECC, close all sessions of this process on it and open a new one"
        }
        702 => {
            "the system ends long kernels on a device with a display: close all sessions of this process on it, then use another device or a smaller graph"
        }
        _ => REOPEN,
    }
}

/// Returns the error for opening a device whose lost context is still in use.
pub(super) fn still_held() -> BackendError {
    BackendError::ContextLost {
        doing: "opening the device",
        name: "an earlier error of a session that is still open".to_owned(),
        remedy: REOPEN,
    }
}

/// Returns the error for a device that opens no context after one was lost.
pub(super) fn beyond_reset(error: BackendError) -> BackendError {
    let name = match error {
        BackendError::Cuda { name, .. } | BackendError::ContextLost { name, .. } => name,
        other => other.to_string(),
    };
    BackendError::ContextLost {
        doing: "opening the device after a reset",
        name,
        remedy: "the driver gives this process no other: restart it",
    }
}

/// Returns the error for a run that the device does not end, not even by its own time budget.
pub(super) fn no_answer(doing: &'static str, waited_ms: u128) -> BackendError {
    BackendError::Cuda {
        doing,
        name: format!("the device gave no answer for {waited_ms} ms"),
        remedy: Some(
            "the kernel is stuck and its watchdog with it: end this process, and if the device stays busy, reset it with nvidia-smi --gpu-reset",
        ),
    }
}

/// Returns the error for every call after [`no_answer`].
pub(super) fn given_up() -> BackendError {
    BackendError::Cuda {
        doing: "using the device",
        name: "an earlier run on it never ended".to_owned(),
        remedy: Some("end this process before using the device again"),
    }
}

/// Returns the driver's name of a result; `None` if it has none.
fn driver_name(result: CUresult) -> Option<String> {
    let mut text = std::ptr::null();
    // SAFETY: `text` is a valid place for one pointer. A result other than
    // success can only have come from a loaded driver, so the symbol is there.
    let answer = unsafe { sys::cuGetErrorName(result, &raw mut text) };
    if answer as u32 != 0 || text.is_null() {
        return None;
    }
    // SAFETY: the driver answers with a static, zero-terminated string.
    let name = unsafe { CStr::from_ptr(text) };
    Some(name.to_string_lossy().into_owned())
}

/// Returns a name for `code` that needs no driver.
pub(super) fn name_of(code: u32) -> String {
    let known = match code {
        2 => "CUDA_ERROR_OUT_OF_MEMORY",
        3 => "CUDA_ERROR_NOT_INITIALIZED",
        34 => "CUDA_ERROR_STUB_LIBRARY",
        46 => "CUDA_ERROR_DEVICE_UNAVAILABLE",
        100 => "CUDA_ERROR_NO_DEVICE",
        101 => "CUDA_ERROR_INVALID_DEVICE",
        802 => "CUDA_ERROR_SYSTEM_NOT_READY",
        803 => "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH",
        804 => "CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE",
        999 => "CUDA_ERROR_UNKNOWN",
        _ => return format!("CUDA error {code}"),
    };
    known.to_owned()
}

/// Returns the remedy for a result, if there is one.
pub(super) const fn remedy(code: u32) -> Option<&'static str> {
    Some(match code {
        OUT_OF_MEMORY => "end other programs on the device or use a smaller graph",
        34 => {
            "the loader found the toolkit's stub instead of the driver: remove its folder from LD_LIBRARY_PATH"
        }
        46 | 801 | 900 => {
            "the device is in exclusive use or forbids this call: see nvidia-smi -q -d COMPUTE"
        }
        100 => "nvidia-smi shows no device: check the driver and CUDA_VISIBLE_DEVICES",
        101 => "choose one of the devices that are visible",
        200 | 209 | 218 => {
            "the embedded kernels do not fit this device: rebuild them with cargo xtask build-ptx"
        }
        221 => {
            "install the driver's PTX compiler (libnvidia-ptxjitcompiler) of the driver's version"
        }
        222 => "the driver is older than the kernels: install a driver for CUDA 12.0 or later",
        223 => "unset CUDA_DISABLE_PTX_JIT",
        701 => "the block is too large for the kernel's registers: use fewer lanes a block",
        720 => "the grid does not fit on the device at once: ask for fewer blocks",
        803 => "the driver's library and kernel module differ: reboot or reinstall the driver",
        804 => {
            "a forward-compatibility library is in use that this device does not allow: remove it from LD_LIBRARY_PATH"
        }
        802 => "the fabric manager is not ready: start nvidia-fabricmanager",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn success_is_no_error() {
        assert!(check("testing", CUresult::CUDA_SUCCESS).is_ok());
    }

    #[test]
    fn codes_with_a_remedy_are_those_of_the_bindings() {
        for (result, part) in [
            (CUresult::CUDA_ERROR_OUT_OF_MEMORY, "smaller graph"),
            (CUresult::CUDA_ERROR_STUB_LIBRARY, "stub"),
            (CUresult::CUDA_ERROR_DEVICE_UNAVAILABLE, "exclusive"),
            (CUresult::CUDA_ERROR_NO_DEVICE, "CUDA_VISIBLE_DEVICES"),
            (CUresult::CUDA_ERROR_INVALID_PTX, "build-ptx"),
            (
                CUresult::CUDA_ERROR_JIT_COMPILER_NOT_FOUND,
                "ptxjitcompiler",
            ),
            (CUresult::CUDA_ERROR_UNSUPPORTED_PTX_VERSION, "12.0"),
            (CUresult::CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES, "fewer lanes"),
            (
                CUresult::CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE,
                "fewer blocks",
            ),
            (CUresult::CUDA_ERROR_SYSTEM_NOT_READY, "fabric"),
            (CUresult::CUDA_ERROR_SYSTEM_DRIVER_MISMATCH, "reboot"),
        ] {
            let text = remedy(result as u32).unwrap_or("");
            assert!(text.contains(part), "{result:?}: {text}");
        }
        assert_eq!(remedy(CUresult::CUDA_ERROR_INVALID_VALUE as u32), None);
    }

    #[test]
    fn names_without_a_driver_are_those_of_the_bindings() {
        for result in [
            CUresult::CUDA_ERROR_OUT_OF_MEMORY,
            CUresult::CUDA_ERROR_NOT_INITIALIZED,
            CUresult::CUDA_ERROR_STUB_LIBRARY,
            CUresult::CUDA_ERROR_NO_DEVICE,
            CUresult::CUDA_ERROR_SYSTEM_NOT_READY,
            CUresult::CUDA_ERROR_UNKNOWN,
        ] {
            assert_eq!(name_of(result as u32), format!("{result:?}"));
        }
        assert_eq!(name_of(12_345), "CUDA error 12345");
        assert_eq!(NOT_READY, CUresult::CUDA_ERROR_NOT_READY as u32);
    }

    #[test]
    fn losses_have_their_own_remedies() {
        for (result, part) in [
            (CUresult::CUDA_ERROR_ILLEGAL_ADDRESS, "compute-sanitizer"),
            (CUresult::CUDA_ERROR_LAUNCH_FAILED, "compute-sanitizer"),
            (CUresult::CUDA_ERROR_LAUNCH_TIMEOUT, "display"),
            (CUresult::CUDA_ERROR_ECC_UNCORRECTABLE, "ECC"),
        ] {
            let text = reopening(result as u32);
            assert!(text.contains(part), "{result:?}: {text}");
        }
    }

    #[test]
    fn a_lost_context_has_a_remedy_and_a_second_one() {
        let lost = beyond_reset(given_up());
        for (error, part) in [(still_held(), "open a new one"), (lost, "restart it")] {
            assert!(matches!(error, BackendError::ContextLost { .. }));
            let text = error.to_string();
            assert!(text.contains("lost") && text.contains(part), "{text}");
        }
    }

    #[test]
    fn a_silent_device_is_reported_with_its_time_and_a_remedy() {
        let text = no_answer("waiting for the run", 1500).to_string();
        assert!(
            text.contains("1500 ms") && text.contains("nvidia-smi"),
            "{text}"
        );
    }
}
