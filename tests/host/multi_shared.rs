//! Analyses whose composed programs several devices share have the answers of one device.

use crate::drawn::few;
use crate::multi::graph;
use crate::multi_triangles::shapes;
use proptest::prelude::*;
use seawall::backend::{BackendError, Canceller};
use seawall::graph::{Graph, LoadOptions, load};
use seawall::multi::{Devices, execute, execute_on_ranks};
use seawall::outcome::RunOutcome;
use seawall::run::{self, AnalysisKind, Machine, RunError, RunRequest};
use seawall_oracles::carriers::{Threads, each};
use std::num::{NonZeroU32, NonZeroUsize};

/// With weights where the graph has some.
const KINDS: [AnalysisKind; 6] = [
    AnalysisKind::Pagerank,
    AnalysisKind::Ppr,
    AnalysisKind::Widest,
    AnalysisKind::Mis,
    AnalysisKind::Scc,
    AnalysisKind::Msf,
];

/// The request for a kind, if it is one for the graph.
fn request(graph: &Graph, kind: AnalysisKind, sources: &[u32]) -> Option<RunRequest> {
    let facts = kind.facts();
    let is_none = facts.is_undirected && !graph.is_symmetric()
        || facts.reads_weights && graph.weights().is_none()
        || facts.takes_sources && graph.nodes() == 0;
    let sources = if facts.takes_sources { sources } else { &[] };
    let mut request = RunRequest::new(kind, sources.to_vec());
    request.check = true;
    request.repeat = NonZeroU32::new(2).unwrap();
    (!is_none).then_some(request)
}

/// Compares the fields of both outcomes that do not depend on the machine.
fn same(found: &RunOutcome, wanted: &RunOutcome, what: &str) {
    assert_eq!(found.values, wanted.values, "{what}");
    assert_eq!(found.answer, wanted.answer, "{what}");
    assert_eq!(found.reached, wanted.reached, "{what}");
    assert_eq!(found.converged, wanted.converged, "{what}");
    assert_eq!(found.sources, wanted.sources, "{what}");
    assert_eq!(
        (found.nodes, found.edges, found.dropped),
        (wanted.nodes, wanted.edges, wanted.dropped),
        "{what}"
    );
    if wanted.analysis.facts().ranks {
        assert_eq!(found.rounds, wanted.rounds, "{what}");
    }
}

/// Compares every analysis on devices and ranks with one device.
fn compare(graph: &Graph, sources: &[u32], counts: &[(u32, u32)], ranks: u32) {
    for kind in KINDS {
        let Some(request) = request(graph, kind, sources) else {
            continue;
        };
        let one = request.clone().on(Machine::cpu(NonZeroUsize::new(1)));
        let wanted = run::execute(graph, &one).unwrap();
        for (count, threads) in counts {
            let what = format!("{kind} on {count} of {} nodes", graph.nodes());
            let found = execute(graph, &request, &Devices::simulated(*count, *threads));
            let found = found.unwrap_or_else(|error| panic!("{what}: {error}"));
            same(&found, &wanted, &what);
            assert_eq!(found.checked, Some(true), "{what}");
            let report = found.devices.unwrap();
            assert_eq!(report.count, *count, "{what}");
            assert_eq!(report.nodes.iter().sum::<u64>(), wanted.nodes, "{what}");
            assert_eq!(report.memory_bytes.len() as u32, *count, "{what}");
        }
        let found = each(Threads::all(ranks), |rank| {
            let canceller = Canceller::default();
            execute_on_ranks(graph, &request, rank, 1, &canceller, &mut |_| ())
        });
        for (rank, found) in found.into_iter().enumerate() {
            let what = format!("{kind} on rank {rank} of {ranks}");
            let found = found.unwrap_or_else(|error| panic!("{what}: {error}"));
            same(&found, &wanted, &what);
            assert_eq!(found.checked, (rank == 0).then_some(true), "{what}");
            assert_eq!(found.devices.unwrap().count, ranks, "{what}");
        }
    }
}

/// Shapes and directions take turns with weights: none, whole numbers, floats.
#[test]
fn every_shape_has_the_answers_of_one_device() {
    for (turn, (_, nodes, edges)) in shapes(40).into_iter().enumerate() {
        let undirected = turn / 3 % 2 == 0;
        let weight = |at: usize| (at as u32).wrapping_mul(0x9e37_79b9) >> 4;
        let weighted = edges.iter().enumerate();
        let weighted = weighted.map(|(at, (from, to))| (*from, *to, weight(at)));
        let floats = weighted.clone();
        let floats = floats.map(|(from, to, weight)| (from, to, weight as f32 * 1e-3));
        let graph = match turn % 3 {
            0 => Graph::from_weighted_edges(nodes, &weighted.collect::<Vec<_>>(), undirected),
            1 => Graph::from_float_edges(nodes, &floats.collect::<Vec<_>>(), undirected),
            _ => Graph::from_edges(nodes, &edges, undirected),
        };
        let sources = [0, nodes / 2];
        let sources = &sources[..nodes.min(2) as usize];
        let devices = 1 + turn as u32 % 4;
        compare(&graph.unwrap(), sources, &[(devices, 1)], 2);
    }
}

