//! Executor with one launch per group, in which the host decides when a loop ends, as programs
//! without a persistent kernel do.
//!
//! It runs the same waves by the same functions, so it is the fair baseline of the persistent
//! kernel. Each iteration of a loop costs its body's launches, one small readback and one wait.

use super::GridShape;
use super::bound::Bound;
use super::entry::Entry;
use super::launch::{Grid, Residency};
use super::loaded::Loaded;
use super::module::Module;
use super::running::Running;
use super::shape::RequestedShape;
use super::stream::Stream;
use crate::backend::BackendError;
use crate::backend::walk::{Kernel, LoopStage, StageLauncher, walk};
use crate::program::encoded::EncodedProgram;
use seawall_core::abi::program::Opcode;
use std::rc::Rc;
use std::sync::Arc;

/// The kernels that run one group each.
#[derive(Debug)]
pub(super) struct Launches {
    module: Rc<Module>,
    asked: RequestedShape,
    begin: Grid,
    ready: Bodies,
    /// The kernels of programs that run code, once one was loaded.
    code: Option<Bodies>,
    /// The kernels of the waves of another crate, of the last program that had some.
    own: Option<Bodies>,
    /// The kernel that counts iterations of a loop on a register, once a program had one.
    again: Option<Grid>,
    chosen: Chosen,
}

/// Kernels that run the current program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Chosen {
    Ready,
    Code,
    Own,
}

/// The kernels that run waves.
#[derive(Debug)]
struct Bodies {
    group: Grid,
    body: Grid,
}

impl Bodies {
    fn new(
        module: &Rc<Module>,
        asked: RequestedShape,
        entries: [Entry; 2],
    ) -> Result<Self, BackendError> {
        Self::of(module, asked, entries, None)
    }

    /// Kernels in the text of another crate's waves, if there is one.
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
    /// Shapes the kernels.
    pub(super) fn new(module: &Rc<Module>, asked: RequestedShape) -> Result<Self, BackendError> {
        Ok(Self {
            module: Rc::clone(module),
            asked,
            begin: Grid::single(module.kernel(Entry::Begin)?),
            ready: Bodies::new(module, asked, [Entry::Group, Entry::Body])?,
            code: None,
            own: None,
            again: None,
            chosen: Chosen::Ready,
        })
    }

    /// Chooses the kernels for `program`.
    pub(super) fn choose(&mut self, program: &EncodedProgram) -> Result<(), BackendError> {
        let opcodes = program.waves.iter();
        let known = opcodes.filter_map(|wave| Opcode::from_word(wave.opcode));
        let runs_code = seawall_device::runs_code(known);
        if runs_code && self.again.is_none() {
            self.again = Some(Grid::single(self.module.kernel(Entry::Again)?));
        }
        if let Some(own) = program.used_waves() {
            let own = Some(self.module.own_text(own)?);
            let entries = [Entry::OwnGroup, Entry::OwnBody];
            self.own = Some(Bodies::of(&self.module, self.asked, entries, own)?);
            self.chosen = Chosen::Own;
            return Ok(());
        }
        if runs_code && self.code.is_none() {
            let entries = [Entry::GroupAll, Entry::BodyAll];
            self.code = Some(Bodies::new(&self.module, self.asked, entries)?);
        }
        self.chosen = if runs_code {
            Chosen::Code
        } else {
            Chosen::Ready
        };
        Ok(())
    }

    fn bodies(&self) -> &Bodies {
        let chosen = match self.chosen {
            Chosen::Ready => None,
            Chosen::Code => self.code.as_ref(),
            Chosen::Own => self.own.as_ref(),
        };
        chosen.unwrap_or(&self.ready)
    }

    fn bodies_mut(&mut self) -> &mut Bodies {
        let chosen = match self.chosen {
            Chosen::Ready => None,
            Chosen::Code => self.code.as_mut(),
            Chosen::Own => self.own.as_mut(),
        };
        chosen.unwrap_or(&mut self.ready)
    }

    /// The grid of an ordinary group.
    pub(super) fn shape(&self) -> GridShape {
        self.bodies().group.shape()
    }

    /// See [`Grid::space`].
    pub(super) fn space(&self, wanted: u32) -> Result<u32, BackendError> {
        let Bodies { group, body } = self.bodies();
        Ok(group.space(wanted)?.min(body.space(wanted)?))
    }

    /// See [`Grid::ask`].
    pub(super) fn ask(&mut self, words: u32) -> Result<(), BackendError> {
        let Bodies { group, body } = self.bodies_mut();
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
        let Bodies { group, body } = self.bodies();
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
