//! Parents of a search and sets of sources on the CPU backend, against independent oracles, and
//! equal for any number of threads.

use crate::drawn;
use proptest::prelude::*;
use seawall::Cause;
use seawall::backend::RunLimits;
use seawall::backend::cpu::CpuSession;
use seawall::graph::Graph;
use seawall::outcome::{Column, Rounds, RunOutcome};
use seawall::run::{AnalysisKind, Detail, Machine, RunError, RunRequest, execute};
use seawall_core::abi::search::SearchPolicy;
use seawall_oracles::harness::{RunOptions, run_analysis};
use std::num::{NonZeroU32, NonZeroUsize};

const UNLIMITED: u32 = u32::MAX - 1;
const THREADS: [usize; 3] = [1, 2, 5];
const NO: u32 = Column::UNREACHED;

fn request(analysis: AnalysisKind, detail: Detail, sources: &[u32]) -> RunRequest {
    let mut request = RunRequest::new(analysis, sources.to_vec()).on(Machine::cpu(None));
    request.check = true;
    request.detail = detail;
    request
}

/// A search that keeps parents.
fn parents(sources: &[u32]) -> RunRequest {
    request(AnalysisKind::Bfs, Detail::Parents, sources)
}

/// A search for the set of sources that reach each node.
fn sets(sources: &[u32]) -> RunRequest {
    request(AnalysisKind::Reach, Detail::EachSource, sources)
}

/// Returns the result that any number of threads computes and the check accepts.
fn run(graph: &Graph, request: &RunRequest) -> RunOutcome {
    let outcomes = THREADS.map(|threads| {
        let mut request = request.clone();
        request.machine.threads = NonZeroUsize::new(threads);
        let outcome = execute(graph, &request).unwrap();
        assert_eq!(outcome.checked, Some(true), "{threads}");
        outcome
    });
    for other in &outcomes[1..] {
        assert_eq!(
            (&other.values, &other.parents, other.rounds),
            (
                &outcomes[0].values,
                &outcomes[0].parents,
                outcomes[0].rounds
            )
        );
    }
    let [first, ..] = outcomes;
    first
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn parents_and_sets_equal_the_oracles(
        (list, mut sources) in drawn::graphs(3000),
        limit in prop_oneof![Just(UNLIMITED), 0..6_u32],
    ) {
        let graph = list.graph().unwrap();
        sources.truncate(140);
        let details = [
            (AnalysisKind::Bfs, Detail::Parents),
            (AnalysisKind::Reach, Detail::EachSource),
        ];
        for (analysis, detail) in details {
            let asked = RunOptions {
                analysis,
                sources: sources.clone(),
                max_levels: limit,
                policy: SearchPolicy::default(),
                incoming: false,
                detail,
            };
            for threads in THREADS {
                let mut session = CpuSession::open(&graph, NonZeroUsize::new(threads), RunLimits::default()).unwrap();
                run_analysis(&mut session, &graph, &list, &asked, 2)
                    .map_err(|error| TestCaseError::fail(format!("{threads} threads, {asked:?}: {error}")))?;
            }
        }
    }
}

#[test]
fn the_smallest_neighbour_on_the_previous_level_is_the_parent() {
    // Two paths from 4 to 1, the later one through the smaller node; 5 has an edge in but none
    // leads to it.
    let edges = [(4, 3), (4, 2), (3, 1), (2, 1), (1, 0), (5, 0)];
    let directed = Graph::from_edges(6, &edges, false).unwrap();
    let outcome = run(&directed, &parents(&[4]));
    assert_eq!(outcome.values, Column::U32(vec![3, 2, 1, 1, 0, NO]));
    assert_eq!(outcome.parents, Some(vec![1, 2, 4, 4, 4, NO]));
    let undirected = Graph::from_edges(6, &edges, true).unwrap();
    let outcome = run(&undirected, &parents(&[1, 4]));
    assert_eq!(outcome.values, Column::U32(vec![1, 0, 1, 1, 0, 2]));
    assert_eq!(outcome.parents, Some(vec![1, 1, 1, 1, 4, 0]));
}

