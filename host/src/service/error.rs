//! Errors of a service, a post and a ticket.

use super::query::Query;
use super::reply::ProgramFault;
use crate::Cause;
use crate::backend::BackendError;
use seawall_core::protocol::{LayoutError, Refusal};
use std::time::Duration;

/// A service could not start.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StartError {
    /// The ring cannot be laid out.
    #[error(transparent)]
    Layout(#[from] LayoutError),
    /// More tenants than the table holds, or none.
    #[error("{tenants} tenants; a service has 1 to {most}")]
    Tenants {
        /// Requested tenants.
        tenants: usize,
        /// Most tenants.
        most: usize,
    },
    /// A tenant whose work could never start.
    #[error("tenant {tenant} has a quota of 0 slots; give it 1 at least")]
    NoQuota {
        /// Its number.
        tenant: u32,
    },
    /// An opcode that a handler cannot have.
    #[error("opcode {opcode:#x} is not a user's; those are 8 to 0xFFEF and 0x10000 to 0x7FFFFFFF")]
    NotAUsersOpcode {
        /// The opcode.
        opcode: u32,
    },
    /// An opcode of two handlers or programs.
    #[error("opcode {opcode:#x} is given to two; give each its own")]
    OpcodeTwice {
        /// The opcode.
        opcode: u32,
    },
    /// A program of an opcode whose inputs or result do not fit a slot.
    #[error(
        "program {program} of an opcode has {inputs} words of inputs and {results} of its result; a slot has 11 for one register and 9"
    )]
    WideProgram {
        /// Its number.
        program: usize,
        /// Words of its inputs.
        inputs: u64,
        /// Words of its result.
        results: u32,
    },
    /// A program does not fit the graph.
    #[error("program {program}: {source}")]
    Program {
        /// Its number.
        program: usize,
        /// The problem.
        source: BackendError,
    },
    /// A service with a feature that only worker threads have.
    #[error("{what} need workers on threads; serve without them, or on the CPU")]
    NeedsThreads {
        /// The feature.
        what: &'static str,
    },
    /// The machine cannot serve.
    #[error("{0}")]
    Machine(#[source] BackendError),
    /// Memory is short.
    #[error(
        "the ring needs {bytes} bytes, more than are available; use smaller windows or fewer slots"
    )]
    OutOfMemory {
        /// Bytes of the ring.
        bytes: u64,
    },
    /// Too many workers.
    #[error("{workers} workers are more than {most}; use fewer")]
    TooManyWorkers {
        /// Requested workers.
        workers: usize,
        /// Most workers.
        most: usize,
    },
    /// The system starts no more threads.
    #[error("worker {worker} of {workers} could not be started: {reason}; use fewer")]
    Threads {
        /// The worker.
        worker: usize,
        /// Requested workers.
        workers: usize,
        /// The error of the system.
        reason: String,
    },
}

impl StartError {
    /// Whether the request is the cause.
    #[must_use]
    pub fn cause(&self) -> Cause {
        match self {
            Self::OutOfMemory { .. } | Self::Threads { .. } => Cause::Failure,
            Self::Program { source, .. } | Self::Machine(source) => source.cause(),
            _ => Cause::Request,
        }
    }
}

/// A query was not posted.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SubmitError {
    /// No slot of its priority is free; the query comes back.
    #[error("no slot of this priority is free; wait for an answer, or submit with waiting")]
    Full(Query),
    /// The service takes no more queries; the query comes back.
    #[error("the service is shutting down and takes no more queries")]
    Closed(Query),
    /// The workers would not run it.
    #[error("{0}")]
    Refused(#[from] Refusal),
    /// More operations than a slot packs.
    #[error("{given} operations in one slot; it packs {most}")]
    TooManyShorts {
        /// Operations given.
        given: usize,
        /// Most operations.
        most: usize,
    },
    /// A text that does not fit a record of the log.
    #[error("{given} words of text; a record holds {most}")]
    LongText {
        /// Words given.
        given: usize,
        /// Most words.
        most: usize,
    },
    /// Every batch is open.
    #[error("{open} batches are open, which is as many as there may be; wait for a fence")]
    Batches {
        /// Batches that are open.
        open: u32,
    },
}

/// A ticket has no answer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TicketError {
    /// It has not arrived yet.
    #[error("no answer within {0:?}; the query goes on, wait again")]
    TimedOut(Duration),
    /// The query ended in a fault.
    #[error("{0}")]
    Fault(Refusal),
    /// The query's program stopped itself.
    #[error("{0}")]
    Program(ProgramFault),
    /// The service ended first.
    #[error("the service ended before this query did")]
    Ended,
}
