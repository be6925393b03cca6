//! Deals shares of work to the CPU threads when they ask for them.
//!
//! Threads are not equally fast: two may share a core, and other programs run too. If
//! shares were dealt in advance, all would wait for the slowest.

use super::{Heard, THREAD_GROUP_MAX, THREAD_GROUP_SMALL};
use core::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use seawall_core::protocol::{Read, Site, Write};

/// Shares of one piece of work after another. All threads of a grid go through the pieces
/// in the same order.
///
/// One word holds the number of the piece that is being dealt and the number of its shares taken.
/// That suffices: no thread leaves a piece before all of its shares are taken, so nothing is left
/// of earlier pieces.
#[derive(Debug, Default)]
pub struct Dealer {
    dealt: AtomicU64,
    /// Seats of a small thread group, then of a large one; the two count turns separately.
    seats: [[Seat; THREAD_GROUP_MAX]; 2],
    is_disbanded: AtomicBool,
}

/// The word that a thread publishes to its thread group: the operations that [`confer`] needs.
pub trait Publishes {
    /// Number of words that the thread has published.
    fn turn(&self, order: Read) -> u32;
    /// Begins a turn.
    fn set_turn(&self, turn: u32, order: Write);
    /// Reads a word of the last two turns.
    fn word(&self, place: usize) -> u64;
    /// Publishes it.
    fn set_word(&self, place: usize, word: u64);
}

/// The words of a thread for its thread group, on separate cache lines.
#[derive(Debug, Default)]
#[repr(align(128))]
struct Seat {
    /// Number of words that the thread has published.
    turn: AtomicU32,
    /// The words of the last two turns.
    words: [AtomicU64; 2],
}

impl Seat {
    const fn new() -> Self {
        Self {
            turn: AtomicU32::new(0),
            words: [const { AtomicU64::new(0) }; 2],
        }
    }
}

impl Publishes for Seat {
    #[inline(always)]
    fn turn(&self, order: Read) -> u32 {
        self.turn.load(order.ordering())
    }
    #[inline(always)]
    fn set_turn(&self, turn: u32, order: Write) {
        self.turn.store(turn, order.ordering());
    }
    #[inline(always)]
    fn word(&self, place: usize) -> u64 {
        self.words[place].load(Ordering::Relaxed)
    }
    #[inline(always)]
    fn set_word(&self, place: usize, word: u64) {
        self.words[place].store(word, Ordering::Relaxed);
    }
}

/// Publishes `word` as thread `seat` of `seats` and returns the words of all threads once each has
/// published its own. While others are missing it calls `waits` with the number of polls, and
/// returns `None` once that returns `false`.
///
/// A word is kept for two turns: a thread publishes the word after next only once all have
/// published the next one, and so have read this one. The release store of a turn pairs with the
/// acquire load of the poll.
#[inline]
pub fn confer<S: Publishes>(
    seats: &[S],
    seat: u32,
    word: u64,
    mut waits: impl FnMut(u32) -> bool,
) -> Option<Heard> {
    let own = &seats[seat as usize];
    let turn = own.turn(Read::Relaxed).wrapping_add(1);
    let place = turn as usize % 2;
    own.set_word(place, word);
    own.set_turn(turn, Write::Release(Site::Tell));
    let mut heard = Heard::default();
    for (word, seat) in heard.words.iter_mut().zip(seats) {
        let mut polls = 0_u32;
        while (seat.turn(Read::Acquire(Site::Hear)).wrapping_sub(turn) as i32) < 0 {
            polls = polls.wrapping_add(1);
            if !waits(polls) {
                return None;
            }
        }
        *word = seat.word(place);
        heard.polls = heard.polls.max(polls);
    }
    Some(heard)
}

impl Dealer {
    /// A dealer for one run.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            dealt: AtomicU64::new(0),
            seats: [const { [const { Seat::new() }; THREAD_GROUP_MAX] }; 2],
            is_disbanded: AtomicBool::new(false),
        }
    }

    /// Whether threads may form a thread group. Barriers order this and [`Dealer::disband`].
    #[inline]
    pub fn has_thread_group(&self) -> bool {
        !self.is_disbanded.load(Ordering::Relaxed)
    }

    /// Forbids thread groups for the rest of the run.
    pub fn disband(&self) {
        self.is_disbanded.store(true, Ordering::Relaxed);
    }

    /// [`confer`] of thread `seat` of a thread group of `group` threads. In a run, thread groups of
    /// up to [`THREAD_GROUP_SMALL`] threads are all of one size, and so are larger ones.
    #[inline]
    pub fn confer(
        &self,
        seat: u32,
        group: u32,
        word: u64,
        waits: impl FnMut(u32) -> bool,
    ) -> Option<Heard> {
        let seats = &self.seats[usize::from(group > THREAD_GROUP_SMALL)];
        confer(&seats[..group as usize], seat, word, waits)
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
            // This counter only distinguishes shares and orders nothing: barriers order the memory
            // that shares work on.
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
            ..Dealer::new()
        };
        assert_eq!(dealer.take(u32::MAX), 7);
        assert_eq!(dealer.take(0), 0);
        assert_eq!(dealer.take(u32::MAX), u32::MAX);
    }

    #[test]
    fn a_thread_group_gets_the_words_of_each_turn() {
        const GROUP: u32 = 3;
        const TURNS: u64 = 2000;
        let dealer = Dealer::new();
        std::thread::scope(|scope| {
            for seat in 0..GROUP {
                let dealer = &dealer;
                scope.spawn(move || {
                    for turn in 0..TURNS {
                        let wait = |_| {
                            std::thread::yield_now();
                            true
                        };
                        let word = turn << 8 | u64::from(seat);
                        let heard = dealer.confer(seat, GROUP, word, wait);
                        let published = [0, 1, 2].map(|seat| turn << 8 | seat);
                        assert!(heard.is_some_and(|heard| heard.words[..3] == published));
                    }
                });
            }
        });
    }

    #[test]
    fn a_large_thread_group_follows_a_small_one() {
        let dealer = Dealer::new();
        let met = |group: u32| {
            std::thread::scope(|scope| {
                for seat in 0..group {
                    let dealer = &dealer;
                    scope.spawn(move || {
                        let wait = |_| {
                            std::thread::yield_now();
                            true
                        };
                        let heard = dealer.confer(seat, group, seat.into(), wait);
                        assert!(heard.is_some());
                    });
                }
            });
        };
        for group in [2, 2, 6, 2, 6] {
            met(group);
        }
    }

    #[test]
    fn a_thread_that_waits_in_vain_can_stop() {
        let dealer = Dealer::new();
        assert_eq!(dealer.confer(0, 2, 7, |polls| polls < 5), None);
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
