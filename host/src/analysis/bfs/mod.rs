//! Breadth-first search: the level of every node, and its parent if requested.

pub(super) mod oracle;

use super::definition::padded;
use super::sssp::rounds_of_paths;
use super::{
    Analysis, AnalysisOutput, Answer, Bars, Built, Case, Detail, Facts, Figure, Highlight, Number,
    Picture, Question, Reading, Sentence, Streaming, Values, alone,
};
use crate::column::{Column, Rounds};
use crate::cost::{Job, Worker};
use crate::graph::{EdgeLengths, Graph};
use crate::program::{Mark, ProgramBuilder, ProgramError, RegisterId};
use crate::units::Count;
use seawall_core::abi::UNREACHED;
use seawall_core::abi::sequential::{Algorithm, SequentialRecord};

pub(super) struct Bfs;

pub(super) const FACTS: Facts = Facts {
    name: "bfs",
    title: "Breadth-first search",
    summary: "Level of every node in a breadth-first search",
    values: Values::NumbersOfReached,
    takes_sources: true,
    walks: true,
    searches: true,
    streams: Some(Streaming::Levels),
    details: &[Detail::Parents],
    highlight: Highlight::Farthest,
    picture: Picture {
        title: "Frontier at each level",
        axis: "level",
        bars: Bars::Even,
    },
    ..Facts::PLAIN
};

impl Analysis for Bfs {
    /// Fills the levels, resets and seeds the frontier and searches; parents follow from the final
    /// levels.
    fn build(&self, graph: &Graph, question: &Question) -> Result<Built, ProgramError> {
        if question.shortcuts {
            return rounds_of_paths(graph, question);
        }
        let nodes = graph.nodes();
        if question.low_memory && alone::suits(question) {
            let mut built = alone::build(graph, question, LEVELS_ALONE)?;
            built.parents = parents(&mut built.program, question, built.result)?;
            return Ok(built);
        }
        let mut program = ProgramBuilder::new(nodes);
        let sources = program.input("sources", question.sources.len() as u64)?;
        let levels = program.words("levels", u64::from(nodes))?;
        let frontier = program.frontier("frontier")?;
        let mark = Mark::Levels(levels);
        program.fill("fill levels", levels, UNREACHED);
        program.reset("reset frontier", frontier);
        program.seed("seed sources", frontier, sources, mark);
        program.search("search levels", frontier, mark, question.max_iterations);
        program.keep(levels);
        let parents = parents(&mut program, question, levels)?;
        Ok(Built {
            program,
            inputs: padded(question.sources.clone()),
            result: levels,
            parents,
            reading: Reading::Words,
        })
    }

    fn check(&self, case: &Case<'_>, found: AnalysisOutput<'_>) -> bool {
        let question = case.question;
        let levels = oracle::levels(case.graph, &question.sources, question.max_iterations);
        let has_parents = |parents: &[u32]| parents == oracle::parents(case.graph, &levels);
        found.parents.is_none_or(has_parents) && *found.values == Column::U32(levels)
    }

    fn answer(&self, _graph: &Graph, column: &Column) -> Answer {
        farthest(column, "level")
    }

    fn shortcuts(&self, detail: Detail) -> Option<EdgeLengths> {
        (detail == Detail::Plain).then_some(EdgeLengths::One)
    }

    fn rounds(&self, column: &Column, iterations: u32) -> Rounds {
        match column {
            Column::U32(levels) => Rounds::Levels(deepest(levels).map_or(0, |level| level + 1)),
            _ => Rounds::Iterations(iterations),
        }
    }

    fn cost_ns(&self, job: &Job, worker: &Worker) -> f64 {
        worker.levels_search_ns(job)
    }
}

const LEVELS_ALONE: alone::Sought = alone::Sought {
    record: SequentialRecord::new(Algorithm::Levels),
    none: UNREACHED,
    reading: Reading::Words,
};

/// Finds the parents by the final `levels`, if `question` asks for them.
fn parents(
    program: &mut ProgramBuilder,
    question: &Question,
    levels: RegisterId,
) -> Result<Option<RegisterId>, ProgramError> {
    if question.detail != Detail::Parents {
        return Ok(None);
    }
    let parents = program.words("parents", program.nodes.into())?;
    program.parents("find parents", parents, levels);
    program.keep(parents);
    Ok(Some(parents))
}

/// The largest value of a reached node.
fn deepest(values: &[u32]) -> Option<u32> {
    const { assert!(UNREACHED.wrapping_add(1) == 0) };
    let above = values.iter().map(|value| value.wrapping_add(1));
    above.fold(0, u32::max).checked_sub(1)
}

/// Distance of the farthest node, in `measure`s.
pub(super) fn farthest(column: &Column, measure: &str) -> Answer {
    let (eccentricity, text) = match column {
        Column::U32(values) => whole(deepest(values).map_or(0, u64::from)),
        Column::U64(values) => {
            let reached = values.iter().filter(|value| **value != u64::MAX);
            whole(reached.max().copied().unwrap_or(0))
        }
        Column::I64(values) => {
            let reached = values.iter().copied().filter(|value| *value != i64::MAX);
            let farthest = reached.max().unwrap_or(0);
            (Number::Signed(farthest), farthest.to_string())
        }
        Column::F32(values) => {
            let reached = values.iter().copied().filter(|value| value.is_finite());
            let farthest = reached.fold(0.0, f32::max);
            (Number::Real(farthest), farthest.to_string())
        }
        Column::Sets(_) => return Answer::reached(),
    };
    Answer {
        figures: vec![Figure::new("eccentricity", eccentricity)],
        sentence: Sentence::Reached {
            more: format!(", the farthest at {measure} {text}"),
        },
    }
}

fn whole(number: u64) -> (Number, String) {
    (Number::Whole(number), Count(number).to_string())
}
