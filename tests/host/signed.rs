//! Negative weights: shortest paths and spanning forests against plain implementations, cycles in
//! refusals, and analyses that refuse them.

use crate::drawn;
use proptest::prelude::*;
use seawall::analysis::Number;
use seawall::backend::BackendError;
use seawall::graph::{Graph, NodeName, WeightKind};
use seawall::outcome::{Column, RunOutcome};
use seawall::run::{AnalysisKind, Detail, Executor, Machine, RunError, RunRequest, execute};
use seawall_oracles::random::Random;
use std::num::NonZeroUsize;

fn request(kind: AnalysisKind, sources: &[u32], threads: usize) -> RunRequest {
    let machine = Machine::cpu(NonZeroUsize::new(threads));
    let mut request = RunRequest::new(kind, sources.to_vec()).on(machine);
    request.check = true;
    request
}

fn paths(graph: &Graph, sources: &[u32]) -> Result<RunOutcome, RunError> {
    let run = |threads| {
        let mut request = request(AnalysisKind::Sssp, sources, threads);
        request.detail = Detail::Parents;
        execute(graph, &request)
    };
    let (one, three) = (run(1), run(3));
    if let (Ok(one), Ok(three)) = (&one, &three) {
        assert_eq!((one.checked, three.checked), (Some(true), Some(true)));
        assert!(one.values == three.values && one.parents == three.parents);
    }
    assert_eq!(one.is_ok(), three.is_ok());
    one
}

/// Lengths of lightest walks of at most so many edges, by trying all; `None` where there is none.
fn walks(nodes: u32, edges: &[(u32, u32, i32)], sources: &[u32], most: u32) -> Vec<Option<i64>> {
    let mut lengths = vec![None; nodes as usize];
    for source in sources {
        lengths[*source as usize] = Some(0);
    }
    for _ in 0..most {
        let before = lengths.clone();
        for &(from, to, weight) in edges {
            let longer = before[from as usize].map(|length: i64| length + i64::from(weight));
            let known = &mut lengths[to as usize];
            *known = match (*known, longer) {
                (Some(known), Some(longer)) => Some(known.min(longer)),
                (known, longer) => known.or(longer),
            };
        }
    }
    lengths
}

/// Asserts that a refusal names nodes around a cycle of `edges` of that weight below 0.
fn assert_cycle(edges: &[(u32, u32, i32)], error: &RunError) {
    let RunError::NegativeCycle { nodes, weight, .. } = error else {
        panic!("{error}")
    };
    let number = |name: &NodeName| match name {
        NodeName::Id(id) => *id as u32,
        NodeName::Name(name) => panic!("{name}"),
    };
    let around: Vec<u32> = nodes.iter().map(number).collect();
    let steps = around.iter().zip(around.iter().cycle().skip(1));
    let lightest = |(from, to): (&u32, &u32)| {
        let between = edges.iter().filter(|edge| (edge.0, edge.1) == (*from, *to));
        i64::from(between.map(|edge| edge.2).min().expect("an edge"))
    };
    let sum: i64 = steps.map(lightest).sum();
    assert!(sum < 0, "{nodes:?}");
    assert_eq!(*weight, sum as f64);
    let mut once = around.clone();
    once.sort_unstable();
    once.dedup();
    assert_eq!(once.len(), around.len(), "{nodes:?}");
}

#[test]
fn a_lighter_way_may_lead_over_a_heavier_edge() {
    let edges = [(0, 1, 4), (0, 2, 6), (2, 1, -5), (1, 3, -2), (4, 0, 1)];
    let graph = Graph::from_signed_edges(5, &edges, false).unwrap();
    let found = paths(&graph, &[0]).unwrap();
    assert_eq!(found.values, Column::I64(vec![0, 1, 6, -1, i64::MAX]));
    assert_eq!(found.parents.as_deref(), Some(&[0, 2, 0, 1, u32::MAX][..]));
    let path = found.path_to(3, &graph);
    assert_eq!(path.nodes, [0, 2, 1, 3]);
    assert_eq!(path.weight, Some(Number::Signed(-1)));
    // A source with a path of negative length from another source has a parent.
    let two = paths(&graph, &[2, 1]).unwrap();
    assert_eq!(two.values, Column::I64(vec![i64::MAX, -5, 0, -7, i64::MAX]));
}

#[test]
fn distances_beyond_32_bits_are_exact() {
    let edges = [
        (0, 1, i32::MIN),
        (1, 2, i32::MIN),
        (2, 3, -7),
        (0, 4, i32::MAX),
    ];
    let graph = Graph::from_signed_edges(5, &edges, false).unwrap();
    let least = i64::from(i32::MIN);
    let expected = vec![0, least, 2 * least, 2 * least - 7, i64::from(i32::MAX)];
    assert_eq!(paths(&graph, &[0]).unwrap().values, Column::I64(expected));
}

