//! Analyses on the CPU backend against independent oracles.

use crate::drawn::{self, few};
use proptest::prelude::*;
use seawall::backend::RunLimits;
use seawall::backend::cpu::CpuSession;
use seawall::graph::{self, Graph, LoadOptions, WeightChoice};
use seawall::outcome::{Column, RunOutcome};
use seawall::run::{AnalysisKind, Detail, Machine, RunError, RunRequest, execute};
use seawall_core::abi::search::SearchPolicy;
use seawall_oracles::graphs::{self, EdgeList, SHAPES, Shape};
use seawall_oracles::harness::{ANALYSES, RunOptions, compare, expected, run_analysis};
use seawall_oracles::random::Random;
use std::num::{NonZeroU32, NonZeroUsize};
use std::path::PathBuf;

const UNLIMITED: u32 = u32::MAX - 1;
const THREADS: [usize; 4] = [1, 2, 3, 8];

/// A drawn graph and sources in it.
#[derive(Clone, Debug)]
struct Case {
    list: EdgeList,
    sources: Vec<u32>,
}

impl Case {
    fn draw(shape: Shape, nodes: u32, undirected: bool, seed: u64) -> Self {
        let mut random = Random::new(seed);
        let list = graphs::draw(shape, nodes, undirected, &mut random);
        let sources = graphs::draw_sources(list.nodes, &mut random);
        Self { list, sources }
    }

    fn asked(&self, analysis: AnalysisKind) -> RunOptions {
        RunOptions {
            analysis,
            sources: self.sources.clone(),
            max_levels: UNLIMITED,
            policy: SearchPolicy::default(),
            incoming: false,
            detail: Detail::Plain,
        }
    }
}

fn cases(nodes: u32) -> impl Strategy<Value = Case> {
    drawn::graphs(nodes).prop_map(|(list, sources)| Case { list, sources })
}

fn request(analysis: AnalysisKind, sources: &[u32], threads: usize) -> RunRequest {
    let machine = Machine::cpu(NonZeroUsize::new(threads));
    let mut request = RunRequest::new(analysis, sources.to_vec()).on(machine);
    request.check = true;
    request
}

fn run(graph: &Graph, request: &RunRequest) -> RunOutcome {
    execute(graph, request).unwrap()
}

/// Runs `analysis` through the public interface and compares its column.
fn run_and_compare(
    graph: &Graph,
    case: &Case,
    analysis: AnalysisKind,
    threads: usize,
) -> Result<(), String> {
    let request = request(analysis, &case.sources, threads);
    if analysis.takes_sources() && case.sources.is_empty() {
        let refused = execute(graph, &request);
        assert!(matches!(refused, Err(RunError::NoSource { .. })));
        return Ok(());
    }
    let outcome = run(graph, &request);
    let Column::U32(found) = &outcome.values else {
        return Err(format!("{analysis} gave ranks"));
    };
    compare(
        analysis.name(),
        found,
        &expected(&case.list, &case.asked(analysis)),
    )?;
    match (outcome.checked, outcome.converged) {
        (Some(true), true) => Ok(()),
        ended => Err(format!("{analysis}: checked and converged are {ended:?}")),
    }
}

/// Every analysis on every number of threads.
fn run_all(case: &Case) -> Result<(), String> {
    let graph = case.list.graph().unwrap();
    for threads in THREADS {
        for analysis in ANALYSES {
            run_and_compare(&graph, case, analysis, threads)
                .map_err(|e| format!("{threads} threads: {e}"))?;
        }
    }
    Ok(())
}

/// Both searches with `policy`, with and without incoming edges.
fn search_with(case: &Case, policy: SearchPolicy, threads: usize) -> Result<(), String> {
    let graph = case.list.graph().unwrap();
    let threads = NonZeroUsize::new(threads);
    let mut session = CpuSession::open(&graph, threads, RunLimits::default()).unwrap();
    for analysis in [AnalysisKind::Bfs, AnalysisKind::Reach] {
        for incoming in [false, true] {
            let asked = RunOptions {
                policy,
                incoming,
                ..case.asked(analysis)
            };
            run_analysis(&mut session, &graph, &case.list, &asked, 2)
                .map_err(|error| format!("{policy:?}, incoming {incoming}: {error}"))?;
        }
    }
    Ok(())
}

#[test]
fn every_shape_of_graph_equals_the_oracles() {
    for (seed, shape) in (1..).zip(SHAPES) {
        for nodes in [0, 1, 2, 65, 1100] {
            let case = Case::draw(shape, nodes, seed % 2 == 0, seed);
            run_all(&case).unwrap_or_else(|error| panic!("{shape:?} of {nodes}: {error}"));
        }
    }
}

