//! Analyses that are written without device code, on the CPU backend: checked by definitions of
//! their results, and by independent implementations.

use crate::drawn::{self, few};
use proptest::prelude::*;
use seawall::graph::Graph;
use seawall::outcome::{Column, RunOutcome};
use seawall::run::{AnalysisKind, Machine, RunRequest, execute};
use seawall_oracles::graphs::{self, EdgeList};
use seawall_oracles::oracle;
use seawall_oracles::random::Random;
use std::num::{NonZeroU32, NonZeroUsize};

fn run(graph: &Graph, analysis: AnalysisKind, sources: &[u32], limit: Option<u32>) -> RunOutcome {
    let outcomes = [1, 3].map(|threads| {
        let machine = Machine::cpu(NonZeroUsize::new(threads));
        let mut request = RunRequest::new(analysis, sources.to_vec()).on(machine);
        request.check = true;
        request.max_iterations = limit.and_then(NonZeroU32::new);
        let outcome = execute(graph, &request).unwrap();
        assert_eq!(outcome.checked, Some(true), "{analysis}, {threads} threads");
        assert!(outcome.converged || limit.is_some(), "{analysis}");
        outcome
    });
    let [one, three] = outcomes;
    if one.converged && three.converged {
        assert_eq!(one.values, three.values, "{analysis}");
    }
    one
}

fn words(outcome: &RunOutcome) -> &[u32] {
    match &outcome.values {
        Column::U32(words) => words,
        other => panic!("not words: {other:?}"),
    }
}

fn case() -> impl Strategy<Value = (EdgeList, bool)> {
    drawn::graphs(200).prop_map(|(list, _)| {
        let both = list.undirected;
        (list, both)
    })
}

/// The same edges in both directions.
fn undirected(list: &EdgeList) -> Graph {
    Graph::from_edges(list.nodes, &list.edges, true).unwrap()
}

/// Edges that join two different nodes.
fn edges(list: &EdgeList) -> impl Iterator<Item = (usize, usize)> + '_ {
    let proper = list.edges.iter().filter(|(from, to)| from != to);
    proper.map(|(from, to)| (*from as usize, *to as usize))
}

/// The nodes that each node reaches, itself included.
fn reached(list: &EdgeList) -> Vec<Vec<bool>> {
    let count = list.nodes as usize;
    let rows = list.adjacency(false);
    (0..count)
        .map(|start| {
            let mut seen = vec![false; count];
            let mut open = vec![start];
            while let Some(node) = open.pop() {
                if !std::mem::replace(&mut seen[node], true) {
                    open.extend(rows[node].iter().map(|to| *to as usize));
                }
            }
            seen
        })
        .collect()
}

/// Length and number of shortest paths from `source` to each node; infinite if there is none.
fn shortest(graph: &Graph, source: u32) -> Vec<(f64, f64)> {
    let mut found = vec![(f64::INFINITY, 0.0); graph.nodes() as usize];
    found[source as usize] = (0.0, 1.0);
    for length in 1..graph.nodes() {
        let before = found.clone();
        for (from, _) in (0..graph.nodes())
            .zip(&before)
            .filter(|(_, at)| at.0 == f64::from(length - 1))
        {
            for to in graph.neighbours(from).iter().map(|to| *to as usize) {
                if before[to].0 == f64::INFINITY {
                    found[to] = (f64::from(length), found[to].1 + before[from as usize].1);
                }
            }
        }
    }
    found
}

#[test]
fn paths_without_number_are_shared_out() {
    // 1200 squares in a row: 2^1200 shortest paths, more than a double holds.
    const SQUARES: u32 = 1200;
    let square = |at: u32| [(0, 1), (0, 2), (1, 3), (2, 3)].map(|(a, b)| (3 * at + a, 3 * at + b));
    let edges: Vec<_> = (0..SQUARES).flat_map(square).collect();
    let graph = Graph::from_edges(3 * SQUARES + 1, &edges, true).unwrap();
    let outcome = run(&graph, AnalysisKind::Betweenness, &[0], None);
    let Column::F32(scores) = &outcome.values else {
        panic!("no floats")
    };
    for square in 0..SQUARES {
        // Ends beyond the square, half of them each way, and its far corner.
        let beyond = f64::from(3 * (SQUARES - square) - 2) / 2.0;
        for corner in [1, 2] {
            let score = f64::from(scores[(3 * square + corner) as usize]);
            assert!((score - beyond).abs() < 0.002 * beyond, "{score}, {beyond}");
        }
    }
}

