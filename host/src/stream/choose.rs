//! Whether the edges of a file stream, where nobody says so.

use super::execute::check_streams;
use crate::graph::disk::SwgFile;
use crate::graph::memory;
use crate::run::RunRequest;
use crate::units::bytes;

/// Tells why the edges of `file` have to stream: its arrays alone exceed the budget of `request`,
/// or the memory that is left, or there are too many edges for a resident graph. `None` if the
/// graph may fit, or if `request` cannot stream: the graph has to be loaded to find out.
///
/// Reads nothing.
#[must_use]
pub fn reason_to_stream(file: &SwgFile, request: &RunRequest) -> Option<String> {
    check_streams(request).ok()?;
    let arrays = 1 + u64::from(request.analysis.reads_weights());
    let least = 4 * (u64::from(file.node_count()) + 1) + 4 * arrays * file.edges();
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
    Some(format!(
        "the resident graph takes {} at least and {} of memory are left: its edges stream from the file",
        bytes(least),
        bytes(short.available)
    ))
}

/// The reason after a plan for the resident graph was refused.
#[must_use]
pub fn reason_over_budget(needed_bytes: u64, budget_bytes: u64) -> String {
    over(needed_bytes, budget_bytes)
}

fn over(needed: u64, budget: u64) -> String {
    format!(
        "the resident graph takes {} at least and the budget is {}: its edges stream from the file",
        bytes(needed),
        bytes(budget)
    )
}
