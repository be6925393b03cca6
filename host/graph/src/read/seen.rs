//! The ids below 2^31 that an edge list names, and their ranks.
//!
//! A bit for each number up to the largest id is fastest, but a short file can name a large id.
//! If the bits would take more memory than the ids themselves, the ids are sorted instead. So
//! memory follows the file, not the numbers in it.

use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};

use rayon::prelude::*;

use super::parsed::NEAR;

/// Bytes of bits that are acceptable for any file size.
const FREE_BYTES: u64 = 1 << 16;

/// The near ids that occur.
pub(super) struct Seen {
    set: Set,
    /// The least near id, and the largest plus one; both 0 if there are none.
    pub(super) range: Range<u64>,
}

enum Set {
    Bits {
        words: Vec<AtomicU64>,
        /// Number of ids before each word.
        before: Vec<u32>,
        count: u64,
    },
    Sorted(Vec<u32>),
}

impl Seen {
    /// Scans all edges; ids from [`NEAR`] on do not count.
    pub(super) fn of<const N: usize>(edges: &[[u32; N]]) -> Self {
        let range = range_of(edges);
        let span = range.end;
        let set = if Self::bits_pay(span, edges.len() as u64) {
            Set::bits(edges, span)
        } else {
            Set::sorted(edges)
        };
        Self { set, range }
    }

    /// Ids by their bits, which are `span` at least: all below the largest plus one.
    pub(super) fn of_bits(bits: Vec<u64>) -> Self {
        let least = bits.iter().position(|word| *word != 0);
        let least = least.map_or(0, |at| {
            64 * at as u64 + u64::from(bits[at].trailing_zeros())
        });
        let last = bits.iter().rposition(|word| *word != 0);
        let end = last.map_or(0, |at| {
            64 * (at as u64 + 1) - u64::from(bits[at].leading_zeros())
        });
        let words = bits.into_iter().map(AtomicU64::new).collect();
        Self {
            set: Set::ranked(words),
            range: least..end,
        }
    }

    /// Sets the bits of the ids that edges name, of which none is beyond them.
    pub(super) fn mark<const N: usize>(edges: &[[u32; N]], bits: &[AtomicU64]) {
        edges.par_iter().for_each(|edge| {
            for end in near(edge) {
                let (word, bit) = (&bits[end as usize / 64], 1u64 << (end % 64));
                // Relaxed: bits are only read after the loop, and joining it orders them.
                if word.load(Ordering::Relaxed) & bit == 0 {
                    word.fetch_or(bit, Ordering::Relaxed);
                }
            }
        });
    }

    /// Whether bits for ids below `span` take no more memory than the ends of so many edges.
    pub(super) fn bits_pay(span: u64, edges: u64) -> bool {
        // One word of bits and one of ranks for 64 ids, against two ids per edge.
        let (bits, ids) = (span.div_ceil(64) * 12, edges * 8);
        bits <= ids.max(FREE_BYTES)
    }

    /// Number of ids that occur.
    pub(super) fn count(&self) -> u64 {
        match &self.set {
            Set::Bits { count, .. } => *count,
            Set::Sorted(ids) => ids.len() as u64,
        }
    }

    /// Number of ids that are below this one.
    pub(super) fn rank(&self, id: u32) -> u32 {
        match &self.set {
            Set::Bits { words, before, .. } => {
                let at = id as usize / 64;
                let below = words[at].load(Ordering::Relaxed) & ((1u64 << (id % 64)) - 1);
                before[at] + below.count_ones()
            }
            Set::Sorted(ids) => ids.partition_point(|&other| other < id) as u32,
        }
    }

    /// Returns the ids, ascending, in a vector with space for `capacity`.
    pub(super) fn ids(&self, capacity: usize) -> Vec<u64> {
        let mut all = Vec::with_capacity(capacity);
        match &self.set {
            Set::Sorted(ids) => all.extend(ids.iter().copied().map(u64::from)),
            Set::Bits { words, .. } => {
                for (at, word) in words.iter().enumerate() {
                    let mut word = word.load(Ordering::Relaxed);
                    while word != 0 {
                        all.push(at as u64 * 64 + u64::from(word.trailing_zeros()));
                        word &= word - 1;
                    }
                }
            }
        }
        all
    }
}

impl Set {
    fn bits<const N: usize>(edges: &[[u32; N]], span: u64) -> Self {
        let words: Vec<AtomicU64> = (0..span.div_ceil(64)).map(|_| AtomicU64::new(0)).collect();
        Seen::mark(edges, &words);
        Self::ranked(words)
    }

    fn ranked(words: Vec<AtomicU64>) -> Self {
        let mut count = 0u32;
        let ranks = words.iter().map(|word| {
            let rank = count;
            count += word.load(Ordering::Relaxed).count_ones();
            rank
        });
        let before = ranks.collect();
        Self::Bits {
            words,
            before,
            count: u64::from(count),
        }
    }

    fn sorted<const N: usize>(edges: &[[u32; N]]) -> Self {
        let mut ids = Vec::with_capacity(2 * edges.len());
        ids.extend(edges.iter().flat_map(near));
        ids.par_sort_unstable();
        ids.dedup();
        ids.shrink_to_fit();
        Self::Sorted(ids)
    }
}

/// The least near id, and the largest plus one; both 0 if there are none.
pub(super) fn range_of<const N: usize>(edges: &[[u32; N]]) -> Range<u64> {
    let none = || (u32::MAX, 0);
    let widen = |(least, end): (u32, u32), id: u32| (id.min(least), end.max(id + 1));
    let (least, end) = edges
        .par_iter()
        .fold(none, |range, edge| near(edge).fold(range, widen))
        .reduce(none, |a, b| (a.0.min(b.0), a.1.max(b.1)));
    u64::from(least.min(end))..u64::from(end)
}

/// Returns the near ids among the two ends of an edge.
fn near<const N: usize>(edge: &[u32; N]) -> impl Iterator<Item = u32> + use<'_, N> {
    let is_near = |end: &u32| u64::from(*end) < NEAR;
    edge[..2].iter().copied().filter(is_near)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(edges: &[[u32; 2]], is_sorted: bool) {
        let seen = Seen::of(edges);
        assert_eq!(matches!(seen.set, Set::Sorted(_)), is_sorted);
        let mut expected: Vec<u32> = edges.as_flattened().to_vec();
        expected.retain(|&id| u64::from(id) < NEAR);
        expected.sort_unstable();
        expected.dedup();
        assert_eq!(seen.count(), expected.len() as u64);
        for (rank, &id) in expected.iter().enumerate() {
            assert_eq!(seen.rank(id), rank as u32);
        }
        let ids = expected.iter().copied().map(u64::from).collect::<Vec<_>>();
        assert_eq!(seen.ids(0), ids);
        let ends = (ids.first(), ids.last().map(|id| id + 1));
        let range = ends.0.copied().unwrap_or(0)..ends.1.unwrap_or(0);
        assert_eq!(seen.range, range);
    }

    #[test]
    fn bits_and_sorted_ids_agree() {
        check(&[], false);
        check(&[[700, 3], [3, 64], [65, 700]], false);
        check(&[[700, 3], [3, NEAR as u32 - 1], [65, 700]], true);
        check(&[[NEAR as u32, 5], [u32::MAX, 1 << 30]], true);
    }
}
