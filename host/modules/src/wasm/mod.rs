//! WebAssembly core modules.
//!
//! The sections are read in order; function bodies are then validated and cut into blocks by all
//! threads. The validator is wasmparser's, with every finished proposal and the older exception
//! handling that compilers still emit.

mod body;
mod classes;
mod effects;
mod sections;
mod visit;

pub(crate) use effects::{Effect, effect};

use crate::error::ModuleError;
use crate::model::{Function, Image, Program};
use body::Cut;
use rayon::prelude::*;
use sections::Sections;
use std::sync::Arc;
use wasmparser::{
    Encoding, FuncToValidate, FuncValidatorAllocations, FunctionBody, Parser, Payload,
    ValidPayload, Validator, ValidatorResources, WasmFeatures,
};

/// The first bytes of a module or a component.
pub const MAGIC: &[u8] = b"\0asm";

/// Reads the module in `bytes` and adds it to `program`, by the name `path`.
///
/// # Errors
/// [`ModuleError::Invalid`] with the offset of the first problem, in the order of sections and
/// then of functions; [`ModuleError::Component`]; [`ModuleError::TooLarge`] beyond 4 GiB.
pub fn read(program: &mut Program, path: &str, bytes: Vec<u8>) -> Result<(), ModuleError> {
    let most = u64::from(u32::MAX);
    if bytes.len() as u64 > most {
        return Err(ModuleError::TooLarge {
            path: path.to_owned(),
            what: "bytes of a module".to_owned(),
            found: bytes.len() as u64,
            most,
        });
    }
    let bytes = Arc::new(bytes);
    let invalid = |problem: Problem| ModuleError::Invalid {
        path: path.to_owned(),
        offset: problem.0.offset,
        message: problem.0.message,
    };
    let broken = |error: wasmparser::Error| invalid(error.into());
    let mut sections = Sections::default();
    let mut bodies = Vec::new();
    let mut validator = Validator::new_with_features(features());
    for payload in Parser::new(0).parse_all(&bytes) {
        let payload = payload.map_err(broken)?;
        if let Payload::Version { encoding, .. } = payload
            && encoding != Encoding::Module
        {
            return Err(ModuleError::Component {
                path: path.to_owned(),
            });
        }
        let valid = validator.payload(&payload).map_err(broken)?;
        if let ValidPayload::Func(validator, body) = valid {
            bodies.push((validator, body));
        }
        sections.take(payload).map_err(broken)?;
    }
    let cut = cut_all(&sections, bodies).map_err(invalid)?;
    sections.finish(program, path, Image(bytes), cut);
    Ok(())
}

/// Why bytes are no valid module. It is one word, so that results of operators are in registers.
#[derive(Debug)]
struct Problem(Box<Reason>);

#[derive(Debug)]
struct Reason {
    offset: u64,
    message: String,
}

impl Problem {
    #[cold]
    fn new(offset: u64, message: &str) -> Self {
        // Names of the module are among them, and a terminal would obey control characters.
        let message = message.replace(char::is_control, "\u{fffd}");
        Self(Box::new(Reason { offset, message }))
    }
}

impl From<wasmparser::Error> for Problem {
    #[cold]
    fn from(error: wasmparser::Error) -> Self {
        Self::new(error.offset(), error.message())
    }
}

/// All finished proposals, and what the large toolchains emit besides.
fn features() -> WasmFeatures {
    WasmFeatures::default() | WasmFeatures::LEGACY_EXCEPTIONS
}

/// Validates the bodies and cuts them into blocks, on all threads; the first error by offset wins.
fn cut_all(
    sections: &Sections,
    bodies: Vec<(FuncToValidate<ValidatorResources>, FunctionBody<'_>)>,
) -> Result<Vec<Cut>, Problem> {
    let cut: Vec<Result<Cut, Problem>> = bodies
        .into_par_iter()
        .map_init(
            || (FuncValidatorAllocations::default(), body::Cutter::default()),
            |(memory, cutter), (function, body)| {
                let mut validator = function.into_validator(std::mem::take(memory));
                let cut = cutter.cut(sections, &mut validator, &body);
                *memory = validator.into_allocations();
                cut
            },
        )
        .collect();
    cut.into_iter().collect()
}

/// A function before its body is known.
fn declared(module: u32, index: u32) -> Function {
    Function {
        module,
        index,
        ..Function::default()
    }
}
