//! The primary context of a device, its memory ledger and its last resort.
//!
//! All other owners in this module hold the context through an `Rc`, so it is released last. If
//! the device stops responding, the context is abandoned: owners then leak what they hold, since
//! freeing it would wait for the stuck kernel.

use super::DeviceLimits;
use super::device;
use super::driver::Driver;
use super::error::{beyond_reset, check, given_up, still_held};
use super::lost::{Ledger, OpenMode};
use super::stream::{COPY_LIMIT, Stream};
use crate::backend::BackendError;
use cudarc::driver::sys::{self, CUcontext, CUdevice};
use seawall_core::ratio::Bps;
use std::cell::Cell;
use std::rc::Rc;

/// A retained primary context.
#[derive(Debug)]
pub(super) struct Context {
    raw: CUcontext,
    device: CUdevice,
    limits: DeviceLimits,
    budget_bytes: Option<u64>,
    used_bytes: Cell<u64>,
    given_up: Cell<bool>,
    /// Whether the last context of the device was lost and reset.
    after_reset: bool,
}

impl Context {
    /// Opens the primary context of device `ordinal` and makes it current.
    ///
    /// # Errors
    /// [`BackendError::Unavailable`] without driver or device, [`BackendError::Cuda`] if the
    /// device refuses, [`BackendError::ContextLost`] if its context was lost and there is no
    /// other.
    pub(super) fn open(ordinal: u32, budget_bytes: Option<u64>) -> Result<Rc<Self>, BackendError> {
        let driver = Driver::open()?;
        let (device, limits) = device::find(driver, ordinal)?;
        let (raw, after_reset) = retain(device)?;
        let context = Rc::new(Self {
            raw,
            device,
            limits,
            budget_bytes,
            used_bytes: Cell::new(0),
            given_up: Cell::new(false),
            after_reset,
        });
        context.bind()?;
        tracing::debug!(
            device = ordinal,
            name = context.limits.info.name,
            after_reset,
            "opened a GPU"
        );
        Ok(context)
    }

    /// Makes the context current on the calling thread.
    ///
    /// # Errors
    /// [`BackendError::Cuda`] if the device refuses or was abandoned.
    pub(super) fn bind(&self) -> Result<(), BackendError> {
        if self.is_given_up() {
            return Err(given_up());
        }
        // SAFETY: `raw` is retained until this owner is dropped.
        check("selecting the device", unsafe {
            sys::cuCtxSetCurrent(self.raw)
        })
    }

    /// Opens the memory of another device to this one, whose context is current; returns whether it
    /// reaches that.
    ///
    /// # Safety
    /// `context` must be that of `device`, and retained until this one no longer uses its memory.
    ///
    /// # Errors
    /// [`BackendError::Cuda`] if a device refuses.
    pub(super) unsafe fn reach(
        &self,
        device: CUdevice,
        context: CUcontext,
    ) -> Result<bool, BackendError> {
        let mut can = 0;
        // SAFETY: one valid integer to write to; both handles came from the driver.
        check("asking whether devices reach each other", unsafe {
            sys::cuDeviceCanAccessPeer(&raw mut can, self.device, device)
        })?;
        if can == 0 {
            return Ok(false);
        }
        // SAFETY: the other context is retained, as the caller promises.
        let answer = unsafe { sys::cuCtxEnablePeerAccess(context, 0) };
        if answer != sys::CUresult::CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED {
            check("opening the memory of another device", answer)?;
        }
        Ok(true)
    }

    /// The driver's handle.
    pub(super) const fn raw(&self) -> CUcontext {
        self.raw
    }

    /// The driver's handle of the device.
    pub(super) const fn device(&self) -> CUdevice {
        self.device
    }

    /// Limits of the device.
    pub(super) const fn limits(&self) -> &DeviceLimits {
        &self.limits
    }

    /// Records an error; one that lost the context affects the whole process.
    pub(super) fn note(&self, error: &BackendError) {
        if matches!(error, BackendError::ContextLost { .. }) {
            tracing::error!(%error, "a GPU lost its context");
            Ledger::of_process().lost(self.device);
        }
    }

