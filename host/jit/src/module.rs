//! Functions in executable memory.

use crate::emit::{Emitted, Emitter};
use crate::{CodeWave, JitError, Tables};
use cranelift_codegen::Context;
use cranelift_codegen::isa::OwnedTargetIsa;
use cranelift_codegen::settings::{self, Configurable};
use cranelift_frontend::FunctionBuilderContext;
use cranelift_jit::{JITBuilder, JITModule};
use cranelift_module::{FuncId, Linkage, Module, ModuleError, default_libcall_names};
use seawall_core::abi::compiled::EachCode;

/// A wave and its machine code, which is valid as long as the [`Compiled`] that has it.
#[derive(Clone, Copy, Debug)]
pub struct CompiledWave {
    /// The wave.
    pub wave: CodeWave,
    /// The machine code.
    pub code: EachCode,
}

/// Machine code of waves, and its memory.
pub struct Compiled {
    /// Absent only while it is dropped.
    module: Option<JITModule>,
    waves: Vec<CompiledWave>,
    bytes: usize,
    refused: Option<JitError>,
}

impl std::fmt::Debug for Compiled {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut shown = f.debug_struct("Compiled");
        shown
            .field("waves", &self.waves)
            .field("bytes", &self.bytes);
        shown.finish_non_exhaustive()
    }
}

// SAFETY: the module is used by one thread at a time: where it is made, and where it is dropped.
unsafe impl Send for Compiled {}

// SAFETY: finished code is not changed until the drop, which has the only reference.
unsafe impl Sync for Compiled {}

impl Drop for Compiled {
    fn drop(&mut self) {
        self.waves.clear();
        if let Some(module) = self.module.take() {
            // SAFETY: the code is called only while this value exists.
            unsafe { module.free_memory() };
        }
    }
}

impl Compiled {
    /// Makes machine code of `waves`, sorted by their first instructions. Of waves with the same
    /// first instruction only one gets code; a wave for which there is none is left out, with
    /// [`Self::refused`] as the reason. About 0.5 ms a wave.
    ///
    /// # Errors
    /// [`JitError::Processor`] and [`JitError::Memory`], for all waves.
    pub fn of(tables: &Tables<'_>, waves: &[CodeWave]) -> Result<Self, JitError> {
        let mut waves = waves.to_vec();
        waves.sort_by_key(|wave| wave.record.first);
        waves.dedup_by_key(|wave| wave.record.first);
        let isa = isa()?;
        let mut compiled = Self {
            module: Some(JITModule::new(JITBuilder::with_isa(
                isa,
                default_libcall_names(),
            ))),
            waves: Vec::with_capacity(waves.len()),
            bytes: 0,
            refused: None,
        };
        compiled.fill(tables, &waves)?;
        Ok(compiled)
    }

    fn fill(&mut self, tables: &Tables<'_>, waves: &[CodeWave]) -> Result<(), JitError> {
        let Some(module) = &mut self.module else {
            return Ok(());
        };
        let mut context = module.make_context();
        let mut builder = FunctionBuilderContext::new();
        let mut made: Vec<(CodeWave, FuncId)> = Vec::with_capacity(waves.len());
        for wave in waves {
            let written = emit(tables, wave, module.isa(), (&mut context, &mut builder));
            match written.and_then(|()| define(module, wave, &mut context)) {
                Ok(id) => {
                    let code = context.compiled_code();
                    self.bytes += code.map_or(0, |code| code.code_buffer().len());
                    made.push((*wave, id));
                }
                Err(memory @ JitError::Memory { .. }) => return Err(memory),
                Err(error) => {
                    self.refused.get_or_insert(error);
                    builder = FunctionBuilderContext::new();
                }
            }
            module.clear_context(&mut context);
        }
        let finished = module.finalize_definitions();
        finished.map_err(|error| JitError::Memory {
            reason: text_of(&error),
        })?;
        for (wave, id) in made {
            let code = module.get_finalized_function(id);
            // SAFETY: the function has this signature, as `Emitter` gave it.
            let code = unsafe { std::mem::transmute::<*const u8, EachCode>(code) };
            self.waves.push(CompiledWave { wave, code });
        }
        Ok(())
    }

    /// The waves, sorted by their first instructions.
    #[must_use]
    pub fn waves(&self) -> &[CompiledWave] {
        &self.waves
    }

    /// The reason for which some wave has no machine code.
    #[must_use]
    pub fn refused(&self) -> Option<&JitError> {
        self.refused.as_ref()
    }

    /// Bytes of machine code.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.bytes
    }
}

/// Compiles the function of a wave.
fn define(
    module: &mut JITModule,
    wave: &CodeWave,
    context: &mut Context,
) -> Result<FuncId, JitError> {
    let name = format!("wave_{}", wave.record.first);
    let id = module.declare_function(&name, Linkage::Local, &context.func.signature);
    let id = id.map_err(|error| refused(&error))?;
    let defined = module.define_function(id, context);
    defined.map_err(|error| refused(&error))?;
    Ok(id)
}

/// The text of the machine code that a wave becomes, as Cranelift writes it before registers of
/// stack slots and labels are resolved.
///
/// # Errors
/// As [`Compiled::of`], except for memory.
pub fn assembly(tables: &Tables<'_>, wave: &CodeWave) -> Result<String, JitError> {
    let isa = isa()?;
    let (mut context, mut builder) = (Context::new(), FunctionBuilderContext::new());
    emit(tables, wave, &*isa, (&mut context, &mut builder))?;
    context.set_disasm(true);
    let compiled = context.compile(&*isa, &mut Default::default());
    let compiled = compiled.map_err(|error| JitError::Cranelift {
        reason: format!("{:?}", error.inner),
    })?;
    Ok(compiled.vcode.clone().unwrap_or_default())
}

fn emit(
    tables: &Tables<'_>,
    wave: &CodeWave,
    isa: &dyn cranelift_codegen::isa::TargetIsa,
    (context, builder): (&mut Context, &mut FunctionBuilderContext),
) -> Emitted {
    let frontend = isa.frontend_config();
    Emitter::emit(tables, wave, frontend, (&mut context.func, builder))
}

/// The instructions of this processor.
fn isa() -> Result<OwnedTargetIsa, JitError> {
    let mut flags = settings::builder();
    let set = [
        ("opt_level", "speed"),
        ("unwind_info", "false"),
        ("is_pic", "false"),
        ("use_colocated_libcalls", "false"),
        (
            "enable_verifier",
            if cfg!(debug_assertions) {
                "true"
            } else {
                "false"
            },
        ),
    ];
    for (name, value) in set {
        flags
            .set(name, value)
            .map_err(|error| JitError::Cranelift {
                reason: error.to_string(),
            })?;
    }
    let isa = cranelift_native::builder().map_err(|reason| JitError::Processor {
        reason: reason.to_owned(),
    })?;
    let isa = isa.finish(settings::Flags::new(flags));
    isa.map_err(|error| JitError::Processor {
        reason: error.to_string(),
    })
}

fn refused(error: &ModuleError) -> JitError {
    let reason = text_of(error);
    match error {
        ModuleError::Allocation { .. } => JitError::Memory { reason },
        _ => JitError::Cranelift { reason },
    }
}

/// An error with its causes.
fn text_of(error: &ModuleError) -> String {
    match error {
        ModuleError::Backend(causes) => format!("{causes:#}"),
        other => other.to_string(),
    }
}
