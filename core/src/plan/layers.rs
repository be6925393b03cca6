//! Layers: waves between the fewest global barriers.
//!
//! The layer of a wave is the number of edges on the longest path that ends in
//! it, so no plan needs fewer barriers. Inside a layer ids ascend, whatever the
//! order of the dependency list. A list that is already in program order takes
//! one pass and no adjacency; any other takes Kahn's algorithm level by level over a
//! flat adjacency. Bytes play no part here; see [`super::groups()`].

use bytemuck::TransparentWrapper;

use super::cells::{bump, counts_to_starts, read, write};
use super::csr::{Direction, Neighbours};
use crate::error::{LayerError, ScratchTooSmall};
use crate::scratch::ScratchView;
use crate::wave::{Dag, Dependency, WaveId};

/// The part of a program that decides its layers: how many waves, and their order.
///
/// Lets a caller plan layers without wave records.
#[derive(Clone, Copy, Debug)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Shape<'a> {
    /// Number of waves.
    pub waves: u64,
    /// Which wave waits for which, in any order.
    pub dependencies: &'a [Dependency],
}

impl<'a> From<&Dag<'a>> for Shape<'a> {
    fn from(dag: &Dag<'a>) -> Self {
        Self {
            waves: length(dag.waves),
            dependencies: dag.dependencies,
        }
    }
}

pub(crate) fn length<T>(slice: &[T]) -> u64 {
    u64::try_from(slice.len()).unwrap_or(u64::MAX)
}

/// Waves in layers, inside the scratch that was borrowed for them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Layers<'a> {
    order: &'a [WaveId],
    ends: &'a [u32],
}

impl<'a> Layers<'a> {
    /// All waves, layer by layer, ids ascending inside each.
    #[must_use]
    pub fn order(&self) -> &'a [WaveId] {
        self.order
    }

    /// Where each layer ends in [`Self::order`].
    #[must_use]
    pub fn ends(&self) -> &'a [u32] {
        self.ends
    }

    /// Number of layers.
    #[must_use]
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there are no waves.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// Barriers between the layers: one less than there are layers, or none.
    #[must_use]
    pub fn global_barriers(&self) -> usize {
        self.ends.len().saturating_sub(1)
    }

    /// The waves of one layer, counted from zero.
    #[must_use]
    pub fn get(&self, layer: usize) -> Option<&'a [WaveId]> {
        run(self.order, self.ends, layer)
    }

    /// The layers, first to last.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &'a [WaveId]> + Clone + use<'a> {
        let layers = *self;
        (0..self.ends.len()).map(move |layer| layers.get(layer).unwrap_or_default())
    }
}

/// One run of `items`, given where each run ends.
pub(crate) fn run<'a, T>(items: &'a [T], ends: &[u32], index: usize) -> Option<&'a [T]> {
    let end = *ends.get(index)?;
    let start = match index.checked_sub(1) {
        Some(previous) => *ends.get(previous)?,
        None => 0,
    };
    items.get(start as usize..end as usize)
}

/// Puts the waves of a program into layers.
///
/// Takes `O(W + D)` time and at most 16 bytes of scratch a wave and 4 a
/// dependency; no recursion.
///
/// # Errors
///
/// In this order: the earliest bad record of the list (`InvalidWave` before
/// `SelfDependency`), a scratch that is too small, a cycle.
///
/// ```
/// use seawall_core::plan::{layers, Dag, Dependency, Wave, WaveId};
/// use seawall_core::scratch::Scratch;
///
/// let mut scratch = Scratch::<8, 8>::new();
/// let dag = Dag {
///     waves: &[Wave::default(); 3],
///     dependencies: &[Dependency { before: 2, after: 0 }],
/// };
/// let plan = layers(&dag, &mut scratch)?;
/// assert_eq!(plan.get(0), Some(&[WaveId(1), WaveId(2)][..]));
/// assert_eq!(plan.global_barriers(), 1);
/// # Ok::<(), seawall_core::error::LayerError>(())
/// ```
pub fn layers<'s>(
    dag: &Dag<'_>,
    scratch: impl Into<ScratchView<'s>>,
) -> Result<Layers<'s>, LayerError> {
    layers_of(Shape::from(dag), scratch)
}

/// Puts waves without records into layers; otherwise as [`layers()`].
///
/// # Errors
///
/// As [`layers()`].
pub fn layers_of<'s>(
    shape: Shape<'_>,
    scratch: impl Into<ScratchView<'s>>,
) -> Result<Layers<'s>, LayerError> {
    let mut view = scratch.into();
    let fits = view.check(shape.waves, length(shape.dependencies));
    let counts = plan(shape, fits, &mut view)?;
    let ScratchView { order, ends, .. } = view;
    Ok(Layers {
        order: WaveId::wrap_slice(order.get(..counts.waves).unwrap_or_default()),
        ends: ends.get(..counts.layers).unwrap_or_default(),
    })
}

