//! CPU backend: one-lane blocks on threads, from the same kernel source.
//!
//! Threads, memory and tables are kept for the next run. The time of a run is wall time.

use super::detached::{self, Ended, Heritage, Until, leave_to};
use super::fit::{self, Ids};
use super::identity::resident_digest;
use super::memory::on_large_pages;
use super::overflow::{self, Overflowing};
pub(crate) use super::threads::threads_or_all;
pub use super::threads::{THREADS_MAX, available_threads};
use super::threads::{prepare, run_blocks};
use super::trace::TraceMemory;
use super::{
    BackendError, Canceller, CodeReport, DeviceInfo, HostWork, RunLimits, RunStats, Session,
    SessionMemory, SessionWork,
};
use crate::executor::{Executor, Jit};
use crate::graph::{Graph, KeptRows, memory};
use crate::own::{BUILT_IN, FactViolation, Walk, Walkers, first_violation};
use crate::program::{EncodedProgram, RegisterId};
use crate::tiles::{TileShape, Tiles};
use crate::units::elapsed_ns;
use bytemuck::Zeroable;
use seawall_core::abi::control::{ControlRecord, FaultCode};
use seawall_core::abi::program::{LaunchRecord, Region};
use seawall_device::machine::SHARED_WORDS;
use seawall_device::machine::cpu::{HostGrid, Services};
use seawall_device::machine::dealer::Dealer;
use seawall_device::tables::control::ProgramPoint;
use seawall_device::tables::launch::Launch;
use std::cell::RefCell;
use std::num::NonZeroUsize;
use std::ops::{Deref, DerefMut, Range};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

mod baseline;
mod launched;
mod machine_code;
mod place;
pub(crate) mod serve;
mod stay;
pub(crate) mod stepped;
pub(crate) mod streaming;
pub(crate) mod multi;
pub(super) use baseline::BaselineSession;
use machine_code::MachineCode;
pub use machine_code::assembly;
pub(crate) use machine_code::{ProgramCode, Tier};
use place::launch_record;

/// A graph on the CPU.
#[derive(Debug)]
pub struct CpuSession<'g> {
    graph: &'g Graph,
    /// Digest of the graph on this machine, which kernels read.
    resident: Arc<u64>,
    threads: u32,
    device: DeviceInfo,
    limits: RunLimits,
    tiles: Option<Arc<Tiles>>,
    machine: Option<Machinery>,
    checks_facts: bool,
    jit: Jit,
    loaded: Option<Box<Loaded>>,
    /// Names of the waves of another crate of which one did not end.
    closed: Option<Vec<String>>,
    traces: bool,
    work: SessionWork,
    canceller: Canceller,
}

/// Runs a launch record, with this many additional words of shared memory.
pub type Machinery = fn(&LaunchRecord, u32) -> Result<(), BackendError>;

/// A program's tables and memory.
#[derive(Debug)]
struct Loaded {
    program: EncodedProgram,
    ids: Ids,
    outgrowing: Overflowing,
    arena: Lines,
    inputs: Lines,
    control: Box<ControlRecord>,
    trace: Option<TraceMemory>,
    code: MachineCode,
}

impl Loaded {
    /// Bytes of the tables and of the memory that kernels use.
    fn bytes(&self) -> usize {
        let program = &self.program;
        size_of_val(&program.groups[..])
            + size_of_val(&program.waves[..])
            + size_of_val(&program.registers[..])
            + size_of_val(&program.code[..])
            + size_of_val(&self.arena[..])
            + size_of_val(&self.inputs[..])
            + size_of::<ControlRecord>()
    }
}

/// Memory is counted in lines of the arena's alignment.
#[derive(Clone, Copy, Debug, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C, align(256))]
pub(super) struct Line([u64; LINE_WORDS]);

const LINE_WORDS: usize = 32;

