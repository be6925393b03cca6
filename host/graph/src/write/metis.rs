//! Writes METIS files: one line per node, with its neighbours numbered from 1.

use std::io::{self, Write};

use super::nodes;
use super::sink::Sink;
use super::text::{blocks, push_number};
use crate::Graph;

/// Writes header and rows of a symmetric graph.
pub(super) fn write(graph: &Graph, sink: &mut Sink) -> io::Result<()> {
    nodes::write_numbered(graph, "%", sink)?;
    let format = graph.weights().map_or("", |_| " 1");
    let edges = (graph.edges() - graph.loops()) / 2 + graph.loops();
    writeln!(sink, "{} {edges}{format}", graph.nodes())?;
    for rows in blocks(graph) {
        let mut text = Vec::new();
        for node in rows {
            push_row(&mut text, graph, node);
        }
        sink.write_all(&text)?;
    }
    Ok(())
}

fn push_row(text: &mut Vec<u8>, graph: &Graph, node: u32) {
    for edge in graph.outgoing().row(node) {
        let target = graph.targets()[edge];
        // An edge is listed at both ends, and those of a loop are one node.
        let times = if target == node { 2 } else { 1 };
        for _ in 0..times {
            push_number(text, u64::from(target) + 1);
            text.push(b' ');
            if let Some(weights) = graph.weights() {
                push_number(text, u64::from(weights[edge]));
                text.push(b' ');
            }
        }
    }
    text.push(b'\n');
}
