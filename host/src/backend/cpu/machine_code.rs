//! Machine code of a loaded program's waves, made once that pays.

use crate::backend::{BackendError, CodeReport};
use crate::executor::Jit;
use crate::graph::Graph;
use crate::program::EncodedProgram;
use seawall_core::abi::code::Op;
use seawall_core::abi::program::{EachRecord, NO_REGISTER, Opcode, WaveRecord};
use seawall_device::grid::host::CompiledWave;
use std::sync::Arc;

/// Time that a thread interprets an instruction for, nanoseconds; see `docs/experiments`.
const STEP_NS: u64 = 3;

/// Time that compiling takes, nanoseconds: at all, and for each instruction.
const COMPILE_NS: (u64, u64) = (300_000, 30_000);

/// Iterations of a loop that are expected.
const ROUNDS: u64 = 4;

/// The reason of a build without a compiler.
#[cfg(not(feature = "jit"))]
const NO_COMPILER: &str = "this build has no compiler, the feature jit";

/// Machine code of waves and its memory.
#[derive(Debug)]
pub(crate) struct Made {
    waves: Vec<CompiledWave>,
    /// The memory of the code.
    #[cfg(feature = "jit")]
    _code: seawall_jit::Compiled,
}

impl Made {
    /// The waves that have machine code.
    pub(crate) fn waves(&self) -> &[CompiledWave] {
        &self.waves
    }
}

/// The machine code of a loaded program, and what decides whether it is made.
#[derive(Debug)]
pub(super) struct MachineCode {
    made: Option<Arc<Made>>,
    report: CodeReport,
    /// Whether it was made, or could not be.
    is_settled: bool,
    /// Time that a run is expected to take in the interpreter, nanoseconds.
    expected_ns: u64,
    /// Time that runs took so far.
    ran_ns: u64,
    /// Time that compiling is expected to take.
    compile_ns: u64,
}

impl MachineCode {
    /// Nothing yet, for `program` on `graph` with `threads` threads.
    pub(super) fn of(program: &EncodedProgram, graph: &Graph, threads: u32) -> Self {
        let waves = code_waves(program);
        let steps = waves.iter().fold(0_u64, |sum, (place, wave)| {
            sum.saturating_add(steps_of(program, graph, *place, wave))
        });
        let instructions = program.code.len() as u64;
        Self {
            made: None,
            report: CodeReport {
                waves: waves.len() as u32,
                ..CodeReport::default()
            },
            is_settled: waves.is_empty(),
            expected_ns: steps.saturating_mul(STEP_NS) / u64::from(threads.max(1)),
            ran_ns: 0,
            compile_ns: COMPILE_NS.0 + instructions.saturating_mul(COMPILE_NS.1),
        }
    }

    /// Makes machine code, if `policy` asks for it or it pays for the next run.
    pub(super) fn prepare(&mut self, policy: Jit, program: &EncodedProgram, is_alone: bool) {
        let pays = self.expected_ns.max(self.ran_ns) > self.compile_ns;
        let is_due = match policy {
            Jit::Never => false,
            Jit::Auto => pays,
            Jit::Always => true,
        };
        if self.is_settled {
            return;
        }
        if !is_due {
            let reason = match policy {
                Jit::Never => "not asked for",
                _ => "too little work",
            };
            self.report.reason = Some(reason.to_owned());
            return;
        }
        self.is_settled = true;
        self.report.reason = None;
        self.compile(program, is_alone);
    }

    /// Counts the time of a run.
    pub(super) fn ran(&mut self, run_ns: u64) {
        self.ran_ns = self.ran_ns.saturating_add(run_ns);
    }

    /// The machine code, if there is some.
    pub(super) fn made(&self) -> Option<Arc<Made>> {
        self.made.clone()
    }

    pub(super) fn report(&self) -> CodeReport {
        self.report.clone()
    }

