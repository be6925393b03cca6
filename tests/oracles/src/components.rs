//! Components that begin with a search.

use seawall::graph::Graph;
use seawall::program::{
    ComponentStep, EncodedProgram, Mark, PlanRequest, ProgramBuilder, ProgramError, RegisterId,
};
use seawall_core::abi::UNREACHED;
use seawall_core::abi::components::KNOWN_WORDS;

/// A program that finds the components of `graph`, which must be symmetric, by a short search from
/// its last node, a sample and the rest.
///
/// # Errors
/// As [`ProgramBuilder::encode`].
pub fn searched_components(graph: &Graph) -> Result<EncodedProgram, ProgramError> {
    let mut program = ProgramBuilder::new(graph.nodes());
    let labels = program.words("labels", graph.nodes().into())?;
    let from = graph.nodes().checked_sub(1).unwrap_or(UNREACHED);
    let known = hook_found(&mut program, labels, [from, 2], Mark::BitsAhead)?;
    link_rest(&mut program, labels, known);
    program.components("compress", ComponentStep::Compress, labels);
    program.keep(labels);
    Ok(program.encode(&PlanRequest::default())?.0)
}

/// Searches from a node, and makes a component of the reached nodes.
///
/// # Errors
/// For more nodes than a frontier has space for.
pub fn hook_reached(
    program: &mut ProgramBuilder,
    labels: RegisterId,
    search: [u32; 2],
) -> Result<RegisterId, ProgramError> {
    hook_found(program, labels, search, Mark::Bits)
}

fn hook_found(
    program: &mut ProgramBuilder,
    labels: RegisterId,
    [node, levels]: [u32; 2],
    mark: Mark,
) -> Result<RegisterId, ProgramError> {
    let list = program.words("source", 1)?;
    let frontier = program.frontier("frontier")?;
    let known = program.words("known", KNOWN_WORDS.into())?;
    program.fill("source", list, node);
    program.reset("reset", frontier);
    program.seed("seed", frontier, list, mark);
    program.search("search", frontier, mark, levels);
    let hook = ComponentStep::HookReached { frontier, known };
    program.components("hook", hook, labels);
    Ok(known)
}

/// Links all nodes that are not in the largest component, which a sample finds if it is not
/// `known`.
pub fn link_rest(program: &mut ProgramBuilder, labels: RegisterId, known: RegisterId) {
    let sample = ComponentStep::LinkSample { skip: 0, edges: 2 };
    let majority = ComponentStep::Majority { to: known };
    for step in [sample, ComponentStep::Compress, majority] {
        program.components_unless("sample", step, labels, known);
    }
    let except = known;
    let rest = ComponentStep::LinkRest { skip: 0, except };
    program.components("link", rest, labels);
}
