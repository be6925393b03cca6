//! Ending a run that is under way on the device.

use super::context::Context;
use super::memory::Pinned;
use super::stream::{COPY_LIMIT, Stream};
use crate::backend::{BackendError, Canceller};
use seawall_core::abi::control::FaultCode;
use std::cell::Cell;
use std::rc::Rc;

/// A way past the run to a fault word that its kernels look at. Made before the run, because
/// the driver may make whoever asks for memory wait for kernels.
#[derive(Debug)]
pub(super) struct Brake {
    stream: Stream,
    word: Pinned,
}

impl Brake {
    pub(super) fn new(context: &Rc<Context>) -> Result<Self, BackendError> {
        let mut word = Pinned::take(context, size_of::<u32>())?;
        // SAFETY: nothing copies from the word yet.
        let bytes = unsafe { word.as_mut_slice() };
        bytes.copy_from_slice(&(FaultCode::GivenUp as u32).to_ne_bytes());
        Ok(Self {
            stream: Stream::new(context)?,
            word,
        })
    }

    /// Stores a fault into the word at `address`.
    fn pull(&self, address: FaultWord) -> Result<(), BackendError> {
        // SAFETY: the word belongs to the run that is under way; the copied one lives as long as
        // the brake, and the wait below ends the copy.
        unsafe {
            self.stream
                .copy_in(address.0, &self.word, size_of::<u32>())?
        };
        self.stream.wait("cancelling a run", COPY_LIMIT)
    }
}

/// Device address of a fault word of a run that is under way.
#[derive(Clone, Copy, Debug)]
pub(super) struct FaultWord(pub(super) u64);

/// Reasons that end a run, and the way to do it.
#[derive(Debug)]
pub(super) struct Watch<'a> {
    canceller: &'a Canceller,
    brake: Option<&'a Brake>,
    is_pulled: Cell<bool>,
}

impl<'a> Watch<'a> {
    pub(super) fn new(canceller: &'a Canceller, brake: Option<&'a Brake>) -> Self {
        Self {
            canceller,
            brake,
            is_pulled: Cell::new(false),
        }
    }

    /// Whether the run is to end.
    pub(super) fn is_cancelled(&self) -> bool {
        self.canceller.is_asked()
    }

    /// Ends the kernels that look at `fault` if the run is to end; does so once.
    pub(super) fn look(&self, fault: FaultWord) {
        let Some(brake) = self.brake.filter(|_| self.is_cancelled()) else {
            return;
        };
        if !self.is_pulled.replace(true) {
            // Without it the run ends at its time budget.
            let _ = brake.pull(fault);
        }
    }
}
