//! The default choice whether the edges of a file stream.

use super::execute::check_streams;
use crate::backend::BackendError;
use crate::graph::disk::SwgFile;
use crate::graph::{GraphError, memory};
use crate::run::{RunError, RunRequest};
use crate::units::bytes;

/// Returns why the edges of `file` have to stream: its arrays alone exceed the budget of `request`,
/// or the available memory, or there are too many edges for a resident graph. `None` if the graph
/// may fit, or if `request` cannot stream: the graph has to be loaded to find out.
///
/// Reads nothing.
#[must_use]
pub fn reason_to_stream(file: &SwgFile, request: &RunRequest) -> Option<String> {
    check_streams(request).ok()?;
    let least = least_resident(file, request);
    if file.edges() > u64::from(u32::MAX) {
        return Some(
            "more than 2^32 edges: they stream from the file, and stay in memory where they fit"
                .to_owned(),
        );
    }
    if let Some(budget) = request
        .machine
        .budget_bytes
        .filter(|budget| *budget < least)
    {
        return Some(over(least, budget));
    }
    let short = memory::check(least).err()?;
    Some(beyond_memory(least, short.available))
}

/// Bytes of the arrays that the analysis of `request` reads of the resident graph, without which it
/// does not run.
#[must_use]
pub fn least_resident(file: &SwgFile, request: &RunRequest) -> u64 {
    let arrays = 1 + u64::from(request.analysis.reads_weights());
    4 * (u64::from(file.node_count()) + 1) + 4 * arrays * file.edges()
}

/// Returns why edges have to stream after a run on the resident graph has failed: its plan exceeds
/// the budget, or there is too little memory for it. `None` for failures that a streamed run
/// shares.
#[must_use]
pub fn reason_after_run(failed: &RunError) -> Option<String> {
    match failed {
        RunError::OverBudget {
            needed_bytes,
            budget_bytes,
            ..
        } => Some(over(*needed_bytes, *budget_bytes)),
        RunError::Backend(BackendError::OutOfMemory {
            needed, available, ..
        }) => Some(beyond_memory(*needed, *available)),
        _ => None,
    }
}

/// Works as [`reason_after_run`], after the resident graph could not be loaded.
#[must_use]
pub fn reason_after_load(failed: &GraphError) -> Option<String> {
    match failed {
        GraphError::Memory {
            needed, available, ..
        } => Some(beyond_memory(*needed, *available)),
        _ => None,
    }
}

fn beyond_memory(needed: u64, available: u64) -> String {
    streams(needed, &format!("{} of memory are left", bytes(available)))
}

fn over(needed: u64, budget: u64) -> String {
    streams(needed, &format!("the budget is {}", bytes(budget)))
}

fn streams(needed: u64, limit: &str) -> String {
    let needed = bytes(needed);
    format!(
        "the resident graph takes {needed} at least and {limit}: its edges stream from the file"
    )
}
