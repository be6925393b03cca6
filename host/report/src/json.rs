//! The report of a run as one JSON object, for scripts.
//!
//! Field names are part of the command line's interface: new ones may appear, old ones stay.

use std::io::{self, Write};

use serde::Serialize;

use super::explain::Explanation;
use super::head::Head;
use super::taken;
use super::weights::WeightsReport;
use seawall::analysis::Answer;
use seawall::backend::{CodeReport, HostWork};
use seawall::outcome::{
    DevicesReport, Dropped, FoundPath, Memory, PlanCounters, PlanSummary, Rounds, RunOutcome,
    SessionReport, StreamReport, Taken, Times,
};

#[derive(Serialize)]
struct Report<'a> {
    #[serde(flatten)]
    head: Head<'a>,
    nodes: u64,
    edges: u64,
    #[serde(flatten)]
    taken: Taken,
    #[serde(skip_serializing_if = "Option::is_none")]
    hint: Option<&'static str>,
    #[serde(flatten)]
    dropped: Dropped,
    #[serde(skip_serializing_if = "Option::is_none")]
    weights: Option<WeightsReport>,
    #[serde(skip_serializing_if = "Option::is_none")]
    source: Option<u64>,
    sources: &'a [u64],
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    source_names: &'a [String],
    reached: u64,
    #[serde(flatten)]
    rounds: Rounds,
    converged: bool,
    checksum: String,
    #[serde(flatten)]
    answer: &'a Answer,
    #[serde(skip_serializing_if = "Option::is_none")]
    parents_checksum: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reached_each: Option<Vec<u64>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    path: Option<&'a FoundPath>,
    plan: Plan<'a>,
    memory: Memory,
    #[serde(skip_serializing_if = "Option::is_none")]
    streamed_bytes: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    stream: Option<&'a StreamReport>,
    #[serde(skip_serializing_if = "Option::is_none")]
    devices: Option<&'a DevicesReport>,
    plan_cache: PlanCounters,
    session: SessionReport,
    time_ns: Times,
    repeat: u32,
    device_barriers: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    edges_examined: Option<u64>,
    checked: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    check_tolerance: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    code: Option<&'a CodeReport>,
    #[serde(flatten)]
    host: HostWork,
    #[serde(skip_serializing_if = "Option::is_none")]
    explain: Option<Explanation<'a>>,
}

/// The plan, and the topology of a search.
#[derive(Serialize)]
struct Plan<'a> {
    #[serde(flatten)]
    summary: PlanSummary,
    topology: &'a str,
}

impl<'a> Report<'a> {
    fn of(outcome: &'a RunOutcome, explain: bool) -> Self {
        Self {
            head: Head::from(outcome),
            nodes: outcome.nodes,
            edges: outcome.edges,
            taken: outcome.taken,
            hint: taken::hint(&outcome.taken),
            dropped: outcome.dropped,
            weights: outcome.weights.map(WeightsReport::from),
            source: only(&outcome.sources),
            sources: &outcome.sources,
            source_names: &outcome.source_names,
            reached: outcome.reached,
            rounds: outcome.rounds,
            converged: outcome.converged,
            checksum: format!("{:016x}", outcome.values.checksum()),
            answer: &outcome.answer,
            parents_checksum: outcome.parents_checksum().map(|sum| format!("{sum:016x}")),
            reached_each: outcome.reached_each(),
            path: outcome.path.as_ref(),
            plan: Plan {
                summary: outcome.plan,
                topology: &outcome.topology,
            },
            memory: outcome.memory,
            streamed_bytes: outcome.stream.as_ref().map(|stream| stream.streamed_bytes),
            stream: outcome.stream.as_ref(),
            devices: outcome.devices.as_ref(),
            plan_cache: outcome.plans,
            session: outcome.session,
            time_ns: outcome.times,
            repeat: outcome.repeat,
            device_barriers: outcome.device_barriers,
            edges_examined: outcome.edges_examined,
            checked: outcome.checked,
            check_tolerance: outcome.check_tolerance,
            code: outcome.code.as_ref(),
            host: outcome.host,
            explain: explain.then(|| Explanation::of(outcome)),
        }
    }
}

fn only(sources: &[u64]) -> Option<u64> {
    match sources {
        [one] => Some(*one),
        _ => None,
    }
}

/// Writes the report as one line of JSON.
///
/// `checksum` is that of [`Column::checksum`](seawall::outcome::Column::checksum) as 16 lower-case
/// hexadecimal digits, in a string because many readers hold numbers as doubles. The answer of the
/// analysis follows, see [`Answer`]; `distance_bits` is the width of distances of shortest paths.
/// `parents_checksum` is that of the parents if they were requested, and `reached_each` has the
/// number of nodes that each source reaches, in the order of `sources`. `checked` is null without a
/// check; `source` is present if there is exactly one. Times are nanoseconds. The work of the host
/// is that of the last repetition, see [`HostWork`]. With `explain` the report has the groups and
/// steps of the run.
///
/// # Errors
/// If `out` fails.
pub fn write(outcome: &RunOutcome, explain: bool, out: &mut dyn Write) -> io::Result<()> {
    serde_json::to_writer(&mut *out, &Report::of(outcome, explain))?;
    writeln!(out)
}

#[cfg(test)]
mod tests {
    use crate::text::tests::outcome;
    use serde_json::Value;

    fn report() -> Value {
        let mut bytes = Vec::new();
        super::write(&outcome(), false, &mut bytes).unwrap();
        serde_json::from_slice(&bytes).unwrap()
    }

    #[test]
    fn the_report_holds_every_promised_field() {
        let report = report();
        for name in [
            "analysis",
            "backend",
            "device",
            "nodes",
            "edges",
            "source",
            "sources",
            "reached",
            "levels",
            "converged",
            "checksum",
            "plan",
            "time_ns",
            "device_barriers",
            "checked",
            "eccentricity",
            "host_synchronisations",
            "launches",
            "uploads",
            "dropped_self_loops",
            "dropped_duplicates",
        ] {
            assert!(report.get(name).is_some(), "{name} is missing");
        }
        for name in [
            "groups",
            "global_barriers",
            "lower_bound",
            "peak_group_bytes",
            "arena_bytes",
            "topology",
        ] {
            assert!(report["plan"].get(name).is_some(), "plan.{name} is missing");
        }
        for name in ["load", "upload", "plan", "run", "readback"] {
            assert!(
                report["time_ns"][name].is_u64(),
                "time_ns.{name} is missing"
            );
        }
    }

    #[test]
    fn the_checksum_is_a_string_of_sixteen_digits() {
        let expected = format!("{:016x}", outcome().values.checksum());
        assert_eq!(report()["checksum"], Value::String(expected));
    }
}
