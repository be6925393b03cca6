//! Shortest paths whose distances exceed 32 bits, and those along floats: against an oracle in 128
//! bits or floats that uses only the drawn edges.

use crate::drawn::few;
use proptest::prelude::*;
use seawall::batch::{self, BatchGraph};
use seawall::graph::Graph;
use seawall::outcome::{Column, RunOutcome};
use seawall::run::{AnalysisKind, Machine, RunError, RunRequest, execute};
use seawall_oracles::graphs::EdgeList;
use seawall_oracles::paths::Weights;
use seawall_oracles::random::Random;
use std::num::NonZeroUsize;

const NO: u64 = u64::MAX;

fn request(sources: &[u32], threads: usize) -> RunRequest {
    let machine = Machine::cpu(NonZeroUsize::new(threads));
    let mut request = RunRequest::new(AnalysisKind::Sssp, sources.to_vec()).on(machine);
    request.check = true;
    request
}

fn run(graph: &Graph, sources: &[u32], threads: usize) -> Result<RunOutcome, RunError> {
    execute(graph, &request(sources, threads))
}

fn distances(edges: &[(u32, u32, u32)]) -> Column {
    let graph = Graph::from_weighted_edges(6, edges, false).unwrap();
    let outcome = run(&graph, &[0], 2).unwrap();
    assert_eq!(outcome.checked, Some(true));
    outcome.values
}

fn lists() -> impl Strategy<Value = EdgeList> {
    let list = |nodes| {
        let edges = prop::collection::vec((0..nodes, 0..nodes), 0..80);
        (Just(nodes), edges, any::<bool>())
    };
    (1..25_u32)
        .prop_flat_map(list)
        .prop_map(|(nodes, edges, undirected)| EdgeList {
            nodes,
            edges,
            undirected,
        })
}

/// An edge list with weights that come near the limits of 32 bits.
pub(crate) fn long() -> impl Strategy<Value = (EdgeList, Weights)> {
    let weight = prop_oneof![
        Just(0),
        1..5_u32,
        Just(u32::MAX / 2),
        u32::MAX - 3..=u32::MAX,
        any::<u32>()
    ];
    let weights = prop::collection::vec(weight, 80).prop_map(Weights::Whole);
    (lists(), weights)
}

/// An edge list with floats of all sizes; their sums stay finite.
fn floats() -> impl Strategy<Value = (EdgeList, Weights)> {
    let weight = prop_oneof![
        Just(0.0),
        (1..1000_u16).prop_map(|tenths| f32::from(tenths) / 10.0),
        (0..1_u32 << 30).prop_map(f32::from_bits),
        Just(1e30),
    ];
    let weights = prop::collection::vec(weight, 80).prop_map(Weights::Float);
    (lists(), weights)
}

/// A grid of `side` by `side` nodes, so that rounds have few edges and many threads, with a hub of
/// a long row in its middle.
fn grid(side: u32, random: &mut Random) -> EdgeList {
    let nodes = side * side;
    let right = (0..nodes).filter(|at| at % side + 1 < side);
    let down = 0..nodes - side;
    let hub = nodes / 2 + side / 2;
    let far = (0..600).map(|_| (hub, random.below(nodes)));
    let mut edges: Vec<_> = right.map(|at| (at, at + 1)).collect();
    edges.extend(down.map(|at| (at, at + side)));
    edges.extend(far);
    EdgeList {
        nodes,
        edges,
        undirected: true,
    }
}

#[test]
fn threads_that_go_on_with_their_own_finds_miss_no_path() {
    let random = &mut Random::new(17);
    for case in 0..14 {
        let list = grid(90 + random.below(90), random);
        let weights = match case {
            // One bin holds more nodes than a thread keeps.
            0 => Weights::Whole(vec![0; list.edges.len()]),
            1 => Weights::Whole(vec![1; list.edges.len()]),
            _ => Weights::draw(list.edges.len(), random),
        };
        let graph = weights.graph(&list).unwrap();
        let alone = run(&graph, &[0], 1).unwrap();
        for threads in [2, 3, 5] {
            let outcome = run(&graph, &[0], threads).unwrap();
            assert_eq!(
                outcome.checked,
                Some(true),
                "case {case}, {threads} threads"
            );
            assert_eq!(
                outcome.values, alone.values,
                "case {case}, {threads} threads"
            );
        }
    }
}

