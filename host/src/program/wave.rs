//! Registers and waves as a builder holds them.

use super::encoded::RegisterId;
use seawall_core::abi::code::{Instruction, Kind};
use seawall_core::abi::facts::{Facts, Operand};
use seawall_core::abi::own::OWN_FIRST;
use seawall_core::abi::program::Opcode;
use std::borrow::Cow;

/// The number of a register in its builder, once its owner was checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Slot(pub(crate) u32);

pub(crate) type Name = Cow<'static, str>;

/// A register before it has a place.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct RegisterSpec {
    pub(crate) name: Name,
    pub(crate) words: u32,
    /// Kind of its values in code.
    pub(crate) kind: Kind,
    pub(crate) is_input: bool,
    pub(crate) is_result: bool,
    /// Whether waves only read appended entries, so that it needs no filling.
    pub(crate) is_appended: bool,
}

impl RegisterSpec {
    /// Bytes in the arena, a multiple of an alignment.
    pub(crate) fn bytes(&self, alignment_bytes: u64) -> u64 {
        (u64::from(self.words) * 4).next_multiple_of(alignment_bytes)
    }
}

/// Alignment of every register in bytes: a few cache lines, so that no two
/// registers share one.
pub(crate) const ALIGNMENT_BYTES: u64 = 256;
/// Bytes of the widest access of a kernel, the least alignment of registers.
pub(crate) const ACCESS_BYTES: u64 = 16;

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Does {
    Ready(Opcode),
    Own { number: u32, facts: Facts },
}

impl From<Opcode> for Does {
    fn from(opcode: Opcode) -> Self {
        Self::Ready(opcode)
    }
}

impl Does {
    pub(crate) const fn facts(&self) -> Facts {
        match self {
            Self::Ready(opcode) => opcode.facts(),
            Self::Own { facts, .. } => *facts,
        }
    }

    /// Its opcode in the tables.
    pub(crate) const fn word(&self) -> u32 {
        match self {
            Self::Ready(opcode) => *opcode as u32,
            Self::Own { number, .. } => OWN_FIRST.saturating_add(*number),
        }
    }

    pub(crate) fn is(&self, opcode: Opcode) -> bool {
        *self == Self::Ready(opcode)
    }
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct WaveSpec {
    pub(crate) name: String,
    pub(crate) does: Does,
    pub(crate) destination: Option<Slot>,
    pub(crate) sources: [Option<Slot>; 4],
    pub(crate) parameters: [u32; 5],
    pub(crate) reads: Vec<Slot>,
    pub(crate) writes: Vec<Slot>,
    /// The caller's identifiers, until the builder has taken the wave.
    pub(crate) named: Vec<RegisterId>,
    pub(crate) body: Option<Body>,
    pub(crate) code: Vec<Instruction>,
    /// Whether its results depend only on the graph.
    pub(crate) once: bool,
}

impl WaveSpec {
    pub(crate) fn new(name: &str, does: impl Into<Does>) -> Self {
        Self {
            name: name.to_owned(),
            does: does.into(),
            destination: None,
            sources: [None; 4],
            parameters: [0; 5],
            reads: Vec::new(),
            writes: Vec::new(),
            named: Vec::new(),
            body: None,
            code: Vec::new(),
            once: false,
        }
    }

    fn name(&mut self, register: RegisterId) -> Slot {
        self.named.push(register);
        Slot(register.number())
    }

    /// Writes every word of `register`.
    pub(crate) fn writing(mut self, register: RegisterId) -> Self {
        let slot = self.name(register);
        self.destination = Some(slot);
        self.writes.push(slot);
        self
    }

    /// Changes some words of `register`.
    pub(crate) fn updating(self, register: RegisterId) -> Self {
        let mut wave = self.writing(register);
        wave.reads.push(Slot(register.number()));
        wave
    }

    /// Reads `register` as source number `which`.
    pub(crate) fn reading(mut self, which: usize, register: RegisterId) -> Self {
        let slot = self.name(register);
        self.sources[which] = Some(slot);
        self.reads.push(slot);
        self
    }

    /// Writes every word of source number `which`.
    pub(crate) fn writing_source(mut self, which: usize, register: RegisterId) -> Self {
        let slot = self.name(register);
        self.sources[which] = Some(slot);
        self.writes.push(slot);
        self
    }

    /// Changes some words of source number `which`.
    pub(crate) fn updating_source(self, which: usize, register: RegisterId) -> Self {
        let mut wave = self.reading(which, register);
        wave.writes.push(Slot(register.number()));
        wave
    }

    pub(crate) fn operand(&self, operand: Operand) -> Option<Slot> {
        match operand {
            Operand::To => self.destination,
            Operand::First => self.sources[0],
            Operand::Second => self.sources[1],
            Operand::Third => self.sources[2],
        }
    }

    /// Uses `register` as source number `which`, or as the destination, with the accesses that the
    /// wave's facts declare.
    pub(crate) fn placed(mut self, which: Option<usize>, register: RegisterId) -> Self {
        let slot = self.name(register);
        match which {
            Some(which) => self.sources[which] = Some(slot),
            None => self.destination = Some(slot),
        }
        let at = which.map_or(0, |which| which + 1);
        let facts = self.does.facts();
        let declares =
            |operands: &[Operand]| operands.iter().any(|operand| *operand as usize == at);
        if declares(facts.reads) {
            self.reads.push(slot);
        }
        if declares(facts.writes) {
            self.writes.push(slot);
        }
        self
    }

    pub(crate) fn with(mut self, which: usize, parameter: u32) -> Self {
        self.parameters[which] = parameter;
        self
    }
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Body {
    pub(crate) waves: Vec<WaveSpec>,
    pub(crate) max_iterations: u32,
    pub(crate) frontier: Option<Slot>,
    /// Register that a loop on one reads.
    pub(crate) condition: Option<Slot>,
}

impl Body {
    /// Whether its first iteration always runs.
    pub(crate) fn runs_at_least_once(&self) -> bool {
        self.max_iterations > 0 && self.condition.is_none() && self.frontier.is_none()
    }
}
