//! One iteration of a fused search: by a warp, by a block, by a cluster.

use super::block_group::BlockGroup;
use super::progress::{LOOK_MASK, Limits, Pass, Run};
use super::queue::{Queues, Word};
use crate::algorithms::bfs::current::Search;
use crate::algorithms::bfs::push::Push;
use crate::collectives::block::block_scan;
use crate::collectives::queue::{FindRows, Row, SERIAL, append};
use crate::machine::Grid;
use crate::machine::shared::fused_nodes;

/// Largest degree that a warp walks alone; the targets of 32 such rows fit a queue.
const fn warp_degree<G: Grid>() -> u32 {
    let fits = fused_nodes::<G>() / 32;
    if fits < 32 { fits } else { 32 }
}

/// Entries of the fullest block, as a multiple of the average, above which entries are
/// redistributed.
const UNEVEN: u32 = 2;

/// Entries, times lanes per entry, that a warp handles alone.
const WARP_SLOTS: u32 = 64;

impl Search {
    #[inline(always)]
    fn push_of(&self, visited: u32, run: &Run) -> Push {
        Push {
            visited: self.frontier.bitset(visited),
            level: run.iteration + 1,
        }
    }

    /// Runs iterations in the first warp of a block while the frontier fits it; the other
    /// warps wait. Returns whether the whole block must take the next iteration.
    #[inline(always)]
    pub(super) fn run_warp<G: Grid>(
        &self,
        queues: Queues<G>,
        run: &mut Run,
        limits: &Limits,
    ) -> bool {
        let grid = queues.grid;
        if grid.lane() < G::WARP {
            let (mut len, mut large) = (run.held.len, run.held.large);
            let mut stuck = false;
            while len != 0
                && fits_warp(len, limits)
                && run.iteration < limits.max_iterations
                && !stuck
            {
                stuck = !self.pass_warp(queues, limits, run, &mut len, &mut large);
                if !stuck && run.iteration & LOOK_MASK == 0 {
                    break;
                }
            }
            if grid.lane() == 0 {
                queues.broadcast(Word::Iteration, run.iteration);
                queues.broadcast(Word::Parity, run.parity);
                queues.broadcast(Word::Verdict, u32::from(stuck));
                queues.broadcast(Word::Widest, run.frontier_max);
                // Slow lanes may still read the counters of this turn.
                queues.set(run.turn + 1, len, large);
                queues.clear(run.turn + 2);
            }
        }
        grid.block_barrier();
        run.iteration = queues.own_word(Word::Iteration);
        run.parity = queues.own_word(Word::Parity);
        run.frontier_max = queues.own_word(Word::Widest);
        run.turn += 1;
        run.held = queues.held_here(run.turn);
        let stuck = queues.own_word(Word::Verdict) != 0;
        // All warps have read before the first warp broadcasts again.
        grid.block_barrier();
        stuck
    }

    /// Runs one iteration in one warp; returns `false` if a degree is too large for it.
    #[inline(always)]
    fn pass_warp<G: Grid>(
        &self,
        queues: Queues<G>,
        limits: &Limits,
        run: &mut Run,
        len: &mut u32,
        large: &mut bool,
    ) -> bool {
        let grid = queues.grid;
        if *large || warp_degree::<G>() < SERIAL {
            let row = if grid.lane() < *len {
                queues.own(run.parity, grid.lane())
            } else {
                Row::NONE
            };
            if grid.ballot(row.degree() > warp_degree::<G>()) != 0 {
                return false;
            }
        }
        let push = self.push_of(limits.visited, run);
        let each = limits.lanes_log2;
        let (mut next, mut any_large) = (0, false);
        let mut base = 0;
        while base < *len {
            let index = base + (grid.lane() >> each);
            let row = if index < *len {
                queues.own(run.parity, index)
            } else {
                Row::NONE
            };
            run.explored += row.degree_once(grid, each);
            self.stride(grid, &push, row, each, |found| {
                any_large |= found.any_above(SERIAL);
                queues.append_alone(run.parity ^ 1, &mut next, found);
            });
            base += G::WARP >> each;
        }
        *large = grid.ballot(any_large) != 0;
        grid.warp_barrier();
        *len = next;
        run.advance(next);
        true
    }

    /// Visits the edges of `row`, which `1 << each` adjacent lanes share, one edge
    /// per lane at a time. A warp operation.
    #[inline(always)]
    fn stride<G: Grid>(
        &self,
        grid: G,
        push: &Push,
        row: Row,
        each: u32,
        mut sink: impl FnMut(&FindRows<1>),
    ) {
        let mut rest = Row {
            start: row.start + (grid.lane() & ((1 << each) - 1)),
            ..row
        };
        while grid.ballot(rest.start < rest.end) != 0 {
            sink(&self.visit_edge(grid, push, rest));
            rest.start = rest.start.saturating_add(1 << each);
        }
    }

