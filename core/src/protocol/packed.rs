//! Several short operations in one slot: the one decoder of hosts and workers.
//!
//! Argument 0 counts them, argument 1 has a byte for the opcode of each, and each has two words:
//! address and value. All are checked before the first runs.

use super::refusal::Refusal;
use super::window::Window;
use crate::abi::ring::{ARGUMENTS, FaultCode};

/// Most operations of a slot.
pub(super) const SHORTS: usize = 4;

/// Kind of a short operation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum ShortOp {
    /// Nothing.
    #[default]
    Nop,
    /// Writes a word.
    Store,
    /// Adds to a word; its result is the previous value.
    Add,
    /// Reads a word.
    Load,
}

/// An operation of a packed slot.
///
/// ```
/// use seawall_core::protocol::{Short, ShortOp};
/// let shorts = [
///     Short { op: ShortOp::Store, address: 1, value: 7 },
///     Short { op: ShortOp::Load, address: 1, value: 0 },
/// ];
/// let arguments = Short::encode(&shorts).unwrap_or_default();
/// assert_eq!(arguments[..4], [2, 0x0301, 1, 7]);
/// assert_eq!(Short::encode(&[Short::default(); 5]), None);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Short {
    /// Its kind.
    pub op: ShortOp,
    /// The word of the tenant's window.
    pub address: u32,
    /// The value that it writes or adds.
    pub value: u32,
}

impl Short {
    /// The arguments of a packed slot, or nothing for more than four operations.
    #[must_use]
    pub fn encode(shorts: &[Self]) -> Option<[u32; ARGUMENTS]> {
        if shorts.len() > SHORTS {
            return None;
        }
        let mut arguments = [0; ARGUMENTS];
        let (head, rest) = arguments.split_at_mut(2);
        let mut opcodes = 0_u32;
        for (short, words) in shorts.iter().zip(rest.chunks_exact_mut(2)).rev() {
            opcodes = opcodes.wrapping_shl(8) | short.op.byte();
            words.copy_from_slice(&[short.address, short.value]);
        }
        head.copy_from_slice(&[shorts.len() as u32, opcodes]);
        Some(arguments)
    }

    /// Refuses an address outside the window.
    pub(super) fn check(self, window: Window) -> Result<(), Refusal> {
        match self.op {
            ShortOp::Nop => Ok(()),
            _ => window.at(self.address).map(drop),
        }
    }
}

impl ShortOp {
    const fn byte(self) -> u32 {
        match self {
            Self::Nop => 0,
            Self::Store => 1,
            Self::Add => 2,
            Self::Load => 3,
        }
    }

    fn of(byte: u32) -> Result<Self, Refusal> {
        Ok(match byte {
            0 => Self::Nop,
            1 => Self::Store,
            2 => Self::Add,
            3 => Self::Load,
            _ => return Err(Refusal::new(FaultCode::BadArgument, byte)),
        })
    }
}

/// The operations of a packed slot; those beyond its count do nothing.
pub(super) fn decode(arguments: &[u32; ARGUMENTS]) -> Result<[Short; SHORTS], Refusal> {
    let [count, opcodes, rest @ ..] = arguments;
    if *count > SHORTS as u32 {
        return Err(Refusal::new(FaultCode::BadArgument, *count));
    }
    let mut shorts = [Short::default(); SHORTS];
    let mut opcodes = *opcodes;
    for (short, words) in shorts
        .iter_mut()
        .zip(rest.chunks_exact(2))
        .take(*count as usize)
    {
        short.op = ShortOp::of(opcodes & 0xFF)?;
        opcodes >>= 8;
        if let [address, value] = *words {
            (short.address, short.value) = (address, value);
        }
    }
    // Bytes beyond the count would be operations that never run.
    if opcodes != 0 {
        return Err(Refusal::new(FaultCode::BadArgument, opcodes));
    }
    Ok(shorts)
}
