//! A batch on a GPU: one upload, one launch, one copy back.
//!
//! A warp or two suffice to search a small graph, so blocks are small and many are resident at
//! once, which hides the latency that each of them waits for. The launch is not cooperative:
//! blocks take graphs and never wait for each other.

use super::CudaOptions;
use super::GridShape;
use super::abort::{AbortFlag, FaultWords, Watch};
use super::bound::Bound;
use super::context::Context;
use super::entry::Entry;
use super::launch::{Grid, Residency};
use super::linked::{BESIDE_CODE, LinkedCode, LinkedKernels, Programs, run_code_alone};
use super::memory::DeviceMemory;
use super::module::Module;
use super::resident::lane;
use super::shape::RequestedShape;
use super::staging::Staging;
use super::stream::{COPY_LIMIT, Event, Stream};
use crate::backend::batch::{
    BatchError, BatchLimits, BatchSession, BatchStats, Job, Pack, Searches, own_of,
};
use crate::backend::{BackendError, Canceller, CodeReport, DeviceInfo, HostWork, SessionWork};
use crate::executor::Executor;
use crate::units::elapsed_ns;
use seawall_core::abi::batch::BatchState;
use seawall_core::abi::control::ControlRecord;
use seawall_core::abi::program::Opcode;
use seawall_device::machine::{COMPACT_LANES, LANES_MAX};
use std::mem::offset_of;
use std::ops::Range;
use std::rc::Rc;
use std::time::{Duration, Instant};

/// Time that the host waits beyond the kernel's time budget.
const GRACE: Duration = Duration::from_secs(5);

/// Lanes of a block by the work, nodes and edges, of the graphs: enough to clear registers and
/// expand wide frontiers, few enough for many blocks.
const LANES_BY_WORK: [(u64, u32); 5] = [
    (1 << 12, 32),
    (1 << 14, 64),
    (1 << 16, COMPACT_LANES),
    (1 << 18, 256),
    (1 << 20, 512),
];

/// Largest staging buffer, bytes: enough for every thread to fill a piece of it. The system pins
/// memory more slowly than the link copies it, and the buffers live as long as the batch.
const BUFFER_MAX: usize = 4 << 20;

/// Fewest lanes of the kernel that knows every opcode: its shared memory allows few resident
/// blocks of any size.
const FULL_LANES_MIN: u32 = 128;

/// A packed batch in device memory.
///
/// Its handles belong to the thread that opened it, so it is not `Send`.
#[derive(Debug)]
pub struct CudaBatch<'g> {
    searches: Searches<'g>,
    pack: Pack,
    grid: Grid,
    /// Machine code of the programs, if they only run code.
    code: Option<LinkedCode>,
    /// Whether the grid's kernel has it.
    is_linked: bool,
    memory: DeviceMemory,
    staging: Staging,
    clock: [Event; 2],
    stream: Stream,
    /// Buffer for the state of the last run, kept so that the next one finds its pages.
    copy: Vec<u8>,
    time_budget: Duration,
    canceller: Canceller,
    abort: Option<AbortFlag>,
    work: SessionWork,
    upload_ns: u64,
    module: Rc<Module>,
    context: Rc<Context>,
}

