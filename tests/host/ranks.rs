//! Rankings along weights and from start weights, against the equations that ranks solve.

use crate::drawn::{self, few};
use proptest::prelude::*;
use seawall::graph::Graph;
use seawall::outcome::{Column, Rounds, RunOutcome};
use seawall::run::{AnalysisKind, Machine, RunError, RunRequest, execute};
use seawall_oracles::random::Random;
use std::num::{NonZeroU32, NonZeroUsize};

fn execute_on(graph: &Graph, request: &RunRequest, threads: usize) -> RunOutcome {
    let mut request = request.clone();
    request.machine = Machine::cpu(NonZeroUsize::new(threads));
    request.check = true;
    let outcome = execute(graph, &request).unwrap();
    assert_eq!(outcome.checked, Some(true), "{threads} threads");
    outcome
}

/// The same ranks on any number of threads.
fn run(graph: &Graph, request: &RunRequest) -> RunOutcome {
    let [one, two, five] = [1, 2, 5].map(|threads| execute_on(graph, request, threads));
    assert!(one.values == two.values && two.values == five.values);
    assert!(one.rounds == two.rounds && two.rounds == five.rounds);
    one
}

fn ranks(outcome: &RunOutcome) -> &[f32] {
    outcome.values.floats().expect("ranks are floats")
}

/// The difference of `ranks` from the ranks after one more step along `edges`.
fn moved(ranks: &[f32], edges: &[(u32, u32, f64)], starts: &[f64]) -> f64 {
    let mut sums = vec![0.0; ranks.len()];
    edges
        .iter()
        .for_each(|(from, _, weight)| sums[*from as usize] += weight);
    let mut next = vec![0.0; ranks.len()];
    for (from, to, weight) in edges {
        let sum = sums[*from as usize];
        if sum > 0.0 {
            next[*to as usize] += 0.85 * f64::from(ranks[*from as usize]) * weight / sum;
        }
    }
    let dangling = ranks.iter().zip(&sums).filter(|(_, sum)| **sum == 0.0);
    let anew = 0.15 + 0.85 * dangling.map(|(rank, _)| f64::from(*rank)).sum::<f64>();
    let all: f64 = starts.iter().sum();
    let moves = next.iter().zip(starts).zip(ranks);
    moves
        .map(|((next, start), rank)| (next + anew * start / all - f64::from(*rank)).abs())
        .sum()
}

/// The directed edges of a graph with their weights.
fn edges(graph: &Graph, weight: impl Fn(u32) -> f64) -> Vec<(u32, u32, f64)> {
    let rows = (0..graph.nodes())
        .flat_map(|node| graph.outgoing().row(node).map(move |edge| (node, edge)));
    rows.map(|(node, edge)| {
        let word = graph.weights().map_or(1, |weights| weights[edge]);
        (node, graph.targets()[edge], weight(word))
    })
    .collect()
}

#[test]
fn equal_weights_rank_as_none_and_zeroes_do_not() {
    let ends = [(0, 1), (0, 2), (0, 2), (1, 0), (2, 3), (3, 3), (4, 0)];
    let plain = Graph::from_edges(6, &ends, false).unwrap();
    for analysis in [AnalysisKind::Pagerank, AnalysisKind::Ppr] {
        let mut request = RunRequest::new(analysis, vec![0]);
        if analysis == AnalysisKind::Pagerank {
            request.sources.clear();
        }
        let expected = run(&plain, &request);
        for weight in [0.25, 3.0] {
            let edges = ends.map(|(from, to)| (from, to, weight));
            let graph = Graph::from_float_edges(6, &edges, false).unwrap();
            assert_eq!(graph.steering_weights(), None);
            assert_eq!(run(&graph, &request).values, expected.values);
        }
        let edges = ends.map(|(from, to)| (from, to, 0));
        let zeroes = Graph::from_weighted_edges(6, &edges, false).unwrap();
        assert!(zeroes.steering_weights().is_some());
        assert_ne!(run(&zeroes, &request).values, expected.values);
    }
}

