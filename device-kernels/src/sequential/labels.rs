//! Communities by label propagation, by the stable rule of the analysis `labels`.
//!
//! Each round, a node wants the label of most edges around it (or most weight), its own if that is
//! among them, else the first in a random order. A node that wants another label waits if it is in
//! conflict with a neighbour that comes before it: both want another label, and one of them the
//! other's present one. All others change at once. The next round looks at nodes that waited, and at
//! neighbours of nodes that changed. The host's module proves that this ends where no node wants
//! another label; on a graph with edges that have no mirror image it may not, but for the clock.
//!
//! Labels of a row are counted in an array with a sum for each label, which are zero between rows;
//! those of a short row are compared with each other. The rows and labels of the next nodes of a list
//! are fetched ahead.
//!
//! A look also finds the lead of the label that a node wants over all others. A neighbour's change
//! from one label to another takes at most its weight from both sides of the lead, so a node looks
//! again only when the changes since its last look have used the lead up. Until then it would want
//! the same label, so results are those of a look in each round.
//!
//! Work: `O(1)` for each edge of a node that looks, wants another label, or changes, in each round;
//! `m` looks in the first. Memory: `8 n` words.
//!
//! Source: Raghavan, Albert, Kumara, "Near linear time algorithm to detect community structures in
//! large-scale networks", 2007.

use super::Operands;
use super::work::{Field, Pairs, Rows, Scratch, Work, fetch};
use crate::grid::Grid;
use crate::memory::Words;
use seawall_core::abi::control::FaultCode;
use seawall_core::abi::sequential::Lengths;

/// Units in the largest float weight are this power of two and less than twice as many: weights are
/// summed as whole numbers.
const UNITS_EXPONENT: i32 = 31;

/// A label that is not named yet.
const NAMELESS: u32 = u32::MAX;

/// The lead of a label that another one may have overtaken.
const NO_LEAD: u32 = 0;

/// Edges for each node from which on a graph is dense.
const DENSE: u32 = 8;

/// Edges of a row whose labels are compared with each other.
const SHORT: u32 = 8;

/// Stores the smallest node of every node's community.
pub(super) fn propagate<G: Grid>(
    work: &mut Work<'_, G>,
    operands: &Operands,
    rows: Rows,
    mut scratch: Scratch,
) -> Result<(), FaultCode> {
    let (grid, nodes) = (work.grid, operands.nodes);
    operands.needs(nodes.into())?;
    let sums = scratch.take_pairs(nodes)?;
    let [labels, wanted, listed, leads] = fields(&mut scratch, nodes, rows.rows.edges())?;
    let state = Propagation {
        amounts: Amounts::of(work, rows)?,
        rows,
        sums,
        labels,
        wanted,
        listed,
        leads,
        nodes,
        looking: scratch.take(nodes)?,
        moving: scratch.take(nodes)?,
    };
    for node in 0..nodes {
        state.sums.store(grid, node, 0);
        state.labels.store_weak(grid, node, node);
        state.wanted.store_weak(grid, node, node);
        state.listed.store_weak(grid, node, 0);
        state.leads.store_weak(grid, node, NO_LEAD);
        state.looking.store_weak(grid, node, node);
    }
    let (mut looking, mut round) = (nodes, 0_u32);
    while looking > 0 {
        round = round.wrapping_add(1);
        looking = state.round(work, looking, round)?;
    }
    state.name(grid, operands.to, nodes);
    Ok(())
}

/// A label, the one that is wanted, the last round and the lead of every node: each in an array of
/// its own, where looks at labels are most of the work, else in one record.
fn fields(scratch: &mut Scratch, nodes: u32, edges: u32) -> Result<[Field; 4], FaultCode> {
    if edges / DENSE >= nodes {
        let mut field = || scratch.take(nodes).map(Field::of);
        return Ok([field()?, field()?, field()?, field()?]);
    }
    let records = scratch.take_records(nodes, 4)?;
    let field = |at| records.field(at);
    Ok([field(0)?, field(1)?, field(2)?, field(3)?])
}

