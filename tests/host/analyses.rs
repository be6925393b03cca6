//! Shortest paths, core numbers, triangles and ranks on the CPU backend: against sequential
//! implementations, against results known by hand, and with other numbers of threads.

use proptest::prelude::*;
use seawall::Cause;
use seawall::analysis::{self, Question, oracle};
use seawall::backend::cpu::CpuSession;
use seawall::backend::{RunLimits, Session};
use seawall::graph::{self, Graph, LoadOptions, WeightChoice};
use seawall::outcome::{Column, Rounds, RunOutcome};
use seawall::program::PlanRequest;
use seawall::run::{AnalysisKind, Detail, Machine, Ranking, RunError, RunRequest, execute};
use std::num::{NonZeroU32, NonZeroUsize};
use std::time::Instant;

const THREADS: [usize; 3] = [1, 2, 5];

fn request(analysis: AnalysisKind, sources: &[u32], threads: usize) -> RunRequest {
    let machine = Machine::cpu(NonZeroUsize::new(threads));
    let mut request = RunRequest::new(analysis, sources.to_vec()).on(machine);
    request.check = true;
    request
}

fn run(graph: &Graph, request: &RunRequest) -> RunOutcome {
    execute(graph, request).unwrap()
}

/// Returns the column that any number of threads computes and the check accepts.
fn column(graph: &Graph, analysis: AnalysisKind, sources: &[u32]) -> Column {
    let columns = THREADS.map(|threads| {
        let outcome = run(graph, &request(analysis, sources, threads));
        assert_eq!(
            outcome.checked,
            Some(true),
            "{analysis} with {threads} threads"
        );
        assert!(outcome.converged);
        outcome.values
    });
    assert!(columns.iter().all(|column| *column == columns[0]));
    let [column, ..] = columns;
    column
}

fn words(graph: &Graph, analysis: AnalysisKind, sources: &[u32]) -> Vec<u32> {
    let Column::U32(words) = column(graph, analysis, sources) else {
        panic!("{analysis} gives words")
    };
    words
}

type Weighted = (u32, Vec<(u32, u32, u32)>, bool);

/// Graphs of up to 300 nodes, a few of which most edges leave or enter; weights from none to more
/// than a path can sum up.
fn weighted() -> impl Strategy<Value = Weighted> {
    let weights = prop_oneof![
        Just(0..=0_u32),
        Just(0..=3),
        Just(1..=64),
        Just(0..=1_000_000),
        Just(u32::MAX / 3..=u32::MAX),
    ];
    (1..300_u32, weights, any::<bool>()).prop_flat_map(|(nodes, weights, undirected)| {
        let end = prop_oneof![0..nodes, 0..nodes.min(3)];
        let edge = (end.clone(), end, weights);
        (
            Just(nodes),
            proptest::collection::vec(edge, 0..1500),
            Just(undirected),
        )
    })
}

fn unweighted(nodes: u32, edges: &[(u32, u32, u32)], undirected: bool) -> Graph {
    let edges: Vec<_> = edges.iter().map(|(from, to, _)| (*from, *to)).collect();
    Graph::from_edges(nodes, &edges, undirected).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn paths_are_shortest((nodes, edges, undirected) in weighted(), picks in proptest::collection::vec(any::<u32>(), 1..4)) {
        let graph = Graph::from_weighted_edges(nodes, &edges, undirected).unwrap();
        let sources: Vec<u32> = picks.iter().map(|pick| pick % nodes).collect();
        column(&graph, AnalysisKind::Sssp, &sources);
    }

    #[test]
    fn cores_equal_those_of_one_removal_at_a_time((nodes, edges, _) in weighted()) {
        let graph = unweighted(nodes, &edges, true);
        words(&graph, AnalysisKind::Kcore, &[]);
    }

    #[test]
    fn triangles_equal_those_of_marked_neighbours((nodes, edges, _) in weighted()) {
        let graph = unweighted(nodes, &edges, true);
        words(&graph, AnalysisKind::Triangles, &[]);
        words(&graph, AnalysisKind::TriangleTotal, &[]);
    }

    #[test]
    fn ranks_agree_with_doubles_and_do_not_depend_on_threads(
        (nodes, edges, undirected) in weighted(), damping in 0.0..0.97_f32, limit in 1..60_u32,
    ) {
        let graph = unweighted(nodes, &edges, undirected);
        let columns = THREADS.map(|threads| {
            let mut request = request(AnalysisKind::Pagerank, &[], threads);
            request.ranking = Ranking { damping, tolerance: 1e-6 };
            request.max_iterations = NonZeroU32::new(limit);
            let outcome = run(&graph, &request);
            assert_eq!(outcome.checked, Some(true), "{threads} threads");
            (outcome.rounds, outcome.values)
        });
        prop_assert!(columns.iter().all(|column| *column == columns[0]));
    }
}

