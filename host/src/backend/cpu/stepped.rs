//! A program on several simulated devices, a launch for each of its groups.
//!
//! Each device has threads, an arena and a control block of its own. The host launches a group on all
//! of them, waits, makes the registers that it wrote equal (`exchange`), and decides for all whether a
//! loop goes on: it does if any device raised the flag. A GPU whose host launches each group can be
//! walked the same way.

use super::place::launch_record;
use super::{CpuSession, RunLimits, SERVICES, Tier, obeying};
use crate::backend::share::{SharedProgram, share};
use crate::backend::threads::run_blocks;
use crate::backend::walk::{LoopStage, Stage, stages};
use crate::backend::{
    BackendError, Canceller, DeviceInfo, HostWork, NamedWaves, RunStats, Session, SessionMemory,
    SessionWork, fault, fit, host_fault,
};
use crate::executor::Jit;
use crate::graph::Graph;
use crate::multi::DevicesReport;
use crate::own::BUILT_IN;
use crate::program::{EncodedProgram, RegisterId};
use crate::units::{counted, elapsed_ns};
use seawall_core::abi::control::{LOOPS_MAX, LoopState};
use seawall_core::abi::program::{FixpointRecord, LaunchRecord};
use seawall_core::convergence::{ConvergenceContract, Outcome};
use seawall_device::machine::SHARED_WORDS;
use seawall_device::machine::cpu::HostGrid;
use seawall_device::machine::dealer::Dealer;
use seawall_device::scheduler::{BodyLaunch, again, begin_loop};
use seawall_device::tables::launch::Launch;
use std::num::NonZeroUsize;
use std::time::{Duration, Instant};

/// A graph that several devices have.
pub(crate) struct SteppedSession<'g> {
    graph: &'g Graph,
    devices: Vec<CpuSession<'g>>,
    info: DeviceInfo,
    /// Threads of each device.
    threads: u32,
    limits: RunLimits,
    jit: Jit,
    canceller: Canceller,
    shared: Option<Shared>,
    /// Exchanges, and their bytes, in the last run.
    barriers: u64,
    exchanged_bytes: u64,
}

/// The loaded program as the host knows it.
struct Shared {
    program: SharedProgram,
    stages: Vec<Stage>,
}

/// One launch on all devices.
#[derive(Clone, Copy)]
enum Kernel {
    Group(u32),
    Begin(u32),
    Body(BodyLaunch),
    Again(u32),
}

impl<'g> SteppedSession<'g> {
    /// Opens `count` devices of `threads` threads each.
    pub(crate) fn open(
        graph: &'g Graph,
        count: u32,
        threads: u32,
        limits: RunLimits,
    ) -> Result<Self, BackendError> {
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
        Ok(Self {
            graph,
            devices,
            info,
            threads,
            limits,
            jit: Jit::Auto,
            canceller: Canceller::default(),
            shared: None,
            barriers: 0,
            exchanged_bytes: 0,
        })
    }

    /// Sets whether waves of code become machine code, by default [`Jit::Auto`].
    pub(crate) fn with_jit(self, jit: Jit) -> Self {
        Self { jit, ..self }
    }
}

