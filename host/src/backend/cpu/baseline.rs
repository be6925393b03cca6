//! A host loop on the CPU, as in programs without a resident graph: the baseline of evidence.
//!
//! Separate memory stands for a device's. Before each wave the host copies the graph there,
//! launches the wave, waits, and copies all memory of the program back. The waves are those of
//! every other executor.

use super::place::{graph_addresses, launch_record_at};
use super::{CpuSession, Lines, Loaded, RunLimits, SERVICES, lines, walkers};
use crate::backend::threads::run_blocks;
use crate::backend::walk::{LoopStage, Stage, stages};
use crate::backend::{
    BackendError, Canceller, DeviceInfo, HostWork, NamedWaves, RunStats, Session, SessionMemory,
    SessionWork, fault, fit, host_fault,
};
use crate::graph::{Csr, Graph};
use crate::own::Walkers;
use crate::program::{EncodedProgram, RegisterId};
use crate::units::elapsed_ns;
use seawall_core::abi::control::LoopState;
use seawall_core::abi::program::LaunchRecord;
use seawall_device::machine::SHARED_WORDS;
use seawall_device::machine::cpu::HostGrid;
use seawall_device::machine::dealer::Dealer;
use seawall_device::scheduler::{BodyLaunch, again, begin_loop};
use seawall_device::tables::launch::Launch;
use std::num::NonZeroUsize;
use std::time::{Duration, Instant};

/// A graph that the host copies before every wave.
pub(in crate::backend) struct BaselineSession<'g> {
    inner: CpuSession<'g>,
    copy: Option<Copy<'g>>,
}

/// Memory that stands for a device's, and the host's copy of the program's memory.
struct Copy<'g> {
    stages: Vec<Stage>,
    arrays: Vec<(&'g [u32], Vec<u32>)>,
    arena: Lines,
}

impl<'g> BaselineSession<'g> {
    /// Opens a session as [`CpuSession::open`] does.
    pub(in crate::backend) fn open(
        graph: &'g Graph,
        threads: Option<NonZeroUsize>,
        limits: RunLimits,
    ) -> Result<Self, BackendError> {
        Ok(Self {
            inner: CpuSession::open(graph, threads, limits)?,
            copy: None,
        })
    }
}

impl<'g> Copy<'g> {
    fn of(graph: &'g Graph, loaded: &Loaded) -> Result<Self, BackendError> {
        let incoming = loaded.program.needs.incoming && !graph.is_symmetric();
        let incoming = incoming.then(|| graph.incoming());
        let rows = incoming.map(|rows| [rows.offsets(), rows.targets()]);
        let weights = incoming.filter(|_| loaded.program.needs.incoming_weights);
        let mut arrays = Vec::new();
        for array in [graph.offsets(), graph.targets()]
            .into_iter()
            .chain(graph.weights())
            .chain(rows.into_iter().flatten())
            .chain(weights.and_then(Csr::weights))
        {
            arrays.push((array, words(array.len())?));
        }
        Ok(Self {
            stages: stages(&loaded.program)?,
            arrays,
            arena: lines("the host's copy of the arena", loaded.program.arena_bytes)?,
        })
    }

    /// Copies the graph.
    fn upload(&mut self, host: &mut HostWork) {
        for (source, copy) in &mut self.arrays {
            copy.copy_from_slice(source);
            host.uploads = host.uploads.saturating_add(1);
        }
    }

    /// Returns the copy of `array`.
    fn address(&self, array: u64) -> u64 {
        let found = self
            .arrays
            .iter()
            .find(|(source, _)| source.as_ptr() as u64 == array);
        found.map_or(0, |(_, copy)| copy.as_ptr() as u64)
    }
}

fn words(count: usize) -> Result<Vec<u32>, BackendError> {
    crate::graph::memory::zeroed(count).map_err(|short| BackendError::OutOfMemory {
        what: "the copy of the graph",
        needed: short.needed,
        available: short.available,
    })
}

