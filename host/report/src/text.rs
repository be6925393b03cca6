//! The report of a run for a person at a terminal.

use std::io::{self, Write};

use super::code;
use super::devices;
use super::head::{Head, row};
use super::stream;
use super::taken;
use super::top;
use super::weights;
use seawall::analysis::Sentence;
use seawall::backend::HostWork;
use seawall::outcome::{FoundPath, Memory, PlanSummary, Rounds, RunOutcome, Times};
use seawall::units::{Count, Nanoseconds, bytes, counted};

/// Parts of a report beside the answer.
#[derive(Clone, Copy, Debug, Default)]
pub struct Shown {
    /// Plan, memory, barriers, work of the host, checksum, and each phase's time.
    pub internals: bool,
    /// The reason for the machine, or a better one.
    pub reason: bool,
}

/// Writes the report: the answer, then the graph as it was taken, then machine and time; `label`
/// names a node.
///
/// # Errors
/// If `out` fails.
pub fn write(
    outcome: &RunOutcome,
    label: &dyn Fn(u32) -> String,
    shown: Shown,
    out: &mut dyn Write,
) -> io::Result<()> {
    let nodes = counted(outcome.nodes, "node");
    let edges = counted(outcome.edges, "edge");
    let head = Head::from(outcome);
    head.write_title(out, &format!("{nodes}, {edges}"))?;
    answer(outcome, label, out)?;
    if shown.internals || !outcome.converged {
        row(out, "rounds", &rounds(outcome))?;
    }
    if let Some(equal) = outcome.checked {
        row(out, "check", &verdict(equal, outcome.check_tolerance))?;
    }
    taken(outcome, out)?;
    writeln!(out)?;
    let streams = outcome.stream.as_ref();
    head.write_machine(out, shown.internals || shown.reason || streams.is_some())?;
    streams.map_or(Ok(()), |report| stream::summary(out, report))?;
    if !shown.internals {
        let times = &outcome.times;
        return row(out, "time", &time(times, outcome.repeat));
    }
    internals(outcome, out)?;
    writeln!(out)?;
    times(out, &outcome.times, outcome.repeat, outcome.edges)
}

/// Rows of the answer.
fn answer(
    outcome: &RunOutcome,
    label: &dyn Fn(u32) -> String,
    out: &mut dyn Write,
) -> io::Result<()> {
    row(out, "found", &found(outcome))?;
    top::write(outcome, label, out)?;
    details(outcome, out)?;
    taken::hint(&outcome.taken).map_or(Ok(()), |hint| row(out, "hint", hint))
}

/// Rows of the sources and the graph as it was taken.
fn taken(outcome: &RunOutcome, out: &mut dyn Write) -> io::Result<()> {
    if !outcome.sources.is_empty() {
        let sources = sources(&outcome.sources, &outcome.source_names);
        row(out, "from", &sources)?;
    }
    let directions = taken::directions(&outcome.taken);
    taken::write(out, directions, &outcome.taken, outcome.dropped)?;
    weights::described(outcome.weights).map_or(Ok(()), |text| row(out, "weights", &text))
}

/// Rows of what the run took.
fn internals(outcome: &RunOutcome, out: &mut dyn Write) -> io::Result<()> {
    match &outcome.stream {
        Some(report) => stream::write(out, report, &outcome.memory)?,
        None if outcome.devices.is_some() => {}
        None => costs(outcome, out)?,
    }
    if let Some(report) = &outcome.devices {
        devices::write(out, report)?;
    }
    if let Some(checksum) = outcome.parents_checksum() {
        row(out, "parents", &format!("checksum {checksum:016x}"))?;
    }
    let checksum = format!("{:016x}", outcome.values.checksum());
    row(out, "checksum", &checksum)
}

/// The time of a run, and of everything around it.
pub(super) fn time(times: &Times, repeat: u32) -> String {
    let around = [times.load, times.plan, times.upload, times.readback];
    let all = around.iter().sum::<u64>() + times.run;
    let median = match repeat {
        0 | 1 => String::new(),
        repeat => format!(", the median of {repeat}"),
    };
    format!(
        "{}{median}; {} with loading and all else",
        Nanoseconds(times.run),
        Nanoseconds(all)
    )
}

