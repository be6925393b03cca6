//! Opcodes of waves that other crates define.
//!
//! Built-in opcodes are few and numbered from 0. The upper half of the numbers belongs to waves of
//! other crates: wave `k` of a crate's set has the opcode [`OWN_FIRST`] + `k`. Their reads and
//! writes are declared in the form of the table of built-in opcodes, so a planner or checker treats
//! both alike.

use super::facts::Facts;

/// First opcode of waves that other crates define.
pub const OWN_FIRST: u32 = 1 << 31;

/// Number in its set of the wave with this opcode; `None` for a built-in one.
///
/// ```
/// use seawall_core::abi::own::{OWN_FIRST, own_number};
/// assert_eq!(own_number(OWN_FIRST + 3), Some(3));
/// assert_eq!(own_number(41), None);
/// ```
#[must_use]
pub const fn own_number(opcode: u32) -> Option<u32> {
    opcode.checked_sub(OWN_FIRST)
}

/// A wave that another crate defines: its name and the facts about it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Declaration {
    name: &'static str,
    facts: Facts,
}

impl Declaration {
    /// Declares a wave. It claims nothing beyond what it reads and writes: built-in waves follow
    /// indices that hold by the claims of other built-in waves, and another crate cannot guarantee
    /// those.
    ///
    /// ```
    /// use seawall_core::abi::facts::{Facts, Operand};
    /// use seawall_core::abi::own::Declaration;
    /// let facts = Facts::of(&[Operand::First], &[Operand::To]);
    /// assert_eq!(Declaration::new("Halve", facts).facts(), facts);
    /// ```
    #[must_use]
    pub const fn new(name: &'static str, facts: Facts) -> Self {
        Self {
            name,
            facts: facts.without_claims(),
        }
    }

    /// Its name, for traces and faults.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        self.name
    }

    /// The facts about it.
    #[must_use]
    pub const fn facts(&self) -> Facts {
        self.facts
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::abi::facts::{Invariant, Operand, Stage};
    use crate::abi::program::Opcode;

    #[test]
    fn no_built_in_opcode_is_in_the_range_of_others() {
        for opcode in Opcode::ALL {
            assert_eq!(own_number(opcode as u32), None);
        }
        assert_eq!(Opcode::from_word(OWN_FIRST), None);
    }

    #[test]
    fn a_declaration_vouches_for_nothing() {
        let facts = Facts {
            makes: &[(Operand::To, Invariant::Forest)],
            needs: &[(Operand::To, Invariant::Forest)],
            stage: Stage::Search,
            ..Facts::of(&[Operand::To], &[Operand::To])
        };
        let declared = Declaration::new("Liar", facts).facts();
        assert_eq!((declared.makes, declared.needs), (&[][..], &[][..]));
        assert_eq!(declared.stage, Stage::Any);
        assert_eq!(declared.writes, [Operand::To]);
    }
}
