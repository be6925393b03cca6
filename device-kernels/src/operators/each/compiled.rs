//! Runs the machine code that the host made of a wave, in place of the interpreter.

use crate::collectives::context::ContextRef;
use crate::machine::Grid;
use crate::machine::memory::{Words, none_missed, note_missed};
#[cfg(target_arch = "nvptx64")]
use crate::machine::shared;
use crate::tables::Tables;
use seawall_core::abi::compiled::EachCall;
#[cfg(not(target_arch = "nvptx64"))]
use seawall_core::abi::compiled::EachCode;
#[cfg(target_arch = "nvptx64")]
use seawall_core::abi::compiled::LINKED_WORDS;
use seawall_core::abi::control::FaultCode;

/// Calls `code` for the items, dealt to threads as the interpreter's are.
///
/// # Errors
/// [`FaultCode::BadIndex`] when it uses an index out of range.
#[cfg(not(target_arch = "nvptx64"))]
#[inline(never)]
pub(super) fn run<G: Grid>(
    cx: ContextRef<G>,
    code: EachCode,
    (before, items, list): (u32, u32, Option<Words>),
) -> Result<(), FaultCode> {
    let (grid, team) = (cx.grid(), cx.context().team);
    let mut call = EachCall {
        list: list.map_or(0, Words::address),
        ..call_of(grid, cx.context().tables)
    };
    team.each_range(items, G::ITEMS, |first, last| {
        // SAFETY: the host made the code for these tables, whose addresses the launch promises to
        // be valid. It checks indices, and the items are below the length of the list.
        unsafe { code(&raw mut call, before + first, before + last) };
    });
    report(cx, &call);
    none_missed(grid)
}

/// Stands for the function that the host writes in its place before the driver compiles the PTX: it
/// runs the code that begins at instruction `first` for a lane's share of the `items` that follow
/// the first `before`. All lanes of a block call it. See [`seawall_core::abi::compiled`]. A kernel
/// that is launched as it is traps here.
///
/// # Safety
/// The function that takes its place reads and writes where the tables say; this one only traps.
#[cfg(target_arch = "nvptx64")]
#[unsafe(no_mangle)]
#[inline(never)]
unsafe extern "C" fn seawall_each(
    call: *mut EachCall,
    first: u32,
    rank: u32,
    blocks: u32,
    before: u32,
    items: u32,
    longest_row: u32,
    scratch: u32,
) {
    // SAFETY: a trap ends the kernel. Its comment keeps the parameters in the text.
    unsafe {
        core::arch::asm!(
            "trap; // {} {} {} {} {} {} {} {}",
            in(reg64) call, in(reg32) first, in(reg32) rank, in(reg32) blocks,
            in(reg32) before, in(reg32) items, in(reg32) longest_row, in(reg32) scratch,
            options(nostack)
        );
    }
}

/// Calls the linked function of the code that begins at instruction `first`, for its items.
///
/// # Errors
/// [`FaultCode::BadIndex`] when it uses an index out of range.
#[cfg(target_arch = "nvptx64")]
#[inline(always)]
pub(super) fn run_linked<G: Grid>(
    cx: ContextRef<G>,
    first: u32,
    (before, items, list): (u32, u32, Option<Words>),
) -> Result<(), FaultCode> {
    const { assert!(shared::EACH_ITEM.first() + LINKED_WORDS <= shared::EACH_TEMPS.end()) };
    let (grid, team, tables) = (cx.grid(), cx.context().team, cx.context().tables);
    let mut call = EachCall {
        list: list.map_or(0, Words::address),
        ..call_of(grid, tables)
    };
    let scratch = grid.place(false, shared::EACH_ITEM.first());
    // SAFETY: the host made the function for these tables, whose addresses the launch promises to
    // be valid. It checks indices, the items are below the length of the list, and the block has
    // the shared memory.
    unsafe {
        seawall_each(
            &raw mut call,
            first,
            team.rank(),
            team.size(),
            before,
            items,
            tables.longest_row(grid),
            scratch,
        );
    }
    report(cx, &call);
    none_missed(grid)
}

/// Raises the loop's flag and notes an index out of range, if machine code asks for it.
#[inline(always)]
fn report<G: Grid>(cx: ContextRef<G>, call: &EachCall) {
    if call.raised != 0 {
        cx.tag().raise(cx.grid());
    }
    if call.misses != 0 {
        note_missed(cx.grid(), call.missed, call.missed_len);
    }
}

/// The arrays of a launch.
#[inline(always)]
fn call_of<G: Grid>(grid: G, tables: Tables) -> EachCall {
    let weights =
        |found: Option<crate::machine::memory::Proven>| found.map_or(0, |found| found.address());
    let [offsets, targets] = tables.outgoing(grid).arrays().map(|array| array.address());
    let [incoming_offsets, incoming_targets] =
        tables.incoming(grid).arrays().map(|array| array.address());
    let [arena, inputs] = tables.regions(grid);
    EachCall {
        arena,
        inputs,
        offsets,
        targets,
        weights: weights(tables.weights(grid)),
        incoming_offsets,
        incoming_targets,
        incoming_weights: weights(tables.incoming_weights(grid)),
        ..EachCall::default()
    }
}
