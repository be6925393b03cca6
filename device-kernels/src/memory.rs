//! Arrays of words that a run reads and writes.
//!
//! [`Words`] is a base and a length. Indices are checked in debug builds,
//! where every kernel is tested on the CPU; release builds trust them, as a
//! bounds check would cost a branch an edge.

use crate::grid::Grid;

/// A resident array of 32-bit words.
#[derive(Clone, Copy, Debug)]
pub struct Words {
    base: *mut u32,
    len: u32,
}

impl Words {
    /// The array of `len` words at `base`.
    ///
    /// # Safety
    /// The words must be valid for the run's accesses as long as the array is
    /// used, and only be accessed through a [`Grid`] during the run.
    #[must_use]
    pub unsafe fn new(base: *mut u32, len: u32) -> Self {
        Self { base, len }
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

    /// The part of `len` words from word `from` on.
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
        }
    }

    #[inline(always)]
    fn at(self, index: u32) -> *mut u32 {
        debug_assert!(index < self.len, "word {index} of {}", self.len);
        self.base.wrapping_add(index as usize)
    }

    /// See [`Grid::constant`].
    #[inline(always)]
    pub fn constant<G: Grid>(self, grid: G, index: u32) -> u32 {
        // SAFETY: the word is in the array, whose validity `new` promises.
        unsafe { grid.constant(self.at(index)) }
    }

    /// See [`Grid::constant4`]; `index` is a multiple of four.
    #[inline(always)]
    pub fn constant4<G: Grid>(self, grid: G, index: u32) -> [u32; 4] {
        debug_assert!(index.is_multiple_of(4) && index + 3 < self.len);
        // SAFETY: the words are in the array, whose base is aligned to 256
        // bytes by the planner and the backends.
        unsafe { grid.constant4(self.at(index)) }
    }

    /// Words `index` and `index + 1`, see [`Words::constant`], as one.
    #[inline(always)]
    pub fn constant_wide<G: Grid>(self, grid: G, index: u32) -> u64 {
        let [low, high] = [0, 1].map(|half| self.constant(grid, index + half));
        u64::from(low) | u64::from(high) << 32
    }

    /// See [`Grid::prefetch`]; the word behind the last one may be asked for.
    #[inline(always)]
    pub fn prefetch<G: Grid>(self, grid: G, index: u32) {
        debug_assert!(index <= self.len, "word {index} of {}", self.len);
        // SAFETY: the word is in the array or just behind it.
        unsafe { grid.prefetch(self.base.wrapping_add(index as usize)) }
    }

    /// See [`Grid::load_weak`].
    #[inline(always)]
    pub fn load_weak<G: Grid>(self, grid: G, index: u32) -> u32 {
        // SAFETY: the word is in the array, whose validity `new` promises.
        unsafe { grid.load_weak(self.at(index)) }
    }

    /// See [`Grid::store_weak`].
    #[inline(always)]
    pub fn store_weak<G: Grid>(self, grid: G, index: u32, value: u32) {
        // SAFETY: the word is in the array, whose validity `new` promises.
        unsafe { grid.store_weak(self.at(index), value) }
    }

    /// See [`Grid::load_weak4`]; `index` is a multiple of four.
    #[inline(always)]
    pub fn load_weak4<G: Grid>(self, grid: G, index: u32) -> [u32; 4] {
        debug_assert!(index.is_multiple_of(4) && index + 3 < self.len);
        // SAFETY: the words are in the array, whose base is aligned to 256
        // bytes by the planner and the backends.
        unsafe { grid.load_weak4(self.at(index)) }
    }

    /// See [`Grid::store_weak4`]; `index` is a multiple of four.
    #[inline(always)]
    pub fn store_weak4<G: Grid>(self, grid: G, index: u32, values: [u32; 4]) {
        debug_assert!(index.is_multiple_of(4) && index + 3 < self.len);
        // SAFETY: the words are in the array, whose base is aligned to 256
        // bytes by the planner and the backends.
        unsafe { grid.store_weak4(self.at(index), values) }
    }

    /// See [`Grid::load`].
    #[inline(always)]
    pub fn load<G: Grid>(self, grid: G, index: u32) -> u32 {
        // SAFETY: the word is in the array, whose validity `new` promises.
        unsafe { grid.load(self.at(index)) }
    }

    /// See [`Grid::store`].
    #[inline(always)]
    pub fn store<G: Grid>(self, grid: G, index: u32, value: u32) {
        // SAFETY: the word is in the array, whose validity `new` promises.
        unsafe { grid.store(self.at(index), value) }
    }

    /// See [`Grid::add`].
    #[inline(always)]
    pub fn add<G: Grid>(self, grid: G, index: u32, value: u32) -> u32 {
        // SAFETY: the word is in the array, whose validity `new` promises.
        unsafe { grid.add(self.at(index), value) }
    }

    /// See [`Grid::add_wide`]; `index` is that of the low word and even.
    #[inline(always)]
    pub fn add_wide<G: Grid>(self, grid: G, index: u32, value: u64) -> u64 {
        debug_assert!(index.is_multiple_of(2) && index + 1 < self.len);
        // SAFETY: both words are in the array, whose base is aligned to 256
        // bytes by the planner and the backends.
        unsafe { grid.add_wide(self.at(index), value) }
    }

    /// See [`Grid::load_wide`]; `index` is that of the low word and even.
    #[inline(always)]
    pub fn load_wide<G: Grid>(self, grid: G, index: u32) -> u64 {
        debug_assert!(index.is_multiple_of(2) && index + 1 < self.len);
        // SAFETY: both words are in the array, whose base is aligned to 256
        // bytes by the planner and the backends.
        unsafe { grid.load_wide(self.at(index)) }
    }

    /// See [`Grid::min_wide`]; `index` is that of the low word and even.
    #[inline(always)]
    pub fn min_wide<G: Grid>(self, grid: G, index: u32, value: u64) -> u64 {
        debug_assert!(index.is_multiple_of(2) && index + 1 < self.len);
        // SAFETY: both words are in the array, whose base is aligned to 256
        // bytes by the planner and the backends.
        unsafe { grid.min_wide(self.at(index), value) }
    }

    /// See [`Grid::or`].
    #[inline(always)]
    pub fn or<G: Grid>(self, grid: G, index: u32, value: u32) -> u32 {
        // SAFETY: the word is in the array, whose validity `new` promises.
        unsafe { grid.or(self.at(index), value) }
    }

    /// See [`Grid::min`].
    #[inline(always)]
    pub fn min<G: Grid>(self, grid: G, index: u32, value: u32) -> u32 {
        // SAFETY: the word is in the array, whose validity `new` promises.
        unsafe { grid.min(self.at(index), value) }
    }

    /// See [`Grid::max`].
    #[inline(always)]
    pub fn max<G: Grid>(self, grid: G, index: u32, value: u32) -> u32 {
        // SAFETY: the word is in the array, whose validity `new` promises.
        unsafe { grid.max(self.at(index), value) }
    }

    /// See [`Grid::swap_if`].
    #[inline(always)]
    pub fn swap_if<G: Grid>(self, grid: G, index: u32, expected: u32, value: u32) -> u32 {
        // SAFETY: the word is in the array, whose validity `new` promises.
        unsafe { grid.swap_if(self.at(index), expected, value) }
    }

    /// See [`Grid::signal`].
    #[inline(always)]
    pub fn signal<G: Grid>(self, grid: G, index: u32) {
        // SAFETY: the word is in the array, whose validity `new` promises.
        unsafe { grid.signal(self.at(index)) }
    }

    /// See [`Grid::arrive`].
    #[inline(always)]
    pub fn arrive<G: Grid>(self, grid: G, index: u32) -> u32 {
        // SAFETY: the word is in the array, whose validity `new` promises.
        unsafe { grid.arrive(self.at(index)) }
    }

    /// See [`Grid::poll`].
    #[inline(always)]
    pub fn poll<G: Grid>(self, grid: G, index: u32) -> u32 {
        // SAFETY: the word is in the array, whose validity `new` promises.
        unsafe { grid.poll(self.at(index)) }
    }
}

