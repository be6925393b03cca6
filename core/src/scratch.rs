//! Working memory that the caller owns.
//!
//! The caller brings an owner with capacities in its type, whose `new` is `const` so that it fits
//! in a `static`, or a view over slices, for millions of waves. Planners take the same unsized view
//! of both, so no planner is compiled once per capacity. A user of layers alone needs only
//! [`Scratch`]; packing and arenas have separate scratch.
//!
//! Results borrow the scratch. No content matters between two calls: a scratch is
//! reusable after success and after any error.

/// Makes empty space the default of its owner, and the owner a source of views.
macro_rules! owner {
    ($owner:ident<$($size:ident),*> => $view:ident) => {
        impl<$(const $size: usize),*> Default for $owner<$($size),*> {
            fn default() -> Self {
                Self::new()
            }
        }

        impl<'a, $(const $size: usize),*> From<&'a mut $owner<$($size),*>> for $view<'a> {
            fn from(scratch: &'a mut $owner<$($size),*>) -> Self {
                scratch.view()
            }
        }
    };
}

mod devices;
mod execution;

pub use devices::{DevicesScratch, DevicesScratchView};
pub use execution::{ExecutionScratch, ExecutionScratchView};

use crate::error::{ScratchField, ScratchTooSmall};

/// `u32` words per wave that layers need.
pub const LAYER_WORDS: usize = 4;
/// `u32` words per wave that packing needs beside the layers.
pub const PACK_WORDS: usize = 4;
/// `u64` words per wave that packing needs.
pub const PACK_BYTES: usize = 2;
/// `u32` words per wave that an arena needs.
pub const ARENA_WORDS: usize = 8;
/// `u64` words per wave that an arena needs.
pub const ARENA_OFFSETS: usize = 3;
/// `u32` words per wave that a plan for several devices needs beside its execution.
pub const DEVICES_WORDS: usize = 4;

const _: () = {
    // 16 bytes per wave is the promise made to microcontrollers.
    assert!(LAYER_WORDS * size_of::<u32>() <= 16);
    // Ids are u32 and become slice positions without a check.
    assert!(size_of::<usize>() >= size_of::<u32>());
};

/// Space to plan the layers of at most `W` waves and `D` dependencies.
///
/// Takes `16 W + 4 D` bytes. `InOrder` groups fit in it as well.
///
/// ```
/// use seawall_core::scratch::Scratch;
/// static ROOM: Scratch<64, 128> = Scratch::new();
/// assert_eq!(size_of_val(&ROOM), 16 * 64 + 4 * 128);
/// ```
#[derive(Clone, Debug)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Scratch<const W: usize, const D: usize> {
    waves: [[u32; W]; LAYER_WORDS],
    dependencies: [u32; D],
}

impl<const W: usize, const D: usize> Scratch<W, D> {
    /// Zeroed space, usable in a `static`.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            waves: [[0; W]; LAYER_WORDS],
            dependencies: [0; D],
        }
    }

    /// The unsized view that planners take.
    pub fn view(&mut self) -> ScratchView<'_> {
        ScratchView::from_parts(
            self.waves.each_mut().map(AsMut::as_mut),
            &mut self.dependencies,
        )
    }
}

owner! { Scratch<W, D> => ScratchView }

/// Layer scratch over slices of any length.
#[derive(Debug)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct ScratchView<'a> {
    /// Result: waves in the order of their layers.
    pub(crate) order: &'a mut [u32],
    /// Result: end of each layer in `order`.
    pub(crate) ends: &'a mut [u32],
    /// Open predecessors of a wave, then its layer.
    pub(crate) depth: &'a mut [u32],
    /// Position of each wave's successors in `targets`.
    pub(crate) starts: &'a mut [u32],
    /// Previous record of the same wave for each record, or the successors of all waves in turn.
    pub(crate) targets: &'a mut [u32],
}

impl<'a> ScratchView<'a> {
    /// A view over `waves`, four elements per wave, and `dependencies`, one element each.
    ///
    /// [`crate::plan::Requirements::for_dag`] returns both lengths.
    ///
    /// ```
    /// use seawall_core::scratch::ScratchView;
    /// let mut waves = vec![0; 4 * 1000];
    /// let mut dependencies = vec![0; 3000];
    /// let view = ScratchView::new(&mut waves, &mut dependencies);
    /// assert_eq!((view.waves(), view.dependencies()), (1000, 3000));
    /// ```
    #[must_use]
    pub fn new(waves: &'a mut [u32], dependencies: &'a mut [u32]) -> Self {
        Self::from_parts(split(waves), dependencies)
    }

