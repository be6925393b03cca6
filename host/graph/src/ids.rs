//! Relation of node numbers to the ids in the file.
//!
//! Inside, nodes are `0..n`; reports and `--source` use the file's ids. Four forms cover every
//! reader; only those with a table take memory.

use std::fmt;

use super::Graph;

/// The file's id of each node.
#[derive(Clone, Debug)]
pub(super) enum Ids {
    /// `original = node + base`: 0 for edge lists and generators, 1 for the 1-based formats.
    Offset(u64),
    /// One ascending id per node, for files whose ids have gaps.
    Table(Vec<u64>),
    /// One name per node, for files whose ids are text. The id is the node's number.
    Names(NameTable),
}

impl Ids {
    /// Returns the file's id of a node, or the node's own number if it is out of range.
    pub(super) fn original(&self, node: u32) -> u64 {
        match self {
            Self::Offset(base) => u64::from(node).saturating_add(*base),
            Self::Table(ids) => ids.get(node as usize).copied().unwrap_or(u64::from(node)),
            Self::Names(_) => u64::from(node),
        }
    }

    /// Returns the node with this id, if it is one of `nodes`.
    pub(super) fn node(&self, original: u64, nodes: u32) -> Option<u32> {
        let at = match self {
            Self::Offset(base) => original.checked_sub(*base)?,
            Self::Table(ids) => ids.binary_search(&original).ok()? as u64,
            Self::Names(_) => original,
        };
        u32::try_from(at).ok().filter(|&node| node < nodes)
    }

    pub(super) fn bytes(&self) -> usize {
        match self {
            Self::Offset(_) => 0,
            Self::Table(ids) => size_of_val(ids.as_slice()),
            Self::Names(names) => names.text.len() + size_of_val(names.ends.as_slice()),
        }
    }
}

/// Names of nodes, all different and in ascending order of their bytes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct NameTable {
    text: String,
    ends: Vec<u64>,
}

impl NameTable {
    /// Makes a table of ascending names.
    pub(super) fn of<'n>(names: impl Iterator<Item = &'n str>) -> Self {
        let mut table = Self::default();
        for name in names {
            table.text.push_str(name);
            table.ends.push(table.text.len() as u64);
        }
        table
    }

    /// Checks a table from elsewhere: the text of all names, and the end of each in it.
    pub(super) fn checked(text: Vec<u8>, ends: Vec<u64>) -> Result<Self, u32> {
        let text = String::from_utf8(text).map_err(|error| {
            let valid = error.utf8_error().valid_up_to() as u64;
            ends.partition_point(|end| *end <= valid) as u32
        })?;
        let is_whole = ends.last().map_or(0, |end| *end) == text.len() as u64;
        let table = Self { text, ends };
        let follows = |node: &u32| match (node.checked_sub(1), table.get(*node)) {
            (_, None) => false,
            (None, Some(_)) => true,
            (Some(before), Some(name)) => table.get(before).is_some_and(|before| before < name),
        };
        match (0..table.len() as u32).find(|node| !follows(node)) {
            Some(node) => Err(node),
            None if is_whole => Ok(table),
            None => Err(table.len() as u32),
        }
    }

    /// The text of all names, and the end of each in it.
    pub(super) fn parts(&self) -> (&str, &[u64]) {
        (&self.text, &self.ends)
    }

    /// Number of names.
    pub(super) fn len(&self) -> usize {
        self.ends.len()
    }

    pub(super) fn get(&self, node: u32) -> Option<&str> {
        let at = node as usize;
        let end = *self.ends.get(at)? as usize;
        let start = match at.checked_sub(1) {
            Some(before) => *self.ends.get(before)? as usize,
            None => 0,
        };
        self.text.get(start..end)
    }

    /// All names, in the order of their nodes.
    pub(super) fn iter(&self) -> impl Iterator<Item = &str> {
        (0..self.len() as u32).filter_map(|node| self.get(node))
    }

    /// The node of a name, in logarithmic time.
    pub(super) fn find(&self, name: &str) -> Option<u32> {
        let (mut low, mut high) = (0, self.len() as u32);
        while low < high {
            let middle = low + (high - low) / 2;
            match self.get(middle)?.cmp(name) {
                std::cmp::Ordering::Equal => return Some(middle),
                std::cmp::Ordering::Less => low = middle + 1,
                std::cmp::Ordering::Greater => high = middle,
            }
        }
        None
    }
}

