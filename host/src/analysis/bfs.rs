//! Breadth-first search: the level of every node, and its parent where asked.

use super::{Built, Question, Reading, padded};
use crate::graph::Graph;
use crate::program::{Mark, ProgramBuilder, ProgramError};
use crate::run::Detail;
use seawall_core::abi::UNREACHED;

/// Fill the levels and reset the frontier, seed it, search; parents follow from
/// the final levels.
pub(super) fn build(graph: &Graph, question: &Question) -> Result<Built, ProgramError> {
    let nodes = graph.nodes();
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
    let mut parents = None;
    if question.detail == Detail::Parents {
        let register = program.words("parents", u64::from(nodes))?;
        program.parents("find parents", register, levels);
        program.keep(register);
        parents = Some(register);
    }
    Ok(Built {
        program,
        inputs: padded(question.sources.clone()),
        result: levels,
        parents,
        reading: Reading::Words,
    })
}
