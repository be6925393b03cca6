//! Numbers of shortest paths, which grow beyond any double, and sums of shares of them.
//!
//! A number of paths is a double below 2^500 and a power of 2^500. The power is 0 in nearly all
//! graphs, and is not even read before a number has grown so far.

use super::work::{Field, Pairs, Scratch};
use crate::machine::Grid;
use crate::machine::memory::Words;
use seawall_core::abi::control::FaultCode;
use seawall_core::abi::sequential::{SCORE_WORDS, Shares};

/// 2^500, and its inverse.
const LARGE: f64 = f64::from_bits((1023 + 500) << 52);
const SMALL: f64 = f64::from_bits((1023 - 500) << 52);

/// Numbers of paths to nodes. Backwards, once a node's share is known, its place has the part of a
/// share that one path through it has.
pub(super) struct Paths {
    numbers: Pairs,
    powers: Words,
    /// Whether some number has a power.
    is_large: bool,
}

impl Paths {
    /// No numbers yet, and memory for those of `nodes` nodes.
    pub(super) fn new<G: Grid>(grid: G, numbers: Pairs, powers: Words, nodes: u32) -> Self {
        for node in 0..nodes {
            powers.store_weak(grid, node, 0);
        }
        Self {
            numbers,
            powers,
            is_large: false,
        }
    }

    /// One path leads to `node`, of no edges.
    #[inline(always)]
    pub(super) fn begin<G: Grid>(&self, grid: G, node: u32) {
        self.numbers.store_float(grid, node, 1.0);
        self.forget(grid, node);
    }

    /// As many paths lead to `node` as to `from`, and no others.
    #[inline(always)]
    pub(super) fn copy<G: Grid>(&self, grid: G, node: u32, from: u32) {
        let number = self.numbers.load(grid, from);
        self.numbers.store(grid, node, number);
        if self.is_large {
            let power = self.powers.load_weak(grid, from);
            self.powers.store_weak(grid, node, power);
        }
    }

    /// The paths to `from` lead on to `node`, too.
    #[inline(always)]
    pub(super) fn add<G: Grid>(&mut self, grid: G, node: u32, from: u32) {
        let mut own = self.numbers.load_float(grid, node);
        let mut more = self.numbers.load_float(grid, from);
        let mut power = 0;
        if self.is_large {
            power = self.powers.load_weak(grid, node);
            let other = self.powers.load_weak(grid, from);
            (own, more) = (shifted(own, power, other), shifted(more, other, power));
            power = power.max(other);
        }
        let mut sum = own + more;
        if sum >= LARGE {
            sum *= SMALL;
            power = power.saturating_add(1);
            self.is_large = true;
        }
        self.numbers.store_float(grid, node, sum);
        if self.is_large {
            self.powers.store_weak(grid, node, power);
        }
    }

    /// The share that paths through `node` have in a sum of their ends' parts, where an end is not
    /// counted itself. `sum` has the powers of the paths to `node` taken out.
    #[inline(always)]
    pub(super) fn share<G: Grid>(&self, grid: G, node: u32, sum: f64) -> f64 {
        self.numbers.load_float(grid, node) * sum
    }

    /// The part of `share` that one path to `node` has.
    #[inline(always)]
    pub(super) fn part<G: Grid>(&self, grid: G, node: u32, share: f64) {
        let number = self.numbers.load_float(grid, node);
        self.numbers.store_float(grid, node, share / number);
    }

    /// The value that [`Self::part`] stored for `node`, in units of the paths to `before`.
    #[inline(always)]
    pub(super) fn part_of<G: Grid>(&self, grid: G, node: u32, before: u32) -> f64 {
        let part = self.numbers.load_float(grid, node);
        if !self.is_large {
            return part;
        }
        let power = self.powers.load_weak(grid, node);
        shifted(part, self.powers.load_weak(grid, before), power)
    }

    /// Forgets the power of `node` before another source.
    #[inline(always)]
    pub(super) fn forget<G: Grid>(&self, grid: G, node: u32) {
        if self.is_large {
            self.powers.store_weak(grid, node, 0);
        }
    }

