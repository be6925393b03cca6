//! The program of shortest paths by buckets of measured width.

use crate::analysis::alone;
use crate::analysis::definition::padded;
use crate::analysis::{Built, Question, Reading};
use crate::graph::{Graph, WeightKind};
use crate::program::{Lengths, Paths, ProgramBuilder, ProgramError};
use std::num::NonZeroU32;

/// Number of weights sampled for their mean.
const SAMPLES: usize = 1 << 16;

/// Degree up to which a round itself costs more than its relaxations, so that few rounds matter
/// more than little work.
const LEAN_DEGREE: u64 = 8;
/// Delta for such graphs, in mean weights. Measured on an H200 with the grid of 2048 × 2048 nodes:
/// 93 ms with 8, 67 ms with 32, 65 ms with 64 and 81 ms with 256.
const LEAN_WIDTH: u64 = 48;
/// Delta otherwise, in mean weights divided by the degree: nodes of higher degree have nearer
/// neighbours. Twice the delta doubles the time on random graphs of 32 edges per node.
const WIDTH: u64 = 32;

/// Delta with shortcuts: rounds go as far as they can, since each is as long as many edges.
const UNLIMITED: u32 = u32::MAX;

/// Fills distances, queues the sources and settles bucket after bucket.
pub(in crate::analysis) fn build(
    graph: &Graph,
    question: &Question,
) -> Result<Built, ProgramError> {
    let nodes = graph.nodes();
    let mut program = ProgramBuilder::new(nodes);
    let sources = program.input("sources", question.sources.len() as u64)?;
    let (lengths, width) = bounds(graph, question.wide);
    let width = if question.shortcuts { UNLIMITED } else { width };
    let paths = Paths {
        distances: program.words("distances", u64::from(nodes) * lengths.words())?,
        work: program.work("work")?,
        width,
        lengths,
    };
    program.fill("no path yet", paths.distances, lengths.never());
    program.reset_work("reset work", paths.work);
    program.seed_paths("seed sources", paths, sources);
    let both_ways = graph.is_symmetric() && degree(graph) > LEAN_DEGREE;
    let last = alone::suits(question).then(|| last_round(graph));
    program.fixpoint("settle paths", question.max_iterations, |body| {
        body.step_paths_until("step", paths, both_ways, last);
    });
    let reading = match lengths {
        Lengths::Whole => Reading::Words,
        Lengths::Wide { .. } => Reading::WideWords,
        Lengths::Float => Reading::Floats,
    };
    let inputs = padded(question.sources.clone());
    Ok(Built::of(program, inputs, paths.distances, reading))
}

/// Last round of threads: about 3 µs each, which makes at most 12 ns for each node and directed edge
/// of a large graph.
fn last_round(graph: &Graph) -> NonZeroU32 {
    let size = graph.nodes() / EACH + graph.edges() / EACH;
    NonZeroU32::MIN.saturating_add(FEW_ROUNDS + size)
}

/// Rounds that always may be, and nodes and edges for each one more.
const FEW_ROUNDS: u32 = 512;
const EACH: u32 = 256;

/// Finest part of delta that limits of 64-bit distances distinguish, as a power of two.
const FINE_BITS: u32 = 10;

/// Kind of the distances of `graph`, and delta in their unit.
fn bounds(graph: &Graph, wide: bool) -> (Lengths, u32) {
    match (graph.weight_kind(), wide) {
        (Some(WeightKind::Float), _) => (Lengths::Float, float_width(graph).to_bits()),
        (_, false) => {
            let width = u32::try_from(width(graph).max(1)).unwrap_or(u32::MAX);
            (Lengths::Whole, width)
        }
        (_, true) => {
            let width = width(graph).max(1);
            let shift = width.ilog2().saturating_sub(FINE_BITS);
            (Lengths::Wide { shift }, (width >> shift) as u32)
        }
    }
}

/// The same for floats, which have fractions.
fn float_width(graph: &Graph) -> f32 {
    let sample = sample(graph);
    let count = sample.len().max(1) as f64;
    let mean = sample
        .map(|word| f64::from(f32::from_bits(*word)))
        .sum::<f64>()
        / count;
    let degree = degree(graph);
    let width = if degree <= LEAN_DEGREE {
        mean * LEAN_WIDTH as f64
    } else {
        mean * WIDTH as f64 / degree as f64
    };
    (width as f32).clamp(f32::MIN_POSITIVE, f32::MAX)
}

/// Delta: proportional to the mean weight and, if rounds are large, inversely proportional to the
/// mean degree, so that a bucket holds about the same work on every graph.
fn width(graph: &Graph) -> u64 {
    let sample = sample(graph);
    let count = sample.len().max(1) as u64;
    let mean = sample.map(|weight| u64::from(*weight)).sum::<u64>() / count;
    match degree(graph) {
        0..=LEAN_DEGREE => mean * LEAN_WIDTH,
        degree => mean * WIDTH / degree,
    }
}

/// Weights sampled from the whole graph.
fn sample(graph: &Graph) -> impl ExactSizeIterator<Item = &u32> {
    let weights = graph.weights().unwrap_or(&[]);
    let stride = (weights.len() / SAMPLES).max(1);
    weights.iter().step_by(stride)
}

/// Mean number of edges of a node.
fn degree(graph: &Graph) -> u64 {
    u64::from(graph.edges()) / u64::from(graph.nodes().max(1))
}

/// Buckets per level of a search of a graph of `degree` edges per node, if a level is as far as the
/// mean weight.
pub(super) fn bounds_of_a_level(degree: f64) -> f64 {
    if degree < LEAN_DEGREE as f64 + 1.0 {
        1.0 / LEAN_WIDTH as f64
    } else {
        degree / WIDTH as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_of_wide_distances_are_fine_enough_and_never_0() {
        for weight in [0, 1, 64, 4_000_000_000] {
            let graph = Graph::from_weighted_edges(2, &[(0, 1, weight)], false).unwrap();
            let (lengths, width) = bounds(&graph, true);
            let Lengths::Wide { shift } = lengths else {
                panic!("{lengths:?}")
            };
            assert!(shift < 64 && (1..1 << (FINE_BITS + 1)).contains(&width));
        }
    }
}
