//! Closeness of given nodes: how near they are to the nodes that reach them.
//!
//! With `r` nodes that reach a node, itself included, and the sum `s` of their distances to it,
//! its closeness is `(r - 1) / s`, scaled by `(r - 1) / (n - 1)` for the part of the `n` nodes
//! that reach it at all (Wasserman and Faust, "Social Network Analysis", 1994, formula 5.22), and
//! 0 if no other does. Sums are exact; the quotient is rounded once to 64 bits and once to 32.

pub(super) mod oracle;

use super::answer::highest;
use super::sweep::{self, Sought};
use super::{
    Analysis, Answer, Bars, Built, Case, Facts, Figure, Found, Picture, Question, Reading,
    Sentence, Values,
};
use crate::column::Column;
use crate::cost::{Job, Worker};
use crate::graph::Graph;
use crate::program::{Measure, ProgramError};

/// The analysis `closeness`.
pub(super) struct Closeness;

const FACTS: Facts = Facts {
    name: "closeness",
    title: "Closeness",
    summary: "How near the sources are to the nodes that reach them, exactly, for many at once",
    values: Values::NumbersOfReached,
    takes_sources: true,
    picture: Picture {
        title: "Sources by closeness",
        axis: "closeness",
        bars: Bars::Suited,
    },
    ..Facts::PLAIN
};

impl Analysis for Closeness {
    fn facts(&self) -> &'static Facts {
        &FACTS
    }

    fn build(&self, graph: &Graph, question: &Question) -> Result<Built, ProgramError> {
        let sought = Sought {
            measure: Measure::Closeness,
            back: true,
            none: f32::INFINITY.to_bits(),
            reading: Reading::Floats,
        };
        sweep::build(graph, question, sought)
    }

    fn check(&self, case: &Case<'_>, found: Found<'_>) -> bool {
        let (sources, limit) = (&case.question.sources, case.question.max_iterations);
        *found.values == Column::F32(oracle::closeness(case.graph, sources, limit))
    }

    fn answer(&self, graph: &Graph, column: &Column) -> Answer {
        let Some((node, score)) = highest(column) else {
            return Answer::reached();
        };
        let label = graph.label_of(node);
        Answer {
            figures: vec![
                Figure::new("highest_closeness", score),
                Figure::new("highest_closeness_node", graph.original_id(node)),
            ],
            sentence: Sentence::Graph(format!("the highest closeness is {score}, of node {label}")),
        }
    }

    fn cost_ns(&self, job: &Job, worker: &Worker) -> f64 {
        sweep::cost_ns(job, worker)
    }
}
