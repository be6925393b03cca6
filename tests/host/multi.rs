//! Runs on several simulated devices have the columns of runs on one.

use proptest::prelude::*;
use seawall::backend::BackendError;
use seawall::graph::{Graph, LoadOptions, load};
use seawall::multi::{ANALYSES, Devices, Tried, execute, execute_by, execute_with};
use seawall::outcome::RunOutcome;
use seawall::run::{self, AnalysisKind, Machine, RunError, RunRequest};
use seawall_core::abi::multi::MultiRecord;
use seawall_device::multi::{Multi, multi};
use seawall_oracles::lanes;
use std::num::{NonZeroU32, NonZeroUsize};

/// Those that cut the graph.
const KINDS: [AnalysisKind; 6] = *ANALYSES.first_chunk().unwrap();

fn devices(count: u32, threads: u32) -> Devices {
    Devices::simulated(count, threads)
}

/// Compares the analysis with that on one device.
fn compare(graph: &Graph, kind: AnalysisKind, sources: &[u32], on: &Devices) {
    compare_by(graph, kind, sources, on.count(), |request| {
        execute(graph, request, on).unwrap()
    });
}

/// Compares the analysis on devices of two blocks of two warps with that on one; ranks by slices if the
/// first source is odd.
fn compare_on_warps(graph: &Graph, kind: AnalysisKind, sources: &[u32], count: u32) {
    compare_by(graph, kind, sources, count, |request| {
        let kernel = |record: &MultiRecord| {
            lanes::each(2, 64, 0, |grid| {
                // SAFETY: the record describes memory that outlives the run.
                multi(grid, unsafe { Multi::new(record) });
            });
        };
        let slices = Some(9).filter(|_| sources[0] % 2 == 1);
        execute_by(graph, request, count, Tried { kernel, slices }).unwrap()
    });
}

fn compare_by(
    graph: &Graph,
    kind: AnalysisKind,
    sources: &[u32],
    count: u32,
    execute: impl Fn(&RunRequest) -> RunOutcome,
) {
    let facts = kind.facts();
    if facts.is_undirected && !graph.is_symmetric() {
        return;
    }
    let sources = if facts.takes_sources { sources } else { &[] };
    let mut request = RunRequest::new(kind, sources.to_vec());
    request.weighted = false;
    let one = request.clone().on(Machine::cpu(NonZeroUsize::new(1)));
    let wanted = run::execute(graph, &one).unwrap();
    let found = execute(&request);
    assert_eq!(found.values, wanted.values, "{kind} on {count}");
    assert_eq!(found.reached, wanted.reached, "{kind} on {count}");
    assert_eq!(found.converged, wanted.converged, "{kind} on {count}");
    if matches!(kind, AnalysisKind::Bfs | AnalysisKind::Pagerank) {
        assert_eq!(found.rounds, wanted.rounds, "{kind} on {count}");
    }
    let report = found.devices.unwrap();
    assert_eq!(report.count, count);
    assert_eq!(report.nodes.iter().sum::<u64>(), wanted.nodes);
    let dropped = found.dropped.self_loops + found.dropped.duplicates;
    assert_eq!(
        report.edges.iter().sum::<u64>(),
        found.edges - dropped,
        "{kind}"
    );
    assert_eq!(found.edges, wanted.edges, "{kind}");
}

