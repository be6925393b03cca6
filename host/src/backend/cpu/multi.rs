//! Several devices that are simulated, each by threads, one for a block.

use super::{Lines, SERVICES, lines};
use crate::backend::BackendError;
use crate::backend::multi::{DeviceFigures, DeviceFound, Meeting, MultiJob, counted, fault};
use crate::backend::processes::{self, Processes, RankKernel, SharedWords, forget, outboxes};
use crate::backend::threads::run_blocks;
use crate::units::{counted as many, elapsed_ns};
use seawall_core::abi::control::{ControlRecord, FaultCode};
use seawall_core::abi::multi::MultiRecord;
use seawall_device::entry::threads::run_multi;
use seawall_device::machine::SHARED_WORDS;
use seawall_device::machine::cpu::HostGrid;
use seawall_device::machine::dealer::Dealer;
use seawall_device::multi::Multi;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, TryRecvError};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Time between two looks at whether a run is to end.
const LOOK: Duration = Duration::from_millis(2);

/// Blocks that run the kernel of one device.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Blocks {
    /// As many threads.
    Threads(u32),
    /// A function that runs the kernel of a record, on any machine.
    By(fn(&MultiRecord)),
}

impl Blocks {
    fn threads(self) -> u32 {
        match self {
            Self::Threads(threads) => threads,
            Self::By(_) => 1,
        }
    }
}

/// The other devices of a run, as the thread of one sees them.
trait Communicator: Sync {
    /// Waits for all devices; `None` if any has failed by then, this one with `result` among them.
    /// Every device has to call this as often as the others, until it returns `None`.
    fn all<T>(&self, result: Result<T, BackendError>) -> Option<T>;

    /// The memory of each device, which for this one begins at `own`: addresses valid here.
    fn bases(&self, job: &MultiJob<'_>, own: u64) -> Option<Vec<u64>>;

    /// Runs beside the kernel, which has ended when nobody can send to `ended` any more. A code in
    /// the word at `fault` ends it.
    fn beside(&self, job: &MultiJob<'_>, bases: &[u64], fault: &AtomicU32, ended: &Receiver<()>);
}

/// Devices of this process.
struct Simulated<'m, 'c> {
    meeting: &'m Meeting<'c>,
    bases: &'m Mutex<Vec<u64>>,
}

impl Communicator for Simulated<'_, '_> {
    fn all<T>(&self, result: Result<T, BackendError>) -> Option<T> {
        self.meeting.all(result)
    }

    fn bases(&self, job: &MultiJob<'_>, own: u64) -> Option<Vec<u64>> {
        let bases = || self.bases.lock().unwrap_or_else(PoisonError::into_inner);
        bases()[job.own as usize] = own;
        self.all(Ok(()))?;
        Some(bases().clone())
    }

    fn beside(&self, _: &MultiJob<'_>, _: &[u64], fault: &AtomicU32, ended: &Receiver<()>) {
        while ended.recv_timeout(LOOK) == Err(RecvTimeoutError::Timeout) {
            if self.meeting.canceller.is_asked() {
                give_up(fault);
                return;
            }
        }
    }
}

/// Devices of other processes.
struct OnRanks<'p, 'c> {
    ranks: &'p Processes<'c>,
    /// The memory to which the kernel writes for others.
    outboxes: Mutex<Vec<Lines>>,
}

impl OnRanks<'_, '_> {
    fn outboxes(&self) -> Vec<SharedWords> {
        let mut outboxes = self.outboxes.lock().unwrap_or_else(PoisonError::into_inner);
        let shared = |lines: &mut Lines| {
            let base = lines.as_mut_ptr().expose_provenance() as u64;
            // SAFETY: lines of that length, which live as long as the run.
            unsafe { SharedWords::at(base) }
        };
        outboxes.iter_mut().map(shared).collect()
    }
}

impl Communicator for OnRanks<'_, '_> {
    fn all<T>(&self, result: Result<T, BackendError>) -> Option<T> {
        self.ranks.all(result)
    }

    fn bases(&self, job: &MultiJob<'_>, own: u64) -> Option<Vec<u64>> {
        let (count, words) = outboxes(job);
        let made = (0..count).map(|_| lines("an outbox for other ranks", words * 4));
        let made = self.all(made.collect::<Result<Vec<Lines>, _>>())?;
        *self.outboxes.lock().unwrap_or_else(PoisonError::into_inner) = made;
        Some(processes::bases(job, own, &self.outboxes()))
    }

    fn beside(&self, job: &MultiJob<'_>, bases: &[u64], fault: &AtomicU32, ended: &Receiver<()>) {
        let outboxes = self.outboxes();
        let kernel = ThreadKernel {
            // SAFETY: the memory of this device, which lives until its kernel and this proxy have ended.
            memory: unsafe { SharedWords::at(bases[job.own as usize]) },
            fault,
            ended,
        };
        self.ranks.serve(job, &outboxes, &kernel);
        // The kernel writes no more then. A message would be an error of the kernel's.
        let _ = ended.recv();
        forget(job, &outboxes);
    }
}

/// A kernel on threads of this process.
struct ThreadKernel<'k> {
    memory: SharedWords,
    fault: &'k AtomicU32,
    ended: &'k Receiver<()>,
}

impl RankKernel for ThreadKernel<'_> {
    fn read(&self, at: u64, count: usize, to: &mut Vec<u32>) -> Result<(), BackendError> {
        to.extend(self.memory.read(at, count));
        Ok(())
    }

