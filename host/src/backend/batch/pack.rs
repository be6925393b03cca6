//! One block of memory for a whole batch, and the image that fills it.
//!
//! ```text
//! batch record | launch records | digests | tables | graphs | inputs and results | state | control blocks | arenas
//! '--------------------- the image, uploaded once --------------------' '----- zeroed a run ----'
//! ```
//!
//! Each result register moves from its arena to a place after its graph's inputs. All results are
//! then contiguous and come back in one copy, and an arena can serve the next graph.

use super::place::{
    Cursor, GraphLayout, Room, Tables, by_size, place_arenas, place_graphs, share_tables, table,
};
use super::{BatchError, BatchStats, Job};
use crate::backend::record::{Addresses, GraphAddresses, GraphSize, TableAddresses, launch_record};
use crate::backend::{BackendError, HostWork, NamedWaves, fault, resident_digest};
use crate::executor::Executor;
use crate::graph::Graph;
use bytemuck::Zeroable;
use rayon::prelude::*;
use seawall_core::abi::batch::{BatchRecord, BatchState, GRAPHS_MAX};
use seawall_core::abi::control::{ControlRecord, FaultCode, FaultRecord};
use seawall_core::abi::program::LaunchRecord;
use seawall_core::abi::tiles::TileTable;
use seawall_core::abi::{MAGIC, VERSION};
use std::ops::Range;

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
    /// [`BatchError::Job`] if a program, an input and a graph of a job do not match;
    /// [`BackendError::OutOfMemory`] if there is no room for one worker.
    pub(crate) fn new(jobs: &[Job<'_>], room: Room) -> Result<Self, BatchError> {
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
        let mut places = place_graphs(jobs, &users, &mut cursor);
        let io_start = cursor.0;
        for place in &mut places {
            place.io = cursor.take(tables[place.tables].io_bytes);
        }
        let io = io_start..cursor.0;
        let state = cursor.take(size_of::<BatchState>() as u64);
        let controls = cursor.take(table::<ControlRecord>(jobs.len()));
        let arenas = cursor.0;
        let (workers, arena_stride) = place_arenas((&tables, &mut places), &mut cursor, room)?;
        Ok(Self {
            order: by_size(jobs),
            tables,
            places,
            workers,
            arena_stride,
            time_budget_ns: room.time_budget_ns,
            machine: room.machine,
            launches,
            digests,
            io,
            state,
            controls,
            arenas,
            bytes: cursor.0,
        })
    }

    /// Number of blocks or threads that have arenas.
    pub(crate) const fn workers(&self) -> u32 {
        self.workers
    }

    /// Number of graphs.
    #[cfg_attr(
        not(feature = "cuda"),
        expect(dead_code, reason = "GPUs are told to end each")
    )]
    pub(crate) const fn graphs(&self) -> usize {
        self.places.len()
    }

    /// Offset of the control block of the first graph.
    #[cfg_attr(
        not(feature = "cuda"),
        expect(dead_code, reason = "GPUs are told to end each")
    )]
    pub(crate) const fn controls_start(&self) -> u64 {
        self.controls
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

    /// Fills `image`, which has [`Pack::image_bytes`] zero bytes, for a block at address `base`;
    /// `jobs` are those of [`Pack::new`].
    pub(crate) fn write(&self, jobs: &[Job<'_>], base: u64, image: &mut [u8]) {
        let record = BatchRecord {
            magic: MAGIC,
            version: VERSION,
            graphs: jobs.len() as u32,
            reserved: 0,
            state: base + self.state,
            launches: base + self.launches,
            arena_stride: self.arena_stride,
            time_budget_ns: self.time_budget_ns,
        };
        put(image, 0, std::slice::from_ref(&record));
        for tables in &self.tables {
            put(image, tables.group_table, &tables.program.groups);
            put(image, tables.wave_table, &tables.program.waves);
            put(image, tables.register_table, &tables.registers);
            put(image, tables.code_table, &tables.program.code);
        }
        for (position, job) in (0_u64..).zip(&self.order) {
            let at = *job as usize;
            let launch = self.launch(jobs[at].graph, at, base);
            let start = self.launches + position * size_of::<LaunchRecord>() as u64;
            put(image, start, std::slice::from_ref(&launch));
        }
        for (at, (job, place)) in jobs.iter().zip(&self.places).enumerate() {
            write_graph(job, place, image);
            let digest = self.digest(job);
            put(image, self.digests + table::<u64>(at), &[digest]);
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
        let incoming = if graph.is_symmetric() {
            Some((place.offsets, place.targets))
        } else {
            place.incoming
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
                resident,
                tiles: TileTable::default(),
                longest_row: 0,
            },
            tables: TableAddresses {
                groups: base + tables.group_table,
                waves: base + tables.wave_table,
                registers: base + tables.register_table,
                code: base + tables.code_table,
            },
            arena: base + place.arena,
            inputs: base + place.io,
            control: base + self.controls + table::<ControlRecord>(at),
            trace: 0,
            // A batch takes all the room that there is, to run more graphs at once.
            memory_pressure_bps: 0,
        };
        launch_record(program, GraphSize::of(graph), &at, self.time_budget_ns)
    }

    /// Extracts the results from `io`, the bytes of [`Pack::io`] after a run.
    pub(crate) fn results(&self, io: &[u8]) -> Vec<Vec<u32>> {
        let result = |place: &GraphLayout| {
            let start = place.io - self.io.start;
            let range = &self.tables[place.tables].result;
            let bytes = io.get((start + range.start) as usize..(start + range.end) as usize);
            let words = bytes.unwrap_or(&[]).chunks_exact(4);
            words
                .filter_map(|word| word.try_into().ok())
                .map(u32::from_ne_bytes)
                .collect()
        };
        self.places.iter().map(result).collect()
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
        (run_ns, host): (u64, HostWork),
        zeroed: &[u8],
    ) -> Result<BatchStats, BatchError> {
        Ok(BatchStats {
            run_ns,
            host,
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
        missing: Vec::new(),
    }
}

/// Copies a graph's arrays and inputs to their places.
fn write_graph(job: &Job<'_>, place: &GraphLayout, image: &mut [u8]) {
    put(image, place.offsets, job.graph.offsets());
    put(image, place.targets, job.graph.targets());
    if let (Some(at), Some(weights)) = (place.weights, job.graph.weights()) {
        put(image, at, weights);
    }
    if let Some((offsets, targets)) = place.incoming {
        put(image, offsets, job.graph.incoming().offsets());
        put(image, targets, job.graph.incoming().targets());
    }
    put(image, place.io, &job.inputs);
}

/// Copies records to byte `at` of the image.
fn put<T: bytemuck::NoUninit>(image: &mut [u8], at: u64, records: &[T]) {
    let bytes: &[u8] = bytemuck::cast_slice(records);
    let at = at as usize;
    if let Some(place) = image.get_mut(at..at.saturating_add(bytes.len())) {
        place.copy_from_slice(bytes);
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
