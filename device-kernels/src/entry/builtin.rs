//! The kernels of built-in waves. They are compiled only if this crate is the one being built:
//! kernels of other crates have other names.

use super::bodies;
use crate::machine::Grid;
use crate::machine::gpu::{CompactDevice, Device};
use crate::multi::{Multi, multi};
use crate::resident::stream::{Stream, stream};
use crate::scheduler as run;
use crate::scheduler::sets::{All, CodeAlone, Linked, Nothing, Ready, Rounds, Searches};
use crate::tables::launch::Launch;
use seawall_core::abi::batch::BatchRecord;
use seawall_core::abi::multi::MultiRecord;
use seawall_core::abi::program::LaunchRecord;
use seawall_core::abi::serve::ServeRecord;
use seawall_core::abi::stream::StreamRecord;

/// The whole program, every family of opcodes except code; a cooperative launch.
///
/// # Safety
/// As [`Launch::new`]; all blocks must be co-resident.
#[unsafe(no_mangle)]
pub unsafe extern "ptx-kernel" fn seawall_mega(record: *const LaunchRecord) {
    // SAFETY: the caller keeps this function's contract.
    unsafe { bodies::mega::<Ready>(record) }
}

/// The whole program when it only searches; a cooperative launch.
///
/// # Safety
/// As [`Launch::new`]; all blocks must be co-resident.
#[unsafe(no_mangle)]
pub unsafe extern "ptx-kernel" fn seawall_mega_search(record: *const LaunchRecord) {
    // SAFETY: the caller keeps this function's contract.
    unsafe { bodies::mega::<Searches>(record) }
}

/// The whole program when it finds paths, core numbers or sets of sources; a cooperative
/// launch.
///
/// # Safety
/// As [`Launch::new`]; all blocks must be co-resident.
#[unsafe(no_mangle)]
pub unsafe extern "ptx-kernel" fn seawall_mega_rounds(record: *const LaunchRecord) {
    // SAFETY: the caller keeps this function's contract.
    unsafe { bodies::mega::<Rounds>(record) }
}

/// The whole program when it only runs code; a cooperative launch.
///
/// # Safety
/// As [`Launch::new`]; all blocks must be co-resident.
#[unsafe(no_mangle)]
pub unsafe extern "ptx-kernel" fn seawall_mega_code(record: *const LaunchRecord) {
    // SAFETY: the caller keeps this function's contract.
    unsafe { bodies::mega::<CodeAlone>(record) }
}

/// The same program, with machine code of its waves that the host links to it; a cooperative launch.
///
/// # Safety
/// As [`Launch::new`]; all blocks must be co-resident.
#[unsafe(no_mangle)]
pub unsafe extern "ptx-kernel" fn seawall_mega_linked(record: *const LaunchRecord) {
    // SAFETY: the caller keeps this function's contract.
    unsafe { bodies::mega::<Linked>(record) }
}

/// The whole program, every family of opcodes; a cooperative launch.
///
/// # Safety
/// As [`Launch::new`]; all blocks must be co-resident.
#[unsafe(no_mangle)]
pub unsafe extern "ptx-kernel" fn seawall_mega_all(record: *const LaunchRecord) {
    // SAFETY: the caller keeps this function's contract.
    unsafe { bodies::mega::<All>(record) }
}

/// One group of a program that runs code.
///
/// # Safety
/// As [`Launch::new`].
#[unsafe(no_mangle)]
pub unsafe extern "ptx-kernel" fn seawall_group_all(record: *const LaunchRecord, group: u32) {
    // SAFETY: the caller keeps this function's contract.
    unsafe { bodies::group::<All>(record, group) }
}

/// Counts an iteration of a loop on a register and decides whether another follows; one
/// block.
///
/// # Safety
/// As [`Launch::new`].
#[unsafe(no_mangle)]
pub unsafe extern "ptx-kernel" fn seawall_again(record: *const LaunchRecord, wave: u32) {
    // SAFETY: the caller keeps this function's contract.
    let launch = unsafe { Launch::new(record) };
    let _ = run::again(Device {}, launch, wave);
}

/// One group of the body of a loop that runs code.
///
/// # Safety
/// As [`Launch::new`].
#[unsafe(no_mangle)]
pub unsafe extern "ptx-kernel" fn seawall_body_all(
    record: *const LaunchRecord,
    fixpoint: u32,
    group: u32,
    last: u32,
) {
    // SAFETY: the caller keeps this function's contract.
    unsafe { bodies::body::<All>(record, [fixpoint, group, last]) }
}

/// One top-level group.
///
/// # Safety
/// As [`Launch::new`].
#[unsafe(no_mangle)]
pub unsafe extern "ptx-kernel" fn seawall_group(record: *const LaunchRecord, group: u32) {
    // SAFETY: the caller keeps this function's contract.
    unsafe { bodies::group::<Ready>(record, group) }
}

/// Opens a loop; one block.
///
/// # Safety
/// As [`Launch::new`].
#[unsafe(no_mangle)]
pub unsafe extern "ptx-kernel" fn seawall_begin(record: *const LaunchRecord, fixpoint: u32) {
    // SAFETY: the caller keeps this function's contract.
    let launch = unsafe { Launch::new(record) };
    let _ = run::begin_loop(Device {}, launch, fixpoint);
}

