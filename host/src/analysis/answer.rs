//! Answers of analyses in numbers, computed from their columns.

use crate::column::Column;
use crate::graph::{Graph, NodeLabel};
use crate::units::counted;
use serde::{Serialize, Serializer};
use std::fmt;

/// Summary of a column for the whole graph.
///
/// The answer of a run that a limit ended is incomplete: components are then at least as many as in
/// the graph, cores at least as large, and distances are upper bounds.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Answer {
    /// Its numbers, in the order of reports.
    pub figures: Vec<Figure>,
    /// Its text for readers.
    pub sentence: Sentence,
}

/// A number of an answer.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Figure {
    /// Its name in reports.
    pub name: &'static str,
    /// The number.
    pub value: Number,
    /// The noun of the counted things, if the figures of many graphs add up.
    pub noun: Option<&'static str>,
}

/// The number of a figure.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Number {
    /// A whole number, such as a count or an id.
    Whole(u64),
    /// A whole number that may be negative.
    Signed(i64),
    /// A float of a column.
    Real(f32),
    /// A sum of floats.
    Double(f64),
    /// The name of a node.
    Name(String),
}

impl fmt::Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Whole(number) => number.fmt(f),
            Self::Signed(number) => number.fmt(f),
            Self::Real(number) => number.fmt(f),
            Self::Double(number) => number.fmt(f),
            Self::Name(name) => name.fmt(f),
        }
    }
}

impl From<u64> for Number {
    fn from(number: u64) -> Self {
        Self::Whole(number)
    }
}

impl From<NodeLabel<'_>> for Number {
    fn from(label: NodeLabel<'_>) -> Self {
        match label {
            NodeLabel::Id(id) => Self::Whole(id),
            NodeLabel::Name(name) => Self::Name(name.to_owned()),
        }
    }
}

impl From<f32> for Number {
    fn from(number: f32) -> Self {
        Self::Real(number)
    }
}

/// An answer in words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Sentence {
    /// The number of reached nodes, and the rest of the sentence.
    Reached {
        /// The rest of the sentence, which may be empty.
        more: String,
    },
    /// Every node has a value.
    EveryNode {
        /// The value with its article.
        value: &'static str,
        /// The rest of the sentence, which is also a sentence alone.
        more: String,
    },
    /// A sentence about the graph.
    Graph(String),
}

impl Figure {
    /// A number that does not add up over graphs.
    #[must_use]
    pub fn new(name: &'static str, value: impl Into<Number>) -> Self {
        Self {
            name,
            value: value.into(),
            noun: None,
        }
    }

    /// A number of things called `noun`, which adds up over graphs.
    #[must_use]
    pub fn count(name: &'static str, noun: &'static str, value: u64) -> Self {
        let noun = Some(noun);
        Self {
            noun,
            ..Self::new(name, value)
        }
    }

    /// The number and its noun, such as `3 components`; `None` for other figures.
    #[must_use]
    pub fn counted(&self) -> Option<String> {
        match self.value {
            Number::Whole(count) => Some(counted(count, self.noun?)),
            _ => None,
        }
    }
}

/// Returns the highest finite float, and the first node that has it.
pub(super) fn highest(column: &Column) -> Option<(u32, f32)> {
    let scores = (0..).zip(column.floats().unwrap_or(&[]).iter().copied());
    let scores = scores.filter(|(_, score)| score.is_finite());
    let higher = |a: (u32, f32), b: (u32, f32)| if b.1 > a.1 { b } else { a };
    scores.reduce(higher)
}

/// The number of labels that nodes have, and how many nodes have the most frequent one.
pub(super) fn parts(labels: &[u32]) -> [u64; 2] {
    let mut sizes = vec![0_u32; labels.len()];
    for label in labels {
        if let Some(size) = sizes.get_mut(*label as usize) {
            *size += 1;
        }
    }
    let count = sizes.iter().filter(|size| **size > 0).count() as u64;
    [count, sizes.iter().max().map_or(0, |size| u64::from(*size))]
}

impl Answer {
    /// The number of reached nodes, without further text.
    #[must_use]
    pub const fn reached() -> Self {
        Self {
            figures: Vec::new(),
            sentence: Sentence::Reached {
                more: String::new(),
            },
        }
    }

    /// An answer about the graph as a whole.
    pub(super) fn of_graph(figures: Vec<Figure>, sentence: String) -> Self {
        let sentence = Sentence::Graph(sentence);
        Self { figures, sentence }
    }

