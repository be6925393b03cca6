//! In-place sort of edges, in time linear in their number.
//!
//! A graph of 100 M edges must not be copied while it is sorted: the edge buffer is already twice
//! the adjacency. So this is a most-significant-digit radix sort that permutes within the buffer
//! (the American flag sort of McIlroy, Bostic and McIlroy, 1993) and recurses over buckets on all
//! threads. It knows nothing of graphs beyond the key of an edge.

use rayon::prelude::*;

const DIGIT_BITS: u32 = 8;
const BUCKETS: usize = 1 << DIGIT_BITS;
/// Below this size a comparison sort stays in the cache and is faster than another pass.
const SMALL: usize = 1 << 12;

/// The sort key of an edge: source in the high half, target in the low half.
#[inline]
pub(super) fn key<const N: usize>(edge: &[u32; N]) -> u64 {
    (u64::from(edge[0]) << 32) | u64::from(edge[1])
}

/// Sorts edges by source, then target; all node ids are below `nodes`.
///
/// Takes at most eight passes over the buffer, and one if it is sorted already. Needs 4 KiB per
/// level of recursion beyond the buffer. The result is the same for any number of threads, up to
/// the order of equal keys.
pub(super) fn sort<const N: usize>(edges: &mut [[u32; N]], nodes: u32) {
    if edges
        .par_windows(2)
        .all(|pair| key(&pair[0]) <= key(&pair[1]))
    {
        return;
    }
    let id_bits = (u32::BITS - nodes.saturating_sub(1).leading_zeros()).max(1);
    partition(
        edges,
        Digits {
            id_bits,
            left: 2 * id_bits,
        },
    );
}

/// Key bits that are still unsorted: the low `left` of source and target joined without gap.
#[derive(Clone, Copy)]
struct Digits {
    id_bits: u32,
    left: u32,
}

impl Digits {
    #[inline]
    fn of<const N: usize>(self, edge: &[u32; N]) -> usize {
        let joined = (u64::from(edge[0]) << self.id_bits) | u64::from(edge[1]);
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

fn partition<const N: usize>(edges: &mut [[u32; N]], digits: Digits) {
    if edges.len() <= SMALL || digits.left == 0 {
        edges.sort_unstable_by_key(key);
        return;
    }
    let counts = histogram(edges, digits);
    permute(edges, digits, &counts);
    let mut buckets = Vec::with_capacity(BUCKETS);
    let mut rest = edges;
    for &count in &counts {
        let (bucket, tail) = rest.split_at_mut(count);
        buckets.push(bucket);
        rest = tail;
    }
    buckets
        .into_par_iter()
        .for_each(|bucket| partition(bucket, digits.next()));
}

fn histogram<const N: usize>(edges: &[[u32; N]], digits: Digits) -> [usize; BUCKETS] {
    let count = |part: &[[u32; N]]| {
        let mut counts = [0usize; BUCKETS];
        for edge in part {
            counts[digits.of(edge)] += 1;
        }
        counts
    };
    let add = |mut a: [usize; BUCKETS], b: [usize; BUCKETS]| {
        a.iter_mut().zip(b).for_each(|(x, y)| *x += y);
        a
    };
    edges
        .par_chunks(1 << 18)
        .map(count)
        .reduce(|| [0; BUCKETS], add)
}

/// Moves every edge into its bucket by following the cycles of the permutation.
fn permute<const N: usize>(edges: &mut [[u32; N]], digits: Digits, counts: &[usize; BUCKETS]) {
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
    fn one_heavy_source_sorts() {
        let mut edges: Vec<[u32; 2]> = (0..100_000).map(|i| [5, (i * 7919) % 100_003]).collect();
        let mut expected = edges.clone();
        expected.sort();
        sort(&mut edges, 100_003);
        assert_eq!(edges, expected);
    }

    proptest! {
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
