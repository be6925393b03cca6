//! `seawall bench`: the project's own comparisons, side by side in one run.

use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, ValueEnum};

use super::{BenchRequest, Earlier, Section};
use crate::bench;
use crate::error::CliError;
use crate::output::show;
use crate::progress::ProgressLine;

const EXAMPLES: &str = "\
Examples:
  seawall bench
  seawall bench --section barrier,chain,loop
  seawall bench --section bfs --json | jq '.rows[] | {what, ratio}'
  seawall bench --quick
  seawall bench --json > now.json && seawall bench --against now.json

Rows have one clock: device time is never compared with wall time. Comparison
programs in CUDA C++ run where nvcc is found. A result that differs between
executors or from a plain sequential implementation ends with exit code 1.";

/// Measure barriers, loops and analyses against their baselines.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES, allow_negative_numbers = true)]
pub(crate) struct BenchArgs {
    /// Sections to measure, repeatable or separated by commas [default: all].
    #[arg(long = "section", value_delimiter = ',', value_name = "NAME")]
    sections: Vec<Section>,
    /// Small graphs and one run each: checks that everything works, not how fast.
    #[arg(long)]
    quick: bool,
    /// Number of the GPU.
    #[arg(long, default_value_t = 0, value_name = "N")]
    device: u32,
    /// Threads of the cpu backend [default: all].
    #[arg(long, value_name = "N", value_parser = crate::numbers::thread_count)]
    threads: Option<NonZeroUsize>,
    /// Compare with a report that --json wrote on this machine; a row slower by more than
    /// 5 % ends with exit code 1.
    #[arg(long, value_name = "FILE")]
    against: Option<PathBuf>,
    /// Print one JSON object.
    #[arg(long)]
    pub(crate) json: bool,
    /// Print no progress.
    #[arg(short, long)]
    quiet: bool,
}

/// Measures and prints; exit code 1 if a result differs or a row is slower than before.
pub(crate) fn command(args: &BenchArgs) -> Result<ExitCode, CliError> {
    let mut sections = args.sections.clone();
    if sections.is_empty() {
        sections.extend(Section::value_variants());
    }
    let mut seen = Vec::new();
    sections.retain(|section| {
        !seen.contains(section) && {
            seen.push(*section);
            true
        }
    });
    let request = BenchRequest {
        sections,
        quick: args.quick,
        device: args.device,
        threads: args.threads,
    };
    let earlier = args.against.as_deref().map(Earlier::read).transpose()?;
    let line = ProgressLine::new(args.quiet);
    let mut report = bench::run(&request, &mut |text| line.say(text))?;
    drop(line);
    let held = match (&earlier, &args.against) {
        (Some(earlier), Some(path)) => earlier.judge(&mut report, path)?,
        _ => true,
    };
    show(args.json, &report, |out| bench::write_text(&report, out))?;
    Ok(if report.wrong.is_empty() && held {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}