impl<'g> CudaBatch<'g> {
    /// Opens a device, packs `jobs` and uploads them in one copy.
    ///
    /// `options.lanes` and `options.blocks` override the shape chosen for the graphs; at most one
    /// block per graph is launched.
    ///
    /// # Errors
    /// [`BackendError::Unavailable`] without driver or device, [`BackendError::OutOfMemory`] if
    /// budget or memory is short, otherwise see [`BatchError`].
    pub fn open(jobs: &[Job<'g>], options: CudaOptions) -> Result<Self, BatchError> {
        let context = Context::open(options.device, options.budget_bytes)?;
        let module = Module::load(&context)?;
        let own = own_of(jobs)?;
        let own = own.map(|own| module.own_text(own)).transpose()?;
        let (entry, lanes) = kernel_for(jobs, options.lanes);
        let entry = match own {
            Some(_) => Entry::OwnBatch,
            None => entry,
        };
        let shape = RequestedShape {
            blocks: options.blocks,
            lanes: Some(lanes),
            ..RequestedShape::default()
        };
        shape.lanes_within(LANES_MAX, module.context().limits())?;
        // Compiling the kernel is not part of the upload's time.
        let started = Instant::now();
        let pack = Pack::of(jobs)?;
        let laid_out_ns = elapsed_ns(started);
        let programs = jobs.iter().map(|job| &*job.program);
        let mut code = (entry == Entry::BatchAll && run_code_alone(programs)).then(|| {
            let kernels = LinkedKernels::free(&[Entry::BatchLinked], shape);
            LinkedCode::of(Programs::of_batch(jobs, &pack), options.jit, kernels)
        });
        let linked = code.as_mut().and_then(|code| code.grid(&module));
        let is_linked = linked.is_some();
        let most = match linked {
            Some(grid) => grid,
            None => {
                let whole = module.kernel_within(entry, Bound::ANY, own)?;
                Grid::new(whole, shape, Residency::Free)?
            }
        };
        let started = Instant::now();
        let free = context.free_bytes()?;
        let space = BatchLimits {
            workers: most.shape().blocks,
            available_bytes: options.budget_bytes.map_or(free, |budget| budget.min(free)),
            time_budget_ns: options.limits.time_budget_ns,
            machine: (Executor::Mega, options.device),
        };
        let pack = pack.within(space)?;
        let searches = Searches::of(jobs)?;
        let grid = most.with_blocks(pack.workers());
        let memory = DeviceMemory::take(&context, "the batch", pack.bytes())?;
        let (stream, staging) = lane(&context, (pack.image_bytes() as usize).min(BUFFER_MAX))?;
        let mut batch = Self {
            searches,
            pack,
            grid,
            code,
            is_linked,
            memory,
            staging,
            clock: [Event::new(&context)?, Event::new(&context)?],
            stream,
            copy: Vec::new(),
            time_budget: Duration::from_nanos(options.limits.time_budget_ns),
            canceller: Canceller::default(),
            abort: None,
            work: SessionWork::default(),
            upload_ns: 0,
            module,
            context,
        };
        let uploaded = batch.upload(jobs);
        batch.context.settled(&batch.stream, uploaded)?;
        batch.upload_ns = laid_out_ns.saturating_add(elapsed_ns(started));
        Ok(batch)
    }

    /// Blocks and lanes of the launch.
    #[must_use]
    pub const fn shape(&self) -> GridShape {
        self.grid.shape()
    }

    fn upload(&mut self, jobs: &[Job<'_>]) -> Result<(), BackendError> {
        let (pack, address) = (&self.pack, self.memory.address());
        let bytes = pack.image_bytes() as usize;
        let fill = |at: usize, part: &mut [u8]| pack.write(jobs, address, (at as u64, part));
        // SAFETY: the memory is as long as the whole batch, whose front is the image, and freeing
        // it waits for the copy.
        unsafe {
            self.staging
                .upload_filled(&self.stream, address, bytes, fill)?;
        }
        self.work.packed(bytes);
        self.zero(self.pack.image_bytes()..self.pack.bytes())?;
        self.stream.wait("uploading the batch", COPY_LIMIT)
    }

    fn zero(&self, range: Range<u64>) -> Result<(), BackendError> {
        let address = self.memory.address() + range.start;
        // SAFETY: ranges of the pack lie within the memory.
        unsafe { self.stream.zero(address, range.end - range.start) }
    }

    /// Runs the batch and copies its state; returns the device time and the host's work.
    fn launch(&mut self) -> Result<(u64, HostWork), BackendError> {
        self.context.bind()?;
        if self.abort.is_none() && self.canceller.is_shared() {
            self.abort = Some(AbortFlag::new(&self.context, self.pack.graphs())?);
        }
        let mut host = HostWork::default();
        let [start, end] = &self.clock;
        self.zero(self.pack.zeroed())?;
        start.record(&self.stream)?;
        // SAFETY: the batch record is at the start of the memory, which holds everything it refers
        // to, including an arena for each block, and lives until the wait below.
        unsafe {
            self.grid.launch(&self.stream, self.memory.address(), &[])?;
        }
        host.launches += 1;
        end.record(&self.stream)?;
        let limit = self.time_budget.saturating_add(GRACE);
        let watch = Watch::new(&self.canceller, self.abort.as_ref());
        let look = || watch.look(&self.fault_words());
        self.stream
            .wait_beside("waiting for the batch to end", limit, look)?;
        host.host_synchronisations += 1;
        let run_ns = start.ns_until(end)?;
        self.download_state()?;
        Ok((run_ns, host))
    }

    /// How waves of code ran, if programs have some.
    fn code_report(&self) -> Option<CodeReport> {
        match &self.code {
            Some(code) => Some(code.report()),
            None => self.pack.interpreted(BESIDE_CODE),
        }
    }

    /// Counts a run, after which machine code may pay or be there.
    fn ran(&mut self, run_ns: u64) {
        let Some(code) = self.code.as_mut().filter(|_| !self.is_linked) else {
            return;
        };
        code.ran(run_ns);
        if let Some(grid) = code.grid(&self.module) {
            self.grid = grid.with_blocks(self.pack.workers());
            self.is_linked = true;
        }
    }

    /// The word whose fault keeps blocks from taking further graphs, and those of the graphs
    /// that they have.
    fn fault_words(&self) -> [FaultWords; 2] {
        let start = self.memory.address();
        let state = start + self.pack.zeroed().start;
        let graphs = FaultWords {
            first: start + self.pack.controls_start() + offset_of!(ControlRecord, fault) as u64,
            apart: size_of::<ControlRecord>(),
            count: self.pack.graphs(),
        };
        let batch = FaultWords::one(state + offset_of!(BatchState, fault) as u64);
        [batch, graphs]
    }

    /// Copies the state of a run to [`Self::copy`].
    fn download_state(&mut self) -> Result<(), BackendError> {
        let copy = &mut self.copy;
        copy.clear();
        let state = self.pack.zeroed();
        let (source, bytes) = (self.memory.address() + state.start, state.end - state.start);
        copy.reserve(bytes as usize);
        let take = |part: &[u8]| copy.extend_from_slice(part);
        // SAFETY: ranges of the pack lie within the memory.
        unsafe {
            self.staging
                .download(&self.stream, source, bytes as usize, take)
        }
    }

    /// Copies the results to `words`, those of each graph to its own.
    fn download_results(&mut self, words: &mut [Vec<u32>]) -> Result<(), BackendError> {
        let io = self.pack.io();
        let (source, bytes) = (self.memory.address() + io.start, io.end - io.start);
        let mut start = io.start;
        let take = |part: &[u8]| {
            self.pack.gather(start, part, words);
            start += part.len() as u64;
        };
        // SAFETY: ranges of the pack lie within the memory.
        unsafe {
            self.staging
                .download(&self.stream, source, bytes as usize, take)
        }
    }
}

impl BatchSession for CudaBatch<'_> {
    fn device(&self) -> &DeviceInfo {
        &self.context.limits().info
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
        self.canceller.settle()?;
        let launched = self.launch();
        let timed = self.context.settled(&self.stream, launched)?;
        self.canceller.settle()?;
        self.work.ran(0, timed.1.host_synchronisations);
        let stats = self.pack.stats(timed.0, timed.1, &self.copy)?;
        let code = self.code_report();
        self.ran(timed.0);
        Ok(BatchStats { code, ..stats })
    }

    fn read_each(&mut self) -> Result<Vec<Result<Vec<u32>, BackendError>>, BatchError> {
        self.context.bind()?;
        let mut words = vec![Vec::new(); self.pack.graphs()];
        let read = self.download_results(&mut words);
        self.context.settled(&self.stream, read)?;
        words.iter().for_each(|words| self.work.read(words.len()));
        Ok(self.searches.check(words))
    }
}

impl Drop for CudaBatch<'_> {
    fn drop(&mut self) {
        if self.context.is_given_up() {
            return;
        }
        // As for a session of one graph: the frees that follow must not wait
        // without a limit.
        let _ = self.context.bind();
        let _ = self.stream.wait("closing the batch", COPY_LIMIT);
    }
}