/// Weight of a minimum spanning forest by Prim's algorithm, without a queue.
fn least_weight(graph: &Graph) -> u64 {
    let count = graph.nodes() as usize;
    let mut done = vec![false; count];
    let mut reach: Vec<Option<u32>> = vec![None; count];
    let mut sum = 0;
    for _ in 0..count {
        let open = (0..count).filter(|node| !done[*node]);
        let next = open.min_by_key(|node| reach[*node].map_or(u64::MAX, u64::from));
        let Some(node) = next else { break };
        done[node] = true;
        sum += reach[node].map_or(0, u64::from);
        for edge in graph.outgoing().row(node as u32) {
            let (to, weight) = (
                graph.targets()[edge] as usize,
                graph.weights().unwrap()[edge],
            );
            if !done[to] && reach[to].is_none_or(|known| weight < known) {
                reach[to] = Some(weight);
            }
        }
    }
    sum
}

proptest! {
    #![proptest_config(few(16))]

    #[test]
    fn independent_sets_are_independent_and_maximal((list, _) in case()) {
        let graph = undirected(&list);
        let outcome = run(&graph, AnalysisKind::Mis, &[], None);
        let flags = words(&outcome);
        let mut has_member_beside = vec![false; flags.len()];
        for (one, other) in edges(&list) {
            prop_assert!(flags[one] + flags[other] < 2, "{one} and {other}");
            has_member_beside[one] |= flags[other] == 1;
            has_member_beside[other] |= flags[one] == 1;
        }
        for (flag, has_member) in flags.iter().zip(&has_member_beside) {
            prop_assert!(*flag == 1 || *has_member);
        }
    }

    #[test]
    fn colourings_are_proper_and_need_no_more_than_degrees_ask((list, _) in case()) {
        let graph = undirected(&list);
        let outcome = run(&graph, AnalysisKind::Colouring, &[], None);
        let colours = words(&outcome);
        for (one, other) in edges(&list) {
            prop_assert_ne!(colours[one], colours[other]);
        }
        for (node, colour) in colours.iter().enumerate() {
            prop_assert!(*colour as usize <= graph.neighbours(node as u32).len());
        }
    }

    #[test]
    fn strong_components_reach_each_other_and_nobody_else((list, _) in case()) {
        let graph = list.graph().unwrap();
        let outcome = run(&graph, AnalysisKind::Scc, &[], None);
        let labels = words(&outcome);
        let reached = reached(&list);
        for one in 0..labels.len() {
            let same = |other: &usize| reached[one][*other] && reached[*other][one];
            let least = (0..labels.len()).find(same);
            prop_assert_eq!(Some(labels[one] as usize), least);
        }
    }

    #[test]
    fn widest_paths_are_as_wide_as_paths_get(
        (list, both) in case(),
        heaviest in proptest::sample::select(vec![0_u32, 3, 1000, u32::MAX]),
        picks in proptest::collection::vec(any::<u32>(), 1..4),
    ) {
        prop_assume!(list.nodes > 0);
        let mut random = Random::new(u64::from(heaviest) + 7);
        let weigh = |(from, to): &(u32, u32)| (*from, *to, random.below(heaviest.saturating_add(1).max(1)));
        let weighted: Vec<_> = list.edges.iter().map(weigh).collect();
        let graph = Graph::from_weighted_edges(list.nodes, &weighted, both).unwrap();
        let sources: Vec<u32> = picks.iter().map(|pick| pick % list.nodes).collect();
        let outcome = run(&graph, AnalysisKind::Widest, &sources, None);
        // One more than a width, so that 0 stands for no path.
        let mut widths = vec![0_u64; list.nodes as usize];
        sources.iter().for_each(|source| widths[*source as usize] = u64::from(u32::MAX));
        for _ in 0..list.nodes {
            for node in 0..graph.nodes() {
                for edge in graph.outgoing().row(node) {
                    let weight = u64::from(graph.weights().unwrap()[edge].min(u32::MAX - 2)) + 1;
                    let through = widths[node as usize].min(weight);
                    let to = &mut widths[graph.targets()[edge] as usize];
                    *to = through.max(*to);
                }
            }
        }
        let expected: Vec<u32> = widths.iter().map(|width| (*width as u32).wrapping_sub(1)).collect();
        prop_assert_eq!(words(&outcome), expected);
    }

    #[test]
    fn forests_span_with_the_least_weight((list, _) in case(), heaviest in 0..40_u32) {
        let mut random = Random::new(u64::from(heaviest));
        let weigh = |(from, to): &(u32, u32)| (*from, *to, random.below(heaviest + 1));
        let weighted: Vec<_> = list.edges.iter().map(weigh).collect();
        let graph = Graph::from_weighted_edges(list.nodes, &weighted, true).unwrap();
        let outcome = run(&graph, AnalysisKind::Msf, &[], None);
        let Column::U64(held) = &outcome.values else { panic!("no pairs") };
        let weight_of = |from: u32, to: u32| {
            let mut row = graph.outgoing().row(from);
            row.find(|edge| graph.targets()[*edge] == to).map(|edge| graph.weights().unwrap()[edge])
        };
        let mut forest = EdgeList { nodes: list.nodes, edges: Vec::new(), undirected: true };
        let mut sum = 0_u64;
        for edge in held.iter().filter(|edge| **edge != u64::MAX) {
            let (from, to) = ((edge >> 32) as u32, *edge as u32);
            sum += u64::from(weight_of(from, to).unwrap());
            forest.edges.push((from, to));
        }
        // It connects the same nodes as the graph, without a redundant edge.
        let all = EdgeList { undirected: true, ..list.clone() };
        let components = oracle::components(&all);
        prop_assert_eq!(oracle::components(&forest), components.clone());
        let roots = components.iter().enumerate().filter(|(node, label)| *node as u32 == **label);
        prop_assert_eq!(forest.edges.len() + roots.count(), list.nodes as usize);
        prop_assert_eq!(sum, least_weight(&graph));
    }

    #[test]
    fn walkers_from_the_sources_are_where_the_equations_have_them(
        (list, _) in case(),
        picks in proptest::collection::vec(any::<u32>(), 1..4),
    ) {
        prop_assume!(list.nodes > 0);
        let graph = list.graph().unwrap();
        let sources: Vec<u32> = picks.iter().map(|pick| pick % list.nodes).collect();
        let outcome = run(&graph, AnalysisKind::Ppr, &sources, None);
        let Column::F32(ranks) = &outcome.values else { panic!("no floats") };
        let mut next = vec![0.0_f64; ranks.len()];
        let mut anew = 0.15;
        for (node, rank) in (0..graph.nodes()).zip(ranks) {
            let (row, rank) = (graph.neighbours(node), f64::from(*rank));
            row.iter().for_each(|to| next[*to as usize] += 0.85 * rank / row.len() as f64);
            anew += if row.is_empty() { 0.85 * rank } else { 0.0 };
        }
        sources.iter().for_each(|source| next[*source as usize] += anew / sources.len() as f64);
        let moved: f64 = ranks.iter().zip(&next).map(|(rank, next)| (f64::from(*rank) - next).abs()).sum();
        // Within the tolerance of 1e-4.
        prop_assert!(moved < 1.2e-4, "{moved}");
        let sum: f64 = ranks.iter().map(|rank| f64::from(*rank)).sum();
        prop_assert!((sum - 1.0).abs() < 1e-4, "{sum}");
        let reached = reached(&list);
        for (node, rank) in ranks.iter().enumerate() {
            let is_reached = sources.iter().any(|source| reached[*source as usize][node]);
            prop_assert!(is_reached || *rank == 0.0);
        }
    }

    #[test]
    fn betweenness_counts_paths_through_nodes(
        (list, both) in case(),
        picks in proptest::collection::vec(any::<u32>(), 1..4),
    ) {
        prop_assume!(list.nodes > 0 && list.nodes < 80);
        let graph = Graph::from_edges(list.nodes, &list.edges, both).unwrap();
        let mut sources: Vec<u32> = picks.iter().map(|pick| pick % list.nodes).collect();
        sources.sort_unstable();
        sources.dedup();
        let outcome = run(&graph, AnalysisKind::Betweenness, &sources, None);
        let Column::F32(scores) = &outcome.values else { panic!("no floats") };
        let from: Vec<_> = (0..graph.nodes()).map(|node| shortest(&graph, node)).collect();
        for (node, score) in scores.iter().enumerate() {
            let mut expected = 0.0;
            for source in sources.iter().map(|source| *source as usize).filter(|source| *source != node) {
                for target in (0..from.len()).filter(|target| ![source, node].contains(target)) {
                    let ((to, first), (on, second)) = (from[source][node], from[node][target]);
                    let (whole, all) = from[source][target];
                    if to + on == whole && all > 0.0 {
                        // A path is the same from both of its ends.
                        let is_found_twice = graph.is_symmetric() && sources.contains(&(target as u32));
                        expected += first * second / all * if is_found_twice { 0.5 } else { 1.0 };
                    }
                }
            }
            prop_assert!((f64::from(*score) - expected).abs() <= 1e-4 * expected, "{node}: {score}, {expected}");
        }
    }

    #[test]
    fn runs_that_a_limit_ends_pass_their_check((list, both) in case(), limit in 1..4_u32) {
        prop_assume!(list.nodes > 0);
        let graph = undirected(&list);
        run(&graph, AnalysisKind::Mis, &[], Some(limit));
        run(&graph, AnalysisKind::Colouring, &[], Some(limit));
        run(&list.graph().unwrap(), AnalysisKind::Scc, &[], Some(limit));
        run(&list.graph().unwrap(), AnalysisKind::Ppr, &[0], Some(limit));
        let last = list.nodes - 1;
        let mut sources = vec![0, last / 2, last];
        sources.dedup();
        run(&list.graph().unwrap(), AnalysisKind::Betweenness, &sources, Some(limit));
        let weigh = |(from, to): &(u32, u32)| (*from, *to, from ^ to);
        let weighted: Vec<_> = list.edges.iter().map(weigh).collect();
        let graph = Graph::from_weighted_edges(list.nodes, &weighted, both).unwrap();
        run(&graph, AnalysisKind::Widest, &[0], Some(limit));
        let graph = Graph::from_weighted_edges(list.nodes, &weighted, true).unwrap();
        run(&graph, AnalysisKind::Msf, &[], Some(limit));
    }

    #[test]
    fn widths_in_floats_are_those_in_whole_numbers((list, both) in case()) {
        prop_assume!(list.nodes > 0);
        let whole: Vec<_> = list.edges.iter().map(|(from, to)| (*from, *to, (from * 7 + to * 3) % 64)).collect();
        let floats: Vec<_> = whole.iter().map(|(from, to, weight)| (*from, *to, *weight as f32)).collect();
        let whole = Graph::from_weighted_edges(list.nodes, &whole, both).unwrap();
        let floats = Graph::from_float_edges(list.nodes, &floats, both).unwrap();
        let expected = run(&whole, AnalysisKind::Widest, &[0], None);
        let found = run(&floats, AnalysisKind::Widest, &[0], None);
        let Column::F32(found) = found.values else { panic!("no floats") };
        for (float, word) in found.iter().zip(words(&expected)) {
            match *word {
                u32::MAX => prop_assert_eq!(*float, f32::INFINITY),
                word if word == u32::MAX - 1 => prop_assert_eq!(*float, f32::MAX),
                word => prop_assert_eq!(*float, word as f32),
            }
        }
    }
}

