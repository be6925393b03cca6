//! Executors: the machines that run an encoded program.
//!
//! Every executor walks the same tables with the same kernel functions, so
//! their results are identical where an analysis is exact. A session holds
//! one resident graph; a program is loaded into it once and then run as often
//! as wanted, with new inputs each time.

use crate::program::encoded::{EncodedProgram, RegisterId};
use seawall_core::abi::control::ControlRecord;
use serde::Serialize;

mod memory;
mod threads;

pub mod cpu;
pub mod gpu;
#[cfg(feature = "cuda")]
pub mod cuda;
#[cfg(not(feature = "cuda"))]
#[path = "cuda_absent.rs"]
pub mod cuda;
pub mod batch;

/// What a session reports about the machine that it runs on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeviceInfo {
    /// Name of the device as its driver or operating system gives it.
    pub name: String,
    /// Compute capability, major and minor; nothing for a CPU.
    pub compute_capability: Option<(u32, u32)>,
    /// Multiprocessors of a GPU or threads of the CPU backend.
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

impl Default for RunLimits {
    fn default() -> Self {
        Self {
            time_budget_ns: 60_000_000_000,
        }
    }
}

/// Work of the host during one run, from its inputs to the end of its last
/// kernel; nothing of it on the CPU.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct HostWork {
    /// Times the host waited for the device.
    pub host_synchronisations: u64,
    /// Kernel launches; a CUDA graph counts once a launch.
    pub launches: u64,
    /// Copies to the device.
    pub uploads: u64,
}

/// What one run cost and how it ended.
#[derive(Clone, Debug)]
pub struct RunStats {
    /// Time of the run: device time between two events for a GPU, wall time
    /// for the CPU backend, nanoseconds.
    pub run_ns: u64,
    /// Work of the host for the run.
    pub host: HostWork,
    /// The control block after the run.
    pub control: ControlRecord,
}

/// A resident graph on one machine.
pub trait Session {
    /// The machine.
    fn device(&self) -> &DeviceInfo;

    /// Nanoseconds that the upload of the graph took.
    fn upload_ns(&self) -> u64;

    /// Makes `program` the one that [`Session::run`] runs: allocates its
    /// arena and uploads its tables.
    ///
    /// # Errors
    /// When memory is short or the program does not fit the session's graph.
    fn load(&mut self, program: &EncodedProgram) -> Result<(), BackendError>;

    /// Runs the loaded program once with `inputs` as the words of the input
    /// region.
    ///
    /// # Errors
    /// When nothing is loaded, the inputs have another length than the input
    /// region, or the kernel reports a fault.
    fn run(&mut self, inputs: &[u32]) -> Result<RunStats, BackendError>;

    /// Copies a register into `words`, replacing its content.
    ///
    /// # Errors
    /// When nothing is loaded or the register does not exist.
    fn read(&mut self, register: RegisterId, words: &mut Vec<u32>) -> Result<(), BackendError>;
}

mod error;
mod fault;
mod fit;
pub use error::BackendError;
pub(crate) use fault::fault;
pub(crate) use fit::check_answer;
