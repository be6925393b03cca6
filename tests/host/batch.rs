//! Batches on the CPU backend: against oracles, against runs of one graph, and with a bad graph
//! among good ones.

use crate::drawn::{choices, few, graphs};
use proptest::prelude::*;
use seawall::Cause;
use seawall::backend::batch::cpu::CpuBatch;
use seawall::backend::batch::{self as backend, BatchSession, Job};
use seawall::backend::{BackendError, RunLimits};
use seawall::batch::{BatchError, BatchGraph, execute};
use seawall::graph::Graph;
use seawall::program::EncodedProgram;
use seawall::run::{self, AnalysisKind, Executor, Machine, RunError, RunRequest};
use seawall_core::abi::control::FaultCode;
use seawall_core::abi::search::SearchPolicy;
use seawall_core::topology::Topology;
use seawall_oracles::batches::{self, ANALYSES, BatchOptions, Member, run_batch, run_scripts};
use seawall_oracles::faulty;
use seawall_oracles::random::Random;
use std::num::{NonZeroU32, NonZeroUsize};
use std::sync::Arc;

const THREADS: [usize; 3] = [1, 3, 8];

/// Graphs of different sizes, most of them small. All are undirected, as core numbers and triangles
/// need both directions of every edge.
fn members() -> impl Strategy<Value = Vec<Member>> {
    let member = prop_oneof![graphs(3), graphs(41), graphs(400)].prop_map(|(mut list, sources)| {
        list.undirected = true;
        Member { list, sources }
    });
    prop::collection::vec(member, 1..40)
}

fn limits(milliseconds: u64) -> RunLimits {
    RunLimits {
        time_budget_ns: milliseconds * 1_000_000,
    }
}

fn open<'g>(
    jobs: &[Job<'g>],
    threads: usize,
) -> Result<Box<dyn BatchSession + 'g>, backend::BatchError> {
    let threads = NonZeroUsize::new(threads);
    let batch = CpuBatch::open(jobs, threads, RunLimits::default(), None)?;
    Ok(Box::new(batch))
}

/// Runs a batch twice on `threads` threads.
fn on_threads(members: &[Member], asked: &BatchOptions, threads: usize) -> Result<(), String> {
    run_batch(|jobs| open(jobs, threads), members, asked, 2)
        .map_err(|error| format!("{threads} threads: {error}"))
}

proptest! {
    #![proptest_config(few(4))]

    #[test]
    fn every_graph_of_a_batch_equals_its_oracle(members in members()) {
        for analysis in ANALYSES {
            for threads in THREADS {
                let ran = on_threads(&members, &BatchOptions::new(analysis), threads);
                prop_assert!(ran.is_ok(), "{}: {}", analysis, ran.unwrap_err());
            }
        }
    }

    #[test]
    fn every_shape_of_search_works_in_one_block(members in members(), limit in 1..9_u32) {
        for topology in Topology::ALL {
            for (analysis, max_iterations) in [
                (AnalysisKind::Bfs, u32::MAX - 1),
                (AnalysisKind::Reach, limit),
            ] {
                let policy = SearchPolicy {
                    forced: topology as u32,
                    ..SearchPolicy::default()
                };
                let asked = BatchOptions { analysis, max_iterations, policy };
                let ran = on_threads(&members, &asked, 2);
                prop_assert!(ran.is_ok(), "{} {}: {}", topology, analysis, ran.unwrap_err());
            }
        }
    }

    #[test]
    fn any_program_of_a_batch_equals_the_interpreter(
        members in members(), mut random in choices(4000), threads in 1..5_usize,
    ) {
        let ran = run_scripts(|jobs| open(jobs, threads), &members, 300, &mut random);
        prop_assert!(ran.is_ok(), "{} threads: {}", threads, ran.unwrap_err());
    }

    #[test]
    fn a_batch_reports_the_same_as_each_graph_alone(mut members in members(), threads in 1..9_usize) {
        members.retain(|member| !member.sources.is_empty());
        prop_assume!(!members.is_empty());
        let graphs: Vec<Graph> = members.iter().map(weighted).collect();
        for analysis in ANALYSES {
            let machine = Machine::cpu(NonZeroUsize::new(threads));
            let mut request = RunRequest::new(analysis, Vec::new()).on(machine);
            request.check = true;
            let batch = execute(&named(&graphs, &members), &request).unwrap();
            prop_assert_eq!(batch.checked(), Some(true));
            prop_assert_eq!(batch.graphs.len(), graphs.len());
            for (at, (graph, found)) in graphs.iter().zip(&batch.graphs).enumerate() {
                request.sources.clone_from(&members[at].sources);
                let alone = run::execute(graph, &request).unwrap();
                prop_assert_eq!(&found.name, &at.to_string());
                prop_assert_eq!(&found.run.values, &alone.values);
                prop_assert_eq!(found.run.converged, alone.converged);
                prop_assert_eq!(found.run.reached, alone.reached);
                prop_assert_eq!((found.run.nodes, found.run.edges), (alone.nodes, alone.edges));
                if analysis == AnalysisKind::Bfs {
                    prop_assert_eq!(found.run.rounds, alone.rounds);
                }
            }
        }
    }
}

