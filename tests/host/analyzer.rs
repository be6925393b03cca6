//! A graph that is opened once for many requests, and runs that end early.

use proptest::prelude::*;
use seawall::backend::{BackendError, Canceller};
use seawall::batch::{self, BatchControl, BatchError, BatchGraph};
use seawall::graph::{Graph, LoadOptions, WeightChoice, load};
use seawall::outcome::RunOutcome;
use seawall::run::{
    AnalysisKind, Analyzer, Detail, Executor, Machine, Phase, RunError, RunRequest, execute,
};
use std::num::NonZeroUsize;
use std::sync::mpsc;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

fn graph(spec: &str) -> Graph {
    let options = LoadOptions {
        undirected: true,
        weights: WeightChoice::Given,
        ..LoadOptions::default()
    };
    load(spec, &options, None).unwrap().graph
}

fn cpu(threads: usize) -> Machine {
    Machine::cpu(NonZeroUsize::new(threads))
}

/// Parts of an outcome that do not depend on the time of the run.
fn found(outcome: &RunOutcome) -> impl PartialEq + std::fmt::Debug + use<> {
    (
        (
            outcome.analysis,
            outcome.values.clone(),
            outcome.parents.clone(),
        ),
        (
            outcome.sources.clone(),
            outcome.reached,
            outcome.answer.clone(),
        ),
        (
            outcome.converged,
            outcome.checked,
            outcome.plan,
            outcome.waves.len(),
        ),
    )
}

fn loads(outcome: &RunOutcome) -> usize {
    let events = outcome.events.iter();
    events.filter(|event| event.name == "load program").count()
}

/// A request: its analysis, a source, its detail, threads.
fn requests() -> impl Strategy<Value = Vec<(AnalysisKind, u32, bool, usize)>> {
    let kinds = prop::sample::select(AnalysisKind::ALL.to_vec());
    prop::collection::vec((kinds, 0..60_u32, any::<bool>(), 1..3_usize), 1..12)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn many_requests_in_a_row_are_answered_as_each_alone(asked in requests()) {
        let graph = graph("gen:uniform:6:2:3");
        let mut analyzer = Analyzer::new(&graph);
        for (analysis, source, has_detail, threads) in asked {
            let mut request = RunRequest::new(analysis, vec![source]).on(cpu(threads));
            request.check = true;
            if let ([detail, ..], true) = (analysis.facts().details, has_detail) {
                request.detail = *detail;
            }
            let together = analyzer.run(&request).unwrap();
            let alone = execute(&graph, &request).unwrap();
            prop_assert_eq!(together.checked, Some(true));
            prop_assert_eq!(found(&together), found(&alone));
        }
    }
}

#[test]
fn searches_from_other_sources_find_their_program_loaded() {
    let graph = graph("gen:grid:9");
    let mut analyzer = Analyzer::new(&graph);
    let mut run = |analysis, sources: &[u32]| {
        let request = RunRequest::new(analysis, sources.to_vec()).on(cpu(2));
        loads(&analyzer.run(&request).unwrap())
    };
    assert_eq!(run(AnalysisKind::Bfs, &[0]), 1);
    assert_eq!(run(AnalysisKind::Bfs, &[80]), 0);
    assert_eq!(run(AnalysisKind::Bfs, &[3, 4]), 1);
    assert_eq!(run(AnalysisKind::Cc, &[]), 1);
    assert_eq!(run(AnalysisKind::Cc, &[]), 0);
}

