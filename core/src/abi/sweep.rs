//! The state of searches from many sources that sweep over all nodes together.
//!
//! A sweep has rounds, numbered from the iteration of the wave that seeds it. Each round leaves the
//! nodes and the sources that it changed in one of three slots in turn: it reads the slot of the
//! previous round, writes its own and clears the slot of the next one.

use super::search::bitset_words;

/// Most words of a set: one per lane of a warp.
pub const SWEEP_WORDS_MAX: u32 = 32;

/// Most sources that sweep together.
pub const SWEEP_SOURCES_MAX: u32 = 32 * SWEEP_WORDS_MAX;

/// Slots of the state.
pub const SWEEP_SLOTS: u32 = 3;

/// Word of the iteration in which the sweep was seeded.
pub const SWEEP_START: u32 = 0;

/// First word of the sources that a round changed, [`SWEEP_WORDS_MAX`] a slot.
const LIVE: u32 = 32;

/// First word of the nodes that a round changed.
const CHANGED: u32 = LIVE + SWEEP_SLOTS * SWEEP_WORDS_MAX;

/// Words of the totals of a source: the sum of its distances, low word first, the nodes
/// that it reaches, and the distance of the farthest.
pub const SWEEP_TOTALS: u32 = 4;
/// Word of the number of reached nodes in the totals of a source.
pub const SWEEP_REACHED: u32 = 2;
/// Word of the farthest distance in the totals of a source.
pub const SWEEP_FARTHEST: u32 = 3;

/// Layout of the state register of a sweep.
///
/// ```
/// use seawall_core::abi::sweep::SweepLayout;
/// let layout = SweepLayout::new(64);
/// assert_eq!(layout.changed(4), layout.changed(1));
/// assert_eq!(layout.words(), layout.changed(2) + layout.bitset_words);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct SweepLayout {
    /// Words of one bit per node.
    pub bitset_words: u32,
}

impl SweepLayout {
    /// The layout for `nodes` nodes.
    #[must_use]
    pub const fn new(nodes: u32) -> Self {
        Self {
            bitset_words: bitset_words(nodes),
        }
    }

    /// First word of the sources that round `round` changed.
    #[must_use]
    pub const fn live(self, round: u32) -> u32 {
        LIVE.wrapping_add((round % SWEEP_SLOTS).wrapping_mul(SWEEP_WORDS_MAX))
    }

    /// First word of the nodes that round `round` changed.
    #[must_use]
    pub const fn changed(self, round: u32) -> u32 {
        CHANGED.wrapping_add((round % SWEEP_SLOTS).wrapping_mul(self.bitset_words))
    }

    /// Words of the register. Three bits per node, so this fits a word.
    #[must_use]
    pub const fn words(self) -> u32 {
        CHANGED.wrapping_add(SWEEP_SLOTS.wrapping_mul(self.bitset_words))
    }
}

/// Result that a sweep stores for each source.
///
/// ```
/// use seawall_core::abi::sweep::Measure;
/// assert_eq!(Measure::from_word(1), Some(Measure::Eccentricity));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[repr(u32)]
pub enum Measure {
    /// Closeness, the bits of a float: with `r` reachable nodes, itself included, and the sum `s`
    /// of their distances, `(r - 1) / s * (r - 1) / (nodes - 1)`; 0 if it reaches no other.
    Closeness = 0,
    /// The distance of the farthest node that is reachable.
    Eccentricity = 1,
}

impl Measure {
    /// Returns the measure of a word; `None` if the word names none.
    #[must_use]
    pub const fn from_word(word: u32) -> Option<Self> {
        match word {
            0 => Some(Self::Closeness),
            1 => Some(Self::Eccentricity),
            _ => None,
        }
    }
}