fn weighted(member: &Member) -> Graph {
    member.list.graph().unwrap().with_drawn_weights(3).unwrap()
}

fn named<'g>(graphs: &'g [Graph], members: &[Member]) -> Vec<BatchGraph<'g>> {
    let named = |(at, graph): (usize, &'g Graph)| {
        BatchGraph::new(at.to_string(), graph, members[at].sources.clone())
    };
    graphs.iter().enumerate().map(named).collect()
}

fn path(nodes: u32) -> Graph {
    let edges: Vec<_> = (1..nodes).map(|node| (node - 1, node)).collect();
    Graph::from_edges(nodes, &edges, false).unwrap()
}

fn request(analysis: AnalysisKind) -> RunRequest {
    RunRequest::new(analysis, Vec::new()).on(Machine::cpu(NonZeroUsize::new(2)))
}

#[test]
fn graphs_of_one_size_share_a_program() {
    let graphs: Vec<Graph> = [9, 9, 12, 9].map(path).into();
    let batch: Vec<_> = graphs
        .iter()
        .map(|graph| BatchGraph::new("path", graph, vec![0]))
        .collect();
    let outcome = execute(&batch, &request(AnalysisKind::Bfs)).unwrap();
    assert_eq!(outcome.programs, 2);
    assert_eq!(outcome.reached(), 39);
    assert_eq!(outcome.workers, 2);
}

#[test]
fn a_batch_without_graphs_is_refused() {
    let error = execute(&[], &request(AnalysisKind::Bfs)).unwrap_err();
    assert!(matches!(error, BatchError::Empty));
    assert_eq!(error.cause(), Cause::Request);
}

#[test]
fn graphs_unfit_for_an_analysis_are_named() {
    let (undirected, directed) = (
        Graph::from_edges(3, &[(0, 1)], true).unwrap(),
        Graph::from_edges(3, &[(0, 1)], false).unwrap(),
    );
    let batch = [
        BatchGraph::new("good", &undirected, vec![0]),
        BatchGraph::new("bad", &directed, vec![0]),
    ];
    for (analysis, remedy) in [
        (AnalysisKind::Kcore, "both directions"),
        (AnalysisKind::Sssp, "weights"),
    ] {
        let error = execute(&batch, &request(analysis)).unwrap_err();
        let name = if analysis == AnalysisKind::Kcore {
            "bad"
        } else {
            "good"
        };
        let text = error.to_string();
        assert!(text.starts_with(&format!("{name}: ")), "{text}");
        assert!(text.contains(remedy), "{text}");
        assert_eq!(error.cause(), Cause::Request);
    }
}

