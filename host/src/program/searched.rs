//! Registers that hold distances of 32 bits after a program has ended.

use super::encoded::{EncodedProgram, RegisterId, is_loop};
use super::places::place_of;
use super::uses::each_use;
use crate::graph::WeightKind;
use seawall_core::abi::program::{FixpointRecord, GroupRecord, Opcode, WaveRecord};
use seawall_core::abi::sequential::{Algorithm, Lengths, SequentialRecord};

/// Searches for shortest paths that are followed to the end of a program. With more, all count as
/// overwritten, so that hand-made tables cost at most linear time.
const FOLLOWED_MAX: usize = 64;

/// A register in which a program computes distances of 32 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Searched {
    pub(crate) register: RegisterId,
    /// Kind of the weights along paths, and so of the distances.
    pub(crate) kind: WeightKind,
    /// Whether they are unchanged at the end of the program.
    pub(crate) is_left: bool,
}

/// The searches of `program`, whose tables must agree. Linear in them.
pub(crate) fn searched(program: &EncodedProgram) -> Vec<Searched> {
    let steps = program
        .waves
        .iter()
        .filter_map(|wave| search_of(program, wave));
    let mut walk = Walk {
        program,
        found: Vec::new(),
    };
    let all: Vec<Searched> = steps.collect();
    if all.is_empty() || all.len() > FOLLOWED_MAX {
        let lost = |search| Searched {
            is_left: false,
            ..search
        };
        return all.into_iter().map(lost).collect();
    }
    let top = program.groups.iter().take(program.top_groups as usize);
    top.for_each(|group| walk.group(group));
    walk.found
}

struct Walk<'p> {
    program: &'p EncodedProgram,
    found: Vec<Searched>,
}

impl<'p> Walk<'p> {
    fn waves(&self, group: &GroupRecord) -> &'p [WaveRecord] {
        let first = group.first_wave as usize;
        let waves = self.program.waves.get(first..first + group.waves as usize);
        waves.unwrap_or(&[])
    }

    /// A top-level group in the order in which it runs: its loops come last.
    fn group(&mut self, group: &GroupRecord) {
        let waves = self.waves(group);
        for wave in waves.iter().filter(|wave| !is_loop(wave)) {
            overwrite(self.program, &mut self.found, wave);
            if wave.opcode == Opcode::Sequential as u32 {
                self.found.extend(search_of(self.program, wave));
            }
        }
        for wave in waves.iter().filter(|wave| is_loop(wave)) {
            self.fixpoint(wave);
        }
    }

    /// The searches of a loop, and the other writes of its body.
    fn fixpoint(&mut self, wave: &WaveRecord) {
        let body = FixpointRecord::from_parameters(wave.parameters);
        let groups = self.program.groups.iter().skip(body.first_group as usize);
        let groups = groups.take(body.groups as usize);
        let waves: Vec<&WaveRecord> = groups.flat_map(|group| self.waves(group)).collect();
        for step in &waves {
            overwrite(self.program, &mut self.found, step);
        }
        // Of nested loops only the innermost may search; the check has bounded how deep they are.
        for inner in waves.iter().filter(|wave| is_loop(wave)) {
            self.fixpoint(inner);
        }
        for step in &waves {
            let Some(mut search) = search_of(self.program, step) else {
                continue;
            };
            let is_same = |other: &WaveRecord| {
                (other.opcode, other.destination) == (step.opcode, step.destination)
            };
            for other in waves.iter().filter(|other| !is_same(other)) {
                overwrite(self.program, std::slice::from_mut(&mut search), other);
            }
            self.found.push(search);
        }
    }
}

/// The search of which `wave` is a step, if it finds distances of 32 bits.
fn search_of(program: &EncodedProgram, wave: &WaveRecord) -> Option<Searched> {
    let kind = match Opcode::from_word(wave.opcode)? {
        Opcode::StepPaths => WeightKind::Integer,
        Opcode::StepPathsFloat => WeightKind::Float,
        Opcode::Sequential => kind_of_alone(wave)?,
        _ => return None,
    };
    Some(Searched {
        register: program.register(wave.destination)?,
        kind,
        is_left: true,
    })
}

/// The weights of a sequential search that finds distances of 32 bits.
fn kind_of_alone(wave: &WaveRecord) -> Option<WeightKind> {
    let record = SequentialRecord::from_parameters(wave.parameters)?;
    match (record.algorithm, record.lengths) {
        (Algorithm::Paths, Lengths::Float) => Some(WeightKind::Float),
        (Algorithm::Paths, _) => Some(WeightKind::Integer),
        _ => None,
    }
}

/// Notes what `wave` writes over.
fn overwrite(program: &EncodedProgram, searches: &mut [Searched], wave: &WaveRecord) {
    let place = |register| place_of(&program.registers, register);
    each_use(program, wave, |register, writes| {
        let Some(written) = place(register).filter(|_| writes) else {
            return;
        };
        for search in &mut *searches {
            let kept = place(search.register.number()).is_none_or(|at| !written.meets(&at));
            search.is_left &= kept;
        }
    });
}
