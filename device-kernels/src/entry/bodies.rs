//! Bodies of kernels, for any set of waves: the built-in kernels export them for sets of this
//! crate, [`kernels!`](crate::kernels) for sets of others.

use crate::machine::Grid;
use crate::machine::gpu::Device;
use crate::resident::serve;
use crate::resident::serve::Serve;
use crate::scheduler as run;
use crate::scheduler::sets::WaveSet;
use crate::scheduler::{Batch, BodyLaunch};
use crate::tables::launch::Launch;
pub use seawall_core::abi::batch::BatchRecord;
pub use seawall_core::abi::program::LaunchRecord;
pub use seawall_core::abi::serve::ServeRecord;

/// A whole program; a cooperative launch.
///
/// # Safety
/// As [`Launch::new`]; all blocks must be co-resident.
#[inline(always)]
pub unsafe fn mega<S: WaveSet>(record: *const LaunchRecord) {
    // SAFETY: the caller keeps this function's contract.
    let launch = unsafe { Launch::new(record) };
    let _ = run::run_program::<Device, S>(Device {}, launch);
}

/// One top-level group.
///
/// # Safety
/// As [`Launch::new`].
#[inline(always)]
pub unsafe fn group<S: WaveSet>(record: *const LaunchRecord, group: u32) {
    // SAFETY: the caller keeps this function's contract.
    let launch = unsafe { Launch::new(record) };
    let _ = run::run_one_group::<Device, S>(Device {}, launch, group);
}

/// One group of a loop's body: the loop, the group, and whether it is the last one.
///
/// # Safety
/// As [`Launch::new`].
#[inline(always)]
pub unsafe fn body<S: WaveSet>(record: *const LaunchRecord, [fixpoint, group, last]: [u32; 3]) {
    // SAFETY: the caller keeps this function's contract.
    let launch = unsafe { Launch::new(record) };
    let body = BodyLaunch {
        fixpoint,
        group,
        last: last != 0,
    };
    let _ = run::run_body::<Device, S>(Device {}, launch, body);
}

/// A batch of graphs on `grid`, one graph a block at a time.
///
/// # Safety
/// As [`Batch::new`].
#[inline(always)]
pub unsafe fn batch<G: Grid, S: WaveSet>(grid: G, record: *const BatchRecord) {
    // SAFETY: the caller keeps this function's contract.
    let batch = unsafe { Batch::new(record) };
    run::run_batch::<G, S>(grid, batch);
}

/// A service: dispatchers, a housekeeper, and workers that run programs of these waves, until a host ends
/// them.
///
/// # Safety
/// As [`Serve::new`].
#[inline(always)]
pub unsafe fn serve<S: WaveSet>(record: *const ServeRecord) {
    // SAFETY: the caller keeps this function's contract.
    let served = unsafe { Serve::new(record) };
    serve::serve::<Device, S>(Device {}, served);
}
