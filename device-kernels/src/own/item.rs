//! One item of a wave, and the operations of its code.

use super::graph::{Rows, Weights};
use super::machine::{Access, How, Machine, Recorder};
use super::register::{Register, Shared};
use crate::collectives::context::Tag;
use crate::machine::memory::note_missed;
use core::marker::PhantomData;
use core::ops::Range;
use seawall_core::abi::facts::Operand;

/// An item of a wave: one of the numbers that the wave goes over.
#[derive(Clone, Copy, Debug)]
pub struct Item<'w, M: Machine> {
    grid: M::Grid,
    tag: Tag,
    index: u32,
    wave: PhantomData<&'w ()>,
}

impl<M: Machine> Item<'_, M> {
    #[inline(always)]
    pub(super) fn new(grid: M::Grid, tag: Tag, index: u32) -> Self {
        Self {
            grid,
            tag,
            index,
            wave: PhantomData,
        }
    }

    /// Its number.
    #[inline(always)]
    #[must_use]
    pub fn index(self) -> u32 {
        self.index
    }

    #[inline(always)]
    fn note(self, operand: Option<Operand>, at: u32, how: How) {
        M::Recorder::note(Access {
            operand,
            at,
            item: Some(self.index),
            how,
        });
    }

    /// Word `at` of a register as it was before the wave, or as this item left it.
    #[inline(always)]
    #[must_use]
    pub fn load<const WRITE: bool>(self, from: Register<'_, true, WRITE>, at: u32) -> u32 {
        self.note(Some(from.operand()), at, How::Load);
        from.words().load_weak(self.grid, at)
    }

    /// Word `at` of a register as it is now: another item may have changed it.
    #[inline(always)]
    #[must_use]
    pub fn latest(self, from: Shared<'_>, at: u32) -> u32 {
        self.note(Some(from.operand()), at, How::Latest);
        from.words().load(self.grid, at)
    }

    /// Stores word `at` of a register.
    #[inline(always)]
    pub fn store<const READ: bool>(self, to: Register<'_, READ, true>, at: u32, value: u32) {
        self.note(Some(to.operand()), at, How::Store);
        to.words().store_weak(self.grid, at, value);
    }

    /// Adds to word `at` atomically and returns the previous value.
    #[inline(always)]
    pub fn add(self, to: Shared<'_>, at: u32, value: u32) -> u32 {
        self.note(Some(to.operand()), at, How::Change);
        to.words().add(self.grid, at, value)
    }

    /// Lowers word `at` to at most `value` atomically and returns the previous value.
    #[inline(always)]
    pub fn min(self, to: Shared<'_>, at: u32, value: u32) -> u32 {
        self.note(Some(to.operand()), at, How::Change);
        to.words().min(self.grid, at, value)
    }

    /// Raises word `at` to at least `value` atomically and returns the previous value.
    #[inline(always)]
    pub fn max(self, to: Shared<'_>, at: u32, value: u32) -> u32 {
        self.note(Some(to.operand()), at, How::Change);
        to.words().max(self.grid, at, value)
    }

    /// Sets bits of word `at` atomically and returns the previous value.
    #[inline(always)]
    pub fn or(self, to: Shared<'_>, at: u32, bits: u32) -> u32 {
        self.note(Some(to.operand()), at, How::Change);
        to.words().or(self.grid, at, bits)
    }

    /// Replaces word `at` if it is `expected`, atomically, and returns the previous value.
    #[inline(always)]
    pub fn swap_if(self, to: Shared<'_>, at: u32, expected: u32, value: u32) -> u32 {
        self.note(Some(to.operand()), at, How::Change);
        to.words().swap_if(self.grid, at, expected, value)
    }

    /// Numbers of the edges of a node.
    #[inline(always)]
    #[must_use]
    pub fn edges(self, rows: Rows<'_>, node: u32) -> Range<u32> {
        self.note(None, node, How::Load);
        if node >= rows.nodes() {
            note_missed(self.grid, node, rows.nodes());
            return 0..0;
        }
        let (start, end) = rows.csr().row(self.grid, node);
        start..end
    }

    /// The node at the other end of an edge.
    #[inline(always)]
    #[must_use]
    pub fn neighbour(self, rows: Rows<'_>, edge: u32) -> u32 {
        self.note(None, edge, How::Load);
        if edge >= rows.edges() {
            note_missed(self.grid, edge, rows.edges());
            return 0;
        }
        rows.csr().target(self.grid, edge)
    }

    /// The weight of an edge, or its bits. Its number is one from the rows that these weights
    /// belong to.
    #[inline(always)]
    #[must_use]
    pub fn weight(self, weights: Weights<'_>, edge: u32) -> u32 {
        self.note(None, edge, How::Load);
        let words = weights.words();
        if edge >= words.len() {
            note_missed(self.grid, edge, words.len());
            return 0;
        }
        words.constant(self.grid, edge)
    }

    /// Notifies the fixpoint around the wave that something changed, so that another iteration
    /// follows.
    #[inline(always)]
    pub fn changed(self) {
        self.tag.raise(self.grid);
    }
}
