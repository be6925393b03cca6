//! Arrays of words that a run reads and writes.
//!
//! [`Words`] is a base and a length, and checks every index. An index out of range reads
//! 0, writes nothing and is remembered, so that the wave can end as a fault
//! ([`none_missed`]). [`Proven`] is the same array without the check, which would cost a
//! branch an edge in hot loops: whoever makes one states the proof. Debug builds check
//! its indices too, and there every kernel is tested on the CPU.

use crate::block::shared::MISSED;
use crate::grid::Grid;
use core::marker::PhantomData;
use seawall_core::abi::control::FaultCode;

/// A resident array of 32-bit words.
#[derive(Clone, Copy, Debug)]
pub struct Words<T: Trust = Checked> {
    base: *mut u32,
    len: u32,
    trust: PhantomData<T>,
}

/// A resident array whose indices somebody has proved to be in range.
pub type Proven = Words<Proof>;

/// Indices are checked at each access.
#[derive(Clone, Copy, Debug)]
pub struct Checked;

/// Indices are proved by whoever called [`Words::proven`].
#[derive(Clone, Copy, Debug)]
pub struct Proof;

mod sealed {
    pub trait Sealed {}
    impl Sealed for super::Checked {}
    impl Sealed for super::Proof {}
}

/// How far the indices of an array are trusted.
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

/// Remembers the first index of this block that was out of range.
#[cold]
#[inline(never)]
fn miss<G: Grid>(grid: G, index: u32, len: u32) {
    // SAFETY: three fixed words of shared memory.
    unsafe {
        if grid.shared_add(MISSED, 1) == 0 {
            grid.shared_store(MISSED + 1, index);
            grid.shared_store(MISSED + 2, len);
        }
    }
}

/// Notes an index that was out of range of what has `len` entries.
#[inline(always)]
pub(crate) fn note_missed<G: Grid>(grid: G, index: u32, len: u32) {
    miss(grid, index, len);
}

/// Forgets what was missed; one lane calls this.
#[inline(always)]
pub(crate) fn forget_missed<G: Grid>(grid: G) {
    // SAFETY: a fixed word of shared memory.
    unsafe { grid.shared_store(MISSED, 0) };
}

/// The first index of this block that was out of range, and the length of its array.
#[inline(always)]
pub(crate) fn missed<G: Grid>(grid: G) -> (u32, u32) {
    // SAFETY: fixed words of shared memory.
    unsafe { (grid.shared_load(MISSED + 1), grid.shared_load(MISSED + 2)) }
}

