//! Memory for windows, aligned to sectors.

use super::run::{Plan, short};
use super::windows::SECTOR;
use crate::graph::memory::{Shortage, zeroed};
use crate::run::RunError;
use bytemuck::{Pod, Zeroable};

/// A sector.
#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C, align(4096))]
struct Sector([u8; SECTOR as usize]);

/// Buffers of one size.
pub(super) struct Buffers {
    sectors: Vec<Sector>,
    /// Sectors of a buffer.
    each: usize,
}

impl Buffers {
    /// Takes memory for `count` buffers of `bytes` bytes each, in whole sectors.
    pub(super) fn new(count: usize, bytes: u64) -> Result<Self, Shortage> {
        let each = usize::try_from(bytes.div_ceil(SECTOR)).unwrap_or(usize::MAX);
        let all = each.saturating_mul(count);
        let sectors = zeroed(all)?;
        Ok(Self { sectors, each })
    }

    /// Takes memory for the windows of a run.
    pub(super) fn of(plan: &Plan) -> Result<Self, RunError> {
        let each = plan.windows.buffer_bytes();
        Self::new(plan.room.buffers as usize, each).map_err(short)
    }

    /// Address and bytes of all of them.
    pub(super) fn memory(&mut self) -> (usize, usize) {
        let bytes = size_of_val(self.sectors.as_slice());
        (self.sectors.as_mut_ptr().expose_provenance(), bytes)
    }

    /// The buffers.
    pub(super) fn split(&mut self) -> Vec<&mut [u8]> {
        let each = self.sectors.chunks_exact_mut(self.each.max(1));
        each.map(bytemuck::cast_slice_mut).collect()
    }
}
