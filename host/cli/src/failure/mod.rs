//! Failures as JSON: `{"error": {"kind", …, "message"}}` on standard output.
//!
//! Kinds and fields are those that the typed errors serialize, or come from here. They are part of
//! the command line's interface: new ones may appear, old ones stay. Errors of the planner and
//! refusals of evidence have exactly the fields of their conformance vectors, so they have no
//! message.

mod modules;
mod usage;

use std::fmt::Debug;

use seawall::backend::batch::BatchError as MachineError;
use seawall::batch::BatchError;
use seawall::calibrate::measure::MeasureError;
use seawall::graph::{GraphError, LineProblem};
use serde_json::{Value, json};

use crate::bench::{AgainstError, BenchError};
use crate::error::CliError;
use crate::evidence::EvidenceFailure;
use crate::logging::LogError;
use crate::page::PageError;
use crate::sources::SourcesError;

pub(super) use modules::fields as of_module;
pub(super) use usage::{asks_for_json, of_usage};

/// Returns the object of a failed command.
pub(super) fn of(error: &CliError) -> Value {
    let fields = match error {
        CliError::Plan(error) if error.is_of_vectors() => {
            return json!({ "error": error.fields() });
        }
        CliError::Plan(error) => error.fields(),
        CliError::Program(error) => error.fields(),
        CliError::Evidence(EvidenceFailure::Refused { fields, .. }) => {
            return json!({ "error": fields });
        }
        CliError::Evidence(EvidenceFailure::Unreadable { file, source }) => {
            json!({"kind": "unreadable", "file": file, "reason": source.to_string()})
        }
        CliError::Evidence(EvidenceFailure::Unmeasured { graph, source }) => {
            json!({"kind": "unmeasured", "graph": graph, "reason": source.to_string()})
        }
        CliError::Module(error) => of_module(error),
        CliError::Graph(error) => of_graph(error),
        CliError::Negative { analysis, source } => {
            let mut fields = of_graph(source);
            fields["analysis"] = json!(analysis.name());
            fields
        }
        CliError::Run(error) => json!(error),
        CliError::Form(error) => json!(error),
        CliError::Batch(error) => batch_fields(error),
        CliError::Bench(error) => bench_fields(error),
        CliError::Measure(error) => probe_fields(error),
        CliError::Page(error) => match error {
            PageError::Unreadable { file, source } => {
                json!({"kind": "unreadable", "file": file, "reason": source.to_string()})
            }
            PageError::NoReport { file, .. } => json!({"kind": "no_report", "file": file}),
        },
        CliError::Sources(error) => sources(error),
        CliError::NoSuchSource(source) => json!({
            "kind": "no_such_source", "given": source.given, "graph": source.graph,
            "range": source.range
        }),
        other => option(other),
    };
    with_message(fields, &error.to_string())
}

/// Kind and fields of a failure of reading, generating or writing a graph.
pub(crate) fn of_graph(error: &GraphError) -> Value {
    let mut fields = json!(error);
    if let GraphError::Line {
        problem: LineProblem::ScaledTooLarge { value, factor },
        ..
    } = error
    {
        fields["kind"] = json!("scaled_weight");
        fields["weight"] = json!(value);
        fields["factor"] = json!(factor);
    }
    fields
}

/// Kind and fields of a batch's failure; `cause` holds the failure of a single graph.
fn batch_fields(error: &BatchError) -> Value {
    let mut fields = json!(error);
    if let BatchError::Load { source, .. } = error {
        fields["cause"] = of_graph(source);
    }
    fields
}

/// Kind and fields of a comparison's failure.
fn bench_fields(error: &BenchError) -> Value {
    match error {
        BenchError::Graph(error) => of_graph(error),
        BenchError::Run(error) => json!(error),
        BenchError::Batch(error) => batch_fields(error),
        BenchError::Backend(error)
        | BenchError::BatchMachine(
            MachineError::Backend(error) | MachineError::Job { source: error, .. },
        ) => json!(error),
        BenchError::BatchMachine(MachineError::Size { jobs, most }) => {
            json!({"kind": "too_many_graphs", "graphs": jobs, "most": most})
        }
        BenchError::BatchMachine(other) => named(other),
    }
}

/// Kind and fields of a measurement's failure.
fn probe_fields(error: &MeasureError) -> Value {
    match error {
        MeasureError::Graph(error) => of_graph(error),
        MeasureError::Program(error) => json!(error),
        MeasureError::Backend(error) => json!(error),
        _ => json!({"kind": "failed"}),
    }
}

