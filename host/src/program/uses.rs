//! The registers that a wave of the tables reads and writes.

use super::encoded::EncodedProgram;
use seawall_core::abi::code::{Access, Op};
use seawall_core::abi::facts::Operand;
use seawall_core::abi::program::{EachRecord, NO_REGISTER, Opcode, WaveRecord, WhileRecord};
use std::collections::BTreeSet;

pub(crate) fn register_of(wave: &WaveRecord, operand: Operand) -> u32 {
    match operand {
        Operand::To => wave.destination,
        Operand::First => wave.sources[0],
        Operand::Second => wave.sources[1],
        Operand::Third => wave.sources[2],
    }
}

/// Calls `visit` with each register that `wave` uses directly, and whether it writes there.
pub(crate) fn each_use(
    program: &EncodedProgram,
    wave: &WaveRecord,
    mut visit: impl FnMut(u32, bool),
) {
    match Opcode::from_word(wave.opcode) {
        Some(Opcode::Each) => each_use_of_code(program, wave, visit),
        Some(Opcode::While) => visit(
            WhileRecord::from_parameters(wave.parameters).condition,
            false,
        ),
        _ => {
            let Some(facts) = program.facts_of(wave.opcode) else {
                return;
            };
            for (operands, writes) in [(facts.reads, false), (facts.writes, true)] {
                for operand in operands {
                    visit(register_of(wave, *operand), writes);
                }
            }
        }
    }
}

/// The lists that the code of `wave` appends to.
pub(crate) fn lists_of(program: &EncodedProgram, wave: &WaveRecord) -> BTreeSet<u32> {
    if wave.opcode != Opcode::Each as u32 {
        return BTreeSet::new();
    }
    let record = EachRecord::from_parameters(wave.parameters);
    let first = record.first as usize;
    let code = first..first.saturating_add(record.instructions as usize);
    let code = program.code.get(code).unwrap_or(&[]).iter();
    let appends = code.filter(|at| at.op == Op::Append as u32);
    appends.map(|at| at.first).collect()
}

fn each_use_of_code(program: &EncodedProgram, wave: &WaveRecord, mut visit: impl FnMut(u32, bool)) {
    for list in wave.sources.iter().take(2) {
        if *list != NO_REGISTER {
            visit(*list, false);
        }
    }
    let record = EachRecord::from_parameters(wave.parameters);
    let first = record.first as usize;
    let code = first..first.saturating_add(record.instructions as usize);
    for at in program.code.get(code).unwrap_or(&[]) {
        let accesses = Op::from_word(at.op).map_or([None; 2], Op::accesses);
        for (access, register) in accesses.into_iter().zip([at.first, at.second]) {
            if let Some(access) = access {
                visit(register, access != Access::Read);
            }
        }
    }
}
