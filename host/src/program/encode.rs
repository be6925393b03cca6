//! From a builder's waves to the tables that executors walk.
//!
//! `layout` groups the waves and places the registers; this file translates the result
//! into records.

use super::PlanSummary;
use super::builder::{PlanRequest, ProgramBuilder};
use super::encoded::EncodedProgram;
use super::error::ProgramError;
use super::joined::join;
use super::layout::{self, BodyLayout, Layout};
use super::once;
use super::proof::prove;
use super::table_error::TableError;
use super::wave::{Body, Slot, WaveSpec};
use seawall_core::abi::code::{Instruction, Op};
use seawall_core::abi::facts::Work;
use seawall_core::abi::program::{
    EachRecord, FixpointRecord, GroupRecord, NO_REGISTER, Opcode, RegisterRecord, WaveRecord,
    WhileRecord,
};
use seawall_core::ratio::Bps;
use std::collections::VecDeque;

/// Most words that one block handles in about the time of a grid barrier.
const NARROW_WORDS: u64 = 8192;

impl ProgramBuilder {
    /// Plans the program and encodes it for the executors.
    ///
    /// # Errors
    /// [`ProgramError`] for a register that is read before it is written, and for a plan that
    /// exceeds the budget.
    pub fn encode(
        &self,
        request: &PlanRequest,
    ) -> Result<(EncodedProgram, PlanSummary), ProgramError> {
        encode(self, request)
    }
}

fn encode(
    builder: &ProgramBuilder,
    request: &PlanRequest,
) -> Result<(EncodedProgram, PlanSummary), ProgramError> {
    builder.check()?;
    once::check(builder)?;
    let Layout {
        groups,
        group_bytes,
        bodies,
        registers,
        input_bytes,
        summary,
    } = layout::plan(builder, request)?;
    let mut tables = Tables::new(builder, registers);
    let outside = Within {
        name: "",
        first: 0,
        bodies: &bodies,
    };
    let top = tables.add_groups(&builder.waves, &groups, outside);
    tables.encoded.top_groups = top;
    tables.encoded.groups = join(&tables.encoded, &tables.encoded.groups);
    tables.encoded.group_bytes = group_bytes;
    tables.add_bodies();
    tables.encoded.arena_bytes = summary.arena_bytes;
    tables.encoded.input_bytes = input_bytes;
    tables.encoded.planned_for = request.planned_for;
    tables.encoded.search.memory_pressure_bps = memory_pressure(request, &tables.encoded);
    if once::shares_memory(&tables.encoded) {
        tables.encoded.once.clear();
    }
    prove(&tables.encoded).map_err(|error| by_name(builder, error))?;
    Ok((tables.encoded, summary))
}

/// Bytes of graph and plan over the budget, in basis points; 0 without a budget.
fn memory_pressure(request: &PlanRequest, encoded: &EncodedProgram) -> u32 {
    let regions = encoded.arena_bytes.saturating_add(encoded.input_bytes);
    let needed = request.resident_bytes.saturating_add(regions);
    let share = request
        .budget_bytes
        .and_then(|budget| Bps::share(needed, budget));
    share.map_or(0, |share| share.0)
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
            register: builder.registers[register as usize].name.to_string(),
            needs,
        },
        other => ProgramError::Tables(other),
    }
}

struct Tables<'b> {
    encoded: EncodedProgram,
    /// Loops whose bodies are missing.
    open: VecDeque<Loop<'b>>,
}

struct Loop<'b> {
    /// Index of its record in the wave table.
    index: usize,
    wave: &'b WaveSpec,
    name: String,
    layout: &'b BodyLayout,
}

/// Context of waves that are encoded.
#[derive(Clone, Copy)]
struct Within<'a, 'b> {
    /// The names of the loops around them.
    name: &'a str,
    first: u32,
    bodies: &'b [Option<BodyLayout>],
}

impl<'b> Tables<'b> {
    fn new(builder: &ProgramBuilder, registers: Vec<RegisterRecord>) -> Self {
        Self {
            encoded: EncodedProgram {
                nodes: builder.nodes,
                ids: builder.ids().collect(),
                groups: Vec::new(),
                top_groups: 0,
                group_bytes: Vec::new(),
                waves: Vec::new(),
                once: Vec::new(),
                code: Vec::new(),
                registers,
                wave_names: builder.waves.iter().map(|wave| wave.name.clone()).collect(),
                register_names: builder
                    .registers
                    .iter()
                    .map(|register| register.name.to_string())
                    .collect(),
                arena_bytes: 0,
                input_bytes: 0,
                needs: builder.needs,
                planned_for: 0,
                own: builder.own.clone(),
                search: builder.search,
            },
            open: VecDeque::new(),
        }
    }

