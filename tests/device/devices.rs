//! One graph on several GPUs, of one process or of several ranks: the columns of one CPU thread. A machine
//! with one GPU runs the same kernel there, and beside it a rank on threads.

use crate::tally::Tally;
use seawall::backend::{Canceller, ProgramSession};
use seawall::executor::{Executor, Jit};
use seawall::graph::{Graph, LoadOptions, load};
use seawall::multi::{ANALYSES, Devices, execute, execute_on_ranks, open_session, refusal};
use seawall::outcome::RunOutcome;
use seawall::program::PlanRequest;
use seawall::run::{self, AnalysisKind, Machine, RunError, RunRequest};
use seawall_oracles::carriers::{Threads, each};
use seawall_oracles::draw::{self, Limits};
use seawall_oracles::graphs::{SHAPES, draw as draw_graph};
use seawall_oracles::harness::run_script;
use seawall_oracles::random::Random;
use seawall_oracles::shared::PROGRAMS;
use std::num::{NonZeroU32, NonZeroUsize};

/// Drawn graphs, and generated ones with long rows, deep searches and many nodes a level.
pub(crate) fn run(seed: u64, quick: bool, tally: &mut Tally) {
    let shapes = if quick { 3 } else { SHAPES.len() as u64 };
    for case in seed..seed + shapes {
        tally.check("devices", "mega", format!("SEED={case}"), || {
            let mut random = Random::new(case);
            let shape = SHAPES[case as usize % SHAPES.len()];
            let list = draw_graph(shape, 5_000, case.is_multiple_of(2), &mut random);
            let graph = list.graph().map_err(text)?.with_drawn_weights(case);
            let graph = graph.map_err(text)?;
            agree(&graph)?;
            programs_agree(&graph, Jit::Auto)?;
            match case == seed {
                true => programs_agree(&graph, Jit::Always),
                false => Ok(()),
            }
        });
        tally.check(
            "drawn programs of devices",
            "launches",
            format!("SEED={case}"),
            || match case == seed {
                true => scripts_agree(case, Jit::Always, 20),
                false => scripts_agree(case, Jit::Auto, 60),
            },
        );
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
                let graph = graph.map_err(text)?;
                agree(&graph)?;
                programs_agree(&graph, Jit::Auto)
            },
        );
    }
}

/// The same graphs on ranks: GPUs, and one on threads.
pub(crate) fn run_on_ranks(seed: u64, quick: bool, tally: &mut Tally) {
    let shapes = if quick { 3 } else { SHAPES.len() as u64 };
    for case in seed..seed + shapes {
        tally.check("ranks", "mega", format!("SEED={case}"), || {
            let mut random = Random::new(case);
            let shape = SHAPES[case as usize % SHAPES.len()];
            let list = draw_graph(shape, 5_000, case.is_multiple_of(2), &mut random);
            let graph = list.graph().map_err(text)?.with_drawn_weights(case);
            ranks_agree(&graph.map_err(text)?)
        });
    }
    tally.check("a fault on a rank", "mega", String::new(), ranks_end);
    if quick {
        return;
    }
    for name in ["gen:rmat:16:16", "gen:grid:100", "gen:uniform:17:8"] {
        tally.check(
            "ranks of a generated graph",
            "mega",
            name.to_owned(),
            || {
                let graph = load(name, &LoadOptions::default(), None);
                let graph = graph.map_err(text)?.graph.with_drawn_weights(1);
                ranks_agree(&graph.map_err(text)?)
            },
        );
    }
}

/// The machines of ranks: a GPU each, as many as there are, and one with two threads.
fn machines() -> Result<Vec<Machine>, String> {
    let gpus = Devices::all_gpus().map_err(text)?.count();
    let gpus = (0..gpus).map(|number| Machine::gpu(Executor::Mega, number));
    Ok(gpus.chain([Machine::cpu(NonZeroUsize::new(2))]).collect())
}

/// Compares every analysis and shared program on ranks with that on a thread.
fn ranks_agree(graph: &Graph) -> Result<(), String> {
    for (request, wanted) in requests(graph)? {
        // GPUs and threads do not share these.
        let kind = request.analysis;
        if matches!(kind, AnalysisKind::Triangles | AnalysisKind::TriangleTotal) {
            let found = on_ranks(graph, &request)?;
            if !found
                .iter()
                .all(|found| matches!(found, Err(RunError::CannotSplit { .. })))
            {
                return Err(format!("{kind} on unlike ranks is not refused"));
            }
            continue;
        }
        let found = on_ranks(graph, &request)?;
        for (rank, found) in found.into_iter().enumerate() {
            let found = found.map_err(text)?;
            if (&found.values, &found.answer) != (&wanted.values, &wanted.answer) {
                return Err(format!("{kind} on rank {rank} differs from a thread"));
            }
        }
    }
    Ok(())
}

fn on_ranks(
    graph: &Graph,
    request: &RunRequest,
) -> Result<Vec<Result<RunOutcome, RunError>>, String> {
    let machines = machines()?;
    Ok(each(Threads::all(machines.len() as u32), |rank| {
        let request = request.clone().on(machines[rank.rank as usize]);
        let canceller = Canceller::default();
        execute_on_ranks(graph, &request, rank, 2, &canceller, &mut |_| ())
    }))
}

