//! Devices that CPU threads simulate, each with threads and memory of its own.

use super::place::launch_record;
use super::{CpuSession, Loaded, RunLimits, obeying};
use crate::backend::stepped::{SteppedSession, Stepping};
use crate::backend::threads::run_blocks;
use crate::backend::walk::Kernel;
use crate::backend::{BackendError, CodeReport, Session};
use crate::executor::Jit;
use crate::graph::Graph;
use crate::own::BUILT_IN;
use crate::units::counted;
use seawall_core::abi::control::ControlRecord;
use seawall_device::machine::dealer::Dealer;
use std::num::NonZeroUsize;
use std::ops::Range;

/// Sessions that run side by side.
struct CpuDevices<'g> {
    graph: &'g Graph,
    devices: Vec<CpuSession<'g>>,
    /// Threads of each device.
    threads: u32,
    limits: RunLimits,
    jit: Jit,
}

/// Opens `count` devices of `threads` threads each, whose code becomes machine code by `jit`.
pub(crate) fn open(
    graph: &Graph,
    count: u32,
    threads: u32,
    limits: RunLimits,
    jit: Jit,
) -> Result<SteppedSession<'_>, BackendError> {
    let threads = threads.max(1);
    let one = NonZeroUsize::new(threads as usize);
    let devices = (0..count).map(|_| CpuSession::open(graph, one, limits));
    let devices: Vec<_> = devices.collect::<Result<_, _>>()?;
    // All threads run at once.
    let all = count.saturating_mul(threads);
    let mut info = super::device_of(NonZeroUsize::new(all as usize))?;
    info.name = format!(
        "CPU, {} of {}",
        counted(u64::from(count), "simulated device"),
        counted(u64::from(threads), "thread")
    );
    let devices = CpuDevices {
        graph,
        devices,
        threads,
        limits,
        jit,
    };
    let devices = Box::new(devices);
    Ok(SteppedSession::new(
        graph,
        devices,
        info,
        Vec::new(),
        limits,
    ))
}

impl CpuDevices<'_> {
    fn loaded(&mut self) -> impl Iterator<Item = Result<&mut Loaded, BackendError>> {
        let devices = self.devices.iter_mut();
        devices.map(|device| device.loaded.as_deref_mut().ok_or(BackendError::NotLoaded))
    }

    fn device(&mut self, device: usize) -> Result<&mut Loaded, BackendError> {
        let device = self.loaded().nth(device);
        device.unwrap_or(Err(BackendError::NotLoaded))
    }
}

impl Stepping for CpuDevices<'_> {
    fn sessions(&self) -> Vec<&dyn Session> {
        let devices = self.devices.iter();
        devices.map(|device| -> &dyn Session { device }).collect()
    }

    fn session_mut(&mut self, device: usize) -> Option<&mut dyn Session> {
        Some(self.devices.get_mut(device)?)
    }

    fn begin(&mut self, inputs: &[u32]) -> Result<(), BackendError> {
        let (jit, is_alone) = (self.jit, self.threads == 1);
        self.loaded().try_for_each(|loaded| {
            let loaded = loaded?;
            loaded.begin(inputs);
            loaded.code.prepare(jit, &loaded.program, is_alone);
            Ok(())
        })
    }

    fn launch(&mut self, kernel: Kernel) -> Result<(), BackendError> {
        let (blocks, limits) = (kernel.blocks(self.threads), self.limits);
        let mut all = Vec::with_capacity(self.devices.len());
        for device in &mut self.devices {
            let resident = &*device.resident;
            let loaded = device.loaded.as_mut().ok_or(BackendError::NotLoaded)?;
            let tier = loaded.code.tier();
            let record = launch_record((self.graph, resident), loaded, None, limits);
            all.push((record, tier, Dealer::new(), device.canceller.of_session()));
        }
        run_blocks(blocks * all.len() as u32, |block| {
            let (record, tier, dealer, canceller) = &all[(block / blocks) as usize];
            let (place, walk) = ([block % blocks, blocks], (BUILT_IN, tier.as_deref()));
            obeying(canceller, || kernel.run(record, walk, place, dealer));
        })?;
        let mut devices = self.loaded().zip(&all);
        devices.try_for_each(|(loaded, (.., canceller))| loaded?.settle(canceller))
    }

    fn control(&self, device: usize) -> Result<&ControlRecord, BackendError> {
        let device = self.devices.get(device);
        let loaded = device.and_then(|device| device.loaded.as_ref());
        Ok(&loaded.ok_or(BackendError::NotLoaded)?.control)
    }

    fn set_control(&mut self, device: usize, control: ControlRecord) -> Result<(), BackendError> {
        *self.device(device)?.control = control;
        Ok(())
    }

    fn read(
        &mut self,
        device: usize,
        register: u32,
        words: Range<usize>,
        to: &mut Vec<u32>,
    ) -> Result<(), BackendError> {
        let all = self.device(device)?.words_mut(register)?;
        to.extend_from_slice(&all[words]);
        Ok(())
    }

    fn write(&mut self, register: u32, words: &[u32]) -> Result<(), BackendError> {
        self.loaded().try_for_each(|loaded| {
            loaded?.words_mut(register)?[..words.len()].copy_from_slice(words);
            Ok(())
        })
    }

    fn end(
        &mut self,
        inputs: usize,
        waits: u64,
        run_ns: u64,
    ) -> Result<Option<CodeReport>, BackendError> {
        for device in &mut self.devices {
            device.work.ran(inputs, waits);
        }
        let mut report = None;
        for loaded in self.loaded() {
            let loaded = loaded?;
            loaded.code.ran(run_ns);
            loaded.program.leave_out_what_ran_once();
            report.get_or_insert_with(|| loaded.code.report());
        }
        Ok(report)
    }
}
