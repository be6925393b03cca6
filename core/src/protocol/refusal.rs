//! Refusals: the reasons why slots are not run.

use crate::abi::ring::FaultCode;
use core::error::Error;
use core::fmt;

/// The reason why a slot is not run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Refusal {
    /// The reason.
    pub code: FaultCode,
    /// The wrong value, as defined by the code.
    pub detail: u32,
}

impl Refusal {
    /// A refusal because of `detail`.
    #[must_use]
    pub const fn new(code: FaultCode, detail: u32) -> Self {
        Self { code, detail }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let detail = self.detail;
        match self.code {
            FaultCode::UnknownOpcode => write!(f, "opcode {detail:#x} is reserved or unknown"),
            FaultCode::BadTenant => write!(f, "there is no tenant {detail}"),
            FaultCode::BadPriority => write!(f, "priority word {detail} names no priority"),
            FaultCode::BadBatch => write!(f, "there is no batch {detail}"),
            FaultCode::NotPermitted => write!(f, "the tenant may not post opcode {detail:#x}"),
            FaultCode::BadAddress => {
                write!(f, "address {detail} or what follows is outside the window")
            }
            FaultCode::BadArgument => write!(f, "argument {detail} has no meaning"),
            FaultCode::TimeBudget => f.write_str("the time of a slot ended"),
            FaultCode::NoSuchNode => write!(f, "the graph has no node {detail}"),
            FaultCode::NoSuchProgram => write!(f, "the service has no program {detail}"),
            FaultCode::ProgramFault => write!(f, "the program stopped with fault {detail}"),
            FaultCode::Machine => f.write_str("the machine had not what the query needs"),
            FaultCode::Handler => write!(f, "the opcode's handler failed with {detail}"),
            FaultCode::BadContinuation => write!(f, "flags {detail:#x} of a task are unknown"),
            FaultCode::Unknown => f.write_str("a fault of a later version"),
        }
    }
}

impl Error for Refusal {}
