//! Core numbers: the largest k such that a node is in a part of the graph
//! whose nodes all have k neighbours in it.

use super::{Built, Question, Reading};
use crate::graph::Graph;
use crate::program::{ProgramBuilder, ProgramError};

/// Store degrees, peel level after level. The graph must be symmetric.
pub(super) fn build(graph: &Graph, question: &Question) -> Result<Built, ProgramError> {
    let nodes = graph.nodes();
    let mut program = ProgramBuilder::new(nodes);
    let cores = program.words("cores", u64::from(nodes))?;
    let work = program.work("work")?;
    program.reset_work("reset work", work);
    program.seed_peel("store degrees", cores, work);
    program.fixpoint("peel", question.max_iterations, |body| {
        body.step_peel("step", cores, work);
    });
    program.keep(cores);
    Ok(Built {
        program,
        inputs: Vec::new(),
        result: cores,
        parents: None,
        reading: Reading::Words,
    })
}
