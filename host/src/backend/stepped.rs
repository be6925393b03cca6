//! A program on several devices, a launch for each of its groups.
//!
//! Each device has memory and a control block of its own. The host launches a group on all of them,
//! waits, makes the registers that it wrote equal (`exchange`), and decides for all whether a loop goes
//! on: it does if any device raised the flag. Devices are those of this process, which are CPU threads
//! or GPUs, or ranks, of which this process is one. Ranks walk the same stages, and meet after each
//! group whose waves wrote a part each; a rank that fails says so in the place of its next meeting.

use super::exchange::Exchange;
use super::identity::resident_digest;
use super::share::SharedProgram;
use super::walk::{Kernel, LoopStage, Stage, StageLauncher, stages, walk};
use super::{
    BackendError, Canceller, CodeReport, DeviceInfo, HostWork, NamedWaves, RunLimits, RunStats,
    Session, SessionMemory, SessionWork, fit, host_fault,
};
use crate::executor::Executor;
use crate::graph::Graph;
use crate::multi::{
    Carrier, DevicesReport, compare_inputs, gather, gather_alike, greet_with_program, name_of_ranks,
};
use crate::program::{EncodedProgram, RegisterId};
use crate::units::elapsed_ns;
use seawall_core::abi::control::{ControlRecord, LOOPS_MAX, LoopState};
use seawall_core::abi::program::FixpointRecord;
use seawall_core::convergence::{ConvergenceContract, Outcome};
use seawall_device::scheduler::BodyLaunch;
use std::ops::Range;
use std::time::{Duration, Instant};

/// Devices of this process that launch the same kernels, each on its own memory.
pub(super) trait Stepping {
    /// The session of each.
    fn sessions(&self) -> Vec<&dyn Session>;
    /// The session of a device, to load its part of a program.
    fn session_mut(&mut self, device: usize) -> Option<&mut dyn Session>;
    /// Sets the inputs of a run on all devices, and clears their control blocks.
    fn begin(&mut self, inputs: &[u32]) -> Result<(), BackendError>;
    /// Launches a kernel on all devices at once, waits for it, and reports a fault of any.
    fn launch(&mut self, kernel: Kernel) -> Result<(), BackendError>;
    /// The control block of a device after the last launch.
    fn control(&self, device: usize) -> Result<&ControlRecord, BackendError>;
    /// Replaces the control block of a device.
    fn set_control(&mut self, device: usize, control: ControlRecord) -> Result<(), BackendError>;
    /// Adds words of a register of a device to `to`.
    fn read(
        &mut self,
        device: usize,
        register: u32,
        words: Range<usize>,
        to: &mut Vec<u32>,
    ) -> Result<(), BackendError>;
    /// Overwrites the first words of a register of all devices.
    fn write(&mut self, register: u32, words: &[u32]) -> Result<(), BackendError>;
    /// Keeps the words that [`Self::swap`] has to know from before the next launch; returns `false`
    /// where devices have no way to exchange by themselves.
    fn keep(&mut self, _exchange: &Exchange) -> Result<bool, BackendError> {
        Ok(false)
    }
    /// Makes a register equal on all devices; returns `false` where they have no way to do so by
    /// themselves.
    fn swap(&mut self, _exchange: &Exchange) -> Result<bool, BackendError> {
        Ok(false)
    }
    /// Ends a run that took as long, and returns how its code ran.
    fn end(
        &mut self,
        inputs: usize,
        waits: u64,
        run_ns: u64,
    ) -> Result<Option<CodeReport>, BackendError>;
}

/// A graph that several devices have.
pub(crate) struct SteppedSession<'g> {
    graph: &'g Graph,
    /// The devices of this process.
    devices: Box<dyn Stepping + Send + 'g>,
    ranks: Option<&'g mut dyn Carrier>,
    info: DeviceInfo,
    /// Numbers of GPUs.
    numbers: Vec<u32>,
    limits: RunLimits,
    canceller: Canceller,
    shared: Option<Shared>,
    /// Memory of each device with the loaded program.
    memory_bytes: Vec<u64>,
    /// Exchanges, and their bytes, in the last run.
    barriers: u64,
    exchanged_bytes: u64,
}

