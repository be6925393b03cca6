//! Machine code of waves in batches, services and launches on a GPU: the words, faults and reports.

use crate::tally::Tally;
use seawall::analysis::{self, AnalysisKind, Question};
use seawall::backend::batch::cpu::CpuBatch;
use seawall::backend::batch::{BatchError, BatchSession, BatchStats, Job};
use seawall::backend::cuda::{CudaBatch, CudaOptions, CudaSession, Executor};
use seawall::backend::{BackendError, CodeReport, RunLimits, Session as _};
use seawall::executor::Jit;
use seawall::graph::{Form, Graph, Parallel};
use seawall::program::{Edges, EncodedProgram, Join, Kind, Over, ProgramBuilder};
use seawall::service::{Config, On, Program, Query, Reply, Service, Span};
use seawall_core::abi::control::FaultCode;
use seawall_oracles::batches::job;
use seawall_oracles::composed::{COMPOSED, run_composed};
use seawall_oracles::random::Random;
use std::sync::Arc;
use std::time::{Duration, Instant};

const NAME: &str = "batch";

/// Analyses whose words are the same in any order of items.
const ORDERLESS: [AnalysisKind; 5] = [
    AnalysisKind::Widest,
    AnalysisKind::Mis,
    AnalysisKind::Colouring,
    AnalysisKind::Scc,
    AnalysisKind::Msf,
];

/// Longest time until a batch that runs again and again has machine code.
const PATIENCE: Duration = Duration::from_secs(120);

/// Runs batches, launches and a service with machine code.
pub(crate) fn run(seed: u64, quick: bool, tally: &mut Tally) {
    let repeat = format!("SEED={seed}");
    let lanes: &[Option<u32>] = match quick {
        true => &[Some(64)],
        false => &[None, Some(32), Some(256), Some(1024)],
    };
    for lanes in lanes {
        let what = format!("lanes {lanes:?}, {repeat}");
        tally.check("batches of many programs of code", NAME, &what, || {
            many_programs(seed, *lanes)
        });
    }
    tally.check("a batch of code and other waves", NAME, &repeat, mixed);
    tally.check("faults of code in batches", NAME, &repeat, faults);
    tally.check(
        "a batch of code beyond its memory",
        NAME,
        &repeat,
        over_budget,
    );
    for (executor, name) in [(Executor::Launches, "launches"), (Executor::Graph, "graph")] {
        tally.check("launches of machine code", name, &repeat, || {
            launches(executor)
        });
    }
    tally.check("a service of code", "service", &repeat, serve);
    if !quick {
        tally.check("a batch compiled beside its runs", NAME, &repeat, beside);
    }
}

fn text(error: impl std::fmt::Display) -> String {
    error.to_string()
}

fn options(jit: Jit) -> CudaOptions {
    CudaOptions {
        jit,
        ..CudaOptions::default()
    }
}

fn code_of(stats: &BatchStats) -> Result<&CodeReport, String> {
    stats.code.as_ref().ok_or("no report of code".to_owned())
}

/// Whether all waves of code ran as machine code.
fn check_compiled(stats: &BatchStats) -> Result<(), String> {
    let code = code_of(stats)?;
    match (code.waves > 0, code.compiled == code.waves, &code.reason) {
        (true, true, None) => Ok(()),
        _ => Err(format!("{code:?}")),
    }
}

