//! Layers of a list in any order: Kahn's algorithm, level by level.
//!
//! One pass over the records checks them, counts the predecessors of every wave, and threads the
//! records of each `before` into a list: `starts` holds the last record of a wave, `targets` the
//! record before each record. The successors of a wave are then read from the records themselves,
//! which takes fewer instructions than putting them side by side. If records exceed the caches,
//! each one costs a miss, and contiguous successors are faster.

use core::mem::replace;

use super::super::cells::{IDS, place, read, write};
use super::super::csr::{Direction, Neighbours};
use super::{LONG_CODE, Stuck};
use crate::scratch::ScratchView;
use crate::wave::Dependency;

/// Ends the list of a wave; no record has this number.
const NONE: u32 = u32::MAX;
/// From this many records on, 12 bytes each with their links, caches are too small for lists.
const MANY: usize = 1 << 19;
/// From this many records on, a list of several records per wave is a chain of cache misses.
const SEVERAL: usize = 1 << 16;

/// Validates the list and plans it; returns the number of layers.
pub(super) fn plan(dependencies: &[Dependency], space: &mut ScratchView<'_>) -> Result<u32, Stuck> {
    let waves = space.order.len();
    let released = if LONG_CODE && outgrow_lists(waves, dependencies.len()) {
        release_side_by_side(dependencies, space)
    } else {
        release_lists(dependencies, space)
    };
    let released = released.ok_or(Stuck { released: 0 })?;
    if (released.waves as usize) < waves {
        return Err(Stuck {
            released: released.waves,
        });
    }
    if !(LONG_CODE && released.ascending) {
        sort_layers(space, released.layers);
    }
    Ok(released.layers)
}

/// Returns whether contiguous successors are faster than lists.
fn outgrow_lists(waves: usize, records: usize) -> bool {
    let several = records >= waves.saturating_mul(3);
    records >= MANY || (records >= SEVERAL && several)
}

/// Releases along lists through the records; `None` when one is bad.
fn release_lists(dependencies: &[Dependency], space: &mut ScratchView<'_>) -> Option<Released> {
    let (starts, links) = (&mut *space.starts, &mut *space.targets);
    starts.fill(NONE);
    space.depth.fill(0);
    for ((record, link), Dependency { before, after }) in
        IDS.zip(links.iter_mut()).zip(dependencies)
    {
        let start = starts.get_mut(*before as usize)?;
        let open = space.depth.get_mut(*after as usize)?;
        if before == after {
            return None;
        }
        *link = replace(start, record);
        *open = open.wrapping_add(1);
    }
    let links = links.get(..dependencies.len())?;
    Some(release(space.depth, space.order, space.ends, |wave| List {
        record: read(starts, wave),
        links,
        dependencies,
    }))
}

/// Releases along arrays of successors; `None` when a record is bad.
#[inline(never)]
fn release_side_by_side(
    dependencies: &[Dependency],
    space: &mut ScratchView<'_>,
) -> Option<Released> {
    let neighbours = Neighbours::build(
        Direction::Forward,
        dependencies,
        space.starts,
        space.targets,
        space.depth,
    )?;
    Some(release(space.depth, space.order, space.ends, |wave| {
        neighbours.of(wave).iter().copied()
    }))
}

/// The successors of a wave, by its list of records.
struct List<'a> {
    record: u32,
    links: &'a [u32],
    dependencies: &'a [Dependency],
}

impl Iterator for List<'_> {
    type Item = u32;

    #[inline(always)]
    fn next(&mut self) -> Option<u32> {
        let record = self.record as usize;
        self.record = *self.links.get(record)?;
        Some(self.dependencies.get(record)?.after)
    }
}

/// Progress of the release of all waves.
struct Released {
    waves: u32,
    layers: u32,
    /// Whether ids ascend inside each layer.
    ascending: bool,
}

/// Releases waves layer by layer, given the predecessors of each in `depth`.
#[inline(always)]
fn release<I: Iterator<Item = u32>>(
    depth: &mut [u32],
    order: &mut [u32],
    ends: &mut [u32],
    successors: impl Fn(u32) -> I,
) -> Released {
    let mut queue = Queue {
        order,
        filled: 0,
        last: 0,
        ascending: true,
    };
    for (wave, open) in IDS.zip(depth.iter()) {
        if *open == 0 {
            write(queue.order, queue.filled, wave);
            queue.filled = queue.filled.wrapping_add(1);
        }
    }
    let (mut begin, mut layers) = (0, 0);
    while begin < queue.filled {
        let end = queue.filled;
        write(ends, layers, end);
        layers = layers.wrapping_add(1);
        queue.last = 0;
        for position in begin..end {
            for target in successors(read(queue.order, position)) {
                release_one(depth, target, layers, &mut queue);
            }
        }
        begin = end;
    }
    Released {
        waves: queue.filled,
        layers,
        ascending: queue.ascending,
    }
}

/// Puts ids inside each layer in ascending order.
fn sort_layers(space: &mut ScratchView<'_>, layers: u32) {
    let mut start = 0;
    for layer in 0..layers {
        write(space.starts, layer, start);
        start = read(space.ends, layer);
    }
    place(space.depth, space.starts, space.order);
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

/// Removes one open predecessor; the last one is replaced by the layer.
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
