//! Deals shares of work to the threads of a CPU when they ask for them.
//!
//! Threads are not equally fast: two may share a core, and other programs run too. If
//! shares were dealt in advance, all would wait for the slowest.

use core::sync::atomic::{AtomicU64, Ordering};

/// Shares of one piece of work after another. All threads of a grid go through the pieces
/// in the same order.
///
/// One word holds the piece that is being dealt and how many of its shares are gone. That
/// suffices: nobody leaves a piece before all of its shares are taken, so nothing is left
/// of a piece before the word's.
#[derive(Debug, Default)]
pub struct Dealer {
    dealt: AtomicU64,
}

impl Dealer {
    /// A dealer for one run.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            dealt: AtomicU64::new(0),
        }
    }

    /// Takes the next share of `piece` and returns its number, or [`u32::MAX`] if a later
    /// piece is being dealt. Pieces are numbered from 1 on, in the order in which every
    /// thread goes through them; numbers may wrap. A piece must not have more than 2^31
    /// shares: each thread takes one more than there are.
    #[inline]
    pub fn take(&self, piece: u32) -> u32 {
        let mut seen = self.dealt.load(Ordering::Relaxed);
        loop {
            let share = match (piece.wrapping_sub((seen >> 32) as u32)) as i32 {
                0 => seen as u32,
                1.. => 0,
                _ => return u32::MAX,
            };
            let next = u64::from(piece) << 32 | u64::from(share + 1);
            // This tells shares apart and orders nothing: barriers order the memory that
            // shares work on.
            let (ok, not) = (Ordering::Relaxed, Ordering::Relaxed);
            match self.dealt.compare_exchange_weak(seen, next, ok, not) {
                Ok(_) => return share,
                Err(other) => seen = other,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;
    use core::sync::atomic::AtomicU32;

    #[test]
    fn shares_come_in_order_and_a_left_piece_has_none() {
        let dealer = Dealer::new();
        assert_eq!([1, 1, 1].map(|piece| dealer.take(piece)), [0, 1, 2]);
        assert_eq!([2, 2].map(|piece| dealer.take(piece)), [0, 1]);
        assert_eq!(dealer.take(1), u32::MAX);
        assert_eq!(dealer.take(2), 2);
    }

    #[test]
    fn numbers_of_pieces_wrap() {
        let dealer = Dealer {
            dealt: AtomicU64::new(u64::from(u32::MAX) << 32 | 7),
        };
        assert_eq!(dealer.take(u32::MAX), 7);
        assert_eq!(dealer.take(0), 0);
        assert_eq!(dealer.take(u32::MAX), u32::MAX);
    }

    #[test]
    fn threads_take_every_share_of_every_piece_once() {
        const THREADS: usize = 4;
        const PIECES: u32 = 200;
        const SHARES: u32 = 37;
        let dealer = Dealer::new();
        let taken: std::vec::Vec<AtomicU32> =
            (0..PIECES * SHARES).map(|_| AtomicU32::new(0)).collect();
        std::thread::scope(|scope| {
            for _ in 0..THREADS {
                scope.spawn(|| {
                    for piece in 0..PIECES {
                        loop {
                            let share = dealer.take(piece + 1);
                            if share >= SHARES {
                                break;
                            }
                            let at = (piece * SHARES + share) as usize;
                            taken[at].fetch_add(1, Ordering::Relaxed);
                        }
                    }
                });
            }
        });
        assert!(taken.iter().all(|count| count.load(Ordering::Relaxed) == 1));
    }
}
