//! Device memory of any size: optional parts of a program are dropped, and missing required parts
//! are named.

use crate::tally::Tally;
use seawall::backend::cuda::{CudaOptions, CudaSession, Executor};
use seawall::graph::Graph;
use seawall_oracles::random::Random;
use seawall_oracles::ranks::run_ranks;

/// Size of the graph.
const NODES: u32 = 3_000;
const EDGES: u32 = 50_000;
/// Largest budget tried, bytes; enough for the graph with its tiles.
const MOST: u64 = 2 << 20;
/// Smallest, too little for the graph.
const LEAST: u64 = 128 << 10;

/// Ranks within budgets that shrink by a sixteenth at a time.
pub(crate) fn run(quick: bool, tally: &mut Tally) {
    let step = if quick { 3 } else { 16 };
    tally.check("ranks within any budget", "mega", "no seed", || {
        let mut random = Random::new(1);
        let edges: Vec<(u32, u32)> = (0..EDGES)
            .map(|_| (random.below(NODES), random.below(NODES)))
            .collect();
        let graph = Graph::from_edges(NODES, &edges, false).map_err(|error| error.to_string())?;
        let mut budget = MOST;
        let (mut fitted, mut missed) = (0, 0);
        while budget > LEAST {
            match ranks_within(&graph, budget) {
                Ok(()) if missed > 0 => {
                    return Err(format!("{budget} bytes were enough, more were not"));
                }
                Ok(()) => fitted += 1,
                Err(error) if error.contains("are available; raise the budget") => missed += 1,
                Err(error) => return Err(format!("within {budget} bytes: {error}")),
            }
            budget -= budget / step;
        }
        if fitted > 0 && missed > 0 {
            Ok(())
        } else {
            Err(format!("{fitted} budgets were enough, {missed} were not"))
        }
    });
}

fn ranks_within(graph: &Graph, budget: u64) -> Result<(), String> {
    let options = CudaOptions {
        budget_bytes: Some(budget),
        tiles: Some(true),
        ..CudaOptions::default()
    };
    let mut session =
        CudaSession::open(Executor::Mega, graph, options).map_err(|error| error.to_string())?;
    run_ranks(&mut session, graph, 4, 1)
}
