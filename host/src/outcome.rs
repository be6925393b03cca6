//! Outcome of a run: results and costs.
//!
//! One value holds everything that any report shows, so that text, JSON, traces and plots cannot
//! disagree. It keeps node numbers of the loaded graph; reports convert them to the file's ids.
//! Nothing here runs or prints.

mod groups;
mod taken;
mod waves;

pub use crate::column::{Column, Rounds, SourceSets};
pub use crate::program::{PlanCounters, PlanSummary};
pub use groups::{BarrierSummary, GroupSummary, StepSummary, Timeline};
pub(crate) use groups::{groups, steps, timeline};
pub use taken::{Direction, Taken};
pub use waves::waves;

use crate::analysis::{AnalysisKind, Answer, Number};
use crate::backend::{CodeReport, HostWork, SessionWork};
use crate::column::fnv1a;
use crate::executor::Executor;
use crate::graph::disk::SwgFile;
use crate::graph::{Graph, Loaded, Scale, WeightKind, WeightOrigin};
pub use crate::multi::DevicesReport;
pub use crate::stream::{PassSummary, StreamReport};
pub use seawall_core::session::ReuseTelemetry;
use serde::Serialize;

/// Memory of a machine during a run, in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Memory {
    /// Graph, arena, inputs and tables, as the plan predicts them.
    pub predicted_bytes: u64,
    /// The same, as they were allocated.
    pub allocated_bytes: u64,
    /// Incoming edges by tiles, which are made where there is space for them.
    pub tiles_bytes: u64,
    /// The budget, if there was one.
    pub budget_bytes: Option<u64>,
}

/// Work of a request on its session, which may already have a resident graph and program.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct SessionReport {
    /// The work that `core`'s session plan predicts. It has one synchronisation for each run;
    /// executors that read back within loops have more.
    pub predicted: SessionWork,
    /// The work that the session counted.
    pub counted: SessionWork,
    /// Predicted bytes on the machine at once.
    pub peak_bytes: u64,
    /// Uploads of the graph that all runs of the session needed and avoided so far.
    pub reuse: ReuseTelemetry,
    /// Runs that found their graph on the machine, in millionths of all.
    pub reuse_rate_ppm: Option<u32>,
    /// Bytes of the graph whose upload was avoided, in millionths of all that the runs needed.
    pub avoided_upload_ppm: Option<u32>,
}

impl SessionReport {
    /// Returns the report of a request on a session whose requests did `all` so far.
    pub(crate) fn of(
        predicted: SessionWork,
        counted: SessionWork,
        all: SessionWork,
        peak_bytes: u64,
    ) -> Self {
        let warm_reuses = all.runs.saturating_sub(all.graph_uploads);
        let reuse = ReuseTelemetry {
            cold_uploads: all.graph_uploads,
            warm_reuses,
            upload_bytes: all.graph_bytes,
            avoided_upload_bytes: warm_reuses.saturating_mul(all.graph_bytes),
        };
        Self {
            predicted,
            counted,
            peak_bytes,
            reuse,
            reuse_rate_ppm: reuse.reuse_rate().map(|rate| rate.0),
            avoided_upload_ppm: reuse.avoided_fraction().map(|rate| rate.0),
        }
    }
}

/// Edges that the analysis did not get, counted as [`Graph::edges`](crate::graph::Graph::edges)
/// counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Dropped {
    /// Edges from a node to itself.
    #[serde(rename = "dropped_self_loops")]
    pub self_loops: u64,
    /// Parallel edges in whose place another one stayed.
    #[serde(rename = "dropped_duplicates")]
    pub duplicates: u64,
}

impl Dropped {
    /// Edges of a graph that its form lacks.
    #[must_use]
    pub fn between(read: &Graph, form: &Graph) -> Self {
        let loops = if form.loops() == 0 { read.loops() } else { 0 };
        let dropped = read.edges().saturating_sub(form.edges());
        Self {
            self_loops: u64::from(loops),
            duplicates: u64::from(dropped.saturating_sub(loops)),
        }
    }
}

impl std::ops::AddAssign for Dropped {
    fn add_assign(&mut self, other: Self) {
        self.self_loops += other.self_loops;
        self.duplicates += other.duplicates;
    }
}

/// The weights of a graph's edges. The loader of the graph fills this in.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Weights {
    /// Their origin.
    pub origin: WeightOrigin,
    /// Kind of their words, after scaling.
    pub kind: WeightKind,
    /// Weights of the file that a 32-bit float does not represent exactly.
    pub rounded: u64,
    /// Effect of scaling, if it was requested.
    pub scale: Option<Scale>,
}