    fn from_parts(parts: [&'a mut [u32]; LAYER_WORDS], targets: &'a mut [u32]) -> Self {
        let [order, ends, depth, starts] = parts;
        Self {
            order,
            ends,
            depth,
            starts,
            targets,
        }
    }

    /// Number of waves that fit.
    #[must_use]
    pub fn waves(&self) -> usize {
        self.order.len()
    }

    /// Number of dependencies that fit.
    #[must_use]
    pub fn dependencies(&self) -> usize {
        self.targets.len()
    }

    /// The same space for a shorter time.
    pub fn reborrow(&mut self) -> ScratchView<'_> {
        ScratchView {
            order: self.order,
            ends: self.ends,
            depth: self.depth,
            starts: self.starts,
            targets: self.targets,
        }
    }

    /// Shortens checked buffers to the size of a program.
    pub(crate) fn cut(&mut self, waves: usize, dependencies: usize) {
        cut(&mut self.order, waves);
        cut(&mut self.ends, waves);
        cut(&mut self.depth, waves);
        cut(&mut self.starts, waves);
        cut(&mut self.targets, dependencies);
    }

    pub(crate) fn check(&self, waves: u64, dependencies: u64) -> Result<(), ScratchTooSmall> {
        require(ScratchField::Waves, waves, self.waves())?;
        require(
            ScratchField::Dependencies,
            dependencies,
            self.dependencies(),
        )
    }
}

impl<'a> From<&'a mut ScratchView<'_>> for ScratchView<'a> {
    fn from(view: &'a mut ScratchView<'_>) -> Self {
        view.reborrow()
    }
}

/// Space to plan groups by either strategy.
///
/// Takes `48 W + 4 D` bytes; a [`Scratch`] is enough for `InOrder`.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct GroupScratch<const W: usize, const D: usize> {
    layers: Scratch<W, D>,
    words: [[u32; W]; PACK_WORDS],
    bytes: [[u64; W]; PACK_BYTES],
}

impl<const W: usize, const D: usize> GroupScratch<W, D> {
    /// Zeroed space, usable in a `static`.
    #[must_use]
    pub const fn new() -> Self {
        let words = [[0; W]; PACK_WORDS];
        Self {
            layers: Scratch::new(),
            words,
            bytes: [[0; W]; PACK_BYTES],
        }
    }

    /// The unsized view that planners take.
    pub fn view(&mut self) -> GroupScratchView<'_> {
        let layers = self.layers.view();
        GroupScratchView::new(
            layers,
            self.words.as_flattened_mut(),
            self.bytes.as_flattened_mut(),
        )
    }
}

owner! { GroupScratch<W, D> => GroupScratchView }

/// Group scratch over slices of any length.
#[derive(Debug)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct GroupScratchView<'a> {
    pub(crate) layers: ScratchView<'a>,
    pub(crate) pack: PackView<'a>,
}

/// The part of the group scratch that only packing uses.
#[derive(Debug)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub(crate) struct PackView<'a> {
    /// Waves in descending priority.
    pub(crate) ranking: &'a mut [u32],
    /// Position of a wave in `ranking`.
    pub(crate) rank: &'a mut [u32],
    /// Waves in the order of the candidate plan.
    pub(crate) order: &'a mut [u32],
    /// Group ends of the candidate plan.
    pub(crate) ends: &'a mut [u32],
    /// Sort keys, then the tree of ready waves.
    pub(crate) bytes: &'a mut [u64],
}

impl<'a> GroupScratchView<'a> {
    /// A view over layer scratch, `words` (four per wave) and `bytes` (two per wave).
    ///
    /// [`crate::plan::Requirements::for_dag`] returns the lengths.
    #[must_use]
    pub fn new(layers: ScratchView<'a>, words: &'a mut [u32], bytes: &'a mut [u64]) -> Self {
        let [ranking, rank, order, ends] = split::<u32, PACK_WORDS>(words);
        Self {
            layers,
            pack: PackView {
                ranking,
                rank,
                order,
                ends,
                bytes,
            },
        }
    }

    /// A view without space for packing, for `InOrder` only.
    #[must_use]
    pub fn in_order(layers: ScratchView<'a>) -> Self {
        Self::new(layers, &mut [], &mut [])
    }

    /// The same space for a shorter time.
    pub fn reborrow(&mut self) -> GroupScratchView<'_> {
        let PackView {
            ranking,
            rank,
            order,
            ends,
            bytes,
        } = &mut self.pack;
        GroupScratchView {
            layers: self.layers.reborrow(),
            pack: PackView {
                ranking,
                rank,
                order,
                ends,
                bytes,
            },
        }
    }
}

