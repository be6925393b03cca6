//! Ranks by power iteration: each node adds up the shares of the nodes from which edges lead to it.
//!
//! Shares are whole units and are added as integers, so ranks are the same bit for bit on any
//! number of devices, and those of a resident run. Work O(n + m) an iteration on all devices
//! together, and a share of each node to each other device.

use super::advance::{each_own, long_rows, sum};
use super::frontier::{Tally, copy};
use super::meet::Part;
use crate::block::warp_sum_wide;
use crate::control::Stop;
use crate::grid::Grid;
use crate::memory::word_of;
use crate::stream::{Scale, part as of_units, units};
use core::cell::Cell;
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
        iterate(part, lost)?;
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

/// One iteration, with the mass of nodes without edges of the last one.
#[inline(never)]
fn iterate<G: Grid>(part: &Part<G>, lost: u64) -> Result<(), Stop> {
    let (grid, multi) = (part.grid(), part.multi);
    let (edges, sums, degrees) = (multi.incoming(grid), multi.sums(grid), multi.degrees(grid));
    let (shares, next) = (
        multi.shares(grid, part.step()),
        multi.shares(grid, part.step() + 1),
    );
    let (values, first) = (multi.values(grid), multi.first(grid));
    let scale = Scale::of(multi.exponent(grid));
    let damping = f32::from_bits(multi.damping(grid));
    let base = (1.0 - damping + damping * of_units(lost)) / multi.nodes(grid) as f32;
    let tally = Cell::new(Tally::default());
    let share_at = |edge: u32| {
        let from = edges.ends.constant(grid, edge);
        scale.units(f32::from_bits(shares.load_weak(grid, from)))
    };
    let apply = |node: u32, sum: u64| {
        let mut own = tally.get();
        let old = f32::from_bits(values.load_weak(grid, node));
        let rank = base + damping * scale.part(sum);
        let step = if rank > old { rank - old } else { old - rank };
        own.change = own.change.wrapping_add(units(step));
        values.store_weak(grid, node, rank.to_bits());
        let degree = degrees.constant(grid, node - first);
        if degree == 0 {
            own.dangling = own.dangling.wrapping_add(units(rank));
        } else {
            let share = scale.whole(rank / degree as f32).to_bits();
            next.store_weak(grid, node, share);
            copy(multi, grid, next, node, share);
        }
        tally.set(own);
    };
    each_own(part, |node| {
        let sum = sum(part, edges, node, share_at);
        if let (Some(node), Some(sum)) = (node, sum) {
            apply(node, sum);
        }
    });
    let own = Cell::new(0_u64);
    let add = |_: u32, edge: u32| own.set(own.get().wrapping_add(share_at(edge)));
    let leave = |node: u32| {
        let sum = warp_sum_wide(grid, own.replace(0));
        if grid.warp_lane() == 0 && sum != 0 {
            sums.add_wide(grid, 2 * (node - first), sum);
        }
    };
    long_rows(part, edges, add, leave, |node| {
        let at = 2 * (node - first);
        apply(node, sums.load_wide(grid, at));
        sums.store(grid, at, 0);
        sums.store(grid, at + 1, 0);
    })?;
    tally.get().add(part);
    Ok(())
}