    #[cfg(feature = "jit")]
    fn compile(&mut self, program: &EncodedProgram, is_alone: bool) {
        let started = std::time::Instant::now();
        let tables = tables(program, is_alone);
        let asked: Vec<_> = code_waves(program)
            .iter()
            .map(|(_, wave)| asked(wave))
            .collect();
        let compiled = seawall_jit::Compiled::of(&tables, &asked);
        self.report.compile_ns = crate::units::elapsed_ns(started);
        match compiled {
            Ok(compiled) => {
                let waves = compiled.waves().iter();
                let waves = waves.map(|made| CompiledWave {
                    record: made.wave.record,
                    is_listed: made.wave.is_listed,
                    code: made.code,
                });
                let waves: Vec<_> = waves.collect();
                let has_code = |wave: &&seawall_jit::CodeWave| {
                    let has = |made: &CompiledWave| {
                        made.record == wave.record && made.is_listed == wave.is_listed
                    };
                    waves.iter().any(has)
                };
                self.report.compiled = asked.iter().filter(has_code).count() as u32;
                self.report.bytes = compiled.bytes() as u64;
                self.report.reason = compiled.refused().map(ToString::to_string);
                let _code = compiled;
                self.made = Some(Arc::new(Made { waves, _code }));
            }
            Err(error) => self.report.reason = Some(error.to_string()),
        }
    }

    #[cfg(not(feature = "jit"))]
    fn compile(&mut self, _: &EncodedProgram, _: bool) {
        self.report.reason = Some(NO_COMPILER.to_owned());
    }
}

/// The text of the machine code of every wave of code, with the names of waves, for one thread if
/// `is_alone`.
///
/// # Errors
/// [`BackendError::NoCode`] with the reason for which there is none.
#[cfg(feature = "jit")]
pub fn assembly(
    program: &EncodedProgram,
    is_alone: bool,
) -> Result<Vec<(String, String)>, BackendError> {
    let tables = tables(program, is_alone);
    let text = |(_, wave): &(usize, WaveRecord)| {
        let text = seawall_jit::assembly(&tables, &asked(wave));
        let name = program.wave_names.get(wave.wave as usize);
        let name = name.cloned().unwrap_or_else(|| "unnamed".to_owned());
        let text = text.map_err(|error| BackendError::NoCode {
            reason: error.to_string(),
        })?;
        Ok((name, text))
    };
    code_waves(program).iter().map(text).collect()
}

/// [`assembly`] without a compiler.
///
/// # Errors
/// Always.
#[cfg(not(feature = "jit"))]
pub fn assembly(_: &EncodedProgram, _: bool) -> Result<Vec<(String, String)>, BackendError> {
    Err(BackendError::NoCode {
        reason: NO_COMPILER.to_owned(),
    })
}

#[cfg(feature = "jit")]
fn tables(program: &EncodedProgram, is_alone: bool) -> seawall_jit::Tables<'_> {
    seawall_jit::Tables {
        nodes: program.nodes,
        registers: &program.registers,
        code: &program.code,
        is_alone,
    }
}

#[cfg(feature = "jit")]
fn asked(wave: &WaveRecord) -> seawall_jit::CodeWave {
    seawall_jit::CodeWave {
        record: EachRecord::from_parameters(wave.parameters),
        is_listed: wave.sources[0] != NO_REGISTER,
    }
}

/// The waves that run some code, with their places in the table.
fn code_waves(program: &EncodedProgram) -> Vec<(usize, WaveRecord)> {
    let waves = program.waves.iter().copied().enumerate();
    let runs_code = |wave: &WaveRecord| {
        let record = EachRecord::from_parameters(wave.parameters);
        wave.opcode == Opcode::Each as u32 && record.instructions > 0
    };
    waves.filter(|(_, wave)| runs_code(wave)).collect()
}

/// Instructions that a run is expected to take in a wave: all items, and all edges where it has a
/// part for them, in some iterations if it is in a loop.
fn steps_of(program: &EncodedProgram, graph: &Graph, place: usize, wave: &WaveRecord) -> u64 {
    let record = EachRecord::from_parameters(wave.parameters);
    let first = record.first as usize;
    let code = program
        .code
        .get(first..first.saturating_add(record.instructions as usize));
    let code = code.unwrap_or_default();
    let of_edges = |at: &seawall_core::abi::code::Instruction| {
        (at.op == Op::Edges as u32).then_some(u64::from(at.second) + 1)
    };
    let of_edges: u64 = code.iter().filter_map(of_edges).sum();
    let of_items = (code.len() as u64).saturating_sub(of_edges);
    let mut top = program.groups.iter().take(program.top_groups as usize);
    let is_top = top.any(|group| {
        let first = group.first_wave as usize;
        (first..first.saturating_add(group.waves as usize)).contains(&place)
    });
    let rounds = if is_top { 1 } else { ROUNDS };
    let items = u64::from(record.items).saturating_mul(of_items);
    let edges = u64::from(graph.edges()).saturating_mul(of_edges);
    items.saturating_add(edges).saturating_mul(rounds)
}
