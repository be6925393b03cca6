//! Placement of the parts of a batch.
//!
//! Everything here is arithmetic on offsets from the start of the batch's memory;
//! [`pack`](super::pack) fills the parts.

use super::{BatchError, Job};
use crate::backend::BackendError;
use crate::backend::code::with_code_from;
use crate::backend::fit::{self, Ids};
use crate::executor::Executor;
use crate::graph::Csr;
use crate::program::{EncodedProgram, RegisterId};
use seawall_core::abi::code::Instruction;
use seawall_core::abi::program::{GroupRecord, Region, RegisterRecord, WaveRecord};
use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

/// Alignment of every part, bytes: that of registers.
const ALIGN: u64 = 256;

/// Most instructions of a batch: kernels count their words.
const CODE_MAX: u32 = 1 << 28;

/// Limits of the machine.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BatchLimits {
    /// Blocks or threads that can take graphs at once.
    pub(crate) workers: u32,
    /// Bytes that the batch may take.
    pub(crate) available_bytes: u64,
    /// Time budget of a run, nanoseconds.
    pub(crate) time_budget_ns: u64,
    /// The kind of machine and its number, of which graphs have a digest.
    pub(crate) machine: (Executor, u32),
}

/// A program's tables, shared by all graphs that run it.
#[derive(Debug)]
pub(crate) struct Tables {
    pub(crate) program: Arc<EncodedProgram>,
    pub(crate) registers: Vec<RegisterRecord>,
    /// Those of the program, whose code lies in the batch's table.
    pub(super) waves: Vec<WaveRecord>,
    /// Its first instruction there.
    pub(crate) first_code: u32,
    pub(super) group_table: u64,
    pub(super) wave_table: u64,
    pub(super) register_table: u64,
    pub(super) result: Range<u64>,
    pub(super) io_bytes: u64,
}

/// Offsets of a graph's arrays and registers.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct GraphLayout {
    pub(super) tables: usize,
    pub(super) offsets: u64,
    pub(super) targets: u64,
    pub(super) weights: Option<u64>,
    pub(super) incoming: Option<(u64, u64)>,
    pub(super) incoming_weights: Option<u64>,
    pub(super) io: u64,
    pub(super) arena: u64,
}

/// Places parts one after the other.
#[derive(Default)]
pub(super) struct Cursor(pub(super) u64);

impl Cursor {
    pub(super) fn take(&mut self, bytes: u64) -> u64 {
        let start = self.0;
        self.0 = start.saturating_add(bytes.saturating_add(ALIGN - 1) / ALIGN * ALIGN);
        start
    }

    pub(super) fn words(&mut self, words: &[u32]) -> u64 {
        self.take(size_of_val(words) as u64)
    }
}

/// Size of `count` records, bytes.
pub(super) const fn table<T>(count: usize) -> u64 {
    (count as u64).saturating_mul(size_of::<T>() as u64)
}