#[test]
fn a_request_for_another_machine_opens_it_and_a_wrong_one_changes_nothing() {
    let graph = graph("gen:grid:9");
    let mut analyzer = Analyzer::new(&graph);
    let bfs = |machine| RunRequest::new(AnalysisKind::Bfs, vec![0]).on(machine);
    let device = |outcome: RunOutcome| outcome.device;
    let one = device(analyzer.run(&bfs(cpu(1))).unwrap());
    let two = device(analyzer.run(&bfs(cpu(2))).unwrap());
    assert_eq!(
        (one.as_str(), two.as_str()),
        ("CPU, 1 thread", "CPU, 2 threads")
    );
    let mut wrong = bfs(cpu(2));
    wrong.detail = Detail::EachSource;
    let error = analyzer.run(&wrong).unwrap_err();
    assert!(matches!(error, RunError::WrongDetail { .. }), "{error}");
    let mut small = bfs(cpu(2));
    small.machine.budget_bytes = Some(1);
    assert!(analyzer.run(&small).is_err());
    let missing = bfs(Machine::gpu(Executor::Mega, u32::MAX));
    assert!(analyzer.run(&missing).is_err());
    assert_eq!(device(analyzer.run(&bfs(cpu(2))).unwrap()), two);
}

#[test]
fn a_run_under_way_ends_when_another_thread_cancels_it() {
    let graph = graph("gen:grid:128");
    for threads in [1, 2] {
        let mut analyzer = Analyzer::new(&graph);
        let (other, begun) = cancel_soon(analyzer.canceller());
        let mut long = endless(threads);
        let started = Instant::now();
        let ended = analyzer.run_with_progress(&long, &mut |phase| notify(phase, &begun));
        let error = ended.unwrap_err();
        assert!(
            matches!(error, RunError::Backend(BackendError::Cancelled)),
            "{error}"
        );
        assert!(
            started.elapsed() < Duration::from_secs(20),
            "{threads} threads"
        );
        other.join().unwrap();
        long.max_iterations = std::num::NonZeroU32::new(2);
        assert!(analyzer.run(&long).is_ok());
    }
}

#[test]
fn a_batch_under_way_ends_when_another_thread_cancels_it() {
    let graph = graph("gen:grid:128");
    let graphs: Vec<_> = (0..4)
        .map(|number| BatchGraph::new(format!("graph {number}"), &graph, Vec::new()))
        .collect();
    for threads in [1, 2] {
        let canceller = Canceller::default();
        let (other, begun) = cancel_soon(canceller.clone());
        let mut long = endless(threads);
        let started = Instant::now();
        let again = canceller.clone();
        let control = BatchControl {
            canceller,
            progress: Some(&mut |phase| notify(phase, &begun)),
            ..BatchControl::default()
        };
        let ended = batch::execute_with(&graphs, &long, control);
        let error = ended.unwrap_err();
        assert!(
            matches!(
                error,
                BatchError::Run(RunError::Backend(BackendError::Cancelled))
            ),
            "{error}"
        );
        assert!(
            started.elapsed() < Duration::from_secs(20),
            "{threads} threads"
        );
        other.join().unwrap();
        long.max_iterations = std::num::NonZeroU32::new(2);
        let control = BatchControl {
            canceller: again,
            ..BatchControl::default()
        };
        assert!(batch::execute_with(&graphs, &long, control).is_ok());
    }
}

/// A request whose iterations would take a minute and more.
fn endless(threads: usize) -> RunRequest {
    let mut long = RunRequest::new(AnalysisKind::Pagerank, Vec::new()).on(cpu(threads));
    long.ranking.damping = 1.0 - f32::EPSILON;
    long.ranking.tolerance = 0.0;
    // On a grid, ranks need a very large number of iterations.
    long.max_iterations = std::num::NonZeroU32::new(1_000_000);
    long
}

/// A thread that cancels shortly after the run has begun.
fn cancel_soon(canceller: Canceller) -> (JoinHandle<()>, mpsc::Sender<()>) {
    let (begun, hear) = mpsc::channel();
    let other = std::thread::spawn(move || {
        hear.recv().unwrap();
        std::thread::sleep(Duration::from_millis(30));
        canceller.cancel();
    });
    (other, begun)
}

fn notify(phase: Phase, begun: &mpsc::Sender<()>) {
    if matches!(phase, Phase::Run { .. }) {
        begun.send(()).unwrap();
    }
}
