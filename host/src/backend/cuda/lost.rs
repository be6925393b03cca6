//! Lost contexts, and their replacement.
//!
//! After some errors, such as an illegal address, a context answers every call with that error.
//! All sessions of a process on a device share its primary context, so all of them end. After the
//! last one is closed, the context can be reset, and the next session gets a fresh one. Drivers do
//! not promise that this helps; where it does not, the process has to be restarted, and the error
//! says so.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Way in which a session may open a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum OpenMode {
    /// Without a reset.
    Plainly,
    /// After a reset, since the last context was lost and is no longer in use.
    AfterReset,
    /// Not at all, since sessions still hold the lost context.
    Blocked,
}

/// State of this process's contexts, by device.
#[derive(Debug, Default)]
pub(super) struct Ledger {
    devices: BTreeMap<i32, State>,
}

#[derive(Debug, Default)]
struct State {
    open: u32,
    is_lost: bool,
    /// Whether the process keeps the context beyond its sessions.
    is_kept: bool,
}

impl Ledger {
    /// The state of this process.
    pub(super) fn of_process() -> MutexGuard<'static, Self> {
        static LEDGER: Mutex<Ledger> = Mutex::new(Ledger {
            devices: BTreeMap::new(),
        });
        // Each change is one assignment, so a thread that panicked left it consistent.
        LEDGER.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns how `device` may be opened now.
    pub(super) fn mode(&self, device: i32) -> OpenMode {
        match self.devices.get(&device) {
            Some(state) if state.is_lost && state.open > 0 => OpenMode::Blocked,
            Some(state) if state.is_lost => OpenMode::AfterReset,
            _ => OpenMode::Plainly,
        }
    }

    /// Records that `device` was opened, with a working context.
    pub(super) fn opened(&mut self, device: i32) {
        let state = self.devices.entry(device).or_default();
        state.open = state.open.saturating_add(1);
        state.is_lost = false;
    }

    /// Records that a holder of the context of `device` released it.
    pub(super) fn closed(&mut self, device: i32) {
        let state = self.devices.entry(device).or_default();
        state.open = state.open.saturating_sub(1);
    }

    /// Records that the process keeps the context of `device`; returns false if it did already.
    pub(super) fn keep(&mut self, device: i32) -> bool {
        let state = self.devices.entry(device).or_default();
        !std::mem::replace(&mut state.is_kept, true)
    }

    /// Records that the process no longer keeps the context of `device`; returns false if it did
    /// not.
    pub(super) fn let_go(&mut self, device: i32) -> bool {
        let state = self.devices.entry(device).or_default();
        std::mem::replace(&mut state.is_kept, false)
    }

    /// Records that the context of `device` was lost.
    pub(super) fn lost(&mut self, device: i32) {
        self.devices.entry(device).or_default().is_lost = true;
    }
}

/// Returns whether the error `code` loses the context, which then answers every later call with it.
pub(super) const fn loses_context(code: u32) -> bool {
    // Uncorrectable errors of memory and links, then faults of kernels.
    matches!(code, 214 | 220 | 700 | 702 | 709 | 710 | 714..=719)
}

#[cfg(test)]
mod tests {
    use super::*;
    use cudarc::driver::sys::CUresult;

    #[test]
    fn a_lost_context_is_reset_when_its_last_session_is_closed() {
        let mut ledger = Ledger::default();
        assert_eq!(ledger.mode(0), OpenMode::Plainly);
        ledger.opened(0);
        ledger.opened(0);
        ledger.lost(0);
        assert_eq!(ledger.mode(0), OpenMode::Blocked);
        ledger.closed(0);
        assert_eq!(ledger.mode(0), OpenMode::Blocked);
        ledger.closed(0);
        assert_eq!(ledger.mode(0), OpenMode::AfterReset);
        // A reset that did not help leaves the context lost.
        assert_eq!(ledger.mode(0), OpenMode::AfterReset);
        ledger.opened(0);
        assert_eq!(ledger.mode(0), OpenMode::Plainly);
    }

    #[test]
    fn a_lost_context_does_not_affect_another_device() {
        let mut ledger = Ledger::default();
        ledger.opened(0);
        ledger.opened(1);
        ledger.lost(1);
        assert_eq!(
            (ledger.mode(0), ledger.mode(1)),
            (OpenMode::Plainly, OpenMode::Blocked)
        );
    }

    #[test]
    fn a_context_is_kept_once_and_let_go_once() {
        let mut ledger = Ledger::default();
        assert!(!ledger.let_go(0));
        assert!(ledger.keep(0) && !ledger.keep(0) && ledger.keep(1));
        assert!(ledger.let_go(0) && !ledger.let_go(0));
        assert!(ledger.keep(0));
    }

    #[test]
    fn faults_of_kernels_lose_the_context_and_refused_calls_do_not() {
        for result in [
            CUresult::CUDA_ERROR_ILLEGAL_ADDRESS,
            CUresult::CUDA_ERROR_LAUNCH_FAILED,
            CUresult::CUDA_ERROR_LAUNCH_TIMEOUT,
            CUresult::CUDA_ERROR_MISALIGNED_ADDRESS,
            CUresult::CUDA_ERROR_ILLEGAL_INSTRUCTION,
            CUresult::CUDA_ERROR_ASSERT,
            CUresult::CUDA_ERROR_ECC_UNCORRECTABLE,
        ] {
            assert!(loses_context(result as u32), "{result:?}");
        }
        for result in [
            CUresult::CUDA_SUCCESS,
            CUresult::CUDA_ERROR_OUT_OF_MEMORY,
            CUresult::CUDA_ERROR_INVALID_VALUE,
            CUresult::CUDA_ERROR_NOT_READY,
            CUresult::CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES,
            CUresult::CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE,
        ] {
            assert!(!loses_context(result as u32), "{result:?}");
        }
    }
}
