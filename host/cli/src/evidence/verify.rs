//! `seawall evidence verify`: checks that recorded measurements prove a speed-up.

use std::io::{self, Write};
use std::process::ExitCode;

use clap::Args;
use seawall_core::evidence::{EvidenceError, Proof, verify_csv};

use super::EvidenceFailure;
use crate::CliError;
use crate::files::text_of;
use crate::output::show;
use seawall::units::{Count, bytes, counted};

const EXAMPLES: &str = "\
Examples:
  seawall evidence verify speedups.csv --required-speedup 2.0
  seawall evidence verify - --required-speedup 1.5 --json < speedups.csv

Exit code 1 when the samples prove less than is required, 2 when the file is no
evidence at all. With --json a refusal is {\"error\": {\"kind\": ...}} on standard output.";

/// Check that every sample of a CSV file shows a required speed-up.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES, allow_negative_numbers = true)]
pub(super) struct VerifyArgs {
    /// Evidence as CSV; - for standard input.
    #[arg(value_name = "FILE")]
    file: String,
    /// Host time over resident time that each sample must reach.
    #[arg(long, value_name = "X")]
    required_speedup: f64,
    /// Print the proof, or the refusal, as one JSON object.
    #[arg(long)]
    pub(super) json: bool,
}

/// Judges and reports.
pub(super) fn command(args: &VerifyArgs) -> Result<ExitCode, CliError> {
    let text = read(&args.file).map_err(|source| EvidenceFailure::Unreadable {
        file: args.file.clone(),
        source,
    })?;
    match verify_csv(&text, args.required_speedup) {
        Ok(proof) => {
            show(args.json, &proof, |out| as_text(&proof, out))?;
            Ok(ExitCode::SUCCESS)
        }
        Err(error) => Err(refusal(&args.file, &error).into()),
    }
}

fn refusal(file: &str, error: &EvidenceError<'_>) -> EvidenceFailure {
    let malformed = matches!(
        error,
        EvidenceError::InvalidRequiredSpeedup { .. }
            | EvidenceError::InvalidEvidenceHeader { .. }
            | EvidenceError::InvalidEvidenceRow { .. }
            | EvidenceError::InvalidEvidenceValue { .. }
    );
    EvidenceFailure::Refused {
        file: file.to_owned(),
        reason: error.to_string(),
        fields: serde_json::json!(error),
        malformed,
    }
}

/// Most bytes of evidence: half a million samples, and a limit for endless sources.
const EVIDENCE_MAX_BYTES: u64 = 64 << 20;

fn read(file: &str) -> io::Result<String> {
    let text = text_of(file, EVIDENCE_MAX_BYTES + 1)?;
    if text.len() as u64 > EVIDENCE_MAX_BYTES {
        let limit = bytes(EVIDENCE_MAX_BYTES);
        let problem = format!("more than {limit}, the most that is taken for evidence");
        return Err(io::Error::new(io::ErrorKind::InvalidData, problem));
    }
    Ok(text)
}

fn as_text(proof: &Proof, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "accepted: {}", counted(proof.sample_count, "sample"))?;
    writeln!(
        out,
        "  speed-up     {:.3} to {:.3}",
        proof.min_speedup_x, proof.max_speedup_x
    )?;
    writeln!(out, "  repetitions  {}", Count(proof.total_repetitions))
}
