//! Ranks by power iteration: each node adds up the shares of the nodes from which edges lead to it.
//!
//! Shares are whole units and are added as integers, so ranks are the same bit for bit on any
//! number of devices, and those of a resident run. Work O(n + m) an iteration on all devices
//! together, and a share of each node to each other device; two barriers of the device's blocks,
//! three with frequent sources, and one of all.

use super::frontier::{Tally, copy};
use super::meet::Part;
use crate::algorithms::rank::gather::{Pull, RowSums, RowWords, Sums};
use crate::algorithms::rank::scale::{Scale, part as of_units, units};
use crate::machine::Grid;
use crate::machine::memory::{Proven, word_of};
use crate::tables::control::Stop;
use seawall_core::abi::multi::MultiState;

/// Iterates until the ranks have settled, or to the limit. The host has set the shares of all nodes.
///
/// # Errors
/// As [`Part::meet`].
pub(super) fn run<G: Grid>(part: &mut Part<G>) -> Result<(), Stop> {
    let (grid, multi) = (part.grid(), part.multi);
    let (values, first) = (multi.values(grid), multi.first(grid));
    let rank = (1.0 / multi.nodes(grid) as f32).to_bits();
    part.team.each(multi.own_nodes(grid), |at| {
        values.store_weak(grid, first + at, rank);
    });
    part.barrier()?;
    let (mut iterations, mut converged) = (0, false);
    let mut lost = multi.dangling(grid);
    while !converged && iterations < multi.limit(grid) {
        if multi.frequent(grid) > 0 {
            copy_frequent(part);
            part.barrier()?;
        }
        gather(part);
        part.barrier()?;
        apply(part, lost);
        part.meet(true)?;
        iterations += 1;
        lost = part.state_wide(word_of!(MultiState, dangling));
        converged = part.state_wide(word_of!(MultiState, change)) <= multi.settled(grid);
    }
    if part.team.is_leader() {
        let state = multi.state(grid);
        state.store(grid, word_of!(MultiState, rounds), iterations);
        state.store(grid, word_of!(MultiState, converged), u32::from(converged));
    }
    Ok(())
}

/// Copies the shares of frequent sources to their places, side by side: a line of the cache then has
/// those of many. They are read again and again, and lie far apart else.
#[inline(never)]
fn copy_frequent<G: Grid>(part: &Part<G>) {
    let (grid, multi) = (part.grid(), part.multi);
    let (nodes, of_place) = (multi.nodes(grid), multi.frequent_nodes(grid));
    let shares = multi.shares(grid, part.step());
    part.team.each(multi.frequent(grid), |place| {
        let share = shares.load_weak(grid, of_place.constant(grid, place));
        shares.store_weak(grid, nodes + place, share);
    });
}

/// Sums of this device's nodes, two words each, to which rows add.
#[derive(Clone, Copy, Debug)]
struct OwnSums {
    sums: RowWords,
    /// The node of each row, of which a node has several; none if rows are nodes.
    nodes: Option<Proven>,
}

impl Sums for OwnSums {
    #[inline(always)]
    fn set<G: Grid>(self, grid: G, row: u32, sum: u64) {
        match self.nodes {
            None => self.sums.set(grid, row, sum),
            Some(_) => self.add(grid, row, sum),
        }
    }

    #[inline(always)]
    fn add<G: Grid>(self, grid: G, row: u32, sum: u64) {
        let node = self.nodes.map_or(row, |nodes| nodes.constant(grid, row));
        self.sums.add(grid, node, sum);
    }
}

/// Adds the shares along the edges to this device's nodes to the zero sums.
#[inline(never)]
fn gather<G: Grid>(part: &Part<G>) {
    let (grid, multi) = (part.grid(), part.multi);
    let pull = Pull {
        sums: OwnSums {
            sums: RowWords(multi.sums(grid)),
            nodes: multi.row_nodes(grid),
        },
        rows: RowSums {
            rows: multi.incoming(grid).csr(),
            nodes: multi.rows(grid),
            edges: multi.edges(grid),
            contributions: multi.shares(grid, part.step()),
            scale: Scale::of(multi.exponent(grid)),
        },
    };
    if G::WARP == 1 {
        pull.rows
            .each(&part.team, |row, sum| pull.sums.set(grid, row, sum));
    } else {
        pull.by_edges(&part.team);
    }
}

/// Makes new ranks from the sums and the mass that nodes without edges lost, and clears the sums.
#[inline(never)]
fn apply<G: Grid>(part: &Part<G>, lost: u64) {
    let (grid, multi) = (part.grid(), part.multi);
    let (sums, degrees) = (multi.sums(grid), multi.degrees(grid));
    let (values, first) = (multi.values(grid), multi.first(grid));
    let next = multi.shares(grid, part.step() + 1);
    let scale = Scale::of(multi.exponent(grid));
    let damping = f32::from_bits(multi.damping(grid));
    let base = (1.0 - damping + damping * of_units(lost)) / multi.nodes(grid) as f32;
    let mut tally = Tally::default();
    let fetch = |at: u32| {
        let sum = sums.load_weak_wide(grid, 2 * at);
        let old = values.load_weak(grid, first + at);
        (sum, f32::from_bits(old), degrees.constant(grid, at))
    };
    part.team
        .each_ahead(multi.own_nodes(grid), fetch, |at, (sum, old, degree)| {
            let node = first + at;
            if sum != 0 {
                sums.store_weak_wide(grid, 2 * at, 0);
            }
            let rank = base + damping * scale.part(sum);
            let step = if rank > old { rank - old } else { old - rank };
            tally.change = tally.change.wrapping_add(units(step));
            values.store_weak(grid, node, rank.to_bits());
            if degree == 0 {
                tally.dangling = tally.dangling.wrapping_add(units(rank));
                return;
            }
            let share = scale.whole(rank / degree as f32).to_bits();
            next.store_weak(grid, node, share);
            copy(multi, grid, next, node, share);
        });
    tally.add(part);
}
