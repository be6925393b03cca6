//! The current search of a block, in its shared memory: codegen rule `LOOK_UP_AGAIN`.

use super::frontier::{Frontier, Target};
use super::shared_drive;
use super::visit::Marker;
use crate::machine::Grid;
use crate::machine::memory::{Csr, Proven};
use crate::machine::shared::{SEARCH_ARRAYS, SEARCH_FLAGS, SEARCH_NODES};
use crate::operators::advance::Source;
use seawall_core::abi::search::DriveRecord;

/// Everything that one step reads and writes.
#[derive(Clone, Copy, Debug)]
pub struct Search {
    /// Rows of outgoing edges.
    pub outgoing: Csr,
    /// Rows of incoming edges.
    pub incoming: Csr,
    /// The frontier register.
    pub frontier: Frontier,
    /// The marker of discovered nodes.
    pub visit: Marker,
}

impl Search {
    /// Broadcasts this search, and its drive record as of the last barrier, to the block. One lane
    /// calls this; a block barrier follows before any lane reads.
    #[inline(always)]
    pub fn publish<G: Grid>(&self, grid: G) {
        store(grid, self);
        shared_drive::publish(grid, &self.frontier.drive(grid, 0));
    }

    /// The block's search.
    #[inline(always)]
    pub fn current<G: Grid>(grid: G) -> Search {
        let nodes = SEARCH_NODES.load(grid);
        let array = |index| array(grid, index);
        Search {
            outgoing: Csr::new(array(0), array(1)),
            incoming: Csr::new(array(2), array(3)),
            frontier: Frontier::again(array(4), nodes),
            visit: marker(grid),
        }
    }

    /// The queue that `drive` describes.
    #[inline(always)]
    pub(crate) fn source(&self, drive: &DriveRecord) -> Source {
        Source {
            rows: self.outgoing,
            queue: self.frontier.queue(drive.queue),
            nodes: drive.nodes,
            edges: drive.edges,
        }
    }

    /// The target of the step that `drive` asks for.
    #[inline(always)]
    pub(crate) fn target(&self, drive: &DriveRecord) -> Target {
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
    store_array(grid, 0, out_offsets);
    store_array(grid, 1, out_targets);
    store_array(grid, 2, in_offsets);
    store_array(grid, 3, in_targets);
    store_array(grid, 4, search.frontier.words());
    store_array(grid, 5, marks);
    SEARCH_NODES.store(grid, search.frontier.nodes());
    SEARCH_FLAGS.store(grid, flags);
}

/// The marker of the block's search.
#[inline(always)]
fn marker<G: Grid>(grid: G) -> Marker {
    Marker::again(array(grid, 5), SEARCH_FLAGS.load(grid))
}

/// Stores array `index` of the block's search.
#[inline(always)]
fn store_array<G: Grid>(grid: G, index: usize, array: Proven) {
    let address = array.address();
    let words = [address as u32, (address >> 32) as u32, array.len()];
    SEARCH_ARRAYS.part(index).store_all(grid, words);
}

/// Array `index` of the block's search.
#[inline(always)]
fn array<G: Grid>(grid: G, index: usize) -> Proven {
    let [low, high, len] = SEARCH_ARRAYS.part(index).load_all(grid);
    let address = u64::from(low) | u64::from(high) << 32;
    // SAFETY: `store_array` was given this array.
    unsafe { Proven::trusted(address as *mut u32, len) }
}
