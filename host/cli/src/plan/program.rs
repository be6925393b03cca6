//! `seawall plan --program`: the groups of a program from its text.

use std::io::{self, Write};
use std::path::Path;

use serde::Serialize;

use super::PlanFormat;
use crate::error::CliError;
use crate::output::{self, print};
use crate::program::read;
use seawall::program::{GraphSize, PlanRequest, PlanSummary};
use seawall_report::plan::program::{GroupView, dot, groups, svg, text};

/// Plans the program in `file` for a graph of a size.
pub(super) fn show(
    file: &Path,
    graph: GraphSize,
    request: PlanRequest,
    format: PlanFormat,
) -> Result<(), CliError> {
    let program = read(file)?;
    let encoded = program.program(graph)?.program.encode(&request);
    let (encoded, summary) = encoded.map_err(|source| program.refused(source))?;
    let groups = groups(&encoded);
    print(|out| match format {
        PlanFormat::Text => text(&groups, &summary, out),
        PlanFormat::Json => json(groups, summary, out),
        PlanFormat::Dot => dot(&groups, &summary, out),
        PlanFormat::Svg => svg(&groups, &summary, out),
    })
}

/// Writes the groups by number: those of loops' bodies come after the others.
fn json(mut groups: Vec<GroupView>, summary: PlanSummary, out: &mut dyn Write) -> io::Result<()> {
    groups.sort_by_key(|group| group.number);
    let body_of = groups.iter().map(|group| group.body_of.clone()).collect();
    let report = Report {
        groups: groups.into_iter().map(|group| group.waves).collect(),
        body_of,
        summary,
    };
    output::json(&report, out)
}

#[derive(Serialize)]
struct Report {
    groups: Vec<Vec<String>>,
    /// The loop whose body each group is in.
    body_of: Vec<Option<String>>,
    summary: PlanSummary,
}
