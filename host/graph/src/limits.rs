//! Limits on the counts that a file states, the same for every format.
//!
//! Memory follows the content of a file, not its promises: the arrays of a graph take four bytes a
//! node, however few edges there are.

use super::GraphError;
use super::build::MAX_NODES;

/// Nodes that a file may state for any number of edges: 256 MiB of offsets.
pub(super) const FREE_NODES: u64 = 1 << 26;
/// Beyond that, nodes per edge of the file.
const NODES_AN_EDGE: u64 = 16;

/// Returns whether a file of this many edges and bytes, as stored, is large enough for that many
/// nodes.
pub(super) fn is_believable(nodes: u64, edges: u64, bytes: u64) -> bool {
    let backed = edges.saturating_mul(NODES_AN_EDGE).max(bytes);
    nodes <= MAX_NODES && nodes <= FREE_NODES.max(backed)
}

/// Refuses a file that states many nodes and has next to no edges. Its bytes are those on the disk,
/// before decompression; 0 where they are not known.
pub(super) fn check_nodes(
    file: &str,
    nodes: u64,
    edges: u64,
    bytes: u64,
) -> Result<(), GraphError> {
    if is_believable(nodes, edges, bytes) {
        return Ok(());
    }
    Err(GraphError::HollowGraph {
        file: file.to_owned(),
        nodes,
        edges,
        limit: FREE_NODES,
    })
}