#[derive(Clone, Copy)]
struct Propagation {
    rows: Rows,
    amounts: Amounts,
    /// The sum of each label around the node at hand.
    sums: Pairs,
    labels: Field,
    wanted: Field,
    /// The last round that listed each node.
    listed: Field,
    /// One more than the least lead that the wanted label of each node can have, or [`NO_LEAD`].
    leads: Field,
    nodes: u32,
    looking: Words,
    /// The nodes that change, from the front on, and those that wait, from the back on.
    moving: Words,
}

impl Propagation {
    /// Runs a round for the first nodes of the list; returns the length of the next one.
    fn round<G: Grid>(
        &self,
        work: &mut Work<'_, G>,
        looking: u32,
        round: u32,
    ) -> Result<u32, FaultCode> {
        let grid = work.grid;
        for at in 0..looking {
            self.fetch(grid, self.labels, self.looking, looking, at);
            let node = self.looking.load_weak(grid, at);
            // A node that waits wants a label without a lead only if no label has as much.
            if !self.wants(grid, node) || self.leads.load_weak(grid, node) <= NO_LEAD + 1 {
                let choice = self.best(work, node)?;
                self.wanted.store_weak(grid, node, choice.label);
                self.leads.store_weak(grid, node, choice.lead());
            }
        }
        let (mut changing, mut waiting) = (0, 0);
        for at in 0..looking {
            self.fetch(grid, self.wanted, self.looking, looking, at);
            let node = self.looking.load_weak(grid, at);
            if self.wants(grid, node) {
                if self.waits(work, node)? {
                    waiting += 1;
                    self.moving.store_weak(grid, self.nodes - waiting, node);
                } else {
                    self.moving.store_weak(grid, changing, node);
                    changing += 1;
                }
            }
        }
        let mut next = 0;
        for at in 0..changing {
            self.fetch(grid, self.leads, self.moving, changing, at);
            let node = self.moving.load_weak(grid, at);
            let change = [&self.labels, &self.wanted].map(|of| of.load_weak(grid, node));
            self.labels.store_weak(grid, node, change[1]);
            let (start, end) = self.rows.rows.row(grid, node);
            work.spend(end - start)?;
            for edge in start..end {
                let other = self.rows.rows.target(grid, edge);
                if other != node && self.overtakes(grid, other, edge, change) {
                    self.list(grid, other, round, &mut next);
                }
            }
        }
        for at in 1..=waiting {
            let node = self.moving.load_weak(grid, self.nodes - at);
            self.list(grid, node, round, &mut next);
        }
        Ok(next)
    }

    /// Fetches the rows of the nodes after `at` in a list of `length`, and words of their neighbours.
    #[inline(always)]
    fn fetch<G: Grid>(&self, grid: G, field: Field, list: Words, length: u32, at: u32) {
        fetch(grid, self.rows.rows, field, |steps| {
            let at = at.saturating_add(steps);
            (at < length).then(|| list.load_weak(grid, at))
        });
    }

    #[inline(always)]
    fn list<G: Grid>(&self, grid: G, node: u32, round: u32, length: &mut u32) {
        if self.listed.load_weak(grid, node) != round {
            self.listed.store_weak(grid, node, round);
            self.looking.store_weak(grid, *length, node);
            *length += 1;
        }
    }

    #[inline(always)]
    fn wants<G: Grid>(&self, grid: G, node: u32) -> bool {
        self.labels.load_weak(grid, node) != self.wanted.load_weak(grid, node)
    }

    /// Whether another label may have as much around `node` as the one that it wants, or more, now
    /// that the neighbour at `edge` has changed.
    #[inline(always)]
    fn overtakes<G: Grid>(&self, grid: G, node: u32, edge: u32, [from, to]: [u32; 2]) -> bool {
        let lead = self.leads.load_weak(grid, node);
        if lead == NO_LEAD {
            return true;
        }
        let wanted = self.wanted.load_weak(grid, node);
        let amount = self.amounts.at(grid, self.rows, edge);
        let amount = u32::try_from(amount).unwrap_or(u32::MAX);
        let left = match (from == wanted, to == wanted) {
            (_, true) => lead.saturating_add(amount),
            (true, false) => lead.saturating_sub(amount).saturating_sub(amount),
            (false, false) => lead.saturating_sub(amount),
        };
        self.leads.store_weak(grid, node, left);
        left == NO_LEAD
    }

