//! Errors of a backend, with the remedy in the message.

use super::fault::{IndexedRegisters, text as fault_text};
use crate::Cause;
use crate::executor::Executor;
use crate::graph::memory::Shortage;
use crate::graph::{WeightKind, as_text};
use crate::own::FactViolation;
use crate::program::TableError;
use seawall_core::abi::control::{FaultCode, FaultRecord};

/// A backend could not open, load, run or read.
#[derive(Debug, serde::Serialize, thiserror::Error)]
#[serde(tag = "kind", rename_all = "snake_case")]
#[non_exhaustive]
pub enum BackendError {
    /// No usable CUDA driver or device.
    #[error(
        "no usable CUDA device: {reason}; use the CPU, or install a driver for CUDA 12.0 or later"
    )]
    Unavailable {
        /// Missing part.
        reason: String,
    },
    /// An executor that does not run on a GPU.
    #[error("the executor {executor} runs on no GPU; open a session on the CPU for it")]
    NotOnGpu {
        /// The executor asked for.
        executor: Executor,
    },
    /// A wave that only CPU threads run.
    #[error("wave {wave} runs a sequential algorithm, which no GPU does; use the backend cpu")]
    Sequential {
        /// Name of the wave.
        wave: String,
    },
    /// The device lacks something that the executor needs.
    #[error(
        "{device} cannot run this executor: {reason}; use the CPU, or launches of single groups"
    )]
    Unsupported {
        /// Name of the device.
        device: String,
        /// Missing feature.
        reason: String,
    },
    /// There is no machine code to show.
    #[error("no machine code: {reason}; programs run interpreted")]
    NoCode {
        /// The reason.
        reason: String,
    },
    /// A CUDA call failed.
    #[error("{doing}: {name}{}", remedy.map(|text| format!("; {text}")).unwrap_or_default())]
    Cuda {
        /// The step in progress.
        doing: &'static str,
        /// Name of the CUDA error.
        name: String,
        /// The remedy, if there is one.
        remedy: Option<&'static str>,
    },
    /// The device's context is lost, and with it every session of this process on the device.
    #[error("{doing}: {name}: the context of the device is lost; {remedy}")]
    ContextLost {
        /// The step in progress.
        doing: &'static str,
        /// Name of the CUDA error.
        name: String,
        /// The way to get a new context.
        remedy: &'static str,
    },
    /// The grid does not fit on the device at once.
    #[error(
        "a cooperative grid of {wanted} blocks of {lanes} lanes does not fit: {fitting} are co-resident on {multiprocessors} multiprocessors; ask for fewer blocks"
    )]
    NotCoResident {
        /// Blocks requested.
        wanted: u32,
        /// Lanes per block.
        lanes: u32,
        /// Blocks that fit.
        fitting: u32,
        /// Multiprocessors of the device.
        multiprocessors: u32,
    },
    /// The memory of the machine or the budget is too small.
    #[error(
        "{what} needs {needed} bytes and {available} are available; raise the budget or use a smaller graph"
    )]
    OutOfMemory {
        /// Purpose of the allocation.
        what: &'static str,
        /// Bytes needed.
        needed: u64,
        /// Bytes available.
        available: u64,
    },
    /// The kernel stopped itself.
    #[error("{}", fault_text(record, wave_name, missing, registers))]
    Fault {
        /// The record of the first fault.
        #[serde(flatten)]
        record: FaultRecord,
        /// Name of the wave in the program.
        wave_name: String,
        /// Blocks that a watchdog waited for, as far as they can be named.
        missing: Box<[u32]>,
        /// The registers that an index out of range may have been of, as far as they can be named.
        #[serde(skip_serializing_if = "is_empty")]
        registers: Box<IndexedRegisters>,
    },
    /// A wave of another crate violates its declared facts.
    #[error("wave {wave} ({wave_name}) {}", lie.text())]
    FalseFacts {
        /// Number of the wave in the program.
        wave: u32,
        /// Its name there.
        wave_name: String,
        /// The fact that is not true.
        #[serde(skip)]
        lie: FactViolation,
    },
    /// A wave of another crate does not end: threads were still in it a second after the end of the
    /// time budget, or of a cancelled run. They continue, with the memory that they use; the
    /// session takes no further calls.
    #[error(
        "a wave of another crate ({}) does not end: {threads} of the run's threads were still in it after {:.1} s, with a time budget of {:.1} s; they go on and keep their memory, and this session is closed: correct the wave, and open another session",
        waves.join(", "), *after_ns as f64 / 1e9, *time_budget_ns as f64 / 1e9
    )]
    Stuck {
        /// Names of the program's waves of other crates.
        waves: Vec<String>,
        /// Threads that did not end.
        threads: u32,
        /// Time since the run began, nanoseconds.
        after_ns: u64,
        /// Its time budget, nanoseconds.
        time_budget_ns: u64,
    },
    /// A session that a wave without an end has closed.
    #[error(
        "this session is closed, as a wave of another crate ({}) did not end in an earlier run; correct the wave, and open another session",
        waves.join(", ")
    )]
    Closed {
        /// Names of the program's waves of other crates.
        waves: Vec<String>,
    },
    /// A program with waves of another crate for a GPU without their PTX.
    #[error(
        "the waves of the program have no PTX for {device}; build it with cargo xtask build-ptx --crate and add it to their set"
    )]
    NoPtx {
        /// Name of the device.
        device: String,
    },
    /// PTX of waves that was built from other sources than this version's kernels.
    #[error(
        "the PTX of the program's waves is of other sources ({found}) than the kernels of this version ({needed}); build it anew with cargo xtask build-ptx --crate"
    )]
    OtherSources {
        /// Hash that the PTX states.
        found: String,
        /// Hash of this version.
        needed: String,
    },
    /// Programs of a batch or a service whose waves are of different sets.
    #[error(
        "the waves of the program are of another set than those of the first program beside it that has some; run it in a batch or service of its own"
    )]
    OtherWaves,
    /// A program or devices that cannot be together.
    #[error("several devices cannot share the program: {reason}")]
    NotShared {
        /// The reason; of a program with the wave that is in the way.
        reason: String,
    },
    /// Another process of the run is gone, or does not answer.
    #[error("rank {rank} is lost: {problem}")]
    RankLost {
        /// Its number.
        rank: u32,
        /// The known facts.
        problem: String,
    },
    /// Another process of the run could not go on, and says why itself.
    #[error("rank {rank} could not go on; its own message says why")]
    RankEnded {
        /// Its number.
        rank: u32,
    },
    /// The run was cancelled.
    #[error("the run was cancelled before it was done")]
    Cancelled,
    /// The run took longer than its caller waits for this machine.
    #[error(
        "the run was ended after {:.1} ms, as another machine is expected to take less",
        *after_ns as f64 / 1e6
    )]
    Overdue {
        /// Time since the run began, nanoseconds.
        after_ns: u64,
    },
    /// No program is loaded yet.
    #[error("no program is loaded; call load before run or read")]
    NotLoaded,
    /// The input words do not match the program.
    #[error("the program takes {expected} input words and was given {given}")]
    InputLength {
        /// Words of the input region.
        expected: u64,
        /// Words given.
        given: u64,
    },
    /// A register that is no input was to be set.
    #[error("register {name} is no input of the program; set those that it declared as inputs")]
    NotAnInput {
        /// Its name.
        name: String,
        /// Its number.
        register: u32,
    },
    /// An input that was never set.
    #[error("input register {name} was never set; set every input before a run")]
    InputMissing {
        /// Its name.
        name: String,
        /// Its number.
        register: u32,
    },
    /// A register that the program does not have.
    #[error("the program has {registers} registers, number {register} is not one of them")]
    NoSuchRegister {
        /// The number requested.
        register: u32,
        /// Registers of the program.
        registers: u32,
    },
    /// A register of another program than the loaded one.
    #[error(
        "register {register} belongs to another program than the one loaded; use a register of the builder that made it"
    )]
    ForeignRegister {
        /// Its number in its own program.
        register: u32,
    },
    /// The program is for graphs of another size.
    #[error(
        "the program is for graphs of {expected} nodes and this one has {given}; build it again"
    )]
    OtherGraph {
        /// Nodes that it was built for.
        expected: u32,
        /// Nodes of the graph.
        given: u32,
    },
    /// The kernel found the digest of another graph or machine than the one that the program was
    /// planned for.
    #[error(
        "the program was planned for another graph or machine than this session's; plan it again for this one"
    )]
    StalePlan,
    /// The tables of a program contradict each other.
    #[error("the encoded program is inconsistent: {problem}")]
    BadProgram {
        /// The first contradiction.
        #[serde(serialize_with = "as_text")]
        problem: TableError,
    },
    /// The graph lacks an array that the program reads.
    #[error("the program reads {what}, which the session's graph does not hold")]
    MissingGraphArray {
        /// The missing array.
        what: &'static str,
    },
    /// The weights of the graph are of another kind than those that the program reads.
    #[error("the program reads {needed} weights and the graph has {found} weights")]
    WrongWeights {
        /// Kind that the program reads.
        #[serde(serialize_with = "as_text")]
        needed: WeightKind,
        /// Kind that the graph has.
        #[serde(serialize_with = "as_text")]
        found: WeightKind,
    },
    /// A path is longer than the program's 32-bit distances can express.
    #[error(
        "the shortest path to node {to}, over its edge from node {from}, {}",
        too_long(*kind)
    )]
    PathTooLong {
        /// Node that the edge leaves, by its id in the file.
        from: u64,
        /// Node that it enters, by its id in the file.
        to: u64,
        /// Kind of the weights along the path.
        #[serde(skip)]
        kind: WeightKind,
    },
    /// Distances of 32 bits may be too short for this graph, and the session could not detect it.
    #[error(
        "paths of this graph may be longer than distances of 32 bits, and the program overwrites those of register {name} or does not read them, so that this could not be detected; read them, or find distances of 64 bits"
    )]
    PathsUnseen {
        /// Name of the register with the distances.
        name: String,
        /// Its number.
        register: u32,
        /// Kind of the weights along paths.
        #[serde(skip)]
        kind: WeightKind,
    },
    /// The kernel module lacks a kernel.
    #[error("the kernel {name} is not in the module: {reason}; rebuild with cargo xtask build-ptx")]
    MissingKernel {
        /// Name of the kernel.
        name: String,
        /// The driver's answer.
        reason: String,
    },
    /// More threads than a run may have.
    #[error("{threads} threads are more than a run is divided among; use at most {most}")]
    TooManyThreads {
        /// Threads requested.
        threads: usize,
        /// Most threads of a run.
        most: usize,
    },
    /// A thread pool could not be set up.
    #[error("{threads} threads could not be started: {reason}; use fewer")]
    Threads {
        /// Threads requested.
        threads: usize,
        /// The operating system's answer.
        reason: String,
    },
}

