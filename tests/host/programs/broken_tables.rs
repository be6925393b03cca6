//! Tables that no encoder writes end as a fault of their wave, or are refused at load.

use super::{fault_of, run_watched};
use seawall::backend::BackendError;
use seawall::program::EncodedProgram;
use seawall_core::abi::control::FaultCode;
use seawall_core::abi::program::{NO_REGISTER, Opcode, RegisterRecord, WaveRecord};
use seawall_oracles::faulty;
use seawall_oracles::random::Random;

#[test]
fn an_unknown_opcode_is_a_fault_of_its_wave() {
    for threads in [1, 2, 3] {
        for opcode in [Opcode::ALL.len() as u32, 1000, u32::MAX] {
            let program = faulty::broken(Some(opcode), None).unwrap();
            let (record, wave_name) = fault_of(run_watched(program, threads));
            assert_eq!(FaultCode::from_word(record.code), FaultCode::UnknownOpcode);
            assert_eq!((record.opcode, wave_name.as_str()), (opcode, faulty::COPY));
        }
    }
}

#[test]
fn a_register_that_is_missing_or_too_short_is_a_fault_of_its_wave() {
    for threads in [1, 2, 3] {
        for source in [3, 1000, NO_REGISTER, 2] {
            let program = faulty::broken(None, Some(source)).unwrap();
            let (record, wave_name) = fault_of(run_watched(program, threads));
            assert_eq!(
                FaultCode::from_word(record.code),
                FaultCode::BadRegister,
                "register {source}"
            );
            assert_eq!(wave_name, faulty::COPY);
        }
    }
}

#[test]
fn any_word_of_the_wave_table_may_be_wrong() {
    for seed in 0..150 {
        let mut random = Random::new(seed);
        let mut program = if random.once_in(4) {
            faulty::endless().unwrap()
        } else {
            faulty::plain().unwrap()
        };
        let wave = random.below(program.waves.len() as u32) as usize;
        let word = if random.once_in(2) {
            random.below(30)
        } else {
            random.word()
        };
        set_word(&mut program.waves[wave], random.below(12) as usize, word);
        // Any end except a hang or a crash is correct.
        let _ = run_watched(program, 2);
    }
}

/// Replaces one word of a wave's record.
fn set_word(wave: &mut WaveRecord, at: usize, word: u32) {
    match at {
        0 => wave.opcode = word,
        1 => wave.wave = word,
        2 => wave.destination = word,
        3..=6 => wave.sources[at - 3] = word,
        _ => wave.parameters[at - 7] = word,
    }
}

#[test]
fn inconsistent_tables_are_refused_at_load() {
    let broken: [fn(&mut EncodedProgram); 9] = [
        |program| program.registers[0].offset_bytes += 4,
        |program| program.groups[0].joined = 1,
        |program| {
            program.groups.insert(0, program.groups[0]);
            program.groups[..2]
                .iter_mut()
                .for_each(|group| group.narrow = 1);
            program.top_groups += 1;
        },
        |program| program.registers[0].words = u32::MAX,
        |program| program.registers[0].offset_bytes = u64::MAX - 3,
        |program| program.registers[0].region = 7,
        |program| program.top_groups = 900,
        |program| program.groups[0].waves = u32::MAX,
        |program| {
            program.registers.push(RegisterRecord {
                region: 1,
                words: 1,
                offset_bytes: 0,
            })
        },
    ];
    for (which, damage) in broken.into_iter().enumerate() {
        let mut program = faulty::plain().unwrap();
        damage(&mut program);
        let result = run_watched(program, 2);
        assert!(
            matches!(result, Err(BackendError::BadProgram { .. })),
            "damage {which}: {result:?}"
        );
    }
}
