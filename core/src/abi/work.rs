//! The work register of analyses that settle nodes in rounds.
//!
//! Shortest paths and core peeling keep two queues, which take turns, and the counters of three
//! rounds in one register: one round is read, the next is filled, the one after that is cleared, so
//! that a round needs one barrier. This module places them; the kernel defines the rounds.

use super::search::bitset_words;

/// Words before the queues: three counter records of 32 words, padded.
pub const WORK_HEADER_WORDS: u32 = 128;

/// Word of a counter record: edges that leave the queued nodes; the low half
/// of an aligned pair.
pub const WORK_EDGES: u32 = 0;
/// Word of a counter record: queued nodes; the high half of the pair.
pub const WORK_NODES: u32 = 1;
/// Word of a counter record: the limit up to which nodes are settled or queued.
pub const WORK_LEVEL: u32 = 2;
/// Word of a counter record: least value of a node that waits beyond the limit, or `u32::MAX`.
pub const WORK_LEAST: u32 = 16;

/// Word of a counter record: no queued node is nearer than this.
pub const WORK_NEAREST: u32 = 17;
/// Word of a counter record: edges relaxed in all rounds before, at most `u32::MAX`.
pub const WORK_RELAXED: u32 = 18;
/// Word of a counter record: edges that CPU threads relaxed in the previous round beyond its queue;
/// 0 only if they kept to the queue.
pub const WORK_AHEAD: u32 = 19;

/// Places of the parts of a work register, in words.
///
/// ```
/// use seawall_core::abi::work::WorkLayout;
/// // Round 4 counts where round 1 did, which nobody reads any more.
/// assert_eq!(WorkLayout::counters(4), WorkLayout::counters(1));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct WorkLayout {
    /// Nodes of the graph.
    pub nodes: u32,
    /// Words of one bitset over the nodes.
    pub bitset_words: u32,
}

impl WorkLayout {
    /// The layout for a graph of `nodes` nodes.
    #[must_use]
    pub const fn new(nodes: u32) -> Self {
        Self {
            nodes,
            bitset_words: bitset_words(nodes),
        }
    }

    /// First word of the counters of round `round`.
    #[must_use]
    pub const fn counters(round: u32) -> u32 {
        (round % 3).wrapping_mul(32)
    }

    /// First word of the bitset that marks the nodes of queue `parity`.
    #[must_use]
    pub const fn bitset(self, parity: u32) -> u64 {
        after(WORK_HEADER_WORDS as u64, parity & 1, self.bitset_words)
    }

    /// First word of queue `parity`.
    #[must_use]
    pub const fn queue(self, parity: u32) -> u64 {
        let queues = after(WORK_HEADER_WORDS as u64, 2, self.bitset_words);
        after(queues, parity & 1, self.nodes)
    }

    /// First word of the edge prefix of queue `parity`.
    #[must_use]
    pub const fn prefix(self, parity: u32) -> u64 {
        after(self.queue(parity), 2, self.nodes)
    }

    /// First word of the row offsets of queue `parity`.
    #[must_use]
    pub const fn starts(self, parity: u32) -> u64 {
        after(self.prefix(parity), 2, self.nodes)
    }

    /// Length of the register in words.
    #[must_use]
    pub const fn words(self) -> u64 {
        after(self.starts(1), 1, self.nodes)
    }
}

/// First word after `count` parts of `words` words that start at `first`;
/// far below 2^64, as all counts are small.
const fn after(first: u64, count: u32, words: u32) -> u64 {
    first.saturating_add((count as u64).saturating_mul(words as u64))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_of_a_work_register_do_not_overlap() {
        for nodes in [0, 1, 33, 1000, 1 << 20, u32::MAX] {
            let layout = WorkLayout::new(nodes);
            let bits = u64::from(layout.bitset_words);
            assert!(u64::from(WorkLayout::counters(2)) + 32 <= layout.bitset(0));
            assert_eq!(layout.bitset(1), layout.bitset(0) + bits);
            assert_eq!(layout.queue(0), layout.bitset(1) + bits);
            assert_eq!(layout.queue(1), layout.queue(0) + u64::from(nodes));
            assert_eq!(layout.prefix(0), layout.queue(1) + u64::from(nodes));
            assert_eq!(layout.prefix(1), layout.prefix(0) + u64::from(nodes));
            assert_eq!(layout.starts(0), layout.prefix(1) + u64::from(nodes));
            assert_eq!(layout.starts(1), layout.starts(0) + u64::from(nodes));
            assert_eq!(layout.words(), layout.starts(1) + u64::from(nodes));
        }
    }

    #[test]
    fn three_rounds_have_counters_of_their_own() {
        for round in [0, 1, 7, u32::MAX - 2] {
            let slots = [round, round + 1, round + 2].map(WorkLayout::counters);
            assert!(slots[0] != slots[1] && slots[1] != slots[2] && slots[0] != slots[2]);
        }
    }
}
