//! The plan as a Graphviz graph: one cluster per group, one arrow per dependency.

use std::io::{self, Write};

use super::PlanView;
use seawall::units::{bytes, counted};
use seawall_core::plan::WaveId;

/// Writes the plan for `dot`. Linear in waves and dependencies.
///
/// # Errors
/// [`std::io::Error`] of `out`.
pub fn write(view: &PlanView<'_>, out: &mut dyn Write) -> io::Result<()> {
    let barriers = counted(view.groups.summary().global_barriers, "global barrier");
    writeln!(out, "digraph plan {{")?;
    writeln!(
        out,
        "  label=\"{}, {barriers}\";",
        counted(view.groups.len() as u64, "group")
    )?;
    writeln!(out, "  rankdir=LR; fontname=\"sans-serif\"; newrank=true;")?;
    writeln!(
        out,
        "  node [shape=box, style=filled, fillcolor=\"#d7e8f7\", fontname=\"sans-serif\"];"
    )?;
    for (number, group) in view.groups.iter().enumerate() {
        writeln!(out, "  subgraph cluster_{number} {{")?;
        writeln!(
            out,
            "    label=\"group {number}\\n{}\";",
            bytes(group.fused_bytes)
        )?;
        for &wave in group.waves {
            let label = quoted(&view.label(wave));
            writeln!(
                out,
                "    w{wave} [label=\"{label}\\n{}\"];",
                bytes(view.fused_bytes(wave))
            )?;
        }
        writeln!(out, "  }}")?;
    }
    let carrier = |wave: u32| view.devices.as_ref()?.exchanges.of(WaveId(wave));
    for dependency in view.dag.dependencies {
        let (before, after) = (dependency.before, dependency.after);
        match carrier(before) {
            Some(exchange) => writeln!(
                out,
                "  w{before} -> w{after} [style=bold, label=\"exchange {exchange}\"];"
            )?,
            None => writeln!(out, "  w{before} -> w{after};")?,
        }
    }
    writeln!(out, "}}")
}

/// Escapes the characters that end a Graphviz string.
fn quoted(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"")
}

#[cfg(test)]
mod tests {
    use super::super::tests::written;

    #[test]
    fn each_group_is_a_cluster_and_each_dependency_an_arrow() {
        let text = written(["load", "left", "right", "join"], super::write);
        assert_eq!(text.matches("subgraph cluster_").count(), 3);
        assert_eq!(text.matches(" -> ").count(), 4);
        assert!(text.contains("w2 [label=\"2 right\\n1.0 KiB\"]"), "{text}");
    }

    #[test]
    fn a_name_cannot_leave_its_string() {
        let text = written(["\"]; evil [", "\\", "\n", "d"], super::write);
        assert!(text.contains("w0 [label=\"0 \\\"]; evil [\\n"));
        assert!(text.contains("w1 [label=\"1 \\\\\\n"));
        assert!(text.contains("w2 [label=\"2 ?\\n"));
    }
}
