//! Registers and waves as a builder holds them.

use super::encoded::RegisterId;
use seawall_core::abi::code::{Instruction, Kind};
use seawall_core::abi::program::Opcode;

/// The number of a register in its builder, once it is known to be one of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Slot(pub(crate) u32);

/// A register before it has a place.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct RegisterSpec {
    pub(crate) name: &'static str,
    pub(crate) words: u32,
    /// Kind of its values in code.
    pub(crate) kind: Kind,
    pub(crate) is_input: bool,
    pub(crate) is_result: bool,
}

impl RegisterSpec {
    /// Bytes in the arena, a multiple of the arena's alignment.
    pub(crate) fn bytes(&self) -> u64 {
        (u64::from(self.words) * 4).next_multiple_of(ALIGNMENT_BYTES)
    }
}

/// Alignment of every register in bytes: a few cache lines, so that no two
/// registers share one.
pub(crate) const ALIGNMENT_BYTES: u64 = 256;

/// One wave: what it does and which registers it touches.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct WaveSpec {
    pub(crate) name: String,
    pub(crate) opcode: Opcode,
    pub(crate) destination: Option<Slot>,
    pub(crate) sources: [Option<Slot>; 4],
    pub(crate) parameters: [u32; 5],
    pub(crate) reads: Vec<Slot>,
    pub(crate) writes: Vec<Slot>,
    /// The caller's identifiers, until the builder has taken the wave.
    pub(crate) named: Vec<RegisterId>,
    pub(crate) body: Option<Body>,
    pub(crate) code: Vec<Instruction>,
}

impl WaveSpec {
    pub(crate) fn new(name: &str, opcode: Opcode) -> Self {
        Self {
            name: name.to_owned(),
            opcode,
            destination: None,
            sources: [None; 4],
            parameters: [0; 5],
            reads: Vec::new(),
            writes: Vec::new(),
            named: Vec::new(),
            body: None,
            code: Vec::new(),
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

    pub(crate) fn with(mut self, which: usize, parameter: u32) -> Self {
        self.parameters[which] = parameter;
        self
    }
}

/// The body of a loop.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Body {
    pub(crate) waves: Vec<WaveSpec>,
    pub(crate) max_iterations: u32,
    pub(crate) frontier: Option<Slot>,
    /// Register that a loop on one looks at.
    pub(crate) condition: Option<Slot>,
}
