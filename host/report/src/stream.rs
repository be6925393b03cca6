//! The part of a report about edges streamed from a file.

use std::io::{self, Write};

use super::head::row;
use seawall::outcome::{Memory, PassSummary, StreamReport};
use seawall::units::{Count, Nanoseconds, bytes, counted};

/// Lines of passes in the text; the rest are counted.
const LINES_MAX: usize = 40;

/// Writes what was read, which also the short report says.
pub(super) fn summary(out: &mut dyn Write, report: &StreamReport) -> io::Result<()> {
    let mut text = format!(
        "{} in {} over {} of edges",
        bytes(report.streamed_bytes),
        plural(report.passes, "pass", "passes"),
        bytes(report.edge_bytes)
    );
    if report.kept_bytes > 0 {
        text += &format!(", {} found in memory", bytes(report.kept_bytes));
    }
    if report.skipped_bytes > 0 {
        text += &format!(", {} left out", bytes(report.skipped_bytes));
    }
    row(out, "streamed", &text)
}

/// Writes the rows of a streamed run after the summary, in place of those of a plan.
pub(super) fn write(out: &mut dyn Write, report: &StreamReport, memory: &Memory) -> io::Result<()> {
    let cache = if report.direct {
        "around the page cache"
    } else {
        "through the page cache"
    };
    let reader = format!(
        "{} {cache}, {} of {} in {}",
        report.reader,
        counted(report.windows, "window"),
        bytes(report.window_bytes),
        counted(report.buffers, "buffer")
    );
    row(out, "reader", &reader)?;
    let budget = memory.budget_bytes;
    let budget = budget.map_or_else(String::new, |budget| format!(" of {}", bytes(budget)));
    let what = if report.keeps { "all edges" } else { "buffers" };
    let held = format!(
        "{}{budget}: nodes and {what}",
        bytes(memory.allocated_bytes)
    );
    row(out, "memory", &held)
}

fn plural(count: u64, one: &str, many: &str) -> String {
    let noun = if count == 1 { one } else { many };
    format!("{} {noun}", Count(count))
}

/// Writes the passes, one per line.
pub(super) fn explain(out: &mut dyn Write, report: &StreamReport) -> io::Result<()> {
    writeln!(out)?;
    writeln!(
        out,
        "  {:>5}  {:>8}  {:>8}  {:>10}  {:>10}  {:>10}  {:>10}",
        "pass", "windows", "left out", "read", "in memory", "left out", "measured"
    )?;
    for (number, pass) in (1..).zip(report.pass_list.iter().take(LINES_MAX)) {
        line(out, number, pass)?;
    }
    let shown = report.pass_list.len().min(LINES_MAX) as u64;
    match report.passes.saturating_sub(shown) {
        0 => Ok(()),
        rest => writeln!(out, "  and {} more passes", Count(rest)),
    }
}

fn line(out: &mut dyn Write, number: u64, pass: &PassSummary) -> io::Result<()> {
    writeln!(
        out,
        "  {number:>5}  {:>8}  {:>8}  {:>10}  {:>10}  {:>10}  {:>10}",
        Count(pass.windows_read + pass.windows_kept).to_string(),
        Count(pass.windows_skipped).to_string(),
        bytes(pass.read_bytes).to_string(),
        bytes(pass.kept_bytes).to_string(),
        bytes(pass.skipped_bytes).to_string(),
        Nanoseconds(pass.duration_ns)
    )
}
