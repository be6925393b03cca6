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
use crate::backend::walk::{LoopStage, Stage};
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
            self.queue_stages(running, std::slice::from_ref(stage))?;
        }
        Ok(())
    }

    fn queue_stages(
        &self,
        running: &mut Running<'_>,
        stages: &[Stage],
    ) -> Result<(), BackendError> {
        let (stream, program) = (running.stream(), running.program());
        for stage in stages {
            match stage {
                Stage::Group(group) => {
                    running.begin_wave()?;
                    running.launched(self.group(stream, program, *group)?);
                    running.end_wave()?;
                }
                Stage::Loop(stage) => self.run_loop(running, stage)?,
                Stage::While(stage, body) => self.run_while(running, stage, body)?,
            }
        }
        Ok(())
    }

    fn run_while(
        &self,
        running: &mut Running<'_>,
        stage: &LoopStage,
        body: &[Stage],
    ) -> Result<(), BackendError> {
        let (stream, program) = (running.stream(), running.program());
        running.launched(self.begin(stream, program, stage)?);
        loop {
            Running::queue_state(stream, program)?;
            if running.ends(stage)? {
                return Ok(());
            }
            self.queue_stages(running, body)?;
            running.launched(self.again(stream, program, stage)?);
        }
    }

    fn run_loop(&self, running: &mut Running<'_>, stage: &LoopStage) -> Result<(), BackendError> {
        let (stream, program) = (running.stream(), running.program());
        running.launched(self.begin(stream, program, stage)?);
        loop {
            running.begin_wave()?;
            running.launched(self.iteration(stream, program, stage)?);
            running.end_wave()?;
            Running::queue_state(stream, program)?;
            if running.ends(stage)? {
                return Ok(());
            }
        }
    }

    /// Queues the ordinary waves of a group; returns the number of launches.
    pub(super) fn group(
        &self,
        stream: &Stream,
        program: &Loaded,
        group: u32,
    ) -> Result<u64, BackendError> {
        // SAFETY: the loaded program holds the record and all that it names;
        // the group's number was checked at load.
        unsafe {
            self.bodies()
                .group
                .launch(stream, program.record(), &[group])?
        };
        Ok(1)
    }

    /// Queues the start of a loop.
    pub(super) fn begin(
        &self,
        stream: &Stream,
        program: &Loaded,
        stage: &LoopStage,
    ) -> Result<u64, BackendError> {
        // SAFETY: as for `group`; the wave's index was checked at load.
        unsafe {
            self.begin
                .launch(stream, program.record(), &[stage.wave_index])?
        };
        Ok(1)
    }

    /// Queues the end of an iteration of a loop on a register.
    pub(super) fn again(
        &self,
        stream: &Stream,
        program: &Loaded,
        stage: &LoopStage,
    ) -> Result<u64, BackendError> {
        let Some(again) = &self.again else {
            return Ok(0);
        };
        // SAFETY: as for `group`; the wave's index was checked at load.
        unsafe { again.launch(stream, program.record(), &[stage.wave_index])? };
        Ok(1)
    }

    /// Queues one iteration of a loop.
    pub(super) fn iteration(
        &self,
        stream: &Stream,
        program: &Loaded,
        stage: &LoopStage,
    ) -> Result<u64, BackendError> {
        for (index, group) in (0..stage.groups).zip(stage.first_group..) {
            let last = u32::from(index + 1 == stage.groups);
            let words = [stage.wave_index, group, last];
            // SAFETY: as for `group`; the body's range was checked at load.
            unsafe {
                self.bodies()
                    .body
                    .launch(stream, program.record(), &words)?
            };
        }
        Ok(u64::from(stage.groups))
    }
}
