//! Machine code of a program's waves, made once that pays.

#[cfg(feature = "jit")]
mod compiler;

#[cfg(not(feature = "jit"))]
use crate::backend::code::NO_COMPILER;
#[cfg(feature = "jit")]
use crate::backend::code::asked;
use crate::backend::code::{CodeTables, code_waves, steps};
use crate::backend::{BackendError, CodeReport};
use crate::executor::Jit;
use crate::graph::Graph;
use crate::program::EncodedProgram;
#[cfg(feature = "jit")]
use seawall_core::abi::program::WaveRecord;
use seawall_device::machine::cpu::{CompiledWave, CompiledWaves};
use std::sync::Arc;
#[cfg(feature = "jit")]
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

/// Time that a thread interprets an instruction for, nanoseconds; see `docs/experiments`.
const STEP_NS: u64 = 3;

/// Time that compiling takes, nanoseconds: at all, and for each instruction.
const COMPILE_NS: (u64, u64) = (300_000, 30_000);

/// The machine code of a program, as threads find it, which may come while they run.
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

    /// The machine code, once it is made; none without a compiler.
    pub(in crate::backend) fn made(&self) -> &[CompiledWave] {
        #[cfg(feature = "jit")]
        return self.compiler.made();
        #[cfg(not(feature = "jit"))]
        &[]
    }
}

/// The machine code of a program, and what decides whether it is made. Sessions that run the same
/// tables may share it.
#[derive(Debug)]
pub(crate) struct ProgramCode {
    #[cfg(feature = "jit")]
    tier: OnceLock<Arc<Tier>>,
    waves: u32,
    /// Time that a run is expected to take in the interpreter, nanoseconds.
    expected_ns: u64,
    /// Time that runs took so far.
    ran_ns: AtomicU64,
    /// Number of runs, which wraps.
    runs: AtomicU32,
    /// Time that compiling is expected to take.
    compile_ns: u64,
}

impl ProgramCode {
    /// Nothing yet, for `program` on `graphs` with `threads` threads in one run.
    pub(crate) fn of<'g>(
        program: &EncodedProgram,
        graphs: impl IntoIterator<Item = &'g Graph>,
        threads: u32,
    ) -> Self {
        let steps = graphs.into_iter().map(|graph| steps(program, graph));
        let steps = steps.fold(0, u64::saturating_add);
        let instructions = program.code.len() as u64;
        Self {
            #[cfg(feature = "jit")]
            tier: OnceLock::new(),
            waves: code_waves(program).len() as u32,
            expected_ns: steps.saturating_mul(STEP_NS) / u64::from(threads.max(1)),
            ran_ns: AtomicU64::new(0),
            runs: AtomicU32::new(0),
            compile_ns: COMPILE_NS.0 + instructions.saturating_mul(COMPILE_NS.1),
        }
    }

    /// The tier for threads of the next run. Makes machine code before, if `policy` asks for it or it
    /// pays for this run. Otherwise, if it may pay yet, a run asks for it that takes long.
    pub(in crate::backend) fn prepare(
        &self,
        policy: Jit,
        tables: CodeTables<'_>,
    ) -> Option<Arc<Tier>> {
        if self.waves == 0 || policy == Jit::Never {
            return None;
        }
        let took_ns = self.ran_ns.load(Ordering::Relaxed);
        let pays = self.expected_ns.max(took_ns) > self.compile_ns;
        self.provide(tables, policy == Jit::Always || pays)
    }

    pub(in crate::backend) fn ran(&self, run_ns: u64) {
        let add = |sum: u64| Some(sum.saturating_add(run_ns));
        let _ = self
            .ran_ns
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, add);
        self.runs.fetch_add(1, Ordering::Relaxed);
    }

    /// Number of runs so far, which wraps.
    pub(crate) fn runs(&self) -> u32 {
        self.runs.load(Ordering::Relaxed)
    }

    /// Makes machine code on a thread of its own, if there is none; runs go on meanwhile.
    pub(crate) fn promote(&self) {
        #[cfg(feature = "jit")]
        if let Some(tier) = self.tier.get() {
            tier.compile_beside();
        }
    }

    #[cfg(feature = "jit")]
    fn provide(&self, tables: CodeTables<'_>, is_due: bool) -> Option<Arc<Tier>> {
        let tier = self
            .tier
            .get_or_init(|| compiler::tier(tables, self.compile_ns));
        tier.begin();
        if is_due {
            tier.compile();
        }
        Some(Arc::clone(tier))
    }

    #[cfg(not(feature = "jit"))]
    fn provide(&self, _: CodeTables<'_>, _: bool) -> Option<Arc<Tier>> {
        None
    }

    /// How waves of code run by `policy`.
    pub(crate) fn report(&self, policy: Jit) -> CodeReport {
        let made = match policy {
            _ if self.waves == 0 => CodeReport::default(),
            Jit::Never => CodeReport::interpreted("not asked for"),
            _ => self.made(),
        };
        CodeReport {
            waves: self.waves,
            ..made
        }
    }

    #[cfg(feature = "jit")]
    fn made(&self) -> CodeReport {
        let report = self.tier.get().and_then(|tier| tier.report());
        report.unwrap_or_else(|| CodeReport::interpreted("too little work"))
    }

    #[cfg(not(feature = "jit"))]
    fn made(&self) -> CodeReport {
        CodeReport::interpreted(NO_COMPILER)
    }
}

/// The code of a session's loaded program, and how it runs.
#[derive(Debug)]
pub(super) struct MachineCode {
    code: Arc<ProgramCode>,
    tier: Option<Arc<Tier>>,
    policy: Jit,
}

impl MachineCode {
    pub(super) fn of(program: &EncodedProgram, graph: &Graph, threads: u32) -> Self {
        Self::shared(&Arc::new(ProgramCode::of(program, [graph], threads)))
    }

    pub(super) fn shared(code: &Arc<ProgramCode>) -> Self {
        Self {
            code: Arc::clone(code),
            tier: None,
            policy: Jit::Auto,
        }
    }

    /// [`ProgramCode::prepare`] for the next run.
    pub(super) fn prepare(&mut self, policy: Jit, program: &EncodedProgram, is_alone: bool) {
        self.policy = policy;
        self.tier = self.code.prepare(policy, CodeTables::of(program, is_alone));
    }

    pub(super) fn ran(&self, run_ns: u64) {
        self.code.ran(run_ns);
    }

    /// The tier for threads of the next run.
    pub(super) fn tier(&self) -> Option<Arc<Tier>> {
        self.tier.clone()
    }

    /// How waves of code run.
    pub(super) fn report(&self) -> CodeReport {
        self.code.report(self.policy)
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
    let tables = CodeTables::of(program, is_alone).for_compiler();
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
