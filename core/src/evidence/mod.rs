//! A gate that decides whether measured speed-ups prove anything.
//!
//! A speed-up is easy to fake by accident: a small graph, one repetition, an upload inside the
//! timed region, the same row pasted twice. The gate refuses each of these with the numbers that
//! caused the refusal. It measures nothing: the three timed counters must come from real counters
//! of the run. This module and [`crate::tuning`] are the only ones of the crate with floating
//! point.

mod csv;
mod error;
mod gate;

pub use csv::{COLUMNS, CsvError, HEADER, verify_csv, write_csv};
pub use error::EvidenceError;
pub use gate::{Gate, verify};

/// The backend that evidence must come from.
pub const BACKEND: &str = "cuda";

/// Least device memory: 16 GiB.
pub const DEVICE_MEMORY_MIN_BYTES: u64 = 16 << 30;

/// Least compute capability, major and minor.
pub const COMPUTE_CAPABILITY_MIN: (u32, u32) = (8, 0);

/// Least nodes of the graph.
pub const GRAPH_NODES_MIN: u64 = 10_000;

/// Least edges of the graph.
pub const GRAPH_EDGES_MIN: u64 = 80_000;

/// Least repetitions of a sample.
pub const REPETITIONS_MIN: u64 = 64;

/// Least distinct samples.
pub const DISTINCT_SAMPLES_MIN: u64 = 2;

/// One measured comparison of host orchestration with the resident megakernel.
///
/// The fields are in the order of the CSV columns; times are nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Sample<'a> {
    /// The backend that ran.
    pub backend_id: &'a str,
    /// Ordinal of the device.
    pub device_ordinal: u64,
    /// Memory of the device.
    pub device_memory_bytes: u64,
    /// Major compute capability.
    pub compute_capability_major: u32,
    /// Minor compute capability.
    pub compute_capability_minor: u32,
    /// Nodes of the graph.
    pub graph_nodes: u64,
    /// Directed edges of the graph.
    pub graph_edges: u64,
    /// Runs over the same graph in each timed region.
    pub repetitions: u64,
    /// Time with a host loop.
    pub host_orchestrated_ns: f64,
    /// Time with the resident megakernel.
    pub resident_megakernel_ns: f64,
    /// Time spent before the timed region.
    pub setup_ns: f64,
    /// Graph uploads inside the timed region, counted.
    pub timed_graph_uploads: u64,
    /// Host allocations inside the timed region, counted.
    pub timed_host_allocations: u64,
    /// Host synchronisations inside the timed region, counted.
    pub timed_host_syncs: u64,
}

impl Sample<'_> {
    /// Host time over resident time; meaningful once the times are known to be valid.
    #[must_use]
    pub fn speedup_x(&self) -> f64 {
        self.host_orchestrated_ns / self.resident_megakernel_ns
    }
}

/// The claim that accepted evidence proves.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Proof {
    /// Smallest speed-up of a sample.
    pub min_speedup_x: f64,
    /// Largest speed-up of a sample.
    pub max_speedup_x: f64,
    /// Samples, duplicates included.
    pub sample_count: u64,
    /// Repetitions of all samples.
    pub total_repetitions: u64,
}
