//! The launch record and its tables as kernels read them.

pub mod control;
pub mod launch;
pub mod tiles;
pub mod trace;

use crate::machine::Grid;
use crate::machine::memory::{Csr, Proven, Words, word_of};
use crate::machine::shared::{
    Area, GROUPS, GROUPS_HELD, LAUNCH, REGISTERS, REGISTERS_HELD, WAVES, WAVES_HELD,
};
use control::Control;
use seawall_core::abi::control::FaultCode;
use seawall_core::abi::program::{GroupRecord, LaunchRecord, Region, RegisterRecord, WaveRecord};
use seawall_core::abi::search::SearchPolicy;
use seawall_core::abi::tiles::{STEP_EDGES, TileTable};
use seawall_core::topology::{Thresholds, TopologyPolicy};
use tiles::{TILE_WORDS, Tiles};
use trace::Trace;

/// The run's tables. Their first entries lie in shared memory: a wave looks up one record
/// after another before it begins, and a grid barrier empties the first-level cache.
#[derive(Clone, Copy, Debug)]
pub struct Tables(());

/// A wave, by its index in the table.
#[derive(Clone, Copy, Debug)]
pub struct Wave(u32);

impl Wave {
    #[inline(always)]
    fn word<G: Grid>(self, grid: G, at: u32) -> u32 {
        // SAFETY: waves come from tables.
        let tables = unsafe { Tables::held() };
        let table = word_of!(LaunchRecord, wave_table);
        tables.entry(
            grid,
            WAVES.area(),
            WAVES_HELD as u32,
            table,
            WAVE_WORDS,
            self.0,
            at,
        )
    }

    /// Word of its opcode.
    #[inline(always)]
    pub fn opcode<G: Grid>(self, grid: G) -> u32 {
        self.word(grid, word_of!(WaveRecord, opcode))
    }

    /// Its number in the program.
    #[inline(always)]
    pub fn number<G: Grid>(self, grid: G) -> u32 {
        self.word(grid, word_of!(WaveRecord, wave))
    }

    /// The register that it writes.
    #[inline(always)]
    pub fn destination<G: Grid>(self, grid: G) -> u32 {
        self.word(grid, word_of!(WaveRecord, destination))
    }

    /// Register `at` of those that it reads.
    #[inline(always)]
    pub fn source<G: Grid>(self, grid: G, at: u32) -> u32 {
        self.word(grid, word_of!(WaveRecord, sources) + at)
    }

    /// Parameter `at`.
    #[inline(always)]
    pub fn parameter<G: Grid>(self, grid: G, at: u32) -> u32 {
        self.word(grid, word_of!(WaveRecord, parameters) + at)
    }

    /// All parameters.
    #[inline(always)]
    pub fn parameters<G: Grid>(self, grid: G) -> [u32; 5] {
        let at = |at| self.parameter(grid, at);
        // No `map`: it became a call.
        [at(0), at(1), at(2), at(3), at(4)]
    }
}

pub(crate) const LAUNCH_WORDS: u32 = (size_of::<LaunchRecord>() / 4) as u32;
pub(crate) const GROUP_WORDS: u32 = (size_of::<GroupRecord>() / 4) as u32;
pub(crate) const WAVE_WORDS: u32 = (size_of::<WaveRecord>() / 4) as u32;
pub(crate) const REGISTER_WORDS: u32 = (size_of::<RegisterRecord>() / 4) as u32;

impl Tables {
    /// The tables that [`Launch::hold`](self::launch::Launch::hold) left in this block's
    /// shared memory.
    ///
    /// # Safety
    /// It must have done so for this run, and for no other since.
    #[inline(always)]
    pub(crate) unsafe fn held() -> Self {
        Self(())
    }

    #[inline(always)]
    fn word<G: Grid>(self, grid: G, at: u32) -> u32 {
        // SAFETY: the record's words in shared memory are fixed.
        unsafe { LAUNCH.area().load(grid, at) }
    }

    #[inline(always)]
    fn wide<G: Grid>(self, grid: G, at: u32) -> u64 {
        u64::from(self.word(grid, at)) | u64::from(self.word(grid, at + 1)) << 32
    }

    /// Word `at` of entry `index`, which is below the length of its table; shared memory
    /// holds the first entries.
    #[inline(always)]
    fn entry<G: Grid>(
        self,
        grid: G,
        start: Area,
        held: u32,
        table: u32,
        words: u32,
        index: u32,
        at: u32,
    ) -> u32 {
        if index < held {
            // SAFETY: shared memory holds it.
            return unsafe { start.load(grid, index * words + at) };
        }
        let from = u64::from(index) * u64::from(words);
        let base = self.wide(grid, table) as *mut u32;
        // SAFETY: the launch promises that the table is valid for its length, which
        // the index is below, and callers ask for words of an entry.
        let entry = unsafe { Proven::trusted(base.wrapping_add(from as usize), words) };
        entry.constant(grid, at)
    }

