//! Searches: a frontier that walks a graph until it is empty.
//!
//! An iteration is one step of some shape over the current frontier (see
//! [`Step`]); [`drive`] chooses the shape from
//! device counters. Push shapes read a queue, pull shapes the visited bitset,
//! and a compaction leads back from bits to a queue. Shortest paths are not
//! here: their frontier is not monotone.
//!
//! Each shape is a function of its own, not inlined: a kernel then needs the
//! registers of its largest shape, not of all together.

pub mod frontier;
pub mod visit;
pub mod drive;
pub mod shared_drive;
pub mod shared_search;
pub mod seed;
pub mod push;
pub mod share;
pub mod pull;
pub mod compact;
pub mod narrow;
mod lead;
mod narrow_pass;
mod narrow_queue;

pub use frontier::Frontier;
use frontier::Target;

use crate::context::Hand;
use crate::grid::Grid;
use crate::memory::Csr;
use seawall_core::abi::search::{DriveRecord, Step};
use visit::Marker;

/// Everything that one step reads and writes.
#[derive(Clone, Copy, Debug)]
pub struct Search {
    /// Rows of outgoing edges.
    pub outgoing: Csr,
    /// Rows of incoming edges.
    pub incoming: Csr,
    /// The frontier register.
    pub frontier: Frontier,
    /// What to do with a discovered node.
    pub visit: Marker,
}

impl Search {
    /// Tells the block this search and its drive record as of the last barrier; one lane
    /// calls this, and a block barrier follows before anyone reads.
    #[inline(always)]
    pub fn publish<G: Grid>(&self, grid: G) {
        shared_search::publish(grid, self);
        shared_drive::publish(grid, &self.frontier.drive(grid, 0));
    }

    /// Where the step that `drive` asks for leaves what it finds.
    #[inline(always)]
    fn target(&self, drive: &DriveRecord) -> Target {
        Target {
            step: drive.step + 1,
            parity: drive.queue ^ 1,
            rows: self.outgoing,
        }
    }
}

/// Runs one step of the block's search that its drive record asks for, of which
/// `drive` is a copy; narrow runs are not steps.
///
/// The steps look search and record up in shared memory: a caller that held on to
/// them would take registers away from them.
#[inline(always)]
pub fn step<G: Grid>(hand: Hand<G>, drive: &DriveRecord) {
    let grid = hand.grid();
    let team = hand.context().team;
    if team.is_conductor() {
        let frontier = shared_search::read(grid).frontier;
        frontier.clear_found(grid, drive.step.wrapping_add(2));
    }
    if G::WARP == 1 && lead::pushes(hand, drive) {
        return;
    }
    match Step::from_word(drive.next) {
        Some(Step::Sparse) => share::push_shares(hand, share::Sink::Queue),
        Some(Step::Hybrid) => share::push_shares(hand, share::Sink::Bitset),
        Some(Step::Dense) => pull::pull(hand),
        Some(Step::BlockDense) => pull::pull_gathered(hand),
        Some(Step::Compact) => compact::compact(hand),
        Some(Step::WarpSparse | Step::Fused) | None => {
            // A warp without nodes does not even call.
            if push::first_node(&team) < drive.nodes {
                push::push_nodes(hand);
            }
        }
    }
}
