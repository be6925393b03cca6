//! Values of all slots, and the temporaries.

use super::writer::{Reg, put};
use super::{Emitter, SLOTS};
use seawall_core::abi::code::{Joined, Kind, NUMBERED, OF_EDGE, PAIR, TEMPS};

/// A register for each slot.
pub(super) type Four = [Reg; SLOTS];

/// Bits of a value of `kind`.
pub(super) const fn bits(kind: Kind) -> u32 {
    32 * kind.words()
}

/// No known bound: every word is below it.
const UNBOUNDED: u64 = 1 << 32;

/// A value of all slots.
#[derive(Clone, Copy, Debug)]
pub(super) struct Held {
    pub(super) regs: Four,
    pub(super) is_wide: bool,
    /// A number that the word of a slot that is in is known to be below.
    pub(super) bound: u64,
}

impl Held {
    pub(super) const fn word(regs: Four) -> Self {
        Self {
            regs,
            is_wide: false,
            bound: UNBOUNDED,
        }
    }

    pub(super) const fn pair(regs: Four) -> Self {
        Self {
            is_wide: true,
            ..Self::word(regs)
        }
    }

    /// A value of a kind.
    pub(super) const fn of_kind(kind: Kind, regs: Four) -> Self {
        match kind {
            Kind::U64 => Self::pair(regs),
            _ => Self::word(regs),
        }
    }

    /// The same value, below `bound`.
    pub(super) fn below(self, bound: u64) -> Self {
        Self {
            bound: self.bound.min(bound),
            ..self
        }
    }
}

/// Temporaries: each has registers of its own for words and for pairs, and which of them has the
/// value is known where code is written, since no code is left out for one slot alone.
#[derive(Clone, Debug, Default)]
pub(super) struct Temps {
    now: [Option<(bool, u64)>; TEMPS as usize],
    words: [Option<Four>; TEMPS as usize],
    pairs: [Option<Four>; TEMPS as usize],
}

impl Temps {
    /// The value of a temporary, if it has one.
    pub(super) fn get(&self, byte: u8) -> Option<Held> {
        let number = usize::from(byte & NUMBERED);
        let (is_wide, bound) = (*self.now.get(number)?)?;
        let regs = if is_wide { &self.pairs } else { &self.words };
        Some(Held {
            regs: regs[number]?,
            is_wide,
            bound,
        })
    }

    /// Names registers that have the value of a temporary.
    pub(super) fn name(&mut self, byte: u8, held: Held) {
        let number = usize::from(byte & NUMBERED);
        if let Some(now) = self.now.get_mut(number) {
            *now = Some((held.is_wide, held.bound));
            let regs = if held.is_wide {
                &mut self.pairs
            } else {
                &mut self.words
            };
            regs[number] = Some(held.regs);
        }
    }
}

impl Emitter<'_> {
    /// A new register for values of `kind`.
    pub(super) fn fresh(&mut self, kind: Kind) -> Reg {
        match kind {
            Kind::U64 => self.w.pair(),
            _ => self.w.word(),
        }
    }

    /// A constant value of `kind` with these low bits.
    pub(super) fn constant(&mut self, kind: Kind, bits: u64) -> Reg {
        let to = self.fresh(kind);
        match kind {
            Kind::U64 => put!(self.w, "mov.b64 {to}, 0x{bits:x}"),
            _ => put!(self.w, "mov.b32 {to}, 0x{:x}", bits as u32),
        }
        to
    }

    /// A register with the neutral value of a join, to which values are joined.
    pub(super) fn neutral(&mut self, joined: Joined) -> Reg {
        self.constant(joined.kind, joined.identity())
    }

    pub(super) fn zero(&mut self) -> Held {
        Held::word([self.constant(Kind::U32, 0); SLOTS]).below(1)
    }

    /// The words of a value; the low ones of a pair.
    pub(super) fn words_of(&mut self, held: Held) -> Four {
        if !held.is_wide {
            return held.regs;
        }
        held.regs.map(|from| {
            let to = self.w.word();
            put!(self.w, "cvt.u32.u64 {to}, {from}");
            to
        })
    }

    /// A value as pairs; the high word of a word is 0.
    pub(super) fn pairs_of(&mut self, held: Held) -> Four {
        if held.is_wide {
            return held.regs;
        }
        held.regs.map(|from| {
            let to = self.w.pair();
            put!(self.w, "cvt.u64.u32 {to}, {from}");
            to
        })
    }

    /// A value in the registers of `kind`.
    pub(super) fn in_kind(&mut self, kind: Kind, held: Held) -> Four {
        match kind {
            Kind::U64 => self.pairs_of(held),
            _ => self.words_of(held),
        }
    }

    /// The temporary that a byte names: in a part for edges, of the edge or of its item.
    pub(super) fn temp(&mut self, byte: u8) -> Held {
        let found = match &self.edge {
            Some(edge) if byte & OF_EDGE != 0 => edge.temps.get(byte),
            Some(edge) => edge.of_item.get(byte),
            None => self.temps.get(byte),
        };
        found.unwrap_or_else(|| self.zero())
    }

    /// Keeps a value in the temporary that a byte names, as a pair or as a word. Registers are
    /// written at one place each, except for those of reductions and folds, which nothing names
    /// before they are done: so a temporary can share those of its value.
    pub(super) fn set_temp(&mut self, byte: u8, held: Held) {
        let is_wide = byte & PAIR != 0;
        let regs = if is_wide {
            self.pairs_of(held)
        } else {
            self.words_of(held)
        };
        let held = Held {
            regs,
            is_wide,
            bound: held.bound,
        };
        match &mut self.edge {
            Some(edge) => edge.temps.name(byte, held),
            None => self.temps.name(byte, held),
        }
    }
}
