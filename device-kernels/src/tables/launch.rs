//! The launch record in the device's memory, and its way into shared memory.

use super::control::Control;
use crate::machine::Grid;
use crate::machine::memory::{Proven, word_of};
use crate::machine::shared::{
    Area, GROUPS, GROUPS_HELD, LAUNCH, REGISTERS, REGISTERS_HELD, WAVES, WAVES_HELD,
};
use crate::tables::{GROUP_WORDS, LAUNCH_WORDS, REGISTER_WORDS, Tables, WAVE_WORDS};
use seawall_core::abi::program::LaunchRecord;
use seawall_core::abi::{MAGIC, VERSION};

/// A launch record and the tables that it points to.
#[derive(Clone, Copy, Debug)]
pub struct Launch {
    record: Proven,
    arena_shift: u64,
}

impl Launch {
    /// Returns the launch that `record` describes.
    ///
    /// # Safety
    /// `record` must point to a [`LaunchRecord`] whose addresses are valid for the
    /// lengths beside them, on the machine that runs this, for the whole run; nothing
    /// else may access them meanwhile.
    #[must_use]
    pub unsafe fn new(record: *const LaunchRecord) -> Self {
        // SAFETY: the record is valid, by this function's contract.
        let record = unsafe { Proven::trusted(record.cast_mut().cast(), LAUNCH_WORDS) };
        Self {
            record,
            arena_shift: 0,
        }
    }

    /// Returns the same launch with its arena `bytes` bytes further on, where this block's own
    /// arena begins.
    #[must_use]
    pub fn with_arena_shifted(self, bytes: u64) -> Self {
        Self {
            arena_shift: bytes,
            ..self
        }
    }

    /// Whether the record is of this kernel's version.
    #[inline(always)]
    pub fn is_current<G: Grid>(self, grid: G) -> bool {
        self.record.constant(grid, word_of!(LaunchRecord, magic)) == MAGIC
            && self.record.constant(grid, word_of!(LaunchRecord, version)) == VERSION
    }

    /// Whether the tables were planned for another graph or machine than the resident ones. The
    /// record is of this kernel's version.
    #[inline(always)]
    pub fn is_stale<G: Grid>(self, grid: G) -> bool {
        let planned_for = self
            .record
            .constant_wide(grid, word_of!(LaunchRecord, planned_for));
        if planned_for == 0 {
            return false;
        }
        let resident = self
            .record
            .constant_wide(grid, word_of!(LaunchRecord, resident));
        // SAFETY: `new` promises that the address is valid.
        let resident = unsafe { Proven::trusted(resident as *mut u32, 2) };
        resident.constant_wide(grid, 0) != planned_for
    }

    /// The run's time budget in nanoseconds.
    #[inline(always)]
    pub fn time_budget_ns<G: Grid>(self, grid: G) -> u64 {
        self.record
            .constant_wide(grid, word_of!(LaunchRecord, time_budget_ns))
    }

    /// The control block.
    #[inline(always)]
    pub fn control<G: Grid>(self, grid: G) -> Control {
        // SAFETY: `new` promises that the address is valid.
        unsafe {
            Control::at(
                self.record
                    .constant_wide(grid, word_of!(LaunchRecord, control)),
            )
        }
    }

    /// Copies the record and the first entries of its tables to shared memory, where [`Tables`]
    /// finds them. A block operation; a block barrier follows before any lane reads it.
    #[inline(always)]
    pub fn hold<G: Grid>(self, grid: G) -> Tables {
        const ARENA: u32 = word_of!(LaunchRecord, arena);
        // SAFETY: the record's words in shared memory are fixed.
        unsafe { copy(grid, self.record, LAUNCH.area()) };
        let arena = self
            .record
            .constant_wide(grid, ARENA)
            .wrapping_add(self.arena_shift);
        for (at, word) in [(ARENA, arena as u32), (ARENA + 1, (arena >> 32) as u32)] {
            // The lane that copied the word also overwrites it, so the order is certain.
            if grid.lane() == at % grid.lanes() {
                // SAFETY: as above.
                unsafe { LAUNCH.area().store(grid, at, word) };
            }
        }
        let table = |address: u32, total: u32, (held, words): (usize, u32), to: Area| {
            let count = self.record.constant(grid, total).min(held as u32) * words;
            // SAFETY: `new` promises that tables are valid for their lengths.
            let table = unsafe {
                Proven::trusted(self.record.constant_wide(grid, address) as *mut u32, count)
            };
            // SAFETY: there is space for all entries.
            unsafe { copy(grid, table, to) };
        };
        table(
            word_of!(LaunchRecord, group_table),
            word_of!(LaunchRecord, groups_total),
            (GROUPS_HELD, GROUP_WORDS),
            GROUPS.area(),
        );
        table(
            word_of!(LaunchRecord, wave_table),
            word_of!(LaunchRecord, waves),
            (WAVES_HELD, WAVE_WORDS),
            WAVES.area(),
        );
        table(
            word_of!(LaunchRecord, register_table),
            word_of!(LaunchRecord, registers),
            (REGISTERS_HELD, REGISTER_WORDS),
            REGISTERS.area(),
        );
        // SAFETY: the record was copied.
        unsafe { Tables::held() }
    }
}

/// Copies `from` to the start of `to`. A block operation: lane `at % lanes` copies word
/// `at`.
///
/// # Safety
/// As [`Area::store`] for as many words.
#[inline(never)]
unsafe fn copy<G: Grid>(grid: G, from: Proven, to: Area) {
    let mut at = grid.lane();
    while at < from.len() {
        // SAFETY: by this function's contract.
        unsafe { to.store(grid, at, from.constant(grid, at)) };
        at += grid.lanes();
    }
}
