//! Streams: a kernel that stays on the machine while edges flow to it through memory of the host.
//!
//! ```text
//! host: board, posts and windows <- one block, the leader -> copies of posts
//!                                                                |
//!                      all other blocks: slices of each window, values of nodes
//! ```
//!
//! Values of nodes stay in the machine's memory. Each block takes the tickets in order, and shares
//! of a ticket's window until there are none; it continues with the next ticket without waiting for
//! other blocks, unless the post requires that. So the last block to finish a ticket has finished
//! all earlier ones.

mod edges;
mod leader;
mod record;
mod steps;
mod worker;

pub use record::Stream;

use crate::machine::Grid;

/// Serves a stream until its host orders the end. Every lane of the grid calls this once; all
/// blocks, two at least, must be resident at once.
#[inline(always)]
pub fn stream<G: Grid>(grid: G, stream: Stream) {
    if !stream.is_current(grid) {
        return;
    }
    match grid.block().checked_sub(1) {
        None => leader::run(grid, stream),
        Some(worker) => worker::run(grid, stream, worker),
    }
}