    /// Waits for work that a failed call left in the stream, so that the next one finds buffers that
    /// are not in use.
    pub(super) fn settled<T>(
        &self,
        stream: &Stream,
        result: Result<T, BackendError>,
    ) -> Result<T, BackendError> {
        if let Err(error) = &result {
            self.note(error);
        }
        if result.is_err() && !self.is_given_up() {
            // The first error is the one to report; a second one here would be its consequence.
            let _ = stream.wait("settling after an error", COPY_LIMIT);
        }
        result
    }

    /// The error of a first use of the context. After a reset some drivers hand out a context, and
    /// fail there with the error that lost the last one: then no other session helps.
    pub(super) fn explain(&self, error: BackendError) -> BackendError {
        self.note(&error);
        match error {
            BackendError::ContextLost { .. } if self.after_reset => beyond_reset(error),
            other => other,
        }
    }

    /// Marks the device as no longer responding.
    pub(super) fn give_up(&self) {
        tracing::error!(
            name = self.limits.info.name,
            "a GPU does not respond and is left alone"
        );
        self.given_up.set(true);
    }

    /// Returns whether the device stopped responding, so that nothing may be freed.
    pub(super) fn is_given_up(&self) -> bool {
        self.given_up.get()
    }

    /// Reserves `bytes` of device memory in the ledger.
    ///
    /// # Errors
    /// [`BackendError::OutOfMemory`] if the budget or the free memory is smaller; then nothing is
    /// reserved.
    pub(super) fn book(&self, what: &'static str, bytes: u64) -> Result<(), BackendError> {
        let used = self.used_bytes.get();
        let available = available(self.free_bytes()?, self.budget_bytes, used);
        if bytes > available {
            return Err(BackendError::OutOfMemory {
                what,
                needed: bytes,
                available,
            });
        }
        self.used_bytes.set(used.saturating_add(bytes));
        Ok(())
    }

    /// Device memory in the ledger, bytes.
    pub(super) fn used_bytes(&self) -> u64 {
        self.used_bytes.get()
    }

    /// Releases `bytes` in the ledger.
    pub(super) fn unbook(&self, bytes: u64) {
        self.used_bytes
            .set(self.used_bytes.get().saturating_sub(bytes));
    }

    /// Share of the budget, or of the device's memory without one, that is taken, basis points. The
    /// memory that other programs use counts as taken.
    pub(super) fn memory_pressure_bps(&self) -> Result<u32, BackendError> {
        let memory = self.limits.info.memory_bytes;
        let used = self.used_bytes.get();
        let limits = (memory, self.budget_bytes);
        Ok(pressure(self.free_bytes()?, limits, used))
    }

    /// Free device memory, bytes.
    pub(super) fn free_bytes(&self) -> Result<u64, BackendError> {
        let (mut free, mut total) = (0usize, 0usize);
        // SAFETY: two valid integers to write to; the context is current.
        let answer = unsafe { sys::cuMemGetInfo_v2(&raw mut free, &raw mut total) };
        check("asking for free memory", answer)?;
        Ok(free as u64)
    }
}

impl Drop for Context {
    fn drop(&mut self) {
        if self.is_given_up() {
            return;
        }
        let mut ledger = Ledger::of_process();
        // SAFETY: releases the context that `open` retained, once. An error cannot be reported from
        // here and changes nothing: the process keeps a context.
        let _ = unsafe { sys::cuDevicePrimaryCtxRelease_v2(self.device) };
        ledger.closed(self.device);
    }
}

/// Retains the primary context of `device`, a fresh one if the last one was lost. Also returns
/// whether that took a reset.
fn retain(device: CUdevice) -> Result<(CUcontext, bool), BackendError> {
    // Locked throughout, so that no other thread opens the context that this resets.
    let mut ledger = Ledger::of_process();
    if ledger.mode(device) == OpenMode::Plainly {
        match retain_plainly(device) {
            // The context was lost by a call that was not recorded; record it now.
            Err(BackendError::ContextLost { .. }) => ledger.lost(device),
            other => {
                let raw = other?;
                ledger.opened(device);
                keep(&mut ledger, device);
                return Ok((raw, false));
            }
        }
    }
    if ledger.mode(device) == OpenMode::Blocked {
        return Err(still_held());
    }
    let_go(&mut ledger, device);
    // SAFETY: no owner of this process holds the context any more. If the reset fails, so do the
    // calls below.
    let _ = unsafe { sys::cuDevicePrimaryCtxReset_v2(device) };
    let raw = retain_plainly(device).map_err(beyond_reset)?;
    ledger.opened(device);
    keep(&mut ledger, device);
    Ok((raw, true))
}

