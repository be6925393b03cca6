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
    #[serde(skip_serializing_if = "Option::is_none")]
    taken_over_from: Option<&'a str>,
    device: &'a str,
}

impl<'a> From<&'a RunOutcome> for Head<'a> {
    fn from(outcome: &'a RunOutcome) -> Self {
        Self {
            analysis: outcome.analysis,
            backend: outcome.backend,
            backend_reason: outcome.backend_reason.as_deref(),
            taken_over_from: outcome.taken_over_from.as_deref(),
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
            taken_over_from: None,
            device: &outcome.device,
        }
    }
}

impl Head<'_> {
    /// Writes the title, of `size`.
    pub(super) fn write_title(&self, out: &mut dyn Write, size: &str) -> io::Result<()> {
        writeln!(out, "{} of {size}\n", self.analysis.facts().title)
    }

    /// Writes the machine, and if `explains`, or if it took over from another one, the reason of
    /// its choice.
    pub(super) fn write_machine(&self, out: &mut dyn Write, explains: bool) -> io::Result<()> {
        let machine = format!("{} (backend {})", self.device, self.backend);
        row(out, "ran on", &machine)?;
        let reason = self
            .backend_reason
            .filter(|_| explains || self.taken_over_from.is_some());
        reason.map_or(Ok(()), |reason| row(out, "", reason))
    }
}

/// Writes a row of a report: its name and text.
pub fn row(out: &mut dyn Write, name: &str, text: &str) -> io::Result<()> {
    writeln!(out, "  {name:<10}{text}")
}
