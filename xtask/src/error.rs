//! Errors of the maintainer commands.
//!
//! One type serves the whole tool. Each text names the failed action and the command that repairs
//! it, if there is one.

use std::fmt;
use std::path::PathBuf;

/// The reason for which a command stopped.
#[derive(Debug)]
pub(crate) enum Error {
    /// A file or folder could not be read or written.
    File {
        doing: &'static str,
        path: PathBuf,
        source: std::io::Error,
    },
    /// A program could not be started.
    Start {
        program: String,
        source: std::io::Error,
    },
    /// A program ran and failed; its standard error follows.
    Failed {
        program: String,
        status: String,
        output: String,
    },
    /// A program's output differs from its documentation.
    Output { program: String, problem: String },
    /// No toolchain that can emit PTX; one reason for each route that was tried.
    NoToolchain { reasons: Vec<String> },
    /// The linker role was started without the build's settings.
    LinkRole { missing: &'static str },
    /// Committed files differ from the built ones; one line per file.
    Stale {
        what: &'static str,
        files: Vec<String>,
        remedy: &'static str,
    },
    /// The generated code breaks a rule; one line per finding.
    Refused {
        what: &'static str,
        findings: Vec<String>,
        remedy: &'static str,
    },
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File {
                doing,
                path,
                source,
            } => write!(f, "{doing} {}: {source}", path.display()),
            Self::Start { program, source } => {
                write!(f, "could not start `{program}`: {source}; is it installed?")
            }
            Self::Failed {
                program,
                status,
                output,
            } => write!(f, "`{program}` failed ({status})\n{}", output.trim_end()),
            Self::Output { program, problem } => {
                write!(f, "`{program}` answered unexpectedly: {problem}")
            }
            Self::NoToolchain { reasons } => no_toolchain(f, reasons),
            Self::LinkRole { missing } => write!(
                f,
                "called as a linker without {missing}; only `cargo xtask build-ptx` starts it so"
            ),
            Self::Stale {
                what,
                files,
                remedy,
            } => list(f, &format!("{what} out of date"), files, remedy),
            Self::Refused {
                what,
                findings,
                remedy,
            } => list(f, what, findings, remedy),
        }
    }
}

fn list(f: &mut fmt::Formatter<'_>, title: &str, lines: &[String], remedy: &str) -> fmt::Result {
    writeln!(f, "{title}:")?;
    for line in lines {
        writeln!(f, "  {line}")?;
    }
    write!(f, "{remedy}")
}

fn no_toolchain(f: &mut fmt::Formatter<'_>, reasons: &[String]) -> fmt::Result {
    writeln!(f, "no toolchain here can build PTX:")?;
    for reason in reasons {
        writeln!(f, "  {reason}")?;
    }
    write!(
        f,
        "install one of:\n  \
         rustup toolchain install nightly --component rust-src --component llvm-tools\n  \
         apt-get install rustc-web rust-web-src llvm-22   (Debian 12, bookworm-security)\n\
         the PTX in host/ptx is committed, so only a change of the kernels needs this"
    )
}

impl std::error::Error for Error {}
