//! A queue of nodes by keys of 32 bits that never fall, the least first.
//!
//! A node whose key is lowered enters again, and its older entries are skipped when they come to the
//! front: an entry holds if its key is still the one that the node has. So entries move within the
//! queue's own memory alone, and no list of places has to follow them. Where the memory is full,
//! entries that no longer hold are removed, at least half of them, as each node has one that does.
//!
//! Entries lie in three places. Nodes of the key that was taken last need no order: they are on a
//! stack. Keys below a limit are in a heap, which a core's cache holds. All others are in a pile
//! without order. When the heap is empty, the limit rises so that about an eighth of the pile becomes
//! the heap, and entries of the pile that no longer hold are removed. A heap that has grown too large
//! gives its upper half to the pile.
//!
//! Keys may also be the low words of numbers of 64 bits, if a key is less than 2^32 above the one
//! taken last when its node is added: then keys order by what they are above the one taken last.
//!
//! Work: `O(log n)` for an entry on random keys, `O(1)` for one of the key taken last. Memory: `5 n`
//! words.

use super::heap::{above, inner, least_below};
use super::work::{Pairs, Scratch};
use crate::machine::Grid;
use crate::machine::memory::Words;
use seawall_core::abi::control::FaultCode;

/// Entries above which a heap is split: 128 KiB, a quarter of a common second-level cache.
const LARGE: u32 = 16_384;
/// Share of the pile that becomes the heap, as a divisor.
const TURNS: u32 = 8;
/// Keys that are looked at for a limit.
const SAMPLES: u32 = 64;

/// The queue, of keys that are low words of the numbers in an array of pairs if they are `WIDE`.
pub(super) struct Queue<const WIDE: bool> {
    /// A key and its node, as one number that orders like the key: the heap at the front, the pile
    /// at the back.
    entries: Pairs,
    capacity: u32,
    /// Entries of the heap.
    length: u32,
    /// Entries of the pile.
    piled: u32,
    /// Keys of the heap are below it, those of the pile are not.
    limit: u32,
    /// Entries of the heap at which it is split.
    split_at: u32,
    /// Nodes whose key was taken last.
    stack: Words,
    stacked: u32,
    /// The key taken last.
    last: u32,
}

const fn entry_of(node: u32, key: u32) -> u64 {
    (key as u64) << 32 | node as u64
}

const fn key_of(entry: u64) -> u32 {
    (entry >> 32) as u32
}

impl<const WIDE: bool> Queue<WIDE> {
    /// An empty queue of `nodes` nodes.
    ///
    /// # Errors
    /// [`FaultCode::BadRegister`] if the scratch memory is too short.
    pub(super) fn new(scratch: &mut Scratch, nodes: u32) -> Result<Self, FaultCode> {
        let capacity = nodes.checked_mul(2).ok_or(FaultCode::BadRegister)?;
        Ok(Self {
            entries: scratch.take_pairs(capacity)?,
            capacity,
            length: 0,
            piled: 0,
            limit: u32::MAX,
            split_at: LARGE,
            stack: scratch.take(nodes)?,
            stacked: 0,
            last: 0,
        })
    }

    /// The number by which an entry or a key in the upper half of a number orders.
    #[inline(always)]
    fn rank(&self, entry: u64) -> u64 {
        if WIDE {
            entry.wrapping_sub(entry_of(0, self.last))
        } else {
            entry
        }
    }

    /// Whether an entry belongs to the heap.
    #[inline(always)]
    fn is_near(&self, entry: u64) -> bool {
        self.rank(entry) < self.rank(entry_of(0, self.limit))
    }

    /// The key of `node`.
    #[inline(always)]
    fn key<G: Grid>(grid: G, keys: Words, node: u32) -> u32 {
        keys.load_weak(grid, if WIDE { node.wrapping_mul(2) } else { node })
    }

    /// Adds `node` before any is taken.
    pub(super) fn begin<G: Grid>(&mut self, grid: G, node: u32, key: u32) {
        self.pile(grid, entry_of(node, key));
    }

    /// Adds `node`, whose key in `keys` has just become `key`.
    #[inline(always)]
    pub(super) fn push<G: Grid>(&mut self, grid: G, keys: Words, node: u32, key: u32) {
        if key == self.last {
            self.stack.store_weak(grid, self.stacked, node);
            self.stacked += 1;
            return;
        }
        if self.length + self.piled == self.capacity {
            self.compact(grid, keys);
        }
        let entry = entry_of(node, key);
        if !self.is_near(entry) {
            self.pile(grid, entry);
            return;
        }
        self.length += 1;
        self.rise(grid, self.length - 1, entry);
        if self.length >= self.split_at {
            self.split(grid);
        }
    }

    /// Takes the node of the least key, which is the node's own in `keys`.
    #[inline(always)]
    pub(super) fn take<G: Grid>(&mut self, grid: G, keys: Words) -> Option<(u32, u32)> {
        if self.stacked > 0 {
            self.stacked -= 1;
            return Some((self.stack.load_weak(grid, self.stacked), self.last));
        }
        loop {
            let entry = match self.take_least(grid) {
                Some(entry) => entry,
                None if self.piled == 0 => return None,
                None => {
                    self.refill(grid, keys);
                    continue;
                }
            };
            let (node, key) = (entry as u32, key_of(entry));
            if Self::key(grid, keys, node) == key {
                self.last = key;
                return Some((node, key));
            }
        }
    }

