//! A program on several devices, a launch for each of its groups.
//!
//! Each device has threads, an arena and a control block of its own. The host launches a group on all
//! of them, waits, makes the registers that it wrote equal (`exchange`), and decides for all whether a
//! loop goes on: it does if any device raised the flag. Devices are those of this process, or ranks,
//! of which this process is one. Ranks walk the same stages, and meet after each group whose waves
//! wrote a part each; a rank that fails says so in the place of its next meeting.

use super::launched::Kernel;
use super::place::launch_record;
use super::processes::lost;
use super::{CpuSession, Loaded, RunLimits, obeying};
use crate::backend::share::SharedProgram;
use crate::backend::threads::run_blocks;
use crate::backend::walk::{LoopStage, Stage, StageLauncher, stages, walk};
use crate::backend::{
    BackendError, Canceller, DeviceInfo, HostWork, RunStats, Session, SessionMemory, SessionWork,
    fit,
};
use crate::executor::Jit;
use crate::graph::Graph;
use crate::multi::{Carrier, DevicesReport, greet_with_program};
use crate::own::BUILT_IN;
use crate::program::{EncodedProgram, RegisterId};
use crate::units::{counted, elapsed_ns};
use seawall_core::abi::control::{LOOPS_MAX, LoopState};
use seawall_core::abi::program::FixpointRecord;
use seawall_core::convergence::{ConvergenceContract, Outcome};
use seawall_device::machine::dealer::Dealer;
use seawall_device::scheduler::BodyLaunch;
use std::num::NonZeroUsize;
use std::time::Instant;

/// A graph that several devices have.
pub(crate) struct SteppedSession<'g> {
    graph: &'g Graph,
    devices: Vec<CpuSession<'g>>,
    ranks: Option<&'g mut dyn Carrier>,
    info: DeviceInfo,
    threads: u32,
    limits: RunLimits,
    jit: Jit,
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
    program: SharedProgram,
    stages: Vec<Stage>,
}