impl Weights {
    /// The weights that a run reads from `file`, or 1 on every edge if `is_unit`.
    pub(crate) fn of_file(file: &SwgFile, is_unit: bool) -> Self {
        Self::of_origin(WeightOrigin::File, file.weight_kind(), is_unit)
    }

    /// Weights of a kind and an origin, or 1 on every edge if `is_unit`.
    pub(crate) fn of_origin(origin: WeightOrigin, kind: Option<WeightKind>, is_unit: bool) -> Self {
        let (origin, kind) = match is_unit {
            true => (WeightOrigin::Unit, None),
            false => (origin, kind),
        };
        Self {
            origin,
            kind: kind.unwrap_or_default(),
            rounded: 0,
            scale: None,
        }
    }

    /// The weights of a loaded graph, if it has any.
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

/// Times of the phases, nanoseconds.
///
/// With several repetitions `run` and `readback` are medians.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Times {
    /// Reading or generating the graph. The loader fills this in.
    pub load: u64,
    /// Upload of the graph to the device.
    pub upload: u64,
    /// Building, planning and encoding the program.
    pub plan: u64,
    /// The run itself: device time on a GPU, wall time on the CPU.
    pub run: u64,
    /// The first of the runs, the only one to run [the waves that depend only on the
    /// graph](crate::program::ProgramBuilder::once), unless the program ran before.
    pub first_run: u64,
    /// Copying the result back.
    pub readback: u64,
}

/// A span of time for the trace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    /// Name of the event.
    pub name: String,
    /// Row of the trace.
    pub track: Track,
    /// Start since the run began, nanoseconds.
    pub start_ns: u64,
    /// Duration, nanoseconds.
    pub duration_ns: u64,
}

/// The row of the trace that an event belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Track {
    /// The host thread.
    Host,
    /// The device, or the CPU threads backend.
    Device,
}

/// A wave of the program that ran.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct WaveSummary {
    /// Its number, as in faults and traces.
    pub wave: u32,
    /// Its name.
    pub name: String,
    /// Name of its opcode.
    pub opcode: String,
    /// Number of its group in the program's tables; bodies of loops follow the
    /// groups of the plan.
    pub group: u32,
    /// Name of the loop whose body it is in.
    pub body_of: Option<String>,
    /// Iterations of a loop, if the machine counted them.
    pub iterations: Option<u32>,
}

/// A path from a source to a node, by ids of the file.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct FoundPath {
    /// The node at its end.
    pub target: u64,
    /// Its name, where the file has names.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub target_name: Option<String>,
    /// Whether there is a path.
    pub reached: bool,
    /// Its nodes from the source to the target; none without a path.
    pub nodes: Vec<u64>,
    /// Their names, where the file has names.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub names: Vec<String>,
    /// Its total weight, or its number of edges in a search of levels; `None` without a path.
    pub weight: Option<Number>,
}

impl FoundPath {
    /// The node at its end, by its name or its id.
    #[must_use]
    pub fn target_label(&self) -> String {
        match &self.target_name {
            Some(name) => name.clone(),
            None => format!("node {}", self.target),
        }
    }

    /// Its nodes by their names or their ids.
    #[must_use]
    pub fn labels(&self) -> Vec<String> {
        match self.names.as_slice() {
            [] => self.nodes.iter().map(u64::to_string).collect(),
            names => names.to_vec(),
        }
    }
}

