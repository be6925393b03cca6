//! The state of a fused run, and its limits.

use super::queue::Held;
use crate::algorithms::bfs::frontier::Target;
use crate::tables::control::ProgramPoint;

/// Iterations between two reads of the clock.
pub(crate) const LOOK_MASK: u32 = 255;

/// Limits that the loop sets a fused run.
#[derive(Clone, Copy, Debug)]
pub struct Bounds {
    /// Iterations after which the loop ends.
    pub max_iterations: u32,
    /// The block's position in the program, for fault records.
    pub point: ProgramPoint,
}

/// The limits of a fused run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    pub(crate) max_iterations: u32,
    /// Nodes of a frontier above which the run ends.
    pub(crate) widest: u32,
    /// Edges of a frontier above which it ends.
    pub(crate) edges: u32,
    /// Resident queue for finds without space in shared memory.
    pub(crate) target: Target,
    /// Number of the current visited bitset.
    pub(crate) visited: u32,
    /// Lanes that share the edges of an entry, as a power of two.
    pub(crate) lanes_log2: u32,
}

/// The state of a fused run; the same in every lane of the blocks that take part, except
/// `explored`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Run {
    /// The frontier.
    pub(super) held: Held,
    /// Number of the first blocks that hold it.
    pub(crate) spread: u32,
    /// Number of the queue that holds it.
    pub(crate) parity: u32,
    /// Turn of the counters; see [`Queues`](super::queue::Queues).
    pub(crate) turn: u32,
    /// Iterations done.
    pub(crate) iteration: u32,
    /// Largest frontier so far.
    pub(crate) frontier_max: u32,
    /// Edges of this lane's rows.
    pub(crate) explored: u32,
}

/// Whether an iteration visited all edges of the frontier, or none since they were too many.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Pass {
    Done,
    TooWide,
}

impl Run {
    /// Applies the next frontier, of `len` nodes.
    #[inline(always)]
    pub(crate) fn advance(&mut self, len: u32) {
        self.parity ^= 1;
        self.iteration += 1;
        self.frontier_max = self.frontier_max.max(len);
    }

    /// Whether anything is left to do, however wide the frontier is.
    #[inline(always)]
    pub(crate) fn goes_on(&self, limits: &Limits) -> bool {
        self.held.len != 0 && !self.held.full && self.iteration < limits.max_iterations
    }
}