/// Rows of the plan and the resources of a resident run.
fn costs(outcome: &RunOutcome, out: &mut dyn Write) -> io::Result<()> {
    row(out, "plan", &plan(outcome))?;
    row(out, "memory", &memory(&outcome.plan, &outcome.memory))?;
    row(out, "barriers", &barriers(outcome.device_barriers))?;
    if let Some(report) = &outcome.code {
        row(out, "code", &code::described(report))?;
    }
    row(out, "host", &host(&outcome.host))
}

/// Sources named in the report; the rest are counted.
const SOURCES_SHOWN: usize = 8;

fn sources(ids: &[u64], names: &[String]) -> String {
    let shown: Vec<String> = if names.is_empty() {
        ids.iter().take(SOURCES_SHOWN).map(u64::to_string).collect()
    } else {
        names.iter().take(SOURCES_SHOWN).cloned().collect()
    };
    let noun = if ids.len() == 1 { "node" } else { "nodes" };
    let rest = ids.len().saturating_sub(SOURCES_SHOWN);
    let more = if rest > 0 {
        format!(" and {} more", Count(rest as u64))
    } else {
        String::new()
    };
    format!("{noun} {}{more}", shown.join(", "))
}

fn found(outcome: &RunOutcome) -> String {
    match &outcome.answer.sentence {
        Sentence::Reached { more } => reached(outcome) + more,
        Sentence::EveryNode { value, more } => {
            format!("{value} for {}, {more}", counted(outcome.nodes, "node"))
        }
        Sentence::Graph(text) => text.clone(),
    }
}

/// Rows of the requested detail.
fn details(outcome: &RunOutcome, out: &mut dyn Write) -> io::Result<()> {
    if let Some(reached) = outcome.reached_each() {
        let text = format!("source by source {} nodes", listed(&reached));
        row(out, "each", &text)?;
    }
    if let Some(path) = &outcome.path {
        row(out, "path", &path_of(path))?;
    }
    Ok(())
}

/// The path to a target, node after node.
fn path_of(path: &FoundPath) -> String {
    let (Some(weight), [_, ..]) = (&path.weight, path.nodes.as_slice()) else {
        return format!("none: no source reaches {}", path.target_label());
    };
    let edges = counted(path.nodes.len() as u64 - 1, "edge");
    format!("{edges}, {weight} in all: {}", path.labels().join(" "))
}

/// The first few numbers, and the number of further ones.
fn listed(numbers: &[u64]) -> String {
    let shown = numbers.iter().take(SOURCES_SHOWN);
    let shown: Vec<String> = shown.map(|number| Count(*number).to_string()).collect();
    match numbers.len().saturating_sub(SOURCES_SHOWN) {
        0 => shown.join(", "),
        rest => format!("{} and {} more,", shown.join(", "), Count(rest as u64)),
    }
}

fn reached(outcome: &RunOutcome) -> String {
    let share = 100.0 * outcome.reached as f64 / outcome.nodes.max(1) as f64;
    format!(
        "{} reached, {share:.1} % of all",
        counted(outcome.reached, "node")
    )
}

fn rounds(outcome: &RunOutcome) -> String {
    let (count, noun) = match outcome.rounds {
        Rounds::Levels(count) => (count, "level"),
        Rounds::Iterations(count) => (count, "iteration"),
    };
    let end = if outcome.converged {
        "converged"
    } else {
        "stopped at the limit before converging"
    };
    format!("{}, {end}", counted(u64::from(count), noun))
}

/// Result of a check, with its tolerance.
pub(super) fn verdict(equal: bool, tolerance: Option<f64>) -> String {
    let verdict = if equal {
        "equal to a plain sequential implementation"
    } else {
        "DIFFERS from a plain sequential implementation"
    };
    let within = tolerance.map_or_else(String::new, |share| {
        format!(", each value within {share:.1e} of itself")
    });
    format!("{verdict}{within}")
}

