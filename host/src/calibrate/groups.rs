//! Predicted time of each group of a program.
//!
//! Waves that work word by word have a price per word. The rest of what the analysis costs is
//! that of its loops and of its passes over all edges, in even shares: the cost of an analysis is
//! stated and fitted as a whole.

use crate::analysis::AnalysisKind;
use crate::cost::{Job, Worker};
use crate::program::{EncodedProgram, register_of};
use seawall_core::abi::code::Op as CodeOp;
use seawall_core::abi::facts::Work;
use seawall_core::abi::program::{EachRecord, GroupRecord, Opcode, WaveRecord};

/// Predicts the top-level groups of `program`, nanoseconds each.
#[must_use]
pub fn predict_groups(
    analysis: AnalysisKind,
    job: &Job,
    worker: &Worker,
    program: &EncodedProgram,
) -> Vec<f64> {
    let top = program.groups.iter().take(program.top_groups as usize);
    let parts: Vec<Part> = top
        .map(|group| Part::of(program, group, job, worker))
        .collect();
    let small: f64 = parts.iter().map(|part| part.ns).sum();
    let heavy: u32 = parts.iter().map(|part| part.heavy).sum();
    let rest = (analysis.definition().cost_ns(job, worker) - small).max(0.0);
    let share = rest / f64::from(heavy.max(1));
    parts
        .iter()
        .map(|part| part.ns + share * f64::from(part.heavy))
        .collect()
}

struct Part {
    /// Cost of its waves that work word by word, nanoseconds.
    ns: f64,
    /// Number of its other waves.
    heavy: u32,
}

impl Part {
    fn of(program: &EncodedProgram, group: &GroupRecord, job: &Job, worker: &Worker) -> Self {
        let waves = program.waves.iter().skip(group.first_wave as usize);
        let mut part = Self { ns: 0.0, heavy: 0 };
        for wave in waves.take(group.waves as usize) {
            match words(program, wave) {
                Some(words) => part.ns += words as f64 * worker.gather_ns(),
                None => part.heavy += 1,
            }
        }
        if part.heavy == 0 && group.narrow == 0 {
            part.ns += worker.passes_ns(job, 0.0, 1.0);
        }
        part
    }
}

/// Instructions that a wave of code runs for all its items; nothing for code that visits edges.
fn words_of_code(program: &EncodedProgram, wave: &WaveRecord) -> Option<u64> {
    let each = EachRecord::from_parameters(wave.parameters);
    let code = program.code.iter().skip(each.first as usize);
    let mut code = code.take(each.instructions as usize);
    let visits_edges = code.any(|at| at.op == CodeOp::Edges as u32);
    let words = u64::from(each.items) * u64::from(each.instructions);
    (!visits_edges).then_some(words)
}

/// Words that a wave handles one by one; nothing for loops and passes over edges.
fn words(program: &EncodedProgram, wave: &WaveRecord) -> Option<u64> {
    let opcode = Opcode::from_word(wave.opcode)?;
    if opcode == Opcode::Each {
        return words_of_code(program, wave);
    }
    match opcode.facts().work {
        Work::Nothing => Some(0),
        Work::Words(operand) | Work::WideWords(operand) => {
            let register = program.registers.get(register_of(wave, operand) as usize);
            Some(register.map_or(0, |register| u64::from(register.words)))
        }
        Work::Wide => None,
    }
}