/// The kernel for all programs of `jobs` and the lanes of its blocks.
fn kernel_for(jobs: &[Job<'_>], asked: Option<u32>) -> (Entry, u32) {
    let lanes = asked.unwrap_or_else(|| lanes_for(jobs.iter().map(work_of)));
    let opcodes = jobs
        .iter()
        .flat_map(|job| &job.program.waves)
        .map(|wave| Opcode::from_word(wave.opcode));
    // An opcode of another version gets the kernel with most opcodes, which then reports the fault.
    let known: Option<Vec<Opcode>> = opcodes.collect();
    let name = known.map_or("", seawall_device::batch_kernel_for);
    let compact = Entry::BatchSearch;
    if lanes <= COMPACT_LANES && compact.name().to_bytes() == name.as_bytes() {
        (compact, lanes)
    } else {
        let all = Entry::BatchAll;
        let runs_code = all.name().to_bytes() == name.as_bytes();
        (
            if runs_code { all } else { Entry::Batch },
            asked.unwrap_or_else(|| lanes.max(FULL_LANES_MIN)),
        )
    }
}

fn work_of(job: &Job<'_>) -> u64 {
    u64::from(job.graph.nodes()) + u64::from(job.graph.edges())
}

/// Returns the lanes for graphs of these sizes, by their work-weighted mean size: a few large
/// graphs among many small ones count by their cost.
fn lanes_for(works: impl Iterator<Item = u64>) -> u32 {
    let (sum, squares) = works.fold((0.0_f64, 0.0_f64), |(sum, squares), work| {
        let work = work as f64;
        (sum + work, squares + work * work)
    });
    let typical = if sum > 0.0 { squares / sum } else { 0.0 };
    LANES_BY_WORK
        .into_iter()
        .find(|(most, _)| typical <= *most as f64)
        .map_or(LANES_MAX, |(_, lanes)| lanes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lanes_follow_the_graphs_that_hold_the_work() {
        assert_eq!(lanes_for([0, 0].into_iter()), 32);
        assert_eq!(lanes_for(std::iter::repeat_n(1152, 8192)), 32);
        assert_eq!(lanes_for(std::iter::repeat_n(10_000, 3)), 64);
        assert_eq!(lanes_for(std::iter::repeat_n(u64::from(u32::MAX), 9)), 1024);
        let mixed = std::iter::repeat_n(10, 1000).chain([200_000]);
        assert_eq!(lanes_for(mixed), 256);
    }
}
