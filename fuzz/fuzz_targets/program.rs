//! Hostile tables for the check that every backend trusts, and random programs on the CPU backend
//! against a plain interpreter.
#![no_main]

use libfuzzer_sys::fuzz_target;
use seawall::backend::{RunLimits, cpu::CpuSession};
use seawall::program::{EncodedProgram, GraphNeeds, TableError};
use seawall_core::abi::program::{
    EachRecord, FixpointRecord, GroupRecord, Opcode, Reduction, Region, RegisterRecord, WaveRecord,
};
use seawall_core::abi::search::SearchPolicy;
use seawall_fuzz::case::Case;
use seawall_fuzz::draw::Draw;
use seawall_oracles::harness::run_script;
use seawall_oracles::straight;

fuzz_target!(|bytes: &[u8]| {
    let mut draw = Draw::new(bytes);
    if draw.byte().is_multiple_of(4) {
        run(&mut draw);
    } else {
        let program = tables(&mut draw);
        if let Err(problem) = program.check() {
            assert!(!problem.to_string().is_empty());
            let is_judged = !is_joined(&program) && !relies_on_others(&problem);
            assert!(!is_sound(&program) || !is_judged, "{problem}");
        } else {
            assert!(is_sound(&program));
        }
    }
});

/// A random program of the tests on a random graph.
fn run(draw: &mut Draw<'_>) {
    let Case {
        list,
        script,
        threads,
    } = Case::draw(draw, |draw, limits, random| {
        if draw.byte() % 4 == 1 {
            straight::draw(8 * limits.waves, 20 * limits.words, random)
        } else {
            seawall_oracles::draw::draw(limits, random)
        }
    });
    let graph = list.graph().expect("drawn edges end inside the graph");
    let limits = RunLimits {
        time_budget_ns: 20_000_000_000,
    };
    let mut session = CpuSession::open(&graph, threads, limits).expect("few threads");
    if let Err(problem) = run_script(&mut session, &list, &script, 1) {
        panic!("{problem}\n{script:?}");
    }
}

fn tables(draw: &mut Draw<'_>) -> EncodedProgram {
    let waves = draw.list(12, |draw| WaveRecord {
        opcode: if draw.flag() {
            Opcode::Fixpoint as u32
        } else {
            draw.below(Opcode::ALL.len() as u32)
        },
        wave: draw.word(),
        destination: draw.word(),
        sources: std::array::from_fn(|_| draw.word()),
        parameters: match draw.byte() {
            0xFF => std::array::from_fn(|_| draw.word()),
            _ => FixpointRecord {
                first_group: draw.below(8),
                groups: draw.below(8),
                max_iterations: draw.word(),
                frontier: draw.word(),
            }
            .to_parameters(),
        },
    });
    for wave in &waves {
        let _ = (
            Opcode::from_word(wave.opcode),
            Reduction::from_word(wave.wave),
        );
    }
    let count = waves.len() as u32 + 2;
    let groups = draw.list(12, |draw| {
        let wild = draw.byte() == 0xFF;
        GroupRecord {
            first_wave: if wild { draw.word() } else { draw.below(count) },
            waves: if wild { draw.word() } else { draw.below(3) },
            narrow: draw.byte().into(),
            joined: u32::from(draw.byte() == 0xFF),
        }
    });
    let registers = draw.list(8, |draw| RegisterRecord {
        region: draw.below(3),
        words: draw.word(),
        offset_bytes: if draw.flag() {
            16 * u64::from(draw.byte())
        } else {
            draw.long()
        },
    });
    EncodedProgram {
        nodes: draw.word(),
        ids: Vec::new(),
        top_groups: draw.below(groups.len() as u32 + 2),
        group_bytes: Vec::new(),
        groups,
        code: Vec::new(),
        wave_names: waves.iter().map(|_| "wave".to_owned()).collect(),
        register_names: Vec::new(),
        once: draw.list(3, |draw| draw.below(waves.len() as u32 + 1)),
        waves,
        registers,
        arena_bytes: draw.long(),
        input_bytes: draw.long(),
        needs: GraphNeeds::default(),
        planned_for: 0,
        search: SearchPolicy::default(),
        own: None,
    }
}

