//! One device allocation for everything that a plan touches.
//!
//! Each wave has three regions. Frontier and scratch live while its group runs;
//! its output lives until the last group that depends on it, or to the end of
//! the plan when it is a result. Regions that are alive together never overlap,
//! dead ones are reused. Scratch counts as often as the topology holds it. This
//! module decides lifetimes and the lower bound; `sweep` and `fit` find the offsets.

mod fit;
mod sweep;

use super::cells::{IDS, copy, read, write};
use super::groups::Groups;
use super::layers::length;
use crate::error::{ArenaError, ScratchField, ScratchTooSmall};
use crate::scratch::{ArenaScratchView, split};
use crate::topology::Topology;
use crate::wave::{Dag, Wave, WaveId};

/// Alignment that suits every known device, in bytes.
pub const DEFAULT_ALIGNMENT: u64 = 256;
/// Programs of at most this many waves get a tighter layout where there is one.
pub(super) const REFINED_WAVES: usize = fit::WAVES;
/// Most waves that an arena can hold: region numbers carry two extra bits.
const MOST_WAVES: u32 = u32::MAX >> 3;

/// The outputs that live to the end of the plan.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Results<'a> {
    /// None: an output without dependents dies with its group.
    None,
    /// The outputs that no wave depends on.
    #[default]
    Sinks,
    /// Every output.
    All,
    /// The waves whose bit is set: bit `w % 32` of word `w / 32`; missing words are zero.
    Bits(&'a [u32]),
}

impl Results<'_> {
    fn keeps(self, wave: u32, is_sink: bool) -> bool {
        match self {
            Self::None => false,
            Self::Sinks => is_sink,
            Self::All => true,
            Self::Bits(words) => (read(words, wave >> 5) >> (wave & 31)) & 1 == 1,
        }
    }
}

/// Options of an arena's layout.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct ArenaOptions<'a> {
    /// Every offset and size is a multiple of this power of two.
    pub alignment_bytes: u64,
    /// The outputs that live to the end.
    pub results: Results<'a>,
    /// The topology whose scratch is reserved: [`Topology::scratch_bytes`] of each wave's scratch,
    /// 0 for a wave without scratch. `Sparse` is one copy.
    pub topology: Topology,
}

impl Default for ArenaOptions<'_> {
    fn default() -> Self {
        Self {
            alignment_bytes: DEFAULT_ALIGNMENT,
            results: Results::default(),
            topology: Topology::Sparse,
        }
    }
}

/// Offsets of a wave's regions, in bytes from the start of the arena.
///
/// A region of no bytes begins at 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Offsets {
    /// The frontier.
    pub frontier: u64,
    /// The scratch, one copy.
    pub scratch: u64,
    /// The output.
    pub output: u64,
}

/// An arena's layout, inside the scratch that was borrowed for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Arena<'a> {
    offsets: &'a [[u64; 3]],
    bytes: u64,
    lower_bound: u64,
    alignment_bytes: u64,
}

impl<'a> Arena<'a> {
    /// Size of the arena in bytes.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// The largest set of regions alive together, in aligned bytes; no arena is smaller.
    #[must_use]
    pub fn lower_bound(&self) -> u64 {
        self.lower_bound
    }

    /// The alignment of every offset.
    #[must_use]
    pub fn alignment_bytes(&self) -> u64 {
        self.alignment_bytes
    }

    /// Offsets of one wave.
    #[must_use]
    pub fn get(&self, wave: WaveId) -> Option<Offsets> {
        self.offsets.get(wave.index()).map(Offsets::from)
    }

    /// Offsets of all waves, by ascending id.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = Offsets> + Clone + use<'a> {
        self.offsets.iter().map(Offsets::from)
    }
}

impl From<&[u64; 3]> for Offsets {
    fn from(&[frontier, scratch, output]: &[u64; 3]) -> Self {
        Self {
            frontier,
            scratch,
            output,
        }
    }
}

