//! Identity of a resident graph: the digest in a plan and beside the graph's arrays, so that
//! kernels refuse a plan for another graph or machine.

use crate::executor::Executor;
use crate::graph::Graph;

/// Most words of an array that count, at even distances; a shorter array counts whole.
const WORDS_MAX: usize = 4096;

/// Returns the digest of `graph` on a machine: the CPU, or GPU number `device`. It is never 0.
///
/// It covers sizes, directions, the kind of weights, and up to 4096 row ends and edges each. Rows
/// end at sums over all rows before them, so a changed row shows in every later one. Weights do
/// not count, since no plan follows from them. Equal graphs have equal digests. Time: 8192 words
/// at most.
///
/// ```
/// use seawall::backend::resident_digest;
/// use seawall::executor::Executor;
/// use seawall::graph::Graph;
///
/// let path = Graph::from_edges(3, &[(0, 1), (1, 2)], false)?;
/// let star = Graph::from_edges(3, &[(0, 1), (0, 2)], false)?;
/// let here = resident_digest(&path, Executor::Mega, 0);
/// assert_eq!(here, resident_digest(&path, Executor::Graph, 0));
/// assert_ne!(here, resident_digest(&path, Executor::Mega, 1));
/// assert_ne!(here, resident_digest(&star, Executor::Mega, 0));
/// # Ok::<(), seawall::graph::GraphError>(())
/// ```
#[must_use]
pub fn resident_digest(graph: &Graph, executor: Executor, device: u32) -> u64 {
    let machine = if executor.is_on_gpu() {
        1 + u64::from(device)
    } else {
        0
    };
    let kind = graph.weight_kind().map_or(0, |kind| 1 + kind as u64);
    let facts = [
        machine,
        u64::from(graph.nodes()),
        u64::from(graph.edges()),
        u64::from(graph.is_symmetric()),
        kind,
    ];
    let words = sample(graph.offsets()).chain(sample(graph.targets()));
    let words = facts.into_iter().chain(words.map(u64::from));
    words.fold(START, mixed).max(1)
}

/// Words of an array at even distances, the last one among them.
fn sample(words: &[u32]) -> impl Iterator<Item = u32> {
    let step = words.len().div_ceil(WORDS_MAX).max(1);
    words.iter().rev().step_by(step).copied()
}

/// The hash FNV-1a of 64 bits, a word at a time, with its high bits folded in: multiplying only
/// moves bits up.
fn mixed(hash: u64, word: u64) -> u64 {
    let hash = (hash ^ word).wrapping_mul(0x0000_0100_0000_01b3);
    hash ^ (hash >> 29)
}

const START: u64 = 0xcbf2_9ce4_8422_2325;

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    fn digest(nodes: u32, edges: &[(u32, u32)], undirected: bool) -> u64 {
        let graph = Graph::from_edges(nodes, edges, undirected).unwrap();
        resident_digest(&graph, Executor::Cpu, 0)
    }

    #[test]
    fn small_graphs_that_differ_in_anything_have_other_digests() {
        let mut found = BTreeSet::new();
        let mut count = 0;
        for nodes in 4..7 {
            for from in 0..4 {
                for to in (0..4).filter(|to| *to != from) {
                    found.insert(digest(nodes, &[(from, to)], false));
                    count += 1;
                }
            }
        }
        assert_eq!(found.len(), count);
        assert_ne!(
            digest(2, &[(0, 1), (1, 0)], false),
            digest(3, &[(0, 1), (1, 0)], false)
        );
    }

    #[test]
    fn a_row_that_changes_shows_in_a_large_graph() {
        let edges: Vec<_> = (1..100_000).map(|node| (node - 1, node)).collect();
        let whole = digest(100_000, &edges, false);
        for missing in [0, 1, 77_777, 99_998] {
            let mut fewer = edges.clone();
            fewer[missing] = (99_999, 5);
            assert_ne!(digest(100_000, &fewer, false), whole, "{missing}");
        }
    }
}
