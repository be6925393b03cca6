//! Shortest paths by buckets of distances (Meyer, Sanders: "Δ-stepping: a parallelizable shortest
//! path algorithm", J. Algorithms 2003), with one bucket open at a time and one for all that wait.
//!
//! Edges of the open bucket's nodes are relaxed until none of its distances falls. Then the least
//! distance that waits, on all devices, opens the next one. Distances of nodes that were found go
//! to all devices: a distance there that is older is too long, but a path's.

use super::advance::forth;
use super::frontier::{Tally, copy, find, tell};
use super::levels::begin;
use super::meet::{Found, Part};
use super::narrow::{Narrow, Taken, narrow};
use super::record::Edges;
use crate::machine::Grid;
use crate::machine::memory::{Proven, word_of};
use crate::tables::control::Stop;
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
    let mut found = Found {
        nodes: multi.sources(grid).into(),
        edges: u64::MAX,
    };
    let (mut rounds, mut is_too_long) = (0_u32, false);
    loop {
        let before = part.step();
        found = narrow_rounds::<G, L>(part, found, bound)?;
        while found.nodes != 0 {
            relax::<G, L>(part, bound)?;
            found = tell_lengths(part)?;
            // The sum of all devices, so that all end here or none does.
            is_too_long |= part.state_wide(word_of!(MultiState, change)) != 0;
            found = narrow_rounds::<G, L>(part, found, bound)?;
        }
        is_too_long |= part.state(word_of!(MultiState, overflow)) != 0;
        rounds += part.step() - before;
        if is_too_long {
            break;
        }
        found = open(part, [bound, L::further(bound, width)])?;
        let least = part.least();
        if found.nodes != 0 {
            bound = L::further(bound, width);
        } else if least < L::UNREACHED {
            // A float may be too large for the width to change it.
            let next = L::further(least, width).max(least + 1);
            found = open(part, [bound, next])?;
            bound = next;
        } else {
            break;
        }
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

/// Publishes nodes with their distances; returns what all devices have found.
#[inline(always)]
fn tell_lengths<G: Grid>(part: &mut Part<G>) -> Result<Found, Stop> {
    let (grid, multi) = (part.grid(), part.multi);
    let values = multi.values(grid);
    tell(part, |node| {
        copy(multi, grid, values, node, values.load(grid, node));
    })
}

/// The arrays of a relaxation.
#[derive(Clone, Copy, Debug)]
struct Relax {
    edges: Edges,
    weights: Option<Proven>,
    values: Proven,
    waiting: Proven,
    first: u32,
    bound: u32,
}

impl Relax {
    #[inline(always)]
    fn of<G: Grid>(part: &Part<G>, bound: u32) -> Self {
        let (grid, multi) = (part.grid(), part.multi);
        Self {
            edges: multi.outgoing(grid),
            weights: multi.weights(grid),
            values: multi.values(grid),
            waiting: multi.waiting(grid),
            first: multi.first(grid),
            bound,
        }
    }

    /// The end of an edge, its weight, and the distance of its end.
    #[inline(always)]
    fn fetch<G: Grid, L: Length>(self, grid: G, edge: u32) -> (u32, [u32; 2]) {
        let to = self.edges.ends.constant(grid, edge);
        let weight = self
            .weights
            .map_or(L::ONE, |weights| weights.constant(grid, edge));
        (to, [weight, self.values.load_weak(grid, to)])
    }

    /// Relaxes an edge from `node`; says that it has found `to` if its distance fell into the open
    /// bucket.
    #[inline(always)]
    fn take<G: Grid, L: Length>(self, grid: G, node: u32, to: u32, read: [u32; 2]) -> Taken {
        let [weight, value] = read;
        let length = L::further(self.values.load_weak(grid, node), weight);
        if length >= L::UNREACHED {
            return Taken::TooLong;
        }
        if length >= value || self.values.min(grid, to, length) <= length {
            return Taken::Nothing;
        }
        if length < self.bound {
            return Taken::Found;
        }
        let at = to - self.first;
        self.waiting.or(grid, at / 32, 1 << (at % 32));
        Taken::Nothing
    }
}

/// Relaxes the edges of the nodes that were found last.
#[inline(never)]
fn relax<G: Grid, L: Length>(part: &Part<G>, bound: u32) -> Result<(), Stop> {
    let (grid, relax) = (part.grid(), Relax::of(part, bound));
    let tally = Cell::<Tally>::default();
    let fetch = |edge: u32| relax.fetch::<G, L>(grid, edge);
    forth(
        part,
        relax.edges,
        &tally,
        fetch,
        |node, (to, read)| match relax.take::<G, L>(grid, node, to, read) {
            Taken::Nothing => {}
            Taken::Found => {
                find(part, &tally, to);
            }
            Taken::TooLong => {
                let mut own = tally.get();
                own.change += 1;
                tally.set(own);
            }
        },
    )
}

/// Relaxes the edges of few nodes, round after round.
#[inline(never)]
fn narrow_rounds<G: Grid, L: Length>(
    part: &mut Part<G>,
    found: Found,
    bound: u32,
) -> Result<Found, Stop> {
    let (grid, multi, relax) = (part.grid(), part.multi, Relax::of(part, bound));
    let marks = multi.found(grid);
    let work = Narrow {
        edges: relax.edges,
        fetch: |edge: u32| relax.fetch::<G, L>(grid, edge),
        take: |_, node: u32, to: u32, read: [u32; 2]| {
            let (at, taken) = (to - relax.first, relax.take::<G, L>(grid, node, to, read));
            let bit = 1 << (at % 32);
            if taken == Taken::Found && marks.or(grid, at / 32, bit) & bit != 0 {
                return Taken::Nothing;
            }
            taken
        },
        settle: Some(|node: u32| {
            marks.store(grid, (node - relax.first) / 32, 0);
            let value = relax.values.load(grid, node);
            copy(multi, grid, relax.values, node, value);
        }),
        limit: u32::MAX,
    };
    narrow(part, found, work)
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

/// Finds the waiting nodes with distances from `bounds[0]`, below which all are final, up to
/// `bounds[1]`, and the least distance of the others.
#[inline(always)]
fn open<G: Grid>(part: &mut Part<G>, bounds: [u32; 2]) -> Result<Found, Stop> {
    sort_waiting(part, bounds)?;
    tell_lengths(part)
}

/// The first half of [`open`].
#[inline(never)]
fn sort_waiting<G: Grid>(part: &Part<G>, bounds: [u32; 2]) -> Result<(), Stop> {
    let tally = Cell::<Tally>::default();
    let mut least = u32::MAX;
    each_waiting(part, |node, value| {
        if value >= bounds[1] {
            least = least.min(value);
            return true;
        }
        if value >= bounds[0] {
            find(part, &tally, node);
        }
        false
    });
    part.add_least(least);
    tally.take().add(part);
    part.barrier()
}
