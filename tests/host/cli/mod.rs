//! The command line, for scripts and for readers.

mod analyze;
mod answers;
mod batch;
mod bench;
#[cfg(unix)]
mod book;
mod cases;
mod columns;
mod costs;
mod details;
mod devices;
mod diagrams;
mod drawings;
mod evidence;
#[cfg(target_os = "linux")]
mod exhaustion;
mod exit_codes;
mod explain;
mod failures;
mod files;
mod formats;
mod grammar;
mod help;
mod ids;
mod logs;
mod loops;
mod input_errors;
mod named;
mod output;
mod paths;
mod pictures;
mod plan;
mod sessions;
mod signed;
#[cfg(unix)]
mod streams;
mod sweep;
mod topology;
mod usage_errors;
mod weighing;
mod weights;

use assert_cmd::Command;
use serde_json::Value;
use std::path::PathBuf;
use tempfile::TempDir;

/// The program with these arguments.
fn seawall(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_seawall-under-test"));
    command
        .args(arguments)
        .env_remove("NO_COLOR")
        .env_remove("RUST_LOG")
        .env_remove("CLICOLOR_FORCE");
    command
}

/// Result of a finished command.
struct Finished {
    code: i32,
    stdout: String,
    stderr: String,
}

fn finish(command: &mut Command) -> Finished {
    let output = command.output().unwrap();
    Finished {
        code: output
            .status
            .code()
            .expect("the program must exit, not die of a signal"),
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
    }
}

impl Finished {
    /// Asserts exit code 2, nothing but the failure on standard output, and one message
    /// with all parts.
    #[track_caller]
    fn refused(&self, parts: &[&str]) {
        assert_eq!(self.code, 2, "{}", self.stderr);
        self.reports_only_failure();
        self.complains(parts);
    }

    /// Asserts that standard output is empty, or for scripts the failure that standard
    /// error has too.
    #[track_caller]
    fn reports_only_failure(&self) {
        if self.stdout.is_empty() {
            return;
        }
        let failure: Value = serde_json::from_str(&self.stdout).unwrap();
        let message = failure["error"]["message"].as_str().unwrap();
        assert!(self.stderr.contains(message), "{message}");
    }

    /// Asserts one message on standard error with all parts.
    #[track_caller]
    fn complains(&self, parts: &[&str]) {
        assert!(self.stderr.starts_with("error: "), "{:?}", self.stderr);
        assert_eq!(
            self.stderr.matches("error:").count(),
            1,
            "{:?}",
            self.stderr
        );
        for part in parts {
            assert!(
                self.stderr.contains(part),
                "{part:?} is not in {:?}",
                self.stderr
            );
        }
    }

    /// Standard output as one JSON value, after success.
    #[track_caller]
    fn json(&self) -> Value {
        assert_eq!(self.code, 0, "{}", self.stderr);
        assert_eq!(self.stderr, "");
        serde_json::from_str(&self.stdout).unwrap()
    }
}

/// A folder with one file in it.
struct Fixture {
    folder: TempDir,
    file: PathBuf,
}

impl Fixture {
    fn new(name: &str, content: &[u8]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join(name);
        std::fs::write(&file, content).unwrap();
        Self { folder, file }
    }

    fn path(&self) -> &str {
        self.file.to_str().unwrap()
    }

    fn beside(&self, name: &str) -> String {
        self.folder.path().join(name).to_str().unwrap().to_owned()
    }
}
