//! Rows of a range of nodes of a generated graph, without the others.

use super::near;
use super::random::rows_to;
use super::rmat::Rmat;
use super::{Draw, JUMP_MAX, STREAM_JUMPS, Uniform, grid_row, jump};
use crate::build::Direction;
use crate::csr::Csr;
use crate::drawn::draw_weights;
use crate::ids::Ids;
use crate::mix::Stream;
use crate::model::check_counts;
use crate::spec::Generator;
use crate::{Graph, GraphError};
use std::ops::Range;

/// A generator, of whose graph the edges that lead to a range of nodes are made alone, so that it may
/// have 2^32 edges and more.
///
/// ```
/// use seawall_graph::{Generated, LoadOptions, load};
///
/// let generated = Generated::parse("gen:rmat:10:8").expect("a generator")?;
/// let part = generated.edges_to(32..64, false)?;
/// let whole = load("gen:rmat:10:8", &LoadOptions::default(), None)?.graph;
/// assert_eq!(part.neighbours(7), whole.incoming().neighbours(39));
/// # Ok::<(), seawall_graph::GraphError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Generated {
    shape: Generator,
    spec: String,
}

impl Generated {
    /// Reads a specification, `gen:NAME:PARAMETERS`; `None` if the text is none.
    #[must_use]
    pub fn parse(spec: &str) -> Option<Result<Self, GraphError>> {
        let shape = Generator::parse(spec)?;
        Some(shape.and_then(|shape| {
            check_counts(spec, shape.counts().0, 0, false)?;
            let spec = spec.to_owned();
            Ok(Self { shape, spec })
        }))
    }

    /// The specification.
    #[must_use]
    pub fn spec(&self) -> &str {
        &self.spec
    }

    /// Number of nodes.
    #[must_use]
    pub fn nodes(&self) -> u32 {
        self.shape.counts().0 as u32
    }

    /// The most directed edges that the graph may have.
    #[must_use]
    pub fn edges_max(&self) -> u64 {
        self.shape.counts().1
    }

    /// Whether every edge has its reverse.
    #[must_use]
    pub const fn is_symmetric(&self) -> bool {
        self.shape.is_symmetric()
    }

    /// The nodes, without edges. Takes four bytes for each.
    ///
    /// # Errors
    /// [`GraphError::Memory`].
    pub fn nodes_alone(&self) -> Result<Graph, GraphError> {
        let short = |short| GraphError::memory(&self.spec, short);
        let none = Csr::without_edges(self.nodes()).map_err(short)?;
        Ok(Graph::from_parts(none, self.is_symmetric(), Ids::Offset(0)))
    }

    /// The edges that lead to `nodes`, a row for each of these with the nodes from which they lead
    /// there, and the weights of 1 to 64 of [`load`](crate::load) if `weighted`. Random graphs draw all
    /// of their edges, twice; peak memory is twice the result.
    ///
    /// # Errors
    /// [`GraphError::TooManyEdges`] if 2^32 edges or more lead there; [`GraphError::Memory`].
    pub fn edges_to(&self, nodes: Range<u32>, weighted: bool) -> Result<Csr, GraphError> {
        let short = |short| GraphError::memory(&self.spec, short);
        let nodes = nodes.start.min(self.nodes())..nodes.end.min(self.nodes());
        let rows = match self.shape {
            _ if nodes.is_empty() => near::rows(0..0, |_| None.into_iter()).map_err(short),
            Generator::Rmat {
                scale,
                edge_factor,
                seed,
                ..
            } => self.drawn(&nodes, scale, edge_factor, &Rmat::new(scale, seed)),
            Generator::Uniform {
                scale,
                edge_factor,
                seed,
            } => self.drawn(&nodes, scale, edge_factor, &Uniform::new(scale, seed)),
            Generator::Grid { width, height } => {
                let edges = 4 * nodes.len() as u64;
                check_counts(&self.spec, 0, edges, false)?;
                near::rows(nodes.clone(), |node| grid_row(width, height, node)).map_err(short)
            }
            Generator::Chain { seed, .. } => {
                let stream = Stream::new(seed, STREAM_JUMPS);
                let leads = move |from: u32, to: u32| {
                    to - from == 1 || jump(stream, from) == Some(to - from)
                };
                let row = |node: u32| {
                    (node.saturating_sub(JUMP_MAX)..node).filter(move |from| leads(*from, node))
                };
                near::rows(nodes.clone(), row).map_err(short)
            }
        };
        let mut rows = rows?;
        if weighted {
            let weights = draw_weights(&rows, nodes.start, self.shape.seed()).map_err(short)?;
            rows.weights = Some(weights);
        }
        Ok(rows)
    }

    fn drawn(
        &self,
        nodes: &Range<u32>,
        scale: u32,
        edge_factor: u32,
        draw: &impl Draw,
    ) -> Result<Csr, GraphError> {
        let drawn = u64::from(edge_factor) << scale;
        let direction = Direction::of(self.is_symmetric());
        rows_to(&self.spec, nodes.clone(), drawn, draw, direction)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{LoadOptions, WeightChoice, load};

    #[test]
    fn parts_have_the_incoming_rows_of_the_whole_graph() {
        let specs = [
            "gen:rmat:9:6:3",
            "gen:rmat-directed:9:6",
            "gen:rmat:4:200",
            "gen:rmat:0:3",
            "gen:uniform:10:0",
            "gen:uniform:11:2:7",
            "gen:grid:40x17",
            "gen:grid:1x30",
            "gen:chain:700:5",
            "gen:chain:1",
        ];
        for spec in specs {
            let options = LoadOptions {
                weights: WeightChoice::Given,
                ..LoadOptions::default()
            };
            let whole = load(spec, &options, None).unwrap().graph;
            let generated = Generated::parse(spec).unwrap().unwrap();
            assert_eq!(generated.nodes(), whole.nodes(), "{spec}");
            assert_eq!(generated.is_symmetric(), whole.is_symmetric(), "{spec}");
            assert!(u64::from(whole.edges()) <= generated.edges_max(), "{spec}");
            let nodes = whole.nodes();
            for range in [
                0..nodes,
                0..nodes / 3,
                nodes / 3..nodes,
                nodes..nodes,
                1..nodes + 9,
            ] {
                for weighted in [true, false] {
                    let part = generated.edges_to(range.clone(), weighted).unwrap();
                    let wanted = range.clone().filter(|node| *node < nodes);
                    assert_eq!(part.nodes() as usize, wanted.clone().count(), "{spec}");
                    for (own, node) in (0..).zip(wanted) {
                        let rows = whole.incoming();
                        assert_eq!(part.neighbours(own), rows.neighbours(node), "{spec} {node}");
                        let of =
                            |csr: &Csr, row| csr.weights().map(|all| all[csr.row(row)].to_vec());
                        let weights = of(rows, node).filter(|_| weighted);
                        assert_eq!(of(&part, own), weights, "{spec} {node}");
                    }
                }
            }
        }
    }

    #[test]
    fn bad_specifications_and_too_many_edges_are_refused() {
        assert!(Generated::parse("roads.gr").is_none());
        assert!(Generated::parse("gen:ring:5").unwrap().is_err());
        assert!(Generated::parse("gen:grid:99999x99999").unwrap().is_err());
        let large = Generated::parse("gen:grid:65535x65535").unwrap().unwrap();
        let error = large.edges_to(0..1 << 31, false).unwrap_err();
        assert!(matches!(error, GraphError::TooManyEdges { .. }), "{error}");
    }
}
