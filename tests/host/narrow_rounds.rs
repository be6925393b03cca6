//! Rounds of shortest paths and of peeling that one thread runs alone, between rounds of all
//! threads: against sequential implementations, and against a single thread.

use proptest::prelude::*;
use seawall::graph::Graph;
use seawall::outcome::{Rounds, RunOutcome};
use seawall::run::{AnalysisKind, Machine, RunRequest, execute};
use seawall_oracles::graphs::EdgeList;
use seawall_oracles::paths::Weights;
use std::num::{NonZeroU32, NonZeroUsize};

/// A limit that no run comes to: the request is for rounds.
const ANY_ROUNDS: Option<u32> = Some(1 << 30);

/// Nodes of the part of a graph with many edges, so that its rounds are for all threads.
const MANY: u32 = 1500;

fn run(graph: &Graph, kind: AnalysisKind, threads: usize, limit: Option<u32>) -> RunOutcome {
    let machine = Machine::cpu(NonZeroUsize::new(threads));
    let sources = vec![0; usize::from(kind.takes_sources())];
    let mut request = RunRequest::new(kind, sources).on(machine);
    request.check = true;
    request.max_iterations = limit.and_then(NonZeroU32::new);
    execute(graph, &request).unwrap()
}

fn iterations(outcome: &RunOutcome) -> u64 {
    match outcome.rounds {
        Rounds::Iterations(count) => count.into(),
        _ => panic!("no iterations: {:?}", outcome.rounds),
    }
}

/// A path of `nodes` nodes, with small weights.
fn path(nodes: u32) -> Graph {
    let edges: Vec<_> = (1..nodes).map(|to| (to - 1, to, to % 7 + 1)).collect();
    Graph::from_weighted_edges(nodes, &edges, true).unwrap()
}

/// Tails, random parts of many edges between them, and edges to random nodes.
fn mixed() -> impl Strategy<Value = EdgeList> {
    let edge = (0..MANY, 0..MANY);
    let tail = 1..400_u32;
    let parts = prop::collection::vec((tail, prop::collection::vec(edge, 0..9000)), 1..4);
    parts.prop_map(|parts| {
        let (mut nodes, mut edges) = (1, Vec::new());
        for (tail, part) in parts {
            edges.extend((0..tail).map(|at| (nodes + at - 1, nodes + at)));
            nodes += tail;
            let first = nodes - 1;
            edges.extend(part.iter().map(|(from, to)| (first + from, first + to)));
            nodes += MANY;
        }
        EdgeList {
            nodes,
            edges,
            undirected: true,
        }
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    #[test]
    fn single_rounds_between_shared_ones_lose_nothing(
        list in mixed(), words in prop::collection::vec(any::<u32>(), 1..40), threads in 2..5_usize,
    ) {
        let word = |at: usize| words[at % words.len()];
        let count = list.edges.len();
        let all = |weight: &dyn Fn(u32) -> u32| Weights::Whole((0..count).map(|at| weight(word(at))).collect());
        let floats = (0..count).map(|at| (word(at) % 1000) as f32 / 8.0).collect();
        for weights in [all(&|word| word % 100), all(&|word| word), Weights::Float(floats)] {
            let graph = weights.graph(&list).unwrap();
            let outcome = run(&graph, AnalysisKind::Sssp, threads, ANY_ROUNDS);
            prop_assert_eq!((outcome.checked, outcome.converged), (Some(true), true));
        }
        let graph = Graph::from_edges(list.nodes, &list.edges, true).unwrap();
        let outcome = run(&graph, AnalysisKind::Kcore, threads, None);
        prop_assert_eq!((outcome.checked, outcome.converged), (Some(true), true));
    }
}

#[test]
fn threads_meet_seldom_where_rounds_are_narrow() {
    let graph = path(20_000);
    let plain = Graph::from_edges(
        20_000,
        &(1..20_000).map(|to| (to - 1, to)).collect::<Vec<_>>(),
        true,
    )
    .unwrap();
    for (kind, graph) in [(AnalysisKind::Sssp, &graph), (AnalysisKind::Kcore, &plain)] {
        let alone = run(graph, kind, 1, ANY_ROUNDS);
        for threads in [2, 3, 5] {
            let outcome = run(graph, kind, threads, ANY_ROUNDS);
            assert_eq!(outcome.checked, Some(true));
            assert_eq!(outcome.values, alone.values);
            assert_eq!(iterations(&outcome), iterations(&alone));
            assert!(iterations(&outcome) > 1000);
            assert!(outcome.device_barriers < 50, "{}", outcome.device_barriers);
        }
    }
}

#[test]
fn a_limit_of_rounds_holds_within_single_ones() {
    let graph = path(3000);
    let whole = iterations(&run(&graph, AnalysisKind::Sssp, 1, ANY_ROUNDS)) as u32;
    for limit in [1, 2, 3, 64, whole - 1, whole, whole + 1] {
        let alone = run(&graph, AnalysisKind::Sssp, 1, Some(limit));
        for threads in [2, 3] {
            let outcome = run(&graph, AnalysisKind::Sssp, threads, Some(limit));
            assert_eq!(iterations(&outcome), u64::from(limit.min(whole)));
            assert_eq!(outcome.converged, alone.converged, "limit {limit}");
            assert_eq!(outcome.values, alone.values, "limit {limit}");
        }
    }
}
