//! The report of a batch for a person at a terminal.

use std::io::{self, Write};

use crate::code;
use crate::head::Head;
use crate::head::row;
use crate::taken;
use crate::text::{Shown, host, time, times, verdict};
use crate::weights;
use seawall::analysis::{Answer, Figure, Sentence};
use seawall::batch::{BatchOutcome, GraphOutcome};
use seawall::outcome::{Direction, Rounds, Taken};
use seawall::units::{Count, bytes, counted};

/// Graphs named in the report; the rest are counted.
const GRAPHS_SHOWN: usize = 12;

/// Writes the report: totals, the first graphs, machine and time.
///
/// # Errors
/// [`std::io::Error`] of `out`.
pub fn write(outcome: &BatchOutcome, shown: Shown, out: &mut dyn Write) -> io::Result<()> {
    let size = format!(
        "{}: {}, {}",
        counted(outcome.graphs.len() as u64, "graph"),
        counted(outcome.nodes(), "node"),
        counted(outcome.edges(), "edge"),
    );
    let head = Head::from(outcome);
    head.write_title(out, &size)?;
    row(out, "found", &found(outcome))?;
    if shown.internals || !outcome.converged() {
        row(out, "rounds", &rounds(outcome))?;
    }
    if let Some(equal) = outcome.checked() {
        row(out, "check", &check(outcome, equal))?;
    }
    writeln!(out)?;
    for graph in outcome.graphs.iter().take(GRAPHS_SHOWN) {
        writeln!(out, "  {}", line(graph))?;
    }
    let rest = outcome.graphs.len().saturating_sub(GRAPHS_SHOWN);
    if rest > 0 {
        let rest = counted(rest as u64, "more graph");
        writeln!(out, "  and {rest}; --json lists all")?;
    }
    writeln!(out)?;
    edges(out, outcome)?;
    let weighed = outcome.graphs.iter().filter_map(|graph| graph.run.weights);
    if let Some(weights) = weights::described(weighed) {
        row(out, "weights", &weights)?;
    }
    head.write_machine(out, shown.internals || shown.reason)?;
    if !shown.internals {
        return row(out, "time", &time(&outcome.times, outcome.repeat));
    }
    row(out, "workers", &workers(outcome))?;
    if let Some(report) = &outcome.code {
        row(out, "code", &code::described(report))?;
    }
    row(out, "memory", &memory(outcome))?;
    row(out, "host", &host(&outcome.host))?;
    row(out, "checksum", &format!("{:016x}", outcome.checksum()))?;
    writeln!(out)?;
    times(out, &outcome.times, outcome.repeat, outcome.edges())
}

/// Writes the directions of all graphs, their loops and parallel edges, and dropped edges.
fn edges(out: &mut dyn Write, outcome: &BatchOutcome) -> io::Result<()> {
    let is_undirected = |graph: &&GraphOutcome| graph.run.taken.direction == Direction::Undirected;
    let undirected = outcome.graphs.iter().filter(is_undirected).count();
    let directed = outcome.graphs.len() - undirected;
    let mut all = Taken::default();
    for graph in &outcome.graphs {
        let taken = &graph.run.taken;
        all.self_loops += taken.self_loops;
        all.parallel_edges += taken.parallel_edges;
        all.mirrored_edges += taken.mirrored_edges;
        all.weightless_edges += taken.weightless_edges;
        all.loops_reason = all.loops_reason.or(taken.loops_reason);
        all.parallel_reason = all.parallel_reason.or(taken.parallel_reason);
    }
    let directions = match (directed, undirected) {
        (_, 0) => "directed".to_owned(),
        (0, _) => "undirected".to_owned(),
        _ => format!("{directed} directed, {undirected} undirected"),
    };
    taken::write(out, directions, &all, outcome.dropped)
}

fn workers(outcome: &BatchOutcome) -> String {
    format!(
        "{} taking graphs in turn, {}",
        counted(u64::from(outcome.workers), "worker"),
        counted(outcome.programs, "program"),
    )
}

fn found(outcome: &BatchOutcome) -> String {
    let totals = Answer::totals(outcome.answers()).figures;
    if let Some(total) = totals.iter().find_map(Figure::counted) {
        return total;
    }
    let (reached, nodes) = (outcome.reached(), outcome.nodes());
    let share = 100.0 * reached as f64 / nodes.max(1) as f64;
    format!(
        "a value for {}, {share:.1} % of all",
        counted(reached, "node")
    )
}

fn rounds(outcome: &BatchOutcome) -> String {
    let stopped = outcome.graphs.iter().filter(|graph| !graph.run.converged);
    let end = match stopped.count() as u64 {
        0 => "all converged".to_owned(),
        stopped => format!("{} stopped at the limit", counted(stopped, "graph")),
    };
    let most = outcome.most_rounds().map_or_else(String::new, count);
    format!("at most {most}, {end}")
}

fn count(rounds: Rounds) -> String {
    match rounds {
        Rounds::Levels(count) => counted(u64::from(count), "level"),
        Rounds::Iterations(count) => counted(u64::from(count), "iteration"),
    }
}

fn check(outcome: &BatchOutcome, equal: bool) -> String {
    let differing = |graph: &&GraphOutcome| graph.run.checked == Some(false);
    let verdict = verdict(equal, outcome.check_tolerance());
    match outcome.graphs.iter().find(differing) {
        Some(first) => format!("{verdict}: {} first", first.name),
        None => verdict,
    }
}

fn memory(outcome: &BatchOutcome) -> String {
    format!(
        "{} for graphs, results and registers",
        bytes(outcome.memory_bytes)
    )
}

fn line(graph: &GraphOutcome) -> String {
    let differs = if graph.run.checked == Some(false) {
        ", DIFFERS"
    } else {
        ""
    };
    let described = match &graph.run.answer.sentence {
        Sentence::Graph(text) | Sentence::EveryNode { more: text, .. } => text.clone(),
        Sentence::Reached { .. } => format!("{} reached", Count(graph.run.reached)),
    };
    format!(
        "{}: {}, {}, {described}, {}{differs}",
        graph.name,
        counted(graph.run.nodes, "node"),
        counted(graph.run.edges, "edge"),
        count(graph.run.rounds),
    )
}
