//! Memory of the host that a device accesses in place.

use super::context::Context;
use super::error::check;
use crate::backend::BackendError;
use crate::backend::pages::Pages;
use cudarc::driver::sys;
use std::ffi::c_void;
use std::marker::PhantomData;
use std::rc::Rc;

/// Memory that is registered with a device.
pub(super) struct Registered<'a> {
    context: Rc<Context>,
    start: *mut c_void,
    /// Its address on the device.
    pub(super) address: u64,
    memory: PhantomData<&'a ()>,
}

impl<'a> Registered<'a> {
    /// Registers pages.
    pub(super) fn of(context: &Rc<Context>, pages: &'a Pages) -> Result<Self, BackendError> {
        // SAFETY: whole pages, which are borrowed.
        unsafe { Self::new(context, pages.start().cast(), pages.bytes()) }
    }

    /// Registers `bytes` bytes from `start` on.
    ///
    /// # Safety
    /// They must be whole pages of the host that outlive this; nothing else may register them.
    pub(super) unsafe fn new(
        context: &Rc<Context>,
        start: *mut c_void,
        bytes: usize,
    ) -> Result<Self, BackendError> {
        const MAPPED: u32 = sys::CU_MEMHOSTREGISTER_DEVICEMAP;
        // SAFETY: by this function's contract.
        check("registering memory of the host", unsafe {
            sys::cuMemHostRegister_v2(start, bytes, MAPPED)
        })?;
        let mut registered = Self {
            context: Rc::clone(context),
            start,
            address: 0,
            memory: PhantomData,
        };
        // SAFETY: one valid address to write to; the memory was registered for this above.
        check("mapping memory of the host", unsafe {
            sys::cuMemHostGetDevicePointer_v2(&raw mut registered.address, start, 0)
        })?;
        Ok(registered)
    }
}

impl Drop for Registered<'_> {
    fn drop(&mut self) {
        if self.context.is_given_up() {
            return;
        }
        // As for device memory: errors here mean a broken context.
        let _ = self.context.bind();
        // SAFETY: registered by `new`, and no kernel uses it any more.
        let _ = unsafe { sys::cuMemHostUnregister(self.start) };
    }
}