#[test]
fn executors_that_launch_each_group_refuse_a_batch() {
    let graph = path(3);
    let batch = [BatchGraph::new("path", &graph, vec![0])];
    for executor in [Executor::Launches, Executor::Graph] {
        let mut request = request(AnalysisKind::Bfs);
        request.machine = Machine::gpu(executor, 0);
        let error = execute(&batch, &request).unwrap_err();
        assert!(error.to_string().contains("use mega or cpu"), "{error}");
        assert_eq!(error.cause(), Cause::Request);
    }
}

#[test]
fn a_budget_bounds_all_graphs_together() {
    let graphs: Vec<Graph> = (0..50).map(|_| path(1000)).collect();
    let batch: Vec<_> = graphs
        .iter()
        .map(|graph| BatchGraph::new("path", graph, vec![0]))
        .collect();
    let mut request = request(AnalysisKind::Bfs);
    request.machine.budget_bytes = Some(100_000);
    let error = execute(&batch, &request).unwrap_err();
    let BatchError::Run(RunError::OverBudget { needed_bytes, .. }) = error else {
        panic!("{error}")
    };
    assert_eq!(error.cause(), Cause::Request);
    request.machine.budget_bytes = Some(needed_bytes);
    let outcome = execute(&batch, &request).unwrap();
    assert_eq!((outcome.workers, outcome.reached()), (1, 50_000));
    assert!(outcome.memory_bytes <= needed_bytes);
}

#[test]
fn an_iteration_limit_holds_for_every_graph() {
    let graphs: Vec<Graph> = [3, 30].map(path).into();
    let batch: Vec<_> = graphs
        .iter()
        .map(|graph| BatchGraph::new("path", graph, vec![0]))
        .collect();
    let mut request = request(AnalysisKind::Bfs);
    request.max_iterations = NonZeroU32::new(5);
    request.check = true;
    let outcome = execute(&batch, &request).unwrap();
    let ends: Vec<_> = outcome
        .graphs
        .iter()
        .map(|g| (g.run.converged, g.run.reached))
        .collect();
    assert_eq!(ends, [(true, 3), (false, 6)]);
    assert_eq!(
        (outcome.converged(), outcome.checked()),
        (false, Some(true))
    );
}

/// Runs a batch of `programs` on bare graphs; returns the result of its first run.
fn run_programs(programs: &[EncodedProgram], threads: usize) -> Result<(), backend::BatchError> {
    let graph = Graph::from_edges(faulty::NODES, &[], false).unwrap();
    let job = |program: &EncodedProgram| Job {
        graph: &graph,
        program: Arc::new(program.clone()),
        inputs: Vec::new(),
        result: program.register(0).unwrap(),
    };
    let jobs: Vec<_> = programs.iter().map(job).collect();
    let mut batch = CpuBatch::open(&jobs, NonZeroUsize::new(threads), limits(200), None)?;
    batch.run().map(|_| ())
}

#[test]
fn the_graph_that_faults_is_named_with_its_wave() {
    let plain = faulty::plain().unwrap();
    for (bad, code, name) in [
        (faulty::endless(), FaultCode::TimeBudget, faulty::ENDLESS),
        (
            faulty::broken(Some(9_999), None),
            FaultCode::UnknownOpcode,
            faulty::COPY,
        ),
        (
            faulty::broken(None, Some(77)),
            FaultCode::BadRegister,
            faulty::COPY,
        ),
    ] {
        let bad = bad.unwrap();
        for threads in [1, 3] {
            let programs = [plain.clone(), plain.clone(), bad.clone(), plain.clone()];
            let error = run_programs(&programs, threads).unwrap_err();
            let backend::BatchError::Job { index, source } = error else {
                panic!("{error}")
            };
            let BackendError::Fault {
                record, wave_name, ..
            } = source
            else {
                panic!("{source}")
            };
            assert_eq!((index, wave_name.as_str()), (2, name));
            assert_eq!(FaultCode::from_word(record.code), code);
        }
    }
}

