//! Pieces of a batch's memory, which threads fill one by one.

use super::place::table;
use std::ops::Range;

/// Bytes of the memory, from byte `start` of it on.
pub(super) struct Piece<'b> {
    pub(super) start: u64,
    pub(super) bytes: &'b mut [u8],
}

impl Piece<'_> {
    /// The place of these bytes.
    pub(super) const fn range(&self) -> Range<u64> {
        self.start..self.start + self.bytes.len() as u64
    }

    /// Copies the part that lies here of `records`, which begin at byte `at` of the memory.
    pub(super) fn put<T: bytemuck::NoUninit>(&mut self, at: u64, records: &[T]) {
        let source: &[u8] = bytemuck::cast_slice(records);
        let whole = at..at + source.len() as u64;
        if let Some((here, there)) = common(&self.range(), &whole) {
            self.bytes[here].copy_from_slice(&source[there]);
        }
    }

    /// Numbers of the records that have a part here, of `count` in a table at byte `at`.
    pub(super) fn records<T>(&self, at: u64, count: usize) -> Range<usize> {
        let Range { start, end } = self.range();
        let bytes = table::<T>(1);
        let first = start.saturating_sub(at) / bytes;
        let end = end.saturating_sub(at).div_ceil(bytes);
        (first as usize).min(count)..(end as usize).min(count)
    }
}

/// Returns where the common bytes of two parts of the memory lie within each of them.
pub(super) fn common(
    left: &Range<u64>,
    right: &Range<u64>,
) -> Option<(Range<usize>, Range<usize>)> {
    let (start, end) = (left.start.max(right.start), left.end.min(right.end));
    let within = |part: &Range<u64>| (start - part.start) as usize..(end - part.start) as usize;
    (start < end).then(|| (within(left), within(right)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_arrive_whole_whatever_the_pieces() {
        let records = [0x0403_0201_u32, 0x0807_0605, 0x0c0b_0a09];
        for size in 1..20 {
            let mut memory = [0_u8; 20];
            for (start, bytes) in (0..).step_by(size).zip(memory.chunks_mut(size)) {
                let mut piece = Piece {
                    start: start as u64,
                    bytes,
                };
                for at in piece.records::<u32>(5, records.len()) {
                    piece.put(5 + 4 * at as u64, &records[at..=at]);
                }
            }
            assert_eq!(memory[..5], [0; 5], "{size}");
            let expected: Vec<u8> = (1..=12).collect();
            assert_eq!(memory[5..17], expected, "{size}");
            assert_eq!(memory[17..], [0; 3], "{size}");
        }
    }

    #[test]
    fn a_piece_knows_the_records_that_it_shares() {
        let mut bytes = [0; 8];
        let mut records = |start, at| {
            let bytes = &mut bytes[..];
            Piece { start, bytes }.records::<u32>(at, 3)
        };
        assert_eq!(records(0, 0), 0..2);
        assert_eq!(records(3, 0), 0..3);
        assert_eq!(records(4, 6), 0..2);
        assert!(records(0, 8).is_empty() && records(50, 8).is_empty());
    }
}
