//! Executors: the machines that run an encoded program.
//!
//! Every executor walks the same tables with the same kernel functions, so their results are
//! identical where an analysis is exact. A session holds one resident graph. A program is loaded
//! into it once and then runs any number of times, with new inputs each time.

use crate::executor::{Executor, Machine, TIME_BUDGET_NS};
use crate::graph::Graph;
use crate::multi::DevicesReport;
use crate::program::encoded::{EncodedProgram, RegisterId};
use serde::Serialize;
use std::mem::offset_of;
use std::time::Duration;

/// Adds and subtracts counters of work, one by one.
macro_rules! counters {
    ($work:ident { $($counter:ident),* }) => {
        impl $work {
            /// Returns the work beyond `before`.
            #[must_use]
            pub const fn since(self, before: Self) -> Self {
                Self { $($counter: self.$counter.saturating_sub(before.$counter),)* }
            }

            /// Returns the work of both.
            #[must_use]
            pub const fn and(self, other: Self) -> Self {
                Self { $($counter: self.$counter.saturating_add(other.$counter),)* }
            }
        }
    };
}

mod cancel;
mod code;
mod program_session;
pub(crate) mod memory;
mod record;
mod tables;
pub(crate) mod threads;
mod detached;
mod trace;
mod work;
mod walk;

pub mod cpu;
pub mod gpu;
pub mod lanes;
pub(crate) mod pages;
pub(crate) mod serve;
pub(crate) mod served;
pub(crate) mod streaming;
pub(crate) mod multi;
pub(crate) mod processes;
pub(crate) mod exchange;
pub(crate) mod share;
pub(crate) mod stepped;
#[cfg(feature = "cuda")]
pub mod cuda;
#[cfg(not(feature = "cuda"))]
#[path = "cuda_absent.rs"]
pub mod cuda;
pub mod batch;

pub use seawall_core::abi::control::{ControlRecord, FaultCode, FaultRecord, LoopRecord};
pub use seawall_core::abi::program::LaunchRecord;
pub use seawall_core::abi::search::Step;
pub use seawall_core::abi::trace::StepReason;
pub use seawall_core::topology::Topology;

/// Description of the machine that a session runs on.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct DeviceInfo {
    /// Name of the device by its driver or operating system.
    pub name: String,
    /// Compute capability, major and minor; `None` for a CPU.
    pub compute_capability: Option<(u32, u32)>,
    /// Multiprocessors of a GPU or CPU threads backend.
    pub units: u32,
    /// Memory of the device in bytes.
    pub memory_bytes: u64,
}

/// Limits of a session's runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RunLimits {
    /// Run time after which the kernel stops itself, nanoseconds.
    pub time_budget_ns: u64,
}

impl RunLimits {
    pub(crate) const fn of(machine: &Machine) -> Self {
        Self {
            time_budget_ns: machine.time_budget_ns,
        }
    }
}

impl Default for RunLimits {
    fn default() -> Self {
        Self {
            time_budget_ns: TIME_BUDGET_NS,
        }
    }
}

/// Work of the host during one run, from its inputs to the end of its last kernel; all zero on the
/// CPU.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct HostWork {
    /// Times the host waited for the device.
    pub host_synchronisations: u64,
    /// Kernel launches; each launch of a CUDA graph counts as one.
    pub launches: u64,
    /// Copies to the device.
    pub uploads: u64,
}

counters! { HostWork { host_synchronisations, launches, uploads } }

/// How waves of code ran.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct CodeReport {
    /// Waves of code of the program.
    pub waves: u32,
    /// Those that have machine code. The others are interpreted.
    pub compiled: u32,
    /// Time that compiling took, before a run or beside it, nanoseconds.
    pub compile_ns: u64,
    /// Bytes of machine code.
    pub bytes: u64,
    /// Whether compiling went on beside a run that began interpreted.
    pub is_beside: bool,
    /// Why some were interpreted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

impl CodeReport {
    fn interpreted(reason: impl ToString) -> Self {
        Self {
            reason: Some(reason.to_string()),
            ..Self::default()
        }
    }

    /// The report of the waves of both, with the first reason.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self {
            waves: self.waves.saturating_add(other.waves),
            compiled: self.compiled.saturating_add(other.compiled),
            compile_ns: self.compile_ns.saturating_add(other.compile_ns),
            bytes: self.bytes.saturating_add(other.bytes),
            is_beside: self.is_beside || other.is_beside,
            reason: self.reason.or(other.reason),
        }
    }
}

/// Cost of one run, and its final state.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct RunStats {
    /// Time of the run: device time between two events for a GPU, wall time
    /// for the CPU backend, nanoseconds.
    pub run_ns: u64,
    /// Work of the host for the run.
    pub host: HostWork,
    /// The part of it after the first launch and before the event that ends the run.
    pub region: HostWork,
    /// The control block after the run.
    pub control: ControlRecord,
    /// How waves of code ran; `None` without any.
    pub code: Option<CodeReport>,
    /// Times and steps, if the session traces runs and its machine supports it.
    pub trace: Option<Trace>,
}

/// Settings of a GPU's session that a choice of machine makes, as of [`cuda::CudaOptions`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Settings {
    /// Whether ranks are gathered by tiles; `None` decides by the graph.
    pub tiles: Option<bool>,
    /// Lanes of a block by graph and work.
    pub lane_table: lanes::LaneTable,
}

