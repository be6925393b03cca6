//! The plan as one JSON object, for scripts.

use std::io::{self, Write};

use seawall_core::plan::{Arena, Groups};
use serde::Serialize;

use super::PlanView;

#[derive(Serialize)]
struct Report<'a> {
    #[serde(flatten)]
    groups: &'a Groups<'a>,
    arena: Option<&'a Arena<'a>>,
}

/// Writes the plan as one line of JSON.
///
/// `groups` holds wave ids; `arena` holds an offset for each of a wave's three
/// regions, by wave id, and is null when no 64-bit arena could hold them.
///
/// # Errors
/// When `out` fails.
pub fn write(view: &PlanView<'_>, out: &mut dyn Write) -> io::Result<()> {
    serde_json::to_writer(
        &mut *out,
        &Report {
            groups: view.groups,
            arena: view.arena,
        },
    )?;
    writeln!(out)
}

#[cfg(test)]
mod tests {
    use super::super::tests::written;

    #[test]
    fn the_object_holds_every_promised_field_and_no_other() {
        let text = written(["a", "b", "c", "d"], super::write);
        let plan: serde_json::Value = serde_json::from_str(&text).unwrap();
        let mut names: Vec<_> = plan
            .as_object()
            .unwrap()
            .keys()
            .map(String::as_str)
            .collect();
        names.sort_unstable();
        let mut promised = [
            "groups",
            "global_barriers",
            "lower_bound",
            "peak_frontier_bytes",
            "peak_scratch_bytes",
            "peak_output_bytes",
            "peak_group_bytes",
            "amortized_readback_bytes",
            "max_group_width",
            "arena",
        ];
        promised.sort_unstable();
        assert_eq!(names, promised);
        assert_eq!(plan["groups"], serde_json::json!([[0], [1, 2], [3]]));
        assert_eq!(plan["arena"]["offsets"].as_array().unwrap().len(), 4);
    }
}