/// Lines of zeroes, on large pages where those pay.
///
/// Allocating them with their alignment would write every byte, on small pages: the standard
/// library requests zeroes from the system only for the default alignment.
#[derive(Debug)]
pub(super) struct Lines {
    words: Vec<u64>,
    /// Words before the first line.
    skipped: usize,
    count: usize,
}

impl Lines {
    /// Returns at least `bytes` zero bytes in pages that the system maps on the first write.
    pub(super) fn untouched(what: &'static str, bytes: u64) -> Result<Self, BackendError> {
        let count = usize::try_from(bytes.div_ceil(256)).unwrap_or(usize::MAX);
        let words = count.saturating_add(1).saturating_mul(LINE_WORDS);
        let words = memory::zeroed::<u64>(words).map_err(|short| BackendError::OutOfMemory {
            what,
            needed: bytes,
            available: short.available,
        })?;
        let words = on_large_pages(words);
        let address = words.as_ptr().addr();
        let skipped = (address.next_multiple_of(256) - address) / size_of::<u64>();
        Ok(Self {
            words,
            skipped,
            count,
        })
    }

    fn range(&self) -> Range<usize> {
        self.skipped..self.skipped + self.count * LINE_WORDS
    }
}

impl Deref for Lines {
    type Target = [Line];

    fn deref(&self) -> &[Line] {
        bytemuck::cast_slice(&self.words[self.range()])
    }
}

impl DerefMut for Lines {
    fn deref_mut(&mut self) -> &mut [Line] {
        let range = self.range();
        bytemuck::cast_slice_mut(&mut self.words[range])
    }
}

/// Returns at least `bytes` zero bytes in pages that are mapped, so that no run waits for them.
pub(super) fn lines(what: &'static str, bytes: u64) -> Result<Lines, BackendError> {
    lines_within(what, bytes, Duration::MAX)
}

/// Lines whose pages are mapped before the next look at the clock.
const MAPPED_AT_ONCE: usize = 1 << 16;

/// Works as [`lines`], but maps pages for about `most` at the longest. The system maps the others on the
/// first write, of which there may be none: a text may state registers that are much larger than
/// what its waves use.
fn lines_within(what: &'static str, bytes: u64, most: Duration) -> Result<Lines, BackendError> {
    let started = Instant::now();
    let mut lines = Lines::untouched(what, bytes)?;
    for lines in lines.chunks_mut(MAPPED_AT_ONCE) {
        lines.fill(Line::zeroed());
        if started.elapsed() > most {
            break;
        }
    }
    Ok(lines)
}

/// Starts `threads` threads, by default all of the machine's, for later runs: a command does so
/// while its graph is read. Otherwise the first run starts them.
///
/// # Errors
/// [`BackendError::TooManyThreads`] for more than [`THREADS_MAX`];
/// [`BackendError::Threads`] if the system starts fewer.
pub fn prepare_threads(threads: Option<NonZeroUsize>) -> Result<(), BackendError> {
    prepare(device_of(threads)?.units)
}

impl<'g> CpuSession<'g> {
    /// Opens a session on `graph` with `threads` threads, by default all of the machine's.
    ///
    /// # Errors
    /// [`BackendError::TooManyThreads`] for more than [`THREADS_MAX`].
    pub fn open(
        graph: &'g Graph,
        threads: Option<NonZeroUsize>,
        limits: RunLimits,
    ) -> Result<Self, BackendError> {
        let device = device_of(threads)?;
        Ok(Self {
            graph,
            resident: Arc::new(resident_digest(graph, Executor::Cpu, 0)),
            threads: device.units,
            device,
            limits,
            tiles: None,
            machine: None,
            checks_facts: false,
            jit: Jit::Auto,
            loaded: None,
            closed: None,
            traces: false,
            work: SessionWork::default(),
            canceller: Canceller::default(),
        })
    }

    /// Sets the limits of later runs.
    pub fn set_limits(&mut self, limits: RunLimits) {
        self.limits = limits;
    }

