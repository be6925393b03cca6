//! Waves whose results depend only on the graph.
//!
//! A session runs them in the first run of a loaded program; later runs find their registers
//! unchanged. So nothing may change these registers, and none may share its memory with others.

use super::builder::ProgramBuilder;
use super::encoded::EncodedProgram;
use super::error::ProgramError;
use super::places::{Span, place_of};
use super::table_error::TableError;
use super::uses::each_use;
use super::wave::{Slot, WaveSpec};
use seawall_core::abi::program::Opcode;
use std::collections::BTreeSet;

impl ProgramBuilder {
    /// Adds waves whose results depend only on the graph, such as another order of its edges. A
    /// session runs them once for a loaded program: in its first successful run. All registers that
    /// they write are kept until the program ends.
    ///
    /// They may read registers that such waves have written, but no inputs. No other wave may write
    /// to registers that they read or write, or come before them and read registers that they
    /// write. They must not be loops. Otherwise the program does not encode
    /// ([`ProgramError::ChangesBetweenRuns`], [`ProgramError::LoopOnce`]).
    ///
    /// ```
    /// use seawall::backend::ProgramSession;
    /// use seawall::executor::Machine;
    /// use seawall::graph::Graph;
    /// use seawall::program::{BitOp, PlanRequest, ProgramBuilder};
    ///
    /// let graph = Graph::from_edges(3, &[], false)?;
    /// let mut program = ProgramBuilder::new(3);
    /// let (numbers, mask) = (program.words("numbers", 3)?, program.input("mask", 3)?);
    /// let masked = program.words("masked", 3)?;
    /// program.once(|once| once.iota("number", numbers));
    /// program.combine("mask", BitOp::And, masked, [numbers, mask]);
    /// program.keep(masked);
    /// let (encoded, _) = program.encode(&PlanRequest::default())?;
    /// assert_eq!(encoded.once, [0]); // The first of the waves.
    ///
    /// let mut session = ProgramSession::open(&graph, &Machine::cpu(None))?;
    /// session.load(&encoded)?;
    /// let mut words = Vec::new();
    /// for bits in [1, 2] {
    ///     session.set_input(mask, &[bits; 3])?;
    ///     session.run()?;
    ///     session.read(masked, &mut words)?;
    ///     assert_eq!(words, [0, 1 & bits, 2 & bits]);
    /// }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn once(&mut self, body: impl FnOnce(&mut Self)) {
        let first = self.waves.len();
        body(self);
        let waves = self.waves.get_mut(first..).unwrap_or_default();
        for wave in waves {
            wave.once = true;
            for slot in &wave.writes {
                if let Some(spec) = self.registers.get_mut(slot.0 as usize) {
                    spec.is_result = true;
                }
            }
        }
    }
}

impl EncodedProgram {
    /// Makes later runs by these tables skip the waves whose results depend only on the graph.
    pub(crate) fn leave_out_what_ran_once(&mut self) {
        for wave in std::mem::take(&mut self.once) {
            if let Some(wave) = self.waves.get_mut(wave as usize) {
                wave.opcode = Opcode::Nop as u32;
            }
        }
    }
}

/// Checks that results of waves that run once depend only on the graph.
pub(super) fn check(builder: &ProgramBuilder) -> Result<(), ProgramError> {
    if let Some(wave) = once_in_a_loop(&builder.waves) {
        return Err(ProgramError::LoopOnce {
            wave: wave.name.clone(),
        });
    }
    let mut fixed = BTreeSet::new();
    // Later runs find the result of the last of these waves, so no wave may have read an earlier
    // one.
    let mut seen = BTreeSet::new();
    for wave in &builder.waves {
        if !wave.once {
            seen.extend(wave.reads.iter().copied());
            continue;
        }
        if wave.body.is_some() {
            return Err(ProgramError::LoopOnce {
                wave: wave.name.clone(),
            });
        }
        let written: BTreeSet<Slot> = wave.writes.iter().copied().collect();
        if let Some(slot) = written.iter().find(|slot| seen.contains(*slot)) {
            return Err(changes(builder, wave, *slot));
        }
        let read = wave.reads.iter();
        if let Some(slot) = read
            .clone()
            .find(|slot| !written.contains(slot) && !fixed.contains(*slot))
        {
            return Err(changes(builder, wave, *slot));
        }
        fixed.extend(written);
    }
    if fixed.is_empty() {
        return Ok(());
    }
    let others = builder.waves.iter().filter(|wave| !wave.once);
    for wave in others {
        if let Some(slot) = wave.writes.iter().find(|slot| fixed.contains(slot)) {
            return Err(changes(builder, wave, *slot));
        }
    }
    Ok(())
}

fn once_in_a_loop(waves: &[WaveSpec]) -> Option<&WaveSpec> {
    let bodies = waves.iter().filter_map(|wave| wave.body.as_ref());
    let mut bodies = bodies.map(|body| &body.waves);
    bodies.find_map(|body| {
        body.iter()
            .find(|wave| wave.once)
            .or_else(|| once_in_a_loop(body))
    })
}

/// The tables of later runs, and the registers that these find as left by waves that run once, even
/// after an aborted run: no other wave writes there. `None` if all runs are the same.
pub(super) fn later_runs(
    program: &EncodedProgram,
) -> Result<Option<(EncodedProgram, BTreeSet<u32>)>, TableError> {
    if program.once.is_empty() {
        return Ok(None);
    }
    let waves = program.waves.len();
    if let Some(entry) = program.once.iter().find(|entry| **entry as usize >= waves) {
        return Err(TableError::Once {
            entry: *entry,
            waves,
        });
    }
    let mut later = program.clone();
    later.leave_out_what_ran_once();
    let place = |register: u32| place_of(&program.registers, register);
    let mut changed = Vec::new();
    for wave in &later.waves {
        each_use(&later, wave, |register, writes| {
            changed.extend(place(register).filter(|_| writes));
        });
    }
    let mut kept = written_once(program);
    let is_changed = |own: &Span| changed.iter().any(|other| other.meets(own));
    kept.retain(|register| !place(*register).is_some_and(|own| is_changed(&own)));
    Ok(Some((later, kept)))
}

fn written_once(program: &EncodedProgram) -> BTreeSet<u32> {
    let mut written = BTreeSet::new();
    let waves = program.once.iter();
    for wave in waves.filter_map(|wave| program.waves.get(*wave as usize)) {
        each_use(program, wave, |register, writes| {
            if writes {
                written.insert(register);
            }
        });
    }
    written
}

/// Whether registers of waves that run once share memory with others. A plan may give them the
/// place of a register whose last use comes before.
pub(super) fn shares_memory(program: &EncodedProgram) -> bool {
    let fixed = written_once(program);
    let place = |register: u32| place_of(&program.registers, register);
    let all = 0..program.registers.len() as u32;
    let others: Vec<_> = all
        .filter(|other| !fixed.contains(other))
        .filter_map(place)
        .collect();
    let mut fixed = fixed.iter().filter_map(|register| place(*register));
    fixed.any(|own| others.iter().any(|other| other.meets(&own)))
}

fn changes(builder: &ProgramBuilder, wave: &WaveSpec, slot: Slot) -> ProgramError {
    let register = builder.registers.get(slot.0 as usize);
    ProgramError::ChangesBetweenRuns {
        wave: wave.name.clone(),
        register: register
            .map(|spec| spec.name.to_string())
            .unwrap_or_default(),
    }
}