#[test]
fn the_lighter_of_two_paths_wins_with_more_edges() {
    let edges = [(0, 3, 100), (0, 1, 1), (1, 2, 1), (2, 3, 1), (4, 0, 1)];
    let graph = Graph::from_weighted_edges(5, &edges, false).unwrap();
    assert_eq!(
        words(&graph, AnalysisKind::Sssp, &[0]),
        [0, 1, 2, 3, u32::MAX]
    );
    assert_eq!(
        words(&graph, AnalysisKind::Sssp, &[0, 2, 2]),
        [0, 1, 0, 1, u32::MAX]
    );
}

#[test]
fn a_limit_leaves_distances_that_are_not_too_short() {
    let edges: Vec<_> = (0..50).map(|node| (node, node + 1, 1000)).collect();
    let graph = Graph::from_weighted_edges(51, &edges, false).unwrap();
    let mut request = request(AnalysisKind::Sssp, &[0], 2);
    request.max_iterations = NonZeroU32::new(5);
    let outcome = run(&graph, &request);
    assert_eq!((outcome.converged, outcome.checked), (false, Some(true)));
    assert_eq!(outcome.rounds, Rounds::Iterations(5));
    assert!(outcome.reached < 51);
}

#[test]
fn a_clique_with_a_tail_has_two_levels_and_an_isolated_node_none() {
    let mut edges: Vec<_> = (0..6).flat_map(|a| (0..a).map(move |b| (a, b))).collect();
    edges.extend([(5, 6), (6, 7)]);
    let graph = Graph::from_edges(9, &edges, true).unwrap();
    assert_eq!(
        words(&graph, AnalysisKind::Kcore, &[]),
        [5, 5, 5, 5, 5, 5, 1, 1, 0]
    );
}

#[test]
fn a_star_ranks_its_middle_as_the_equations_say() {
    let edges: Vec<_> = (1..5).map(|node| (node, 0)).collect();
    let graph = Graph::from_edges(5, &edges, false).unwrap();
    let mut request = request(AnalysisKind::Pagerank, &[], 2);
    request.ranking.tolerance = 1e-7;
    let outcome = run(&graph, &request);
    assert_eq!((outcome.converged, outcome.checked), (true, Some(true)));
    let Column::F32(ranks) = outcome.values else {
        panic!("ranks are floats")
    };
    // leaf = (1 - d + d * middle) / 5 and middle = leaf + 4 * d * leaf.
    let d = 0.85_f64;
    let leaf = (1.0 - d) / (5.0 - d * (1.0 + 4.0 * d));
    let middle = leaf * (1.0 + 4.0 * d);
    assert!(
        (f64::from(ranks[0]) - middle).abs() < 1e-5,
        "{} and {middle}",
        ranks[0]
    );
    assert!(
        ranks[1..]
            .iter()
            .all(|rank| (f64::from(*rank) - leaf).abs() < 1e-5)
    );
}

