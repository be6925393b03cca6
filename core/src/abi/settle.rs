//! Counters of [`Opcode::Settle`](super::program::Opcode::Settle).

/// Word that counts the ranges which blocks took.
pub const BY_BLOCKS: u32 = 0;

/// Word that counts the ranges which warps took.
pub const BY_WARPS: u32 = 1;

/// Word with the most sweeps of a range.
pub const SWEEPS: u32 = 2;

/// Words of the register.
pub const COUNTER_WORDS: u32 = 3;
