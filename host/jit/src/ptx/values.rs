//! Values of all slots.

use super::writer::Reg;
use super::{Emitter, Held, SLOTS};
use crate::walk::Shape;
use seawall_core::abi::code::{Joined, Kind};

/// A register for each slot.
pub(super) type Four = [Reg; SLOTS];

/// Bits of a value of `kind`.
pub(super) const fn bits(kind: Kind) -> u32 {
    32 * kind.words()
}

impl Held {
    /// The kind of its registers; conditions have none.
    pub(super) fn kind(&self) -> Kind {
        match self.shape {
            Shape::Pair | Shape::Index => Kind::U64,
            Shape::Word | Shape::Float | Shape::Flag => Kind::U32,
        }
    }
}

impl Emitter<'_> {
    /// A register with the neutral value of a join, to which values are joined.
    pub(super) fn neutral(&mut self, joined: Joined) -> Reg {
        self.constant_of(joined.kind, joined.identity())
    }
}
