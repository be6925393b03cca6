//! Proof that a program's tables agree, for programs built by hand.
//!
//! A backend checks them at load, so that no kernel follows an index or an
//! offset that leads outside. What waves do with their registers is not looked
//! at; kernels check lengths themselves and report a fault.

use super::encoded::EncodedProgram;
use super::joined::join;
use seawall_core::abi::program::{FixpointRecord, Opcode, Region, RegisterRecord, WaveRecord};

/// Bytes of the widest access of a kernel, to which registers are aligned.
const ACCESS_BYTES: u64 = 16;

/// Checks every index that a host, a driver or a kernel will use.
///
/// # Errors
/// The first contradiction.
pub(super) fn check(program: &EncodedProgram) -> Result<(), String> {
    let groups = count("groups", program.groups.len())?;
    let waves = count("waves", program.waves.len())?;
    count("registers", program.registers.len())?;
    if program.top_groups > groups {
        return Err(format!(
            "{} top-level groups in a table of {groups}",
            program.top_groups
        ));
    }
    for (index, group) in program.groups.iter().enumerate() {
        if u64::from(group.first_wave) + u64::from(group.waves) > u64::from(waves) {
            return Err(format!(
                "group {index} holds {} waves from {}, the table {waves}",
                group.waves, group.first_wave
            ));
        }
    }
    check_runs(program)?;
    let is_fixpoint = |wave: &&WaveRecord| wave.opcode == Opcode::Fixpoint as u32;
    program
        .waves
        .iter()
        .filter(is_fixpoint)
        .try_for_each(|wave| check_loop(program, wave))?;
    program
        .registers
        .iter()
        .enumerate()
        .try_for_each(|(index, register)| check_register(program, index, register))
}

/// Narrow groups that follow each other lie behind each other, and those that say
/// they need no barrier need none.
fn check_runs(program: &EncodedProgram) -> Result<(), String> {
    let top = &program.groups[..program.top_groups as usize];
    for (index, pair) in top.windows(2).enumerate() {
        let [before, group] = pair else { continue };
        let end = before.first_wave + before.waves;
        if before.narrow != 0 && group.narrow != 0 && group.first_wave != end {
            return Err(format!(
                "narrow group {} starts at wave {}, the one before it ends at {end}",
                index + 1,
                group.first_wave
            ));
        }
    }
    let mut sound = top.to_vec();
    join(&mut sound, &program.waves, &program.registers);
    let claims = top.iter().zip(&sound);
    match claims
        .into_iter()
        .position(|(group, sound)| group.joined > sound.joined)
    {
        Some(index) => Err(format!(
            "group {index} is joined to the one before it, but depends on it by more than single words"
        )),
        None => Ok(()),
    }
}

fn count(what: &str, length: usize) -> Result<u32, String> {
    u32::try_from(length).map_err(|_| format!("{length} {what}, more than 32 bits count"))
}

fn check_loop(program: &EncodedProgram, wave: &WaveRecord) -> Result<(), String> {
    let number = wave.wave;
    let FixpointRecord {
        first_group,
        groups,
        ..
    } = FixpointRecord::from_parameters(wave.parameters);
    let end = u64::from(first_group) + u64::from(groups);
    if groups == 0 || first_group < program.top_groups || end > program.groups.len() as u64 {
        return Err(format!(
            "the loop of wave {number} has {groups} body groups from {first_group}; bodies are groups {} to {}",
            program.top_groups,
            program.groups.len()
        ));
    }
    Ok(())
}

fn check_register(
    program: &EncodedProgram,
    index: usize,
    register: &RegisterRecord,
) -> Result<(), String> {
    let region_bytes = match register.region {
        word if word == Region::Arena as u32 => program.arena_bytes,
        word if word == Region::Input as u32 => program.input_bytes,
        word => {
            return Err(format!(
                "register {index} is in region {word}, there is none"
            ));
        }
    };
    let end = register
        .offset_bytes
        .checked_add(u64::from(register.words) * 4);
    if end.is_none_or(|end| end > region_bytes) {
        return Err(format!(
            "register {index} has {} words at byte {}, its region {region_bytes} bytes",
            register.words, register.offset_bytes
        ));
    }
    if !register.offset_bytes.is_multiple_of(ACCESS_BYTES) {
        return Err(format!(
            "register {index} starts at byte {}, which is no multiple of {ACCESS_BYTES}",
            register.offset_bytes
        ));
    }
    Ok(())
}
