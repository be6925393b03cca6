//! Detection of paths that exceed 32-bit distances.
//!
//! A kernel treats a path whose length does not fit 32 bits as no path. The distances alone do not
//! show this; the edge on which such a path would continue has to be found. Every session checks
//! this before it returns a register, so that no path is lost silently.

use super::BackendError;
use crate::graph::{Graph, WeightKind};
use crate::program::{EncodedProgram, RegisterId, Searched, searched};
use rayon::prelude::*;
use seawall_core::abi::UNREACHED;

/// The searches of a loaded program, and whether those of its last run were checked.
#[derive(Debug)]
pub(super) struct Overflowing {
    searches: Vec<Searched>,
    is_due: bool,
}

impl Overflowing {
    /// Returns the searches of `program` for a graph.
    ///
    /// # Errors
    /// [`BackendError::WrongWeights`] for a search along other weights than the graph's;
    /// [`BackendError::PathsUnseen`] if distances may exceed 32 bits and are overwritten before
    /// the program ends.
    pub(super) fn of(program: &EncodedProgram, graph: &Graph) -> Result<Self, BackendError> {
        let (searches, hidden): (Vec<_>, Vec<_>) =
            searched(program).into_iter().partition(|one| one.is_left);
        check_kinds(&searches, graph)?;
        check_hidden(&hidden, program, graph)?;
        Ok(Self {
            searches,
            is_due: true,
        })
    }

    /// Works as [`Self::of`], for a program of which only `result` is read.
    pub(super) fn of_result(
        program: &EncodedProgram,
        graph: &Graph,
        result: RegisterId,
    ) -> Result<Self, BackendError> {
        let all = Self::of(program, graph)?;
        let is_read = |search: &Searched| search.register == result;
        let (searches, hidden): (Vec<_>, Vec<_>) = all.searches.into_iter().partition(is_read);
        check_hidden(&hidden, program, graph)?;
        Ok(Self {
            searches,
            is_due: true,
        })
    }

    /// Requests a check of the distances by the next read.
    pub(super) fn begin_run(&mut self) {
        self.is_due = true;
    }

    /// Returns the searches to check before the next read returns.
    pub(super) fn due(&self) -> Vec<Searched> {
        if self.is_due {
            self.searches.clone()
        } else {
            Vec::new()
        }
    }

    /// Records that all due searches were checked.
    pub(super) fn settle(&mut self) {
        self.is_due = false;
    }
}

/// Refuses a program whose distances may exceed 32 bits, as nothing checks them.
pub(super) fn check_sure(program: &EncodedProgram, graph: &Graph) -> Result<(), BackendError> {
    check_hidden(&searched(program), program, graph)
}

/// Refuses searches along weights that the graph does not have.
fn check_kinds(searches: &[Searched], graph: &Graph) -> Result<(), BackendError> {
    let Some(found) = graph.weight_kind() else {
        return Ok(());
    };
    match searches.iter().find(|search| search.kind != found) {
        None => Ok(()),
        Some(search) => Err(BackendError::WrongWeights {
            needed: search.kind,
            found,
        }),
    }
}

/// Refuses searches that may exceed 32 bits undetected.
fn check_hidden(
    hidden: &[Searched],
    program: &EncodedProgram,
    graph: &Graph,
) -> Result<(), BackendError> {
    check_kinds(hidden, graph)?;
    let Some(search) = hidden.first() else {
        return Ok(());
    };
    let heaviest = heaviest(graph.weights().unwrap_or(&[]));
    let edges = graph.nodes().saturating_sub(1);
    if Sums::of(search.kind).hold(edges, heaviest) {
        return Ok(());
    }
    Err(BackendError::PathsUnseen {
        name: program.register_name(search.register.number()),
        register: search.register.number(),
        kind: search.kind,
    })
}

/// Refuses `distances`, the words of the register of `search`, if a path exceeded them.
pub(super) fn check(
    search: &Searched,
    graph: &Graph,
    distances: &[u32],
) -> Result<(), BackendError> {
    match overflow(graph, search.kind, distances) {
        None => Ok(()),
        Some([from, to]) => Err(BackendError::PathTooLong {
            from: graph.original_id(from),
            to: graph.original_id(to),
            kind: search.kind,
        }),
    }
}

