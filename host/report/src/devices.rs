//! The part of a report about several devices.

use super::head::row;
use seawall::outcome::DevicesReport;
use seawall::units::{Count, bytes, counted};
use std::io::{self, Write};

/// Devices that are listed one by one.
const SHOWN: usize = 8;

/// Writes the rows of a run on several devices.
pub(super) fn write(out: &mut dyn Write, report: &DevicesReport) -> io::Result<()> {
    let parts = report
        .nodes
        .iter()
        .zip(&report.edges)
        .zip(&report.memory_bytes);
    for (device, ((nodes, edges), memory)) in parts.enumerate().take(SHOWN) {
        let name = match report.numbers.get(device) {
            Some(number) => format!("GPU {number}"),
            None => format!("device {device}"),
        };
        let (sources, centers) = (report.sources.get(device), report.centers.get(device));
        let part = match (sources, centers) {
            (Some(sources), _) => counted(*sources, "source"),
            (None, Some(centers)) => format!("triangles from {}", counted(*centers, "node")),
            (None, None) if report.shared => {
                format!("{} nodes of the whole graph", Count(*nodes))
            }
            (None, None) => format!(
                "{} nodes, {} edges that lead to them",
                Count(*nodes),
                Count(*edges)
            ),
        };
        let part = format!("{name}: {part}, {}", bytes(*memory));
        row(out, if device == 0 { "cut" } else { "" }, &part)?;
    }
    if report.nodes.len() > SHOWN {
        row(out, "", &format!("and {} more", report.nodes.len() - SHOWN))?;
    }
    if !(report.sources.is_empty() && report.centers.is_empty()) {
        return row(out, "exchange", "none: each device has the whole graph");
    }
    let text = format!(
        "{} of all devices, {} exchanged",
        counted(report.barriers, "barrier"),
        bytes(report.exchanged_bytes)
    );
    row(out, "exchange", &text)
}
