//! Failures of reading, generating and writing graphs.

use seawall::graph::{GraphError, LineProblem};
use serde_json::{Value, json};

pub(super) fn fields(error: &GraphError) -> Value {
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
