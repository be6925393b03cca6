//! Runs the machine code that the host made of a wave, in place of the interpreter.

use crate::context::ContextRef;
use crate::grid::Grid;
use crate::memory::{Words, none_missed, note_missed};
use crate::tables::Tables;
use seawall_core::abi::compiled::{EachCall, EachCode};
use seawall_core::abi::control::FaultCode;

/// Calls `code` for the items, dealt to threads as the interpreter's are.
///
/// # Errors
/// [`FaultCode::BadIndex`] when it uses an index out of range.
#[inline(never)]
pub(super) fn run<G: Grid>(
    cx: ContextRef<G>,
    code: EachCode,
    (items, list): (u32, Option<Words>),
) -> Result<(), FaultCode> {
    let (grid, team) = (cx.grid(), cx.context().team);
    let mut call = EachCall {
        list: list.map_or(0, Words::address),
        ..call_of(grid, cx.context().tables)
    };
    team.each_range(items, G::ITEMS, |first, last| {
        // SAFETY: the host made the code for these tables, whose addresses the launch promises to
        // be valid. It checks indices, and the items are below the length of the list.
        unsafe { code(&raw mut call, first, last) };
    });
    if call.raised != 0 {
        cx.tag().raise(grid);
    }
    if call.misses != 0 {
        note_missed(grid, call.missed, call.missed_len);
    }
    none_missed(grid)
}

/// The arrays of a launch.
#[inline(always)]
fn call_of<G: Grid>(grid: G, tables: Tables) -> EachCall {
    let weights = |found: Option<crate::memory::Proven>| found.map_or(0, |found| found.address());
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
