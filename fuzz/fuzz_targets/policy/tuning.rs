//! Choices, gradient steps, decay and diffusion over any floats.

use seawall_core::tuning::{
    Diffusion, NaturalGradient, SiblingGraph, cheapest, decay, diffuse, natural_gradient_step,
};
use seawall_fuzz::draw::Draw;

/// The cheapest finite candidate wins; wrong shapes are errors.
pub(crate) fn steps(draw: &mut Draw<'_>) {
    let candidates = draw.list(9, Draw::word);
    let costs = draw.list(9, Draw::float);
    let current = draw.word();
    let choice = cheapest(&candidates, &costs, current);
    match choice.index {
        None => {
            assert_eq!(choice.value, current);
            assert!(
                candidates
                    .iter()
                    .zip(&costs)
                    .all(|(_, cost)| !cost.is_finite())
            );
        }
        Some(index) => {
            assert_eq!(choice.value, candidates[index]);
            let finite = candidates
                .iter()
                .zip(&costs)
                .filter(|(_, cost)| cost.is_finite());
            assert!(finite.into_iter().all(|(_, cost)| costs[index] <= *cost));
        }
    }
    let (matrix, gradient) = (draw.list(20, Draw::float), draw.list(6, Draw::float));
    let n = if draw.byte() == 0xFF {
        usize::MAX
    } else {
        draw.below(6) as usize
    };
    let learning_rate = draw.float();
    let mut out = draw.list(6, Draw::float);
    let step = NaturalGradient {
        matrix: &matrix,
        gradient: &gradient,
        n,
        learning_rate,
    };
    let fits = n.checked_mul(n).is_some_and(|cells| cells <= matrix.len());
    let fits = fits && n <= gradient.len() && n <= out.len();
    assert_eq!(natural_gradient_step(&step, &mut out).is_ok(), fits);
    let mut priorities = draw.list(9, Draw::float);
    let coefficients = draw.list(9, Draw::float);
    let same = priorities.len() == coefficients.len();
    let (damping, iterations) = (draw.float(), draw.below(1 << 10));
    assert_eq!(
        decay(&mut priorities, &coefficients, damping, iterations).is_ok(),
        same
    );
}

/// An accepted graph is symmetric, and diffusion keeps the range of its values.
pub(crate) fn diffusion(draw: &mut Draw<'_>) {
    let (offsets, targets) = rows(draw);
    let graph = match SiblingGraph::new(&offsets, &targets) {
        Ok(graph) => graph,
        Err(error) => return assert!(!error.to_string().is_empty() && !error.kind().is_empty()),
    };
    let row = |node: usize| &targets[offsets[node] as usize..offsets[node + 1] as usize];
    for node in 0..graph.nodes() {
        assert!(
            row(node)
                .iter()
                .all(|&to| row(to as usize).contains(&(node as u32)))
        );
    }
    let mut priorities: Vec<f64> = (0..graph.nodes()).map(|_| draw.word().into()).collect();
    let mut scratch = vec![0.0; graph.nodes()];
    let share = f64::from(draw.byte()) / 255.0;
    let damping = if draw.byte() == 0xFF {
        draw.float()
    } else {
        share * graph.max_damping().min(1.0)
    };
    let least = priorities.iter().copied().fold(f64::INFINITY, f64::min);
    let most = priorities.iter().copied().fold(0.0, f64::max);
    let diffusion = Diffusion {
        damping,
        iterations: draw.below(64),
    };
    if diffuse(&graph, diffusion, &mut priorities, &mut scratch).is_ok() {
        let slack = 1e-9 * (1.0 + most);
        assert!(
            priorities
                .iter()
                .all(|p| (least - slack..=most + slack).contains(p)),
            "{priorities:?}"
        );
    }
}

/// Rows of a symmetric graph, then perhaps one word that breaks it.
fn rows(draw: &mut Draw<'_>) -> (Vec<u32>, Vec<u32>) {
    let nodes = draw.below(9);
    let mut sets = vec![std::collections::BTreeSet::new(); nodes as usize];
    for _ in 0..draw.below(20) {
        let (a, b) = (draw.below(nodes), draw.below(nodes));
        if nodes > 0 {
            sets[a as usize].insert(b);
            sets[b as usize].insert(a);
        }
    }
    let mut offsets = vec![0];
    let mut targets = Vec::new();
    for set in sets {
        targets.extend(set);
        offsets.push(targets.len() as u32);
    }
    if draw.byte() == 0xFF {
        let list = if draw.flag() {
            &mut offsets
        } else {
            &mut targets
        };
        let at = draw.below(list.len() as u32) as usize;
        if let Some(word) = list.get_mut(at) {
            *word = draw.word();
        }
    }
    if draw.byte() == 0xFF {
        offsets.clear();
    }
    (offsets, targets)
}
