//! One block of memory for a whole batch, and the image that fills it.
//!
//! ```text
//! batch record | launch records | digests | tables | graphs | inputs and results | state | control blocks | arenas
//! '--------------------- the image, uploaded once --------------------' '----- zeroed a run ----'
//! ```
//!
//! Each result register moves from its arena to a place after its graph's inputs. All results are
//! then contiguous and come back in one copy, and an arena can serve the next graph.

use super::piece::{Piece, common};
use super::place::{
    BatchLimits, Cursor, GraphLayout, Tables, by_size, place_arenas, place_graphs, share_tables,
    table,
};
use super::{BatchError, BatchStats, Job};
use crate::backend::code::interpreted;
use crate::backend::record::{Addresses, GraphAddresses, GraphSize, TableAddresses, launch_record};
use crate::backend::{BackendError, CodeReport, HostWork, NamedWaves, fault, resident_digest};
use crate::executor::Executor;
use crate::graph::Graph;
use bytemuck::Zeroable;
use rayon::prelude::*;
use seawall_core::abi::batch::{BatchRecord, BatchState, GRAPHS_MAX};
use seawall_core::abi::code::Instruction;
use seawall_core::abi::control::{ControlRecord, FaultCode, FaultRecord};
use seawall_core::abi::program::LaunchRecord;
use seawall_core::abi::tiles::TileTable;
use seawall_core::abi::{MAGIC, VERSION};
use std::ops::Range;

/// Bytes that a thread fills at a time: few enough to stay in its cache, so that zeroes are
/// overwritten there, and enough to amortise the lookups.
const PIECE: usize = 256 << 10;

/// Fewest graphs whose results a thread copies at a time.
const GRAPHS_AT_ONCE: usize = 64;

/// Offsets of all parts of a batch, in bytes from its start.
#[derive(Debug)]
pub(crate) struct Pack {
    tables: Vec<Tables>,
    places: Vec<GraphLayout>,
    /// Job of each launch record. Large graphs come first, so that none starts when all others are
    /// done.
    order: Vec<u32>,
    workers: u32,
    arena_stride: u64,
    time_budget_ns: u64,
    machine: (Executor, u32),
    launches: u64,
    digests: u64,
    /// The table of code of all programs, and the number of its instructions.
    code: (u64, u32),
    io: Range<u64>,
    state: u64,
    controls: u64,
    arenas: u64,
    bytes: u64,
}

