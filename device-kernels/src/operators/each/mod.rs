//! Runs code of a program for each item of a domain.
//!
//! The code lies in the launch's table and was checked by the host: it names existing temporaries,
//! and its edge parts end inside of it. Lanes of a warp walk it together, some items each, so that
//! they may vote on the way; a lane whose items are left out walks along. Temporaries lie in the
//! block's shared memory, one word per item, so that lanes that help with the edges of another
//! lane's item read its values there.

mod access;
mod arms;
mod change;
mod compiled;
mod fetched;
mod fold;
mod lists;
mod rows;
mod slots;
mod steps;
mod straight;
mod sweep;
mod temps;
mod values;

use crate::collectives::context::ContextRef;
use crate::machine::Grid;
use crate::machine::memory::{Words, none_missed};
use crate::machine::shared::EACH_SLOTS;
use crate::tables::Wave;
use seawall_core::abi::code::needs;
use seawall_core::abi::control::FaultCode;
use seawall_core::abi::program::{EachRecord, NO_REGISTER};
use slots::{Words4, each as each_slot, has, mask};
use steps::Steps;
use sweep::{Place, Sweep};
use temps::TemporaryMemory;

/// Runs the code of `wave` for each item.
///
/// # Errors
/// [`FaultCode::BadRegister`] when the list is missing, [`FaultCode::NoArray`] when the
/// launch holds no edges that it asks for, [`FaultCode::BadIndex`] when it uses an index
/// out of range.
#[inline(never)]
pub fn run_each<G: Grid>(cx: ContextRef<G>, wave: Wave) -> Result<(), FaultCode> {
    let Domain {
        record,
        list,
        items,
    } = domain_of(cx, wave)?;
    let before = record.before;
    let grid = cx.grid();
    let needed = |bit: u32| record.needs & bit != 0;
    if items == 0 {
        return Ok(());
    }
    #[cfg(not(target_arch = "nvptx64"))]
    if let Some(code) = grid.compiled(record, list.is_some()) {
        return compiled::run(cx, code, (before, items, list));
    }
    Steps::hold(cx, record.first, record.instructions);
    if needed(needs::FOLDS) {
        fold::begin(cx, record.instructions);
    }
    each(cx, record.instructions, (before, items, list));
    if needed(needs::FOLDS) {
        fold::end(cx, record.instructions);
    }
    none_missed(grid)
}

/// Runs a wave by the machine code that the host linked to the kernel.
///
/// # Errors
/// As [`run_each`].
#[cfg(target_arch = "nvptx64")]
#[inline(never)]
pub fn run_linked<G: Grid>(cx: ContextRef<G>, wave: Wave) -> Result<(), FaultCode> {
    let Domain {
        record,
        list,
        items,
    } = domain_of(cx, wave)?;
    // Code without an instruction has the number of the code that follows it.
    if items == 0 || record.instructions == 0 {
        return Ok(());
    }
    compiled::run_linked(cx, record.first, (record.before, items, list))
}

/// The items of a wave.
struct Domain {
    record: EachRecord,
    /// The list that they are entries of, if they are.
    list: Option<Words>,
    /// Number of the items after those that are left out.
    items: u32,
}

/// The items of `wave`, for which the launch has every array that code asks for.
#[inline(always)]
fn domain_of<G: Grid>(cx: ContextRef<G>, wave: Wave) -> Result<Domain, FaultCode> {
    let grid = cx.grid();
    let record = EachRecord::from_parameters(wave.parameters(grid));
    let tables = cx.context().tables;
    let needed = |bit: u32| record.needs & bit != 0;
    let lacks_incoming = needed(needs::INCOMING) && !tables.has_incoming(grid);
    let lacks_weights = needed(needs::WEIGHTS) && tables.weights(grid).is_none()
        || needed(needs::INCOMING_WEIGHTS) && tables.incoming_weights(grid).is_none();
    if lacks_incoming || lacks_weights {
        return Err(FaultCode::NoArray);
    }
    let list = list_of(cx, wave)?;
    let items = match list {
        Some((_, count)) => count.min(record.items),
        None => record.items,
    };
    let list = list.map(|(list, _)| list);
    Ok(Domain {
        record,
        list,
        items: items.saturating_sub(record.before),
    })
}