    /// Appends to this block's queue `parity` and the counters of `turn`; finds that do not fit
    /// there go to the resident queue.
    #[inline(always)]
    fn keep<G: Grid, const K: usize>(
        &self,
        queues: Queues<G>,
        parity: u32,
        turn: u32,
        limits: &Limits,
        found: &FindRows<K>,
    ) {
        let rest = queues.append(parity, turn, found);
        append(queues.grid, &self.frontier.next(limits.target), &rest);
    }

    /// Visits the edges of this block's share of the frontier, the entries `first..end`, and
    /// returns the number that this lane counted.
    #[inline(always)]
    fn expand_share<G: Grid>(
        &self,
        queues: Queues<G>,
        run: &Run,
        limits: &Limits,
        first: u32,
        end: u32,
        entry: impl Fn(u32) -> Row,
    ) -> u32 {
        let grid = queues.grid;
        let push = self.push_of(limits.visited, run);
        let (parity, turn) = (run.parity ^ 1, run.turn + 1);
        let each = limits.lanes_log2;
        let mut explored = 0_u32;
        let mut base = first;
        if run.held.large {
            while base < end {
                let row = entry(base + grid.lane());
                explored = explored.saturating_add(row.degree());
                self.expand_together(grid, &push, row, |finds| {
                    let found = FindRows::look_up(grid, self.outgoing, finds);
                    self.keep(queues, parity, turn, limits, &found);
                });
                base += grid.lanes();
            }
        } else {
            while base + first_of_warp(grid, each) < end {
                let row = entry(base + (grid.lane() >> each));
                explored = explored.saturating_add(row.degree_once(grid, each));
                self.stride(grid, &push, row, each, |found| {
                    self.keep(queues, parity, turn, limits, found);
                });
                base += grid.lanes() >> each;
            }
        }
        explored
    }

    /// Runs one iteration in all blocks of `group`.
    #[inline(always)]
    pub(super) fn pass_wide<G: Grid>(
        &self,
        queues: Queues<G>,
        run: &mut Run,
        group: BlockGroup,
        limits: &Limits,
    ) -> Pass {
        let grid = queues.grid;
        // Blocks keep their own entries while these are well balanced.
        let own =
            run.spread == group.blocks && run.held.most * group.blocks <= UNEVEN * run.held.len;
        let (first, end) = if own {
            (0, queues.own_len(run.turn))
        } else {
            group.share(run.held.len)
        };
        let entry = |index: u32| {
            if own {
                queues.own_or_none(run.parity, index, index < end)
            } else {
                queues.entry(run.parity, index, index < end)
            }
        };
        if run.held.large {
            let edges = edges_of(queues, group, first, end, entry);
            if edges > limits.edges {
                return Pass::TooWide;
            }
        }
        if grid.lane() == 0 {
            // No lane reads these any more, and none adds to them before the next barrier.
            queues.clear(run.turn + 2);
        }
        let explored = self.expand_share(queues, run, limits, first, end, entry);
        run.explored = run.explored.saturating_add(explored);
        // The first warp cleared counters, whatever its share was.
        let worked = first + first_of_warp(grid, limits.lanes_log2) < end;
        let wrote = worked || run.held.large || grid.lane() < G::WARP;
        group.barrier(grid, wrote);
        run.turn += 1;
        run.spread = group.blocks;
        run.held = if group.blocks == 1 {
            queues.held_here(run.turn)
        } else {
            queues.held(run.turn, group.blocks)
        };
        run.advance(run.held.len);
        Pass::Done
    }
}

/// Edges of the frontier, of which this block's share is `first..end`.
#[inline(always)]
fn edges_of<G: Grid>(
    queues: Queues<G>,
    group: BlockGroup,
    first: u32,
    end: u32,
    entry: impl Fn(u32) -> Row,
) -> u32 {
    let grid = queues.grid;
    let mut edges = 0_u32;
    let mut base = first;
    while base < end {
        edges = edges.saturating_add(entry(base + grid.lane()).degree());
        base += grid.lanes();
    }
    let (_, mut total) = block_scan(grid, edges);
    if group.blocks != 1 {
        if grid.lane() == 0 {
            queues.broadcast(Word::Edges, total);
        }
        grid.cluster_barrier(true);
        total = 0;
        for peer in 0..group.blocks {
            total = queues.word_of(peer, Word::Edges).saturating_add(total);
        }
    }
    total
}

/// First entry of this lane's warp in a round of the block, if `1 << each` lanes share an
/// entry.
#[inline(always)]
fn first_of_warp<G: Grid>(grid: G, each: u32) -> u32 {
    (grid.lane() & !(G::WARP - 1)) >> each
}

/// Whether one warp handles a frontier of `len` entries.
#[inline(always)]
pub(super) fn fits_warp(len: u32, limits: &Limits) -> bool {
    len <= 32 && len << limits.lanes_log2 <= WARP_SLOTS
}
