//! Order and layer ends from the number of every wave.
//!
//! The number of a wave is its layer, counted from one.

use core::mem::replace;

use super::super::cells::{IDS, place};
use crate::scratch::ScratchView;

/// Writes order and ends, given numbers in `depth` and layer widths in `ends`; returns the layers.
pub(super) fn list_layers(space: &mut ScratchView<'_>) -> u32 {
    let last = space.depth.last().copied().unwrap_or(0);
    if last as usize == space.order.len() {
        // Every wave is its own layer.
        count_from(1, space.ends);
        count_from(0, space.order);
        return last;
    }
    let (mut layers, mut end) = (0u32, 0u32);
    let starts = space.starts.get_mut(1..).unwrap_or_default();
    for (width, start) in space.ends.iter_mut().zip(starts) {
        if *width == 0 {
            break;
        }
        *start = end;
        end = end.wrapping_add(*width);
        *width = end;
        layers = layers.wrapping_add(1);
    }
    if ascend(space.depth.iter()) {
        count_from(0, space.order);
    } else {
        place(space.depth, space.starts, space.order);
    }
    layers
}

#[inline(never)]
fn count_from(first: u32, cells: &mut [u32]) {
    for (number, cell) in IDS.zip(cells) {
        *cell = first.wrapping_add(number);
    }
}

pub(super) fn ascend<'a>(mut numbers: impl Iterator<Item = &'a u32>) -> bool {
    let mut last = 0;
    numbers.all(|number| replace(&mut last, *number) <= *number)
}