/// One launch of a host loop.
#[derive(Clone, Copy)]
enum Kernel {
    Group(u32),
    Begin(u32),
    Body(BodyLaunch),
    Again(u32),
}

/// A run in progress.
struct Running<'r, 'g> {
    session: &'r mut CpuSession<'g>,
    copy: &'r mut Copy<'g>,
    started: Instant,
    host: HostWork,
}

impl Running<'_, '_> {
    fn walk(&mut self, stages: &[Stage]) -> Result<(), BackendError> {
        for stage in stages {
            match stage {
                Stage::Group(group) => self.wave(&[Kernel::Group(*group)])?,
                Stage::Loop(stage) => self.run_loop(stage)?,
                Stage::While(stage, body) => self.run_while(stage, body)?,
            }
        }
        Ok(())
    }

    fn run_loop(&mut self, stage: &LoopStage) -> Result<(), BackendError> {
        let group = |(index, group)| {
            Kernel::Body(BodyLaunch {
                fixpoint: stage.wave_index,
                group,
                last: index + 1 == stage.groups,
            })
        };
        let groups = (0..stage.groups).zip(stage.first_group..);
        let body: Vec<Kernel> = groups.map(group).collect();
        self.launch(Kernel::Begin(stage.wave_index))?;
        while self.goes_on(stage)? {
            self.wave(&body)?;
        }
        Ok(())
    }

    fn run_while(&mut self, stage: &LoopStage, body: &[Stage]) -> Result<(), BackendError> {
        self.launch(Kernel::Begin(stage.wave_index))?;
        while self.goes_on(stage)? {
            self.walk(body)?;
            self.launch(Kernel::Again(stage.wave_index))?;
        }
        Ok(())
    }

    /// Uploads the graph, launches a wave and reads its memory back.
    fn wave(&mut self, kernels: &[Kernel]) -> Result<(), BackendError> {
        self.copy.upload(&mut self.host);
        kernels.iter().try_for_each(|kernel| self.launch(*kernel))?;
        let loaded = self
            .session
            .loaded
            .as_ref()
            .ok_or(BackendError::NotLoaded)?;
        self.copy.arena.copy_from_slice(&loaded.arena);
        self.host.host_synchronisations = self.host.host_synchronisations.saturating_add(1);
        Ok(())
    }

    fn launch(&mut self, kernel: Kernel) -> Result<(), BackendError> {
        let CpuSession {
            graph,
            limits,
            ref resident,
            ..
        } = *self.session;
        let blocks = match kernel {
            Kernel::Begin(_) | Kernel::Again(_) => 1,
            Kernel::Group(_) | Kernel::Body(_) => self.session.threads,
        };
        let loaded = self
            .session
            .loaded
            .as_mut()
            .ok_or(BackendError::NotLoaded)?;
        let mut at = graph_addresses(graph, resident, &loaded.program);
        for address in [
            &mut at.offsets,
            &mut at.targets,
            &mut at.weights,
            &mut at.incoming_offsets,
            &mut at.incoming_targets,
            &mut at.incoming_weights,
        ] {
            *address = self.copy.address(*address);
        }
        let walk = walkers(&loaded.program, false);
        let record = launch_record_at(graph, loaded, at, limits);
        let dealer = Dealer::new();
        run_blocks(blocks, |block| {
            run_kernel(&record, walk, (block, blocks), &dealer, kernel);
        })?;
        self.host.launches = self.host.launches.saturating_add(1);
        self.settle()
    }

    /// Turns the fault of the last launch into an error, and ends a cancelled run.
    fn settle(&mut self) -> Result<(), BackendError> {
        self.session.canceller.settle()?;
        let loaded = self
            .session
            .loaded
            .as_ref()
            .ok_or(BackendError::NotLoaded)?;
        match loaded.control.fault.code {
            0 => Ok(()),
            _ => Err(fault(&NamedWaves::of(&loaded.program), &loaded.control)),
        }
    }

