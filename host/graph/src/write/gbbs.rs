//! Writes `.bin`, which [`crate::read`] describes: counts and row starts of 64 bits, targets of 32,
//! each followed by its weight if there are weights.

use std::io::{self, Write};

use super::sink::Sink;
use crate::Graph;

/// Edges and offsets converted at once.
const STEP: usize = 1 << 16;

/// Writes a graph whose weights fit signed words.
pub(super) fn write(graph: &Graph, sink: &mut Sink) -> io::Result<()> {
    let (nodes, edges) = (u64::from(graph.nodes()), u64::from(graph.edges()));
    let edge_bytes = if graph.weights().is_some() { 8 } else { 4 };
    let bytes = 24 + 8 * (nodes + 1) + edge_bytes * edges;
    sink.write_all(bytemuck::cast_slice(&[nodes, edges, bytes]))?;
    for offsets in graph.offsets().chunks(STEP) {
        let wide: Vec<u64> = offsets.iter().copied().map(u64::from).collect();
        sink.write_all(bytemuck::cast_slice(&wide))?;
    }
    let Some(weights) = graph.weights() else {
        return sink.write_all(bytemuck::cast_slice(graph.targets()));
    };
    for (targets, weights) in graph.targets().chunks(STEP).zip(weights.chunks(STEP)) {
        let pairs: Vec<[u32; 2]> = targets.iter().zip(weights).map(|(a, b)| [*a, *b]).collect();
        sink.write_all(bytemuck::cast_slice(&pairs))?;
    }
    Ok(())
}
