//! Errors of the maintainer commands.
//!
//! One type serves the whole tool. Each text names the failed action and the command that repairs
//! it, if there is one.

use std::path::{Path, PathBuf};

/// The reason for which a command stopped.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Error {
    /// A file or folder could not be read or written.
    #[error("{doing} {}: {source}", path.display())]
    File {
        doing: &'static str,
        path: PathBuf,
        source: std::io::Error,
    },
    /// A program could not be started.
    #[error("could not start `{program}`: {source}; is it installed?")]
    Start {
        program: String,
        source: std::io::Error,
    },
    /// A program ran and failed; its standard error follows.
    #[error("`{program}` failed ({status})\n{}", output.trim_end())]
    Failed {
        program: String,
        status: String,
        output: String,
    },
    /// A program's output differs from its documentation.
    #[error("`{program}` answered unexpectedly: {problem}")]
    Output { program: String, problem: String },
    /// No toolchain that can emit PTX; one reason for each route that was tried.
    #[error(
        "no toolchain here can build PTX:\n{}install one of:\n  \
         rustup toolchain install nightly --component rust-src --component llvm-tools\n  \
         apt-get install rustc-web rust-web-src llvm-22   (Debian 12, bookworm-security)\n\
         the PTX in host/ptx is committed, so only a change of the kernels needs this",
        list(reasons)
    )]
    NoToolchain { reasons: Vec<String> },
    /// The linker role was started without the build's settings.
    #[error("called as a linker without {missing}; only `cargo xtask build-ptx` starts it so")]
    LinkRole { missing: &'static str },
    /// Committed files differ from the built ones; one line per file.
    #[error("{what} out of date:\n{}{remedy}", list(files))]
    Stale {
        what: &'static str,
        files: Vec<String>,
        remedy: &'static str,
    },
    /// The generated code breaks a rule; one line per finding.
    #[error("{what}:\n{}{remedy}", list(findings))]
    Refused {
        what: &'static str,
        findings: Vec<String>,
        remedy: &'static str,
    },
}

impl Error {
    /// The error of an action on a file.
    pub(crate) fn file(
        doing: &'static str,
        path: impl AsRef<Path>,
    ) -> impl FnOnce(std::io::Error) -> Self {
        let path = path.as_ref().to_path_buf();
        move |source| Self::File {
            doing,
            path,
            source,
        }
    }

    /// The error of a program with another output than its documentation says.
    pub(crate) fn output(program: impl Into<String>, problem: impl ToString) -> Self {
        Self::Output {
            program: program.into(),
            problem: problem.to_string(),
        }
    }
}

/// Refuses what has `findings`.
pub(crate) fn refuse_any(
    what: &'static str,
    findings: Vec<String>,
    remedy: &'static str,
) -> Result<(), Error> {
    match findings.is_empty() {
        true => Ok(()),
        false => Err(Error::Refused {
            what,
            findings,
            remedy,
        }),
    }
}

fn list(lines: &[String]) -> String {
    lines.iter().map(|line| format!("  {line}\n")).collect()
}