proptest! {
    #![proptest_config(few(64))]

    #[test]
    fn distances_beyond_32_bits_are_exact((list, weights) in long(), threads in 1..4_usize) {
        let graph = weights.graph(&list).unwrap();
        let sources = [0, list.nodes / 2];
        let outcome = run(&graph, &sources, threads).unwrap();
        prop_assert_eq!(outcome.checked, Some(true));
        prop_assert_eq!(outcome.values, weights.distances(&list, &sources));
    }

    #[test]
    fn float_distances_equal_an_oracle_bit_for_bit(
        (list, weights) in floats(), threads in 1..4_usize
    ) {
        let graph = weights.graph(&list).unwrap();
        let outcome = run(&graph, &[0], threads).unwrap();
        prop_assert_eq!(outcome.checked, Some(true));
        let wanted = weights.distances(&list, &[0]);
        prop_assert_eq!(outcome.values.checksum(), wanted.checksum());
    }

    #[test]
    fn graphs_of_a_batch_have_the_same_distances_as_alone(
        cases in prop::collection::vec(prop_oneof![long(), floats()], 1..6)
    ) {
        let graphs: Vec<Graph> =
            cases.iter().map(|(list, weights)| weights.graph(list).unwrap()).collect();
        let named: Vec<_> = graphs
            .iter()
            .enumerate()
            .map(|(at, graph)| BatchGraph::new(at.to_string(), graph, vec![0]))
            .collect();
        let outcome = batch::execute(&named, &request(&[], 2)).unwrap();
        prop_assert_eq!(outcome.checked(), Some(true));
        for ((list, weights), found) in cases.iter().zip(&outcome.graphs) {
            prop_assert_eq!(&found.run.values, &weights.distances(list, &[0]));
        }
    }
}

#[test]
fn the_last_distance_of_32_bits_is_one_below_the_mark_of_the_unreached() {
    let top = u32::MAX;
    assert_eq!(
        distances(&[(0, 1, top - 2), (1, 2, 1)]),
        Column::U32(vec![0, top - 2, top - 1, top, top, top])
    );
    let wide = u64::from(top);
    assert_eq!(
        distances(&[(0, 1, top - 1), (1, 2, 1)]),
        Column::U64(vec![0, wide - 1, wide, NO, NO, NO])
    );
    assert_eq!(
        distances(&[(0, 1, top), (1, 2, 0)]),
        Column::U64(vec![0, wide, wide, NO, NO, NO])
    );
}

#[test]
fn two_edges_of_4_billion_make_a_path_of_8_billion() {
    let edges = [(0, 1, 4_000_000_000), (1, 2, 4_000_000_000)];
    let wanted = vec![0, 4_000_000_000, 8_000_000_000, NO, NO, NO];
    assert_eq!(distances(&edges), Column::U64(wanted));
    let lighter = [edges[0], edges[1], (0, 2, 3)];
    let top = u32::MAX;
    let wanted = vec![0, 4_000_000_000, 3, top, top, top];
    assert_eq!(distances(&lighter), Column::U32(wanted));
}

#[test]
fn a_float_path_beyond_the_largest_float_is_refused_by_its_edge() {
    let edges = [(0, 1, 3e38), (1, 2, 3e38), (0, 3, 1.5)];
    let graph = Graph::from_float_edges(4, &edges, false).unwrap();
    let error = run(&graph, &[0], 1).unwrap_err();
    let text = error.to_string();
    assert!(text.contains("node 2, over its edge from node 1"), "{text}");
    let named = [BatchGraph::new("long", &graph, vec![0])];
    let error = batch::execute(&named, &request(&[], 1)).unwrap_err();
    let text = error.to_string();
    assert!(
        text.contains("long") && text.contains("3.4028235e38"),
        "{text}"
    );
}

#[test]
fn distances_have_the_same_bits_for_any_number_of_threads() {
    let graph = |scale: f32| {
        let edges = (0..4000_u32).map(|at| (at % 997, at * 7919 % 997, scale * (at % 61) as f32));
        Graph::from_float_edges(997, &edges.collect::<Vec<_>>(), true).unwrap()
    };
    for scale in [0.1, 1e-40, 1e30] {
        let graph = graph(scale);
        let columns = [1, 2, 5].map(|threads| run(&graph, &[3], threads).unwrap().values);
        assert!(columns.iter().all(|column| *column == columns[0]));
    }
}
