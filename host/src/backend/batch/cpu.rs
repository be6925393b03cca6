//! Batches on the CPU: threads take whole graphs, one graph per thread.
//!
//! Every thread is a one-lane block of the batch kernel, so no thread ever
//! waits for another. Wall time is the run's time.

use super::{
    BatchError, BatchLimits, BatchSession, BatchStats, Job, Pack, Searches, own_of, took_ns,
};
use crate::backend::code::CodeTables;
use crate::backend::cpu::{self, Lines, ProgramCode, Tier};
use crate::backend::detached::{self, Ended, Heritage, Until, leave_to};
use crate::backend::threads::run_blocks;
use crate::backend::{
    BackendError, Canceller, CodeReport, DeviceInfo, HostWork, RunLimits, SessionWork,
};
use crate::executor::{Executor, Jit};
use crate::own::{BUILT_IN, OwnWaves};
use crate::units::elapsed_ns;
use rayon::prelude::*;
use seawall_core::abi::batch::BatchRecord;
use seawall_core::abi::control::ControlRecord;
use seawall_device::machine::SHARED_WORDS;
use seawall_device::machine::cpu::{CompiledWave, CompiledWaves, HostGrid};
use seawall_device::machine::dealer::Dealer;
use seawall_device::scheduler::Batch;
use std::collections::BTreeSet;
use std::num::NonZeroUsize;
use std::ops::Range;
use std::sync::Arc;
use std::time::Instant;

/// A packed batch in memory.
#[derive(Debug)]
pub struct CpuBatch<'g> {
    searches: Searches<'g>,
    pack: Pack,
    walk: WalkBatch,
    memory: Lines,
    /// Machine code of each program.
    codes: Vec<ProgramCode>,
    jit: Jit,
    /// Names of the waves of another crate that programs of the batch have.
    own_waves: Vec<String>,
    /// Whether one of them did not end.
    closed: bool,
    time_budget_ns: u64,
    device: DeviceInfo,
    canceller: Canceller,
    work: SessionWork,
    upload_ns: u64,
}

