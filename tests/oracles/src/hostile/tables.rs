//! Tables of programs, joined and rearranged by hand.

use seawall::program::EncodedProgram;
use seawall_core::abi::code::Op;
use seawall_core::abi::program::{GroupRecord, NO_REGISTER, Opcode, RegisterRecord, WaveRecord};

pub(super) fn is_loop(wave: &WaveRecord) -> bool {
    [Opcode::Fixpoint as u32, Opcode::While as u32].contains(&wave.opcode)
}

/// Appends the waves of `other` in the same arena, so that memory is reused.
pub(super) fn append(program: &mut EncodedProgram, other: EncodedProgram) {
    let [waves, registers] = [program.waves.len(), program.registers.len()].map(|at| at as u32);
    let [top, groups] = [program.top_groups, program.groups.len() as u32];
    program.arena_bytes = program.arena_bytes.max(other.arena_bytes);
    program.input_bytes = program.input_bytes.max(other.input_bytes);
    program.needs.incoming |= other.needs.incoming;
    // Each overwrites state that the other would find in a later run.
    program.once.clear();
    let moved = |register: &mut u32| {
        if *register != NO_REGISTER {
            *register += registers;
        }
    };
    // The table's order: top-level groups of both, then bodies of both.
    let body = |group: u32| {
        if group < top {
            group
        } else {
            group + other.top_groups
        }
    };
    for wave in &mut program.waves {
        if is_loop(wave) {
            wave.parameters[0] = body(wave.parameters[0]);
        }
    }
    for mut wave in other.waves {
        moved(&mut wave.destination);
        wave.sources.iter_mut().for_each(moved);
        if is_loop(&wave) {
            wave.parameters[0] += groups;
            moved(&mut wave.parameters[3]);
        }
        if wave.opcode == Opcode::Each as u32 {
            wave.parameters[0] += program.code.len() as u32;
        }
        program.waves.push(wave);
    }
    program.code.extend(other.code.into_iter().map(|mut at| {
        let accesses = Op::from_word(at.op).map_or([None; 2], Op::accesses);
        for (access, register) in accesses.into_iter().zip([&mut at.first, &mut at.second]) {
            if access.is_some() {
                moved(register);
            }
        }
        at
    }));
    let shifted = other.groups.into_iter().map(|group| GroupRecord {
        first_wave: group.first_wave + waves,
        joined: 0,
        ..group
    });
    let (others, bodies): (Vec<_>, Vec<_>) = shifted
        .enumerate()
        .partition(|(at, _)| *at < other.top_groups as usize);
    let at = top as usize;
    let unnumbered = |list: Vec<(usize, GroupRecord)>| list.into_iter().map(|(_, group)| group);
    program.groups.splice(at..at, unnumbered(others));
    program.groups.extend(unnumbered(bodies));
    program.top_groups += other.top_groups;
    program.registers.extend(other.registers);
    unnarrow(program);
}

/// Narrow groups must be consecutive; wide ones may be anywhere.
pub(super) fn unnarrow(program: &mut EncodedProgram) {
    for group in &mut program.groups {
        (group.narrow, group.joined) = (0, 0);
    }
}

/// Returns entry `at` of a table, modulo its length.
pub(super) fn entry<T>(table: &mut [T], at: u32) -> Option<&mut T> {
    let at = (at as usize).checked_rem(table.len())?;
    table.get_mut(at)
}

pub(super) fn set(program: &mut EncodedProgram, wave: u32, change: impl FnOnce(&mut WaveRecord)) {
    if let Some(wave) = entry(&mut program.waves, wave) {
        change(wave);
    }
}

pub(super) fn overlay(program: &mut EncodedProgram, register: u32, on: u32, shift: u32) {
    let Some(RegisterRecord {
        region,
        offset_bytes,
        ..
    }) = entry(&mut program.registers, on).copied()
    else {
        return;
    };
    if let Some(register) = entry(&mut program.registers, register) {
        register.region = region;
        register.offset_bytes = offset_bytes + 16 * u64::from(shift % 64);
    }
}

/// Puts wave `wave` into a separate group before top-level group `before`.
pub(super) fn repeat(program: &mut EncodedProgram, wave: u32, before: u32) {
    let Some(copy) = entry(&mut program.waves, wave).copied() else {
        return;
    };
    let first_wave = program.waves.len() as u32;
    program.waves.push(copy);
    let at = before % (program.top_groups + 1);
    program.groups.insert(
        at as usize,
        GroupRecord {
            first_wave,
            waves: 1,
            narrow: 0,
            joined: 0,
        },
    );
    program.top_groups += 1;
    for wave in &mut program.waves {
        if is_loop(wave) {
            wave.parameters[0] = wave.parameters[0].saturating_add(1);
        }
    }
    unnarrow(program);
}

/// Joins group `group` with the next one, if its waves follow in the table.
pub(super) fn merge(program: &mut EncodedProgram, group: u32) {
    let top = program.top_groups;
    let Some(at) = group.checked_rem(top.saturating_sub(1)) else {
        return;
    };
    let [one, next] = [at as usize, at as usize + 1].map(|at| program.groups[at]);
    if one.first_wave + one.waves != next.first_wave {
        return;
    }
    program.groups[at as usize].waves += next.waves;
    program.groups[at as usize + 1].waves = 0;
    unnarrow(program);
}
