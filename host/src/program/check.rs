//! Proof that a program's tables agree, for programs built by hand.
//!
//! A backend checks them at load, so that no kernel uses an index or an offset out of range.
//! [`proof`](super::proof) proves that registers have the content that waves rely on. Kernels check
//! lengths themselves and report a fault.

use super::code_check::check_code;
use super::encoded::{EncodedProgram, is_loop};
use super::joined::join;
use super::proof::prove;
use super::table_error::TableError;
use super::wave::ACCESS_BYTES;
use seawall_core::abi::program::{FixpointRecord, GroupRecord, Region, RegisterRecord, WaveRecord};

impl EncodedProgram {
    /// Checks that groups, loops and registers stay within their tables and regions, and proves
    /// that registers have the content that waves rely on ([`seawall_core::abi::facts`]). About
    /// linear in the tables.
    ///
    /// # Errors
    /// The first contradiction.
    pub fn check(&self) -> Result<(), TableError> {
        check(self)
    }
}

/// Checks every index that a host, a driver or a kernel will use.
fn check(program: &EncodedProgram) -> Result<(), TableError> {
    let groups = count("groups", program.groups.len())?;
    count("waves", program.waves.len())?;
    count("registers", program.registers.len())?;
    count("instructions", program.code.len())?;
    if program.top_groups > groups {
        return Err(TableError::TopGroups {
            top: program.top_groups,
            groups,
        });
    }
    check_groups(program)?;
    check_runs(program)?;
    program
        .waves
        .iter()
        .filter(|wave| is_loop(wave))
        .try_for_each(|wave| check_loop(program, wave))?;
    check_bodies(program)?;
    program
        .registers
        .iter()
        .enumerate()
        .try_for_each(|(index, register)| check_register(program, index, register))?;
    check_code(program)?;
    prove(program)
}

/// Groups hold waves of the table, and no two the same.
fn check_groups(program: &EncodedProgram) -> Result<(), TableError> {
    let waves = program.waves.len() as u32;
    let mut is_held = vec![false; program.waves.len()];
    for (index, group) in program.groups.iter().enumerate() {
        let range = group.first_wave..group.first_wave.saturating_add(group.waves);
        let end = u64::from(group.first_wave) + u64::from(group.waves);
        if end > u64::from(waves) {
            return Err(TableError::GroupRange {
                group: index,
                first: group.first_wave,
                count: group.waves,
                waves,
            });
        }
        for entry in range {
            if std::mem::replace(&mut is_held[entry as usize], true) {
                return Err(TableError::SharedWave {
                    group: index,
                    entry,
                });
            }
        }
    }
    Ok(())
}

/// Narrow groups that follow each other lie one after the other and have no loop, and groups that
/// claim to need no barrier need none.
fn check_runs(program: &EncodedProgram) -> Result<(), TableError> {
    let top = &program.groups[..program.top_groups as usize];
    for (index, pair) in top.windows(2).enumerate() {
        let [before, group] = pair else { continue };
        let end = before.first_wave + before.waves;
        if before.narrow != 0 && group.narrow != 0 && group.first_wave != end {
            return Err(TableError::NarrowApart {
                group: index + 1,
                first: group.first_wave,
                end,
            });
        }
    }
    for (index, group) in top.iter().enumerate() {
        let found = waves_of(program, group).iter().find(|wave| is_loop(wave));
        if let (Some(wave), true) = (found, group.narrow != 0) {
            return Err(TableError::NarrowLoop {
                group: index,
                wave: wave.wave,
            });
        }
    }
    let sound = join(program, top);
    let mut claims = top.iter().zip(&sound);
    match claims.position(|(group, sound)| group.joined > sound.joined) {
        Some(group) => Err(TableError::Joined { group }),
        None => Ok(()),
    }
}

fn waves_of<'p>(program: &'p EncodedProgram, group: &GroupRecord) -> &'p [WaveRecord] {
    let first = group.first_wave as usize;
    &program.waves[first..first + group.waves as usize]
}

fn count(table: &'static str, entries: usize) -> Result<u32, TableError> {
    u32::try_from(entries).map_err(|_| TableError::TooMany { table, entries })
}

fn check_loop(program: &EncodedProgram, wave: &WaveRecord) -> Result<(), TableError> {
    let FixpointRecord {
        first_group: first,
        groups: count,
        ..
    } = FixpointRecord::from_parameters(wave.parameters);
    let (top, groups) = (program.top_groups, program.groups.len());
    let end = u64::from(first) + u64::from(count);
    if count == 0 || first < top || end > groups as u64 {
        return Err(TableError::BodyRange {
            wave: wave.wave,
            first,
            count,
            top,
            groups,
        });
    }
    Ok(())
}

/// A body belongs to one loop.
fn check_bodies(program: &EncodedProgram) -> Result<(), TableError> {
    let mut is_body = vec![false; program.groups.len()];
    for wave in program.waves.iter().filter(|wave| is_loop(wave)) {
        let record = FixpointRecord::from_parameters(wave.parameters);
        for group in record.first_group..record.first_group.saturating_add(record.groups) {
            let known = is_body.get_mut(group as usize);
            if known.is_some_and(|known| std::mem::replace(known, true)) {
                return Err(TableError::SharedBody {
                    wave: wave.wave,
                    group,
                });
            }
        }
    }
    Ok(())
}

fn check_register(
    program: &EncodedProgram,
    index: usize,
    register: &RegisterRecord,
) -> Result<(), TableError> {
    let region_bytes = match register.region {
        word if word == Region::Arena as u32 => program.arena_bytes,
        word if word == Region::Input as u32 => program.input_bytes,
        region => {
            return Err(TableError::Region {
                register: index,
                region,
            });
        }
    };
    let offset_bytes = register.offset_bytes;
    let end = offset_bytes.checked_add(u64::from(register.words) * 4);
    if end.is_none_or(|end| end > region_bytes) {
        return Err(TableError::RegisterRange {
            register: index,
            words: register.words,
            offset_bytes,
            region_bytes,
        });
    }
    if !offset_bytes.is_multiple_of(ACCESS_BYTES) {
        return Err(TableError::Misaligned {
            register: index,
            offset_bytes,
            alignment_bytes: ACCESS_BYTES,
        });
    }
    Ok(())
}
