//! Generated graphs, for examples, tests and comparisons.
//!
//! Each shape is a pure function of its parameters and seed, for any number of threads. Shapes
//! follow the published ones: Kronecker graphs with the parameters of Graph 500 (A .57, B .19, C
//! .19), uniform random graphs, grids, and a chain that resembles a control-flow graph.
//! [`super::spec`] parses the text of a specification.

use rayon::prelude::*;

use super::build::{self, Direction, Edges, MAX_EDGES};
use super::csr::Csr;
use super::error::GraphError;
use super::ids::Ids;
use super::memory::{self, Shortage};
use super::mix::Stream;
use super::model::{Graph, check_counts};
use super::spec::Generator;

/// Numbers of the random streams, so that no two purposes share words.
const STREAM_EDGES: u64 = 1;
const STREAM_NAMES: u64 = 2;
const STREAM_JUMPS: u64 = 3;
/// Quadrant probabilities of the Kronecker graph, as parts of 2^32.
const RMAT_A: u64 = (0.57 * 4_294_967_296.0) as u64;
const RMAT_AB: u64 = (0.76 * 4_294_967_296.0) as u64;
const RMAT_ABC: u64 = (0.95 * 4_294_967_296.0) as u64;

/// Builds the graph of a specification.
///
/// Kronecker and uniform graphs hold `2^scale` nodes and draw `edge_factor * 2^scale`
/// edges, undirected but for directed Kronecker graphs; fewer remain after duplicates and self
/// loops are dropped. Directed Kronecker graphs draw the edges of undirected ones. Peak memory
/// is twice the result. With `weights`, each edge gets one of 1 to 64, the same in
/// both directions.
///
/// # Errors
/// [`GraphError::TooManyNodes`] or [`GraphError::TooManyEdges`] before anything is allocated.
pub(super) fn generate(shape: &Generator, name: &str, weights: bool) -> Result<Graph, GraphError> {
    let (nodes, edges) = shape.counts();
    check_counts(name, nodes, edges.min(MAX_EDGES + 1), false)?;
    let peak = peak_bytes(shape, weights);
    memory::check(peak).map_err(|short| GraphError::memory(name, short))?;
    let nodes = nodes as u32;
    let csr = match *shape {
        Generator::Rmat {
            scale,
            edge_factor,
            seed,
            is_directed,
        } => {
            let direction = Direction::of(!is_directed);
            let rmat = Rmat::new(scale, seed);
            random((nodes, edge_factor), &rmat, direction)
        }
        Generator::Uniform {
            scale,
            edge_factor,
            seed,
        } => {
            let uniform = Uniform::new(scale, seed);
            random((nodes, edge_factor), &uniform, Direction::Both)
        }
        Generator::Grid { width, height } => grid(width, height),
        Generator::Chain { nodes, seed } => chain(nodes, seed),
    };
    let csr = csr.map_err(|short| GraphError::memory(name, short))?;
    let symmetric = !matches!(
        shape,
        Generator::Chain { .. }
            | Generator::Rmat {
                is_directed: true,
                ..
            }
    );
    let graph = Graph::from_parts(csr, symmetric, Ids::Offset(0));
    Ok(if weights {
        graph
            .draw_weights(shape.seed())
            .map_err(|short| GraphError::memory(name, short))?
    } else {
        graph
    })
}

/// Bytes that a graph takes while it is generated: random edges are sorted before they become
/// rows, which takes as much again.
fn peak_bytes(shape: &Generator, weights: bool) -> u64 {
    let (nodes, edges) = shape.counts();
    let copies = match shape {
        Generator::Rmat { .. } | Generator::Uniform { .. } => 2,
        Generator::Grid { .. } | Generator::Chain { .. } => 1,
    };
    let columns = copies + u64::from(weights);
    (nodes + columns * edges).saturating_mul(4)
}

/// Draws the ends of the edge with a given index.
trait Draw: Sync {
    fn edge(&self, index: u64) -> [u32; 2];
}

/// Draws edges, `edge_factor` times as many as nodes, and builds their rows.
fn random(
    (nodes, edge_factor): (u32, u32),
    draw: &impl Draw,
    direction: Direction,
) -> Result<Csr, Shortage> {
    let drawn = u64::from(nodes) * u64::from(edge_factor);
    let mut edges = Edges::<2>::new();
    memory::reserve_exact(&mut edges, drawn as usize)?;
    let all = (0..drawn as usize).into_par_iter();
    edges.par_extend(all.map(|index| draw.edge(index as u64)));
    Ok(build::rows(edges, nodes, direction)?.0)
}

