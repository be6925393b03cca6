//! Ranks by power iteration: each pass pushes the shares of nodes along their edges.
//!
//! Shares are whole units and are added as integers, so their order does not matter, and ranks are
//! the same, bit for bit, as those of a resident run.

use super::checks::target;
use super::consumer::Kernel;
use super::view::View;
use crate::graph::BinaryProblem;
use crate::graph::disk::Rows;
use crate::graph::memory::{Shortage, zeroed};
use seawall_core::abi::rank::unit_exponent;
use seawall_device::algorithms::rank::scale::{Scale, part, units};
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

/// Largest exponent with which the shares of all edges add up to less than 2^63.
const EXPONENT_MAX: u32 = 62;

/// Units of shares in 1, as a power of two.
pub(super) fn exponent(edges: u64) -> u32 {
    u32::try_from(edges).map_or_else(
        |_| (24 + 64 - (edges - 1).leading_zeros()).min(EXPONENT_MAX),
        unit_exponent,
    )
}

/// The initial rank of every node, and the initial mass of nodes without edges.
pub(super) fn first(rows: &Rows) -> (f32, u64) {
    let rank = 1.0 / rows.len() as f32;
    let without = (0..rows.len()).filter(|row| rows.degree(*row) == 0);
    let mass = without.fold(0_u64, |mass, _| mass.wrapping_add(units(rank)));
    (rank, mass)
}

/// The share of each node for an edge at the start, floats of whole units.
pub(super) fn first_shares(rows: &Rows, rank: f32, exponent: u32) -> Result<Vec<u32>, Shortage> {
    let scale = Scale::of(exponent);
    let mut shares: Vec<u32> = zeroed(rows.len() as usize)?;
    for (row, share) in (0..).zip(&mut shares) {
        let degree = rows.degree(row);
        if degree > 0 {
            *share = scale.whole(rank / degree as f32).to_bits();
        }
    }
    Ok(shares)
}

pub(super) struct Ranking<'a> {
    rows: &'a Rows,
    scale: Scale,
    damping: f32,
    /// Whether one thread does all work.
    alone: bool,
    ranks: Vec<AtomicU32>,
    sums: Vec<AtomicU64>,
    /// Mass of nodes without edges, in units of a total.
    dangling: AtomicU64,
}

impl<'a> Ranking<'a> {
    pub(super) const NODE_BYTES: u64 = 12;

    /// Gives every node the same rank.
    pub(super) fn new(rows: &'a Rows, damping: f32, threads: usize) -> Result<Self, Shortage> {
        let nodes = rows.len() as usize;
        let (rank, dangling) = first(rows);
        let mut ranks: Vec<u32> = zeroed(nodes)?;
        ranks.fill(rank.to_bits());
        let sums: Vec<u64> = zeroed(nodes)?;
        Ok(Self {
            rows,
            scale: Scale::of(exponent(rows.edges())),
            damping,
            alone: threads == 1,
            ranks: ranks.into_iter().map(AtomicU32::new).collect(),
            sums: sums.into_iter().map(AtomicU64::new).collect(),
            dangling: AtomicU64::new(dangling),
        })
    }

    /// Makes new ranks from the sums of a pass, which must not change meanwhile; returns the sum of
    /// all changes, in units.
    pub(super) fn apply(&self) -> u64 {
        let Self {
            rows,
            scale,
            damping,
            ..
        } = *self;
        let lost = part(self.dangling.load(Ordering::Relaxed));
        let base = (1.0 - damping + damping * lost) / rows.len() as f32;
        let (mut change, mut dangling) = (0_u64, 0_u64);
        for (row, (own, sum)) in (0..).zip(self.ranks.iter().zip(&self.sums)) {
            let total = sum.load(Ordering::Relaxed);
            sum.store(0, Ordering::Relaxed);
            let old = f32::from_bits(own.load(Ordering::Relaxed));
            let rank = base + damping * scale.part(total);
            let step = if rank > old { rank - old } else { old - rank };
            change = change.wrapping_add(units(step));
            own.store(rank.to_bits(), Ordering::Relaxed);
            if rows.degree(row) == 0 {
                dangling = dangling.wrapping_add(units(rank));
            }
        }
        self.dangling.store(dangling, Ordering::Relaxed);
        change
    }

    pub(super) fn into_ranks(self) -> Vec<f32> {
        let rank = |rank: AtomicU32| f32::from_bits(rank.into_inner());
        self.ranks.into_iter().map(rank).collect()
    }
}

impl Kernel for Ranking<'_> {
    fn take(&self, view: &View<'_>, _: &dyn Fn() -> bool) -> Result<(), BinaryProblem> {
        view.each_row(|row, edges| {
            let rank = f32::from_bits(self.ranks[row as usize].load(Ordering::Relaxed));
            let share = self.scale.units(rank / self.rows.degree(row) as f32);
            if share == 0 {
                return Ok(());
            }
            for at in edges {
                let Some(sum) = self.sums.get(view.targets[at] as usize) else {
                    return Err(target(view, at, self.sums.len() as u32));
                };
                if self.alone {
                    let old = sum.load(Ordering::Relaxed);
                    sum.store(old.wrapping_add(share), Ordering::Relaxed);
                } else {
                    sum.fetch_add(share, Ordering::Relaxed);
                }
            }
            Ok(())
        })
    }
}

/// Returns whether ranks that changed by `change` units have settled.
pub(super) fn has_settled(change: u64, tolerance: f32) -> bool {
    change <= units(tolerance)
}
