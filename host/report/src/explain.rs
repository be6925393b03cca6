//! The explanation of a run: a table of groups, and the steps of searches.

use std::collections::{HashMap, HashSet};
use std::io::{self, Write};

use serde::Serialize;

use super::{stream, timeline};
use seawall::analysis::AnalysisKind;
use seawall::outcome::{Column, GroupSummary, PassSummary, RunOutcome, StepSummary, Timeline};
use seawall::run::ProgramExplanation;
use seawall::units::{Count, Nanoseconds, bytes};

/// Lines of steps in the text; the rest are counted.
const LINES_MAX: usize = 40;

/// The explanation in JSON.
#[derive(Serialize)]
pub struct Explanation<'a> {
    groups: &'a [GroupSummary],
    steps: &'a [StepSummary],
    steps_total: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    timeline: Option<&'a Timeline>,
    /// Nodes of each level of a search.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    frontier: Vec<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    passes: Option<&'a [PassSummary]>,
}

impl<'a> Explanation<'a> {
    pub(super) fn of(outcome: &'a RunOutcome) -> Self {
        Self {
            groups: &outcome.groups,
            steps: &outcome.steps,
            steps_total: outcome.steps_total,
            timeline: outcome.timeline.as_ref(),
            frontier: frontier(outcome),
            passes: outcome.stream.as_ref().map(|stream| &*stream.pass_list),
        }
    }

    /// The explanation of a program as text.
    #[must_use]
    pub fn of_program(described: &'a ProgramExplanation) -> Self {
        Self {
            groups: &described.groups,
            steps: &described.steps,
            steps_total: described.steps_total,
            timeline: described.timeline.as_ref(),
            frontier: Vec::new(),
            passes: None,
        }
    }

    /// Writes groups, what blocks did between barriers, and the recorded steps of searches.
    ///
    /// # Errors
    /// If `out` fails.
    pub fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        let head = ["group", "bytes", "predicted", "measured", "runs", "waves"];
        writeln!(out)?;
        line(out, head)?;
        for group in self.groups {
            line(out, cells(group).each_ref().map(String::as_str))?;
            writeln!(out, "  {:>5}  {}: {}", "", group.topology, group.reason)?;
        }
        if let Some(timeline) = self.timeline {
            writeln!(out, "\n  {}", timeline::described(timeline))?;
        }
        write_steps(self.steps, self.steps_total, out)
    }
}

/// Most levels whose nodes are counted.
const LEVELS_MAX: usize = 4096;

/// The number of nodes of each of the first levels, if the answer is levels.
fn frontier(outcome: &RunOutcome) -> Vec<u32> {
    let mut counts = Vec::new();
    let (AnalysisKind::Bfs, Column::U32(levels)) = (outcome.analysis, &outcome.values) else {
        return counts;
    };
    for level in levels.iter().map(|level| *level as usize) {
        if level >= LEVELS_MAX {
            continue;
        }
        if level >= counts.len() {
            counts.resize(level + 1, 0);
        }
        counts[level] += 1;
    }
    counts
}

/// Writes the groups of a run, and the steps of its searches.
///
/// # Errors
/// If `out` fails.
pub fn write(outcome: &RunOutcome, out: &mut dyn Write) -> io::Result<()> {
    if let Some(report) = &outcome.stream {
        return stream::explain(out, report);
    }
    if outcome.devices.is_some() {
        // Its kernels walk no groups.
        return Ok(());
    }
    Explanation::of(outcome).write(out)
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

/// A step and the numbers of its search's run and iteration, each counted from 0.
#[derive(Clone, Copy)]
struct Numbered<'a> {
    step: &'a StepSummary,
    /// Earlier runs of the same search, in a loop around it.
    run: u32,
    /// Its iteration, if no step before it has the same.
    iteration: Option<u32>,
}

/// Name of the step that makes a queue of a frontier, for the next step of the same iteration.
const COMPACT: &str = "compact";

/// Numbers the steps of searches: a search that runs again begins with iteration 0 again, and two
/// steps may share an iteration, such as a compaction and the next step.
fn numbered(steps: &[StepSummary]) -> Vec<Numbered<'_>> {
    let mut runs: HashMap<&str, u32> = HashMap::new();
    let mut before: Option<&StepSummary> = None;
    let number = |step| {
        let step: &StepSummary = step;
        let goes_on = before.filter(|before| {
            let shares = before.iteration == step.iteration && before.step == COMPACT;
            before.search == step.search && (before.iteration < step.iteration || shares)
        });
        let next = runs.entry(&step.search).or_default();
        *next += u32::from(goes_on.is_none());
        let is_known = goes_on.is_some_and(|before| before.iteration == step.iteration);
        before = Some(step);
        Numbered {
            step,
            run: *next - 1,
            iteration: (!is_known).then_some(step.iteration),
        }
    };
    steps.iter().map(number).collect()
}

