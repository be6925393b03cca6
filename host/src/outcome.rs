//! What a run found, and what it took.
//!
//! One value holds all that any report shows, so that text, JSON, traces and
//! plots cannot disagree. It keeps node numbers of the loaded graph; the ids
//! of the file come in where a report is written. Nothing here runs or prints.

mod waves;

pub use crate::column::{Column, Rounds, SourceSets};
pub use crate::program::PlanSummary;
pub(crate) use waves::waves;

use crate::analysis::{AnalysisKind, Answer};
use crate::backend::HostWork;
use crate::column::fnv1a;
use crate::executor::Executor;
use crate::graph::{Loaded, Scale, WeightKind, WeightOrigin};
use serde::Serialize;

/// What was left out of a file's edges. Whoever loaded the graph fills this in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Dropped {
    /// Edges from a node to itself.
    #[serde(rename = "dropped_self_loops")]
    pub self_loops: u64,
    /// Edges that were there already.
    #[serde(rename = "dropped_duplicates")]
    pub duplicates: u64,
}

impl Dropped {
    /// What a load left out.
    #[must_use]
    pub fn of(stats: &crate::graph::LoadStats) -> Self {
        Self {
            self_loops: stats.self_loops,
            duplicates: stats.duplicates,
        }
    }
}

impl std::ops::AddAssign for Dropped {
    fn add_assign(&mut self, other: Self) {
        self.self_loops += other.self_loops;
        self.duplicates += other.duplicates;
    }
}

/// The weights of a graph's edges. Whoever loaded the graph fills this in.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Weights {
    /// Their origin.
    pub origin: WeightOrigin,
    /// What their words are, after scaling.
    pub kind: WeightKind,
    /// Weights of the file that a float of 32 bits does not hold exactly.
    pub rounded: u64,
    /// What scaling did to them, if it was asked.
    pub scale: Option<Scale>,
}

impl Weights {
    /// The weights of a graph as it was loaded, if it has any.
    #[must_use]
    pub fn of(loaded: &Loaded) -> Option<Self> {
        let stats = &loaded.stats;
        Some(Self {
            origin: stats.weight_origin?,
            kind: loaded.graph.weight_kind()?,
            rounded: stats.rounded_weights,
            scale: stats.scale,
        })
    }
}

/// Where the time went, in nanoseconds.
///
/// With several repetitions `run` and `readback` are medians.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Times {
    /// Reading or generating the graph. Whoever loaded it fills this in.
    pub load: u64,
    /// Upload of the graph to the device.
    pub upload: u64,
    /// Building, planning and encoding the program.
    pub plan: u64,
    /// The run itself: device time on a GPU, wall time on the CPU.
    pub run: u64,
    /// Copying the result back.
    pub readback: u64,
}

/// A span of time for the trace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    /// What happened.
    pub name: String,
    /// Where it happened.
    pub track: Track,
    /// Start since the run began, nanoseconds.
    pub start_ns: u64,
    /// How long it took, nanoseconds.
    pub duration_ns: u64,
}

/// The row of the trace that an event belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Track {
    /// The host thread.
    Host,
    /// The device, or the threads of the CPU backend.
    Device,
}

/// A wave of the program that ran.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WaveSummary {
    /// Its name.
    pub name: String,
    /// Name of its opcode.
    pub opcode: String,
    /// Number of its group in the program's tables; bodies of loops follow the
    /// groups of the plan.
    pub group: u32,
    /// Name of the loop whose body it is in.
    pub body_of: Option<String>,
    /// Iterations of a loop, where the machine counted them.
    pub iterations: Option<u32>,
}

/// Everything that a report of a run shows.
#[derive(Clone, Debug, PartialEq)]
pub struct RunOutcome {
    /// The analysis that ran.
    pub analysis: AnalysisKind,
    /// The executor that ran it.
    pub backend: Executor,
    /// Why this executor was taken when the caller left the choice open, or
    /// which one would be better when not.
    pub backend_reason: Option<String>,
    /// Name of the device.
    pub device: String,
    /// Nodes of the graph.
    pub nodes: u64,
    /// Directed edges of the graph.
    pub edges: u64,
    /// Edges of the file that the graph does not have.
    pub dropped: Dropped,
    /// Weights of the edges, where the analysis reads them and whoever loaded the graph
    /// said so.
    pub weights: Option<Weights>,
    /// Sources by their ids in the file; empty when the analysis takes none.
    pub sources: Vec<u64>,
    /// Nodes that have a value: those reached by a search, all nodes otherwise.
    pub reached: u64,
    /// Rounds that ran.
    pub rounds: Rounds,
    /// Whether the last round changed nothing; false when a limit ended the run.
    pub converged: bool,
    /// One value a node.
    pub values: Column,
    /// Parent of every node, [`Column::UNREACHED`] where there is none; nothing
    /// when parents were not asked for.
    pub parents: Option<Vec<u32>>,
    /// The plan.
    pub plan: PlanSummary,
    /// Topology that most steps of a search had, by the planner's name; `none` without
    /// steps.
    pub topology: String,
    /// The times.
    pub times: Times,
    /// Repetitions behind the medians.
    pub repeat: u32,
    /// Grid barriers that the device crossed.
    pub device_barriers: u64,
    /// Work of the host during the last repetition.
    pub host: HostWork,
    /// Whether a plain sequential implementation gave the same result; nothing
    /// when it was not asked.
    pub checked: Option<bool>,
    /// Share of itself by which a value may have differed in that check; nothing where
    /// values had to be equal.
    pub check_tolerance: Option<f64>,
    /// The numbers that the analysis is asked for.
    pub answer: Answer,
    /// Spans for the trace.
    pub events: Vec<Event>,
    /// The waves of the program, in the order of their groups.
    pub waves: Vec<WaveSummary>,
}

impl RunOutcome {
    /// How many nodes each source reaches, when that was asked.
    #[must_use]
    pub fn reached_each(&self) -> Option<Vec<u64>> {
        match &self.values {
            Column::Sets(sets) => Some(sets.reached()),
            _ => None,
        }
    }

    /// As [`Column::checksum`], of the parents.
    #[must_use]
    pub fn parents_checksum(&self) -> Option<u64> {
        let parents = self.parents.as_deref()?;
        Some(fnv1a(parents.iter().map(|parent| parent.to_le_bytes())))
    }
}
