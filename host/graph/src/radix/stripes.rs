//! Brings the buckets of stripes together, by swaps within the buffer.
//!
//! Each stripe is in order of buckets. The buckets are halved: edges of the upper half in the place
//! of the lower half swap places with edges of the lower half elsewhere. Both halves are handled in
//! the same way until a range has one bucket or one stripe. So a sort on many threads needs no
//! second buffer.

use std::ops::Range;

use rayon::prelude::*;

use super::{BUCKETS, Digits};

/// Edges side by side in order of their buckets.
struct Piece<'a, const N: usize> {
    /// Place in the buffer.
    start: usize,
    edges: &'a mut [[u32; N]],
}

impl<'a, const N: usize> Piece<'a, N> {
    /// Splits after `count` edges, or after all.
    fn split(self, count: usize) -> (Self, Self) {
        let count = count.min(self.edges.len());
        let (first, second) = self.edges.split_at_mut(count);
        let start = self.start + count;
        let first = Self {
            start: self.start,
            edges: first,
        };
        let second = Self {
            start,
            edges: second,
        };
        (first, second)
    }
}

/// Puts stripes of `stripe` edges, each in order of buckets, in that order as a whole.
pub(super) fn bring_together<const N: usize>(
    edges: &mut [[u32; N]],
    stripe: usize,
    digits: Digits,
) {
    let stripes = edges.chunks_mut(stripe).zip((0..).step_by(stripe));
    let pieces = stripes.map(|(edges, start)| Piece { start, edges });
    halve(pieces.collect(), digits, 0..BUCKETS);
}

/// Orders pieces that are side by side and hold these buckets.
fn halve<const N: usize>(pieces: Vec<Piece<'_, N>>, digits: Digits, buckets: Range<usize>) {
    if pieces.len() <= 1 || buckets.len() <= 1 {
        return;
    }
    let middle = buckets.start.midpoint(buckets.end);
    let lower_of = |edges: &[[u32; N]]| edges.partition_point(|edge| digits.of(edge) < middle);
    let mut space: usize = pieces.iter().map(|piece| lower_of(piece.edges)).sum();
    // Keys that are in place on both sides, and keys that are not.
    let (mut low, mut high) = (Vec::new(), Vec::new());
    let (mut too_high, mut too_low) = (Vec::new(), Vec::new());
    for piece in pieces {
        let (left, right) = piece.split(space);
        space -= left.edges.len();
        let at = lower_of(left.edges);
        let (stays, goes) = left.split(at);
        low.push(stays);
        too_high.push(goes);
        let at = lower_of(right.edges);
        let (goes, stays) = right.split(at);
        too_low.push(goes);
        high.push(stays);
    }
    let pairs = pairs(too_high, too_low);
    let swapped: Vec<_> = pairs
        .into_par_iter()
        .map(|(left, right)| {
            left.edges.swap_with_slice(right.edges);
            (left, right)
        })
        .collect();
    for (left, right) in swapped {
        low.push(left);
        high.push(right);
    }
    rayon::join(
        || halve(in_order(low), digits, buckets.start..middle),
        || halve(in_order(high), digits, middle..buckets.end),
    );
}

/// Cuts two lists of the same number of edges into pairs of pieces of the same length.
fn pairs<'a, const N: usize>(
    left: Vec<Piece<'a, N>>,
    right: Vec<Piece<'a, N>>,
) -> Vec<(Piece<'a, N>, Piece<'a, N>)> {
    let is_filled = |piece: &Piece<'_, N>| !piece.edges.is_empty();
    let (mut left, mut right) = (
        left.into_iter().filter(is_filled),
        right.into_iter().filter(is_filled),
    );
    let (mut a, mut b) = (left.next(), right.next());
    let mut all = Vec::new();
    while let (Some(first), Some(second)) = (a, b) {
        let length = first.edges.len().min(second.edges.len());
        let (first, rest_of_first) = first.split(length);
        let (second, rest_of_second) = second.split(length);
        all.push((first, second));
        a = Some(rest_of_first)
            .filter(is_filled)
            .or_else(|| left.next());
        b = Some(rest_of_second)
            .filter(is_filled)
            .or_else(|| right.next());
    }
    all
}

fn in_order<const N: usize>(mut pieces: Vec<Piece<'_, N>>) -> Vec<Piece<'_, N>> {
    pieces.retain(|piece| !piece.edges.is_empty());
    pieces.sort_unstable_by_key(|piece| piece.start);
    pieces
}