/// Consecutive equal steps with the same reason.
struct Stretch<'a> {
    first: &'a StepSummary,
    run: u32,
    /// The first and the last iteration without a number on an earlier line.
    iterations: Option<(u32, u32)>,
    steps: u32,
    nodes: u32,
    duration_ns: u64,
}

impl<'a> Stretch<'a> {
    fn of(numbered: &[Numbered<'a>]) -> Option<Self> {
        let first = numbered.first()?;
        let mut new = numbered.iter().filter_map(|step| step.iteration);
        let from = new.next();
        let steps = || numbered.iter().map(|numbered| numbered.step);
        Some(Self {
            first: first.step,
            run: first.run,
            iterations: from.map(|from| (from, new.next_back().unwrap_or(from))),
            steps: numbered.len() as u32,
            nodes: steps().map(|step| step.nodes).max()?,
            duration_ns: steps().map(|step| step.duration_ns).sum(),
        })
    }

    /// The search and its run.
    fn search(&self) -> (&'a str, u32) {
        (&self.first.search, self.run)
    }

    fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        let first = self.first;
        let iterations = match self.iterations {
            None => String::new(),
            Some((from, to)) if from == to => from.to_string(),
            Some((from, to)) => format!("{from} to {to}"),
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
fn write_steps(steps: &[StepSummary], total: u32, out: &mut dyn Write) -> io::Result<()> {
    if steps.is_empty() {
        return Ok(());
    }
    let key = |at: &Numbered<'_>| (at.step.step, at.step.reason);
    let alike = |a: &Numbered<'_>, b: &Numbered<'_>| {
        (&a.step.search, a.run, key(a)) == (&b.step.search, b.run, key(b))
    };
    let numbered = numbered(steps);
    let stretches = numbered.chunk_by(alike);
    let stretches: Vec<_> = stretches.filter_map(Stretch::of).collect();
    let searches: HashSet<_> = stretches.iter().map(Stretch::search).collect();
    let mut search = None;
    writeln!(
        out,
        "\n  {:>16}  {:>6}  {:<11}  {:>10}  reason",
        "iterations", "steps", "topology", "measured"
    )?;
    for stretch in stretches.iter().take(LINES_MAX) {
        // Iterations are those of one run of one search.
        if searches.len() > 1 && search != Some(stretch.search()) {
            let (name, run) = stretch.search();
            match run {
                0 => writeln!(out, "  {name}:")?,
                again => writeln!(out, "  {name}, run {}:", again + 1)?,
            }
            search = Some(stretch.search());
        }
        stretch.write(out)?;
    }
    let shown = stretches.iter().take(LINES_MAX);
    let shown: u32 = shown.map(|stretch| stretch.steps).sum();
    match total.saturating_sub(shown) {
        0 => Ok(()),
        rest => writeln!(out, "  and {} more steps", Count(u64::from(rest))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn step(search: &str, iteration: u32, step: &'static str) -> StepSummary {
        StepSummary {
            search: search.to_owned(),
            iteration,
            step,
            topology: step,
            reason: "rule",
            nodes: 1,
            edges: 1,
            start_ns: 0,
            duration_ns: 1000,
        }
    }

    fn text(steps: &[StepSummary]) -> String {
        let mut bytes = Vec::new();
        write_steps(steps, steps.len() as u32, &mut bytes).unwrap();
        String::from_utf8(bytes).unwrap()
    }

    /// The first words of the lines that have a number of steps.
    fn numbers(text: &str) -> Vec<String> {
        let lines = text.lines().filter(|line| line.contains("at most"));
        let number = |line: &str| line[..18].trim().to_owned();
        lines.map(number).collect()
    }

    #[test]
    fn an_iteration_has_its_number_on_one_line() {
        let steps = [
            step("search", 0, "fused"),
            step("search", 1, "fused"),
            step("search", 2, "compact"),
            step("search", 2, "dense"),
            step("search", 3, "dense"),
            step("search", 4, "compact"),
            step("search", 4, "fused"),
        ];
        let text = text(&steps);
        assert_eq!(numbers(&text), ["0 to 1", "2", "3", "4", ""], "{text}");
        assert!(!text.contains("search"), "one search needs no name: {text}");
    }

    #[test]
    fn searches_and_their_runs_are_distinguished() {
        let steps = [
            step("first", 0, "fused"),
            step("first", 1, "fused"),
            step("inner", 0, "fused"),
            step("inner", 1, "fused"),
            step("inner", 0, "fused"),
            step("inner", 0, "fused"),
        ];
        let text = text(&steps);
        assert_eq!(numbers(&text), ["0 to 1", "0 to 1", "0", "0"], "{text}");
        for name in [
            "  first:\n",
            "  inner:\n",
            "  inner, run 2:\n",
            "  inner, run 3:\n",
        ] {
            assert_eq!(text.matches(name).count(), 1, "{text}");
        }
    }
}
