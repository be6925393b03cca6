//! Weights other than those that were read: 1 everywhere, or scaled to whole numbers.

use rayon::prelude::*;

use super::memory::{self, Shortage};
use super::model::{Graph, too_large};
use super::weights::WeightKind;
use super::{Cause, GraphError};

/// A factor on all weights, and its effect.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Scale {
    /// The factor.
    pub factor: f64,
    /// Weights whose product is not a whole number, by more than the error of the weight and the
    /// factor themselves.
    pub rounded: u64,
    /// Positive weights that became 0.
    pub vanished: u64,
}

/// An error of scaling.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ScaleError {
    /// The graph has no weights.
    #[error("the graph has no weights to scale; load it with weights, or give every edge 1")]
    NoWeights,
    /// The factor is not a positive finite number.
    #[error("a factor of {factor:?}; it is a finite number above 0")]
    Factor {
        /// The factor given.
        factor: f64,
    },
    /// A product beyond 32 bits.
    #[error(
        "the edge from node {from} to node {to} weighs {weight:?}, and {factor:?} times that is more than 4294967295; take a smaller factor"
    )]
    TooHeavy {
        /// Start of the edge, by its id in the file.
        from: u64,
        /// End of the edge, by its id in the file.
        to: u64,
        /// Its weight.
        weight: f64,
        /// The factor given.
        factor: f64,
    },
}

impl ScaleError {
    /// Returns the cause: the request or the machine.
    #[must_use]
    pub const fn cause(&self) -> Cause {
        Cause::Request
    }
}

impl WeightKind {
    /// Returns the number that a weight word encodes.
    fn number(self, word: u32) -> f64 {
        match self {
            Self::Integer => f64::from(word),
            Self::Float => f64::from(f32::from_bits(word)),
        }
    }

    /// Relative error of a product due to the last bits of the weight and the factor.
    const fn error(self) -> f64 {
        match self {
            Self::Integer => 4.0 * f64::EPSILON,
            Self::Float => f32::EPSILON as f64,
        }
    }
}

impl Graph {
    /// Returns the same graph with weight 1 on every edge. Existing weights are replaced.
    ///
    /// ```
    /// use seawall_graph::Graph;
    ///
    /// let graph = Graph::from_edges(3, &[(0, 1), (1, 2)], false)?.with_unit_weights()?;
    /// assert_eq!(graph.weights(), Some(&[1, 1][..]));
    /// # Ok::<(), seawall_graph::GraphError>(())
    /// ```
    ///
    /// # Errors
    /// [`GraphError::Memory`].
    pub fn with_unit_weights(self) -> Result<Self, GraphError> {
        self.unit_weights().map_err(too_large)
    }

    /// Works as [`with_unit_weights`](Self::with_unit_weights), for callers that name the graph.
    pub(super) fn unit_weights(self) -> Result<Self, Shortage> {
        let mut weights = memory::zeroed::<u32>(self.edges() as usize)?;
        weights.par_iter_mut().for_each(|weight| *weight = 1);
        Ok(self.with_weights(weights))
    }

    /// Returns the same graph with its weights times `factor`, rounded to the nearest whole
    /// number, ties to even.
    ///
    /// Products are 64-bit floats. Rounding keeps the order of weights, and both directions of an
    /// edge keep the same weight.
    ///
    /// ```
    /// use seawall_graph::Graph;
    ///
    /// let edges = [(0, 1, 0.25), (1, 2, 1.5)];
    /// let scaled = Graph::from_float_edges(3, &edges, false)?.with_scaled_weights(2.0)?;
    /// let (graph, scale) = scaled;
    /// assert_eq!(graph.weights(), Some(&[0, 3][..]));
    /// assert_eq!((scale.rounded, scale.vanished), (1, 1));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`ScaleError`] if there are no weights, the factor is not finite and positive, or a product
    /// exceeds `u32::MAX`; the error names the first such edge.
    pub fn with_scaled_weights(self, factor: f64) -> Result<(Self, Scale), ScaleError> {
        if !(factor > 0.0 && factor.is_finite()) {
            return Err(ScaleError::Factor { factor });
        }
        let kind = self.weight_kind().ok_or(ScaleError::NoWeights)?;
        let words = self.weights().unwrap_or_default();
        let product = |word: u32| kind.number(word) * factor;
        let too_heavy = |word: &u32| product(*word).round_ties_even() > f64::from(u32::MAX);
        if let Some(edge) = words.par_iter().position_first(too_heavy) {
            return Err(self.too_heavy(edge, kind.number(words[edge]), factor));
        }
        let mut scale = Scale {
            factor,
            rounded: 0,
            vanished: 0,
        };
        let graph = self.map_rows(|mut rows| {
            let words = rows.weights.as_deref_mut().unwrap_or_default();
            (scale.rounded, scale.vanished) = scale_all(words, (kind, factor));
            rows
        });
        Ok((graph, scale))
    }

