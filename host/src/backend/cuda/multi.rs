//! Several GPUs: a kernel that stays on each, and memory that they write for each other.
//!
//! Those of one host write into each other's memory. A thread a device, since a context belongs to one.
//! Before the launch each checks that its device reaches the memory of all others and holds all blocks at
//! once, and that all have one kernel. A GPU may also be one rank of several processes (`rank`).

use super::abort::{AbortFlag, FaultWords, Watch};
use super::bound::Bound;
use super::context::Context;
use super::entry::Entry;
use super::launch::{Grid, Residency};
use super::memory::DeviceMemory;
use super::module::Module;
use super::resident::lane;
use super::shape::RequestedShape;
use super::staging::Staging;
use super::stream::{COPY_LIMIT, Stream};
use crate::backend::lanes::Kind;
use crate::backend::multi::{
    DeviceFigures, DeviceFound, Meeting, MultiJob, MultiRun, counted, fault,
};
use crate::backend::{BackendError, Canceller};
use crate::graph::memory;
use crate::units::elapsed_ns;
use bytemuck::{Zeroable, bytes_of, bytes_of_mut};
use cudarc::driver::sys::{CUcontext, CUdevice};
use seawall_core::abi::control::ControlRecord;
use seawall_core::abi::multi::{MultiKind, MultiRecord, MultiState};
use std::rc::Rc;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Bytes of the host's buffers for copies.
const COPY_BYTES: usize = 16 << 20;

/// Time that the host waits beyond the kernel's time budget.
const GRACE: Duration = Duration::from_secs(5);

/// Time after which a kernel is given up.
pub(super) fn limit(job: &MultiJob<'_>) -> Duration {
    Duration::from_nanos(job.run.time_ns).saturating_add(GRACE)
}

/// Lanes of a block. Where a step has many edges, more lanes hide more of the time that memory takes;
/// narrow steps are faster by few, whose barrier costs less. One H200 (driver 580.159.04, 2026-11-30),
/// milliseconds with 1024, 640, 512 and 384 lanes:
///
/// | | | | | |
/// | --- | ---: | ---: | ---: | ---: |
/// | paths, `gen:uniform:24:16` | 32.9 | 38.5 | 41.0 | 49.0 |
/// | paths, `gen:grid:2048` | 125 | 96.0 | 90.9 | 93.2 |
/// | components, `gen:uniform:24:16` | 2.18 | 2.29 | 2.67 | 3.32 |
/// | search, `gen:uniform:24:16` | 2.81 | 2.80 | 2.98 | 3.35 |
/// | search, `gen:grid:2048` | 72.8 | 60.3 | 58.1 | 60.1 |
/// | core numbers, `gen:rmat:22:16` | 116 | 98.8 | 95.7 | 97.7 |
fn lanes(run: &MultiRun) -> u32 {
    let is_rich = Kind::of_size(run.nodes, run.edges) == Kind::Rich;
    match run.kind {
        MultiKind::Components => 1024,
        MultiKind::Whole | MultiKind::Float | MultiKind::Ranks if is_rich => 1024,
        MultiKind::Levels if is_rich => 640,
        _ => 512,
    }
}

