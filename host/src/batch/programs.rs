//! The programs of a batch, each planned once.
//!
//! Graphs of one size usually have equal programs. Comparing two is cheaper
//! than planning one, and graphs that share a program share its tables.

use crate::analysis::Built;
use crate::program::{EncodedProgram, PlanRequest, ProgramBuilder, ProgramError};
use std::collections::HashMap;
use std::sync::Arc;

/// Programs of one size that are compared: planning costs no more than further comparisons.
const ALIKE_MAX: usize = 64;

/// A program and its tables.
#[derive(Debug)]
struct Known {
    program: ProgramBuilder,
    encoded: Arc<EncodedProgram>,
}

/// Programs planned so far, by input words and nodes.
#[derive(Debug, Default)]
pub(super) struct Programs {
    known: HashMap<(usize, u32), Vec<Known>>,
    count: u64,
}

impl Programs {
    /// Returns the tables of `built`, or those of an equal program.
    ///
    /// # Errors
    /// As [`ProgramBuilder::encode`].
    pub(super) fn encode(&mut self, built: &Built) -> Result<Arc<EncodedProgram>, ProgramError> {
        let key = (built.inputs.len(), built.program.nodes);
        let alike = self.known.entry(key).or_default();
        if let Some(known) = alike.iter().find(|known| known.program == built.program) {
            return Ok(Arc::clone(&known.encoded));
        }
        let (encoded, _) = built.program.encode(&PlanRequest::default())?;
        let encoded = Arc::new(encoded);
        self.count += 1;
        if alike.len() < ALIKE_MAX {
            alike.push(Known {
                program: built.program.clone(),
                encoded: Arc::clone(&encoded),
            });
        }
        Ok(encoded)
    }

    /// Number of planned programs.
    pub(super) const fn count(&self) -> u64 {
        self.count
    }
}
