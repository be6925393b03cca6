//! Executor with one launch per group, in which the host decides when a loop ends, as programs
//! without a persistent kernel do.
//!
//! It runs the same waves by the same functions, so it is the fair baseline of the persistent
//! kernel. Each iteration of a loop costs its body's launches, one small readback and one wait.

use super::GridShape;
use super::launch::{Asked, Grid, Residency};
use super::loaded::Loaded;
use super::module::{Entry, Module};
use super::running::Running;
use super::stream::Stream;
use super::walk::{LoopStage, Stage};
use crate::backend::BackendError;
use std::rc::Rc;

/// The kernels that run one group each.
#[derive(Debug)]
pub(super) struct Launches {
    group: Grid,
    begin: Grid,
    body: Grid,
}

impl Launches {
    /// Shapes the kernels.
    pub(super) fn new(module: &Rc<Module>, asked: Asked) -> Result<Self, BackendError> {
        Ok(Self {
            group: Grid::new(module.kernel(Entry::Group)?, asked, Residency::Free)?,
            begin: Grid::single(module.kernel(Entry::Begin)?),
            body: Grid::new(module.kernel(Entry::Body)?, asked, Residency::Free)?,
        })
    }

    /// Returns the grid of an ordinary group.
    pub(super) const fn shape(&self) -> GridShape {
        self.group.shape()
    }

    /// See [`Grid::room`].
    pub(super) fn room(&self, wanted: u32) -> Result<u32, BackendError> {
        Ok(self.group.room(wanted)?.min(self.body.room(wanted)?))
    }

    /// See [`Grid::ask`].
    pub(super) fn ask(&mut self, words: u32) -> Result<(), BackendError> {
        self.group.ask(words)?;
        self.body.ask(words)
    }

    /// Runs the program, with one wait per iteration of each loop.
    pub(super) fn queue(&self, running: &mut Running<'_>) -> Result<(), BackendError> {
        let (stream, program) = (running.stream(), running.program());
        for stage in program.stages() {
            match stage {
                Stage::Group(group) => running.launched(self.group(stream, program, *group)?),
                Stage::Loop(stage) => self.run_loop(running, stage)?,
            }
        }
        Ok(())
    }

    fn run_loop(&self, running: &mut Running<'_>, stage: &LoopStage) -> Result<(), BackendError> {
        let (stream, program) = (running.stream(), running.program());
        running.launched(self.begin(stream, program, stage)?);
        loop {
            running.launched(self.iteration(stream, program, stage)?);
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
        // SAFETY: the loaded program holds the record and everything it refers to; the group's
        // number was checked at load.
        unsafe { self.group.launch(stream, program.record(), &[group])? };
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
            unsafe { self.body.launch(stream, program.record(), &words)? };
        }
        Ok(u64::from(stage.groups))
    }
}
