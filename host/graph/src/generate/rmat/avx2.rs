//! Edges of Kronecker graphs, drawn in vectors of 256 bits.
//!
//! A word decides two levels, one by each half. Both halves stay where they are: those of even
//! levels are counted apart from those of odd ones, and join at the end.

use std::arch::x86_64::{
    __m256i, _mm_cvtsi32_si128, _mm256_add_epi32, _mm256_and_si256, _mm256_blend_epi32,
    _mm256_cmpgt_epi32, _mm256_mullo_epi32, _mm256_set1_epi32, _mm256_setzero_si256,
    _mm256_slli_epi32, _mm256_slli_epi64, _mm256_srl_epi32, _mm256_srli_epi64, _mm256_sub_epi32,
    _mm256_xor_si256,
};
use std::array::from_fn;

use super::{LANES, Names, RMAT_A, RMAT_AB, RMAT_ABC, Rmat};
use crate::mix::avx2::{STREAMS, Streams};

/// Vectors of edges that are drawn side by side.
const VECTORS: usize = LANES / STREAMS;

/// Draws the edge with index `first` and those after it.
#[target_feature(enable = "avx2")]
pub(super) fn edges(rmat: &Rmat, first: u64) -> [[u32; 2]; LANES] {
    let [mut from, mut to] = [[_mm256_setzero_si256(); VECTORS]; 2];
    let at = |lane: usize| rmat.edges.at(first + lane as u64);
    let streams = [
        Streams::of(from_fn(at)),
        Streams::of(from_fn(|lane| at(STREAMS + lane))),
    ];
    for level in (0..rmat.scale).step_by(2) {
        for (vector, streams) in streams.iter().enumerate() {
            let [second, odd] = quadrants(streams.words(u64::from(level)));
            from[vector] = _mm256_sub_epi32(_mm256_slli_epi32::<2>(from[vector]), second);
            to[vector] = _mm256_sub_epi32(_mm256_slli_epi32::<2>(to[vector]), odd);
        }
    }
    for (from, to) in from.iter_mut().zip(to) {
        *from = names(&rmat.names, joined(*from, to, rmat.scale));
    }
    bytemuck::cast(from)
}

/// Tells by -1 and 0 for each half of a word whether it reaches the second threshold, and whether
/// it reaches an odd number of them: the bits of source and target.
#[inline]
#[target_feature(enable = "avx2")]
fn quadrants(words: __m256i) -> [__m256i; 2] {
    // Vectors compare signed numbers, which have the order of unsigned ones with the first bit
    // turned over.
    let words = _mm256_xor_si256(words, _mm256_set1_epi32(i32::MIN));
    let [first, second, third] = [RMAT_A, RMAT_AB, RMAT_ABC].map(|threshold| {
        let below = (threshold - 1) as i32 ^ i32::MIN;
        _mm256_cmpgt_epi32(words, _mm256_set1_epi32(below))
    });
    let odd = _mm256_xor_si256(_mm256_xor_si256(first, second), third);
    [second, odd]
}

/// Joins the bits of even levels, in the low halves, with those of odd levels, in the high ones.
/// Returns sources in the low halves and targets in the high ones.
#[inline]
#[target_feature(enable = "avx2")]
fn joined(from: __m256i, to: __m256i, scale: u32) -> __m256i {
    let from = _mm256_add_epi32(_mm256_slli_epi32::<1>(from), _mm256_srli_epi64::<32>(from));
    let to = _mm256_add_epi32(_mm256_slli_epi64::<33>(to), to);
    // The last word may have a level too many.
    let spare = _mm_cvtsi32_si128((scale % 2) as i32);
    _mm256_srl_epi32(_mm256_blend_epi32::<0b1010_1010>(from, to), spare)
}

/// Names nodes as [`Names::of`].
#[inline]
#[target_feature(enable = "avx2")]
fn names(names: &Names, nodes: __m256i) -> __m256i {
    let mask = _mm256_set1_epi32(names.mask as i32);
    let shift = _mm_cvtsi32_si128(names.shift as i32);
    names.rounds.iter().fold(nodes, |name, &(factor, term)| {
        let product = _mm256_mullo_epi32(name, _mm256_set1_epi32(factor as i32));
        let sum = _mm256_add_epi32(product, _mm256_set1_epi32(term as i32));
        let next = _mm256_and_si256(sum, mask);
        _mm256_xor_si256(next, _mm256_srl_epi32(next, shift))
    })
}
