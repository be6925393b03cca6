//! The caller's buffers, and pointers becoming slices.
//!
//! Only this module trusts a pointer. It checks null and alignment; the caller
//! vouches for the memory that a pointer names.

use core::slice;

use seawall_core::plan;
use seawall_core::scratch::{
    ArenaScratchView, ExecutionScratchView, GroupScratchView, ScratchView,
};

use crate::status::Status;

/// Number of elements that each buffer needs.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Requirements {
    /// `uint32_t` elements for the waves of layers.
    pub layer_words: usize,
    /// `uint32_t` elements for the dependencies of layers.
    pub dependency_words: usize,
    /// `uint32_t` elements for packing.
    pub pack_words: usize,
    /// `uint64_t` elements for packing.
    pub pack_bytes: usize,
    /// `uint32_t` elements for an arena.
    pub arena_words: usize,
    /// `uint64_t` elements for an arena.
    pub arena_offsets: usize,
}

impl From<plan::Requirements> for Requirements {
    fn from(needs: plan::Requirements) -> Self {
        Self {
            layer_words: needs.layer_words,
            dependency_words: needs.dependency_words,
            pack_words: needs.pack_words,
            pack_bytes: needs.pack_bytes,
            arena_words: needs.arena_words,
            arena_offsets: needs.arena_offsets,
        }
    }
}

/// Working memory of the caller. Null is allowed where the length is 0.
///
/// A call writes to it and its results point into it, so they hold until the next call.
/// Buffers must not overlap.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Buffers {
    /// For the waves of layers.
    pub layer_words: *mut u32,
    /// For the dependencies of layers.
    pub dependency_words: *mut u32,
    /// For packing.
    pub pack_words: *mut u32,
    /// For packing.
    pub pack_bytes: *mut u64,
    /// For an arena.
    pub arena_words: *mut u32,
    /// For an arena.
    pub arena_offsets: *mut u64,
    /// The length of each buffer in elements.
    pub lengths: Requirements,
}

impl Buffers {
    /// The part that layers take.
    ///
    /// # Safety
    ///
    /// Both layer buffers hold their lengths, are no one else's for `'a`, and do not overlap.
    pub(crate) unsafe fn layers<'a>(&self) -> Result<ScratchView<'a>, Status> {
        // SAFETY: passed on to the caller.
        let waves = unsafe { exclusive(self.layer_words, self.lengths.layer_words) }?;
        // SAFETY: passed on to the caller.
        let edges = unsafe { exclusive(self.dependency_words, self.lengths.dependency_words) }?;
        Ok(ScratchView::new(waves, edges))
    }

    /// The part that groups take.
    ///
    /// # Safety
    ///
    /// As [`Self::layers`], for the packing buffers too.
    pub(crate) unsafe fn groups<'a>(&self) -> Result<GroupScratchView<'a>, Status> {
        // SAFETY: passed on to the caller.
        let layers = unsafe { self.layers() }?;
        // SAFETY: passed on to the caller.
        let words = unsafe { exclusive(self.pack_words, self.lengths.pack_words) }?;
        // SAFETY: passed on to the caller.
        let bytes = unsafe { exclusive(self.pack_bytes, self.lengths.pack_bytes) }?;
        Ok(GroupScratchView::new(layers, words, bytes))
    }

    /// The part that an arena takes.
    ///
    /// # Safety
    ///
    /// As [`Self::layers`], for the arena buffers.
    pub(crate) unsafe fn arena<'a>(&self) -> Result<ArenaScratchView<'a>, Status> {
        // SAFETY: passed on to the caller.
        let words = unsafe { exclusive(self.arena_words, self.lengths.arena_words) }?;
        // SAFETY: passed on to the caller.
        let offsets = unsafe { exclusive(self.arena_offsets, self.lengths.arena_offsets) }?;
        Ok(ArenaScratchView::new(words, offsets))
    }

    /// The part that an execution takes: all.
    ///
    /// # Safety
    ///
    /// As [`Self::layers`], for all buffers.
    pub(crate) unsafe fn execution<'a>(&self) -> Result<ExecutionScratchView<'a>, Status> {
        // SAFETY: passed on to the caller.
        let (groups, arena) = unsafe { (self.groups()?, self.arena()?) };
        Ok(ExecutionScratchView::new(groups, arena))
    }
}

/// Checks a table before it becomes a slice.
fn check<T>(pointer: *const T, length: usize) -> Result<(), Status> {
    if pointer.is_null() {
        return Err(Status::NullPointer);
    }
    if !pointer.is_aligned() {
        return Err(Status::Misaligned);
    }
    match length.checked_mul(size_of::<T>()) {
        Some(bytes) if isize::try_from(bytes).is_ok() => Ok(()),
        _ => Err(Status::InvalidLength),
    }
}

/// A caller's table to read.
///
/// # Safety
///
/// A table of more than no entries holds `length` of them and does not change during `'a`.
pub(crate) unsafe fn shared<'a, T>(pointer: *const T, length: usize) -> Result<&'a [T], Status> {
    if length == 0 {
        return Ok(&[]);
    }
    check(pointer, length)?;
    // SAFETY: neither null nor misaligned nor too long; the caller vouches for the rest.
    Ok(unsafe { slice::from_raw_parts(pointer, length) })
}

/// A caller's buffer to write.
///
/// # Safety
///
/// A buffer of more than no entries holds `length` of them and is no one else's during `'a`.
pub(crate) unsafe fn exclusive<'a, T>(
    pointer: *mut T,
    length: usize,
) -> Result<&'a mut [T], Status> {
    if length == 0 {
        return Ok(&mut []);
    }
    check(pointer, length)?;
    // SAFETY: neither null nor misaligned nor too long; the caller vouches for the rest.
    Ok(unsafe { slice::from_raw_parts_mut(pointer, length) })
}

/// One record of the caller's.
///
/// # Safety
///
/// A pointer that is not null points to a valid `T`.
pub(crate) unsafe fn record<T: Copy>(pointer: *const T) -> Result<T, Status> {
    check(pointer, 1)?;
    // SAFETY: neither null nor misaligned, and the caller vouches for the value.
    Ok(unsafe { pointer.read() })
}

/// Whether a result can be written.
pub(crate) fn writable<T>(pointer: *mut T) -> Result<(), Status> {
    check(pointer, 1)
}