/// The colours that nodes take one after another, by degree and then by multiples of a number near
/// the golden ratio of all words, the largest first.
fn greedy(graph: &Graph) -> Vec<u32> {
    let mut order: Vec<u32> = (0..graph.nodes()).collect();
    let degree = |node: u32| graph.neighbours(node).len();
    let spread = |node: u32| node.wrapping_mul(0x9E37_79B1);
    order.sort_by_key(|node| std::cmp::Reverse((degree(*node), spread(*node))));
    let mut colours = vec![u32::MAX; order.len()];
    for node in order {
        let row = graph.neighbours(node);
        let taken: Vec<u32> = row.iter().map(|other| colours[*other as usize]).collect();
        let free = (0..).find(|colour| !taken.contains(colour)).unwrap();
        colours[node as usize] = free;
    }
    colours
}

#[test]
fn nodes_with_many_edges_are_coloured_like_one_after_another() {
    let mut random = Random::new(11);
    // Nodes before the last ones exceed those that wait at the same time.
    for (hubs, nodes) in [(1, 620), (7, 640), (170, 650), (1100, 1130)] {
        let mut list = graphs::with_hubs(nodes, hubs, &mut random);
        // Parallel edges and loops are not counted as degrees.
        list.undirected = true;
        list.edges = list.simple();
        let graph = undirected(&list);
        let outcome = run(&graph, AnalysisKind::Colouring, &[], None);
        let colours = words(&outcome);
        assert_eq!(colours, greedy(&graph), "{hubs} hubs");
        if hubs == 170 {
            assert!(colours.iter().any(|colour| *colour > 64), "one window");
        }
    }
    let few = undirected(&graphs::with_hubs(200, 7, &mut random));
    for limit in [1, 2, 9] {
        run(&few, AnalysisKind::Colouring, &[], Some(limit));
    }
}

#[test]
fn hubs_that_need_more_colours_than_they_are_notified_of_find_them() {
    let nodes = 530;
    let pairs = (0..nodes).flat_map(|from| (0..from).map(move |to| (from, to)));
    let pairs: Vec<_> = pairs.collect();
    let graph = Graph::from_edges(nodes, &pairs, true).unwrap();
    let outcome = run(&graph, AnalysisKind::Colouring, &[], None);
    let mut colours = words(&outcome).to_vec();
    colours.sort_unstable();
    assert!(colours.into_iter().eq(0..nodes));
}

#[test]
fn long_circles_are_strong_components() {
    for nodes in [2, 30, 200] {
        let mut edges: Vec<_> = (0..nodes).map(|node| (node, (node + 1) % nodes)).collect();
        // Nodes before the circle, and nodes after it.
        edges.extend([(nodes, 1), (nodes + 1, nodes), (0, nodes + 2)]);
        let graph = Graph::from_edges(nodes + 3, &edges, false).unwrap();
        let outcome = run(&graph, AnalysisKind::Scc, &[], None);
        let expected = (0..nodes + 3).map(|node| if node < nodes { 0 } else { node });
        assert_eq!(words(&outcome), expected.collect::<Vec<_>>());
    }
}
