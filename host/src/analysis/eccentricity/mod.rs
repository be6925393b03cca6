//! Eccentricity of given nodes: the distance of the farthest node that each of them reaches.
//!
//! Nodes out of reach do not count, so that every source has a value.

pub(super) mod oracle;

use super::sweep::{self, Sought};
use super::{
    Analysis, Answer, Bars, Built, Case, Facts, Figure, Found, ParallelRule, Picture, Question,
    Reading, Sentence, Values,
};
use crate::column::Column;
use crate::cost::{Job, Worker};
use crate::graph::Graph;
use crate::program::{Measure, ProgramError};
use seawall_core::abi::UNREACHED;

/// The analysis `eccentricity`.
pub(super) struct Eccentricity;

const FACTS: Facts = Facts {
    name: "eccentricity",
    title: "Eccentricity",
    summary: "Distance of the farthest node from each source, exactly, for many at once",
    values: Values::NumbersOfReached,
    takes_sources: true,
    parallel: ParallelRule::Least,
    picture: Picture {
        title: "Sources by eccentricity",
        axis: "eccentricity",
        bars: Bars::Even,
    },
    ..Facts::PLAIN
};

impl Analysis for Eccentricity {
    fn facts(&self) -> &'static Facts {
        &FACTS
    }

    fn build(&self, graph: &Graph, question: &Question) -> Result<Built, ProgramError> {
        let sought = Sought {
            measure: Measure::Eccentricity,
            back: false,
            none: UNREACHED,
            reading: Reading::Words,
        };
        sweep::build(graph, question, sought)
    }

    fn check(&self, case: &Case<'_>, found: Found<'_>) -> bool {
        let (sources, limit) = (&case.question.sources, case.question.max_iterations);
        *found.values == Column::U32(oracle::eccentricities(case.graph, sources, limit))
    }

    fn answer(&self, _graph: &Graph, column: &Column) -> Answer {
        let Column::U32(values) = column else {
            return Answer::reached();
        };
        let known = || values.iter().copied().filter(|value| *value != UNREACHED);
        let (Some(least), Some(largest)) = (known().min(), known().max()) else {
            return Answer::reached();
        };
        Answer {
            figures: vec![
                Figure::new("least_eccentricity", u64::from(least)),
                Figure::new("largest_eccentricity", u64::from(largest)),
            ],
            sentence: Sentence::Graph(format!("eccentricities from {least} to {largest}")),
        }
    }

    fn cost_ns(&self, job: &Job, worker: &Worker) -> f64 {
        sweep::cost_ns(job, worker)
    }
}
