//! Messages for the fault record of a run.

use super::BackendError;
use crate::program::{EncodedProgram, each_use, lists_of};
use seawall_core::abi::UNREACHED;
use seawall_core::abi::control::{ControlRecord, FaultCode, FaultRecord};
use seawall_core::abi::own::own_number;
use seawall_core::abi::program::Opcode;
use std::collections::BTreeSet;

/// Most missing blocks that a message names.
const NAMED_MAX: usize = 8;

/// A register that a wave uses, and that an index may have been of.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct IndexedRegister {
    /// Its name.
    pub name: String,
    /// Whether the wave appends to it.
    pub is_list: bool,
}

/// The registers that an index out of range may have been of: a type of its own, so that errors hold
/// them in one word and stay small.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize)]
#[serde(transparent)]
pub struct IndexedRegisters(pub Vec<IndexedRegister>);

/// A wave of a program.
#[derive(Clone, Debug, Default)]
struct NamedWave {
    name: String,
    /// Word of its opcode.
    opcode: u32,
    /// The registers that it uses, by their words.
    registers: Vec<(u32, IndexedRegister)>,
}

/// The waves of a program, by number.
#[derive(Clone, Debug)]
pub(crate) struct NamedWaves(Vec<NamedWave>);

impl NamedWaves {
    pub(crate) fn of(program: &EncodedProgram) -> Self {
        let mut waves: Vec<_> = program
            .wave_names
            .iter()
            .map(|name| NamedWave {
                name: name.clone(),
                ..NamedWave::default()
            })
            .collect();
        for record in &program.waves {
            let Some(wave) = waves.get_mut(record.wave as usize) else {
                continue;
            };
            wave.opcode = record.opcode;
            let mut used = BTreeSet::new();
            each_use(program, record, |register, _| {
                used.insert(register);
            });
            let lists = lists_of(program, record);
            let indexed = |register: u32| {
                let words = program.registers.get(register as usize)?.words;
                let name = program.register_name(register);
                let is_list = lists.contains(&register);
                Some((words, IndexedRegister { name, is_list }))
            };
            wave.registers = used.into_iter().filter_map(indexed).collect();
        }
        Self(waves)
    }
}

impl NamedWave {
    /// The registers of as many words as an index out of range was compared with.
    fn indexed(&self, record: &FaultRecord) -> Box<IndexedRegisters> {
        if FaultCode::from_word(record.code) != FaultCode::BadIndex {
            return Box::default();
        }
        let all = self.registers.iter();
        let all = all.filter(|(words, _)| *words == record.expected);
        let all = all.map(|(_, register)| register.clone());
        Box::new(IndexedRegisters(all.collect()))
    }
}

/// Returns the error for a kernel that stopped itself and left `control`, in a program with these
/// waves.
pub(crate) fn fault(waves: &NamedWaves, control: &ControlRecord) -> BackendError {
    if FaultCode::from_word(control.fault.code) == FaultCode::StalePlan {
        return BackendError::StalePlan;
    }
    let missing = control.missing_blocks().take(NAMED_MAX).collect();
    fault_of(waves, control.fault, missing)
}

/// Returns the error for a loop that the host ended.
pub(crate) fn host_fault(waves: &NamedWaves, record: FaultRecord) -> BackendError {
    fault_of(waves, record, Box::default())
}

fn fault_of(waves: &NamedWaves, mut record: FaultRecord, missing: Box<[u32]>) -> BackendError {
    let unnamed = NamedWave {
        name: "unnamed".to_owned(),
        opcode: record.opcode,
        ..NamedWave::default()
    };
    let wave = waves.0.get(record.wave as usize).unwrap_or(&unnamed);
    // A thread that gives up within a wave knows only the wave's number.
    if record.opcode == 0 {
        record.opcode = wave.opcode;
    }
    BackendError::Fault {
        record,
        wave_name: wave.name.clone(),
        missing,
        registers: wave.indexed(&record),
    }
}

/// Describes the fault, its place, and the remedy if there is one.
pub(crate) fn text(
    record: &FaultRecord,
    wave_name: &str,
    missing: &[u32],
    registers: &IndexedRegisters,
) -> String {
    let FaultRecord {
        code,
        wave,
        opcode,
        epoch,
        iteration,
        ..
    } = *record;
    let opcode = name(opcode);
    let what = what(record, missing, &registers.0);
    let at = format!(
        "wave {wave} ({wave_name}), {opcode}, iteration {iteration}, barrier epoch {epoch}"
    );
    match FaultCode::from_word(code) {
        FaultCode::BadLaunch | FaultCode::BadBatch | FaultCode::GivenUp | FaultCode::StalePlan => {
            what
        }
        FaultCode::DeviceMissing | FaultCode::DeviceEnded => {
            format!("{what}; {wave_name}, step {iteration}")
        }
        _ => format!("{what}; at {at}"),
    }
}

fn name(word: u32) -> String {
    match (Opcode::from_word(word), own_number(word)) {
        (Some(opcode), _) => format!("opcode {opcode}"),
        (None, Some(number)) => format!("wave {number} of another crate"),
        (None, None) => format!("unknown opcode word {word}"),
    }
}

fn names(missing: &[u32]) -> String {
    let numbers: Vec<String> = missing.iter().map(u32::to_string).collect();
    match &numbers[..] {
        [] => String::new(),
        [one] => format!(", block {one} was missing"),
        all => format!(", blocks {} were missing", all.join(", ")),
    }
}