#[test]
fn a_wrong_rank_is_found() {
    let graph = Graph::from_edges(4, &[(0, 1), (1, 2), (2, 0), (3, 0)], false).unwrap();
    let ranking = Ranking::default();
    let exact = oracle::ranks(&graph, ranking.damping, 30);
    let mut ranks: Vec<f32> = exact.ranks.iter().map(|rank| *rank as f32).collect();
    assert!(oracle::agrees(&graph, ranking, &ranks, (30, false)));
    ranks[2] *= 1.0005;
    assert!(!oracle::agrees(&graph, ranking, &ranks, (30, false)));
    let early = oracle::ranks(&graph, ranking.damping, 2).ranks;
    let early: Vec<f32> = early.iter().map(|rank| *rank as f32).collect();
    assert!(
        !oracle::agrees(&graph, ranking, &early, (2, true)),
        "not converged yet"
    );
}

#[test]
fn graphs_unfit_for_an_analysis_are_refused() {
    let graph = Graph::from_edges(3, &[(0, 1), (1, 2)], false).unwrap();
    let refused = |analysis| execute(&graph, &request(analysis, &[0], 1)).unwrap_err();
    for analysis in [AnalysisKind::Kcore, AnalysisKind::Triangles] {
        let error = refused(analysis);
        assert!(matches!(error, RunError::Directed { .. }) && error.cause() == Cause::Request);
        assert!(error.to_string().contains("both directions"));
    }
    let error = refused(AnalysisKind::Sssp);
    assert!(matches!(error, RunError::NoWeights { .. }) && error.cause() == Cause::Request);
}

#[test]
fn graphs_without_edges_or_nodes_have_results() {
    for nodes in [0, 1, 70] {
        let graph = Graph::from_edges(nodes, &[], true).unwrap();
        assert_eq!(
            words(&graph, AnalysisKind::Kcore, &[]),
            vec![0; nodes as usize]
        );
        assert_eq!(
            words(&graph, AnalysisKind::Triangles, &[]),
            vec![0; nodes as usize]
        );
        let outcome = run(&graph, &request(AnalysisKind::Pagerank, &[], 2));
        assert_eq!(outcome.checked, Some(true));
        assert_eq!(outcome.values.len(), nodes as usize);
    }
}

#[test]
fn triangles_are_counted_at_each_corner() {
    // Two triangles that share an edge, an edge into one of them, and an isolated node.
    let edges = [(0, 1), (1, 2), (2, 0), (2, 3), (3, 1), (3, 4)];
    let graph = Graph::from_edges(6, &edges, true).unwrap();
    assert_eq!(
        words(&graph, AnalysisKind::Triangles, &[]),
        [1, 2, 2, 1, 0, 0]
    );
    let clique: Vec<_> = (0..40_u32)
        .flat_map(|a| (0..a).map(move |b| (a, b)))
        .collect();
    let graph = Graph::from_edges(40, &clique, true).unwrap();
    let outcome = run(&graph, &request(AnalysisKind::Triangles, &[], 2));
    assert_eq!(outcome.values, Column::U32(vec![39 * 38 / 2; 40]));
    assert_eq!(outcome.answer.figure("triangles"), Some(40 * 39 * 38 / 6));
    let outcome = run(&graph, &request(AnalysisKind::TriangleTotal, &[], 2));
    assert_eq!(outcome.checked, Some(true));
    assert_eq!(outcome.answer.figure("triangles"), Some(40 * 39 * 38 / 6));
}

/// Triangles by hubs as bits, as warps count them in larger graphs.
#[test]
fn triangles_of_larger_graphs_equal_those_of_marked_neighbours() {
    let options = LoadOptions {
        undirected: true,
        ..LoadOptions::default()
    };
    for name in ["gen:rmat:15:16", "gen:uniform:15:8"] {
        let graph = graph::load(name, &options, None).unwrap().graph;
        for kind in [AnalysisKind::Triangles, AnalysisKind::TriangleTotal] {
            let expected = words(&graph, kind, &[]);
            let mut question = Question::new(Vec::new());
            question.warps = true;
            let built = analysis::build(kind, &graph, &question).unwrap();
            let (program, _) = built.program.encode(&PlanRequest::default()).unwrap();
            let threads = NonZeroUsize::new(2);
            let mut session = CpuSession::open(&graph, threads, RunLimits::default()).unwrap();
            session.load(&program).unwrap();
            session.run(&built.inputs).unwrap();
            let mut found = Vec::new();
            session.read(built.result, &mut found).unwrap();
            assert!(found == expected, "{kind} of {name}");
        }
    }
}

