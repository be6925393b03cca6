//! Layers: waves between the fewest global barriers.
//!
//! The layer of a wave is the number of edges on the longest path that ends in
//! it, so no plan needs fewer barriers. Inside a layer ids ascend, whatever the
//! order of the dependency list. Bytes play no part here; see [`super::groups()`].
//!
//! | list | method |
//! | --- | --- |
//! | in program order | one pass without adjacency (`stream`) |
//! | long, ids ascend along every dependency | counting sort, then one pass over the waves (`sorted`) |
//! | any other | Kahn's algorithm, level by level (`release`); names a `cycle` if it ends early |

mod cycle;
mod numbers;
mod release;
mod sorted;
mod stream;

use bytemuck::TransparentWrapper;

use crate::error::{LayerError, ScratchTooSmall};
use crate::scratch::ScratchView;
use crate::wave::{Dag, Dependency, WaveId};

/// Whether code may be long where that is faster. Processors of 32 bits have little flash.
const LONG_CODE: bool = cfg!(target_pointer_width = "64");

/// The part of a program that decides its layers: the number of waves and their order.
///
/// A caller plans layers with it without wave records.
#[derive(Clone, Copy, Debug)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Shape<'a> {
    /// Number of waves.
    pub waves: u64,
    /// The dependencies, in any order.
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
///
/// ```
/// use seawall_core::plan::{layers_of, Dependency, Shape, WaveId};
/// use seawall_core::scratch::Scratch;
///
/// let dependencies = [Dependency { before: 0, after: 2 }, Dependency { before: 1, after: 2 }];
/// let mut scratch = Scratch::<3, 2>::new();
/// let plan = layers_of(Shape { waves: 3, dependencies: &dependencies }, &mut scratch)?;
/// assert_eq!((plan.len(), plan.global_barriers(), plan.ends()), (2, 1, &[2, 3][..]));
/// assert_eq!(plan.order(), [WaveId(0), WaveId(1), WaveId(2)]);
/// assert_eq!(plan.iter().last(), Some(&[WaveId(2)][..]));
/// # Ok::<(), seawall_core::error::LayerError>(())
/// ```
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

    /// End of each layer in [`Self::order`].
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
/// Takes `O(W + D)` time and at most 16 bytes of scratch per wave and 4 per
/// dependency; no recursion.
///
/// # Errors
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

/// Number of planned waves and of their layers.
#[derive(Clone, Copy)]
pub(crate) struct Counts {
    pub(crate) waves: usize,
    pub(crate) layers: usize,
}

/// Leaves the order in `order`, the layer ends in `ends`.
///
/// `fits` is the result of checking all scratch buffers. Bad records are reported
/// before it, and without space nothing is written. The scratch is cut to the size of
/// the program.
pub(crate) fn plan(
    shape: Shape<'_>,
    fits: Result<(), ScratchTooSmall>,
    scratch: &mut ScratchView<'_>,
) -> Result<Counts, LayerError> {
    if fits.is_err() {
        return refuse(shape, fits, scratch, Stuck { released: 0 });
    }
    let waves = usize::try_from(shape.waves).unwrap_or(usize::MAX);
    scratch.cut(waves, shape.dependencies.len());
    let layers = match number(shape.dependencies, scratch) {
        Some(()) => numbers::list_layers(scratch),
        None => match release::plan(shape.dependencies, scratch) {
            Ok(layers) => layers,
            Err(stuck) => return refuse(shape, fits, scratch, stuck),
        },
    };
    Ok(Counts {
        waves,
        layers: layers as usize,
    })
}

/// Numbers waves by one of the faster methods, which require ascending ids.
///
/// Returns `None` where code must be short, since `release` plans every list.
fn number(dependencies: &[Dependency], scratch: &mut ScratchView<'_>) -> Option<()> {
    if !LONG_CODE {
        return None;
    }
    stream::number(dependencies, scratch).or_else(|| sorted::number(dependencies, scratch))
}

/// A release that did not reach all waves.
struct Stuck {
    released: u32,
}

/// Returns the reason why there is no plan: a bad record, too little space, else a cycle.
///
/// The return type is the planner's, so that errors are not copied.
#[cold]
#[inline(never)]
fn refuse(
    shape: Shape<'_>,
    fits: Result<(), ScratchTooSmall>,
    scratch: &mut ScratchView<'_>,
    stuck: Stuck,
) -> Result<Counts, LayerError> {
    let Shape {
        waves,
        dependencies,
    } = shape;
    for Dependency { before, after } in dependencies {
        check_record(waves, u64::from(*before), u64::from(*after))?;
    }
    fits?;
    Err(cycle::name(scratch, dependencies, stuck.released))
}
