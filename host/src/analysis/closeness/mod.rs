//! Closeness of given nodes: the inverse of the mean distance from the nodes that reach them.
//!
//! With `r` nodes that reach a node, itself included, and the sum `s` of their distances to it, its
//! closeness is `(r - 1) / s`, scaled by `(r - 1) / (n - 1)` for the part of the `n` nodes that
//! reach it (Wasserman and Faust, "Social Network Analysis", 1994, formula 5.22), and 0 if no other
//! node does. Sums are exact; the quotient is rounded once to 64 bits and once to 32.

pub(super) mod oracle;

use super::answer::highest;
use super::sweep::{self, Sought};
use super::{
    Analysis, AnalysisKind, AnalysisOutput, Answer, Bars, Built, Case, Direction, Facts, Figure,
    Highlight, ParallelRule, Picture, Question, Reading, Values, alone,
};
use crate::column::Column;
use crate::cost::{Job, Worker};
use crate::graph::Graph;
use crate::program::{Measure, ProgramError};
use crate::run::RunError;
use seawall_core::abi::sequential::{Algorithm, SequentialRecord};

pub(super) struct Closeness;

pub(super) const FACTS: Facts = Facts {
    name: "closeness",
    title: "Closeness",
    summary: "How near the sources are to the nodes that reach them, exactly, for many at once",
    values: Values::NumbersOfReached,
    takes_sources: true,
    parallel: ParallelRule::Least,
    weighs: true,
    directs: true,
    highlight: Highlight::Highest,
    picture: Picture {
        title: "Sources by closeness",
        axis: "closeness",
        bars: Bars::Suited,
    },
    ..Facts::PLAIN
};

/// Whether distances are those to the sources.
fn is_inward(question: &Question) -> bool {
    question.centrality.direction != Some(Direction::Outward)
}

/// Whether values along weights equal those in doubles, except for the rounding of sums and of the
/// least floats.
fn is_near(values: &Column, expected: &[f64]) -> bool {
    let near = |(value, exact): (&f32, &f64)| {
        let value = f64::from(*value);
        (value - exact).abs() <= 1e-6 * exact + f64::from(f32::from_bits(1)) || value == *exact
    };
    let values = values.floats().unwrap_or(&[]);
    values.len() == expected.len() && values.iter().zip(expected).all(near)
}

impl Analysis for Closeness {
    fn build(&self, graph: &Graph, question: &Question) -> Result<Built, ProgramError> {
        let is_inward = is_inward(question);
        let record = SequentialRecord {
            lengths: alone::lengths(graph, question.centrality.weighted),
            inward: is_inward,
            ..SequentialRecord::new(Algorithm::Closeness)
        };
        let lists = alone::Sought {
            record,
            none: f32::INFINITY.to_bits(),
            reading: Reading::Floats,
        };
        if let Some(built) = sweep::alone(graph, question, lists) {
            return built;
        }
        let sought = Sought {
            measure: Measure::Closeness,
            back: is_inward,
            none: f32::INFINITY.to_bits(),
            reading: Reading::Floats,
        };
        sweep::build(graph, question, sought)
    }

    fn check(&self, case: &Case<'_>, found: AnalysisOutput<'_>) -> bool {
        let question = case.question;
        let (sources, limit) = (&question.sources, question.max_iterations);
        let inward = is_inward(question);
        if question.centrality.weighted {
            let expected = oracle::weighted_closeness(case.graph, sources, inward);
            return is_near(found.values, &expected);
        }
        *found.values == Column::F32(oracle::closeness_along(case.graph, sources, inward, limit))
    }

    fn accept(
        &self,
        (graph, question): (&Graph, &Question),
        found: AnalysisOutput<'_>,
    ) -> Result<(), RunError> {
        sweep::accept(AnalysisKind::Closeness, graph, question, found.values)
    }

    fn answer(&self, graph: &Graph, column: &Column) -> Answer {
        let Some((node, score)) = highest(column) else {
            return Answer::reached();
        };
        let label = graph.label_of(node);
        let text = format!("the highest closeness is {score}, of node {label}");
        let figures = vec![
            Figure::new("highest_closeness", score),
            Figure::new("highest_closeness_node", label),
        ];
        Answer::of_graph(figures, text)
    }

    fn cost_ns(&self, job: &Job, worker: &Worker) -> f64 {
        sweep::cost_ns(job, worker)
    }
}
