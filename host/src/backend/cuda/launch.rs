//! Size and launch of a grid.
//!
//! The shape comes from the kernel's own limits and the occupancy call, never from a device's
//! name. A cooperative grid is checked here, before the launch, so that too large a grid is a
//! typed error and not a driver's.

use super::bound::Bound;
use super::cluster::{CLUSTER_MAX, Cluster};
use super::entry::Entry;
use super::error::check;
use super::module::Kernel;
use super::shape::RequestedShape;
use super::stream::Stream;
use super::{DeviceLimits, GridShape};
use crate::backend::BackendError;
use cudarc::driver::sys;
use std::ffi::c_void;

/// Lanes of a multiprocessor that the default shape fills.
const LANES_DEFAULT: u32 = 1024;
/// Lanes of a warp, and so the step of a block's size.
const WARP: u32 = 32;
/// Most 32-bit parameters of an entry.
const WORDS_MAX: usize = 3;

/// Whether all blocks of a grid must be resident at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Residency {
    /// They wait for each other.
    Cooperative,
    /// They do not.
    Free,
}

/// A kernel with its shape.
#[derive(Clone, Debug)]
pub(super) struct Grid {
    kernel: Kernel,
    shape: GridShape,
    cluster: Option<Cluster>,
    residency: Residency,
    /// Shared memory that each block requests beyond the kernel's own, bytes.
    extra: u32,
}

impl Grid {
    /// Shapes `kernel` as requested.
    ///
    /// # Errors
    /// [`BackendError::Unsupported`] for lanes that the kernel cannot have or
    /// a device without cooperative launch; [`BackendError::NotCoResident`]
    /// for more blocks than fit.
    pub(super) fn new(
        kernel: Kernel,
        asked: RequestedShape,
        residency: Residency,
    ) -> Result<Self, BackendError> {
        let limits = kernel.context().limits();
        if residency == Residency::Cooperative && !limits.cooperative_launch {
            let reason = "it has no cooperative launch".to_owned();
            return Err(unsupported(limits, reason));
        }
        let lanes = asked.lanes_within(kernel.lanes_max()?, limits)?;
        let fit = Fit {
            per_unit: kernel.blocks_per_unit(lanes, 0)?,
            units: limits.info.units,
        };
        let (cluster, blocks) = match asked.cluster {
            Some(size @ 2..) if residency == Residency::Cooperative => {
                if !size.is_power_of_two() || size > CLUSTER_MAX {
                    let reason =
                        format!("a cluster's blocks must be a power of two up to {CLUSTER_MAX}");
                    return Err(unsupported(limits, reason));
                }
                let cluster = Cluster::new(&kernel, size)?;
                let places = cluster.resident(&kernel, lanes)?.saturating_mul(size);
                let blocks = fit.clustered(asked.blocks, lanes, size, places)?;
                (Some(cluster), blocks)
            }
            _ => (None, fit.blocks(asked.blocks, lanes, residency)?),
        };
        Ok(Self {
            kernel,
            shape: GridShape { blocks, lanes },
            cluster,
            residency,
            extra: 0,
        })
    }

    /// Returns the shape of one block of one warp, for entries that need no more.
    pub(super) const fn single(kernel: Kernel) -> Self {
        Self {
            kernel,
            shape: GridShape {
                blocks: 1,
                lanes: WARP,
            },
            cluster: None,
            residency: Residency::Free,
            extra: 0,
        }
    }

    /// Returns the words of shared memory, at most `wanted`, that every block may request; 0 if
    /// the grid would no longer fit.
    pub(super) fn space(&self, wanted: u32) -> Result<u32, BackendError> {
        let words = wanted.min(self.kernel.extra_max()? / 4);
        self.kernel.allow_extra(words * 4)?;
        let per_unit = self.kernel.blocks_per_unit(self.shape.lanes, words * 4)?;
        let units = self.kernel.context().limits().info.units;
        let fits = per_unit.saturating_mul(units) >= self.shape.blocks;
        Ok(if fits && self.cluster.is_none() {
            words
        } else {
            0
        })
    }

