//! Comparison programs in CUDA C++, compiled if there is a toolkit.
//!
//! Their sources are part of this binary. They are written to a temporary folder, compiled by
//! `nvcc` for the present device and run with a time limit; the folder is removed when the
//! benchmark ends. Seawall itself needs no toolkit.

use seawall::backend::cuda::DeviceLimits;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// Every source file by name.
const SOURCES: [(&str, &str); 4] = [
    ("check.cuh", include_str!("compare/check.cuh")),
    ("barrier.cu", include_str!("compare/barrier.cu")),
    ("chain.cu", include_str!("compare/chain.cu")),
    ("loop.cu", include_str!("compare/loop.cu")),
];

/// Longest run of a comparison program; a barrier that not all blocks reach would hang.
const RUN_LIMIT: Duration = Duration::from_secs(60);

/// An error of a comparison program.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NvccError {
    /// There is no compiler.
    #[error("nvcc is neither on the search path nor under CUDA_HOME")]
    NotFound,
    /// The compiler rejected the source, or it could not be written.
    #[error("nvcc did not compile it: {0}")]
    Compile(String),
    /// The program failed.
    #[error("it failed: {0}")]
    Run(String),
}

impl NvccError {
    /// The reason in the few words that a table has space for.
    pub(super) const fn short(&self) -> &'static str {
        match self {
            Self::NotFound => "no nvcc",
            Self::Compile(_) => "did not compile",
            Self::Run(_) => "failed",
        }
    }
}

/// A compiler with a folder for its products.
#[derive(Debug)]
pub(super) struct Nvcc {
    program: PathBuf,
    machine: String,
    folder: TempDir,
}

impl Nvcc {
    /// Looks for the compiler on the search path, then under `CUDA_HOME`,
    /// `CUDA_PATH` and `/usr/local/cuda`.
    pub(super) fn find(limits: &DeviceLimits) -> Result<Self, NvccError> {
        let program = candidates(|name| std::env::var_os(name))
            .into_iter()
            .find(|program| answers(program))
            .ok_or(NvccError::NotFound)?;
        let folder = TempDir::with_prefix("seawall-bench-")
            .map_err(|error| NvccError::Compile(error.to_string()))?;
        let (major, minor) = limits.info.compute_capability.unwrap_or_default();
        let nvcc = Self {
            program,
            machine: format!("-arch=sm_{major}{minor}"),
            folder,
        };
        nvcc.write_sources()
            .map_err(|error| NvccError::Compile(error.to_string()))?;
        Ok(nvcc)
    }

    fn write_sources(&self) -> std::io::Result<()> {
        SOURCES
            .iter()
            .try_for_each(|(name, text)| std::fs::write(self.folder.path().join(name), text))
    }

    /// Returns the output of comparison program `name` on GPU `device`.
    pub(super) fn run(
        &self,
        name: &str,
        device: u32,
        arguments: &[u32],
    ) -> Result<String, NvccError> {
        let program = self.folder.path().join(name).with_extension("run");
        if !program.exists() {
            self.compile(name, &program)?;
        }
        let mut command = Command::new(&program);
        command.arg(device.to_string());
        command.args(arguments.iter().map(u32::to_string));
        let output = limited(command, RUN_LIMIT).map_err(NvccError::Run)?;
        if output.status.success() {
            Ok(String::from_utf8_lossy(&output.stdout).into_owned())
        } else {
            Err(NvccError::Run(complaint(&output)))
        }
    }

    fn compile(&self, name: &str, program: &Path) -> Result<(), NvccError> {
        let output = Command::new(&self.program)
            .args(["-O3", "-std=c++17", "-o"])
            .arg(program)
            .arg(&self.machine)
            .arg(self.folder.path().join(name).with_extension("cu"))
            .current_dir(self.folder.path())
            .output()
            .map_err(|error| NvccError::Compile(error.to_string()))?;
        if output.status.success() {
            Ok(())
        } else {
            Err(NvccError::Compile(complaint(&output)))
        }
    }
}

/// Returns the places of a compiler in this environment.
fn candidates(variable: impl Fn(&str) -> Option<OsString>) -> Vec<PathBuf> {
    let homes = ["CUDA_HOME", "CUDA_PATH"].into_iter().filter_map(variable);
    let homes = homes.map(PathBuf::from).chain(["/usr/local/cuda".into()]);
    let under = homes.map(|home: PathBuf| home.join("bin").join("nvcc"));
    std::iter::once(PathBuf::from("nvcc"))
        .chain(under)
        .collect()
}

