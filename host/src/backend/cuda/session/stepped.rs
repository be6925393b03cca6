//! Several GPUs that launch the groups of one program, each on its own memory.
//!
//! The host launches on all of them before it waits for any. Words that items stored go from device to
//! device; what has to be joined goes by the host.

use super::{CudaSession, begin, finish, stage_inputs};
use crate::backend::cuda::abort::{AbortFlag, Watch};
use crate::backend::cuda::error::check;
use crate::backend::cuda::loaded::Loaded;
use crate::backend::cuda::runner::Runner;
use crate::backend::cuda::running::Running;
use crate::backend::cuda::stream::COPY_LIMIT;
use crate::backend::cuda::{CudaOptions, Executor};
use crate::backend::stepped::{SteppedSession, Stepping};
use crate::backend::threads::join_all;
use crate::backend::walk::Kernel;
use crate::backend::{BackendError, Canceller, CodeReport, DeviceInfo, Session};
use crate::graph::Graph;
use bytemuck::{Zeroable, bytes_of};
use cudarc::driver::sys;
use seawall_core::abi::control::ControlRecord;
use std::ops::Range;

/// The devices, and the control block of each after its last launch.
struct CudaDevices<'g> {
    devices: Vec<CudaSession<'g>>,
    controls: Vec<ControlRecord>,
}

/// Opens the devices with these numbers, at least one.
///
/// # Errors
/// As for [`CudaSession::open`].
pub(crate) fn open<'g>(
    graph: &'g Graph,
    numbers: &[u32],
    options: CudaOptions,
) -> Result<Box<dyn Session + 'g>, BackendError> {
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
    reach_each_other(&devices)?;
    let first = devices.first().ok_or(BackendError::NotLoaded)?.device();
    let info = DeviceInfo {
        name: format!("{} x {}", devices.len(), first.name),
        ..first.clone()
    };
    let all = CudaDevices {
        controls: vec![ControlRecord::zeroed(); devices.len()],
        devices,
    };
    let (all, numbers) = (Box::new(all), numbers.to_vec());
    let session = SteppedSession::new(graph, all, info, numbers, options.limits);
    Ok(Box::new(session))
}

/// Opens the memory of devices to each other where they reach it. The driver copies by the host
/// otherwise.
fn reach_each_other(devices: &[CudaSession<'_>]) -> Result<(), BackendError> {
    for own in devices {
        own.context.bind()?;
        for other in devices {
            if own.context.device() != other.context.device() {
                let (device, context) = (other.context.device(), other.context.raw());
                // SAFETY: all sessions are kept together, and each retains its context.
                unsafe { own.context.reach(device, context)? };
            }
        }
    }
    Ok(())
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
}

impl CudaDevices<'_> {
    /// Waits for all devices.
    fn rest(&self) -> Result<(), BackendError> {
        self.devices.iter().try_for_each(|session| {
            session.context.bind()?;
            session.stream.wait("waiting for all devices", COPY_LIMIT)
        })
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

    fn swap(&mut self, register: u32, offsets: &[usize]) -> Result<bool, BackendError> {
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
                // live; all devices rest, and are waited for below.
                check("copying to another device", unsafe {
                    sys::cuMemcpyPeerAsync(place, there, from, here, 4 * words.len(), queue)
                })?;
            }
        }
        self.rest()?;
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
