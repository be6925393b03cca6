//! Device memory and pinned host memory, each with one owner.
//!
//! Both are allocated when a session opens or loads a program and never during a run. Nothing here
//! copies between them; [`super::staging`] does.

use super::context::Context;
use super::error::{OUT_OF_MEMORY, check};
use crate::backend::BackendError;
use crate::backend::footprint::GPU_BYTES_MIN;
use crate::graph::memory;
use cudarc::driver::sys;
use std::ptr::NonNull;
use std::rc::Rc;

/// A block of device memory.
#[derive(Debug)]
pub(super) struct DeviceMemory {
    context: Rc<Context>,
    address: u64,
    bytes: u64,
}

impl DeviceMemory {
    /// Allocates at least `bytes` bytes of device memory, uninitialised and aligned to 256 bytes.
    ///
    /// # Errors
    /// [`BackendError::OutOfMemory`] if the budget or the device is too small.
    pub(super) fn take(
        context: &Rc<Context>,
        what: &'static str,
        bytes: u64,
    ) -> Result<Self, BackendError> {
        let bytes = bytes.max(GPU_BYTES_MIN);
        context.book(what, bytes)?;
        let mut address = 0;
        let size = usize::try_from(bytes).unwrap_or(usize::MAX);
        // SAFETY: one valid address to write to; the context is current.
        let answer = unsafe { sys::cuMemAlloc_v2(&raw mut address, size) };
        if answer as u32 == OUT_OF_MEMORY {
            context.unbook(bytes);
            let available = context.free_bytes()?;
            return Err(BackendError::OutOfMemory {
                what,
                needed: bytes,
                available,
            });
        }
        check("taking device memory", answer).inspect_err(|_| context.unbook(bytes))?;
        Ok(Self {
            context: Rc::clone(context),
            address,
            bytes,
        })
    }

    /// The context that it belongs to.
    pub(super) const fn context(&self) -> &Rc<Context> {
        &self.context
    }

    /// Device address of the first byte.
    pub(super) const fn address(&self) -> u64 {
        self.address
    }

    /// Length in bytes.
    pub(super) const fn bytes(&self) -> u64 {
        self.bytes
    }
}

impl Drop for DeviceMemory {
    fn drop(&mut self) {
        if self.context.is_given_up() {
            return;
        }
        self.context.unbook(self.bytes);
        // A failed bind or free means that the context is broken and its memory lost with it; a
        // drop cannot report it.
        let _ = self.context.bind();
        // SAFETY: the address came from cuMemAlloc and is freed once; the call
        // waits for work that still uses it.
        let _ = unsafe { sys::cuMemFree_v2(self.address) };
    }
}

/// Host memory that the device copies to and from directly.
#[derive(Debug)]
pub(super) struct Pinned {
    context: Rc<Context>,
    start: NonNull<u8>,
    bytes: usize,
}

impl Pinned {
    /// Allocates `bytes` bytes of pinned memory, zeroed.
    ///
    /// # Errors
    /// [`BackendError::OutOfMemory`] when the system pins no more.
    pub(super) fn take(context: &Rc<Context>, bytes: usize) -> Result<Self, BackendError> {
        let bytes = bytes.max(64);
        let mut start = std::ptr::null_mut();
        // SAFETY: one valid pointer to write to; the context is current.
        let answer = unsafe { sys::cuMemHostAlloc(&raw mut start, bytes, 0) };
        if answer as u32 == OUT_OF_MEMORY {
            return Err(BackendError::OutOfMemory {
                what: "pinned host memory",
                needed: bytes as u64,
                available: memory::available().unwrap_or(0),
            });
        }
        check("pinning host memory", answer)?;
        let start = NonNull::new(start.cast::<u8>()).ok_or(BackendError::Cuda {
            doing: "pinning host memory",
            name: "the driver answered with no address".to_owned(),
            remedy: None,
        })?;
        // SAFETY: `bytes` bytes were just allocated here and are not shared yet.
        unsafe { start.as_ptr().write_bytes(0, bytes) };
        Ok(Self {
            context: Rc::clone(context),
            start,
            bytes,
        })
    }

    /// Address for a copy by the device.
    pub(super) const fn pointer(&self) -> *mut u8 {
        self.start.as_ptr()
    }

    /// Length in bytes.
    pub(super) const fn bytes(&self) -> usize {
        self.bytes
    }

    /// The bytes, for reading.
    ///
    /// # Safety
    /// No copy into this memory may be pending while the slice lives.
    pub(super) unsafe fn as_slice(&self) -> &[u8] {
        // SAFETY: allocated with this length, zeroed by `take`, and no device
        // writes now, as the caller promises.
        unsafe { std::slice::from_raw_parts(self.start.as_ptr(), self.bytes) }
    }

    /// The bytes, for writing.
    ///
    /// # Safety
    /// No copy into or out of this memory may be pending while the slice lives.
    pub(super) unsafe fn as_mut_slice(&mut self) -> &mut [u8] {
        // SAFETY: as for `as_slice`, and `&mut self` makes the slice unique.
        unsafe { std::slice::from_raw_parts_mut(self.start.as_ptr(), self.bytes) }
    }
}

impl Drop for Pinned {
    fn drop(&mut self) {
        if self.context.is_given_up() {
            return;
        }
        // As for device memory: errors here mean a broken context.
        let _ = self.context.bind();
        // SAFETY: the pointer came from cuMemHostAlloc and is freed once.
        let _ = unsafe { sys::cuMemFreeHost(self.start.as_ptr().cast()) };
    }
}