impl Session for SteppedSession<'_> {
    fn device(&self) -> &DeviceInfo {
        &self.info
    }

    fn upload_ns(&self) -> u64 {
        0
    }

    fn cancel_by(&mut self, canceller: Canceller) {
        self.canceller = canceller;
    }

    /// The host launches each group, and its times are not measured separately.
    fn trace_runs(&mut self, _: bool) {}

    fn devices(&self) -> Option<DevicesReport> {
        let devices = self.devices.iter();
        let ranges = self.shared.as_ref()?.program.nodes.windows(2);
        Some(DevicesReport {
            count: self.devices.len() as u32,
            numbers: Vec::new(),
            nodes: ranges.map(|range| u64::from(range[1] - range[0])).collect(),
            edges: vec![u64::from(self.graph.edges()); self.devices.len()],
            sources: Vec::new(),
            centers: Vec::new(),
            memory_bytes: devices
                .map(|device| device.memory().allocated_bytes)
                .collect(),
            barriers: self.barriers,
            lists: 0,
            pulls: 0,
            exchanged_bytes: self.exchanged_bytes,
        })
    }

    fn load(&mut self, program: &EncodedProgram) -> Result<(), BackendError> {
        self.shared = None;
        let stages = stages(program)?;
        fit::check(program, self.graph)?;
        let shared = share(program, self.graph, self.devices.len() as u32);
        let mut program = shared.map_err(|refusal| BackendError::NotShared {
            reason: refusal.to_string(),
        })?;
        for (device, part) in self
            .devices
            .iter_mut()
            .zip(std::mem::take(&mut program.parts))
        {
            device.load(&part)?;
        }
        self.shared = Some(Shared { program, stages });
        Ok(())
    }

    fn run(&mut self, inputs: &[u32]) -> Result<RunStats, BackendError> {
        let shared = self.shared.take().ok_or(BackendError::NotLoaded)?;
        let found = self.run_shared(&shared, inputs);
        self.shared = Some(shared);
        found
    }

    fn work(&self) -> SessionWork {
        let mut work = self
            .devices
            .first()
            .map_or_else(SessionWork::default, Session::work);
        work.graph_uploads = self.devices.len() as u64;
        work
    }

    fn memory(&self) -> SessionMemory {
        let bytes = self
            .devices
            .iter()
            .map(|device| device.memory().allocated_bytes);
        SessionMemory {
            allocated_bytes: bytes.sum(),
            tiles_bytes: 0,
        }
    }

    fn read(&mut self, register: RegisterId, words: &mut Vec<u32>) -> Result<(), BackendError> {
        let first = self.devices.first_mut().ok_or(BackendError::NotLoaded)?;
        first.read(register, words)
    }
}

impl SteppedSession<'_> {
    fn run_shared(&mut self, shared: &Shared, inputs: &[u32]) -> Result<RunStats, BackendError> {
        let (jit, is_alone) = (self.jit, self.threads == 1);
        for device in &mut self.devices {
            let loaded = device.loaded.as_mut().ok_or(BackendError::NotLoaded)?;
            fit::check_inputs(loaded.program.input_bytes, inputs)?;
            loaded.begin(inputs);
            loaded.code.prepare(jit, &loaded.program, is_alone);
        }
        self.canceller.settle()?;
        let mut running = Running {
            session: self,
            shared,
            started: Instant::now(),
            host: HostWork::default(),
            barriers: 0,
            exchanged_bytes: 0,
        };
        running.walk(&shared.stages)?;
        let (host, run_ns) = (running.host, elapsed_ns(running.started));
        (self.barriers, self.exchanged_bytes) = (running.barriers, running.exchanged_bytes);
        for device in &mut self.devices {
            device.work.ran(inputs.len(), host.host_synchronisations);
            let loaded = device.loaded.as_mut().ok_or(BackendError::NotLoaded)?;
            loaded.code.ran(run_ns);
            loaded.program.leave_out_what_ran_once();
        }
        let first = self
            .devices
            .first()
            .and_then(|device| device.loaded.as_ref());
        let first = first.ok_or(BackendError::NotLoaded)?;
        Ok(RunStats {
            run_ns,
            host,
            region: host,
            control: *first.control,
            code: Some(first.code.report()),
            trace: None,
        })
    }
}

/// A run in progress.
struct Running<'r, 'g> {
    session: &'r mut SteppedSession<'g>,
    shared: &'r Shared,
    started: Instant,
    host: HostWork,
    barriers: u64,
    exchanged_bytes: u64,
}

impl Running<'_, '_> {
    fn walk(&mut self, stages: &[Stage]) -> Result<(), BackendError> {
        for stage in stages {
            match stage {
                Stage::Group(group) => self.group(*group, Kernel::Group(*group))?,
                Stage::Loop(stage) => self.run_loop(stage)?,
                Stage::While(stage, body) => self.run_while(stage, body)?,
            }
        }
        Ok(())
    }