fn plan(outcome: &RunOutcome) -> String {
    let plan = &outcome.plan;
    let minimal = u64::from(plan.groups) <= plan.lower_bound;
    let topology = match outcome.topology.as_str() {
        "" | "none" => String::new(),
        name => format!(", topology {name}"),
    };
    format!(
        "{} ({}), {} between them{topology}",
        counted(u64::from(plan.groups), "group"),
        if minimal {
            "proved minimal"
        } else {
            "not proved minimal"
        },
        counted(u64::from(plan.global_barriers), "grid barrier"),
    )
}

fn memory(plan: &PlanSummary, memory: &Memory) -> String {
    let budget = memory.budget_bytes;
    let budget = budget.map_or_else(String::new, |budget| format!(" of {}", bytes(budget)));
    format!(
        "{}{budget}: arena {}, largest group {}",
        bytes(memory.allocated_bytes),
        bytes(plan.arena_bytes),
        bytes(plan.peak_group_bytes)
    )
}

fn barriers(crossed: u64) -> String {
    format!(
        "{} crossed during the run",
        counted(crossed, "grid barrier")
    )
}

/// Work of the host during a run.
pub(super) fn host(work: &HostWork) -> String {
    let launches = match work.launches {
        1 => "1 launch".to_owned(),
        many => format!("{} launches", Count(many)),
    };
    format!(
        "{launches}, {}, {}",
        counted(work.uploads, "upload"),
        counted(work.host_synchronisations, "synchronisation")
    )
}

/// Writes the times; `repeat` and `edges` are those of the run.
pub(super) fn times(out: &mut dyn Write, times: &Times, repeat: u32, edges: u64) -> io::Result<()> {
    let Times {
        load,
        upload,
        plan,
        run,
        first_run,
        readback,
        ..
    } = *times;
    for (name, time, note) in [
        ("load", load, String::new()),
        ("plan", plan, String::new()),
        ("upload", upload, String::new()),
        ("run", run, run_note(run, first_run, repeat, edges)),
        ("readback", readback, String::new()),
    ] {
        writeln!(out, "  {name:<10}{:>10}{note}", Nanoseconds(time))?;
    }
    Ok(())
}