    /// Makes every block request `words` words of shared memory, at most [`Self::space`].
    pub(super) fn ask(&mut self, words: u32) -> Result<(), BackendError> {
        self.extra = words * 4;
        if words == 0 {
            return Ok(());
        }
        self.kernel.allow_extra(self.extra)
    }

    /// Returns the grid with this many blocks, which must not wait for each other.
    pub(super) fn with_blocks(self, blocks: u32) -> Self {
        debug_assert_eq!(self.residency, Residency::Free);
        let shape = GridShape {
            blocks,
            ..self.shape
        };
        Self { shape, ..self }
    }

    /// The kernel.
    pub(super) const fn kernel(&self) -> &Kernel {
        &self.kernel
    }

    /// The chosen shape.
    pub(super) const fn shape(&self) -> GridShape {
        self.shape
    }

    /// Queues one launch with the address of the entry's record and its own
    /// parameters.
    ///
    /// # Safety
    /// `record` must be the device address of a complete launch record, or
    /// batch record for the batch kernels, whose addresses stay alive until
    /// the launch has ended.
    pub(super) unsafe fn launch(
        &self,
        stream: &Stream,
        record: u64,
        words: &[u32],
    ) -> Result<(), BackendError> {
        let entry = self.kernel.entry();
        debug_assert_eq!(words.len(), entry.words(), "{entry:?}");
        let mut parameters = Parameters::new(record, words);
        let mut pointers = parameters.pointers();
        // SAFETY: the driver reads as many parameters as the entry has, one
        // address and at most three words, and `parameters` holds that many
        // whatever the caller gave; it copies them before it returns. The rest
        // is the caller's promise.
        let answer = unsafe { self.queue(stream, &mut pointers) };
        check(doing(entry), answer)
    }

    /// # Safety
    /// As for [`Self::launch`]; `pointers` point at live parameters.
    unsafe fn queue(
        &self,
        stream: &Stream,
        pointers: &mut [*mut c_void; 1 + WORDS_MAX],
    ) -> sys::CUresult {
        let GridShape { blocks, lanes } = self.shape;
        let (kernel, queue, list) = (self.kernel.raw(), stream.raw(), pointers.as_mut_ptr());
        // SAFETY: kernel and stream live and belong to one context; the list
        // of parameters is the caller's promise.
        unsafe {
            if let Some(cluster) = self.cluster {
                return cluster.launch((&self.kernel, self.shape), stream, list);
            }
            match self.residency {
                Residency::Cooperative => sys::cuLaunchCooperativeKernel(
                    kernel, blocks, 1, 1, lanes, 1, 1, self.extra, queue, list,
                ),
                Residency::Free => {
                    let extra = std::ptr::null_mut();
                    let shared = self.extra;
                    sys::cuLaunchKernel(
                        kernel, blocks, 1, 1, lanes, 1, 1, shared, queue, list, extra,
                    )
                }
            }
        }
    }
}

/// The parameters of any entry, where the driver can read them.
struct Parameters {
    record: u64,
    words: [u32; WORDS_MAX],
}

impl Parameters {
    fn new(record: u64, words: &[u32]) -> Self {
        let mut all = [0; WORDS_MAX];
        for (slot, word) in all.iter_mut().zip(words) {
            *slot = *word;
        }
        Self { record, words: all }
    }

    fn pointers(&mut self) -> [*mut c_void; 1 + WORDS_MAX] {
        let [first, second, third] = &mut self.words;
        [
            (&raw mut self.record).cast(),
            (&raw mut *first).cast(),
            (&raw mut *second).cast(),
            (&raw mut *third).cast(),
        ]
    }
}

