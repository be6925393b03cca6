//! `seawall plan --program`: the groups of a program from its text.

use std::io::{self, Write};
use std::path::Path;

use serde::Serialize;

use crate::error::CliError;
use crate::output::print;
use crate::program::read;
use seawall::program::{EncodedProgram, GraphSize, PlanRequest, PlanSummary};
use seawall::units::counted;
use seawall_core::plan::Strategy;

/// Plans the program in `file` for a graph of a size.
pub(super) fn show(
    file: &Path,
    (graph, strategy): (GraphSize, Strategy),
    as_json: bool,
) -> Result<(), CliError> {
    let text = read(file)?;
    let request = PlanRequest {
        strategy,
        ..PlanRequest::default()
    };
    let encoded = text.program(graph)?.program.encode(&request);
    let (encoded, summary) = encoded.map_err(|source| text.refused(source))?;
    let report = Report {
        groups: groups(&encoded),
        summary,
    };
    print(|out| {
        if as_json {
            serde_json::to_writer(&mut *out, &report)?;
            writeln!(out)
        } else {
            report.write(out)
        }
    })
}

/// Names of the waves of each group; those of loops' bodies come after the others.
fn groups(encoded: &EncodedProgram) -> Vec<Vec<String>> {
    let waves = |first: u32, count: u32| {
        let waves = encoded.waves.iter().skip(first as usize);
        waves.take(count as usize)
    };
    let name = |wave: u32| encoded.wave_names.get(wave as usize).cloned();
    let groups = encoded.groups.iter();
    groups
        .map(|group| {
            let waves = waves(group.first_wave, group.waves);
            waves.filter_map(|wave| name(wave.wave)).collect()
        })
        .collect()
}

#[derive(Serialize)]
struct Report {
    groups: Vec<Vec<String>>,
    summary: PlanSummary,
}

impl Report {
    fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        let count = counted(u64::from(self.summary.groups), "group");
        let barriers = counted(u64::from(self.summary.global_barriers), "barrier");
        writeln!(
            out,
            "{count}, {barriers} between them, {} bytes of registers",
            self.summary.arena_bytes
        )?;
        for (number, waves) in self.groups.iter().enumerate() {
            writeln!(out, "  group {number:<3} {}", waves.join(", "))?;
        }
        Ok(())
    }
}
