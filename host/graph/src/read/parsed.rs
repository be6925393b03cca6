//! Content of a piece of text: its edges, and data that is combined across pieces.

use super::fields::Fields;
use super::named::Names;
use super::quote::quote;
use super::weight::Weight;
use crate::build::Edges;
use crate::scale::Factor;
use crate::weights::{Growing, each_weight};
use crate::{LineProblem, WeightKind};

/// Ids of edge lists below this are their own label; others are looked up.
pub(super) const NEAR: u64 = 1 << 31;
/// An id too large to be its own label.
pub(super) struct Far {
    pub(super) edge: usize,
    pub(super) end: usize,
    pub(super) id: u64,
}

/// Content of a piece.
pub(super) struct Parsed<const N: usize> {
    pub(super) edges: Edges<N>,
    /// Edges listed; values, for a dense matrix.
    pub(super) listed: u64,
    /// Node lines, in formats with one line per node.
    pub(super) rows: u64,
    /// Kind of the weights: floats as soon as one is not a whole number, signed as soon as one is
    /// negative.
    pub(super) kind: WeightKind,
    /// Weights of the kept edges that were rounded to floats.
    pub(super) rounded: u64,
    pub(super) lines: u64,
    pub(super) far: Vec<Far>,
    /// Names of nodes, where the ids are names: the ends of edges are their labels then.
    pub(super) names: Names,
    /// Factor on all weights.
    pub(super) factor: Option<Factor>,
    /// Whether weights may be negative.
    pub(super) signed: bool,
    /// Weights that scaling rounded, and those that it made 0.
    pub(super) scaled: [u64; 2],
    /// The first bad line, counted from 1 within the piece.
    pub(super) problem: Option<(u64, LineProblem)>,
}

impl<const N: usize> Parsed<N> {
    /// Empty content.
    pub(super) fn new(factor: Option<Factor>, signed: bool) -> Self {
        Self {
            edges: Vec::new(),
            listed: 0,
            rows: 0,
            kind: WeightKind::Integer,
            rounded: 0,
            lines: 0,
            far: Vec::new(),
            names: Names::default(),
            factor,
            signed,
            scaled: [0; 2],
            problem: None,
        }
    }

    /// Takes the next field as a weight; returns its word and whether it was rounded to a float.
    ///
    /// # Errors
    /// [`LineProblem::Negative`] unless weights may be, among others.
    #[inline]
    pub(super) fn weight(&mut self, fields: &mut Fields<'_>) -> Result<(u32, bool), LineProblem> {
        let before = *fields;
        let weight = match self.factor {
            None => fields.weight()?,
            Some(factor) => {
                let (product, is_negative) = fields.scaled_weight(factor)?;
                self.scaled[0] += u64::from(product.is_rounded);
                self.scaled[1] += u64::from(product.has_vanished());
                Weight::product(product.whole, is_negative).unwrap_or(Weight::Whole(product.whole))
            }
        };
        if weight.is_negative() && !self.signed {
            return Err(LineProblem::Negative {
                what: "a weight",
                value: quote(before.upcoming()),
            });
        }
        Ok(self.word(weight))
    }

    /// Returns the word of a weight and whether it was rounded. The first weight of another kind
    /// changes the words of all before it.
    #[inline]
    fn word(&mut self, weight: Weight) -> (u32, bool) {
        match (self.kind, weight) {
            (WeightKind::Integer, Weight::Whole(word)) => (word, false),
            _ => self.other_word(weight),
        }
    }

    fn other_word(&mut self, weight: Weight) -> (u32, bool) {
        let (kind, word, rounded) = weight.parts();
        self.rounded += self.grow(kind);
        let is_large = kind == WeightKind::Integer && word > i32::MAX.cast_unsigned();
        if is_large && self.kind == WeightKind::Signed {
            self.rounded += self.grow(WeightKind::SignedFloat);
        }
        let (word, converted) = kind.convert(word, self.kind);
        (word, rounded || converted)
    }

    #[inline]
    pub(super) fn in_range(
        &mut self,
        mut edge: [u32; N],
        ends: [u64; 2],
        nodes: u64,
    ) -> Result<(), LineProblem> {
        for (slot, id) in edge.iter_mut().zip(ends) {
            if id.wrapping_sub(1) >= nodes {
                return Err(LineProblem::IdOutOfRange { value: id, nodes });
            }
            // Headers with more than 32-bit nodes were refused.
            *slot = (id - 1) as u32;
        }
        self.edges.push(edge);
        Ok(())
    }

    #[inline]
    pub(super) fn free(&mut self, mut edge: [u32; N], ends: [u64; 2]) {
        for (end, id) in ends.into_iter().enumerate() {
            if id < NEAR {
                edge[end] = id as u32;
            } else {
                self.far.push(Far {
                    edge: self.edges.len(),
                    end,
                    id,
                });
            }
        }
        self.edges.push(edge);
    }

    /// Takes an edge between names.
    pub(super) fn named(&mut self, mut edge: [u32; N], ends: [&str; 2]) -> Result<(), LineProblem> {
        for (end, name) in ends.into_iter().enumerate() {
            // The labels of a piece are fewer than its bytes.
            let label = self.names.label(name);
            let label = label.ok().flatten();
            edge[end] = label.ok_or(LineProblem::TooLong { limit: name.len() })?;
        }
        self.edges.push(edge);
        Ok(())
    }
}

impl<const N: usize> Growing for Parsed<N> {
    fn kind_mut(&mut self) -> &mut WeightKind {
        &mut self.kind
    }

    fn each(&mut self, change: &(dyn Fn(&mut u32) -> u64 + Sync)) -> u64 {
        each_weight(&mut self.edges, change)
    }
}