    fn too_heavy(&self, edge: usize, weight: f64, factor: f64) -> ScaleError {
        let starts = self.offsets();
        let row = starts.partition_point(|start| *start as usize <= edge);
        let from = u32::try_from(row.saturating_sub(1)).unwrap_or(u32::MAX);
        ScaleError::TooHeavy {
            from: self.original_id(from),
            to: self.original_id(self.targets()[edge]),
            weight,
            factor,
        }
    }
}

/// Scales weights whose products fit; returns how many were rounded and how many vanished.
fn scale_all(words: &mut [u32], (kind, factor): (WeightKind, f64)) -> (u64, u64) {
    let scale = |word: &mut u32| {
        let product = kind.number(*word) * factor;
        let whole = product.round_ties_even();
        let vanished = *word != 0 && whole == 0.0;
        *word = whole as u32;
        let is_off = (product - whole).abs() > product * kind.error();
        (u64::from(is_off), u64::from(vanished))
    };
    let add = |a: (u64, u64), b: (u64, u64)| (a.0 + b.0, a.1 + b.1);
    words.par_iter_mut().map(scale).reduce(|| (0, 0), add)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn whole(weights: [u32; 3]) -> Graph {
        let [a, b, c] = weights;
        Graph::from_weighted_edges(3, &[(0, 1, a), (0, 2, b), (2, 1, c)], false).unwrap()
    }

    #[test]
    fn products_are_rounded_to_the_nearest_and_ties_to_even() {
        let (graph, scale) = whole([25, 35, 4]).with_scaled_weights(0.1).unwrap();
        assert_eq!(graph.weights(), Some(&[2, 4, 0][..]));
        assert_eq!((scale.rounded, scale.vanished), (3, 1));
        let (graph, scale) = whole([10, 30, 0]).with_scaled_weights(0.1).unwrap();
        assert_eq!(graph.weights(), Some(&[1, 3, 0][..]));
        assert_eq!((scale.rounded, scale.vanished), (0, 0));
    }

    #[test]
    fn decimals_that_become_whole_are_not_rounded() {
        let edges = [(0, 1, 0.1), (0, 2, 2.3), (2, 1, 0.25)];
        let graph = Graph::from_float_edges(3, &edges, true).unwrap();
        let (graph, scale) = graph.with_scaled_weights(10.0).unwrap();
        assert_eq!(graph.weights(), Some(&[1, 23, 1, 2, 23, 2][..]));
        assert_eq!(graph.weight_kind(), Some(WeightKind::Integer));
        assert!(graph.is_symmetric());
        assert_eq!(scale.rounded, 2, "the edge of 2.5 in both directions");
    }

    #[test]
    fn a_product_beyond_32_bits_names_its_edge() {
        let (largest, _) = whole([0, 1, u32::MAX]).with_scaled_weights(1.0).unwrap();
        assert_eq!(largest.weights(), Some(&[0, 1, u32::MAX][..]));
        let error = whole([7, 1, u32::MAX])
            .with_scaled_weights(1.5)
            .unwrap_err();
        let text = error.to_string();
        assert!(
            text.starts_with("the edge from node 2 to node 1 weighs 4294967295.0, and 1.5 times"),
            "{text}"
        );
    }

    #[test]
    fn zero_negative_and_infinite_factors_are_refused() {
        for factor in [0.0, -1.0, f64::INFINITY, f64::NAN] {
            let error = whole([1, 2, 3]).with_scaled_weights(factor).unwrap_err();
            assert!(matches!(error, ScaleError::Factor { .. }), "{error}");
        }
        let plain = Graph::from_edges(2, &[(0, 1)], false).unwrap();
        let error = plain.with_scaled_weights(2.0).unwrap_err();
        assert_eq!(error, ScaleError::NoWeights);
    }
}
