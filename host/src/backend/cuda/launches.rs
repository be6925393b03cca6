//! Executor with one launch per group, in which the host decides when a loop ends, as programs
//! without a persistent kernel do.
//!
//! It runs the same waves by the same functions, so it is the fair baseline of the persistent
//! kernel. Each iteration of a loop costs its body's launches, one small readback and one wait.

use super::GridShape;
use super::bound::Bound;
use super::entry::Entry;
use super::launch::{Grid, Residency};
use super::linked::{LinkedCode, LinkedKernels, Programs, run_code_alone};
use super::loaded::Loaded;
use super::module::Module;
use super::running::Running;
use super::shape::RequestedShape;
use super::stream::Stream;
use crate::backend::walk::{Kernel, LoopStage, StageLauncher, walk};
use crate::backend::{BackendError, CodeReport};
use crate::executor::Jit;
use crate::graph::Graph;
use crate::program::encoded::EncodedProgram;
use seawall_core::abi::program::Opcode;
use seawall_device::machine::LANES_MAX;
use std::rc::Rc;
use std::sync::Arc;

/// The kernels that run one group each.
#[derive(Debug)]
pub(super) struct Launches {
    module: Rc<Module>,
    asked: RequestedShape,
    begin: Grid,
    /// The kernels of this crate that programs had so far, by the first one's entry.
    loaded: Vec<(Entry, Bodies)>,
    /// The kernels of the present program, once one was loaded.
    chosen: Option<Bodies>,
    /// Machine code of the present program, if it only runs code, and whether the kernels have it.
    machine_code: Option<Box<LinkedCode>>,
    is_linked: bool,
    jit: Jit,
    /// The kernel that counts iterations of a loop on a register, once a program had one.
    again: Option<Grid>,
}

/// The kernels that run waves.
#[derive(Clone, Debug)]
struct Bodies {
    group: Grid,
    body: Grid,
}

impl Bodies {
    /// Kernels of the module, or of the text of another crate's waves, if there is one.
    fn of(
        module: &Rc<Module>,
        asked: RequestedShape,
        [group, body]: [Entry; 2],
        own: Option<Arc<str>>,
    ) -> Result<Self, BackendError> {
        let kernel = |entry| module.kernel_within(entry, Bound::ANY, own.clone());
        Ok(Self {
            group: Grid::new(kernel(group)?, asked, Residency::Free)?,
            body: Grid::new(kernel(body)?, asked, Residency::Free)?,
        })
    }
}

impl Launches {
    /// Shapes the kernels. Those of waves are compiled once a program has them.
    ///
    /// # Errors
    /// [`BackendError::Unsupported`] for lanes that no block can have.
    pub(super) fn new(
        module: &Rc<Module>,
        asked: RequestedShape,
        jit: Jit,
    ) -> Result<Self, BackendError> {
        asked.lanes_within(LANES_MAX, module.context().limits())?;
        Ok(Self {
            module: Rc::clone(module),
            asked,
            begin: Grid::single(module.kernel(Entry::Begin)?),
            loaded: Vec::new(),
            chosen: None,
            machine_code: None,
            is_linked: false,
            jit,
            again: None,
        })
    }

    /// Chooses the kernels for `program` on `graph`.
    pub(super) fn choose(
        &mut self,
        program: &EncodedProgram,
        graph: &Graph,
    ) -> Result<(), BackendError> {
        (self.machine_code, self.is_linked) = (None, false);
        let opcodes = program.waves.iter();
        let known = opcodes.filter_map(|wave| Opcode::from_word(wave.opcode));
        let runs_code = seawall_device::runs_code(known);
        if runs_code && self.again.is_none() {
            self.again = Some(Grid::single(self.module.kernel(Entry::Again)?));
        }
        if let Some(own) = program.used_waves() {
            let own = Some(self.module.own_text(own)?);
            let entries = [Entry::OwnGroup, Entry::OwnBody];
            self.chosen = Some(Bodies::of(&self.module, self.asked, entries, own)?);
            return Ok(());
        }
        let entries = if run_code_alone([program]) {
            let entries = &[Entry::GroupLinked, Entry::BodyLinked];
            let kernels = LinkedKernels::free(entries, self.asked);
            let code = LinkedCode::of(Programs::one(program, graph), self.jit, kernels);
            self.machine_code = Some(Box::new(code));
            if self.link() {
                return Ok(());
            }
            [Entry::GroupCode, Entry::BodyCode]
        } else if runs_code {
            [Entry::GroupAll, Entry::BodyAll]
        } else {
            [Entry::Group, Entry::Body]
        };
        self.chosen = Some(self.load(entries)?);
        Ok(())
    }

    /// Kernels of the module, compiled once.
    fn load(&mut self, entries: [Entry; 2]) -> Result<Bodies, BackendError> {
        let mut loaded = self.loaded.iter();
        if let Some((_, bodies)) = loaded.find(|(entry, _)| *entry == entries[0]) {
            return Ok(bodies.clone());
        }
        let bodies = Bodies::of(&self.module, self.asked, entries, None)?;
        self.loaded.push((entries[0], bodies.clone()));
        Ok(bodies)
    }

