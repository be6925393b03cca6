//! Edges of Kronecker graphs, drawn side by side in vectors.
//!
//! Programs are compiled for any processor of their kind. On x86-64 most have wider vectors than
//! all of them must have, so edges are drawn by a second function there.

#[cfg(target_arch = "x86_64")]
mod avx2;

use std::array::from_fn;

use super::{Draw, LANES, STREAM_EDGES, STREAM_NAMES};
use crate::mix::Stream;

/// Quadrant probabilities of the Kronecker graph, as parts of 2^32.
const RMAT_A: u32 = (0.57 * 4_294_967_296.0) as u32;
const RMAT_AB: u32 = (0.76 * 4_294_967_296.0) as u32;
const RMAT_ABC: u32 = (0.95 * 4_294_967_296.0) as u32;

/// Draws the edges of a Kronecker graph.
pub(super) struct Rmat {
    scale: u32,
    edges: Stream,
    names: Names,
}

impl Rmat {
    pub(super) fn new(scale: u32, seed: u64) -> Self {
        Self {
            scale,
            edges: Stream::new(seed, STREAM_EDGES),
            names: Names::new(scale, seed),
        }
    }

    /// Draws edges on any processor: descends `scale` quadrants, two per random word.
    fn edges_anywhere(&self, first: u64) -> [[u32; 2]; LANES] {
        let streams: [Stream; LANES] = from_fn(|lane| self.edges.at(first + lane as u64));
        let mut levels = [[0; LANES]; u32::BITS as usize];
        let pairs = levels.chunks_exact_mut(2).zip((0..self.scale).step_by(2));
        for (pair, level) in pairs {
            for (lane, stream) in streams.iter().enumerate() {
                let word = stream.word(u64::from(level));
                (pair[0][lane], pair[1][lane]) = (word as u32, (word >> 32) as u32);
            }
        }
        let ends = quadrants(&levels[..self.scale as usize]);
        let [from, to] = ends.map(|nodes| self.names.of(nodes));
        from_fn(|lane| [from[lane], to[lane]])
    }
}

impl Draw for Rmat {
    fn edges(&self, first: u64) -> [[u32; 2]; LANES] {
        #[cfg(target_arch = "x86_64")]
        if is_x86_feature_detected!("avx2") {
            // SAFETY: the processor has the features that the function requires.
            return unsafe { avx2::edges(self, first) };
        }
        self.edges_anywhere(first)
    }
}

/// Turns random words, one per level, into the bits of sources and targets.
///
/// Three comparisons find a quadrant: the second one is the source's bit, the parity of all three
/// the target's. A separate function, so that the comparisons are vectors wherever it is called.
#[inline(never)]
fn quadrants(levels: &[[u32; LANES]]) -> [[u32; LANES]; 2] {
    let [mut a, mut ab, mut abc] = [[0; LANES]; 3];
    for words in levels {
        for lane in 0..LANES {
            a[lane] = 2 * a[lane] + u32::from(words[lane] >= RMAT_A);
            ab[lane] = 2 * ab[lane] + u32::from(words[lane] >= RMAT_AB);
            abc[lane] = 2 * abc[lane] + u32::from(words[lane] >= RMAT_ABC);
        }
    }
    [ab, from_fn(|lane| a[lane] ^ ab[lane] ^ abc[lane])]
}

/// A permutation of `0..2^scale` without a table.
///
/// Kronecker graphs put their hubs at small numbers, and analyses must not profit from that. Odd
/// multiplication, addition and a right shift are each one-to-one on `scale` bits.
struct Names {
    mask: u32,
    shift: u32,
    rounds: [(u32, u32); 4],
}

impl Names {
    fn new(scale: u32, seed: u64) -> Self {
        let stream = Stream::new(seed, STREAM_NAMES);
        let round = |n: u64| (stream.word(2 * n) as u32 | 1, stream.word(2 * n + 1) as u32);
        Self {
            mask: ((1u64 << scale) - 1) as u32,
            shift: scale.div_ceil(2).max(1),
            rounds: [round(0), round(1), round(2), round(3)],
        }
    }

    /// Names nodes side by side. 32 bits of the factors and terms suffice, as names have no more.
    fn of(&self, nodes: [u32; LANES]) -> [u32; LANES] {
        let mut names = nodes;
        for (factor, term) in self.rounds {
            for name in &mut names {
                let next = name.wrapping_mul(factor).wrapping_add(term) & self.mask;
                *name = next ^ (next >> self.shift);
            }
        }
        names
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_function_draws_the_same_edges() {
        for scale in 0..=31 {
            let rmat = Rmat::new(scale, 5);
            for first in (0..4096).step_by(LANES).chain([1 << 35, u64::MAX - 7]) {
                let expected = rmat.edges_anywhere(first);
                assert_eq!(rmat.edges(first), expected, "scale {scale}, edge {first}");
            }
        }
    }

    #[test]
    fn permuted_numbers_are_a_permutation() {
        for scale in [0, 1, 2, 5, 13] {
            let names = Names::new(scale, 77);
            let mut all: Vec<u32> = (0..1 << scale)
                .map(|node| names.of([node; LANES])[0])
                .collect();
            all.sort_unstable();
            assert!(all.into_iter().eq(0..1 << scale), "scale {scale}");
        }
    }
}
