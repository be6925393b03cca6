//! Words that a graph owns or borrows from a mapped file.
//!
//! A `.swg` file is used where it lies; every other source builds vectors. The
//! rest of the room sees a slice in both cases. This module does not validate
//! what the words mean.

use std::marker::PhantomData;
use std::ops::{Deref, Range};
use std::sync::Arc;

use bytemuck::Pod;
use memmap2::Mmap;

/// A read-only array of plain words.
#[derive(Clone, Debug)]
pub(super) enum Array<T: Pod> {
    /// Built in memory.
    Owned(Arc<Vec<T>>),
    /// Bytes of a mapped file, whose alignment was checked on construction.
    Mapped(Mapped<T>),
}

/// A byte range of a mapped file, seen as words.
#[derive(Clone, Debug)]
pub(super) struct Mapped<T> {
    map: Arc<Mmap>,
    range: Range<usize>,
    words: PhantomData<T>,
}

impl<T: Pod> Array<T> {
    /// Views a byte range of a map; `None` when it is out of bounds or badly aligned.
    pub(super) fn mapped(map: &Arc<Mmap>, range: Range<usize>) -> Option<Self> {
        bytemuck::try_cast_slice::<u8, T>(map.get(range.clone())?).ok()?;
        Some(Self::Mapped(Mapped {
            map: Arc::clone(map),
            range,
            words: PhantomData,
        }))
    }

    /// Bytes held in anonymous memory; a mapped file holds none.
    pub(super) fn owned_bytes(&self) -> usize {
        match self {
            Self::Owned(words) => size_of_val(words.as_slice()),
            Self::Mapped(_) => 0,
        }
    }
}

impl<T: Pod> From<Vec<T>> for Array<T> {
    fn from(words: Vec<T>) -> Self {
        Self::Owned(Arc::new(words))
    }
}

impl<T: Pod> Deref for Array<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        match self {
            Self::Owned(words) => words,
            // Both steps were checked by `mapped`, and a map never changes its size.
            Self::Mapped(m) => m
                .map
                .get(m.range.clone())
                .and_then(|bytes| bytemuck::try_cast_slice(bytes).ok())
                .unwrap_or(&[]),
        }
    }
}