/// Describes an index that is beyond the end of one of `registers`.
fn bad_index(record: &FaultRecord, registers: &[IndexedRegister]) -> String {
    let (index, words) = (record.arrived, record.expected);
    if let [
        IndexedRegister {
            name,
            is_list: true,
        },
    ] = registers
    {
        return format!(
            "the list {name} has space for {words} values, and one more was appended as value {index}; make it longer"
        );
    }
    let names: Vec<String> = registers
        .iter()
        .map(|IndexedRegister { name, is_list }| match is_list {
            true => format!("the list {name}"),
            false => name.clone(),
        })
        .collect();
    let named = match names.is_empty() {
        true => String::new(),
        false => format!(", {}", names.join(" or ")),
    };
    let longer = match registers.iter().any(|register| register.is_list) {
        true => ", or make the list longer",
        false => "",
    };
    format!(
        "index {index} of a register of {words} words{named}; correct what the wave takes it from{longer}"
    )
}

fn what(record: &FaultRecord, missing: &[u32], registers: &[IndexedRegister]) -> String {
    let (block, arrived, expected) = (record.block, record.arrived, record.expected);
    let text = match FaultCode::from_word(record.code) {
        FaultCode::None => "the kernel ended without a fault",
        FaultCode::UnknownOpcode => {
            "the kernel does not know the opcode; build the program for this version"
        }
        FaultCode::BadRegister => "a register is missing or too short",
        FaultCode::Watchdog => {
            return format!(
                "the time budget ended: {arrived} of {expected} blocks had arrived at a barrier{}, block {block} waited; raise it if the work is only long",
                names(missing)
            );
        }
        FaultCode::BadLaunch => {
            "the launch record is of another version than the kernel; rebuild both"
        }
        FaultCode::NestedFixpoint => "a fixpoint is in the body of another one; unroll one",
        FaultCode::TimeBudget => {
            return format!(
                "the time budget ended during the work of block {block}; raise it if the work is only long"
            );
        }
        FaultCode::BadIndex => return bad_index(record, registers),
        FaultCode::NotANode => {
            return format!(
                "source {arrived} is no node of a graph of {expected} nodes; correct the list of sources, in which {UNREACHED} alone stands for none"
            );
        }
        FaultCode::BadTable => "a group or a wave lies outside its table",
        FaultCode::NoArray => {
            "the launch holds no weights or no incoming edges, which the wave reads; state in the program's needs that it does"
        }
        FaultCode::NoSpace => "a tile of edges takes more shared memory than the launch has",
        FaultCode::NoLoop => "the launch of a loop names a wave that is not a loop",
        FaultCode::NoExpansion => "the body of a search does not expand its frontier",
        FaultCode::BadBatch => {
            "the record of the batch is of another version than the kernel; rebuild both"
        }
        FaultCode::Undeclared => {
            "the wave used an operand or an array that its facts leave out; declare it"
        }
        FaultCode::DeviceMissing => {
            return format!(
                "the time budget ended: {arrived} of {expected} devices had arrived at a barrier of all, device {block} was missing; raise it if the work is only long"
            );
        }
        FaultCode::DeviceEnded => {
            return format!("device {block} ended the run; its own error is the cause");
        }
        FaultCode::StalePlan => "the program was planned for another graph or machine",
        FaultCode::BadParameter => "a parameter of the wave is invalid",
        FaultCode::GivenUp => "the host gave the run up",
        FaultCode::Unknown => {
            return format!("the kernel left the unknown fault code {}", record.code);
        }
    };
    text.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use bytemuck::Zeroable;
    use seawall_core::abi::own::OWN_FIRST;

    fn text_of(code: u32, opcode: u32) -> String {
        let record = FaultRecord {
            code,
            opcode,
            ..Zeroable::zeroed()
        };
        text(&record, "step", &[], &IndexedRegisters::default())
    }

    #[test]
    fn every_code_has_its_own_text() {
        let known = (0..99).filter(|code| FaultCode::from_word(*code) != FaultCode::Unknown);
        let codes: Vec<u32> = known.collect();
        let texts: BTreeSet<String> = codes.iter().map(|code| text_of(*code, 3)).collect();
        assert_eq!((codes.len(), texts.len()), (21, 21), "{texts:#?}");
        assert!(text_of(4711, 3).contains("fault code 4711"));
    }

    #[test]
    fn missing_blocks_are_named_where_they_are_known() {
        let watchdog = |missing: &[u32]| {
            let record = FaultRecord {
                code: FaultCode::Watchdog as u32,
                arrived: 2,
                expected: 4,
                ..Zeroable::zeroed()
            };
            text(&record, "step", missing, &IndexedRegisters::default())
        };
        let none = watchdog(&[]);
        assert!(none.contains("2 of 4 blocks had arrived at a barrier, block 0"));
        assert!(watchdog(&[3]).contains("a barrier, block 3 was missing, block 0"));
        let two = watchdog(&[1, 3]);
        assert!(two.contains("blocks 1, 3 were missing"), "{two}");
    }

    #[test]
    fn opcodes_are_shown_by_name() {
        for opcode in Opcode::ALL {
            let text = text_of(FaultCode::BadRegister as u32, opcode as u32);
            assert!(text.contains(&format!("opcode {opcode:?},")), "{text}");
        }
        let text = text_of(FaultCode::Undeclared as u32, OWN_FIRST + 2);
        assert!(text.contains("wave 2 of another crate"), "{text}");
        let text = text_of(FaultCode::UnknownOpcode as u32, 999);
        assert!(text.contains("unknown opcode word 999"), "{text}");
    }
}
