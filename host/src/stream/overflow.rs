//! The edge on which a path exceeds the largest float, searched for in a pass after the search.

use super::checks::target;
use super::consumer::Kernel;
use super::view::View;
use crate::graph::BinaryProblem;
use std::sync::atomic::{AtomicU64, Ordering};

/// No edge yet.
const NONE: u64 = u64::MAX;

/// The first edge, in order of nodes, from a node with a distance to one without, whose sum is no
/// float.
pub(super) struct Overflow<'a> {
    distances: &'a [f32],
    first: AtomicU64,
}

impl<'a> Overflow<'a> {
    pub(super) fn new(distances: &'a [f32]) -> Self {
        Self {
            distances,
            first: AtomicU64::new(NONE),
        }
    }

    pub(super) fn ends(&self) -> Option<[u32; 2]> {
        let first = self.first.load(Ordering::Relaxed);
        (first != NONE).then_some([(first >> 32) as u32, first as u32])
    }
}

impl Kernel for Overflow<'_> {
    fn take(&self, view: &View<'_>, _: &dyn Fn() -> bool) -> Result<(), BinaryProblem> {
        let weights = view.weights.unwrap_or(&[]);
        view.each_row(|row, edges| {
            let distance = self.distances[row as usize];
            if !distance.is_finite() {
                return Ok(());
            }
            for at in edges {
                let (to, weight) = (view.targets[at], weights.get(at).copied().unwrap_or(0));
                let Some(end) = self.distances.get(to as usize) else {
                    return Err(target(view, at, self.distances.len() as u32));
                };
                if !end.is_finite() && !(distance + f32::from_bits(weight)).is_finite() {
                    let edge = u64::from(row) << 32 | u64::from(to);
                    self.first.fetch_min(edge, Ordering::Relaxed);
                }
            }
            Ok(())
        })
    }
}