#[test]
fn cycles_below_0_are_named_where_a_source_reaches_them() {
    let edges = [(0, 1, 1), (1, 2, 2), (2, 3, -4), (3, 1, 1), (4, 5, 9)];
    let graph = Graph::from_signed_edges(6, &edges, false).unwrap();
    let error = paths(&graph, &[0]).unwrap_err();
    assert_cycle(&edges, &error);
    assert!(
        error
            .to_string()
            .contains("around 1, 2, 3, 1 have the weight -1"),
        "{error}"
    );
    assert_eq!(paths(&graph, &[4]).unwrap().reached, 2);
    // A cycle of weight 0 is no negative cycle.
    let edges = [(0, 1, 1), (1, 2, 3), (2, 3, -4), (3, 1, 1)];
    let graph = Graph::from_signed_edges(4, &edges, false).unwrap();
    assert_eq!(
        paths(&graph, &[0]).unwrap().values,
        Column::I64(vec![0, 1, 4, 0])
    );
}

#[test]
fn a_loop_and_an_undirected_edge_below_0_are_cycles() {
    let edges = [(0, 1, 5), (1, 1, -1)];
    let graph = Graph::from_signed_edges(2, &edges, false).unwrap();
    for source in [0, 1] {
        assert_cycle(&edges, &paths(&graph, &[source]).unwrap_err());
    }
    // A loop of positive weight shortens no path.
    let edges = [(0, 1, -5), (1, 1, 1)];
    let graph = Graph::from_signed_edges(2, &edges, false).unwrap();
    assert_eq!(
        paths(&graph, &[0]).unwrap().values,
        Column::I64(vec![0, -5])
    );
    let graph = Graph::from_signed_edges(3, &[(0, 1, 2), (1, 2, -1)], true).unwrap();
    let error = paths(&graph, &[0]).unwrap_err();
    assert!(
        error
            .to_string()
            .contains("every undirected edge of negative weight"),
        "{error}"
    );
    assert_cycle(&[(1, 2, -1), (2, 1, -1)], &error);
}

#[test]
fn float_weights_below_0_are_summed_as_doubles() {
    let edges = [(0, 1, 1000.1), (1, 2, -0.5), (2, 3, -0.25), (3, 1, 0.75)];
    let graph = Graph::from_signed_float_edges(4, &edges, false).unwrap();
    let found = paths(&graph, &[0]).unwrap();
    let start = f64::from(1000.1_f32);
    let expected = [0.0, start, start - 0.5, start - 0.75].map(|length| length as f32);
    assert_eq!(found.values, Column::F32(expected.to_vec()));
    let graph = Graph::from_signed_float_edges(2, &[(0, 1, -1e-3), (1, 0, 5e-4)], false).unwrap();
    let error = paths(&graph, &[0]).unwrap_err();
    assert!(
        matches!(error, RunError::NegativeCycle { weight, .. } if weight < 0.0),
        "{error}"
    );
    let far = [(0, 1, -3e38), (1, 2, -3e38)];
    let graph = Graph::from_signed_float_edges(3, &far, false).unwrap();
    let error = paths(&graph, &[0]).unwrap_err();
    assert!(
        matches!(
            error,
            RunError::Backend(BackendError::PathTooLong { from: 1, to: 2, .. })
        ),
        "{error}"
    );
}

#[test]
fn other_analyses_and_machines_refuse_negative_weights() {
    let edges = [(0, 1, 3), (1, 2, -2)];
    let graph = Graph::from_signed_edges(3, &edges, true).unwrap();
    for kind in AnalysisKind::ALL {
        let mut request = request(kind, &[0], 1);
        request.centrality.weighted = kind.facts().weighs;
        let refused = execute(&graph, &request);
        let reads = request.reads_weights() || kind.facts().follows_weights;
        match (reads, kind.facts().signed, refused) {
            (
                true,
                false,
                Err(RunError::WeightTooSmall {
                    analysis,
                    from,
                    to,
                    weight,
                    ..
                }),
            ) => {
                assert_eq!((analysis, weight), (kind, -2.0));
                assert_eq!((from, to), (NodeName::Id(1), NodeName::Id(2)));
            }
            (true, true, Err(RunError::NegativeCycle { .. })) => {
                assert_eq!(kind, AnalysisKind::Sssp)
            }
            (true, true, Ok(found)) | (false, _, Ok(found)) => {
                assert_eq!(found.checked, Some(true), "{kind}");
            }
            (.., other) => panic!("{kind}: {:?}", other.err().map(|error| error.to_string())),
        }
    }
    let directed = Graph::from_signed_edges(3, &edges, false).unwrap();
    let mut limited = request(AnalysisKind::Sssp, &[0], 1);
    limited.max_iterations = std::num::NonZeroU32::new(3);
    let error = execute(&directed, &limited).unwrap_err();
    assert!(matches!(error, RunError::NoIterations { .. }), "{error}");
    let on_gpu = RunRequest::new(AnalysisKind::Sssp, vec![0]).on(Machine::gpu(Executor::Mega, 0));
    let error = execute(&directed, &on_gpu).unwrap_err();
    assert!(
        error
            .to_string()
            .contains("negative weights runs on threads"),
        "{error}"
    );
    let auto = RunRequest::new(AnalysisKind::Sssp, vec![0]).on(Machine::auto());
    let found = execute(&directed, &auto).unwrap();
    assert_eq!(found.backend, Executor::Cpu);
    assert!(
        found
            .backend_reason
            .unwrap()
            .contains("no GPU has sssp with negative weights")
    );
}