    /// States the highest value by the names of its figures; `value` is its noun with an article.
    pub(super) fn highest(
        graph: &Graph,
        column: &Column,
        [score_name, node_name]: [&'static str; 2],
        value: &'static str,
    ) -> Self {
        let Some((node, score)) = highest(column) else {
            return Self::reached();
        };
        let label = graph.label_of(node);
        Self {
            figures: vec![
                Figure::new(score_name, score),
                Figure::new(node_name, label),
            ],
            sentence: Sentence::EveryNode {
                value,
                more: format!("the highest {score} of node {label}"),
            },
        }
    }

    /// Counts components, each called `what`, by the labels of their nodes. Linear in the nodes.
    pub(super) fn of_components(labels: &[u32], what: &str) -> Self {
        let [components, largest] = parts(labels);
        let (found, most) = (counted(components, what), counted(largest, "node"));
        let figures = vec![
            Figure::count("components", "component", components),
            Figure::new("largest_component", largest),
        ];
        Self::of_graph(figures, format!("{found}, the largest of {most}"))
    }

    /// Counts triangles by the numbers of nodes, which count each one at `corners` of its corners.
    pub(super) fn of_triangles(column: &Column, corners: u64) -> Self {
        let Column::U32(counts) = column else {
            return Self::reached();
        };
        let triangles = counts.iter().map(|count| u64::from(*count)).sum::<u64>() / corners;
        let figures = vec![Figure::count("triangles", "triangle", triangles)];
        Self::of_graph(figures, counted(triangles, "triangle"))
    }

    /// Returns the whole number with this name.
    #[must_use]
    pub fn figure(&self, name: &str) -> Option<u64> {
        let found = self.figures.iter().find(|figure| figure.name == name)?;
        match found.value {
            Number::Whole(number) => Some(number),
            _ => None,
        }
    }

    /// Sums the figures of many graphs; none if one graph lacks them.
    #[must_use]
    pub fn totals<'a>(answers: impl IntoIterator<Item = &'a Self>) -> Self {
        let mut answers = answers.into_iter();
        let mut figures = answers.next().map_or_else(Vec::new, |first| {
            let counts = first.figures.iter().filter(|figure| figure.noun.is_some());
            counts.cloned().collect()
        });
        for answer in answers {
            figures.retain_mut(|total| match (&total.value, answer.figure(total.name)) {
                (Number::Whole(sum), Some(more)) => {
                    total.value = Number::Whole(sum.saturating_add(more));
                    true
                }
                _ => false,
            });
        }
        Self {
            figures,
            ..Self::reached()
        }
    }
}

impl Serialize for Answer {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(
            self.figures
                .iter()
                .map(|figure| (figure.name, &figure.value)),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::AnalysisKind;
    use crate::column::Column;
    use crate::graph::{LoadOptions, load_reader};
    use serde_json::json;
    use std::io::Cursor;

    fn of(analysis: AnalysisKind, column: &Column) -> Answer {
        let edges = [(10, 0), (20, 0), (30, 0)];
        let text = edges.map(|(from, to)| format!("{from} {to}\n")).concat();
        let loaded = load_reader("g.el", Cursor::new(text), &LoadOptions::default());
        analysis.definition().answer(&loaded.unwrap().graph, column)
    }

    fn words(analysis: AnalysisKind, values: &[u32]) -> serde_json::Value {
        json!(of(analysis, &Column::U32(values.to_vec())))
    }

    #[test]
    fn every_analysis_has_its_numbers() {
        assert_eq!(
            words(AnalysisKind::Cc, &[0, 0, 2, 2, 2]),
            json!({"components": 2, "largest_component": 3})
        );
        assert_eq!(
            words(AnalysisKind::Kcore, &[1, 3, 3, 0]),
            json!({"largest_core": 3, "largest_core_nodes": 2})
        );
        assert_eq!(
            words(AnalysisKind::Triangles, &[u32::MAX; 3]),
            json!({"triangles": u32::MAX})
        );
        assert_eq!(
            words(AnalysisKind::Bfs, &[0, 7, u32::MAX]),
            json!({"eccentricity": 7})
        );
        assert_eq!(
            words(AnalysisKind::Sssp, &[0, 7, u32::MAX]),
            json!({"eccentricity": 7, "distance_bits": 32})
        );
        assert_eq!(words(AnalysisKind::Reach, &[0, 1]), json!({}));
    }

    #[test]
    fn distances_of_64_bits_and_of_floats_have_the_farthest_too() {
        let column = Column::U64(vec![0, 8_000_000_000, u64::MAX]);
        assert_eq!(
            json!(of(AnalysisKind::Sssp, &column)),
            json!({"eccentricity": 8_000_000_000_u64, "distance_bits": 64})
        );
        let column = Column::F32(vec![0.0, 2.5, f32::INFINITY]);
        assert_eq!(
            json!(of(AnalysisKind::Sssp, &column)),
            json!({"eccentricity": 2.5, "distance_bits": 32})
        );
    }

    #[test]
    fn the_first_of_the_highest_ranks_has_the_id_in_the_file() {
        let column = Column::F32(vec![0.125, 0.25, 0.25, 0.125]);
        assert_eq!(
            json!(of(AnalysisKind::Pagerank, &column)),
            json!({"highest_rank": 0.25, "highest_rank_node": 10})
        );
        let none = of(AnalysisKind::Pagerank, &Column::F32(Vec::new()));
        assert_eq!(json!(none), json!({}));
    }

    #[test]
    fn an_empty_graph_has_an_answer() {
        let components = json!({"components": 0, "largest_component": 0});
        assert_eq!(words(AnalysisKind::Cc, &[]), components);
        let cores = json!({"largest_core": 0, "largest_core_nodes": 0});
        assert_eq!(words(AnalysisKind::Kcore, &[]), cores);
        assert_eq!(words(AnalysisKind::Bfs, &[]), json!({"eccentricity": 0}));
    }

    #[test]
    fn counts_of_many_graphs_add_up_and_other_figures_do_not() {
        let of = |labels: &[u32]| of(AnalysisKind::Cc, &Column::U32(labels.to_vec()));
        let all = [of(&[0, 0, 2]), of(&[0]), of(&[0, 1])];
        let totals = Answer::totals(&all);
        assert_eq!(json!(totals), json!({"components": 5}));
        assert_eq!(totals.figures[0].counted().unwrap(), "5 components");
        assert_eq!(json!(Answer::totals([])), json!({}));
        let mixed = [of(&[0]), Answer::reached()];
        assert_eq!(json!(Answer::totals(&mixed)), json!({}));
    }
}
