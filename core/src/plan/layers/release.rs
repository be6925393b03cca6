//! Layers of a list in any order: Kahn's algorithm, level by level.

use super::super::cells::{IDS, place, read, write};
use super::super::csr::{Direction, Neighbours};
use super::{Shape, check_list, cycle};
use crate::error::LayerError;
use crate::scratch::ScratchView;

/// Validates the list and plans it.
pub(super) fn plan(shape: Shape<'_>, room: &mut ScratchView<'_>) -> Result<u32, LayerError> {
    let Shape {
        waves,
        dependencies,
    } = shape;
    let neighbours = Neighbours::build(
        Direction::Forward,
        dependencies,
        room.starts,
        room.targets,
        room.depth,
    );
    let Some(neighbours) = neighbours else {
        check_list(waves, dependencies)?;
        return Ok(0);
    };
    let mut queue = Queue {
        order: room.order,
        filled: 0,
        last: 0,
        ascending: true,
    };
    for (wave, open) in IDS.zip(room.depth.iter()) {
        if *open == 0 {
            queue.push(wave);
        }
    }
    let (mut begin, mut layers) = (0, 0);
    while begin < queue.filled {
        let end = queue.filled;
        write(room.ends, layers, end);
        layers = layers.wrapping_add(1);
        queue.last = 0;
        for position in begin..end {
            for target in neighbours.of(read(queue.order, position)) {
                release_one(room.depth, *target, layers, &mut queue);
            }
        }
        begin = end;
    }
    let (filled, ascending) = (queue.filled, queue.ascending);
    if u64::from(filled) < waves {
        return Err(cycle::name(room, dependencies, filled));
    }
    if !ascending {
        sort_layers(room, layers);
    }
    Ok(layers)
}

/// Puts ids inside each layer in ascending order.
fn sort_layers(room: &mut ScratchView<'_>, layers: u32) {
    let mut start = 0;
    for layer in 0..layers {
        write(room.starts, layer, start);
        start = read(room.ends, layer);
    }
    place(room.depth, room.starts, room.order);
}

/// Released waves in order of release.
struct Queue<'a> {
    order: &'a mut [u32],
    filled: u32,
    last: u32,
    ascending: bool,
}

impl Queue<'_> {
    #[inline]
    fn push(&mut self, wave: u32) {
        write(self.order, self.filled, wave);
        self.filled = self.filled.wrapping_add(1);
        self.ascending &= self.last <= wave;
        self.last = wave;
    }
}

/// Takes one open predecessor away; the last one leaves the layer in its place.
#[inline]
fn release_one(depth: &mut [u32], target: u32, layer: u32, queue: &mut Queue<'_>) {
    let Some(open) = depth.get_mut(target as usize) else {
        return;
    };
    *open = open.wrapping_sub(1);
    if *open == 0 {
        *open = layer;
        queue.push(target);
    }
}
