//! Connected components, directions ignored: each node's smallest neighbour
//! in any number of steps.

use super::{Built, Reading};
use crate::graph::Graph;
use crate::program::{ComponentStep, ProgramBuilder, ProgramError};

/// Edges of each node that the sample links.
const SAMPLE: u32 = 2;

/// A sample finds the largest component first, and the other nodes' edges
/// follow. Skipping the edges of a component is only right when every edge is
/// listed at both ends, so a directed graph links all edges at once.
pub(super) fn build(graph: &Graph) -> Result<Built, ProgramError> {
    let nodes = graph.nodes();
    let mut program = ProgramBuilder::new(nodes);
    let labels = program.words("labels", u64::from(nodes))?;
    program.iota("number the nodes", labels);
    if graph.is_symmetric() {
        let largest = program.words("largest", 1)?;
        let sample = ComponentStep::LinkSample { edges: SAMPLE };
        let rest = ComponentStep::LinkRest {
            skip: SAMPLE,
            except: largest,
        };
        program.components("link a sample", sample, labels);
        program.components("compress the sample", ComponentStep::Compress, labels);
        program.components(
            "find the largest",
            ComponentStep::Majority { to: largest },
            labels,
        );
        program.components("link the rest", rest, labels);
    } else {
        program.components("link", ComponentStep::Link, labels);
    }
    program.components("compress", ComponentStep::Compress, labels);
    program.keep(labels);
    Ok(Built {
        program,
        inputs: Vec::new(),
        result: labels,
        parents: None,
        reading: Reading::Words,
    })
}
