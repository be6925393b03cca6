//! The compiler of a loaded program, before a run or beside it.

use super::Tier;
use crate::backend::CodeReport;
use crate::backend::code::{CodeTables, asked, code_waves};
use crate::spans;
use crate::units::elapsed_ns;
use seawall_core::abi::code::Instruction;
use seawall_core::abi::program::RegisterRecord;
use seawall_device::machine::cpu::{CompiledWave, CompiledWaves};
use seawall_jit::{CodeWave, Compiled, JitError, Tables};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError, Weak};
use std::time::Instant;

#[derive(Debug)]
struct Made {
    waves: Vec<CompiledWave>,
    compiled: Compiled,
    compile_ns: u64,
    /// Whether a run went on meanwhile.
    is_beside: bool,
}

/// A program, and its machine code once that is made.
#[derive(Debug)]
pub(super) struct Compiler {
    nodes: u32,
    registers: Vec<RegisterRecord>,
    code: Vec<Instruction>,
    asked: Vec<CodeWave>,
    is_alone: bool,
    made: OnceLock<Result<Made, JitError>>,
    /// Whether somebody makes it, or has.
    is_begun: AtomicBool,
    /// The time at which a wave of the present run was first interpreted.
    since: Mutex<Option<Instant>>,
    /// Time after which a run asks for machine code, nanoseconds.
    after_ns: u64,
    this: Weak<Tier>,
}

/// The tier of a program without machine code so far, for which a run asks after `after_ns`.
pub(super) fn tier(tables: CodeTables<'_>, after_ns: u64) -> Arc<Tier> {
    let program = tables.program;
    let waves = code_waves(program);
    Arc::new_cyclic(|this| Tier {
        waves: CompiledWaves::new(missing),
        compiler: Compiler {
            nodes: program.nodes,
            registers: tables.registers.to_vec(),
            code: program.code.clone(),
            asked: waves.iter().map(|(_, wave)| asked(wave)).collect(),
            is_alone: tables.is_alone,
            made: OnceLock::new(),
            is_begun: AtomicBool::new(false),
            since: Mutex::new(None),
            after_ns,
            this: Weak::clone(this),
        },
    })
}

/// Has the code of a tier made on a thread of its own, once the run takes as long as that.
///
/// # Safety
/// `waves` must be the address of a [`Tier`].
unsafe fn missing(waves: *const CompiledWaves) {
    // SAFETY: by this function's contract. The waves are the tier's first field.
    let tier = unsafe { &*waves.cast::<Tier>() };
    let compiler = &tier.compiler;
    if compiler.is_begun.load(Ordering::Relaxed) || compiler.lasted_ns() < compiler.after_ns {
        return;
    }
    tier.compile_beside();
}

impl Compiler {
    /// The waves that have machine code so far.
    pub(super) fn made(&self) -> &[CompiledWave] {
        match self.made.get() {
            Some(Ok(made)) => &made.waves,
            _ => &[],
        }
    }

    /// Time for which the present run has interpreted.
    fn lasted_ns(&self) -> u64 {
        let mut since = self.since.lock().unwrap_or_else(PoisonError::into_inner);
        elapsed_ns(*since.get_or_insert_with(Instant::now))
    }

    fn make(&self, is_beside: bool) -> Result<Made, JitError> {
        let started = Instant::now();
        let tables = Tables {
            nodes: self.nodes,
            registers: &self.registers,
            code: &self.code,
            is_alone: self.is_alone,
        };
        let compiled = Compiled::of(&tables, &self.asked)?;
        let waves = compiled.waves().iter().map(|made| CompiledWave {
            record: made.wave.record,
            is_listed: made.wave.is_listed,
            code: made.code,
        });
        Ok(Made {
            waves: waves.collect(),
            compiled,
            compile_ns: elapsed_ns(started),
            is_beside,
        })
    }
}

impl Made {
    fn has(&self, wave: &CodeWave) -> bool {
        let mut waves = self.compiled.waves().iter();
        waves.any(|made| made.wave == *wave)
    }
}

impl Tier {
    /// Notes the start of a run.
    pub(super) fn begin(&self) {
        let since = self.compiler.since.lock();
        *since.unwrap_or_else(PoisonError::into_inner) = None;
    }

    /// How waves run, once that is known.
    pub(super) fn report(&self) -> Option<CodeReport> {
        let compiler = &self.compiler;
        Some(match compiler.made.get()? {
            Err(error) => CodeReport::interpreted(error),
            Ok(made) => CodeReport {
                waves: 0,
                compiled: compiler.asked.iter().filter(|wave| made.has(wave)).count() as u32,
                compile_ns: made.compile_ns,
                bytes: made.compiled.bytes() as u64,
                is_beside: made.is_beside,
                reason: made.compiled.refused().map(ToString::to_string),
            },
        })
    }

    /// Makes the machine code on a thread of its own, unless somebody does or has.
    pub(super) fn compile_beside(&self) {
        let compiler = &self.compiler;
        let Some(tier) = compiler.this.upgrade() else {
            return;
        };
        if compiler.is_begun.swap(true, Ordering::Relaxed) {
            return;
        }
        // Without a thread, runs go on interpreted.
        let builder = std::thread::Builder::new().name("seawall-jit".to_owned());
        let _ = builder.spawn(move || tier.make(true));
    }

    /// Makes the machine code, unless somebody does or has.
    pub(super) fn compile(&self) {
        if !self.compiler.is_begun.swap(true, Ordering::Relaxed) {
            self.make(false);
        }
    }

    fn make(&self, is_beside: bool) {
        let compiler = &self.compiler;
        let made = compiler.made.get_or_init(|| compiler.make(is_beside));
        match made {
            Ok(made) => tracing::debug!(
                waves = made.waves.len(),
                bytes = made.compiled.bytes(),
                ms = spans::ms(made.compile_ns),
                is_beside,
                "compiled"
            ),
            Err(error) => tracing::warn!(%error, "waves stay interpreted"),
        }
        if let Ok(made) = made {
            // SAFETY: the tier has the waves as long as it has what publishes them, and `Compiled`
            // sorts them by their first instructions, each once. Sessions give the tier to threads
            // that run the tables it was made of, as many as `is_alone` says.
            unsafe { self.waves.publish(&made.waves) };
        }
    }
}
