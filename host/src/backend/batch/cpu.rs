//! Batches on the CPU: threads take whole graphs, one graph per thread.
//!
//! Every thread is a one-lane block of the batch kernel, so no thread ever
//! waits for another. Wall time is the run's time.

use super::{BatchError, BatchSession, BatchStats, Job, Pack, Room, Searches, own_of};
use crate::backend::cpu::{self, Lines};
use crate::backend::threads::run_blocks;
use crate::backend::{BackendError, Canceller, DeviceInfo, HostWork, RunLimits, SessionWork};
use crate::executor::Executor;
use crate::own::{BUILT_IN, OwnWaves};
use crate::units::elapsed_ns;
use seawall_core::abi::batch::BatchRecord;
use seawall_device::grid::SHARED_WORDS;
use seawall_device::grid::dealer::Dealer;
use seawall_device::grid::host::HostGrid;
use seawall_device::run::Batch;
use std::num::NonZeroUsize;
use std::ops::Range;
use std::time::Instant;

/// A packed batch in memory.
#[derive(Debug)]
pub struct CpuBatch<'g> {
    searches: Searches<'g>,
    pack: Pack,
    walk: WalkBatch,
    memory: Lines,
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
        (limits, budget_bytes): (RunLimits, Option<u64>),
    ) -> Result<Self, BatchError> {
        let started = Instant::now();
        let device = cpu::device_of(threads)?;
        let room = Room {
            workers: device.units,
            available_bytes: budget_bytes.unwrap_or(u64::MAX),
            time_budget_ns: limits.time_budget_ns,
            machine: (Executor::Cpu, 0),
        };
        let own = own_of(jobs)?;
        let pack = Pack::new(jobs, room)?;
        let searches = Searches::of(jobs)?;
        let mut memory = Lines::untouched("the batch", pack.bytes())?;
        let base = memory.as_mut_ptr() as u64;
        let image = bytemuck::cast_slice_mut::<_, u8>(&mut memory);
        let image = &mut image[..pack.image_bytes() as usize];
        pack.write(jobs, base, (0, image));
        let mut work = SessionWork::default();
        work.packed(image.len());
        Ok(Self {
            searches,
            pack,
            walk: own.map_or(BUILT_IN, OwnWaves::walkers).batch,
            memory,
            device,
            canceller: Canceller::default(),
            work,
            upload_ns: elapsed_ns(started),
        })
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
        self.canceller.settle()?;
        let zeroed = self.pack.zeroed();
        let bytes = bytemuck::cast_slice_mut::<_, u8>(&mut self.memory);
        bytes[zeroed.start as usize..zeroed.end as usize].fill(0);
        let record = BatchAddress(self.memory.as_mut_ptr() as u64);
        let started = Instant::now();
        run_threads((record, self.walk), self.pack.workers(), &self.canceller)?;
        self.canceller.settle()?;
        let run_ns = elapsed_ns(started);
        self.work.ran(0, 1);
        self.pack
            .stats((run_ns, HostWork::default()), self.part(&zeroed))
    }

    fn read_each(&mut self) -> Result<Vec<Result<Vec<u32>, BackendError>>, BatchError> {
        let io = self.pack.io();
        let mut words = vec![Vec::new(); self.pack.graphs()];
        self.pack.gather((io.start, self.part(&io)), &mut words);
        words.iter().for_each(|words| self.work.read(words.len()));
        Ok(self.searches.check(words))
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
    threads: u32,
    canceller: &Canceller,
) -> Result<(), BackendError> {
    let dealer = Dealer::new();
    run_blocks(threads, |block| {
        cpu::obeying(canceller, || run_block(batch, (block, threads), &dealer));
    })
}

fn run_block(
    (BatchAddress(record), walk): (BatchAddress, WalkBatch),
    place: (u32, u32),
    dealer: &Dealer,
) {
    let mut shared = vec![0_u32; SHARED_WORDS];
    // SAFETY: `shared` belongs to this thread and outlives the call; so does the dealer, which
    // only the threads of this run use.
    let grid = unsafe { HostGrid::new(place, shared.as_mut_ptr(), dealer, cpu::SERVICES) };
    // SAFETY: the record and all that it names lie in memory of the session,
    // which is exclusively borrowed for the run; there is an arena for each of
    // the blocks.
    let batch = unsafe { Batch::new(record as *const BatchRecord) };
    walk(grid, batch);
}