/// Word `$field` of the record `$record` that starts at word `$start`.
macro_rules! word_of {
    ($record:ty, $field:ident) => {
        (core::mem::offset_of!($record, $field) / 4) as u32
    };
}
pub(crate) use word_of;

/// A graph's adjacency in compressed sparse rows.
#[derive(Clone, Copy, Debug)]
pub struct Csr {
    offsets: Words,
    targets: Words,
}

impl Csr {
    /// Rows that start at `offsets[v]` and end at `offsets[v + 1]`.
    #[must_use]
    pub fn new(offsets: Words, targets: Words) -> Self {
        Self { offsets, targets }
    }

    /// Offsets and targets.
    #[inline(always)]
    pub(crate) fn arrays(self) -> [Words; 2] {
        [self.offsets, self.targets]
    }

    /// First edge and the edge behind the last one of `node`.
    #[inline(always)]
    pub fn row<G: Grid>(self, grid: G, node: u32) -> (u32, u32) {
        (
            self.offsets.constant(grid, node),
            self.offsets.constant(grid, node + 1),
        )
    }

    /// Targets of four edges from `edge` on, which is a multiple of four.
    #[inline(always)]
    pub fn targets4<G: Grid>(self, grid: G, edge: u32) -> [u32; 4] {
        self.targets.constant4(grid, edge)
    }

    /// Brings the row of `node` nearer, if there is one.
    #[inline(always)]
    pub fn prefetch_row<G: Grid>(self, grid: G, node: u32) {
        self.offsets.prefetch(grid, node.min(self.offsets.len()));
    }

    /// Brings the target of `edge` nearer.
    #[inline(always)]
    pub fn prefetch_target<G: Grid>(self, grid: G, edge: u32) {
        self.targets.prefetch(grid, edge);
    }

    /// Target of `edge`.
    #[inline(always)]
    pub fn target<G: Grid>(self, grid: G, edge: u32) -> u32 {
        self.targets.constant(grid, edge)
    }
}
