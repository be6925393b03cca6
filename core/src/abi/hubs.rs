//! Hubs: the nodes of most edges, in order, and their edges to each other.
//!
//! Most triangles of a skewed graph have two corners among a few thousand nodes. Each of these has
//! a rank, and a row of bits marks the other hubs that it has edges to. So the triangles of a node
//! with two hubs are the bits that a hub's row and the node's set of hubs share.

/// Fewest hubs that there may be space for.
pub const HUBS_LEAST: u32 = 1 << 11;
/// Most hubs that there may be space for.
pub const HUBS_MOST: u32 = 1 << 14;

/// Longest row that is always looked up in that of the node whose edge remains, even if it is the
/// longer one: nodes with shorter rows visit only their remaining edges.
pub const ROW_FEW: u32 = 32;

/// The bit of the key of a hub; other keys are numbers of edges.
pub const HUB: u32 = 1 << 31;

/// Word of the number of listed nodes, more than the hubs if there is too little space.
pub const HUB_COUNT: u32 = 0;
/// Word of the space for hubs.
pub const HUB_ROOM: u32 = 1;

/// Words before the list.
const HEADER: u64 = 32;

/// Places in the register of hubs, in words; each is a multiple of four.
///
/// ```
/// use seawall_core::abi::hubs::HubLayout;
/// let words = HubLayout::new(5, 2048).map(|layout| layout.words() - layout.bits());
/// assert_eq!(words, Some(2048 * 64));
/// assert_eq!(HubLayout::new(5, 3000), None);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct HubLayout {
    /// Nodes of the graph.
    pub nodes: u32,
    /// Space for hubs.
    pub most: u32,
}

impl HubLayout {
    /// The layout for a graph of `nodes` nodes with space for `most` hubs, a power of two from
    /// [`HUBS_LEAST`] to [`HUBS_MOST`]; `None` for another number.
    #[must_use]
    pub const fn new(nodes: u32, most: u32) -> Option<Self> {
        if most.is_power_of_two() && most >= HUBS_LEAST && most <= HUBS_MOST {
            Some(Self { nodes, most })
        } else {
            None
        }
    }

    /// First word of the hubs in any order: degree and node of each.
    #[must_use]
    pub const fn listed(self) -> u64 {
        HEADER
    }

    /// First word of the hubs by rank.
    #[must_use]
    pub const fn hubs(self) -> u64 {
        self.listed()
            .saturating_add((self.most as u64).saturating_mul(2))
    }

    /// First word of the numbers of kept edges of the hubs, by rank.
    #[must_use]
    pub const fn lengths(self) -> u64 {
        self.hubs().saturating_add(self.most as u64)
    }

    /// First word of the keys of all nodes. An edge is kept towards the higher key, then the
    /// higher number.
    #[must_use]
    pub const fn keys(self) -> u64 {
        self.lengths().saturating_add(self.most as u64)
    }

    /// First word of the rows of bits, by rank.
    #[must_use]
    pub const fn bits(self) -> u64 {
        let keys = (self.nodes as u64).next_multiple_of(4);
        self.keys().saturating_add(keys)
    }

    /// Words of a row of bits.
    #[must_use]
    pub const fn row_words(self) -> u32 {
        self.most / 32
    }

    /// Length of the register in words.
    #[must_use]
    pub const fn words(self) -> u64 {
        let bits = (self.most as u64).saturating_mul(self.row_words() as u64);
        self.bits().saturating_add(bits)
    }
}
