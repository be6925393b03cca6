//! Errors of a plan's input, for people and for scripts.

use std::io;

use seawall::Cause;
use seawall_core::error::{GroupError, LayerError};
use seawall_core::plan::{DevicesError, ExecutionError};
use serde_json::{Value, json};

/// A wave DAG could not be planned.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PlanError {
    /// The file cannot be read.
    #[error("{file}: cannot read: {source}")]
    Unreadable {
        /// File as the caller named it.
        file: String,
        /// The operating system's answer.
        source: io::Error,
    },
    /// The text is not JSON, or not the JSON of a wave DAG.
    #[error("{file}:{line}:{column}: {reason}")]
    InvalidJson {
        /// File as the caller named it.
        file: String,
        /// Line, from 1.
        line: usize,
        /// Column in bytes, from 1; 0 at the end of a line.
        column: usize,
        /// The parser's expectation.
        reason: String,
    },
    /// The dependencies contain a cycle.
    #[error(transparent)]
    Layers(#[from] LayerError),
    /// The waves do not fit the budget, or a part of their execution has no plan.
    #[error(transparent)]
    Execution(#[from] ExecutionError),
    /// There is no plan for that many devices.
    #[error(transparent)]
    Devices(DevicesError),
    /// The graph or a wave alone exceeds the budget.
    #[error("{error}; the least budget that works is {least_budget_bytes} bytes")]
    OverBudget {
        /// The wave or the graph.
        error: GroupError,
        /// The least budget that works, bytes.
        least_budget_bytes: u64,
    },
}

impl PlanError {
    pub(crate) fn cause(&self) -> Cause {
        match self {
            Self::Unreadable { source, .. } => Cause::of_io(source),
            _ => Cause::Request,
        }
    }

    /// The refusal of a plan, with the least budget that works, if a larger budget would help.
    pub(super) fn refused(error: ExecutionError, least: Option<u64>) -> Self {
        match (error, least) {
            (
                ExecutionError::Groups(
                    error @ (GroupError::ResidentOverBudget { .. }
                    | GroupError::WaveOverBudget { .. }),
                ),
                Some(least_budget_bytes),
            ) => Self::OverBudget {
                error,
                least_budget_bytes,
            },
            (error, _) => error.into(),
        }
    }

    /// The refusal of a plan for several devices, with the least budget of each.
    pub(super) fn of_devices(error: DevicesError, least: Option<u64>) -> Self {
        match error {
            DevicesError::Execution(error) => Self::refused(error, least),
            error => Self::Devices(error),
        }
    }

    /// The parser's error: a failing source, or invalid text at a position (which its own message
    /// repeats).
    pub(super) fn of_json(file: &str, error: serde_json::Error) -> Self {
        let file = file.to_owned();
        if error.is_io() {
            return Self::Unreadable {
                file,
                source: error.into(),
            };
        }
        let (line, column) = (error.line(), error.column());
        let text = error.to_string();
        let reason = text
            .strip_suffix(&format!(" at line {line} column {column}"))
            .unwrap_or(&text);
        Self::InvalidJson {
            file,
            line,
            column,
            reason: reason.to_owned(),
        }
    }

    /// Returns whether the conformance vectors determine its fields.
    pub(crate) const fn is_of_vectors(&self) -> bool {
        matches!(
            self,
            Self::Layers(_) | Self::Execution(_) | Self::OverBudget { .. }
        )
    }

    /// Returns the kind and its fields, as in the vectors.
    pub(crate) fn fields(&self) -> Value {
        match self {
            Self::Unreadable { file, source } => {
                json!({ "kind": "unreadable", "file": file, "reason": source.to_string() })
            }
            Self::InvalidJson {
                file,
                line,
                column,
                reason,
            } => json!({
                "kind": "invalid_json", "file": file, "line": line, "column": column, "reason": reason
            }),
            Self::Layers(error)
            | Self::Execution(ExecutionError::Groups(GroupError::Layers(error))) => {
                layer_fields(error)
            }
            Self::Execution(error) => json!(error),
            Self::Devices(error) => json!(error),
            Self::OverBudget {
                error,
                least_budget_bytes,
            } => {
                let mut fields = json!(error);
                fields["least_budget_bytes"] = json!(least_budget_bytes);
                fields
            }
        }
    }
}

/// The fields of a layer error. They omit the wave of a cycle that the message names, because it
/// depends on the planner's search.
fn layer_fields(error: &LayerError) -> Value {
    match error {
        LayerError::Cycle { unscheduled, .. } => {
            json!({ "kind": error.kind(), "unscheduled": unscheduled })
        }
        other => json!(other),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use seawall_core::plan::WaveId;

    fn json(error: &PlanError) -> Value {
        json!({ "error": error.fields() })
    }

    #[test]
    fn kinds_and_fields_are_those_of_the_planner() {
        let cycle = LayerError::Cycle {
            unscheduled: 2,
            wave: WaveId(1),
        };
        assert_eq!(
            json(&cycle.into()),
            json!({"error": {"kind": "cycle", "unscheduled": 2}})
        );
        let wave = LayerError::InvalidWave {
            waves: 1,
            before: 2,
            after: 3,
        };
        let expected =
            json!({"error": {"kind": "invalid_wave", "waves": 1, "before": 2, "after": 3}});
        assert_eq!(json(&wave.into()), expected);
        let as_group = ExecutionError::from(GroupError::Layers(wave));
        assert_eq!(json(&as_group.into()), expected);
        let over = GroupError::WaveOverBudget {
            wave: WaveId(1),
            required_bytes: 9,
            budget_bytes: 8,
        };
        let expected = json!({"error": {"kind": "wave_over_budget", "wave": 1, "required_bytes": 9, "budget_bytes": 8}});
        assert_eq!(json(&ExecutionError::from(over).into()), expected);
    }

    #[test]
    fn the_position_is_said_once() {
        let error = serde_json::from_str::<u32>("\n x").unwrap_err();
        let error = PlanError::of_json("waves.json", error);
        assert_eq!(error.to_string(), "waves.json:2:2: expected value");
        assert_eq!(json(&error)["error"]["line"], 2);
    }
}