impl<'g> CpuBatch<'g> {
    /// Packs `jobs` for `threads` threads, by default all of the machine's; at most one thread per
    /// graph is started. `budget_bytes` limits the batch's memory beyond that of the loaded
    /// graphs.
    ///
    /// # Errors
    /// See [`BatchError`]; [`BackendError::TooManyThreads`] for more than
    /// [`THREADS_MAX`](crate::backend::cpu::THREADS_MAX) threads, [`BackendError::OutOfMemory`] if
    /// budget or memory is short.
    pub fn open(
        jobs: &[Job<'g>],
        threads: Option<NonZeroUsize>,
        limits: RunLimits,
        budget_bytes: Option<u64>,
    ) -> Result<Self, BatchError> {
        let started = Instant::now();
        let device = cpu::device_of(threads)?;
        let space = BatchLimits {
            workers: device.units,
            available_bytes: budget_bytes.unwrap_or(u64::MAX),
            time_budget_ns: limits.time_budget_ns,
            machine: (Executor::Cpu, 0),
        };
        let own = own_of(jobs)?;
        let pack = Pack::new(jobs, space)?;
        let searches = Searches::of(jobs)?;
        let mut memory = Lines::untouched("the batch", pack.bytes())?;
        let base = memory.as_mut_ptr() as u64;
        let image = bytemuck::cast_slice_mut::<_, u8>(&mut memory);
        let image = &mut image[..pack.image_bytes() as usize];
        pack.write(jobs, base, (0, image));
        let mut work = SessionWork::default();
        work.packed(image.len());
        let codes = codes_of(jobs, &pack);
        Ok(Self {
            searches,
            pack,
            walk: own.map_or(BUILT_IN, OwnWaves::walkers).batch,
            memory,
            codes,
            jit: Jit::Auto,
            own_waves: own_waves(jobs),
            closed: false,
            time_budget_ns: limits.time_budget_ns,
            device,
            canceller: Canceller::default(),
            work,
            upload_ns: elapsed_ns(started),
        })
    }

    /// Sets whether waves of code become machine code, by default [`Jit::Auto`].
    #[must_use]
    pub fn with_jit(self, jit: Jit) -> Self {
        Self { jit, ..self }
    }

    /// Machine code for the next run, made on all threads where it is due.
    fn prepare(&self) -> Arc<BatchCode> {
        let codes = self.codes.par_iter().zip(self.pack.tables());
        let tiers = codes.filter_map(|(code, tables)| {
            let of_program = CodeTables {
                program: &tables.program,
                registers: &tables.registers,
                // A thread runs a program alone, in memory of its own.
                is_alone: true,
            };
            let tier = code.prepare(self.jit, of_program)?;
            (!tier.made().is_empty()).then_some((tables.first_code, tier))
        });
        BatchCode::of(tiers.collect())
    }

    /// Counts a run, and reports how its code ran.
    fn ran(&self, controls: &[ControlRecord]) -> CodeReport {
        let mut took = vec![0_u64; self.codes.len()];
        for (program, control) in self.pack.users().zip(controls) {
            took[program] = took[program].saturating_add(took_ns(control));
        }
        let codes = self.codes.iter().zip(took);
        let reports = codes.map(|(code, took_ns)| {
            code.ran(took_ns);
            code.report(self.jit)
        });
        reports.fold(CodeReport::default(), CodeReport::and)
    }

    /// Refuses a session that a wave without an end has closed.
    fn check_open(&self) -> Result<(), BackendError> {
        if self.closed {
            let waves = self.own_waves.clone();
            return Err(BackendError::Closed { waves });
        }
        Ok(())
    }

    /// Runs the batch on threads that may be left behind.
    fn run_detached(
        &mut self,
        record: BatchAddress,
        code: Arc<BatchCode>,
    ) -> Result<(), BackendError> {
        let threads = self.pack.workers();
        let run = Arc::new(DetachedBatch {
            batch: (record, self.walk),
            code,
            threads,
            canceller: self.canceller.of_session(),
            dealer: Dealer::new(),
            heritage: Heritage::default(),
        });
        // The budget is for one graph, and a worker takes several.
        let graphs = (self.pack.graphs() as u64).div_ceil(threads.max(1).into());
        let time_budget_ns = self.time_budget_ns.saturating_mul(graphs.saturating_add(1));
        let until = Until {
            time_budget_ns,
            canceller: &self.canceller,
        };
        match detached::run(threads, &run, until)? {
            Ended::All(_) => Ok(()),
            Ended::Stuck { threads, after_ns } => {
                let none = Lines::untouched("the batch", 0)?;
                leave_to(&run.heritage, std::mem::replace(&mut self.memory, none));
                self.closed = true;
                Err(BackendError::Stuck {
                    waves: self.own_waves.clone(),
                    threads,
                    after_ns,
                    time_budget_ns,
                })
            }
        }
    }

    fn part(&self, range: &Range<u64>) -> &[u8] {
        let bytes = bytemuck::cast_slice::<_, u8>(&self.memory);
        &bytes[range.start as usize..range.end as usize]
    }
}

impl BatchSession for CpuBatch<'_> {
    fn device(&self) -> &DeviceInfo {
        &self.device
    }

    fn workers(&self) -> u32 {
        self.pack.workers()
    }

    fn memory_bytes(&self) -> u64 {
        self.pack.bytes()
    }

    fn work(&self) -> SessionWork {
        self.work
    }

    fn upload_ns(&self) -> u64 {
        self.upload_ns
    }

    fn cancel_by(&mut self, canceller: Canceller) {
        self.canceller = canceller;
    }

    fn run(&mut self) -> Result<BatchStats, BatchError> {
        self.check_open()?;
        self.canceller.settle()?;
        let zeroed = self.pack.zeroed();
        let bytes = bytemuck::cast_slice_mut::<_, u8>(&mut self.memory);
        bytes[zeroed.start as usize..zeroed.end as usize].fill(0);
        let record = BatchAddress(self.memory.as_mut_ptr() as u64);
        let code = self.prepare();
        let started = Instant::now();
        if self.own_waves.is_empty() {
            let (batch, threads) = ((record, self.walk), self.pack.workers());
            run_threads(batch, &code, threads, &self.canceller)?;
        } else {
            self.run_detached(record, code)?;
        }
        self.canceller.settle()?;
        let run_ns = elapsed_ns(started);
        self.work.ran(0, 1);
        let host = HostWork::default();
        let stats = self.pack.stats(run_ns, host, self.part(&zeroed))?;
        let code = self.ran(&stats.controls);
        Ok(BatchStats {
            code: (code.waves > 0).then_some(code),
            ..stats
        })
    }

    fn read_each(&mut self) -> Result<Vec<Result<Vec<u32>, BackendError>>, BatchError> {
        self.check_open()?;
        let io = self.pack.io();
        let mut words = vec![Vec::new(); self.pack.graphs()];
        self.pack.gather(io.start, self.part(&io), &mut words);
        words.iter().for_each(|words| self.work.read(words.len()));
        Ok(self.searches.check(words))
    }
}

