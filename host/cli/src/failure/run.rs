//! Failures of runs, batches and measurements.

use seawall::analysis::AnalysisKind;
use seawall::backend::BackendError;
use seawall::backend::batch::BatchError as MachineError;
use seawall::batch::BatchError;
use seawall::calibrate::measure::MeasureError;
use seawall::graph::{FormError, NodeName};
use seawall::program::ProgramError;
use seawall::run::RunError;
use serde_json::{Value, json};

use super::graph;
use crate::bench::BenchError;

/// Kind and fields of a run's failure.
pub(super) fn fields(error: &RunError) -> Value {
    match error {
        RunError::NoWeights { analysis } => {
            json!({"kind": "no_weights", "analysis": analysis.name()})
        }
        RunError::Directed { analysis } => {
            json!({"kind": "directed", "analysis": analysis.name()})
        }
        RunError::WeightTooLarge {
            analysis,
            from,
            to,
            weight,
            most,
        } => json!({
            "kind": "weight_too_large", "analysis": analysis.name(), "from": node(from),
            "to": node(to), "weight": weight, "most": most
        }),
        RunError::WeightTooSmall {
            analysis,
            from,
            to,
            weight,
            ..
        } => json!({
            "kind": "weight_too_small", "analysis": analysis.name(), "from": node(from),
            "to": node(to), "weight": weight
        }),
        RunError::NegativeCycle { nodes, weight, .. } => {
            let nodes: Vec<Value> = nodes.iter().map(node).collect();
            json!({"kind": "negative_cycle", "nodes": nodes, "weight": weight})
        }
        RunError::WrongDetail {
            detail,
            of,
            analysis,
        } => json!({
            "kind": "wrong_detail", "detail": detail.to_string(), "of": of.to_string(),
            "analysis": analysis.name()
        }),
        RunError::WrongForm { analysis, what } => {
            json!({"kind": "wrong_form", "analysis": analysis.name(), "what": what})
        }
        RunError::Form(error) => form_fields(error),
        RunError::SourceWeight { number, weight } => {
            json!({"kind": "source_weight", "number": number, "weight": weight})
        }
        RunError::TooManySourceWeights { weights, sources } => json!({
            "kind": "too_many_source_weights", "weights": weights, "sources": sources
        }),
        RunError::NoSource { analysis } => {
            json!({"kind": "missing_source", "analysis": analysis.name()})
        }
        RunError::TooManySources { sources, most } => {
            json!({"kind": "too_many_sources", "sources": sources, "most": most})
        }
        RunError::NoSuchSource { source_node, nodes } => {
            json!({"kind": "no_such_node", "node": source_node, "nodes": nodes})
        }
        RunError::NoTime => json!({"kind": "no_time"}),
        RunError::OverBudget {
            analysis,
            needed_bytes,
            budget_bytes,
        } => json!({
            "kind": "over_budget", "analysis": analysis.name(), "needed_bytes": needed_bytes,
            "budget_bytes": budget_bytes
        }),
        RunError::StreamOverBudget {
            analysis,
            needed_bytes,
            budget_bytes,
        } => json!({
            "kind": "over_budget", "analysis": analysis.name(), "needed_bytes": needed_bytes,
            "budget_bytes": budget_bytes, "streamed": true
        }),
        RunError::CannotStream { analysis, what } => unable("cannot_stream", *analysis, what),
        RunError::CannotSplit { analysis, what } => unable("cannot_split", *analysis, what),
        RunError::RankDiffers { rank, what } => {
            json!({"kind": "rank_differs", "rank": rank, "difference": what})
        }
        RunError::CannotCheck { analysis, what } => unable("cannot_check", *analysis, what),
        RunError::StreamTime {
            pass,
            time_budget_ns,
        } => json!({"kind": "time_budget", "pass": pass, "time_budget_ns": time_budget_ns}),
        RunError::Stream(error) => graph::fields(error),
        RunError::NoSearch {
            analysis, topology, ..
        } => json!({
            "kind": "no_search", "analysis": analysis.name(), "topology": topology.name()
        }),
        RunError::Program(error) => program_fields(error),
        RunError::Backend(error) => backend_fields(error),
        other => super::named(other),
    }
}

/// A request that the analysis does not take.
fn unable(kind: &str, analysis: AnalysisKind, reason: &str) -> Value {
    json!({"kind": kind, "analysis": analysis.name(), "reason": reason})
}

/// A node by its id or its name.
fn node(name: &NodeName) -> Value {
    match name {
        NodeName::Id(id) => json!(id),
        NodeName::Name(name) => json!(name),
    }
}

/// Kind and fields of a missing form of a graph.
pub(super) fn form_fields(error: &FormError) -> Value {
    match error {
        FormError::Memory(short) => json!({
            "kind": "memory", "needed": short.needed, "available": short.available
        }),
        FormError::TooHeavy {
            from, to, edges, ..
        } => json!({"kind": "weight_too_large", "from": from, "to": to, "edges": edges}),
        _ => json!({"kind": "listed_order"}),
    }
}

