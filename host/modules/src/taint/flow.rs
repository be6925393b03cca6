//! The flows between values, over summaries across calls.

use super::summary::bit;
use crate::error::ModuleError;
use crate::order::{Rows, Visit, rows_by};
use crate::values::{NONE, Whole};

/// The flows of a program, of which only those to callers and into callees differ by what came
/// before: data that went down into a callee does not come up again at another call.
pub(super) struct Flows {
    /// Inside of functions, and across calls by the summary of the callee.
    pub(super) along: Rows,
    /// Outputs to callers.
    pub(super) up: Rows,
    /// Arguments into callees.
    pub(super) down: Rows,
}

impl Flows {
    /// The flows of a program whose summaries are known.
    ///
    /// # Errors
    /// [`ModuleError::TooLarge`] beyond 2^32 flows of a kind.
    pub(super) fn of(whole: &Whole<'_>, summaries: &[u64]) -> Result<Self, ModuleError> {
        let made = |each: &dyn Fn(&mut Visit<'_>)| {
            rows_by(whole.len(), each).map_err(|found| ModuleError::TooLarge {
                path: "taint".to_owned(),
                what: "flows between values".to_owned(),
                found,
                most: u64::from(u32::MAX),
            })
        };
        let along = || {
            made(&|visit| {
                whole.each_own(&mut *visit);
                across(whole, summaries, visit);
            })
        };
        let up = || {
            made(&|visit| {
                whole.each_dispatch_output(&mut *visit);
                whole.each_result(|output, value, _, _| visit(output, value));
            })
        };
        let down = || {
            made(&|visit| {
                whole.each_dispatch_input(&mut *visit);
                whole.each_argument(|value, number, callee| {
                    if let Some(input) = whole.input(callee, number) {
                        visit(value, input);
                    }
                });
            })
        };
        let (along, (up, down)) = rayon::join(along, || rayon::join(up, down));
        Ok(Self {
            along: along?,
            up: up?,
            down: down?,
        })
    }
}

/// Flows of all calls over the summaries of their callees.
fn across(whole: &Whole<'_>, summaries: &[u64], visit: &mut Visit<'_>) {
    whole.each_result(|output, made, node, site| {
        let word = summaries[output as usize];
        for (input, value) in (0..).zip(whole.values[node as usize].ins(site)) {
            if *value != NONE && word >> bit(input) & 1 == 1 {
                visit(whole.value(node, *value), made);
            }
        }
    });
}
