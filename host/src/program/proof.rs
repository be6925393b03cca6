//! Proof that registers have the content that waves rely on.
//!
//! Hot loops follow parents, queued nodes and rows through memory without checking them. They stay
//! in range because of the waves that wrote those words: each opcode declares the claims that it
//! requires of its registers, and those that hold after it ([`seawall_core::abi::facts`]). This
//! file walks the tables in execution order and keeps a list of claims by place. Any other write to
//! the same memory ends a claim. Waves generate and kill facts and no fact depends on another, so a
//! loop's body is settled after two passes.
//!
//! Claims that depend on the graph are left to kernels, which compare the lengths of registers
//! with its nodes and edges themselves.

use super::conflicts::Conflicts;
use super::encoded::{EncodedProgram, is_loop};
use super::once;
use super::places::{Holding, Holds, Span, place_of};
use super::table_error::TableError;
use super::uses::{each_use, register_of};
use seawall_core::abi::code::DEPTH_MAX;
use seawall_core::abi::facts::{Claim, Facts, Invariant, Operand, Stage};
use seawall_core::abi::program::{
    FixpointRecord, GroupRecord, NO_REGISTER, Opcode, Region, WaveRecord, WhileRecord,
};
use std::collections::BTreeSet;

/// Proves the requirements of every wave of `program`, in the first run and in later ones. The
/// tables must have passed the other checks. About linear in the tables.
pub(super) fn prove(program: &EncodedProgram) -> Result<(), TableError> {
    let mut first = Walk {
        program,
        holding: Holding::default(),
        loops: 0,
    };
    first.run(true)?;
    let Some((later, kept)) = once::later_runs(program)? else {
        return Ok(());
    };
    first.holding.keep_only(Region::Arena, &kept);
    let before = first.holding.clone();
    let mut walk = Walk {
        program: &later,
        ..first
    };
    // As in a loop, the second later run begins with the state that the first one leaves.
    for proves in [false, true] {
        walk.run(proves)?;
        walk.holding.keep_common(&before);
    }
    Ok(())
}

struct Walk<'p> {
    program: &'p EncodedProgram,
    holding: Holding,
    /// Number of loops that count rounds begun so far: a seed is for the next one.
    loops: u32,
}

/// The loop whose body is walked.
#[derive(Clone, Copy)]
enum Within {
    Nothing,
    Rounds,
    Search { frontier: u32 },
    While { depth: u32 },
}

