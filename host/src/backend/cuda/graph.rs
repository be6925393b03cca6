//! The plan as CUDA graphs: one submission for many launches.
//!
//! Straight stages become kernel nodes of one graph. A loop is unrolled into
//! chunks of iterations; a body that starts after the loop has ended returns at
//! once, and a chunk is submitted again while the loop runs.
//!
//! Loops are not conditional `while` nodes, for two reasons. The driver makes
//! such nodes, but their condition is set on the device by a function of
//! CUDA's device runtime, `cudaGraphSetConditional`. No PTX instruction does
//! the same: `nvcc` emits a call to an external function, and its link step
//! takes that out of the toolkit's `libcudadevrt.a`, which the embedded PTX
//! must do without. And such a loop costs about 4 µs an iteration (`seawall
//! bench --section loop` measures it where `nvcc` is), while a node of a chunk
//! costs about 1 µs.

use super::error::check;
use super::launch::GridShape;
use super::launches::Launches;
use super::loaded::Loaded;
use super::running::Running;
use super::stream::{COPY_LIMIT, Stream};
use super::walk::{LoopStage, Stage};
use crate::backend::BackendError;
use cudarc::driver::sys::{self, CUgraph, CUgraphExec};

/// Iterations of a loop's first chunk: most loops are over after it.
const FIRST_ITERATIONS: u32 = 16;
/// Iterations of each further chunk.
const MORE_ITERATIONS: u32 = 64;
/// Most kernel nodes of one chunk, whatever the length of the body.
const NODES_MAX: u32 = 4096;

/// Builds and submits the graphs of a program.
#[derive(Debug)]
pub(super) struct Graphs {
    launches: Launches,
    segments: Vec<Segment>,
}

/// Stages up to the end of a loop, or up to the end of the program.
#[derive(Debug)]
struct Segment {
    first: Executable,
    again: Option<(LoopStage, Executable)>,
}

impl Graphs {
    /// Builds graphs out of the launches of `launches`.
    pub(super) const fn new(launches: Launches) -> Self {
        Self {
            launches,
            segments: Vec::new(),
        }
    }

    /// The grid of an ordinary group.
    pub(super) const fn shape(&self) -> GridShape {
        self.launches.shape()
    }

    /// The launches that the graphs are built out of.
    pub(super) const fn launches(&mut self) -> &mut Launches {
        &mut self.launches
    }

    /// Drops the graphs of the last program.
    pub(super) fn clear(&mut self) {
        self.segments.clear();
    }

    /// Builds and uploads the graphs of `program`.
    pub(super) fn prepare(
        &mut self,
        stream: &Stream,
        program: &Loaded,
    ) -> Result<(), BackendError> {
        self.clear();
        let mut rest = program.stages();
        while !rest.is_empty() {
            let groups = rest
                .iter()
                .take_while(|stage| matches!(stage, Stage::Group(_)))
                .count();
            let (straight, after) = rest.split_at(groups);
            let (stage, after) = match after.split_first() {
                Some((Stage::Loop(stage), after)) => (Some(*stage), after),
                _ => (None, after),
            };
            self.segments
                .push(self.segment(stream, program, Shape { straight, stage })?);
            rest = after;
        }
        stream.wait("uploading the CUDA graphs", COPY_LIMIT)
    }

    fn segment(
        &self,
        stream: &Stream,
        program: &Loaded,
        shape: Shape<'_>,
    ) -> Result<Segment, BackendError> {
        let first = Executable::capture(stream, || self.first(stream, program, shape))?;
        let again = match shape.stage {
            Some(stage) => {
                let chunk = || self.chunk(stream, program, &stage, MORE_ITERATIONS);
                Some((stage, Executable::capture(stream, chunk)?))
            }
            None => None,
        };
        Ok(Segment { first, again })
    }

    fn first(
        &self,
        stream: &Stream,
        program: &Loaded,
        shape: Shape<'_>,
    ) -> Result<(), BackendError> {
        for stage in shape.straight {
            if let Stage::Group(group) = stage {
                self.launches.group(stream, program, *group)?;
            }
        }
        let Some(stage) = shape.stage else {
            return Ok(());
        };
        self.launches.begin(stream, program, &stage)?;
        self.chunk(stream, program, &stage, FIRST_ITERATIONS)
    }

