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
pub mod seed;
pub mod push;
pub mod share;
pub mod pull;
pub mod compact;
pub mod narrow;
mod narrow_pass;
mod narrow_queue;

pub use frontier::Frontier;
pub use visit::Visit;

use crate::grid::Grid;
use crate::memory::Csr;
use crate::team::Team;
use seawall_core::abi::search::{DriveRecord, Step};

/// Everything that one step reads and writes.
#[derive(Clone, Copy, Debug)]
pub struct Search<V> {
    /// Rows of outgoing edges.
    pub outgoing: Csr,
    /// Rows of incoming edges.
    pub incoming: Csr,
    /// The frontier register.
    pub frontier: Frontier,
    /// What to do with a discovered node.
    pub visit: V,
}

impl<V: Visit> Search<V> {
    /// Runs one step that the block's shared drive record asks for, of which
    /// `drive` is a copy; narrow runs are not steps.
    #[inline(always)]
    pub fn step<G: Grid>(&self, team: &Team<G>, drive: &DriveRecord) {
        if team.is_conductor() {
            self.frontier
                .clear_found(team.grid, drive.step.wrapping_add(2));
        }
        match Step::from_word(drive.next) {
            Some(Step::Sparse) => self.push_shares(team, share::Sink::Queue),
            Some(Step::Hybrid) => self.push_shares(team, share::Sink::Bitset),
            Some(Step::Dense) => self.pull(team),
            Some(Step::BlockDense) => self.pull_gathered(team),
            Some(Step::Compact) => self.compact(team),
            Some(Step::WarpSparse | Step::Fused) | None => {
                // A warp without nodes does not even call.
                if push::first_node(team) < drive.nodes {
                    self.push_nodes(team);
                }
            }
        }
    }
}