/// Failures caused only by an option.
fn option(error: &CliError) -> Value {
    match error {
        CliError::OneGraph { option } => json!({"kind": "one_graph", "option": option}),
        CliError::WeightsUnread { option, analysis } => {
            json!({"kind": "weights_unread", "option": option, "analysis": analysis.name()})
        }
        CliError::UnknownOutput { path } => json!({"kind": "unknown_output", "path": path}),
        CliError::UnknownPicture { path, .. } => json!({"kind": "unknown_picture", "path": path}),
        CliError::NoSuchColumn { column, known } => {
            json!({"kind": "no_such_column", "column": column, "known": known})
        }
        CliError::ColumnTwice { column } => {
            json!({"kind": "column_twice", "column": column})
        }
        CliError::Write(error) => json!({
            "kind": "write", "path": error.path.to_string_lossy(),
            "reason": error.source.to_string()
        }),
        CliError::OneFileTwice { first, second } => {
            json!({"kind": "one_file_twice", "first": first, "second": second})
        }
        CliError::OutputIsInput { output, input } => {
            json!({"kind": "output_is_input", "output": output, "input": input})
        }
        CliError::Start(_) => json!({"kind": "service"}),
        #[cfg(unix)]
        CliError::Socket(_) => json!({"kind": "socket"}),
        #[cfg(unix)]
        CliError::Query(_) => json!({"kind": "query"}),
        CliError::Log(LogError::Value { value, .. }) => json!({"kind": "log", "value": value}),
        CliError::Against(error) => against(error),
        CliError::Store(_) => json!({"kind": "calibration_file"}),
        other => named(other),
    }
}

fn against(error: &AgainstError) -> Value {
    let (problem, path) = match error {
        AgainstError::Io { path, .. } => ("unreadable", path),
        AgainstError::Foreign { path, .. } => ("foreign", path),
        AgainstError::OtherSetting { path, .. } => ("other_setting", path),
    };
    json!({"kind": "earlier_benchmark", "problem": problem, "file": path.to_string_lossy()})
}

fn sources(error: &SourcesError) -> Value {
    match error {
        SourcesError::Io { file, source } => {
            json!({"kind": "io", "file": file, "action": "read", "reason": source.to_string()})
        }
        SourcesError::Line { file, line, value } => {
            json!({"kind": "source_line", "file": file, "line": line, "value": value})
        }
    }
}

/// The kind of a failure that has no fields of interest: the name of its error.
fn named(error: &impl Debug) -> Value {
    let shown = format!("{error:?}");
    let name = shown.split(|end: char| !end.is_alphanumeric()).next();
    let mut kind = String::new();
    for letter in name.unwrap_or_default().chars() {
        if letter.is_uppercase() && !kind.is_empty() {
            kind.push('_');
        }
        kind.extend(letter.to_lowercase());
    }
    json!({ "kind": kind })
}

fn with_message(mut fields: Value, message: &str) -> Value {
    fields["message"] = message.into();
    json!({ "error": fields })
}

#[cfg(test)]
mod tests {
    use super::*;
    use seawall::analysis::AnalysisKind;
    use seawall::backend::{BackendError, FaultRecord};
    use seawall::graph::{FormError, ScaleError};
    use seawall::run::RunError;

    #[test]
    fn every_error_has_a_kind_of_its_own() {
        assert_eq!(
            named(&BackendError::NotLoaded),
            json!({"kind": "not_loaded"})
        );
        let error = BackendError::NoSuchRegister {
            register: 1,
            registers: 1,
        };
        assert_eq!(named(&error), json!({"kind": "no_such_register"}));
    }

    #[test]
    fn fields_are_those_of_the_inner_error() {
        let io = || std::io::Error::other("no");
        let (file, spec) = ("a".to_owned(), "b".to_owned());
        let over = RunError::StreamOverBudget {
            analysis: AnalysisKind::Bfs,
            needed_bytes: 2,
            budget_bytes: 1,
        };
        let fault = BackendError::Fault {
            record: FaultRecord {
                code: 1,
                wave: 2,
                opcode: 4,
                block: 5,
                epoch: 6,
                arrived: 7,
                expected: 8,
                iteration: 9,
            },
            wave_name: "w".to_owned(),
            missing: Box::new([3]),
            registers: Box::default(),
        };
        let scaled = GraphError::Scale {
            file: file.clone(),
            problem: ScaleError::Factor { factor: 0.5 },
        };
        let heavy = FormError::TooHeavy {
            from: 1,
            to: 2,
            edges: 3,
            most: "4",
        };
        for (found, expected) in [
            (
                json!(RunError::from(BackendError::Overdue { after_ns: 7 })),
                json!({"kind": "overdue", "after_ns": 7}),
            ),
            (
                json!(over),
                json!({
                    "kind": "over_budget", "analysis": "bfs", "needed_bytes": 2,
                    "budget_bytes": 1, "streamed": true
                }),
            ),
            (
                json!(RunError::from(fault)),
                json!({
                    "kind": "fault", "code": 1, "wave": 2, "wave_name": "w", "opcode": 4,
                    "block": 5, "epoch": 6, "arrived": 7, "expected": 8, "missing": [3],
                    "iteration": 9
                }),
            ),
            (
                json!(BatchError::Graph {
                    name: spec.clone(),
                    source: RunError::Stream(scaled)
                }),
                json!({
                    "kind": "graph_of_batch", "name": "b",
                    "cause": {"kind": "scale_factor", "file": "a", "factor": 0.5}
                }),
            ),
            (
                json!(RunError::Form(heavy)),
                json!({"kind": "weight_too_large", "from": 1, "to": 2, "edges": 3}),
            ),
            (
                json!(GraphError::Io {
                    file,
                    action: "read",
                    source: io()
                }),
                json!({"kind": "io", "file": "a", "action": "read", "reason": "no"}),
            ),
        ] {
            assert_eq!(found, expected);
        }
    }
}
