//! A service's resident kernel, whose blocks answer what hosts post.
//!
//! Blocks have one of three roles. A dispatcher empties a queue of posts, answers
//! short work at once, and puts the rest into the ring of this machine. The housekeeper
//! carries the orders of the hosts in and the counters out. All others are workers,
//! which run the claims of [`seawall_core::protocol`] on that ring. Each polls with one warp or
//! one lane and rests when there is nothing to do.
//!
//! Control block and slots lie in this machine's memory, where all read-modify-writes of workers
//! are. Completions, statuses, log and windows lie in the hosts' memory.

mod board;
mod housekeeper;
mod dispatcher;
mod deadline;
mod lengths;
mod pairs;
mod places;
mod program;
mod record;
mod together;
mod worker;

pub use record::{Serve, scratch_words};

use crate::machine::Grid;
use crate::scheduler::sets::WaveSet;
use record::Role;

/// Serves until a host orders the end, with programs of these waves. Every lane of the grid calls
/// this once; only dispatchers and the housekeeper must be co-resident.
#[inline(always)]
pub fn serve<G: Grid, S: WaveSet>(grid: G, serve: Serve) {
    let Some(layout) = serve.layout(grid) else {
        return;
    };
    match serve.role(grid) {
        Role::Dispatcher(number) => dispatcher::run(grid, serve, layout, number),
        Role::Housekeeper => housekeeper::run(grid, serve, layout),
        Role::Worker(number) => worker::run::<G, S>(grid, serve, layout, number),
    }
}
