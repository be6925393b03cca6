//! A host loop on the CPU, as in programs without a resident graph: the baseline of evidence.
//!
//! Separate memory stands for a device's. Before each wave the host copies the graph there,
//! launches the wave, waits, and copies all memory of the program back. The waves are those of
//! every other executor.

use super::place::{graph_addresses, launch_record_at};
use super::{CpuSession, Lines, Loaded, RunLimits, lines, walkers};
use crate::backend::threads::run_blocks;
use crate::backend::walk::{Kernel, LoopStage, Stage, StageLauncher, stages, walk};
use crate::backend::{
    BackendError, Canceller, DeviceInfo, HostWork, RunStats, Session, SessionMemory, SessionWork,
    fit,
};
use crate::graph::{Csr, Graph};
use crate::program::{EncodedProgram, RegisterId};
use crate::units::elapsed_ns;
use seawall_device::machine::dealer::Dealer;
use std::num::NonZeroUsize;
use std::time::Instant;

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

    fn address(&self, array: u64) -> u64 {
        let found = self
            .arrays
            .iter()
            .find(|(source, _)| source.as_ptr() as u64 == array);
        found.map_or(0, |(_, copy)| copy.as_ptr() as u64)
    }
}

fn words(count: usize) -> Result<Vec<u32>, BackendError> {
    crate::graph::memory::zeroed(count).map_err(BackendError::short("the copy of the graph"))
}

/// A run in progress.
struct Running<'r, 'g> {
    session: &'r mut CpuSession<'g>,
    copy: &'r mut Copy<'g>,
    started: Instant,
    host: HostWork,
}

impl StageLauncher for Running<'_, '_> {
    fn group(&mut self, group: u32) -> Result<(), BackendError> {
        self.wave(|running| running.launch(Kernel::Group(group)))
    }

    fn launch(&mut self, kernel: Kernel) -> Result<(), BackendError> {
        let CpuSession {
            graph,
            limits,
            ref resident,
            ..
        } = *self.session;
        let blocks = kernel.blocks(self.session.threads);
        let loaded = self.session.loaded.as_mut();
        let loaded = loaded.ok_or(BackendError::NotLoaded)?;
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
        let walk = (walkers(&loaded.program, false), None);
        let record = launch_record_at(graph, loaded, at, limits);
        let dealer = Dealer::new();
        run_blocks(blocks, |block| {
            kernel.run(&record, walk, [block, blocks], &dealer);
        })?;
        self.host.launches = self.host.launches.saturating_add(1);
        loaded.settle(&self.session.canceller)
    }

    fn iteration(&mut self, stage: &LoopStage) -> Result<(), BackendError> {
        let mut bodies = stage.body();
        self.wave(|running| bodies.try_for_each(|body| running.launch(Kernel::Body(body))))
    }

    fn goes_on(&mut self, stage: &LoopStage) -> Result<bool, BackendError> {
        self.host.host_synchronisations = self.host.host_synchronisations.saturating_add(1);
        let loaded = self.session.loaded.as_ref();
        let loaded = loaded.ok_or(BackendError::NotLoaded)?;
        loaded.goes_on(stage, self.started, self.session.limits)
    }
}

impl Running<'_, '_> {
    /// Uploads the graph, launches a wave and reads its memory back.
    fn wave(
        &mut self,
        launch: impl FnOnce(&mut Self) -> Result<(), BackendError>,
    ) -> Result<(), BackendError> {
        self.copy.upload(&mut self.host);
        launch(self)?;
        let loaded = self.session.loaded.as_ref();
        let loaded = loaded.ok_or(BackendError::NotLoaded)?;
        self.copy.arena.copy_from_slice(&loaded.arena);
        self.host.host_synchronisations = self.host.host_synchronisations.saturating_add(1);
        Ok(())
    }
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
        let walked = walk(&stages, &mut running);
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
