//! A whole program as one CUDA graph, its loops as conditional `while` nodes.
//!
//! The body of a node is a few iterations and one kernel that sets the condition; iterations after
//! the end of the loop return at once. The host launches once and waits once, so the kernel
//! enforces the time budget of loops.

use super::executable::{Executable, Template};
use crate::backend::BackendError;
use crate::backend::cuda::error::check;
use crate::backend::cuda::launch::Grid;
use crate::backend::cuda::launches::Launches;
use crate::backend::cuda::loaded::Loaded;
use crate::backend::cuda::stream::Stream;
use crate::backend::walk::{Kernel, LoopStage, Stage};
use cudarc::driver::sys::{self, CUgraph, CUgraphConditionalHandle, CUgraphNode};

/// Iterations between two decisions on whether the loop continues.
const ITERATIONS: u32 = 4;

/// Parts that the graph is built from.
#[derive(Clone, Copy)]
pub(super) struct Building<'a> {
    pub(super) stream: &'a Stream,
    pub(super) program: &'a Loaded,
    pub(super) launches: &'a Launches,
    /// The kernel that sets a node's condition.
    pub(super) decide: &'a Grid,
}

/// Place of a loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Level {
    /// In the graph that is launched, once a run.
    Top,
    /// In a body.
    Inner,
}

impl Building<'_> {
    /// Builds the graph of the program.
    pub(super) fn graph(self) -> Result<Executable, BackendError> {
        let graph = Template::new()?;
        self.add(graph.raw(), self.program.stages(), Level::Top)?;
        graph.instantiate(self.stream)
    }

    /// Adds stages to `graph`, which has no nodes yet; returns the last nodes.
    fn add(
        self,
        graph: CUgraph,
        stages: &[Stage],
        level: Level,
    ) -> Result<Vec<CUgraphNode>, BackendError> {
        let mut tail = Vec::new();
        for stage in stages {
            let kernel = match stage {
                Stage::Group(group) => Kernel::Group(*group),
                Stage::Loop(stage) | Stage::While(stage, _) => Kernel::Begin(stage.wave_index),
            };
            let launch = || self.launches.launch(self.stream, self.program, kernel);
            tail = append(self.stream, graph, &tail, launch)?;
            tail = match stage {
                Stage::Group(_) => tail,
                Stage::Loop(stage) => {
                    let body = |handle, body| {
                        append(self.stream, body, &[], || self.body(stage, handle)).map(drop)
                    };
                    vec![self.while_node(graph, tail, stage, level, body)?]
                }
                Stage::While(stage, inner) => {
                    let body = |handle, body| self.body_of(body, stage, inner, handle);
                    vec![self.while_node(graph, tail, stage, Level::Inner, body)?]
                }
            };
        }
        Ok(tail)
    }

    /// Adds a loop after the last nodes of `graph`; `fill` adds its body.
    fn while_node(
        self,
        graph: CUgraph,
        mut after: Vec<CUgraphNode>,
        stage: &LoopStage,
        level: Level,
        fill: impl FnOnce(CUgraphConditionalHandle, CUgraph) -> Result<(), BackendError>,
    ) -> Result<CUgraphNode, BackendError> {
        let context = self.stream.context().raw();
        let mut handle: CUgraphConditionalHandle = 0;
        // SAFETY: one valid handle to write to; graph and context live. The condition
        // is true at each launch until the body's last kernel sets it.
        check("making a loop's condition", unsafe {
            sys::cuGraphConditionalHandleCreate(
                &raw mut handle,
                graph,
                context,
                1,
                sys::CU_GRAPH_COND_ASSIGN_DEFAULT,
            )
        })?;
        if level == Level::Inner {
            // The condition's first value holds for the first time only, and a loop on a
            // register may run no iteration at all.
            after = append(self.stream, graph, &after, || self.decide(stage, handle))?;
        }
        // SAFETY: plain integers and pointers, for which zeros are valid.
        let mut parameters: sys::CUgraphNodeParams = unsafe { std::mem::zeroed() };
        parameters.type_ = sys::CUgraphNodeType::CU_GRAPH_NODE_TYPE_CONDITIONAL;
        parameters.__bindgen_anon_1.conditional = sys::CUDA_CONDITIONAL_NODE_PARAMS {
            handle,
            type_: sys::CUgraphConditionalNodeType::CU_GRAPH_COND_TYPE_WHILE,
            size: 1,
            phGraph_out: std::ptr::null_mut(),
            ctx: context,
        };
        let mut node: CUgraphNode = std::ptr::null_mut();
        // SAFETY: the nodes belong to the graph; parameters of the node's type, and one
        // valid handle to write to.
        check("adding a loop to a CUDA graph", unsafe {
            sys::cuGraphAddNode_v2(
                &raw mut node,
                graph,
                after.as_ptr(),
                std::ptr::null(),
                after.len(),
                &raw mut parameters,
            )
        })?;
        // SAFETY: the field of the node's type. The driver has stored a list there, which belongs
        // to the node; an intercepting tool may have dropped it.
        let bodies = unsafe { parameters.__bindgen_anon_1.conditional.phGraph_out };
        if bodies.is_null() {
            return Err(unsupported(self.stream));
        }
        // SAFETY: the list has one element, as requested.
        let body = unsafe { *bodies };
        fill(handle, body)?;
        Ok(node)
    }

    /// The body of a loop on a register: its stages, then the decision.
    fn body_of(
        self,
        graph: CUgraph,
        stage: &LoopStage,
        inner: &[Stage],
        handle: CUgraphConditionalHandle,
    ) -> Result<(), BackendError> {
        let tail = self.add(graph, inner, Level::Inner)?;
        let end = || {
            let again = Kernel::Again(stage.wave_index);
            self.launches.launch(self.stream, self.program, again)?;
            self.decide(stage, handle)
        };
        append(self.stream, graph, &tail, end).map(drop)
    }

    fn body(self, stage: &LoopStage, handle: CUgraphConditionalHandle) -> Result<(), BackendError> {
        for _ in 0..super::unrolled(ITERATIONS, stage.groups) {
            self.launches.iteration(self.stream, self.program, stage)?;
        }
        self.decide(stage, handle)
    }

    /// Sets the condition of a loop.
    fn decide(
        self,
        stage: &LoopStage,
        handle: CUgraphConditionalHandle,
    ) -> Result<(), BackendError> {
        let words = [stage.wave_index, handle as u32, (handle >> 32) as u32];
        // SAFETY: the loaded program holds the record and everything it refers to; the wave's
        // index was checked at load, and the handle is that of this body's node.
        unsafe {
            self.decide
                .launch(self.stream, self.program.record(), &words)
        }
    }
}

