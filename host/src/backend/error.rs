//! What can go wrong on a backend, with the remedy in the message.

use crate::Cause;
use crate::graph::WeightKind;
use crate::program::TableError;
use seawall_core::abi::control::{FaultCode, FaultRecord};

/// A backend could not open, load, run or read.
#[derive(Debug, thiserror::Error)]
pub enum BackendError {
    /// No usable CUDA driver or device.
    #[error(
        "no usable CUDA device: {reason}; use --backend cpu, or install a driver for CUDA 12.0 or later"
    )]
    Unavailable {
        /// What was missing.
        reason: String,
    },
    /// The device lacks something that the executor needs.
    #[error("{device} cannot run this executor: {reason}; use --backend cpu or launches")]
    Unsupported {
        /// Name of the device.
        device: String,
        /// What it lacks.
        reason: String,
    },
    /// A CUDA call failed.
    #[error("{doing}: {name}{}", remedy.map(|text| format!("; {text}")).unwrap_or_default())]
    Cuda {
        /// What was being done.
        doing: &'static str,
        /// Name of the CUDA error.
        name: String,
        /// What helps, where something does.
        remedy: Option<&'static str>,
    },
    /// The device's context is lost, and with it every session of this process on it.
    #[error("{doing}: {name}: the context of the device is lost; {remedy}")]
    ContextLost {
        /// What was being done.
        doing: &'static str,
        /// Name of the CUDA error.
        name: String,
        /// How to get another one.
        remedy: &'static str,
    },
    /// The grid does not fit on the device at once.
    #[error(
        "a cooperative grid of {wanted} blocks of {lanes} lanes does not fit: {fitting} are co-resident on {multiprocessors} multiprocessors; ask for fewer blocks"
    )]
    NotCoResident {
        /// Blocks asked for.
        wanted: u32,
        /// Lanes a block.
        lanes: u32,
        /// Blocks that fit.
        fitting: u32,
        /// Multiprocessors of the device.
        multiprocessors: u32,
    },
    /// The memory of the machine or the budget is too small.
    #[error(
        "{what} needs {needed} bytes and {available} are available; raise --budget or use a smaller graph"
    )]
    OutOfMemory {
        /// What was being allocated.
        what: &'static str,
        /// Bytes needed.
        needed: u64,
        /// Bytes available.
        available: u64,
    },
    /// The kernel stopped itself.
    #[error("{}", fault_text(record, wave_name))]
    Fault {
        /// The record of the first fault.
        record: FaultRecord,
        /// Name of the wave in the program.
        wave_name: String,
    },
    /// A session was used in the wrong order.
    #[error("no program is loaded; call load before run or read")]
    NotLoaded,
    /// The input words do not fit the program.
    #[error("the program takes {expected} input words and was given {given}")]
    InputLength {
        /// Words of the input region.
        expected: u64,
        /// Words given.
        given: u64,
    },
    /// A register that the program does not have.
    #[error("the program has {registers} registers, number {register} is not one of them")]
    NoSuchRegister {
        /// The number asked for.
        register: u32,
        /// Registers of the program.
        registers: u32,
    },
    /// The tables of a program contradict each other.
    #[error("the encoded program is not sound: {problem}")]
    BadProgram {
        /// The first contradiction.
        problem: TableError,
    },
    /// The graph lacks an array that the program reads.
    #[error("the program reads {what}, which the session's graph does not hold")]
    MissingGraphArray {
        /// Which array.
        what: &'static str,
    },
    /// The weights of the graph are of another kind than the program reads.
    #[error("the program reads {needed} weights and the graph has {found} weights")]
    WrongWeights {
        /// What the program reads.
        needed: WeightKind,
        /// What the graph has.
        found: WeightKind,
    },
    /// The kernel module does not hold a kernel.
    #[error("the kernel {name} is not in the module: {reason}; rebuild with cargo xtask build-ptx")]
    MissingKernel {
        /// Name of the kernel.
        name: String,
        /// What the driver said.
        reason: String,
    },
    /// More threads than a run is divided among.
    #[error("{threads} threads are more than a run is divided among; use at most {most}")]
    TooManyThreads {
        /// Threads asked for.
        threads: usize,
        /// Most threads of a run.
        most: usize,
    },
    /// A thread pool could not be set up.
    #[error("{threads} threads could not be started: {reason}; use fewer")]
    Threads {
        /// Threads asked for.
        threads: usize,
        /// What the operating system said.
        reason: String,
    },
}

impl BackendError {
    /// Whether another request would help.
    #[must_use]
    pub fn cause(&self) -> Cause {
        match self {
            Self::NotLoaded
            | Self::InputLength { .. }
            | Self::NoSuchRegister { .. }
            | Self::BadProgram { .. }
            | Self::MissingGraphArray { .. }
            | Self::WrongWeights { .. }
            | Self::TooManyThreads { .. } => Cause::Request,
            Self::Unavailable { .. }
            | Self::Unsupported { .. }
            | Self::Cuda { .. }
            | Self::ContextLost { .. }
            | Self::NotCoResident { .. }
            | Self::OutOfMemory { .. }
            | Self::Fault { .. }
            | Self::MissingKernel { .. }
            | Self::Threads { .. } => Cause::Failure,
        }
    }
}

fn fault_text(record: &FaultRecord, wave_name: &str) -> String {
    let FaultRecord {
        wave,
        opcode,
        block,
        epoch,
        arrived,
        expected,
        iteration,
        ..
    } = *record;
    let at = format!(
        "wave {wave} ({wave_name}), opcode {opcode}, iteration {iteration}, barrier epoch {epoch}"
    );
    match FaultCode::from_word(record.code) {
        FaultCode::None => format!("the kernel ended without a fault at {at}"),
        FaultCode::UnknownOpcode => {
            format!("unknown opcode at {at}; the program was encoded for another kernel")
        }
        FaultCode::BadRegister => format!("register out of range or too short at {at}"),
        FaultCode::Watchdog => format!(
            "the time budget ended at {at}: {arrived} of {expected} blocks had arrived, block {block} waited; raise --time-budget if the work is only long"
        ),
        FaultCode::BadLaunch => format!("launch record of another version at {at}"),
        FaultCode::NestedFixpoint => format!("a fixpoint inside another one's body at {at}"),
        FaultCode::BadIndex => format!(
            "index {arrived} of a register of {expected} words at {at}; correct what the wave takes it from"
        ),
        FaultCode::TimeBudget => {
            format!(
                "the time budget ended inside a loop of block {block} at {at}; raise --time-budget if the work is only long"
            )
        }
    }
}
