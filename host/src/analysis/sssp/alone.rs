//! Shortest paths by one thread, and the graphs on which that takes less time than rounds.
//!
//! Rounds lower the distances of many nodes at once, and cost some microseconds each. A queue in the
//! order of distances costs each node some steps of a heap and has no rounds. So it is for graphs
//! along which paths are long: those with many nodes in chains, those on which a search goes on for
//! many levels with few nodes on each, and those with many weights far below the mean. Rounds go on
//! in steps of some mean weights, and within a step lower a distance as often as lighter paths of
//! more edges come.

use crate::analysis::alone::{self, Sought};
use crate::analysis::{Built, Question, Reading};
use crate::graph::Graph;
use crate::program::ProgramError;
use seawall_core::abi::UNREACHED;
use seawall_core::abi::sequential::{Algorithm, Lengths, SequentialRecord};
use std::collections::HashMap;
use std::collections::hash_map::Entry;

/// Nodes of a sample, and the fewest of them that lie in long chains where many nodes do.
const SAMPLE: u32 = 1024;
const MANY: usize = 32;

/// Nodes with one way on that make a long chain.
const LONG: usize = 64;

/// Share of the mean below which a weight is light, and the part of light weights, as a divisor, that
/// makes them many. Weights drawn evenly have 1 in 128.
const LIGHT: f64 = 1.0 / 64.0;
const LIGHT_PART: usize = 16;

/// Levels and nodes at which the look at a search ends. So many levels of few nodes take longer than
/// their nodes: a level of about a hundred costs as much as a round without work.
const LEVELS_LOOKED: usize = 64;
const NODES_LOOKED: usize = 16 * LEVELS_LOOKED;

/// Factor on the nodes that count as few if most edges lead to nodes of the same level: light paths
/// then pass through several nodes of a level, each of which takes a round.
const CLUSTERED: usize = 4;

/// Edges of a level at which the look ends.
const EDGES_LOOKED: usize = 2048;

/// Whether a search of so many `levels` that reaches so many nodes is one that goes on for long with
/// few nodes on each level.
pub(super) fn is_deep(levels: f64, reached: f64) -> bool {
    levels > LEVELS_LOOKED as f64 && reached < levels * (NODES_LOOKED / LEVELS_LOOKED) as f64
}

/// Whether one thread answers `question`, which threads of a CPU are asked.
pub(super) fn suits(graph: &Graph, question: &Question) -> bool {
    alone::suits(question)
        && graph.weight_kind().is_some()
        && (question.low_memory
            || is_narrow(graph, &question.sources)
            || has_chains(graph)
            || is_spread(graph))
}

/// Whether many nodes lie in long chains, along which there is a round for each few nodes.
fn has_chains(graph: &Graph) -> bool {
    let step = (graph.nodes() / SAMPLE).max(1) as usize;
    let ways = 1 + usize::from(graph.is_symmetric());
    let goes_on = |node: &u32| graph.neighbours(*node).len() == ways;
    let is_long = |node: &u32| {
        let next = |&[from, node]: &[u32; 2]| {
            let mut ends = graph.neighbours(node).iter().filter(|end| **end != from);
            let end = ends.next().filter(|end| goes_on(end))?;
            Some([node, *end])
        };
        let walk = std::iter::successors(Some([*node, *node]), next);
        goes_on(node) && walk.take(LONG).count() == LONG
    };
    let sample = (0..graph.nodes()).step_by(step).filter(is_long);
    sample.take(MANY).count() == MANY
}

/// Whether a search from `sources` goes on for many levels of few nodes.
fn is_narrow(graph: &Graph, sources: &[u32]) -> bool {
    let mut level_of = HashMap::new();
    let mut level: Vec<u32> = sources.to_vec();
    let (mut looked, mut inner) = (0, 0);
    for number in 0..LEVELS_LOOKED {
        let edges: usize = level.iter().map(|node| graph.neighbours(*node).len()).sum();
        if edges > EDGES_LOOKED {
            return false;
        }
        let mut next = Vec::new();
        for end in level.iter().flat_map(|node| graph.neighbours(*node)) {
            match level_of.entry(*end) {
                Entry::Vacant(new) => {
                    new.insert(number);
                    next.push(*end);
                }
                Entry::Occupied(seen) => inner += usize::from(*seen.get() + 1 == number),
            }
        }
        looked += edges;
        let few = if 2 * inner > looked {
            CLUSTERED * NODES_LOOKED
        } else {
            NODES_LOOKED
        };
        if level_of.len() > few {
            return false;
        }
        level = next;
    }
    !level.is_empty()
}

/// Whether many weights are far below their mean, by a sample.
fn is_spread(graph: &Graph) -> bool {
    let kind = graph.weight_kind().unwrap_or_default();
    let weights = graph.weights().unwrap_or(&[]);
    let step = (weights.len() / SAMPLE as usize).max(1);
    let sample = || weights.iter().step_by(step).map(|word| kind.number(*word));
    let count = sample().count();
    let light = sample().sum::<f64>() / count.max(1) as f64 * LIGHT;
    let is_light = |weight: &f64| *weight < light;
    count > 0 && sample().filter(is_light).count() > count / LIGHT_PART
}

/// One search by a queue in the order of distances.
pub(super) fn build(graph: &Graph, question: &Question) -> Result<Built, ProgramError> {
    let lengths = alone::lengths(graph, true);
    let (algorithm, none, reading) = match (lengths, question.wide) {
        (Lengths::Float, _) => (Algorithm::Paths, f32::INFINITY.to_bits(), Reading::Floats),
        (_, false) => (Algorithm::Paths, UNREACHED, Reading::Words),
        (_, true) => (Algorithm::WidePaths, UNREACHED, Reading::WideWords),
    };
    let record = SequentialRecord {
        lengths,
        ..SequentialRecord::new(algorithm)
    };
    let sought = Sought {
        record,
        none,
        reading,
    };
    alone::build(graph, question, sought)
}