/// One group of a loop's body.
///
/// # Safety
/// As [`Launch::new`].
#[unsafe(no_mangle)]
pub unsafe extern "ptx-kernel" fn seawall_body(
    record: *const LaunchRecord,
    fixpoint: u32,
    group: u32,
    last: u32,
) {
    // SAFETY: the caller keeps this function's contract.
    unsafe { bodies::body::<Ready>(record, [fixpoint, group, last]) }
}

/// Sets the condition on which a CUDA graph's loop continues; one block. The node's handle comes in
/// two words, the low one first.
///
/// # Safety
/// As [`Launch::new`]; the handle must be that of the node whose body launches this.
#[unsafe(no_mangle)]
pub unsafe extern "ptx-kernel" fn seawall_while(
    record: *const LaunchRecord,
    fixpoint: u32,
    handle_low: u32,
    handle_high: u32,
) {
    // SAFETY: the caller keeps this function's contract.
    let launch = unsafe { Launch::new(record) };
    let goes_on = run::loop_goes_on(Device {}, launch, fixpoint);
    if (Device {}).lane() == 0 {
        let handle = u64::from(handle_high) << 32 | u64::from(handle_low);
        // SAFETY: the caller passes the handle of a live node.
        unsafe { cudaGraphSetConditional(handle, u32::from(goes_on)) };
    }
}

// Kernels call this function and do not define it: drivers from CUDA 12.3 on link it when
// they compile the PTX.
#[allow(non_snake_case)]
unsafe extern "C" {
    /// Sets the condition of a conditional node for its next decision.
    fn cudaGraphSetConditional(handle: u64, value: u32);
}

/// Grid barriers and nothing else; a cooperative launch.
///
/// # Safety
/// As [`Launch::new`]; all blocks must be co-resident.
#[unsafe(no_mangle)]
pub unsafe extern "ptx-kernel" fn seawall_barriers(record: *const LaunchRecord, count: u32) {
    // SAFETY: the caller keeps this function's contract.
    let launch = unsafe { Launch::new(record) };
    let _ = run::cross_barriers(Device {}, launch, count);
}

/// A batch of graphs, every family of opcodes; each block runs one graph at a time.
///
/// # Safety
/// As [`Batch::new`].
#[unsafe(no_mangle)]
pub unsafe extern "ptx-kernel" fn seawall_batch(record: *const BatchRecord) {
    // SAFETY: the caller keeps this function's contract.
    unsafe { bodies::batch::<Device, Ready>(Device {}, record) }
}

/// A batch of graphs of which some run code, one graph a block at a time.
///
/// # Safety
/// As [`Batch::new`].
#[unsafe(no_mangle)]
pub unsafe extern "ptx-kernel" fn seawall_batch_all(record: *const BatchRecord) {
    // SAFETY: the caller keeps this function's contract.
    unsafe { bodies::batch::<Device, All>(Device {}, record) }
}

/// A batch of graphs whose programs only search, in small blocks.
///
/// # Safety
/// As [`Batch::new`].
#[unsafe(no_mangle)]
pub unsafe extern "ptx-kernel" fn seawall_batch_search(record: *const BatchRecord) {
    // SAFETY: the caller keeps this function's contract.
    unsafe { bodies::batch::<CompactDevice, Searches>(CompactDevice {}, record) }
}

/// A service: dispatchers, a housekeeper and workers that stay until a host ends them.
///
/// # Safety
/// As [`Serve::new`](crate::resident::serve::Serve::new).
#[unsafe(no_mangle)]
pub unsafe extern "ptx-kernel" fn seawall_serve(record: *const ServeRecord) {
    // SAFETY: the caller keeps this function's contract.
    unsafe { bodies::serve::<Nothing>(record) };
}

/// A service whose workers run programs too.
///
/// # Safety
/// As [`Serve::new`](crate::resident::serve::Serve::new).
#[unsafe(no_mangle)]
pub unsafe extern "ptx-kernel" fn seawall_serve_all(record: *const ServeRecord) {
    // SAFETY: the caller keeps this function's contract.
    unsafe { bodies::serve::<All>(record) };
}

/// A stream of edges through memory of the host, until the host ends it. All blocks must be
/// resident at once.
///
/// # Safety
/// As [`Stream::new`].
#[unsafe(no_mangle)]
pub unsafe extern "ptx-kernel" fn seawall_stream(record: *const StreamRecord) {
    // SAFETY: the caller keeps this function's contract.
    let streamed = unsafe { Stream::new(record) };
    stream(Device {}, streamed);
}

/// One device's part of a run on several; a cooperative launch, beside those of the other devices.
///
/// # Safety
/// As [`Multi::new`]; all blocks must be co-resident.
#[unsafe(no_mangle)]
pub unsafe extern "ptx-kernel" fn seawall_multi(record: *const MultiRecord) {
    // SAFETY: the caller keeps this function's contract.
    let part = unsafe { Multi::new(record) };
    multi(Device {}, part);
}
