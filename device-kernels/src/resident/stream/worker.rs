//! Workers: blocks that take each ticket in order.

use super::edges;
use super::record::{Post, Stream};
use super::steps;
use crate::collectives::block::broadcast;
use crate::machine::Grid;
use crate::machine::memory::word_of;
use seawall_core::abi::stream::{StreamBoard, StreamOrder, StreamPost, StreamState};
use seawall_core::protocol::{Site, Write};

/// Longest rest between two polls for a ticket, nanoseconds.
const REST_NS: u32 = 500;

/// Counter of the blocks that are done with a ticket.
const ARRIVED: u32 = Post::counter(0);
/// Works as worker `number` until the end.
#[inline(never)]
pub(super) fn run<G: Grid>(grid: G, stream: Stream, number: u32) {
    let mut ticket = 1;
    loop {
        let posted = word_of!(StreamState, posted);
        if !reach(grid, stream, posted, ticket) {
            return;
        }
        let post = stream.post(grid, ticket);
        let waits = post.word(grid, word_of!(StreamPost, waits)) != 0;
        let finished = word_of!(StreamState, finished);
        if waits && !reach(grid, stream, finished, ticket - 1) {
            return;
        }
        let order = post.word(grid, word_of!(StreamPost, order));
        if order == StreamOrder::Window as u32 {
            edges::window(grid, stream, post);
        } else {
            steps::step(grid, stream, post, number);
        }
        grid.block_barrier();
        if grid.lane() == 0 {
            leave(grid, stream, post, ticket);
        }
        ticket += 1;
    }
}

/// Waits until a word of the state has reached `least`; returns false if the kernel ends before.
#[inline(always)]
fn reach<G: Grid>(grid: G, stream: Stream, at: u32, least: u32) -> bool {
    let mut has_ended = 0;
    if grid.lane() == 0 {
        let state = stream.state(grid);
        let mut rest_ns = 0;
        while state.poll(grid, at) < least {
            if state.poll(grid, word_of!(StreamState, ended)) != 0 {
                has_ended = 1;
                break;
            }
            rest_ns = (rest_ns * 2 + 32).min(REST_NS);
            grid.rest(rest_ns);
        }
    }
    broadcast(grid, has_ended) == 0
}

/// Ends this block's part of a ticket; the last block notifies the host. One lane calls this.
#[inline(always)]
fn leave<G: Grid>(grid: G, stream: Stream, post: Post, ticket: u32) {
    let before = post.words().arrive(grid, ARRIVED);
    // All blocks but the leader arrive.
    if before + 2 != grid.blocks() {
        return;
    }
    if post.word(grid, word_of!(StreamPost, order)) == StreamOrder::Step as u32 {
        steps::show(grid, stream, post);
    }
    for counter in [ARRIVED, edges::TAKEN] {
        post.words().store(grid, counter, 0);
    }
    let state = stream.state(grid);
    // A release addition; all earlier tickets are done, so this counts them.
    state.signal(grid, word_of!(StreamState, finished));
    let consumed = word_of!(StreamBoard, consumed);
    stream.show(grid, consumed, ticket, Write::Release(Site::Machine));
}