    fn run_loop(&mut self, stage: &LoopStage) -> Result<(), BackendError> {
        self.launch(Kernel::Begin(stage.wave_index))?;
        while self.goes_on(stage)? {
            for group in stage.first_group..stage.first_group.saturating_add(stage.groups) {
                let body = BodyLaunch {
                    fixpoint: stage.wave_index,
                    group,
                    // The host decides for all devices whether another iteration follows.
                    last: false,
                };
                self.group(group, Kernel::Body(body))?;
            }
            self.close_iteration(stage)?;
        }
        Ok(())
    }

    fn run_while(&mut self, stage: &LoopStage, body: &[Stage]) -> Result<(), BackendError> {
        self.launch(Kernel::Begin(stage.wave_index))?;
        // The condition is the same word on all devices.
        while self.goes_on(stage)? {
            self.walk(body)?;
            self.launch(Kernel::Again(stage.wave_index))?;
        }
        Ok(())
    }

    /// Launches a group, and exchanges what it wrote.
    fn group(&mut self, group: u32, kernel: Kernel) -> Result<(), BackendError> {
        let shared = self.shared;
        let exchanges = shared.program.exchanges.get(group as usize);
        let exchanges = exchanges.map_or(&[][..], Vec::as_slice);
        let mut known = Vec::new();
        for exchange in exchanges {
            let words = exchange.known_words();
            let mut copies = self.copies(exchange.register())?;
            let first = copies.first_mut().and_then(|copy| copy.get(..words));
            known.push(first.map_or_else(Vec::new, <[u32]>::to_vec));
        }
        self.launch(kernel)?;
        self.barriers = self
            .barriers
            .saturating_add(u64::from(!exchanges.is_empty()));
        for (exchange, known) in exchanges.iter().zip(&known) {
            let mut copies = self.copies(exchange.register())?;
            let bytes = exchange.apply(&mut copies, known);
            self.exchanged_bytes = self.exchanged_bytes.saturating_add(bytes);
        }
        Ok(())
    }

    /// The words of a register on each device.
    fn copies(&mut self, register: u32) -> Result<Vec<&mut [u32]>, BackendError> {
        let devices = self.session.devices.iter_mut();
        devices
            .map(|device| {
                let loaded = device.loaded.as_mut().ok_or(BackendError::NotLoaded)?;
                loaded.words_mut(register)
            })
            .collect()
    }

    /// Launches a kernel on all devices at once.
    fn launch(&mut self, kernel: Kernel) -> Result<(), BackendError> {
        let SteppedSession {
            graph,
            ref mut devices,
            threads,
            limits,
            ref canceller,
            ..
        } = *self.session;
        let blocks = match kernel {
            Kernel::Begin(_) | Kernel::Again(_) => 1,
            Kernel::Group(_) | Kernel::Body(_) => threads,
        };
        let mut all = Vec::with_capacity(devices.len());
        for device in devices.iter_mut() {
            let resident = &*device.resident;
            let loaded = device.loaded.as_mut().ok_or(BackendError::NotLoaded)?;
            let tier = loaded.code.tier();
            let record = launch_record((graph, resident), loaded, None, limits);
            all.push((record, tier, Dealer::new()));
        }
        run_blocks(blocks * all.len() as u32, |block| {
            let (record, tier, dealer) = &all[(block / blocks) as usize];
            let place = (block % blocks, blocks);
            obeying(canceller, || {
                run_kernel(record, place, dealer, tier.as_deref(), kernel);
            });
        })?;
        self.host.launches = self.host.launches.saturating_add(all.len() as u64);
        self.host.host_synchronisations = self.host.host_synchronisations.saturating_add(1);
        self.settle()
    }

