//! Graphs without enough memory: an error, not the end of the process.

use super::WEIGHTED;
use seawall::graph::{self, Graph, GraphError};
use std::process::Command;

const CHILD: &str = "SEAWALL_TEST_LITTLE_MEMORY";
/// KiB of address space for the test program and its graphs.
const LIMIT: &str = "600000";

/// Larger and larger graphs are made in a process with little address space.
#[test]
fn a_graph_that_does_not_fit_is_an_error() {
    if std::env::var_os(CHILD).is_some() {
        return in_little_memory();
    }
    let name = "graph::exhaustion::a_graph_that_does_not_fit_is_an_error";
    let script = format!("ulimit -v {LIMIT}; exec \"$0\" --exact {name} --nocapture");
    let child = Command::new("sh")
        .args(["-c", &script])
        .arg(std::env::current_exe().unwrap())
        .env(CHILD, "1")
        .env("RAYON_NUM_THREADS", "2")
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&child.stdout);
    let errors = String::from_utf8_lossy(&child.stderr);
    assert!(child.status.success(), "{text}\n{errors}");
    assert!(text.contains("1 passed"), "{text}");
    for part in ["generator", "edges", "incoming", "drawn", "unit"] {
        assert!(text.contains(&format!("{part}: refused")), "{text}");
    }
}

fn in_little_memory() {
    changes_in_little_memory();
    edges_in_little_memory();
    for scale in [12, 18, 20, 22] {
        match graph::load(format!("gen:uniform:{scale}:24"), &WEIGHTED, None) {
            Ok(_) => {}
            Err(GraphError::Memory { .. }) => println!("generator: refused"),
            Err(other) => panic!("{other}"),
        }
    }
}

/// Makes larger and larger graphs, until their edges are refused.
fn edges_in_little_memory() {
    let mut edges: Vec<(u32, u32)> = Vec::new();
    while edges.try_reserve_exact(1 << 21).is_ok() {
        let first = edges.len() as u32;
        edges.extend((first..first + (1 << 21)).map(|node| (node, node + 1)));
        let nodes = edges.len() as u32 + 1;
        match Graph::from_edges(nodes, &edges, false) {
            Ok(graph) => {
                // Memory that a graph leaves may be too little for its incoming rows.
                let _ = graph.try_incoming();
            }
            Err(GraphError::Memory { .. }) => return println!("edges: refused"),
            Err(other) => panic!("{other}"),
        }
    }
}

/// Edges of the graphs that get weights: 16 MB of these each.
const EDGES: u32 = 4_000_000;
/// Bytes of a block that fills memory, and number of blocks that stay free: less than the weights.
const BLOCK: usize = 1 << 20;
const FREE_BLOCKS: usize = 8;

/// Gives weights and incoming rows to graphs after the rest of memory was taken.
fn changes_in_little_memory() {
    let edges: Vec<(u32, u32)> = (0..EDGES).map(|node| (node, node + 1)).collect();
    let chain = || Graph::from_edges(EDGES + 1, &edges, false).unwrap();
    let is_refused = |made| matches!(made, Err(GraphError::Memory { .. }));
    refused("drawn", chain(), |graph| {
        is_refused(graph.with_drawn_weights(1))
    });
    refused("unit", chain(), |graph| {
        is_refused(graph.with_unit_weights())
    });
    refused("incoming", chain(), |graph| graph.try_incoming().is_err());
}

/// Fills memory and changes `graph`, which must be refused.
fn refused(name: &str, graph: Graph, is_refused: impl FnOnce(Graph) -> bool) {
    let mut blocks: Vec<Vec<u8>> = Vec::with_capacity(1 << 12);
    let mut block = Vec::new();
    while block.try_reserve_exact(BLOCK).is_ok() {
        blocks.push(std::mem::take(&mut block));
    }
    blocks.truncate(blocks.len().saturating_sub(FREE_BLOCKS));
    let is_refused = is_refused(graph);
    drop(blocks);
    assert!(is_refused, "{name}");
    println!("{name}: refused");
}
