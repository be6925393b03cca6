//! Checks of a file's edges: order and range of targets, and the words of weights.
//!
//! A window is checked in full at its first use. Later passes look each target up by a checked
//! index, and the file must not have changed.

use super::view::View;
use crate::graph::disk::SwgFile;
use crate::graph::{BinaryProblem, WeightKind};
use std::sync::atomic::{AtomicU64, Ordering};

/// The ends of a window that was not used yet: no targets, since no node has these numbers.
const UNSEEN: u64 = u64::MAX;

#[derive(Debug)]
pub(super) struct Checked {
    nodes: u32,
    kind: WeightKind,
    /// Whether rows ascend strictly, and hold no loops.
    is_simple: bool,
    /// First and last target of each window.
    ends: Vec<AtomicU64>,
}

impl Checked {
    pub(super) const WINDOW_BYTES: u64 = 8;

    pub(super) fn new(windows: usize, file: &SwgFile) -> Self {
        Self {
            nodes: file.node_count(),
            kind: file.weight_kind().unwrap_or_default(),
            is_simple: file.is_simple(),
            ends: (0..windows).map(|_| AtomicU64::new(UNSEEN)).collect(),
        }
    }

    /// Whether a window was used before, and was valid.
    pub(super) fn has(&self, window: usize) -> bool {
        let ends = self.ends.get(window);
        ends.is_some_and(|ends| ends.load(Ordering::Relaxed) != UNSEEN)
    }

    /// Checks a window, unless it was checked before.
    pub(super) fn check(&self, view: &View<'_>) -> Result<(), BinaryProblem> {
        let Some(ends) = self.ends.get(view.window) else {
            return Ok(());
        };
        if ends.load(Ordering::Relaxed) != UNSEEN {
            return Ok(());
        }
        self.check_targets(view)?;
        self.check_weights(view)?;
        view.each_row(|row, at| {
            let targets = &view.targets[at];
            let is_valid = if self.is_simple {
                targets.is_sorted_by(|a, b| a < b) && !targets.contains(&row)
            } else {
                targets.is_sorted()
            };
            if is_valid {
                return Ok(());
            }
            Err(order(row))
        })?;
        if let (Some(first), Some(last)) = (view.targets.first(), view.targets.last()) {
            let own = u64::from(*first) << 32 | u64::from(*last);
            ends.store(own, Ordering::SeqCst);
            self.check_beside(view, own)?;
        }
        Ok(())
    }

    /// Checks rows that continue in windows checked before. Of two neighbours that are checked at
    /// once, at least one sees the ends of the other.
    fn check_beside(&self, view: &View<'_>, own: u64) -> Result<(), BinaryProblem> {
        let ends = |window: Option<usize>| {
            let ends = self.ends.get(window?)?.load(Ordering::SeqCst);
            (ends != UNSEEN).then_some(ends)
        };
        let ascends = |before: u64, after: u64| {
            let (before, after) = (before as u32, (after >> 32) as u32);
            before < after || before == after && !self.is_simple
        };
        let first = view.starts.row_of(view.edges.start);
        if view.starts.start(first) < view.edges.start
            && ends(view.window.checked_sub(1)).is_some_and(|before| !ascends(before, own))
        {
            return Err(order(first));
        }
        let last = view.starts.row_of(view.edges.end - 1);
        if view.starts.start(last + 1) > view.edges.end
            && ends(view.window.checked_add(1)).is_some_and(|after| !ascends(own, after))
        {
            return Err(order(last));
        }
        Ok(())
    }

    fn check_targets(&self, view: &View<'_>) -> Result<(), BinaryProblem> {
        // The largest is found without a branch for each, and its place only if it is too large.
        let largest = view.targets.iter().copied().max().unwrap_or(0);
        if view.targets.is_empty() || largest < self.nodes {
            return Ok(());
        }
        let at = view.targets.iter().position(|to| *to >= self.nodes);
        Err(target(view, at.unwrap_or(0), self.nodes))
    }

    fn check_weights(&self, view: &View<'_>) -> Result<(), BinaryProblem> {
        let weights = view.weights.unwrap_or(&[]);
        match weights.iter().position(|word| !self.kind.holds(*word)) {
            None => Ok(()),
            Some(at) => Err(BinaryProblem::Weight {
                edge: view.edges.start + at as u64,
                value: f32::from_bits(weights[at]),
            }),
        }
    }
}

fn order(row: u32) -> BinaryProblem {
    let node = u64::from(row);
    BinaryProblem::Order { node }
}

/// The error for edge `at` of a window, whose target is no node.
#[cold]
pub(super) fn target(view: &View<'_>, at: usize, nodes: u32) -> BinaryProblem {
    BinaryProblem::Target {
        edge: view.edges.start + at as u64,
        value: view.targets.get(at).copied().map_or(0, u64::from),
        nodes: u64::from(nodes),
    }
}
