//! A digest by which processes compare their copies of a file.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};

use bytemuck::allocation::pod_collect_to_vec;

use crate::mix::{hash_words, mix};

/// Bytes of a block.
const BLOCK: usize = 1 << 14;

/// Most blocks that are read: a file of 16 MiB is read as a whole.
const BLOCKS: u64 = 1 << 10;

/// Returns a digest of a file's length and of its bytes: of all of them up to 16 MiB, else of 1,024
/// blocks of 16 KiB at equal distances, the first and the last one included.
pub(crate) fn digest_of_sample(mut file: &File) -> io::Result<u64> {
    let length = file.metadata()?.len();
    let blocks = length.div_ceil(BLOCK as u64).clamp(1, BLOCKS);
    let last = length.saturating_sub(BLOCK as u64);
    let mut bytes = Vec::with_capacity(BLOCK);
    let mut digest = mix(length);
    for block in 0..blocks {
        let at = u128::from(last) * u128::from(block) / u128::from((blocks - 1).max(1));
        file.seek(SeekFrom::Start(at as u64))?;
        bytes.clear();
        file.take(BLOCK as u64).read_to_end(&mut bytes)?;
        let held = bytes.len();
        bytes.resize(held.next_multiple_of(4), 0);
        digest = hash_words(digest ^ held as u64, &pod_collect_to_vec(&bytes));
    }
    Ok(digest)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    fn digest(bytes: &[u8]) -> u64 {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(bytes).unwrap();
        digest_of_sample(&file).unwrap()
    }

    #[test]
    fn every_byte_of_a_small_file_counts() {
        assert_ne!(digest(&[]), digest(&[0]));
        for length in [1, 3, BLOCK - 1, BLOCK, BLOCK + 1, 3 * BLOCK + 5] {
            let bytes: Vec<u8> = (0..length).map(|at| at as u8).collect();
            let whole = digest(&bytes);
            assert_eq!(digest(&bytes), whole, "{length}");
            for at in [0, length / 3, length / 2, length - 1] {
                let mut other = bytes.clone();
                other[at] ^= 1;
                assert_ne!(digest(&other), whole, "byte {at} of {length}");
            }
            assert_ne!(digest(&bytes[..length - 1]), whole, "{length}");
        }
    }

    #[test]
    fn blocks_of_a_large_file_count() {
        let length = 3 * BLOCKS as usize * BLOCK / 2;
        let bytes = vec![b'7'; length];
        let whole = digest(&bytes);
        let changed = |range: std::ops::Range<usize>| {
            let mut other = bytes.clone();
            other[range].fill(b'8');
            digest(&other)
        };
        assert_ne!(changed(0..1), whole);
        assert_ne!(changed(length - 1..length), whole);
        // As long as the distance of two blocks.
        for at in [BLOCK + 1, length / 2, length - 5 * BLOCK] {
            assert_ne!(changed(at..at + 3 * BLOCK / 2), whole, "{at}");
        }
        assert_ne!(digest(&bytes[..length - 1]), whole);
    }
}
