//! Dependencies inferred from the reads and writes of waves.
//!
//! A wave waits for the last writer of each register that it reads (read after write) or writes
//! (write after write), and for all readers since (write after read). The wave that first writes a
//! register owns its memory, so every later user also depends on the owner: that keeps the memory
//! alive and adds no layer, since the owner precedes it anyway. If a wave seeds a loop, loops and
//! seeds keep their order, as no other loop may run in between.
//!
//! Registers share memory, so a register must be filled before it is read, or it would hold words
//! of another one. A loop that may end before its first iteration fills nothing. A list of which
//! only appended entries are read needs no filling.

use super::error::ProgramError;
use super::wave::{RegisterSpec, Slot, WaveSpec};
use seawall_core::abi::facts::Stage;
use seawall_core::wave::Dependency;
use std::collections::BTreeSet;

/// The dependencies of a list of waves.
#[derive(Debug, Default)]
pub(crate) struct Hazards {
    /// Sorted by the later wave, each pair once.
    pub(crate) dependencies: Vec<Dependency>,
    /// Owner of each register: the first wave that writes it.
    pub(crate) owners: Vec<Option<u32>>,
}

#[derive(Clone, Default)]
struct Uses {
    owner: Option<u32>,
    writer: Option<u32>,
    readers: Vec<u32>,
    /// Whether some wave has written each register completely.
    is_filled: bool,
}

/// Infers the hazards among `waves`. Linear in what the waves read and write.
///
/// # Errors
/// [`ProgramError::UnwrittenRegister`] when a wave reads an unwritten register, unless it `is_body`
/// and an enclosing program may have written it; [`ProgramError::UnwrittenResult`] for an unwritten
/// result.
pub(crate) fn infer(
    registers: &[RegisterSpec],
    waves: &[WaveSpec],
    is_body: bool,
) -> Result<Hazards, ProgramError> {
    let mut uses = vec![Uses::default(); registers.len()];
    let mut hazards = Hazards::default();
    let mut rounds = None;
    let counts_rounds = waves.iter().any(seeds_rounds);
    for (number, wave) in (0_u32..).zip(waves) {
        let mut before = BTreeSet::new();
        for register in reads_before_writes(wave) {
            check_written(registers, &uses, number, wave, register, is_body)?;
            let uses = &uses[register.0 as usize];
            before.extend(uses.writer);
            before.extend(uses.owner);
        }
        for register in &wave.writes {
            let uses = &uses[register.0 as usize];
            before.extend(uses.writer);
            before.extend(uses.owner);
            before.extend(&uses.readers);
        }
        if counts_rounds && (seeds_rounds(wave) || runs_rounds(wave)) {
            before.extend(rounds.replace(number));
        }
        before.remove(&number);
        let after = number;
        hazards.dependencies.extend(
            before
                .into_iter()
                .map(|before| Dependency { before, after }),
        );
        note_uses(&mut uses, wave, number);
    }
    if !is_body {
        check_results(registers, &uses)?;
    }
    hazards.owners = uses.into_iter().map(|uses| uses.owner).collect();
    Ok(hazards)
}

/// A result is read after all waves.
fn check_results(registers: &[RegisterSpec], uses: &[Uses]) -> Result<(), ProgramError> {
    let is_unfilled =
        |(spec, uses): &(&RegisterSpec, &Uses)| spec.is_result && !spec.is_input && !uses.is_filled;
    match registers.iter().zip(uses).find(is_unfilled) {
        None => Ok(()),
        Some((spec, _)) => Err(ProgramError::UnwrittenResult {
            register: spec.name.to_string(),
        }),
    }
}

/// Whether `wave` seeds the loop that follows, with no other loop in between.
fn seeds_rounds(wave: &WaveSpec) -> bool {
    wave.does.facts().stage == Stage::BeforeLoop
}

fn runs_rounds(wave: &WaveSpec) -> bool {
    wave.body
        .as_ref()
        .is_some_and(|body| body.frontier.is_none())
}

/// Registers that must be filled before the wave runs. Registers that a fixpoint's body writes
/// before reading do not count.
fn reads_before_writes(wave: &WaveSpec) -> Vec<Slot> {
    let Some(body) = &wave.body else {
        return wave.reads.clone();
    };
    let mut written: BTreeSet<Slot> = BTreeSet::new();
    let mut needed: Vec<Slot> = body.condition.into_iter().collect();
    for inner in &body.waves {
        let reads = reads_before_writes(inner).into_iter();
        needed.extend(reads.filter(|register| !written.contains(register)));
        written.extend(filled_by(inner));
    }
    needed
}

/// Registers that `wave` writes in any case. A register that it only writes in part also counts as
/// read, and so was filled before.
fn filled_by(wave: &WaveSpec) -> Vec<Slot> {
    match &wave.body {
        None => wave.writes.clone(),
        Some(body) if body.runs_at_least_once() => body.waves.iter().flat_map(filled_by).collect(),
        Some(_) => Vec::new(),
    }
}

fn check_written(
    registers: &[RegisterSpec],
    uses: &[Uses],
    number: u32,
    wave: &WaveSpec,
    register: Slot,
    is_body: bool,
) -> Result<(), ProgramError> {
    let at = register.0 as usize;
    let spec = &registers[at];
    if is_body || spec.is_input || spec.is_appended || uses[at].is_filled {
        return Ok(());
    }
    Err(ProgramError::UnwrittenRegister {
        wave: number,
        name: wave.name.clone(),
        register: registers[at].name.to_string(),
    })
}

fn note_uses(uses: &mut [Uses], wave: &WaveSpec, number: u32) {
    for register in &wave.reads {
        uses[register.0 as usize].readers.push(number);
    }
    for register in &wave.writes {
        let uses = &mut uses[register.0 as usize];
        uses.owner.get_or_insert(number);
        uses.writer = Some(number);
        uses.readers.clear();
    }
    for register in filled_by(wave) {
        uses[register.0 as usize].is_filled = true;
    }
}