/// The loaded program as the host knows it.
struct Shared {
    whole: EncodedProgram,
    parts: SharedProgram,
    stages: Vec<Stage>,
}

impl Shared {
    fn of(program: &EncodedProgram, graph: &Graph, devices: u32) -> Result<Self, BackendError> {
        let stages = stages(program)?;
        fit::check(program, graph)?;
        Ok(Self {
            whole: program.clone(),
            parts: Self::parts(program, graph, devices)?,
            stages,
        })
    }

    /// Exchanges no longer what waves wrote that depend only on the graph, and have run.
    fn leave_out_what_ran_once(&mut self, graph: &Graph, devices: u32) -> Result<(), BackendError> {
        if !self.whole.once.is_empty() {
            self.whole.leave_out_what_ran_once();
            self.parts = Self::parts(&self.whole, graph, devices)?;
        }
        Ok(())
    }

    fn parts(
        program: &EncodedProgram,
        graph: &Graph,
        devices: u32,
    ) -> Result<SharedProgram, BackendError> {
        let parts = SharedProgram::of(program, graph, devices);
        parts.map_err(|refusal| BackendError::NotShared {
            reason: refusal.to_string(),
        })
    }
}

/// The first word of a rank at a meeting.
const FAILED: u32 = 0;
const WELL: u32 = 1;

impl<'g> SteppedSession<'g> {
    /// A session on `devices`, which have `graph`; `info` describes all as one machine, and `numbers`
    /// are those of GPUs.
    pub(super) fn new(
        graph: &'g Graph,
        devices: Box<dyn Stepping + Send + 'g>,
        info: DeviceInfo,
        numbers: Vec<u32>,
        limits: RunLimits,
    ) -> Self {
        Self {
            graph,
            info,
            devices,
            ranks: None,
            numbers,
            limits,
            canceller: Canceller::default(),
            shared: None,
            memory_bytes: Vec::new(),
            barriers: 0,
            exchanged_bytes: 0,
        }
    }

    /// The same session of one device, which is that of this rank of `ranks` and has this name.
    pub(crate) fn on_ranks(mut self, ranks: &'g mut dyn Carrier, name: &str) -> Self {
        self.info.name = name_of_ranks(ranks.ranks(), name);
        self.ranks = Some(ranks);
        self
    }

    /// The name of a device of this process.
    pub(crate) fn name_of_one(&self) -> String {
        let sessions = self.devices.sessions();
        sessions
            .first()
            .map_or_else(String::new, |one| one.device().name.clone())
    }

    /// Number of devices, in all processes.
    fn count(&self) -> usize {
        let ranks = self.ranks.as_ref().map(|ranks| ranks.ranks() as usize);
        ranks.unwrap_or_else(|| self.own_count())
    }

    /// Number of devices of this process.
    fn own_count(&self) -> usize {
        self.devices.sessions().len()
    }

    /// Number of the first device of this process.
    fn first(&self) -> usize {
        self.ranks.as_ref().map_or(0, |ranks| ranks.rank() as usize)
    }

    /// The words of all devices, one's after another's, given those of this process: of device `d`
    /// as many as element `d` of `counts` says.
    fn gather(&mut self, own: Vec<u32>, counts: &[usize]) -> Result<Vec<u32>, BackendError> {
        match &mut self.ranks {
            Some(ranks) => gather(&mut **ranks, &own, counts),
            None => Ok(own),
        }
    }

    /// Meets the other ranks, and returns the greatest word of all.
    fn meet(&mut self, word: u32) -> Result<u32, BackendError> {
        let Some(ranks) = &mut self.ranks else {
            return Ok(word);
        };
        let all = gather_alike(&mut **ranks, &[WELL, word])?;
        let mut heads = all.chunks(2);
        if let Some(rank) = heads.position(|head| head[0] == FAILED) {
            let rank = rank as u32;
            return Err(BackendError::RankEnded { rank });
        }
        let words = all.chunks(2).map(|head| head[1]);
        Ok(words.max().unwrap_or(word))
    }

