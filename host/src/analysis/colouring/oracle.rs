//! Definition of a proper and greedy colouring.

use crate::graph::Graph;
use seawall_core::abi::UNREACHED;

/// Whether no two neighbours have the same colour; [`UNREACHED`] is none.
pub(super) fn is_proper(graph: &Graph, colours: &[u32]) -> bool {
    let differs = |node: u32, colour: u32| {
        let row = graph.neighbours(node);
        colour == UNREACHED
            || row
                .iter()
                .all(|other| *other == node || colours[*other as usize] != colour)
    };
    colours.len() == graph.nodes() as usize
        && (0..graph.nodes())
            .zip(colours)
            .all(|(node, colour)| differs(node, *colour))
}

/// Whether every node has a colour and its neighbours have all lesser ones, so that no node could
/// have a lesser one. There are at most as many colours as the largest degree plus one.
pub(super) fn is_greedy(graph: &Graph, colours: &[u32]) -> bool {
    (0..graph.nodes()).zip(colours).all(|(node, colour)| {
        let row = graph.neighbours(node);
        let mut lesser: Vec<u32> = row.iter().map(|other| colours[*other as usize]).collect();
        lesser.retain(|other| other < colour);
        lesser.sort_unstable();
        lesser.dedup();
        *colour != UNREACHED && lesser.len() == *colour as usize
    })
}