/// The list of items and its length, if the domain is a list.
#[inline(always)]
fn list_of<G: Grid>(cx: ContextRef<G>, wave: Wave) -> Result<Option<(Words, u32)>, FaultCode> {
    let (tables, grid) = (cx.context().tables, cx.grid());
    let source = wave.source(grid, 0);
    if source == NO_REGISTER {
        return Ok(None);
    }
    let list = tables.register(grid, source)?;
    let count = tables.register_of(grid, wave.source(grid, 1), 1)?;
    Ok(Some((list, count.load_weak(grid, 0).min(list.len()))))
}

/// Deals the items to threads on demand, or to the lanes of warps, whose chunks go to the blocks in
/// turn. A short list is distributed over all warps. All warps of a block take equally many chunks,
/// since a block may have to meet at an item with many edges.
#[inline(always)]
fn each<G: Grid>(cx: ContextRef<G>, end: u32, (before, items, list): (u32, u32, Option<Words>)) {
    let (team, grid) = (cx.context().team, cx.grid());
    let item_at = |at: u32| list.map_or(before + at, |list| list.load_weak(grid, before + at));
    if G::WARP == 1 {
        let together = Steps::again(cx).together(end);
        return team.each_range(items, G::ITEMS, |first, last| {
            let mut at = first;
            while at < last {
                let there = (1 << EACH_SLOTS.min(last - at)) - 1;
                let numbers = each_slot(|slot| {
                    if has(there, slot) {
                        item_at(at + slot as u32)
                    } else {
                        0
                    }
                });
                raise(cx, some(cx, (together, end), numbers, there));
                at += EACH_SLOTS;
            }
        });
    }
    let lanes = TemporaryMemory::of(grid).lanes;
    let warps = lanes / G::WARP * team.size();
    let chunk = items.div_ceil(warps).clamp(1, G::WARP);
    let is_used = grid.lane() < lanes && grid.warp_lane() < chunk;
    let warp = grid.lane() / G::WARP;
    let own = u64::from((warp * team.size() + team.rank()) * chunk + grid.warp_lane());
    let stride = u64::from(warps * chunk);
    let mut tile = 0_u64;
    let mut flags = 0;
    while tile < u64::from(items) {
        let at = |slot: usize| tile + stride * slot as u64 + own;
        let there = mask(|slot| is_used && at(slot) < u64::from(items));
        let numbers = each_slot(|slot| {
            if has(there, slot) {
                item_at(at(slot) as u32)
            } else {
                0
            }
        });
        flags |= item(cx, (0, end), numbers, there).1;
        tile += stride * u64::from(EACH_SLOTS);
    }
    raise(cx, flags);
}

/// Raises the loop's flag if code asks for it.
#[inline(always)]
fn raise<G: Grid>(cx: ContextRef<G>, flags: u32) {
    if flags & straight::RAISED != 0 {
        cx.tag().raise(cx.grid());
    }
}

/// Runs the code for some items of a one-lane block: the first `together` instructions for all of
/// them, the others for one after another.
#[inline(always)]
fn some<G: Grid>(cx: ContextRef<G>, (together, end): (u32, u32), items: Words4, there: u32) -> u32 {
    let (mut left, mut flags) = (there, 0);
    if together > 0 {
        (left, flags) = item(cx, (0, together), items, there);
    }
    let rest = (together, end);
    while together < end && left != 0 {
        let slot = left.trailing_zeros();
        left &= left - 1;
        // The first slot takes the least time.
        let own = [items[slot as usize % slots::SLOTS], 0, 0, 0];
        flags |= item(cx, rest, own, 1).1;
    }
    flags
}

/// Runs the code for items, or walks along with other lanes where there is none. Returns the slots
/// that are still in, and flags.
#[inline(always)]
fn item<G: Grid>(
    cx: ContextRef<G>,
    (first, end): (u32, u32),
    items: Words4,
    there: u32,
) -> (u32, u32) {
    let (mut at, mut active, mut flags) = (first, there, 0);
    while at < end {
        let sweep = Sweep {
            code: (at, end),
            from: items,
            to: [active; slots::SLOTS],
            step: 0,
            group: 0,
            place: Place::ITEMS,
        };
        let (next, found) = straight::run(cx, sweep);
        active = found & straight::ACTIVE;
        flags |= found;
        at = next;
        if at < end {
            let (next, found) = rows::run(cx, at, items, active);
            (at, flags) = (next, flags | found);
        }
    }
    (active, flags)
}
