//! Programs along shortcuts, on CPU threads in place of a GPU.

use super::*;
use crate::graph::EdgeLengths;
use crate::job::Job;
use crate::run::choose::choose;
use crate::run::resident::Station;
use crate::run::{AnalysisKind, Detail, Executor, Machine};
use std::num::{NonZeroU32, NonZeroUsize};

const GPU: Machine = Machine::gpu(Executor::Mega, 0);

/// A cycle and a caterpillar that a clique joins, a path and two nodes alone, with weights.
fn shapes() -> Graph {
    let mut edges: Vec<(u32, u32, u32)> = Vec::new();
    let mut add = |a: u32, b: u32| edges.push((a, b, (a * 7 + b * 31) % 19));
    (0..3_000).for_each(|node| add(node, (node + 1) % 3_000));
    (3_000..4_500).for_each(|node| {
        add(node, node + 1);
        add(node, node + 2_000);
    });
    for a in 0..6 {
        (0..a).for_each(|b| add(500 * a, 500 * b));
        add(500 * a, 3_000 + 200 * a);
    }
    (7_000..9_000).for_each(|node| add(node, node + 1));
    add(42, 42);
    add(42, 43);
    add(7_100, 7_101);
    Graph::from_weighted_edges(9_003, &edges, true).unwrap()
}

/// Rounds of the answer to `request`, of CPU threads that have its graph with shortcuts, and whether
/// it is right.
fn answered(graph: &Graph, request: &RunRequest, threads: usize) -> (u32, bool) {
    let request = RunRequest {
        check: true,
        ..request.clone()
    };
    let form = graph.form(request.form_of(graph).unwrap()).unwrap();
    let more = form.with_shortcuts(request.shortcuts().unwrap()).unwrap();
    let on_cpu = request.clone().on(Machine::cpu(NonZeroUsize::new(threads)));
    let (choice, mut ignored) = (choose(graph, &on_cpu), |_| ());
    let mut job = Job::begin(&request, &mut ignored);
    let resident = Resident {
        asked: request.machine,
        graph: more,
        main: Station::open(more, &mut job, choice, None, Canceller::default()).unwrap(),
        takeover: None,
    };
    let mut analyzer = Analyzer {
        residents: [None, Some(resident)],
        ..Analyzer::new(graph)
    };
    let outcome = analyzer.run(&request).unwrap();
    assert!(outcome.converged && outcome.taken.shortcuts > 0);
    let rounds = outcome.waves.iter().filter_map(|wave| wave.iterations);
    (rounds.sum(), outcome.checked == Some(true))
}

#[test]
fn levels_distances_and_reach_are_the_same_in_few_rounds() {
    let graph = shapes();
    for analysis in [AnalysisKind::Bfs, AnalysisKind::Sssp, AnalysisKind::Reach] {
        for sources in [
            vec![0],
            vec![1_234],
            vec![5_200, 8_000],
            vec![9_002, 7_000, 42, 42],
        ] {
            for threads in [1, 2] {
                let request = RunRequest::new(analysis, sources.clone()).on(GPU);
                let (rounds, is_equal) = answered(&graph, &request, threads);
                assert!(is_equal, "{analysis} from {sources:?} on {threads}");
                assert!(rounds < 100, "{analysis} from {sources:?}: {rounds}");
            }
        }
    }
    let tree = RunRequest {
        detail: Detail::Parents,
        ..RunRequest::new(AnalysisKind::Sssp, vec![4_000]).on(GPU)
    };
    assert!(answered(&graph, &tree, 2).1);
}

#[test]
fn long_distances_take_64_bits_along_shortcuts() {
    let edges: Vec<_> = (1..4_000).map(|node| (node - 1, node, 1 << 28)).collect();
    let graph = Graph::from_weighted_edges(4_000, &edges, true).unwrap();
    let request = RunRequest::new(AnalysisKind::Sssp, vec![7]).on(GPU);
    assert!(answered(&graph, &request, 2).1);
}

#[test]
fn who_asks_for_steps_limits_memory_or_threads_gets_the_graph_alone() {
    let plain = RunRequest::new(AnalysisKind::Bfs, vec![0]).on(GPU);
    assert_eq!(plain.shortcuts(), Some(EdgeLengths::One));
    let others = [
        plain.clone().on(Machine::cpu(None)),
        plain.clone().on(Machine::auto()),
        plain.clone().on(Machine {
            budget_bytes: Some(1 << 30),
            ..GPU
        }),
        RunRequest {
            max_iterations: NonZeroU32::new(5),
            ..plain.clone()
        },
        RunRequest {
            topology: Some(seawall_core::topology::Topology::Fused),
            ..plain.clone()
        },
        RunRequest {
            detail: Detail::Parents,
            ..plain.clone()
        },
        RunRequest::new(AnalysisKind::Cc, Vec::new()).on(GPU),
    ];
    for request in others {
        assert_eq!(request.shortcuts(), None, "{request:?}");
    }
}
