//! Standard output of reports.

use std::io::{self, BufWriter, Write};

use super::CliError;

/// Writes a report to standard output, buffered and flushed.
pub(super) fn print(report: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<(), CliError> {
    let mut out = BufWriter::new(io::stdout().lock());
    report(&mut out)
        .and_then(|()| out.flush())
        .map_err(CliError::Stdout)
}