    /// Adds records for `groups` of `waves`; returns their number.
    fn add_groups(
        &mut self,
        waves: &'b [WaveSpec],
        groups: &[Vec<u32>],
        within: Within<'_, 'b>,
    ) -> u32 {
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
                self.add_wave(wave, number, within);
            }
        }
        groups.len() as u32
    }

    fn add_wave(&mut self, wave: &'b WaveSpec, number: u32, within: Within<'_, 'b>) {
        if let Some(layout) = &within.bodies[number as usize] {
            self.open.push_back(Loop {
                index: self.encoded.waves.len(),
                wave,
                name: format!("{}{}", within.name, wave.name),
                layout,
            });
        }
        if wave.once {
            self.encoded.once.push(self.encoded.waves.len() as u32);
        }
        let mut record = record(within.first + number, wave);
        if wave.does.is(Opcode::Each) {
            record.parameters[0] = self.encoded.code.len() as u32;
            self.encoded.code.extend(&wave.code);
        }
        self.encoded.waves.push(record);
    }

    /// Whether one block is enough for a group.
    fn is_narrow(&self, waves: &[(u32, &WaveSpec)]) -> bool {
        let words = |wave: &WaveSpec| -> Option<u64> {
            let words = |id: Slot| u64::from(self.encoded.registers[id.0 as usize].words);
            if wave.does.is(Opcode::Each) {
                return words_of_code(wave);
            }
            match wave.does.facts().work {
                Work::Nothing => Some(0),
                Work::Words(operand) => Some(wave.operand(operand).map_or(0, words)),
                Work::WideWords(_) | Work::Wide => None,
            }
        };
        waves
            .iter()
            .try_fold(0_u64, |sum, (_, wave)| Some(sum + words(wave)?))
            .is_some_and(|sum| sum <= NARROW_WORDS)
    }

    /// Adds the bodies of all loops after the top-level groups.
    fn add_bodies(&mut self) {
        while let Some(around) = self.open.pop_front() {
            let Some(body) = &around.wave.body else {
                continue;
            };
            let first_group = self.encoded.groups.len() as u32;
            // Body waves are numbered after the other waves.
            let within = Within {
                name: &format!("{} / ", around.name),
                first: self.encoded.wave_names.len() as u32,
                bodies: &around.layout.bodies,
            };
            let names = body.waves.iter().map(|inner| inner.name.as_str());
            let names = names.map(|name| format!("{}{name}", within.name));
            self.encoded.wave_names.extend(names);
            let count = self.add_groups(&body.waves, &around.layout.groups, within);
            let bytes = &around.layout.group_bytes;
            self.encoded.group_bytes.extend(bytes);
            self.encoded.waves[around.index].parameters =
                loop_parameters(&around, body, first_group, count);
        }
    }
}

fn loop_parameters(around: &Loop<'_>, body: &Body, first_group: u32, groups: u32) -> [u32; 5] {
    let max_iterations = body.max_iterations;
    if let Some(condition) = body.condition {
        let record = WhileRecord {
            first_group,
            groups,
            max_iterations,
            condition: condition.0,
            depth: around.layout.depth,
        };
        return record.to_parameters();
    }
    FixpointRecord {
        first_group,
        groups,
        max_iterations,
        frontier: body.frontier.map_or(NO_REGISTER, |register| register.0),
    }
    .to_parameters()
}

/// About the number of words that a block handles in the time of the code; `None` if that depends
/// on edges.
fn words_of_code(wave: &WaveSpec) -> Option<u64> {
    let is_edges = |at: &Instruction| at.op == Op::Edges as u32;
    let items = u64::from(EachRecord::from_parameters(wave.parameters).items);
    let work = items.saturating_mul(1 + wave.code.len() as u64 / 2);
    (!wave.code.iter().any(is_edges)).then_some(work)
}

fn record(number: u32, wave: &WaveSpec) -> WaveRecord {
    let word = |register: Option<Slot>| register.map_or(NO_REGISTER, |register| register.0);
    WaveRecord {
        opcode: wave.does.word(),
        wave: number,
        destination: word(wave.destination),
        sources: wave.sources.map(word),
        parameters: wave.parameters,
    }
}