/// Retains the context of `device` once more, for the process: to make one takes longer than most
/// sessions.
fn keep(ledger: &mut Ledger, device: CUdevice) {
    if !ledger.keep(device) {
        return;
    }
    let mut raw = std::ptr::null_mut();
    // SAFETY: one valid handle to write to; the device is a valid handle.
    let answer = unsafe { sys::cuDevicePrimaryCtxRetain(&raw mut raw, device) };
    if check("keeping the device open", answer).is_err() {
        ledger.let_go(device);
    }
}

/// Releases the context that [`keep`] retained.
fn let_go(ledger: &mut Ledger, device: CUdevice) {
    if ledger.let_go(device) {
        // SAFETY: retained once by `keep`. An error changes nothing: the process keeps a context.
        let _ = unsafe { sys::cuDevicePrimaryCtxRelease_v2(device) };
    }
}

/// Releases the driver's context of device `ordinal` that the process keeps for later sessions,
/// some hundred MB of the device's memory. Open sessions continue.
///
/// # Errors
/// [`BackendError::Unavailable`] without driver or device.
pub fn release(ordinal: u32) -> Result<(), BackendError> {
    let (device, _) = device::find(Driver::open()?, ordinal)?;
    let_go(&mut Ledger::of_process(), device);
    Ok(())
}

/// Retains the primary context of `device` and makes it current, which fails for a lost one.
fn retain_plainly(device: CUdevice) -> Result<CUcontext, BackendError> {
    let mut raw = std::ptr::null_mut();
    // SAFETY: one valid handle to write to; the device is a valid handle.
    check("opening the device", unsafe {
        sys::cuDevicePrimaryCtxRetain(&raw mut raw, device)
    })?;
    // SAFETY: `raw` was just retained.
    let bound = check("selecting the device", unsafe { sys::cuCtxSetCurrent(raw) });
    if bound.is_err() {
        // SAFETY: releases the context retained above.
        let _ = unsafe { sys::cuDevicePrimaryCtxRelease_v2(device) };
    }
    bound.map(|()| raw)
}

/// Bytes still available.
fn available(free: u64, budget: Option<u64>, used: u64) -> u64 {
    budget.map_or(free, |budget| free.min(budget.saturating_sub(used)))
}

/// The larger share of the budget and of the device's memory that is taken, basis points.
fn pressure(free: u64, (memory, budget): (u64, Option<u64>), used: u64) -> u32 {
    let taken = memory.saturating_sub(free).max(used);
    let of_device = Bps::share(taken, memory).map_or(0, |share| share.0);
    let of_budget = budget.and_then(|budget| Bps::share(used, budget));
    of_budget.map_or(of_device, |share| share.0.max(of_device))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_smaller_of_budget_and_memory_is_available() {
        assert_eq!(available(100, None, 70), 100);
        assert_eq!(available(100, Some(80), 70), 10);
        assert_eq!(available(5, Some(80), 70), 5);
        assert_eq!(available(100, Some(60), 70), 0);
    }

    #[test]
    fn pressure_is_that_of_the_scarcer_of_budget_and_memory() {
        assert_eq!(pressure(75, (100, None), 20), 2_500);
        assert_eq!(pressure(75, (100, Some(40)), 20), 5_000);
        assert_eq!(pressure(4, (100, Some(400)), 90), 9_600);
        // Recently taken memory may still count as free.
        assert_eq!(pressure(100, (100, None), 90), 9_000);
        assert_eq!(pressure(0, (0, None), 0), 0);
    }
}