/// Draws graphs of up to some thousand nodes, so that there are several ranges, with loops, parallel
/// edges and weights.
pub(crate) fn graph() -> impl Strategy<Value = Graph> {
    let edges = prop::collection::vec((0..6000_u32, 0..6000_u32, 1..50_u32), 0..4000);
    let spread = prop_oneof![Just(1_u32), Just(7), Just(200)];
    (edges, spread, any::<bool>()).prop_map(|(edges, spread, undirected)| {
        let near =
            |(from, to, weight): &(u32, u32, u32)| (from / spread, to / spread * 3 / 2, *weight);
        let edges: Vec<_> = edges.iter().map(near).collect();
        Graph::from_weighted_edges(9001, &edges, undirected).unwrap()
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn random_graphs_have_the_columns_of_one_device(
        graph in graph(),
        count in 1..6_u32,
        threads in 1..4_u32,
        sources in prop::collection::vec(0..9001_u32, 1..4),
        kind in prop::sample::select(KINDS.to_vec()),
    ) {
        compare(&graph, kind, &sources, &devices(count, threads));
    }
}

#[test]
fn every_shape_has_the_columns_of_one_device() {
    let shapes = [
        "gen:grid:70",
        "gen:chain:3000",
        "gen:rmat:12:8",
        "gen:rmat-directed:11:8",
        "gen:uniform:12:4",
    ];
    for shape in shapes {
        let graph = load(shape, &LoadOptions::default(), None).unwrap().graph;
        let graph = graph.with_drawn_weights(7).unwrap();
        for kind in KINDS {
            for (count, threads) in [(1, 1), (2, 1), (3, 2), (4, 1)] {
                compare(&graph, kind, &[0, 5], &devices(count, threads));
            }
        }
    }
}

/// A star has a row that all blocks share, in either direction, and more nodes than a list holds.
#[test]
fn long_rows_and_long_lists_are_shared() {
    let leaves = 20_000_u32;
    for undirected in [true, false] {
        let edges: Vec<_> = (1..=leaves).map(|leaf| (0, leaf, leaf % 9 + 1)).collect();
        let star = Graph::from_weighted_edges(leaves + 1, &edges, undirected).unwrap();
        let edges: Vec<_> = (1..=leaves).map(|leaf| (leaf, 0, leaf % 9 + 1)).collect();
        let fan = Graph::from_weighted_edges(leaves + 1, &edges, undirected).unwrap();
        for graph in [&star, &fan] {
            for kind in KINDS {
                for source in [0, 7] {
                    compare(graph, kind, &[source], &devices(3, 2));
                }
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    #[test]
    fn random_graphs_have_these_columns_on_warps(
        graph in graph(),
        count in 1..4_u32,
        sources in prop::collection::vec(0..9001_u32, 1..4),
        kind in prop::sample::select(KINDS.to_vec()),
    ) {
        compare_on_warps(&graph, kind, &sources, count);
    }
}

/// Narrow levels and wide ones, rows and lists that are long.
#[test]
fn every_shape_has_these_columns_on_warps() {
    let star: Vec<_> = (1..=3000).map(|leaf| (0, leaf, leaf % 9 + 1)).collect();
    let star = Graph::from_weighted_edges(3001, &star, true).unwrap();
    let shapes = ["gen:grid:40", "gen:rmat:11:16", "gen:uniform:12:2"].map(|shape| {
        let graph = load(shape, &LoadOptions::default(), None).unwrap().graph;
        graph.with_drawn_weights(7).unwrap()
    });
    for graph in shapes.iter().chain([&star]) {
        for kind in KINDS {
            compare_on_warps(graph, kind, &[5], 2);
        }
    }
}

#[test]
fn graphs_smaller_than_their_devices_work() {
    for nodes in [1, 2, 33] {
        let edges: Vec<_> = (1..nodes).map(|node| (node - 1, node, 2)).collect();
        let graph = Graph::from_weighted_edges(nodes, &edges, true).unwrap();
        for kind in KINDS {
            compare(&graph, kind, &[0], &devices(4, 1));
            compare_on_warps(&graph, kind, &[0], 3);
        }
    }
}

#[test]
fn float_weights_and_limits_are_those_of_one_device() {
    let edges: Vec<_> = (0..5000_u32)
        .map(|at| (at * 7 % 4096, at * 13 % 4096, (at % 17) as f32 * 0.25))
        .collect();
    let graph = Graph::from_float_edges(4096, &edges, true).unwrap();
    compare(&graph, AnalysisKind::Sssp, &[3], &devices(3, 1));
    for limit in 1..4 {
        for kind in [AnalysisKind::Bfs, AnalysisKind::Pagerank] {
            let mut request =
                RunRequest::new(kind, vec![3; usize::from(kind == AnalysisKind::Bfs)]);
            request.weighted = false;
            request.max_iterations = NonZeroU32::new(limit);
            let one = request.clone().on(Machine::cpu(NonZeroUsize::new(1)));
            let wanted = run::execute(&graph, &one).unwrap();
            let found = execute(&graph, &request, &devices(2, 1)).unwrap();
            assert_eq!(found.values, wanted.values, "{kind}");
            let ends = [&found, &wanted].map(|outcome| (outcome.rounds, outcome.converged));
            assert_eq!(ends[0], ends[1], "{kind}");
        }
    }
}

#[test]
fn repeated_runs_find_the_same() {
    let graph = load("gen:rmat:12:8", &LoadOptions::default(), None)
        .unwrap()
        .graph;
    for kind in [
        AnalysisKind::Bfs,
        AnalysisKind::Cc,
        AnalysisKind::Pagerank,
        AnalysisKind::Kcore,
    ] {
        let sources = if kind == AnalysisKind::Bfs {
            vec![1]
        } else {
            Vec::new()
        };
        let mut request = RunRequest::new(kind, sources);
        request.repeat = NonZeroU32::new(3).unwrap();
        request.check = true;
        let outcome = execute(&graph, &request, &devices(2, 2)).unwrap();
        assert_eq!(outcome.checked, Some(true), "{kind}");
    }
}

#[test]
fn what_one_device_alone_does_is_refused_by_name() {
    let graph = load("gen:grid:8", &LoadOptions::default(), None)
        .unwrap()
        .graph;
    let refused = |request: RunRequest, on: &Devices| {
        let error = execute(&graph, &request, on).unwrap_err();
        assert!(matches!(error, RunError::CannotSplit { .. }), "{error}");
        error.to_string()
    };
    let bfs = || RunRequest::new(AnalysisKind::Bfs, vec![0]);
    let two = devices(2, 1);
    let text = refused(RunRequest::new(AnalysisKind::Labels, Vec::new()), &two);
    assert!(
        text.contains("bfs, reach, cc, sssp, pagerank, kcore, closeness, eccentricity, triangles, triangle-total, widest, mis, scc, msf and ppr"),
        "{text}"
    );
    let mut parents = bfs();
    parents.detail = run::Detail::Parents;
    assert!(refused(parents, &two).contains("parents"));
    assert!(refused(bfs(), &devices(0, 1)).contains("1 to 16 devices, not 0"));
    assert!(refused(bfs(), &devices(17, 1)).contains("not 17"));
    assert!(refused(bfs(), &Devices::gpus(vec![1, 0, 1])).contains("device 1 is named twice"));
    let edges = [(0, 1, u32::MAX - 1), (1, 2, u32::MAX - 1)];
    let long = Graph::from_weighted_edges(3, &edges, false).unwrap();
    let request = RunRequest::new(AnalysisKind::Sssp, vec![0]);
    let error = execute(&long, &request, &two).unwrap_err();
    assert!(error.to_string().contains("exceeds 32 bits"), "{error}");
    let mut small = bfs();
    small.machine.budget_bytes = Some(1000);
    let error = execute(&graph, &small, &two).unwrap_err();
    assert!(matches!(error, RunError::OverBudget { .. }), "{error}");
}

#[test]
fn the_end_of_the_time_ends_all_devices_and_says_so() {
    let graph = load("gen:chain:200000", &LoadOptions::default(), None)
        .unwrap()
        .graph;
    let mut request = RunRequest::new(AnalysisKind::Bfs, vec![0]);
    request.machine.time_budget_ns = 3_000_000;
    let began = std::time::Instant::now();
    let error = execute(&graph, &request, &devices(3, 1)).unwrap_err();
    assert!(
        matches!(&error, RunError::Backend(BackendError::Fault { .. })),
        "{error}"
    );
    assert!(error.to_string().contains("time budget"), "{error}");
    assert!(began.elapsed().as_secs() < 20);
}

#[test]
fn a_run_is_cancelled_on_all_devices() {
    let graph = load("gen:chain:400000", &LoadOptions::default(), None)
        .unwrap()
        .graph;
    let request = RunRequest::new(AnalysisKind::Bfs, vec![0]);
    let canceller = seawall::backend::Canceller::default();
    let other = canceller.clone();
    let ended = std::thread::scope(|scope| {
        scope.spawn(move || {
            std::thread::sleep(std::time::Duration::from_millis(30));
            other.cancel();
        });
        execute_with(&graph, &request, &devices(2, 1), &canceller, &mut |_| ())
    });
    let error = ended.unwrap_err();
    assert!(
        matches!(error, RunError::Backend(BackendError::Cancelled)),
        "{error}"
    );
}

/// Values of sources, and of nodes that are none, whatever the devices; some sources come twice.
#[test]
fn dealt_sources_have_the_values_of_one_device() {
    for shape in ["gen:grid:30", "gen:rmat-directed:9:4", "gen:chain:500"] {
        let graph = load(shape, &LoadOptions::default(), None).unwrap().graph;
        let graph = graph.with_drawn_weights(3).unwrap();
        let nodes = graph.nodes();
        for kind in [AnalysisKind::Closeness, AnalysisKind::Eccentricity] {
            for (sources, weighted, limit) in [
                (1, false, None),
                (130, true, None),
                (400, false, NonZeroU32::new(3)),
            ] {
                let sources = (0..sources).map(|at| at * 31 % (nodes / 2)).collect();
                let mut request = RunRequest::new(kind, sources);
                request.centrality.weighted = weighted;
                request.max_iterations = limit;
                request.check = true;
                let one = request.clone().on(Machine::cpu(NonZeroUsize::new(1)));
                let wanted = run::execute(&graph, &one).unwrap();
                for (count, threads) in [(1, 1), (2, 2), (5, 1)] {
                    let found = execute(&graph, &request, &devices(count, threads)).unwrap();
                    assert_eq!(found.values, wanted.values, "{kind} of {shape} on {count}");
                    assert_eq!(found.answer, wanted.answer, "{kind} of {shape} on {count}");
                    assert_eq!(
                        (found.reached, found.converged),
                        (wanted.reached, wanted.converged)
                    );
                    assert_eq!(found.checked, Some(true), "{kind} of {shape} on {count}");
                    assert_eq!(found.sources, wanted.sources);
                }
            }
        }
    }
}

/// The error of a device ends all, and names what was wrong; so does a canceller.
#[test]
fn dealt_runs_end_together() {
    let graph = load("gen:grid:200", &LoadOptions::default(), None)
        .unwrap()
        .graph;
    let mut request = RunRequest::new(AnalysisKind::Closeness, (0..2000).collect());
    request.machine.budget_bytes = Some(1000);
    let error = execute(&graph, &request, &devices(3, 1)).unwrap_err();
    assert!(matches!(error, RunError::OverBudget { .. }), "{error}");
    request.machine.budget_bytes = None;
    let canceller = seawall::backend::Canceller::default();
    canceller.cancel();
    let error = execute_with(&graph, &request, &devices(2, 1), &canceller, &mut |_| ());
    assert!(
        matches!(error, Err(RunError::Backend(BackendError::Cancelled))),
        "{error:?}"
    );
    let none = RunRequest::new(AnalysisKind::Closeness, Vec::new());
    let error = execute(&graph, &none, &devices(2, 1)).unwrap_err();
    assert!(matches!(error, RunError::NoSource { .. }), "{error}");
}
