//! Machine code of a loaded program's waves, made once that pays.

#[cfg(feature = "jit")]
mod compiler;

#[cfg(not(feature = "jit"))]
use crate::backend::code::NO_COMPILER;
#[cfg(feature = "jit")]
use crate::backend::code::{asked, tables};
use crate::backend::code::{code_waves, steps};
use crate::backend::{BackendError, CodeReport};
use crate::executor::Jit;
use crate::graph::Graph;
use crate::program::EncodedProgram;
#[cfg(feature = "jit")]
use seawall_core::abi::program::WaveRecord;
use seawall_device::machine::cpu::CompiledWaves;
use std::sync::Arc;

/// Time that a thread interprets an instruction for, nanoseconds; see `docs/experiments`.
const STEP_NS: u64 = 3;

/// Time that compiling takes, nanoseconds: at all, and for each instruction.
const COMPILE_NS: (u64, u64) = (300_000, 30_000);

/// The machine code of a loaded program, as threads find it, which may come while they run.
#[derive(Debug)]
#[repr(C)]
pub(crate) struct Tier {
    /// First, so that its address is that of the tier.
    waves: CompiledWaves,
    #[cfg(feature = "jit")]
    compiler: compiler::Compiler,
}

impl Tier {
    /// Address for threads: a view of the grid that has it finds the code, and asks for it.
    pub(crate) fn waves(&self) -> *const CompiledWaves {
        std::ptr::from_ref(self).cast()
    }
}

/// The machine code of a loaded program, and what decides whether it is made.
#[derive(Debug)]
pub(super) struct MachineCode {
    tier: Option<Arc<Tier>>,
    /// Waves of code of the program.
    waves: u32,
    /// Why the last run was interpreted, if it was.
    reason: Option<String>,
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
        let steps = steps(program, graph);
        let instructions = program.code.len() as u64;
        Self {
            tier: None,
            waves: waves.len() as u32,
            reason: None,
            expected_ns: steps.saturating_mul(STEP_NS) / u64::from(threads.max(1)),
            ran_ns: 0,
            compile_ns: COMPILE_NS.0 + instructions.saturating_mul(COMPILE_NS.1),
        }
    }

    /// Makes machine code, if `policy` asks for it or it pays for the next run. Otherwise, if it
    /// may pay yet, a run asks for it that takes long.
    pub(super) fn prepare(&mut self, policy: Jit, program: &EncodedProgram, is_alone: bool) {
        if self.waves == 0 {
            return;
        }
        let pays = self.expected_ns.max(self.ran_ns) > self.compile_ns;
        if policy == Jit::Never {
            self.tier = None;
            self.reason = Some("not asked for".to_owned());
            return;
        }
        self.reason = None;
        self.provide(program, is_alone, policy == Jit::Always || pays);
    }

    /// Counts the time of a run.
    pub(super) fn ran(&mut self, run_ns: u64) {
        self.ran_ns = self.ran_ns.saturating_add(run_ns);
    }

    /// The tier for threads of the next run.
    pub(super) fn tier(&self) -> Option<Arc<Tier>> {
        self.tier.clone()
    }

    #[cfg(feature = "jit")]
    fn provide(&mut self, program: &EncodedProgram, is_alone: bool, is_due: bool) {
        let after_ns = self.compile_ns;
        let tier = self.tier.get_or_insert_with(|| {
            let waves = code_waves(program);
            let waves = waves.iter().map(|(_, wave)| asked(wave)).collect();
            compiler::tier(program, (waves, is_alone), after_ns)
        });
        tier.compiler.begin();
        if is_due {
            tier.compile();
        }
    }

    #[cfg(not(feature = "jit"))]
    fn provide(&mut self, _: &EncodedProgram, _: bool, _: bool) {
        self.reason = Some(NO_COMPILER.to_owned());
    }

    /// How waves of code run.
    #[cfg(feature = "jit")]
    pub(super) fn report(&self) -> CodeReport {
        let report = self.tier.as_ref().map(|tier| tier.compiler.report());
        let report = report.unwrap_or_default();
        CodeReport {
            waves: self.waves,
            reason: self.reason.clone().or(report.reason),
            ..report
        }
    }

    /// How waves of code run.
    #[cfg(not(feature = "jit"))]
    pub(super) fn report(&self) -> CodeReport {
        CodeReport {
            waves: self.waves,
            reason: self.reason.clone(),
            ..CodeReport::default()
        }
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
