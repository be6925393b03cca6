//! Runs that CPU threads take over from a GPU.
//!
//! A round of a persistent kernel takes about a microsecond however few nodes it has, or tens of
//! them in a program with several waves a round, so that a search as deep as its graph has nodes
//! takes a GPU ten to a thousand times as long as one thread. The depth is not known before. A run
//! therefore gets [`FACTOR`] times what CPU threads are expected to take, and at least
//! [`LEAST`]; then it ends, and they run the analysis from its start. With a right forecast the
//! answer comes within three times their own time, or 10 ms after it (the rule of ski rental, Karlin
//! et al. 1988).

use super::choose::expected;
use super::{Executor, RunRequest};
use crate::analysis::AnalysisKind;
use crate::calibrate::{Forecast, time};
use crate::graph::Graph;
use crate::job::choose::Choice;
use crate::units::Nanoseconds;
use std::collections::HashMap;
use std::time::Duration;

/// Least time that a GPU gets: the first run of a kernel may take some milliseconds longer than
/// others.
const LEAST: Duration = Duration::from_millis(10);

/// Times what CPU threads are expected to take that a GPU gets.
const FACTOR: f64 = 2.0;

/// Whether CPU threads may take over `request`: unless it says no, or asks for rounds or steps that
/// their methods do not have.
pub(super) fn is_allowed(request: &RunRequest) -> bool {
    request.machine.takeover && request.topology.is_none() && request.max_iterations.is_none()
}

/// Times that a machine gets. The last one of each analysis is kept, with its number of sources, since
/// a forecast samples edges.
#[derive(Debug, Default)]
pub(super) struct Patience(HashMap<AnalysisKind, (usize, Duration)>);

impl Patience {
    /// Time after which CPU threads take over `request` from `executor`; `None` if they never do.
    pub(super) fn of(
        &mut self,
        graph: &Graph,
        request: &RunRequest,
        executor: Executor,
    ) -> Option<Duration> {
        if executor != Executor::Mega || !is_allowed(request) {
            return None;
        }
        let sources = request.sources.len();
        let limit = match self.0.get(&request.analysis) {
            Some((of, limit)) if *of == sources => *limit,
            _ => {
                let ns = expected(graph, request).cpu_ns() * FACTOR;
                LEAST.max(Duration::from_nanos(ns as u64))
            }
        };
        self.0.insert(request.analysis, (sources, limit));
        Some(limit)
    }
}

/// The CPU threads that take over `request` after `device` ran it for `after_ns` nanoseconds.
pub(super) fn choice(graph: &Graph, request: &RunRequest, device: &str, after_ns: u64) -> Choice {
    let prediction = expected(graph, request);
    let reason = format!(
        "{device} had not ended the run after {}; {}, expected to take about {}, took it over",
        Nanoseconds(after_ns),
        prediction.threads_text(),
        time(prediction.cpu_ns())
    );
    let threads = request.machine.threads.or_else(|| prediction.threads());
    Choice::on_cpu(threads, Some(reason))
}
