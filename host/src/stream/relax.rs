//! Searches: values of nodes that only fall, lowered along edges until none falls.
//!
//! Levels, distances and reachability all end at the one least solution, whatever the order in
//! which edges are taken. So a window in memory does all its work, including work that it creates,
//! and later windows of the same pass see the values that earlier ones left.

use super::checks::target;
use super::consumer::Kernel;
use super::marks::Marks;
use super::view::View;
use crate::graph::BinaryProblem;
use crate::graph::memory::{Shortage, reserve_exact};
use seawall_core::abi::stream::StreamKind;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};

/// A kind of values.
pub(super) trait Length: Sync {
    type Word: Copy + Ord + Send + Sync;
    /// A value that several threads lower.
    type Cell: Send + Sync;
    /// Value of an unreached node, above all others.
    const NEVER: Self::Word;
    /// Value of a source.
    const START: Self::Word;
    const NEVER_WORD: u32 = u32::MAX;
    /// The kind of kernel that lowers these values on a machine, if there is one.
    const KIND: Option<StreamKind> = None;

    /// The value at the end of an edge. `None` if it is too large for a word, or a limit is reached.
    fn step(&self, value: Self::Word, weight: u32) -> Step<Self::Word>;
    /// Whether a node with this value lowers others.
    fn goes_on(&self, _value: Self::Word) -> bool {
        true
    }

    /// Level at which a search ends.
    fn limit(&self) -> u32 {
        u32::MAX
    }

    fn word_of(value: u32) -> Self::Word;
    fn cell(value: Self::Word) -> Self::Cell;
    fn load(cell: &Self::Cell) -> Self::Word;
    fn word(cell: Self::Cell) -> Self::Word;
    /// Lowers the cell; returns whether it was higher.
    fn lower(cell: &Self::Cell, value: Self::Word) -> bool;
}

/// The value at the end of an edge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step<W> {
    /// A value that the end of the edge may take.
    To(W),
    /// A limit ends the search here.
    Ends,
    /// No word holds the value.
    Outgrows,
}

/// The cells of a type of words.
macro_rules! words {
    ($word:ty, $cell:ty) => {
        type Word = $word;
        type Cell = $cell;

        fn word_of(value: u32) -> $word {
            value.into()
        }

        #[inline]
        fn cell(value: $word) -> $cell {
            <$cell>::new(value)
        }

        #[inline]
        fn load(cell: &$cell) -> $word {
            cell.load(Ordering::Relaxed)
        }

        fn word(cell: $cell) -> $word {
            cell.into_inner()
        }

        #[inline]
        fn lower(cell: &$cell, value: $word) -> bool {
            cell.fetch_min(value, Ordering::Relaxed) > value
        }
    };
}

/// Levels of a search up to a limit.
pub(super) struct Levels {
    pub(super) limit: u32,
}

impl Length for Levels {
    words!(u32, AtomicU32);
    const NEVER: u32 = u32::MAX;
    const START: u32 = 0;
    const KIND: Option<StreamKind> = Some(StreamKind::Levels);

    fn limit(&self) -> u32 {
        self.limit
    }

    #[inline]
    fn step(&self, level: u32, _: u32) -> Step<u32> {
        if level < self.limit {
            Step::To(level + 1)
        } else {
            Step::Ends
        }
    }

    #[inline]
    fn goes_on(&self, level: u32) -> bool {
        level < self.limit
    }
}

/// Whole distances of 32 bits.
pub(super) struct Whole;

impl Length for Whole {
    words!(u32, AtomicU32);
    const NEVER: u32 = u32::MAX;
    const START: u32 = 0;
    const KIND: Option<StreamKind> = Some(StreamKind::Whole);

    #[inline]
    fn step(&self, length: u32, weight: u32) -> Step<u32> {
        match length.checked_add(weight) {
            Some(length) if length < u32::MAX => Step::To(length),
            _ => Step::Outgrows,
        }
    }
}

/// Whole distances of 64 bits, which no path exceeds.
pub(super) struct Wide;

impl Length for Wide {
    words!(u64, AtomicU64);
    const NEVER: u64 = u64::MAX;
    const START: u64 = 0;

    #[inline]
    fn step(&self, length: u64, weight: u32) -> Step<u64> {
        Step::To(length.saturating_add(u64::from(weight)))
    }
}

/// Distances along float weights, by their bits, which order like them.
pub(super) struct Float;

impl Length for Float {
    words!(u32, AtomicU32);
    const NEVER: u32 = f32::INFINITY.to_bits();
    const START: u32 = 0;
    const NEVER_WORD: u32 = Self::NEVER;
    const KIND: Option<StreamKind> = Some(StreamKind::Float);

    #[inline]
    fn step(&self, length: u32, weight: u32) -> Step<u32> {
        let sum = f32::from_bits(length) + f32::from_bits(weight);
        if sum.is_finite() {
            Step::To(sum.to_bits())
        } else {
            Step::Outgrows
        }
    }
}

pub(super) struct Search<'a, L: Length> {
    length: L,
    values: Vec<L::Cell>,
    marks: Marks<'a>,
    overflow: AtomicBool,
}

impl<'a, L: Length> Search<'a, L> {
    /// Starts from `sources`, which are nodes.
    pub(super) fn new(
        length: L,
        sources: &[u32],
        marks: Marks<'a>,
        nodes: u32,
    ) -> Result<Self, Shortage> {
        let mut values = Vec::new();
        reserve_exact(&mut values, nodes as usize)?;
        values.extend((0..nodes).map(|_| L::cell(L::NEVER)));
        for source in sources {
            if values
                .get(*source as usize)
                .is_some_and(|cell| L::lower(cell, L::START))
            {
                marks.add(*source);
            }
        }
        Ok(Self {
            length,
            values,
            marks,
            overflow: AtomicBool::new(false),
        })
    }

    /// Returns whether no value can fall.
    pub(super) fn is_done(&self) -> bool {
        self.marks.is_empty()
    }

    /// Returns whether a value was too large for a word.
    pub(super) fn has_overflowed(&self) -> bool {
        self.overflow.load(Ordering::Relaxed)
    }

    pub(super) fn into_values(self) -> Vec<L::Word> {
        self.values.into_iter().map(L::word).collect()
    }

    #[inline]
    fn relax(&self, view: &View<'_>, row: u32, edges: Range<usize>) -> Result<(), BinaryProblem> {
        let value = L::load(&self.values[row as usize]);
        for at in edges {
            let weight = view.weights.map_or(1, |weights| weights[at]);
            let next = match self.length.step(value, weight) {
                Step::To(next) => next,
                Step::Ends => return Ok(()),
                Step::Outgrows => {
                    self.overflow.store(true, Ordering::Relaxed);
                    continue;
                }
            };
            let to = view.targets[at];
            let Some(cell) = self.values.get(to as usize) else {
                return Err(target(view, at, self.values.len() as u32));
            };
            if next < L::load(cell) && L::lower(cell, next) && self.length.goes_on(next) {
                self.marks.add(to);
            }
        }
        Ok(())
    }
}

impl<L: Length> Kernel for Search<'_, L> {
    fn wants(&self, window: usize) -> bool {
        self.marks.is_active(window)
    }

    fn take(&self, view: &View<'_>, is_over: &dyn Fn() -> bool) -> Result<(), BinaryProblem> {
        self.marks
            .take(view, is_over, |row, edges| self.relax(view, row, edges))
    }
}