struct Rmat {
    scale: u32,
    edges: Stream,
    names: Names,
}

impl Rmat {
    fn new(scale: u32, seed: u64) -> Self {
        Self {
            scale,
            edges: Stream::new(seed, STREAM_EDGES),
            names: Names::new(scale, seed),
        }
    }
}

impl Draw for Rmat {
    /// Descends `scale` quadrants, two per random word.
    fn edge(&self, index: u64) -> [u32; 2] {
        let stream = self.edges.at(index);
        let (mut from, mut to) = (0u32, 0u32);
        let mut word = 0;
        for level in 0..self.scale {
            word = if level % 2 == 0 {
                stream.word(u64::from(level))
            } else {
                word >> 32
            };
            let r = word & 0xffff_ffff;
            from = (from << 1) | u32::from(r >= RMAT_AB);
            to = (to << 1) | u32::from((RMAT_A..RMAT_AB).contains(&r) || r >= RMAT_ABC);
        }
        [self.names.of(from), self.names.of(to)]
    }
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
    fn edge(&self, index: u64) -> [u32; 2] {
        let word = self.edges.at(index).word(0);
        [word as u32 & self.mask, (word >> 32) as u32 & self.mask]
    }
}

/// A permutation of `0..2^scale` without a table.
///
/// Kronecker graphs put their hubs at small numbers, and analyses must not profit from that. Odd
/// multiplication, addition and a right shift are each one-to-one on `scale` bits.
struct Names {
    mask: u64,
    shift: u32,
    rounds: [(u64, u64); 4],
}

impl Names {
    fn new(scale: u32, seed: u64) -> Self {
        let stream = Stream::new(seed, STREAM_NAMES);
        let round = |n: u64| (stream.word(2 * n) | 1, stream.word(2 * n + 1));
        Self {
            mask: (1u64 << scale) - 1,
            shift: scale.div_ceil(2).max(1),
            rounds: [round(0), round(1), round(2), round(3)],
        }
    }

    fn of(&self, node: u32) -> u32 {
        let scramble = |x: u64, &(factor, term): &(u64, u64)| {
            let y = x.wrapping_mul(factor).wrapping_add(term) & self.mask;
            y ^ (y >> self.shift)
        };
        self.rounds.iter().fold(u64::from(node), scramble) as u32
    }
}

/// Four neighbours per node, numbered row by row, without wrap-around.
fn grid(width: u32, height: u32) -> Result<Csr, Shortage> {
    let nodes = width * height;
    let (mut offsets, mut targets) = (Vec::new(), Vec::new());
    memory::reserve_exact(&mut offsets, nodes as usize + 1)?;
    let (w, h) = (u64::from(width), u64::from(height));
    memory::reserve_exact(&mut targets, (4 * w * h - 2 * w - 2 * h) as usize)?;
    offsets.push(0u32);
    for y in 0..height {
        for x in 0..width {
            let node = y * width + x;
            let near = [
                (y > 0).then(|| node - width),
                (x > 0).then(|| node - 1),
                (x + 1 < width).then(|| node + 1),
                (y + 1 < height).then(|| node + width),
            ];
            targets.extend(near.into_iter().flatten());
            offsets.push(targets.len() as u32);
        }
    }
    Ok(Csr {
        offsets,
        targets,
        weights: None,
    })
}

/// `i -> i + 1`, and from a quarter of the nodes also `i -> i + 2..=16`.
fn chain(nodes: u32, seed: u64) -> Result<Csr, Shortage> {
    let stream = Stream::new(seed, STREAM_JUMPS);
    let (mut offsets, mut targets) = (Vec::new(), Vec::new());
    memory::reserve_exact(&mut offsets, nodes as usize + 1)?;
    memory::reserve_exact(&mut targets, nodes as usize / 4 * 5)?;
    offsets.push(0u32);
    for node in 0..nodes {
        let word = stream.word(u64::from(node));
        let jump = (word & 3 == 0).then(|| 2 + (word >> 32) as u32 % 15);
        let ends = [Some(1), jump]
            .into_iter()
            .flatten()
            .filter_map(|step| node.checked_add(step));
        targets.extend(ends.filter(|&end| end < nodes));
        offsets.push(targets.len() as u32);
    }
    Ok(Csr {
        offsets,
        targets,
        weights: None,
    })
}

#[cfg(test)]
#[path = "generate_tests.rs"]
mod tests;