    /// Takes the machine code of the program, if it is there or due; returns whether it is new.
    fn link(&mut self) -> bool {
        let code = self.machine_code.as_mut().filter(|_| !self.is_linked);
        let grids = code.and_then(|code| code.grids(&self.module));
        let Some([group, body]) = grids.and_then(|grids| <[Grid; 2]>::try_from(grids).ok()) else {
            return false;
        };
        self.chosen = Some(Bodies { group, body });
        self.is_linked = true;
        true
    }

    /// Counts a run; returns whether other kernels run the program from now on.
    pub(super) fn ran(&mut self, run_ns: u64) -> bool {
        if let Some(code) = &mut self.machine_code {
            code.ran(run_ns);
        }
        self.link()
    }

    /// Whether runs take machine code of the program.
    pub(super) const fn is_linked(&self) -> bool {
        self.is_linked
    }

    /// How waves of code run, if the program only runs code.
    pub(super) fn code_report(&self) -> Option<CodeReport> {
        self.machine_code.as_deref().map(LinkedCode::report)
    }

    fn bodies(&self) -> Result<&Bodies, BackendError> {
        self.chosen.as_ref().ok_or(BackendError::NotLoaded)
    }

    /// The grid of an ordinary group; one block before a program was loaded.
    pub(super) fn shape(&self) -> GridShape {
        let group = self.chosen.as_ref().map(|bodies| &bodies.group);
        group.unwrap_or(&self.begin).shape()
    }

    /// See [`Grid::space`].
    pub(super) fn space(&self, wanted: u32) -> Result<u32, BackendError> {
        let Bodies { group, body } = self.bodies()?;
        Ok(group.space(wanted)?.min(body.space(wanted)?))
    }

    /// See [`Grid::ask`].
    pub(super) fn ask(&mut self, words: u32) -> Result<(), BackendError> {
        let Bodies { group, body } = self.chosen.as_mut().ok_or(BackendError::NotLoaded)?;
        group.ask(words)?;
        body.ask(words)
    }

    /// Runs the program, with one wait per iteration of each loop.
    pub(super) fn queue(&self, running: &mut Running<'_>) -> Result<(), BackendError> {
        let program = running.program();
        for (stage, group) in program.stages().iter().zip(program.stage_groups()) {
            running.begin_group(*group)?;
            let mut walking = Walking {
                launches: self,
                running,
                has_begun: false,
            };
            walk(std::slice::from_ref(stage), &mut walking)?;
        }
        Ok(())
    }

    /// Queues a launch.
    pub(super) fn launch(
        &self,
        stream: &Stream,
        program: &Loaded,
        kernel: Kernel,
    ) -> Result<(), BackendError> {
        let Bodies { group, body } = self.bodies()?;
        let (grid, words): (_, &[u32]) = match kernel {
            Kernel::Group(number) => (Some(group), &[number]),
            Kernel::Begin(wave) => (Some(&self.begin), &[wave]),
            Kernel::Body(launch) => (
                Some(body),
                &[launch.fixpoint, launch.group, u32::from(launch.last)],
            ),
            Kernel::Again(wave) => (self.again.as_ref(), &[wave]),
        };
        let Some(grid) = grid else {
            return Ok(());
        };
        // SAFETY: the loaded program holds the record and all that it names; the numbers of groups and
        // waves were checked at load.
        unsafe { grid.launch(stream, program.record(), words) }
    }

    /// Queues one iteration of a loop.
    pub(super) fn iteration(
        &self,
        stream: &Stream,
        program: &Loaded,
        stage: &LoopStage,
    ) -> Result<(), BackendError> {
        let mut launches = stage.body();
        launches.try_for_each(|body| self.launch(stream, program, Kernel::Body(body)))
    }
}

/// A run in progress.
struct Walking<'w, 'r> {
    launches: &'w Launches,
    running: &'w mut Running<'r>,
    /// Whether a loop has begun whose first iteration follows in any case: its kernels return at once
    /// if it is over.
    has_begun: bool,
}

impl StageLauncher for Walking<'_, '_> {
    fn group(&mut self, group: u32) -> Result<(), BackendError> {
        self.running.begin_wave()?;
        self.launch(Kernel::Group(group))?;
        self.running.end_wave()
    }

    fn launch(&mut self, kernel: Kernel) -> Result<(), BackendError> {
        let (stream, program) = (self.running.stream(), self.running.program());
        self.launches.launch(stream, program, kernel)?;
        self.running.launched(1);
        Ok(())
    }

    fn begin(&mut self, stage: &LoopStage) -> Result<(), BackendError> {
        self.has_begun = stage.opcode == Opcode::Fixpoint as u32;
        self.launch(Kernel::Begin(stage.wave_index))
    }

    fn iteration(&mut self, stage: &LoopStage) -> Result<(), BackendError> {
        self.running.begin_wave()?;
        for body in stage.body() {
            self.launch(Kernel::Body(body))?;
        }
        self.running.end_wave()
    }

    fn goes_on(&mut self, stage: &LoopStage) -> Result<bool, BackendError> {
        if std::mem::take(&mut self.has_begun) {
            return Ok(true);
        }
        Running::queue_state(self.running.stream(), self.running.program())?;
        Ok(!self.running.ends(stage)?)
    }
}