/// Every analysis of code on graphs of several sizes in one batch, compared with its interpreter on
/// the GPU, with threads, and with what it must find.
fn many_programs(seed: u64, lanes: Option<u32>) -> Result<(), String> {
    let mut random = Random::new(seed);
    let read = [60, 400, 60, 2500].map(|nodes| {
        let edges = (0..5 * nodes).map(|_| (random.below(nodes), random.below(nodes)));
        let edges = edges.map(|(from, to)| (from, to, 1 + (from ^ to) % 9));
        let edges: Vec<_> = edges.filter(|(from, to, _)| from != to).collect();
        Graph::from_weighted_edges(nodes, &edges, true).unwrap()
    });
    let mut members = Vec::new();
    for graph in &read {
        let graph = graph.form(Form::simple(Parallel::Least)).map_err(text)?;
        // With all edges in both directions, strong components are components, which are no code.
        for kind in COMPOSED
            .into_iter()
            .filter(|kind| *kind != AnalysisKind::Scc)
        {
            let built = analysis::build(kind, graph, &Question::new(vec![3])).map_err(text)?;
            members.push((kind, built.reading, job(graph, &built)?));
        }
    }
    let jobs: Vec<Job<'_>> = members.iter().map(|member| member.2.clone()).collect();
    let mut threads = CpuBatch::open(&jobs, None, RunLimits::default(), None)
        .map_err(text)?
        .with_jit(Jit::Never);
    threads.run().map_err(text)?;
    let wanted = threads.read().map_err(text)?;
    for jit in [Jit::Never, Jit::Always] {
        let asked = CudaOptions {
            lanes,
            ..options(jit)
        };
        let mut batch = CudaBatch::open(&jobs, asked).map_err(text)?;
        for run in 0..3 {
            let stats = batch.run().map_err(text)?;
            match jit {
                Jit::Always => check_compiled(&stats)?,
                _ => check_reason(&stats, "not asked for")?,
            }
            let found = batch.read().map_err(text)?;
            for (at, (kind, _, job)) in members.iter().enumerate() {
                if ORDERLESS.contains(kind) && found[at] != wanted[at] {
                    let nodes = job.graph.nodes();
                    return Err(format!("{kind} on {nodes} nodes, run {run}, {jit:?}"));
                }
            }
            check_all(&members, &stats, &found)?;
        }
    }
    Ok(())
}

fn check_reason(stats: &BatchStats, reason: &str) -> Result<(), String> {
    let code = code_of(stats)?;
    let is_reason = code.reason.as_deref().is_some_and(|it| it.contains(reason));
    match code.compiled == 0 && is_reason {
        true => Ok(()),
        false => Err(format!("{code:?}, expected: {reason}")),
    }
}

