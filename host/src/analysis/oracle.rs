//! Plain sequential implementations, for comparison.
//!
//! They are as simple as possible and call no code under test. Each is in the module of its
//! analysis; this module exports them to other programs.

use crate::graph::{CsrArrays, Graph, Loops, Parallel, WeightKind};
use std::collections::BTreeMap;

pub use super::betweenness::oracle::scores as betweenness;
pub use super::bfs::oracle::{levels, parents};
pub use super::cc::oracle::components;
pub use super::closeness::oracle::closeness;
pub use super::eccentricity::oracle::eccentricities;
pub use super::kcore::oracle::cores;
pub use super::labels::oracle::labels;
pub use super::pagerank::oracle::{Ranked, agrees, rank_tolerance, ranks};
pub use super::reach::oracle::{reached, reached_from};
pub use super::scc::oracle::strong_components;
pub use super::sssp::oracle::{SignedDistances, distances, distances_in_doubles, signed_distances};
pub use super::triangle_total::oracle::triangles_once;
pub use super::triangles::oracle::triangles;

/// Returns the edges that a request asked for, one pair of nodes after the other; `None` if it asked
/// for all of them. Ids of the file are not kept.
#[must_use]
pub fn taken(graph: &Graph, loops: Option<Loops>, parallel: Option<Parallel>) -> Option<Graph> {
    let drops = loops == Some(Loops::Drop);
    let parallel = parallel.unwrap_or(Parallel::Keep);
    if !drops && parallel == Parallel::Keep {
        return None;
    }
    let mut pairs: BTreeMap<(u32, u32), Vec<u32>> = BTreeMap::new();
    for node in 0..graph.nodes() {
        for edge in graph.outgoing().row(node) {
            let target = graph.targets()[edge];
            let weight = graph.weights().map_or(1, |weights| weights[edge]);
            if !(drops && node == target) {
                pairs.entry((node, target)).or_default().push(weight);
            }
        }
    }
    let kind = graph.weight_kind().unwrap_or_default();
    let mut arrays = CsrArrays {
        offsets: vec![0],
        weights: Some(Vec::new()),
        kind,
        symmetric: graph.is_symmetric(),
        ..CsrArrays::default()
    };
    let weights = arrays.weights.get_or_insert_default();
    for (&(node, target), all) in &pairs {
        while arrays.offsets.len() <= node as usize {
            arrays.offsets.push(arrays.targets.len() as u32);
        }
        // Both directions of an undirected edge have the first weight of the smaller end.
        let turned = pairs
            .get(&(target, node))
            .filter(|_| arrays.symmetric && target < node);
        let number = |word: &u32| match kind {
            WeightKind::Float => f64::from(f32::from_bits(*word)),
            WeightKind::Integer => f64::from(*word),
            WeightKind::Signed | WeightKind::SignedFloat => kind.number(*word),
        };
        let by_weight = |a: &&u32, b: &&u32| number(a).total_cmp(&number(b));
        let one = match parallel {
            Parallel::Keep => None,
            Parallel::First => turned.unwrap_or(all).first().copied(),
            Parallel::Least => all.iter().min_by(by_weight).copied(),
            Parallel::Greatest => all.iter().max_by(by_weight).copied(),
            Parallel::Sum => {
                let mut numbers: Vec<f64> = all.iter().map(number).collect();
                numbers.sort_by(f64::total_cmp);
                let sum: f64 = numbers.iter().sum();
                Some(match kind {
                    WeightKind::Float => (sum as f32).to_bits(),
                    WeightKind::Integer => sum as u32,
                    WeightKind::Signed => (sum as i32).cast_unsigned() ^ 1 << 31,
                    WeightKind::SignedFloat => match (sum as f32).to_bits() {
                        bits if bits >> 31 == 0 => bits | 1 << 31,
                        bits => !bits,
                    },
                })
            }
        };
        let kept = one.as_ref().map_or(all.as_slice(), std::slice::from_ref);
        weights.extend(kept);
        let length = arrays.targets.len() + kept.len();
        arrays.targets.resize(length, target);
    }
    let edges = arrays.targets.len() as u32;
    arrays.offsets.resize(graph.nodes() as usize + 1, edges);
    if graph.weights().is_none() && parallel != Parallel::Sum {
        arrays.weights = None;
    }
    // The rows are in order, so that nothing is refused.
    Graph::from_csr(arrays).ok()
}