#[test]
fn counting_triangles_ends_with_the_time_budget() {
    let edges: Vec<_> = (1..5000).map(|node| (node, node / 2)).collect();
    let graph = Graph::from_edges(5000, &edges, true).unwrap();
    let mut request = request(AnalysisKind::Triangles, &[], 2);
    request.machine.time_budget_ns = 1;
    let error = execute(&graph, &request).unwrap_err();
    assert_eq!(error.cause(), Cause::Failure);
    assert!(error.to_string().contains("time"), "{error}");
}

/// A wave stops when time is over: a run of one long wave ends soon after its budget, without a
/// panic and without reading unfinished results.
#[test]
fn every_wave_ends_with_the_time_budget() {
    let options = LoadOptions {
        undirected: true,
        weights: WeightChoice::Given,
        ..LoadOptions::default()
    };
    let graph = || graph::load("gen:rmat:12:16", &options, None).unwrap().graph;
    let (weighted, plain) = (graph(), graph().without_weights());
    for kind in AnalysisKind::ALL {
        let graph = if kind.reads_weights() {
            &weighted
        } else {
            &plain
        };
        for threads in [1, 2, 3] {
            let mut request = request(kind, &[1][..usize::from(kind.takes_sources())], threads);
            let whole = run(graph, &request).times.run;
            for part in [1, 3, 7, 20, 60] {
                request.machine.time_budget_ns = whole / part;
                match execute(graph, &request) {
                    Ok(outcome) => assert_eq!(outcome.checked, Some(true)),
                    Err(error) => assert!(error.to_string().contains("time"), "{error}"),
                }
            }
        }
    }
}

#[test]
fn one_long_wave_ends_soon_after_its_time_budget() {
    let loaded = graph::load("gen:rmat:14:32", &LoadOptions::default(), None).unwrap();
    let graph = loaded.graph.without_weights();
    for threads in [1, 2] {
        let mut request = request(AnalysisKind::Triangles, &[], threads);
        let whole = run(&graph, &request).times.run;
        request.machine.time_budget_ns = whole / 20;
        let start = Instant::now();
        execute(&graph, &request).unwrap_err();
        let took = start.elapsed().as_nanos() as u64;
        assert!(took < whole / 2, "{took} of {whole} ns, {threads} threads");
    }
}

/// Threads take rows on request only if there are some hundred per thread.
#[test]
fn rows_taken_on_request_are_each_done_once() {
    let loaded = graph::load("gen:rmat:14:8", &LoadOptions::default(), None).unwrap();
    let graph = loaded.graph.without_weights();
    for analysis in [
        AnalysisKind::Cc,
        AnalysisKind::Kcore,
        AnalysisKind::Triangles,
    ] {
        words(&graph, analysis, &[]);
    }
    let hub = (0..graph.nodes()).max_by_key(|node| graph.neighbours(*node).len());
    let hub = hub.unwrap();
    let columns = THREADS.map(|threads| {
        let mut search = request(AnalysisKind::Bfs, &[hub], threads);
        search.detail = Detail::Parents;
        let search = run(&graph, &search);
        let mut ranks = request(AnalysisKind::Pagerank, &[], threads);
        ranks.max_iterations = NonZeroU32::new(10);
        let ranks = run(&graph, &ranks);
        assert_eq!((search.checked, ranks.checked), (Some(true), Some(true)));
        assert!(search.reached > 8000, "{} nodes", search.reached);
        (search.values, search.parents, ranks.values)
    });
    assert!(columns.iter().all(|column| *column == columns[0]));
}