impl<'p> Walk<'p> {
    fn waves(&self, group: &GroupRecord) -> &'p [WaveRecord] {
        let first = group.first_wave as usize;
        let waves = self.program.waves.get(first..first + group.waves as usize);
        waves.unwrap_or(&[])
    }

    fn place(&self, register: u32) -> Option<Span> {
        place_of(&self.program.registers, register)
    }

    fn name(&self, wave: &WaveRecord) -> String {
        let names = &self.program.wave_names;
        names.get(wave.wave as usize).cloned().unwrap_or_default()
    }

    /// Walks the top-level groups in the order in which they run.
    fn run(&mut self, proves: bool) -> Result<(), TableError> {
        let top = self.program.groups.iter();
        for group in top.take(self.program.top_groups as usize) {
            let waves = self.waves(group);
            self.check_conflicts(waves)?;
            self.waves_then_loops(waves, Within::Nothing, proves)?;
        }
        Ok(())
    }

    /// Walks the waves of a group in the order in which they run: loops come last.
    fn waves_then_loops(
        &mut self,
        waves: &'p [WaveRecord],
        within: Within,
        proves: bool,
    ) -> Result<(), TableError> {
        for wave in waves.iter().filter(|wave| !is_loop(wave)) {
            self.wave(wave, within, proves)?;
        }
        let mut loops = waves.iter().filter(|wave| is_loop(wave));
        let depth = match within {
            Within::While { depth } => depth + 1,
            _ => 0,
        };
        loops.try_for_each(|wave| {
            if wave.opcode == Opcode::While as u32 {
                self.while_loop(wave, depth, proves)
            } else {
                self.fixpoint(wave, depth, proves)
            }
        })
    }

    /// Waves of a group run at the same time, so none may write a register that another uses.
    fn check_conflicts(&self, waves: &[WaveRecord]) -> Result<(), TableError> {
        let mut conflicts = Conflicts::default();
        for (number, wave) in (0_u32..).zip(waves) {
            self.note_uses(&mut conflicts, number, wave);
            for inner in self.inner(wave) {
                self.note_uses(&mut conflicts, number, inner);
            }
        }
        match conflicts.first() {
            None => Ok(()),
            Some([one, other]) => {
                let [one, other] = [one, other].map(|at| &waves[at as usize]);
                Err(TableError::Conflict {
                    waves: [one.wave, other.wave],
                    names: [self.name(one), self.name(other)],
                })
            }
        }
    }

    fn note_uses(&self, conflicts: &mut Conflicts, number: u32, wave: &WaveRecord) {
        each_use(self.program, wave, |register, writes| {
            if let Some(place) = self.place(register) {
                conflicts.note(number, place, writes);
            }
        });
    }

    /// All waves in the body of `wave`, if it is a loop, and in those of loops in it. Bodies belong
    /// to one loop each, so the bodies reachable from the top form a tree.
    fn inner(&self, wave: &'p WaveRecord) -> Vec<&'p WaveRecord> {
        let mut found: Vec<_> = self.body(wave).into_iter().flatten().collect();
        let mut at = 0;
        while at < found.len() && found.len() <= self.program.waves.len() {
            found.extend(self.body(found[at]).into_iter().flatten());
            at += 1;
        }
        found
    }

    /// The waves of the body of `wave`, if it is a loop, by group.
    fn body(&self, wave: &WaveRecord) -> Option<impl Iterator<Item = &'p WaveRecord> + use<'p>> {
        let waves = is_loop(wave).then(|| body_groups(self.program, wave))?;
        let program = self.program;
        Some(waves.iter().flat_map(move |group| {
            let first = group.first_wave as usize;
            let waves = program.waves.get(first..first + group.waves as usize);
            waves.unwrap_or(&[])
        }))
    }

    /// Walks a loop: its body once to collect its changes, and once to prove it if `proves`.
    fn fixpoint(
        &mut self,
        wave: &'p WaveRecord,
        depth: u32,
        proves: bool,
    ) -> Result<(), TableError> {
        let record = FixpointRecord::from_parameters(wave.parameters);
        let within = self.enter(wave, &record, depth, proves)?;
        let before = self.holding.clone();
        for proves_now in [false, true] {
            for group in body_groups(self.program, wave) {
                let waves = self.waves(group);
                if proves && proves_now {
                    self.check_conflicts(waves)?;
                }
                for inner in waves {
                    self.wave(inner, within, proves && proves_now)?;
                }
            }
            // It may run no iteration.
            self.holding.keep_common(&before);
        }
        Ok(())
    }

    /// [`Walk::fixpoint`] for a loop on a register, which may hold loops.
    fn while_loop(
        &mut self,
        wave: &'p WaveRecord,
        depth: u32,
        proves: bool,
    ) -> Result<(), TableError> {
        let record = WhileRecord::from_parameters(wave.parameters);
        if record.depth != depth || depth >= DEPTH_MAX {
            return Err(TableError::Depth {
                wave: wave.wave,
                says: record.depth,
                depth,
                most: DEPTH_MAX - 1,
            });
        }
        if proves {
            self.check_condition(wave, &record)?;
        }
        let before = self.holding.clone();
        for proves_now in [false, true] {
            for group in body_groups(self.program, wave) {
                let waves = self.waves(group);
                if proves && proves_now {
                    self.check_conflicts(waves)?;
                }
                self.waves_then_loops(waves, Within::While { depth }, proves && proves_now)?;
            }
            self.holding.keep_common(&before);
        }
        Ok(())
    }

    /// The first body group must not write a register that slow blocks may still read.
    fn check_condition(
        &self,
        wave: &'p WaveRecord,
        record: &WhileRecord,
    ) -> Result<(), TableError> {
        let Some(looked_at) = self.place(record.condition) else {
            return Ok(());
        };
        let first = body_groups(self.program, wave).first();
        let waves = first.map_or(&[][..], |group| self.waves(group));
        let inner = waves.iter().flat_map(|wave| self.inner(wave));
        let mut changes = false;
        for wave in waves.iter().chain(inner) {
            each_use(self.program, wave, |register, writes| {
                let place = self.place(register).filter(|_| writes);
                changes |= place.is_some_and(|place| place.meets(&looked_at));
            });
        }
        if !changes {
            return Ok(());
        }
        Err(TableError::Condition {
            wave: wave.wave,
            name: self.name(wave),
            register: record.condition,
        })
    }

    /// The requirements of a loop before it begins.
    fn enter(
        &mut self,
        wave: &WaveRecord,
        record: &FixpointRecord,
        depth: u32,
        proves: bool,
    ) -> Result<Within, TableError> {
        let inner: Vec<&WaveRecord> = self.body(wave).into_iter().flatten().collect();
        if record.frontier != NO_REGISTER {
            let frontier = record.frontier;
            let expands = |wave: &&&WaveRecord| wave.opcode == Opcode::Expand as u32;
            let expansions = inner.iter().filter(expands).count();
            if expansions != 1 {
                return Err(TableError::Expansions {
                    wave: wave.wave,
                    name: self.name(wave),
                    expansions,
                });
            }
            if proves {
                self.need(wave, frontier, Invariant::Frontier)?;
            }
            return Ok(Within::Search { frontier });
        }
        let mut stepped = BTreeSet::new();
        for round in inner {
            let facts = self.program.facts_of(round.opcode);
            let Some(facts) = facts.filter(|facts| facts.stage == Stage::Round) else {
                continue;
            };
            if depth > 0 {
                // It would not be seeded again.
                return Err(TableError::Misplaced {
                    wave: round.wave,
                    name: self.name(round),
                    stage: facts.stage,
                });
            }
            for (operand, wanted) in facts.needs {
                let register = register_of(round, *operand);
                self.need(round, register, *wanted)?;
                let is_seeded = self.is_seeded_now(register);
                if !is_seeded || !stepped.insert(register) {
                    return Err(self.unproven(round, register, *wanted));
                }
            }
        }
        self.loops += 1;
        Ok(Within::Rounds)
    }

    /// Whether the seed in `register` is for the loop that begins now.
    fn is_seeded_now(&self, register: u32) -> bool {
        self.place(register)
            .and_then(|place| self.holding.of(register, place))
            .is_none_or(|held| held.loops == self.loops)
    }

    /// Walks a wave: its requirements if `proves`, then its changes.
    fn wave(&mut self, wave: &WaveRecord, within: Within, proves: bool) -> Result<(), TableError> {
        // Kernels end with a fault at an unknown opcode, and at a nested fixpoint.
        let Some(facts) = self.program.facts_of(wave.opcode) else {
            return Ok(());
        };
        if proves {
            self.check_stage(wave, &facts, within)?;
            for (operand, wanted) in facts.needs {
                self.need(wave, register_of(wave, *operand), *wanted)?;
            }
            self.check_aliases(wave, &facts)?;
        }
        self.apply(wave, &facts);
        Ok(())
    }

    /// Whether `wave` is in an allowed place.
    fn check_stage(
        &self,
        wave: &WaveRecord,
        facts: &Facts,
        within: Within,
    ) -> Result<(), TableError> {
        let fits = match (facts.stage, within) {
            (Stage::Any, _)
            | (Stage::BeforeLoop, Within::Nothing)
            | (Stage::Round, Within::Rounds) => true,
            (Stage::Search, Within::Search { frontier }) => wave.sources[0] == frontier,
            _ => false,
        };
        let disturbs = match within {
            Within::Search { frontier } if facts.stage != Stage::Search => {
                self.writes(wave, frontier)
            }
            _ => false,
        };
        if fits && !disturbs {
            return Ok(());
        }
        Err(TableError::Misplaced {
            wave: wave.wave,
            name: self.name(wave),
            stage: facts.stage,
        })
    }

    /// Whether `wave` writes the memory of `register`.
    fn writes(&self, wave: &WaveRecord, register: u32) -> bool {
        let Some(place) = self.place(register) else {
            return false;
        };
        let mut found = false;
        each_use(self.program, wave, |register, writes| {
            let written = self.place(register).filter(|_| writes);
            found |= written.is_some_and(|written| written.meets(&place));
        });
        found
    }

    /// No operand may overlap a register that a wave relies on or makes a claim about.
    fn check_aliases(&self, wave: &WaveRecord, facts: &Facts) -> Result<(), TableError> {
        let claims = facts.needs.iter().chain(facts.makes);
        for (operand, wanted) in claims {
            let Some(place) = self.place(register_of(wave, *operand)) else {
                continue;
            };
            let others = facts.reads.iter().chain(facts.writes);
            for other in others.filter(|other| *other != operand) {
                let disturbs = facts.writes.contains(other) || facts.writes.contains(operand);
                let across = self
                    .place(register_of(wave, *other))
                    .is_some_and(|other| other.meets(&place));
                if disturbs && across {
                    return Err(self.unproven(wave, register_of(wave, *operand), *wanted));
                }
            }
        }
        Ok(())
    }

    /// Whether `wanted` holds of a register that `wave` uses. One that is missing or
    /// empty is left to the kernel, which ends with a fault before it looks at it.
    fn need(&self, wave: &WaveRecord, register: u32, wanted: Invariant) -> Result<(), TableError> {
        let Some(place) = self.place(register) else {
            return Ok(());
        };
        match self.holding.of(register, place) {
            Some(held) if held.invariant.satisfies(wanted) => Ok(()),
            _ => Err(self.unproven(wave, register, wanted)),
        }
    }

    fn unproven(&self, wave: &WaveRecord, register: u32, needs: Invariant) -> TableError {
        TableError::Unproven {
            wave: wave.wave,
            name: self.name(wave),
            register,
            needs,
        }
    }

    /// Records the changes of `wave`.
    fn apply(&mut self, wave: &WaveRecord, facts: &Facts) {
        if wave.opcode == Opcode::Each as u32 {
            return self.apply_code(wave);
        }
        for operand in facts.writes {
            let register = register_of(wave, *operand);
            let Some(place) = self.place(register) else {
                continue;
            };
            let left = self.left_by(facts, *operand, register, place);
            self.holding.write(register, place, left);
        }
    }

    /// Records the changes of code, about which there are no claims.
    fn apply_code(&mut self, wave: &WaveRecord) {
        let mut written = BTreeSet::new();
        each_use(self.program, wave, |register, writes| {
            if writes {
                written.insert(register);
            }
        });
        for register in written {
            if let Some(place) = self.place(register) {
                self.holding.write(register, place, None);
            }
        }
    }

    /// The claims on an operand after a wave that wrote it.
    fn left_by(
        &self,
        facts: &Facts,
        operand: Operand,
        register: u32,
        place: Span,
    ) -> Option<Holds> {
        let of = |claims: &[Claim]| {
            let claim = claims.iter().find(|(claimed, _)| *claimed == operand);
            claim.map(|(_, invariant)| *invariant)
        };
        if let Some(invariant) = of(facts.makes) {
            let loops = self.loops;
            return Some(Holds { invariant, loops });
        }
        // A claim that did not hold before does not hold now.
        let invariant = of(facts.needs)?;
        let held = self.holding.of(register, place)?;
        held.invariant
            .satisfies(invariant)
            .then_some(Holds { invariant, ..held })
    }
}

fn body_groups<'p>(program: &'p EncodedProgram, wave: &WaveRecord) -> &'p [GroupRecord] {
    let record = FixpointRecord::from_parameters(wave.parameters);
    let first = record.first_group as usize;
    let groups = program.groups.get(first..first + record.groups as usize);
    groups.unwrap_or(&[])
}