    /// Meets the other ranks for the last time, in the place of [`Self::meet`] after an error.
    fn end<T>(&mut self, found: Result<T, BackendError>) -> Result<T, BackendError> {
        use BackendError::{RankEnded, RankLost};
        match (found, &mut self.ranks) {
            (Ok(found), _) => self.meet(0).map(|_| found),
            // Others have heard of these.
            (Err(error @ (RankEnded { .. } | RankLost { .. })), _) | (Err(error), None) => {
                Err(error)
            }
            (Err(error), Some(ranks)) => {
                // The error of this rank says more than that another is gone.
                let _ = gather_alike(&mut **ranks, &[FAILED, 0]);
                Err(error)
            }
        }
    }

    /// Loads the parts of this process.
    fn load_parts(&mut self, program: &EncodedProgram) -> Result<Shared, BackendError> {
        let shared = Shared::of(program, self.graph, self.count() as u32)?;
        let first = self.first();
        for device in 0..self.own_count() {
            let mut part = shared.parts.part(program, first + device);
            part.planned_for = self.planned_for(program.planned_for, device);
            self.session_mut(device)?.load(&part)?;
        }
        Ok(shared)
    }

    /// The digest that a device with its own number has, of a program that is planned for the first of
    /// these GPUs or of all; any other digest stays, and is refused.
    fn planned_for(&self, planned_for: u64, device: usize) -> u64 {
        let digest = |number: u32| resident_digest(self.graph, Executor::Launches, number);
        let mut first = self.numbers.first().into_iter().chain(&[0]);
        let fits = first.any(|number| digest(*number) == planned_for);
        let own = self.numbers.get(device).filter(|_| fits);
        own.map_or(planned_for, |number| digest(*number))
    }

    fn session_mut(&mut self, device: usize) -> Result<&mut dyn Session, BackendError> {
        let session = self.devices.session_mut(device);
        session.ok_or(BackendError::NotLoaded)
    }
}

impl Session for SteppedSession<'_> {
    fn device(&self) -> &DeviceInfo {
        &self.info
    }

    /// The longest of all: devices open side by side.
    fn upload_ns(&self) -> u64 {
        let times = self.devices.sessions().into_iter().map(Session::upload_ns);
        times.max().unwrap_or(0)
    }

    fn cancel_by(&mut self, canceller: Canceller) {
        for device in 0..self.own_count() {
            if let Some(session) = self.devices.session_mut(device) {
                session.cancel_by(canceller.of_session());
            }
        }
        self.canceller = canceller;
    }

    /// The host launches each group, and its times are not measured separately.
    fn trace_runs(&mut self, _: bool) {}

    fn devices(&self) -> Option<DevicesReport> {
        let ranges = self.shared.as_ref()?.parts.nodes.windows(2);
        Some(DevicesReport {
            count: self.count() as u32,
            numbers: match self.ranks {
                Some(_) => Vec::new(),
                None => self.numbers.clone(),
            },
            nodes: ranges.map(|range| u64::from(range[1] - range[0])).collect(),
            edges: vec![u64::from(self.graph.edges()); self.count()],
            shared: true,
            memory_bytes: self.memory_bytes.clone(),
            barriers: self.barriers,
            exchanged_bytes: self.exchanged_bytes,
            ..DevicesReport::default()
        })
    }

    fn load(&mut self, program: &EncodedProgram) -> Result<(), BackendError> {
        self.shared = None;
        let loaded = self.load_parts(program);
        if let Some(ranks) = &mut self.ranks {
            greet_with_program(&mut **ranks, self.graph, program, loaded.is_ok())?;
        }
        let shared = loaded?;
        let sessions = self.devices.sessions().into_iter();
        let bytes = sessions.map(|session| session.memory().allocated_bytes);
        let own: Vec<u64> = bytes.collect();
        self.memory_bytes = match &mut self.ranks {
            Some(ranks) => gather_alike(&mut **ranks, &own)?,
            None => own,
        };
        self.shared = Some(shared);
        Ok(())
    }

    fn run(&mut self, inputs: &[u32]) -> Result<RunStats, BackendError> {
        let mut shared = self.shared.take().ok_or(BackendError::NotLoaded)?;
        let found = self.run_shared(&shared, inputs);
        let settled = found.and_then(|stats| {
            shared.leave_out_what_ran_once(self.graph, self.count() as u32)?;
            Ok(stats)
        });
        self.shared = Some(shared);
        settled
    }

    fn work(&self) -> SessionWork {
        let sessions = self.devices.sessions();
        let first = sessions.first().map(|session| session.work());
        SessionWork {
            graph_uploads: sessions.len() as u64,
            ..first.unwrap_or_default()
        }
    }

    fn memory(&self) -> SessionMemory {
        let sessions = self.devices.sessions().into_iter();
        let bytes = sessions.map(|session| session.memory().allocated_bytes);
        SessionMemory {
            allocated_bytes: bytes.sum(),
            tiles_bytes: 0,
        }
    }

    fn read(&mut self, register: RegisterId, words: &mut Vec<u32>) -> Result<(), BackendError> {
        self.session_mut(0)?.read(register, words)
    }
}

