//! The assembler's own figures, where NVIDIA's `ptxas` is at hand.
//!
//! It is not needed to build and is not installed by anything here: PTX is
//! assembled by the driver. Where it exists it also proves that the PTX is valid.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::error::Error;

/// Figures of one kernel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Assembled {
    /// Registers a lane.
    pub(crate) registers: u32,
    /// Bytes of stack a lane.
    pub(crate) stack_bytes: u32,
    /// Bytes spilled, stores and loads together.
    pub(crate) spill_bytes: u32,
}

/// An assembler that was found.
pub(crate) struct Ptxas {
    program: PathBuf,
    /// Its release, such as `12.9`.
    pub(crate) release: String,
}

impl Ptxas {
    /// The one named, else `PTXAS`, else the one on the search path or in CUDA's
    /// usual folder.
    pub(crate) fn find(named: Option<&Path>) -> Option<Self> {
        let named = named.map(Path::to_path_buf);
        let candidates = [
            named.or_else(|| std::env::var_os("PTXAS").map(PathBuf::from)),
            Some("ptxas".into()),
            Some("/usr/local/cuda/bin/ptxas".into()),
        ];
        candidates.into_iter().flatten().find_map(Self::ask)
    }

    fn ask(program: PathBuf) -> Option<Self> {
        let mut command = Command::new(&program);
        let output = command
            .arg("--version")
            .stderr(Stdio::null())
            .output()
            .ok()?;
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let release = text.split("release ").nth(1)?.split(',').next()?.to_owned();
        Some(Self { program, release })
    }

    /// Assembles `file` for `cpu` and reads the figures. `None` when this release
    /// no longer knows the machine.
    pub(crate) fn measure(
        &self,
        file: &Path,
        cpu: &str,
    ) -> Result<Option<BTreeMap<String, Assembled>>, Error> {
        let mut command = Command::new(&self.program);
        command.arg(format!("-arch={cpu}")).args(["-v", "-o"]);
        command.arg(null_device()).arg(file);
        let output = command.output().map_err(|source| Error::Start {
            program: self.program.display().to_string(),
            source,
        })?;
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        if output.status.success() {
            return Ok(Some(parse(&text)));
        }
        if text.contains("gpu-name") || text.contains("Unsupported gpu architecture") {
            return Ok(None);
        }
        Err(Error::Failed {
            program: format!("ptxas -arch={cpu} {}", file.display()),
            status: output.status.to_string(),
            output: text,
        })
    }
}

fn null_device() -> &'static str {
    if cfg!(windows) { "NUL" } else { "/dev/null" }
}

fn parse(text: &str) -> BTreeMap<String, Assembled> {
    let mut found = BTreeMap::new();
    let mut name = String::new();
    for line in text.lines() {
        if line.contains("Compiling entry function") {
            name = line.split('\'').nth(1).unwrap_or_default().to_owned();
        } else if line.contains("bytes stack frame") && !name.is_empty() {
            let kernel: &mut Assembled = found.entry(name.clone()).or_default();
            kernel.stack_bytes = number_before(line, " bytes stack frame");
            kernel.spill_bytes = number_before(line, " bytes spill stores")
                .saturating_add(number_before(line, " bytes spill loads"));
        } else if line.contains("Used ") && !name.is_empty() {
            let kernel = found.entry(std::mem::take(&mut name)).or_default();
            kernel.registers = number_before(line, " registers");
        }
    }
    found
}

fn number_before(line: &str, unit: &str) -> u32 {
    let before = line.split(unit).next().unwrap_or_default();
    let digits = before.rsplit(|c: char| !c.is_ascii_digit()).next();
    digits.and_then(|digits| digits.parse().ok()).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_read_from_the_verbose_report() {
        let text = "\
ptxas info    : 0 bytes gmem
ptxas info    : Compiling entry function 'walk' for 'sm_90'
ptxas info    : Function properties for walk
    24 bytes stack frame, 8 bytes spill stores, 12 bytes spill loads
ptxas info    : Used 40 registers, used 1 barriers, 24 bytes cumulative stack size
";
        let expected = Assembled {
            registers: 40,
            stack_bytes: 24,
            spill_bytes: 20,
        };
        assert_eq!(parse(text).get("walk"), Some(&expected));
    }
}
