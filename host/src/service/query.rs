//! Queries and their answers.

use super::error::SubmitError;
use seawall_core::abi::ring::{
    ARGUMENTS, CompletionRecord, FaultCode, Kind, PRINT_WORDS, Status, TASK,
};
use seawall_core::protocol::{Refusal, Short};

/// How urgent a query is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u32)]
pub enum Priority {
    /// Before all others.
    Critical = 0,
    /// Before most.
    High = 1,
    /// As usual.
    #[default]
    Normal = 2,
    /// After most.
    Low = 3,
    /// When nothing else waits, or after having waited for long.
    Idle = 4,
}

impl Priority {
    /// Every priority, the most urgent first.
    pub const ALL: [Self; 5] = [
        Self::Critical,
        Self::High,
        Self::Normal,
        Self::Low,
        Self::Idle,
    ];

    /// Its name in lower case.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Critical => "critical",
            Self::High => "high",
            Self::Normal => "normal",
            Self::Low => "low",
            Self::Idle => "idle",
        }
    }
}

/// Measure of a path's length.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[repr(u32)]
pub enum Metric {
    /// The number of its edges.
    #[default]
    Hops = 0,
    /// The sum of its whole weights.
    Weights = 1,
}

/// A piece of a tenant's window.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Span {
    /// The first word.
    pub address: u32,
    /// Words.
    pub words: u32,
}

/// One question or order. Addresses are words of the tenant's window.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Query {
    /// Nothing but an answer.
    Nop,
    /// Writes a word.
    Store {
        /// The word.
        address: u32,
        /// Its new value.
        value: u32,
    },
    /// Adds to a word; the answer is its previous value.
    Add {
        /// The word.
        address: u32,
        /// The addend; the sum wraps.
        value: u32,
    },
    /// Reads a word.
    Load {
        /// The word.
        address: u32,
    },
    /// Replaces a word if it is as expected; the answer is its previous value.
    CompareSwap {
        /// The word.
        address: u32,
        /// The expected value.
        expected: u32,
        /// The value that replaces it.
        value: u32,
    },
    /// Copies words; the two pieces may overlap.
    Copy {
        /// From where.
        from: Span,
        /// To where.
        to: u32,
    },
    /// Runs an automaton from state 0 over words; the answer is its last state.
    Automaton {
        /// The number of states, that of symbols, then the next state of each state and
        /// symbol.
        table: u32,
        /// The symbols that it reads.
        input: Span,
        /// Task that this one belongs to, or 0; it comes back in the answer.
        parent: u32,
    },
    /// Whether a node reaches another one.
    Reach {
        /// First node of paths.
        source: u32,
        /// Their last node.
        target: u32,
    },
    /// The length of a shortest path.
    Distance {
        /// First node of paths.
        source: u32,
        /// Their last node.
        target: u32,
        /// Measure of their length.
        metric: Metric,
    },
    /// Writes the neighbours of a node into the window; what does not fit is counted.
    Neighbours {
        /// The node.
        node: u32,
        /// Place for them.
        to: Span,
    },
    /// Runs one of the service's wave programs; what does not fit is counted.
    Run {
        /// Its number.
        program: u32,
        /// The words of its input region.
        inputs: Span,
        /// Place for its result.
        to: Span,
    },
    /// Up to four short operations in one slot.
    Packed(Vec<Short>),
    /// Writes words to the log.
    Print(Vec<u32>),
    /// A user's opcode, with the arguments before the number of the task.
    User {
        /// The opcode.
        opcode: u32,
        /// Its arguments.
        arguments: [u32; TASK],
    },
}

