//! Parts of all sequential algorithms: scratch memory, 64-bit values, rows, the look at the clock.

use crate::collectives::team::Team;
use crate::machine::Grid;
use crate::machine::memory::{Csr, Words};
use core::ops::Range;
use seawall_core::abi::control::FaultCode;
use seawall_core::abi::sequential::Lengths;

/// Edges and nodes between two looks at the clock and at faults: about 50 µs of work.
pub(super) const EDGES_PER_LOOK: u32 = 4096;

/// The work of a block: what it has looked at, and whether it may go on.
pub(super) struct Work<'t, G> {
    pub(super) grid: G,
    team: &'t Team<G>,
    left: u32,
    examined: u64,
}

impl<'t, G: Grid> Work<'t, G> {
    pub(super) fn new(team: &'t Team<G>) -> Self {
        Self {
            grid: team.grid,
            team,
            left: EDGES_PER_LOOK,
            examined: 0,
        }
    }

    /// Counts a node's `edges`, and looks at the clock now and then.
    ///
    /// # Errors
    /// [`FaultCode::TimeBudget`] if the run is to end.
    #[inline(always)]
    pub(super) fn spend(&mut self, edges: u32) -> Result<(), FaultCode> {
        self.examined = self.examined.wrapping_add(u64::from(edges));
        self.pass(edges)
    }

    /// The edges of `node`, counted by [`Self::spend`].
    ///
    /// # Errors
    /// As [`Self::spend`].
    #[inline(always)]
    pub(super) fn row(&mut self, rows: Csr, node: u32) -> Result<Range<u32>, FaultCode> {
        let (start, end) = rows.row(self.grid, node);
        self.spend(end - start)?;
        Ok(start..end)
    }

    /// Looks at the clock now and then, as for a node of `edges` edges.
    ///
    /// # Errors
    /// As [`Self::spend`].
    #[inline(always)]
    pub(super) fn pass(&mut self, edges: u32) -> Result<(), FaultCode> {
        match self.left.checked_sub(edges.saturating_add(1)) {
            Some(left) => {
                self.left = left;
                Ok(())
            }
            None => self.look(),
        }
    }

    #[cold]
    #[inline(never)]
    fn look(&mut self) -> Result<(), FaultCode> {
        self.left = EDGES_PER_LOOK;
        if self.team.is_late() || self.team.control.is_stopped(self.grid) {
            return Err(FaultCode::TimeBudget);
        }
        Ok(())
    }

    /// Edges that it looked at.
    pub(super) const fn examined(&self) -> u64 {
        self.examined
    }
}

/// Scratch memory of a block, handed out from its start.
#[derive(Clone, Copy)]
pub(super) struct Scratch {
    rest: Words,
}

impl Scratch {
    /// The part of `words` words of block `rank` of `memory`.
    ///
    /// # Errors
    /// [`FaultCode::BadRegister`] if the memory has no such part.
    pub(super) fn of_block(memory: Words, words: u64, rank: u64) -> Result<Self, FaultCode> {
        let from = words.checked_mul(rank).ok_or(FaultCode::BadRegister)?;
        let rest = memory.part(from, words).ok_or(FaultCode::BadRegister)?;
        Ok(Self { rest })
    }

    /// The next `words` words.
    ///
    /// # Errors
    /// [`FaultCode::BadRegister`] if there are fewer.
    pub(super) fn take(&mut self, words: u32) -> Result<Words, FaultCode> {
        self.take_long(words.into())
    }

    /// Records of `each` words for `nodes` nodes.
    ///
    /// # Errors
    /// As [`Self::take`].
    pub(super) fn take_records(&mut self, nodes: u32, each: u32) -> Result<Records, FaultCode> {
        let words = self.take_long(u64::from(nodes) * u64::from(each))?;
        Ok(Records { words, each })
    }

    /// As many pairs of words.
    ///
    /// # Errors
    /// As [`Self::take`].
    pub(super) fn take_pairs(&mut self, pairs: u32) -> Result<Pairs, FaultCode> {
        self.take_long(u64::from(pairs) * 2).map(Pairs::of)
    }

    /// The same of any number of words.
    ///
    /// # Errors
    /// As [`Self::take`].
    pub(super) fn take_long(&mut self, words: u64) -> Result<Words, FaultCode> {
        let taken = self.rest.part(0, words);
        let left = u64::from(self.rest.len()).checked_sub(words);
        let rest = left.and_then(|left| self.rest.part(words, left));
        self.rest = rest.ok_or(FaultCode::BadRegister)?;
        taken.ok_or(FaultCode::BadRegister)
    }
}

/// Records of as many words for each node, so that what an algorithm needs of a node at once lies
/// in one line of a cache.
#[derive(Clone, Copy)]
pub(super) struct Records {
    words: Words,
    each: u32,
}

impl Records {
    /// Word `at` of every record.
    ///
    /// # Errors
    /// [`FaultCode::BadRegister`] if records have no such word.
    pub(super) fn field(self, at: u32) -> Result<Field, FaultCode> {
        Ok(Field {
            words: self.from(at)?,
            each: self.each,
        })
    }

    /// Words `at` and `at + 1` of every record.
    ///
    /// # Errors
    /// As [`Self::field`].
    pub(super) fn pair(self, at: u32) -> Result<Pairs, FaultCode> {
        Ok(Pairs {
            words: self.from(at)?,
            each: self.each,
        })
    }

