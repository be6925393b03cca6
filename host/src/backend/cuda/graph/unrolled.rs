//! Loops unrolled in chunks of iterations; the host checks the loop's state after each chunk.
//!
//! A body that starts after the loop has ended returns at once, and a chunk is
//! submitted again while the loop runs.

use super::executable::Executable;
use crate::backend::BackendError;
use crate::backend::cuda::launches::Launches;
use crate::backend::cuda::loaded::Loaded;
use crate::backend::cuda::running::Running;
use crate::backend::cuda::stream::Stream;
use crate::backend::walk::{Kernel, LoopStage, Stage};

/// Iterations of a loop's first chunk: most loops end within it.
const FIRST_ITERATIONS: u32 = 16;
/// Iterations of each further chunk.
const MORE_ITERATIONS: u32 = 64;

/// The graphs of a program, each up to the end of a loop.
#[derive(Debug)]
pub(super) struct Segments(Vec<Segment>);

/// Stages up to the end of a loop, or up to the end of the program.
#[derive(Debug)]
struct Segment {
    first: Executable,
    again: Option<(LoopStage, Executable)>,
}

/// Parts that segments are built from.
#[derive(Clone, Copy)]
struct Building<'a> {
    stream: &'a Stream,
    program: &'a Loaded,
    launches: &'a Launches,
}

impl Segments {
    /// Builds the graphs of `program`.
    pub(super) fn build(
        stream: &Stream,
        program: &Loaded,
        launches: &Launches,
    ) -> Result<Self, BackendError> {
        let building = Building {
            stream,
            program,
            launches,
        };
        let mut segments = Vec::new();
        let mut rest = program.stages();
        while !rest.is_empty() {
            let groups = rest
                .iter()
                .take_while(|stage| matches!(stage, Stage::Group(_)))
                .count();
            let (straight, after) = rest.split_at(groups);
            let (stage, after) = match after.split_first() {
                Some((Stage::Loop(stage), after)) => (Some(*stage), after),
                // Programs with loops on a register were handled before.
                Some((_, after)) => (None, after),
                None => (None, after),
            };
            segments.push(building.segment(straight, stage)?);
            rest = after;
        }
        Ok(Self(segments))
    }

    /// Runs the program, with one wait per chunk of each loop.
    pub(super) fn queue(&self, running: &mut Running<'_>) -> Result<(), BackendError> {
        for segment in &self.0 {
            segment.first.launch(running)?;
            let Some((stage, again)) = &segment.again else {
                continue;
            };
            while !running.ends(stage)? {
                again.launch(running)?;
            }
        }
        Ok(())
    }
}

impl Building<'_> {
    fn segment(
        self,
        straight: &[Stage],
        stage: Option<LoopStage>,
    ) -> Result<Segment, BackendError> {
        let first = Executable::capture(self.stream, || self.first(straight, stage))?;
        let again = match stage {
            Some(stage) => {
                let chunk = || self.chunk(&stage, MORE_ITERATIONS);
                Some((stage, Executable::capture(self.stream, chunk)?))
            }
            None => None,
        };
        Ok(Segment { first, again })
    }

    fn first(self, straight: &[Stage], stage: Option<LoopStage>) -> Result<(), BackendError> {
        for stage in straight {
            if let Stage::Group(group) = stage {
                let kernel = Kernel::Group(*group);
                self.launches.launch(self.stream, self.program, kernel)?;
            }
        }
        let Some(stage) = stage else {
            return Ok(());
        };
        let begin = Kernel::Begin(stage.wave_index);
        self.launches.launch(self.stream, self.program, begin)?;
        self.chunk(&stage, FIRST_ITERATIONS)
    }

    fn chunk(self, stage: &LoopStage, iterations: u32) -> Result<(), BackendError> {
        for _ in 0..super::unrolled(iterations, stage.groups) {
            self.launches.iteration(self.stream, self.program, stage)?;
        }
        Running::queue_state(self.stream, self.program)
    }
}
