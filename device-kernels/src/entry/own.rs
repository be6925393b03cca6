//! What the kernels of another crate's waves do; [`kernels!`](crate::kernels) exports them.

use crate::grid::nvptx::Device;
use crate::launch::Launch;
use crate::own::Waves;
use crate::run::{self, Batch, BodyLaunch};
use crate::sets::With;
pub use seawall_core::abi::batch::BatchRecord;
pub use seawall_core::abi::program::LaunchRecord;

/// A whole program; a cooperative launch.
///
/// # Safety
/// As [`Launch::new`]; all blocks must be co-resident.
#[inline(always)]
pub unsafe fn mega<W: Waves>(record: *const LaunchRecord) {
    // SAFETY: the caller keeps this function's contract.
    let launch = unsafe { Launch::new(record) };
    let _ = run::run_program::<Device, With<W>>(Device {}, launch);
}

/// One top-level group.
///
/// # Safety
/// As [`Launch::new`].
#[inline(always)]
pub unsafe fn group<W: Waves>(record: *const LaunchRecord, group: u32) {
    // SAFETY: the caller keeps this function's contract.
    let launch = unsafe { Launch::new(record) };
    let _ = run::run_one_group::<Device, With<W>>(Device {}, launch, group);
}

/// One group of a loop's body: the loop, the group, and whether it is the last one.
///
/// # Safety
/// As [`Launch::new`].
#[inline(always)]
pub unsafe fn body<W: Waves>(record: *const LaunchRecord, [fixpoint, group, last]: [u32; 3]) {
    // SAFETY: the caller keeps this function's contract.
    let launch = unsafe { Launch::new(record) };
    let body = BodyLaunch {
        fixpoint,
        group,
        last: last != 0,
    };
    let _ = run::run_body::<Device, With<W>>(Device {}, launch, body);
}

/// A batch of graphs, one graph a block at a time.
///
/// # Safety
/// As [`Batch::new`].
#[inline(always)]
pub unsafe fn batch<W: Waves>(record: *const BatchRecord) {
    // SAFETY: the caller keeps this function's contract.
    let batch = unsafe { Batch::new(record) };
    run::run_batch::<Device, With<W>>(Device {}, batch);
}
