//! The waves of a program in the order of their groups, for the trace.

use super::WaveSummary;
use crate::program::EncodedProgram;
use seawall_core::abi::control::ControlRecord;
use seawall_core::abi::program::{FixpointRecord, GroupRecord, Opcode, WaveRecord, WhileRecord};
use std::ops::Range;

/// Lists the waves of `program`, as traces do: if a session ran the program, `control` of that run
/// has the iterations of its loops. Waves of other crates have the names that they declare. Linear
/// in the tables.
#[must_use]
pub fn waves(program: &EncodedProgram, control: &ControlRecord) -> Vec<WaveSummary> {
    let mut list = Listing {
        program,
        control,
        loops: 0,
        waves: Vec::new(),
    };
    for (group, record) in (0..program.top_groups).zip(&program.groups) {
        list.group(group, record, None);
    }
    list.waves
}

/// The groups of a loop's body; nothing for other waves.
fn body_of_loop(wave: &WaveRecord) -> Option<Range<u32>> {
    let (first, groups) = match Opcode::from_word(wave.opcode)? {
        Opcode::Fixpoint => {
            let body = FixpointRecord::from_parameters(wave.parameters);
            (body.first_group, body.groups)
        }
        Opcode::While => {
            let body = WhileRecord::from_parameters(wave.parameters);
            (body.first_group, body.groups)
        }
        _ => return None,
    };
    Some(first..first.saturating_add(groups))
}

struct Listing<'a> {
    program: &'a EncodedProgram,
    control: &'a ControlRecord,
    /// Loops listed so far.
    loops: usize,
    waves: Vec<WaveSummary>,
}

impl Listing<'_> {
    /// Lists the waves of a group: loops last, each followed by its body.
    fn group(&mut self, number: u32, group: &GroupRecord, body_of: Option<&str>) {
        let first = group.first_wave as usize;
        let waves = self.program.waves.iter().skip(first);
        let is_loop = |wave: &&WaveRecord| body_of_loop(wave).is_some();
        let (loops, plain): (Vec<_>, Vec<_>) = waves.take(group.waves as usize).partition(is_loop);
        for wave in plain {
            self.add(number, wave, body_of, None);
        }
        for wave in loops {
            self.repeated(number, wave, body_of);
        }
    }

    /// Lists a loop and its body. Loops are as deep as the check of tables allows.
    fn repeated(&mut self, number: u32, wave: &WaveRecord, body_of: Option<&str>) {
        let iterations = match body_of {
            None => self.next_iterations(),
            // Loops in a body report nothing that lasts.
            Some(_) => None,
        };
        self.add(number, wave, body_of, iterations);
        let name = self.name(wave);
        let Range { start, end } = body_of_loop(wave).unwrap_or_default();
        let groups = self.program.groups.iter().skip(start as usize);
        for (at, group) in (start..end).zip(groups) {
            self.group(at, group, Some(&name));
        }
    }

    /// The iterations of the next loop outside of loops.
    fn next_iterations(&mut self) -> Option<u32> {
        let done = (self.control.loops_done as usize).min(self.control.loops.len());
        let record = self.control.loops[..done].get(self.loops);
        self.loops += 1;
        record.map(|record| record.iterations)
    }

    fn add(
        &mut self,
        group: u32,
        wave: &WaveRecord,
        body_of: Option<&str>,
        iterations: Option<u32>,
    ) {
        let opcode = self.program.opcode_name(wave.opcode);
        let summary = WaveSummary {
            wave: wave.wave,
            name: self.name(wave),
            opcode: opcode.unwrap_or_else(|| wave.opcode.to_string()),
            group,
            body_of: body_of.map(str::to_owned),
            iterations,
        };
        self.waves.push(summary);
    }

    fn name(&self, wave: &WaveRecord) -> String {
        let name = self.program.wave_names.get(wave.wave as usize);
        name.map_or_else(|| format!("wave {}", wave.wave), Clone::clone)
    }
}