    /// The label that `node` would take if it were alone.
    fn best<G: Grid>(&self, work: &mut Work<'_, G>, node: u32) -> Result<Choice, FaultCode> {
        let grid = work.grid;
        let own = self.labels.load_weak(grid, node);
        let (start, end) = self.rows.rows.row(grid, node);
        work.spend(end - start)?;
        if end - start <= SHORT {
            return Ok(self.best_of_few(grid, node, own, [start, end]));
        }
        for edge in start..end {
            let other = self.rows.rows.target(grid, edge);
            if other != node {
                let label = self.labels.load_weak(grid, other);
                let sum = self.sums.load(grid, label);
                let amount = self.amounts.at(grid, self.rows, edge);
                self.sums.store(grid, label, sum.wrapping_add(amount));
            }
        }
        let mut choice = Choice::of(own, self.sums.load(grid, own));
        self.sums.store(grid, own, 0);
        for edge in start..end {
            let other = self.rows.rows.target(grid, edge);
            let label = self.labels.load_weak(grid, other);
            choice.offer(label, self.sums.load(grid, label));
            self.sums.store(grid, label, 0);
        }
        Ok(choice)
    }

    /// The same for a short row.
    fn best_of_few<G: Grid>(&self, grid: G, node: u32, own: u32, [start, end]: [u32; 2]) -> Choice {
        let mut labels = [own; SHORT as usize];
        let mut sums = [0_u64; SHORT as usize];
        let (mut of_own, mut count) = (0_u64, 0);
        for edge in start..end {
            let other = self.rows.rows.target(grid, edge);
            if other == node {
                continue;
            }
            let label = self.labels.load_weak(grid, other);
            let amount = self.amounts.at(grid, self.rows, edge);
            if label == own {
                of_own = of_own.wrapping_add(amount);
                continue;
            }
            let mut known = labels.iter().zip(&mut sums).take(count);
            if let Some((_, sum)) = known.find(|(known, _)| **known == label) {
                *sum = sum.wrapping_add(amount);
            } else if let (Some(new), Some(sum)) = (labels.get_mut(count), sums.get_mut(count)) {
                (*new, *sum) = (label, amount);
                count += 1;
            }
        }
        let mut choice = Choice::of(own, of_own);
        for (label, sum) in labels.into_iter().zip(sums).take(count) {
            choice.offer(label, sum);
        }
        choice
    }

