//! CUDA graphs: captured or built, then instantiated.

use crate::backend::BackendError;
use crate::backend::cuda::context::Context;
use crate::backend::cuda::error::check;
use crate::backend::cuda::running::Running;
use crate::backend::cuda::stream::Stream;
use cudarc::driver::sys::{self, CUgraph, CUgraphExec};
use std::rc::Rc;

/// An instantiated CUDA graph.
#[derive(Debug)]
pub(in super::super) struct Executable {
    context: Rc<Context>,
    raw: CUgraphExec,
}

impl Executable {
    /// Records the work that `queue` puts into the stream, without running it.
    pub(in super::super) fn capture(
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
        // SAFETY: ends the capture begun above, whatever `queue` returned, so that the stream can
        // be used again; one valid handle to write to.
        let ended = check("ending a CUDA graph", unsafe {
            sys::cuStreamEndCapture(stream.raw(), &raw mut graph)
        });
        let graph = Template(graph);
        queued?;
        ended?;
        graph.instantiate(stream)
    }

    /// Queues one launch of the graph in a run of the program that it was built from.
    pub(super) fn launch(&self, running: &mut Running<'_>) -> Result<(), BackendError> {
        // SAFETY: the memory of the nodes belongs to the loaded program, which is dropped after
        // its graphs.
        unsafe { self.submit(running.stream())? };
        running.launched(1);
        Ok(())
    }

    /// Queues one launch of the graph.
    ///
    /// # Safety
    /// The memory of its nodes must live until the launch has ended.
    pub(in super::super) unsafe fn submit(&self, stream: &Stream) -> Result<(), BackendError> {
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

/// A graph that can be instantiated; null if its capture failed.
pub(super) struct Template(CUgraph);

impl Template {
    /// A graph without nodes.
    pub(super) fn new() -> Result<Self, BackendError> {
        let mut raw = std::ptr::null_mut();
        // SAFETY: one valid handle to write to; flags must be zero, and they are.
        check("making a CUDA graph", unsafe {
            sys::cuGraphCreate(&raw mut raw, 0)
        })?;
        Ok(Self(raw))
    }

    /// The driver's handle.
    pub(super) const fn raw(&self) -> CUgraph {
        self.0
    }

    /// Instantiates the graph, and uploads it.
    pub(super) fn instantiate(&self, stream: &Stream) -> Result<Executable, BackendError> {
        let mut raw = std::ptr::null_mut();
        // SAFETY: one valid handle to write to; the graph is complete.
        let answer = unsafe { sys::cuGraphInstantiateWithFlags(&raw mut raw, self.0, 0) };
        check("building a CUDA graph", answer)?;
        let executable = Executable {
            context: stream.context().clone(),
            raw,
        };
        // SAFETY: graph and stream live. Uploading now saves the first launch from doing it.
        check("uploading a CUDA graph", unsafe {
            sys::cuGraphUpload(raw, stream.raw())
        })?;
        Ok(executable)
    }
}

impl Drop for Template {
    fn drop(&mut self) {
        if !self.0.is_null() {
            // SAFETY: made by `new` or a capture, destroyed once; executables do not
            // need it any more. An error would only mean that it is gone.
            let _ = unsafe { sys::cuGraphDestroy(self.0) };
        }
    }
}
