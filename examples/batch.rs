//! Searches many small graphs in one submission and names the deepest.
//!
//! `cargo run --release -p seawall --example batch -- gen:batch:1000:chain:512`
//!
//! The arguments are anything that `seawall run` takes as a batch: graphs,
//! folders, `@LIST`, `gen:batch:COUNT:SHAPE`. Every search starts at the first
//! node of its graph.

use seawall::batch::{self, BatchGraph};
use seawall::graph::LoadOptions;
use seawall::outcome::Rounds;
use seawall::run::{AnalysisKind, RunRequest};
use std::error::Error;

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments: Vec<String> = std::env::args().skip(1).collect();
    if arguments.is_empty() {
        arguments.push("gen:batch:1000:chain:512".to_owned());
    }
    let specs = batch::expand(&arguments)?;
    let loaded = batch::load(specs, &LoadOptions::default())?;
    let graphs: Vec<_> = loaded
        .iter()
        .map(|named| {
            let first = if named.graph.nodes() > 0 {
                vec![0]
            } else {
                Vec::new()
            };
            BatchGraph::new(named.name.clone(), &named.graph, first)
        })
        .collect();

    let request = RunRequest::new(AnalysisKind::Bfs, Vec::new());
    let outcome = batch::execute(&graphs, &request)?;

    println!(
        "{} graphs, {} of {} nodes reached by {} workers on {}",
        outcome.graphs.len(),
        outcome.reached(),
        outcome.nodes(),
        outcome.workers,
        outcome.device
    );
    let deepest = outcome
        .graphs
        .iter()
        .max_by_key(|graph| match graph.run.rounds {
            Rounds::Levels(levels) => levels,
            Rounds::Iterations(_) => 0,
        });
    if let Some(graph) = deepest {
        println!("deepest: {} with {:?}", graph.name, graph.run.rounds);
    }
    Ok(())
}