/// The first word of a rank at a meeting.
const FAILED: u32 = 0;
const WELL: u32 = 1;

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
            ranks: None,
            info,
            threads,
            limits,
            jit: Jit::Auto,
            canceller: Canceller::default(),
            shared: None,
            memory_bytes: Vec::new(),
            barriers: 0,
            exchanged_bytes: 0,
        })
    }

    /// Opens the device of this rank, of `threads` threads.
    pub(crate) fn on_ranks(
        graph: &'g Graph,
        ranks: &'g mut dyn Carrier,
        threads: u32,
        limits: RunLimits,
    ) -> Result<Self, BackendError> {
        let mut session = Self::open(graph, 1, threads, limits)?;
        session.info.name = format!(
            "{} of {}",
            counted(u64::from(ranks.ranks()), "rank"),
            counted(u64::from(session.threads), "CPU thread")
        );
        session.ranks = Some(ranks);
        Ok(session)
    }

    /// Sets whether waves of code become machine code, by default [`Jit::Auto`].
    pub(crate) fn with_jit(self, jit: Jit) -> Self {
        Self { jit, ..self }
    }

    /// Number of devices, in all processes.
    fn count(&self) -> usize {
        let ranks = self.ranks.as_ref().map(|ranks| ranks.ranks() as usize);
        ranks.unwrap_or(self.devices.len())
    }

    /// The devices of this process, with their numbers.
    fn loaded(&mut self) -> Result<Vec<(usize, &mut Loaded)>, BackendError> {
        let first = self.ranks.as_ref().map_or(0, |ranks| ranks.rank() as usize);
        let devices = (first..).zip(&mut self.devices);
        let loaded = devices.map(|(number, device)| Some((number, &mut **device.loaded.as_mut()?)));
        let loaded: Option<Vec<_>> = loaded.collect();
        loaded
            .filter(|loaded| !loaded.is_empty())
            .ok_or(BackendError::NotLoaded)
    }

    /// The words of all devices, one's after another's, given those of this process: of device `d`
    /// as many as element `d` of `counts` says.
    fn gather(&mut self, own: Vec<u32>, counts: &[usize]) -> Result<Vec<u32>, BackendError> {
        match &mut self.ranks {
            Some(ranks) => ranks.all_gather(&own, counts).map_err(lost),
            None => Ok(own),
        }
    }

    /// Meets the other ranks, and returns the greatest word of all.
    fn meet(&mut self, word: u32) -> Result<u32, BackendError> {
        let Some(ranks) = &mut self.ranks else {
            return Ok(word);
        };
        let counts = vec![2; ranks.ranks() as usize];
        let all = ranks.all_gather(&[WELL, word], &counts).map_err(lost)?;
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
                let counts = vec![2; ranks.ranks() as usize];
                // The error of this rank says more than that another is gone.
                let _ = ranks.all_gather(&[FAILED, 0], &counts);
                Err(error)
            }
        }
    }

    fn load_parts(&mut self, program: &EncodedProgram) -> Result<Shared, BackendError> {
        let stages = stages(program)?;
        fit::check(program, self.graph)?;
        let shared = SharedProgram::of(program, self.graph, self.count() as u32);
        let shared = shared.map_err(|refusal| BackendError::NotShared {
            reason: refusal.to_string(),
        })?;
        let first = self.ranks.as_ref().map_or(0, |ranks| ranks.rank() as usize);
        for (number, device) in (first..).zip(&mut self.devices) {
            device.load(&shared.part(program, number))?;
        }
        Ok(Shared {
            program: shared,
            stages,
        })
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
        let ranges = self.shared.as_ref()?.program.nodes.windows(2);
        Some(DevicesReport {
            count: self.count() as u32,
            numbers: Vec::new(),
            nodes: ranges.map(|range| u64::from(range[1] - range[0])).collect(),
            edges: vec![u64::from(self.graph.edges()); self.count()],
            sources: Vec::new(),
            centers: Vec::new(),
            memory_bytes: self.memory_bytes.clone(),
            graph_bytes: Vec::new(),
            barriers: self.barriers,
            lists: 0,
            pulls: 0,
            exchanged_bytes: self.exchanged_bytes,
        })
    }

    fn load(&mut self, program: &EncodedProgram) -> Result<(), BackendError> {
        self.shared = None;
        let loaded = self.load_parts(program);
        if let Some(ranks) = &mut self.ranks {
            greet_with_program(&mut **ranks, self.graph, program, loaded.is_ok())?;
        }
        let shared = loaded?;
        let bytes = self.devices.iter();
        let bytes = bytes.map(|device| device.memory().allocated_bytes);
        let own: Vec<u64> = bytes.collect();
        let counts = vec![2; self.count()];
        let all = self.gather(bytemuck::cast_slice(&own).to_vec(), &counts)?;
        self.memory_bytes = bytemuck::pod_collect_to_vec(&all);
        self.shared = Some(shared);
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
        let begun = self.begin(inputs);
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
        for device in &mut self.devices {
            device.work.ran(inputs.len(), host.host_synchronisations);
        }
        let mut all = self.loaded()?;
        for (_, loaded) in &mut all {
            loaded.code.ran(run_ns);
            loaded.program.leave_out_what_ran_once();
        }
        let (_, first) = &all[0];
        Ok(RunStats {
            run_ns,
            host,
            region: host,
            control: *first.control,
            code: Some(first.code.report()),
            trace: None,
        })
    }

    fn begin(&mut self, inputs: &[u32]) -> Result<(), BackendError> {
        let (jit, is_alone) = (self.jit, self.threads == 1);
        for (_, loaded) in self.loaded()? {
            fit::check_inputs(loaded.program.input_bytes, inputs)?;
            loaded.begin(inputs);
            loaded.code.prepare(jit, &loaded.program, is_alone);
        }
        self.canceller.settle()
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

    fn begin(&mut self, stage: &LoopStage) -> Result<(), BackendError> {
        self.launch(Kernel::Begin(stage.wave_index))
    }

    fn iteration(&mut self, stage: &LoopStage) -> Result<(), BackendError> {
        for group in stage.first_group..stage.first_group.saturating_add(stage.groups) {
            let body = BodyLaunch {
                fixpoint: stage.wave_index,
                group,
                // The host decides for all devices whether another iteration follows.
                last: false,
            };
            self.exchanged(group, Kernel::Body(body))?;
        }
        self.close_iteration(stage)
    }

    fn again(&mut self, stage: &LoopStage) -> Result<(), BackendError> {
        self.launch(Kernel::Again(stage.wave_index))
    }

    /// This is so on all devices or on none: the condition is the same word on each.
    fn goes_on(&mut self, stage: &LoopStage) -> Result<bool, BackendError> {
        let (started, limits) = (self.started, self.session.limits);
        let (_, first) = &self.session.loaded()?[0];
        first.goes_on(stage, started, limits)
    }
}

