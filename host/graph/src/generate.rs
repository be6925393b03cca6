//! Generated graphs, for examples, tests and comparisons.
//!
//! Each shape is a pure function of its parameters and seed, for any number of threads. Shapes
//! follow the published ones: Kronecker graphs with the parameters of Graph 500 (A .57, B .19, C
//! .19), uniform random graphs, grids, and a chain that resembles a control-flow graph.
//! [`super::spec`] parses the text of a specification.

mod near;
mod part;
mod random;
mod rmat;
mod scatter;

pub use part::Generated;
pub(super) use random::transposed;

use std::array::from_fn;

use super::build::{Direction, MAX_EDGES};
use super::csr::Csr;
use super::error::GraphError;
use super::ids::Ids;
use super::memory::{self, Shortage};
use super::mix::Stream;
use super::model::{Graph, check_counts};
use super::spec::Generator;
use rmat::Rmat;

/// Numbers of the random streams, so that no two purposes share words.
const STREAM_EDGES: u64 = 1;
const STREAM_NAMES: u64 = 2;
const STREAM_JUMPS: u64 = 3;

/// Builds the graph of a specification.
///
/// Kronecker and uniform graphs hold `2^scale` nodes and draw `edge_factor * 2^scale` edges,
/// undirected except for directed Kronecker graphs; fewer remain after duplicates and self loops
/// are dropped. Directed Kronecker graphs draw the edges of undirected ones. Peak memory is twice
/// the result. With `weights`, each edge gets one of 1 to 64, the same in both directions.
///
/// # Errors
/// [`GraphError::TooManyNodes`] or [`GraphError::TooManyEdges`] before anything is allocated.
pub(super) fn generate(shape: &Generator, name: &str, weights: bool) -> Result<Graph, GraphError> {
    let (nodes, edges) = shape.counts();
    check_counts(name, nodes, edges.min(MAX_EDGES + 1), false)?;
    let peak = peak_bytes(shape, weights);
    memory::check(peak).map_err(|short| GraphError::memory(name, short))?;
    let drawn = |factor: u32| nodes * u64::from(factor);
    let csr = match *shape {
        Generator::Rmat {
            scale,
            edge_factor,
            seed,
            is_directed,
        } => {
            let direction = Direction::of(!is_directed);
            let rmat = Rmat::new(scale, seed);
            random::rows(nodes as u32, drawn(edge_factor), &rmat, direction)
        }
        Generator::Uniform {
            scale,
            edge_factor,
            seed,
        } => {
            let uniform = Uniform::new(scale, seed);
            random::rows(nodes as u32, drawn(edge_factor), &uniform, Direction::Both)
        }
        Generator::Grid { width, height } => {
            near::rows(0..nodes as u32, |node| grid_row(width, height, node))
        }
        Generator::Chain { nodes, seed } => chain(nodes, seed),
    };
    let csr = csr.map_err(|short| GraphError::memory(name, short))?;
    let graph = Graph::from_parts(csr, shape.is_symmetric(), Ids::Offset(0));
    Ok(if weights {
        graph
            .draw_weights(shape.seed())
            .map_err(|short| GraphError::memory(name, short))?
    } else {
        graph
    })
}

/// Bytes that a graph takes while it is generated: random edges are sorted before they become
/// rows, which takes as much again, offsets included.
fn peak_bytes(shape: &Generator, weights: bool) -> u64 {
    let (nodes, edges) = shape.counts();
    let copies = match shape {
        Generator::Rmat { .. } | Generator::Uniform { .. } => random::COPIES,
        Generator::Grid { .. } | Generator::Chain { .. } => 1,
    };
    let columns = copies + u64::from(weights);
    (copies * nodes + columns * edges).saturating_mul(4)
}

/// Edges that are drawn side by side, so that a compiler can use vectors.
const LANES: usize = 8;

/// Draws the ends of edges.
trait Draw: Sync {
    /// Draws the edge with index `first` and those after it.
    fn edges(&self, first: u64) -> [[u32; 2]; LANES];
}

struct Uniform {
    mask: u32,
    edges: Stream,
}

impl Uniform {
    fn new(scale: u32, seed: u64) -> Self {
        Self {
            mask: ((1u64 << scale) - 1) as u32,
            edges: Stream::new(seed, STREAM_EDGES),
        }
    }
}

impl Draw for Uniform {
    fn edges(&self, first: u64) -> [[u32; 2]; LANES] {
        from_fn(|lane| {
            let word = self.edges.at(first + lane as u64).word(0);
            [word as u32 & self.mask, (word >> 32) as u32 & self.mask]
        })
    }
}

/// Four neighbours per node, numbered row by row, without wrap-around.
fn grid_row(width: u32, height: u32, node: u32) -> impl Iterator<Item = u32> {
    let (x, y) = (node % width, node / width);
    let near = [
        (y > 0).then(|| node - width),
        (x > 0).then(|| node - 1),
        (x + 1 < width).then(|| node + 1),
        (y + 1 < height).then(|| node + width),
    ];
    near.into_iter().flatten()
}

/// Longest jump of a chain.
const JUMP_MAX: u32 = 16;

/// The jump ahead from a node of a chain, from a quarter of the nodes.
fn jump(stream: Stream, node: u32) -> Option<u32> {
    let word = stream.word(u64::from(node));
    (word & 3 == 0).then(|| 2 + (word >> 32) as u32 % (JUMP_MAX - 1))
}

/// `i -> i + 1`, and from a quarter of the nodes also `i -> i + 2..=16`.
fn chain(nodes: u32, seed: u64) -> Result<Csr, Shortage> {
    let stream = Stream::new(seed, STREAM_JUMPS);
    near::rows(0..nodes, |node| {
        let ends = [Some(1), jump(stream, node)].into_iter().flatten();
        ends.filter_map(move |step| node.checked_add(step))
            .filter(move |&end| end < nodes)
    })
}

#[cfg(test)]
#[path = "generate_tests.rs"]
mod tests;
