//! The assembler's figures, if NVIDIA's `ptxas` is available.
//!
//! It is not needed for a build and is not installed here: PTX is assembled by the driver. It also
//! proves that the PTX is valid. Functions that a kernel calls are reported once for each kernel.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::error::Error;
use crate::process;
use crate::ptx::sass::{self, Disassembler};

/// Figures of one function. Registers, shared memory and code belong to a whole kernel; functions
/// that it calls only have separate stack and spills.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Assembled {
    pub(crate) registers: Option<u32>,
    /// Bytes of stack per lane.
    pub(crate) stack_bytes: u32,
    /// Bytes of all instructions that spill.
    pub(crate) spill_stores: u32,
    /// Bytes of all instructions that read a spilled value.
    pub(crate) spill_loads: u32,
    /// Instructions of either kind within hot loops; `None` without a
    /// disassembler.
    pub(crate) loop_spills: Option<u32>,
    pub(crate) shared_bytes: Option<u32>,
    /// Bytes of machine code, the functions that it calls included.
    pub(crate) code_bytes: Option<u32>,
}

impl Assembled {
    /// Joins the costs of a function in two kernels: the larger of each.
    fn join(&mut self, other: &Self) {
        self.stack_bytes = self.stack_bytes.max(other.stack_bytes);
        self.spill_stores = self.spill_stores.max(other.spill_stores);
        self.spill_loads = self.spill_loads.max(other.spill_loads);
    }
}

/// The cost of a kernel with all functions that it calls: their spills and stack
/// are added up.
pub(crate) fn whole(kernel: &str, found: &BTreeMap<String, Assembled>) -> Option<Assembled> {
    let mut whole = *found.get(kernel)?;
    let callees = found.iter().filter(|(name, _)| *name != kernel);
    for (_, callee) in callees {
        whole.spill_stores += callee.spill_stores;
        whole.spill_loads += callee.spill_loads;
        whole.loop_spills = whole
            .loop_spills
            .zip(callee.loop_spills)
            .map(|(a, b)| a + b);
    }
    Some(whole)
}

/// An assembler that was found.
pub(crate) struct Ptxas {
    program: PathBuf,
    pub(crate) release: String,
}

impl Ptxas {
    /// Returns the named one, else `PTXAS`, else the one on the search path or in CUDA's usual
    /// folder.
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

    /// Assembles one kernel of a file for `cpu` into another file.
    pub(crate) fn assemble(
        &self,
        from: &Path,
        to: &Path,
        cpu: &str,
        kernel: &str,
    ) -> Result<(), Error> {
        let mut command = Command::new(&self.program);
        command
            .arg(format!("-arch={cpu}"))
            .args(["--entry", kernel]);
        command.arg("-o").arg(to).arg(from);
        process::capture(&mut command).map(drop)
    }

    /// Assembles `file` for `cpu`, or one kernel of it, and reads the figures, those of loops with
    /// `disassembler`. `None` if this release no longer supports the machine.
    pub(crate) fn measure(
        &self,
        file: &Path,
        cpu: &str,
        kernel: Option<&str>,
        disassembler: Option<&Disassembler>,
    ) -> Result<Option<BTreeMap<String, Assembled>>, Error> {
        let cubin =
            tempfile::NamedTempFile::new().map_err(Error::file("making", std::env::temp_dir()))?;
        let mut command = Command::new(&self.program);
        command.arg(format!("-arch={cpu}")).args(["-v", "-o"]);
        command.arg(cubin.path()).arg(file);
        if let Some(kernel) = kernel {
            command.args(["--entry", kernel]);
        }
        let output = command.output().map_err(|source| Error::Start {
            program: self.program.display().to_string(),
            source,
        })?;
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        if !output.status.success() {
            if text.contains("gpu-name") || text.contains("Unsupported gpu architecture") {
                return Ok(None);
            }
            return Err(Error::Failed {
                program: format!("ptxas -arch={cpu} {}", file.display()),
                status: output.status.to_string(),
                output: text,
            });
        }
        let mut found = parse(&text);
        for (kernel, bytes) in sass::code_bytes(cubin.path())? {
            if let Some(figures) = found.get_mut(&kernel) {
                figures.code_bytes = Some(bytes);
            }
        }
        let loops = match disassembler {
            Some(disassembler) => disassembler.loop_spills(cubin.path())?,
            None => None,
        };
        if let Some(loops) = loops {
            for (name, figures) in &mut found {
                figures.loop_spills = Some(loops.get(name).copied().unwrap_or(0));
            }
        }
        Ok(Some(found))
    }
}

fn parse(text: &str) -> BTreeMap<String, Assembled> {
    let mut found: BTreeMap<String, Assembled> = BTreeMap::new();
    let (mut entry, mut name) = (String::new(), String::new());
    for line in text.lines() {
        if line.contains("Compiling entry function") {
            entry = line.split('\'').nth(1).unwrap_or_default().to_owned();
        } else if let Some((_, function)) = line.split_once("Function properties for ") {
            name = function.trim().to_owned();
        } else if line.contains("bytes stack frame") && !name.is_empty() {
            let figures = Assembled {
                stack_bytes: number_before(line, " bytes stack frame"),
                spill_stores: number_before(line, " bytes spill stores"),
                spill_loads: number_before(line, " bytes spill loads"),
                ..Assembled::default()
            };
            found
                .entry(std::mem::take(&mut name))
                .or_default()
                .join(&figures);
        } else if line.contains("Used ") && !entry.is_empty() {
            let kernel = found.entry(std::mem::take(&mut entry)).or_default();
            kernel.registers = Some(number_before(line, " registers"));
            kernel.shared_bytes = Some(number_before(line, " bytes smem"));
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

    const TEXT: &str = "\
ptxas info    : 0 bytes gmem
ptxas info    : Compiling entry function 'walk' for 'sm_90'
ptxas info    : Function properties for walk
    24 bytes stack frame, 8 bytes spill stores, 12 bytes spill loads
ptxas info    : Used 40 registers, used 1 barriers, 24 bytes cumulative stack size, 64 bytes smem
ptxas info    : Compile time = 1.5 ms
ptxas info    : Function properties for step
    0 bytes stack frame, 4 bytes spill stores, 0 bytes spill loads
ptxas info    : Compiling entry function 'idle' for 'sm_90'
ptxas info    : Function properties for idle
    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 8 registers, used 0 barriers
ptxas info    : Function properties for step
    0 bytes stack frame, 0 bytes spill stores, 16 bytes spill loads
";

    #[test]
    fn figures_are_read_from_the_verbose_report() {
        let walk = Assembled {
            registers: Some(40),
            stack_bytes: 24,
            spill_stores: 8,
            spill_loads: 12,
            shared_bytes: Some(64),
            ..Assembled::default()
        };
        let found = parse(TEXT);
        assert_eq!(found.get("walk"), Some(&walk));
        assert_eq!(found["idle"].shared_bytes, Some(0));
    }

    #[test]
    fn a_function_of_two_kernels_counts_with_its_dearer_copy() {
        let step = Assembled {
            spill_stores: 4,
            spill_loads: 16,
            ..Assembled::default()
        };
        assert_eq!(parse(TEXT).get("step"), Some(&step));
    }
}