    /// Sets incoming edges by tiles of `shape`, as GPUs gather them, for programs that gather. The
    /// sums are the same, bit for bit. Tiles pay if the values that nodes pass on do not fit the
    /// caches and programs run often, since making the tiles takes as long as some iterations.
    /// `docs/performance.md` has a measurement.
    #[must_use]
    pub fn with_tiles(self, shape: TileShape) -> Self {
        let tiles = Tiles::of(self.graph, shape).map(Arc::new);
        Self { tiles, ..self }
    }

    /// Compares the accesses of waves of other crates in each run with the facts that they declare.
    /// The first violation makes the run an error, [`BackendError::FalseFacts`]. These runs take
    /// one thread and many times as long.
    #[must_use]
    pub fn checking_facts(self) -> Self {
        let (checks_facts, threads) = (true, 1);
        Self {
            checks_facts,
            threads,
            ..self
        }
    }

    /// Sets whether waves of code become machine code, by default [`Jit::Auto`].
    #[must_use]
    pub fn with_jit(self, jit: Jit) -> Self {
        Self { jit, ..self }
    }

    /// How waves of code of the loaded program run; `None` before a program is loaded.
    #[must_use]
    pub fn code_report(&self) -> Option<CodeReport> {
        self.loaded.as_ref().map(|loaded| loaded.code.report())
    }

    /// Takes machine code of the loaded program that sessions with as many threads share.
    pub(crate) fn share_code(&mut self, code: &Arc<ProgramCode>) {
        if let Some(loaded) = &mut self.loaded {
            loaded.code = MachineCode::shared(code);
        }
    }

    /// Runs the session on another implementation of [`Grid`]: `machine` runs the kernel of a
    /// launch record, and provides each block with the stated number of additional words of shared memory.
    /// It must not return before all lanes have.
    ///
    /// [`Grid`]: seawall_device::machine::Grid
    #[must_use]
    pub fn with_machine(self, machine: Machinery) -> Self {
        let machine = Some(machine);
        Self { machine, ..self }
    }
}

/// Describes the CPU as a device of `threads` threads, by default all of the machine's.
pub(crate) fn device_of(threads: Option<NonZeroUsize>) -> Result<DeviceInfo, BackendError> {
    let threads = threads.unwrap_or_else(available_threads).get();
    if threads > THREADS_MAX {
        return Err(BackendError::TooManyThreads {
            threads,
            most: THREADS_MAX,
        });
    }
    Ok(DeviceInfo {
        name: format!(
            "CPU, {threads} thread{}",
            if threads == 1 { "" } else { "s" }
        ),
        compute_capability: None,
        units: threads as u32,
        memory_bytes: 0,
    })
}

