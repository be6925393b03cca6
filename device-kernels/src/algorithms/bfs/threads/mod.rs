//! Searches by threads: steps of a search, and fused runs of many levels.

pub mod thread_group;
pub mod few_threads;
pub mod ahead_counters;
pub mod levels_ahead;
pub mod one_thread;
pub mod bins;
mod push;
mod pull;
mod compact;

use crate::algorithms::bfs::sink::Sink;
use crate::collectives::context::ContextRef;
use crate::machine::Grid;
use seawall_core::abi::search::{DriveRecord, Step};

/// Runs the step that `drive` asks for. A team of one block pushes alone, others by even shares of
/// edges.
#[inline(always)]
pub(crate) fn step<G: Grid>(cx: ContextRef<G>, drive: &DriveRecord) {
    match Step::from_word(drive.next) {
        Some(Step::WarpSparse | Step::Sparse) if cx.context().team.is_alone() => {
            one_thread::push(cx);
        }
        Some(Step::WarpSparse | Step::Sparse | Step::Fused) | None => {
            push::push_share(cx, Sink::Queue);
        }
        Some(Step::Hybrid) => push::push_share(cx, Sink::Bitset),
        Some(Step::Dense | Step::BlockDense) => pull::pull(cx),
        Some(Step::Compact) => compact::compact(cx),
    }
}
