//! Eccentricity of given nodes: the distance of the farthest node that each of them reaches.
//!
//! Unreachable nodes do not count, so that every source has a value.

pub(super) mod oracle;

use super::sweep::{self, Sought};
use super::{
    Analysis, AnalysisKind, AnalysisOutput, Answer, Bars, Built, Case, Facts, Figure, Highlight,
    Number, ParallelRule, Picture, Question, Reading, Values, alone,
};
use crate::column::Column;
use crate::cost::{Job, Worker};
use crate::graph::Graph;
use crate::program::{Measure, ProgramError};
use crate::run::RunError;
use seawall_core::abi::UNREACHED;
use seawall_core::abi::sequential::{Algorithm, Lengths, SequentialRecord};

pub(super) struct Eccentricity;

pub(super) const FACTS: Facts = Facts {
    name: "eccentricity",
    title: "Eccentricity",
    summary: "Distance of the farthest node from each source, exactly, for many at once",
    values: Values::NumbersOfReached,
    takes_sources: true,
    parallel: ParallelRule::Least,
    weighs: true,
    highlight: Highlight::Highest,
    picture: Picture {
        title: "Sources by eccentricity",
        axis: "eccentricity",
        bars: Bars::Even,
    },
    ..Facts::PLAIN
};

impl Analysis for Eccentricity {
    fn build(&self, graph: &Graph, question: &Question) -> Result<Built, ProgramError> {
        if let Some(built) = sweep::alone(graph, question, lists(graph, question)) {
            return built;
        }
        let sought = Sought {
            measure: Measure::Eccentricity,
            back: false,
            none: UNREACHED,
            reading: Reading::Words,
        };
        sweep::build(graph, question, sought)
    }

    fn check(&self, case: &Case<'_>, found: AnalysisOutput<'_>) -> bool {
        let (sources, limit) = (&case.question.sources, case.question.max_iterations);
        if case.question.centrality.weighted {
            return *found.values == oracle::weighted_eccentricities(case.graph, sources);
        }
        *found.values == Column::U32(oracle::eccentricities(case.graph, sources, limit))
    }

    fn accept(
        &self,
        (graph, question): (&Graph, &Question),
        found: AnalysisOutput<'_>,
    ) -> Result<(), RunError> {
        sweep::accept(AnalysisKind::Eccentricity, graph, question, found.values)
    }

    /// The least and the largest eccentricity, which are radius and diameter if every node has one.
    fn answer(&self, _graph: &Graph, column: &Column) -> Answer {
        let Some((known, [least, largest])) = ends_of(column) else {
            return Answer::reached();
        };
        let mut text = format!("eccentricities from {least} to {largest}");
        let mut figures = vec![
            Figure::new("least_eccentricity", least.clone()),
            Figure::new("largest_eccentricity", largest.clone()),
        ];
        if known == column.len() {
            text = format!("radius {least}, diameter {largest}, over the nodes that each reaches");
            figures.push(Figure::new("radius", least));
            figures.push(Figure::new("diameter", largest));
        }
        Answer::of_graph(figures, text)
    }

    fn cost_ns(&self, job: &Job, worker: &Worker) -> f64 {
        sweep::cost_ns(job, worker)
    }
}

/// Results that searches of threads store.
fn lists(graph: &Graph, question: &Question) -> alone::Sought {
    let record = SequentialRecord {
        lengths: alone::lengths(graph, question.centrality.weighted),
        ..SequentialRecord::new(Algorithm::Eccentricity)
    };
    let (none, reading) = match record.lengths {
        Lengths::Edges => (UNREACHED, Reading::Words),
        Lengths::Whole => (UNREACHED, Reading::WideWords),
        Lengths::Float => (f32::INFINITY.to_bits(), Reading::Floats),
    };
    alone::Sought {
        record,
        none,
        reading,
    }
}

/// The number of nodes that have an eccentricity, and the least and the largest one.
fn ends_of(column: &Column) -> Option<(usize, [Number; 2])> {
    fn of<T: Copy + PartialOrd>(
        values: impl Iterator<Item = T>,
        number: impl Fn(T) -> Number,
    ) -> Option<(usize, [Number; 2])> {
        let mut ends: Option<(usize, T, T)> = None;
        for value in values {
            let (count, least, largest) = ends.unwrap_or((0, value, value));
            let least = if value < least { value } else { least };
            let largest = if value > largest { value } else { largest };
            ends = Some((count + 1, least, largest));
        }
        ends.map(|(count, least, largest)| (count, [number(least), number(largest)]))
    }
    match column {
        Column::U32(words) => of(
            words.iter().copied().filter(|word| *word != UNREACHED),
            |word| Number::Whole(word.into()),
        ),
        Column::U64(pairs) => of(
            pairs.iter().copied().filter(|pair| *pair != u64::MAX),
            Number::Whole,
        ),
        Column::F32(floats) => of(
            floats.iter().copied().filter(|float| float.is_finite()),
            Number::Real,
        ),
        Column::I64(_) | Column::Sets(_) => None,
    }
}
