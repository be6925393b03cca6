//! Several GPUs that launch the groups of one program, each on its own memory.
//!
//! The host launches on all of them before it waits for any. Words that items stored go from device to
//! device; what has to be joined is joined by kernels, a part by each device, or by the host where
//! devices do not reach each other's memory.

use super::{CudaSession, begin, finish, stage_inputs};
use crate::backend::cuda::abort::{AbortFlag, Watch};
use crate::backend::cuda::entry::Entry;
use crate::backend::cuda::error::check;
use crate::backend::cuda::launch::{Grid, Residency};
use crate::backend::cuda::loaded::Loaded;
use crate::backend::cuda::memory::DeviceMemory;
use crate::backend::cuda::module::Module;
use crate::backend::cuda::runner::Runner;
use crate::backend::cuda::running::Running;
use crate::backend::cuda::shape::RequestedShape;
use crate::backend::cuda::stream::COPY_LIMIT;
use crate::backend::cuda::{CudaOptions, Executor};
use crate::backend::exchange::Exchange;
use crate::backend::stepped::{SteppedSession, Stepping};
use crate::backend::threads::join_all;
use crate::backend::walk::Kernel;
use crate::backend::{BackendError, Canceller, CodeReport, DeviceInfo, Session};
use crate::graph::Graph;
use bytemuck::{Zeroable, bytes_of};
use cudarc::driver::sys;
use seawall_core::abi::VERSION;
use seawall_core::abi::code::Joined;
use seawall_core::abi::control::ControlRecord;
use seawall_core::abi::multi::{JOIN_MAGIC, JoinRecord};
use std::collections::BTreeMap;
use std::ops::Range;
use std::rc::Rc;

/// The devices, and the control block of each after its last launch.
struct CudaDevices<'g> {
    devices: Vec<CudaSession<'g>>,
    controls: Vec<ControlRecord>,
    /// Whether each reaches the memory of all, and so joins copies by itself.
    joins: bool,
}

/// Opens the devices with these numbers, at least one.
///
/// # Errors
/// As for [`CudaSession::open`].
pub(crate) fn open<'g>(
    graph: &'g Graph,
    numbers: &[u32],
    options: CudaOptions,
) -> Result<SteppedSession<'g>, BackendError> {
    let open = |number: &u32| {
        let options = CudaOptions {
            device: *number,
            tiles: Some(false),
            ..options
        };
        CudaSession::open(Executor::Launches, graph, options)
    };
    let devices: Vec<_> = std::thread::scope(|scope| {
        let numbers = numbers.iter();
        join_all(numbers.map(|number| scope.spawn(move || open(number))))
    });
    let devices: Vec<CudaSession<'g>> = devices.into_iter().collect::<Result<_, _>>()?;
    let joins = reach_each_other(&devices)?;
    let first = devices.first().ok_or(BackendError::NotLoaded)?.device();
    let info = DeviceInfo {
        name: format!("{} x {}", devices.len(), first.name),
        ..first.clone()
    };
    let all = CudaDevices {
        controls: vec![ControlRecord::zeroed(); devices.len()],
        devices,
        joins,
    };
    let (all, numbers) = (Box::new(all), numbers.to_vec());
    Ok(SteppedSession::new(
        graph,
        all,
        info,
        numbers,
        options.limits,
    ))
}