/// Returns whether waves would disturb each other, or read unexpected data. This target does not
/// check that; `tables` does by running accepted tables.
fn relies_on_others(problem: &TableError) -> bool {
    matches!(
        problem,
        TableError::Conflict { .. }
            | TableError::Unproven { .. }
            | TableError::Misplaced { .. }
            | TableError::Expansions { .. }
            | TableError::SharedBody { .. }
            | TableError::BodyRange { count: 0, .. }
    )
}

/// Whether every index stays in its table and every register in its region.
fn is_sound(program: &EncodedProgram) -> bool {
    let groups = program.groups.len();
    let in_waves = program
        .groups
        .iter()
        .all(|group| group.first_wave as usize + group.waves as usize <= program.waves.len());
    let loops = program.waves.iter().filter(|wave| is_loop(wave));
    let in_groups = loops.into_iter().all(|wave| {
        let record = FixpointRecord::from_parameters(wave.parameters);
        let (first, count) = (record.first_group as usize, record.groups as usize);
        count > 0 && first >= program.top_groups as usize && first + count <= groups
    });
    let in_regions = program.registers.iter().all(|register| {
        let region = match register.region {
            word if word == Region::Arena as u32 => program.arena_bytes,
            word if word == Region::Input as u32 => program.input_bytes,
            _ => return false,
        };
        let end = u128::from(register.offset_bytes) + 4 * u128::from(register.words);
        register.offset_bytes % 16 == 0 && end <= region.into()
    });
    program.top_groups as usize <= groups
        && in_waves
        && shares_no_wave(program)
        && keeps_loops_wide(program)
        && in_groups
        && in_regions
        && runs_its_code(program)
        && runs_lie_together(program)
        && program
            .once
            .iter()
            .all(|wave| (*wave as usize) < program.waves.len())
}

fn is_loop(wave: &WaveRecord) -> bool {
    [Opcode::Fixpoint, Opcode::While]
        .map(|opcode| opcode as u32)
        .contains(&wave.opcode)
}

/// Whether waves of code run instructions of the table, over items that exist.
fn runs_its_code(program: &EncodedProgram) -> bool {
    let words = program.registers.iter().map(|register| register.words);
    let most = words.chain([program.nodes, 1 << 16]).max();
    let mut waves = program.waves.iter();
    waves.all(|wave| {
        let record = EachRecord::from_parameters(wave.parameters);
        let end = u64::from(record.first) + u64::from(record.instructions);
        // These tables have no code, so a wave of code has no needs.
        let is_held = end <= program.code.len() as u64 && record.needs == 0;
        wave.opcode != Opcode::Each as u32 || (Some(record.items) <= most && is_held)
    })
}

/// Whether no wave is in two groups.
fn shares_no_wave(program: &EncodedProgram) -> bool {
    let mut held = vec![0; program.waves.len()];
    for group in &program.groups {
        let first = group.first_wave as usize;
        let waves = &mut held[first..first + group.waves as usize];
        waves.iter_mut().for_each(|groups| *groups += 1);
    }
    held.iter().all(|groups| *groups < 2)
}

/// Whether no narrow group has a loop.
fn keeps_loops_wide(program: &EncodedProgram) -> bool {
    let top = &program.groups[..program.top_groups as usize];
    top.iter().all(|group| {
        let first = group.first_wave as usize;
        let mut waves = program.waves[first..first + group.waves as usize].iter();
        group.narrow == 0 || !waves.any(is_loop)
    })
}

/// Returns whether a group claims to need no barrier, which is not checked here.
fn is_joined(program: &EncodedProgram) -> bool {
    program.groups.iter().any(|group| group.joined != 0)
}

/// Returns whether consecutive narrow groups are also consecutive in the table of waves.
fn runs_lie_together(program: &EncodedProgram) -> bool {
    let top = &program.groups[..program.top_groups as usize];
    top.iter().zip(top.iter().skip(1)).all(|(before, group)| {
        before.narrow == 0
            || group.narrow == 0
            || before.first_wave + before.waves == group.first_wave
    })
}
