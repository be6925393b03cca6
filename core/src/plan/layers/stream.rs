//! Layers of a list in program order, in one pass and without adjacency.
//!
//! In program order ids ascend along every dependency and records ascend in
//! `after`, so whatever reaches a wave is known before the wave is used. A record
//! that breaks this order, or that names no wave, stays unread; then the pass has
//! no result, and the general path says what is wrong with the list, if anything
//! is. So the loop looks at nothing but what it needs.
//!
//! `depth` holds the *number* of a wave here: its layer, counted from one.

use super::super::cells::{IDS, place};
use crate::scratch::ScratchView;
use crate::wave::Dependency;

/// Plans the list if it is valid and in program order; gives the number of layers.
pub(super) fn plan(dependencies: &[Dependency], room: &mut ScratchView<'_>) -> Option<u32> {
    let ScratchView { depth, ends, .. } = room;
    let (depth, ends) = (&mut **depth, &mut **ends);
    ends.fill(0);
    let (mut records, mut number) = (dependencies, 0u32);
    for wave in 0..depth.len() {
        let known = depth.get(..wave)?;
        let layer = deepest(known, number, &mut records);
        let width = ends.get_mut(layer as usize)?;
        *width = width.wrapping_add(1);
        number = layer.wrapping_add(1);
        *depth.get_mut(wave)? = number;
    }
    // A record that is left names no wave, or comes too late or too early.
    records.is_empty().then(|| list_layers(room, number))
}

/// Reads the records of the first wave that is not known; gives the largest number before it.
///
/// `last` is the last known number: most waves wait for the one before, and taking it from here
/// is faster than from where it was just stored.
#[inline(always)]
fn deepest(known: &[u32], last: u32, records: &mut &[Dependency]) -> u32 {
    let wave = (known.len() as u64).wrapping_shl(32);
    // One comparison says whether a record is of this wave and begins before it.
    let before = |record: &Dependency| {
        let both = u64::from(record.after).wrapping_shl(32) | u64::from(record.before);
        usize::try_from(both.wrapping_sub(wave)).ok()
    };
    let behind = |record: &Dependency| known.get(before(record)?).copied();
    let Some((first, rest)) = records.split_first() else {
        return 0;
    };
    let mut layer = if before(first).is_some_and(|before| before.wrapping_add(1) == known.len()) {
        last
    } else if let Some(number) = behind(first) {
        number
    } else {
        return 0;
    };
    *records = rest;
    // Two records a turn share the bookkeeping of the loop.
    while let [first, second, rest @ ..] = *records {
        let Some(number) = behind(first) else {
            return layer;
        };
        layer = layer.max(number);
        let Some(number) = behind(second) else {
            *records = records.get(1..).unwrap_or_default();
            return layer;
        };
        layer = layer.max(number);
        *records = rest;
    }
    if let Some(number) = records.first().and_then(behind) {
        *records = &[];
        layer = layer.max(number);
    }
    layer
}

/// Order and layer ends, given the number behind every wave and the width of every layer.
fn list_layers(room: &mut ScratchView<'_>, last: u32) -> u32 {
    if last as usize == room.order.len() {
        // Every wave is a layer of its own.
        count_from(1, room.ends);
        count_from(0, room.order);
        return last;
    }
    let (mut layers, mut end) = (0u32, 0u32);
    let starts = room.starts.get_mut(1..).unwrap_or_default();
    for (width, start) in room.ends.iter_mut().zip(starts) {
        if *width == 0 {
            break;
        }
        *start = end;
        end = end.wrapping_add(*width);
        *width = end;
        layers = layers.wrapping_add(1);
    }
    let mut last = 0;
    let mut ascending = true;
    for number in room.depth.iter() {
        if *number < last {
            ascending = false;
            break;
        }
        last = *number;
    }
    if ascending {
        count_from(0, room.order);
    } else {
        place(room.depth, room.starts, room.order);
    }
    layers
}

#[inline(never)]
fn count_from(first: u32, cells: &mut [u32]) {
    for (number, cell) in IDS.zip(cells) {
        *cell = first.wrapping_add(number);
    }
}
