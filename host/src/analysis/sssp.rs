//! Shortest paths: length of the shortest path from the sources to every node.

use super::{Built, Question, Reading, padded};
use crate::graph::Graph;
use crate::program::{Paths, ProgramBuilder, ProgramError};
use seawall_core::abi::UNREACHED;

/// Weights that are looked at for their mean.
const SAMPLES: usize = 1 << 16;

/// Edges of a node up to which a round costs more for being one than for what
/// it relaxes, so that few rounds matter more than little work.
const LEAN_DEGREE: u64 = 8;
/// How far a bound moves then, in mean weights. Measured on an H200 with the
/// grid of 2048 × 2048 nodes: 93 ms with 8, 67 ms with 32, 65 ms with 64 and
/// 81 ms with 256.
const LEAN_WIDTH: u64 = 48;
/// How far a bound moves otherwise, in mean weights shared out over a node's
/// edges: nodes with more edges find their neighbours nearer by. Twice as far
/// doubles the time on the random graphs of 32 edges a node.
const WIDTH: u64 = 32;

/// Fill distances, queue the sources, settle bound after bound.
pub(super) fn build(graph: &Graph, question: &Question) -> Result<Built, ProgramError> {
    let nodes = graph.nodes();
    let mut program = ProgramBuilder::new(nodes);
    let sources = program.input("sources", question.sources.len() as u64)?;
    let paths = Paths {
        distances: program.words("distances", u64::from(nodes))?,
        work: program.work("work")?,
        width: width(graph),
    };
    program.fill("no path yet", paths.distances, UNREACHED);
    program.reset_work("reset work", paths.work);
    program.seed_paths("seed sources", paths, sources);
    program.fixpoint("settle paths", question.max_iterations, |body| {
        body.step_paths("step", paths);
    });
    program.keep(paths.distances);
    Ok(Built {
        program,
        inputs: padded(question.sources.clone()),
        result: paths.distances,
        parents: None,
        reading: Reading::Words,
    })
}

/// How far the bound moves at a time: in proportion to the mean weight and,
/// where rounds are large, in inverse proportion to the mean degree, so that a
/// bound holds about as much work on every graph.
fn width(graph: &Graph) -> u32 {
    let weights = graph.weights().unwrap_or(&[]);
    let stride = (weights.len() / SAMPLES).max(1);
    let sample = weights.iter().step_by(stride);
    let count = sample.len().max(1) as u64;
    let mean = sample.map(|weight| u64::from(*weight)).sum::<u64>() / count;
    let degree = u64::from(graph.edges()) / u64::from(graph.nodes().max(1));
    let width = if degree <= LEAN_DEGREE {
        mean * LEAN_WIDTH
    } else {
        mean * WIDTH / degree
    };
    u32::try_from(width.max(1)).unwrap_or(u32::MAX)
}

/// Bounds that shortest paths take for each level of a search of a graph of `degree`
/// edges a node, if a level is as far as the mean weight.
pub(crate) fn bounds_of_a_level(degree: f64) -> f64 {
    if degree < LEAN_DEGREE as f64 + 1.0 {
        1.0 / LEAN_WIDTH as f64
    } else {
        degree / WIDTH as f64
    }
}
