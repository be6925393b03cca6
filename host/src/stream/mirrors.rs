//! Checks that every edge of a file has its mirror image, in one pass.

use super::consumer::Kernel;
use super::view::View;
use crate::graph::BinaryProblem;
use crate::graph::disk::MirrorSum;
use std::sync::atomic::{AtomicU64, Ordering};

/// The sum over all edges minus that over their mirror images.
pub(super) struct Mirrors {
    hash: MirrorSum,
    sum: AtomicU64,
}

impl Mirrors {
    pub(super) fn new() -> Self {
        Self {
            hash: MirrorSum::draw(),
            sum: AtomicU64::new(0),
        }
    }

    /// Refuses the edges of a whole pass if some have no mirror images.
    pub(super) fn check(&self) -> Result<(), BinaryProblem> {
        match self.sum.load(Ordering::Relaxed) {
            0 => Ok(()),
            _ => Err(BinaryProblem::Unmirrored),
        }
    }
}

impl Kernel for Mirrors {
    fn take(&self, view: &View<'_>, _: &dyn Fn() -> bool) -> Result<(), BinaryProblem> {
        let mut sum = 0_u64;
        view.each_row(|row, at| {
            for edge in at {
                let weight = view.weights.map_or(0, |weights| weights[edge]);
                sum = sum.wrapping_add(self.hash.edge([row, view.targets[edge]], weight));
            }
            Ok::<(), BinaryProblem>(())
        })?;
        self.sum.fetch_add(sum, Ordering::Relaxed);
        Ok(())
    }
}