impl SteppedSession<'_> {
    fn run_shared(&mut self, shared: &Shared, inputs: &[u32]) -> Result<RunStats, BackendError> {
        let begun = self.begin(shared, inputs);
        let mut running = Running {
            session: self,
            shared,
            started: Instant::now(),
            host: HostWork::default(),
            barriers: 0,
            exchanged_bytes: 0,
        };
        let walked = begun.and_then(|()| walk(&shared.stages, &mut running));
        let (host, run_ns) = (running.host, elapsed_ns(running.started));
        let exchanged = (running.barriers, running.exchanged_bytes);
        self.end(walked)?;
        (self.barriers, self.exchanged_bytes) = exchanged;
        let waits = host.host_synchronisations;
        let code = self.devices.end(inputs.len(), waits, run_ns)?;
        Ok(RunStats {
            run_ns,
            host,
            region: host,
            control: *self.devices.control(0)?,
            code,
            trace: None,
        })
    }

    /// Sets the inputs of a run.
    fn begin(&mut self, shared: &Shared, inputs: &[u32]) -> Result<(), BackendError> {
        if let Some(ranks) = &mut self.ranks {
            compare_inputs(&mut **ranks, inputs)?;
        }
        fit::check_inputs(shared.whole.input_bytes, inputs)?;
        self.canceller.settle()?;
        self.devices.begin(inputs)
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

impl StageLauncher for Running<'_, '_> {
    fn group(&mut self, group: u32) -> Result<(), BackendError> {
        self.exchanged(group, Kernel::Group(group))
    }

    /// Launches a kernel on all devices at once.
    fn launch(&mut self, kernel: Kernel) -> Result<(), BackendError> {
        self.session.devices.launch(kernel)?;
        let launches = self.session.own_count() as u64;
        self.host.launches = self.host.launches.saturating_add(launches);
        self.host.host_synchronisations = self.host.host_synchronisations.saturating_add(1);
        Ok(())
    }

    fn iteration(&mut self, stage: &LoopStage) -> Result<(), BackendError> {
        for body in stage.body() {
            let body = BodyLaunch {
                // The host decides for all devices whether another iteration follows.
                last: false,
                ..body
            };
            self.exchanged(body.group, Kernel::Body(body))?;
        }
        self.close_iteration(stage)
    }

    /// This is so on all devices or on none: the condition is the same word on each.
    fn goes_on(&mut self, stage: &LoopStage) -> Result<bool, BackendError> {
        let control = self.session.devices.control(0)?;
        if control.loop_state != LoopState::Running as u32 {
            return Ok(false);
        }
        let budget = Duration::from_nanos(self.session.limits.time_budget_ns);
        if self.started.elapsed() <= budget {
            return Ok(true);
        }
        let names = NamedWaves::of(&self.shared.whole);
        Err(host_fault(&names, stage.out_of_time(control.iteration)))
    }
}

impl Running<'_, '_> {
    /// Launches a group, and exchanges what it wrote.
    fn exchanged(&mut self, group: u32, kernel: Kernel) -> Result<(), BackendError> {
        let exchanges = self.shared.parts.exchanges.get(group as usize);
        let exchanges = exchanges.map_or(&[][..], Vec::as_slice);
        let mut known = Vec::new();
        for exchange in exchanges {
            let mut before = Vec::new();
            let words = 0..exchange.known_words();
            let (devices, ranks) = (&mut self.session.devices, &self.session.ranks);
            let is_known = words.is_empty() || ranks.is_none() && devices.keep(exchange)?;
            if !is_known {
                devices.read(0, exchange.register(), words, &mut before)?;
            }
            known.push(before);
        }
        self.launch(kernel)?;
        if exchanges.is_empty() {
            return Ok(());
        }
        self.session.meet(0)?;
        self.barriers = self.barriers.saturating_add(1);
        let pairs = exchanges.iter().zip(&known);
        pairs
            .into_iter()
            .try_for_each(|(exchange, before)| self.exchange(exchange, before))
    }

    /// Makes a register equal on all devices, given what is to be known of it from before.
    fn exchange(&mut self, exchange: &Exchange, before: &[u32]) -> Result<(), BackendError> {
        let (count, first) = (self.session.count(), self.session.first());
        let (register, devices) = (exchange.register(), &mut self.session.devices);
        let by_themselves = self.session.ranks.is_none() && devices.swap(exchange)?;
        let bytes = exchange.bytes(count, by_themselves);
        self.exchanged_bytes = self.exchanged_bytes.saturating_add(bytes);
        if by_themselves {
            return Ok(());
        }
        let counts = (0..count).map(|device| exchange.sent(device).len());
        let counts: Vec<usize> = counts.collect();
        let mut own = Vec::new();
        for device in 0..devices.sessions().len() {
            devices.read(device, register, exchange.sent(first + device), &mut own)?;
        }
        let sent = self.session.gather(own, &counts)?;
        let words = exchange.joined(sent, before);
        self.session.devices.write(register, &words)
    }

    /// Ends an iteration on all devices: another one follows if any of them changed something.
    fn close_iteration(&mut self, stage: &LoopStage) -> Result<(), BackendError> {
        let own = 0..self.session.own_count();
        let devices = &self.session.devices;
        let changed = own
            .clone()
            .map(|device| Ok(devices.control(device)?.changed));
        let changed: Vec<u32> = changed.collect::<Result<_, BackendError>>()?;
        let changed = self.session.meet(changed.into_iter().max().unwrap_or(0))?;
        let wave = self.shared.whole.waves.get(stage.wave_index as usize);
        let record = wave.map(|wave| FixpointRecord::from_parameters(wave.parameters));
        let most = record.map_or(0, |record| record.max_iterations);
        for device in own {
            let mut control = *self.session.devices.control(device)?;
            close_iteration(&mut control, most, changed);
            self.session.devices.set_control(device, control)?;
        }
        Ok(())
    }
}

/// Ends an iteration of at most `most`; `changed` is the last that changed something on any device.
fn close_iteration(control: &mut ControlRecord, most: u32, changed: u32) {
    let iterations = control.iteration.saturating_add(1);
    let outcome = match ConvergenceContract::device_resident(most) {
        Ok(contract) => contract.after_iteration(iterations, changed),
        Err(_) => Some(Outcome::Exhausted { iterations }),
    };
    control.iteration = iterations;
    let Some(outcome) = outcome else {
        return;
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
