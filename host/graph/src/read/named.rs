//! Nodes whose ids are names.
//!
//! A piece of text numbers the names that it holds; the pieces' names are joined in the order of
//! the file, and at the end nodes are numbered in the ascending order of their names. So the
//! result does not depend on threads, nor on the order of edges.

use std::hash::BuildHasher;

use hashbrown::DefaultHashBuilder;
use hashbrown::hash_table::{Entry, HashTable};
use rayon::prelude::*;

use crate::build::Edges;
use crate::ids::{Ids, NameTable};
use crate::memory::{self, Shortage};

/// Names, each once, labelled in order of appearance.
#[derive(Default)]
pub(super) struct Names {
    text: String,
    ends: Vec<usize>,
    table: HashTable<u32>,
    hasher: DefaultHashBuilder,
}

impl Names {
    pub(super) fn len(&self) -> usize {
        self.ends.len()
    }

    pub(super) fn get(&self, label: u32) -> &str {
        name_at(&self.text, &self.ends, label)
    }

    pub(super) fn has(&self, name: &str) -> bool {
        let is_name = |&label: &u32| name_at(&self.text, &self.ends, label) == name;
        let hash = self.hasher.hash_one(name);
        self.table.find(hash, is_name).is_some()
    }

    /// Returns the label of a name, a new one where it has none; `None` where 32 bits are not
    /// enough.
    pub(super) fn label(&mut self, name: &str) -> Result<Option<u32>, Shortage> {
        let (text, ends, hasher) = (&mut self.text, &mut self.ends, &self.hasher);
        let found = self.table.entry(
            hasher.hash_one(name),
            |&label| name_at(text, ends, label) == name,
            |&label| hasher.hash_one(name_at(text, ends, label)),
        );
        match found {
            Entry::Occupied(known) => Ok(Some(*known.get())),
            Entry::Vacant(place) => {
                let Some(label) = u32::try_from(ends.len()).ok().filter(|&at| at < u32::MAX) else {
                    return Ok(None);
                };
                place.insert(label);
                memory::check(next_capacity(text.capacity(), text.len() + name.len()))?;
                text.push_str(name);
                memory::reserve(ends, 1)?;
                ends.push(text.len());
                Ok(Some(label))
            }
        }
    }

    /// Labels the names of a piece and rewrites its edges, if they are named. `None` where labels
    /// run out.
    pub(super) fn settle<const N: usize>(
        &mut self,
        piece: &Names,
        are_named: bool,
        edges: &mut [[u32; N]],
    ) -> Result<Option<()>, Shortage> {
        if !are_named {
            return Ok(Some(()));
        }
        let mut labels = Vec::with_capacity(piece.len());
        for at in 0..piece.len() as u32 {
            match self.label(piece.get(at))? {
                Some(label) => labels.push(label),
                None => return Ok(None),
            }
        }
        let relabel = |end: &mut u32| *end = labels[*end as usize];
        edges
            .iter_mut()
            .for_each(|edge| edge[..2].iter_mut().for_each(relabel));
        Ok(Some(()))
    }

    /// Returns the node of each label and the ids of the nodes: numbers, if `as_numbers` and all
    /// names are plain numbers, else the names.
    fn ranked(&self, as_numbers: bool) -> (Vec<u32>, Ids) {
        let numbers: Option<Vec<u64>> = if as_numbers {
            (0..self.len() as u32)
                .into_par_iter()
                .map(|at| plain_number(self.get(at)))
                .collect()
        } else {
            None
        };
        let mut order: Vec<u32> = (0..self.len() as u32).collect();
        let ids = match &numbers {
            Some(numbers) => {
                order.par_sort_unstable_by_key(|&label| numbers[label as usize]);
                numbered(order.iter().map(|&label| numbers[label as usize]).collect())
            }
            None => {
                order.par_sort_unstable_by_key(|&label| self.get(label));
                Ids::Names(NameTable::of(order.iter().map(|&label| self.get(label))))
            }
        };
        let mut places = vec![0; order.len()];
        for (place, &label) in (0u32..).zip(&order) {
            places[label as usize] = place;
        }
        (places, ids)
    }

    /// Numbers the nodes in ascending order and rewrites the edges, whose ends are labels. Returns
    /// the number of nodes and their ids.
    pub(super) fn number<const N: usize>(
        self,
        edges: &mut Edges<N>,
        as_numbers: bool,
    ) -> (u64, Ids) {
        let (places, ids) = self.ranked(as_numbers);
        edges.par_iter_mut().for_each(|edge| {
            edge[..2]
                .iter_mut()
                .for_each(|end| *end = places[*end as usize]);
        });
        (places.len() as u64, ids)
    }
}

/// Bytes that a text takes when it grows beyond its capacity, 0 if it does not.
fn next_capacity(capacity: usize, needed: usize) -> u64 {
    if needed <= capacity {
        0
    } else {
        needed.max(2 * capacity) as u64
    }
}

fn name_at<'t>(text: &'t str, ends: &[usize], label: u32) -> &'t str {
    let at = label as usize;
    let start = at.checked_sub(1).map_or(0, |before| ends[before]);
    &text[start..ends[at]]
}

/// Ascending ids, without a table where they are consecutive.
pub(super) fn numbered(ids: Vec<u64>) -> Ids {
    match (ids.first(), ids.last()) {
        (None, _) | (_, None) => Ids::Offset(0),
        (Some(&first), Some(&last)) if last - first == ids.len() as u64 - 1 => Ids::Offset(first),
        _ => Ids::Table(ids),
    }
}

/// The number that a name is, written without leading zeros.
fn plain_number(name: &str) -> Option<u64> {
    let is_plain = name == "0" || !name.starts_with('0');
    let is_digits = !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_digit());
    (is_plain && is_digits).then(|| name.parse().ok()).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(all: &[&str]) -> Names {
        let mut names = Names::default();
        for name in all {
            assert!(names.label(name).unwrap().is_some());
        }
        names
    }

    #[test]
    fn nodes_are_numbered_in_the_order_of_their_names() {
        let mut edges = vec![[0, 1], [2, 0]];
        let (nodes, ids) = names(&["c", "a", "b", "a"]).number(&mut edges, true);
        assert_eq!((nodes, &edges[..]), (3, &[[2, 0], [1, 2]][..]));
        let Ids::Names(table) = ids else { panic!() };
        assert_eq!(table.iter().collect::<Vec<_>>(), ["a", "b", "c"]);
    }

    #[test]
    fn plain_numbers_are_ids_where_asked_for_and_all_are() {
        let number =
            |all: &[&str], as_numbers| names(all).number::<2>(&mut Vec::new(), as_numbers).1;
        assert!(matches!(number(&["10", "9", "8"], true), Ids::Offset(8)));
        let Ids::Table(table) = number(&["10", "8"], true) else {
            panic!()
        };
        assert_eq!(table, [8, 10]);
        assert!(matches!(number(&["10", "9"], false), Ids::Names(_)));
        assert!(matches!(number(&["010", "9"], true), Ids::Names(_)));
    }
}