#[test]
fn a_search_that_faults_is_named_with_its_wave() {
    let graph = path(5000);
    let jobs = [batches::short_frontier(&graph).unwrap()];
    let error = open(&jobs, 1).unwrap().run().unwrap_err();
    let text = error.to_string();
    assert!(
        text.contains("graph 0 of the batch") && text.contains("reset frontier"),
        "{text}"
    );
}

#[test]
fn a_register_moved_to_the_results_keeps_its_words() {
    let graph = Graph::from_edges(faulty::NODES, &[], false).unwrap();
    let program = faulty::plain().unwrap();
    let job = Job {
        graph: &graph,
        inputs: Vec::new(),
        result: faulty::total(&program),
        program: Arc::new(program),
    };
    let jobs = vec![job; 5];
    let mut batch = CpuBatch::open(&jobs, NonZeroUsize::new(2), limits(60_000), None).unwrap();
    for _ in 0..3 {
        batch.run().unwrap();
        assert_eq!(batch.read().unwrap(), vec![vec![faulty::SUM]; 5]);
    }
}

#[test]
fn a_batch_moves_what_was_predicted_for_it() {
    let mut random = Random::new(16);
    for (count, kind) in (1..).zip(AnalysisKind::ALL) {
        let graphs: Vec<Graph> = batches::members(3 * count, 60 * count, &mut random)
            .iter()
            .map(|member| member.list.graph().unwrap().with_drawn_weights(3).unwrap())
            .collect();
        let started = |graph: &Graph| vec![0; usize::from(graph.nodes() > 0)];
        let named: Vec<_> = graphs
            .iter()
            .filter(|graph| graph.nodes() > 0)
            .map(|graph| BatchGraph::new("drawn", graph, started(graph)))
            .collect();
        for repeat in [1, 3] {
            let mut request = RunRequest::new(kind, Vec::new()).on(Machine::cpu(None));
            request.repeat = NonZeroU32::new(repeat).unwrap();
            let outcome = execute(&named, &request).unwrap();
            let session = outcome.session;
            assert_eq!(session.predicted, session.counted, "{kind}");
            assert_eq!(session.peak_bytes, outcome.memory_bytes, "{kind}");
            let counted = session.counted;
            assert_eq!((counted.graph_uploads, counted.allocations), (1, 1));
            assert_eq!((counted.runs, counted.input_bytes), (u64::from(repeat), 0));
            let values: u64 = outcome.graphs.iter().map(|graph| graph.run.nodes).sum();
            assert!(counted.readback_bytes >= 4 * values, "{kind}");
            assert!(counted.graph_bytes <= outcome.memory_bytes, "{kind}");
            assert_eq!(session.reuse.warm_reuses, u64::from(repeat) - 1);
        }
    }
}

#[test]
fn a_batch_whose_paths_outgrow_their_words_is_predicted_with_both_submissions() {
    let path = Graph::from_edges(4, &[(0, 1), (1, 2), (2, 3)], false).unwrap();
    let path = path.with_unit_weights().unwrap();
    let (long, _) = path.with_scaled_weights(4e9).unwrap();
    let short = Graph::from_edges(2, &[(0, 1)], false).unwrap();
    let short = short.with_unit_weights().unwrap();
    let named = [("short", &short), ("long", &long)];
    let named = named.map(|(name, graph)| BatchGraph::new(name, graph, vec![0]));
    let request = RunRequest::new(AnalysisKind::Sssp, Vec::new()).on(Machine::cpu(None));
    let session = execute(&named, &request).unwrap().session;
    assert_eq!(session.predicted, session.counted);
    assert_eq!(
        (session.counted.graph_uploads, session.counted.runs),
        (2, 2)
    );
    // 2 + 4 distances of 32 bits, then 4 of 64.
    assert_eq!(session.counted.readback_bytes, 24 + 32);
}
