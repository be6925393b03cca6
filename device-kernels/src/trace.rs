//! The trace of a run, where the host wants one: times of groups, steps of searches.
//!
//! The leading block writes it at points where it has nothing to wait for. A run without a
//! trace pays for one word of shared memory that is looked at per group and per step.

pub mod records;

use records::Trace;

use crate::context::ContextRef;
use crate::grid::Grid;
use crate::tables::Wave;
use seawall_core::abi::search::DriveRecord;

/// The trace of a context, for the leading lane of the grid alone.
#[inline(always)]
fn of<G: Grid>(cx: ContextRef<G>) -> Option<Trace> {
    let context = cx.context();
    let trace = context.tables.trace(cx.grid())?;
    context.team.is_leader().then_some(trace)
}

/// Begins group `index`.
#[inline(always)]
pub(crate) fn begin_group<G: Grid>(cx: ContextRef<G>, index: u32) {
    #[cold]
    #[inline(never)]
    fn begin<G: Grid>(trace: Trace, grid: G, index: u32) {
        trace.begin_group(grid, index);
    }
    if let Some(trace) = of(cx) {
        begin(trace, cx.grid(), index);
    }
}

/// Ends group `index`, which was measured together with those after it, `groups` in all.
#[inline(always)]
pub(crate) fn end_group<G: Grid>(cx: ContextRef<G>, index: u32, groups: u32) {
    #[cold]
    #[inline(never)]
    fn end<G: Grid>(trace: Trace, grid: G, index: u32, groups: u32) {
        trace.end_group(grid, index, groups);
    }
    if let Some(trace) = of(cx) {
        end(trace, cx.grid(), index, groups);
    }
}

/// Begins the step that `drive` asks for, of the search of `wave`; ends the one
/// before.
#[inline(always)]
pub(crate) fn begin_step<G: Grid>(cx: ContextRef<G>, wave: Wave, drive: &DriveRecord) {
    #[cold]
    #[inline(never)]
    fn begin<G: Grid>(trace: Trace, grid: G, wave: Wave, drive: &DriveRecord) {
        trace.begin_step(grid, wave.number(grid), drive);
    }
    if let Some(trace) = of(cx) {
        begin(trace, cx.grid(), wave, drive);
    }
}

/// Ends the last step of a search.
#[inline(always)]
pub(crate) fn end_step<G: Grid>(cx: ContextRef<G>) {
    #[cold]
    #[inline(never)]
    fn end<G: Grid>(trace: Trace, grid: G) {
        trace.end_step(grid);
    }
    if let Some(trace) = of(cx) {
        end(trace, cx.grid());
    }
}