    fn write(&self, at: u64, words: &[u32]) -> Result<(), BackendError> {
        self.memory.write(at, words);
        Ok(())
    }

    fn scatter(&self, words: Vec<(u64, u32)>) -> Result<(), BackendError> {
        for (at, word) in words {
            self.memory.write(at, &[word]);
        }
        Ok(())
    }

    fn release(&self, at: u64, word: u32) -> Result<(), BackendError> {
        self.memory.release(at, word);
        Ok(())
    }

    fn is_over(&self) -> bool {
        self.ended.try_recv() == Err(TryRecvError::Disconnected)
    }

    fn is_well(&self) -> bool {
        self.fault.load(Ordering::Relaxed) == 0
    }

    fn give_up(&self) {
        give_up(self.fault);
    }
}

/// Ends a kernel by the fault word that it looks at.
fn give_up(fault: &AtomicU32) {
    let (none, given_up) = (0, FaultCode::GivenUp as u32);
    let order = Ordering::Relaxed;
    let _ = fault.compare_exchange(none, given_up, order, order);
}

/// Runs the kernel that GPUs run on devices of these blocks each.
///
/// # Errors
/// [`BackendError::OutOfMemory`], [`BackendError::Threads`], [`BackendError::Fault`],
/// [`BackendError::Cancelled`].
pub(crate) fn run(
    jobs: &[MultiJob<'_>],
    blocks: Blocks,
    meeting: Meeting<'_>,
) -> Result<Vec<DeviceFound>, BackendError> {
    let bases = Mutex::new(vec![0_u64; jobs.len()]);
    meeting.run(jobs, |job, meeting| {
        let bases = &bases;
        on_device(job, blocks, &Simulated { meeting, bases })
    })
}

/// Runs this rank's device on threads; `None` if any rank fails.
pub(crate) fn on_ranks(
    job: &MultiJob<'_>,
    threads: u32,
    ranks: &Processes<'_>,
) -> Option<DeviceFound> {
    let outboxes = Mutex::default();
    on_device(job, Blocks::Threads(threads), &OnRanks { ranks, outboxes })
}

/// One device; `None` if any of them fails.
fn on_device(
    job: &MultiJob<'_>,
    blocks: Blocks,
    communicator: &impl Communicator,
) -> Option<DeviceFound> {
    let began = Instant::now();
    let memory = communicator.all(lines("a device's part of the graph", job.bytes()));
    let mut memory = memory?;
    let words: &mut [u32] = bytemuck::cast_slice_mut(&mut memory);
    for (at, array) in job.kept() {
        words[at as usize..at as usize + array.len()].copy_from_slice(array);
    }
    let base = words.as_mut_ptr().expose_provenance() as u64;
    let bases = communicator.bases(job, base)?;
    let upload_ns = elapsed_ns(began);
    let record = job.record(&bases);
    let mut times_ns = Vec::new();
    let mut barriers = 0;
    let [control_at, _, state_at] = job.reports_at();
    for _ in 0..job.run.repeat {
        let words: &mut [u32] = bytemuck::cast_slice_mut(&mut memory);
        for (at, count) in job.zeros() {
            words[at as usize..(at + count) as usize].fill(0);
        }
        for (at, part) in job.begins() {
            words[at as usize..at as usize + part.len()].copy_from_slice(&part);
        }
        communicator.all(Ok(()))?;
        let run = || kernel(job, &record, blocks, &bases, communicator);
        let ran = catch_unwind(AssertUnwindSafe(run)).unwrap_or_else(|panic| {
            // Kernels of other devices write into this one's memory until they have ended, too.
            communicator.all::<()>(Err(BackendError::Cancelled));
            resume_unwind(panic)
        });
        let words: &[u32] = bytemuck::cast_slice(&memory);
        let control = read_record::<ControlRecord>(words, control_at);
        let ended = ran.and_then(|()| match control.fault.code {
            0 => Ok(()),
            _ => Err(fault(&control, job.own)),
        });
        communicator.all(ended)?;
        let [crossed, spent] = counted(&control, blocks.threads());
        barriers = crossed;
        times_ns.push(spent);
    }
    let began = Instant::now();
    let words: &[u32] = bytemuck::cast_slice(&memory);
    let (at, count) = job.values_at();
    let values = words[at as usize..at as usize + count].to_vec();
    // Ranks on GPUs may fail to read theirs.
    communicator.all(Ok(DeviceFound {
        values,
        figures: DeviceFigures {
            state: read_record(words, state_at),
            barriers,
            upload_ns,
            readback_ns: elapsed_ns(began),
            bytes: job.bytes(),
            edges: job.edge_count(),
        },
        times_ns,
        name: many(u64::from(blocks.threads()), "thread"),
    }))
}

/// Runs the blocks of a device, with what its communicator does beside them.
fn kernel(
    job: &MultiJob<'_>,
    record: &MultiRecord,
    blocks: Blocks,
    bases: &[u64],
    communicator: &impl Communicator,
) -> Result<(), BackendError> {
    let dealer = Dealer::new();
    let address = std::ptr::from_ref(record).expose_provenance();
    let block = |block: u32| {
        let mut shared = vec![0_u32; SHARED_WORDS];
        // SAFETY: `shared` belongs to this thread and outlives the call, as does the dealer.
        let grid = unsafe {
            HostGrid::new(
                block,
                blocks.threads(),
                shared.as_mut_ptr(),
                &dealer,
                SERVICES,
            )
        };
        // SAFETY: the record and all that it points to outlive the blocks of all devices, with the
        // lengths that its counts give: no device's thread goes on before all kernels have ended.
        let part = unsafe { Multi::new(std::ptr::with_exposed_provenance(address)) };
        run_multi(grid, part);
    };
    let [_, fault_at, _] = job.reports_at();
    let fault = (bases[job.own as usize] + 4 * fault_at) as usize;
    // SAFETY: the fault's word lives as long as the kernel, which reads it atomically.
    let fault = unsafe { AtomicU32::from_ptr(std::ptr::with_exposed_provenance_mut(fault)) };
    std::thread::scope(|scope| {
        let (end, ended) = mpsc::channel::<()>();
        scope.spawn(move || communicator.beside(job, bases, fault, &ended));
        let ran = match blocks {
            Blocks::Threads(threads) => run_blocks(threads, block),
            Blocks::By(kernel) => {
                kernel(record);
                Ok(())
            }
        };
        drop(end);
        ran
    })
}

fn read_record<T: bytemuck::Pod>(words: &[u32], at: u64) -> T {
    let at = at as usize;
    let count = size_of::<T>() / 4;
    bytemuck::pod_read_unaligned(bytemuck::cast_slice(&words[at..at + count]))
}