#[test]
fn a_parent_is_found_after_thousands_of_edges() {
    // Node 0 has an edge from each other node, and only the last one is on the previous level.
    let edges: Vec<_> = (1..6000).map(|node| (node, 0)).collect();
    for source in [1, 5, 900, 2000, 5999] {
        let graph = Graph::from_edges(6000, &edges, false).unwrap();
        let outcome = run(&graph, &parents(&[source]));
        let parents = outcome.parents.unwrap();
        assert_eq!((parents[0], parents[source as usize]), (source, source));
        assert_eq!(parents.iter().filter(|parent| **parent != NO).count(), 2);
    }
}

#[test]
fn a_plain_search_keeps_no_parents() {
    let graph = Graph::from_edges(2, &[(0, 1)], false).unwrap();
    let outcome = run(&graph, &request(AnalysisKind::Bfs, Detail::Plain, &[0]));
    assert_eq!((outcome.reached_each(), outcome.parents), (None, None));
}

#[test]
fn every_source_has_a_bit_of_its_own() {
    // A ring, two nodes that lead into it, and an isolated one.
    let edges = [(0, 1), (1, 2), (2, 0), (3, 0), (4, 3)];
    let graph = Graph::from_edges(6, &edges, false).unwrap();
    let outcome = run(&graph, &sets(&[4, 1, 5, 3, 4]));
    let Column::Sets(sets) = &outcome.values else {
        panic!("sets of sources")
    };
    let ring = 0b11011;
    assert_eq!(sets.words(), [ring, ring, ring, 0b11001, 0b10001, 0b100]);
    assert_eq!(outcome.reached_each(), Some(vec![5, 3, 1, 4, 5]));
    assert_eq!((outcome.reached, outcome.converged), (6, true));
}

#[test]
fn more_sources_than_a_word_has_bits_share_one_run() {
    let edges: Vec<_> = (1..200_u32).map(|node| (node - 1, node)).collect();
    let graph = Graph::from_edges(200, &edges, false).unwrap();
    let sources: Vec<u32> = (0..200).rev().collect();
    let outcome = run(&graph, &sets(&sources));
    let reached: Vec<u64> = (1..=200).collect();
    assert_eq!(outcome.reached_each(), Some(reached));
    let Column::Sets(sets) = &outcome.values else {
        panic!("sets of sources")
    };
    let counts: Vec<u32> = (1..=200).collect();
    assert_eq!(sets.counts(), counts);
}

#[test]
fn a_limit_of_levels_applies_to_every_source() {
    let edges: Vec<_> = (1..50_u32).map(|node| (node - 1, node)).collect();
    let graph = Graph::from_edges(50, &edges, true).unwrap();
    let mut request = sets(&[0, 20]);
    request.max_iterations = NonZeroU32::new(4);
    let outcome = run(&graph, &request);
    assert_eq!(outcome.reached_each(), Some(vec![5, 9]));
    assert_eq!(
        (outcome.rounds, outcome.converged),
        (Rounds::Iterations(4), false)
    );
}

#[test]
fn a_detail_of_another_analysis_is_refused() {
    let graph = Graph::from_edges(2, &[(0, 1)], false).unwrap();
    for (analysis, detail, option) in [
        (
            AnalysisKind::Reach,
            Detail::Parents,
            "does not return parents, bfs or sssp does",
        ),
        (
            AnalysisKind::Cc,
            Detail::EachSource,
            "does not return sets of sources, reach does",
        ),
    ] {
        let error = execute(&graph, &request(analysis, detail, &[0])).unwrap_err();
        assert!(matches!(error, RunError::WrongDetail { .. }) && error.cause() == Cause::Request);
        assert!(error.to_string().contains(option), "{error}");
    }
}