/// Opens a session on `machine` with `graph` resident.
///
/// # Errors
/// As for [`cpu::CpuSession::open`] and [`cuda::open`].
pub fn open<'g>(
    graph: &'g Graph,
    executor: Executor,
    (machine, settings): (&Machine, Settings),
) -> Result<Box<dyn Session + 'g>, BackendError> {
    if executor == Executor::Cpu {
        let limits = RunLimits::of(machine);
        let session = cpu::CpuSession::open(graph, machine.threads, limits)?;
        let session = session.with_jit(machine.jit);
        return Ok(Box::new(session));
    }
    let options = cuda::CudaOptions {
        tiles: settings.tiles,
        lane_table: settings.lane_table,
        ..cuda::CudaOptions::of(machine)
    };
    cuda::open(executor, graph, options)
}

/// The text of PTX that a GPU's kernel gets for the waves of code of a program.
///
/// # Errors
/// [`BackendError::NoCode`] with the reason for which there is none.
pub fn ptx(program: &EncodedProgram) -> Result<String, BackendError> {
    let tables = code::CodeTables::of(program, false);
    code::ptx([(tables, 0)]).map_err(|reason| BackendError::NoCode { reason })
}

/// Bytes that the host reads back after each iteration of a loop whose body it launches: the words
/// of the control block from the fault record to the loop's state.
pub(crate) const STATE_BYTES: u32 =
    (offset_of!(ControlRecord, loop_state) + 4 - offset_of!(ControlRecord, fault)) as u32;
/// Opens a session whose host uploads the graph before every wave and reads all memory of the
/// program back after it, as programs without a resident graph do: the baseline of evidence.
/// `machine` names the CPU, or any executor of a GPU.
///
/// # Errors
/// As for [`open()`].
pub fn open_baseline<'g>(
    graph: &'g Graph,
    machine: &Machine,
) -> Result<Box<dyn Session + 'g>, BackendError> {
    if machine
        .executor
        .is_none_or(|executor| executor == Executor::Cpu)
    {
        let limits = RunLimits::of(machine);
        let session = cpu::BaselineSession::open(graph, machine.threads, limits)?;
        return Ok(Box::new(session));
    }
    let options = cuda::CudaOptions {
        tiles: Some(false),
        baseline: true,
        ..cuda::CudaOptions::of(machine)
    };
    cuda::open(Executor::Launches, graph, options)
}

/// A resident graph on one machine. It may move to another thread between calls.
pub trait Session: Send {
    /// The machine.
    fn device(&self) -> &DeviceInfo;

    /// Time of the graph's upload, nanoseconds.
    fn upload_ns(&self) -> u64;

    /// Lets `canceller` end the runs of this session.
    fn cancel_by(&mut self, canceller: Canceller);

    /// Sets the time after which a persistent kernel's later runs end with
    /// [`BackendError::Overdue`], for a caller with another machine. Other sessions ignore it.
    fn end_after(&mut self, _limit: Option<Duration>) {}

    /// Sets whether later runs have a [`Trace`]. Programs are then loaded with space for one, whose
    /// memory counts to no budget. Without a persistent kernel, it has only the times of top-level
    /// groups if the host launches each, and none for a CUDA graph.
    fn trace_runs(&mut self, trace: bool);

    /// The devices that share the program, and what they told each other in the last run; `None`
    /// for one device.
    fn devices(&self) -> Option<DevicesReport> {
        None
    }

    /// Loads `program`, the one that [`Session::run`] runs: allocates its arena and uploads its
    /// tables.
    ///
    /// # Errors
    /// If memory is short or the program does not fit the session's graph;
    /// [`BackendError::PathsUnseen`] if shortest paths may exceed 32-bit distances that the
    /// program overwrites.
    fn load(&mut self, program: &EncodedProgram) -> Result<(), BackendError>;

    /// Runs the loaded program once with `inputs` as the words of the input
    /// region.
    ///
    /// # Errors
    /// If nothing is loaded, the inputs differ in length from the input region, or the kernel
    /// reports a fault.
    fn run(&mut self, inputs: &[u32]) -> Result<RunStats, BackendError>;

    /// Returns what the session moved, allocated and waited for since it was opened.
    fn work(&self) -> SessionWork;

    /// Returns the memory that the session holds.
    fn memory(&self) -> SessionMemory;

    /// Copies a register into `words`, replacing its content.
    ///
    /// # Errors
    /// If nothing is loaded or the register does not exist; [`BackendError::PathTooLong`], for any
    /// register, after a run whose shortest paths exceeded 32-bit distances. This check costs the
    /// first read after a run a pass over the distances, and one over the edges if some node has
    /// no distance.
    fn read(&mut self, register: RegisterId, words: &mut Vec<u32>) -> Result<(), BackendError>;
}

mod footprint;
mod identity;
mod error;
mod fault;
mod fit;
mod overflow;
pub use cancel::Canceller;
pub use error::BackendError;
pub use fault::{IndexedRegister, IndexedRegisters};
pub(crate) use fault::{NamedWaves, fault, host_fault, text as fault_text};
pub(crate) use fit::check_answer;
pub use footprint::plan_request;
pub use footprint::{SessionMemory, session_bytes};
pub(crate) use footprint::{TableLengths, graph_bytes};
pub use identity::resident_digest;
pub use program_session::ProgramSession;
pub use trace::{BarrierCrossed, GroupTime, STEPS_KEPT, StepTaken, Trace};
pub use work::SessionWork;
pub(crate) use work::{BATCH_ALLOCATIONS, PROGRAM_ALLOCATIONS};
