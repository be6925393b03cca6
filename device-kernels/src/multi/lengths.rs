//! Shortest paths by buckets of distances (Meyer, Sanders: "Δ-stepping: a parallelizable shortest
//! path algorithm", J. Algorithms 2003), with one bucket open at a time and one for all that wait.
//!
//! Edges of the open bucket's nodes are relaxed until none of its distances falls. Then the least
//! distance that waits, on all devices, opens the next one. Distances of nodes that were found go
//! to all devices: a distance there that is older is too long, but a path's.

use super::advance::forth;
use super::frontier::{Tally, copy, find, tell};
use super::levels::begin;
use super::meet::Part;
use crate::control::Stop;
use crate::grid::Grid;
use crate::memory::word_of;
use core::cell::Cell;
use seawall_core::abi::UNREACHED;
use seawall_core::abi::multi::MultiState;

/// Distances of one kind, as words that order as they do.
pub(super) trait Length {
    /// The distance of nodes that no path reaches.
    const UNREACHED: u32;

    /// The weight of an edge without one.
    const ONE: u32;

    /// A distance and a weight; [`Self::UNREACHED`] or more if a word does not hold it.
    fn further(from: u32, weight: u32) -> u32;
}

/// Whole distances.
pub(super) struct Whole;

impl Length for Whole {
    const UNREACHED: u32 = UNREACHED;
    const ONE: u32 = 1;

    #[inline(always)]
    fn further(from: u32, weight: u32) -> u32 {
        from.saturating_add(weight)
    }
}

/// Distances along floats that are not negative.
pub(super) struct Float;

impl Length for Float {
    const UNREACHED: u32 = f32::INFINITY.to_bits();
    const ONE: u32 = 1_f32.to_bits();

    #[inline(always)]
    fn further(from: u32, weight: u32) -> u32 {
        (f32::from_bits(from) + f32::from_bits(weight)).to_bits()
    }
}

/// Finds distances from the sources whose bits the host has set.
///
/// # Errors
/// As [`Part::meet`].
pub(super) fn run<G: Grid, L: Length>(part: &mut Part<G>) -> Result<(), Stop> {
    let (grid, multi) = (part.grid(), part.multi);
    begin(part, L::UNREACHED, 0, multi.nodes(grid))?;
    part.begin_together()?;
    let width = multi.width(grid);
    let mut bound = L::further(0, width);
    let mut found = u64::from(multi.sources(grid));
    let (mut rounds, mut is_too_long) = (0_u32, false);
    loop {
        while found != 0 {
            relax::<G, L>(part, bound)?;
            found = tell_lengths(part)?;
            rounds += 1;
            // The sum of all devices, so that all end here or none does.
            is_too_long |= part.state_wide(word_of!(MultiState, change)) != 0;
        }
        if is_too_long {
            break;
        }
        let least = least_waiting(part, bound)?;
        if least >= L::UNREACHED {
            break;
        }
        bound = L::further(least, width);
        open(part, bound)?;
        found = tell_lengths(part)?;
    }
    if part.team.is_leader() {
        let state = multi.state(grid);
        state.store(grid, word_of!(MultiState, rounds), rounds);
        state.store(grid, word_of!(MultiState, converged), 1);
        let overflow = word_of!(MultiState, overflow);
        state.store(grid, overflow, u32::from(is_too_long));
    }
    Ok(())
}

/// Publishes nodes with their distances; returns how many all devices have found.
#[inline(always)]
fn tell_lengths<G: Grid>(part: &mut Part<G>) -> Result<u64, Stop> {
    let (grid, multi) = (part.grid(), part.multi);
    let values = multi.values(grid);
    tell(part, |node| {
        copy(multi, grid, values, node, values.load(grid, node));
    })
}

/// Relaxes the edges of the nodes that were found last.
#[inline(never)]
fn relax<G: Grid, L: Length>(part: &Part<G>, bound: u32) -> Result<(), Stop> {
    let (grid, multi) = (part.grid(), part.multi);
    let (edges, values, weights) = (
        multi.outgoing(grid),
        multi.values(grid),
        multi.weights(grid),
    );
    let (waiting, first) = (multi.waiting(grid), multi.first(grid));
    let (nodes, too_long) = (Cell::new(0_u32), Cell::new(0_u64));
    let visit = |node: u32, at: u32| {
        let to = edges.ends.constant(grid, at);
        let weight = weights.map_or(L::ONE, |weights| weights.constant(grid, at));
        let length = L::further(values.load_weak(grid, node), weight);
        if length >= L::UNREACHED {
            too_long.set(too_long.get() + 1);
            return;
        }
        if length >= values.load_weak(grid, to) || values.min(grid, to, length) <= length {
            return;
        }
        if length < bound {
            nodes.set(nodes.get() + u32::from(find(part, to)));
        } else {
            let at = to - first;
            waiting.or(grid, at / 32, 1 << (at % 32));
        }
    };
    forth(part, edges, visit, || Tally {
        found: nodes.replace(0),
        change: too_long.replace(0),
        ..Tally::default()
    })
}

/// Calls `stays` with each waiting node and its distance, and leaves those that it takes waiting.
#[inline(always)]
fn each_waiting<G: Grid>(part: &Part<G>, mut stays: impl FnMut(u32, u32) -> bool) {
    let (grid, multi) = (part.grid(), part.multi);
    let (waiting, values) = (multi.waiting(grid), multi.values(grid));
    let first = multi.first(grid);
    part.team.each(multi.own_words(grid), |at| {
        let word = waiting.load(grid, at);
        let (mut rest, mut kept) = (word, 0);
        while rest != 0 {
            let bit = rest.trailing_zeros();
            rest &= rest - 1;
            let node = first + at * 32 + bit;
            if stays(node, values.load(grid, node)) {
                kept |= 1 << bit;
            }
        }
        if kept != word {
            waiting.store(grid, at, kept);
        }
    });
}

/// The least distance that waits on any device and is not below `bound`, all below which are final.
#[inline(never)]
fn least_waiting<G: Grid>(part: &mut Part<G>, bound: u32) -> Result<u32, Stop> {
    let mut least = u32::MAX;
    each_waiting(part, |_, value| {
        if value >= bound {
            least = least.min(value);
        }
        value >= bound
    });
    part.least(least)
}

/// Finds the waiting nodes with distances below `bound`.
#[inline(never)]
fn open<G: Grid>(part: &Part<G>, bound: u32) -> Result<(), Stop> {
    let mut tally = Tally::default();
    each_waiting(part, |node, value| {
        if value < bound {
            tally.found += u32::from(find(part, node));
        }
        value >= bound
    });
    tally.add(part);
    part.barrier()
}
