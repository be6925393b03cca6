//! Order of a program's launches, and the check that its tables are consistent.
//!
//! Executors whose host launches each group walk [`Stage`]s instead of records. Building them
//! checks the tables first, so that an inconsistent program is refused at load and not discovered
//! by the device.

use crate::backend::{BackendError, fit};
use crate::program::encoded::EncodedProgram;
use seawall_core::abi::control::{FaultCode, FaultRecord};
use seawall_core::abi::program::{FixpointRecord, GroupRecord, Opcode, WaveRecord};
use seawall_device::scheduler::BodyLaunch;
use std::ops::Range;

/// A loop as the host launches it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct LoopStage {
    pub(super) wave_index: u32,
    /// Number of the loop in the program.
    pub(super) wave: u32,
    pub(super) opcode: u32,
    pub(super) first_group: u32,
    /// Number of body groups, at least 1.
    pub(super) groups: u32,
}

impl LoopStage {
    /// The launches of an iteration, the last of which decides whether another follows.
    pub(super) fn body(&self) -> impl Iterator<Item = BodyLaunch> + use<> {
        let Self {
            wave_index,
            first_group,
            groups,
            ..
        } = *self;
        (0..groups)
            .zip(first_group..)
            .map(move |(index, group)| BodyLaunch {
                fixpoint: wave_index,
                group,
                last: index + 1 == groups,
            })
    }

    /// Returns the fault of a loop whose launches together exceed the time budget.
    pub(super) const fn out_of_time(&self, iteration: u32) -> FaultRecord {
        FaultRecord {
            code: FaultCode::TimeBudget as u32,
            wave: self.wave,
            opcode: self.opcode,
            block: 0,
            epoch: 0,
            arrived: 0,
            expected: 0,
            iteration,
        }
    }
}

/// The next launches of the host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Stage {
    Group(u32),
    /// A loop that follows them, its body as the launches of its groups.
    Loop(LoopStage),
    /// A loop on a register, with the stages of its body.
    While(LoopStage, Vec<Stage>),
}

/// Checks the tables of `program` and lists its stages.
pub(super) fn stages(program: &EncodedProgram) -> Result<Vec<Stage>, BackendError> {
    fit::check_tables(program)?;
    Ok(stages_of(program, 0..program.top_groups))
}

/// One launch.
#[derive(Clone, Copy, Debug)]
pub(super) enum Kernel {
    /// The ordinary waves of a group.
    Group(u32),
    /// The start of a loop, by its index in the wave table.
    Begin(u32),
    /// A group of a loop's body.
    Body(BodyLaunch),
    /// The end of an iteration of a loop on a register.
    Again(u32),
}

/// A host that launches one stage after another.
pub(super) trait StageLauncher {
    /// Launches the ordinary waves of a group.
    fn group(&mut self, group: u32) -> Result<(), BackendError>;
    fn launch(&mut self, kernel: Kernel) -> Result<(), BackendError>;
    fn begin(&mut self, stage: &LoopStage) -> Result<(), BackendError> {
        self.launch(Kernel::Begin(stage.wave_index))
    }
    /// Launches the groups of a loop's body, and ends the iteration.
    fn iteration(&mut self, stage: &LoopStage) -> Result<(), BackendError>;
    /// Ends an iteration of a loop on a register.
    fn again(&mut self, stage: &LoopStage) -> Result<(), BackendError> {
        self.launch(Kernel::Again(stage.wave_index))
    }
    /// Whether another iteration of the open loop follows.
    fn goes_on(&mut self, stage: &LoopStage) -> Result<bool, BackendError>;
}

/// Launches `stages` in their order, loops until they end.
pub(super) fn walk(
    stages: &[Stage],
    launcher: &mut impl StageLauncher,
) -> Result<(), BackendError> {
    for stage in stages {
        match stage {
            Stage::Group(group) => launcher.group(*group)?,
            Stage::Loop(stage) => {
                launcher.begin(stage)?;
                while launcher.goes_on(stage)? {
                    launcher.iteration(stage)?;
                }
            }
            Stage::While(stage, body) => {
                launcher.begin(stage)?;
                while launcher.goes_on(stage)? {
                    walk(body, launcher)?;
                    launcher.again(stage)?;
                }
            }
        }
    }
    Ok(())
}

#[cfg(feature = "cuda")]
pub(super) fn groups_of_stages(program: &EncodedProgram) -> Vec<u32> {
    let group = |index: u32| {
        stages_of(program, index..index + 1)
            .into_iter()
            .map(move |_| index)
    };
    (0..program.top_groups).flat_map(group).collect()
}

/// The stages of some groups. The check has bounded how deep loops are.
fn stages_of(program: &EncodedProgram, groups: Range<u32>) -> Vec<Stage> {
    let mut stages = Vec::new();
    for index in groups {
        let Some(group) = program.groups.get(index as usize) else {
            continue;
        };
        let waves = waves_of(program, group);
        if waves.iter().any(|wave| !is_loop(wave)) {
            stages.push(Stage::Group(index));
        }
        let loops = (group.first_wave..)
            .zip(waves)
            .filter(|(_, wave)| is_loop(wave));
        for (wave_index, wave) in loops {
            let stage = loop_stage(wave_index, wave);
            let groups = stage.first_group..stage.first_group + stage.groups;
            stages.push(if wave.opcode == Opcode::While as u32 {
                Stage::While(stage, stages_of(program, groups))
            } else {
                Stage::Loop(stage)
            });
        }
    }
    stages
}

