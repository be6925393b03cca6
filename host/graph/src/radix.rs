//! In-place sort of edges, in time linear in their number.
//!
//! A graph of 100 M edges must not be copied while it is sorted: the edge buffer is already twice
//! the adjacency. So this is a most-significant-digit radix sort that permutes within the buffer
//! (the American flag sort of McIlroy, Bostic and McIlroy, 1993) and recurses over buckets on all
//! threads. Buckets too large for one thread are made by all of them: each permutes a stripe, and
//! [`stripes`] brings the buckets together. It knows nothing of graphs beyond the key of an edge.

mod stripes;

use rayon::prelude::*;

use super::memory::cut;

const DIGIT_BITS: u32 = 8;
const BUCKETS: usize = 1 << DIGIT_BITS;
/// Below this size a comparison sort stays in the cache and is faster than another pass.
const SMALL: usize = 1 << 12;
/// Edges that are sorted by rows: together with their targets, they fit a second-level cache.
const ROW_WISE: std::ops::RangeInclusive<usize> = 64..=1 << 16;
/// Most bits of the source that distinguish their rows.
const ROW_BITS: u32 = 12;
/// With fewer edges, one thread permutes them all.
const STRIPED: usize = 1 << 18;
/// Stripes per thread, as threads differ in speed.
const STRIPES: usize = 4;

/// The sort key of an edge: source in the high half, target in the low half.
#[inline]
pub(super) fn key<const N: usize>(edge: &[u32; N]) -> u64 {
    (u64::from(edge[0]) << 32) | u64::from(edge[1])
}

/// Sorts edges by source, then target; all node ids are below `nodes`.
///
/// Requirements and cost are those of [`sort_words`].
pub(super) fn sort<const N: usize>(edges: &mut [[u32; N]], nodes: u32) {
    let bits = bits_of(nodes);
    sort_words(edges, bits, bits);
}

/// Number of bits that distinguish nodes below `nodes`.
pub(super) fn bits_of(nodes: u32) -> u32 {
    (u32::BITS - nodes.saturating_sub(1).leading_zeros()).max(1)
}

/// Sorts edges by their first word, then their second, which have the given numbers of bits.
///
/// Takes at most eight passes over the buffer, and one if it is sorted already. Needs 4 KiB per
/// level of recursion beyond the buffer. The result is the same for any number of threads, up to
/// the order of equal keys.
pub(super) fn sort_words<const N: usize>(
    edges: &mut [[u32; N]],
    source_bits: u32,
    target_bits: u32,
) {
    if edges
        .par_windows(2)
        .all(|pair| key(&pair[0]) <= key(&pair[1]))
    {
        return;
    }
    let threads = rayon::current_num_threads();
    let alone = if threads == 1 {
        usize::MAX
    } else {
        STRIPED.max(edges.len() / (2 * threads))
    };
    let digits = Digits {
        target_bits,
        left: source_bits + target_bits,
    };
    partition(edges, digits, alone);
}

/// Key bits that are still unsorted: the low `left` of source and target joined without gap.
#[derive(Clone, Copy)]
struct Digits {
    target_bits: u32,
    left: u32,
}

impl Digits {
    #[inline]
    fn of<const N: usize>(self, edge: &[u32; N]) -> usize {
        let joined = (u64::from(edge[0]) << self.target_bits) | u64::from(edge[1]);
        let shift = self.left.saturating_sub(DIGIT_BITS);
        (joined >> shift) as usize & (BUCKETS - 1)
    }

    fn next(self) -> Self {
        Self {
            left: self.left.saturating_sub(DIGIT_BITS),
            ..self
        }
    }
}

/// Sorts by the digits that are left; up to `alone` edges are permuted by one thread.
fn partition<const N: usize>(edges: &mut [[u32; N]], digits: Digits, alone: usize) {
    let row_bits = digits.left.saturating_sub(digits.target_bits);
    let is_row_wise = N == 2 && row_bits <= ROW_BITS && edges.len() >= 1 << row_bits;
    if is_row_wise && ROW_WISE.contains(&edges.len()) {
        sort_rows(edges, (1 << row_bits) - 1);
        return;
    }
    if edges.len() <= SMALL || digits.left == 0 {
        edges.sort_unstable_by_key(key);
        return;
    }
    let counts = if edges.len() <= alone {
        permute(edges, digits)
    } else {
        permute_together(edges, digits)
    };
    let buckets: Vec<_> = cut(edges, counts.iter().copied()).collect();
    buckets
        .into_par_iter()
        .for_each(|bucket| partition(bucket, digits.next(), alone));
}

