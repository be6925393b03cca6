//! The numbers that an analysis is asked for, read off its column.

use serde::Serialize;

use super::Column;
use crate::graph::Graph;
use crate::run::AnalysisKind;

/// What a column says about the graph as a whole.
///
/// A run that a limit ended has not come to the end of its answer: components
/// are then at least those of the graph, cores at least as large, and distances
/// are those found so far.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Answer {
    /// Of connected components.
    Components {
        /// How many there are.
        components: u64,
        /// Nodes of the largest.
        largest_component: u64,
    },
    /// Of core numbers.
    Cores {
        /// The largest core number.
        largest_core: u32,
        /// Nodes that have it.
        largest_core_nodes: u64,
    },
    /// Of triangle counts.
    Triangles {
        /// Triangles of the graph.
        triangles: u64,
    },
    /// Of a search for levels or distances.
    Farthest {
        /// The largest level or distance of a node that is reached; 0 if none
        /// is.
        eccentricity: u64,
    },
    /// Of a search along float weights.
    FarthestFloat {
        /// The largest distance of a node that is reached; 0 if none is.
        eccentricity: f32,
    },
    /// Of a ranking.
    Ranks {
        /// The highest rank.
        highest_rank: f32,
        /// Node that has it, by its id in the file; the first where several have.
        highest_rank_node: u64,
    },
    /// The column says it all.
    Column {},
}

impl Answer {
    /// The answer that `column` holds as the result of `analysis` on `graph`. Linear
    /// in the nodes.
    #[must_use]
    pub fn of(analysis: AnalysisKind, column: &Column, graph: &Graph) -> Self {
        let values = match column {
            Column::U32(values) => values,
            Column::U64(values) => return Self::farthest_wide(values),
            Column::F32(ranks) if analysis == AnalysisKind::Pagerank => {
                return Self::ranks(ranks, graph);
            }
            Column::F32(distances) => return Self::farthest_float(distances),
            Column::Sets(_) => return Self::Column {},
        };
        match analysis {
            AnalysisKind::Cc => Self::components(values),
            AnalysisKind::Kcore => Self::cores(values),
            AnalysisKind::Triangles => Self::Triangles {
                // Each triangle has three corners.
                triangles: values.iter().map(|count| u64::from(*count)).sum::<u64>() / 3,
            },
            AnalysisKind::Bfs | AnalysisKind::Sssp => Self::farthest(values),
            AnalysisKind::Reach | AnalysisKind::Pagerank => Self::Column {},
        }
    }

    fn components(labels: &[u32]) -> Self {
        let mut sizes = vec![0_u32; labels.len()];
        for label in labels {
            if let Some(size) = sizes.get_mut(*label as usize) {
                *size += 1;
            }
        }
        Self::Components {
            components: sizes.iter().filter(|size| **size > 0).count() as u64,
            largest_component: sizes.iter().max().map_or(0, |size| u64::from(*size)),
        }
    }

    fn cores(numbers: &[u32]) -> Self {
        let largest = numbers.iter().max().copied().unwrap_or(0);
        let members = numbers.iter().filter(|number| **number == largest);
        Self::Cores {
            largest_core: largest,
            largest_core_nodes: members.count() as u64,
        }
    }

    fn ranks(ranks: &[f32], graph: &Graph) -> Self {
        let ranks = (0..).zip(ranks.iter().copied());
        let higher = |a: (u32, f32), b: (u32, f32)| if b.1 > a.1 { b } else { a };
        let highest = ranks.reduce(higher);
        highest.map_or(Self::Column {}, |(node, highest_rank)| Self::Ranks {
            highest_rank,
            highest_rank_node: graph.original_id(node),
        })
    }

    fn farthest(values: &[u32]) -> Self {
        let reached = values.iter().filter(|value| **value != Column::UNREACHED);
        Self::Farthest {
            eccentricity: reached.max().map_or(0, |value| u64::from(*value)),
        }
    }

