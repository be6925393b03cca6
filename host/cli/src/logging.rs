//! The log on standard error, which the environment variable `RUST_LOG` asks for.
//!
//! Without it nothing is logged. Its value is a level (`info`), or levels by target
//! (`seawall=debug,seawall_cli::serve=info`).

use clap::{Args, ValueEnum};
use tracing_subscriber::filter::{LevelFilter, ParseError, Targets};
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;
use tracing_subscriber::{Layer, fmt, registry};

const VARIABLE: &str = "RUST_LOG";

/// A log that cannot be written as asked.
#[derive(Debug, thiserror::Error)]
pub(crate) enum LogError {
    /// The value of the variable is none.
    #[error(
        "RUST_LOG={value}: {source}; write a level (off, error, warn, info, debug or trace) or TARGET=LEVEL, separated by commas"
    )]
    Value { value: String, source: ParseError },
}

/// Options of the log.
#[derive(Clone, Copy, Debug, Args)]
pub(crate) struct LogArgs {
    /// Format of the log on standard error, which RUST_LOG asks for, as in RUST_LOG=info.
    #[arg(
        long,
        global = true,
        value_enum,
        default_value_t,
        value_name = "FORMAT",
        hide_short_help = true,
        help_heading = "Log"
    )]
    log_format: LogFormat,
}

/// Formats of the log.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
enum LogFormat {
    /// A line of text for each event: time, level, spans, target, message and fields.
    #[default]
    Text,
    /// A JSON object a line.
    Json,
}

/// Logs from now on, if the environment asks for it.
pub(crate) fn begin(args: LogArgs) -> Result<(), LogError> {
    let value = std::env::var_os(VARIABLE).unwrap_or_default();
    let value = value.to_string_lossy();
    if value.trim().is_empty() {
        return Ok(());
    }
    let targets: Targets = value.trim().parse().map_err(|source| LogError::Value {
        value: value.clone().into_owned(),
        source,
    })?;
    let lines = fmt::layer()
        .with_writer(std::io::stderr)
        // A closed standard error has no reader left to inform.
        .log_internal_errors(false);
    let lines = match args.log_format {
        LogFormat::Text => lines.with_ansi(false).boxed(),
        LogFormat::Json => lines.json().boxed(),
    };
    // Another subscriber would be that of a program that calls this one.
    let _ = registry().with(lines.with_filter(targets)).try_init();
    Ok(())
}

/// Whether anything may be logged, which a progress line would disturb.
pub(crate) fn is_on() -> bool {
    LevelFilter::current() != LevelFilter::OFF
}
