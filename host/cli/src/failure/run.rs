//! Failures of batches and measurements.

use seawall::backend::batch::BatchError as MachineError;
use seawall::batch::BatchError;
use seawall::calibrate::measure::MeasureError;
use serde_json::{Value, json};

use super::graph;
use crate::bench::BenchError;

/// Kind and fields of a batch's failure; `cause` holds the failure of a single graph.
pub(super) fn batch_fields(error: &BatchError) -> Value {
    let mut fields = json!(error);
    if let BatchError::Load { source, .. } = error {
        fields["cause"] = graph::fields(source);
    }
    fields
}

/// Kind and fields of a comparison's failure.
pub(super) fn bench_fields(error: &BenchError) -> Value {
    match error {
        BenchError::Graph(error) => graph::fields(error),
        BenchError::Run(error) => json!(error),
        BenchError::Batch(error) => batch_fields(error),
        BenchError::Backend(error)
        | BenchError::BatchMachine(
            MachineError::Backend(error) | MachineError::Job { source: error, .. },
        ) => json!(error),
        BenchError::BatchMachine(MachineError::Size { jobs, most }) => {
            json!({"kind": "too_many_graphs", "graphs": jobs, "most": most})
        }
        BenchError::BatchMachine(other) => super::named(other),
    }
}

/// Kind and fields of a measurement's failure.
pub(super) fn probe_fields(error: &MeasureError) -> Value {
    match error {
        MeasureError::Graph(error) => graph::fields(error),
        MeasureError::Program(error) => json!(error),
        MeasureError::Backend(error) => json!(error),
        _ => json!({"kind": "failed"}),
    }
}