impl Query {
    /// Kind of the query.
    #[must_use]
    pub const fn kind(&self) -> Kind {
        match self {
            Self::Nop => Kind::Nop,
            Self::Store { .. } => Kind::Store,
            Self::Add { .. } => Kind::Add,
            Self::Load { .. } => Kind::Load,
            Self::CompareSwap { .. } => Kind::CompareSwap,
            Self::Copy { .. } => Kind::Copy,
            Self::Automaton { .. } => Kind::DfaStep,
            Self::Reach { .. } => Kind::Reach,
            Self::Distance { .. } => Kind::Distance,
            Self::Neighbours { .. } => Kind::Neighbours,
            Self::Run { .. } => Kind::RunProgram,
            Self::Packed(_) => Kind::Packed,
            Self::Print(_) => Kind::Print,
            Self::User { .. } => Kind::User,
        }
    }

    /// The opcode of its slot.
    pub(super) const fn opcode(&self) -> u32 {
        match self {
            Self::User { opcode, .. } => *opcode,
            other => other.kind().opcode(),
        }
    }

    /// The arguments of its slot, but for the number of the task.
    pub(super) fn arguments(&self) -> Result<[u32; ARGUMENTS], SubmitError> {
        Ok(match self {
            Self::Nop => words(&[]),
            Self::Store { address, value } | Self::Add { address, value } => {
                words(&[*address, *value])
            }
            Self::Load { address } => words(&[*address]),
            Self::CompareSwap {
                address,
                expected,
                value,
            } => words(&[*address, *expected, *value]),
            Self::Copy { from, to } => words(&[from.address, *to, from.words]),
            Self::Automaton {
                table,
                input,
                parent,
            } => words(&[*table, input.address, input.words, 0, 0, 0, *parent]),
            Self::Reach { source, target } => words(&[*source, *target]),
            Self::Distance {
                source,
                target,
                metric,
            } => words(&[*source, *target, *metric as u32]),
            Self::Neighbours { node, to } => words(&[*node, to.address, to.words]),
            Self::Run {
                program,
                inputs,
                to,
            } => words(&[*program, inputs.address, inputs.words, to.address, to.words]),
            Self::Packed(shorts) => packed(shorts)?,
            Self::Print(text) => printed(text)?,
            Self::User { arguments, .. } => words(arguments),
        })
    }
}

/// Arguments that begin with `given`.
fn words(given: &[u32]) -> [u32; ARGUMENTS] {
    let mut arguments = [0; ARGUMENTS];
    arguments[..given.len()].copy_from_slice(given);
    arguments
}

fn packed(shorts: &[Short]) -> Result<[u32; ARGUMENTS], SubmitError> {
    Short::encode(shorts).ok_or(SubmitError::TooManyShorts {
        given: shorts.len(),
        most: 4,
    })
}

fn printed(text: &[u32]) -> Result<[u32; ARGUMENTS], SubmitError> {
    if text.len() > PRINT_WORDS {
        return Err(SubmitError::LongText {
            given: text.len(),
            most: PRINT_WORDS,
        });
    }
    let mut arguments = [0; ARGUMENTS];
    arguments[0] = text.len() as u32;
    arguments[1..=text.len()].copy_from_slice(text);
    Ok(arguments)
}

/// Result of a query.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Reply {
    /// It is done.
    Done,
    /// A word: what was read, the value before, or the last state.
    Word(u32),
    /// Whether there is a path.
    Reached(bool),
    /// The length of a shortest path, if there is one.
    Distance(Option<u64>),
    /// Words in the window.
    Written {
        /// Words that were written.
        words: u32,
        /// Words that had no room.
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
pub struct Answer {
    /// The result.
    pub reply: Reply,
    /// Batches that had ended when the query did.
    pub epoch: u32,
    /// Turns that it took.
    pub turns: u32,
    /// The task that it belongs to, or 0.
    pub parent: u32,
    /// The only kind that the entry which answered knew; nothing if it knew all.
    pub entry: Option<Kind>,
}

/// The answer in a completion of a query of `kind`, or its fault.
pub(super) fn answer_of(kind: Kind, record: &CompletionRecord) -> Result<Answer, Refusal> {
    if record.status != Status::Done as u32 {
        let code = FaultCode::from_word(record.fault);
        return Err(Refusal::new(code, record.results[0]));
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
