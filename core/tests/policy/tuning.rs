//! Properties of the tuning helpers.

use proptest::prelude::*;
use seawall_core::tuning::{
    Diffusion, DiffusionError, GraphError, NaturalGradient, ShapeMismatch, SiblingGraph, cheapest,
    decay, diffuse, natural_gradient_step,
};

/// Compressed rows of an undirected graph with these edges.
fn rows(nodes: usize, edges: &[(usize, usize)]) -> (Vec<u32>, Vec<u32>) {
    let mut neighbours = vec![std::collections::BTreeSet::new(); nodes];
    for &(a, b) in edges {
        neighbours[a].insert(b as u32);
        neighbours[b].insert(a as u32);
    }
    let mut offsets = vec![0];
    let mut targets = Vec::new();
    for row in neighbours {
        targets.extend(row);
        offsets.push(targets.len() as u32);
    }
    (offsets, targets)
}

prop_compose! {
    fn graph()(nodes in 1..30usize)(
        nodes in Just(nodes),
        edges in prop::collection::vec((0..nodes, 0..nodes), 0..60),
        priorities in prop::collection::vec(-1e3..1e3f64, nodes),
    ) -> (Vec<u32>, Vec<u32>, Vec<f64>) {
        let (offsets, targets) = rows(nodes, &edges);
        (offsets, targets, priorities)
    }
}

proptest! {
    #[test]
    fn diffusion_conserves_the_total_and_stays_in_range(
        (offsets, targets, mut priorities) in graph(),
        share in 0.0..=1.0f64,
        iterations in 0..100u32,
    ) {
        let graph = SiblingGraph::new(&offsets, &targets).unwrap();
        let damping = share * graph.max_damping().min(1.0);
        let total: f64 = priorities.iter().sum();
        let low = priorities.iter().copied().fold(f64::INFINITY, f64::min);
        let high = priorities.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let mut scratch = vec![0.0; priorities.len()];
        diffuse(&graph, Diffusion { damping, iterations }, &mut priorities, &mut scratch).unwrap();
        prop_assert!((priorities.iter().sum::<f64>() - total).abs() < 1e-8);
        prop_assert!(priorities.iter().all(|x| (low - 1e-8..=high + 1e-8).contains(x)));
    }

    #[test]
    fn diffusion_is_the_dense_laplacian_step(
        (offsets, targets, mut priorities) in graph(), share in 0.0..=1.0f64,
    ) {
        let graph = SiblingGraph::new(&offsets, &targets).unwrap();
        let damping = share * graph.max_damping().min(1.0);
        let n = priorities.len();
        let mut laplacian = vec![0.0; n * n];
        for a in 0..n {
            for &b in &targets[offsets[a] as usize..offsets[a + 1] as usize] {
                laplacian[a * n + a] += 1.0;
                laplacian[a * n + b as usize] -= 1.0;
            }
        }
        let mut delta = vec![0.0; n];
        let step = NaturalGradient {
            matrix: &laplacian, gradient: &priorities, n, learning_rate: damping,
        };
        natural_gradient_step(&step, &mut delta).unwrap();
        let expected: Vec<f64> = priorities.iter().zip(&delta).map(|(x, d)| x + d).collect();
        let once = Diffusion { damping, iterations: 1 };
        diffuse(&graph, once, &mut priorities, &mut vec![0.0; n]).unwrap();
        for (got, expected) in priorities.iter().zip(&expected) {
            prop_assert!((got - expected).abs() < 1e-9, "{got} {expected}");
        }
    }

    #[test]
    fn any_rows_are_checked_without_harm(
        offsets in prop::collection::vec(0..12u32, 0..8),
        targets in prop::collection::vec(0..8u32, 0..12),
    ) {
        if let Ok(graph) = SiblingGraph::new(&offsets, &targets) {
            prop_assert_eq!(offsets.last().copied().unwrap_or(0) as usize, targets.len());
            prop_assert!(targets.iter().all(|target| (*target as usize) < graph.nodes()));
        }
    }

    #[test]
    fn decay_is_a_power(
        x in -1e6..1e6f64, r in 0.0..1.0f64, damping in 0.0..1.0f64, iterations in 0..200u32,
    ) {
        let mut priorities = [x];
        decay(&mut priorities, &[r], damping, iterations).unwrap();
        let expected = x * (1.0 - damping * r).powi(iterations as i32);
        prop_assert!((priorities[0] - expected).abs() <= 1e-10 * x.abs());
    }

    #[test]
    fn the_cheapest_has_no_cheaper(
        costs in prop::collection::vec(any::<f64>(), 0..20), current: u32,
    ) {
        let candidates: Vec<u32> = (100..120).collect();
        let choice = cheapest(&candidates, &costs, current);
        match choice.index {
            None => prop_assert!(costs.iter().all(|cost| !cost.is_finite())),
            Some(index) => {
                prop_assert_eq!(choice.value, candidates[index]);
                let finite = costs.iter().filter(|cost| cost.is_finite());
                prop_assert!(finite.clone().all(|cost| costs[index] <= *cost));
            }
        }
    }
}

#[test]
fn damping_beyond_the_bound_is_refused_and_changes_nothing() {
    let graph = SiblingGraph::new(&[0, 1, 2], &[1, 0]).unwrap();
    for damping in [0.51, -0.1, f64::NAN, f64::INFINITY] {
        let mut priorities = [8.0, 0.0];
        let diffusion = Diffusion {
            damping,
            iterations: 1,
        };
        let error = diffuse(&graph, diffusion, &mut priorities, &mut [0.0; 2]).unwrap_err();
        assert_eq!(error.kind(), "unstable_damping");
        assert_eq!(priorities, [8.0, 0.0]);
    }
}

#[test]
fn faulty_rows_are_named() {
    let error = |offsets: &[u32], targets: &[u32]| SiblingGraph::new(offsets, targets).unwrap_err();
    assert_eq!(
        error(&[0, 1, 1], &[1]),
        GraphError::Asymmetric { from: 0, to: 1 }
    );
    assert_eq!(error(&[1, 1], &[]), GraphError::InvalidOffsets { row: 0 });
    assert_eq!(
        error(&[0, 2, 1], &[0]),
        GraphError::InvalidOffsets { row: 2 }
    );
    assert_eq!(error(&[0, 0], &[0]), GraphError::InvalidOffsets { row: 1 });
    assert_eq!(error(&[0, 2], &[0, 0]), GraphError::UnsortedRow { row: 0 });
    let error = error(&[0, 1], &[5]);
    assert_eq!(
        error,
        GraphError::InvalidTarget {
            row: 0,
            target: 5,
            nodes: 1
        }
    );
}

#[test]
fn short_slices_are_refused_by_name() {
    let graph = SiblingGraph::new(&[0, 1, 2], &[1, 0]).unwrap();
    let none = Diffusion {
        damping: 0.0,
        iterations: 1,
    };
    let error = diffuse(&graph, none, &mut [0.0; 2], &mut [0.0; 1]).unwrap_err();
    let expected = DiffusionError::ShapeMismatch {
        field: "scratch",
        needed: 2,
        provided: 1,
    };
    assert_eq!(error, expected);
    let step = NaturalGradient {
        matrix: &[1.0],
        gradient: &[1.0],
        n: 1,
        learning_rate: 1.0,
    };
    let error = natural_gradient_step(&step, &mut []).unwrap_err();
    assert_eq!(
        error,
        ShapeMismatch {
            field: "out",
            needed: 1,
            provided: 0
        }
    );
}