/// Assigns every region of a plan an offset in one arena.
///
/// Takes `O((W + D) log W)` time. For programs of few waves it also searches for a
/// tighter layout, in a number of steps that is bounded by a constant.
///
/// # Errors
/// In this order: an alignment that is no power of two, groups of another
/// program, a scratch that is too small, aligned bytes of all regions together
/// beyond 64 bits.
///
/// ```
/// use seawall_core::plan::{arena, groups, ArenaOptions, Budget, Dag, Strategy, Wave, WaveId};
/// use seawall_core::scratch::{ArenaScratch, Scratch};
///
/// let wave = Wave { frontier_bytes: 100, scratch_bytes: 0, output_bytes: 300 };
/// let dag = Dag { waves: &[wave], dependencies: &[] };
/// let budget = Budget { budget_bytes: 4096, ..Budget::default() };
/// let (mut space, mut arena_room) = (Scratch::<4, 4>::new(), ArenaScratch::<4>::new());
/// let plan = groups(&dag, &budget, Strategy::InOrder, &mut space)?;
/// let layout = arena(&dag, &plan, &ArenaOptions::default(), &mut arena_room)?;
/// assert_eq!((layout.bytes(), layout.lower_bound()), (768, 768));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn arena<'s>(
    dag: &Dag<'_>,
    groups: &Groups<'_>,
    options: &ArenaOptions<'_>,
    scratch: impl Into<ArenaScratchView<'s>>,
) -> Result<Arena<'s>, ArenaError> {
    let mut view = scratch.into();
    let size = lay_out(dag, groups, options, None, &mut view)?;
    Ok(of_scratch(dag.waves.len(), options, size, view))
}

/// Bytes of a layout.
#[derive(Clone, Copy)]
pub(super) struct Size {
    pub(super) bytes: u64,
    lower_bound: u64,
}

/// The arena that [`lay_out`] left in a scratch.
pub(super) fn of_scratch<'s>(
    waves: usize,
    options: &ArenaOptions<'_>,
    size: Size,
    scratch: ArenaScratchView<'s>,
) -> Arena<'s> {
    let ArenaScratchView { offsets, .. } = scratch;
    let offsets: &'s [u64] = offsets.get(..waves.saturating_mul(3)).unwrap_or_default();
    let (offsets, _) = offsets.as_chunks::<3>();
    Arena {
        offsets,
        bytes: size.bytes,
        lower_bound: size.lower_bound,
        alignment_bytes: options.alignment_bytes,
    }
}

/// Leaves the offsets in the scratch.
///
/// With the waves in the order of their names, ties are broken by name and not by number.
pub(super) fn lay_out(
    dag: &Dag<'_>,
    groups: &Groups<'_>,
    options: &ArenaOptions<'_>,
    names: Option<&[u32]>,
    scratch: &mut ArenaScratchView<'_>,
) -> Result<Size, ArenaError> {
    check(dag, groups, options, scratch)?;
    let ArenaScratchView { words, offsets } = scratch;
    let waves = dag.waves.len();
    let offsets = offsets
        .get_mut(..waves.saturating_mul(3))
        .unwrap_or_default();
    let words = words.get_mut(..waves.saturating_mul(8)).unwrap_or_default();
    let (spans, lists) = words
        .split_at_mut_checked(waves.saturating_mul(2))
        .unwrap_or_default();
    let [first, last] = split::<u32, 2>(spans);
    fill_spans(dag, groups, options.results, first, last);
    if let Some(names) = names {
        let [by_number, _] = split::<u32, 2>(lists);
        rename(names, first, by_number);
        rename(names, last, by_number);
    }
    let regions = Regions {
        waves: dag.waves,
        names,
        topology: options.topology,
        mask: options.alignment_bytes.wrapping_sub(1),
        first,
        last,
    };
    let lower_bound = regions.largest_live_set(offsets)?;
    let [order, links] = split::<u32, 2>(lists);
    let mut space = Lists {
        order,
        links,
        offsets,
    };
    let swept = sweep::sweep(&regions, groups, &mut space);
    let bytes = if swept > lower_bound && space.order.len() <= fit::REGIONS {
        fit::refine(&regions, lower_bound, swept, &mut space)
            .unwrap_or_else(|| sweep::sweep(&regions, groups, &mut space))
    } else {
        swept
    };
    if let Some(names) = names {
        return_to_numbers(names, offsets, lists);
    }
    Ok(Size { bytes, lower_bound })
}

