//! Turns the ids of an edge list into node numbers.
//!
//! A node is an id that occurs, or one that the node count of a comment adds. If the ids are
//! consecutive, their first one leads back to them; otherwise nodes are numbered in ascending
//! order of their ids and a table leads back. Memory follows the file; see [`super::seen`].

use std::hash::BuildHasher;
use std::ops::{Range, RangeInclusive};

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
    pub(super) fn is_empty(&self) -> bool {
        self.ids.is_empty()
    }

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

    /// Adds an edge from a node to itself, which stands for the node until nodes are numbered.
    /// Returns false if labels run out.
    #[must_use]
    pub(super) fn add_node<const N: usize>(&mut self, id: u64, edges: &mut Edges<N>) -> bool {
        let label = if id < NEAR {
            Some(id as u32)
        } else {
            self.label(id)
        };
        let mut edge = [0; N];
        edge[..2].fill(label.unwrap_or(0));
        edges.push(edge);
        label.is_some()
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

/// Statement of a file on its nodes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Hint {
    /// None: nodes are the ids that occur.
    None,
    /// The number of nodes in a comment, a hint only: it adds nodes for ids that no edge names,
    /// counted from 0, or from 1 if 0 does not occur and the count does.
    Count(u64),
    /// The ids of all nodes.
    Range(RangeInclusive<u64>),
}

/// Numbers the nodes and rewrites the edges. `Err` is an id outside of the stated range.
pub(super) fn number<const N: usize>(
    edges: &mut Edges<N>,
    far: FarIds,
    hint: Hint,
) -> Result<Numbering, u64> {
    let seen = Seen::of(edges);
    number_seen(edges, &seen, far, hint)
}

