//! A batch as a Chrome trace: its phases, and each graph on the worker that ran it.
//!
//! Phases follow each other. Graphs have the times of the machine's clock in the last repetition.
//! Which block or thread took a graph is not recorded: in a row, each graph began after the
//! previous one had ended, so there are as many rows as workers were busy at once.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::io::{self, Write};

use crate::trace::{finish, named_row, span_of};
use seawall::batch::{BatchOutcome, GraphOutcome};

/// The rows of the host and of the device; those of graphs follow.
const HOST: u32 = 1;
const DEVICE: u32 = 2;
const GRAPHS: u32 = 3;

/// Writes the trace as one JSON object; its times are microseconds from the start of loading.
///
/// # Errors
/// [`std::io::Error`] of `out`.
pub fn write(outcome: &BatchOutcome, out: &mut dyn Write) -> io::Result<()> {
    let times = outcome.times;
    let device = format!("{} ({})", outcome.device, outcome.backend);
    let mut events = vec![
        named_row(None, "seawall".to_owned()),
        named_row(Some(HOST), "host".to_owned()),
        named_row(Some(DEVICE), device),
    ];
    let mut now = 0_u64;
    for (name, row, duration) in [
        ("load", HOST, times.load),
        ("plan", HOST, times.plan),
        ("upload", HOST, times.upload),
        ("run", DEVICE, times.run),
        ("readback", HOST, times.readback),
    ] {
        events.push(span_of(name, "phase", row, now, duration));
        now = now.saturating_add(duration);
    }
    let start = times.load + times.plan + times.upload;
    let rows = rows(&outcome.graphs);
    let last = rows.iter().map(|(row, _, _)| *row).max();
    for row in 0..last.map_or(0, |last| last + 1) {
        events.push(named_row(Some(GRAPHS + row), format!("graphs {}", row + 1)));
    }
    for (row, since, graph) in rows {
        let time = (start.saturating_add(since), graph.run_ns);
        events.push(span_of(&graph.name, "graph", GRAPHS + row, time.0, time.1));
    }
    finish(events, out)
}

/// The row of each graph, from 0, with its start since that of the first one.
fn rows(graphs: &[GraphOutcome]) -> Vec<(u32, u64, &GraphOutcome)> {
    let mut sorted: Vec<&GraphOutcome> = graphs.iter().collect();
    sorted.sort_by_key(|graph| graph.started_ns);
    let zero = sorted.first().map_or(0, |graph| graph.started_ns);
    let mut ends: BinaryHeap<Reverse<(u64, u32)>> = BinaryHeap::new();
    let place = |graph: &'_ GraphOutcome| {
        let free = ends
            .peek()
            .filter(|Reverse((end, _))| *end <= graph.started_ns);
        let row = match free.map(|Reverse((_, row))| *row) {
            Some(row) => {
                ends.pop();
                row
            }
            None => ends.len() as u32,
        };
        let end = graph.started_ns.saturating_add(graph.run_ns);
        ends.push(Reverse((end, row)));
        row
    };
    let rows: Vec<u32> = sorted.iter().copied().map(place).collect();
    rows.into_iter()
        .zip(sorted)
        .map(|(row, graph)| (row, graph.started_ns - zero, graph))
        .collect()
}
