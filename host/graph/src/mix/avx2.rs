//! Streams of random words side by side, in vectors of 256 bits.
//!
//! AVX2 has no product of 64-bit words, so it is composed from products of halves.

use std::arch::x86_64::{
    __m256i, _mm256_add_epi64, _mm256_mul_epu32, _mm256_set1_epi64x, _mm256_slli_epi64,
    _mm256_srli_epi64, _mm256_xor_si256,
};

use super::{FACTORS, GOLDEN, Stream};

pub(crate) const STREAMS: usize = 4;

#[derive(Clone, Copy)]
pub(crate) struct Streams(__m256i);

impl Streams {
    /// Puts streams side by side.
    #[inline]
    #[target_feature(enable = "avx2")]
    pub(crate) fn of(streams: [Stream; STREAMS]) -> Self {
        Self(bytemuck::cast(streams.map(|stream| stream.0)))
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    pub(crate) fn words(self, count: u64) -> __m256i {
        let ahead = count.wrapping_mul(GOLDEN).wrapping_add(GOLDEN);
        let z = _mm256_add_epi64(self.0, _mm256_set1_epi64x(ahead as i64));
        let z = times(_mm256_xor_si256(z, _mm256_srli_epi64::<30>(z)), FACTORS[0]);
        let z = times(_mm256_xor_si256(z, _mm256_srli_epi64::<27>(z)), FACTORS[1]);
        _mm256_xor_si256(z, _mm256_srli_epi64::<31>(z))
    }
}

#[inline]
#[target_feature(enable = "avx2")]
fn times(words: __m256i, factor: u64) -> __m256i {
    let low = _mm256_set1_epi64x(factor as i64);
    let high = _mm256_set1_epi64x((factor >> 32) as i64);
    let mixed = _mm256_add_epi64(
        _mm256_mul_epu32(_mm256_srli_epi64::<32>(words), low),
        _mm256_mul_epu32(words, high),
    );
    _mm256_add_epi64(_mm256_mul_epu32(words, low), _mm256_slli_epi64::<32>(mixed))
}