    #[inline(always)]
    fn take_least<G: Grid>(&mut self, grid: G) -> Option<u64> {
        self.length = self.length.checked_sub(1)?;
        let least = self.entries.load(grid, 0);
        if self.length > 0 {
            let moved = self.entries.load(grid, self.length);
            self.sink(grid, 0, moved);
        }
        Some(least)
    }

    /// Puts an entry at `place` or above.
    #[inline(always)]
    fn rise<G: Grid>(&self, grid: G, mut place: u32, entry: u64) {
        let rank = self.rank(entry);
        while place > 0 {
            let above = above(place);
            let other = self.entries.load(grid, above);
            if self.rank(other) <= rank {
                break;
            }
            self.entries.store(grid, place, other);
            place = above;
        }
        self.entries.store(grid, place, entry);
    }

    /// Puts an entry at `place` or below.
    #[inline(always)]
    fn sink<G: Grid>(&self, grid: G, mut place: u32, entry: u64) {
        let rank = self.rank(entry);
        let rank_at = |at| self.rank(self.entries.load(grid, at));
        while let Some((below, least)) = least_below(place, self.length, rank_at) {
            if rank <= least {
                break;
            }
            let other = least.wrapping_add(entry.wrapping_sub(rank));
            self.entries.store(grid, place, other);
            place = below;
        }
        self.entries.store(grid, place, entry);
    }

    /// Puts an entry on the pile.
    #[inline(always)]
    fn pile<G: Grid>(&mut self, grid: G, entry: u64) {
        self.piled += 1;
        self.entries.store(grid, self.capacity - self.piled, entry);
    }

    /// Orders the first `length` entries.
    fn order<G: Grid>(&mut self, grid: G, length: u32) {
        self.length = length;
        for place in (0..inner(length)).rev() {
            let entry = self.entries.load(grid, place);
            self.sink(grid, place, entry);
        }
        self.split_at = length.saturating_mul(2).max(LARGE);
    }

    /// The key above a share of `part` in `of` of the keys of entries `from..from + count`, by some
    /// of them.
    fn limit_of<G: Grid>(&self, grid: G, [from, count]: [u32; 2], [part, of]: [u32; 2]) -> u32 {
        let mut ranks = [0; SAMPLES as usize];
        for (sample, rank) in (0_u64..).zip(&mut ranks) {
            let at = sample * u64::from(count) / u64::from(SAMPLES);
            *rank = key_of(self.rank(self.entries.load(grid, from + at as u32)));
        }
        ranks.sort_unstable();
        let at = u64::from(SAMPLES) * u64::from(part) / u64::from(of.max(1));
        let rank = ranks.get(at as usize).or(ranks.last());
        let limit = rank.map_or(u32::MAX, |rank| rank.saturating_add(1));
        if WIDE {
            limit.wrapping_add(self.last)
        } else {
            limit
        }
    }

    /// Moves the upper half of the heap to the pile.
    #[cold]
    #[inline(never)]
    fn split<G: Grid>(&mut self, grid: G) {
        self.limit = self.limit_of(grid, [0, self.length], [1, 2]);
        let mut kept = 0;
        // Each entry leaves a place of the heap, so that the pile has space.
        let mut at = 0;
        while at < self.length {
            let entry = self.entries.load(grid, at);
            if self.is_near(entry) {
                self.entries.store(grid, kept, entry);
                kept += 1;
                at += 1;
            } else {
                self.length -= 1;
                let other = self.entries.load(grid, self.length);
                self.entries.store(grid, at, other);
                self.pile(grid, entry);
            }
        }
        self.order(grid, kept);
    }

    /// Makes a heap of the least entries of the pile, while the heap is empty.
    #[cold]
    #[inline(never)]
    fn refill<G: Grid>(&mut self, grid: G, keys: Words) {
        self.compact(grid, keys);
        let many = self.piled;
        if many == 0 {
            return;
        }
        let from = self.capacity - many;
        if WIDE {
            // No key is less, so that some key is below any limit.
            let entries = (from..self.capacity).map(|at| self.entries.load(grid, at));
            let least = entries.min_by_key(|entry| self.rank(*entry));
            self.last = least.map_or(self.last, key_of);
        }
        let share = (many / TURNS).max(LARGE / 2).min(many);
        self.limit = self.limit_of(grid, [from, many], [share, many]);
        let (mut kept, mut piled) = (0, 0);
        // At most half of the memory holds, so the heap ends before the pile begins.
        for at in (from..self.capacity).rev() {
            let entry = self.entries.load(grid, at);
            if self.is_near(entry) {
                self.entries.store(grid, kept, entry);
                kept += 1;
            } else {
                piled += 1;
                self.entries.store(grid, self.capacity - piled, entry);
            }
        }
        self.piled = piled;
        self.order(grid, kept);
    }

    /// Removes entries that no longer hold.
    #[cold]
    #[inline(never)]
    fn compact<G: Grid>(&mut self, grid: G, keys: Words) {
        let holds = |entry: u64| Self::key(grid, keys, entry as u32) == key_of(entry);
        let mut kept = 0;
        for at in 0..self.length {
            let entry = self.entries.load(grid, at);
            if holds(entry) {
                self.entries.store(grid, kept, entry);
                kept += 1;
            }
        }
        let mut piled = 0;
        for at in (self.capacity - self.piled..self.capacity).rev() {
            let entry = self.entries.load(grid, at);
            if holds(entry) {
                piled += 1;
                self.entries.store(grid, self.capacity - piled, entry);
            }
        }
        self.piled = piled;
        self.order(grid, kept);
    }
}
