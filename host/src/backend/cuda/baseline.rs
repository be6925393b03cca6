//! Copies of a baseline host loop: the graph in before every wave, the program's memory out after it.
//!
//! They are the baseline of evidence. Both go through pinned memory, which is faster than the
//! pageable memory of most such programs.

use super::loaded::Loaded;
use super::memory::Pinned;
use super::resident::ResidentGraph;
use super::stream::Stream;
use crate::backend::BackendError;

/// Pinned copies of the arrays of a graph and of a program's memory.
#[derive(Debug)]
pub(super) struct Copies {
    arrays: Vec<(Pinned, u64, usize)>,
    arena: Pinned,
    arena_place: (u64, usize),
}

impl Copies {
    /// Pins copies of all resident arrays of `graph` and space for the arena of `program`.
    pub(super) fn of(
        stream: &Stream,
        graph: &ResidentGraph<'_>,
        program: &Loaded,
    ) -> Result<Self, BackendError> {
        let context = stream.context();
        let mut arrays = Vec::new();
        for (words, address) in graph.arrays() {
            let bytes: &[u8] = bytemuck::cast_slice(words);
            let mut copy = Pinned::take(context, bytes.len())?;
            // SAFETY: nothing copies from the new memory yet.
            let all = unsafe { copy.as_mut_slice() };
            if let Some(front) = all.get_mut(..bytes.len()) {
                front.copy_from_slice(bytes);
            }
            arrays.push((copy, address, bytes.len()));
        }
        let arena_place = program.arena();
        Ok(Self {
            arrays,
            arena: Pinned::take(context, arena_place.1)?,
            arena_place,
        })
    }

    /// Queues the upload of the graph; returns the number of copies.
    pub(super) fn upload(&self, stream: &Stream) -> Result<u64, BackendError> {
        for (copy, address, bytes) in &self.arrays {
            // SAFETY: the address is that of the array's device memory, which the session keeps
            // longer than these copies, and nothing writes to the pinned memory.
            unsafe { stream.copy_in(*address, copy, *bytes)? };
        }
        Ok(self.arrays.len() as u64)
    }

    /// Queues the readback of the program's memory, which the caller waits for before the next.
    pub(super) fn read_back(&self, stream: &Stream) -> Result<(), BackendError> {
        let (address, bytes) = self.arena_place;
        // SAFETY: the arena belongs to the loaded program, and callers use the pinned memory no more
        // before they have waited.
        unsafe { stream.copy_out(&self.arena, address, bytes) }
    }
}