/// Opens the memory of devices to each other where they reach it, and returns whether all do. The
/// driver copies by the host otherwise.
fn reach_each_other(devices: &[CudaSession<'_>]) -> Result<bool, BackendError> {
    let mut all = true;
    for own in devices {
        own.context.bind()?;
        for other in devices {
            if own.context.device() != other.context.device() {
                let (device, context) = (other.context.device(), other.context.raw());
                // SAFETY: all sessions are kept together, and each retains its context.
                all &= unsafe { own.context.reach(device, context)? };
            }
        }
    }
    Ok(all)
}

impl CudaSession<'_> {
    /// Calls `step` with a run of its own.
    fn step<T>(
        &mut self,
        step: impl FnOnce(&mut Running<'_>) -> Result<T, BackendError>,
    ) -> Result<T, BackendError> {
        let result = self.context.bind().and_then(|()| {
            let program = self.program.as_ref().ok_or(BackendError::NotLoaded)?;
            let watch = Watch::new(&self.canceller, self.abort.as_ref());
            let limits = (self.limits.time_budget_ns, watch);
            step(&mut Running::new(&self.stream, program, limits))
        });
        self.context.settled(&self.stream, result)
    }

    /// Queues the inputs of a run, and clears the control block.
    fn begin_steps(&mut self, inputs: &[u32]) -> Result<(), BackendError> {
        self.context.bind()?;
        let program = self.program.as_mut().ok_or(BackendError::NotLoaded)?;
        stage_inputs(program, inputs)?;
        program.outgrowing.begin_run();
        if self.abort.is_none() && self.canceller.is_shared() {
            self.abort = Some(AbortFlag::new(&self.context, 1)?);
        }
        self.step(begin)
    }

    /// Queues a launch.
    fn queue_step(&mut self, kernel: Kernel) -> Result<(), BackendError> {
        self.context.bind()?;
        let program = self.program.as_ref().ok_or(BackendError::NotLoaded)?;
        match &self.runner {
            Runner::Launches(launches) => launches.launch(&self.stream, program, kernel),
            Runner::Mega(_) | Runner::Graph(_) => Err(BackendError::NotLoaded),
        }
    }

    /// Waits for the launch; returns the control block.
    fn end_step(&mut self) -> Result<ControlRecord, BackendError> {
        self.step(finish)
    }

    fn loaded(&self) -> Result<&Loaded, BackendError> {
        self.program.as_ref().ok_or(BackendError::NotLoaded)
    }

    /// What this device joins by.
    fn joins(&mut self) -> Result<&mut Joins, BackendError> {
        self.context.bind()?;
        if self.joins.is_none() {
            self.joins = Some(Joins::new(&self.module)?);
        }
        self.joins.as_mut().ok_or(BackendError::NotLoaded)
    }

    /// Keeps the words of the part that this device, one of as many, joins later.
    fn keep_part(
        &mut self,
        exchange: &Exchange,
        (device, count): (usize, usize),
    ) -> Result<(), BackendError> {
        let Some(part) = JoinPart::of(exchange, device, count) else {
            return Ok(());
        };
        let words = part.words();
        let kept = self.joins()?.kept(part.register, 4 * words.len() as u64)?;
        let from = self.loaded()?.words_at(part.register, &words)?;
        let (queue, bytes) = (self.stream.raw(), 4 * words.len());
        // SAFETY: both places are that long and live until the device rests.
        check("keeping words for a join", unsafe {
            sys::cuMemcpyDtoDAsync_v2(kept, from, bytes, queue)
        })
    }

    /// Queues the join of this device's part of `copies`.
    fn join_part(
        &mut self,
        exchange: &Exchange,
        device: usize,
        copies: &[u64],
    ) -> Result<(), BackendError> {
        let Some(part) = JoinPart::of(exchange, device, copies.len()) else {
            return Ok(());
        };
        let bytes = 4 * part.words().len() as u64;
        let joins = self.joins()?;
        let before = match part.joined.needs_before() {
            true => joins.kept(part.register, bytes)?,
            false => 0,
        };
        let (grid, to) = (joins.grid.clone(), joins.record.address());
        let mut record = JoinRecord {
            magic: JOIN_MAGIC,
            version: VERSION,
            joined: part.joined.to_word(),
            copies: copies.len() as u32,
            first: part.values.start,
            end: part.values.end,
            before,
            ..JoinRecord::zeroed()
        };
        for (at, copy) in record.values.iter_mut().zip(copies) {
            *at = *copy;
        }
        // SAFETY: the record's memory is that long, and lives as long as the session. Each device reaches
        // the copies, which are that long, joins a part of its own, and rests before the next launch.
        unsafe {
            self.staging.upload(&self.stream, to, bytes_of(&record))?;
            grid.launch(&self.stream, to, &[])
        }
    }
}

/// What a device joins copies by.
#[derive(Debug)]
pub(super) struct Joins {
    grid: Grid,
    record: DeviceMemory,
    /// Words of registers from before a launch.
    kept: BTreeMap<u32, DeviceMemory>,
}

impl Joins {
    fn new(module: &Rc<Module>) -> Result<Self, BackendError> {
        let kernel = module.kernel(Entry::Join)?;
        let record = size_of::<JoinRecord>() as u64;
        Ok(Self {
            record: DeviceMemory::take(module.context(), "the record of a join", record)?,
            grid: Grid::new(kernel, RequestedShape::default(), Residency::Free)?,
            kept: BTreeMap::new(),
        })
    }

    /// The address of memory for `bytes` bytes of a register, the same while that is as long.
    fn kept(&mut self, register: u32, bytes: u64) -> Result<u64, BackendError> {
        let known = self.kept.get(&register);
        if known.is_none_or(|known| known.bytes() < bytes) {
            let context = Rc::clone(self.record.context());
            self.kept.remove(&register);
            let memory = DeviceMemory::take(&context, "words from before a join", bytes)?;
            self.kept.insert(register, memory);
        }
        let kept = self.kept.get(&register).ok_or(BackendError::NotLoaded)?;
        Ok(kept.address())
    }
}

/// The values of a register that one device joins.
struct JoinPart {
    register: u32,
    joined: Joined,
    values: Range<u32>,
}

impl JoinPart {
    /// That of `device` among `count`; `None` if it is empty.
    fn of(exchange: &Exchange, device: usize, count: usize) -> Option<Self> {
        let Exchange::Joined {
            register,
            joined,
            words,
        } = exchange
        else {
            return None;
        };
        let values = *words / joined.kind.words() as usize;
        let first = |device: usize| u32::try_from(values * device / count).ok();
        let values = first(device)?..first(device + 1)?;
        (!values.is_empty()).then_some(Self {
            register: *register,
            joined: *joined,
            values,
        })
    }

    /// Its words in the register.
    fn words(&self) -> Range<usize> {
        let width = self.joined.kind.words() as usize;
        width * self.values.start as usize..width * self.values.end as usize
    }
}

impl CudaDevices<'_> {
    /// Queues copies of the words of each device to all others, by the offsets of [`Exchange::Own`].
    fn copy_own(&self, register: u32, offsets: &[usize]) -> Result<(), BackendError> {
        for (own, session) in self.devices.iter().enumerate() {
            let words = offsets[own]..offsets[own + 1];
            let from = session.loaded()?.words_at(register, &words)?;
            session.context.bind()?;
            for (other, to) in self.devices.iter().enumerate() {
                if other == own || words.is_empty() {
                    continue;
                }
                let place = to.loaded()?.words_at(register, &words)?;
                let (here, there) = (session.context.raw(), to.context.raw());
                let queue = session.stream.raw();
                // SAFETY: both places are as long as the words, as was checked, and their contexts
                // live; all devices rest, and are waited for afterwards.
                check("copying to another device", unsafe {
                    sys::cuMemcpyPeerAsync(place, there, from, here, 4 * words.len(), queue)
                })?;
            }
        }
        Ok(())
    }

    /// Queues a join of each device's part of all copies of the first `words` words of a register.
    fn join_copies(
        &mut self,
        exchange: &Exchange,
        register: u32,
        words: usize,
    ) -> Result<(), BackendError> {
        let copies = self.devices.iter();
        let copies = copies.map(|session| session.loaded()?.words_at(register, &(0..words)));
        let copies: Vec<u64> = copies.collect::<Result<_, _>>()?;
        let mut devices = self.devices.iter_mut().enumerate();
        devices.try_for_each(|(device, session)| session.join_part(exchange, device, &copies))
    }

    /// Waits for all devices, whichever fails; returns the first error.
    fn rest(&self) -> Result<(), BackendError> {
        let rested = self.devices.iter().map(|session| {
            session.context.bind()?;
            session.stream.wait("waiting for all devices", COPY_LIMIT)
        });
        rested.fold(Ok(()), Result::and)
    }
}

