//! The leader: forwards the host's posts to the other blocks.

use super::record::Stream;
use crate::machine::Grid;
use crate::machine::memory::word_of;
use seawall_core::abi::stream::{POST_WORDS, StreamBoard, StreamPost, StreamRecord, StreamState};
use seawall_core::protocol::{Read, Scope, Site};

/// Time between two polls, nanoseconds.
const LOOK_NS: u32 = 500;

/// A poll of the host's memory.
const NOTHING: u32 = 0;
const POSTED: u32 = 1;
const ENDS: u32 = 2;

/// Polls until the host orders the end, or the time is over.
#[inline(never)]
pub(super) fn run<G: Grid>(grid: G, stream: Stream) {
    if grid.lane() >= G::WARP {
        return;
    }
    let state = stream.state(grid);
    let time_ns = stream.wide(grid, word_of!(StreamRecord, time_ns));
    let end_ns = grid.now_ns().saturating_add(time_ns);
    let mut ticket = 1;
    loop {
        let mut seen = NOTHING;
        if grid.warp_lane() == 0 {
            seen = look(grid, stream, ticket, end_ns);
        }
        match grid.shuffle(seen, 0) {
            ENDS => break,
            POSTED => {
                take(grid, stream, ticket);
                ticket += 1;
            }
            _ => grid.rest(LOOK_NS),
        }
    }
    if grid.warp_lane() == 0 {
        state.signal(grid, word_of!(StreamState, ended));
    }
}

#[inline(always)]
fn look<G: Grid>(grid: G, stream: Stream, ticket: u32, end_ns: u64) -> u32 {
    let end = stream
        .board(grid)
        .wrapping_add(word_of!(StreamBoard, end) as usize);
    let posted = stream
        .host_post(grid, ticket)
        .wrapping_add(word_of!(StreamPost, ticket) as usize);
    // SAFETY: `Stream::new` promises the board and its posts.
    let [end, posted] = [end, posted]
        .map(|word| unsafe { grid.load_word(word, Read::Acquire(Site::Machine), Scope::System) });
    if end != 0 || grid.now_ns() >= end_ns {
        ENDS
    } else if posted == ticket {
        POSTED
    } else {
        NOTHING
    }
}

/// Copies a post, and publishes it to the other blocks. A warp operation.
#[inline(always)]
fn take<G: Grid>(grid: G, stream: Stream, ticket: u32) {
    let (from, to) = (stream.host_post(grid, ticket), stream.post(grid, ticket));
    let mut at = grid.warp_lane();
    while at < POST_WORDS {
        // SAFETY: as in `look`.
        let word = unsafe {
            let word = from.wrapping_add(at as usize);
            grid.load_word(word, Read::Acquire(Site::Machine), Scope::System)
        };
        to.words().store(grid, at, word);
        at += G::WARP;
    }
    grid.warp_barrier();
    if grid.warp_lane() == 0 {
        let state = stream.state(grid);
        // A release store; tickets count from 1 on.
        state.signal(grid, word_of!(StreamState, posted));
    }
}
