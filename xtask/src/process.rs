//! Running other programs and keeping their output.
//!
//! Commands are built with `std`. Functions turn a failed start or a
//! failed status into an [`Error`] with the output in it.

use std::process::{Command, Output};

use crate::error::Error;
use crate::workspace;

/// Runs `command` with its output captured and returns standard output.
pub(crate) fn capture(command: &mut Command) -> Result<String, Error> {
    let output = finish(command, |command| command.output())?;
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// Runs `command` with its output shown to the user.
pub(crate) fn show(command: &mut Command) -> Result<(), Error> {
    finish(command, |command| {
        let status = command.status()?;
        Ok(Output {
            status,
            stdout: Vec::new(),
            stderr: Vec::new(),
        })
    })
    .map(drop)
}

/// Cargo, in the folder of the workspace.
pub(crate) fn cargo() -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.current_dir(workspace::root());
    command
}

/// The triple that the compiler builds for.
pub(crate) fn host() -> Result<String, Error> {
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let about = capture(Command::new(rustc).arg("-vV"))?;
    let host = about.lines().find_map(|line| line.strip_prefix("host: "));
    let missing = || Error::output("rustc -vV", "it names no host");
    host.map(str::to_owned).ok_or_else(missing)
}

fn finish(
    command: &mut Command,
    run: impl FnOnce(&mut Command) -> std::io::Result<Output>,
) -> Result<Output, Error> {
    let program = command.get_program().to_string_lossy().into_owned();
    let output = run(command).map_err(|source| Error::Start {
        program: program.clone(),
        source,
    })?;
    if output.status.success() {
        return Ok(output);
    }
    Err(Error::Failed {
        program,
        status: output.status.to_string(),
        output: String::from_utf8_lossy(&output.stderr).into_owned(),
    })
}