impl Stepping for CudaDevices<'_> {
    fn sessions(&self) -> Vec<&dyn Session> {
        let devices = self.devices.iter();
        devices.map(|device| -> &dyn Session { device }).collect()
    }

    fn session_mut(&mut self, device: usize) -> Option<&mut dyn Session> {
        Some(self.devices.get_mut(device)?)
    }

    fn begin(&mut self, inputs: &[u32]) -> Result<(), BackendError> {
        let mut devices = self.devices.iter_mut();
        let begun = devices.try_for_each(|device| device.begin_steps(inputs));
        // The words of the inputs are not written while a device copies them.
        begun.or_else(|error| self.rest().and(Err(error)))
    }

    fn launch(&mut self, kernel: Kernel) -> Result<(), BackendError> {
        let mut devices = self.devices.iter_mut();
        let queued = devices.try_for_each(|device| device.queue_step(kernel));
        // All are waited for, even if one has failed.
        let ended = self.devices.iter_mut().map(CudaSession::end_step);
        let ended: Vec<_> = ended.collect();
        let canceller = self.devices.first().map(|session| &session.canceller);
        canceller.map_or(Ok(()), Canceller::settle)?;
        queued?;
        self.controls = ended.into_iter().collect::<Result<_, _>>()?;
        Ok(())
    }

    fn control(&self, device: usize) -> Result<&ControlRecord, BackendError> {
        self.controls.get(device).ok_or(BackendError::NotLoaded)
    }

    fn set_control(&mut self, device: usize, control: ControlRecord) -> Result<(), BackendError> {
        let places = self
            .devices
            .get_mut(device)
            .zip(self.controls.get_mut(device));
        let (session, known) = places.ok_or(BackendError::NotLoaded)?;
        *known = control;
        session.context.bind()?;
        let to = session.loaded()?.control_address();
        // SAFETY: the control block belongs to the loaded program, and the device rests.
        unsafe {
            session
                .staging
                .upload(&session.stream, to, bytes_of(&control))
        }
    }

    fn read(
        &mut self,
        device: usize,
        register: u32,
        words: Range<usize>,
        to: &mut Vec<u32>,
    ) -> Result<(), BackendError> {
        let device = self.devices.get_mut(device);
        let session = device.ok_or(BackendError::NotLoaded)?;
        session.context.bind()?;
        let from = session.loaded()?.words_at(register, &words)?;
        // SAFETY: the words lie in the register, as was checked, and the device rests.
        unsafe {
            let staging = &mut session.staging;
            staging.download_words(&session.stream, from, 4 * words.len(), to)
        }
    }

    fn write(&mut self, register: u32, words: &[u32]) -> Result<(), BackendError> {
        self.devices.iter_mut().try_for_each(|session| {
            session.context.bind()?;
            let to = session.loaded()?.words_at(register, &(0..words.len()))?;
            let bytes = bytemuck::cast_slice(words);
            // SAFETY: as above; the launches that read the words follow in the same stream.
            unsafe { session.staging.upload(&session.stream, to, bytes) }
        })
    }

    fn keep(&mut self, exchange: &Exchange) -> Result<bool, BackendError> {
        if !self.joins {
            return Ok(false);
        }
        let count = self.devices.len();
        for (device, session) in self.devices.iter_mut().enumerate() {
            session.keep_part(exchange, (device, count))?;
        }
        Ok(true)
    }

    fn swap(&mut self, exchange: &Exchange) -> Result<bool, BackendError> {
        let queued = match exchange {
            Exchange::Own { register, offsets } => self.copy_own(*register, offsets),
            Exchange::Joined { .. } if !self.joins => return Ok(false),
            Exchange::Joined {
                register, words, ..
            } => self.join_copies(exchange, *register, *words),
        };
        // All are waited for, even if one has failed: they write to each other's memory.
        let rested = self.rest();
        queued.and(rested)?;
        Ok(true)
    }

    fn end(
        &mut self,
        inputs: usize,
        waits: u64,
        run_ns: u64,
    ) -> Result<Option<CodeReport>, BackendError> {
        let first = self.devices.first();
        let report = first.and_then(|session| {
            let report = session.runner.code_report();
            report.or_else(|| session.interpreted.clone())
        });
        for session in &mut self.devices {
            session.work.ran(inputs, waits);
            session.context.bind()?;
            let program = session.program.as_mut().ok_or(BackendError::NotLoaded)?;
            program.leave_out_what_ran_once(&session.stream)?;
            session.runner.ran(run_ns, &session.stream, program)?;
        }
        Ok(report)
    }
}