#[test]
fn large_graphs_have_the_answers_of_one_device() {
    for shape in ["gen:rmat:10:8", "gen:rmat-directed:10:8", "gen:grid:32"] {
        let graph = load(shape, &LoadOptions::default(), None).unwrap().graph;
        let graph = graph.with_drawn_weights(9).unwrap();
        compare(&graph, &[5, 77], &[(2, 2), (4, 1)], 3);
    }
}

proptest! {
    #![proptest_config(few(5))]

    #[test]
    fn random_graphs_have_the_answers_of_one_device(
        graph in graph(),
        count in 1..5_u32,
        threads in 1..3_u32,
        sources in prop::collection::btree_set(0..9001_u32, 1..4),
    ) {
        let sources: Vec<u32> = sources.into_iter().collect();
        compare(&graph, &sources, &[(count, threads)], count);
    }
}

/// Limits, damping, start weights and methods without weights are those of the request.
#[test]
fn options_of_rankings_are_followed() {
    let graph = load("gen:rmat-directed:10:6", &LoadOptions::default(), None);
    let graph = graph.unwrap().graph.with_drawn_weights(2).unwrap();
    for weighted in [true, false] {
        for kind in [AnalysisKind::Pagerank, AnalysisKind::Ppr] {
            let mut request = request(&graph, kind, &[3, 9, 3]).unwrap();
            request.weighted = weighted;
            request.max_iterations = NonZeroU32::new(3);
            request.ranking.damping = 0.5;
            if kind == AnalysisKind::Ppr {
                request.source_weights = vec![1.0, 5.0, 2.5];
            }
            let one = request.clone().on(Machine::cpu(NonZeroUsize::new(1)));
            let wanted = run::execute(&graph, &one).unwrap();
            let found = execute(&graph, &request, &Devices::simulated(3, 1)).unwrap();
            same(&found, &wanted, &format!("{kind} {weighted}"));
        }
    }
    let mut limited = request(&graph, AnalysisKind::Widest, &[0]).unwrap();
    limited.max_iterations = NonZeroU32::new(3);
    let error = execute(&graph, &limited, &Devices::simulated(2, 1)).unwrap_err();
    assert!(matches!(error, RunError::CannotSplit { .. }), "{error}");
}

/// Values of edges that nodes find once are exchanged once, not in each run.
#[test]
fn later_runs_exchange_no_values_of_edges() {
    let graph = load("gen:rmat:11:16", &LoadOptions::default(), None);
    let graph = graph.unwrap().graph.with_drawn_weights(2).unwrap();
    let mut request = RunRequest::new(AnalysisKind::Pagerank, Vec::new());
    request.max_iterations = NonZeroU32::new(2);
    let bytes = |request: &RunRequest| {
        let outcome = execute(&graph, request, &Devices::simulated(2, 1)).unwrap();
        outcome.devices.unwrap().exchanged_bytes
    };
    let once = bytes(&request);
    request.repeat = NonZeroU32::new(2).unwrap();
    let again = bytes(&request);
    let edges = 4 * u64::from(graph.edges());
    assert!(once > edges, "{once} of {edges}");
    assert!(again + edges <= once, "{again} and {once}");
}

/// One rank alone that cannot plan, has another budget, or is cancelled ends all.
#[test]
fn a_rank_that_fails_ends_all() {
    let graph = load("gen:grid:40", &LoadOptions::default(), None);
    let graph = graph.unwrap().graph.with_drawn_weights(2).unwrap();
    let asked = RunRequest::new(AnalysisKind::Pagerank, Vec::new());
    let found = each(Threads::all(3), |rank| {
        let mut asked = asked.clone();
        asked.machine.budget_bytes = (rank.rank == 1).then_some(1);
        let canceller = Canceller::default();
        execute_on_ranks(&graph, &asked, rank, 1, &canceller, &mut |_| ())
    });
    for (rank, found) in found.into_iter().enumerate() {
        match found.unwrap_err() {
            RunError::OverBudget { .. } if rank == 1 => {}
            RunError::Backend(BackendError::RankEnded { rank: 1 }) if rank != 1 => {}
            other => panic!("rank {rank}: {other}"),
        }
    }
    let found = each(Threads::all(3), |rank| {
        let canceller = Canceller::default();
        if rank.rank == 2 {
            canceller.cancel();
        }
        execute_on_ranks(&graph, &asked, rank, 1, &canceller, &mut |_| ())
    });
    for (rank, found) in found.into_iter().enumerate() {
        match found.unwrap_err() {
            RunError::Backend(BackendError::Cancelled) if rank == 2 => {}
            RunError::Backend(BackendError::RankEnded { rank: 2 }) if rank != 2 => {}
            other => panic!("rank {rank}: {other}"),
        }
    }
    for calls in [0, 1, 2, 5, 9, 30] {
        let mut ranks = Threads::all(3);
        ranks[1].calls_left = calls;
        let found = each(ranks, |rank| {
            let canceller = Canceller::default();
            execute_on_ranks(&graph, &asked, rank, 1, &canceller, &mut |_| ())
        });
        for found in found {
            let error = found.unwrap_err();
            assert!(
                matches!(
                    &error,
                    RunError::Backend(BackendError::RankLost { rank: 1, .. })
                ),
                "{calls}: {error}"
            );
        }
    }
}