#[test]
fn nodes_of_huge_degree_are_shared_among_threads() {
    for undirected in [false, true] {
        let mut case = Case::draw(Shape::Stars, 60_000, undirected, 5);
        case.sources = vec![59_999, 3, 3];
        run_all(&case).unwrap();
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..few(16) })]

    #[test]
    fn random_graphs_equal_the_oracles(case in cases(700)) {
        run_all(&case).map_err(TestCaseError::fail)?;
    }

    #[test]
    fn every_forced_topology_gives_the_same_result(case in cases(400), threads in 1_usize..4) {
        for forced in 0..=5 {
            let policy = SearchPolicy { forced, ..SearchPolicy::default() };
            search_with(&case, policy, threads).map_err(TestCaseError::fail)?;
            // Then not even a frontier that one block could search alone is narrow.
            let wide = SearchPolicy { narrow_nodes: 0, narrow_exit_nodes: 0, ..policy };
            search_with(&case, wide, threads).map_err(TestCaseError::fail)?;
        }
    }

    #[test]
    fn frontiers_may_widen_and_narrow_at_any_size(
        case in cases(500),
        narrow_nodes in proptest::sample::select(vec![0_u32, 1, 4, 40]),
        margin in proptest::sample::select(vec![0_u32, 1, 3, 100]),
        narrow_edges in proptest::sample::select(vec![0_u32, 1, 16, 300, 32_768]),
        pull_edges_min in proptest::sample::select(vec![0_u32, 50, 65_536]),
        threads in 1_usize..4,
    ) {
        let policy = SearchPolicy {
            narrow_nodes,
            narrow_exit_nodes: narrow_nodes + margin,
            narrow_edges,
            pull_edges_min,
            ..SearchPolicy::default()
        };
        search_with(&case, policy, threads).map_err(TestCaseError::fail)?;
    }

    #[test]
    fn a_limit_leaves_farther_nodes_unreached(case in cases(300), limit in 1_u32..12, threads in 1_usize..4) {
        prop_assume!(!case.sources.is_empty());
        let graph = case.list.graph().unwrap();
        for analysis in [AnalysisKind::Bfs, AnalysisKind::Reach] {
            let mut request = request(analysis, &case.sources, threads);
            request.max_iterations = NonZeroU32::new(limit);
            let outcome = run(&graph, &request);
            let mut asked = case.asked(analysis);
            let whole = expected(&case.list, &case.asked(AnalysisKind::Bfs));
            let deepest = whole.iter().filter(|level| **level != Column::UNREACHED).max();
            asked.max_levels = limit;
            prop_assert_eq!(&outcome.values, &Column::U32(expected(&case.list, &asked)));
            prop_assert_eq!(outcome.checked, Some(true));
            // If both are equal, the edges of the last level decide.
            match deepest.copied().unwrap_or(0).cmp(&limit) {
                std::cmp::Ordering::Less => prop_assert!(outcome.converged),
                std::cmp::Ordering::Greater => prop_assert!(!outcome.converged),
                std::cmp::Ordering::Equal => {}
            }
        }
    }
}

#[test]
fn forced_topologies_agree_under_a_limit() {
    let mut case = Case::draw(Shape::Beads, 900, true, 11);
    case.sources = vec![450];
    let graph = case.list.graph().unwrap();
    let mut session = CpuSession::open(&graph, NonZeroUsize::new(2), RunLimits::default()).unwrap();
    for forced in 0..=5 {
        for (max_levels, analysis) in
            (0..30).zip([AnalysisKind::Bfs, AnalysisKind::Reach].into_iter().cycle())
        {
            let asked = RunOptions {
                max_levels,
                policy: SearchPolicy {
                    forced,
                    ..SearchPolicy::default()
                },
                ..case.asked(analysis)
            };
            run_analysis(&mut session, &graph, &case.list, &asked, 1)
                .unwrap_or_else(|error| panic!("topology {forced}, {max_levels} levels: {error}"));
        }
    }
}

/// Loads a graph of the data folder, if it exists.
fn real(name: &str, undirected: bool) -> Option<Graph> {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    let folders = ["../../shared/data", "../shared/data"];
    let mut paths = folders.iter().map(|folder| root.join(folder).join(name));
    let Some(path) = paths.find(|path| path.exists()) else {
        println!("skipped: {name} is not here");
        return None;
    };
    let options = LoadOptions {
        undirected,
        weights: WeightChoice::Ignored,
        ..LoadOptions::default()
    };
    Some(
        graph::load(path.to_str().unwrap(), &options, None)
            .unwrap()
            .graph,
    )
}

#[test]
fn real_graphs_equal_the_oracles() {
    let files = [
        ("email-Enron.txt.xz", false),
        ("email-Enron.txt.xz", true),
        ("NY.gr.xz", false),
    ];
    for (name, undirected) in files {
        let Some(graph) = real(name, undirected) else {
            continue;
        };
        let case = Case {
            list: EdgeList::of(&graph),
            sources: vec![graph.nodes() / 2, 7],
        };
        for analysis in ANALYSES {
            for threads in [1, 2] {
                run_and_compare(&graph, &case, analysis, threads)
                    .unwrap_or_else(|error| panic!("{name}, {threads} threads: {error}"));
            }
        }
    }
}

/// A frontier that starts and ends with a node and is wide in between, so that several threads take
/// it over from one thread and return it; with parents, and with a limit amid their levels.
#[test]
fn a_thread_group_takes_over_and_gives_back() {
    let options = LoadOptions::default();
    let graph = graph::load("gen:grid:300x260", &options, None)
        .unwrap()
        .graph;
    let sources = [graph.nodes() / 2 + 150];
    for threads in [4, 7, 9] {
        for limit in [None, NonZeroU32::new(190)] {
            let mut asked = request(AnalysisKind::Bfs, &sources, threads);
            (asked.detail, asked.max_iterations) = (Detail::Parents, limit);
            let outcome = run(&graph, &asked);
            assert_eq!(outcome.checked, Some(true), "{threads} threads, {limit:?}");
            let mut reach = request(AnalysisKind::Reach, &sources, threads);
            reach.max_iterations = limit;
            assert_eq!(run(&graph, &reach).checked, Some(true), "{threads} threads");
        }
    }
}