/// Machine code of waves of all programs of a batch, for one run.
#[derive(Debug)]
struct BatchCode {
    found: CompiledWaves,
    /// Their code begins at numbers of the batch's table.
    waves: Vec<CompiledWave>,
    /// The memory of the code.
    _tiers: Vec<Arc<Tier>>,
}

impl BatchCode {
    /// The code of programs whose instructions begin at these numbers, in their order.
    fn of(programs: Vec<(u32, Arc<Tier>)>) -> Arc<Self> {
        let of_program = |(first, tier): &(u32, Arc<Tier>)| {
            let moved = |wave: &CompiledWave| {
                let mut wave = *wave;
                wave.record.first = wave.record.first.saturating_add(*first);
                wave
            };
            tier.made().iter().map(moved).collect::<Vec<_>>()
        };
        let code = Arc::new(Self {
            found: CompiledWaves::new(|_| ()),
            waves: programs.iter().flat_map(of_program).collect(),
            _tiers: programs.into_iter().map(|(_, tier)| tier).collect(),
        });
        // SAFETY: both are dropped together. Programs come in the order of their instructions, of
        // which none is in two, and the waves of a tier are sorted. Each was made for the tables of
        // the batch and for one thread, and threads of a batch run programs alone.
        unsafe { code.found.publish(&code.waves) };
        code
    }
}

/// The choice of machine code for each program of `pack`. A thread that compiles runs no graph.
fn codes_of(jobs: &[Job<'_>], pack: &Pack) -> Vec<ProgramCode> {
    let mut graphs = vec![Vec::new(); pack.tables().len()];
    for (program, job) in pack.users().zip(jobs) {
        graphs[program].push(job.graph);
    }
    let programs = pack.tables().iter().zip(graphs);
    programs
        .map(|(tables, graphs)| ProgramCode::of(&tables.program, graphs, 1))
        .collect()
}

/// Names of the waves of another crate that programs of `jobs` have.
fn own_waves(jobs: &[Job<'_>]) -> Vec<String> {
    let names = jobs.iter().map(|job| job.program.own_wave_names());
    names
        .flatten()
        .collect::<BTreeSet<_>>()
        .into_iter()
        .collect()
}

/// A batch with waves of another crate, and all that its threads use.
struct DetachedBatch {
    batch: (BatchAddress, WalkBatch),
    code: Arc<BatchCode>,
    threads: u32,
    canceller: Canceller,
    dealer: Dealer,
    /// The memory of the batch, graphs included, of a session that has gone on.
    heritage: Heritage,
}

impl detached::Work for DetachedBatch {
    type Output = ();

    fn run(&self, block: u32) {
        let place = (block, self.threads);
        cpu::obeying(&self.canceller, || {
            run_block(self.batch, &self.code, place, &self.dealer);
        });
    }
}

/// Walks a batch in one thread.
type WalkBatch = fn(HostGrid, Batch);

/// Address of a batch record that outlives the threads that use it.
#[derive(Clone, Copy)]
struct BatchAddress(u64);

/// Runs the batch on `threads` threads, this one included, until it is done or `canceller` ends it.
fn run_threads(
    batch: (BatchAddress, WalkBatch),
    code: &BatchCode,
    threads: u32,
    canceller: &Canceller,
) -> Result<(), BackendError> {
    let dealer = Dealer::new();
    run_blocks(threads, |block| {
        cpu::obeying(canceller, || {
            run_block(batch, code, (block, threads), &dealer);
        });
    })
}

fn run_block(
    (BatchAddress(record), walk): (BatchAddress, WalkBatch),
    code: &BatchCode,
    place: (u32, u32),
    dealer: &Dealer,
) {
    let mut shared = vec![0_u32; SHARED_WORDS];
    // SAFETY: `shared` belongs to this thread and outlives the call; so does the dealer, which
    // only the threads of this run use.
    let grid =
        unsafe { HostGrid::new(place.0, place.1, shared.as_mut_ptr(), dealer, cpu::SERVICES) };
    // SAFETY: the code outlives this call.
    let grid = unsafe { grid.with_compiled(&raw const code.found) };
    // SAFETY: the record and all that it names lie in memory of the session,
    // which is exclusively borrowed for the run; there is an arena for each of
    // the blocks.
    let batch = unsafe { Batch::new(record as *const BatchRecord) };
    walk(grid, batch);
}
