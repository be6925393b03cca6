//! The kernel of streams on threads, one for each block.

use super::lines;
use super::stay::stay;
use crate::backend::BackendError;
use crate::backend::streaming::{Open, StreamJob};
use seawall_device::stream::Stream;
use seawall_device::threads::run_stream;
use std::sync::atomic::{AtomicBool, Ordering};

/// Orders the end when it is dropped, so that a panic ends the kernel too.
struct Ending<'a>(&'a StreamJob<'a>);

impl Drop for Ending<'_> {
    fn drop(&mut self) {
        self.0.end();
    }
}

/// Runs the kernel that GPUs run, with `workers` blocks and a leader, while `drive` does; returns
/// its result and the values of nodes.
///
/// # Errors
/// [`BackendError::OutOfMemory`]; [`BackendError::Threads`] if the system starts no more.
pub(crate) fn run<R>(
    streaming: &StreamJob<'_>,
    workers: u32,
    drive: impl FnOnce(&Open<'_>) -> R,
) -> Result<(R, Vec<u32>), BackendError> {
    let mut memory = lines("the nodes of a stream", streaming.words() * 4)?;
    let words: &mut [u32] = bytemuck::cast_slice_mut(&mut memory);
    for (at, array) in streaming.arrays() {
        words[at as usize..at as usize + array.len()].copy_from_slice(array);
    }
    for (at, part) in streaming.parts() {
        let bytes: &mut [u8] = bytemuck::cast_slice_mut(words);
        let start = at as usize * 4;
        bytes[start..start + part.len()].copy_from_slice(&part);
    }
    let base = words.as_mut_ptr().expose_provenance() as u64;
    let board = streaming.board.start().expose_provenance() as u64;
    let record = streaming.record(base, board);
    let address = (&raw const record).expose_provenance();
    let blocks = workers.saturating_add(1);
    let has_ended = AtomicBool::new(false);
    let run = |grid| {
        // SAFETY: the record and all that it points to outlive the blocks, with the lengths that
        // its sizes give; hosts use the board and its posts as atomics.
        let served = unsafe { Stream::new(std::ptr::with_exposed_provenance(address)) };
        run_stream(grid, served);
    };
    let health = || match has_ended.load(Ordering::Acquire) {
        true => Err(BackendError::Cancelled),
        false => Ok(()),
    };
    let found = std::thread::scope(|scope| {
        let kernel = scope.spawn(|| {
            let end = stay(blocks, run);
            has_ended.store(true, Ordering::Release);
            end
        });
        let ending = Ending(streaming);
        let found = drive(&Open {
            buffers: streaming.buffers.0 as u64,
            health: &health,
            name: "blocks on threads",
        });
        drop(ending);
        let end = kernel.join();
        end.unwrap_or(Err(BackendError::Cancelled)).map(|()| found)
    })?;
    let (at, count) = streaming.values_at();
    let words: &[u32] = bytemuck::cast_slice(&memory);
    let values = &words[at as usize..at as usize + count];
    Ok((found, values.to_vec()))
}
