//! Waves of another crate, those of `examples/own-wave`, on a GPU and on the CPU.

use super::tally::Tally;
use own_wave::{Cool, Differ, Heat, Lower, Spread};
use seawall::backend::batch::{BatchSession, Job};
use seawall::backend::cpu::CpuSession;
use seawall::backend::cuda::{self, CudaBatch, CudaOptions, Executor, LoopNodes};
use seawall::backend::{BackendError, RunLimits, Session};
use seawall::graph::Graph;
use seawall::own::OwnWaves;
use seawall::program::{Call, EncodedProgram, PlanRequest, ProgramBuilder, ProgramError};
use seawall::program::{ComponentStep, RegisterId};
use seawall::service::On;
use seawall_oracles::graphs::{SHAPES, draw};
use seawall_oracles::random::Random;
use seawall_oracles::serving::opcodes;
use std::path::Path;
use std::sync::Arc;

/// Time of a run; a checker slows kernels down a hundredfold.
const PATIENCE_NS: u64 = 120_000_000_000;

/// Runs the checks of `executor` with the PTX of `folder`; two cases under a checker.
pub(crate) fn run(
    executor: Executor,
    name: &'static str,
    folder: &Path,
    seed: u64,
    quick: bool,
    tally: &mut Tally,
) {
    let waves = OwnWaves::of::<Heat>();
    let cases = if quick { 2 } else { 2 * SHAPES.len() as u64 };
    for case in seed..seed + cases {
        tally.check("custom waves", name, format!("SEED={case}"), || {
            let waves = waves.clone().with_ptx_in(folder).map_err(text)?;
            agrees(executor, quick, &waves, case)
        });
    }
    tally.check("custom waves without PTX", name, "no seed", || {
        refused(executor, &waves)
    });
}

/// Runs a batch with the PTX of `folder`.
pub(crate) fn batches(folder: &Path, seed: u64, tally: &mut Tally) {
    tally.check(
        "custom waves in a batch",
        "mega",
        format!("SEED={seed}"),
        || {
            let waves = OwnWaves::of::<Heat>().with_ptx_in(folder).map_err(text)?;
            batch(&waves, seed)
        },
    );
}

/// Runs a service with the PTX of `folder`.
pub(crate) fn services(folder: &Path, seed: u64, tally: &mut Tally) {
    tally.check(
        "custom waves in a service",
        "service",
        format!("SEED={seed}"),
        || {
            let waves = OwnWaves::of::<Heat>().with_ptx_in(folder).map_err(text)?;
            opcodes::check(On::gpu(0), &waves, seed)
        },
    );
}

fn text(error: impl std::fmt::Display) -> String {
    error.to_string()
}

fn graph_of(seed: u64) -> Result<Graph, String> {
    let mut random = Random::new(seed);
    let shape = SHAPES[seed as usize % SHAPES.len()];
    draw(shape, 3000, true, &mut random).graph().map_err(text)
}

/// Custom waves in a chain that is joined, in a fixpoint, and among built-in ones.
fn program(
    nodes: u32,
    waves: &OwnWaves,
) -> Result<(EncodedProgram, [RegisterId; 2]), ProgramError> {
    let mut program = ProgramBuilder::new(nodes);
    program.use_waves(waves);
    let mut words = |name| program.words(name, nodes.into());
    let [heat, spread, next, labels] = [
        words("heat")?,
        words("spread")?,
        words("next")?,
        words("labels")?,
    ];
    let differ = program.words("differ", 1)?;
    program.iota("begin", heat);
    for _ in 0..9 {
        program.own::<Cool>("cool", Call::to(next).first(heat).with([3]));
        program.own::<Cool>("cool again", Call::to(heat).first(next).with([5]));
    }
    program.fixpoint("until it settles", 200, |body| {
        body.own::<Spread>("spread", Call::to(spread).first(heat));
        body.own::<Cool>("cool", Call::to(next).first(spread).with([6]));
        body.fill("no difference", differ, 0);
        let call = Call::to(differ).first(heat).second(next).with([4]);
        body.own::<Differ>("differ", call);
        body.copy("go on", heat, next);
    });
    program.iota("number", labels);
    program.components("link", ComponentStep::Link, labels);
    program.fixpoint("least labels", u32::MAX, |body| {
        body.own::<Lower>("lower", Call::to(labels));
    });
    for kept in [heat, labels] {
        program.keep(kept);
    }
    let (encoded, _) = program.encode(&PlanRequest::default())?;
    Ok((encoded, [heat, labels]))
}

fn results(
    session: &mut dyn Session,
    program: &EncodedProgram,
    kept: [RegisterId; 2],
) -> Result<[Vec<u32>; 2], String> {
    session.load(program).map_err(text)?;
    session.run(&[]).map_err(text)?;
    let mut found = [Vec::new(), Vec::new()];
    for (register, words) in kept.into_iter().zip(&mut found) {
        session.read(register, words).map_err(text)?;
    }
    Ok(found)
}

fn agrees(executor: Executor, quick: bool, waves: &OwnWaves, seed: u64) -> Result<(), String> {
    let graph = graph_of(seed)?;
    let (program, kept) = program(graph.nodes(), waves).map_err(text)?;
    let mut cpu = CpuSession::open(&graph, None, RunLimits::default()).map_err(text)?;
    let wanted = results(&mut cpu, &program, kept)?;
    let mut options = CudaOptions {
        limits: RunLimits {
            time_budget_ns: PATIENCE_NS,
        },
        ..CudaOptions::default()
    };
    if quick {
        (options.blocks, options.lanes) = (Some(3), Some(64));
        // `compute-sanitizer` does not follow conditional nodes.
        options.loops = Some(LoopNodes::Unrolled);
    }
    let mut gpu = cuda::open(executor, &graph, options).map_err(text)?;
    for run in 1..=2 {
        if results(&mut *gpu, &program, kept)? != wanted {
            return Err(format!("run {run} differs from the CPU"));
        }
    }
    Ok(())
}

/// A program whose waves have no PTX is refused at load.
fn refused(executor: Executor, waves: &OwnWaves) -> Result<(), String> {
    let graph = graph_of(0)?;
    let (program, _) = program(graph.nodes(), waves).map_err(text)?;
    let mut gpu = cuda::open(executor, &graph, CudaOptions::default()).map_err(text)?;
    match gpu.load(&program) {
        Err(BackendError::NoPtx { .. }) => Ok(()),
        other => Err(format!("expected a refusal, got {other:?}")),
    }
}

fn batch(waves: &OwnWaves, seed: u64) -> Result<(), String> {
    let graphs: Vec<Graph> = (seed..seed + 20).map(graph_of).collect::<Result<_, _>>()?;
    let mut jobs = Vec::new();
    let mut wanted = Vec::new();
    for graph in &graphs {
        let (program, kept) = program(graph.nodes(), waves).map_err(text)?;
        let mut cpu = CpuSession::open(graph, None, RunLimits::default()).map_err(text)?;
        let [heat, _] = results(&mut cpu, &program, kept)?;
        wanted.push(heat);
        jobs.push(Job {
            graph,
            program: Arc::new(program),
            inputs: Vec::new(),
            result: kept[0],
        });
    }
    let mut batch = CudaBatch::open(&jobs, CudaOptions::default()).map_err(text)?;
    batch.run().map_err(text)?;
    if batch.read().map_err(text)? == wanted {
        return Ok(());
    }
    Err("the batch differs from the CPU".to_owned())
}
