//! The search that a block is at, in its shared memory; see
//! [`shared_drive`](super::shared_drive) for why.

use super::frontier::{Frontier, Target};
use super::shared_drive;
use super::visit::Marker;
use crate::block::shared::SEARCH;
use crate::context::load_wide;
use crate::grid::Grid;
use crate::memory::{Csr, Proven};
use seawall_core::abi::search::DriveRecord;

/// Arrays of a search.
const ARRAYS: u32 = 6;
/// Proven of an array: its address and its length.
const ARRAY_WORDS: u32 = 3;
/// Where the number of nodes is.
const NODES: u32 = SEARCH + ARRAYS * ARRAY_WORDS;
/// Where it says how discoveries are marked.
const FLAGS: u32 = NODES + 1;
const _: () = assert!(FLAGS < crate::block::shared::BOOKS);

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
        store(grid, self);
        shared_drive::publish(grid, &self.frontier.drive(grid, 0));
    }

    /// The block's search.
    #[inline(always)]
    pub fn current<G: Grid>(grid: G) -> Search {
        // SAFETY: a fixed word of shared memory.
        let nodes = unsafe { grid.shared_load(NODES) };
        let array = |index| array(grid, index);
        Search {
            outgoing: Csr::new(array(0), array(1)),
            incoming: Csr::new(array(2), array(3)),
            frontier: Frontier::again(array(4), nodes),
            visit: marker(grid),
        }
    }

    /// Where the step that `drive` asks for leaves what it finds.
    #[inline(always)]
    pub(super) fn target(&self, drive: &DriveRecord) -> Target {
        Target {
            step: drive.step + 1,
            parity: drive.queue ^ 1,
            rows: self.outgoing,
        }
    }
}

/// Stores `search` in shared memory.
#[inline(always)]
fn store<G: Grid>(grid: G, search: &Search) {
    let (marks, flags) = search.visit.words();
    let [out_offsets, out_targets] = search.outgoing.arrays();
    let [in_offsets, in_targets] = search.incoming.arrays();
    let arrays = [
        out_offsets,
        out_targets,
        in_offsets,
        in_targets,
        search.frontier.words(),
        marks,
    ];
    for (at, array) in (SEARCH..).step_by(ARRAY_WORDS as usize).zip(arrays) {
        let address = array.address();
        // SAFETY: the search's words in shared memory are fixed.
        unsafe {
            grid.shared_store(at, address as u32);
            grid.shared_store(at + 1, (address >> 32) as u32);
            grid.shared_store(at + 2, array.len());
        }
    }
    // SAFETY: as above.
    unsafe {
        grid.shared_store(NODES, search.frontier.nodes());
        grid.shared_store(FLAGS, flags);
    }
}

/// How the block's search marks what it discovers.
#[inline(always)]
fn marker<G: Grid>(grid: G) -> Marker {
    // SAFETY: a fixed word of shared memory.
    let flags = unsafe { grid.shared_load(FLAGS) };
    Marker::again(array(grid, 5), flags)
}

/// Array `index` of the block's search.
#[inline(always)]
fn array<G: Grid>(grid: G, index: u32) -> Proven {
    let at = SEARCH + index * ARRAY_WORDS;
    // SAFETY: the search's words in shared memory are fixed; they are those of an array
    // that `publish` was given.
    unsafe {
        let base = load_wide(grid, at) as *mut u32;
        Proven::trusted(base, grid.shared_load(at + 2))
    }
}