    /// Whether `node` comes after a neighbour in conflict with it.
    fn waits<G: Grid>(&self, work: &mut Work<'_, G>, node: u32) -> Result<bool, FaultCode> {
        let grid = work.grid;
        let own = self.labels.load_weak(grid, node);
        let wish = self.wanted.load_weak(grid, node);
        let (start, end) = self.rows.rows.row(grid, node);
        work.spend(end - start)?;
        for edge in start..end {
            let other = self.rows.rows.target(grid, edge);
            let theirs = self.labels.load_weak(grid, other);
            let their_wish = self.wanted.load_weak(grid, other);
            let meet = theirs == wish || their_wish == own;
            if meet && theirs != their_wish && place(other) < place(node) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Names each community after its smallest node.
    fn name<G: Grid>(&self, grid: G, to: Words, nodes: u32) {
        let names = self.listed;
        for node in 0..nodes {
            names.store_weak(grid, node, NAMELESS);
        }
        for node in 0..nodes {
            let label = self.labels.load_weak(grid, node);
            if names.load_weak(grid, label) == NAMELESS {
                names.store_weak(grid, label, node);
            }
            to.store_weak(grid, node, names.load_weak(grid, label));
        }
    }
}

/// The label of most weight around a node.
struct Choice {
    own: u32,
    label: u32,
    most: u64,
    /// The most of all other labels.
    second: u64,
}

impl Choice {
    const fn of(own: u32, most: u64) -> Self {
        Self {
            own,
            label: own,
            most,
            second: 0,
        }
    }

    /// Takes another label if it has more. Among equals the node's own comes first.
    #[inline(always)]
    fn offer(&mut self, label: u32, sum: u64) {
        let is_first = || self.label != self.own && place(label) < place(self.label);
        if sum > self.most || (sum == self.most && sum > 0 && is_first()) {
            self.second = self.most;
            (self.label, self.most) = (label, sum);
        } else {
            self.second = self.second.max(sum);
        }
    }

    /// One more than its lead, or as much of it as fits a word.
    fn lead(&self) -> u32 {
        let lead = self.most - self.second;
        u32::try_from(lead).map_or(u32::MAX, |lead| lead.saturating_add(1))
    }
}

/// The place of a label, or of the node that began with it, in the random order (Wellons,
/// "Prospecting for hash functions", 2018).
#[inline(always)]
const fn place(node: u32) -> u32 {
    let number = node.wrapping_add(1);
    let mixed = (number ^ (number >> 16)).wrapping_mul(0x7FEB_352D);
    let mixed = (mixed ^ (mixed >> 15)).wrapping_mul(0x846C_A68B);
    mixed ^ (mixed >> 16)
}

/// The amount that an edge counts.
#[derive(Clone, Copy)]
enum Amounts {
    One,
    Whole,
    /// A float weight, times both factors.
    Float([f32; 2]),
}

impl Amounts {
    /// One pass over float weights, for their largest.
    fn of<G: Grid>(work: &mut Work<'_, G>, rows: Rows) -> Result<Self, FaultCode> {
        Ok(match rows.lengths {
            Lengths::Edges => Self::One,
            Lengths::Whole => Self::Whole,
            Lengths::Float => {
                let mut largest = 0;
                for edge in 0..rows.weights.len() {
                    if edge % 1024 == 0 {
                        work.pass(1024)?;
                    }
                    // Words of floats that are not negative order like them.
                    largest = largest.max(rows.weights.load_weak(work.grid, edge));
                }
                Self::Float(units_in_one(f32::from_bits(largest)))
            }
        })
    }

    #[inline(always)]
    fn at<G: Grid>(self, grid: G, rows: Rows, edge: u32) -> u64 {
        match self {
            Self::One => 1,
            Self::Whole => u64::from(rows.weights.load_weak(grid, edge)),
            Self::Float([first, second]) => {
                (f32::from_bits(rows.weights.load_weak(grid, edge)) * first * second) as u64
            }
        }
    }
}

/// Units in a weight of 1, as two factors, if `largest` is the largest weight.
///
/// Both are powers of two, so that weights in the ratio of small whole numbers stay in it: sums that
/// are equal as real numbers must be equal in units, too.
#[must_use]
pub const fn units_in_one(largest: f32) -> [f32; 2] {
    const FRACTION_BITS: u32 = f32::MANTISSA_DIGITS - 1;
    let bits = largest.to_bits();
    let exponent = match bits {
        0 => 0,
        1..=0x007F_FFFF => bits.ilog2() as i32 - 149,
        _ => (bits >> FRACTION_BITS) as i32 - 127,
    };
    // Between -97 and 180, which one factor cannot hold.
    let units = UNITS_EXPONENT - exponent;
    [power_of_two(units / 2), power_of_two(units - units / 2)]
}

/// 2 to the power of `exponent`, which is between -126 and 127.
const fn power_of_two(exponent: i32) -> f32 {
    f32::from_bits(((exponent + 127) as u32) << (f32::MANTISSA_DIGITS - 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_largest_weight_has_as_many_units_as_fit_a_word() {
        for largest in [
            f32::from_bits(1),
            1e-40,
            f32::MIN_POSITIVE,
            0.75,
            1.0,
            3.0,
            f32::MAX,
        ] {
            let [first, second] = units_in_one(largest);
            let units = f64::from(largest * first * second);
            assert!(
                (2_147_483_648.0..4_294_967_296.0).contains(&units),
                "{largest}"
            );
            let quarter = largest / 4.0;
            let share = f64::from(quarter) / f64::from(largest);
            assert_eq!(
                f64::from(quarter * first * second),
                share * units,
                "{largest}"
            );
        }
        assert_eq!(units_in_one(0.0), [32_768.0, 65_536.0]);
    }
}
