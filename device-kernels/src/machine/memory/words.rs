//! An array whose indices are checked at the access, or trusted.

use super::missed::miss;
use crate::machine::Grid;
use core::marker::PhantomData;

/// A resident array of 32-bit words.
#[derive(Clone, Copy, Debug)]
pub struct Words<T: Trust = Checked> {
    pub(super) base: *mut u32,
    pub(super) len: u32,
    pub(super) trust: PhantomData<T>,
}

/// A resident array whose indices are proved to be in range.
pub type Proven = Words<Proof>;

/// Indices are checked at each access.
#[derive(Clone, Copy, Debug)]
pub struct Checked;

/// The caller of [`Words::proven`] proved the indices.
#[derive(Clone, Copy, Debug)]
pub struct Proof;

mod sealed {
    pub trait Sealed {}
    impl Sealed for super::Checked {}
    impl Sealed for super::Proof {}
}

/// Whether the indices of an array are checked or trusted.
pub trait Trust: Copy + sealed::Sealed {
    /// Whether word `index` of `len` may be accessed.
    fn allows<G: Grid>(grid: G, index: u32, len: u32) -> bool;
}

impl Trust for Checked {
    #[inline(always)]
    fn allows<G: Grid>(grid: G, index: u32, len: u32) -> bool {
        if index >= len {
            miss(grid, index, len);
        }
        index < len
    }
}

impl Trust for Proof {
    #[inline(always)]
    fn allows<G: Grid>(_grid: G, index: u32, len: u32) -> bool {
        debug_assert!(index < len, "word {index} of {len}");
        true
    }
}

impl Words {
    /// The array of `len` words at `base`.
    ///
    /// # Safety
    /// The words must be valid for the run's accesses as long as the array is
    /// used, and only be accessed through a [`Grid`] during the run.
    #[inline(always)]
    #[must_use]
    pub unsafe fn new(base: *mut u32, len: u32) -> Self {
        Self {
            base,
            len,
            trust: PhantomData,
        }
    }

    /// The same array without a check of its indices.
    ///
    /// # Safety
    /// Every index that it is used with must be below its length. Indices of four words
    /// must be multiples of four and those of pairs even, in an array that starts at a
    /// multiple of 16 bytes. Words read as constant must not be written during the run.
    #[inline(always)]
    #[must_use]
    pub unsafe fn proven(self) -> Proven {
        Words {
            base: self.base,
            len: self.len,
            trust: PhantomData,
        }
    }

    /// The part of `len` words from word `from` on; `None` if it is not in range.
    #[must_use]
    pub fn part(self, from: u64, len: u64) -> Option<Self> {
        if from.checked_add(len)? > u64::from(self.len) {
            return None;
        }
        Some(Self {
            base: self.base.wrapping_add(usize::try_from(from).ok()?),
            len: u32::try_from(len).ok()?,
            trust: PhantomData,
        })
    }

    /// See [`Grid::prefetch`]; nothing for an index out of range, which no one has to know.
    #[inline(always)]
    pub fn prefetch<G: Grid>(self, grid: G, index: u32) {
        if index < self.len {
            // SAFETY: the word is in the array.
            unsafe { grid.prefetch(self.base.wrapping_add(index as usize)) }
        }
    }

    /// No words of this array.
    #[must_use]
    pub fn nothing(self) -> Self {
        Self { len: 0, ..self }
    }
}

impl<T: Trust> Words<T> {
    /// The same array with a check of its indices.
    #[inline(always)]
    #[must_use]
    pub fn checked(self) -> Words {
        Words {
            base: self.base,
            len: self.len,
            trust: PhantomData,
        }
    }

    /// Length in words.
    #[inline(always)]
    #[must_use]
    pub fn len(self) -> u32 {
        self.len
    }

    /// Address of the first word.
    #[inline(always)]
    #[must_use]
    pub fn address(self) -> u64 {
        self.base as u64
    }

    /// Whether the array has no words.
    #[inline(always)]
    #[must_use]
    pub fn is_empty(self) -> bool {
        self.len == 0
    }

    /// Word `index`, if it may be accessed.
    #[inline(always)]
    fn at<G: Grid>(self, grid: G, index: u32) -> Option<*mut u32> {
        T::allows(grid, index, self.len).then(|| self.base.wrapping_add(index as usize))
    }

    /// The low word of a pair of words at `index` and whether it is aligned, if both may be accessed.
    #[inline(always)]
    fn pair_at<G: Grid>(self, grid: G, index: u32) -> Option<(*mut u32, bool)> {
        T::allows(grid, index.saturating_add(1), self.len).then(|| {
            let word = self.base.wrapping_add(index as usize);
            (word, word.cast::<u64>().is_aligned())
        })
    }

    /// [`Self::load_weak`] of words `index` and `index + 1`, low word first.
    #[inline(always)]
    pub fn load_weak_pair<G: Grid>(self, grid: G, index: u32) -> u64 {
        match self.pair_at(grid, index) {
            // SAFETY: both words are in the array, whose validity `new` promises, and aligned.
            Some((word, true)) => unsafe { grid.load_weak_wide(word) },
            // SAFETY: both words are in the array, whose validity `new` promises.
            Some((word, false)) => unsafe {
                let high = u64::from(grid.load_weak(word.wrapping_add(1)));
                u64::from(grid.load_weak(word)) | high << 32
            },
            None => 0,
        }
    }

    /// [`Self::store_weak`] of words `index` and `index + 1`, low word first.
    #[inline(always)]
    pub fn store_weak_pair<G: Grid>(self, grid: G, index: u32, value: u64) {
        match self.pair_at(grid, index) {
            // SAFETY: both words are in the array, whose validity `new` promises, and aligned.
            Some((word, true)) => unsafe { grid.store_weak_wide(word, value) },
            // SAFETY: both words are in the array, whose validity `new` promises.
            Some((word, false)) => unsafe {
                grid.store_weak(word, value as u32);
                grid.store_weak(word.wrapping_add(1), (value >> 32) as u32);
            },
            None => {}
        }
    }
}

/// Accesses to a word of an array.
macro_rules! accesses {
    ($($name:ident($($value:ident),*) $(-> $found:ty)?;)*) => {
        impl<T: Trust> Words<T> {$(
            #[doc = concat!("See [`Grid::", stringify!($name), "`]; nothing or 0 for an index out of range.")]
            #[inline(always)]
            pub fn $name<G: Grid>(self, grid: G, index: u32 $(, $value: u32)*) $(-> $found)? {
                match self.at(grid, index) {
                    // SAFETY: the word is in the array, whose validity `new` promises.
                    Some(word) => unsafe { grid.$name(word $(, $value)*) },
                    None => Default::default(),
                }
            }
        )*}
    };
}

accesses! {
    load_weak() -> u32;
    store_weak(value);
    load() -> u32;
    store(value);
    add(value) -> u32;
    or(value) -> u32;
    min(value) -> u32;
    max(value) -> u32;
    swap_if(expected, value) -> u32;
}
