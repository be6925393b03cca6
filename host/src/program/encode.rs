//! From a builder's waves to the tables that executors walk.
//!
//! `layout` has the waves grouped and the registers placed; this file only translates
//! that into records.

use super::PlanSummary;
use super::builder::{PlanRequest, ProgramBuilder};
use super::encoded::EncodedProgram;
use super::error::ProgramError;
use super::joined::join;
use super::layout::{self, BodyLayout, Layout};
use super::proof::prove;
use super::table_error::TableError;
use super::wave::{Slot, WaveSpec};
use seawall_core::abi::program::{
    FixpointRecord, GroupRecord, NO_REGISTER, Opcode, RegisterRecord, WaveRecord,
};

/// Most words that one block handles in about the time of a grid barrier.
const NARROW_WORDS: u64 = 8192;

/// Plans and encodes `builder`.
pub(crate) fn encode(
    builder: &ProgramBuilder,
    request: &PlanRequest,
) -> Result<(EncodedProgram, PlanSummary), ProgramError> {
    builder.check()?;
    let Layout {
        groups,
        bodies,
        registers,
        input_bytes,
        summary,
    } = layout::plan(builder, request)?;
    let mut tables = Tables::new(builder, registers);
    let top = tables.add_groups(&builder.waves, &groups);
    tables.encoded.top_groups = top;
    join(
        &mut tables.encoded.groups,
        &tables.encoded.waves,
        &tables.encoded.registers,
    );
    tables.add_bodies(builder, &bodies);
    tables.encoded.arena_bytes = summary.arena_bytes;
    tables.encoded.input_bytes = input_bytes;
    prove(&tables.encoded).map_err(|error| by_name(builder, error))?;
    Ok((tables.encoded, summary))
}

/// An error of tables in the words of their builder.
fn by_name(builder: &ProgramBuilder, error: TableError) -> ProgramError {
    match error {
        TableError::Unproven {
            wave,
            name,
            register,
            needs,
        } => ProgramError::Unproven {
            wave,
            name,
            register: builder.registers[register as usize].name,
            needs,
        },
        other => ProgramError::Tables(other),
    }
}

struct Tables {
    encoded: EncodedProgram,
    /// Index of each fixpoint's record in the wave table, and its wave number.
    fixpoints: Vec<(usize, usize)>,
}

impl Tables {
    fn new(builder: &ProgramBuilder, registers: Vec<RegisterRecord>) -> Self {
        Self {
            encoded: EncodedProgram {
                nodes: builder.nodes,
                ids: builder.ids().collect(),
                groups: Vec::new(),
                top_groups: 0,
                waves: Vec::new(),
                registers,
                wave_names: builder.waves.iter().map(|wave| wave.name.clone()).collect(),
                arena_bytes: 0,
                input_bytes: 0,
                needs: builder.needs,
                search: builder.search,
            },
            fixpoints: Vec::new(),
        }
    }

    /// Adds records for `groups` of `waves`; gives the number of groups.
    fn add_groups(&mut self, waves: &[WaveSpec], groups: &[Vec<u32>]) -> u32 {
        for group in groups {
            let members: Vec<_> = group
                .iter()
                .map(|wave| (*wave, &waves[*wave as usize]))
                .collect();
            self.encoded.groups.push(GroupRecord {
                first_wave: self.encoded.waves.len() as u32,
                waves: group.len() as u32,
                narrow: u32::from(self.is_narrow(&members)),
                joined: 0,
            });
            for (number, wave) in members {
                if wave.body.is_some() {
                    self.fixpoints
                        .push((self.encoded.waves.len(), number as usize));
                }
                self.encoded.waves.push(record(number, wave));
            }
        }
        groups.len() as u32
    }

    /// Whether one block is enough for a group.
    fn is_narrow(&self, waves: &[(u32, &WaveSpec)]) -> bool {
        let words = |wave: &WaveSpec| -> Option<u64> {
            let words = |id: Slot| u64::from(self.encoded.registers[id.0 as usize].words);
            match wave.opcode {
                Opcode::Fill | Opcode::Iota | Opcode::Copy | Opcode::Gather => {}
                Opcode::And | Opcode::Or | Opcode::AndNot | Opcode::Xor | Opcode::GenKill => {}
                Opcode::Nop => return Some(0),
                Opcode::Seed => return Some(wave.sources[0].map_or(0, words)),
                Opcode::Reduce => return Some(wave.sources[0].map_or(0, words)),
                _ => return None,
            }
            wave.destination.map(words)
        };
        waves
            .iter()
            .try_fold(0_u64, |sum, (_, wave)| Some(sum + words(wave)?))
            .is_some_and(|sum| sum <= NARROW_WORDS)
    }

    /// Adds the bodies of all fixpoints behind the top-level groups.
    fn add_bodies(&mut self, builder: &ProgramBuilder, layouts: &[Option<BodyLayout>]) {
        for (index, number) in std::mem::take(&mut self.fixpoints) {
            let wave = &builder.waves[number];
            let (Some(body), Some(layout)) = (&wave.body, &layouts[number]) else {
                continue;
            };
            let first_group = self.encoded.groups.len() as u32;
            let first_wave = self.encoded.waves.len();
            let groups = self.add_groups(&body.waves, &layout.groups);
            for inner in &mut self.encoded.waves[first_wave..] {
                // Body waves report as waves of their own behind the others.
                inner.wave += self.encoded.wave_names.len() as u32;
            }
            self.encoded.wave_names.extend(
                body.waves
                    .iter()
                    .map(|inner| format!("{} / {}", wave.name, inner.name)),
            );
            self.encoded.waves[index].parameters = FixpointRecord {
                first_group,
                groups,
                max_iterations: body.max_iterations,
                frontier: body.frontier.map_or(NO_REGISTER, |register| register.0),
            }
            .to_parameters();
        }
    }
}

fn record(number: u32, wave: &WaveSpec) -> WaveRecord {
    let word = |register: Option<Slot>| register.map_or(NO_REGISTER, |register| register.0);
    WaveRecord {
        opcode: wave.opcode as u32,
        wave: number,
        destination: word(wave.destination),
        sources: wave.sources.map(word),
        parameters: wave.parameters,
    }
}
