//! Shortest paths with weights of every kind, against their own oracle.
//!
//! The oracle relaxes all listed edges until nothing changes, in 128 bits or in floats, and uses
//! neither the graph nor the engine.

use crate::graphs::EdgeList;
use crate::random::Random;
use seawall::analysis::{self, Question};
use seawall::backend::Session;
use seawall::graph::{Graph, GraphError};
use seawall::outcome::Column;
use seawall::program::PlanRequest;
use seawall::run::AnalysisKind;

/// The weights of an edge list, one per listed edge.
#[derive(Clone, Debug)]
pub enum Weights {
    /// Whole numbers.
    Whole(Vec<u32>),
    /// Floats.
    Float(Vec<f32>),
}

impl Weights {
    /// Draws weights for `edges` edges: small, zero, as large as possible, or floats.
    #[must_use]
    pub fn draw(edges: usize, random: &mut Random) -> Self {
        let kind = random.below(6);
        let float = |random: &mut Random| match kind {
            0 => random.below(1000) as f32 / 10.0,
            _ => f32::from_bits(random.below(f32::INFINITY.to_bits() / 2)),
        };
        let whole = |random: &mut Random| match kind {
            2 => random.below(40),
            3 => u32::MAX - random.below(3),
            4 => random.word(),
            _ => random.below(2) * (u32::MAX / 2),
        };
        match kind {
            0 | 1 => Self::Float((0..edges).map(|_| float(random)).collect()),
            _ => Self::Whole((0..edges).map(|_| whole(random)).collect()),
        }
    }

    /// Returns the graph of the edges of `list` with these weights.
    ///
    /// # Errors
    /// If an edge ends outside the graph, or a weight is invalid.
    pub fn graph(&self, list: &EdgeList) -> Result<Graph, GraphError> {
        let ends = list.edges.iter();
        match self {
            Self::Whole(weights) => {
                let edges: Vec<_> = ends.zip(weights).map(|(e, w)| (e.0, e.1, *w)).collect();
                Graph::from_weighted_edges(list.nodes, &edges, list.undirected)
            }
            Self::Float(weights) => {
                let edges: Vec<_> = ends.zip(weights).map(|(e, w)| (e.0, e.1, *w)).collect();
                Graph::from_float_edges(list.nodes, &edges, list.undirected)
            }
        }
    }

    /// Returns the distances from `sources`: of 32 bits if all are below `u32::MAX`, else of 64;
    /// floats rounded at every edge.
    #[must_use]
    pub fn distances(&self, list: &EdgeList, sources: &[u32]) -> Column {
        match self {
            Self::Whole(weights) => {
                let weights: Vec<u128> = weights.iter().map(|w| u128::from(*w)).collect();
                shortest(relax(list, &weights, sources, |a, b| a + b))
            }
            Self::Float(weights) => {
                let found = relax(list, weights, sources, |a, b| a + b);
                let all = found
                    .into_iter()
                    .map(|length| length.unwrap_or(f32::INFINITY));
                Column::F32(all.collect())
            }
        }
    }
}

/// Returns the narrowest column that holds these distances.
fn shortest(lengths: Vec<Option<u128>>) -> Column {
    let limit = u128::from(u32::MAX);
    if lengths.iter().flatten().all(|length| *length < limit) {
        let word = |length: Option<u128>| length.map_or(u32::MAX, |length| length as u32);
        Column::U32(lengths.into_iter().map(word).collect())
    } else {
        let word = |length: Option<u128>| length.map_or(u64::MAX, |length| length as u64);
        Column::U64(lengths.into_iter().map(word).collect())
    }
}

fn relax<T: Copy + Default + PartialOrd>(
    list: &EdgeList,
    weights: &[T],
    sources: &[u32],
    sum: impl Fn(T, T) -> T,
) -> Vec<Option<T>> {
    let mut lengths = vec![None; list.nodes as usize];
    for source in sources {
        lengths[*source as usize] = Some(T::default());
    }
    let mut changed = true;
    while changed {
        changed = false;
        for (&(from, to), weight) in list.edges.iter().zip(weights) {
            let ways = [(from, to), (to, from)];
            for (from, to) in ways.into_iter().take(1 + usize::from(list.undirected)) {
                let Some(before) = lengths[from as usize] else {
                    continue;
                };
                let length = sum(before, *weight);
                if lengths[to as usize].is_none_or(|old| length < old) {
                    lengths[to as usize] = Some(length);
                    changed = true;
                }
            }
        }
    }
    lengths
}

/// Finds the paths of a graph in `session` and compares them with the oracle's: in 32 bits if all
/// distances fit, and whole ones always in 64.
///
/// # Errors
/// The first difference, or the error of the run.
pub fn run_paths(
    session: &mut dyn Session,
    graph: &Graph,
    list: &EdgeList,
    weights: &Weights,
    sources: &[u32],
) -> Result<(), String> {
    if graph.nodes() == 0 {
        return Ok(());
    }
    let wanted = weights.distances(list, sources);
    let wide = match &wanted {
        Column::U32(words) => Some(Column::U64(
            words.iter().map(|word| widened(*word)).collect(),
        )),
        Column::U64(_) => Some(wanted.clone()),
        _ => None,
    };
    if !matches!(wanted, Column::U64(_)) && found(session, graph, sources, false)? != wanted {
        return Err("distances of 32 bits differ".to_owned());
    }
    match wide {
        Some(wide) if found(session, graph, sources, true)? != wide => {
            Err("distances of 64 bits differ".to_owned())
        }
        _ => Ok(()),
    }
}

fn widened(word: u32) -> u64 {
    if word == u32::MAX {
        u64::MAX
    } else {
        u64::from(word)
    }
}

fn found(
    session: &mut dyn Session,
    graph: &Graph,
    sources: &[u32],
    wide: bool,
) -> Result<Column, String> {
    let mut question = Question::new(sources.to_vec());
    question.wide = wide;
    let built = analysis::build(AnalysisKind::Sssp, graph, &question).map_err(text)?;
    let (encoded, _) = built
        .program
        .encode(&PlanRequest::default())
        .map_err(text)?;
    session.load(&encoded).map_err(text)?;
    session.run(&built.inputs).map_err(text)?;
    let mut words = Vec::new();
    session.read(built.result, &mut words).map_err(text)?;
    Ok(built.reading.column(graph.nodes(), words))
}

fn text(error: impl std::fmt::Display) -> String {
    error.to_string()
}