impl Session for CpuSession<'_> {
    fn device(&self) -> &DeviceInfo {
        &self.device
    }

    fn upload_ns(&self) -> u64 {
        0
    }

    fn cancel_by(&mut self, canceller: Canceller) {
        self.canceller = canceller;
    }

    fn trace_runs(&mut self, trace: bool) {
        self.traces = trace;
    }

    fn load(&mut self, program: &EncodedProgram) -> Result<(), BackendError> {
        self.check_open()?;
        fit::check(program, self.graph)?;
        let outgrowing = Overflowing::of(program, self.graph)?;
        // A load takes no longer than a run may.
        let most = Duration::from_nanos(self.limits.time_budget_ns);
        let arena = lines_within("the arena", program.arena_bytes, most)?;
        let inputs = lines_within("the input region", program.input_bytes, most)?;
        let groups = program.groups.len();
        let trace = self.traces.then(|| TraceMemory::new(groups, self.threads));
        self.loaded = Some(Box::new(Loaded {
            program: program.clone(),
            ids: Ids::of(program),
            outgrowing,
            arena,
            inputs,
            control: Box::new(bytemuck::Zeroable::zeroed()),
            trace: trace.transpose()?,
            code: MachineCode::of(program, self.graph, self.threads),
        }));
        self.work.loaded();
        Ok(())
    }

    fn run(&mut self, inputs: &[u32]) -> Result<RunStats, BackendError> {
        self.check_open()?;
        let loaded = self.loaded.as_mut().ok_or(BackendError::NotLoaded)?;
        fit::check_inputs(loaded.program.input_bytes, inputs)?;
        loaded.begin(inputs);
        let tiles = self.tiles.as_deref();
        let tiles = tiles.filter(|_| loaded.program.needs.tiles);
        let resident = (self.graph, &*self.resident);
        let launch = launch_record(resident, loaded, tiles, self.limits);
        let extra = tiles.map_or(0, Tiles::slots);
        self.canceller.settle()?;
        let walk = walkers(&loaded.program, self.checks_facts).program;
        let has_own = loaded.program.used_waves().is_some();
        let jit = self.machine.map_or(self.jit, |_| Jit::Never);
        loaded.code.prepare(jit, &loaded.program, self.threads == 1);
        let tier = loaded.code.tier();
        let start = Instant::now();
        let lie = match self.machine {
            Some(machine) => {
                machine(&launch, extra)?;
                None
            }
            None if has_own => self.run_detached(launch, (walk, tier), extra)?,
            None => {
                let walk = (walk, tier.as_deref());
                run_threads(&launch, self.threads, walk, extra, &self.canceller)?;
                None
            }
        };
        self.canceller.settle()?;
        let run_ns = elapsed_ns(start);
        let loaded = self.loaded.as_mut().ok_or(BackendError::NotLoaded)?;
        let control = *loaded.control;
        let lies = check_violations(&loaded.program, lie);
        if control.fault.code != 0 {
            return Err(super::fault(
                &super::NamedWaves::of(&loaded.program),
                &control,
            ));
        }
        lies?;
        loaded.code.ran(run_ns);
        loaded.program.leave_out_what_ran_once();
        self.work.ran(inputs.len(), 1);
        Ok(RunStats {
            run_ns,
            host: HostWork::default(),
            trace: loaded.trace.as_ref().map(|trace| trace.read(&control)),
            region: HostWork::default(),
            control,
            code: Some(loaded.code.report()),
        })
    }

    fn work(&self) -> SessionWork {
        SessionWork {
            graph_uploads: 1,
            graph_bytes: self.graph.memory_bytes() as u64,
            ..self.work
        }
    }

    fn memory(&self) -> SessionMemory {
        let program = self.loaded.as_ref().map_or(0, |loaded| loaded.bytes());
        SessionMemory {
            allocated_bytes: (self.graph.memory_bytes() + program) as u64,
            tiles_bytes: self.tiles.as_ref().map_or(0, |tiles| tiles.bytes()),
        }
    }

    fn read(&mut self, register: RegisterId, words: &mut Vec<u32>) -> Result<(), BackendError> {
        self.check_open()?;
        let loaded = self.loaded.as_mut().ok_or(BackendError::NotLoaded)?;
        words.clear();
        let found = loaded.words(register)?;
        for search in loaded.outgrowing.due() {
            overflow::check(&search, self.graph, loaded.words(search.register)?)?;
        }
        memory::reserve(words, found.len())
            .map_err(BackendError::short("the copy of a register"))?;
        words.extend_from_slice(found);
        loaded.outgrowing.settle();
        self.work.read(words.len());
        Ok(())
    }
}

impl Loaded {
    /// Sets the inputs, of the checked length, and clears the control block.
    fn begin(&mut self, inputs: &[u32]) {
        bytemuck::cast_slice_mut::<_, u32>(&mut self.inputs)[..inputs.len()]
            .copy_from_slice(inputs);
        *self.control = bytemuck::Zeroable::zeroed();
        self.outgrowing.begin_run();
        if let Some(trace) = &mut self.trace {
            trace.clear();
        }
    }

