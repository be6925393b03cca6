//! The waves of a program in the order of their groups, for the trace.

use super::WaveSummary;
use crate::program::EncodedProgram;
use seawall_core::abi::control::ControlRecord;
use seawall_core::abi::program::{FixpointRecord, GroupRecord, Opcode, WaveRecord};

/// Lists the waves of `program`; loops have the iterations that `control`
/// counted. Linear in the tables.
pub(crate) fn waves(program: &EncodedProgram, control: &ControlRecord) -> Vec<WaveSummary> {
    let mut list = Listing {
        program,
        control,
        loops: 0,
        waves: Vec::new(),
    };
    for (group, record) in (0..program.top_groups).zip(&program.groups) {
        list.group((group, record), None);
    }
    list.waves
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
    fn group(&mut self, (number, group): (u32, &GroupRecord), body_of: Option<&str>) {
        let first = group.first_wave as usize;
        let waves = self.program.waves.iter().skip(first);
        let is_loop = |wave: &&WaveRecord| wave.opcode == Opcode::Fixpoint as u32;
        let (loops, plain): (Vec<_>, Vec<_>) = waves.take(group.waves as usize).partition(is_loop);
        for wave in plain {
            self.add((number, wave), body_of, None);
        }
        // A body holds no loop, so this is the deepest level.
        for wave in loops.into_iter().filter(|_| body_of.is_none()) {
            self.repeated((number, wave));
        }
    }

    fn repeated(&mut self, (number, wave): (u32, &WaveRecord)) {
        let done = (self.control.loops_done as usize).min(self.control.loops.len());
        let record = self.control.loops[..done].get(self.loops);
        let iterations = record.map(|record| record.iterations);
        self.loops += 1;
        self.add((number, wave), None, iterations);
        let name = self.name(wave);
        let body = FixpointRecord::from_parameters(wave.parameters);
        let groups = self.program.groups.iter().skip(body.first_group as usize);
        for (at, group) in (body.first_group..).zip(groups.take(body.groups as usize)) {
            self.group((at, group), Some(&name));
        }
    }

    fn add(
        &mut self,
        (group, wave): (u32, &WaveRecord),
        body_of: Option<&str>,
        iterations: Option<u32>,
    ) {
        let opcode = self.program.opcode_name(wave.opcode);
        let summary = WaveSummary {
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
