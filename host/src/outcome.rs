//! What a run found, and what it took.
//!
//! One value holds all that any report shows, so that text, JSON, traces and
//! plots cannot disagree. It keeps node numbers of the loaded graph; the ids
//! of the file come in where a report is written. Nothing here runs or prints.

use serde::Serialize;

use crate::backend::HostWork;
use crate::graph::{Loaded, Scale, WeightKind, WeightOrigin};
use crate::run::{AnalysisKind, Executor};

mod answer;
mod sets;
mod waves;
pub use answer::Answer;
pub use sets::SourceSets;
pub(crate) use waves::waves;

/// The result of an analysis: one value a node, by node number.
#[derive(Clone, Debug, PartialEq)]
pub enum Column {
    /// Levels, labels, distances, counts or flags; [`Column::UNREACHED`] marks a
    /// node that no source reaches.
    U32(Vec<u32>),
    /// Distances of which one has no place in 32 bits; `u64::MAX` marks a node that no
    /// source reaches.
    U64(Vec<u64>),
    /// Ranks, or distances along float weights; of these infinity marks a node that no
    /// source reaches.
    F32(Vec<f32>),
    /// Which sources reach every node.
    Sets(SourceSets),
}

impl Column {
    /// Value of a node that no source reaches.
    pub const UNREACHED: u32 = u32::MAX;

    /// Number of nodes.
    #[must_use]
    pub fn len(&self) -> usize {
        match self {
            Self::U32(values) => values.len(),
            Self::U64(values) => values.len(),
            Self::F32(values) => values.len(),
            Self::Sets(sets) => sets.len(),
        }
    }

    /// The values, if they are floats.
    #[must_use]
    pub fn floats(&self) -> Option<&[f32]> {
        match self {
            Self::F32(values) => Some(values),
            _ => None,
        }
    }

    /// Whether there is no node.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// FNV-1a, 64 bits, over the values as little-endian bytes.
    ///
    /// Equal columns have equal checksums on every machine, so two runs can be
    /// compared without their outputs. Linear in the nodes.
    ///
    /// ```
    /// use seawall::outcome::Column;
    /// assert_eq!(Column::U32(vec![]).checksum(), 0xcbf2_9ce4_8422_2325);
    /// assert_ne!(Column::U32(vec![1, 2]).checksum(), Column::U32(vec![2, 1]).checksum());
    /// ```
    #[must_use]
    pub fn checksum(&self) -> u64 {
        match self {
            Self::U32(values) => fnv1a(values.iter().map(|value| value.to_le_bytes())),
            Self::U64(values) => fnv1a(values.iter().map(|value| value.to_le_bytes())),
            Self::F32(values) => fnv1a(values.iter().map(|value| value.to_le_bytes())),
            Self::Sets(sets) => fnv1a(sets.words().iter().map(|word| word.to_le_bytes())),
        }
    }
}

fn fnv1a<const N: usize>(words: impl Iterator<Item = [u8; N]>) -> u64 {
    const OFFSET_BASIS: u64 = 0xcbf2_9ce4_8422_2325;
    const PRIME: u64 = 0x0000_0100_0000_01b3;
    words.flatten().fold(OFFSET_BASIS, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(PRIME)
    })
}

/// How many rounds the analysis took, in the words of its field.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Rounds {
    /// Frontiers of a search, the one that holds the sources included.
    Levels(u32),
    /// Iterations of a fixpoint, the last one included.
    Iterations(u32),
}

/// The plan that ran, in numbers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PlanSummary {
    /// Groups of waves between grid barriers.
    pub groups: u32,
    /// Grid barriers that the plan needs, those inside loops not counted.
    pub global_barriers: u32,
    /// Groups that no plan can go below.
    pub lower_bound: u64,
    /// Bytes of the largest group.
    pub peak_group_bytes: u64,
    /// Bytes of the arena that holds every register.
    pub arena_bytes: u64,
    /// Topology that the run used most, by the planner's name.
    pub topology: String,
}

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_checksum_is_fnv1a_over_little_endian_bytes() {
        // "abcd" as one little-endian word, against the published test vector.
        let word = u32::from_le_bytes(*b"abcd");
        assert_eq!(Column::U32(vec![word]).checksum(), 0xfc17_9f83_ee07_24dd);
    }

    #[test]
    fn floats_count_by_their_bits() {
        assert_eq!(
            Column::F32(vec![1.0]).checksum(),
            Column::U32(vec![1.0f32.to_bits()]).checksum()
        );
        assert_ne!(
            Column::F32(vec![0.0]).checksum(),
            Column::F32(vec![-0.0]).checksum()
        );
    }
}