const fn too_long(kind: WeightKind) -> &'static str {
    match kind {
        WeightKind::Integer | WeightKind::Signed => {
            "is longer than the largest distance of 32 bits, 4294967294; find distances of 64 bits"
        }
        WeightKind::Float | WeightKind::SignedFloat => {
            "is longer than the largest 32-bit float (3.4028235e38); make the weights smaller"
        }
    }
}

/// Whether an error leaves its registers out.
fn is_empty(registers: &IndexedRegisters) -> bool {
    registers.0.is_empty()
}

impl BackendError {
    /// Builds the error for an allocation of `what` that failed.
    pub(crate) fn short(what: &'static str) -> impl Fn(Shortage) -> Self {
        move |short| Self::OutOfMemory {
            what,
            needed: short.needed,
            available: short.available,
        }
    }

    /// Returns whether another device has ended this one, whose own error says more.
    pub(crate) fn is_echo(&self) -> bool {
        matches!(self, Self::Fault { record, .. } if record.code == FaultCode::DeviceEnded as u32)
    }

    /// Returns the cause: the request or the machine.
    #[must_use]
    pub fn cause(&self) -> Cause {
        match self {
            Self::Unavailable { .. }
            | Self::Unsupported { .. }
            | Self::NoCode { .. }
            | Self::Cuda { .. }
            | Self::ContextLost { .. }
            | Self::NotCoResident { .. }
            | Self::OutOfMemory { .. }
            | Self::Fault { .. }
            | Self::RankLost { .. }
            | Self::RankEnded { .. }
            | Self::Cancelled
            | Self::Overdue { .. }
            | Self::Stuck { .. }
            | Self::Closed { .. }
            | Self::MissingKernel { .. }
            | Self::Threads { .. } => Cause::Failure,
            _ => Cause::Request,
        }
    }
}
