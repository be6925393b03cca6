//! Ranks that follow edges in proportion to their weights: the shares of edges, and a round.
//!
//! The arithmetic is that of the program of `ppr`, step by step: weights in units of their row's
//! largest one, ranks along edges as whole numbers of small units. So both find the same bits, in
//! any order of additions.
//!
//! Edges have their weights where they leave, so ranks are pushed along them; one thread needs no
//! atomic additions for that.
//!
//! Work: shares twice `m` once, a round `m`, and `n` nodes thrice. Memory of a round: `2 n` words.

use super::Operands;
use super::work::{Pairs, Rows, Scratch, Work};
use crate::context::Tag;
use crate::grid::Grid;
use crate::memory::Words;
use seawall_core::abi::control::FaultCode;
use seawall_core::abi::rank::unit_exponent;
use seawall_core::abi::sequential::Lengths;

/// Bits of a sum of weights.
const SUM_BITS: u32 = 62;

/// Units of a total in 1, as a power of two.
const TOTAL_EXPONENT: u32 = 60;

/// Share of the first edge of a row whose edges have no weight.
const NO_WAY: f32 = -1.0;

/// Stores the share of every edge in the weights of its node's edges.
pub(super) fn share<G: Grid>(
    work: &mut Work<'_, G>,
    operands: &Operands,
    rows: Rows,
) -> Result<(), FaultCode> {
    let (grid, to) = (work.grid, operands.to);
    operands.needs(rows.rows.edges().into())?;
    let mut degree = 0;
    for node in 0..operands.nodes {
        work.pass(1)?;
        let (start, end) = rows.rows.row(grid, node);
        degree = degree.max(end - start);
    }
    // A sum of so many weights in units of the largest one has at most as many bits.
    let exponent = SUM_BITS - (u32::BITS - degree.leading_zeros());
    for node in 0..operands.nodes {
        let (start, end) = rows.rows.row(grid, node);
        work.spend(end - start)?;
        work.spend(end - start)?;
        let weight = |edge: u32| {
            let word = rows.weights.load_weak(grid, edge);
            match rows.lengths {
                Lengths::Float => f32::from_bits(word),
                Lengths::Whole | Lengths::Edges => word as f32,
            }
        };
        let largest = (start..end).map(weight).fold(0.0, f32::max);
        if largest <= 0.0 {
            (start..end).for_each(|edge| to.store_weak(grid, edge, NO_WAY.to_bits()));
            continue;
        }
        let units = |edge: u32| units(weight(edge) / largest, exponent);
        let sum = (start..end).map(units).fold(0, u64::wrapping_add);
        let sum = sum as f32 * unit(exponent);
        for edge in start..end {
            let share = weight(edge) / largest / sum;
            to.store_weak(grid, edge, share.to_bits());
        }
    }
    Ok(())
}

/// Moves ranks along every edge once. Raises `tag` if they changed by more than the tolerance.
pub(super) fn step<G: Grid>(
    work: &mut Work<'_, G>,
    operands: &Operands,
    rows: Rows,
    mut scratch: Scratch,
    shares: Words,
    tag: Tag,
) -> Result<(), FaultCode> {
    let (grid, nodes) = (work.grid, operands.nodes);
    operands.needs(nodes.into())?;
    let round = Round {
        rows,
        shares,
        ranks: operands.to,
        starts: operands.sources,
        coming: scratch.take_pairs(nodes)?,
        exponent: unit_exponent(rows.rows.edges()),
        damping: f32::from_bits(operands.record.damping),
    };
    for node in 0..nodes {
        round.coming.store(grid, node, 0);
    }
    let jumping = round.push(work, nodes)?;
    let change = round.gather(work, nodes, jumping)?;
    let tolerance = f64::from(f32::from_bits(operands.record.tolerance));
    let most = tolerance * (1_u64 << TOTAL_EXPONENT) as f64;
    if change > most as u64 {
        tag.raise(grid);
    }
    Ok(())
}

struct Round {
    rows: Rows,
    /// The share of each edge.
    shares: Words,
    ranks: Words,
    /// The share of a walk that starts at each node.
    starts: Words,
    /// Rank that comes along edges, in units.
    coming: Pairs,
    exponent: u32,
    damping: f32,
}

impl Round {
    /// Pushes every rank along its node's edges; returns the rank of nodes without a way out.
    fn push<G: Grid>(&self, work: &mut Work<'_, G>, nodes: u32) -> Result<u64, FaultCode> {
        let grid = work.grid;
        let share = |edge: u32| f32::from_bits(self.shares.load_weak(grid, edge));
        let mut jumping = 0_u64;
        for node in 0..nodes {
            let (start, end) = self.rows.rows.row(grid, node);
            work.spend(end - start)?;
            let own = f32::from_bits(self.ranks.load_weak(grid, node));
            if start == end || share(start) < 0.0 {
                jumping = jumping.wrapping_add(units(own, TOTAL_EXPONENT));
                continue;
            }
            for edge in start..end {
                let to = self.rows.rows.target(grid, edge);
                let more = units(share(edge) * own, self.exponent);
                let before = self.coming.load(grid, to);
                self.coming.store(grid, to, before.wrapping_add(more));
            }
        }
        Ok(jumping)
    }

    /// Stores the ranks that follow; returns the sum of their changes.
    fn gather<G: Grid>(
        &self,
        work: &mut Work<'_, G>,
        nodes: u32,
        jumping: u64,
    ) -> Result<u64, FaultCode> {
        let grid = work.grid;
        let lost = jumping as f32 * unit(TOTAL_EXPONENT);
        let anew = lost * self.damping + (1.0 - self.damping);
        let mut change = 0_u64;
        for node in 0..nodes {
            work.pass(1)?;
            let along = self.coming.load(grid, node) as f32 * unit(self.exponent);
            let start = f32::from_bits(self.starts.load_weak(grid, node));
            let before = f32::from_bits(self.ranks.load_weak(grid, node));
            let next = anew * start + along * self.damping;
            let moved = next.max(before) - next.min(before);
            change = change.wrapping_add(units(moved, TOTAL_EXPONENT));
            self.ranks.store_weak(grid, node, next.to_bits());
        }
        Ok(change)
    }
}

/// Whole units in `value`, of which 1 has two to the power of `exponent`. Ranks, shares and changes
/// are at most 1, so a signed number holds them, to which processors convert in one step.
#[inline(always)]
fn units(value: f32, exponent: u32) -> u64 {
    let scale = f32::from_bits((127 + exponent) << 23);
    (value * scale) as i64 as u64
}

/// A unit as a float.
#[inline(always)]
fn unit(exponent: u32) -> f32 {
    f32::from_bits((127 - exponent) << 23)
}
