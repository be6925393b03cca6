//! The kernel of streams on threads, one for each block.

use super::lines;
use super::stay::stay;
use crate::backend::BackendError;
use crate::backend::streaming::{Keep, Open, StreamJob};
use crate::graph::memory;
use seawall_device::entry::threads::run_stream;
use seawall_device::resident::stream::Stream;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

/// Orders the end when it is dropped, so that a panic ends the kernel too.
struct Ending<'a>(&'a StreamJob<'a>);

impl Drop for Ending<'_> {
    fn drop(&mut self) {
        self.0.end();
    }
}

/// Memory besides the host's buffers, as on a GPU.
struct Kept {
    each: u64,
    words: Vec<AtomicU32>,
}

impl Kept {
    fn new(streaming: &StreamJob<'_>, each: u64) -> Result<Self, BackendError> {
        let needed = streaming.kept_bytes(each);
        let short = BackendError::short("the windows of a stream");
        let count = usize::try_from(needed / 4).unwrap_or(usize::MAX);
        let words: Vec<u32> = memory::zeroed(count).map_err(short)?;
        let words = words.into_iter().map(AtomicU32::new).collect();
        Ok(Self { each, words })
    }

    fn first(&self, window: u32) -> usize {
        (self.each / 4 * u64::from(window)) as usize
    }
}

impl Keep for Kept {
    fn copy(&self, window: u32, buffer: &[u8]) -> Result<(), BackendError> {
        let places = self.words.iter().skip(self.first(window));
        let words = buffer
            .as_chunks()
            .0
            .iter()
            .map(|word| u32::from_ne_bytes(*word));
        for (place, word) in places.zip(words) {
            place.store(word, Ordering::Relaxed);
        }
        Ok(())
    }

    fn has(&self, _: u32) -> Result<bool, BackendError> {
        Ok(true)
    }

    fn address(&self, window: u32) -> u64 {
        let start = self.words.as_ptr().expose_provenance() as u64;
        start + 4 * self.first(window) as u64
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
    let keep = match streaming
        .kept
        .map(|kept| (kept, Kept::new(streaming, kept.0)))
    {
        Some(((_, false), Err(BackendError::OutOfMemory { .. }))) => None,
        Some((_, kept)) => Some(kept?),
        None => None,
    };
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
            keep: keep.as_ref().map(|keep| keep as &dyn Keep),
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
