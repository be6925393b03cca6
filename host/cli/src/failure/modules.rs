//! Failures of the analysis of programs.

use super::of_graph;
use seawall_modules::ModuleError;
use serde_json::{Value, json};

pub(crate) fn fields(error: &ModuleError) -> Value {
    match error {
        ModuleError::Io { path, source } => {
            json!({"kind": "io", "file": path, "action": "read", "reason": source.to_string()})
        }
        ModuleError::Invalid {
            path,
            offset,
            message,
        } => json!({"kind": "invalid_module", "file": path, "offset": offset, "reason": message}),
        ModuleError::Component { path } => json!({"kind": "component", "file": path}),
        ModuleError::Unknown { path } => json!({"kind": "unknown_file", "file": path}),
        ModuleError::Text {
            path,
            line,
            problem,
        } => json!({"kind": "flow_text", "file": path, "line": line, "reason": problem}),
        ModuleError::GrammarText {
            path,
            line,
            problem,
        } => json!({"kind": "grammar_text", "file": path, "line": line, "reason": problem}),
        ModuleError::TooManyPairs {
            pairs,
            nodes,
            needed,
            limit,
        } => json!({
            "kind": "too_many_pairs", "pairs": pairs, "nodes": nodes,
            "needed_bytes": needed, "limit_bytes": limit
        }),
        ModuleError::TooLarge {
            path,
            what,
            found,
            most,
        } => json!({
            "kind": "too_large", "file": path, "what": what, "found": found, "most": most
        }),
        ModuleError::TooManyFacts {
            analysis,
            function,
            facts,
            blocks,
            needed,
            limit,
        } => json!({
            "kind": "too_many_facts", "analysis": analysis, "function": function,
            "facts": facts, "blocks": blocks, "needed_bytes": needed, "limit_bytes": limit
        }),
        ModuleError::NoSuchName { role, name, .. } => {
            json!({"kind": "no_such_name", "role": role, "name": name})
        }
        ModuleError::NotConverged {
            analysis,
            iterations,
        } => json!({"kind": "not_converged", "analysis": analysis, "iterations": iterations}),
        ModuleError::Graph(error) => of_graph(error),
        ModuleError::Run(error) => json!(error),
        _ => json!({"kind": "analysis_run"}),
    }
}