/// A node's name or id in the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NodeLabel<'g> {
    /// The name, in files whose ids are text.
    Name(&'g str),
    /// The id.
    Id(u64),
}

impl fmt::Display for NodeLabel<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Name(name) => f.pad(name),
            Self::Id(id) => fmt::Display::fmt(id, f),
        }
    }
}

/// An owned [`NodeLabel`].
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(untagged)]
pub enum NodeName {
    /// The name, in files whose ids are text.
    Name(String),
    /// The id.
    Id(u64),
}

impl fmt::Display for NodeName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Name(name) => f.pad(name),
            Self::Id(id) => fmt::Display::fmt(id, f),
        }
    }
}

impl From<NodeLabel<'_>> for NodeName {
    fn from(label: NodeLabel<'_>) -> Self {
        match label {
            NodeLabel::Name(name) => Self::Name(name.to_owned()),
            NodeLabel::Id(id) => Self::Id(id),
        }
    }
}

impl Graph {
    /// Whether the ids of the file are names. [`original_id`](Self::original_id) is the number of
    /// a node then, in the ascending order of the names' bytes.
    #[must_use]
    pub fn has_names(&self) -> bool {
        matches!(self.ids(), Ids::Names(_))
    }

    /// Returns the name of a node, if nodes have names and there is such a node.
    ///
    /// ```
    /// use seawall_graph::{self as graph, LoadOptions};
    ///
    /// let text: &[u8] = b"source,target\nalice,bob\n";
    /// let graph = graph::load_reader("friends.csv", text, &LoadOptions::default())?.graph;
    /// assert_eq!(graph.name_of(1), Some("bob"));
    /// assert_eq!(graph.find("alice"), Some(0));
    /// # Ok::<(), graph::GraphError>(())
    /// ```
    #[must_use]
    pub fn name_of(&self, node: u32) -> Option<&str> {
        match self.ids() {
            Ids::Names(names) => names.get(node),
            _ => None,
        }
    }

    /// Returns a node's name or id in the file.
    #[must_use]
    pub fn label_of(&self, node: u32) -> NodeLabel<'_> {
        let id = || NodeLabel::Id(self.original_id(node));
        self.name_of(node).map_or_else(id, NodeLabel::Name)
    }

    /// Returns the node with this name, or with the digits of its id, in the file. Takes
    /// logarithmic time.
    #[must_use]
    pub fn find(&self, label: &str) -> Option<u32> {
        match self.ids() {
            Ids::Names(names) => names.find(label),
            _ => self.node_of(label.parse().ok()?),
        }
    }

    /// Returns the same graph with the ids 0, 1, 2, …, in place of the ids or names of the file,
    /// for formats that cannot hold them.
    #[must_use]
    pub fn renumbered(mut self) -> Self {
        *self.ids_mut() = Ids::Offset(0);
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_and_nodes_are_inverse() {
        let table = Ids::Table(vec![3u64, 10, 1 << 40]);
        let names = Ids::Names(NameTable::of(["a", "b", "é"].into_iter()));
        for ids in [Ids::Offset(0), Ids::Offset(1), table, names] {
            for node in 0..3 {
                assert_eq!(ids.node(ids.original(node), 3), Some(node));
            }
        }
    }

    #[test]
    fn an_id_of_no_node_is_none() {
        assert_eq!(Ids::Offset(1).node(0, 5), None);
        assert_eq!(Ids::Offset(1).node(6, 5), None);
        assert_eq!(Ids::Offset(0).node(u64::MAX, 5), None);
        assert_eq!(Ids::Table(vec![4u64, 9]).node(5, 2), None);
    }

    #[test]
    fn names_are_found_and_no_others() {
        let all = ["", "a", "ab", "b", "é"];
        let table = NameTable::of(all.into_iter());
        for (node, name) in (0..).zip(all) {
            assert_eq!(
                (table.get(node), table.find(name)),
                (Some(name), Some(node))
            );
        }
        assert_eq!(
            (table.get(5), table.find("aa"), table.find("z")),
            (None, None, None)
        );
    }
}
