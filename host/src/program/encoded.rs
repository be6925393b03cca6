//! An encoded program: the tables that every executor walks.

use crate::graph::WeightKind;
use crate::own::OwnWaves;
use seawall_core::abi::code::Instruction;
use seawall_core::abi::facts::Facts;
use seawall_core::abi::program::{GroupRecord, Opcode, Region, RegisterRecord, WaveRecord};
use seawall_core::abi::search::SearchPolicy;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};

/// Names a register of the builder that returned it; every other builder refuses it.
///
/// ```compile_fail
/// let forged = seawall::program::RegisterId(0);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct RegisterId {
    builder: BuilderId,
    number: u32,
}

impl RegisterId {
    pub(super) const fn new(builder: BuilderId, number: u32) -> Self {
        Self { builder, number }
    }

    /// Its index in the table of registers.
    #[must_use]
    pub const fn number(self) -> u32 {
        self.number
    }
}

/// Distinguishes the builders of a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct BuilderId(u64);

impl BuilderId {
    /// The builder of tables that were made by hand.
    const NONE: Self = Self(0);

    /// An identity that no other builder of this process has.
    pub(crate) fn next() -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        Self(NEXT.fetch_add(1, Ordering::Relaxed))
    }
}

/// The graph arrays that a program reads besides the row offsets and targets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct GraphNeeds {
    /// Edge weights of this kind.
    pub weights: Option<WeightKind>,
    /// Incoming edges.
    pub incoming: bool,
    /// The weights, of incoming edges too.
    pub incoming_weights: bool,
    /// Incoming edges by tiles of rows, if tiles are faster.
    pub tiles: bool,
}

/// A planned program as the tables of [`seawall_core::abi::program`], free of
/// addresses: a backend adds those of its machine. The default has nothing to run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct EncodedProgram {
    /// Nodes of the graphs that it is for.
    pub nodes: u32,
    /// Identifier of each register, by number. Registers of tables that were made by
    /// hand need none, see [`EncodedProgram::register`].
    pub ids: Vec<RegisterId>,
    /// Top-level groups first, then the bodies of fixpoints.
    pub groups: Vec<GroupRecord>,
    /// Number of top-level groups.
    pub top_groups: u32,
    /// Bytes that the planner counted for each group, by number; none for tables that were made
    /// by hand.
    pub group_bytes: Vec<u64>,
    /// Waves, by group.
    pub waves: Vec<WaveRecord>,
    /// Waves, by their places in `waves`, that later runs of a loaded program skip: see
    /// [`ProgramBuilder::once`](super::ProgramBuilder::once).
    pub once: Vec<u32>,
    /// Registers.
    pub registers: Vec<RegisterRecord>,
    /// Code of waves that run some.
    pub code: Vec<Instruction>,
    /// Name of each wave, by wave number, for fault messages and traces.
    pub wave_names: Vec<String>,
    /// Name of each register, by number, for messages; none for tables that were made by hand.
    pub register_names: Vec<String>,
    /// Bytes of the arena.
    pub arena_bytes: u64,
    /// Bytes of the input region.
    pub input_bytes: u64,
    /// Graph arrays that the program reads.
    pub needs: GraphNeeds,
    /// Digest of the graph and the machine that it was planned for, of
    /// [`resident_digest`](crate::backend::resident_digest); 0 fits any graph of its size.
    pub planned_for: u64,
    /// Thresholds of frontier searches.
    pub search: SearchPolicy,
    /// Waves of another crate, if it uses some.
    pub own: Option<OwnWaves>,
}

impl EncodedProgram {
    /// The identifier of register `number`; `None` if there is no such register.
    #[must_use]
    pub fn register(&self, number: u32) -> Option<RegisterId> {
        let by_hand = RegisterId::new(BuilderId::NONE, number);
        let index = number as usize;
        let id = self.ids.get(index).copied().unwrap_or(by_hand);
        (index < self.registers.len()).then_some(id)
    }

    /// The name of register `number`, or its number if it has none.
    #[must_use]
    pub fn register_name(&self, number: u32) -> String {
        let name = self.register_names.get(number as usize);
        name.cloned().unwrap_or_else(|| number.to_string())
    }

    /// Words of input register `number` in the input region; `None` if there is no such input.
    #[must_use]
    pub fn input_words(&self, number: u32) -> Option<Range<usize>> {
        let register = self.registers.get(number as usize)?;
        let start = (register.offset_bytes / 4) as usize;
        let range = start..start.checked_add(register.words as usize)?;
        (register.region == Region::Input as u32).then_some(range)
    }

    /// The facts about the opcode of a wave, if the program knows it.
    pub(crate) fn facts_of(&self, opcode: u32) -> Option<Facts> {
        match Opcode::from_word(opcode) {
            Some(opcode) => Some(opcode.facts()),
            None => Some(self.own.as_ref()?.declaration(opcode)?.facts()),
        }
    }

    pub(crate) fn opcode_name(&self, opcode: u32) -> Option<String> {
        match Opcode::from_word(opcode) {
            Some(opcode) => Some(opcode.to_string()),
            None => Some(self.own.as_ref()?.declaration(opcode)?.name().to_owned()),
        }
    }

    /// Names of the waves of another crate that it has, as the program names them.
    pub(crate) fn own_wave_names(&self) -> Vec<String> {
        let Some(own) = &self.own else {
            return Vec::new();
        };
        let mut numbers: Vec<u32> = self
            .waves
            .iter()
            .filter(|wave| own.declaration(wave.opcode).is_some())
            .map(|wave| wave.wave)
            .collect();
        numbers.sort_unstable();
        numbers.dedup();
        let name = |number: u32| self.wave_names.get(number as usize).cloned();
        numbers.into_iter().filter_map(name).collect()
    }

    /// The set of another crate of which it has waves.
    pub(crate) fn used_waves(&self) -> Option<&OwnWaves> {
        let is_used = |own: &&OwnWaves| {
            let mut waves = self.waves.iter();
            waves.any(|wave| own.declaration(wave.opcode).is_some())
        };
        self.own.as_ref().filter(is_used)
    }
}

/// The waves of another crate that programs use, of one set for all.
pub(crate) fn common_waves<'p>(
    programs: impl IntoIterator<Item = &'p EncodedProgram>,
) -> Result<Option<&'p OwnWaves>, u32> {
    let mut found: Option<&OwnWaves> = None;
    for (number, program) in (0..).zip(programs) {
        let Some(own) = program.used_waves() else {
            continue;
        };
        if found.is_some_and(|found| found != own) {
            return Err(number);
        }
        found = Some(own);
    }
    Ok(found)
}

/// Whether a wave is a loop, whose parameters begin with the groups of its body.
pub(super) fn is_loop(wave: &WaveRecord) -> bool {
    [Opcode::Fixpoint as u32, Opcode::While as u32].contains(&wave.opcode)
}
