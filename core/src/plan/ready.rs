//! The order in which ready waves are taken.
//!
//! A tournament tree over ranks answers "the first ready wave that still fits"
//! in logarithmic time; a heap sort makes ranks from keys. Both are here
//! because the standard library's sorts hold a panic path, which a firmware
//! image must not.

use super::cells::{read, swap, write};

/// Ready waves by rank, as a tree of the fewest bytes below each node.
pub(crate) struct Ready<'a> {
    /// Node 1 is the root, `2 i` and `2 i + 1` are the children of `i`.
    tree: &'a mut [u64],
    leaves: u32,
    /// First node of the deepest level; ranks start there and wrap to level above.
    deepest: u32,
}

/// The bytes of a rank that is not ready.
const ABSENT: u64 = u64::MAX;

impl<'a> Ready<'a> {
    /// An empty set over two elements a wave.
    pub(crate) fn new(tree: &'a mut [u64], leaves: u32) -> Self {
        tree.fill(ABSENT);
        Self {
            tree,
            leaves,
            deepest: leaves.checked_next_power_of_two().unwrap_or(0),
        }
    }

    /// Adds a rank; a wave of `u64::MAX` bytes is never found again.
    pub(crate) fn insert(&mut self, rank: u32, bytes: u64) {
        let node = self.deepest.wrapping_add(rank);
        let twice = self.leaves.saturating_mul(2);
        let node = if node < twice {
            node
        } else {
            node.wrapping_sub(self.leaves)
        };
        self.set(node, bytes);
    }

    /// Takes the first rank whose bytes are at most `room`; gives both.
    pub(crate) fn take_first(&mut self, room: u64) -> Option<(u32, u64)> {
        let room = room.min(ABSENT.wrapping_sub(1));
        if read(self.tree, 1) > room || self.leaves == 0 {
            return None;
        }
        let mut node = 1u32;
        while node < self.leaves {
            let left = node.wrapping_mul(2);
            let right = left.wrapping_add(1);
            node = if read(self.tree, left) <= room {
                left
            } else {
                right
            };
        }
        let bytes = read(self.tree, node);
        self.set(node, ABSENT);
        let wrapped = if node >= self.deepest { 0 } else { self.leaves };
        Some((node.wrapping_add(wrapped).wrapping_sub(self.deepest), bytes))
    }

    fn set(&mut self, leaf: u32, bytes: u64) {
        write(self.tree, leaf, bytes);
        let mut node = leaf >> 1;
        while node > 0 {
            let left = node.wrapping_mul(2);
            let least = read(self.tree, left).min(read(self.tree, left.wrapping_add(1)));
            if read(self.tree, node) == least {
                break;
            }
            write(self.tree, node, least);
            node >>= 1;
        }
    }
}

/// Sorts ids by ascending key, then by id. In place, `O(n log n)`, no recursion.
pub(crate) fn heap_sort(ids: &mut [u32], keys: &[u64]) {
    let length = u32::try_from(ids.len()).unwrap_or(u32::MAX);
    for root in (0..length >> 1).rev() {
        sift_down(ids, keys, root, length);
    }
    for end in (1..length).rev() {
        swap(ids, 0, end);
        sift_down(ids, keys, 0, end);
    }
}

fn sift_down(ids: &mut [u32], keys: &[u64], mut root: u32, end: u32) {
    let later = |a: u32, b: u32| (read(keys, a), a) > (read(keys, b), b);
    loop {
        let left = root.wrapping_mul(2).wrapping_add(1);
        if left >= end {
            return;
        }
        let right = left.wrapping_add(1);
        let take_right = right < end && later(read(ids, right), read(ids, left));
        let child = if take_right { right } else { left };
        if !later(read(ids, child), read(ids, root)) {
            return;
        }
        swap(ids, root, child);
        root = child;
    }
}

/// Small deterministic random numbers (xorshift), so that plans repeat.
pub(crate) struct Dice(u32);

impl Dice {
    pub(crate) fn new() -> Self {
        Self(0x9E37_79B9)
    }

    /// A number below `sides`, by multiplication rather than a division.
    pub(crate) fn below(&mut self, sides: u32) -> u32 {
        self.0 ^= self.0.wrapping_shl(13);
        self.0 ^= self.0.wrapping_shr(17);
        self.0 ^= self.0.wrapping_shl(5);
        let scaled = u64::from(self.0)
            .wrapping_mul(u64::from(sides))
            .wrapping_shr(32);
        u32::try_from(scaled).unwrap_or(0)
    }
}
