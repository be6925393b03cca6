//! The report of a batch as one JSON object, for scripts.
//!
//! Totals have the names of a single graph's report; `results` holds the graphs in their order.
//! Field names are part of the command line's interface: new ones may appear, old ones stay.

use std::io::{self, Write};

use serde::Serialize;

use crate::head::Head;
use crate::taken;
use crate::weights::WeightsReport;
use seawall::analysis::Answer;
use seawall::backend::{CodeReport, HostWork};
use seawall::batch::{BatchOutcome, GraphOutcome};
use seawall::outcome::{Dropped, PlanCounters, Rounds, SessionReport, Taken, Times};

#[derive(Serialize)]
struct Report<'a> {
    #[serde(flatten)]
    head: Head<'a>,
    graphs: u64,
    nodes: u64,
    edges: u64,
    #[serde(flatten)]
    dropped: Dropped,
    reached: u64,
    converged: bool,
    checksum: String,
    workers: u32,
    programs: u64,
    plan_cache: PlanCounters,
    memory_bytes: u64,
    session: SessionReport,
    time_ns: Times,
    repeat: u32,
    checked: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    check_tolerance: Option<f64>,
    results: Vec<GraphReport<'a>>,
    #[serde(flatten)]
    totals: Answer,
    #[serde(flatten)]
    host: HostWork,
    #[serde(skip_serializing_if = "Option::is_none")]
    code: Option<&'a CodeReport>,
}

#[derive(Serialize)]
struct GraphReport<'a> {
    name: &'a str,
    nodes: u64,
    edges: u64,
    #[serde(flatten)]
    taken: Taken,
    #[serde(skip_serializing_if = "Option::is_none")]
    hint: Option<&'static str>,
    #[serde(flatten)]
    dropped: Dropped,
    sources: &'a [u64],
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    source_names: &'a [String],
    reached: u64,
    #[serde(flatten)]
    rounds: Rounds,
    converged: bool,
    checksum: String,
    topology: &'a str,
    run_ns: u64,
    checked: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    check_tolerance: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    weights: Option<WeightsReport>,
    #[serde(flatten)]
    answer: &'a Answer,
}

impl<'a> GraphReport<'a> {
    fn of(graph: &'a GraphOutcome) -> Self {
        Self {
            name: &graph.name,
            nodes: graph.run.nodes,
            edges: graph.run.edges,
            taken: graph.run.taken,
            hint: taken::hint(&graph.run.taken),
            dropped: graph.run.dropped,
            sources: &graph.run.sources,
            source_names: &graph.run.source_names,
            reached: graph.run.reached,
            rounds: graph.run.rounds,
            converged: graph.run.converged,
            checksum: hexadecimal(graph.run.values.checksum()),
            topology: &graph.run.topology,
            run_ns: graph.run_ns,
            checked: graph.run.checked,
            check_tolerance: graph.run.check_tolerance,
            weights: graph.run.weights.map(WeightsReport::from),
            answer: &graph.run.answer,
        }
    }
}

fn hexadecimal(checksum: u64) -> String {
    format!("{checksum:016x}")
}

/// Writes the report as one line of JSON.
///
/// A graph's `checksum` is that of [`Column::checksum`](seawall::outcome::Column::checksum), as in
/// a single graph's report; the total's is [`BatchOutcome::checksum`]. Counts of the total, such as
/// `components`, are sums over the graphs. `run_ns` of a graph is its time on its worker,
/// concurrent with others; `time_ns.run` is the whole batch's.
///
/// # Errors
/// [`std::io::Error`] of `out`.
pub fn write(outcome: &BatchOutcome, out: &mut dyn Write) -> io::Result<()> {
    let report = Report {
        head: Head::from(outcome),
        graphs: outcome.graphs.len() as u64,
        nodes: outcome.nodes(),
        edges: outcome.edges(),
        reached: outcome.reached(),
        converged: outcome.converged(),
        checksum: hexadecimal(outcome.checksum()),
        workers: outcome.workers,
        programs: outcome.programs,
        plan_cache: outcome.plans,
        memory_bytes: outcome.memory_bytes,
        session: outcome.session,
        dropped: outcome.dropped,
        time_ns: outcome.times,
        repeat: outcome.repeat,
        checked: outcome.checked(),
        check_tolerance: outcome.check_tolerance(),
        totals: Answer::totals(outcome.answers()),
        host: outcome.host,
        code: outcome.code.as_ref(),
        results: outcome.graphs.iter().map(GraphReport::of).collect(),
    };
    serde_json::to_writer(&mut *out, &report)?;
    writeln!(out)
}
