//! Searches a graph breadth first and counts the nodes of each level.
//!
//! `cargo run --release -p seawall --example bfs -- gen:grid:64 0`
//!
//! The first argument is anything that `seawall run` reads: a file, `-` for
//! standard input, or a generator. The second is the source's id in the file.

use seawall::graph::{self, LoadOptions};
use seawall::outcome::Column;
use seawall::run::{self, AnalysisKind, RunRequest};
use std::error::Error;

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let spec = arguments.next().unwrap_or_else(|| "gen:grid:64".to_owned());
    let source: u64 = arguments.next().map_or(Ok(0), |id| id.parse())?;

    let loaded = graph::load(&spec, &LoadOptions::default(), None)?;
    let node = loaded
        .graph
        .node_of(source)
        .ok_or("the graph has no node with that id")?;
    let request = RunRequest::new(AnalysisKind::Bfs, vec![node]);
    let outcome = run::execute(&loaded.graph, &request)?;

    println!(
        "{} of {} nodes reached on {}",
        outcome.reached, outcome.nodes, outcome.device
    );
    if let Column::U32(levels) = &outcome.values {
        print_widths(levels);
    }
    Ok(())
}

/// Prints the number of nodes of each level. An unreached node has the level `u32::MAX` and is
/// left out.
fn print_widths(levels: &[u32]) {
    let mut widths: Vec<u64> = Vec::new();
    for level in levels.iter().filter(|level| **level != u32::MAX) {
        let level = *level as usize;
        if widths.len() <= level {
            widths.resize(level + 1, 0);
        }
        widths[level] += 1;
    }
    for (level, width) in widths.iter().enumerate() {
        println!("level {level:>5} {width:>10}");
    }
}