    /// Words of a register after the last run.
    fn words(&self, register: RegisterId) -> Result<&[u32], BackendError> {
        let number = self.ids.number_of(register)?;
        let record = self.program.registers[number];
        let region = if record.region == Region::Input as u32 {
            &self.inputs
        } else {
            &self.arena
        };
        let start = (record.offset_bytes / 4) as usize;
        Ok(&bytemuck::cast_slice::<_, u32>(region)[start..start + record.words as usize])
    }

    /// Words of register `number`, to be changed between launches.
    fn words_mut(&mut self, number: u32) -> Result<&mut [u32], BackendError> {
        let record = self.program.registers.get(number as usize);
        let record = *record.ok_or(BackendError::NotLoaded)?;
        let region = if record.region == Region::Input as u32 {
            &mut self.inputs
        } else {
            &mut self.arena
        };
        let start = (record.offset_bytes / 4) as usize;
        let words = bytemuck::cast_slice_mut::<_, u32>(region);
        Ok(&mut words[start..start + record.words as usize])
    }
}

fn walkers(program: &EncodedProgram, checks_facts: bool) -> Walkers {
    match program.used_waves() {
        Some(own) if checks_facts => own.checked(),
        Some(own) => own.walkers(),
        None => BUILT_IN,
    }
}

impl CpuSession<'_> {
    /// Refuses a session that a wave without an end has closed.
    fn check_open(&self) -> Result<(), BackendError> {
        match &self.closed {
            Some(waves) => Err(BackendError::Closed {
                waves: waves.clone(),
            }),
            None => Ok(()),
        }
    }

    /// Runs the loaded program on threads that may be left behind, and returns the first violated
    /// fact of a wave that a checked run found.
    fn run_detached(
        &mut self,
        launch: LaunchRecord,
        (walk, code): (Walk<()>, Option<Arc<Tier>>),
        extra: u32,
    ) -> Result<Option<(u32, FactViolation)>, BackendError> {
        let run = Arc::new(DetachedRun {
            launch,
            threads: self.threads,
            walk,
            code,
            extra,
            canceller: self.canceller.of_session(),
            dealer: Dealer::new(),
            _kept: (
                self.graph.keep_rows(),
                Arc::clone(&self.resident),
                self.tiles.clone(),
            ),
            heritage: Heritage::default(),
        });
        let time_budget_ns = self.limits.time_budget_ns;
        let until = Until {
            time_budget_ns,
            canceller: &self.canceller,
        };
        match detached::run(self.threads, &run, until)? {
            Ended::All(lies) => Ok(lies.into_iter().flatten().min_by_key(|(wave, _)| *wave)),
            Ended::Stuck { threads, after_ns } => {
                let loaded = self.loaded.take();
                let waves = loaded
                    .as_ref()
                    .map(|loaded| loaded.program.own_wave_names());
                let waves = waves.unwrap_or_default();
                leave_to(&run.heritage, loaded);
                self.closed = Some(waves.clone());
                Err(BackendError::Stuck {
                    waves,
                    threads,
                    after_ns,
                    time_budget_ns,
                })
            }
        }
    }
}

/// A run of a program with waves of another crate, and all that its threads use.
struct DetachedRun {
    launch: LaunchRecord,
    threads: u32,
    walk: Walk<()>,
    code: Option<Arc<Tier>>,
    extra: u32,
    canceller: Canceller,
    dealer: Dealer,
    _kept: (KeptRows, Arc<u64>, Option<Arc<Tiles>>),
    /// The tables, the arena, the inputs and the control block, of a session that has gone on.
    heritage: Heritage,
}

impl detached::Work for DetachedRun {
    type Output = Option<(u32, FactViolation)>;

    fn run(&self, block: u32) -> Self::Output {
        let (launch, place) = (&self.launch, (block, self.threads));
        let code = self.code.as_deref();
        obeying(&self.canceller, || {
            run_block(launch, place, (self.walk, code), self.extra, &self.dealer);
        });
        first_violation()
    }
}

