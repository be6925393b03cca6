//! From a builder's waves to the tables that executors walk.
//!
//! The planner groups the waves and lays out the arena; this file only
//! translates its answers into records.

use super::PlanSummary;
use super::builder::{PlanRequest, ProgramBuilder};
use super::encoded::EncodedProgram;
use super::error::ProgramError;
use super::hazards::{Hazards, infer};
use super::joined::join;
use super::proof::prove;
use super::table_error::TableError;
use super::wave::{ALIGNMENT_BYTES, Body, RegisterSpec, Slot, WaveSpec};
use seawall_core::abi::program::{
    FixpointRecord, GroupRecord, NO_REGISTER, Opcode, Region, RegisterRecord, WaveRecord,
};
use seawall_core::plan::{self, ArenaOptions, Budget, Requirements, Results};
use seawall_core::scratch::{ArenaScratchView, GroupScratchView, ScratchView};
use seawall_core::wave::{Dag, Wave};

/// Most words that one block handles in about the time of a grid barrier.
const NARROW_WORDS: u64 = 8192;

/// A list of waves with its groups, as wave numbers.
struct Grouped {
    groups: Vec<Vec<u32>>,
    summary: PlanSummary,
    offsets: Vec<u64>,
}

/// Plans and encodes `builder`.
pub(crate) fn encode(
    builder: &ProgramBuilder,
    request: &PlanRequest,
) -> Result<(EncodedProgram, PlanSummary), ProgramError> {
    builder.check()?;
    let hazards = infer(&builder.registers, &builder.waves, false)?;
    let (inputs, input_bytes) = input_offsets(&builder.registers);
    let resident_bytes = request.resident_bytes.saturating_add(input_bytes);
    let budget = Budget {
        resident_bytes,
        budget_bytes: request.budget_bytes.unwrap_or(u64::MAX),
        readback_bytes: 0,
    };
    let planned = plan_waves(builder, &hazards, &budget, request)?;
    let registers = place_registers(&builder.registers, &hazards, &planned.offsets, &inputs);
    check_arena(&planned.summary, &budget)?;
    let mut tables = Tables::new(builder, registers);
    let top = tables.add_groups(&builder.waves, &planned.groups);
    tables.encoded.top_groups = top;
    join(
        &mut tables.encoded.groups,
        &tables.encoded.waves,
        &tables.encoded.registers,
    );
    tables.add_bodies(builder, request)?;
    tables.encoded.arena_bytes = planned.summary.arena_bytes;
    tables.encoded.input_bytes = input_bytes;
    prove(&tables.encoded).map_err(|error| by_name(builder, error))?;
    Ok((tables.encoded, planned.summary))
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

fn check_arena(summary: &PlanSummary, budget: &Budget) -> Result<(), ProgramError> {
    let available_bytes = budget.budget_bytes.saturating_sub(budget.resident_bytes);
    if summary.arena_bytes > available_bytes {
        return Err(ProgramError::ArenaOverBudget {
            needed_bytes: summary.arena_bytes,
            available_bytes,
        });
    }
    Ok(())
}

/// Offsets of the input registers and bytes of their region.
fn input_offsets(registers: &[RegisterSpec]) -> (Vec<u64>, u64) {
    let mut end = 0;
    let offsets = registers
        .iter()
        .map(|register| {
            let offset = end;
            if register.is_input {
                end += register.bytes();
            }
            offset
        })
        .collect();
    (offsets, end)
}

/// Plans groups and arena of the top-level waves.
fn plan_waves(
    builder: &ProgramBuilder,
    hazards: &Hazards,
    budget: &Budget,
    request: &PlanRequest,
) -> Result<Grouped, ProgramError> {
    let waves = envelopes(builder, hazards);
    let dag = Dag {
        waves: &waves,
        dependencies: &hazards.dependencies,
    };
    let needed = Requirements::for_dag(waves.len(), hazards.dependencies.len());
    let mut words = vec![0; needed.layer_words + needed.dependency_words + needed.pack_words];
    let (layer, rest) = words.split_at_mut(needed.layer_words);
    let (dependency, pack) = rest.split_at_mut(needed.dependency_words);
    let mut bytes = vec![0; needed.pack_bytes];
    let scratch = GroupScratchView::new(ScratchView::new(layer, dependency), pack, &mut bytes);
    let groups = plan::groups(&dag, budget, request.strategy, scratch)?;
    let kept = kept_waves(builder, hazards);
    let mut arena_words = vec![0; needed.arena_words];
    let mut arena_offsets = vec![0; needed.arena_offsets];
    let arena = plan::arena(
        &dag,
        &groups,
        &ArenaOptions {
            alignment_bytes: ALIGNMENT_BYTES,
            results: Results::Bits(&kept),
            ..ArenaOptions::default()
        },
        ArenaScratchView::new(&mut arena_words, &mut arena_offsets),
    )?;
    let summary = groups.summary();
    Ok(Grouped {
        groups: groups
            .iter()
            .map(|group| group.waves.iter().map(|wave| wave.0).collect())
            .collect(),
        summary: PlanSummary {
            groups: groups.len() as u32,
            global_barriers: summary.global_barriers as u32,
            lower_bound: summary.lower_bound,
            peak_group_bytes: summary.peak_group_bytes,
            arena_bytes: arena.bytes(),
        },
        offsets: arena.iter().map(|offsets| offsets.output).collect(),
    })
}

/// Byte envelopes: a wave's output is what it is the first to write.
fn envelopes(builder: &ProgramBuilder, hazards: &Hazards) -> Vec<Wave> {
    let mut waves = vec![
        Wave {
            frontier_bytes: 0,
            scratch_bytes: 0,
            output_bytes: 0,
        };
        builder.waves.len()
    ];
    for (register, owner) in builder.registers.iter().zip(&hazards.owners) {
        if let (Some(owner), false) = (owner, register.is_input) {
            waves[*owner as usize].output_bytes += register.bytes();
        }
    }
    waves
}

/// One bit a wave: whether it owns a register that is kept to the end.
fn kept_waves(builder: &ProgramBuilder, hazards: &Hazards) -> Vec<u32> {
    let mut kept = vec![0_u32; builder.waves.len().div_ceil(32)];
    for (register, owner) in builder.registers.iter().zip(&hazards.owners) {
        if let (Some(owner), true) = (owner, register.is_result) {
            kept[*owner as usize / 32] |= 1 << (owner % 32);
        }
    }
    kept
}

/// Gives every register its place: behind each other in the output region of
/// the owning wave, or in the input region.
fn place_registers(
    registers: &[RegisterSpec],
    hazards: &Hazards,
    outputs: &[u64],
    inputs: &[u64],
) -> Vec<RegisterRecord> {
    let mut next = outputs.to_vec();
    registers
        .iter()
        .enumerate()
        .map(|(at, register)| {
            let (region, offset_bytes, words) = match hazards.owners[at] {
                _ if register.is_input => (Region::Input, inputs[at], register.words),
                Some(owner) => {
                    let offset = next[owner as usize];
                    next[owner as usize] += register.bytes();
                    (Region::Arena, offset, register.words)
                }
                None => (Region::Arena, 0, 0),
            };
            RegisterRecord {
                region: region as u32,
                words,
                offset_bytes,
            }
        })
        .collect()
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
    fn add_bodies(
        &mut self,
        builder: &ProgramBuilder,
        request: &PlanRequest,
    ) -> Result<(), ProgramError> {
        for (index, number) in std::mem::take(&mut self.fixpoints) {
            let wave = &builder.waves[number];
            let Some(body) = &wave.body else { continue };
            let groups = plan_body(builder, wave, body, request)?;
            let first_group = self.encoded.groups.len() as u32;
            let first_wave = self.encoded.waves.len();
            let groups = self.add_groups(&body.waves, &groups);
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
        Ok(())
    }
}

/// Groups the waves of a fixpoint's body. Their registers have places already,
/// so only the order matters.
fn plan_body(
    builder: &ProgramBuilder,
    wave: &WaveSpec,
    body: &Body,
    request: &PlanRequest,
) -> Result<Vec<Vec<u32>>, ProgramError> {
    let name = || wave.name.clone();
    if body.waves.is_empty() {
        return Err(ProgramError::EmptyBody { name: name() });
    }
    if body.waves.iter().any(|inner| inner.body.is_some()) {
        return Err(ProgramError::NestedFixpoint { name: name() });
    }
    let hazards = infer(&builder.registers, &body.waves, true)?;
    let inner = builder.with_waves(body.waves.clone());
    let unlimited = Budget {
        resident_bytes: 0,
        budget_bytes: u64::MAX,
        readback_bytes: 0,
    };
    Ok(plan_waves(&inner, &hazards, &unlimited, request)?.groups)
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
