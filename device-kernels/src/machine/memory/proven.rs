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

    /// See [`Grid::constant`].
    #[inline(always)]
    pub fn constant<G: Grid>(self, grid: G, index: u32) -> u32 {
        // SAFETY: the word is in the array and constant, as `proven` promises.
        unsafe { grid.constant(self.place(index)) }
    }

    /// The place of a word that is in range if it is `wanted`.
    #[inline(always)]
    fn place_if(self, wanted: bool, index: u32) -> *mut u32 {
        debug_assert!(!wanted || index < self.len, "word {index} of {}", self.len);
        self.base.wrapping_add(index as usize)
    }

    /// See [`Grid::constant_if`].
    #[inline(always)]
    pub fn constant_if<G: Grid>(self, grid: G, wanted: bool, index: u32, otherwise: u32) -> u32 {
        // SAFETY: a wanted word is in the array and constant, as `proven` promises.
        unsafe { grid.constant_if(wanted, self.place_if(wanted, index), otherwise) }
    }

    /// See [`Grid::load_weak_if`].
    #[inline(always)]
    pub fn load_weak_if<G: Grid>(self, grid: G, wanted: bool, index: u32, otherwise: u32) -> u32 {
        // SAFETY: a wanted word is in the array, as `proven` promises.
        unsafe { grid.load_weak_if(wanted, self.place_if(wanted, index), otherwise) }
    }

    /// See [`Grid::min_if`].
    #[inline(always)]
    pub fn min_if<G: Grid>(self, grid: G, wanted: bool, index: u32, values: [u32; 2]) -> u32 {
        // SAFETY: a wanted word is in the array, as `proven` promises.
        unsafe { grid.min_if(wanted, self.place_if(wanted, index), values) }
    }

    /// See [`Grid::or_if`].
    #[inline(always)]
    pub fn or_if<G: Grid>(self, grid: G, wanted: bool, index: u32, values: [u32; 2]) -> u32 {
        // SAFETY: a wanted word is in the array, as `proven` promises.
        unsafe { grid.or_if(wanted, self.place_if(wanted, index), values) }
    }

    /// See [`Grid::constant4`]; `index` is a multiple of four.
    #[inline(always)]
    pub fn constant4<G: Grid>(self, grid: G, index: u32) -> [u32; 4] {
        debug_assert!(index.is_multiple_of(4) && index + 3 < self.len);
        // SAFETY: the words are in the array, aligned and constant, as `proven` promises.
        unsafe { grid.constant4(self.place(index)) }
    }

    /// See [`Grid::constant4_kept`]; `index` is a multiple of four.
    #[inline(always)]
    pub fn constant4_kept<G: Grid>(self, grid: G, index: u32) -> [u32; 4] {
        debug_assert!(index.is_multiple_of(4) && index + 3 < self.len);
        // SAFETY: as for `constant4`.
        unsafe { grid.constant4_kept(self.place(index)) }
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

    /// See [`Grid::load_weak_wide`]; `index` is that of the low word and even.
    #[inline(always)]
    pub fn load_weak_wide<G: Grid>(self, grid: G, index: u32) -> u64 {
        debug_assert!(index.is_multiple_of(2) && index + 1 < self.len);
        // SAFETY: both words are in the array and aligned, as `proven` promises.
        unsafe { grid.load_weak_wide(self.place(index)) }
    }

    /// See [`Grid::store_weak_wide`]; `index` is that of the low word and even.
    #[inline(always)]
    pub fn store_weak_wide<G: Grid>(self, grid: G, index: u32, value: u64) {
        debug_assert!(index.is_multiple_of(2) && index + 1 < self.len);
        // SAFETY: both words are in the array and aligned, as `proven` promises.
        unsafe { grid.store_weak_wide(self.place(index), value) }
    }

    /// See [`Grid::load_weak4`]; `index` is a multiple of four.
    #[inline(always)]
    pub fn load_weak4<G: Grid>(self, grid: G, index: u32) -> [u32; 4] {
        debug_assert!(index.is_multiple_of(4) && index + 3 < self.len);
        // SAFETY: the words are in the array and aligned, as `proven` promises.
        unsafe { grid.load_weak4(self.place(index)) }
    }

    /// See [`Grid::load_weak4_once`]; `index` is a multiple of four.
    #[inline(always)]
    pub fn load_weak4_once<G: Grid>(self, grid: G, index: u32) -> [u32; 4] {
        debug_assert!(index.is_multiple_of(4) && index + 3 < self.len);
        // SAFETY: the words are in the array and aligned, as `proven` promises.
        unsafe { grid.load_weak4_once(self.place(index)) }
    }

    /// See [`Grid::store_weak4`]; `index` is a multiple of four.
    #[inline(always)]
    pub fn store_weak4<G: Grid>(self, grid: G, index: u32, values: [u32; 4]) {
        debug_assert!(index.is_multiple_of(4) && index + 3 < self.len);
        // SAFETY: the words are in the array and aligned, as `proven` promises.
        unsafe { grid.store_weak4(self.place(index), values) }
    }

    /// See [`Grid::add_wide`]; `index` is that of the low word and even.
    #[inline(always)]
    pub fn add_wide<G: Grid>(self, grid: G, index: u32, value: u64) -> u64 {
        debug_assert!(index.is_multiple_of(2) && index + 1 < self.len);
        // SAFETY: both words are in the array and aligned, as `proven` promises.
        unsafe { grid.add_wide(self.place(index), value) }
    }

    /// See [`Grid::load_wide`]; `index` is that of the low word and even.
    #[inline(always)]
    pub fn load_wide<G: Grid>(self, grid: G, index: u32) -> u64 {
        debug_assert!(index.is_multiple_of(2) && index + 1 < self.len);
        // SAFETY: both words are in the array and aligned, as `proven` promises.
        unsafe { grid.load_wide(self.place(index)) }
    }

    /// See [`Grid::min_wide`]; `index` is that of the low word and even.
    #[inline(always)]
    pub fn min_wide<G: Grid>(self, grid: G, index: u32, value: u64) -> u64 {
        debug_assert!(index.is_multiple_of(2) && index + 1 < self.len);
        // SAFETY: both words are in the array and aligned, as `proven` promises.
        unsafe { grid.min_wide(self.place(index), value) }
    }

    /// See [`Grid::swap_wide_if`]; `index` is that of the low word and even.
    #[inline(always)]
    pub fn swap_wide_if<G: Grid>(self, grid: G, index: u32, expected: u64, value: u64) -> u64 {
        debug_assert!(index.is_multiple_of(2) && index + 1 < self.len);
        // SAFETY: both words are in the array and aligned, as `proven` promises.
        unsafe { grid.swap_wide_if(self.place(index), expected, value) }
    }

    /// See [`Grid::signal`].
    #[inline(always)]
    pub fn signal<G: Grid>(self, grid: G, index: u32) {
        // SAFETY: the word is in the array, as `proven` promises.
        unsafe { grid.signal(self.place(index)) }
    }

    /// See [`Grid::arrive`].
    #[inline(always)]
    pub fn arrive<G: Grid>(self, grid: G, index: u32) -> u32 {
        // SAFETY: the word is in the array, as `proven` promises.
        unsafe { grid.arrive(self.place(index)) }
    }

    /// See [`Grid::poll`].
    #[inline(always)]
    pub fn poll<G: Grid>(self, grid: G, index: u32) -> u32 {
        // SAFETY: the word is in the array, as `proven` promises.
        unsafe { grid.poll(self.place(index)) }
    }
}
