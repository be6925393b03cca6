//! The numbers that an analysis is asked for, read off its column.

use serde::{Serialize, Serializer};

/// What a column says about the graph as a whole.
///
/// A run that a limit ended has not come to the end of its answer: components
/// are then at least those of the graph, cores at least as large, and distances
/// are those found so far.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// Its numbers, in the order of reports.
    pub figures: Vec<Figure>,
    /// The same as a person reads it.
    pub sentence: Sentence,
}

/// A number of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Figure {
    /// Its name in reports.
    pub name: &'static str,
    /// The number.
    pub value: u64,
    /// What it counts, if the figures of many graphs add up.
    pub noun: Option<&'static str>,
}

/// An answer in words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Sentence {
    /// How many nodes are reached, and what follows.
    Reached {
        /// The rest of the sentence, which may be empty.
        more: String,
    },
    /// Every node has a value.
    EveryNode {
        /// The value with its article.
        value: &'static str,
    },
    /// A sentence about the graph.
    Graph(String),
}

impl Figure {
    /// A number of one graph alone.
    #[must_use]
    pub const fn new(name: &'static str, value: u64) -> Self {
        let noun = None;
        Self { name, value, noun }
    }

    /// A number of things that are called `noun`, which add up over graphs.
    #[must_use]
    pub const fn count(name: &'static str, noun: &'static str, value: u64) -> Self {
        let noun = Some(noun);
        Self { name, value, noun }
    }
}

impl Answer {
    /// Nodes are reached, and nothing else is to say.
    #[must_use]
    pub const fn reached() -> Self {
        Self {
            figures: Vec::new(),
            sentence: Sentence::Reached {
                more: String::new(),
            },
        }
    }

    /// The number of that name.
    #[must_use]
    pub fn figure(&self, name: &str) -> Option<u64> {
        let found = self.figures.iter().find(|figure| figure.name == name)?;
        Some(found.value)
    }

    /// The figures of many graphs that add up, added up; none if one graph lacks them.
    #[must_use]
    pub fn totals<'a>(answers: impl IntoIterator<Item = &'a Self>) -> Self {
        let mut answers = answers.into_iter();
        let mut figures = answers.next().map_or_else(Vec::new, |first| {
            let counts = first.figures.iter().filter(|figure| figure.noun.is_some());
            counts.copied().collect()
        });
        for answer in answers {
            figures.retain_mut(|total| {
                let more = answer.figure(total.name);
                total.value = total.value.saturating_add(more.unwrap_or(0));
                more.is_some()
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
                .map(|figure| (figure.name, figure.value)),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::AnalysisKind;
    use crate::column::Column;
    use serde_json::json;

    fn answer(analysis: AnalysisKind, values: &[u32]) -> serde_json::Value {
        let column = Column::U32(values.to_vec());
        serde_json::to_value(analysis.room().answer(&column)).unwrap()
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
        assert_eq!(
            answer(AnalysisKind::Bfs, &[0, 7, u32::MAX]),
            json!({"eccentricity": 7})
        );
        assert_eq!(
            answer(AnalysisKind::Sssp, &[0, 7, u32::MAX]),
            json!({"eccentricity": 7, "distance_bits": 32})
        );
        assert_eq!(answer(AnalysisKind::Reach, &[0, 1]), json!({}));
    }

    #[test]
    fn distances_of_64_bits_have_the_farthest_too() {
        let column = Column::U64(vec![0, 8_000_000_000, u64::MAX]);
        let answer = AnalysisKind::Sssp.room().answer(&column);
        assert_eq!(answer.figure("eccentricity"), Some(8_000_000_000));
        assert_eq!(answer.figure("distance_bits"), Some(64));
    }

    #[test]
    fn an_empty_graph_has_an_answer() {
        let components = json!({"components": 0, "largest_component": 0});
        assert_eq!(answer(AnalysisKind::Cc, &[]), components);
        let cores = json!({"largest_core": 0, "largest_core_nodes": 0});
        assert_eq!(answer(AnalysisKind::Kcore, &[]), cores);
        assert_eq!(answer(AnalysisKind::Bfs, &[]), json!({"eccentricity": 0}));
    }

    #[test]
    fn counts_of_many_graphs_add_up_and_other_figures_do_not() {
        let of = |labels: &[u32]| {
            AnalysisKind::Cc
                .room()
                .answer(&Column::U32(labels.to_vec()))
        };
        let all = [of(&[0, 0, 2]), of(&[0]), of(&[0, 1])];
        assert_eq!(json!(Answer::totals(&all)), json!({"components": 5}));
        assert_eq!(json!(Answer::totals([])), json!({}));
        let mixed = [of(&[0]), Answer::reached()];
        assert_eq!(json!(Answer::totals(&mixed)), json!({}));
    }
}