#[test]
fn weights_share_ranks_out() {
    let edges = [(0, 1, 9.0), (0, 2, 1.0), (1, 0, 1.0), (2, 0, 1.0)];
    let graph = Graph::from_float_edges(3, &edges, false).unwrap();
    let mut request = RunRequest::new(AnalysisKind::Pagerank, Vec::new());
    request.ranking.tolerance = 1e-7;
    let found = run(&graph, &request);
    let expected = [0.4865, 0.4222, 0.0914];
    for (rank, expected) in ranks(&found).iter().zip(expected) {
        assert!((rank - expected).abs() < 1e-4, "{rank}, {expected}");
    }
    request.weighted = false;
    let even = run(&graph, &request);
    assert!((ranks(&even)[1] - ranks(&even)[2]).abs() < 1e-6);
    let plain = run(&graph.without_weights(), &request);
    assert_eq!(plain.values, even.values);
}

#[test]
fn a_limit_of_iterations_is_kept_to() {
    let graph = Graph::from_edges(4, &[(0, 1), (1, 2), (2, 3), (3, 0), (0, 2)], false).unwrap();
    for analysis in [AnalysisKind::Pagerank, AnalysisKind::Ppr] {
        let mut request = RunRequest::new(analysis, vec![0]);
        request.ranking.tolerance = 0.0;
        for limit in [1, 5, 107, 108, 500] {
            request.max_iterations = NonZeroU32::new(limit);
            let outcome = run(&graph, &request);
            let Rounds::Iterations(count) = outcome.rounds else {
                panic!("no iterations")
            };
            assert!(
                count == limit || (outcome.converged && count < limit),
                "{limit}, {count}"
            );
        }
        request.ranking.damping = 0.999;
        request.max_iterations = NonZeroU32::new(3000);
        let outcome = run(&graph, &request);
        assert!(matches!(outcome.rounds, Rounds::Iterations(count) if count > 107));
    }
}

#[test]
fn start_weights_that_are_no_shares_are_refused() {
    let graph = Graph::from_edges(3, &[(0, 1), (1, 2)], false).unwrap();
    let refused = |sources: &[u32], weights: &[f64]| {
        let mut request = RunRequest::new(AnalysisKind::Ppr, sources.to_vec());
        request.source_weights = weights.to_vec();
        execute(&graph, &request).unwrap_err()
    };
    for weights in [
        [0.0, 0.0],
        [-1.0, 2.0],
        [f64::NAN, 1.0],
        [f64::INFINITY, 1.0],
        [f64::MAX; 2],
    ] {
        let error = refused(&[0, 1], &weights);
        assert!(matches!(error, RunError::SourceWeight { .. }), "{error}");
    }
    let error = refused(&[0], &[1.0, 2.0]);
    assert!(matches!(
        error,
        RunError::TooManySourceWeights {
            weights: 2,
            sources: 1
        }
    ));
    let mut request = RunRequest::new(AnalysisKind::Bfs, vec![0]);
    request.source_weights = vec![1.0];
    let error = execute(&graph, &request).unwrap_err();
    assert!(matches!(error, RunError::WrongOption { .. }), "{error}");
}

/// A graph with so many further nodes that a walk reaches but a small part of it.
fn among_many(nodes: u32, edges: &[(u32, u32, u32)], undirected: bool) -> Graph {
    let all = nodes + 9 * (nodes + 2 * edges.len() as u32);
    Graph::from_weighted_edges(all, edges, undirected).unwrap()
}

#[test]
fn a_walk_along_a_chain_ranks_the_nodes_that_it_reaches() {
    // Triangles, each with an edge to the next one.
    let triangle = |base: u32| {
        let edges = [(0, 1), (1, 2), (2, 0), (2, 3)];
        edges.map(|(from, to)| (base + from, base + to, base % 7 + to))
    };
    let edges: Vec<_> = (0..2000).flat_map(|k| triangle(3 * k)).collect();
    let graph = Graph::from_weighted_edges(6001, &edges, false).unwrap();
    let mut request = RunRequest::new(AnalysisKind::Ppr, vec![30]);
    for weighted in [true, false] {
        request.weighted = weighted;
        let near = run(&graph, &request);
        let Rounds::Iterations(count) = near.rounds else {
            panic!("no iterations")
        };
        let ranks = ranks(&near);
        let ranked: Vec<usize> = (0..ranks.len()).filter(|node| ranks[*node] > 0.0).collect();
        assert!(ranked.len() > 60, "{ranked:?}");
        assert_eq!(ranked[0], 30);
        assert!(ranked.last().unwrap() <= &(30 + 3 * (count as usize + 1) / 2 + 3));
    }
}

