//! Answers to queries, as completions hold them.

use super::error::TicketError;
use crate::backend::{BackendError, IndexedRegisters, NamedWaves, fault_text, host_fault};
use seawall_core::abi::control::FaultRecord;
use seawall_core::abi::ring::{CompletionRecord, FaultCode, Kind, RESULTS, Status};
use seawall_core::protocol::Refusal;
use std::fmt;

/// Result of a query.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Reply {
    /// It is done.
    Done,
    /// A word: the value read, the previous value, or the last state.
    Word(u32),
    /// Whether there is a path.
    Reached(bool),
    /// The length of a shortest path, if there is one.
    Distance(Option<u64>),
    /// Words in the window.
    Written {
        /// Words that were written.
        words: u32,
        /// Words that had no space.
        overflow: u32,
    },
    /// A result of each packed operation; 0 for those that have none.
    Packed([u32; 4]),
    /// The epoch that a fence began.
    Epoch(u32),
    /// Results of a user's handler.
    User([u32; 9]),
}

/// The answer to a query.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Answer {
    /// The result.
    pub reply: Reply,
    /// Batches that had ended when the query did.
    pub epoch: u32,
    /// Turns that it took.
    pub turns: u32,
    /// The task that it belongs to, or 0.
    pub parent: u32,
    /// The only kind of the entry that answered; `None` if it handles all.
    pub entry: Option<Kind>,
}

/// The end of a program that stopped itself.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ProgramFault {
    /// Number of the program.
    pub program: u32,
    /// The fault and its place: the wave's number, and for an index out of range the index
    /// (`arrived`) and the register's length in words (`expected`).
    pub record: FaultRecord,
    /// Name of the wave in the program.
    pub wave_name: String,
    /// The registers that an index out of range may have been of.
    pub registers: Box<IndexedRegisters>,
}

impl ProgramFault {
    /// The results of the completion of a query whose program stopped itself.
    pub(super) fn words(program: u32, record: FaultRecord) -> [u32; RESULTS] {
        let [
            code,
            wave,
            opcode,
            block,
            epoch,
            arrived,
            expected,
            iteration,
        ]: [u32; 8] = bytemuck::cast(record);
        [
            code, wave, opcode, block, epoch, arrived, expected, iteration, program,
        ]
    }

    /// The fault of a completion, in one of these programs.
    fn of(words: [u32; RESULTS], programs: &[NamedWaves]) -> Self {
        let [record @ .., program] = words;
        let record = bytemuck::cast(record);
        let waves = programs.get(program as usize);
        let named = waves.map(|waves| host_fault(waves, record));
        let (wave_name, registers) = match named {
            Some(BackendError::Fault {
                wave_name,
                registers,
                ..
            }) => (wave_name, registers),
            _ => ("unnamed".to_owned(), Box::default()),
        };
        Self {
            program,
            record,
            wave_name,
            registers,
        }
    }
}

impl fmt::Display for ProgramFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = fault_text(&self.record, &self.wave_name, &[], &self.registers);
        write!(f, "the program stopped: {text}")
    }
}

/// The answer in a completion of a query of `kind`, or its fault, by the names of `programs`.
pub(super) fn answer_of(
    kind: Kind,
    record: &CompletionRecord,
    programs: &[NamedWaves],
) -> Result<Answer, TicketError> {
    if record.status != Status::Done as u32 {
        return Err(match FaultCode::from_word(record.fault) {
            FaultCode::ProgramFault => {
                TicketError::Program(ProgramFault::of(record.results, programs))
            }
            code => TicketError::Fault(Refusal::new(code, record.results[0])),
        });
    }
    let entry = record.entry.checked_sub(1);
    Ok(Answer {
        reply: reply_of(kind, &record.results),
        epoch: record.epoch,
        turns: record.turns,
        parent: record.parent,
        entry: entry.and_then(|index| Kind::ALL.get(index as usize).copied()),
    })
}

fn reply_of(kind: Kind, results: &[u32; 9]) -> Reply {
    let [first, second, third, fourth, ..] = *results;
    match kind {
        Kind::Nop | Kind::Store | Kind::Copy | Kind::Print | Kind::Shutdown => Reply::Done,
        Kind::Add | Kind::Load | Kind::CompareSwap | Kind::DfaStep => Reply::Word(first),
        Kind::BatchFence => Reply::Epoch(first),
        Kind::Reach => Reply::Reached(first != 0),
        Kind::Distance => {
            let length = u64::from(second) | u64::from(third) << 32;
            Reply::Distance((first != 0).then_some(length))
        }
        Kind::Neighbours | Kind::RunProgram => Reply::Written {
            words: first,
            overflow: second,
        },
        Kind::Packed => Reply::Packed([first, second, third, fourth]),
        Kind::User => Reply::User(*results),
    }
}
