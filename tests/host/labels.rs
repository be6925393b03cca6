//! Label propagation: it ends when no node would change, and is the same on any number of threads.

use crate::drawn;
use proptest::prelude::*;
use seawall::graph::Graph;
use seawall::outcome::{Column, RunOutcome};
use seawall::run::{AnalysisKind, LabelRule, Machine, RunRequest, execute};
use seawall_cli::bench::samples;
use seawall_oracles::random::Random;
use std::collections::{BTreeMap, BTreeSet};
use std::num::{NonZeroU32, NonZeroUsize};

/// The outcome by `rule`, along weights if `weighted`, within `limit` rounds; 0 is no limit.
fn run_on(
    graph: &Graph,
    rule: LabelRule,
    weighted: bool,
    limit: u32,
    threads: usize,
) -> RunOutcome {
    let machine = Machine::cpu(NonZeroUsize::new(threads));
    let mut request = RunRequest::new(AnalysisKind::Labels, Vec::new()).on(machine);
    request.check = true;
    request.max_iterations = NonZeroU32::new(limit);
    request.rule = rule;
    request.centrality.weighted = weighted;
    let outcome = execute(graph, &request).unwrap();
    assert_eq!(outcome.checked, Some(true), "{rule:?}, {threads} threads");
    outcome
}

/// A limit that no run reaches. With a limit, rounds are those of the program for all machines.
const FAR: u32 = 1_000_000;

/// Nodes up to which more threads run than there are cores.
const CROWDED: u32 = 24;

/// The labels, and whether they are final: the same on any number of threads, and of the program
/// and the sequential algorithm.
fn run(graph: &Graph, rule: LabelRule, weighted: bool, limit: u32) -> (Vec<u32>, bool) {
    let found = |limit, threads| {
        let outcome = run_on(graph, rule, weighted, limit, threads);
        let Column::U32(labels) = outcome.values else {
            panic!("no labels")
        };
        (labels, outcome.converged)
    };
    let one = found(limit, 1);
    // Up to 8 threads leave the work to one; the rounds of 9 are those of any number above.
    let has_far = limit == 0 && rule == LabelRule::Stable;
    let far = [(FAR, 1), (FAR, 3)].into_iter().filter(|_| has_far);
    // Nine threads take turns on few cores, so they have the small graphs.
    let crowd = Some((limit, 9)).filter(|_| graph.nodes() <= CROWDED);
    for (limit, threads) in [(limit, 2)].into_iter().chain(crowd).chain(far) {
        assert!(
            found(limit, threads) == one,
            "{rule:?}, {limit}, {threads} threads"
        );
    }
    one
}

/// Amount of the edges of `node` to nodes of each label; loops do not count.
fn amounts(graph: &Graph, labels: &[u32], node: u32, weighted: bool) -> BTreeMap<u32, u64> {
    let mut amounts = BTreeMap::new();
    for edge in graph.outgoing().row(node) {
        let to = graph.targets()[edge];
        if to != node {
            let weights = graph.weights().filter(|_| weighted);
            let amount = weights.map_or(1, |weights| u64::from(weights[edge]));
            *amounts.entry(labels[to as usize]).or_insert(0) += amount;
        }
    }
    amounts
}

/// Whether every node has a most frequent label among its neighbours.
fn is_stable(graph: &Graph, labels: &[u32], weighted: bool) -> bool {
    (0..graph.nodes()).all(|node| {
        let amounts = amounts(graph, labels, node, weighted);
        let own = amounts.get(&labels[node as usize]).copied().unwrap_or(0);
        amounts.values().all(|amount| *amount <= own)
    })
}

/// Whether each label is the smallest node that has it.
fn is_named(labels: &[u32]) -> bool {
    let mut seen = BTreeSet::new();
    (0..)
        .zip(labels)
        .all(|(node, label)| !seen.insert(*label) || *label == node)
}

fn communities(graph: &Graph) -> usize {
    let (labels, converged) = run(graph, LabelRule::Stable, false, 0);
    assert!(converged && is_stable(graph, &labels, false) && is_named(&labels));
    labels.into_iter().collect::<BTreeSet<_>>().len()
}

fn of(nodes: u32, edges: impl IntoIterator<Item = (u32, u32)>) -> Graph {
    let edges: Vec<_> = edges.into_iter().collect();
    Graph::from_edges(nodes, &edges, true).unwrap()
}

#[test]
fn pairs_stars_and_bipartite_graphs_are_communities() {
    let bipartite = |a: u32, b: u32| {
        let row = move |from| (a..a + b).map(move |to| (from, to));
        of(a + b, (0..a).flat_map(row))
    };
    assert_eq!(communities(&of(2, [(0, 1)])), 1);
    assert_eq!(
        communities(&of(100_000, (0..50_000).map(|at| (2 * at, 2 * at + 1)))),
        50_000
    );
    for leaves in [1, 2, 3, 14, 1000] {
        assert_eq!(communities(&bipartite(1, leaves)), 1, "star of {leaves}");
    }
    for a in [2, 3, 6] {
        for b in [2, 5, 8] {
            assert_eq!(communities(&bipartite(a, b)), 1, "{a} and {b}");
        }
    }
    for nodes in [3, 4, 17, 60] {
        let row = |from| (0..from).map(move |to| (from, to));
        assert_eq!(
            communities(&of(nodes, (0..nodes).flat_map(row))),
            1,
            "all {nodes}"
        );
    }
}

