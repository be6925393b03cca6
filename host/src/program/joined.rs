//! Groups that need no barrier before them.
//!
//! A word operation handles each word by itself, and the lane of a word depends only on the number
//! of words. So each lane can run all operations on equally many words on its own words, without
//! waiting. Then only reused memory makes lanes depend on each other: the places that a run of such
//! groups touches must be equal or disjoint.

use super::encoded::EncodedProgram;
use super::places::Span;
use super::uses::register_of;
use seawall_core::abi::facts::Facts;
use seawall_core::abi::program::{GroupRecord, RegisterRecord, WaveRecord};

/// Most places of a run; a longer run is split, so that each group is compared with few places.
const PLACES_MAX: usize = 64;

/// Groups that are joined to each other.
#[derive(Debug, Default)]
struct Run {
    words: u32,
    places: Vec<Span>,
}

impl Run {
    /// Adds the operations of a group on `words` words; returns whether they fit.
    fn take(&mut self, words: u32, places: &[Span]) -> bool {
        if self.words != words {
            return false;
        }
        let known = self.places.len();
        for place in places {
            if self.places.contains(place) {
                continue;
            }
            let fits = self
                .places
                .iter()
                .all(|other| place.is_apart_or_same(other));
            if !fits || self.places.len() >= PLACES_MAX {
                self.places.truncate(known);
                return false;
            }
            self.places.push(*place);
        }
        true
    }
}

/// Returns `groups` of `program`, which run in this order, with narrow groups marked that need no
/// barrier before them.
pub(super) fn join(program: &EncodedProgram, groups: &[GroupRecord]) -> Vec<GroupRecord> {
    let facts = |opcode| program.facts_of(opcode);
    let mut groups = groups.to_vec();
    mark(&mut groups, &program.waves, &program.registers, facts);
    groups
}

fn mark(
    groups: &mut [GroupRecord],
    waves: &[WaveRecord],
    registers: &[RegisterRecord],
    facts: impl Fn(u32) -> Option<Facts>,
) {
    let mut run = Run::default();
    for group in groups {
        group.joined = 0;
        let first = group.first_wave as usize;
        let members = waves.get(first..first.saturating_add(group.waves as usize));
        let operations = members
            .filter(|_| group.narrow != 0)
            .and_then(|members| operations(members, registers, &facts));
        let Some((words, places)) = operations else {
            run = Run::default();
            continue;
        };
        if run.take(words, &places) {
            group.joined = 1;
            continue;
        }
        run = Run {
            words,
            places: Vec::new(),
        };
        if !run.take(words, &places) {
            run = Run::default();
        }
    }
}

/// Returns the number of words of a group's operations and the places that they touch; `None` if
/// the numbers differ, or if there are other waves.
fn operations(
    waves: &[WaveRecord],
    registers: &[RegisterRecord],
    facts: impl Fn(u32) -> Option<Facts>,
) -> Option<(u32, Vec<Span>)> {
    let register = |index: u32| registers.get(index as usize);
    let words = register(waves.first()?.destination)?.words;
    let mut places = Vec::new();
    for wave in waves {
        let facts = facts(wave.opcode).filter(|facts| facts.word_wise)?;
        if register(wave.destination)?.words != words || words == 0 {
            return None;
        }
        for operand in facts.reads.iter().chain(facts.writes) {
            let register = register(register_of(wave, *operand))?;
            places.push(Span {
                region: register.region,
                start: register.offset_bytes,
                end: register.offset_bytes.saturating_add(u64::from(words) * 4),
            });
        }
    }
    Some((words, places))
}

#[cfg(test)]
mod tests {
    use super::*;
    use seawall_core::abi::program::{NO_REGISTER, Opcode, Region};

    const WORDS: u32 = 64;

    /// Registers at these offsets of the arena, in words.
    fn registers(offsets: &[u64], words: u32) -> Vec<RegisterRecord> {
        offsets
            .iter()
            .map(|offset| RegisterRecord {
                region: Region::Arena as u32,
                words,
                offset_bytes: offset * 4,
            })
            .collect()
    }

    fn wave(opcode: Opcode, to: u32, from: [u32; 2]) -> WaveRecord {
        WaveRecord {
            opcode: opcode as u32,
            wave: 0,
            destination: to,
            sources: [from[0], from[1], NO_REGISTER, NO_REGISTER],
            parameters: [0; 5],
        }
    }

    /// Encodes one group per wave; returns which are joined.
    fn joined(waves: &[WaveRecord], registers: &[RegisterRecord]) -> Vec<u32> {
        let mut groups: Vec<_> = (0..waves.len() as u32)
            .map(|first_wave| GroupRecord {
                first_wave,
                waves: 1,
                narrow: 1,
                joined: 7,
            })
            .collect();
        let facts = |word| Opcode::from_word(word).map(Opcode::facts);
        mark(&mut groups, waves, registers, facts);
        groups.iter().map(|group| group.joined).collect()
    }

    #[test]
    fn a_chain_of_operations_is_joined_behind_its_first() {
        let waves = [
            wave(Opcode::Iota, 0, [NO_REGISTER; 2]),
            wave(Opcode::Copy, 1, [0, NO_REGISTER]),
            wave(Opcode::Xor, 0, [0, 1]),
            wave(Opcode::Fill, 1, [NO_REGISTER; 2]),
        ];
        assert_eq!(joined(&waves, &registers(&[0, 64], WORDS)), [0, 1, 1, 1]);
    }

    #[test]
    fn other_waves_and_other_lengths_end_a_run() {
        let mut table = registers(&[0, 64, 128], WORDS);
        table[2].words = WORDS - 1;
        let fill = |to| wave(Opcode::Fill, to, [NO_REGISTER; 2]);
        let waves = [
            fill(0),
            fill(1),
            wave(Opcode::Reduce, 2, [0, NO_REGISTER]),
            fill(1),
            fill(2),
            fill(2),
            fill(0),
        ];
        assert_eq!(joined(&waves, &table), [0, 1, 0, 0, 0, 1, 0]);
    }

    #[test]
    fn memory_that_is_used_again_elsewhere_ends_a_run() {
        // Register 2 overlaps both 0 and 1.
        let table = registers(&[0, 64, 32], WORDS);
        let waves = [
            wave(Opcode::Copy, 0, [1, NO_REGISTER]),
            wave(Opcode::Fill, 2, [NO_REGISTER; 2]),
            wave(Opcode::Copy, 2, [2, NO_REGISTER]),
        ];
        assert_eq!(joined(&waves, &table), [0, 0, 1]);
        // The same place does not count twice.
        let table = registers(&[0, 64, 0], WORDS);
        assert_eq!(joined(&waves, &table), [0, 1, 1]);
    }

    #[test]
    fn the_places_of_a_run_are_limited() {
        let offsets: Vec<u64> = (0..100).map(|number| number * 64).collect();
        let waves: Vec<_> = (0..100)
            .map(|to| wave(Opcode::Fill, to, [NO_REGISTER; 2]))
            .collect();
        let joined = joined(&waves, &registers(&offsets, WORDS));
        assert_eq!(joined.iter().filter(|joined| **joined == 0).count(), 2);
        assert_eq!(joined[PLACES_MAX], 0);
    }
}
