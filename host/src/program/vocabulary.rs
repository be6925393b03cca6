//! Operands of the waves that a builder adds: operations, marks, steps.

use super::encoded::RegisterId;
use seawall_core::abi::program::Opcode;
use seawall_core::abi::search::Visitor;
use seawall_core::abi::settle::{COUNTER_WORDS, SWEEPS};

/// Operation that joins the words of two registers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BitOp {
    /// Bits that both have.
    And,
    /// Bits that either has.
    Or,
    /// Bits of the first without those of the second.
    AndNot,
    /// Bits of exactly one of them.
    Xor,
}

impl BitOp {
    /// Every operation.
    pub const ALL: [Self; 4] = [Self::And, Self::Or, Self::AndNot, Self::Xor];

    pub(super) const fn opcode(self) -> Opcode {
        match self {
            Self::And => Opcode::And,
            Self::Or => Opcode::Or,
            Self::AndNot => Opcode::AndNot,
            Self::Xor => Opcode::Xor,
        }
    }
}

/// Word that a search stores at discovered nodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mark {
    /// Nothing: the visited bits of the frontier are enough.
    Bits,
    /// Nothing either, for reachability alone: an iteration may continue from nodes that it found
    /// itself. There are fewer iterations, and the iteration that finds a node depends on the
    /// machine.
    BitsAhead,
    /// Number of edges from the nearest source, one word per node.
    Levels(RegisterId),
    /// The node that they were discovered from, one word per node.
    Parents(RegisterId),
}

impl Mark {
    pub(super) const fn visitor(self) -> Visitor {
        match self {
            Self::Bits => Visitor::OrBits,
            Self::BitsAhead => Visitor::OrBitsAhead,
            Self::Levels(_) => Visitor::MarkLevel,
            Self::Parents(_) => Visitor::MarkParent,
        }
    }

    pub(super) const fn register(self) -> Option<RegisterId> {
        match self {
            Self::Bits | Self::BitsAhead => None,
            Self::Levels(register) | Self::Parents(register) => Some(register),
        }
    }
}

/// One step of a components program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ComponentStep {
    /// Link both ends of every edge.
    Link,
    /// Point every node at its root.
    Compress,
    /// Link some edges of every node.
    LinkSample {
        /// Edges at the start of each row that are skipped.
        skip: u32,
        /// Number of edges.
        edges: u32,
    },
    /// Find the most frequent root of a sample.
    Majority {
        /// Scalar that takes it.
        to: RegisterId,
    },
    /// Set the parents of the nodes that a search has visited, which are one component, and of the
    /// other nodes, which are their own parents.
    HookReached {
        /// Frontier of the search.
        frontier: RegisterId,
        /// [`KNOWN_WORDS`](seawall_core::abi::components::KNOWN_WORDS) words that take the
        /// component's label and whether it certainly is the largest.
        known: RegisterId,
    },
    /// Link the edges after the first ones of nodes outside one component.
    LinkRest {
        /// Edges that a sample linked already.
        skip: u32,
        /// Scalar that names the component.
        except: RegisterId,
    },
}

/// Operands of a transfer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Transfer {
    /// The facts that hold before a node.
    pub from: RegisterId,
    /// The facts that a node makes true.
    pub generated: RegisterId,
    /// The facts that a node makes false.
    pub killed: RegisterId,
}

/// Operation of a meet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Meet {
    /// Words of facts per node.
    pub facts: u32,
    /// Intersection instead of union.
    pub intersect: bool,
}

/// Gen/kill problems that are solved at once, each by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Problems {
    /// The facts that each node makes and those that it keeps: two values of 64 facts a node.
    pub transfer: RegisterId,
    /// The problems: first node and the one after the last, two words each. They have no node in
    /// common.
    pub ranges: RegisterId,
    /// The first of them, which are large: a block of a GPU solves each, and a warp each other.
    pub large: u32,
    /// Takes [`Problems::COUNTERS`] words, of which word [`Problems::SWEEPS`] then is the most sweeps
    /// of a problem.
    pub counters: RegisterId,
}

impl Problems {
    /// Words of [`Problems::counters`].
    pub const COUNTERS: u64 = COUNTER_WORDS as u64;
    /// The word that takes the most sweeps of a problem.
    pub const SWEEPS: usize = SWEEPS as usize;
}

/// Items of a wave of code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Over {
    /// Every node of the graph.
    Nodes,
    /// Every value of a register.
    Values(RegisterId),
    /// The numbers below this one. Loading a program refuses more than the largest of its graph's
    /// nodes, its longest register's words, and 65536.
    Count(u32),
    /// The first entries of a list of nodes, each of them once.
    List {
        /// The list, whole numbers.
        list: RegisterId,
        /// Number of its entries: the first value of this register.
        count: RegisterId,
    },
}
