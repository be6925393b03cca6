//! A service's resident kernel: blocks that stay, and answer what hosts post.
//!
//! Blocks have one of three trades. A courier empties a queue of posts, answers
//! short work at once, and puts the rest into the ring of this machine. The clerk
//! carries the orders of the hosts in and the counters out. All others are workers,
//! which run the claims of [`seawall_core::protocol`] on that ring. Each polls with one warp or
//! one lane and rests when there is nothing to do.
//!
//! Control block and slots lie in this machine's memory, where all read-modify-writes of workers
//! are. Completions, statuses, log and windows lie in the hosts' memory.

mod board;
mod clerk;
mod courier;
mod deadline;
mod lengths;
mod pairs;
mod places;
mod program;
mod record;
mod together;
mod worker;

pub use record::{Serve, scratch_words};

use crate::grid::Grid;
use crate::sets::WaveSet;
use record::Trade;

/// Serves until a host orders the end, with programs of these waves. Every lane of the grid calls
/// this once; blocks need not be co-resident, as long as couriers and the clerk are.
#[inline(always)]
pub fn serve<G: Grid, S: WaveSet>(grid: G, serve: Serve) {
    let Some(layout) = serve.layout(grid) else {
        return;
    };
    match serve.trade(grid) {
        Trade::Courier(number) => courier::run(grid, (serve, layout), number),
        Trade::Clerk => clerk::run(grid, (serve, layout)),
        Trade::Worker(number) => worker::run::<G, S>(grid, (serve, layout), number),
    }
}
