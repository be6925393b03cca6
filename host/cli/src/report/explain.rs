//! The explanation of a run: a table of groups, and the steps of searches.

use std::io::{self, Write};

use serde::Serialize;

use super::stream;
use seawall::outcome::{GroupSummary, PassSummary, RunOutcome, StepSummary};
use seawall::run::ProgramExplanation;
use seawall::units::{Count, Nanoseconds, bytes};

/// Lines of steps in the text; the rest are counted.
const LINES_MAX: usize = 40;

/// The explanation in JSON.
#[derive(Serialize)]
pub(crate) struct Explanation<'a> {
    groups: &'a [GroupSummary],
    steps: &'a [StepSummary],
    steps_total: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    passes: Option<&'a [PassSummary]>,
}

impl<'a> Explanation<'a> {
    pub(super) fn of(outcome: &'a RunOutcome) -> Self {
        Self {
            groups: &outcome.groups,
            steps: &outcome.steps,
            steps_total: outcome.steps_total,
            passes: outcome.stream.as_ref().map(|stream| &*stream.pass_list),
        }
    }

    pub(crate) fn of_program(told: &'a ProgramExplanation) -> Self {
        Self {
            groups: &told.groups,
            steps: &told.steps,
            steps_total: told.steps_total,
            passes: None,
        }
    }
}

/// Writes the groups of a run, and the steps of its searches.
///
/// # Errors
/// If `out` fails.
pub fn write(outcome: &RunOutcome, out: &mut dyn Write) -> io::Result<()> {
    if let Some(report) = &outcome.stream {
        return stream::explain(out, report);
    }
    let total = outcome.steps_total;
    write_groups(&outcome.groups, (&outcome.steps, total), out)
}

/// Writes groups, and the steps of searches that are known of all that there were.
pub(crate) fn write_groups(
    groups: &[GroupSummary],
    steps: (&[StepSummary], u32),
    out: &mut dyn Write,
) -> io::Result<()> {
    let head = ["group", "bytes", "predicted", "measured", "runs", "waves"];
    writeln!(out)?;
    line(out, head)?;
    for group in groups {
        line(out, cells(group).each_ref().map(String::as_str))?;
        writeln!(out, "  {:>5}  {}: {}", "", group.topology, group.reason)?;
    }
    write_steps(steps, out)
}

fn line(out: &mut dyn Write, cells: [&str; 6]) -> io::Result<()> {
    let [group, bytes, predicted, measured, runs, waves] = cells;
    writeln!(
        out,
        "  {group:>5}  {bytes:>10}  {predicted:>10}  {measured:>10}  {runs:>8}  {waves}"
    )
}

fn cells(group: &GroupSummary) -> [String; 6] {
    let dash = || "-".to_owned();
    let time = |ns: Option<u64>| ns.map_or_else(dash, |ns| Nanoseconds(ns).to_string());
    let waves = group.waves.join(", ");
    let body = group.body_of.as_deref();
    let measured = match group.measured_with {
        Some(first) => format!("in {first}"),
        None => time(group.measured_ns),
    };
    [
        group.group.to_string(),
        bytes(group.bytes).to_string(),
        time(group.predicted_ns),
        measured,
        group
            .runs
            .map_or_else(dash, |runs| Count(u64::from(runs)).to_string()),
        body.map_or_else(|| waves.clone(), |body| format!("{waves} (body of {body})")),
    ]
}

/// Steps in a row that did the same for the same reason.
struct Stretch<'a> {
    first: &'a StepSummary,
    last: u32,
    steps: u32,
    nodes: u32,
    duration_ns: u64,
}

impl<'a> Stretch<'a> {
    fn of(steps: &'a [StepSummary]) -> Option<Self> {
        let (first, last) = (steps.first()?, steps.last()?);
        Some(Self {
            first,
            last: last.iteration,
            steps: steps.len() as u32,
            nodes: steps.iter().map(|step| step.nodes).max()?,
            duration_ns: steps.iter().map(|step| step.duration_ns).sum(),
        })
    }

    fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        let first = self.first;
        let iterations = match first.iteration {
            only if only == self.last => only.to_string(),
            from => format!("{from} to {}", self.last),
        };
        let steps = Count(u64::from(self.steps)).to_string();
        let time = Nanoseconds(self.duration_ns).to_string();
        let nodes = Count(u64::from(self.nodes));
        writeln!(
            out,
            "  {iterations:>16}  {steps:>6}  {:<11}  {time:>10}  {}, at most {nodes} nodes",
            first.step, first.reason
        )
    }
}

/// Writes the steps of searches, equal neighbours on one line.
fn write_steps((steps, total): (&[StepSummary], u32), out: &mut dyn Write) -> io::Result<()> {
    if steps.is_empty() {
        return Ok(());
    }
    let alike = |a: &StepSummary, b: &StepSummary| {
        (&a.search, a.step, a.reason) == (&b.search, b.step, b.reason)
    };
    let stretches = steps.chunk_by(alike);
    let stretches: Vec<_> = stretches.filter_map(Stretch::of).collect();
    writeln!(
        out,
        "\n  {:>16}  {:>6}  {:<11}  {:>10}  reason",
        "iterations", "steps", "topology", "measured"
    )?;
    for stretch in stretches.iter().take(LINES_MAX) {
        stretch.write(out)?;
    }
    let shown = stretches.iter().take(LINES_MAX);
    let shown: u32 = shown.map(|stretch| stretch.steps).sum();
    match total.saturating_sub(shown) {
        0 => Ok(()),
        rest => writeln!(out, "  and {} more steps", Count(u64::from(rest))),
    }
}
