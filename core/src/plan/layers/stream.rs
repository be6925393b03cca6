//! Layers of a list in program order, in one pass and without adjacency.
//!
//! In program order ids ascend along every dependency and records ascend in `after`, so all
//! predecessors of a wave are known before the wave is used. A record that breaks this order, or
//! that names no wave, ends the pass without a result, and the general path reports the error of
//! the list, if any. The loop checks nothing beyond that.
//!
//! `depth` holds the *number* of a wave here: its layer, counted from one. `ends`
//! holds the width of each layer until all are known.

use core::cell::Cell;
use core::hint::select_unpredictable;
use core::mem::replace;

use super::LONG_CODE;
use super::numbers::ascend;
use crate::scratch::ScratchView;
use crate::wave::Dependency;

/// Records that are read between two checks of how many are left.
const TURN: usize = 8;
/// From a record to the one of the next wave, both as one integer.
const WAVE: u64 = 1 << 32;

/// Numbers the waves if the list is valid and in program order; leaves layer widths in `ends`.
#[inline(never)]
pub(super) fn number(dependencies: &[Dependency], space: &mut ScratchView<'_>) -> Option<()> {
    // The first records of an unsorted list are mostly out of order.
    let first = dependencies.iter().take(4).map(|record| &record.after);
    if LONG_CODE && !ascend(first) {
        return None;
    }
    space.ends.fill(0);
    let mut pass = Pass::new(space)?;
    let mut few = dependencies;
    if LONG_CODE {
        let (turns, rest) = dependencies.as_chunks::<TURN>();
        for turn in turns {
            pass.read_turn(turn)?;
        }
        few = rest;
    }
    pass.read_far(few)?;
    // The wave of the last record is closed in any case, so it must be one.
    let mut open = !dependencies.is_empty();
    while replace(&mut open, false) || pass.known.len() < pass.numbers.len() {
        pass.close()?;
    }
    Some(())
}

/// State of the pass, in cells, since numbers are written while the known ones are read.
struct Pass<'a> {
    /// The number of every wave, as far as it is known.
    numbers: &'a [Cell<u32>],
    /// Waves of every layer so far.
    widths: &'a mut [u32],
    /// The waves whose number is known; the next one is the wave whose records are read.
    known: &'a [Cell<u32>],
    /// Takes records of that wave, as integers, down to those of wave 0.
    offset: u64,
    /// The largest number before that wave.
    layer: usize,
}

impl<'a> Pass<'a> {
    fn new(space: &'a mut ScratchView<'_>) -> Option<Self> {
        let numbers = Cell::from_mut(&mut *space.depth).as_slice_of_cells();
        let widths = space.ends.get_mut(..numbers.len())?;
        Some(Self {
            numbers,
            widths,
            known: numbers.get(..0)?,
            offset: 0,
            layer: 0,
        })
    }

    /// Reads a turn of records with one check of the length.
    #[inline(always)]
    fn read_turn(&mut self, turn: &[Dependency; TURN]) -> Option<()> {
        for (taken, record) in turn.iter().enumerate() {
            if !self.read_near(record)? {
                return self.read_far(turn.get(taken..)?);
            }
        }
        Some(())
    }

    /// Reads a record of this wave or of the next; returns false if it is of neither.
    #[inline(always)]
    fn read_near(&mut self, record: &Dependency) -> Option<bool> {
        let ahead = self.ahead(record);
        if let Some(number) = self.known(ahead) {
            self.deepen(number);
            return Some(true);
        }
        let next = ahead.wrapping_sub(WAVE);
        if next > self.known.len() as u64 {
            return Some(false);
        }
        // Nothing changes before the record proves to be of the next wave, whose first number
        // needs no comparison. Both save instructions for every wave.
        self.close()?;
        self.layer = self.known(next)? as usize;
        Some(true)
    }

    /// Reads records of this wave or of any later one.
    #[inline(always)]
    fn read_far(&mut self, records: &[Dependency]) -> Option<()> {
        for record in records {
            self.close_before(record.after as usize)?;
            let number = self.known(self.ahead(record))?;
            self.deepen(number);
        }
        Some(())
    }

    /// Ends the records of all waves before one.
    #[inline(always)]
    fn close_before(&mut self, wave: usize) -> Option<()> {
        while self.known.len() < wave {
            self.close()?;
        }
        Some(())
    }

    /// The wave before a record of this wave; beyond all waves when the record is of another one.
    #[inline(always)]
    fn ahead(&self, record: &Dependency) -> u64 {
        let both = u64::from(record.after).wrapping_shl(32) | u64::from(record.before);
        both.wrapping_add(self.offset)
    }

    /// The number of a wave that is known.
    #[inline(always)]
    fn known(&self, ahead: u64) -> Option<u32> {
        // One comparison checks whether a record is of this wave and begins before it.
        let before = usize::try_from(ahead).ok()?;
        self.known.get(before).map(Cell::get)
    }

    /// Raises the layer without a branch, which would be mispredicted at random.
    #[inline(always)]
    fn deepen(&mut self, number: u32) {
        let number = number as usize;
        self.layer = select_unpredictable(number > self.layer, number, self.layer);
    }

    /// Ends the records of a wave.
    #[inline(always)]
    fn close(&mut self) -> Option<()> {
        let wave = self.known.len();
        let known = self.numbers.get(..=wave)?;
        let width = self.widths.get_mut(self.layer)?;
        *width = width.wrapping_add(1);
        known.get(wave)?.set((self.layer as u32).wrapping_add(1));
        (self.known, self.layer) = (known, 0);
        self.offset = self.offset.wrapping_sub(WAVE);
        Some(())
    }
}
