//! Whether distances outgrew their numbers.

use crate::analysis::Outgrown;
use crate::column::Column;
use crate::graph::Graph;
use rayon::prelude::*;
use seawall_core::abi::UNREACHED;

/// The first edge, in order of nodes, that leads from a node with a distance to one
/// without because their sum is no number of 32 bits; nothing if every distance fitted.
///
/// Distances that are there are right even if others are missing: all of a shortest path
/// but its end is shorter. One pass over the distances where all nodes have one or the
/// largest weight fits behind the largest distance, over the edges otherwise.
pub(super) fn outgrown(graph: &Graph, column: &Column) -> Option<Outgrown> {
    let weights = graph.weights()?;
    let (words, sums): (Vec<u32>, Sums) = match column {
        Column::U32(words) => (words.clone(), Sums::Whole),
        Column::F32(floats) => (
            floats.iter().map(|float| float.to_bits()).collect(),
            Sums::Float,
        ),
        Column::U64(_) | Column::Sets(_) => return None,
    };
    let reached = words.par_iter().filter(|word| sums.is_path(**word));
    let (count, longest) = reached
        .map(|word| (1, *word))
        .reduce(|| (0, 0), |a, b| (a.0 + b.0, a.1.max(b.1)));
    let heaviest = weights.par_iter().max().copied().unwrap_or(0);
    if count == words.len() || sums.fit(longest, heaviest) {
        return None;
    }
    (0..graph.nodes()).into_par_iter().find_map_first(|from| {
        let distance = words[from as usize];
        let row = graph.outgoing().row(from);
        let outgrew = |edge: &usize| {
            let to = graph.targets()[*edge] as usize;
            !sums.is_path(words[to]) && !sums.fit(distance, weights[*edge])
        };
        let edge = row.filter(|_| sums.is_path(distance)).find(outgrew)?;
        let to = graph.targets()[edge];
        Some(Outgrown { from, to })
    })
}

/// How distances of 32 bits grow.
#[derive(Clone, Copy, Debug)]
enum Sums {
    Whole,
    Float,
}

impl Sums {
    /// Whether this is the distance of a node that some path reaches.
    fn is_path(self, word: u32) -> bool {
        match self {
            Self::Whole => word != UNREACHED,
            Self::Float => f32::from_bits(word).is_finite(),
        }
    }

    /// Whether a distance and a weight have a sum that is a distance.
    fn fit(self, distance: u32, weight: u32) -> bool {
        match self {
            Self::Whole => distance
                .checked_add(weight)
                .is_some_and(|sum| self.is_path(sum)),
            Self::Float => (f32::from_bits(distance) + f32::from_bits(weight)).is_finite(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_sum_without_a_place_is_outgrown() {
        const NO: u32 = UNREACHED;
        let graph = |last| {
            let edges = [(0, 1, NO - 2), (1, 2, last), (3, 4, 9)];
            Graph::from_weighted_edges(5, &edges, false).unwrap()
        };
        let fits = Column::U32(vec![0, NO - 2, NO - 1, NO, NO]);
        assert_eq!(outgrown(&graph(1), &fits), None);
        let short = Column::U32(vec![0, NO - 2, NO, NO, NO]);
        let edge = Outgrown { from: 1, to: 2 };
        assert_eq!(outgrown(&graph(2), &short), Some(edge));
        // Not yet relaxed is not outgrown.
        assert_eq!(outgrown(&graph(1), &short), None);
    }

    #[test]
    fn floats_are_outgrown_by_infinity() {
        let edges = [(0, 1, f32::MAX), (1, 2, f32::MAX)];
        let graph = Graph::from_float_edges(4, &edges, false).unwrap();
        let infinite = f32::INFINITY;
        let column = Column::F32(vec![0.0, f32::MAX, infinite, infinite]);
        let edge = Outgrown { from: 1, to: 2 };
        assert_eq!(outgrown(&graph, &column), Some(edge));
        let column = Column::F32(vec![infinite; 4]);
        assert_eq!(outgrown(&graph, &column), None);
    }
}
