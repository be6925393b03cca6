//! Relation of node numbers to the ids in the file.
//!
//! Inside, nodes are `0..n`; reports and `--source` use the file's ids. Three forms cover every
//! reader, and only the sparse one takes memory.

/// The file's id of each node.
#[derive(Clone, Debug)]
pub(super) enum Ids {
    /// `original = node + base`: 0 for edge lists and generators, 1 for the 1-based formats.
    Offset(u64),
    /// One ascending id per node, for files whose ids have gaps.
    Table(Vec<u64>),
}

impl Ids {
    /// Returns the file's id of a node, or the node's own number if it is out of range.
    pub(super) fn original(&self, node: u32) -> u64 {
        match self {
            Self::Offset(base) => u64::from(node).saturating_add(*base),
            Self::Table(ids) => ids.get(node as usize).copied().unwrap_or(u64::from(node)),
        }
    }

    /// Returns the node with this id, if it is one of `nodes`.
    pub(super) fn node(&self, original: u64, nodes: u32) -> Option<u32> {
        let at = match self {
            Self::Offset(base) => original.checked_sub(*base)?,
            Self::Table(ids) => ids.binary_search(&original).ok()? as u64,
        };
        u32::try_from(at).ok().filter(|&node| node < nodes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_and_nodes_are_inverse() {
        let table = Ids::Table(vec![3u64, 10, 1 << 40]);
        for ids in [Ids::Offset(0), Ids::Offset(1), table] {
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
}