fn answers(program: &Path) -> bool {
    let mut command = Command::new(program);
    command.arg("--version").stdin(Stdio::null());
    command.output().is_ok_and(|output| output.status.success())
}

/// Returns the first line that reports an error.
fn complaint(output: &Output) -> String {
    let text = String::from_utf8_lossy(&output.stderr);
    let mut lines = text.lines().filter(|line| !line.trim().is_empty());
    let error = text.lines().find(|line| line.contains("error"));
    error
        .or_else(|| lines.next())
        .map_or_else(|| output.status.to_string(), str::to_owned)
}

/// Runs `command` to its end, or kills it after `limit`.
fn limited(mut command: Command, limit: Duration) -> Result<Output, String> {
    let text = |error: std::io::Error| error.to_string();
    command.stdin(Stdio::null());
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().map_err(text)?;
    let started = Instant::now();
    while child.try_wait().map_err(text)?.is_none() {
        if started.elapsed() > limit {
            child.kill().map_err(text)?;
            child.wait().map_err(text)?;
            return Err(format!("no answer within {} seconds", limit.as_secs()));
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    // Both streams are a few lines long, so the program never waits for them.
    child.wait_with_output().map_err(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_search_path_comes_first_and_the_usual_folder_last() {
        let found = candidates(|name| (name == "CUDA_HOME").then(|| "/opt/cuda".into()));
        let expected = ["nvcc", "/opt/cuda/bin/nvcc", "/usr/local/cuda/bin/nvcc"];
        assert_eq!(found, expected.map(PathBuf::from));
    }

    #[test]
    fn every_program_finds_its_header_among_the_sources() {
        for (name, text) in SOURCES.iter().filter(|(name, _)| name.ends_with(".cu")) {
            assert!(text.contains("#include \"check.cuh\""), "{name}");
            assert!(text.contains("int main("), "{name}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn a_program_that_hangs_is_ended() {
        let mut command = Command::new("sleep");
        command.arg("30");
        let answer = limited(command, Duration::from_millis(50));
        assert!(answer.unwrap_err().contains("no answer"));
    }

    #[cfg(unix)]
    #[test]
    fn a_complaint_is_the_line_with_the_error() {
        let mut command = Command::new("sh");
        command.args([
            "-c",
            "echo warning >&2; echo 'a.cu(3): error: no' >&2; exit 2",
        ]);
        let output = limited(command, RUN_LIMIT).unwrap();
        assert_eq!(complaint(&output), "a.cu(3): error: no");
    }

    /// A compiler that writes a script in place of a program.
    #[cfg(unix)]
    fn pretender(script: &str) -> Nvcc {
        let folder = TempDir::new().unwrap();
        let program = folder.path().join("nvcc");
        // Its arguments: -O3 -std=c++17 -o PROGRAM MACHINE SOURCE.
        let text = format!(
            "#!/bin/sh\ntest -f \"$6\" || exit 3\ncat > \"$4\" <<'END'\n{script}\nEND\nchmod +x \"$4\"\n"
        );
        // Written by another process: a program that is open for writing here
        // could be inherited by another test's child and would not start.
        let write = "printf %s \"$0\" > \"$1\" && chmod +x \"$1\"";
        let status = Command::new("sh")
            .args(["-c", write, &text])
            .arg(&program)
            .status()
            .unwrap();
        assert!(status.success());
        let nvcc = Nvcc {
            program,
            machine: "-arch=sm_90".to_owned(),
            folder,
        };
        nvcc.write_sources().unwrap();
        nvcc
    }

    #[cfg(unix)]
    #[test]
    fn a_program_is_compiled_once_and_gets_device_and_arguments() {
        let nvcc = pretender("#!/bin/sh\necho $@");
        assert_eq!(nvcc.run("chain", 3, &[7, 9]).unwrap(), "3 7 9\n");
        std::fs::remove_file(&nvcc.program).unwrap();
        assert_eq!(nvcc.run("chain", 0, &[1]).unwrap(), "0 1\n");
    }

    #[cfg(unix)]
    #[test]
    fn a_program_that_fails_or_has_no_source_is_an_error() {
        let nvcc = pretender("#!/bin/sh\necho no such device >&2\nexit 1");
        let failed = NvccError::Run("no such device".to_owned());
        assert_eq!(nvcc.run("loop", 0, &[]), Err(failed));
        let answer = nvcc.run("tides", 0, &[]);
        assert!(matches!(answer, Err(NvccError::Compile(_))), "{answer:?}");
    }
}
