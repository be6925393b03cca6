//! Failures of reading, generating and writing graphs.

use seawall::graph::{GraphError, LineProblem, ScaleError};
use serde_json::{Value, json};

/// Kind and fields of `error`.
pub(super) fn fields(error: &GraphError) -> Value {
    match error {
        GraphError::Io {
            file,
            action,
            source,
        } => {
            json!({"kind": "io", "file": file, "action": action, "reason": source.to_string()})
        }
        GraphError::Empty { file } => json!({"kind": "empty", "file": file}),
        GraphError::UnknownFormat { file, line, value } => {
            json!({"kind": "unknown_format", "file": file, "line": line, "value": value})
        }
        GraphError::OtherFormat { file, asked, found } => json!({
            "kind": "other_format", "file": file, "asked": asked.to_string(), "found": found.to_string()
        }),
        GraphError::UnknownSuffix { file } => json!({"kind": "unknown_suffix", "file": file}),
        GraphError::Directed { file, .. } => {
            json!({"kind": "format_without_directions", "file": file})
        }
        GraphError::Foreign { file, what, remedy } => {
            json!({"kind": "foreign_file", "file": file, "what": what, "remedy": remedy})
        }
        GraphError::NoColumns { file, format } => {
            json!({"kind": "no_columns", "file": file, "format": format.to_string()})
        }
        GraphError::Unwritable {
            file, format, what, ..
        } => json!({
            "kind": "format_cannot_hold", "file": file, "format": format.to_string(), "what": what
        }),
        GraphError::Changed { file } => json!({"kind": "changed", "file": file}),
        GraphError::NoWeights { file } => json!({"kind": "no_weights", "file": file}),
        GraphError::Scale { file, problem } => scale(file, problem),
        GraphError::Memory {
            file,
            needed,
            available,
        } => json!({"kind": "memory", "file": file, "needed": needed, "available": available}),
        GraphError::Generator { spec, problem } => {
            json!({"kind": "generator", "spec": spec, "problem": problem.to_string()})
        }
        GraphError::Compressed { .. }
        | GraphError::Line { .. }
        | GraphError::Archive { .. }
        | GraphError::Binary { .. } => content(error),
        GraphError::Threads { reason } => json!({"kind": "threads", "reason": reason}),
        other => counts(other),
    }
}

/// Kind and fields of a scaling error.
fn scale(file: &str, problem: &ScaleError) -> Value {
    match problem {
        ScaleError::TooHeavy {
            from,
            to,
            weight,
            factor,
        } => json!({
            "kind": "scaled_weight", "file": file, "from": from, "to": to, "weight": weight,
            "factor": factor
        }),
        ScaleError::Factor { factor } => {
            json!({"kind": "scale_factor", "file": file, "factor": factor})
        }
        _ => json!({"kind": "no_weights", "file": file}),
    }
}

/// Failures caused by the content of a file.
fn content(error: &GraphError) -> Value {
    match error {
        GraphError::Compressed {
            file,
            codec,
            produced,
            reason,
        } => json!({
            "kind": "compressed", "file": file, "codec": codec, "produced": produced,
            "reason": reason
        }),
        GraphError::Line {
            file,
            line,
            problem: problem @ LineProblem::ScaledTooLarge { value, factor },
        } => json!({
            "kind": "scaled_weight", "file": file, "line": line, "weight": value,
            "factor": factor, "problem": problem.to_string()
        }),
        GraphError::Line {
            file,
            line,
            problem,
        } => json!({"kind": "line", "file": file, "line": line, "problem": problem.to_string()}),
        GraphError::Binary { file, problem, .. } => {
            json!({"kind": "binary", "file": file, "problem": problem.to_string()})
        }
        GraphError::Archive { file, problem } => {
            json!({"kind": "archive", "file": file, "problem": problem.to_string()})
        }
        other => super::named(other),
    }
}

/// Failures caused by a count.
fn counts(error: &GraphError) -> Value {
    match error {
        GraphError::RowCount {
            file,
            promised,
            found,
        } => json!({"kind": "row_count", "file": file, "promised": promised, "found": found}),
        GraphError::NeighbourCount {
            file,
            promised,
            found,
        } => json!({"kind": "neighbour_count", "file": file, "promised": promised, "found": found}),
        GraphError::OneSided { file, from, to } => {
            json!({"kind": "one_sided", "file": file, "from": from, "to": to})
        }
        GraphError::EdgeCount {
            file,
            line,
            promised,
            found,
        } => json!({
            "kind": "edge_count", "file": file, "line": line, "promised": promised, "found": found
        }),
        GraphError::TooManyNodes { file, nodes, limit } => {
            json!({"kind": "too_many_nodes", "file": file, "nodes": nodes, "limit": limit})
        }
        GraphError::TooManyEdges { file, edges, limit } => {
            json!({"kind": "too_many_edges", "file": file, "edges": edges, "limit": limit})
        }
        GraphError::HollowGraph {
            file,
            nodes,
            edges,
            limit,
        } => json!({
            "kind": "hollow_graph", "file": file, "nodes": nodes, "edges": edges, "limit": limit
        }),
        other => super::named(other),
    }
}
