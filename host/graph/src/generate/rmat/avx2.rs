//! Edges of Kronecker graphs, drawn in vectors of 256 bits.
//!
//! A word decides two levels, one by each half. Both halves stay in place: even and odd levels are
//! counted separately and join at the end.

use std::arch::x86_64::{
    __m256i, _mm_cvtsi32_si128, _mm256_add_epi32, _mm256_and_si256, _mm256_andnot_si256,
    _mm256_blend_epi32, _mm256_cmpgt_epi32, _mm256_mullo_epi32, _mm256_or_si256, _mm256_set1_epi32,
    _mm256_setzero_si256, _mm256_slli_epi32, _mm256_slli_epi64, _mm256_srl_epi32,
    _mm256_srli_epi64, _mm256_sub_epi32, _mm256_xor_si256,
};
use std::array::from_fn;

use super::{LANES, Names, RMAT_A, RMAT_AB, RMAT_ABC, Rmat};
use crate::mix::avx2::{STREAMS, Streams};

/// Draws the edge with index `first` and those after it.
#[target_feature(enable = "avx2")]
pub(super) fn edges(rmat: &Rmat, first: u64) -> [[u32; 2]; LANES] {
    let at = |lane: usize| rmat.edges.at(first + lane as u64);
    let streams = [
        Streams::of(from_fn(at)),
        Streams::of(from_fn(|lane| at(STREAMS + lane))),
    ];
    let mut ends = [_mm256_setzero_si256(); LANES / STREAMS];
    for level in (0..rmat.scale).step_by(2) {
        for (digits, streams) in ends.iter_mut().zip(streams) {
            let shifted = _mm256_slli_epi32::<2>(*digits);
            let negative = quadrants(streams.words(u64::from(level)));
            *digits = _mm256_sub_epi32(shifted, negative);
        }
    }
    for digits in &mut ends {
        *digits = names(&rmat.names, joined(*digits, rmat.scale));
    }
    bytemuck::cast(ends)
}

/// Returns, for each half of a word, its quadrant's negative number. That is how many thresholds
/// it reaches, and has the source's bit and then the target's.
#[inline]
#[target_feature(enable = "avx2")]
fn quadrants(words: __m256i) -> __m256i {
    // Vectors compare signed numbers, which have the order of unsigned ones with the first bit
    // turned over.
    let words = _mm256_xor_si256(words, _mm256_set1_epi32(i32::MIN));
    let [first, second, third] = [RMAT_A, RMAT_AB, RMAT_ABC].map(|threshold| {
        let below = (threshold - 1) as i32 ^ i32::MIN;
        _mm256_cmpgt_epi32(words, _mm256_set1_epi32(below))
    });
    _mm256_add_epi32(_mm256_add_epi32(first, second), third)
}

/// Joins quadrants of even levels, in the low halves, with those of odd levels, in the high ones.
/// Returns sources in the low halves and targets in the high ones.
#[inline]
#[target_feature(enable = "avx2")]
fn joined(quadrants: __m256i, scale: u32) -> __m256i {
    let bits = _mm256_set1_epi32(0x5555_5555);
    let sources = _mm256_andnot_si256(bits, quadrants);
    let sources = _mm256_or_si256(sources, _mm256_srli_epi64::<33>(sources));
    let targets = _mm256_and_si256(bits, quadrants);
    let targets = _mm256_or_si256(targets, _mm256_slli_epi64::<33>(targets));
    // The last word may have a level too many.
    let spare = _mm_cvtsi32_si128((scale % 2) as i32);
    _mm256_srl_epi32(_mm256_blend_epi32::<0b1010_1010>(sources, targets), spare)
}

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
