//! Graphs from arrays that a program already has.

use super::build::{MAX_NODES, Order};
use super::check::{Claim, check};
use super::csr::Csr;
use super::ids::Ids;
use super::model::check_counts;
use super::weights::WeightKind;
use super::{BinaryProblem, Graph, GraphError};

/// Compressed sparse rows as a program keeps them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CsrArrays {
    /// Row offsets: one word more than there are nodes, ascending from 0 to the number of edges.
    pub offsets: Vec<u32>,
    /// Targets, ascending within a row. A target that repeats is that of parallel edges, a row's
    /// own node that of a loop; in a symmetric graph a loop stands once in its row.
    pub targets: Vec<u32>,
    /// One weight per edge, if the graph has weights.
    pub weights: Option<Vec<u32>>,
    /// Kind of the weight words.
    pub kind: WeightKind,
    /// Whether every edge has its mirror image of the same weight. Analyses of undirected graphs
    /// require this, and it saves the rows of incoming edges.
    pub symmetric: bool,
    /// Whether parallel edges are in the order of their weights, so that the first one of the
    /// source is not known and [`Parallel::First`](crate::Parallel::First) is refused. Else they are
    /// taken to be in its order.
    pub by_weight: bool,
}

impl Graph {
    /// Takes arrays without a copy, after checking them.
    ///
    /// Time is linear in nodes and edges, on all threads. A claim of symmetry adds a search of one
    /// row for each edge.
    ///
    /// ```
    /// use seawall_graph::{CsrArrays, Graph};
    ///
    /// let graph = Graph::from_csr(CsrArrays {
    ///     offsets: vec![0, 2, 3, 3],
    ///     targets: vec![1, 2, 2],
    ///     ..CsrArrays::default()
    /// })?;
    /// assert_eq!(graph.neighbours(0), [1, 2]);
    /// # Ok::<(), seawall_graph::GraphError>(())
    /// ```
    ///
    /// # Errors
    /// [`GraphError::BadArrays`] with the first contradiction;
    /// [`GraphError::TooManyNodes`] and [`GraphError::TooManyEdges`] beyond 32 bits.
    pub fn from_csr(arrays: CsrArrays) -> Result<Self, GraphError> {
        let CsrArrays {
            offsets,
            targets,
            weights,
            kind,
            symmetric,
            by_weight,
        } = arrays;
        let nodes = (offsets.len() as u64).saturating_sub(1).min(MAX_NODES + 1);
        check_counts("arrays in memory", nodes, targets.len() as u64, false)?;
        let bad = |problem| GraphError::BadArrays { problem };
        if let Some(weights) = weights.as_ref().filter(|w| w.len() != targets.len()) {
            return Err(bad(BinaryProblem::WeightCount {
                weights: weights.len() as u64,
                edges: targets.len() as u64,
            }));
        }
        let csr = Csr {
            offsets,
            targets,
            weights,
        };
        let claim = Claim {
            symmetric,
            simple: false,
        };
        let counts = check(&csr, kind, claim).map_err(bad)?;
        let graph = Self::from_parts(csr, symmetric, Ids::Offset(0)).with_kind(kind);
        Ok(graph.with_counts(counts, Order::of(!by_weight)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn arrays(offsets: &[u32], targets: &[u32]) -> CsrArrays {
        CsrArrays {
            offsets: offsets.to_vec(),
            targets: targets.to_vec(),
            ..CsrArrays::default()
        }
    }

    #[test]
    fn contradictions_are_named() {
        let problem = |arrays| match Graph::from_csr(arrays).unwrap_err() {
            GraphError::BadArrays { problem } => problem.to_string(),
            other => panic!("{other}"),
        };
        assert!(problem(arrays(&[], &[])).contains("no offsets"));
        assert!(problem(arrays(&[0, 2], &[0])).contains("offset 2 of node 1"));
        assert!(problem(arrays(&[1, 1], &[0])).contains("offset 1 of node 0"));
        assert!(problem(arrays(&[0, 1, 1], &[7])).contains("edge 0 ends at node 7"));
        assert!(problem(arrays(&[0, 2, 2, 2], &[2, 1])).contains("node 0"));
        let heavy = CsrArrays {
            weights: Some(vec![1, 2]),
            ..arrays(&[0, 1, 1], &[1])
        };
        assert_eq!(problem(heavy), "2 weights for 1 edges");
        let unmatched = CsrArrays {
            symmetric: true,
            ..arrays(&[0, 1, 1], &[1])
        };
        assert!(problem(unmatched).contains('0'));
    }

    proptest! {
        #[test]
        fn arrays_of_a_graph_give_that_graph(
            list in prop::collection::vec((0u32..20, 0u32..20, 0u32..9), 0..200), both: bool
        ) {
            let graph = Graph::from_weighted_edges(20, &list, both).unwrap();
            let again = Graph::from_csr(CsrArrays {
                offsets: graph.offsets().to_vec(),
                targets: graph.targets().to_vec(),
                weights: graph.weights().map(<[u32]>::to_vec),
                kind: WeightKind::Integer,
                symmetric: graph.is_symmetric(),
                by_weight: !graph.is_listed(),
            });
            prop_assert_eq!(again.unwrap().layout_hash(), graph.layout_hash());
        }

        #[test]
        fn any_arrays_are_a_graph_or_an_error(
            offsets in prop::collection::vec(0u32..12, 0..8),
            targets in prop::collection::vec(0u32..12, 0..12),
            symmetric: bool,
        ) {
            let arrays = CsrArrays { offsets, targets, symmetric, ..CsrArrays::default() };
            if let Ok(graph) = Graph::from_csr(arrays) {
                for node in 0..graph.nodes() {
                    prop_assert!(graph.neighbours(node).iter().all(|end| *end < graph.nodes()));
                }
            }
        }
    }
}