    fn farthest_float(values: &[f32]) -> Self {
        let reached = values.iter().copied().filter(|value| value.is_finite());
        Self::FarthestFloat {
            eccentricity: reached.fold(0.0, f32::max),
        }
    }

    fn farthest_wide(values: &[u64]) -> Self {
        let reached = values.iter().filter(|value| **value != u64::MAX);
        Self::Farthest {
            eccentricity: reached.max().copied().unwrap_or(0),
        }
    }

    /// Triangles of the graph, when they were counted.
    #[must_use]
    pub const fn triangles(self) -> Option<u64> {
        match self {
            Self::Triangles { triangles } => Some(triangles),
            _ => None,
        }
    }

    /// Components of the graph, when they were found.
    #[must_use]
    pub const fn components_found(self) -> Option<u64> {
        match self {
            Self::Components { components, .. } => Some(components),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::{LoadOptions, load_reader};
    use serde_json::json;
    use std::io::Cursor;

    fn of(analysis: AnalysisKind, column: &Column) -> serde_json::Value {
        let edges = [(10, 0), (20, 0), (30, 0)];
        let text = edges.map(|(from, to)| format!("{from} {to}\n")).concat();
        let options = LoadOptions::default();
        let graph = load_reader("g.el", Cursor::new(text), &options)
            .unwrap()
            .graph;
        serde_json::to_value(Answer::of(analysis, column, &graph)).unwrap()
    }

    fn answer(analysis: AnalysisKind, values: &[u32]) -> serde_json::Value {
        of(analysis, &Column::U32(values.to_vec()))
    }

    #[test]
    fn every_analysis_has_its_numbers() {
        assert_eq!(
            answer(AnalysisKind::Cc, &[0, 0, 2, 2, 2]),
            json!({"components": 2, "largest_component": 3})
        );
        assert_eq!(
            answer(AnalysisKind::Kcore, &[1, 3, 3, 0]),
            json!({"largest_core": 3, "largest_core_nodes": 2})
        );
        assert_eq!(
            answer(AnalysisKind::Triangles, &[u32::MAX; 3]),
            json!({"triangles": u32::MAX})
        );
        for analysis in [AnalysisKind::Bfs, AnalysisKind::Sssp] {
            let farthest = answer(analysis, &[0, 7, u32::MAX]);
            assert_eq!(farthest, json!({"eccentricity": 7}));
        }
        assert_eq!(answer(AnalysisKind::Reach, &[0, 1]), json!({}));
    }

    #[test]
    fn distances_of_64_bits_have_the_farthest_too() {
        let column = Column::U64(vec![0, 8_000_000_000, u64::MAX]);
        let answer = of(AnalysisKind::Sssp, &column);
        assert_eq!(answer, json!({"eccentricity": 8_000_000_000_u64}));
        let column = Column::F32(vec![0.0, 2.5, f32::INFINITY]);
        let answer = of(AnalysisKind::Sssp, &column);
        assert_eq!(answer, json!({"eccentricity": 2.5}));
    }

    #[test]
    fn the_first_of_the_highest_ranks_has_the_id_of_the_file() {
        let column = Column::F32(vec![0.125, 0.25, 0.25, 0.125]);
        let answer = of(AnalysisKind::Pagerank, &column);
        assert_eq!(
            answer,
            json!({"highest_rank": 0.25, "highest_rank_node": 10})
        );
        let none = of(AnalysisKind::Pagerank, &Column::F32(Vec::new()));
        assert_eq!(none, json!({}));
    }

    #[test]
    fn an_empty_graph_has_an_answer() {
        let components = json!({"components": 0, "largest_component": 0});
        assert_eq!(answer(AnalysisKind::Cc, &[]), components);
        let cores = json!({"largest_core": 0, "largest_core_nodes": 0});
        assert_eq!(answer(AnalysisKind::Kcore, &[]), cores);
        assert_eq!(answer(AnalysisKind::Bfs, &[]), json!({"eccentricity": 0}));
    }
}