fn program_fields(error: &ProgramError) -> Value {
    match error {
        ProgramError::Damping { damping } => json!({"kind": "damping", "damping": damping}),
        ProgramError::Tolerance { tolerance } => {
            json!({"kind": "tolerance", "tolerance": tolerance})
        }
        ProgramError::Plan(error) => json!(error),
        ProgramError::RegisterTooLong { name, words, max } => {
            json!({"kind": "register_too_long", "name": name, "words": words, "max": max})
        }
        ProgramError::OverBudget {
            needed_bytes,
            budget_bytes,
        } => json!({
            "kind": "over_budget", "needed_bytes": needed_bytes, "budget_bytes": budget_bytes
        }),
        other => super::named(other),
    }
}

fn backend_fields(error: &BackendError) -> Value {
    match error {
        BackendError::NoCode { reason } => json!({"kind": "no_code", "reason": reason}),
        BackendError::Unavailable { reason } => json!({"kind": "unavailable", "reason": reason}),
        BackendError::Unsupported { device, reason } => {
            json!({"kind": "unsupported", "device": device, "reason": reason})
        }
        BackendError::Cuda {
            doing,
            name,
            remedy,
        } => json!({"kind": "cuda", "doing": doing, "name": name, "remedy": remedy}),
        BackendError::OutOfMemory {
            what,
            needed,
            available,
        } => json!({
            "kind": "out_of_memory", "what": what, "needed": needed, "available": available
        }),
        BackendError::Fault {
            record,
            wave_name,
            missing,
        } => json!({
            "kind": "fault", "code": record.code, "wave": record.wave, "wave_name": wave_name,
            "opcode": record.opcode, "block": record.block, "epoch": record.epoch,
            "arrived": record.arrived, "expected": record.expected, "missing": missing, "iteration": record.iteration
        }),
        BackendError::ContextLost {
            doing,
            name,
            remedy,
        } => json!({"kind": "context_lost", "doing": doing, "name": name, "remedy": remedy}),
        BackendError::NotCoResident {
            wanted,
            lanes,
            fitting,
            multiprocessors,
        } => json!({
            "kind": "not_co_resident", "wanted": wanted, "lanes": lanes, "fitting": fitting,
            "multiprocessors": multiprocessors
        }),
        BackendError::NotShared { reason } => json!({"kind": "not_shared", "reason": reason}),
        BackendError::RankLost { rank, problem } => {
            json!({"kind": "rank_lost", "rank": rank, "problem": problem})
        }
        BackendError::RankEnded { rank } => json!({"kind": "rank_ended", "rank": rank}),
        BackendError::Cancelled => json!({"kind": "cancelled"}),
        BackendError::Overdue { after_ns } => {
            json!({"kind": "overdue", "after_ns": after_ns})
        }
        BackendError::TooManyThreads { threads, most } => {
            json!({"kind": "too_many_threads", "threads": threads, "most": most})
        }
        BackendError::Threads { threads, reason } => {
            json!({"kind": "threads", "threads": threads, "reason": reason})
        }
        BackendError::PathTooLong { from, to, .. } => {
            json!({"kind": "path_too_long", "from": from, "to": to})
        }
        other => super::named(other),
    }
}

/// Kind and fields of a batch's failure; `cause` holds the failure of a single graph.
pub(super) fn batch_fields(error: &BatchError) -> Value {
    match error {
        BatchError::EmptyFolder { folder } => json!({"kind": "empty_folder", "folder": folder}),
        BatchError::EmptyList { list } => json!({"kind": "empty_list", "list": list}),
        BatchError::Io {
            file,
            action,
            source,
        } => json!({"kind": "io", "file": file, "action": action, "reason": source.to_string()}),
        BatchError::Refused { value, problem, .. } => {
            json!({"kind": "refused", "value": value, "problem": problem})
        }
        BatchError::Load { source, .. } => json!({"kind": "load", "cause": graph::fields(source)}),
        BatchError::OneAtATime { backend } => {
            json!({"kind": "one_at_a_time", "backend": backend.name()})
        }
        BatchError::DetailOfOne { detail } => {
            json!({"kind": "detail_of_one", "detail": detail.to_string()})
        }
        BatchError::Graph { name, source } => {
            json!({"kind": "graph_of_batch", "name": name, "cause": fields(source)})
        }
        BatchError::Run(error) => fields(error),
        BatchError::TooMany { graphs, most } => {
            json!({"kind": "too_many_graphs", "graphs": graphs, "most": most})
        }
        other => super::named(other),
    }
}

/// Kind and fields of a comparison's failure.
pub(super) fn bench_fields(error: &BenchError) -> Value {
    match error {
        BenchError::Graph(error) => graph::fields(error),
        BenchError::Run(error) => fields(error),
        BenchError::Batch(error) => batch_fields(error),
        BenchError::Backend(error)
        | BenchError::BatchMachine(
            MachineError::Backend(error) | MachineError::Job { source: error, .. },
        ) => backend_fields(error),
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
        MeasureError::Program(error) => program_fields(error),
        MeasureError::Backend(error) => backend_fields(error),
        _ => json!({"kind": "failed"}),
    }
}
