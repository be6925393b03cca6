//! Several GPUs of one host: a kernel that stays on each, and memory that they write for each
//! other.
//!
//! A thread a device, since a context belongs to one. Before the launch each checks that its device
//! reaches the memory of all others and holds all blocks at once, and that all have one kernel.

use super::abort::{AbortFlag, FaultWords, Watch};
use super::context::Context;
use super::entry::Entry;
use super::launch::{Grid, Residency};
use super::memory::DeviceMemory;
use super::module::Module;
use super::resident::lane;
use super::shape::RequestedShape;
use super::staging::Staging;
use super::stream::{COPY_LIMIT, Stream};
use crate::backend::BackendError;
use crate::backend::multi::{DeviceFigures, DeviceFound, Meeting, MultiJob, counted, fault};
use crate::graph::memory;
use crate::units::elapsed_ns;
use bytemuck::{Zeroable, bytes_of, bytes_of_mut};
use cudarc::driver::sys::{CUcontext, CUdevice};
use seawall_core::abi::control::ControlRecord;
use seawall_core::abi::multi::{MultiRecord, MultiState};
use std::rc::Rc;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Bytes of the host's buffers for copies.
const COPY_BYTES: usize = 16 << 20;

/// Time that the host waits beyond the kernel's time budget.
const GRACE: Duration = Duration::from_secs(5);

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
        on_device(job, devices[job.own as usize], meeting, &told)
    })
}

/// A device with its part of the graph.
struct Part {
    context: Rc<Context>,
    grid: Grid,
    stream: Stream,
    staging: Staging,
    memory: DeviceMemory,
    record: DeviceMemory,
    abort: AbortFlag,
    upload_ns: u64,
}

/// One device; `None` if any of them fails.
fn on_device(
    job: &MultiJob<'_>,
    device: u32,
    meeting: &Meeting<'_>,
    told: &Mutex<Vec<Told>>,
) -> Option<DeviceFound> {
    let mut part = meeting.all(Part::open(job, device, told))?;
    let told = told.lock().unwrap_or_else(PoisonError::into_inner).clone();
    meeting.all(part.reach(job, &told))?;
    let mut times_ns = Vec::new();
    let mut barriers = 0;
    for _ in 0..job.run.repeat {
        meeting.all(part.begin(job))?;
        let ran = part.run(job, meeting);
        let control = ran.and_then(|()| part.control(job));
        let control = meeting.all(control.and_then(|control| match control.fault.code {
            0 => Ok(control),
            _ => Err(fault(&control, device)),
        }))?;
        let [crossed, spent] = counted(&control, part.grid.shape().blocks);
        barriers = crossed;
        times_ns.push(spent);
    }
    let found = part.found(job, times_ns, barriers);
    meeting.all(found)
}

impl Part {
    fn open(
        job: &MultiJob<'_>,
        device: u32,
        told: &Mutex<Vec<Told>>,
    ) -> Result<Self, BackendError> {
        let context = Context::open(device, None)?;
        let module = Module::load(&context)?;
        let kernel = module.kernel(Entry::Multi)?;
        let grid = Grid::new(kernel, RequestedShape::default(), Residency::Cooperative)?;
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
        told.lock().unwrap_or_else(PoisonError::into_inner)[job.own as usize] = Told {
            base: memory.address(),
            context: context.raw() as usize,
            device: context.device(),
            kernel: (module.image(), context.limits().info.compute_capability),
        };
        Ok(Self {
            upload_ns: elapsed_ns(began),
            grid,
            stream,
            staging,
            memory,
            record,
            abort,
            context,
        })
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
        let record = job.record(&bases);
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

    /// Launches the kernel and waits for its end.
    fn run(&mut self, job: &MultiJob<'_>, meeting: &Meeting<'_>) -> Result<(), BackendError> {
        // SAFETY: the record is complete, and all that it points to lives until all kernels have
        // ended: no device's thread goes on before.
        unsafe {
            self.grid.launch(&self.stream, self.record.address(), &[])?;
        }
        let [_, fault_at, _] = job.reports_at();
        let words = [FaultWords::one(self.memory.address() + 4 * fault_at)];
        let watch = Watch::new(meeting.canceller, Some(&self.abort));
        let limit = Duration::from_nanos(job.run.time_ns).saturating_add(GRACE);
        self.stream
            .wait_beside("waiting for a device", limit, || watch.look(&words))
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
