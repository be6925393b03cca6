//! Trees of lightest paths and paths to targets, and forests of the largest weight.

use crate::drawn;
use proptest::prelude::*;
use seawall::graph::Graph;
use seawall::outcome::{Column, RunOutcome};
use seawall::run::{AnalysisKind, Detail, Machine, RunRequest, execute};
use seawall_oracles::random::Random;
use std::num::NonZeroUsize;

fn run(graph: &Graph, request: &RunRequest) -> RunOutcome {
    let [one, two, five] = [1, 2, 5].map(|threads| {
        let mut request = request.clone();
        request.machine = Machine::cpu(NonZeroUsize::new(threads));
        request.check = true;
        let outcome = execute(graph, &request).unwrap();
        assert_eq!(outcome.checked, Some(true), "{threads} threads");
        outcome
    });
    assert!(one.values == two.values && two.values == five.values);
    assert!(one.parents == two.parents && two.parents == five.parents);
    one
}

fn tree(graph: &Graph, sources: &[u32]) -> RunOutcome {
    let mut request = RunRequest::new(AnalysisKind::Sssp, sources.to_vec());
    request.detail = Detail::Parents;
    run(graph, &request)
}

/// The least weight of an edge.
fn least(graph: &Graph, [from, to]: [u32; 2]) -> Option<u32> {
    let row = graph.outgoing().row(from);
    let edges = row.filter(|edge| graph.targets()[*edge] == to);
    edges.map(|edge| graph.weights().unwrap()[edge]).min()
}

#[test]
fn circles_of_weight_0_are_no_circles_of_parents() {
    let edges = [
        (0, 3, 5),
        (3, 1, 0),
        (1, 2, 0),
        (2, 1, 0),
        (2, 3, 0),
        (3, 3, 0),
        (0, 4, 5),
        (4, 2, 0),
        (6, 0, 1),
    ];
    let graph = Graph::from_weighted_edges(7, &edges, false).unwrap();
    let found = tree(&graph, &[0]);
    let no = Column::UNREACHED;
    assert_eq!(found.parents.as_deref(), Some(&[0, 3, 4, 0, 0, no, no][..]));
    let path = found.path_to(1, &graph);
    assert_eq!(
        (path.target, path.reached, path.nodes),
        (1, true, vec![0, 3, 1])
    );
    let none = found.path_to(6, &graph);
    assert!(!none.reached && none.nodes.is_empty() && none.weight.is_none());
    assert!(!found.path_to(u32::MAX, &graph).reached);
}

#[test]
fn floats_that_are_lost_in_a_sum_make_no_circles() {
    let edges = [
        (0, 1, 1e9),
        (1, 2, 1e-9),
        (2, 1, 1e-9),
        (2, 3, 1e-9),
        (3, 2, 1e-9),
    ];
    let graph = Graph::from_float_edges(4, &edges, false).unwrap();
    assert_eq!(
        tree(&graph, &[0]).parents.as_deref(),
        Some(&[0, 0, 1, 2][..])
    );
}

#[test]
fn long_distances_have_parents() {
    let edges: Vec<_> = (1..9).map(|node| (node - 1, node, u32::MAX)).collect();
    let graph = Graph::from_weighted_edges(9, &edges, false).unwrap();
    let found = tree(&graph, &[0]);
    assert_eq!(found.path_to(8, &graph).nodes, (0..9).collect::<Vec<_>>());
    let weight = serde_json::to_value(found.path_to(8, &graph).weight).unwrap();
    assert_eq!(weight, 8 * u64::from(u32::MAX));
}