fn forest_weight(graph: &Graph, maximum: bool, limit: u32) -> f64 {
    let mut request = request(AnalysisKind::Msf, &[], 3);
    request.maximum = maximum;
    request.max_iterations = std::num::NonZeroU32::new(limit);
    let found = execute(graph, &request).unwrap();
    assert_eq!(found.checked, Some(true));
    let figures = found.answer.figures.into_iter();
    let weight = figures.last().map(|figure| figure.value);
    match weight {
        Some(Number::Whole(sum)) => sum as f64,
        Some(Number::Signed(sum)) => sum as f64,
        Some(Number::Double(sum)) => sum,
        other => panic!("{other:?}"),
    }
}

/// The weight of the forest that takes edges in order, by labels of trees.
fn forest_by_labels(nodes: u32, edges: &[(u32, u32, i32)], maximum: bool) -> i64 {
    let mut sorted = edges.to_vec();
    sorted.sort_by_key(|edge| {
        if maximum {
            -i64::from(edge.2)
        } else {
            i64::from(edge.2)
        }
    });
    let mut trees: Vec<u32> = (0..nodes).collect();
    let mut sum = 0;
    for (from, to, weight) in sorted {
        let (kept, lost) = (trees[from as usize], trees[to as usize]);
        if kept != lost {
            sum += i64::from(weight);
            trees
                .iter_mut()
                .filter(|tree| **tree == lost)
                .for_each(|tree| *tree = kept);
        }
    }
    sum
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn paths_are_the_lightest_walks_or_a_cycle_is_named(
        (list, sources) in drawn::graphs(120),
        (heavy, share) in (1..50_u32, 0..20_u32),
        seed: u64,
    ) {
        let mut random = Random::new(seed);
        let weigh = |(from, to): &(u32, u32)| {
            let weight = random.below(heavy + 1) as i32;
            let is_negative = random.below(100) < share;
            (*from, *to, if is_negative { -weight } else { weight })
        };
        let mut edges: Vec<_> = list.edges.iter().map(weigh).collect();
        // If drawn so, some edges descend along a height function, which makes many negative
        // weights but no negative cycle.
        if seed % 2 == 0 {
            let height = |node: u32| (node.wrapping_mul(2_654_435_761) >> 20) as i32;
            for (from, to, weight) in &mut edges {
                *weight = weight.abs() + height(*to) - height(*from);
            }
        }
        let graph = Graph::from_signed_edges(list.nodes, &edges, false).unwrap();
        prop_assume!(graph.weight_kind() == Some(WeightKind::Signed) && !sources.is_empty());
        let (short, long) = (list.nodes, 2 * list.nodes);
        let [near, nearer] = [short, long].map(|most| walks(list.nodes, &edges, &sources, most));
        match paths(&graph, &sources) {
            Ok(found) => {
                prop_assert_eq!(&near, &nearer);
                let expected = near.iter().map(|length| length.unwrap_or(i64::MAX)).collect();
                prop_assert_eq!(found.values, Column::I64(expected));
            }
            Err(error) => {
                prop_assert_ne!(&near, &nearer);
                assert_cycle(&edges, &error);
            }
        }
        // The same in quarters, which doubles represent exactly.
        let quarter = |&(from, to, weight): &(u32, u32, i32)| (from, to, weight as f32 / 4.0);
        let quarters: Vec<_> = edges.iter().map(quarter).collect();
        let graph = Graph::from_signed_float_edges(list.nodes, &quarters, false).unwrap();
        match paths(&graph, &sources) {
            Ok(found) => {
                let expected = near.iter().map(|length| length.map_or(f32::INFINITY, |length| length as f32 / 4.0));
                prop_assert_eq!(found.values, Column::F32(expected.collect()));
            }
            Err(error) => prop_assert!(near != nearer, "{}", error),
        }
    }

    #[test]
    fn forests_have_the_least_and_the_largest_weight(
        (list, _) in drawn::graphs(150),
        heavy in 1..9_u32,
        seed: u64,
    ) {
        let mut random = Random::new(seed);
        let weigh = |(from, to): &(u32, u32)| {
            (*from, *to, random.below(2 * heavy + 1) as i32 - heavy as i32)
        };
        let edges: Vec<_> = list.edges.iter().map(weigh).collect();
        let graph = Graph::from_signed_edges(list.nodes, &edges, true).unwrap();
        let quarter = |&(from, to, weight): &(u32, u32, i32)| (from, to, weight as f32 / 4.0);
        let quarters: Vec<_> = edges.iter().map(quarter).collect();
        let floats = Graph::from_signed_float_edges(list.nodes, &quarters, true).unwrap();
        for maximum in [false, true] {
            let expected = forest_by_labels(list.nodes, &edges, maximum) as f64;
            for limit in [0, 1_000_000] {
                prop_assert_eq!(forest_weight(&graph, maximum, limit), expected);
                prop_assert_eq!(forest_weight(&floats, maximum, limit), expected / 4.0);
            }
        }
    }
}