impl Pack {
    /// Checks `jobs` and lays them out. Time is linear in their number and in the tables of their
    /// programs.
    ///
    /// # Errors
    /// As [`Pack::of`] and [`Pack::within`].
    pub(crate) fn new(jobs: &[Job<'_>], space: BatchLimits) -> Result<Self, BatchError> {
        Self::of(jobs)?.within(space)
    }

    /// Checks `jobs` and lays out all but the arenas.
    ///
    /// # Errors
    /// [`BatchError::Job`] if a program, an input and a graph of a job do not match.
    pub(crate) fn of(jobs: &[Job<'_>]) -> Result<Self, BatchError> {
        if jobs.is_empty() || jobs.len() > GRAPHS_MAX as usize {
            return Err(BatchError::Size {
                jobs: jobs.len(),
                most: GRAPHS_MAX,
            });
        }
        let mut cursor = Cursor::default();
        cursor.take(size_of::<BatchRecord>() as u64);
        let launches = cursor.take(table::<LaunchRecord>(jobs.len()));
        let digests = cursor.take(table::<u64>(jobs.len()));
        let (tables, users) = share_tables(jobs, &mut cursor)?;
        let instructions: usize = tables.iter().map(|tables| tables.program.code.len()).sum();
        let code = cursor.take(table::<Instruction>(instructions));
        let mut places = place_graphs(jobs, &users, &mut cursor);
        let io_start = cursor.0;
        for place in &mut places {
            place.io = cursor.take(tables[place.tables].io_bytes);
        }
        let io = io_start..cursor.0;
        let state = cursor.take(size_of::<BatchState>() as u64);
        let controls = cursor.take(table::<ControlRecord>(jobs.len()));
        Ok(Self {
            order: by_size(jobs),
            tables,
            places,
            workers: 0,
            arena_stride: 0,
            time_budget_ns: 0,
            machine: (Executor::Cpu, 0),
            launches,
            digests,
            code: (code, instructions as u32),
            io,
            state,
            controls,
            arenas: cursor.0,
            bytes: cursor.0,
        })
    }

    /// Places the arenas of a machine's workers.
    ///
    /// # Errors
    /// [`BackendError::OutOfMemory`] if there is no space for one worker.
    pub(crate) fn within(mut self, space: BatchLimits) -> Result<Self, BatchError> {
        let mut cursor = Cursor(self.arenas);
        let (workers, arena_stride) =
            place_arenas(&self.tables, &mut self.places, &mut cursor, space)?;
        Ok(Self {
            workers,
            arena_stride,
            time_budget_ns: space.time_budget_ns,
            machine: space.machine,
            bytes: cursor.0,
            ..self
        })
    }

    /// Number of blocks or threads that have arenas.
    pub(crate) const fn workers(&self) -> u32 {
        self.workers
    }

    /// Number of graphs.
    pub(crate) const fn graphs(&self) -> usize {
        self.places.len()
    }

    /// Offset of the control block of the first graph.
    #[cfg_attr(
        not(feature = "cuda"),
        expect(dead_code, reason = "only GPUs get a request to end for each graph")
    )]
    pub(crate) const fn controls_start(&self) -> u64 {
        self.controls
    }

    /// The distinct programs, in the order of the places of their tables.
    pub(crate) fn tables(&self) -> &[Tables] {
        &self.tables
    }

    /// The number of the program of each job.
    pub(super) fn users(&self) -> impl Iterator<Item = usize> {
        self.places.iter().map(|place| place.tables)
    }