/// Returns the jobs in order of falling work.
pub(super) fn by_size(jobs: &[Job<'_>]) -> Vec<u32> {
    let work = |job: &u32| {
        let graph = jobs[*job as usize].graph;
        u64::from(graph.nodes()) + u64::from(graph.edges())
    };
    let mut order: Vec<u32> = (0..jobs.len() as u32).collect();
    order.sort_by_key(|job| std::cmp::Reverse(work(job)));
    order
}

/// Checks every job and places the tables of each distinct program once; returns them and, for
/// each job, the number of its tables.
pub(super) fn share_tables(
    jobs: &[Job<'_>],
    cursor: &mut Cursor,
) -> Result<(Vec<Tables>, Vec<usize>), BatchError> {
    let mut known: HashMap<(*const EncodedProgram, RegisterId), usize> = HashMap::new();
    let mut tables: Vec<Tables> = Vec::new();
    let mut users = Vec::with_capacity(jobs.len());
    let mut instructions = 0_u32;
    for (index, job) in jobs.iter().enumerate() {
        let of_job = |source| BatchError::Job { index, source };
        let key = (Arc::as_ptr(&job.program), job.result);
        let number = match known.get(&key) {
            Some(number) => *number,
            None => {
                tables.push(tables_of(job, instructions, cursor).map_err(of_job)?);
                instructions = with_code_of(&job.program, instructions)?;
                known.insert(key, tables.len() - 1);
                tables.len() - 1
            }
        };
        check_job(job).map_err(of_job)?;
        users.push(number);
    }
    Ok((tables, users))
}

/// Identity of a job beyond its program.
fn check_job(job: &Job<'_>) -> Result<(), BackendError> {
    fit::check_graph(&job.program, job.graph)?;
    fit::check_inputs(job.program.input_bytes, &job.inputs)
}

/// Instructions of a batch with those of one more program.
fn with_code_of(program: &EncodedProgram, instructions: u32) -> Result<u32, BackendError> {
    let all = program.code.len().saturating_add(instructions as usize);
    match u32::try_from(all) {
        Ok(all) if all <= CODE_MAX => Ok(all),
        _ => Err(BackendError::OutOfMemory {
            what: "the code of a batch",
            needed: table::<Instruction>(all),
            available: table::<Instruction>(CODE_MAX as usize),
        }),
    }
}

/// Places a program's tables, with its result register after the inputs, and its code from
/// instruction `first_code` of the batch on.
fn tables_of(job: &Job<'_>, first_code: u32, cursor: &mut Cursor) -> Result<Tables, BackendError> {
    let program = &job.program;
    fit::check_tables(program)?;
    let mut registers = program.registers.clone();
    let register = &mut registers[Ids::of(program).number_of(job.result)?];
    let mut io = Cursor::default();
    io.take(program.input_bytes);
    let bytes = u64::from(register.words) * 4;
    if register.region != Region::Input as u32 {
        register.region = Region::Input as u32;
        register.offset_bytes = io.take(bytes);
    }
    let result = register.offset_bytes..register.offset_bytes + bytes;
    Ok(Tables {
        group_table: cursor.take(table::<GroupRecord>(program.groups.len())),
        wave_table: cursor.take(table::<WaveRecord>(program.waves.len())),
        register_table: cursor.take(table::<RegisterRecord>(registers.len())),
        waves: with_code_from(first_code, &program.waves),
        first_code,
        program: Arc::clone(program),
        registers,
        result,
        io_bytes: io.0,
    })
}

/// Places the arrays of every graph.
pub(super) fn place_graphs(
    jobs: &[Job<'_>],
    users: &[usize],
    cursor: &mut Cursor,
) -> Vec<GraphLayout> {
    let place = |(job, tables): (&Job<'_>, &usize)| {
        let (graph, needs) = (job.graph, job.program.needs);
        let weights = graph.weights().filter(|_| needs.weights.is_some());
        let incoming = (needs.incoming && !graph.is_symmetric()).then(|| graph.incoming());
        GraphLayout {
            tables: *tables,
            offsets: cursor.words(graph.offsets()),
            targets: cursor.words(graph.targets()),
            weights: weights.map(|weights| cursor.words(weights)),
            incoming: incoming
                .map(|rows| (cursor.words(rows.offsets()), cursor.words(rows.targets()))),
            incoming_weights: incoming
                .filter(|_| needs.incoming_weights)
                .and_then(Csr::weights)
                .map(|weights| cursor.words(weights)),
            ..GraphLayout::default()
        }
    };
    jobs.iter().zip(users).map(place).collect()
}

/// Places an arena for every worker or for every graph, whichever takes less, with fewer workers
/// if there is no space for all; returns the number of workers and the distance between their
/// arenas in bytes.
pub(super) fn place_arenas(
    tables: &[Tables],
    places: &mut [GraphLayout],
    cursor: &mut Cursor,
    space: BatchLimits,
) -> Result<(u32, u64), BackendError> {
    let arena_of = |place: &GraphLayout| {
        tables[place.tables]
            .program
            .arena_bytes
            .next_multiple_of(ALIGN)
    };
    let largest = places.iter().map(arena_of).max().unwrap_or(0).max(ALIGN);
    let all = places
        .iter()
        .fold(0_u64, |sum, place| sum.saturating_add(arena_of(place)));
    let free = space.available_bytes.saturating_sub(cursor.0);
    let wanted = u64::from(space.workers.max(1)).min(places.len() as u64);
    let short = |arenas: u64| BackendError::OutOfMemory {
        what: "the batch",
        needed: cursor.0.saturating_add(arenas),
        available: space.available_bytes,
    };
    // Empty arenas fit even where the parts before them do not.
    if cursor.0 > space.available_bytes {
        return Err(short(largest.min(all)));
    }
    if all <= largest.saturating_mul(wanted).min(free) {
        for place in places.iter_mut() {
            place.arena = cursor.take(arena_of(place));
        }
        return Ok((wanted as u32, 0));
    }
    let workers = wanted.min(free / largest);
    if workers == 0 {
        return Err(short(largest));
    }
    let first = cursor.take(largest * workers);
    for place in places.iter_mut() {
        place.arena = first;
    }
    Ok((workers as u32, largest))
}
