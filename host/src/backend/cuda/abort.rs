//! Ending a run in progress on the device.

use super::context::Context;
use super::memory::Pinned;
use super::stream::{COPY_LIMIT, Stream};
use crate::backend::{BackendError, Canceller};
use seawall_core::abi::control::FaultCode;
use std::cell::Cell;
use std::rc::Rc;
use std::time::Instant;

/// Access to the fault words that kernels poll, independent of the run. Made before the run,
/// because the driver may make an allocation wait for kernels.
#[derive(Debug)]
pub(super) struct AbortFlag {
    stream: Stream,
    words: Pinned,
}

impl AbortFlag {
    /// Prepares to fill up to `words` fault words.
    pub(super) fn new(context: &Rc<Context>, words: usize) -> Result<Self, BackendError> {
        let mut pinned = Pinned::take(context, words.saturating_mul(size_of::<u32>()))?;
        // SAFETY: nothing copies from the words yet.
        let bytes = unsafe { pinned.as_mut_slice() };
        for word in bytes.chunks_exact_mut(size_of::<u32>()) {
            word.copy_from_slice(&(FaultCode::GivenUp as u32).to_ne_bytes());
        }
        Ok(Self {
            stream: Stream::new(context)?,
            words: pinned,
        })
    }

    /// Stores a fault into all of `words`.
    pub(super) fn pull(&self, words: &[FaultWords]) -> Result<(), BackendError> {
        for words in words {
            // SAFETY: the words belong to the run in progress; those copied live as long as the
            // abort flag, and the wait below ends the copies.
            unsafe {
                self.stream
                    .copy_words(words.first, words.apart, &self.words, words.count)?
            };
        }
        self.stream.wait("cancelling a run", COPY_LIMIT)
    }
}

/// Fault words of a run in progress, on the device.
#[derive(Clone, Copy, Debug)]
pub(super) struct FaultWords {
    /// Address of the first.
    pub(super) first: u64,
    /// Bytes from one to the next.
    pub(super) apart: usize,
    /// Number of words.
    pub(super) count: usize,
}

impl FaultWords {
    /// Returns the one word at `address`.
    pub(super) const fn one(address: u64) -> Self {
        Self {
            first: address,
            apart: size_of::<u32>(),
            count: 1,
        }
    }
}

/// Reasons to end a run, and the means to do it.
#[derive(Debug)]
pub(super) struct Watch<'a> {
    canceller: &'a Canceller,
    abort: Option<&'a AbortFlag>,
    deadline: Option<Instant>,
    is_pulled: Cell<bool>,
}

impl<'a> Watch<'a> {
    pub(super) fn new(canceller: &'a Canceller, abort: Option<&'a AbortFlag>) -> Self {
        Self {
            canceller,
            abort,
            deadline: None,
            is_pulled: Cell::new(false),
        }
    }

    /// Ends the run at `deadline`, too.
    pub(super) fn until(self, deadline: Option<Instant>) -> Self {
        Self { deadline, ..self }
    }

    /// Whether the run is to end.
    pub(super) fn is_cancelled(&self) -> bool {
        self.canceller.is_asked() || self.deadline.is_some_and(|at| Instant::now() >= at)
    }

    /// Ends the kernels that poll `words` if the run is to end; does so once.
    pub(super) fn look(&self, words: &[FaultWords]) {
        let Some(abort) = self.abort.filter(|_| self.is_cancelled()) else {
            return;
        };
        if !self.is_pulled.replace(true) {
            // Without it the run ends at its time budget.
            let _ = abort.pull(words);
        }
    }
}