/// Puts the spans of waves into the order of names.
fn rename(names: &[u32], spans: &mut [u32], by_number: &mut [u32]) {
    let (by_number, _) = by_number
        .split_at_mut_checked(spans.len())
        .unwrap_or_default();
    copy(by_number, spans);
    for (name, span) in names.iter().zip(spans) {
        *span = read(by_number, *name);
    }
}

/// Reorders offsets from the order of names to that of numbers. The lists hold all of them
/// meanwhile, in two words each.
fn return_to_numbers(names: &[u32], offsets: &mut [u64], lists: &mut [u32]) {
    let (pairs, _) = lists.as_chunks_mut::<2>();
    for (pair, offset) in pairs.iter_mut().zip(offsets.iter()) {
        *pair = bytemuck::cast(*offset);
    }
    for (name, wave) in IDS.zip(names) {
        for kind in 0..=OUTPUT {
            let pair: [u32; 2] = read(pairs, slot(name, kind));
            write(offsets, slot(*wave, kind), bytemuck::cast(pair));
        }
    }
}

/// Most bytes alive at once if waves run one by one; `spans` holds their places in the line, twice.
pub(super) fn live_peak(
    dag: &Dag<'_>,
    options: &ArenaOptions<'_>,
    first: &mut [u32],
    last: &mut [u32],
    live: &mut [u64],
) -> Result<u64, ArenaError> {
    let waves = u32::try_from(dag.waves.len()).unwrap_or(u32::MAX);
    reach(dag, options.results, waves, (first, last));
    let regions = Regions {
        waves: dag.waves,
        names: None,
        topology: options.topology,
        mask: options.alignment_bytes.wrapping_sub(1),
        first,
        last,
    };
    regions.largest_live_set(live)
}

fn check(
    dag: &Dag<'_>,
    groups: &Groups<'_>,
    options: &ArenaOptions<'_>,
    scratch: &ArenaScratchView<'_>,
) -> Result<(), ArenaError> {
    let ArenaOptions {
        alignment_bytes, ..
    } = *options;
    if !alignment_bytes.is_power_of_two() {
        return Err(ArenaError::InvalidAlignment { alignment_bytes });
    }
    let (waves, planned) = (length(dag.waves), length(groups.order()));
    let foreign = |d: &crate::wave::Dependency| u64::from(d.before.max(d.after)) >= waves;
    if waves != planned || dag.dependencies.iter().any(foreign) {
        return Err(ArenaError::PlanMismatch { waves, planned });
    }
    if waves > u64::from(MOST_WAVES) {
        let (field, capacity) = (ScratchField::ArenaWords, u64::from(MOST_WAVES));
        return Err(ScratchTooSmall {
            field,
            needed: waves,
            capacity,
        }
        .into());
    }
    Ok(scratch.check(waves)?)
}

/// The group of each wave, and the last group that its output must reach.
fn fill_spans(
    dag: &Dag<'_>,
    groups: &Groups<'_>,
    results: Results<'_>,
    first: &mut [u32],
    last: &mut [u32],
) {
    let (mut begin, mut group) = (0, 0u32);
    for end in groups.ends() {
        for wave in groups
            .order()
            .get(begin as usize..*end as usize)
            .unwrap_or_default()
        {
            write(first, wave.0, group);
            write(last, wave.0, group);
        }
        (begin, group) = (*end, group.wrapping_add(1));
    }
    reach(dag, results, group, (first, last));
}