    /// Whether another iteration of the open loop follows.
    fn goes_on(&mut self, stage: &LoopStage) -> Result<bool, BackendError> {
        let loaded = self
            .session
            .loaded
            .as_ref()
            .ok_or(BackendError::NotLoaded)?;
        self.host.host_synchronisations = self.host.host_synchronisations.saturating_add(1);
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
}

fn run_kernel(
    record: &LaunchRecord,
    walk: Walkers,
    place: (u32, u32),
    dealer: &Dealer,
    kernel: Kernel,
) {
    let mut shared = vec![0_u32; SHARED_WORDS];
    // SAFETY: `shared` belongs to this thread, has the length that the grid states, and outlives
    // the call; so does the dealer, which only the threads of this launch use.
    let grid =
        unsafe { HostGrid::<false>::new(place.0, place.1, shared.as_mut_ptr(), dealer, SERVICES) };
    // SAFETY: the record was filled from live, exclusively borrowed memory of the stated lengths,
    // which outlives the threads.
    let launch = unsafe { Launch::new(record) };
    // A launch that stops early leaves its reason in the control block.
    let _ = match kernel {
        Kernel::Group(group) => (walk.group)(grid, launch, group),
        Kernel::Begin(wave) => begin_loop(grid, launch, wave),
        Kernel::Body(body) => (walk.body)(grid, launch, body),
        Kernel::Again(wave) => again(grid, launch, wave),
    };
}

impl Session for BaselineSession<'_> {
    fn device(&self) -> &DeviceInfo {
        self.inner.device()
    }

    fn upload_ns(&self) -> u64 {
        self.inner.upload_ns()
    }

    fn cancel_by(&mut self, canceller: Canceller) {
        self.inner.cancel_by(canceller);
    }

    /// Waves are not measured separately here.
    fn trace_runs(&mut self, _: bool) {}

    fn load(&mut self, program: &EncodedProgram) -> Result<(), BackendError> {
        self.copy = None;
        self.inner.load(program)?;
        let loaded = self.inner.loaded.as_ref().ok_or(BackendError::NotLoaded)?;
        self.copy = Some(Copy::of(self.inner.graph, loaded)?);
        Ok(())
    }

    fn run(&mut self, inputs: &[u32]) -> Result<RunStats, BackendError> {
        let (Some(copy), Some(loaded)) = (&mut self.copy, &mut self.inner.loaded) else {
            return Err(BackendError::NotLoaded);
        };
        fit::check_inputs(loaded.program.input_bytes, inputs)?;
        loaded.begin(inputs);
        self.inner.canceller.settle()?;
        let stages = std::mem::take(&mut copy.stages);
        let mut running = Running {
            session: &mut self.inner,
            copy,
            started: Instant::now(),
            host: HostWork::default(),
        };
        let walked = running.walk(&stages);
        let (host, run_ns) = (running.host, elapsed_ns(running.started));
        copy.stages = stages;
        walked?;
        self.inner
            .work
            .ran(inputs.len(), host.host_synchronisations);
        let loaded = self.inner.loaded.as_ref().ok_or(BackendError::NotLoaded)?;
        Ok(RunStats {
            code: None,
            run_ns,
            host,
            region: host,
            trace: None,
            control: *loaded.control,
        })
    }

    fn work(&self) -> SessionWork {
        self.inner.work()
    }

    fn memory(&self) -> SessionMemory {
        let SessionMemory {
            allocated_bytes,
            tiles_bytes,
        } = self.inner.memory();
        let copies = self.copy.as_ref().map_or(0, |copy| {
            let arrays = copy.arrays.iter().map(|(_, words)| size_of_val(&words[..]));
            arrays.sum::<usize>() + size_of_val(&copy.arena[..])
        });
        SessionMemory {
            allocated_bytes: allocated_bytes.saturating_add(copies as u64),
            tiles_bytes,
        }
    }

    fn read(&mut self, register: RegisterId, words: &mut Vec<u32>) -> Result<(), BackendError> {
        self.inner.read(register, words)
    }
}
