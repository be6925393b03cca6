//! Copies of any length through two pinned buffers.
//!
//! While the device copies one buffer, the host fills or empties the other, so that a large graph
//! is uploaded at the speed of the slower of both. Pageable memory is never passed to the driver.

use super::context::Context;
use super::memory::Pinned;
use super::stream::{COPY_LIMIT, Event, Stream};
use crate::backend::BackendError;
use rayon::prelude::*;
use std::rc::Rc;

/// Largest buffer, bytes: large enough for the full speed of the link.
const CHUNK_MAX: usize = 16 << 20;
/// Smallest buffer, bytes.
const CHUNK_MIN: usize = 64 << 10;
/// Bytes that a thread copies at a time if a chunk is worth several threads.
const SLICE: usize = 1 << 20;

/// Two pinned buffers, each with an event that fires when it is free.
#[derive(Debug)]
pub(super) struct Staging {
    buffers: [Pinned; 2],
    free: [Event; 2],
    chunk: usize,
}

impl Staging {
    /// Returns buffers for copies of up to `largest` bytes at a time.
    pub(super) fn new(context: &Rc<Context>, largest: usize) -> Result<Self, BackendError> {
        let chunk = chunk_for(largest);
        Ok(Self {
            buffers: [Pinned::take(context, chunk)?, Pinned::take(context, chunk)?],
            free: [Event::new(context)?, Event::new(context)?],
            chunk,
        })
    }

    /// Copies `bytes` to a device address. The copy may still be in progress on return, but
    /// `bytes` are no longer needed then.
    ///
    /// # Safety
    /// `destination` must be the start of at least as many bytes of device memory, and live until
    /// the stream has reached the copy.
    pub(super) unsafe fn upload(
        &mut self,
        stream: &Stream,
        destination: u64,
        bytes: &[u8],
    ) -> Result<(), BackendError> {
        let fill = |at: usize, part: &mut [u8]| copy(part, &bytes[at..at + part.len()]);
        // SAFETY: as promised by the caller.
        unsafe { self.upload_filled(stream, destination, bytes.len(), fill) }
    }

    /// Works as [`Self::upload`] for `bytes` bytes that `fill` writes, part by part in their order:
    /// it gets the start of a part, and overwrites all of it.
    ///
    /// # Safety
    /// As for [`Self::upload`].
    pub(super) unsafe fn upload_filled(
        &mut self,
        stream: &Stream,
        destination: u64,
        bytes: usize,
        mut fill: impl FnMut(usize, &mut [u8]),
    ) -> Result<(), BackendError> {
        for turn in 0..bytes.div_ceil(self.chunk) {
            let (buffer, free) = (&mut self.buffers[turn % 2], &self.free[turn % 2]);
            let (at, length) = (turn * self.chunk, part(bytes, self.chunk, turn));
            free.wait("uploading", COPY_LIMIT)?;
            // SAFETY: the event was recorded after the last copy that used this buffer, and it has
            // been reached.
            fill(at, &mut unsafe { buffer.as_mut_slice() }[..length]);
            // SAFETY: the destination holds all of `bytes`, and so this part; the buffer is not
            // touched before the event below is reached.
            unsafe { stream.copy_in(destination + at as u64, buffer, length)? };
            free.record(stream)?;
        }
        Ok(())
    }

    /// Copies `bytes` bytes from a device address, passing them to `take` in order.
    ///
    /// # Safety
    /// `source` must be the start of at least `bytes` bytes of live device
    /// memory.
    pub(super) unsafe fn download(
        &mut self,
        stream: &Stream,
        source: u64,
        bytes: usize,
        mut take: impl FnMut(&[u8]),
    ) -> Result<(), BackendError> {
        let turns = bytes.div_ceil(self.chunk);
        for turn in 0..=turns {
            if turn < turns {
                let part = part(bytes, self.chunk, turn);
                let at = source + (turn * self.chunk) as u64;
                // SAFETY: within `bytes`; the buffer's last content was taken
                // two turns ago.
                unsafe { stream.copy_out(&self.buffers[turn % 2], at, part)? };
                self.free[turn % 2].record(stream)?;
            }
            if let Some(last) = turn.checked_sub(1) {
                self.free[last % 2].wait("reading a register", COPY_LIMIT)?;
                // SAFETY: the copy into this buffer has ended.
                let ready = unsafe { self.buffers[last % 2].as_slice() };
                take(ready.get(..part(bytes, self.chunk, last)).unwrap_or(ready));
            }
        }
        Ok(())
    }