/// Checks the result of every graph by the rules of its analysis.
fn check_all(
    members: &[(AnalysisKind, analysis::Reading, Job<'_>)],
    stats: &BatchStats,
    found: &[Vec<u32>],
) -> Result<(), String> {
    let question = Question::new(vec![3]);
    for (at, (kind, reading, job)) in members.iter().enumerate() {
        let control = &stats.controls[at];
        let loops = &control.loops[..control.loops_done as usize];
        let end = analysis::End {
            iterations: loops.iter().map(|ended| ended.iterations).sum(),
            converged: loops.iter().all(|ended| ended.converged != 0),
        };
        let values = reading.column(job.graph.nodes(), found[at].clone());
        let case = analysis::Case {
            graph: job.graph,
            question: &question,
            end,
        };
        let output = analysis::AnalysisOutput {
            values: &values,
            parents: None,
        };
        if !kind.definition().check(&case, output) {
            return Err(format!("{kind} found what it must not"));
        }
    }
    Ok(())
}

/// A batch of which one program runs other waves too is interpreted, and says why.
fn mixed() -> Result<(), String> {
    let graph = star();
    let built = |kind| analysis::build(kind, &graph, &Question::new(vec![0])).map_err(text);
    let jobs = [AnalysisKind::Mis, AnalysisKind::Pagerank].map(|kind| job(&graph, &built(kind)?));
    let jobs = jobs.into_iter().collect::<Result<Vec<_>, _>>()?;
    let mut batch = CudaBatch::open(&jobs, options(Jit::Always)).map_err(text)?;
    let stats = batch.run().map_err(text)?;
    check_reason(&stats, "other waves")
}

/// A star of edges in both directions.
fn star() -> Graph {
    let edges: Vec<(u32, u32)> = (1..2000).map(|leaf| (0, leaf)).collect();
    Graph::from_edges(2000, &edges, true).unwrap()
}

/// Sums over neighbours, `rounds` times.
fn sums(nodes: u32, rounds: u32) -> Result<EncodedProgram, String> {
    let mut program = ProgramBuilder::new(nodes);
    let old = program.per_node("old", Kind::U32).map_err(text)?;
    let new = program.per_node("new", Kind::U32).map_err(text)?;
    program.iota("number", old);
    program.fixpoint("again", rounds, |body| {
        body.each("sum", Over::Nodes, |node| {
            let sum = node.gather(Edges::Out, Join::Sum, |edge| edge.there(old));
            node.store(new, sum);
            node.changed(1);
        });
        body.each("take over", Over::Nodes, |node| {
            node.store(old, node.load(new))
        });
    });
    program.keep(old);
    Ok(program.encode(&Default::default()).map_err(text)?.0)
}

/// A wave that reads a register at twice the number of a node.
fn outside(nodes: u32) -> Result<EncodedProgram, String> {
    let mut program = ProgramBuilder::new(nodes);
    let old = program.per_node("old", Kind::U32).map_err(text)?;
    program.iota("number", old);
    let new = program.per_node("new", Kind::U32).map_err(text)?;
    program.each("look outside", Over::Nodes, |node| {
        let twice = node.load(old) * 2;
        node.store(new, node.at(old, twice));
    });
    program.keep(new);
    Ok(program.encode(&Default::default()).map_err(text)?.0)
}

fn job_of(graph: &Graph, program: EncodedProgram, result: u32) -> Result<Job<'_>, String> {
    let result = program.register(result).ok_or("no such register")?;
    Ok(Job {
        graph,
        program: Arc::new(program),
        inputs: Vec::new(),
        result,
    })
}

/// An index out of range, and rounds without an end: the same faults as interpreted, of the same
/// graph, and a batch without that graph is right.
fn faults() -> Result<(), String> {
    let graph = star();
    let nodes = graph.nodes();
    let limits = RunLimits {
        time_budget_ns: 300_000_000,
    };
    for (bad, result, code, name) in [
        (outside(nodes)?, 1, FaultCode::BadIndex, "look outside"),
        (sums(nodes, u32::MAX)?, 0, FaultCode::TimeBudget, "again"),
    ] {
        for jit in [Jit::Never, Jit::Always] {
            let good = |_| job_of(&graph, sums(nodes, 5)?, 0);
            let mut jobs = (0..8).map(good).collect::<Result<Vec<_>, _>>()?;
            let asked = CudaOptions {
                limits,
                ..options(jit)
            };
            let mut batch = CudaBatch::open(&jobs, asked).map_err(text)?;
            batch.run().map_err(text)?;
            let wanted = batch.read().map_err(text)?;
            drop(batch);
            jobs.insert(4, job_of(&graph, bad.clone(), result)?);
            let mut batch = CudaBatch::open(&jobs, asked).map_err(text)?;
            match batch.run() {
                Err(BatchError::Job {
                    index: 4,
                    source:
                        BackendError::Fault {
                            record, wave_name, ..
                        },
                }) if FaultCode::from_word(record.code) == code && wave_name.contains(name) => {}
                other => return Err(format!("{jit:?}: {:?}", other.map(|stats| stats.run_ns))),
            }
            drop(batch);
            jobs.remove(4);
            let mut batch = CudaBatch::open(&jobs, asked).map_err(text)?;
            let stats = batch.run().map_err(text)?;
            if jit == Jit::Always {
                check_compiled(&stats)?;
            }
            if batch.read().map_err(text)? != wanted {
                return Err(format!("{jit:?}: the batch after the fault differs"));
            }
        }
    }
    Ok(())
}

/// Memory is refused as for other batches.
fn over_budget() -> Result<(), String> {
    let graph = star();
    let jobs = [job_of(&graph, sums(graph.nodes(), 5)?, 0)?];
    let asked = CudaOptions {
        budget_bytes: Some(1000),
        ..options(Jit::Always)
    };
    match CudaBatch::open(&jobs, asked) {
        Err(BatchError::Backend(BackendError::OutOfMemory { .. })) => Ok(()),
        other => Err(format!("{:?}", other.map(|batch| batch.shape()))),
    }
}

/// Words and counts of rounds by launches of machine code, with loops of both kinds, and what is
/// reported.
fn launches(executor: Executor) -> Result<(), String> {
    let graph = star();
    let program = sums(graph.nodes(), 7)?;
    let result = program.register(0).ok_or("no such register")?;
    let mut wanted = Vec::new();
    for jit in [Jit::Never, Jit::Always] {
        let mut session = CudaSession::open(executor, &graph, options(jit)).map_err(text)?;
        session.load(&program).map_err(text)?;
        for _ in 0..3 {
            let stats = session.run(&[]).map_err(text)?;
            let code = stats.code.ok_or("no report of code")?;
            if (code.compiled == code.waves) != (jit == Jit::Always) {
                return Err(format!("{jit:?}: {code:?}"));
            }
            let mut found = Vec::new();
            session.read(result, &mut found).map_err(text)?;
            if wanted.is_empty() {
                wanted.clone_from(&found);
            }
            if found != wanted {
                return Err(format!("{jit:?}: words differ"));
            }
        }
        for kind in [AnalysisKind::Mis, AnalysisKind::Colouring] {
            run_composed(&mut session, &graph, kind, &[]).map_err(text)?;
        }
        session.load(&outside(graph.nodes())?).map_err(text)?;
        match session.run(&[]) {
            Err(BackendError::Fault { record, .. })
                if FaultCode::from_word(record.code) == FaultCode::BadIndex => {}
            other => return Err(format!("{jit:?}: {:?}", other.map(|stats| stats.run_ns))),
        }
    }
    Ok(())
}

/// Two programs of a service, whose workers run one after the other.
fn serve() -> Result<(), String> {
    let graph = Arc::new(star());
    let nodes = graph.nodes();
    let mut wanted: Option<Vec<Vec<u32>>> = None;
    for jit in [Jit::Never, Jit::Always] {
        let programs = [5, 8].map(|rounds| {
            let program = sums(nodes, rounds)?;
            let result = program.register(0).ok_or("no such register")?;
            Ok::<_, String>(Program::new(Arc::new(program), result))
        });
        let config = Config {
            on: On::Gpu { device: 0 },
            jit,
            programs: programs.into_iter().collect::<Result<_, _>>()?,
            ..Config::default()
        };
        let service = Service::start(Arc::clone(&graph), config).map_err(text)?;
        let client = service.client(1).ok_or("no client")?;
        let mut found = Vec::new();
        for program in [0, 1, 0] {
            let to = Span {
                address: 0,
                words: nodes,
            };
            let query = Query::Run {
                program,
                inputs: Span::default(),
                to,
            };
            let ticket = client.submit(query).map_err(text)?;
            let reply = ticket.wait(None).map_err(text)?.reply;
            if !matches!(reply, Reply::Written { words, .. } if words == nodes) {
                return Err(format!("{jit:?}: {reply:?}"));
            }
            let mut words = vec![0; nodes as usize];
            client.read(0, &mut words).map_err(text)?;
            found.push(words);
        }
        let code = service.stats().code.ok_or("no report of code")?;
        if (code.compiled == code.waves) != (jit == Jit::Always) {
            return Err(format!("{jit:?}: {code:?}"));
        }
        if found[0] != found[2] || *wanted.get_or_insert_with(|| found.clone()) != found {
            return Err(format!("{jit:?}: words differ"));
        }
    }
    Ok(())
}

/// Runs that have taken long have machine code made beside them, or take what was kept, and go on
/// with the same words.
fn beside() -> Result<(), String> {
    let graph = star();
    let jobs = [(5000, 0), (5001, 0), (5002, 0)];
    let jobs = jobs.map(|(rounds, result)| job_of(&graph, sums(graph.nodes(), rounds)?, result));
    let jobs = jobs.into_iter().collect::<Result<Vec<_>, _>>()?;
    let mut batch = CudaBatch::open(&jobs, options(Jit::Auto)).map_err(text)?;
    let started = Instant::now();
    let mut wanted = None;
    while started.elapsed() < PATIENCE {
        let stats = batch.run().map_err(text)?;
        let found = batch.read().map_err(text)?;
        if *wanted.get_or_insert_with(|| found.clone()) != found {
            return Err("words differ from those of the first run".to_owned());
        }
        if code_of(&stats)?.compiled > 0 {
            return check_compiled(&stats);
        }
    }
    Err("no machine code came".to_owned())
}
