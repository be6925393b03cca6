//! An NVIDIA GPU as a grid.
//!
//! Scoped accesses are inline assembly: the language's atomics have system scope on this
//! target, and their orders cannot be relied on (rust-lang/rust#136480). All pointers are
//! in the global window; block-shared memory is accessed by word number only.

mod assembly;
mod intrinsics;
mod machine;

use super::{COMPACT_LANES, LANES_MAX, shared_words};
use assembly::address_of;
use core::arch::{global_asm, nvptx};

const _: () = assert!(
    shared_words(LANES_MAX) * 4 == 49152 && shared_words(COMPACT_LANES) * 4 == 8704,
    "the sizes in the assembly below"
);

global_asm!(".shared .align 16 .b8 seawall_shared[49152];");
global_asm!(".shared .align 16 .b8 seawall_shared_compact[8704];");
global_asm!(".extern .shared .align 16 .b8 seawall_extra[];");

/// The mask of a full warp.
const ALL_LANES: u32 = u32::MAX;

/// A lane of the running kernel, in a block of at most `LANES` lanes:
/// [`LANES_MAX`] or [`COMPACT_LANES`].
#[derive(Clone, Copy)]
pub struct Lane<const LANES: u32>;

/// A lane of a block of any size.
pub type Device = Lane<LANES_MAX>;

/// A lane of a small block.
pub type CompactDevice = Lane<COMPACT_LANES>;

/// Address of word `at` of the shared memory that a launch requested.
#[inline(always)]
fn extra_address(at: u32) -> u32 {
    address_of!("seawall_extra") + at * 4
}

impl<const LANES: u32> Lane<LANES> {
    #[inline(always)]
    fn shared_address(at: u32) -> u32 {
        const { assert!(LANES == LANES_MAX || LANES == COMPACT_LANES) };
        let base = if LANES == COMPACT_LANES {
            address_of!("seawall_shared_compact")
        } else {
            address_of!("seawall_shared")
        };
        base + at * 4
    }
}

/// Ends the kernel; code on a GPU cannot unwind.
pub fn trap() -> ! {
    // SAFETY: `trap` ends the kernel and reports to the host.
    unsafe { nvptx::trap() }
}