#[test]
fn paths_circles_and_grids_end_in_several_communities() {
    let nodes = 3000;
    let path = of(nodes, (1..nodes).map(|at| (at - 1, at)));
    let circle = of(nodes, (0..nodes).map(|at| (at, (at + 1) % nodes)));
    for graph in [path, circle] {
        let found = communities(&graph);
        assert!(
            (nodes as usize / 8..=nodes as usize / 2).contains(&found),
            "{found}"
        );
    }
    let width = 50;
    let right = (0..width * width)
        .filter(|at| at % width > 0)
        .map(|at| (at - 1, at));
    let down = (width..width * width).map(|at| (at - width, at));
    let found = communities(&of(width * width, right.chain(down)));
    assert!((50..1250).contains(&found), "{found}");
}

/// Loops, parallel edges and weights on every shape of the survey.
#[test]
fn every_shape_ends_where_no_node_would_change() {
    for sample in samples(60, 8) {
        let graph = Graph::from_weighted_edges(sample.nodes, &sample.edges, true).unwrap();
        for weighted in [false, true] {
            let (labels, converged) = run(&graph, LabelRule::Stable, weighted, 0);
            assert!(converged && is_named(&labels), "{}", sample.name);
            assert!(is_stable(&graph, &labels, weighted), "{}", sample.name);
        }
    }
}

#[test]
fn nothing_and_nodes_without_edges_keep_their_labels() {
    assert_eq!(communities(&of(0, [])), 0);
    assert_eq!(communities(&of(9, [])), 9);
    assert_eq!(communities(&of(3, [(0, 0), (1, 1), (0, 1)])), 2);
}

#[test]
fn the_rule_of_ldbc_swaps_and_does_not_say_that_it_is_done() {
    let pair = of(2, [(0, 1)]);
    let ldbc = |limit| run(&pair, LabelRule::Ldbc, false, limit);
    assert_eq!(ldbc(1), (vec![1, 0], false));
    assert_eq!(ldbc(0), (vec![0, 1], false));
    let triangle = of(3, [(0, 1), (1, 2), (0, 2)]);
    assert_eq!(
        run(&triangle, LabelRule::Ldbc, false, 0),
        (vec![0; 3], true)
    );
}

#[test]
fn weights_decide_where_they_are_asked_for() {
    // Node 2 has two light edges to one triangle and a heavy one to another.
    let edges = [
        (0, 1, 9.0),
        (0, 2, 0.1),
        (1, 2, 0.1),
        (2, 3, 5.0),
        (3, 4, 5.5),
        (3, 5, 5.5),
        (4, 5, 5.5),
    ];
    let graph = Graph::from_float_edges(6, &edges, true).unwrap();
    let (labels, _) = run(&graph, LabelRule::Stable, true, 0);
    assert_eq!(labels, [0, 0, 2, 2, 2, 2]);
    let (labels, _) = run(&graph, LabelRule::Stable, false, 0);
    assert_eq!(labels[2], labels[0]);
    // Weights that add up beyond 32 bits.
    let heavy = [
        (0, 1, u32::MAX),
        (0, 2, u32::MAX - 1),
        (0, 3, u32::MAX - 1),
        (2, 3, u32::MAX),
    ];
    let graph = Graph::from_weighted_edges(4, &heavy, true).unwrap();
    let (labels, converged) = run(&graph, LabelRule::Stable, true, 0);
    assert!(converged && is_stable(&graph, &labels, true));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4))]

    #[test]
    fn labels_end_where_no_node_would_change((list, _) in drawn::graphs(150), heaviest in 0..5_u32) {
        let mut random = Random::new(u64::from(heaviest));
        let weigh = |(from, to): &(u32, u32)| (*from, *to, random.below(heaviest + 1));
        let weighted: Vec<_> = list.edges.iter().map(weigh).collect();
        let graph = Graph::from_weighted_edges(list.nodes, &weighted, true).unwrap();
        for weighs in [false, true] {
            let (labels, converged) = run(&graph, LabelRule::Stable, weighs, 0);
            prop_assert!(converged && is_stable(&graph, &labels, weighs) && is_named(&labels));
        }
        // A factor on all weights changes nothing, subnormal floats included.
        let (whole, _) = run(&graph, LabelRule::Stable, true, 0);
        for factor in [0.25, f32::from_bits(1)] {
            let float = |&(from, to, weight): &(u32, u32, u32)| (from, to, weight as f32 * factor);
            let floats: Vec<_> = weighted.iter().map(float).collect();
            let graph = Graph::from_float_edges(list.nodes, &floats, true).unwrap();
            let (labels, _) = run(&graph, LabelRule::Stable, true, 0);
            prop_assert_eq!(&labels, &whole);
        }
    }

    #[test]
    fn limits_cut_labels_short((list, _) in drawn::graphs(200), limit in 1..6_u32) {
        let graph = Graph::from_edges(list.nodes, &list.edges, true).unwrap();
        for rule in [LabelRule::Stable, LabelRule::Ldbc] {
            let (labels, converged) = run(&graph, rule, false, limit);
            prop_assert!(!converged || is_stable(&graph, &labels, false));
        }
    }

    #[test]
    fn labels_of_ldbc_are_those_that_most_neighbours_had((list, _) in drawn::graphs(200), limit in 0..6_u32) {
        let graph = Graph::from_edges(list.nodes, &list.edges, true).unwrap();
        // 10 rounds without a limit.
        let rounds = if limit == 0 { 10 } else { limit };
        let mut labels: Vec<u32> = (0..graph.nodes()).collect();
        for _ in 0..rounds {
            let most_frequent = |node: u32| {
                let amounts = amounts(&graph, &labels, node, false).into_iter();
                amounts.max_by_key(|(label, count)| (*count, std::cmp::Reverse(*label)))
            };
            labels = (0..graph.nodes()).map(|node| most_frequent(node).map_or(labels[node as usize], |(label, _)| label)).collect();
        }
        prop_assert_eq!(run(&graph, LabelRule::Ldbc, false, limit).0, labels);
    }
}
