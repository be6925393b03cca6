//! Slices: incoming edges by ranges of their sources.
//!
//! A pass over the edges of a large graph reads a word of every edge's source, and most of
//! these words are far from each other. In slices, the edges whose sources are in the first
//! range of nodes come first, then those of the next range, so the words of a range stay in a
//! cache while its edges are read. Within a slice, edges are in the order of their rows, then
//! of their sources.
//!
//! Most rows of most slices are empty, so a list has the others ([`list_words`]).
//!
//! If few nodes are the sources of many edges, their words are far from each other, and each fills
//! a line of a multiprocessor's cache. The words of these frequent sources are copied side by side
//! after the words of all nodes, and their edges name the copies. A map holds the places
//! ([`map_words`]).

/// Fewest rows of a part, as a power of two: a warp's rows are all in one part.
pub const PART_LOG2_LEAST: u32 = 5;
/// Most rows of a part, as a power of two.
pub const PART_LOG2_MOST: u32 = 20;

/// Most rows of all slices: a warp may count some rows past the last one.
const ROWS_MOST: u64 = u32::MAX as u64 - 1024;

/// Words of a list of `rows` rows: the number of rows, the offset of each, the end of the last one,
/// and the node of each.
#[must_use]
pub const fn list_words(rows: u32) -> u64 {
    (rows as u64).saturating_mul(2).saturating_add(2)
}

/// Rows for which a list of `words` words has space.
#[must_use]
pub const fn list_rows(words: u32) -> u32 {
    words.saturating_sub(2) / 2
}

/// Nodes of a pair of words of the map of frequent sources.
pub const MAP_NODES: u32 = 32;

/// Words of the map of frequent sources: for each [`MAP_NODES`] nodes a bit for each one that is
/// frequent, and the place of the first of them.
#[must_use]
pub const fn map_words(nodes: u32) -> u32 {
    nodes.div_ceil(MAP_NODES).saturating_mul(2)
}

/// Rows of slices and the parts that they are counted in.
///
/// Each slice has a row for every node, and a few without edges up to the end of a part. Row
/// `slice * span + node` has the node's incoming edges from sources in the slice. Rows are described
/// by their offsets among the edges of all slices; a row ends at the next row's offset, also from
/// one slice to the next.
///
/// ```
/// use seawall_core::abi::slices::SliceLayout;
/// // 100 nodes in slices of 64, rows in parts of 32.
/// let layout = SliceLayout::new(100, [6, 5]);
/// let words = layout.map(|layout| (layout.slices(), layout.span(), layout.part_words()));
/// assert_eq!(words, Some((2, 128, 17)));
/// assert_eq!(SliceLayout::new(100, [32, 5]), None);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct SliceLayout {
    width_log2: u32,
    part_log2: u32,
    slices: u32,
    parts: u32,
}

impl SliceLayout {
    /// The layout for a graph of `nodes` nodes, with slices of 2^`width_log2` nodes below 2^32,
    /// and parts of 2^`part_log2` rows from [`PART_LOG2_LEAST`] to [`PART_LOG2_MOST`]; `None` for
    /// other numbers, and for more rows than words can count.
    #[must_use]
    pub const fn new(nodes: u32, [width_log2, part_log2]: [u32; 2]) -> Option<Self> {
        if width_log2 >= u32::BITS || part_log2 < PART_LOG2_LEAST || part_log2 > PART_LOG2_MOST {
            return None;
        }
        let (slices, parts) = (shares(nodes, width_log2), shares(nodes, part_log2));
        let words = (slices as u64).saturating_mul(parts as u64);
        if words > ROWS_MOST >> part_log2 {
            return None;
        }
        Some(Self {
            width_log2,
            part_log2,
            slices,
            parts,
        })
    }

    /// Slices.
    #[must_use]
    pub const fn slices(self) -> u32 {
        self.slices
    }

    /// Rows of a slice.
    #[must_use]
    pub const fn span(self) -> u32 {
        self.parts << self.part_log2
    }