    /// An array of the graph. No wave can write it, and the host checked the graph: all
    /// rows and edges stay inside it.
    #[inline(always)]
    fn array<G: Grid>(self, grid: G, at: u32, len: u32) -> Proven {
        let address = self.wide(grid, at);
        // SAFETY: the launch promises that addresses are valid for their lengths, and
        // callers take the length from the field beside the address. Indices are nodes
        // and edges of the graph.
        unsafe { Proven::trusted(address as *mut u32, len) }
    }

    /// Nodes of the graph.
    #[inline(always)]
    pub fn nodes<G: Grid>(self, grid: G) -> u32 {
        self.word(grid, word_of!(LaunchRecord, nodes))
    }

    /// Edges of the graph.
    #[inline(always)]
    pub fn edges<G: Grid>(self, grid: G) -> u32 {
        self.word(grid, word_of!(LaunchRecord, edges))
    }

    /// Top-level groups.
    #[inline(always)]
    pub fn groups<G: Grid>(self, grid: G) -> u32 {
        self.word(grid, word_of!(LaunchRecord, groups))
    }

    /// Rows of outgoing edges.
    #[inline(always)]
    pub fn outgoing<G: Grid>(self, grid: G) -> Csr {
        Csr::new(
            self.array(grid, word_of!(LaunchRecord, offsets), self.nodes(grid) + 1),
            self.array(grid, word_of!(LaunchRecord, targets), self.edges(grid)),
        )
    }

    /// Rows of incoming edges; only valid when the host supplied them.
    #[inline(always)]
    pub fn incoming<G: Grid>(self, grid: G) -> Csr {
        Csr::new(
            self.array(
                grid,
                word_of!(LaunchRecord, incoming_offsets),
                self.nodes(grid) + 1,
            ),
            self.array(
                grid,
                word_of!(LaunchRecord, incoming_targets),
                self.edges(grid),
            ),
        )
    }

    /// Whether the host supplied incoming edges.
    #[inline(always)]
    pub fn has_incoming<G: Grid>(self, grid: G) -> bool {
        self.wide(grid, word_of!(LaunchRecord, incoming_offsets)) != 0
    }

    /// Incoming edges by tiles of rows; `None` if the host supplied none.
    #[inline(always)]
    pub fn tiles<G: Grid>(self, grid: G) -> Option<Tiles> {
        const AT: u32 = word_of!(LaunchRecord, tiles);
        let count = self.word(grid, AT + word_of!(TileTable, tiles));
        if count == 0 {
            return None;
        }
        let steps = self.word(grid, AT + word_of!(TileTable, steps));
        let slots = self.word(grid, AT + word_of!(TileTable, slots));
        let array = |field: u32, len: u32| self.array(grid, AT + field, len);
        Some(Tiles {
            count,
            records: array(word_of!(TileTable, records), count * TILE_WORDS),
            edges: array(word_of!(TileTable, edges), steps * STEP_EDGES),
            bases: array(word_of!(TileTable, bases), steps),
            rows: array(word_of!(TileTable, rows), slots),
        })
    }

    /// Most edges of a row of either kind; 0 if unknown.
    #[inline(always)]
    pub fn longest_row<G: Grid>(self, grid: G) -> u32 {
        self.word(grid, word_of!(LaunchRecord, longest_row))
    }

    /// The code of waves that run some, four words an instruction.
    #[inline(always)]
    pub fn code<G: Grid>(self, grid: G) -> Proven {
        let words = self.word(grid, word_of!(LaunchRecord, code)) * 4;
        self.array(grid, word_of!(LaunchRecord, code_table), words)
    }

    /// Weights of outgoing edges; `None` if the host supplied none.
    #[inline(always)]
    pub fn weights<G: Grid>(self, grid: G) -> Option<Proven> {
        self.weights_at(grid, word_of!(LaunchRecord, weights))
    }

    /// Weights of incoming edges; `None` if the host supplied none.
    #[inline(always)]
    pub fn incoming_weights<G: Grid>(self, grid: G) -> Option<Proven> {
        self.weights_at(grid, word_of!(LaunchRecord, incoming_weights))
    }

    #[inline(always)]
    fn weights_at<G: Grid>(self, grid: G, at: u32) -> Option<Proven> {
        (self.wide(grid, at) != 0).then(|| self.array(grid, at, self.edges(grid)))
    }

    /// Whether the host wants a trace.
    #[inline(always)]
    pub fn is_traced<G: Grid>(self, grid: G) -> bool {
        self.wide(grid, word_of!(LaunchRecord, trace)) != 0
    }

    /// The trace to write, if the host wants one.
    #[inline(always)]
    pub fn trace<G: Grid>(self, grid: G) -> Option<Trace> {
        let address = self.wide(grid, word_of!(LaunchRecord, trace));
        let groups = self.word(grid, word_of!(LaunchRecord, groups_total));
        // SAFETY: the launch promises that the address is valid.
        (address != 0).then(|| unsafe { Trace::at(address, groups) })
    }

    /// The control block.
    #[inline(always)]
    pub fn control<G: Grid>(self, grid: G) -> Control {
        // SAFETY: the launch promises that the address is valid.
        unsafe { Control::at(self.wide(grid, word_of!(LaunchRecord, control))) }
    }

