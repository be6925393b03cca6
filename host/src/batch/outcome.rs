//! Outcome of a batch, for each graph and in total.

use crate::analysis::{AnalysisKind, Answer};
use crate::backend::batch::{clock, took_ns};
use crate::backend::{CodeReport, HostWork};
use crate::executor::Executor;
use crate::job::topology_name;
use crate::outcome::{Column, Dropped, Rounds, RunOutcome, SessionReport, Times};
use crate::program::PlanCounters;
use seawall_core::abi::control::ControlRecord;

/// The content of a batch's report.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct BatchOutcome {
    /// The analysis that ran.
    pub analysis: AnalysisKind,
    /// The executor that ran it.
    pub backend: Executor,
    /// Reason of the choice, if the caller left it open.
    pub backend_reason: Option<String>,
    /// Name of the device.
    pub device: String,
    /// Blocks or threads that took graphs.
    pub workers: u32,
    /// Distinct programs; graphs of one size usually share one.
    pub programs: u64,
    /// Uses of the plans so far.
    pub plans: PlanCounters,
    /// Device memory of the batch, bytes.
    pub memory_bytes: u64,
    /// Work of the session, as predicted and as counted.
    pub session: SessionReport,
    /// A result for each graph, in the order given.
    pub graphs: Vec<GraphOutcome>,
    /// Edges of all graphs that the analysis did not get.
    pub dropped: Dropped,
    /// Times of the whole batch.
    pub times: Times,
    /// Repetitions per median.
    pub repeat: u32,
    /// Work of the host during the last repetition.
    pub host: HostWork,
    /// How waves of code of all programs ran, if they have some.
    pub code: Option<CodeReport>,
}

/// Outcome of one graph of a batch.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct GraphOutcome {
    /// Name of the graph.
    pub name: String,
    /// Clock of the machine at the graph's first wave in the last repetition, nanoseconds.
    pub started_ns: u64,
    /// Time from the graph's first wave to its last on the worker that ran it,
    /// in the last repetition, nanoseconds.
    pub run_ns: u64,
    /// The outcome of its run, without what only the whole batch has: the machine, times, memory
    /// and plans.
    pub run: RunOutcome,
}

impl GraphOutcome {
    pub(super) fn of(name: String, control: &ControlRecord, mut run: RunOutcome) -> Self {
        run.topology = topology_name(control);
        Self {
            name,
            started_ns: clock(control.started_ns),
            run_ns: took_ns(control),
            run,
        }
    }
}

/// Edges of all graphs that the analysis did not get.
pub(super) fn dropped(graphs: &[GraphOutcome]) -> Dropped {
    let mut all = Dropped::default();
    graphs.iter().for_each(|graph| all += graph.run.dropped);
    all
}

impl BatchOutcome {
    /// Takes the outcomes of `again` for the graphs at `places`, and adds their costs.
    pub(super) fn replace(&mut self, places: impl Iterator<Item = usize>, again: Self) {
        for (place, graph) in places.zip(again.graphs) {
            if let Some(slot) = self.graphs.get_mut(place) {
                *slot = graph;
            }
        }
        self.dropped = dropped(&self.graphs);
        self.programs += again.programs;
        self.plans = again.plans;
        self.memory_bytes = self.memory_bytes.max(again.memory_bytes);
        let (first, second) = (self.session, again.session);
        let counted = first.counted.and(second.counted);
        let both = (first.predicted.and(second.predicted), counted);
        self.session = SessionReport::of(both.0, both.1, counted, self.memory_bytes);
        let codes = self.code.take().into_iter().chain(again.code);
        self.code = codes.reduce(CodeReport::and);
        let (all, more) = (&mut self.times, again.times);
        all.plan += more.plan;
        all.upload += more.upload;
        all.run += more.run;
        all.readback += more.readback;
    }

    /// Nodes of all graphs.
    #[must_use]
    pub fn nodes(&self) -> u64 {
        self.graphs.iter().map(|graph| graph.run.nodes).sum()
    }

    /// Directed edges of all graphs.
    #[must_use]
    pub fn edges(&self) -> u64 {
        self.graphs.iter().map(|graph| graph.run.edges).sum()
    }

    /// Nodes that have a value, of all graphs.
    #[must_use]
    pub fn reached(&self) -> u64 {
        self.graphs.iter().map(|graph| graph.run.reached).sum()
    }

    /// The answers of the analysis in numbers, of every graph.
    pub fn answers(&self) -> impl Iterator<Item = &Answer> {
        self.graphs.iter().map(|graph| &graph.run.answer)
    }

    /// The largest tolerance of the checks, if any value may have differed.
    #[must_use]
    pub fn check_tolerance(&self) -> Option<f64> {
        let tolerances = self
            .graphs
            .iter()
            .filter_map(|graph| graph.run.check_tolerance);
        tolerances.reduce(f64::max)
    }

    /// Most rounds of a graph.
    #[must_use]
    pub fn most_rounds(&self) -> Option<Rounds> {
        let count = |graph: &&GraphOutcome| match graph.run.rounds {
            Rounds::Levels(count) | Rounds::Iterations(count) => count,
        };
        self.graphs
            .iter()
            .max_by_key(count)
            .map(|graph| graph.run.rounds)
    }

    /// Whether every graph converged.
    #[must_use]
    pub fn converged(&self) -> bool {
        self.graphs.iter().all(|graph| graph.run.converged)
    }

    /// Whether every result was checked and equal; `None` without checks.
    #[must_use]
    pub fn checked(&self) -> Option<bool> {
        let mut checked = self.graphs.iter().filter_map(|graph| graph.run.checked);
        let first = checked.next()?;
        Some(checked.fold(first, |all, equal| all && equal))
    }

    /// FNV-1a, 64 bits, over the checksums of all columns in order, each as
    /// its eight little-endian bytes.
    #[must_use]
    pub fn checksum(&self) -> u64 {
        let halves = |graph: &GraphOutcome| {
            let sum = graph.run.values.checksum();
            [sum as u32, (sum >> 32) as u32]
        };
        Column::U32(self.graphs.iter().flat_map(halves).collect()).checksum()
    }
}
