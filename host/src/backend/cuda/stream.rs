//! The stream of a session, its clock, and waiting with a limit.
//!
//! Waiting polls instead of blocking in the driver, because a blocked call has no time limit: a
//! kernel whose own watchdog failed would block the host too. Polling spins during a short run and
//! sleeps during a long one.

use super::context::Context;
use super::error::{NOT_READY, check, no_answer};
use super::memory::Pinned;
use crate::backend::BackendError;
use cudarc::driver::sys::{self, CUevent, CUstream};
use std::rc::Rc;
use std::time::{Duration, Instant};

/// Time that a wait spins before it yields to other threads.
const SPIN: Duration = Duration::from_millis(20);
/// Time that a wait yields before it sleeps.
const YIELD: Duration = Duration::from_millis(200);
/// Time that it sleeps between two polls.
const NAP: Duration = Duration::from_micros(200);
/// Time within which copies and cleanup must end.
pub(super) const COPY_LIMIT: Duration = Duration::from_secs(120);

/// An ordered queue of device work.
#[derive(Debug)]
pub(super) struct Stream {
    context: Rc<Context>,
    raw: CUstream,
}

impl Stream {
    /// Creates a stream that does not wait for the default one.
    pub(super) fn new(context: &Rc<Context>) -> Result<Self, BackendError> {
        let mut raw = std::ptr::null_mut();
        let flags = sys::CUstream_flags::CU_STREAM_NON_BLOCKING as u32;
        // SAFETY: one valid handle to write to; the context is current.
        check("making a stream", unsafe {
            sys::cuStreamCreate(&raw mut raw, flags)
        })?;
        Ok(Self {
            context: Rc::clone(context),
            raw,
        })
    }

    /// The driver's handle.
    pub(super) const fn raw(&self) -> CUstream {
        self.raw
    }

    /// The context that the stream belongs to.
    pub(super) const fn context(&self) -> &Rc<Context> {
        &self.context
    }

    /// Whether all queued work has ended.
    ///
    /// # Errors
    /// The device's own error.
    pub(super) fn is_done(&self, doing: &'static str) -> Result<bool, BackendError> {
        // SAFETY: the stream lives as long as `self`.
        let answer = unsafe { sys::cuStreamQuery(self.raw) };
        if answer as u32 == NOT_READY {
            return Ok(false);
        }
        check(doing, answer).map(|()| true)
    }

    /// Waits until all queued work has ended.
    ///
    /// # Errors
    /// The device's own error, or, after `limit`, one that says how long it was silent; then the
    /// context is abandoned.
    pub(super) fn wait(&self, doing: &'static str, limit: Duration) -> Result<(), BackendError> {
        self.wait_beside(doing, limit, || ())
    }

    /// As [`Self::wait`]; calls `beside` before each poll.
    pub(super) fn wait_beside(
        &self,
        doing: &'static str,
        limit: Duration,
        beside: impl Fn(),
    ) -> Result<(), BackendError> {
        wait_until(&self.context, doing, limit, || {
            beside();
            // SAFETY: the stream lives as long as `self`.
            unsafe { sys::cuStreamQuery(self.raw) }
        })
    }

    /// Queues a copy of the first `bytes` of `source` to a device address.
    ///
    /// # Safety
    /// `destination` must be the start of at least `bytes` bytes of live
    /// device memory, and `source` must stay alive and unwritten until the
    /// copy has ended.
    pub(super) unsafe fn copy_in(
        &self,
        destination: u64,
        source: &Pinned,
        bytes: usize,
    ) -> Result<(), BackendError> {
        let bytes = bytes.min(source.bytes());
        if bytes == 0 {
            return Ok(());
        }
        // SAFETY: as promised by the caller; the length is within `source`.
        let answer = unsafe {
            sys::cuMemcpyHtoDAsync_v2(destination, source.pointer().cast(), bytes, self.raw)
        };
        check("copying to the device", answer)
    }

    /// Queues a copy of registered memory of the host to a device address.
    ///
    /// # Safety
    /// `destination` must be the start of as many bytes of live device memory, and `source` must
    /// stay alive and unwritten until the copy has ended.
    pub(super) unsafe fn copy_registered(
        &self,
        destination: u64,
        source: &[u8],
    ) -> Result<(), BackendError> {
        let (start, bytes) = (source.as_ptr().cast(), source.len());
        // SAFETY: as promised by the caller.
        check("copying to the device", unsafe {
            sys::cuMemcpyHtoDAsync_v2(destination, start, bytes, self.raw)
        })
    }

    /// Queues a copy of the first `count` words of `source` to a device address, each `apart`
    /// bytes after the one before.
    ///
    /// # Safety
    /// All these places must be live device memory, and `source` must stay alive and unwritten
    /// until the copy has ended.
    pub(super) unsafe fn copy_words(
        &self,
        destination: u64,
        apart: usize,
        source: &Pinned,
        count: usize,
    ) -> Result<(), BackendError> {
        const WORD: usize = size_of::<u32>();
        let copy = sys::CUDA_MEMCPY2D_st {
            srcXInBytes: 0,
            srcY: 0,
            srcMemoryType: sys::CUmemorytype::CU_MEMORYTYPE_HOST,
            srcHost: source.pointer().cast(),
            srcDevice: 0,
            srcArray: std::ptr::null_mut(),
            srcPitch: WORD,
            dstXInBytes: 0,
            dstY: 0,
            dstMemoryType: sys::CUmemorytype::CU_MEMORYTYPE_DEVICE,
            dstHost: std::ptr::null_mut(),
            dstDevice: destination,
            dstArray: std::ptr::null_mut(),
            dstPitch: apart,
            WidthInBytes: WORD,
            Height: count.min(source.bytes() / WORD),
        };
        // SAFETY: as promised by the caller; the length is within `source`.
        check("copying to the device", unsafe {
            sys::cuMemcpy2DAsync_v2(&raw const copy, self.raw)
        })
    }

