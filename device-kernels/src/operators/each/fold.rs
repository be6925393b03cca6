//! Result of all items of a wave: each lane keeps a part, and warps join theirs to the
//! register once, at the end.

use super::change;
use super::fetched::{B, Fetched};
use super::steps::Steps;
use super::temps::{TemporaryMemory, Temps, Values};
use super::values;
use crate::collectives::context::ContextRef;
use crate::machine::Grid;
use seawall_core::abi::code::{Joined, Kind, Op};

/// Sets each lane's partial results to the neutral value.
#[inline(never)]
pub(super) fn begin<G: Grid>(cx: ContextRef<G>, end: u32) {
    each_fold(cx, end, |temps, at, joined| {
        temps.set(at.byte(B), Values::all(joined.identity()));
    });
}

/// Joins the lanes' partial results to the registers. A warp operation.
#[inline(never)]
pub(super) fn end<G: Grid>(cx: ContextRef<G>, end: u32) {
    let grid = cx.grid();
    each_fold(cx, end, |temps, at, joined| {
        let own = temps.own_values(at.byte(B)).join(joined);
        let all = join_lanes(grid, joined, own, G::WARP);
        if grid.warp_lane() != 0 || all == joined.identity() {
            return;
        }
        let to = Steps::again(cx).register(at).words;
        change::change(grid, to, joined, all);
    });
}

#[inline(always)]
fn each_fold<G: Grid>(
    cx: ContextRef<G>,
    end: u32,
    mut visit: impl FnMut(Temps<G>, Fetched, Joined),
) {
    let (grid, steps) = (cx.grid(), Steps::again(cx));
    let space = TemporaryMemory::of(grid);
    if grid.lane() >= space.lanes {
        return;
    }
    for number in 0..end {
        let at = steps.fetch(number);
        if at.op != Op::Fold as u32 {
            continue;
        }
        if let Some(joined) = at.joined() {
            visit(space.of_lane(grid, grid.lane()), at, joined);
        }
    }
}

/// Joins the `value`s of each group of `lanes` lanes, a power of two. All lanes of the warp take
/// part.
#[inline(always)]
pub(super) fn join_lanes<G: Grid>(grid: G, joined: Joined, value: u64, lanes: u32) -> u64 {
    let mut all = value;
    let mut delta = lanes / 2;
    while delta > 0 {
        let from = grid.warp_lane() ^ delta;
        let low = grid.shuffle(all as u32, from);
        let high = if joined.kind == Kind::U64 {
            grid.shuffle((all >> 32) as u32, from)
        } else {
            0
        };
        all = values::join(joined, all, u64::from(low) | u64::from(high) << 32);
        delta /= 2;
    }
    all
}
