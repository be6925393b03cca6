//! The trace of a run, where the host wants one: times of groups, steps of searches.
//!
//! The leading block writes it where it has nothing to wait for. A run without a trace pays for two
//! loads from shared memory per group on the top level and per loop. All else is in separate
//! functions, so that it takes no registers from the loops around it.

use crate::tables::trace::Trace;

use crate::algorithms::bfs::shared_drive;
use crate::collectives::context::ContextRef;
use crate::machine::Grid;
use crate::tables::Wave;

/// The trace of a context, only for the leading lane of the grid.
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
    fn begin<G: Grid>(cx: ContextRef<G>, index: u32) {
        if let Some(trace) = of(cx) {
            trace.begin_group(cx.grid(), index);
        }
    }
    if cx.is_traced() {
        begin(cx, index);
    }
}

/// Ends group `index`, which was measured together with the following ones, `groups` in total.
#[inline(always)]
pub(crate) fn end_group<G: Grid>(cx: ContextRef<G>, index: u32, groups: u32) {
    #[cold]
    #[inline(never)]
    fn end<G: Grid>(cx: ContextRef<G>, index: u32, groups: u32) {
        if let Some(trace) = of(cx) {
            trace.end_group(cx.grid(), index, groups);
        }
    }
    if cx.is_traced() {
        end(cx, index, groups);
    }
}

/// Begins the step that the search of `wave` takes now; ends the previous one.
#[inline(always)]
pub(crate) fn begin_step<G: Grid>(cx: ContextRef<G>, wave: Wave) {
    #[cold]
    #[inline(never)]
    fn begin<G: Grid>(cx: ContextRef<G>, wave: Wave) {
        if let Some(trace) = of(cx) {
            let grid = cx.grid();
            trace.begin_step(grid, wave.number(grid), &shared_drive::read(grid));
        }
    }
    if cx.is_traced() {
        begin(cx, wave);
    }
}

/// Ends the last step of a search.
#[inline(always)]
pub(crate) fn end_step<G: Grid>(cx: ContextRef<G>) {
    #[cold]
    #[inline(never)]
    fn end<G: Grid>(cx: ContextRef<G>) {
        if let Some(trace) = of(cx) {
            trace.end_step(cx.grid());
        }
    }
    if cx.is_traced() {
        end(cx);
    }
}