    /// Queues a copy of `bytes` bytes at a device address to the start of
    /// `destination`.
    ///
    /// # Safety
    /// `source` must be the start of at least `bytes` bytes of live device
    /// memory, and `destination` must stay alive and untouched until the copy
    /// has ended.
    pub(super) unsafe fn copy_out(
        &self,
        destination: &Pinned,
        source: u64,
        bytes: usize,
    ) -> Result<(), BackendError> {
        let bytes = bytes.min(destination.bytes());
        if bytes == 0 {
            return Ok(());
        }
        // SAFETY: as promised by the caller; the length is within
        // `destination`.
        let answer = unsafe {
            sys::cuMemcpyDtoHAsync_v2(destination.pointer().cast(), source, bytes, self.raw)
        };
        check("copying from the device", answer)
    }

    /// Queues zeroing of `bytes` bytes at a device address.
    ///
    /// # Safety
    /// `address` must be the start of at least `bytes` bytes of live device
    /// memory.
    pub(super) unsafe fn zero(&self, address: u64, bytes: u64) -> Result<(), BackendError> {
        if bytes == 0 {
            return Ok(());
        }
        let bytes = usize::try_from(bytes).unwrap_or(usize::MAX);
        // SAFETY: as promised by the caller.
        check("clearing device memory", unsafe {
            sys::cuMemsetD8Async(address, 0, bytes, self.raw)
        })
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        if self.context.is_given_up() {
            return;
        }
        // Errors mean a broken context, which takes the stream with it.
        let _ = self.context.bind();
        // SAFETY: made by `new`, destroyed once.
        let _ = unsafe { sys::cuStreamDestroy_v2(self.raw) };
    }
}

/// An event in a stream.
#[derive(Debug)]
pub(super) struct Event {
    context: Rc<Context>,
    raw: CUevent,
}

impl Event {
    /// Creates an event that records the device's time.
    pub(super) fn new(context: &Rc<Context>) -> Result<Self, BackendError> {
        let mut raw = std::ptr::null_mut();
        // SAFETY: one valid handle to write to; the context is current.
        check("making an event", unsafe {
            sys::cuEventCreate(&raw mut raw, 0)
        })?;
        Ok(Self {
            context: Rc::clone(context),
            raw,
        })
    }

    /// Records the event after all work queued in `stream`.
    pub(super) fn record(&self, stream: &Stream) -> Result<(), BackendError> {
        // SAFETY: both handles live and belong to one context.
        check("recording an event", unsafe {
            sys::cuEventRecord(self.raw, stream.raw)
        })
    }

    /// Whether the event is reached; one that was never recorded is.
    ///
    /// # Errors
    /// The device's own error.
    pub(super) fn is_reached(&self, doing: &'static str) -> Result<bool, BackendError> {
        // SAFETY: the event lives as long as `self`.
        let answer = unsafe { sys::cuEventQuery(self.raw) };
        if answer as u32 == NOT_READY {
            return Ok(false);
        }
        check(doing, answer).map(|()| true)
    }

    /// Waits until the event is reached; one that was never recorded is reached.
    pub(super) fn wait(&self, doing: &'static str, limit: Duration) -> Result<(), BackendError> {
        // SAFETY: the event lives as long as `self`.
        wait_until(&self.context, doing, limit, || unsafe {
            sys::cuEventQuery(self.raw)
        })
    }

    /// Returns the device time from this event to a later one, nanoseconds, with a resolution of
    /// about half a microsecond. Both must have been reached.
    pub(super) fn ns_until(&self, later: &Self) -> Result<u64, BackendError> {
        let mut milliseconds = 0f32;
        // SAFETY: one valid float to write to; both events live.
        let answer = unsafe { sys::cuEventElapsedTime(&raw mut milliseconds, self.raw, later.raw) };
        check("reading the device's clock", answer)?;
        Ok((f64::from(milliseconds.max(0.0)) * 1e6).round() as u64)
    }
}

impl Drop for Event {
    fn drop(&mut self) {
        if self.context.is_given_up() {
            return;
        }
        // As for the stream.
        let _ = self.context.bind();
        // SAFETY: made by `new`, destroyed once.
        let _ = unsafe { sys::cuEventDestroy_v2(self.raw) };
    }
}

/// Polls until the answer is other than "not ready".
fn wait_until(
    context: &Context,
    doing: &'static str,
    limit: Duration,
    mut ask: impl FnMut() -> sys::CUresult,
) -> Result<(), BackendError> {
    let started = Instant::now();
    loop {
        let answer = ask();
        if answer as u32 != NOT_READY {
            return check(doing, answer);
        }
        let waited = started.elapsed();
        if waited > limit {
            context.give_up();
            return Err(no_answer(doing, waited.as_millis()));
        }
        pause(waited);
    }
}

fn pause(waited: Duration) {
    if waited < SPIN {
        std::hint::spin_loop();
    } else if waited < YIELD {
        std::thread::yield_now();
    } else {
        std::thread::sleep(NAP);
    }
}