/// Message of a device's thread to those of the others.
#[derive(Clone, Copy, Debug, Default)]
struct Told {
    /// First byte of the device's memory.
    base: u64,
    /// Its context, as an address.
    context: usize,
    device: CUdevice,
    /// Its kernel's target and capability.
    kernel: (&'static str, Option<(u32, u32)>),
}

/// Runs on these devices, by their numbers.
///
/// # Errors
/// As for opening a session; [`BackendError::Unsupported`] for devices that do not reach each
/// other's memory or need different kernels; the first device's own error otherwise.
pub(crate) fn run(
    jobs: &[MultiJob<'_>],
    devices: &[u32],
    meeting: Meeting<'_>,
) -> Result<Vec<DeviceFound>, BackendError> {
    let told = Mutex::new(vec![Told::default(); jobs.len()]);
    meeting.run(jobs, |job, meeting| {
        let told = &told;
        on_device(job, devices[job.own as usize], &SameHost { meeting, told })
    })
}

/// The other devices of a run, as the thread of one sees them.
pub(super) trait Others {
    /// What a device needs for what it sends to the others.
    type Way;

    /// Waits for all devices; `None` if any has failed by then, this one with `result` among them.
    fn all<T>(&self, result: Result<T, BackendError>) -> Option<T>;

    /// Makes the memory of each device known to `part`; `None` if any has failed.
    fn reach(&self, part: &mut Part, job: &MultiJob<'_>) -> Option<Self::Way>;

    /// Runs the kernel, and waits for its end.
    fn run(&self, part: &Part, job: &MultiJob<'_>, way: &Self::Way) -> Result<(), BackendError>;
}

/// Devices of this process, each with a thread.
struct SameHost<'m, 'c> {
    meeting: &'m Meeting<'c>,
    told: &'m Mutex<Vec<Told>>,
}

impl Others for SameHost<'_, '_> {
    type Way = ();

    fn all<T>(&self, result: Result<T, BackendError>) -> Option<T> {
        self.meeting.all(result)
    }

    fn reach(&self, part: &mut Part, job: &MultiJob<'_>) -> Option<()> {
        let told = || self.told.lock().unwrap_or_else(PoisonError::into_inner);
        told()[job.own as usize] = part.told();
        self.all(Ok(()))?;
        let told = told().clone();
        self.all(part.reach(job, &told))
    }

    fn run(&self, part: &Part, job: &MultiJob<'_>, (): &()) -> Result<(), BackendError> {
        part.launch()?;
        part.wait(job, self.meeting.canceller)
    }
}

/// A device with its part of the graph.
pub(super) struct Part {
    pub(super) context: Rc<Context>,
    grid: Grid,
    pub(super) stream: Stream,
    staging: Staging,
    pub(super) memory: DeviceMemory,
    record: DeviceMemory,
    pub(super) abort: AbortFlag,
    kernel: (&'static str, Option<(u32, u32)>),
    upload_ns: u64,
}

/// One device; `None` if any of them fails.
pub(super) fn on_device(
    job: &MultiJob<'_>,
    device: u32,
    others: &impl Others,
) -> Option<DeviceFound> {
    let mut part = others.all(Part::open(job, device))?;
    let way = others.reach(&mut part, job)?;
    let mut times_ns = Vec::new();
    let mut barriers = 0;
    for _ in 0..job.run.repeat {
        others.all(part.begin(job))?;
        let ran = others.run(&part, job, &way);
        let control = ran.and_then(|()| part.control(job));
        let control = others.all(control.and_then(|control| match control.fault.code {
            0 => Ok(control),
            _ => Err(fault(&control, device)),
        }))?;
        let [crossed, spent] = counted(&control, part.grid.shape().blocks);
        barriers = crossed;
        times_ns.push(spent);
    }
    let found = part.found(job, times_ns, barriers);
    others.all(found)
}

impl Part {
    fn open(job: &MultiJob<'_>, device: u32) -> Result<Self, BackendError> {
        let context = Context::open(device, None)?;
        let module = Module::load(&context)?;
        let lanes = lanes(job.run);
        let bound = Bound::of(lanes, true);
        let kernel = module.kernel_within(Entry::of_several(job.run.kind), bound, None)?;
        let shape = RequestedShape {
            lanes: Some(lanes),
            ..RequestedShape::default()
        };
        let grid = Grid::new(kernel, shape, Residency::Cooperative)?;
        let (stream, mut staging) = lane(&context, COPY_BYTES)?;
        let began = Instant::now();
        let memory = DeviceMemory::take(&context, "a device's part of the graph", job.bytes())?;
        let record = DeviceMemory::take(
            &context,
            "the record of a device",
            size_of::<MultiRecord>() as u64,
        )?;
        for (at, array) in job.kept() {
            // SAFETY: the memory is as long as the job says; the copies are waited for.
            unsafe {
                let to = memory.address() + 4 * at;
                staging.upload(&stream, to, bytemuck::cast_slice(array))?;
            }
        }
        stream.wait("uploading a part of the graph", COPY_LIMIT)?;
        let abort = AbortFlag::new(&context, 1)?;
        Ok(Self {
            upload_ns: elapsed_ns(began),
            kernel: (module.image(), context.limits().info.compute_capability),
            grid,
            stream,
            staging,
            memory,
            record,
            abort,
            context,
        })
    }

    fn told(&self) -> Told {
        Told {
            base: self.memory.address(),
            context: self.context.raw() as usize,
            device: self.context.device(),
            kernel: self.kernel,
        }
    }

    /// Opens the memory of the other devices to this one, and writes the record.
    fn reach(&mut self, job: &MultiJob<'_>, told: &[Told]) -> Result<(), BackendError> {
        let own = told[job.own as usize];
        let refuse = |reason: String| BackendError::Unsupported {
            device: self.context.limits().info.name.clone(),
            reason,
        };
        for (number, other) in told.iter().enumerate() {
            if number == job.own as usize {
                continue;
            }
            if other.kernel != own.kernel {
                return Err(refuse(format!(
                    "device {number} of the run is of another kind, and all need one kernel"
                )));
            }
            let context = other.context as CUcontext;
            // SAFETY: the other device's context is retained by its thread, which waits for this
            // one before it ends.
            if !unsafe { self.context.reach(other.device, context)? } {
                return Err(refuse(format!(
                    "it does not reach the memory of device {number} of the run"
                )));
            }
        }
        let bases: Vec<u64> = told.iter().map(|told| told.base).collect();
        self.put_record(job, &bases)
    }

    /// Writes the record of a run in which devices have memory at `bases`.
    pub(super) fn put_record(
        &mut self,
        job: &MultiJob<'_>,
        bases: &[u64],
    ) -> Result<(), BackendError> {
        let record = job.record(bases);
        // SAFETY: the memory holds a record; the copy is waited for.
        unsafe {
            let to = self.record.address();
            self.staging.upload(&self.stream, to, bytes_of(&record))?;
        }
        self.stream.wait("preparing a device", COPY_LIMIT)
    }

    /// Prepares a run.
    fn begin(&mut self, job: &MultiJob<'_>) -> Result<(), BackendError> {
        let base = self.memory.address();
        for (at, words) in job.zeros() {
            // SAFETY: the memory is as long as the job says.
            unsafe { self.stream.zero(base + 4 * at, 4 * words)? };
        }
        for (at, part) in job.begins() {
            let bytes: &[u8] = bytemuck::cast_slice(&part);
            // SAFETY: as above; staging has copied the bytes on return.
            unsafe { self.staging.upload(&self.stream, base + 4 * at, bytes)? };
        }
        self.stream.wait("preparing a run", COPY_LIMIT)
    }

    /// Launches the kernel.
    pub(super) fn launch(&self) -> Result<(), BackendError> {
        // SAFETY: the record is complete, and all that it points to lives until all kernels have
        // ended: no device's thread goes on before.
        unsafe { self.grid.launch(&self.stream, self.record.address(), &[]) }
    }

    /// Waits for the kernel's end.
    pub(super) fn wait(
        &self,
        job: &MultiJob<'_>,
        canceller: &Canceller,
    ) -> Result<(), BackendError> {
        let words = [self.fault_word(job)];
        let watch = Watch::new(canceller, Some(&self.abort));
        let look = || watch.look(&words);
        self.stream
            .wait_beside("waiting for a device", limit(job), look)
    }

    /// The word of the kernel's fault.
    pub(super) fn fault_word(&self, job: &MultiJob<'_>) -> FaultWords {
        let [_, fault_at, _] = job.reports_at();
        FaultWords::one(self.memory.address() + 4 * fault_at)
    }

    /// The control block after a run.
    fn control(&mut self, job: &MultiJob<'_>) -> Result<ControlRecord, BackendError> {
        let [at, ..] = job.reports_at();
        let mut control = ControlRecord::zeroed();
        self.read(at, bytes_of_mut(&mut control))?;
        Ok(control)
    }

    /// Reads the device's memory from a word on.
    fn read(&mut self, at: u64, to: &mut [u8]) -> Result<(), BackendError> {
        let from = self.memory.address() + 4 * at;
        // SAFETY: callers name words of live memory, and the kernel has ended.
        unsafe { self.staging.download_to(&self.stream, from, to) }
    }

    /// The device's values and counters.
    fn found(
        &mut self,
        job: &MultiJob<'_>,
        times_ns: Vec<u64>,
        barriers: u64,
    ) -> Result<DeviceFound, BackendError> {
        let began = Instant::now();
        let (at, count) = job.values_at();
        let mut values: Vec<u32> =
            memory::zeroed(count).map_err(BackendError::short("the values of a device"))?;
        self.read(at, bytemuck::cast_slice_mut(&mut values))?;
        let mut state = MultiState::zeroed();
        let [_, _, state_at] = job.reports_at();
        self.read(state_at, bytes_of_mut(&mut state))?;
        Ok(DeviceFound {
            values,
            figures: DeviceFigures {
                state,
                barriers,
                upload_ns: self.upload_ns,
                readback_ns: elapsed_ns(began),
                bytes: job.bytes(),
                edges: job.edge_count(),
            },
            times_ns,
            name: self.context.limits().info.name.clone(),
        })
    }
}