/// Ends a wave that takes indices out of memory. A block operation: its lanes agree.
///
/// # Errors
/// [`FaultCode::BadIndex`] when a lane of the block used an index out of range.
#[inline(always)]
pub fn none_missed<G: Grid>(grid: G) -> Result<(), FaultCode> {
    // A lane sees its own note at once, so the vote misses none.
    // SAFETY: a fixed word of shared memory.
    let any = unsafe { grid.shared_load(MISSED) } != 0;
    if grid.block_any(any) {
        Err(FaultCode::BadIndex)
    } else {
        Ok(())
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
}

impl<T: Trust> Words<T> {
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

    /// Whether word `index` may be accessed; one that may not is noted.
    #[inline(always)]
    pub(crate) fn holds<G: Grid>(self, grid: G, index: u32) -> bool {
        T::allows(grid, index, self.len)
    }

    /// Word `index`, if it may be accessed.
    #[inline(always)]
    fn at<G: Grid>(self, grid: G, index: u32) -> Option<*mut u32> {
        T::allows(grid, index, self.len).then(|| self.base.wrapping_add(index as usize))
    }

    /// See [`Grid::load_weak`]; 0 for an index out of range.
    #[inline(always)]
    pub fn load_weak<G: Grid>(self, grid: G, index: u32) -> u32 {
        match self.at(grid, index) {
            // SAFETY: the word is in the array, whose validity `new` promises.
            Some(word) => unsafe { grid.load_weak(word) },
            None => 0,
        }
    }

    /// See [`Grid::store_weak`]; nothing for an index out of range.
    #[inline(always)]
    pub fn store_weak<G: Grid>(self, grid: G, index: u32, value: u32) {
        if let Some(word) = self.at(grid, index) {
            // SAFETY: the word is in the array, whose validity `new` promises.
            unsafe { grid.store_weak(word, value) }
        }
    }

    /// See [`Grid::load`]; 0 for an index out of range.
    #[inline(always)]
    pub fn load<G: Grid>(self, grid: G, index: u32) -> u32 {
        match self.at(grid, index) {
            // SAFETY: the word is in the array, whose validity `new` promises.
            Some(word) => unsafe { grid.load(word) },
            None => 0,
        }
    }

    /// See [`Grid::store`]; nothing for an index out of range.
    #[inline(always)]
    pub fn store<G: Grid>(self, grid: G, index: u32, value: u32) {
        if let Some(word) = self.at(grid, index) {
            // SAFETY: the word is in the array, whose validity `new` promises.
            unsafe { grid.store(word, value) }
        }
    }

    /// See [`Grid::add`]; 0 for an index out of range.
    #[inline(always)]
    pub fn add<G: Grid>(self, grid: G, index: u32, value: u32) -> u32 {
        match self.at(grid, index) {
            // SAFETY: the word is in the array, whose validity `new` promises.
            Some(word) => unsafe { grid.add(word, value) },
            None => 0,
        }
    }

    /// See [`Grid::or`]; 0 for an index out of range.
    #[inline(always)]
    pub fn or<G: Grid>(self, grid: G, index: u32, value: u32) -> u32 {
        match self.at(grid, index) {
            // SAFETY: the word is in the array, whose validity `new` promises.
            Some(word) => unsafe { grid.or(word, value) },
            None => 0,
        }
    }

    /// See [`Grid::min`]; 0 for an index out of range.
    #[inline(always)]
    pub fn min<G: Grid>(self, grid: G, index: u32, value: u32) -> u32 {
        match self.at(grid, index) {
            // SAFETY: the word is in the array, whose validity `new` promises.
            Some(word) => unsafe { grid.min(word, value) },
            None => 0,
        }
    }

    /// See [`Grid::max`]; 0 for an index out of range.
    #[inline(always)]
    pub fn max<G: Grid>(self, grid: G, index: u32, value: u32) -> u32 {
        match self.at(grid, index) {
            // SAFETY: the word is in the array, whose validity `new` promises.
            Some(word) => unsafe { grid.max(word, value) },
            None => 0,
        }
    }

    /// See [`Grid::swap_if`]; 0 for an index out of range.
    #[inline(always)]
    pub fn swap_if<G: Grid>(self, grid: G, index: u32, expected: u32, value: u32) -> u32 {
        match self.at(grid, index) {
            // SAFETY: the word is in the array, whose validity `new` promises.
            Some(word) => unsafe { grid.swap_if(word, expected, value) },
            None => 0,
        }
    }
}

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

    /// See [`Grid::constant4`]; `index` is a multiple of four.
    #[inline(always)]
    pub fn constant4<G: Grid>(self, grid: G, index: u32) -> [u32; 4] {
        debug_assert!(index.is_multiple_of(4) && index + 3 < self.len);
        // SAFETY: the words are in the array, aligned and constant, as `proven` promises.
        unsafe { grid.constant4(self.place(index)) }
    }

    /// Words `index` and `index + 1`, see [`Words::constant`], as one.
    #[inline(always)]
    pub fn constant_wide<G: Grid>(self, grid: G, index: u32) -> u64 {
        let [low, high] = [0, 1].map(|half| self.constant(grid, index + half));
        u64::from(low) | u64::from(high) << 32
    }

    /// See [`Grid::prefetch`]; the word after the last one may be asked for.
    #[inline(always)]
    pub fn prefetch<G: Grid>(self, grid: G, index: u32) {
        debug_assert!(index <= self.len, "word {index} of {}", self.len);
        // SAFETY: the word is in the array or just behind it.
        unsafe { grid.prefetch(self.base.wrapping_add(index as usize)) }
    }

    /// See [`Grid::load_weak4`]; `index` is a multiple of four.
    #[inline(always)]
    pub fn load_weak4<G: Grid>(self, grid: G, index: u32) -> [u32; 4] {
        debug_assert!(index.is_multiple_of(4) && index + 3 < self.len);
        // SAFETY: the words are in the array and aligned, as `proven` promises.
        unsafe { grid.load_weak4(self.place(index)) }
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
    offsets: Proven,
    targets: Proven,
}

impl Csr {
    /// Rows that start at `offsets[v]` and end at `offsets[v + 1]`.
    #[must_use]
    pub fn new(offsets: Proven, targets: Proven) -> Self {
        Self { offsets, targets }
    }

    /// Edges of all rows.
    #[inline(always)]
    #[must_use]
    pub fn edges(self) -> u32 {
        self.targets.len()
    }

    /// Offsets and targets.
    #[inline(always)]
    pub(crate) fn arrays(self) -> [Proven; 2] {
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
