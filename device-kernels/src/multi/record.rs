//! The record of one device, and the memory that it names.

use crate::machine::Grid;
use crate::machine::memory::{Csr, Proven, word_of};
use crate::tables::control::Control;
use seawall_core::abi::VERSION;
use seawall_core::abi::multi::{
    DEVICES_MAX, LIST, MAGIC, MAIL_WORDS, MultiRecord, MultiState, StepCounters,
};

const RECORD_WORDS: u32 = (size_of::<MultiRecord>() / 4) as u32;
const STATE_WORDS: u32 = (size_of::<MultiState>() / 4) as u32;
const STEP_WORDS: u32 = (size_of::<StepCounters>() / 4) as u32;

/// A record with its memory.
#[derive(Clone, Copy, Debug)]
pub struct Multi {
    record: Proven,
}

/// Rows of edges.
#[derive(Clone, Copy, Debug)]
pub(super) struct Edges {
    pub(super) offsets: Proven,
    pub(super) ends: Proven,
    /// First node that has a row.
    pub(super) first: u32,
}

impl Edges {
    /// Rows by the number of their node among those that have one.
    #[inline(always)]
    pub(super) fn csr(self) -> Csr {
        Csr::new(self.offsets, self.ends)
    }
}

/// Reads fields of the record.
macro_rules! fields {
    ($($(#[$doc:meta])* $name:ident),*) => {
        $($(#[$doc])*
        #[inline(always)]
        pub(super) fn $name<G: Grid>(self, grid: G) -> u32 {
            self.record.constant(grid, word_of!(MultiRecord, $name))
        })*
    };
}

/// Reads wide fields of the record.
macro_rules! wide_fields {
    ($($(#[$doc:meta])* $name:ident),*) => {
        $($(#[$doc])*
        #[inline(always)]
        pub(super) fn $name<G: Grid>(self, grid: G) -> u64 {
            self.record.constant_wide(grid, word_of!(MultiRecord, $name))
        })*
    };
}

impl Multi {
    /// The part of a run that `record` describes.
    ///
    /// # Safety
    /// `record` must point to a [`MultiRecord`] whose addresses are valid on the machine that runs
    /// this for the lengths that its counts give, until the kernels of all devices have ended; rows
    /// must lie within their arrays, and their ends be nodes of the graph or places after them, or
    /// nodes of this device in rows of outgoing edges; places have nodes of the graph. Only those
    /// kernels may access the memory meanwhile.
    #[must_use]
    pub unsafe fn new(record: *const MultiRecord) -> Self {
        // SAFETY: the record is valid, by this function's contract.
        let record = unsafe { Proven::trusted(record.cast_mut().cast(), RECORD_WORDS) };
        Self { record }
    }

    fields! {
        /// Nodes of the whole graph.
        nodes,
        /// Devices.
        devices,
        /// Number of this device.
        own,
        /// Its first node.
        first,
        /// Node after its last one.
        end,
        /// Most iterations.
        limit,
        /// Damping factor.
        damping,
        /// Units of shares.
        exponent,
        /// Width of a bucket.
        width,
        /// Whether edges have mirror images.
        symmetric,
        /// Edges that lead to this device's nodes.
        edges,
        /// Sources.
        sources,
        /// Rows of incoming edges.
        rows,
        /// Places of frequent sources.
        frequent,
        kind
    }

    wide_fields! {
        /// Edges of the whole graph.
        all_edges,
        /// Edges that leave the sources.
        source_edges,
        /// Mass of nodes without edges.
        dangling,
        /// The change at which ranks have settled.
        settled
    }

    /// The time of the run, nanoseconds.
    #[inline(always)]
    pub(super) fn time_ns<G: Grid>(self, grid: G) -> u64 {
        self.record
            .constant_wide(grid, word_of!(MultiRecord, time_ns))
    }

    /// Whether the record is of this version.
    #[inline(always)]
    pub(super) fn is_current<G: Grid>(self, grid: G) -> bool {
        self.record.constant(grid, word_of!(MultiRecord, magic)) == MAGIC
            && self.record.constant(grid, word_of!(MultiRecord, version)) == VERSION
    }

    /// The control block.
    #[inline(always)]
    pub(super) fn control<G: Grid>(self, grid: G) -> Control {
        let address = self
            .record
            .constant_wide(grid, word_of!(MultiRecord, control));
        // SAFETY: `new` promises one.
        unsafe { Control::at(address) }
    }

    /// The array of `words` words whose address is word `at` of the record.
    #[inline(always)]
    fn array<G: Grid>(self, grid: G, at: u32, words: u32) -> Proven {
        let first = self.record.constant_wide(grid, at) as *mut u32;
        // SAFETY: `new` promises arrays of these lengths.
        unsafe { Proven::trusted(first, words) }
    }

    /// Whether an array is there.
    #[inline(always)]
    fn has<G: Grid>(self, grid: G, at: u32) -> bool {
        self.record.constant_wide(grid, at) != 0
    }

    /// Nodes of this device.
    #[inline(always)]
    pub(super) fn own_nodes<G: Grid>(self, grid: G) -> u32 {
        self.end(grid) - self.first(grid)
    }

    /// First node of device `device`.
    #[inline(always)]
    pub(super) fn cut<G: Grid>(self, grid: G, device: u32) -> u32 {
        self.record
            .constant(grid, word_of!(MultiRecord, cuts) + device)
    }

    /// Words of the bits of this device's nodes.
    #[inline(always)]
    pub(super) fn own_words<G: Grid>(self, grid: G) -> u32 {
        self.own_nodes(grid).div_ceil(32)
    }

    /// Words of the bits of all nodes.
    #[inline(always)]
    pub(super) fn bit_words<G: Grid>(self, grid: G) -> u32 {
        self.nodes(grid).div_ceil(32)
    }

    /// Whether the device has rows of incoming edges.
    #[inline(always)]
    pub(super) fn has_incoming<G: Grid>(self, grid: G) -> bool {
        self.has(grid, word_of!(MultiRecord, in_offsets))
    }

    /// Rows of this device's nodes, or of slices, with the nodes from which edges lead to them.
    #[inline(always)]
    pub(super) fn incoming<G: Grid>(self, grid: G) -> Edges {
        let rows = self.rows(grid) + 1;
        Edges {
            offsets: self.array(grid, word_of!(MultiRecord, in_offsets), rows),
            ends: self.array(grid, word_of!(MultiRecord, in_sources), self.edges(grid)),
            first: self.first(grid),
        }
    }

    /// This device's node of each row, counted from its first, if rows are those of slices.
    #[inline(always)]
    pub(super) fn row_nodes<G: Grid>(self, grid: G) -> Option<Proven> {
        let at = word_of!(MultiRecord, row_nodes);
        self.has(grid, at)
            .then(|| self.array(grid, at, self.rows(grid)))
    }

    /// The node of each place of frequent sources.
    #[inline(always)]
    pub(super) fn frequent_nodes<G: Grid>(self, grid: G) -> Proven {
        let at = word_of!(MultiRecord, frequent_nodes);
        self.array(grid, at, self.frequent(grid))
    }

    /// Rows of all nodes, with the nodes of this device to which edges lead.
    #[inline(always)]
    pub(super) fn outgoing<G: Grid>(self, grid: G) -> Edges {
        let rows = self.nodes(grid) + 1;
        Edges {
            offsets: self.array(grid, word_of!(MultiRecord, out_offsets), rows),
            ends: self.array(grid, word_of!(MultiRecord, out_targets), self.edges(grid)),
            first: 0,
        }
    }

    /// Weights of [`Multi::outgoing`], if there are some.
    #[inline(always)]
    pub(super) fn weights<G: Grid>(self, grid: G) -> Option<Proven> {
        let at = word_of!(MultiRecord, out_weights);
        self.has(grid, at)
            .then(|| self.array(grid, at, self.edges(grid)))
    }

    /// Edges that leave each of this device's nodes.
    #[inline(always)]
    pub(super) fn degrees<G: Grid>(self, grid: G) -> Proven {
        self.array(grid, word_of!(MultiRecord, degrees), self.own_nodes(grid))
    }

    /// Bits of this device's nodes that a step finds.
    #[inline(always)]
    pub(super) fn found<G: Grid>(self, grid: G) -> Proven {
        self.array(grid, word_of!(MultiRecord, found), self.own_words(grid))
    }

    /// Bits of this device's nodes that wait.
    #[inline(always)]
    pub(super) fn waiting<G: Grid>(self, grid: G) -> Proven {
        self.array(grid, word_of!(MultiRecord, waiting), self.own_words(grid))
    }

    /// Long rows that wait for all blocks.
    #[inline(always)]
    pub(super) fn long_rows<G: Grid>(self, grid: G) -> Proven {
        self.array(grid, word_of!(MultiRecord, long_rows), self.nodes(grid))
    }

    /// Sums of shares in long rows.
    #[inline(always)]
    pub(super) fn sums<G: Grid>(self, grid: G) -> Proven {
        let words = self.own_nodes(grid).saturating_mul(2);
        self.array(grid, word_of!(MultiRecord, sums), words)
    }

    /// A word for each node.
    #[inline(always)]
    pub(super) fn values<G: Grid>(self, grid: G) -> Proven {
        self.array(grid, word_of!(MultiRecord, values), self.nodes(grid))
    }

    /// Bits of all nodes, for an even or an odd step.
    #[inline(always)]
    pub(super) fn bits<G: Grid>(self, grid: G, step: u32) -> Proven {
        let words = self.bit_words(grid);
        let both = self.array(grid, word_of!(MultiRecord, bits), words * 2);
        both.part(u64::from(step & 1) * u64::from(words), words)
    }

    /// The list of device `device` after an even or an odd step.
    #[inline(always)]
    pub(super) fn list<G: Grid>(self, grid: G, device: u32, step: u32) -> Proven {
        let all = DEVICES_MAX as u32 * 2 * LIST;
        let lists = self.array(grid, word_of!(MultiRecord, lists), all);
        lists.part(u64::from((device * 2 + (step & 1)) * LIST), LIST)
    }

    /// A word for each node and place, for an even or an odd step.
    #[inline(always)]
    pub(super) fn shares<G: Grid>(self, grid: G, step: u32) -> Proven {
        let words = self.nodes(grid) + self.frequent(grid);
        let first = self
            .record
            .constant_wide(grid, word_of!(MultiRecord, shares)) as *mut u32;
        let before = (step & 1) as usize * words as usize;
        // SAFETY: `new` promises both.
        unsafe { Proven::trusted(first.wrapping_add(before), words) }
    }

    /// The mail of device `device` at an even or an odd epoch.
    #[inline(always)]
    pub(super) fn mail<G: Grid>(self, grid: G, device: u32, epoch: u32) -> Proven {
        let all = DEVICES_MAX as u32 * 2 * MAIL_WORDS;
        let mail = self.array(grid, word_of!(MultiRecord, mail), all);
        mail.part(
            u64::from((device * 2 + (epoch & 1)) * MAIL_WORDS),
            MAIL_WORDS,
        )
    }

    /// A [`MultiState`].
    #[inline(always)]
    pub(super) fn state<G: Grid>(self, grid: G) -> Proven {
        self.array(grid, word_of!(MultiRecord, state), STATE_WORDS)
    }

    /// The counters of a step.
    #[inline(always)]
    pub(super) fn counters<G: Grid>(self, grid: G, step: u32) -> Proven {
        let at = word_of!(MultiState, steps) + step % 3 * STEP_WORDS;
        self.state(grid).part(u64::from(at), STEP_WORDS)
    }

    /// The same words in the memory of another device.
    #[inline(always)]
    pub(super) fn of_device<G: Grid>(self, grid: G, words: Proven, device: u32) -> Proven {
        let at = |device: u32| {
            let at = word_of!(MultiRecord, bases) + 2 * device;
            self.record.constant_wide(grid, at)
        };
        let offset = words.address().wrapping_sub(at(self.own(grid)));
        let first = at(device).wrapping_add(offset) as *mut u32;
        // SAFETY: memory that others write lies at the same offsets on every device, as `new`
        // promises.
        unsafe { Proven::trusted(first, words.len()) }
    }
}
