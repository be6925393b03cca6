//! The path to one node: found by the parents of a search.

use seawall::graph::Graph;
use seawall::outcome::{FoundPath, RunOutcome};

use crate::CliError;
use crate::sources::Sources;

/// The path to the node with the id or name `target` in `graph`, which the caller named `name`.
pub(super) fn path(
    outcome: &RunOutcome,
    target: &str,
    name: &str,
    graph: &Graph,
) -> Result<FoundPath, CliError> {
    let node = Sources::target(graph, name, target)?;
    Ok(outcome.path_to(node, graph))
}
