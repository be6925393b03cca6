//! Operands of the waves that a builder adds: operations, marks, steps.

use super::encoded::RegisterId;
use seawall_core::abi::program::Opcode;
use seawall_core::abi::search::Visitor;

/// How words of two registers are joined.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BitOp {
    /// Bits that both have.
    And,
    /// Bits that either has.
    Or,
    /// Bits that the first has and the second has not.
    AndNot,
    /// Bits that one of them has.
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

/// What a search stores at the nodes that it discovers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mark {
    /// Nothing: the visited bits of the frontier are enough.
    Bits,
    /// How many edges they are away from the nearest source, a word a node.
    Levels(RegisterId),
    /// The node that they were discovered from, a word a node.
    Parents(RegisterId),
}

impl Mark {
    pub(super) const fn visitor(self) -> Visitor {
        match self {
            Self::Bits => Visitor::OrBits,
            Self::Levels(_) => Visitor::MarkLevel,
            Self::Parents(_) => Visitor::MarkParent,
        }
    }

    pub(super) const fn register(self) -> Option<RegisterId> {
        match self {
            Self::Bits => None,
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
    /// Link the first edges of every node.
    LinkSample {
        /// How many.
        edges: u32,
    },
    /// Find the most frequent root of a sample.
    Majority {
        /// Scalar that takes it.
        to: RegisterId,
    },
    /// Link the edges behind the first ones of nodes outside one component.
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
    /// Facts before.
    pub from: RegisterId,
    /// Facts made.
    pub generated: RegisterId,
    /// Facts lost.
    pub killed: RegisterId,
}

/// How to meet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Meet {
    /// Words of facts a node.
    pub facts: u32,
    /// Intersection instead of union.
    pub intersect: bool,
}