    /// Rows of all slices.
    #[must_use]
    pub const fn rows(self) -> u32 {
        self.parts() << self.part_log2
    }

    /// Rows of a part.
    #[must_use]
    pub const fn part_rows(self) -> u32 {
        1 << self.part_log2
    }

    /// Words of the row offsets: one for each row, and the number of edges.
    #[must_use]
    pub const fn start_words(self) -> u32 {
        self.rows().saturating_add(1)
    }

    /// Parts of all slices, which lie one after another, as rows do.
    #[must_use]
    pub const fn parts(self) -> u32 {
        self.slices.saturating_mul(self.parts)
    }

    /// Words of the parts: the edges of each, then the rows of each that have edges, then one for
    /// the sum of these.
    #[must_use]
    pub const fn part_words(self) -> u32 {
        self.parts().saturating_mul(2).saturating_add(1)
    }

    /// First node of a part.
    #[must_use]
    pub const fn node_of(self, part: u32) -> u32 {
        match part.checked_rem(self.parts) {
            Some(part) => part << self.part_log2,
            None => 0,
        }
    }

    /// Row of `node` in `slice`.
    #[must_use]
    pub const fn row(self, slice: u32, node: u32) -> u32 {
        slice.wrapping_mul(self.span()).wrapping_add(node)
    }

    /// Part of a row.
    #[must_use]
    pub const fn part_of(self, row: u32) -> u32 {
        row >> self.part_log2
    }

    /// First node after those of `slice`, if another slice follows.
    #[must_use]
    pub const fn end_of(self, slice: u32) -> u32 {
        slice.wrapping_add(1) << self.width_log2
    }
}

/// Shares of 2^`log2` nodes, the last of which may have fewer. Avoids a division, which is slow in
/// kernels.
const fn shares(nodes: u32, log2: u32) -> u32 {
    let whole = nodes >> log2;
    if whole << log2 == nodes {
        whole
    } else {
        whole.saturating_add(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_is_in_its_part_and_below_the_words() {
        for nodes in [0, 1, 31, 32, 33, 1000] {
            for shape in [[0, 5], [3, 5], [5, 6], [31, 20]] {
                let checked = SliceLayout::new(nodes, shape).map(|layout| {
                    assert!(layout.span() >= nodes);
                    assert_eq!(layout.rows(), layout.slices() * layout.span());
                    for slice in 0..layout.slices() {
                        for node in 0..layout.span() {
                            let row = layout.row(slice, node);
                            assert!(row < layout.rows());
                            let part = layout.part_of(row);
                            assert!(part < layout.parts());
                            assert!(node - layout.node_of(part) < layout.part_rows());
                        }
                        let is_last = slice + 1 == layout.slices();
                        let end = (u64::from(slice) + 1) << shape[0];
                        assert_eq!(is_last, u64::from(nodes) <= end);
                        assert!(is_last || layout.end_of(slice) < nodes);
                    }
                });
                assert!(checked.is_some(), "{nodes} nodes, {shape:?}");
            }
        }
    }

    #[test]
    fn lists_have_room_for_their_rows() {
        for rows in [0, 1, 2, 1 << 30] {
            assert_eq!(u32::try_from(list_words(rows)).map(list_rows), Ok(rows));
        }
        assert_eq!(list_rows(0), 0);
        assert_eq!(list_rows(3), 0);
    }

    #[test]
    fn what_words_cannot_count_has_no_layout() {
        assert_eq!(SliceLayout::new(u32::MAX, [31, 5]), None);
        assert_eq!(SliceLayout::new(1 << 30, [27, 13]), None);
        assert!(SliceLayout::new(1 << 28, [25, 13]).is_some());
        assert_eq!(SliceLayout::new(1, [3, 4]), None);
        assert_eq!(SliceLayout::new(1, [3, 21]), None);
        assert_eq!(SliceLayout::new(1, [u32::MAX, u32::MAX]), None);
    }
}