/// Returns the first violated fact of a wave that a checked run found, as an error.
fn check_violations(
    program: &EncodedProgram,
    lie: Option<(u32, FactViolation)>,
) -> Result<(), BackendError> {
    let Some((wave, lie)) = lie else {
        return Ok(());
    };
    let name = program.wave_names.get(wave as usize);
    Err(BackendError::FalseFacts {
        wave,
        wave_name: name.cloned().unwrap_or_else(|| "unnamed".to_owned()),
        lie,
    })
}

/// The function that walks a program, and the machine code of its waves.
type Walking<'c> = (Walk<()>, Option<&'c Tier>);

/// Runs `walk` on `threads` threads, this one included, each with `extra` additional words of
/// shared memory, until it is done or `canceller` ends it.
fn run_threads(
    launch: &LaunchRecord,
    threads: u32,
    walk: Walking<'_>,
    extra: u32,
    canceller: &Canceller,
) -> Result<(), BackendError> {
    let dealer = Dealer::new();
    run_blocks(threads, |block| {
        obeying(canceller, || {
            run_block(launch, (block, threads), walk, extra, &dealer);
        });
    })
}

fn run_block(
    launch: &LaunchRecord,
    place: (u32, u32),
    (walk, code): Walking<'_>,
    extra: u32,
    dealer: &Dealer,
) {
    let mut shared = vec![0_u32; SHARED_WORDS + extra as usize];
    // SAFETY: `shared` belongs to this thread, has the length that both state, and outlives the
    // call; so does the dealer, which only the threads of this run use.
    let grid = unsafe {
        HostGrid::new(place.0, place.1, shared.as_mut_ptr(), dealer, SERVICES).with_extra(extra)
    };
    let code = code.map_or(std::ptr::null(), Tier::waves);
    // SAFETY: the tier outlives this call, and its code is for the tables of the launch and for the
    // threads of the session.
    let grid = unsafe { grid.with_compiled(code) };
    // SAFETY: `launch_record` filled the record from live, exclusively
    // borrowed memory of the stated lengths, which outlives the threads.
    let launch = unsafe { Launch::new(launch) };
    let stopper = StopsOthers { grid, launch };
    // A run that stops early leaves its reason in the control block.
    let _ = walk(grid, launch, ());
    std::mem::forget(stopper);
}

/// Stops the other threads of a run if the code of a wave panics on this one, which unwinds to the
/// caller of the run.
struct StopsOthers {
    grid: HostGrid,
    launch: Launch,
}

impl Drop for StopsOthers {
    fn drop(&mut self) {
        let (grid, point) = (self.grid, ProgramPoint::default());
        let control = self.launch.control(grid);
        let _ = control.fault(grid, FaultCode::GivenUp, point);
    }
}

/// The clock and the scheduler of this machine.
pub(super) const SERVICES: Services = Services {
    now_ns,
    yield_now: std::thread::yield_now,
};

thread_local! {
    /// Limits of the run that this thread takes part in.
    static OBEYED: RefCell<Option<Canceller>> = const { RefCell::new(None) };
}

/// Calls `run`, a thread's part of a run that `canceller` ends.
pub(super) fn obeying(canceller: &Canceller, run: impl FnOnce()) {
    /// Clears the limits, even if a wave panics.
    struct Ends;
    impl Drop for Ends {
        fn drop(&mut self) {
            OBEYED.set(None);
        }
    }
    OBEYED.set(Some(canceller.of_session()));
    let _ends = Ends;
    run();
}

/// Returns the time. For a run that is to end all time is over, so that a kernel stops where it
/// checks its time budget.
fn now_ns() -> u64 {
    static START: OnceLock<Instant> = OnceLock::new();
    if OBEYED.with_borrow(|canceller| canceller.as_ref().is_some_and(Canceller::is_asked)) {
        return u64::MAX;
    }
    START.get_or_init(Instant::now).elapsed().as_nanos() as u64
}
