//! Reachability: which nodes the sources reach.

use super::{Built, Question, Reading, padded};
use crate::graph::Graph;
use crate::program::{Mark, ProgramBuilder, ProgramError};
use crate::run::Detail;

/// Reset the frontier, seed it, search, keep the visited bits.
pub(super) fn build(graph: &Graph, question: &Question) -> Result<Built, ProgramError> {
    if question.detail == Detail::EachSource {
        return super::reach_each::build(graph, question);
    }
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
    program.keep(reached);
    Ok(Built {
        program,
        inputs: padded(question.sources.clone()),
        result: reached,
        parents: None,
        reading: Reading::Bits,
    })
}
