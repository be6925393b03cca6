//! Turns the ids of an edge list into node numbers.
//!
//! A node is an id that occurs, or one that the node count of a comment adds. If the ids are
//! consecutive, their first one leads back to them; otherwise nodes are numbered in ascending
//! order of their ids and a table leads back. Memory follows the file; see [`super::seen`].

use std::hash::BuildHasher;
use std::ops::Range;

use hashbrown::DefaultHashBuilder;
use hashbrown::hash_table::{Entry, HashTable};
use rayon::prelude::*;

use super::parsed::{Far, NEAR};
use super::seen::Seen;
use crate::build::Edges;
use crate::ids::Ids;

/// Ids beyond 31 bits, labelled in order of appearance from [`NEAR`] on.
///
/// The table holds labels and looks the ids up, which takes a third of the memory of a map from
/// ids to labels.
#[derive(Default)]
pub(super) struct FarIds {
    ids: Vec<u64>,
    table: HashTable<u32>,
    hasher: DefaultHashBuilder,
}

impl FarIds {
    /// Writes the labels of far ids into the edges; returns false if labels run out.
    #[must_use]
    pub(super) fn settle<const N: usize>(&mut self, far: &[Far], edges: &mut [[u32; N]]) -> bool {
        for place in far {
            match self.label(place.id) {
                Some(label) => edges[place.edge][place.end] = label,
                None => return false,
            }
        }
        true
    }

    fn label(&mut self, id: u64) -> Option<u32> {
        let (ids, hasher) = (&mut self.ids, &self.hasher);
        let id_of = |ids: &[u64], label: u32| ids[(label - NEAR as u32) as usize];
        let found = self.table.entry(
            hasher.hash_one(id),
            |&label| id_of(ids, label) == id,
            |&label| hasher.hash_one(id_of(ids, label)),
        );
        match found {
            Entry::Occupied(known) => Some(*known.get()),
            Entry::Vacant(place) => {
                let label = u32::try_from(NEAR + ids.len() as u64).ok()?;
                place.insert(label);
                ids.push(id);
                Some(label)
            }
        }
    }

    /// Returns the ids in ascending order, and the rank of each label (in order of appearance).
    fn ranked(self) -> (Vec<u64>, Vec<u32>) {
        let mut ids = self.ids;
        drop(self.table);
        let mut order: Vec<u32> = (0..ids.len() as u32).collect();
        order.par_sort_unstable_by_key(|&label| ids[label as usize]);
        let mut places = vec![0; ids.len()];
        for (place, &label) in (0u32..).zip(&order) {
            places[label as usize] = place;
        }
        drop(order);
        ids.par_sort_unstable();
        (ids, places)
    }
}

/// Node numbers of an edge list.
pub(super) struct Numbering {
    pub(super) nodes: u64,
    pub(super) ids: Ids,
}

/// Numbers the nodes and rewrites the edges.
///
/// `hinted_nodes` is the node count of the file's comment. It adds nodes for ids that no edge
/// names, counted from 0, or from 1 if 0 does not occur and the count does.
pub(super) fn number<const N: usize>(
    edges: &mut Edges<N>,
    far: FarIds,
    hinted_nodes: Option<u64>,
) -> Numbering {
    let seen = Seen::of(edges);
    if far.ids.is_empty()
        && let Some(known) = without_holes(&seen, hinted_nodes)
    {
        if known.start > 0 {
            let first = known.start as u32;
            edges
                .par_iter_mut()
                .for_each(|edge| edge[..2].iter_mut().for_each(|end| *end -= first));
        }
        return Numbering {
            nodes: known.end - known.start,
            ids: Ids::Offset(known.start),
        };
    }
    let near = seen.count();
    let (far_ids, places) = far.ranked();
    edges.par_iter_mut().for_each(|edge| {
        for end in &mut edge[..2] {
            *end = match (u64::from(*end)).checked_sub(NEAR) {
                None => seen.rank(*end),
                Some(label) => near as u32 + places[label as usize],
            };
        }
    });
    let table = if near == 0 {
        far_ids
    } else {
        let mut table = seen.ids(near as usize + far_ids.len());
        table.extend(far_ids);
        table
    };
    Numbering {
        nodes: table.len() as u64,
        ids: Ids::Table(table),
    }
}

/// Returns the ids of all nodes, if they are consecutive; they include all that occur.
fn without_holes(seen: &Seen, hinted_nodes: Option<u64>) -> Option<Range<u64>> {
    let Range { start, end } = seen.range;
    match hinted_nodes {
        Some(nodes) if nodes >= end => Some(0..nodes),
        Some(nodes) if nodes + 1 == end && start > 0 => Some(1..end),
        _ => (seen.count() == end - start).then_some(start..end),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_without_gaps_are_kept() {
        let mut edges = vec![[0, 2], [1, 2]];
        let numbering = number(&mut edges, FarIds::default(), None);
        assert_eq!(numbering.nodes, 3);
        assert_eq!(edges, [[0, 2], [1, 2]]);
        assert!(matches!(numbering.ids, Ids::Offset(0)));
    }

    #[test]
    fn gaps_close_in_ascending_order() {
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
        let numbering = number(&mut edges, FarIds::default(), Some(3));
        assert_eq!((numbering.nodes, edges[0]), (2, [1, 0]));
        assert_eq!(numbering.ids.original(1), 4);
    }

    #[test]
    fn a_hint_that_the_largest_id_equals_counts_from_one() {
        let mut edges = vec![[4, 1]];
        let numbering = number(&mut edges, FarIds::default(), Some(4));
        assert_eq!((numbering.nodes, edges[0]), (4, [3, 0]));
        assert!(matches!(numbering.ids, Ids::Offset(1)));
        let mut edges = vec![[4, 0]];
        let numbering = number(&mut edges, FarIds::default(), Some(4));
        assert_eq!((numbering.nodes, edges[0]), (2, [1, 0]));
    }

    #[test]
    fn consecutive_ids_need_no_table() {
        let mut edges = vec![[12, 10], [11, 10]];
        let numbering = number(&mut edges, FarIds::default(), None);
        assert_eq!((numbering.nodes, &edges[..]), (3, &[[2, 0], [1, 0]][..]));
        assert!(matches!(numbering.ids, Ids::Offset(10)));
    }
}