/// Returns the ends of the first edge, in order of nodes, from a node with a distance to one
/// without whose sum does not fit 32 bits; `None` if every distance fits.
///
/// Existing distances are correct even if others are missing, since every proper prefix of a
/// shortest path is shorter. Takes one pass over the distances if all nodes have one or the
/// largest weight fits beyond the largest distance, otherwise one over the edges.
fn overflow(graph: &Graph, kind: WeightKind, distances: &[u32]) -> Option<[u32; 2]> {
    let (weights, sums) = (graph.weights()?, Sums::of(kind));
    let distances = distances.get(..graph.nodes() as usize)?;
    let reached = distances.par_iter().filter(|word| sums.is_path(**word));
    let (count, longest) = reached
        .map(|word| (1, *word))
        .reduce(|| (0, 0), |a, b| (a.0 + b.0, a.1.max(b.1)));
    if count == distances.len() || sums.fit(longest, heaviest(weights)) {
        return None;
    }
    (0..graph.nodes()).into_par_iter().find_map_first(|from| {
        let distance = distances[from as usize];
        let row = graph.outgoing().row(from);
        let outgrew = |edge: &usize| {
            let to = graph.targets()[*edge] as usize;
            !sums.is_path(distances[to]) && !sums.fit(distance, weights[*edge])
        };
        let edge = row.filter(|_| sums.is_path(distance)).find(outgrew)?;
        Some([from, graph.targets()[edge]])
    })
}

/// The word of the largest weight; words order like the weights.
fn heaviest(weights: &[u32]) -> u32 {
    weights.par_iter().max().copied().unwrap_or(0)
}

/// Arithmetic of 32-bit distances.
#[derive(Clone, Copy, Debug)]
enum Sums {
    Whole,
    Float,
}

impl Sums {
    const fn of(kind: WeightKind) -> Self {
        match kind {
            WeightKind::Integer | WeightKind::Signed => Self::Whole,
            WeightKind::Float | WeightKind::SignedFloat => Self::Float,
        }
    }

    /// Returns whether this is the distance of a reached node.
    fn is_path(self, word: u32) -> bool {
        match self {
            Self::Whole => word != UNREACHED,
            Self::Float => f32::from_bits(word).is_finite(),
        }
    }

    fn fit(self, distance: u32, weight: u32) -> bool {
        match self {
            Self::Whole => distance
                .checked_add(weight)
                .is_some_and(|sum| self.is_path(sum)),
            Self::Float => (f32::from_bits(distance) + f32::from_bits(weight)).is_finite(),
        }
    }

    /// Returns whether no path of `edges` edges of at most this weight exceeds 32 bits.
    fn hold(self, edges: u32, heaviest: u32) -> bool {
        match self {
            Self::Whole => edges
                .checked_mul(heaviest)
                .is_some_and(|sum| self.is_path(sum)),
            // Each rounding adds at most a part in 2^24, so n of them add less than a factor of
            // 2^(n / 2^23).
            Self::Float => {
                let longest = f64::from(edges) * f64::from(f32::from_bits(heaviest));
                longest * (1.0 + f64::from(edges) / 8_388_608.0).exp2() < f64::from(f32::MAX)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NO: u32 = UNREACHED;

    #[test]
    fn only_a_sum_beyond_32_bits_is_outgrown() {
        let overflow = |last, distances: [u32; 5]| {
            let edges = [(0, 1, NO - 2), (1, 2, last), (3, 4, 9)];
            let graph = Graph::from_weighted_edges(5, &edges, false).unwrap();
            overflow(&graph, WeightKind::Integer, &distances)
        };
        assert_eq!(overflow(1, [0, NO - 2, NO - 1, NO, NO]), None);
        let short = [0, NO - 2, NO, NO, NO];
        assert_eq!(overflow(2, short), Some([1, 2]));
        // A distance that is not yet relaxed has not overflowed.
        assert_eq!(overflow(1, short), None);
    }

    #[test]
    fn infinity_outgrows_floats() {
        let edges = [(0, 1, f32::MAX), (1, 2, f32::MAX)];
        let graph = Graph::from_float_edges(4, &edges, false).unwrap();
        let overflow = |distances: [f32; 4]| {
            let words = distances.map(f32::to_bits);
            overflow(&graph, WeightKind::Float, &words)
        };
        let infinite = f32::INFINITY;
        assert_eq!(overflow([0.0, f32::MAX, infinite, infinite]), Some([1, 2]));
        assert_eq!(overflow([infinite; 4]), None);
    }

    #[test]
    fn sums_fit_as_long_as_every_path_does() {
        assert!(Sums::Whole.hold(2, NO / 2));
        assert!(!Sums::Whole.hold(3, NO / 3 + 1));
        assert!(!Sums::Whole.hold(1, NO));
        assert!(Sums::Float.hold(1000, 1e30_f32.to_bits()));
        assert!(!Sums::Float.hold(2, f32::MAX.to_bits()));
        assert!(!Sums::Float.hold(u32::MAX, 1.0_f32.to_bits()));
    }
}