fn run_note(run_ns: u64, first_ns: u64, repeat: u32, edges: u64) -> String {
    let median = match repeat {
        0 | 1 => String::new(),
        repeat => format!("  median of {repeat}, the first {}", Nanoseconds(first_ns)),
    };
    let seconds = run_ns as f64 / 1e9;
    if seconds > 0.0 {
        format!(
            "{median}  {:.1} million edges a second",
            edges as f64 / seconds / 1e6
        )
    } else {
        median
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use seawall::graph::Graph;
    use seawall::outcome::Column;
    use seawall::run::{AnalysisKind, Machine, RunRequest, execute};

    /// A small search that missed one node, on this machine.
    pub(crate) fn searched() -> RunOutcome {
        let graph = Graph::from_edges(4, &[(0, 1), (0, 2), (1, 2)], false).unwrap();
        let request = RunRequest::new(AnalysisKind::Bfs, vec![0]).on(Machine::cpu(None));
        execute(&graph, &request).unwrap()
    }

    /// The same with a machine and figures that do not change.
    pub(crate) fn outcome() -> RunOutcome {
        let mut described = searched();
        described.backend_reason = Some("no GPU".to_owned());
        described.device = "two threads".to_owned();
        described.sources = vec![100];
        (described.plan.groups, described.plan.lower_bound) = (2, 2);
        described.plan.global_barriers = 1;
        (described.plan.peak_group_bytes, described.plan.arena_bytes) = (1536, 4096);
        described.memory = Memory::default();
        (
            described.memory.predicted_bytes,
            described.memory.allocated_bytes,
        ) = (8192, 8192);
        described.memory.budget_bytes = Some(1 << 20);
        described.topology = "sparse".to_owned();
        (
            described.times.load,
            described.times.upload,
            described.times.plan,
        ) = (1, 2, 3);
        (described.times.run, described.times.readback) = (1_000, 5);
        described.times.first_run = 2_000;
        described.repeat = 3;
        described.device_barriers = 7;
        described.host.host_synchronisations = 1;
        (described.host.launches, described.host.uploads) = (2, 3);
        described.checked = Some(true);
        described.events = Vec::new();
        described.waves = Vec::new();
        described
    }

    /// The same outcome, changed by `change`.
    pub(crate) fn with(change: impl FnOnce(&mut RunOutcome)) -> RunOutcome {
        let mut described = outcome();
        change(&mut described);
        described
    }

    fn shown(outcome: &RunOutcome, shown: Shown) -> String {
        let mut bytes = Vec::new();
        let label = |node: u32| node.to_string();
        write(outcome, &label, shown, &mut bytes).unwrap();
        String::from_utf8(bytes).unwrap()
    }

    /// Everything.
    fn report(outcome: &RunOutcome) -> String {
        let all = Shown {
            internals: true,
            reason: true,
        };
        shown(outcome, all)
    }

    #[test]
    fn the_short_report_is_the_answer_the_machine_and_the_time() {
        let text = shown(&outcome(), Shown::default());
        assert_eq!(
            text,
            "\
Breadth-first search of 4 nodes, 3 edges

  found     3 nodes reached, 75.0 % of all, the farthest at level 1
  farthest  1             node 1
            1             node 2
            0             node 0
  check     equal to a plain sequential implementation
  from      node 100
  edges     directed

  ran on    two threads (backend cpu)
  time      1.0 us, the median of 3; 1.0 us with loading and all else
"
        );
    }

    #[test]
    fn a_reason_and_a_limit_are_told_without_internals() {
        let reason = Shown {
            reason: true,
            ..Shown::default()
        };
        let text = shown(&outcome(), reason);
        assert!(
            text.contains("no GPU") && !text.contains("checksum"),
            "{text}"
        );
        let cut = with(|described| described.converged = false);
        let text = shown(&cut, Shown::default());
        assert!(text.contains("stopped at the limit"), "{text}");
    }

    #[test]
    fn the_report_says_what_ran_where_and_why() {
        let text = report(&outcome());
        for part in [
            "Breadth-first search of 4 nodes, 3 edges",
            "two threads (backend cpu)",
            "no GPU",
            "3 nodes reached, 75.0 % of all, the farthest at level 1",
            "2 launches, 3 uploads, 1 synchronisation",
            "2 levels, converged",
            "equal to a plain sequential implementation",
            "2 groups (proved minimal), 1 grid barrier between them",
            "8.0 KiB of 1.0 MiB: arena 4.0 KiB, largest group 1.5 KiB",
            "1.0 us  median of 3, the first 2.0 us  3.0 million edges a second",
        ] {
            assert!(text.contains(part), "{part:?} is not in\n{text}");
        }
    }

    #[test]
    fn a_difference_is_loud() {
        let text = report(&with(|described| {
            described.checked = Some(false);
        }));
        assert!(text.contains("DIFFERS"));
    }

    #[test]
    fn a_plan_without_searches_has_no_topology_to_name() {
        let topology = "none".to_owned();
        let text = report(&with(|described| {
            described.topology = topology;
        }));
        assert!(!text.contains("topology"), "{text}");
    }

    #[test]
    fn many_sources_are_counted() {
        let text = report(&with(|described| {
            described.sources = (0..1000).collect();
        }));
        assert!(text.contains("nodes 0, 1, 2, 3, 4, 5, 6, 7 and 992 more"));
    }

    #[test]
    fn sentences_about_the_graph_and_about_its_nodes_are_written() {
        let described = |sentence| report(&with(|described| described.answer.sentence = sentence));
        let text = described(Sentence::Graph("2 components".to_owned()));
        assert!(text.contains("found     2 components\n"), "{text}");
        let text = described(Sentence::EveryNode {
            value: "a rank",
            more: "the highest 1".to_owned(),
        });
        assert!(
            text.contains("a rank for 4 nodes, the highest 1\n"),
            "{text}"
        );
    }

    #[test]
    fn an_empty_graph_divides_by_nothing() {
        let values = Column::U32(Vec::new());
        let text = report(&with(|described| {
            described.nodes = 0;
            described.reached = 0;
            described.values = values;
            described.times = Times::default();
        }));
        assert!(text.contains("0 nodes reached, 0.0 % of all"));
    }
}