/// Sorts edges whose sources differ in the bits of `mask`: counts them by row, then sorts rows.
fn sort_rows<const N: usize>(edges: &mut [[u32; N]], mask: u32) {
    let mut ends = [0u32; 1 << ROW_BITS];
    for edge in edges.iter() {
        ends[(edge[0] & mask) as usize] += 1;
    }
    let mut sum = 0;
    for end in &mut ends[..=mask as usize] {
        sum += std::mem::replace(end, sum);
    }
    let mut targets = vec![0u32; edges.len()];
    for edge in edges.iter() {
        let end = &mut ends[(edge[0] & mask) as usize];
        targets[*end as usize] = edge[1];
        *end += 1;
    }
    let high = edges.first().map_or(0, |edge| edge[0] & !mask);
    let mut start = 0;
    for (row, &end) in (high..=high | mask).zip(&ends) {
        let range = start..end as usize;
        targets[range.clone()].sort_unstable();
        for (edge, &target) in edges[range.clone()].iter_mut().zip(&targets[range]) {
            (edge[0], edge[1]) = (row, target);
        }
        start = end as usize;
    }
}

/// Moves every edge into its bucket, by all threads; returns the sizes of the buckets.
fn permute_together<const N: usize>(edges: &mut [[u32; N]], digits: Digits) -> [usize; BUCKETS] {
    let stripe = edges.len().div_ceil(STRIPES * rayon::current_num_threads());
    let add = |mut a: [usize; BUCKETS], b: [usize; BUCKETS]| {
        a.iter_mut().zip(b).for_each(|(x, y)| *x += y);
        a
    };
    let counts = edges
        .par_chunks_mut(stripe)
        .map(|stripe| permute(stripe, digits))
        .reduce(|| [0; BUCKETS], add);
    stripes::bring_together(edges, stripe, digits);
    counts
}

/// Moves every edge into its bucket by following the cycles of the permutation; returns the sizes
/// of the buckets.
fn permute<const N: usize>(edges: &mut [[u32; N]], digits: Digits) -> [usize; BUCKETS] {
    let mut counts = [0usize; BUCKETS];
    for edge in edges.iter() {
        counts[digits.of(edge)] += 1;
    }
    let mut next = [0usize; BUCKETS];
    let mut end = [0usize; BUCKETS];
    let mut sum = 0;
    for bucket in 0..BUCKETS {
        next[bucket] = sum;
        sum += counts[bucket];
        end[bucket] = sum;
    }
    for bucket in 0..BUCKETS {
        while next[bucket] < end[bucket] {
            let mut held = edges[next[bucket]];
            loop {
                let home = digits.of(&held);
                let at = next[home];
                next[home] += 1;
                std::mem::swap(&mut edges[at], &mut held);
                if home == bucket {
                    break;
                }
            }
        }
    }
    counts
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn noise(count: usize, nodes: u32) -> Vec<[u32; 2]> {
        let mut state = 9u64;
        let mut draw = || {
            state = state
                .wrapping_mul(6364136223846793005)
                .wrapping_add(1442695040888963407);
            ((state >> 33) as u32) % nodes
        };
        (0..count).map(|_| [draw(), draw()]).collect()
    }

    #[test]
    fn large_buffers_sort_like_a_comparison_sort() {
        for nodes in [1, 2, 3, 255, 1 << 20, u32::MAX] {
            let mut edges = noise(50_000, nodes);
            let mut expected = edges.clone();
            expected.sort();
            sort(&mut edges, nodes);
            assert_eq!(edges, expected, "{nodes} nodes");
        }
    }

    #[test]
    fn stripes_sort_like_a_comparison_sort() {
        for (threads, nodes) in [(2, 1 << 20), (3, 1000), (7, 2), (7, u32::MAX)] {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads);
            let mut edges = noise(STRIPED + 12_345, nodes);
            let mut expected = edges.clone();
            expected.sort_unstable();
            pool.build().unwrap().install(|| sort(&mut edges, nodes));
            assert!(edges == expected, "{threads} threads, {nodes} nodes");
        }
    }

    #[test]
    fn one_heavy_source_sorts() {
        let mut edges: Vec<[u32; 2]> = (0..100_000).map(|i| [5, (i * 7919) % 100_003]).collect();
        let mut expected = edges.clone();
        expected.sort();
        sort(&mut edges, 100_003);
        assert_eq!(edges, expected);
    }

    proptest! {
        #[test]
        fn stripes_of_any_length_come_together(
            ends in prop::collection::vec((0u32..16, 0u32..16), 1..300), stripe in 1usize..50
        ) {
            let digits = Digits { target_bits: 4, left: 8 };
            let mut edges: Vec<[u32; 2]> = ends.iter().map(|&(a, b)| [a, b]).collect();
            let mut expected = edges.clone();
            expected.sort_unstable();
            edges.chunks_mut(stripe).for_each(|stripe| { permute(stripe, digits); });
            stripes::bring_together(&mut edges, stripe, digits);
            prop_assert_eq!(edges, expected);
        }

        #[test]
        fn weighted_edges_keep_their_weights(ends in prop::collection::vec((0u32..300, 0u32..300), 0..9000)) {
            let mut edges: Vec<[u32; 3]> = ends.iter().map(|&(a, b)| [a, b, a * 1000 + b]).collect();
            let mut expected = edges.clone();
            expected.sort();
            sort(&mut edges, 300);
            prop_assert_eq!(edges, expected);
        }
    }
}