proptest! {
    #![proptest_config(few(10))]

    #[test]
    fn ranks_solve_their_equations(
        (list, _) in drawn::graphs(200),
        heaviest in proptest::sample::select(vec![0_u32, 1, 9, 1 << 30]),
        picks in proptest::collection::vec((any::<u32>(), 0..4_u32), 1..4),
    ) {
        prop_assume!(list.nodes > 0);
        let mut random = Random::new(u64::from(heaviest) + 3);
        let weigh = |(from, to): &(u32, u32)| (*from, *to, random.below(heaviest + 1));
        let whole: Vec<_> = list.edges.iter().map(weigh).collect();
        let floats: Vec<_> = whole.iter().map(|(from, to, weight)| (*from, *to, *weight as f32 * 0.37)).collect();
        let whole = Graph::from_weighted_edges(list.nodes, &whole, list.undirected).unwrap();
        let floats = Graph::from_float_edges(list.nodes, &floats, list.undirected).unwrap();
        let whole_edges = edges(&whole, f64::from);
        let float_edges = edges(&floats, |word| f64::from(f32::from_bits(word)));
        let even = vec![1.0; list.nodes as usize];
        let mut starts = vec![0.0; list.nodes as usize];
        let mut personal = RunRequest::new(AnalysisKind::Ppr, Vec::new());
        for (pick, weight) in &picks {
            let weight = f64::from(*weight) + 0.25;
            personal.sources.push(pick % list.nodes);
            personal.source_weights.push(weight);
            starts[(pick % list.nodes) as usize] += weight;
        }
        for (graph, edges) in [(&whole, &whole_edges), (&floats, &float_edges)] {
            let request = RunRequest::new(AnalysisKind::Pagerank, Vec::new());
            let found = run(graph, &request);
            prop_assert!(moved(ranks(&found), edges, &even) < 1.2e-4);
            let found = run(graph, &personal);
            prop_assert!(moved(ranks(&found), edges, &starts) < 1.2e-4);
            let sum: f64 = ranks(&found).iter().map(|rank| f64::from(*rank)).sum();
            prop_assert!((sum - 1.0).abs() < 1e-4, "{}", sum);
        }
        let Column::F32(_) = run(&whole.without_weights(), &personal).values else { panic!() };
    }
    #[test]
    fn few_nodes_rank_as_all_do(
        (list, _) in drawn::graphs(60),
        heaviest in proptest::sample::select(vec![1_u32, 9, 1 << 30]),
        picks in proptest::collection::vec((any::<u32>(), 0..4_u32), 1..4),
        limit in proptest::option::of(1..9_u32),
    ) {
        prop_assume!(list.nodes > 0);
        let mut random = Random::new(u64::from(heaviest) + 5);
        let weigh = |(from, to): &(u32, u32)| (*from, *to, random.below(heaviest + 1));
        let weighted: Vec<_> = list.edges.iter().map(weigh).collect();
        let all = Graph::from_weighted_edges(list.nodes, &weighted, list.undirected).unwrap();
        let few = among_many(list.nodes, &weighted, list.undirected);
        let mut request = RunRequest::new(AnalysisKind::Ppr, Vec::new());
        request.max_iterations = limit.and_then(NonZeroU32::new);
        for (pick, weight) in &picks {
            request.sources.push(pick % list.nodes);
            request.source_weights.push(f64::from(*weight) + 0.25);
        }
        for weighted in [true, false] {
            request.weighted = weighted;
            let (all, few) = (run(&all, &request), run(&few, &request));
            prop_assert_eq!(all.rounds, few.rounds);
            let (first, rest) = ranks(&few).split_at(list.nodes as usize);
            let bits = |ranks: &[f32]| ranks.iter().map(|rank| rank.to_bits()).collect::<Vec<_>>();
            prop_assert_eq!(bits(ranks(&all)), bits(first));
            prop_assert!(rest.iter().all(|rank| *rank == 0.0));
        }
    }
}