const fn doing(entry: Entry) -> &'static str {
    match entry {
        Entry::Mega
        | Entry::MegaSearch
        | Entry::MegaRounds
        | Entry::MegaCode
        | Entry::MegaLinked
        | Entry::MegaAll
        | Entry::OwnMega => "launching the persistent kernel",
        Entry::Group
        | Entry::GroupCode
        | Entry::GroupAll
        | Entry::GroupLinked
        | Entry::OwnGroup => "launching a group",
        Entry::Begin => "launching the start of a loop",
        Entry::Body | Entry::BodyCode | Entry::BodyAll | Entry::BodyLinked | Entry::OwnBody => {
            "launching a loop's body"
        }
        Entry::While | Entry::Again => "launching a loop's decision",
        Entry::Barriers => "launching the barrier test",
        Entry::Batch
        | Entry::BatchSearch
        | Entry::BatchAll
        | Entry::BatchLinked
        | Entry::OwnBatch => "launching the batch",
        Entry::Serve | Entry::ServeAll | Entry::ServeLinked | Entry::OwnServe => {
            "launching the service"
        }
        Entry::Stream => "launching the stream",
        Entry::MultiLevels
        | Entry::MultiLengths
        | Entry::MultiRanks
        | Entry::MultiComponents
        | Entry::MultiCores => "launching a device of several",
        Entry::Join => "launching a join of copies",
    }
}

impl RequestedShape {
    /// Returns the bound that a persistent kernel of this shape is compiled for, on a device with
    /// `units` multiprocessors.
    pub(super) fn bound(&self, units: u32) -> Bound {
        let lanes = self.lanes.unwrap_or(LANES_DEFAULT);
        let blocks = self.blocks.unwrap_or(useful(lanes).saturating_mul(units));
        Bound::of(lanes, blocks <= units)
    }

    /// Returns the requested lanes, or as many as are useful.
    ///
    /// # Errors
    /// [`BackendError::Unsupported`] for lanes that no block of up to `most` can have.
    pub(super) fn lanes_within(
        &self,
        most: u32,
        limits: &DeviceLimits,
    ) -> Result<u32, BackendError> {
        lanes(self.lanes, most).ok_or_else(|| {
            let reason = format!("a block's lanes must be a multiple of 32 up to {most}");
            unsupported(limits, reason)
        })
    }
}

/// Returns the number of blocks of `lanes` lanes that fill a multiprocessor with [`LANES_DEFAULT`]
/// lanes.
fn useful(lanes: u32) -> u32 {
    (LANES_DEFAULT / lanes.max(1)).max(1)
}

/// Returns the requested lanes, or as many as are useful; `None` if they do not fit.
fn lanes(asked: Option<u32>, lanes_max: u32) -> Option<u32> {
    let lanes = asked.unwrap_or(LANES_DEFAULT.min(lanes_max) / WARP * WARP);
    (lanes > 0 && lanes.is_multiple_of(WARP) && lanes <= lanes_max).then_some(lanes)
}

fn unsupported(limits: &DeviceLimits, reason: String) -> BackendError {
    BackendError::Unsupported {
        device: limits.info.name.clone(),
        reason,
    }
}

/// Returns the number of blocks of one shape that a device holds.
#[derive(Clone, Copy, Debug)]
struct Fit {
    per_unit: u32,
    units: u32,
}

impl Fit {
    fn total(self) -> u32 {
        self.per_unit.saturating_mul(self.units)
    }

    /// Returns the requested blocks, or enough to give each multiprocessor [`LANES_DEFAULT`]
    /// lanes.
    fn blocks(
        self,
        asked: Option<u32>,
        lanes: u32,
        residency: Residency,
    ) -> Result<u32, BackendError> {
        let useful = useful(lanes).min(self.per_unit.max(1));
        let wanted = asked.unwrap_or(useful.saturating_mul(self.units)).max(1);
        let fitting = self.total();
        let must_fit = residency == Residency::Cooperative || fitting == 0;
        if must_fit && wanted > fitting {
            return Err(BackendError::NotCoResident {
                wanted,
                lanes,
                fitting,
                multiprocessors: self.units,
            });
        }
        Ok(wanted)
    }

