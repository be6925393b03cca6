//! A counter-based random function.
//!
//! Generators must return the same graph for any number of threads, so each edge draws from its
//! own index and no state passes between edges. The finaliser is that of SplitMix64 (Steele, Lea,
//! Flood, 2014). Not for cryptography.

#[cfg(target_arch = "x86_64")]
pub(super) mod avx2;

const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;
/// Factors of the finaliser.
const FACTORS: [u64; 2] = [0xbf58_476d_1ce4_e5b9, 0x94d0_49bb_1331_11eb];

/// Scrambles a word; a bijection on 64 bits.
#[inline]
pub(super) fn mix(word: u64) -> u64 {
    let mut z = word.wrapping_add(GOLDEN);
    z = (z ^ (z >> 30)).wrapping_mul(FACTORS[0]);
    z = (z ^ (z >> 27)).wrapping_mul(FACTORS[1]);
    z ^ (z >> 31)
}

/// A stream of random words, addressed by number.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stream(u64);

impl Stream {
    pub(super) fn new(seed: u64, purpose: u64) -> Self {
        Self(mix(mix(seed) ^ purpose.wrapping_mul(GOLDEN)))
    }

    /// Returns the substream of one index.
    #[inline]
    pub(super) fn at(self, index: u64) -> Self {
        Self(mix(self.0 ^ index.wrapping_mul(0xd6e8_feb8_6659_fd93)))
    }

    #[inline]
    pub(super) fn word(self, count: u64) -> u64 {
        mix(self.0.wrapping_add(count.wrapping_mul(GOLDEN)))
    }
}

/// Words that one thread hashes at a time.
const HASH_CHUNK: usize = 1 << 18;

/// Hash of a slice of words, the same for any number of threads.
pub(super) fn hash_words(seed: u64, words: &[u32]) -> u64 {
    use rayon::prelude::*;
    let parts: Vec<u64> = words.par_chunks(HASH_CHUNK).map(hash_chunk).collect();
    parts
        .iter()
        .fold(mix(seed ^ words.len() as u64), |hash, part| {
            mix(hash.rotate_left(5) ^ part)
        })
}

/// Four independent lanes, so that multiplications overlap.
fn hash_chunk(words: &[u32]) -> u64 {
    let mut lanes = [1u64, 2, 3, 4];
    let blocks = words.chunks_exact(4);
    let tail = blocks.remainder();
    for block in blocks {
        for (lane, &word) in lanes.iter_mut().zip(block) {
            *lane = (*lane ^ u64::from(word))
                .wrapping_mul(0x0000_0100_0000_01b3)
                .rotate_left(23);
        }
    }
    for &word in tail {
        lanes[0] = mix(lanes[0] ^ u64::from(word));
    }
    lanes.iter().fold(0, |hash, &lane| mix(hash ^ lane))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_finaliser_is_the_published_one() {
        // First two outputs of SplitMix64 from state 0.
        assert_eq!(mix(0), 0xe220_a839_7b1d_cdaf);
        assert_eq!(mix(GOLDEN), 0x6e78_9e6a_a1b9_65f4);
    }

    #[test]
    fn hashes_see_every_word_and_the_length() {
        let words: Vec<u32> = (0..HASH_CHUNK as u32 + 7).collect();
        let hash = hash_words(0, &words);
        for at in [0, 1, 5, words.len() / 2, words.len() - 1] {
            let mut other = words.clone();
            other[at] ^= 1;
            assert_ne!(hash_words(0, &other), hash, "word {at}");
        }
        assert_ne!(hash_words(0, &words[..words.len() - 1]), hash);
        assert_ne!(hash_words(0, &[0]), hash_words(0, &[0, 0]));
    }
}
