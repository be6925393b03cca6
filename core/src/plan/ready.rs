//! The order in which ready waves are taken.
//!
//! A tournament tree over ranks answers "the first ready wave that still fits" in logarithmic time;
//! a heap sort makes ranks from keys. Both are here because the standard library's sorts contain a
//! panic path, which a firmware image must not have.

use super::cells::{read, write};

/// Ready waves by rank, as a tree of the fewest bytes below each node.
pub(crate) struct Ready<'a> {
    /// Node 1 is the root, `2 i` and `2 i + 1` are the children of `i`.
    tree: &'a mut [u64],
    leaves: u32,
    /// First node of the deepest level; ranks start there and wrap to the level above.
    deepest: u32,
}

/// The bytes of a rank that is not ready.
const ABSENT: u64 = u64::MAX;

impl<'a> Ready<'a> {
    /// An empty set over two elements per wave.
    pub(crate) fn new(tree: &'a mut [u64], leaves: u32) -> Self {
        tree.fill(ABSENT);
        let mut deepest = 1u32;
        while deepest < leaves && deepest > 0 {
            deepest = deepest.wrapping_shl(1);
        }
        Self {
            tree,
            leaves,
            deepest,
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

    /// Takes the first rank whose bytes are at most `space` and returns both.
    pub(crate) fn take_first(&mut self, space: u64) -> Option<(u32, u64)> {
        let space = space.min(ABSENT.wrapping_sub(1));
        if read(self.tree, 1) > space || self.leaves == 0 {
            return None;
        }
        let mut node = 1u32;
        while node < self.leaves {
            let left = node.wrapping_mul(2);
            let right = left.wrapping_add(1);
            node = if read(self.tree, left) <= space {
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

/// Sorts ids with their keys by ascending key, then by id. In place, `O(n log n)`, no recursion.
///
/// The heap has four children per node and moves keys along with ids. It is half as deep as a
/// binary heap, and the children of a node share a cache line.
#[inline(never)]
pub(crate) fn heap_sort(ids: &mut [u32], keys: &mut [u64]) {
    let length = u32::try_from(ids.len()).unwrap_or(u32::MAX);
    let mut heap = Heap { ids, keys };
    for root in (0..length.div_ceil(CHILDREN)).rev() {
        heap.sift_down(heap.get(root), root, length);
    }
    for end in (1..length).rev() {
        let last = heap.get(end);
        heap.set(end, heap.get(0));
        heap.sift_down(last, 0, end);
    }
}

/// Children of a node.
const CHILDREN: u32 = 4;

struct Heap<'a> {
    ids: &'a mut [u32],
    keys: &'a mut [u64],
}

impl Heap<'_> {
    fn get(&self, node: u32) -> (u64, u32) {
        (read(self.keys, node), read(self.ids, node))
    }

    fn set(&mut self, node: u32, (key, id): (u64, u32)) {
        write(self.keys, node, key);
        write(self.ids, node, id);
    }

    /// Puts an item where no child is larger, from a hole at `hole` downwards.
    fn sift_down(&mut self, item: (u64, u32), mut hole: u32, end: u32) {
        loop {
            let first = hole.saturating_mul(CHILDREN).saturating_add(1);
            let (mut child, mut largest) = (hole, item);
            for node in first..first.saturating_add(CHILDREN).min(end) {
                let at = self.get(node);
                if at > largest {
                    (child, largest) = (node, at);
                }
            }
            self.set(hole, largest);
            if child == hole {
                return;
            }
            hole = child;
        }
    }
}

/// A part of `whole` as 32 bits of a sort key, with as many digits as fit.
///
/// Halving is shorter than counting leading zeros where there is no instruction for that.
pub(crate) fn scaled(mut part: u64, mut whole: u64) -> u64 {
    while whole > u64::from(u32::MAX) {
        (part, whole) = (part >> 1, whole >> 1);
    }
    part
}

/// Small deterministic random numbers (xorshift), so that plans repeat.
pub(crate) struct Dice(u32);

impl Dice {
    pub(crate) fn new() -> Self {
        Self(0x9E37_79B9)
    }

    /// A number below `sides`, at most 65 536, by multiplication rather than a division.
    pub(crate) fn below(&mut self, sides: u32) -> u32 {
        self.0 ^= self.0.wrapping_shl(13);
        self.0 ^= self.0.wrapping_shr(17);
        self.0 ^= self.0.wrapping_shl(5);
        (self.0 >> 16).wrapping_mul(sides) >> 16
    }
}
