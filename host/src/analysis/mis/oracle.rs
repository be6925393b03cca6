//! Definition of an independent and maximal set.

use crate::graph::Graph;

/// Whether no two nodes with flag 1 are neighbours, and all others have 0.
pub(super) fn is_independent(graph: &Graph, flags: &[u32]) -> bool {
    let free = |node: u32| {
        !graph
            .neighbours(node)
            .iter()
            .any(|other| *other != node && flags[*other as usize] != 0)
    };
    flags.len() == graph.nodes() as usize
        && (0..graph.nodes())
            .zip(flags)
            .all(|(node, flag)| match flag {
                0 => true,
                1 => free(node),
                _ => false,
            })
}

/// Whether every node without a flag has a neighbour with one.
pub(super) fn is_maximal(graph: &Graph, flags: &[u32]) -> bool {
    let meets = |node: u32| {
        graph
            .neighbours(node)
            .iter()
            .any(|other| flags[*other as usize] != 0)
    };
    (0..graph.nodes())
        .zip(flags)
        .all(|(node, flag)| *flag != 0 || meets(node))
}
