//! Content of a piece of text: its edges, and what is settled across pieces.

use super::weight::Weight;
use crate::build::Edges;
use crate::weights::to_floats;
use crate::{LineProblem, WeightKind};

/// Ids of edge lists below this are their own label; others are looked up.
pub(super) const NEAR: u64 = 1 << 31;
/// An id too large to be its own label.
pub(super) struct Far {
    pub(super) edge: usize,
    pub(super) end: usize,
    pub(super) id: u64,
}

/// Content of a piece.
pub(super) struct Parsed<const N: usize> {
    pub(super) edges: Edges<N>,
    /// Edges listed; values, for a dense matrix.
    pub(super) listed: u64,
    /// Node lines, in formats with one line per node.
    pub(super) rows: u64,
    /// Kind of the weights: floats as soon as one is not a whole number.
    pub(super) kind: WeightKind,
    /// Weights of the kept edges that were rounded to floats.
    pub(super) rounded: u64,
    pub(super) lines: u64,
    pub(super) far: Vec<Far>,
    /// The first bad line, counted from 1 within the piece.
    pub(super) problem: Option<(u64, LineProblem)>,
}

impl<const N: usize> Parsed<N> {
    /// Returns the word of a weight and whether it was rounded. The first weight that is not whole
    /// turns all before it into floats.
    #[inline]
    pub(super) fn word(&mut self, weight: Weight) -> (u32, bool) {
        match (self.kind, weight) {
            (WeightKind::Integer, Weight::Whole(word)) => (word, false),
            (WeightKind::Integer, Weight::Real { word, rounded }) => {
                self.become_floats();
                (word, rounded)
            }
            (WeightKind::Float, Weight::Real { word, rounded }) => (word, rounded),
            (WeightKind::Float, Weight::Whole(whole)) => {
                let mut edge = [0, 0, whole];
                let rounded = to_floats(std::slice::from_mut(&mut edge)) > 0;
                (edge[2], rounded)
            }
        }
    }

    /// Turns weights that are whole numbers into floats.
    #[cold]
    pub(super) fn become_floats(&mut self) {
        if self.kind == WeightKind::Integer {
            self.rounded += to_floats(&mut self.edges);
            self.kind = WeightKind::Float;
        }
    }

    #[inline]
    pub(super) fn in_range(
        &mut self,
        mut edge: [u32; N],
        ends: [u64; 2],
        nodes: u64,
    ) -> Result<(), LineProblem> {
        for (slot, id) in edge.iter_mut().zip(ends) {
            if id.wrapping_sub(1) >= nodes {
                return Err(LineProblem::IdOutOfRange { value: id, nodes });
            }
            // Headers with more than 32-bit nodes were refused.
            *slot = (id - 1) as u32;
        }
        self.edges.push(edge);
        Ok(())
    }

    #[inline]
    pub(super) fn free(&mut self, mut edge: [u32; N], ends: [u64; 2]) {
        for (end, id) in ends.into_iter().enumerate() {
            if id < NEAR {
                edge[end] = id as u32;
            } else {
                self.far.push(Far {
                    edge: self.edges.len(),
                    end,
                    id,
                });
            }
        }
        self.edges.push(edge);
    }
}