/// Weight of a spanning forest by Prim's algorithm, always along the heaviest edge.
fn greatest_weight(graph: &Graph) -> u64 {
    let count = graph.nodes() as usize;
    let mut done = vec![false; count];
    let mut reach: Vec<Option<u32>> = vec![None; count];
    let mut sum = 0;
    for _ in 0..count {
        let open = (0..count).filter(|node| !done[*node]);
        let Some(node) =
            open.max_by_key(|node| reach[*node].map_or(0, |weight| u64::from(weight) + 1))
        else {
            break;
        };
        done[node] = true;
        sum += u64::from(reach[node].unwrap_or(0));
        for edge in graph.outgoing().row(node as u32) {
            let to = graph.targets()[edge] as usize;
            if !done[to] {
                reach[to] = reach[to].max(Some(graph.weights().unwrap()[edge]));
            }
        }
    }
    sum
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(50))]

    #[test]
    fn parents_are_lightest_paths(
        (list, _) in drawn::graphs(300),
        heaviest in proptest::sample::select(vec![0_u32, 1, 7, u32::MAX - 1]),
        picks in proptest::collection::vec(any::<u32>(), 1..4),
    ) {
        prop_assume!(list.nodes > 0);
        let mut random = Random::new(u64::from(heaviest) + 5);
        let weigh = |(from, to): &(u32, u32)| (*from, *to, random.below(heaviest + 1));
        let weighted: Vec<_> = list.edges.iter().map(weigh).collect();
        let graph = Graph::from_weighted_edges(list.nodes, &weighted, list.undirected).unwrap();
        let sources: Vec<u32> = picks.iter().map(|pick| pick % list.nodes).collect();
        let found = tree(&graph, &sources);
        let lengths: Vec<Option<u64>> = match &found.values {
            Column::U32(words) => words.iter().map(|word| (*word != u32::MAX).then_some(u64::from(*word))).collect(),
            Column::U64(words) => words.iter().map(|word| (*word != u64::MAX).then_some(*word)).collect(),
            other => panic!("{other:?}"),
        };
        for target in 0..list.nodes {
            let path = found.path_to(target, &graph);
            let length = lengths[target as usize];
            prop_assert_eq!(path.reached, length.is_some());
            let Some(length) = length else { continue };
            let nodes: Vec<u32> = path.nodes.iter().map(|node| *node as u32).collect();
            prop_assert!(sources.contains(&nodes[0]) && nodes.last() == Some(&target));
            let weights = nodes.windows(2).map(|edge| u64::from(least(&graph, [edge[0], edge[1]]).unwrap()));
            prop_assert_eq!(weights.sum::<u64>(), length);
        }
        // The smallest of the nearer ones.
        for to in (0..list.nodes).filter(|node| !sources.contains(node)) {
            let far = lengths[to as usize];
            let nearer = |from: &u32| match (lengths[*from as usize], far, least(&graph, [*from, to])) {
                (Some(near), Some(far), Some(weight)) => near < far && near + u64::from(weight) == far,
                _ => false,
            };
            if let Some(parent) = (0..list.nodes).find(nearer) {
                prop_assert_eq!(found.parents.as_ref().unwrap()[to as usize], parent);
            }
        }
    }

    #[test]
    fn the_largest_forest_has_the_largest_weight((list, _) in drawn::graphs(200), heaviest in 0..40_u32) {
        let mut random = Random::new(u64::from(heaviest));
        let weigh = |(from, to): &(u32, u32)| (*from, *to, random.below(heaviest + 1));
        let weighted: Vec<_> = list.edges.iter().map(weigh).collect();
        let graph = Graph::from_weighted_edges(list.nodes, &weighted, true).unwrap();
        let mut request = RunRequest::new(AnalysisKind::Msf, Vec::new());
        request.maximum = true;
        let found = run(&graph, &request);
        let weight = found.answer.figure("forest_weight");
        prop_assert_eq!(weight, Some(greatest_weight(&graph)));
        let floats: Vec<_> = weighted.iter().map(|(from, to, weight)| (*from, *to, *weight as f32)).collect();
        let floats = Graph::from_float_edges(list.nodes, &floats, true).unwrap();
        prop_assert_eq!(run(&floats, &request).values, found.values);
    }
}
