//! Turns the ids of an edge list into node numbers.
//!
//! A node is an id that occurs. When the ids are `0..n` without a hole they are
//! the node numbers; otherwise nodes are numbered in ascending order of their ids
//! and a table leads back. Memory for that follows the file: see [`super::seen`].

use std::collections::HashMap;

use rayon::prelude::*;

use super::body::{Far, NEAR};
use super::seen::Seen;
use crate::graph::build::Edges;
use crate::graph::ids::Ids;

/// Ids beyond 31 bits, labelled in order of appearance from [`NEAR`] on.
#[derive(Default)]
pub(super) struct FarIds {
    labels: HashMap<u64, u32>,
}

impl FarIds {
    /// Writes the labels of far ids into the edges; false when labels run out.
    #[must_use]
    pub(super) fn settle<const N: usize>(&mut self, far: &[Far], edges: &mut [[u32; N]]) -> bool {
        for place in far {
            let next = NEAR + self.labels.len() as u64;
            let Ok(next) = u32::try_from(next) else {
                return false;
            };
            edges[place.edge][place.end] = *self.labels.entry(place.id).or_insert(next);
        }
        true
    }

    /// Ids in ascending order, and for each label (in order of appearance) its place there.
    fn ranked(self) -> (Vec<u64>, Vec<u32>) {
        let mut pairs: Vec<(u64, u32)> = self.labels.into_iter().collect();
        pairs.sort_unstable();
        let mut places = vec![0; pairs.len()];
        for (place, &(_, label)) in pairs.iter().enumerate() {
            places[label as usize - NEAR as usize] = place as u32;
        }
        (pairs.into_iter().map(|(id, _)| id).collect(), places)
    }
}

/// Node numbers for an edge list.
pub(super) struct Numbering {
    pub(super) nodes: u64,
    pub(super) ids: Ids,
}

/// Numbers the nodes and rewrites the edges.
///
/// `hinted_nodes` is the node count of the file's comment. It keeps ids as they are
/// when all are below it and it is believable, so that nodes without edges survive.
pub(super) fn number<const N: usize>(
    edges: &mut Edges<N>,
    far: FarIds,
    hinted_nodes: Option<u64>,
) -> Numbering {
    let seen = Seen::of(edges);
    let near = seen.count();
    let all_near = far.labels.is_empty();
    let span = seen.span;
    if let Some(nodes) = hinted_nodes.filter(|&nodes| all_near && nodes >= span) {
        return Numbering {
            nodes,
            ids: Ids::Offset(0),
        };
    }
    if all_near && near == span {
        return Numbering {
            nodes: span,
            ids: Ids::Offset(0),
        };
    }
    let (far_ids, places) = far.ranked();
    edges.par_iter_mut().for_each(|edge| {
        for end in &mut edge[..2] {
            *end = match (u64::from(*end)).checked_sub(NEAR) {
                None => seen.rank(*end),
                Some(label) => near as u32 + places[label as usize],
            };
        }
    });
    let mut table = seen.ids(near as usize + far_ids.len());
    table.extend(far_ids);
    Numbering {
        nodes: table.len() as u64,
        ids: Ids::Table(table.into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_without_holes_are_kept() {
        let mut edges = vec![[0, 2], [1, 2]];
        let numbering = number(&mut edges, FarIds::default(), None);
        assert_eq!(numbering.nodes, 3);
        assert_eq!(edges, [[0, 2], [1, 2]]);
        assert!(matches!(numbering.ids, Ids::Offset(0)));
    }

    #[test]
    fn holes_close_in_ascending_order() {
        let mut edges = vec![[700, 3], [3, 64], [65, 700]];
        let numbering = number(&mut edges, FarIds::default(), None);
        assert_eq!(edges, [[3, 0], [0, 1], [2, 3]]);
        let ids: Vec<u64> = (0..4).map(|node| numbering.ids.original(node)).collect();
        assert_eq!(ids, [3, 64, 65, 700]);
    }

    #[test]
    fn far_ids_come_after_near_ones_in_their_own_order() {
        let mut edges = vec![[5, 0], [0, 0]];
        let mut far = FarIds::default();
        let place = |edge, end, id| Far { edge, end, id };
        assert!(far.settle(
            &[
                place(0, 1, u64::MAX),
                place(1, 0, 1 << 40),
                place(1, 1, u64::MAX)
            ],
            &mut edges
        ));
        let numbering = number(&mut edges, far, None);
        assert_eq!(edges, [[0, 2], [1, 2]]);
        assert_eq!(numbering.ids.original(1), 1 << 40);
        assert_eq!(numbering.ids.node(u64::MAX, 3), Some(2));
    }

    #[test]
    fn a_hint_keeps_nodes_without_edges() {
        let mut edges = vec![[4, 1]];
        let numbering = number(&mut edges, FarIds::default(), Some(6));
        assert_eq!((numbering.nodes, edges[0]), (6, [4, 1]));
        let mut edges = vec![[4, 1]];
        assert_eq!(number(&mut edges, FarIds::default(), Some(4)).nodes, 2);
    }
}