/// Checks dependency records of any width before they are narrowed to `u32`.
///
/// A reader whose ids are 64 bits wide calls this first; it reports what
/// [`layers()`] would report if its ids were as wide.
///
/// # Errors
///
/// The earliest bad record: `InvalidWave` or `SelfDependency`.
///
/// ```
/// use seawall_core::plan::check_records;
/// assert!(check_records(3, [(0, 1), (1, 2)]).is_ok());
/// assert_eq!(check_records(3, [(0, 1 << 40)]).unwrap_err().kind(), "invalid_wave");
/// ```
pub fn check_records(
    waves: u64,
    records: impl IntoIterator<Item = (u64, u64)>,
) -> Result<(), LayerError> {
    records
        .into_iter()
        .try_for_each(|(before, after)| check_record(waves, before, after))
}

#[inline(always)]
fn check_record(waves: u64, before: u64, after: u64) -> Result<(), LayerError> {
    if before >= waves || after >= waves {
        return Err(LayerError::InvalidWave {
            waves,
            before,
            after,
        });
    }
    if before == after {
        return Err(LayerError::SelfDependency { wave: before });
    }
    Ok(())
}

/// How many waves were planned, in how many layers.
#[derive(Clone, Copy)]
pub(crate) struct Counts {
    pub(crate) waves: usize,
    pub(crate) layers: usize,
}

/// Leaves the order in `order`, the layer ends in `ends`.
///
/// `fits` is what the check of all scratch buffers gave; it only counts once
/// the records have been found valid, and without room nothing is written.
pub(crate) fn plan(
    shape: Shape<'_>,
    fits: Result<(), ScratchTooSmall>,
    scratch: &mut ScratchView<'_>,
) -> Result<Counts, LayerError> {
    if let Err(small) = fits {
        check_list(shape.waves, shape.dependencies)?;
        return Err(small.into());
    }
    let waves = usize::try_from(shape.waves).unwrap_or(usize::MAX);
    let mut room = Room::of(scratch, waves);
    let layers = match room.stream(shape)? {
        Some(layers) => layers,
        None => room.release(shape.dependencies)?,
    };
    Ok(Counts {
        waves,
        layers: layers as usize,
    })
}

fn check_list(waves: u64, dependencies: &[Dependency]) -> Result<(), LayerError> {
    let check = |d: &Dependency| check_record(waves, u64::from(d.before), u64::from(d.after));
    dependencies.iter().try_for_each(check)
}

/// The scratch cut to the number of waves.
struct Room<'a> {
    waves: u32,
    order: &'a mut [u32],
    ends: &'a mut [u32],
    depth: &'a mut [u32],
    starts: &'a mut [u32],
    targets: &'a mut [u32],
}

impl<'a> Room<'a> {
    fn of(scratch: &'a mut ScratchView<'_>, waves: usize) -> Self {
        Self {
            waves: u32::try_from(waves).unwrap_or(u32::MAX),
            order: scratch.order.get_mut(..waves).unwrap_or_default(),
            ends: scratch.ends.get_mut(..waves).unwrap_or_default(),
            depth: scratch.depth.get_mut(..waves).unwrap_or_default(),
            starts: scratch.starts.get_mut(..waves).unwrap_or_default(),
            targets: scratch.targets,
        }
    }

    /// Validates the list and, if it is in program order, plans it in the same pass.
    ///
    /// In program order ids ascend along every dependency and records ascend in
    /// `after`, so whatever reaches a wave is known before the wave is used.
    fn stream(&mut self, shape: Shape<'_>) -> Result<Option<u32>, LayerError> {
        let (waves, mut open) = (self.waves, 0);
        let mut records = shape.dependencies.iter();
        let mut next = records.next();
        while let Some(&Dependency { mut before, after }) = next {
            if after < open || waves <= after {
                return leave(shape, records.len());
            }
            settle_roots(self.depth, open, after);
            let known = self.depth.get(..after as usize).unwrap_or_default();
            let mut deepest = 0;
            loop {
                let Some(depth) = known.get(before as usize) else {
                    return leave(shape, records.len());
                };
                deepest = deepest.max(*depth);
                next = records.next();
                match next {
                    Some(record) if record.after == after => before = record.before,
                    _ => break,
                }
            }
            write(self.depth, after, deepest.wrapping_add(1));
            open = after.wrapping_add(1);
        }
        settle_roots(self.depth, open, waves);
        Ok(Some(self.fill_layers()))
    }

    /// Order and layer ends, given the depth of every wave; gives the number of layers.
    fn fill_layers(&mut self) -> u32 {
        let mut deepest = 0;
        let ascending = self.depth.iter().all(|depth| {
            let below = deepest;
            deepest = *depth;
            below <= deepest
        });
        if ascending {
            self.order
                .iter_mut()
                .zip(0u32..)
                .for_each(|(slot, id)| *slot = id);
            for (end, depth) in (1u32..).zip(self.depth.iter()) {
                // The last wave of a layer leaves its mark.
                write(self.ends, *depth, end);
            }
            return self
                .depth
                .last()
                .map_or(0, |deepest| deepest.wrapping_add(1));
        }
        let layers = self.depth.iter().copied().fold(0, u32::max).wrapping_add(1);
        let counts = self.ends.get_mut(..layers as usize).unwrap_or_default();
        counts.fill(0);
        for depth in self.depth.iter() {
            bump(counts, *depth);
        }
        counts_to_starts(counts);
        // Each start moves to its end while its layer fills.
        place(self.depth, counts, self.order);
        layers
    }

