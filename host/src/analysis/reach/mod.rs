//! Reachability: the nodes that the sources reach.

mod each;
pub(super) mod oracle;

use super::definition::padded;
use super::{
    Analysis, AnalysisOutput, Answer, Bars, Built, Case, Detail, Facts, Picture, Question, Reading,
    Streaming, Values, alone,
};
use crate::column::Column;
use crate::cost::{Job, Worker};
use crate::graph::{EdgeLengths, Graph};
use crate::program::{Mark, ProgramBuilder, ProgramError};
use seawall_core::abi::sequential::{Algorithm, SequentialRecord};

pub(super) struct Reach;

pub(super) const FACTS: Facts = Facts {
    name: "reach",
    title: "Reachability",
    summary: "Which nodes the sources reach",
    values: Values::Flags,
    takes_sources: true,
    walks: true,
    searches: true,
    streams: Some(Streaming::Reached),
    details: &[Detail::EachSource],
    picture: Picture {
        title: "Nodes reached",
        axis: "0 is not reached, 1 is reached",
        bars: Bars::Even,
    },
    ..Facts::PLAIN
};

const SETS: Picture = Picture {
    title: "Nodes by the sources that reach them",
    axis: "sources",
    bars: Bars::Even,
};

/// Nodes reached by one queue.
const REACHED_ALONE: alone::Sought = alone::Sought {
    record: SequentialRecord::new(Algorithm::Reached),
    none: 0,
    reading: Reading::Words,
};

impl Analysis for Reach {
    fn build(&self, graph: &Graph, question: &Question) -> Result<Built, ProgramError> {
        match question.detail {
            Detail::EachSource => each::build(graph, question),
            _ if question.low_memory && alone::suits(question) => {
                alone::build(graph, question, REACHED_ALONE)
            }
            Detail::Plain | Detail::Parents => build(graph, question),
        }
    }

    fn check(&self, case: &Case<'_>, found: AnalysisOutput<'_>) -> bool {
        let (graph, question) = (case.graph, case.question);
        let (sources, limit) = (&question.sources, question.max_iterations);
        match (question.detail, found.values) {
            (Detail::EachSource, Column::Sets(sets)) => {
                sets.words() == oracle::reached_from(graph, sources, limit)
            }
            (Detail::EachSource, _) => false,
            (_, values) => *values == Column::U32(oracle::reached(graph, sources, limit)),
        }
    }

    fn answer(&self, _graph: &Graph, _column: &Column) -> Answer {
        Answer::reached()
    }

    /// Any lengths will do.
    fn shortcuts(&self, detail: Detail) -> Option<EdgeLengths> {
        (detail == Detail::Plain).then_some(EdgeLengths::One)
    }

    fn picture(&self, column: &Column) -> Picture {
        match column {
            Column::Sets(_) => SETS,
            _ => FACTS.picture,
        }
    }

    fn cost_ns(&self, job: &Job, worker: &Worker) -> f64 {
        worker.levels_search_ns(job)
    }
}

/// Resets and seeds the frontier, searches and keeps the visited bits.
fn build(graph: &Graph, question: &Question) -> Result<Built, ProgramError> {
    let mut program = ProgramBuilder::new(graph.nodes());
    let sources = program.input("sources", question.sources.len() as u64)?;
    let frontier = program.frontier("frontier")?;
    let reached = program.bitset("reached")?;
    program.reset("reset frontier", frontier);
    program.seed("seed sources", frontier, sources, Mark::Bits);
    program.search(
        "search reached",
        frontier,
        Mark::Bits,
        question.max_iterations,
    );
    program.visited("copy visited", reached, frontier);
    Ok(Built::of(
        program,
        padded(question.sources.clone()),
        reached,
        Reading::Bits,
    ))
}
