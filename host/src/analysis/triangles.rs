//! Triangles: how many every node is a corner of.

use super::{Built, Reading};
use crate::graph::Graph;
use crate::program::{ProgramBuilder, ProgramError, Triangles};

/// Keep one direction of every edge, look rows up in each other. The graph
/// must be symmetric.
pub(super) fn build(graph: &Graph) -> Result<Built, ProgramError> {
    let nodes = u64::from(graph.nodes());
    let mut program = ProgramBuilder::new(graph.nodes());
    let triangles = Triangles {
        corners: program.words("corners", nodes)?,
        forward: program.words("forward edges", u64::from(graph.edges()))?,
        degrees: program.words("forward degrees", nodes)?,
        held: 0,
    };
    program.fill("clear corners", triangles.corners, 0);
    program.orient_edges("orient edges", triangles);
    program.count_triangles("count triangles", triangles);
    program.keep(triangles.corners);
    Ok(Built {
        program,
        inputs: Vec::new(),
        result: triangles.corners,
        parents: None,
        reading: Reading::Words,
    })
}
