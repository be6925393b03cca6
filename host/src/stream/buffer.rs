//! Memory for windows, aligned to sectors.

use super::windows::{SECTOR, Windows};
use crate::backend::BackendError;
use crate::backend::memory::on_large_pages;
use crate::graph::memory::{Shortage, zeroed};
use crate::run::RunError;
use bytemuck::cast_slice_mut;

/// A piece of memory with the allocator's default alignment: with a larger one it would write
/// zeros, instead of taking pages that the system maps on the first write.
type Piece = u128;

pub(super) struct Buffers {
    pieces: Vec<Piece>,
    each: usize,
    count: usize,
}

impl Buffers {
    /// Takes memory for `count` buffers of `bytes` bytes each, in whole sectors.
    pub(super) fn new(count: usize, bytes: u64) -> Result<Self, Shortage> {
        let each = bytes.checked_next_multiple_of(SECTOR).map(usize::try_from);
        let each = each.and_then(Result::ok).unwrap_or(usize::MAX);
        let all = each.saturating_mul(count).saturating_add(SECTOR as usize);
        let pieces = zeroed(all.div_ceil(size_of::<Piece>()))?;
        Ok(Self {
            pieces,
            each,
            count,
        })
    }

    /// Takes memory for `count` windows of a run, in which they stay if it `keeps` them.
    pub(super) fn of(windows: &Windows, count: u64, keeps: bool) -> Result<Self, RunError> {
        let taken = Self::new(count as usize, windows.buffer_bytes()).map_err(short)?;
        if !keeps {
            return Ok(taken);
        }
        // Each is filled once, so that readers would wait for small pages one by one.
        Ok(Self {
            pieces: on_large_pages(taken.pieces),
            ..taken
        })
    }

    /// All buffers, from the first sector on.
    fn all(&mut self) -> &mut [u8] {
        let len = self.each.saturating_mul(self.count);
        let bytes: &mut [u8] = cast_slice_mut(&mut self.pieces);
        let skipped = bytes.as_ptr().align_offset(SECTOR as usize);
        let all = bytes.get_mut(skipped..skipped.saturating_add(len));
        all.unwrap_or_default()
    }

    /// Address and bytes of all of them.
    pub(super) fn memory(&mut self) -> (usize, usize) {
        let all = self.all();
        (all.as_mut_ptr().expose_provenance(), all.len())
    }

    pub(super) fn split(&mut self) -> Vec<&mut [u8]> {
        let each = self.each.max(1);
        self.all().chunks_exact_mut(each).collect()
    }
}

/// The error of a run that finds too little memory.
pub(super) fn short(short: Shortage) -> RunError {
    BackendError::short("a streamed run")(short).into()
}