/// Returns the error for a driver, or a tool that intercepts it, that adds a loop without a body.
fn unsupported(stream: &Stream) -> BackendError {
    BackendError::Unsupported {
        device: stream.context().limits().info.name.clone(),
        reason: "its driver returned a conditional node without a body; ask for unrolled loops"
            .to_owned(),
    }
}

/// Appends the work that `queue` puts into the stream to `graph`, after the nodes `after`, without
/// running it; returns the last nodes.
fn append<T>(
    stream: &Stream,
    graph: CUgraph,
    after: &[CUgraphNode],
    queue: impl FnOnce() -> Result<T, BackendError>,
) -> Result<Vec<CUgraphNode>, BackendError> {
    let mode = sys::CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_THREAD_LOCAL;
    // SAFETY: the stream lives and captures nothing yet; the nodes belong to the graph.
    check("starting a CUDA graph", unsafe {
        sys::cuStreamBeginCaptureToGraph(
            stream.raw(),
            graph,
            after.as_ptr(),
            std::ptr::null(),
            after.len(),
            mode,
        )
    })?;
    let queued = queue();
    let tail = tail(stream);
    let mut same = std::ptr::null_mut();
    // SAFETY: ends the capture begun above, whatever `queue` returned, so that the stream can be
    // used again; one valid handle to write to, which becomes `graph`.
    let ended = check("ending a CUDA graph", unsafe {
        sys::cuStreamEndCapture(stream.raw(), &raw mut same)
    });
    queued?;
    ended?;
    tail
}

/// Returns the nodes that the next captured node would depend on.
fn tail(stream: &Stream) -> Result<Vec<CUgraphNode>, BackendError> {
    let mut status = sys::CUstreamCaptureStatus::CU_STREAM_CAPTURE_STATUS_NONE;
    let (mut nodes, mut count) = (std::ptr::null(), 0usize);
    // SAFETY: the stream lives; valid places for status, list and length, and nulls for the rest.
    let answer = unsafe {
        sys::cuStreamGetCaptureInfo_v2(
            stream.raw(),
            &raw mut status,
            std::ptr::null_mut(),
            std::ptr::null_mut(),
            &raw mut nodes,
            &raw mut count,
        )
    };
    check("reading a CUDA graph", answer)?;
    if nodes.is_null() || count == 0 {
        return Ok(Vec::new());
    }
    // SAFETY: the driver's list has that length and is valid until the next call for the stream;
    // it is copied before.
    Ok(unsafe { std::slice::from_raw_parts(nodes, count) }.to_vec())
}