/// Everything that a report of a run shows.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct RunOutcome {
    /// The analysis that ran.
    pub analysis: AnalysisKind,
    /// The executor that ran it.
    pub backend: Executor,
    /// Reason of the choice if the caller left it open, otherwise the better executor if there is
    /// one.
    pub backend_reason: Option<String>,
    /// Name of the GPU from which CPU threads took over the run, or an earlier one of its session.
    pub taken_over_from: Option<String>,
    /// Name of the device.
    pub device: String,
    /// Nodes of the graph.
    pub nodes: u64,
    /// Directed edges of the graph.
    pub edges: u64,
    /// The graph as read, and the form in which the analysis took it.
    pub taken: Taken,
    /// Edges that the analysis did not get.
    pub dropped: Dropped,
    /// Weights of the edges, if the analysis reads them and the loader filled them in.
    pub weights: Option<Weights>,
    /// Sources by their ids in the file; empty if the analysis takes none.
    pub sources: Vec<u64>,
    /// Names of the sources; empty if nodes have none.
    pub source_names: Vec<String>,
    /// Nodes that have a value: those reached by a search, all nodes otherwise.
    pub reached: u64,
    /// Rounds that ran.
    pub rounds: Rounds,
    /// Whether the last round changed nothing; false if a limit ended the run.
    pub converged: bool,
    /// One value per node.
    pub values: Column,
    /// Parent of every node, [`Column::UNREACHED`] if there is none; `None` if parents were not
    /// requested.
    pub parents: Option<Vec<u32>>,
    /// The path to a node that was asked for. The caller fills this in, by [`Self::path_to`].
    pub path: Option<FoundPath>,
    /// The plan.
    pub plan: PlanSummary,
    /// The memory of the machine.
    pub memory: Memory,
    /// Uses of the plans so far.
    pub plans: PlanCounters,
    /// Work of the session, as predicted and as counted.
    pub session: SessionReport,
    /// Topology that most steps of a search had, by the planner's name; `none` without
    /// steps.
    pub topology: String,
    /// The times.
    pub times: Times,
    /// Repetitions per median.
    pub repeat: u32,
    /// Edges that sequential algorithms visited; `None` if none ran.
    pub edges_examined: Option<u64>,
    /// Grid barriers that the device crossed.
    pub device_barriers: u64,
    /// How waves of code ran; `None` unless threads of a CPU ran them.
    pub code: Option<CodeReport>,
    /// Work of the host during the last repetition.
    pub host: HostWork,
    /// Whether a plain sequential implementation has the same result; `None` without a check.
    pub checked: Option<bool>,
    /// Relative tolerance of that check; `None` if values had to be equal.
    pub check_tolerance: Option<f64>,
    /// The answer of the analysis in numbers.
    pub answer: Answer,
    /// Spans for the trace.
    pub events: Vec<Event>,
    /// The waves of the program, in the order of their groups.
    pub waves: Vec<WaveSummary>,
    /// The groups of the program, bodies of loops after the loops, if requested.
    pub groups: Vec<GroupSummary>,
    /// Steps of searches in the last repetition, the first [`STEPS_KEPT`] of them, if requested
    /// and if the machine keeps them.
    ///
    /// [`STEPS_KEPT`]: crate::backend::STEPS_KEPT
    pub steps: Vec<StepSummary>,
    /// Number of all these steps.
    pub steps_total: u32,
    /// The work of each block or thread between barriers in the last repetition, if requested and if
    /// several of them ran it in one launch.
    pub timeline: Option<Timeline>,
    /// The edges that were read while the run needed them; `None` if the graph was resident.
    pub stream: Option<StreamReport>,
    /// The cut of the graph; `None` unless it ran on several devices.
    pub devices: Option<DevicesReport>,
}

fn number_of(column: &Column, node: u32) -> Option<Number> {
    let node = node as usize;
    match column {
        Column::U32(values) => values.get(node).map(|value| u64::from(*value).into()),
        Column::U64(values) => values.get(node).map(|value| (*value).into()),
        Column::I64(values) => values.get(node).map(|value| Number::Signed(*value)),
        Column::F32(values) => values.get(node).map(|value| (*value).into()),
        Column::Sets(_) => None,
    }
}

impl RunOutcome {
    /// The path to `target` along the parents, which must have been requested, with the ids that
    /// the nodes of `graph` have in their file. O(edges of the path).
    #[must_use]
    pub fn path_to(&self, target: u32, graph: &Graph) -> FoundPath {
        let parents = self.parents.as_deref().unwrap_or(&[]);
        let mut nodes = Vec::new();
        let mut node = target;
        // A node without a parent has no path; a source is its own parent.
        while let Some(&parent) = parents.get(node as usize) {
            if parent == Column::UNREACHED || nodes.len() > parents.len() {
                nodes.clear();
                break;
            }
            nodes.push(node);
            if parent == node {
                break;
            }
            node = parent;
        }
        nodes.reverse();
        let reached = !nodes.is_empty();
        let id = |node: u32| graph.original_id(node);
        let names = nodes.iter().filter_map(|node| graph.name_of(*node));
        FoundPath {
            target: id(target),
            target_name: graph.name_of(target).map(str::to_owned),
            reached,
            names: names.map(str::to_owned).collect(),
            nodes: nodes.into_iter().map(id).collect(),
            weight: number_of(&self.values, target).filter(|_| reached),
        }
    }

    /// Number of nodes that each source reaches, if requested.
    #[must_use]
    pub fn reached_each(&self) -> Option<Vec<u64>> {
        match &self.values {
            Column::Sets(sets) => Some(sets.reached()),
            _ => None,
        }
    }

    /// Checksum of the parents, as [`Column::checksum`].
    #[must_use]
    pub fn parents_checksum(&self) -> Option<u64> {
        let parents = self.parents.as_deref()?;
        Some(fnv1a(parents.iter().map(|parent| parent.to_le_bytes())))
    }
}
