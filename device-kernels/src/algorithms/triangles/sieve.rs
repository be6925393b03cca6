//! A set of at most a warp's nodes in shared memory with few false positives.
//!
//! A node clears one bit of many (Bloom, "Space/time trade-offs in hash coding with allowable
//! errors", 1970): set bits are as in free slots of a neighbour hash table, whose memory this is.

use crate::machine::{Grid, PLACE};
use crate::operators::deal::NONE;

/// Words of a set.
pub(super) const SIEVE_WORDS: u32 = 128;
/// Bits of a hash below those that number a word.
const SHIFT: u32 = u32::BITS - SIEVE_WORDS.ilog2();

/// A set of nodes in a warp's memory.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sieve {
    /// Place of its first word.
    pub(super) place: u32,
}

impl Sieve {
    /// The place of the word and the number of the bit of `node`, by Fibonacci hashing.
    #[inline(always)]
    fn bit(self, node: u32) -> (u32, u32) {
        let hash = node.wrapping_mul(0x9E37_79B9);
        let bit = (hash >> (SHIFT - u32::BITS.ilog2())) % u32::BITS;
        (self.place + (hash >> SHIFT) * PLACE, bit)
    }

    /// Adds `node`, beside other lanes.
    #[inline(always)]
    pub(super) fn put<G: Grid>(self, grid: G, node: u32) {
        let (word, bit) = self.bit(node);
        let mut expected = NONE;
        loop {
            let kept = expected & !(1 << bit);
            // SAFETY: the thread group's memory has `SIEVE_WORDS` words.
            let before = unsafe { grid.place_swap_if(word, expected, kept) };
            if before == expected {
                return;
            }
            expected = before;
        }
    }

    /// Empties the word of `node`. All words are empty after a call for every member.
    #[inline(always)]
    pub(super) fn clear<G: Grid>(self, grid: G, node: u32) {
        // SAFETY: as in `put`.
        unsafe { grid.place_store(self.bit(node).0, NONE) };
    }

    /// A bit for each of `nodes` that may be a member.
    #[inline(always)]
    pub(super) fn accepted<G: Grid, const K: usize>(self, grid: G, nodes: &[u32; K]) -> u32 {
        let words = nodes.map(|node| {
            let (word, bit) = self.bit(node);
            // SAFETY: as in `put`.
            unsafe { grid.place_load(word) }.rotate_right(bit)
        });
        let mut accepted = 0;
        for (k, word) in words.iter().enumerate() {
            accepted |= (!word & 1) << k;
        }
        accepted
    }
}
