//! Copies of an array that devices joined values to, each its own: made one again.
//!
//! Each device joins a part of the values and writes it to all copies, so that no two devices write
//! one word. Work is that of reading and writing a part of each copy once: O(n) for n values in all.

use crate::machine::Grid;
use crate::machine::memory::{Proven, word_of};
use seawall_core::abi::VERSION;
use seawall_core::abi::code::{Join, Joined, Kind};
use seawall_core::abi::multi::{DEVICES_MAX, JOIN_MAGIC, JoinRecord};

const RECORD_WORDS: u32 = (size_of::<JoinRecord>() / 4) as u32;

/// A record with its memory.
#[derive(Clone, Copy, Debug)]
pub struct Copies {
    record: Proven,
}

impl Copies {
    /// The part that `record` describes.
    ///
    /// # Safety
    /// `record` must point to a [`JoinRecord`] whose addresses are valid on the machine that runs this
    /// for its values, until the kernel has ended; no other device may access its part meanwhile.
    #[must_use]
    pub unsafe fn new(record: *const JoinRecord) -> Self {
        // SAFETY: the record is valid, by this function's contract.
        let record = unsafe { Proven::trusted(record.cast_mut().cast(), RECORD_WORDS) };
        Self { record }
    }

    fn word<G: Grid>(self, grid: G, at: u32) -> u32 {
        self.record.constant(grid, at)
    }

    /// The array of `words` words of which the address is word `at` of the record.
    fn array<G: Grid>(self, grid: G, at: u32, words: u32) -> Proven {
        let address = self.record.constant_wide(grid, at);
        // SAFETY: `new` promises this many values.
        unsafe { Proven::trusted(address as *mut u32, words) }
    }
}

/// Joins a part of all copies. Every lane of its grid calls this; a record of another version is
/// left alone.
#[inline(always)]
pub fn join<G: Grid>(grid: G, copies: Copies) {
    let word = |at| copies.word(grid, at);
    let is_current = word(word_of!(JoinRecord, magic)) == JOIN_MAGIC
        && word(word_of!(JoinRecord, version)) == VERSION;
    let count = word(word_of!(JoinRecord, copies));
    let joined = Joined::from_word(word(word_of!(JoinRecord, joined)));
    let Some(joined) = joined.filter(|_| is_current && count <= DEVICES_MAX as u32) else {
        return;
    };
    let [first, end] =
        [word_of!(JoinRecord, first), word_of!(JoinRecord, end)].map(|at| u64::from(word(at)));
    let width = joined.kind.words();
    let is_wide = width == 2;
    let load = |array: Proven, at: u32| match is_wide {
        true => array.load_weak_wide(grid, 2 * at),
        false => array.load_weak(grid, at).into(),
    };
    let copy =
        |at: u32, words: u32| copies.array(grid, word_of!(JoinRecord, values) + 2 * at, words);
    let needs_before = joined.needs_before();
    let step = u64::from(grid.blocks()) * u64::from(grid.lanes());
    let mut at = first + u64::from(grid.block()) * u64::from(grid.lanes()) + u64::from(grid.lane());
    while at < end {
        let (value, words) = (at as u32, width * end as u32);
        let before = match needs_before {
            true => {
                let from = (at - first) as u32;
                let part = width * (end - first) as u32;
                load(copies.array(grid, word_of!(JoinRecord, before), part), from)
            }
            false => 0,
        };
        let mut all = load(copy(0, words), value);
        for other in 1..count {
            all = joined_copies(joined, all, load(copy(other, words), value), before);
        }
        for to in 0..count {
            match is_wide {
                true => copy(to, words).store_weak_wide(grid, 2 * value, all),
                false => copy(to, words).store_weak(grid, value, all as u32),
            }
        }
        at += step;
    }
}

/// The value that both `a` and `b` were joined to, each in its own copy of `before`, which counts
/// where [`Joined::needs_before`] says so.
#[must_use]
#[inline(always)]
pub fn joined_copies(Joined { how, kind }: Joined, a: u64, b: u64, before: u64) -> u64 {
    let (signed_a, signed_b) = (a as u32 as i32, b as u32 as i32);
    let float = |word: u64| f32::from_bits(word as u32);
    let takes_b = match (how, kind) {
        (Join::Sum, Kind::U64) => return a.wrapping_add(b).wrapping_sub(before),
        (Join::Sum, _) => {
            let sum = (a as u32).wrapping_add(b as u32);
            return sum.wrapping_sub(before as u32).into();
        }
        (Join::Or, _) => return a | b,
        (Join::And, _) => return a & b,
        (Join::Any, _) => a == before,
        (Join::Min, Kind::U32 | Kind::U64) => b < a,
        (Join::Min, Kind::I32) => signed_b < signed_a,
        (Join::Min, Kind::F32) => float(b) < float(a),
        (Join::Max, Kind::U32 | Kind::U64) => b > a,
        (Join::Max, Kind::I32) => signed_b > signed_a,
        (Join::Max, Kind::F32) => float(b) > float(a),
    };
    if takes_b { b } else { a }
}