impl PackView<'_> {
    /// Shortens checked buffers to the size of a program.
    pub(crate) fn cut(&mut self, waves: usize) {
        cut(&mut self.ranking, waves);
        cut(&mut self.rank, waves);
        cut(&mut self.order, waves);
        cut(&mut self.ends, waves);
        cut(&mut self.bytes, waves.saturating_mul(PACK_BYTES));
    }

    pub(crate) fn check(&self, waves: u64) -> Result<(), ScratchTooSmall> {
        require(ScratchField::PackWords, waves, self.ranking.len())?;
        let tree = self.bytes.len().checked_div(PACK_BYTES).unwrap_or(0);
        require(ScratchField::PackBytes, waves, tree)
    }
}

impl<'a, const W: usize, const D: usize> From<&'a mut Scratch<W, D>> for GroupScratchView<'a> {
    fn from(scratch: &'a mut Scratch<W, D>) -> Self {
        Self::in_order(scratch.view())
    }
}

impl<'a> From<ScratchView<'a>> for GroupScratchView<'a> {
    fn from(layers: ScratchView<'a>) -> Self {
        Self::in_order(layers)
    }
}

impl<'a> From<&'a mut GroupScratchView<'_>> for GroupScratchView<'a> {
    fn from(view: &'a mut GroupScratchView<'_>) -> Self {
        view.reborrow()
    }
}

/// Space to lay out the arena of at most `W` waves: `56 W` bytes.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct ArenaScratch<const W: usize> {
    words: [[u32; W]; ARENA_WORDS],
    offsets: [[u64; W]; ARENA_OFFSETS],
}

impl<const W: usize> ArenaScratch<W> {
    /// Zeroed space, usable in a `static`.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            words: [[0; W]; ARENA_WORDS],
            offsets: [[0; W]; ARENA_OFFSETS],
        }
    }

    /// The unsized view that the planner takes.
    pub fn view(&mut self) -> ArenaScratchView<'_> {
        let words = self.words.as_flattened_mut();
        ArenaScratchView::new(words, self.offsets.as_flattened_mut())
    }
}

owner! { ArenaScratch<W> => ArenaScratchView }

/// Arena scratch over slices of any length.
#[derive(Debug)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct ArenaScratchView<'a> {
    pub(crate) words: &'a mut [u32],
    pub(crate) offsets: &'a mut [u64],
}

impl<'a> ArenaScratchView<'a> {
    /// A view over `words` and `offsets`; [`crate::plan::Requirements::for_dag`] returns the lengths.
    #[must_use]
    pub fn new(words: &'a mut [u32], offsets: &'a mut [u64]) -> Self {
        Self { words, offsets }
    }

    pub(crate) fn check(&self, waves: u64) -> Result<(), ScratchTooSmall> {
        let words = self.words.len().checked_div(ARENA_WORDS).unwrap_or(0);
        require(ScratchField::ArenaWords, waves, words)?;
        let offsets = self.offsets.len().checked_div(ARENA_OFFSETS).unwrap_or(0);
        require(ScratchField::ArenaOffsets, waves, offsets)
    }
}

impl<'a> From<&'a mut ArenaScratchView<'_>> for ArenaScratchView<'a> {
    fn from(view: &'a mut ArenaScratchView<'_>) -> Self {
        ArenaScratchView {
            words: view.words,
            offsets: view.offsets,
        }
    }
}

/// Compares a count with a buffer, of which ids of 32 bits reach no more than `u32::MAX` entries.
fn require(field: ScratchField, needed: u64, capacity: usize) -> Result<(), ScratchTooSmall> {
    let capacity = u64::try_from(capacity)
        .unwrap_or(u64::MAX)
        .min(u64::from(u32::MAX));
    if needed > capacity {
        return Err(ScratchTooSmall {
            field,
            needed,
            capacity,
        });
    }
    Ok(())
}

#[inline(never)]
fn cut<T>(part: &mut &mut [T], length: usize) {
    let whole = core::mem::take(part);
    *part = whole.get_mut(..length).unwrap_or_default();
}

/// `N` equal parts of a buffer; the rest stays unused.
pub(crate) fn split<T, const N: usize>(buffer: &mut [T]) -> [&mut [T]; N] {
    let length = buffer.len().checked_div(N).unwrap_or(0);
    let mut rest = buffer;
    core::array::from_fn(|_| {
        let (part, tail) = core::mem::take(&mut rest)
            .split_at_mut_checked(length)
            .unwrap_or_default();
        rest = tail;
        part
    })
}
