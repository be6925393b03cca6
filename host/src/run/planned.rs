//! A program that is ready for a machine.

use super::steps::BuildOptions;
use crate::analysis::Built;
use crate::outcome::PlanSummary;
use crate::program::{EncodedProgram, RegisterId};
use std::sync::Arc;

/// A planned program, and the time of planning.
pub(super) struct Planned {
    pub(super) built: Built,
    pub(super) encoded: Arc<EncodedProgram>,
    pub(super) summary: PlanSummary,
    pub(super) plan_ns: u64,
    /// The options that it was built with.
    pub(super) build_options: BuildOptions,
    /// Whether the machine has it already.
    pub(super) is_loaded: bool,
    /// Whether its runs are traced.
    pub(super) is_traced: bool,
}

impl Planned {
    /// Bytes of the registers that are read at the end.
    pub(super) fn output_bytes(&self) -> u64 {
        let registers = &self.encoded.registers;
        let words = |id: RegisterId| {
            let register = registers.get(id.number() as usize);
            register.map_or(0, |register| u64::from(register.words))
        };
        4 * (words(self.built.result) + self.built.parents.map_or(0, words))
    }

    /// Marks the program as loaded on the machine.
    pub(super) fn into_loaded(self) -> Self {
        Self {
            is_loaded: true,
            ..self
        }
    }
}
