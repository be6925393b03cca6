//! Queries: questions and orders to the workers.

use seawall_core::abi::ring::{Kind, TASK};
use seawall_core::protocol::Short;

/// The urgency of a query.
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
    /// Claimed once nothing else waits, or after a long wait.
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
    /// A query without effect.
    Nop,
    /// Writes a word.
    Store {
        /// Address of the word.
        address: u32,
        /// Its new value.
        value: u32,
    },
    /// Adds to a word; the answer is its previous value.
    Add {
        /// Address of the word.
        address: u32,
        /// The addend; the sum wraps.
        value: u32,
    },
    /// Reads a word.
    Load {
        /// Address of the word.
        address: u32,
    },
    /// Replaces a word if it is as expected; the answer is its previous value.
    CompareSwap {
        /// Address of the word.
        address: u32,
        /// The expected value.
        expected: u32,
        /// The value that replaces it.
        value: u32,
    },
    /// Copies words; the two pieces may overlap.
    Copy {
        /// The source.
        from: Span,
        /// The destination.
        to: u32,
    },
    /// Runs an automaton from state 0 over words; the answer is its last state.
    Automaton {
        /// The number of states and of symbols, then the next state of each state and symbol.
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
    /// Writes the neighbours of a node into the window; counts those that do not fit.
    Neighbours {
        /// The node.
        node: u32,
        /// Destination of the neighbours.
        to: Span,
    },
    /// Runs one of the service's wave programs; counts words of the result that do not fit.
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
}
