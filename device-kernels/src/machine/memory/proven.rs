//! Accesses that need a proof of their index.

use super::words::{Proven, Words};
use crate::machine::Grid;
use core::marker::PhantomData;

impl Proven {
    /// The array of `len` words at `base`.
    ///
    /// # Safety
    /// As [`Words::new`] and [`Words::proven`].
    #[inline(always)]
    #[must_use]
    pub unsafe fn trusted(base: *mut u32, len: u32) -> Self {
        Words {
            base,
            len,
            trust: PhantomData,
        }
    }

    /// The part of `len` words from word `from` on, which are in range.
    #[inline(always)]
    #[must_use]
    pub fn part(self, from: u64, len: u32) -> Self {
        debug_assert!(
            from + u64::from(len) <= u64::from(self.len),
            "part {from}+{len} of {}",
            self.len
        );
        Self {
            base: self.base.wrapping_add(from as usize),
            len,
            trust: PhantomData,
        }
    }

    #[inline(always)]
    fn place(self, index: u32) -> *mut u32 {
        debug_assert!(index < self.len, "word {index} of {}", self.len);
        self.base.wrapping_add(index as usize)
    }

    /// The place of a word that is in range if it is `wanted`.
    #[inline(always)]
    fn place_if(self, wanted: bool, index: u32) -> *mut u32 {
        debug_assert!(!wanted || index < self.len, "word {index} of {}", self.len);
        self.base.wrapping_add(index as usize)
    }

    /// Words `index` and `index + 1`, see [`Words::constant`], as one.
    #[inline(always)]
    pub fn constant_wide<G: Grid>(self, grid: G, index: u32) -> u64 {
        let [low, high] = [0, 1].map(|half| self.constant(grid, index + half));
        u64::from(low) | u64::from(high) << 32
    }

    /// See [`Grid::prefetch`]; the word after the last one is allowed.
    #[inline(always)]
    pub fn prefetch<G: Grid>(self, grid: G, index: u32) {
        debug_assert!(index <= self.len, "word {index} of {}", self.len);
        // SAFETY: the word is in the array or directly after it.
        unsafe { grid.prefetch(self.base.wrapping_add(index as usize)) }
    }
}

/// Accesses to as many adjacent words, from a multiple of their number on.
macro_rules! accesses {
    ($words:literal $($name:ident($($value:ident: $type:ty),*) $(-> $found:ty)?;)*) => {
        impl Proven {$(
            #[doc = concat!("See [`Grid::", stringify!($name), "`]; `index` is a multiple of ", $words, ".")]
            #[inline(always)]
            pub fn $name<G: Grid>(self, grid: G, index: u32 $(, $value: $type)*) $(-> $found)? {
                debug_assert!(index.is_multiple_of($words) && index + ($words - 1) < self.len);
                // SAFETY: the words are in the array, aligned, and constant where they are read
                // so, as `proven` promises.
                unsafe { grid.$name(self.place(index) $(, $value)*) }
            }
        )*}
    };
}

accesses! { 1
    constant() -> u32;
    signal();
    arrive() -> u32;
    poll() -> u32;
}

accesses! { 2
    load_weak_wide() -> u64;
    store_weak_wide(value: u64);
    add_wide(value: u64) -> u64;
    load_wide() -> u64;
    min_wide(value: u64) -> u64;
    swap_wide_if(expected: u64, value: u64) -> u64;
}

accesses! { 4
    constant4() -> [u32; 4];
    constant4_kept() -> [u32; 4];
    load_weak4() -> [u32; 4];
    load_weak4_once() -> [u32; 4];
    store_weak4(values: [u32; 4]);
}

/// Accesses to a word that is in range if it is wanted.
macro_rules! accesses_if {
    ($($name:ident($value:ident: $type:ty);)*) => {
        impl Proven {$(
            #[doc = concat!("See [`Grid::", stringify!($name), "`].")]
            #[inline(always)]
            pub fn $name<G: Grid>(self, grid: G, wanted: bool, index: u32, $value: $type) -> u32 {
                // SAFETY: a wanted word is in the array, and constant where it is read so, as
                // `proven` promises.
                unsafe { grid.$name(wanted, self.place_if(wanted, index), $value) }
            }
        )*}
    };
}

accesses_if! {
    constant_if(otherwise: u32);
    load_weak_if(otherwise: u32);
    min_if(values: [u32; 2]);
    or_if(values: [u32; 2]);
}
