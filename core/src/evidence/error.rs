//! Reasons why evidence is refused.

/// The reason why samples, or the text that holds them, prove nothing.
///
/// `index` counts samples from 0, `line` physical lines from 1.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[cfg_attr(feature = "serde", serde(tag = "kind", rename_all = "snake_case"))]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum EvidenceError<'a> {
    /// There is no sample.
    #[error("no samples; record some first")]
    EmptySamples,
    /// The required speed-up is not a finite number above 0.
    #[error("a required speed-up of {required_x}; use a finite number above 0")]
    InvalidRequiredSpeedup {
        /// The required speed-up.
        required_x: f64,
    },
    /// A sample comes from another backend.
    #[error("sample {index} ran on {backend_id:?}; record it on a CUDA device")]
    NonCudaEvidence {
        /// Index of the sample.
        index: u64,
        /// Its backend.
        backend_id: &'a str,
    },
    /// A sample comes from too small a device.
    #[error(
        "sample {index} ran on a device of {device_memory_bytes} bytes and capability \
         {compute_capability_major}.{compute_capability_minor}; use one of 16 GiB and 8.0"
    )]
    InsufficientCudaDevice {
        /// Index of the sample.
        index: u64,
        /// Memory of its device.
        device_memory_bytes: u64,
        /// Major compute capability.
        compute_capability_major: u32,
        /// Minor compute capability.
        compute_capability_minor: u32,
    },
    /// A sample has no graph, or did not run it more than once.
    #[error("sample {index} did not repeat one graph; repeat it at least 64 times")]
    NotRepeatedFixedGraph {
        /// Index of the sample.
        index: u64,
    },
    /// A sample's graph or repetition count is too small.
    #[error(
        "sample {index} has {graph_nodes} nodes, {graph_edges} edges and {repetitions} \
         repetitions; at least 10000, 80000 and 64 are needed"
    )]
    InsufficientScale {
        /// Index of the sample.
        index: u64,
        /// Nodes of its graph.
        graph_nodes: u64,
        /// Edges of its graph.
        graph_edges: u64,
        /// Its repetitions.
        repetitions: u64,
    },
    /// The timed region holds more than the work.
    #[error(
        "sample {index} timed {graph_uploads} uploads, {host_allocations} allocations and \
         {host_syncs} synchronisations; move them out of the timed region"
    )]
    PollutedTimedRegion {
        /// Index of the sample.
        index: u64,
        /// Graph uploads in the timed region.
        graph_uploads: u64,
        /// Host allocations in the timed region.
        host_allocations: u64,
        /// Host synchronisations in the timed region.
        host_syncs: u64,
    },
    /// A time is not finite or out of range, or their ratio is not finite.
    #[error("sample {index} has a senseless time or ratio; measure it again")]
    InvalidTiming {
        /// Index of the sample.
        index: u64,
    },
    /// A sample is too slow.
    #[error(
        "sample {index} is {observed_x} times faster, not {required_x}; lower the claim or speed \
         up the kernel"
    )]
    SpeedupBelowThreshold {
        /// Index of the sample.
        index: u64,
        /// Its speed-up.
        observed_x: f64,
        /// The required speed-up.
        required_x: f64,
    },
    /// The repetitions of all samples exceed 64 bits.
    #[error("sample {index} takes the repetitions beyond 64 bits; check its count")]
    RepetitionCountOverflow {
        /// The sample at which they do.
        index: u64,
    },
    /// There are too few distinct samples.
    #[error("{sample_count} distinct samples; record at least 2 different ones")]
    InsufficientSampleCount {
        /// Distinct samples.
        sample_count: u64,
    },
    /// The first line of the text is not the header.
    #[error("{observed:?} is not the header of the evidence columns; keep the recorded one")]
    InvalidEvidenceHeader {
        /// The line as it was read.
        observed: &'a str,
    },
    /// A line does not have one field per column.
    #[error("line {line} does not have 14 fields; record it again")]
    InvalidEvidenceRow {
        /// Number of the line.
        line: u64,
    },
    /// A field does not hold a value of its column.
    #[error("line {line}: {value:?} is no {field}; record it again")]
    InvalidEvidenceValue {
        /// Number of the line.
        line: u64,
        /// The column.
        field: &'static str,
        /// The trimmed field.
        value: &'a str,
    },
}

kinds! { EvidenceError<'_> {
    EmptySamples => "empty_samples",
    InvalidRequiredSpeedup => "invalid_required_speedup",
    NonCudaEvidence => "non_cuda_evidence",
    InsufficientCudaDevice => "insufficient_cuda_device",
    NotRepeatedFixedGraph => "not_repeated_fixed_graph",
    InsufficientScale => "insufficient_scale",
    PollutedTimedRegion => "polluted_timed_region",
    InvalidTiming => "invalid_timing",
    SpeedupBelowThreshold => "speedup_below_threshold",
    RepetitionCountOverflow => "repetition_count_overflow",
    InsufficientSampleCount => "insufficient_sample_count",
    InvalidEvidenceHeader => "invalid_evidence_header",
    InvalidEvidenceRow => "invalid_evidence_row",
    InvalidEvidenceValue => "invalid_evidence_value",
} }
