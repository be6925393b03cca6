//! One graph on several GPUs: the columns of one CPU thread. A machine with one GPU runs the same
//! kernel there.

use crate::tally::Tally;
use seawall::graph::{Graph, LoadOptions, load};
use seawall::multi::{ANALYSES, Devices, execute};
use seawall::run::{self, AnalysisKind, Machine, RunRequest};
use seawall_oracles::graphs::{SHAPES, draw};
use seawall_oracles::random::Random;
use std::num::{NonZeroU32, NonZeroUsize};

/// Drawn graphs, and generated ones with long rows, deep searches and many nodes a level.
pub(crate) fn run(seed: u64, quick: bool, tally: &mut Tally) {
    let shapes = if quick { 3 } else { SHAPES.len() as u64 };
    for case in seed..seed + shapes {
        tally.check("devices", "mega", format!("SEED={case}"), || {
            let mut random = Random::new(case);
            let shape = SHAPES[case as usize % SHAPES.len()];
            let list = draw(shape, 5_000, case.is_multiple_of(2), &mut random);
            let graph = list.graph().map_err(text)?.with_drawn_weights(case);
            agree(&graph.map_err(text)?)
        });
    }
    if quick {
        return;
    }
    for name in [
        "gen:rmat:16:16",
        "gen:grid:300",
        "gen:chain:4000",
        "gen:uniform:17:8",
    ] {
        tally.check(
            "devices of a generated graph",
            "mega",
            name.to_owned(),
            || {
                let graph = load(name, &LoadOptions::default(), None);
                let graph = graph.map_err(text)?.graph.with_drawn_weights(1);
                agree(&graph.map_err(text)?)
            },
        );
    }
}

fn text(error: impl std::fmt::Display) -> String {
    error.to_string()
}

/// Compares every analysis on one GPU and on all with that on a thread.
fn agree(graph: &Graph) -> Result<(), String> {
    let all = Devices::all_gpus().map_err(text)?;
    for kind in ANALYSES {
        let facts = kind.facts();
        if facts.is_undirected && !graph.is_symmetric() || graph.nodes() == 0 {
            continue;
        }
        let sources = match kind {
            AnalysisKind::Closeness | AnalysisKind::Eccentricity => graph.nodes().min(200),
            _ => u32::from(facts.takes_sources),
        };
        let sources = (0..sources).collect();
        let mut request = RunRequest::new(kind, sources);
        request.weighted = false;
        let one = request.clone().on(Machine::cpu(NonZeroUsize::new(1)));
        let wanted = run::execute(graph, &one).map_err(text)?;
        request.repeat = NonZeroU32::new(2).unwrap_or(NonZeroU32::MIN);
        for devices in [&Devices::gpus(vec![0]), &all] {
            let found = execute(graph, &request, devices).map_err(text)?;
            if found.values != wanted.values {
                return Err(format!("{kind} on {devices:?} differs from a thread"));
            }
        }
    }
    Ok(())
}
