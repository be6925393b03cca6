//! Standard output of reports.

use std::io::{self, BufWriter, Write};
use std::path::PathBuf;

use serde::Serialize;

use super::CliError;

/// Prints a report: as one JSON object, or as `text` for people.
pub(super) fn show(
    as_json: bool,
    report: &impl Serialize,
    text: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> Result<(), CliError> {
    print(|out| match as_json {
        true => json(report, out),
        false => text(out),
    })
}

/// Writes one JSON object and a line end.
pub(super) fn json(value: &impl Serialize, out: &mut dyn Write) -> io::Result<()> {
    serde_json::to_writer(&mut *out, value)?;
    writeln!(out)
}

/// A text without control characters, which a terminal would obey: names that files give may have
/// some.
pub(super) fn printable(text: &str) -> String {
    text.replace(char::is_control, "\u{fffd}")
}

/// Writes a line for each file that was written.
pub(super) fn list_written<'a>(
    paths: impl IntoIterator<Item = &'a Option<PathBuf>>,
    out: &mut dyn Write,
) -> io::Result<()> {
    let mut paths = paths.into_iter().flatten();
    paths.try_for_each(|path| writeln!(out, "  {:<10}{}", "wrote", path.display()))
}

/// Writes a report to standard output, buffered and flushed.
pub(super) fn print(report: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<(), CliError> {
    let mut out = BufWriter::new(io::stdout().lock());
    report(&mut out)
        .and_then(|()| out.flush())
        .map_err(CliError::Stdout)
}

/// Prints warnings to standard error.
pub(super) fn warn(text: &str) {
    // A closed standard error has no reader left to inform.
    let _ = writeln!(io::stderr(), "warning: {text}");
}
