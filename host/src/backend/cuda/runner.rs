//! The executors of a GPU behind one interface.

use super::GridShape;
use super::graph::Graphs;
use super::launches::Launches;
use super::loaded::Loaded;
use super::mega::Mega;
use super::module::Module;
use super::running::Running;
use super::shape::RequestedShape;
use super::stream::Stream;
use super::{CudaOptions, Executor};
use crate::backend::{BackendError, CodeReport};
use crate::graph::Graph;
use crate::program::encoded::EncodedProgram;
use std::rc::Rc;

/// The three ways to run a program on a GPU.
#[derive(Debug)]
pub(super) enum Runner {
    Mega(Mega),
    Launches(Launches),
    Graph(Graphs),
}

impl Runner {
    pub(super) fn new(
        executor: Executor,
        module: &Rc<Module>,
        asked: RequestedShape,
        options: &CudaOptions,
    ) -> Result<Self, BackendError> {
        Ok(match executor {
            Executor::Mega => Self::Mega(Mega::new(module, asked, options.jit)?),
            Executor::Launches => Self::Launches(Launches::new(module, asked, options.jit)?),
            Executor::Graph => {
                let launches = Launches::new(module, asked, options.jit)?;
                Self::Graph(Graphs::new(module, launches, options.loops)?)
            }
            Executor::Cpu => return Err(BackendError::NotOnGpu { executor }),
        })
    }

    pub(super) fn clear(&mut self) {
        if let Self::Graph(graphs) = self {
            graphs.clear();
        }
    }

    /// Chooses the kernels that run `program`.
    pub(super) fn choose(
        &mut self,
        program: &EncodedProgram,
        graph: &Graph,
    ) -> Result<(), BackendError> {
        match self {
            Self::Mega(mega) => mega.choose(program, graph),
            Self::Launches(launches) => launches.choose(program, graph),
            Self::Graph(graphs) => graphs.launches().choose(program, graph),
        }
    }

    /// Whether runs take machine code of the loaded program.
    pub(super) const fn is_linked(&self) -> bool {
        match self {
            Self::Mega(mega) => mega.is_linked(),
            Self::Launches(launches) => launches.is_linked(),
            Self::Graph(graphs) => graphs.is_linked(),
        }
    }

    /// Counts a run of `program`, after which other kernels may run it.
    pub(super) fn ran(
        &mut self,
        run_ns: u64,
        stream: &Stream,
        program: &Loaded,
    ) -> Result<(), BackendError> {
        match self {
            Self::Mega(mega) => mega.ran(run_ns),
            Self::Launches(launches) => _ = launches.ran(run_ns),
            Self::Graph(graphs) => {
                if graphs.launches().ran(run_ns) {
                    graphs.prepare(stream, program)?;
                }
            }
        }
        Ok(())
    }

    /// How waves of code run, if the loaded program has some and the kernels can have machine code.
    pub(super) fn code_report(&self) -> Option<CodeReport> {
        match self {
            Self::Mega(mega) => mega.code_report(),
            Self::Launches(launches) => launches.code_report(),
            Self::Graph(graphs) => graphs.code_report(),
        }
    }

    /// Builds the launches of `loaded`.
    pub(super) fn prepare(&mut self, stream: &Stream, loaded: &Loaded) -> Result<(), BackendError> {
        match self {
            Self::Mega(_) | Self::Launches(_) => Ok(()),
            Self::Graph(graphs) => graphs.prepare(stream, loaded),
        }
    }

    /// Returns the words of shared memory, at most `wanted`, that blocks may request.
    pub(super) fn space(&mut self, wanted: u32) -> Result<u32, BackendError> {
        match self {
            Self::Mega(mega) => mega.space(wanted),
            Self::Launches(launches) => launches.space(wanted),
            Self::Graph(graphs) => graphs.launches().space(wanted),
        }
    }

    /// Makes blocks request `words` words of shared memory.
    pub(super) fn ask(&mut self, words: u32) -> Result<(), BackendError> {
        match self {
            Self::Mega(mega) => mega.ask(words),
            Self::Launches(launches) => launches.ask(words),
            Self::Graph(graphs) => graphs.launches().ask(words),
        }
    }

    pub(super) fn queue(&self, running: &mut Running<'_>) -> Result<(), BackendError> {
        match self {
            Self::Mega(mega) => mega.queue(running),
            Self::Launches(launches) => launches.queue(running),
            Self::Graph(graphs) => graphs.queue(running),
        }
    }

    pub(super) fn shape(&self) -> GridShape {
        match self {
            Self::Mega(mega) => mega.shape(),
            Self::Launches(launches) => launches.shape(),
            Self::Graph(graphs) => graphs.shape(),
        }
    }
}