    /// Returns the blocks in clusters of `cluster`, of which the device has space for `places`: as
    /// many as requested, at most one per multiprocessor, as far as whole clusters fit.
    fn clustered(
        self,
        asked: Option<u32>,
        lanes: u32,
        cluster: u32,
        places: u32,
    ) -> Result<u32, BackendError> {
        let most = self.units.min(places);
        let wanted = asked.unwrap_or(most).min(most) / cluster * cluster;
        if wanted == 0 {
            return Err(BackendError::NotCoResident {
                wanted: cluster,
                lanes,
                fitting: places,
                multiprocessors: self.units,
            });
        }
        Ok(wanted)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const H200_LIKE: Fit = Fit {
        per_unit: 2,
        units: 132,
    };

    #[test]
    fn lanes_default_to_the_most_that_the_kernel_takes() {
        assert_eq!(lanes(None, 1024), Some(1024));
        assert_eq!(lanes(None, 900), Some(896));
        assert_eq!(lanes(None, 31), None);
    }

    #[test]
    fn one_block_a_multiprocessor_is_compiled_for_its_lanes() {
        let bound = |blocks, lanes| {
            let asked = RequestedShape {
                blocks,
                lanes,
                ..RequestedShape::default()
            };
            asked.bound(132)
        };
        assert_eq!(bound(None, None), Bound::ANY);
        assert_eq!(bound(Some(132), Some(512)), Bound::of(512, true));
        assert_eq!(bound(Some(133), Some(512)), Bound::ANY);
        assert_eq!(bound(None, Some(640)), Bound::of(640, true));
        // Two blocks per multiprocessor, unless requested otherwise.
        assert_eq!(bound(None, Some(512)), Bound::ANY);
    }

    #[test]
    fn impossible_lanes_are_refused() {
        assert_eq!(lanes(Some(256), 1024), Some(256));
        for bad in [0, 1, 33, 1056, u32::MAX] {
            assert_eq!(lanes(Some(bad), 1024), None, "{bad}");
        }
    }

    #[test]
    fn the_default_grid_gives_each_multiprocessor_its_lanes() {
        assert_eq!(
            H200_LIKE.blocks(None, 1024, Residency::Cooperative).ok(),
            Some(132)
        );
        let small = Fit {
            per_unit: 8,
            units: 132,
        };
        assert_eq!(
            small.blocks(None, 256, Residency::Cooperative).ok(),
            Some(528)
        );
        let scarce = Fit {
            per_unit: 1,
            units: 132,
        };
        assert_eq!(
            scarce.blocks(None, 256, Residency::Cooperative).ok(),
            Some(132)
        );
    }

    #[test]
    fn a_cooperative_grid_too_large_is_refused_with_all_numbers() {
        assert_eq!(
            H200_LIKE
                .blocks(Some(264), 1024, Residency::Cooperative)
                .ok(),
            Some(264)
        );
        let error = H200_LIKE.blocks(Some(265), 1024, Residency::Cooperative);
        assert!(matches!(
            error,
            Err(BackendError::NotCoResident {
                wanted: 265,
                lanes: 1024,
                fitting: 264,
                multiprocessors: 132
            })
        ));
    }

    #[test]
    fn blocks_that_do_not_wait_need_not_fit_at_once() {
        assert_eq!(
            H200_LIKE.blocks(Some(100_000), 1024, Residency::Free).ok(),
            Some(100_000)
        );
        let none = Fit {
            per_unit: 0,
            units: 132,
        };
        assert!(none.blocks(None, 1024, Residency::Free).is_err());
    }

    #[test]
    fn a_grid_in_clusters_holds_whole_ones() {
        let blocks = |asked, places| H200_LIKE.clustered(asked, 512, 8, places).ok();
        assert_eq!(blocks(None, 256), Some(128));
        assert_eq!(blocks(None, 112), Some(112));
        assert_eq!(blocks(Some(20), 256), Some(16));
        assert_eq!(blocks(Some(7), 256), None);
        assert_eq!(blocks(Some(264), 256), Some(128));
        assert_eq!(blocks(None, 0), None);
    }

    #[test]
    fn parameters_are_where_their_pointers_say() {
        let mut parameters = Parameters::new(0x1122_3344_5566_7788, &[7, 8]);
        let [record, first, second, third] = parameters.pointers();
        // SAFETY: all four point into `parameters`, which lives.
        unsafe {
            assert_eq!(record.cast::<u64>().read(), 0x1122_3344_5566_7788);
            assert_eq!(first.cast::<u32>().read(), 7);
            assert_eq!(second.cast::<u32>().read(), 8);
            assert_eq!(third.cast::<u32>().read(), 0);
        }
    }
}