/// The parameters of every kind of loop begin with its body's groups.
fn loop_stage(wave_index: u32, wave: &WaveRecord) -> LoopStage {
    let FixpointRecord {
        first_group,
        groups,
        ..
    } = FixpointRecord::from_parameters(wave.parameters);
    LoopStage {
        wave_index,
        wave: wave.wave,
        opcode: wave.opcode,
        first_group,
        groups,
    }
}

fn is_loop(wave: &WaveRecord) -> bool {
    [Opcode::Fixpoint as u32, Opcode::While as u32].contains(&wave.opcode)
}

fn waves_of<'a>(program: &'a EncodedProgram, group: &GroupRecord) -> &'a [WaveRecord] {
    let first = group.first_wave as usize;
    program
        .waves
        .get(first..first.saturating_add(group.waves as usize))
        .unwrap_or(&[])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::program::encoded::GraphNeeds;
    use seawall_core::abi::program::{NO_REGISTER, RegisterRecord};
    use seawall_core::abi::search::SearchPolicy;

    fn wave(opcode: Opcode, number: u32, parameters: [u32; 5]) -> WaveRecord {
        WaveRecord {
            opcode: opcode as u32,
            wave: number,
            destination: 0,
            sources: [NO_REGISTER; 4],
            parameters,
        }
    }

    fn group(first_wave: u32, waves: u32) -> GroupRecord {
        GroupRecord {
            first_wave,
            waves,
            narrow: 0,
            joined: 0,
        }
    }

    fn body(first_group: u32, groups: u32) -> [u32; 5] {
        FixpointRecord {
            first_group,
            groups,
            max_iterations: 9,
            frontier: NO_REGISTER,
        }
        .to_parameters()
    }

    /// Group 0: a fill. Group 1: a fixpoint over groups 2 and 3, then a wave without registers.
    fn program() -> EncodedProgram {
        EncodedProgram {
            nodes: 0,
            ids: Vec::new(),
            groups: vec![group(0, 1), group(1, 2), group(3, 1), group(4, 1)],
            top_groups: 2,
            group_bytes: Vec::new(),
            once: Vec::new(),
            waves: vec![
                wave(Opcode::Fill, 10, [0; 5]),
                wave(Opcode::Fixpoint, 11, body(2, 2)),
                wave(Opcode::Nop, 12, [0; 5]),
                wave(Opcode::Meet, 13, [0; 5]),
                wave(Opcode::GenKill, 14, [0; 5]),
            ],
            registers: vec![RegisterRecord {
                region: 0,
                words: 8,
                offset_bytes: 32,
            }],
            code: Vec::new(),
            wave_names: Vec::new(),
            register_names: Vec::new(),
            arena_bytes: 64,
            input_bytes: 0,
            needs: GraphNeeds::default(),
            planned_for: 0,
            search: SearchPolicy::default(),
            own: None,
        }
    }

    fn problem(program: &EncodedProgram) -> String {
        stages(program).map_or_else(|error| error.to_string(), |stages| format!("{stages:?}"))
    }

    #[test]
    fn ordinary_waves_of_a_group_go_before_its_loops() {
        let expected = LoopStage {
            wave_index: 1,
            wave: 11,
            opcode: Opcode::Fixpoint as u32,
            first_group: 2,
            groups: 2,
        };
        let stages = stages(&program()).unwrap();
        assert_eq!(
            stages,
            [Stage::Group(0), Stage::Group(1), Stage::Loop(expected)]
        );
    }

    #[test]
    fn a_group_of_one_loop_has_no_launch_of_its_own() {
        let mut program = program();
        program.groups[1].waves = 1;
        let stages = stages(&program).unwrap();
        assert_eq!(stages.len(), 2);
        assert!(matches!(stages[1], Stage::Loop(_)));
    }

    #[test]
    fn tables_that_contradict_each_other_are_refused() {
        let mut bad = program();
        bad.top_groups = 5;
        assert!(problem(&bad).contains("5 top-level groups"));
        let mut bad = program();
        bad.groups[3].first_wave = u32::MAX;
        assert!(problem(&bad).contains("group 3"));
        for (first, groups) in [(2, 0), (1, 1), (3, 2), (u32::MAX, u32::MAX)] {
            let mut bad = program();
            bad.waves[1].parameters = body(first, groups);
            assert!(
                problem(&bad).contains("the loop of wave 11"),
                "{first} {groups}"
            );
        }
    }

    #[test]
    fn registers_outside_their_region_are_refused() {
        for (words, offset_bytes) in [(9, 32), (1, 64), (1, 2), (u32::MAX, 0), (1, u64::MAX - 3)] {
            let mut bad = program();
            bad.registers[0] = RegisterRecord {
                region: 0,
                words,
                offset_bytes,
            };
            assert!(
                problem(&bad).contains("register 0"),
                "{words} {offset_bytes}"
            );
        }
        let mut bad = program();
        bad.registers[0].region = 7;
        assert!(problem(&bad).contains("region 7"));
    }

    #[test]
    fn a_loop_out_of_time_names_its_wave_and_iteration() {
        let Some(Stage::Loop(stage)) = stages(&program()).unwrap().pop() else {
            panic!("the program ends with a loop");
        };
        let record = stage.out_of_time(55);
        assert_eq!((record.wave, record.iteration), (11, 55));
        assert_eq!(FaultCode::from_word(record.code), FaultCode::TimeBudget);
    }

    #[test]
    fn a_program_without_groups_has_no_stages() {
        let mut empty = program();
        empty.top_groups = 0;
        empty.groups.clear();
        empty.waves.clear();
        assert_eq!(stages(&empty).unwrap(), []);
    }
}