impl Running<'_, '_> {
    /// Launches a group, and exchanges what it wrote.
    fn exchanged(&mut self, group: u32, kernel: Kernel) -> Result<(), BackendError> {
        let shared = self.shared;
        let exchanges = shared.program.exchanges.get(group as usize);
        let exchanges = exchanges.map_or(&[][..], Vec::as_slice);
        let mut known = Vec::new();
        for exchange in exchanges {
            let (_, first) = &mut self.session.loaded()?[0];
            let words = first.words_mut(exchange.register())?;
            known.push(words[..exchange.known_words()].to_vec());
        }
        self.launch(kernel)?;
        if exchanges.is_empty() {
            return Ok(());
        }
        self.session.meet(0)?;
        self.barriers = self.barriers.saturating_add(1);
        let count = self.session.count();
        for (exchange, known) in exchanges.iter().zip(&known) {
            let mut own = Vec::new();
            for (device, loaded) in self.session.loaded()? {
                let words = loaded.words_mut(exchange.register())?;
                own.extend_from_slice(&words[exchange.sent(device)]);
            }
            let counts: Vec<usize> = (0..count)
                .map(|device| exchange.sent(device).len())
                .collect();
            let sent = self.session.gather(own, &counts)?;
            let bytes = 4 * (count as u64 - 1) * sent.len() as u64;
            self.exchanged_bytes = self.exchanged_bytes.saturating_add(bytes);
            let words = exchange.joined(sent, known);
            for (_, loaded) in self.session.loaded()? {
                loaded.words_mut(exchange.register())?[..words.len()].copy_from_slice(&words);
            }
        }
        Ok(())
    }

    fn launch(&mut self, kernel: Kernel) -> Result<(), BackendError> {
        let SteppedSession {
            graph,
            ref mut devices,
            threads,
            limits,
            ref canceller,
            ..
        } = *self.session;
        let blocks = kernel.blocks(threads);
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
            let (place, walk) = ([block % blocks, blocks], (BUILT_IN, tier.as_deref()));
            obeying(canceller, || kernel.run(record, walk, place, dealer));
        })?;
        self.host.launches = self.host.launches.saturating_add(all.len() as u64);
        self.host.host_synchronisations = self.host.host_synchronisations.saturating_add(1);
        let canceller = self.session.canceller.of_session();
        let mut loaded = self.session.loaded()?.into_iter();
        loaded.try_for_each(|(_, loaded)| loaded.settle(&canceller))
    }

    /// Ends an iteration on all devices: another one follows if any of them changed something.
    fn close_iteration(&mut self, stage: &LoopStage) -> Result<(), BackendError> {
        let changed = self.session.loaded()?.into_iter();
        let changed = changed.map(|(_, loaded)| loaded.control.changed).max();
        let changed = self.session.meet(changed.unwrap_or(0))?;
        for (_, loaded) in self.session.loaded()? {
            let wave = loaded.program.waves.get(stage.wave_index as usize);
            let record = wave.map(|wave| FixpointRecord::from_parameters(wave.parameters));
            let most = record.map_or(0, |record| record.max_iterations);
            let control = &mut loaded.control;
            let iterations = control.iteration.saturating_add(1);
            let outcome = match ConvergenceContract::device_resident(most) {
                Ok(contract) => contract.after_iteration(iterations, changed),
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