    fn chunk(
        &self,
        stream: &Stream,
        program: &Loaded,
        stage: &LoopStage,
        iterations: u32,
    ) -> Result<(), BackendError> {
        for _ in 0..unrolled(iterations, stage.groups) {
            self.launches.iteration(stream, program, stage)?;
        }
        Running::queue_state(stream, program)
    }

    /// Runs the program, waiting once a chunk of each loop.
    pub(super) fn queue(&self, running: &mut Running<'_>) -> Result<(), BackendError> {
        for segment in &self.segments {
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

/// What a segment is built of.
#[derive(Clone, Copy)]
struct Shape<'a> {
    straight: &'a [Stage],
    stage: Option<LoopStage>,
}

/// Iterations that fit a chunk.
fn unrolled(iterations: u32, groups: u32) -> u32 {
    (NODES_MAX / groups.max(1)).clamp(1, iterations)
}

/// An instantiated CUDA graph.
#[derive(Debug)]
pub(super) struct Executable {
    context: std::rc::Rc<super::context::Context>,
    raw: CUgraphExec,
}

impl Executable {
    /// Records what `queue` puts into the stream, without running it.
    pub(super) fn capture(
        stream: &Stream,
        queue: impl FnOnce() -> Result<(), BackendError>,
    ) -> Result<Self, BackendError> {
        let mode = sys::CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_THREAD_LOCAL;
        // SAFETY: the stream lives and captures nothing yet.
        check("starting a CUDA graph", unsafe {
            sys::cuStreamBeginCapture_v2(stream.raw(), mode)
        })?;
        let queued = queue();
        let mut graph: CUgraph = std::ptr::null_mut();
        // SAFETY: ends the capture begun above, whatever `queue` answered, so
        // that the stream can be used again; one valid handle to write to.
        let ended = check("ending a CUDA graph", unsafe {
            sys::cuStreamEndCapture(stream.raw(), &raw mut graph)
        });
        let graph = Captured(graph);
        queued?;
        ended?;
        graph.instantiate(stream)
    }

    fn launch(&self, running: &mut Running<'_>) -> Result<(), BackendError> {
        // SAFETY: the memory that the nodes name belongs to the loaded
        // program, which is dropped after its graphs.
        unsafe { self.submit(running.stream())? };
        running.launched(1);
        Ok(())
    }

    /// Queues one launch of the graph.
    ///
    /// # Safety
    /// The memory that its nodes name must live until the launch has ended.
    pub(super) unsafe fn submit(&self, stream: &Stream) -> Result<(), BackendError> {
        // SAFETY: graph and stream live; the rest is the caller's promise.
        check("launching a CUDA graph", unsafe {
            sys::cuGraphLaunch(self.raw, stream.raw())
        })
    }
}

impl Drop for Executable {
    fn drop(&mut self) {
        if self.context.is_given_up() {
            return;
        }
        // Errors mean a broken context, which takes the graph with it.
        let _ = self.context.bind();
        // SAFETY: instantiated by `capture`, destroyed once.
        let _ = unsafe { sys::cuGraphExecDestroy(self.raw) };
    }
}

/// A captured graph; null when the capture failed.
struct Captured(CUgraph);

impl Captured {
    fn instantiate(&self, stream: &Stream) -> Result<Executable, BackendError> {
        let mut raw = std::ptr::null_mut();
        // SAFETY: one valid handle to write to; the graph was captured.
        let answer = unsafe { sys::cuGraphInstantiateWithFlags(&raw mut raw, self.0, 0) };
        check("building a CUDA graph", answer)?;
        let executable = Executable {
            context: stream.context().clone(),
            raw,
        };
        // SAFETY: graph and stream live. Uploading now keeps the first launch
        // from doing it.
        check("uploading a CUDA graph", unsafe {
            sys::cuGraphUpload(raw, stream.raw())
        })?;
        Ok(executable)
    }
}

impl Drop for Captured {
    fn drop(&mut self) {
        if !self.0.is_null() {
            // SAFETY: made by the capture, destroyed once; executables do not
            // need it any more. An error would only mean that it is gone.
            let _ = unsafe { sys::cuGraphDestroy(self.0) };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chunks_shrink_when_the_body_is_long_and_never_vanish() {
        assert_eq!(unrolled(64, 2), 64);
        assert_eq!(unrolled(64, 512), 8);
        assert_eq!(unrolled(64, 1_000_000), 1);
        assert_eq!(unrolled(16, 0), 16);
    }
}
