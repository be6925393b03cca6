//! The plan as CUDA graphs: one submission for many launches.
//!
//! Straight stages become kernel nodes. Loops become conditional `while` nodes of one
//! graph for the whole program where the driver has them, from CUDA 12.3 on. With
//! older ones they are unrolled in chunks.

mod conditional;
mod executable;
mod unrolled;

pub(super) use executable::Executable;

use super::GridShape;
use super::LoopNodes;
use super::entry::Entry;
use super::launch::Grid;
use super::launches::Launches;
use super::loaded::Loaded;
use super::module::Module;
use super::running::Running;
use super::stream::{COPY_LIMIT, Stream};
use crate::backend::walk::Stage;
use crate::backend::{BackendError, CodeReport};
use std::rc::Rc;
use unrolled::Segments;

/// Most kernel nodes of one body or chunk, whatever the length of the loop's body.
const NODES_MAX: u32 = 4096;

/// Builds and submits the graphs of a program.
#[derive(Debug)]
pub(super) struct Graphs {
    module: Rc<Module>,
    launches: Launches,
    loops: LoopNodes,
    /// The kernel that sets the condition of a loop, once a program needs it.
    decide: Option<Grid>,
    built: Built,
}

/// The graphs of a program.
#[derive(Debug)]
enum Built {
    Nothing,
    Whole(Executable),
    Segments(Segments),
    /// Nothing: loops on a register are launched one group at a time where the driver has
    /// no conditional nodes.
    Launched,
}

impl Graphs {
    /// Builds graphs from the launches of `launches`, with the requested loops or the best that
    /// the driver supports.
    ///
    /// # Errors
    /// [`BackendError::Unsupported`] if the driver lacks the requested nodes.
    pub(super) fn new(
        module: &Rc<Module>,
        launches: Launches,
        loops: Option<LoopNodes>,
    ) -> Result<Self, BackendError> {
        let limits = module.context().limits();
        let loops = loops_of(loops, limits.conditional_nodes());
        Ok(Self {
            launches,
            loops: loops.ok_or_else(|| BackendError::Unsupported {
                device: limits.info.name.clone(),
                reason: format!(
                    "its driver supports CUDA {}, conditional nodes need 12.3; leave the choice of loops open",
                    limits.driver_text()
                ),
            })?,
            module: Rc::clone(module),
            decide: None,
            built: Built::Nothing,
        })
    }

    /// The grid of an ordinary group.
    pub(super) fn shape(&self) -> GridShape {
        self.launches.shape()
    }

    /// The launches that the graphs are built from.
    pub(super) const fn launches(&mut self) -> &mut Launches {
        &mut self.launches
    }

    /// See [`Launches::is_linked`].
    pub(super) const fn is_linked(&self) -> bool {
        self.launches.is_linked()
    }

    /// See [`Launches::code_report`].
    pub(super) fn code_report(&self) -> Option<CodeReport> {
        self.launches.code_report()
    }

    /// Drops the graphs of the last program.
    pub(super) fn clear(&mut self) {
        self.built = Built::Nothing;
    }

    /// Builds and uploads the graphs of `program`.
    pub(super) fn prepare(
        &mut self,
        stream: &Stream,
        program: &Loaded,
    ) -> Result<(), BackendError> {
        self.clear();
        let stages = program.stages().iter();
        let has_loops = stages
            .clone()
            .any(|stage| !matches!(stage, Stage::Group(_)));
        let has_while = stages
            .clone()
            .any(|stage| matches!(stage, Stage::While(..)));
        self.built = if has_while && self.loops == LoopNodes::Unrolled {
            Built::Launched
        } else if has_loops && self.loops == LoopNodes::Conditional {
            let decide = match self.decide.take() {
                Some(decide) => decide,
                None => Grid::single(self.module.kernel(Entry::While)?),
            };
            let building = conditional::Building {
                stream,
                program,
                launches: &self.launches,
                decide: self.decide.insert(decide),
            };
            Built::Whole(building.graph()?)
        } else {
            Built::Segments(Segments::build(stream, program, &self.launches)?)
        };
        stream.wait("uploading the CUDA graphs", COPY_LIMIT)
    }

    /// Runs the program with one submission, or one for each chunk of a loop.
    pub(super) fn queue(&self, running: &mut Running<'_>) -> Result<(), BackendError> {
        match &self.built {
            Built::Nothing => Ok(()),
            Built::Whole(graph) => graph.launch(running),
            Built::Segments(segments) => segments.queue(running),
            Built::Launched => self.launches.queue(running),
        }
    }
}

/// Returns the requested loops, or the best available; `None` if the driver lacks the requested
/// ones.
fn loops_of(asked: Option<LoopNodes>, has_conditional: bool) -> Option<LoopNodes> {
    match (asked, has_conditional) {
        (Some(LoopNodes::Conditional), false) => None,
        (None, false) => Some(LoopNodes::Unrolled),
        (asked, _) => Some(asked.unwrap_or(LoopNodes::Conditional)),
    }
}

/// Returns how many iterations, of at most `iterations`, fit one graph's nodes.
fn unrolled(iterations: u32, groups: u32) -> u32 {
    (NODES_MAX / groups.max(1)).clamp(1, iterations)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loops_are_as_requested_or_the_best_of_the_driver() {
        use LoopNodes::{Conditional, Unrolled};
        assert_eq!(loops_of(None, true), Some(Conditional));
        assert_eq!(loops_of(None, false), Some(Unrolled));
        assert_eq!(loops_of(Some(Unrolled), true), Some(Unrolled));
        assert_eq!(loops_of(Some(Conditional), false), None);
    }

    #[test]
    fn chunks_shrink_for_long_bodies_and_never_vanish() {
        assert_eq!(unrolled(64, 2), 64);
        assert_eq!(unrolled(64, 512), 8);
        assert_eq!(unrolled(64, 1_000_000), 1);
        assert_eq!(unrolled(16, 0), 16);
    }
}
