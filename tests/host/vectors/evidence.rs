//! The evidence gate, from samples and from text.

use super::Outcome;
use super::read::{Float, float, input};
use seawall_core::evidence::{EvidenceError, Proof, Sample, verify, verify_csv};
use serde::Deserialize;
use serde_json::{Value, json};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct GateInput {
    required_speedup: Float,
    samples: Vec<SampleInput>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SampleInput {
    backend_id: String,
    device_ordinal: u64,
    device_memory_bytes: u64,
    compute_capability_major: u32,
    compute_capability_minor: u32,
    graph_nodes: u64,
    graph_edges: u64,
    repetitions: u64,
    host_orchestrated_ns: Float,
    resident_megakernel_ns: Float,
    setup_ns: Float,
    timed_graph_uploads: u64,
    timed_host_allocations: u64,
    timed_host_syncs: u64,
}

impl SampleInput {
    fn sample(&self) -> Sample<'_> {
        Sample {
            backend_id: &self.backend_id,
            device_ordinal: self.device_ordinal,
            device_memory_bytes: self.device_memory_bytes,
            compute_capability_major: self.compute_capability_major,
            compute_capability_minor: self.compute_capability_minor,
            graph_nodes: self.graph_nodes,
            graph_edges: self.graph_edges,
            repetitions: self.repetitions,
            host_orchestrated_ns: self.host_orchestrated_ns.0,
            resident_megakernel_ns: self.resident_megakernel_ns.0,
            setup_ns: self.setup_ns.0,
            timed_graph_uploads: self.timed_graph_uploads,
            timed_host_allocations: self.timed_host_allocations,
            timed_host_syncs: self.timed_host_syncs,
        }
    }
}

pub(super) fn gate(value: Value) -> Outcome {
    let given: GateInput = input(value);
    let samples: Vec<Sample<'_>> = given.samples.iter().map(SampleInput::sample).collect();
    judged(verify(&samples, given.required_speedup.0))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct CsvInput {
    csv: String,
    required_speedup: Float,
}

pub(super) fn csv(value: Value) -> Outcome {
    let given: CsvInput = input(value);
    judged(verify_csv(&given.csv, given.required_speedup.0))
}

/// JSON has no infinity, so the only float of an error that may be infinite is written separately.
fn judged(result: Result<Proof, EvidenceError<'_>>) -> Outcome {
    match result {
        Ok(proof) => Ok(json!(proof)),
        Err(EvidenceError::InvalidRequiredSpeedup { required_x }) => {
            Err(json!({"kind": "invalid_required_speedup", "required_x": float(required_x)}))
        }
        Err(error) => Err(json!(error)),
    }
}