/// Extends the life of outputs to the last of `groups` groups that needs them.
fn reach(
    dag: &Dag<'_>,
    results: Results<'_>,
    groups: u32,
    (first, last): (&mut [u32], &mut [u32]),
) {
    for dependency in dag.dependencies {
        let until = read(last, dependency.before).max(read(first, dependency.after));
        write(last, dependency.before, until);
    }
    for ((wave, first), last) in IDS.zip(first).zip(last) {
        if results.keeps(wave, *first == *last) {
            *last = groups.wrapping_sub(1);
        }
    }
}

/// Sizes and lifetimes; region `3 w + k` is the `k`-th of wave `w`. Waves have the numbers of the
/// caller, or their names.
struct Regions<'a> {
    waves: &'a [Wave],
    /// The number of each wave by its name, if they have names.
    names: Option<&'a [u32]>,
    topology: Topology,
    /// Alignment less one.
    mask: u64,
    first: &'a [u32],
    last: &'a [u32],
}

/// The kind of an output among the three regions of a wave.
const OUTPUT: u32 = 2;

impl Regions<'_> {
    #[inline]
    fn wave(&self, wave: u32) -> Wave {
        match self.names {
            None => read(self.waves, wave),
            Some(names) => read(self.waves, read(names, wave)),
        }
    }

    /// Aligned bytes, `None` beyond 64 bits.
    fn aligned(&self, wave: &Wave, kind: u32) -> Option<u64> {
        let bytes = match kind {
            0 => wave.frontier_bytes,
            1 if wave.scratch_bytes == 0 => 0,
            1 => self.topology.scratch_bytes(wave.scratch_bytes)?,
            _ => wave.output_bytes,
        };
        Some(bytes.checked_add(self.mask)? & !self.mask)
    }

    /// Aligned bytes of a region whose sum has been checked.
    #[inline(never)]
    fn bytes(&self, wave: u32, kind: u32) -> u64 {
        self.aligned(&self.wave(wave), kind).unwrap_or(u64::MAX)
    }

    /// First and last group in which a region is alive.
    fn span(&self, wave: u32, kind: u32) -> (u32, u32) {
        let first = read(self.first, wave);
        (
            first,
            if kind == OUTPUT {
                read(self.last, wave)
            } else {
                first
            },
        )
    }

    /// Most aligned bytes alive in one group; checks that all regions together fit 64 bits.
    fn largest_live_set(&self, live: &mut [u64]) -> Result<u64, ArenaError> {
        live.fill(0);
        let mut all = 0u64;
        for (id, _) in IDS.zip(self.waves) {
            let wave = self.wave(id);
            for kind in 0..=OUTPUT {
                let sum = self.aligned(&wave, kind).and_then(|bytes| {
                    let (first, last) = self.span(id, kind);
                    add(live, first, bytes);
                    add(live, last.wrapping_add(1), bytes.wrapping_neg());
                    all.checked_add(bytes)
                });
                all = sum.ok_or(ArenaError::Overflow {
                    field: "arena bytes",
                })?;
            }
        }
        let changes = live.iter().take(self.waves.len());
        let alive = changes.scan(0u64, |alive, change| {
            *alive = alive.wrapping_add(*change);
            Some(*alive)
        });
        Ok(alive.max().unwrap_or(0))
    }
}

/// Adds modulo 2^64: a difference array sums to true counts again.
fn add(cells: &mut [u64], index: u32, value: u64) {
    write(cells, index, read::<u64>(cells, index).wrapping_add(value));
}

/// Working lists and offsets, one element per region; the offsets become the result.
struct Lists<'a> {
    order: &'a mut [u32],
    links: &'a mut [u32],
    offsets: &'a mut [u64],
}

/// Position at which a region's offset is kept.
fn slot(wave: u32, kind: u32) -> u32 {
    wave.wrapping_mul(3).wrapping_add(kind)
}
