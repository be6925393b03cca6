//! The JSON input of `seawall plan`.
//!
//! Ids are read as 64-bit numbers and compared with the wave count before they become 32-bit ids,
//! so that the first bad record is the one reported. Memory grows with the text, never with a
//! number in it.

use std::io::{BufReader, Read};

use seawall_core::launch::{AdapterLimits, LaunchPolicy, LaunchRequest};
use seawall_core::plan::arena::DEFAULT_ALIGNMENT;
use seawall_core::plan::devices::WaveCut;
use seawall_core::plan::execution::{Dispatch, Leeway, Request};
use seawall_core::plan::{ArenaOptions, Budget, Dag, Dependency, Strategy, Wave, check_records};
use seawall_core::ratio::{Bps, Ppm};
use seawall_core::topology::Signals;
use serde::Deserialize;

use super::PlanError;
use crate::files::input;

#[derive(Deserialize)]
#[serde(
    deny_unknown_fields,
    expecting = "an object with \"waves\" and \"dependencies\""
)]
struct Document {
    waves: Vec<WaveEntry>,
    dependencies: Vec<[u64; 2]>,
    #[serde(default)]
    resident_bytes: Option<u64>,
    #[serde(default)]
    budget_bytes: Option<u64>,
    #[serde(default)]
    readback_bytes: Option<u64>,
    #[serde(default)]
    alignment_bytes: Option<u64>,
    #[serde(default)]
    signals: SignalsEntry,
    #[serde(default)]
    launch: Option<LaunchEntry>,
}

/// Measurements of a step; a missing one is unknown.
#[derive(Clone, Copy, Default, Deserialize)]
#[serde(default, deny_unknown_fields, expecting = "an object of signals")]
struct SignalsEntry {
    nodes: u64,
    edges: u64,
    frontier_density_ppm: u32,
    readback_bytes: u64,
    dispatch_cost_ns: u64,
    launch_overhead_ns: u64,
    fusion_pressure_bps: u32,
}

/// A dispatch, with the planner's fields.
#[derive(Clone, Copy, Deserialize)]
#[serde(deny_unknown_fields, expecting = "an object of a launch")]
struct LaunchEntry {
    queue_len: u32,
    max_workgroup_size_x: u32,
    max_compute_workgroups_per_dimension: u32,
    max_compute_invocations_per_workgroup: u32,
    #[serde(default)]
    requested_worker_groups: u32,
    #[serde(default)]
    requested_hit_capacity: u32,
    #[serde(default)]
    expected_hits_per_item: u32,
    #[serde(default)]
    hot_opcode_count: u32,
    #[serde(default)]
    hot_window_count: u32,
    #[serde(default)]
    requeue_count: u64,
    #[serde(default)]
    max_priority_age: u32,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, expecting = "an object of a wave")]
struct WaveEntry {
    #[serde(default)]
    name: Option<String>,
    frontier_bytes: u64,
    scratch_bytes: u64,
    output_bytes: u64,
    #[serde(default)]
    reads: ReadsEntry,
    #[serde(default)]
    output: OutputEntry,
}

/// The nodes of which a wave reads what came before.
#[derive(Clone, Copy, Default, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
enum ReadsEntry {
    #[default]
    AllNodes,
    OwnNodes,
}

/// The form of a wave's output.
#[derive(Clone, Copy, Default, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
enum OutputEntry {
    #[default]
    Rows,
    Total,
}

/// A wave program as read by `seawall plan`, with checked ids.
#[derive(Debug)]
pub struct Program {
    /// Name of each wave that has one.
    pub names: Vec<Option<String>>,
    /// The plan's budget; without limits by default.
    pub budget: Budget,
    alignment_bytes: u64,
    signals: Signals,
    launch: Option<LaunchRequest>,
    waves: Vec<Wave>,
    cuts: Vec<WaveCut>,
    dependencies: Vec<Dependency>,
}

impl Program {
    pub(super) fn read(file: &str) -> Result<Self, PlanError> {
        match input(file) {
            Ok(source) => Self::from_reader(shown(file), source),
            Err(error) => Err(PlanError::of_json(
                shown(file),
                serde_json::Error::io(error),
            )),
        }
    }

    /// Reads the JSON of a wave DAG; messages call it `name`.
    ///
    /// # Errors
    /// A failing reader, invalid JSON, or the first dependency that names no wave or joins one to
    /// itself.
    pub fn from_reader(name: &str, reader: impl Read) -> Result<Self, PlanError> {
        let document = serde_json::from_reader(BufReader::new(reader));
        Self::check(document.map_err(|error| PlanError::of_json(name, error))?)
    }

    fn check(document: Document) -> Result<Self, PlanError> {
        let waves = document.waves.len() as u64;
        check_records(
            waves,
            document
                .dependencies
                .iter()
                .map(|&[before, after]| (before, after)),
        )?;
        let narrow = |id: u64| u32::try_from(id).unwrap_or(u32::MAX);
        let dependencies = document.dependencies.iter();
        let budget = Budget {
            resident_bytes: document.resident_bytes.unwrap_or(0),
            budget_bytes: document.budget_bytes.unwrap_or(u64::MAX),
            readback_bytes: document.readback_bytes.unwrap_or(0),
        };
        Ok(Self {
            dependencies: dependencies
                .map(|&[before, after]| Dependency {
                    before: narrow(before),
                    after: narrow(after),
                })
                .collect(),
            waves: document.waves.iter().map(WaveEntry::wave).collect(),
            cuts: document.waves.iter().map(WaveEntry::cut).collect(),
            names: document.waves.into_iter().map(|entry| entry.name).collect(),
            budget,
            alignment_bytes: document.alignment_bytes.unwrap_or(DEFAULT_ALIGNMENT),
            signals: document.signals.signals(),
            launch: document.launch.map(|entry| entry.request(document.signals)),
        })
    }