/// As [`number`], with the ids that occur here and elsewhere.
pub(super) fn number_seen<const N: usize>(
    edges: &mut [[u32; N]],
    seen: &Seen,
    far: FarIds,
    hint: Hint,
) -> Result<Numbering, u64> {
    if far.ids.is_empty()
        && let Some(known) = without_holes(seen, &hint)?
    {
        if known.start > 0 {
            let first = known.start as u32;
            let shift = |end: &mut u32| *end = end.wrapping_sub(first);
            edges
                .par_iter_mut()
                .for_each(|edge| edge[..2].iter_mut().for_each(shift));
        }
        return Ok(Numbering {
            nodes: known.end - known.start,
            ids: Ids::Offset(known.start),
        });
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
    match hint {
        Hint::Range(range) => within(edges, &table, &range),
        _ => Ok(Numbering {
            nodes: table.len() as u64,
            ids: Ids::Table(table),
        }),
    }
}

/// Numbers nodes by their place in a range, from their ranks among the ids that occur.
fn within<const N: usize>(
    edges: &mut [[u32; N]],
    table: &[u64],
    range: &RangeInclusive<u64>,
) -> Result<Numbering, u64> {
    if let Some(outside) = table.iter().find(|id| !range.contains(id)) {
        return Err(*outside);
    }
    let first = *range.start();
    edges.par_iter_mut().for_each(|edge| {
        // A range of more than 32 bits was refused.
        edge[..2]
            .iter_mut()
            .for_each(|end| *end = (table[*end as usize] - first) as u32);
    });
    Ok(Numbering {
        nodes: range.end() - first + 1,
        ids: Ids::Offset(first),
    })
}

/// Returns the ids of all nodes, if they are consecutive; they include all that occur. `Err` is an
/// id outside of the stated range.
fn without_holes(seen: &Seen, hint: &Hint) -> Result<Option<Range<u64>>, u64> {
    let Range { start, end } = seen.range;
    Ok(match hint {
        Hint::Range(range) if end > start => {
            let outside = [start, end - 1].into_iter().find(|id| !range.contains(id));
            outside.map_or(Ok(()), Err)?;
            // Ids that occur have 31 bits; others of the range may have more.
            (*range.start() < NEAR).then(|| *range.start()..range.end().saturating_add(1))
        }
        Hint::Range(range) => {
            (*range.start() < NEAR).then(|| *range.start()..range.end().saturating_add(1))
        }
        Hint::Count(nodes) if *nodes >= end => Some(0..*nodes),
        Hint::Count(nodes) if nodes + 1 == end && start > 0 => Some(1..end),
        _ => (seen.count() == end - start).then_some(start..end),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_without_gaps_are_kept() {
        let mut edges = vec![[0, 2], [1, 2]];
        let numbering = number(&mut edges, FarIds::default(), Hint::None).unwrap();
        assert_eq!(numbering.nodes, 3);
        assert_eq!(edges, [[0, 2], [1, 2]]);
        assert!(matches!(numbering.ids, Ids::Offset(0)));
    }

    #[test]
    fn gaps_close_in_ascending_order() {
        let mut edges = vec![[700, 3], [3, 64], [65, 700]];
        let numbering = number(&mut edges, FarIds::default(), Hint::None).unwrap();
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
        let numbering = number(&mut edges, far, Hint::None).unwrap();
        assert_eq!(edges, [[0, 2], [1, 2]]);
        assert_eq!(numbering.ids.original(1), 1 << 40);
        assert_eq!(numbering.ids.node(u64::MAX, 3), Some(2));
    }

    #[test]
    fn a_hint_keeps_nodes_without_edges() {
        let mut edges = vec![[4, 1]];
        let numbering = number(&mut edges, FarIds::default(), Hint::Count(6)).unwrap();
        assert_eq!((numbering.nodes, edges[0]), (6, [4, 1]));
        let mut edges = vec![[4, 1]];
        let numbering = number(&mut edges, FarIds::default(), Hint::Count(3)).unwrap();
        assert_eq!((numbering.nodes, edges[0]), (2, [1, 0]));
        assert_eq!(numbering.ids.original(1), 4);
    }

    #[test]
    fn a_hint_that_the_largest_id_equals_counts_from_one() {
        let mut edges = vec![[4, 1]];
        let numbering = number(&mut edges, FarIds::default(), Hint::Count(4)).unwrap();
        assert_eq!((numbering.nodes, edges[0]), (4, [3, 0]));
        assert!(matches!(numbering.ids, Ids::Offset(1)));
        let mut edges = vec![[4, 0]];
        let numbering = number(&mut edges, FarIds::default(), Hint::Count(4)).unwrap();
        assert_eq!((numbering.nodes, edges[0]), (2, [1, 0]));
    }

    #[test]
    fn consecutive_ids_need_no_table() {
        let mut edges = vec![[12, 10], [11, 10]];
        let numbering = number(&mut edges, FarIds::default(), Hint::None).unwrap();
        assert_eq!((numbering.nodes, &edges[..]), (3, &[[2, 0], [1, 0]][..]));
        assert!(matches!(numbering.ids, Ids::Offset(10)));
    }

    #[test]
    fn a_stated_range_keeps_ids_and_refuses_others() {
        let mut edges = vec![[4, 6]];
        let numbering = number(&mut edges, FarIds::default(), Hint::Range(3..=8)).unwrap();
        assert_eq!((numbering.nodes, edges[0]), (6, [1, 3]));
        assert!(matches!(numbering.ids, Ids::Offset(3)));
        let mut edges = vec![[4, 9]];
        let refused = number(&mut edges, FarIds::default(), Hint::Range(3..=8));
        assert_eq!(refused.err(), Some(9));
        let mut far = FarIds::default();
        let mut edges = Vec::<[u32; 2]>::new();
        assert!(far.add_node((1 << 40) + 1, &mut edges));
        let range = Hint::Range(1 << 40..=(1 << 40) + 2);
        let numbering = number(&mut edges, far, range).unwrap();
        assert_eq!((numbering.nodes, edges[0]), (3, [1, 1]));
    }
}