    /// Group `index`, or `None` past the table.
    #[inline(always)]
    pub fn group<G: Grid>(self, grid: G, index: u32) -> Option<GroupRecord> {
        if index >= self.word(grid, word_of!(LaunchRecord, groups_total)) {
            return None;
        }
        let table = word_of!(LaunchRecord, group_table);
        let at = |offset: u32| {
            let (area, held) = (GROUPS.area(), GROUPS_HELD as u32);
            self.entry(grid, area, held, table, GROUP_WORDS, index, offset)
        };
        Some(GroupRecord {
            first_wave: at(0),
            waves: at(1),
            narrow: at(2),
            joined: at(3),
        })
    }

    /// Wave `index` of the table, or `None` past it.
    #[inline(always)]
    pub fn wave<G: Grid>(self, grid: G, index: u32) -> Option<Wave> {
        (index < self.word(grid, word_of!(LaunchRecord, waves))).then_some(Wave(index))
    }

    /// The words of register `index`.
    ///
    /// # Errors
    /// [`FaultCode::BadRegister`] if the table does not hold it.
    #[inline(always)]
    pub fn register<G: Grid>(self, grid: G, index: u32) -> Result<Words, FaultCode> {
        if index >= self.word(grid, word_of!(LaunchRecord, registers)) {
            return Err(FaultCode::BadRegister);
        }
        let table = word_of!(LaunchRecord, register_table);
        let at = |offset: u32| {
            let (area, held) = (REGISTERS.area(), REGISTERS_HELD as u32);
            self.entry(grid, area, held, table, REGISTER_WORDS, index, offset)
        };
        let (region, words) = (at(0), at(1));
        let offset = u64::from(at(2)) | u64::from(at(3)) << 32;
        let base = if region == Region::Input as u32 {
            self.wide(grid, word_of!(LaunchRecord, inputs))
        } else {
            self.wide(grid, word_of!(LaunchRecord, arena))
        };
        // SAFETY: the host checked that the register lies in its region, at a multiple of
        // 16 bytes.
        Ok(unsafe { Words::new((base + offset) as *mut u32, words) })
    }

    /// Register `index` as an array of at least `words` words.
    ///
    /// # Errors
    /// [`FaultCode::BadRegister`] if it does not exist or is shorter.
    #[inline(always)]
    pub fn register_of<G: Grid>(self, grid: G, index: u32, words: u32) -> Result<Words, FaultCode> {
        let register = self.register(grid, index)?;
        if register.len() < words {
            return Err(FaultCode::BadRegister);
        }
        Ok(register)
    }

    /// [`Tables::register_of`], without a check of its indices.
    ///
    /// # Errors
    /// As [`Tables::register_of`].
    ///
    /// # Safety
    /// As [`Words::proven`], where the length is at least `words`.
    #[inline(always)]
    pub unsafe fn proven_of<G: Grid>(
        self,
        grid: G,
        index: u32,
        words: u32,
    ) -> Result<Proven, FaultCode> {
        let register = self.register_of(grid, index, words)?;
        // SAFETY: by this function's contract.
        Ok(unsafe { register.proven() })
    }

    /// Addresses of the arena and of the input region.
    #[inline(always)]
    pub(crate) fn regions<G: Grid>(self, grid: G) -> [u64; 2] {
        [
            self.wide(grid, word_of!(LaunchRecord, arena)),
            self.wide(grid, word_of!(LaunchRecord, inputs)),
        ]
    }

    /// Thresholds of frontier searches.
    #[inline(always)]
    pub fn search_policy<G: Grid>(self, grid: G) -> SearchPolicy {
        const AT: u32 = word_of!(LaunchRecord, search);
        const THRESHOLDS: u32 = AT + word_of!(SearchPolicy, topology);
        let at = |offset: u32| self.word(grid, AT + offset);
        let threshold = |index: u32| self.word(grid, THRESHOLDS + index);
        SearchPolicy {
            forced: at(word_of!(SearchPolicy, forced)),
            narrow_nodes: at(word_of!(SearchPolicy, narrow_nodes)),
            narrow_exit_nodes: at(word_of!(SearchPolicy, narrow_exit_nodes)),
            can_pull: at(word_of!(SearchPolicy, can_pull)),
            pull_edges_min: at(word_of!(SearchPolicy, pull_edges_min)),
            narrow_edges: at(word_of!(SearchPolicy, narrow_edges)),
            memory_pressure_bps: at(word_of!(SearchPolicy, memory_pressure_bps)),
            readback_bytes: at(word_of!(SearchPolicy, readback_bytes)),
            topology: thresholds(threshold),
            step_ns: at(word_of!(SearchPolicy, step_ns)),
            edge_ps: at(word_of!(SearchPolicy, edge_ps)),
        }
    }
}

/// Reads the thresholds word by word.
#[inline(always)]
fn thresholds(word: impl Fn(u32) -> u32) -> TopologyPolicy {
    let words: [u32; size_of::<Thresholds>() / 4] =
        core::array::from_fn(|index| word(index as u32));
    bytemuck::cast(words)
}
