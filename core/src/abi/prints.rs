//! Prints of rows: 16 bits per neighbour of higher number, where every row has few.
//!
//! A third node of a triangle is in the rows of both others. Two rows of prints tell nearly
//! always that no node is in both, and take a fraction of the rows' bytes at a place that
//! follows from the node alone. Prints that agree are settled by the rows themselves.

/// Prints of a node.
pub const PRINTS: u32 = 32;
/// Words of half of a node's prints, two prints a word.
pub const PRINT_WORDS: u32 = PRINTS / 4;
/// The print that stands for none.
pub const NO_PRINT: u32 = 0xFFFF;

/// Places in the register of all prints, in words. The first halves of all nodes come first,
/// since the second ones are rarely looked at.
///
/// ```
/// use seawall_core::abi::prints::PrintLayout;
/// let layout = PrintLayout::new(100);
/// assert_eq!(layout.half(1), 800);
/// assert_eq!(layout.words(), layout.starts() + 100);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct PrintLayout {
    /// Nodes of the graph.
    pub nodes: u32,
}

impl PrintLayout {
    /// The layout for a graph of `nodes` nodes.
    #[must_use]
    pub const fn new(nodes: u32) -> Self {
        Self { nodes }
    }

    /// First word of the nodes' halves of this number, [`PRINT_WORDS`] a node.
    #[must_use]
    pub const fn half(self, number: u32) -> u64 {
        (self.nodes as u64).saturating_mul((PRINT_WORDS * (number & 1)) as u64)
    }

    /// First word of the numbers of the nodes' first edges to nodes of higher number.
    #[must_use]
    pub const fn starts(self) -> u64 {
        (self.nodes as u64).saturating_mul(2 * PRINT_WORDS as u64)
    }

    /// Length of the register in words.
    #[must_use]
    pub const fn words(self) -> u64 {
        self.starts().saturating_add(self.nodes as u64)
    }
}
