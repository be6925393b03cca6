//! Where a narrow run stands, and up to where it goes.

use super::queue::Held;
use crate::control::ProgramPoint;
use crate::search::frontier::Target;

/// Iterations between two looks at the clock.
pub(super) const LOOK_MASK: u32 = 255;

/// What bounds a narrow run.
#[derive(Clone, Copy, Debug)]
pub struct Bounds {
    /// Iterations after which the loop ends.
    pub max_iterations: u32,
    /// Where the block is, for fault records.
    pub point: ProgramPoint,
}

/// Up to where a run goes on.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limits {
    pub(super) max_iterations: u32,
    /// Frontier above which the run ends, nodes.
    pub(super) widest: u32,
    /// Edges of a frontier above which it ends.
    pub(super) edges: u32,
    /// Resident queue of what finds no room.
    pub(super) target: Target,
    /// Which visited bitset is current.
    pub(super) visited: u32,
    /// Lanes that share the edges of an entry, as a power of two.
    pub(super) lanes_log2: u32,
}

/// Where a narrow run stands; the same in every lane of the blocks that take
/// part, but for `explored`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Run {
    /// The frontier.
    pub(super) held: Held,
    /// Blocks that hold it: the first ones.
    pub(super) spread: u32,
    /// Which of the queues holds it.
    pub(super) parity: u32,
    /// Whose turn among the counters it is.
    pub(super) turn: u32,
    /// Iterations done.
    pub(super) iteration: u32,
    /// Largest frontier so far.
    pub(super) frontier_max: u32,
    /// Edges that this lane's rows had.
    pub(super) explored: u32,
}

/// Whether an iteration visited all edges of the frontier, or none because
/// they were too many.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Pass {
    Done,
    TooWide,
}

impl Run {
    /// Takes note of the next frontier, of `len` nodes.
    #[inline(always)]
    pub(super) fn advance(&mut self, len: u32) {
        self.parity ^= 1;
        self.iteration += 1;
        self.frontier_max = self.frontier_max.max(len);
    }

    /// Whether there is something left to do, however wide it is.
    #[inline(always)]
    pub(super) fn goes_on(&self, limits: &Limits) -> bool {
        self.held.len != 0 && !self.held.full && self.iteration < limits.max_iterations
    }
}
