//! One step of a search, in the shape that its drive record asks for.

use super::current::Search;
use super::sink::Sink;
use super::{compact, pull, push, share, threads};
use crate::collectives::context::ContextRef;
use crate::collectives::queue::first_node;
use crate::machine::Grid;
use seawall_core::abi::search::{DriveRecord, Step};

/// Runs the step of the block's search that its drive record asks for; `drive` is a copy
/// of it. Fused runs are not steps.
///
/// Steps look up search and record in shared memory: codegen rule `LOOK_UP_AGAIN`.
#[inline(always)]
pub fn step<G: Grid>(cx: ContextRef<G>, drive: &DriveRecord) {
    let grid = cx.grid();
    let team = cx.context().team;
    if team.is_leader() {
        let frontier = Search::current(grid).frontier;
        frontier.clear_found(grid, drive.step.wrapping_add(2));
    }
    if !G::SIMT {
        return threads::step(cx, drive);
    }
    match Step::from_word(drive.next) {
        Some(Step::Sparse) => share::push_shares(cx, Sink::Queue),
        Some(Step::Hybrid) => share::push_shares(cx, Sink::Bitset),
        Some(Step::Dense) => pull::pull(cx),
        Some(Step::BlockDense) => pull::pull_gathered(cx),
        Some(Step::Compact) => compact::compact(cx),
        Some(Step::WarpSparse | Step::Fused) | None => {
            // A warp without nodes skips the call.
            if first_node(&team) < drive.nodes {
                push::push_nodes(cx);
            }
        }
    }
}