/// A time budget that is too short on all ranks ends all, and soon.
fn ranks_end() -> Result<(), String> {
    let graph = load("gen:chain:100000", &LoadOptions::default(), None);
    let graph = graph.map_err(text)?.graph;
    let machines: Vec<Machine> = machines()?;
    let found = each(Threads::all(machines.len() as u32), |rank| {
        let mut machine = machines[rank.rank as usize];
        machine.time_budget_ns = 20_000_000;
        let request = RunRequest::new(AnalysisKind::Bfs, vec![0]).on(machine);
        let canceller = Canceller::default();
        execute_on_ranks(&graph, &request, rank, 2, &canceller, &mut |_| ())
    });
    match found.iter().all(Result::is_err) {
        true => Ok(()),
        false => Err("a run ended well without the time for it".to_owned()),
    }
}

fn text(error: impl std::fmt::Display) -> String {
    error.to_string()
}

/// Every analysis of several devices, and its outcome on a thread.
fn requests(graph: &Graph) -> Result<Vec<(RunRequest, RunOutcome)>, String> {
    let mut requests = Vec::new();
    for kind in ANALYSES {
        let facts = kind.facts();
        if facts.is_undirected && !graph.is_symmetric() || graph.nodes() == 0 {
            continue;
        }
        let sources = match kind {
            AnalysisKind::Closeness | AnalysisKind::Eccentricity => graph.nodes().min(200),
            _ => u32::from(facts.takes_sources),
        };
        let sources: Vec<u32> = (0..sources).collect();
        for weighted in [false, true] {
            if weighted && !facts.follows_weights {
                continue;
            }
            let mut request = RunRequest::new(kind, sources.clone());
            request.weighted = weighted;
            let one = request.clone().on(Machine::cpu(NonZeroUsize::new(1)));
            let wanted = run::execute(graph, &one).map_err(text)?;
            request.repeat = NonZeroU32::new(2).unwrap_or(NonZeroU32::MIN);
            requests.push((request, wanted));
        }
    }
    Ok(requests)
}

/// Compares every analysis on one GPU and on all with that on a thread.
fn agree(graph: &Graph) -> Result<(), String> {
    let all = Devices::all_gpus().map_err(text)?;
    for (request, wanted) in requests(graph)? {
        for devices in [&Devices::gpus(vec![0]), &all] {
            let found = execute(graph, &request, devices).map_err(text)?;
            if (&found.values, &found.answer) != (&wanted.values, &wanted.answer) {
                let kind = request.analysis;
                return Err(format!("{kind} on {devices:?} differs from a thread"));
            }
        }
    }
    Ok(())
}

/// Compares every shared program on one GPU and on all, twice, with that on a thread; gathered floats,
/// of which a GPU may have other last bits, with one launched on a GPU.
fn programs_agree(graph: &Graph, jit: Jit) -> Result<(), String> {
    let all = Devices::all_gpus().map_err(text)?;
    let mut on = Machine::auto();
    on.jit = jit;
    for (name, build) in PROGRAMS {
        let (program, results) = build(graph).map_err(text)?;
        let (program, _) = program.encode(&PlanRequest::default()).map_err(text)?;
        let words = |session: &mut ProgramSession<'_>| {
            session.run().map_err(text)?;
            let read = results.iter().map(|register| {
                let mut words = Vec::new();
                session.read(*register, &mut words).map_err(text)?;
                Ok(words)
            });
            read.collect::<Result<Vec<_>, String>>()
        };
        let mut machine = match name {
            "ranks" => Machine::gpu(Executor::Launches, 0),
            _ => Machine::cpu(NonZeroUsize::new(1)),
        };
        // Machine code has smaller blocks, and so sums of its own.
        machine.jit = jit;
        let mut one = ProgramSession::open(graph, &machine).map_err(text)?;
        one.load(&program).map_err(text)?;
        let wanted = words(&mut one)?;
        // One GPU may have two parts.
        for devices in [&Devices::gpus(vec![0]), &Devices::gpus(vec![0, 0]), &all] {
            let session = open_session(graph, &on, devices).map_err(text)?;
            let mut session = ProgramSession::over(session);
            session.load(&program).map_err(text)?;
            for run in 1..=2 {
                if words(&mut session)? != wanted {
                    return Err(format!(
                        "run {run} of {name} on {devices:?}, {jit:?}, differs from that on one machine"
                    ));
                }
            }
        }
    }
    Ok(())
}

/// Compares `count` drawn programs that devices share with the interpreter, on all GPUs.
fn scripts_agree(seed: u64, jit: Jit, count: u32) -> Result<(), String> {
    let all = Devices::all_gpus().map_err(text)?;
    let mut random = Random::new(seed);
    let shape = SHAPES[seed as usize % SHAPES.len()];
    let list = draw_graph(shape, 2_000, seed.is_multiple_of(2), &mut random);
    let graph = list.graph().map_err(text)?;
    let mut on = Machine::auto();
    on.jit = jit;
    let mut session = open_session(&graph, &on, &all).map_err(text)?;
    for _ in 0..count {
        let limits = Limits {
            nodes: list.nodes,
            waves: 2,
            words: 4_000,
        };
        let script = draw::draw(limits, &mut random);
        let assembled = script.assemble(&list).map_err(text)?;
        let (program, _) = assembled
            .program
            .encode(&PlanRequest::default())
            .map_err(text)?;
        if refusal(&program).is_none() {
            run_script(session.as_mut(), &list, &script, 2)
                .map_err(|error| format!("{error}\n{:#?}", script.waves))?;
        }
    }
    Ok(())
}