    /// Layers of any list: releases waves level by level.
    fn release(&mut self, dependencies: &[Dependency]) -> Result<u32, LayerError> {
        let neighbours = Neighbours::build(
            Direction::Forward,
            dependencies,
            self.starts,
            self.targets,
            self.depth,
        );
        let mut queue = Queue {
            order: self.order,
            filled: 0,
            last: 0,
            ascending: true,
        };
        for (wave, open) in (0u32..).zip(self.depth.iter()) {
            if *open == 0 {
                queue.push(wave);
            }
        }
        let (mut begin, mut layers) = (0, 0);
        while begin < queue.filled {
            let end = queue.filled;
            write(self.ends, layers, end);
            layers = layers.wrapping_add(1);
            queue.last = 0;
            for position in begin..end {
                for target in neighbours.of(read(queue.order, position)) {
                    release_one(self.depth, *target, layers, &mut queue);
                }
            }
            begin = end;
        }
        let (filled, ascending) = (queue.filled, queue.ascending);
        if filled < self.waves {
            return Err(self.name_cycle(dependencies, filled));
        }
        if !ascending {
            self.sort_layers(layers);
        }
        Ok(layers)
    }

    /// Puts ids inside each layer in ascending order.
    fn sort_layers(&mut self, layers: u32) {
        let mut start = 0;
        for layer in 0..layers {
            write(self.starts, layer, start);
            start = read(self.ends, layer);
        }
        place(self.depth, self.starts, self.order);
    }

    /// Walks against the dependencies until a wave must repeat.
    ///
    /// Every wave that was not released has a predecessor that was not either;
    /// after as many steps as there are waves the walk is on a cycle.
    fn name_cycle(&mut self, dependencies: &[Dependency], filled: u32) -> LayerError {
        let released = u32::MAX;
        self.starts.fill(0);
        for position in 0..filled {
            let wave = read(self.order, position);
            write(self.starts, wave, released);
        }
        self.ends.fill(u32::MAX);
        for Dependency { before, after } in dependencies {
            let open = read(self.starts, *before) != released;
            if open && *before < read(self.ends, *after) {
                write(self.ends, *after, *before);
            }
        }
        let stuck = self
            .starts
            .iter()
            .position(|mark| *mark != released)
            .unwrap_or(0);
        let mut wave = u32::try_from(stuck).unwrap_or(0);
        for _ in 0..self.waves {
            wave = read(self.ends, wave);
        }
        LayerError::Cycle {
            unscheduled: u64::from(self.waves.wrapping_sub(filled)),
            wave: WaveId(self.smallest_on_cycle(wave)),
        }
    }

    /// The smallest id on the walk's cycle, so that the list's order plays no part.
    fn smallest_on_cycle(&self, on_cycle: u32) -> u32 {
        let (mut smallest, mut wave) = (on_cycle, read(self.ends, on_cycle));
        for _ in 0..self.waves {
            if wave == on_cycle {
                break;
            }
            smallest = smallest.min(wave);
            wave = read(self.ends, wave);
        }
        smallest
    }
}

/// Validates a list that turned out not to be in program order, from one record before `behind`.
#[cold]
fn leave(shape: Shape<'_>, behind: usize) -> Result<Option<u32>, LayerError> {
    let read = shape.dependencies.len().saturating_sub(behind);
    let rest = shape
        .dependencies
        .get(read.saturating_sub(1)..)
        .unwrap_or_default();
    check_list(shape.waves, rest).map(|()| None)
}

/// Settles waves that wait for nobody.
#[inline(always)]
fn settle_roots(depth: &mut [u32], from: u32, to: u32) {
    if from < to {
        depth
            .get_mut(from as usize..to as usize)
            .unwrap_or_default()
            .fill(0);
    }
}

/// Writes ids in ascending order to where their key's cursor stands.
pub(crate) fn place(keys: &[u32], cursors: &mut [u32], order: &mut [u32]) {
    for (wave, key) in (0u32..).zip(keys) {
        let slot = bump(cursors, *key);
        write(order, slot, wave);
    }
}

/// Released waves in order of release.
struct Queue<'a> {
    order: &'a mut [u32],
    filled: u32,
    last: u32,
    ascending: bool,
}

impl Queue<'_> {
    #[inline(always)]
    fn push(&mut self, wave: u32) {
        write(self.order, self.filled, wave);
        self.filled = self.filled.wrapping_add(1);
        self.ascending &= self.last <= wave;
        self.last = wave;
    }
}

/// Takes one open predecessor away; the last one leaves the layer in its place.
#[inline(always)]
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