    fn from(self, at: u32) -> Result<Words, FaultCode> {
        // Without nodes there are no records, and no field is used.
        let at = at.min(self.words.len());
        let left = u64::from(self.words.len() - at);
        let words = self.words.part(at.into(), left);
        words.ok_or(FaultCode::BadRegister)
    }
}

/// A word of every record.
#[derive(Clone, Copy)]
pub(super) struct Field {
    words: Words,
    each: u32,
}

impl Field {
    /// The words of an array.
    pub(super) const fn of(words: Words) -> Self {
        Self { words, each: 1 }
    }

    /// The same, where code knows how many words apart they are.
    #[inline(always)]
    pub(super) const fn spaced(self, each: u32) -> Self {
        Self { each, ..self }
    }

    #[inline(always)]
    pub(super) fn load_weak<G: Grid>(self, grid: G, index: u32) -> u32 {
        self.words.load_weak(grid, index.wrapping_mul(self.each))
    }

    #[inline(always)]
    pub(super) fn store_weak<G: Grid>(self, grid: G, index: u32, value: u32) {
        let at = index.wrapping_mul(self.each);
        self.words.store_weak(grid, at, value);
    }

    #[inline(always)]
    pub(super) fn prefetch<G: Grid>(self, grid: G, index: u32) {
        self.words.prefetch(grid, index.wrapping_mul(self.each));
    }
}

/// Values of 64 bits, low word first.
#[derive(Clone, Copy)]
pub(super) struct Pairs {
    words: Words,
    /// Words from one value to the next.
    each: u32,
}

impl Pairs {
    /// The words of an array by pairs.
    pub(super) const fn of(words: Words) -> Self {
        Self { words, each: 2 }
    }

    #[inline(always)]
    pub(super) fn load<G: Grid>(self, grid: G, index: u32) -> u64 {
        self.words
            .load_weak_pair(grid, index.wrapping_mul(self.each))
    }

    #[inline(always)]
    pub(super) fn store<G: Grid>(self, grid: G, index: u32, value: u64) {
        let at = index.wrapping_mul(self.each);
        self.words.store_weak_pair(grid, at, value);
    }

    #[inline(always)]
    pub(super) fn prefetch<G: Grid>(self, grid: G, index: u32) {
        self.words.prefetch(grid, index.wrapping_mul(self.each));
    }

    #[inline(always)]
    pub(super) fn load_float<G: Grid>(self, grid: G, index: u32) -> f64 {
        f64::from_bits(self.load(grid, index))
    }

    #[inline(always)]
    pub(super) fn store_float<G: Grid>(self, grid: G, index: u32, value: f64) {
        self.store(grid, index, value.to_bits());
    }
}

/// A word that orders like the float of these bits.
#[inline(always)]
pub(super) const fn ordered_float(bits: u32) -> u32 {
    const SIGN: u32 = 1 << 31;
    if bits & SIGN == 0 { bits | SIGN } else { !bits }
}

/// Nodes of a list between the one at hand and those of which the row, its first edge, and the words
/// of the nodes at its ends are fetched.
const STEPS: [u32; 3] = [12, 8, 4];
/// Most ends of a row that are fetched.
const ENDS: u32 = 8;

/// Fetches into the caches what the next nodes of a list need, each from what was fetched for it
/// before, while the node at hand is worked on: `node_at` has the nodes that so many steps lead to.
#[inline(always)]
pub(super) fn fetch<G: Grid>(
    grid: G,
    rows: Csr,
    field: Field,
    node_at: impl Fn(u32) -> Option<u32>,
) {
    // A map over an array would be a call.
    let [row, edge, ends] = STEPS;
    let [row, edge, ends] = [node_at(row), node_at(edge), node_at(ends)];
    if let Some(node) = row {
        rows.prefetch_row(grid, node);
        field.prefetch(grid, node);
    }
    if let Some(node) = edge {
        let (start, end) = rows.row(grid, node);
        if start < end {
            rows.prefetch_target(grid, start);
        }
    }
    if let Some(node) = ends {
        let (start, end) = rows.row(grid, node);
        for edge in start..end.min(start.saturating_add(ENDS)) {
            field.prefetch(grid, rows.target(grid, edge));
        }
    }
}

/// Rows of edges and the weights along them.
#[derive(Clone, Copy)]
pub(super) struct Rows {
    /// The rows that an algorithm follows.
    pub(super) rows: Csr,
    /// The weights along `rows`; no words if lengths are those of edges.
    pub(super) weights: Words,
    pub(super) lengths: Lengths,
}

impl Rows {
    /// The length of a path of `length` that goes on along `edge`, as bits that order like
    /// lengths: a whole number, or a double.
    #[inline(always)]
    pub(super) fn along<G: Grid>(&self, grid: G, length: u64, edge: u32) -> u64 {
        let weight = self.weights.load_weak(grid, edge);
        match self.lengths {
            Lengths::Float => {
                let sum = f64::from_bits(length) + f64::from(f32::from_bits(weight));
                sum.to_bits()
            }
            Lengths::Whole | Lengths::Edges => length.saturating_add(u64::from(weight)),
        }
    }
}