    /// Returns the program for the planner.
    #[must_use]
    pub fn dag(&self) -> Dag<'_> {
        Dag {
            waves: &self.waves,
            dependencies: &self.dependencies,
        }
    }

    /// How the memory of each wave lies on several devices.
    #[must_use]
    pub fn cuts(&self) -> &[WaveCut] {
        &self.cuts
    }

    /// The request for its plan. Its layout may be relaxed to make it fit, and so may its groups,
    /// unless a strategy is requested.
    #[must_use]
    pub fn request(&self, strategy: Option<Strategy>) -> Request<'_> {
        let dispatch = self.launch.map(|request| Dispatch {
            policy: &LaunchPolicy::STANDARD,
            request,
        });
        Request {
            strategy: strategy.unwrap_or_default(),
            arena: ArenaOptions {
                alignment_bytes: self.alignment_bytes,
                ..ArenaOptions::default()
            },
            leeway: Leeway {
                least_alignment_bytes: 1,
                early_results: true,
                fixed_groups: strategy.is_some(),
            },
            signals: self.signals,
            dispatch,
            ..Request::new(self.dag(), self.budget)
        }
    }
}

impl SignalsEntry {
    /// Shares above one count as one.
    fn signals(self) -> Signals {
        Signals {
            nodes: self.nodes,
            edges: self.edges,
            frontier_density: Ppm(self.frontier_density_ppm.min(Ppm::ONE.0)),
            readback_bytes: self.readback_bytes,
            dispatch_cost_ns: self.dispatch_cost_ns,
            launch_overhead_ns: self.launch_overhead_ns,
            fusion_pressure: Bps(self.fusion_pressure_bps).clamped(),
            ..Signals::default()
        }
    }
}

impl LaunchEntry {
    fn request(self, signals: SignalsEntry) -> LaunchRequest {
        let count = |of: u64| u32::try_from(of).unwrap_or(u32::MAX);
        LaunchRequest {
            queue_len: self.queue_len,
            requested_worker_groups: self.requested_worker_groups,
            limits: AdapterLimits {
                max_workgroup_size_x: self.max_workgroup_size_x,
                max_compute_workgroups_per_dimension: self.max_compute_workgroups_per_dimension,
                max_compute_invocations_per_workgroup: self.max_compute_invocations_per_workgroup,
            },
            requested_hit_capacity: self.requested_hit_capacity,
            expected_hits_per_item: self.expected_hits_per_item,
            hot_opcode_count: self.hot_opcode_count,
            hot_window_count: self.hot_window_count,
            requeue_count: self.requeue_count,
            max_priority_age: self.max_priority_age,
            graph_node_count: count(signals.nodes),
            graph_edge_count: count(signals.edges),
            ..LaunchRequest::default()
        }
    }
}

impl WaveEntry {
    fn cut(&self) -> WaveCut {
        let reads = match self.reads {
            ReadsEntry::AllNodes => WaveCut::default(),
            ReadsEntry::OwnNodes => WaveCut::OWN_NODES,
        };
        match self.output {
            OutputEntry::Rows => reads,
            OutputEntry::Total => reads.with(WaveCut::TOTAL),
        }
    }

    fn wave(&self) -> Wave {
        Wave {
            frontier_bytes: self.frontier_bytes,
            scratch_bytes: self.scratch_bytes,
            output_bytes: self.output_bytes,
        }
    }
}

fn shown(file: &str) -> &str {
    if file == "-" { "standard input" } else { file }
}

#[cfg(test)]
mod tests {
    use super::*;
    use seawall_core::error::LayerError;

    fn check(text: &str) -> Result<Program, PlanError> {
        let document =
            serde_json::from_str(text).map_err(|error| PlanError::of_json("text", error))?;
        Program::check(document)
    }

    #[test]
    fn optional_parts_have_defaults() {
        let program =
            check(r#"{"waves":[{"frontier_bytes":1,"scratch_bytes":2,"output_bytes":3}],"dependencies":[]}"#)
                .unwrap();
        assert_eq!(
            program.budget,
            Budget {
                resident_bytes: 0,
                budget_bytes: u64::MAX,
                readback_bytes: 0
            }
        );
        assert_eq!(program.names, [None]);
    }

    #[test]
    fn wide_ids_are_refused_as_ids_and_in_order() {
        let error = check(r#"{"waves":[],"dependencies":[[4294967296,0],[0,0]]}"#)
            .err()
            .unwrap();
        let PlanError::Layers(LayerError::InvalidWave { before, .. }) = error else {
            panic!("{error}");
        };
        assert_eq!(before, 1 << 32);
    }

    #[test]
    fn unknown_and_doubled_fields_are_refused() {
        for text in [
            r#"{"waves":[],"dependencies":[],"budget":1}"#,
            r#"{"waves":[],"dependencies":[],"waves":[]}"#,
            r#"{"waves":[],"dependencies":[[0,1,2]]}"#,
            r#"{"waves":[],"dependencies":[[-1,0]]}"#,
            r#"{"waves":[],"dependencies":[[18446744073709551616,0]]}"#,
            r#"{"waves":[]}"#,
            r#"{"waves":[],"dependencies":[]} x"#,
        ] {
            assert!(
                matches!(check(text), Err(PlanError::InvalidJson { .. })),
                "{text}"
            );
        }
    }
}