    /// Turns the first fault into an error, and ends a cancelled run.
    fn settle(&mut self) -> Result<(), BackendError> {
        self.session.canceller.settle()?;
        for device in &self.session.devices {
            let loaded = device.loaded.as_ref().ok_or(BackendError::NotLoaded)?;
            if loaded.control.fault.code != 0 {
                return Err(fault(&NamedWaves::of(&loaded.program), &loaded.control));
            }
        }
        Ok(())
    }

    /// Whether another iteration of the open loop follows, which is so on all devices or on none.
    fn goes_on(&self, stage: &LoopStage) -> Result<bool, BackendError> {
        let first = self.session.devices.first();
        let loaded = first.and_then(|device| device.loaded.as_ref());
        let loaded = loaded.ok_or(BackendError::NotLoaded)?;
        if loaded.control.loop_state != LoopState::Running as u32 {
            return Ok(false);
        }
        let budget = Duration::from_nanos(self.session.limits.time_budget_ns);
        if self.started.elapsed() > budget {
            let record = stage.out_of_time(loaded.control.iteration);
            return Err(host_fault(&NamedWaves::of(&loaded.program), record));
        }
        Ok(true)
    }

    /// Ends an iteration on all devices: another one follows if any of them changed something.
    fn close_iteration(&mut self, stage: &LoopStage) -> Result<(), BackendError> {
        let mut loaded = Vec::new();
        for device in &mut self.session.devices {
            loaded.push(device.loaded.as_mut().ok_or(BackendError::NotLoaded)?);
        }
        let changed = loaded.iter().map(|loaded| loaded.control.changed).max();
        for loaded in loaded {
            let wave = loaded.program.waves.get(stage.wave_index as usize);
            let record = wave.map(|wave| FixpointRecord::from_parameters(wave.parameters));
            let most = record.map_or(0, |record| record.max_iterations);
            let control = &mut loaded.control;
            let iterations = control.iteration.saturating_add(1);
            let outcome = match ConvergenceContract::device_resident(most) {
                Ok(contract) => contract.after_iteration(iterations, changed.unwrap_or(0)),
                Err(_) => Some(Outcome::Exhausted { iterations }),
            };
            control.iteration = iterations;
            let Some(outcome) = outcome else {
                continue;
            };
            let converged = matches!(outcome, Outcome::Converged { .. });
            control.loop_state = match converged {
                true => LoopState::Converged as u32,
                false => LoopState::Exhausted as u32,
            };
            let end = &mut control.loops[(control.loops_done as usize).min(LOOPS_MAX - 1)];
            (end.iterations, end.converged) = (iterations, u32::from(converged));
            control.loops_done = control.loops_done.saturating_add(1);
        }
        Ok(())
    }
}

fn run_kernel(
    record: &LaunchRecord,
    place: (u32, u32),
    dealer: &Dealer,
    tier: Option<&Tier>,
    kernel: Kernel,
) {
    let mut shared = vec![0_u32; SHARED_WORDS];
    // SAFETY: `shared` belongs to this thread, has the length that the grid states, and outlives
    // the call; so does the dealer, which only the threads of this device use in this launch.
    let grid = unsafe { HostGrid::new(place.0, place.1, shared.as_mut_ptr(), dealer, SERVICES) };
    let code = tier.map_or(std::ptr::null(), Tier::waves);
    // SAFETY: the tier outlives this call, and its code is for the tables of the launch and for the
    // threads of the device.
    let grid = unsafe { grid.with_compiled(code) };
    // SAFETY: the record was filled from live, exclusively borrowed memory of the stated lengths,
    // which outlives the threads.
    let launch = unsafe { Launch::new(record) };
    // A launch that stops early leaves its reason in the control block.
    let _ = match kernel {
        Kernel::Group(group) => (BUILT_IN.group)(grid, launch, group),
        Kernel::Begin(wave) => begin_loop(grid, launch, wave),
        Kernel::Body(body) => (BUILT_IN.body)(grid, launch, body),
        Kernel::Again(wave) => again(grid, launch, wave),
    };
}