    /// How waves of code run where all are interpreted; `None` if there are none.
    #[cfg_attr(
        not(feature = "cuda"),
        expect(dead_code, reason = "threads run machine code")
    )]
    pub(crate) fn interpreted(&self, reason: &str) -> Option<CodeReport> {
        interpreted(self.tables.iter().map(|tables| &*tables.program), reason)
    }

    /// Size of the whole block, bytes.
    pub(crate) const fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Size of the image at its start, bytes.
    pub(crate) const fn image_bytes(&self) -> u64 {
        self.state
    }

    /// The part that must be zero before each run.
    pub(crate) const fn zeroed(&self) -> Range<u64> {
        self.state..self.arenas
    }

    /// The part that holds all inputs and results.
    pub(crate) fn io(&self) -> Range<u64> {
        self.io.clone()
    }

    /// Fills `bytes`, which lie in the image from byte `start` on, for a block at address `base`;
    /// `jobs` are those of [`Pack::new`]. Unused bytes become 0.
    pub(crate) fn write(&self, jobs: &[Job<'_>], base: u64, (start, bytes): (u64, &mut [u8])) {
        let pieces = bytes.par_chunks_mut(PIECE).enumerate();
        pieces.for_each(|(number, bytes)| {
            bytes.fill(0);
            let start = start + (number * PIECE) as u64;
            let piece = &mut Piece { start, bytes };
            self.write_tables(base, piece);
            self.write_launches(jobs, base, piece);
            for at in near(&self.places, &piece.range(), |place| place.offsets) {
                write_graph(jobs[at].graph, &self.places[at], piece);
            }
            for at in near(&self.places, &piece.range(), |place| place.io) {
                piece.put(self.places[at].io, &jobs[at].inputs);
            }
        });
    }

    /// Writes the batch record and the tables of all programs.
    fn write_tables(&self, base: u64, piece: &mut Piece<'_>) {
        let record = BatchRecord {
            magic: MAGIC,
            version: VERSION,
            graphs: self.places.len() as u32,
            reserved: 0,
            state: base + self.state,
            launches: base + self.launches,
            arena_stride: self.arena_stride,
            time_budget_ns: self.time_budget_ns,
        };
        piece.put(0, std::slice::from_ref(&record));
        for tables in &self.tables {
            piece.put(tables.group_table, &tables.program.groups);
            piece.put(tables.wave_table, &tables.waves);
            piece.put(tables.register_table, &tables.registers);
            let code = self.code.0 + table::<Instruction>(tables.first_code as usize);
            piece.put(code, &tables.program.code);
        }
    }

    /// Writes the launch records and the digests.
    fn write_launches(&self, jobs: &[Job<'_>], base: u64, piece: &mut Piece<'_>) {
        for position in piece.records::<LaunchRecord>(self.launches, jobs.len()) {
            let at = self.order[position] as usize;
            let launch = self.launch(jobs[at].graph, at, base);
            let start = self.launches + table::<LaunchRecord>(position);
            piece.put(start, std::slice::from_ref(&launch));
        }
        for at in piece.records::<u64>(self.digests, jobs.len()) {
            piece.put(self.digests + table::<u64>(at), &[self.digest(&jobs[at])]);
        }
    }

    /// The digest of a job's graph, if its program was planned for one.
    fn digest(&self, job: &Job<'_>) -> u64 {
        let (executor, device) = self.machine;
        match job.program.planned_for {
            0 => 0,
            _ => resident_digest(job.graph, executor, device),
        }
    }

    /// The launch record of job `at`.
    fn launch(&self, graph: &Graph, at: usize, base: u64) -> LaunchRecord {
        let place = &self.places[at];
        let tables = &self.tables[place.tables];
        let program = &tables.program;
        let (incoming, incoming_weights) = if graph.is_symmetric() {
            (Some((place.offsets, place.targets)), place.weights)
        } else {
            (place.incoming, place.incoming_weights)
        };
        let address = |offset: Option<u64>| offset.map_or(0, |offset| base + offset);
        let resident = base + self.digests + table::<u64>(at);
        let at = Addresses {
            graph: GraphAddresses {
                offsets: base + place.offsets,
                targets: base + place.targets,
                weights: address(place.weights),
                incoming_offsets: address(incoming.map(|(offsets, _)| offsets)),
                incoming_targets: address(incoming.map(|(_, targets)| targets)),
                incoming_weights: address(incoming_weights),
                resident,
                tiles: TileTable::default(),
                longest_row: 0,
            },
            tables: TableAddresses {
                groups: base + tables.group_table,
                waves: base + tables.wave_table,
                registers: base + tables.register_table,
                code: base + self.code.0,
            },
            arena: base + place.arena,
            inputs: base + place.io,
            control: base + self.controls + table::<ControlRecord>(at),
            trace: 0,
            // A batch takes all available memory, to run more graphs at once.
            memory_pressure_bps: 0,
        };
        LaunchRecord {
            code: self.code.1,
            ..launch_record(program, GraphSize::of(graph), &at, self.time_budget_ns)
        }
    }

    /// Appends to each of `results` what `bytes`, which lie from byte `start` of the block on, hold
    /// of it after a run.
    pub(crate) fn gather(&self, start: u64, bytes: &[u8], results: &mut [Vec<u32>]) {
        let here = start..start + bytes.len() as u64;
        let near = near(&self.places, &here, |place| place.io);
        let graphs = self.places[near.clone()].par_iter();
        let results = results[near].par_iter_mut();
        let graphs = graphs.zip(results).with_min_len(GRAPHS_AT_ONCE);
        graphs.for_each(|(place, words)| {
            let within = &self.tables[place.tables].result;
            let result = place.io + within.start..place.io + within.end;
            if let Some((part, _)) = common(&here, &result) {
                words.reserve_exact(((within.end - within.start) / 4) as usize - words.len());
                let found = bytes[part].chunks_exact(4);
                words.extend(found.map(bytemuck::pod_read_unaligned::<u32>));
            }
        });
    }

    /// Reads the control blocks from `zeroed`, the bytes of [`Pack::zeroed`] after a run.
    ///
    /// # Errors
    /// The first fault.
    pub(crate) fn controls(&self, zeroed: &[u8]) -> Result<Vec<ControlRecord>, BatchError> {
        let state: BatchState = take(zeroed, 0);
        let first = self.controls - self.state;
        let controls: Vec<ControlRecord> = (0..self.places.len())
            .into_par_iter()
            .with_min_len(256)
            .map(|job| take(zeroed, first + table::<ControlRecord>(job)))
            .collect();
        match self.faulted(state.fault) {
            None => Ok(controls),
            Some(None) => Err(bad_record().into()),
            Some(Some(index)) => Err(BatchError::Job {
                index,
                source: fault(
                    &NamedWaves::of(&self.tables[self.places[index].tables].program),
                    &controls[index],
                ),
            }),
        }
    }

    /// Decodes the fault word: no fault, a bad record, or a job.
    fn faulted(&self, word: u32) -> Option<Option<usize>> {
        let position = word.checked_sub(1)?;
        Some(self.order.get(position as usize).map(|job| *job as usize))
    }

    /// Joins the results of one run.
    ///
    /// # Errors
    /// As [`Pack::controls`].
    pub(crate) fn stats(
        &self,
        run_ns: u64,
        host: HostWork,
        zeroed: &[u8],
    ) -> Result<BatchStats, BatchError> {
        Ok(BatchStats {
            run_ns,
            host,
            code: None,
            controls: self.controls(zeroed)?,
        })
    }
}

/// Returns the error for a batch record that the kernel refused.
fn bad_record() -> BackendError {
    BackendError::Fault {
        record: FaultRecord {
            code: FaultCode::BadBatch as u32,
            ..Zeroable::zeroed()
        },
        wave_name: "the batch record".to_owned(),
        missing: Box::default(),
        registers: Box::default(),
    }
}

/// Returns the numbers of the graphs of which a part may lie in `bytes`, if the graphs' parts begin
/// at `start` and follow each other.
fn near(
    places: &[GraphLayout],
    bytes: &Range<u64>,
    start: fn(&GraphLayout) -> u64,
) -> Range<usize> {
    let begun = places.partition_point(|place| start(place) <= bytes.start);
    let end = places.partition_point(|place| start(place) < bytes.end);
    begun.saturating_sub(1).min(end)..end
}

/// Writes the arrays of a graph.
fn write_graph(graph: &Graph, place: &GraphLayout, piece: &mut Piece<'_>) {
    piece.put(place.offsets, graph.offsets());
    piece.put(place.targets, graph.targets());
    if let (Some(at), Some(weights)) = (place.weights, graph.weights()) {
        piece.put(at, weights);
    }
    if let Some((offsets, targets)) = place.incoming {
        piece.put(offsets, graph.incoming().offsets());
        piece.put(targets, graph.incoming().targets());
    }
    // Asking a graph for its incoming edges makes them, so only a program that reads them asks.
    if let Some(at) = place.incoming_weights
        && let Some(weights) = graph.incoming().weights()
    {
        piece.put(at, weights);
    }
}

/// Reads the record at byte `at`.
fn take<T: bytemuck::Pod>(bytes: &[u8], at: u64) -> T {
    let at = at as usize;
    bytes
        .get(at..at.saturating_add(size_of::<T>()))
        .map_or_else(T::zeroed, bytemuck::pod_read_unaligned)
}

#[cfg(test)]
#[path = "pack_tests.rs"]
mod tests;
