//! The bytes that the host writes and the kernel reads, described once.
//!
//! Everything here is `repr(C)`, a whole number of 32-bit words, free of
//! padding and checked at compile time. The layout is versioned by
//! [`VERSION`] and append-only: a new field goes to the end of its record.
//! This module holds no behaviour beyond naming words; encoding lives on the
//! host, walking on the device.

pub mod program;
pub mod code;
pub mod compiled;
pub mod components;
pub mod facts;
pub mod own;
pub mod control;
pub mod search;
pub mod work;
pub mod rank;
pub mod settle;
pub mod sweep;
pub mod sequential;
pub mod hubs;
pub mod tiles;
pub mod slices;
pub mod trace;
pub mod batch;
pub mod ring;
pub mod serve;
pub mod stream;
pub mod multi;

/// First word of an encoded launch: `SWL1` in little-endian ASCII.
pub const MAGIC: u32 = 0x314C_5753;

/// Version of every record in this module.
pub const VERSION: u32 = 7;

/// The level, distance or label of a node that no wave reached.
pub const UNREACHED: u32 = u32::MAX;

/// Asserts the size of a record in 32-bit words and that it has no stricter
/// alignment than eight bytes.
macro_rules! assert_words {
    ($record:ty, $words:expr) => {
        const _: () = {
            assert!(core::mem::size_of::<$record>() == 4 * $words);
            assert!(core::mem::align_of::<$record>() <= 8);
        };
    };
}
pub(crate) use assert_words;
