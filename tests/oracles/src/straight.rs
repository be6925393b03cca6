//! Random scripts of many consecutive word operations.
//!
//! Most registers have equal length, so that long runs of operations depend on each other word by
//! word; other registers, and waves that read all words, interrupt them.

use crate::random::Random;
use crate::script::{Register, Script, Slot, Wave};
use seawall::program::{BitOp, Kind};
use seawall_core::abi::program::Reduction;

/// Registers of equal length.
const ALIKE: u32 = 4;

/// Lengths of the others, words.
const LENGTHS: [u32; 5] = [1, 5, 63, 1024, 3001];

/// Draws a script of `waves` waves on registers of at most `words` words.
#[must_use]
pub fn draw(waves: u32, words: u32, random: &mut Random) -> Script {
    let words = words.max(1);
    let others = LENGTHS.map(|length| length.min(words));
    let lengths = (0..ALIKE).map(|_| words).chain(others);
    let mut script = Script {
        registers: lengths
            .map(|words| Register {
                words,
                kind: Kind::U32,
                input: None,
                keep: true,
            })
            .collect(),
        waves: Vec::new(),
        twins: false,
    };
    for to in 0..script.registers.len() {
        let value = random.word();
        script.waves.push(if random.once_in(2) {
            Wave::Iota { to }
        } else {
            Wave::Fill { to, value }
        });
    }
    for _ in 0..waves {
        let wave = operation(&script, random);
        script.waves.push(wave);
    }
    script
}

fn operation(script: &Script, random: &mut Random) -> Wave {
    let all = script.registers.len() as u32;
    let alike = |random: &mut Random| random.below(ALIKE) as Slot;
    let any = |random: &mut Random| random.below(all) as Slot;
    match random.below(24) {
        0 => {
            let to = any(random);
            // A wave that reads all words must not write its source.
            let from = (to + 1) % all as Slot;
            let how = Reduction::Sum;
            Wave::Reduce { how, to, from }
        }
        1 => Wave::Loop {
            max: 1 + random.below(3),
            body: vec![joined(script, alike(random), random)],
        },
        2..5 => joined(script, any(random), random),
        _ => joined(script, alike(random), random),
    }
}

/// An operation that writes `to`.
fn joined(script: &Script, to: Slot, random: &mut Random) -> Wave {
    let words = script.registers[to].words;
    let long: Vec<Slot> = (0..script.registers.len())
        .filter(|slot| script.registers[*slot].words >= words)
        .collect();
    let mut from = || random.pick(&long).unwrap_or(to);
    let from = [from(), from()];
    match random.below(8) {
        0 => Wave::Fill {
            to,
            value: random.word(),
        },
        1 => Wave::Iota { to },
        2 => Wave::Copy { to, from: from[0] },
        _ => {
            let how = random.pick(&BitOp::ALL).unwrap_or(BitOp::Xor);
            Wave::Combine { how, to, from }
        }
    }
}
