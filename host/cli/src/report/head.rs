//! The beginning of every report: the analysis, its machine, and the reason of the choice.

use std::io::{self, Write};

use serde::Serialize;

use seawall::analysis::AnalysisKind;
use seawall::batch::BatchOutcome;
use seawall::outcome::RunOutcome;
use seawall::run::Executor;

/// First fields of a run and a batch, in text and in JSON.
#[derive(Serialize)]
pub(super) struct Head<'a> {
    analysis: AnalysisKind,
    backend: Executor,
    #[serde(skip_serializing_if = "Option::is_none")]
    backend_reason: Option<&'a str>,
    device: &'a str,
}

impl<'a> From<&'a RunOutcome> for Head<'a> {
    fn from(outcome: &'a RunOutcome) -> Self {
        Self {
            analysis: outcome.analysis,
            backend: outcome.backend,
            backend_reason: outcome.backend_reason.as_deref(),
            device: &outcome.device,
        }
    }
}

impl<'a> From<&'a BatchOutcome> for Head<'a> {
    fn from(outcome: &'a BatchOutcome) -> Self {
        Self {
            analysis: outcome.analysis,
            backend: outcome.backend,
            backend_reason: outcome.backend_reason.as_deref(),
            device: &outcome.device,
        }
    }
}

impl Head<'_> {
    /// Writes the title, of `size`, and the rows up to the machine and the reason of its choice;
    /// `edges` writes those about edges.
    pub(super) fn write(
        &self,
        out: &mut dyn Write,
        size: &str,
        weights: Option<String>,
        edges: impl FnOnce(&mut dyn Write) -> io::Result<()>,
    ) -> io::Result<()> {
        writeln!(out, "{} of {size}", self.analysis.facts().title)?;
        writeln!(out)?;
        edges(out)?;
        if let Some(weights) = weights {
            row(out, "weights", &weights)?;
        }
        let machine = format!("{} (backend {})", self.device, self.backend);
        row(out, "ran on", &machine)?;
        self.backend_reason
            .map_or(Ok(()), |reason| row(out, "", reason))
    }
}

/// Writes a row of a report: its name and text.
pub(super) fn row(out: &mut dyn Write, name: &str, text: &str) -> io::Result<()> {
    writeln!(out, "  {name:<10}{text}")
}