    /// No number has a power any longer: all were forgotten.
    pub(super) fn end(&mut self) {
        self.is_large = false;
    }
}

/// `number` with a power of 2^500 in units of one that may be larger.
#[inline(always)]
fn shifted(number: f64, power: u32, other: u32) -> f64 {
    match other.saturating_sub(power) {
        0 => number,
        1 => number * SMALL,
        2 => number * SMALL * SMALL,
        _ => 0.0,
    }
}

/// Sums of shares as whole numbers of 2^-64, so that no order of additions changes them.
#[derive(Clone, Copy)]
pub(super) struct Sums {
    whole: Pairs,
    fraction: Pairs,
}

impl Sums {
    /// The sums of nodes, the first words of a block's scratch memory.
    ///
    /// # Errors
    /// [`FaultCode::BadRegister`] if the scratch memory is too short.
    pub(super) fn of(scratch: &mut Scratch, nodes: u32) -> Result<Self, FaultCode> {
        let records = scratch.take_records(nodes, SCORE_WORDS)?;
        Ok(Self {
            whole: records.pair(0)?,
            fraction: records.pair(2)?,
        })
    }

    /// Fetches the sum of `node` into the caches.
    #[inline(always)]
    pub(super) fn prefetch<G: Grid>(self, grid: G, node: u32) {
        self.whole.prefetch(grid, node);
    }

    pub(super) fn clear<G: Grid>(self, grid: G, nodes: u32) {
        for node in 0..nodes {
            self.whole.store(grid, node, 0);
            self.fraction.store(grid, node, 0);
        }
    }

    /// Adds a share, which is not negative.
    #[inline(always)]
    pub(super) fn add<G: Grid>(self, grid: G, node: u32, share: f64) {
        if share <= 0.0 {
            return;
        }
        let whole = share as u64;
        let fraction = ((share - whole as f64) * TWO_64) as u64;
        let (sum, carry) = self.fraction.load(grid, node).overflowing_add(fraction);
        self.fraction.store(grid, node, sum);
        if whole != 0 || carry {
            let before = self.whole.load(grid, node);
            let after = before.wrapping_add(whole).wrapping_add(u64::from(carry));
            self.whole.store(grid, node, after);
        }
    }

    /// The sum of `node`, in units of 2^-64.
    pub(super) fn load<G: Grid>(self, grid: G, node: u32) -> u128 {
        u128::from(self.whole.load(grid, node)) << 64 | u128::from(self.fraction.load(grid, node))
    }
}

/// A sum of shares in units of 2^-64 as a double.
pub(super) fn double(sum: u128) -> f64 {
    (sum >> 64) as u64 as f64 + sum as u64 as f64 / TWO_64
}

const TWO_64: f64 = f64::from_bits((1023 + 64) << 52);

/// The count of a path at its end: half if both of its ends are sources, where that is asked for.
#[derive(Clone, Copy)]
pub(super) struct Ends {
    marks: Field,
    is_halved: bool,
}

impl Ends {
    /// Marks the sources of the list.
    ///
    /// # Errors
    /// [`FaultCode::BadIndex`] for a source that is no node.
    pub(super) fn new<G: Grid>(
        grid: G,
        marks: Field,
        operands: &super::Operands,
    ) -> Result<Self, FaultCode> {
        let ends = Self {
            marks,
            is_halved: operands.record.shares == Shares::Halved,
        };
        if ends.is_halved {
            for node in 0..operands.nodes {
                ends.marks.store_weak(grid, node, 0);
            }
            for at in 0..operands.sources.len() {
                let source = operands.source(grid, at)?;
                ends.marks.store_weak(grid, source, 1);
            }
        }
        Ok(ends)
    }

    /// The count of a path that ends at `node`.
    #[inline(always)]
    pub(super) fn count<G: Grid>(self, grid: G, node: u32) -> f64 {
        if self.is_halved && self.marks.load_weak(grid, node) != 0 {
            0.5
        } else {
            1.0
        }
    }
}