    /// Copies from a device address to `to`, all of it.
    ///
    /// # Safety
    /// As for [`Self::download`].
    pub(super) unsafe fn download_to(
        &mut self,
        stream: &Stream,
        source: u64,
        mut to: &mut [u8],
    ) -> Result<(), BackendError> {
        let bytes = to.len();
        let take = |part: &[u8]| {
            if let Some(front) = to.split_off_mut(..part.len()) {
                front.copy_from_slice(part);
            }
        };
        // SAFETY: as promised by the caller.
        unsafe { self.download(stream, source, bytes, take) }
    }

    /// Adds `bytes` bytes from a device address to `to`, as words.
    ///
    /// # Safety
    /// As for [`Self::download`].
    pub(super) unsafe fn download_words(
        &mut self,
        stream: &Stream,
        source: u64,
        bytes: usize,
        to: &mut Vec<u32>,
    ) -> Result<(), BackendError> {
        let take = |part: &[u8]| {
            let parts = part.chunks_exact(4).filter_map(|word| word.try_into().ok());
            to.extend(parts.map(u32::from_ne_bytes));
        };
        // SAFETY: as promised by the caller.
        unsafe { self.download(stream, source, bytes, take) }
    }
}

/// Returns the buffer size for copies of up to `largest` bytes.
fn chunk_for(largest: usize) -> usize {
    largest.clamp(CHUNK_MIN, CHUNK_MAX).next_power_of_two()
}

/// Returns the bytes of part `turn`, if `bytes` bytes are copied in parts of `chunk`.
const fn part(bytes: usize, chunk: usize, turn: usize) -> usize {
    let rest = bytes.saturating_sub(turn.saturating_mul(chunk));
    if rest < chunk { rest } else { chunk }
}

/// Copies `from` to the front of `to`, on several threads if it is long.
fn copy(to: &mut [u8], from: &[u8]) {
    if from.len() <= 2 * SLICE {
        for (to, from) in to.chunks_mut(SLICE).zip(from.chunks(SLICE)) {
            copy_slice(to, from);
        }
        return;
    }
    to.par_chunks_mut(SLICE)
        .zip(from.par_chunks(SLICE))
        .for_each(|(to, from)| copy_slice(to, from));
}

fn copy_slice(to: &mut [u8], from: &[u8]) {
    if let Some(front) = to.get_mut(..from.len()) {
        front.copy_from_slice(from);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_cover_every_byte_once() {
        for bytes in [0usize, 1, 63, 64, 65, 128, 1000] {
            let total: usize = (0..bytes.div_ceil(64))
                .map(|turn| part(bytes, 64, turn))
                .sum();
            assert_eq!(total, bytes);
        }
        assert_eq!(part(10, 64, 1), 0);
    }

    #[test]
    fn buffers_stay_between_their_limits() {
        assert_eq!(chunk_for(0), CHUNK_MIN);
        assert_eq!(chunk_for(CHUNK_MIN + 1), 2 * CHUNK_MIN);
        assert_eq!(chunk_for(usize::MAX), CHUNK_MAX);
    }

    #[test]
    fn long_and_short_copies_are_exact_and_leave_the_rest_alone() {
        for bytes in [0, 5, SLICE, 2 * SLICE + 1, 3 * SLICE + 7] {
            let from: Vec<u8> = (0..bytes).map(|at| (at % 251) as u8).collect();
            let mut to = vec![255u8; bytes + 3];
            copy(&mut to, &from);
            assert_eq!(&to[..bytes], &from);
            assert_eq!(&to[bytes..], [255; 3]);
        }
    }
}
