//! The linker that rustc calls for `nvptx64`, which turns bitcode into PTX.
//!
//! rustc hands over the names to export, the crate's bitcode objects and archives. LLVM's own tools
//! do the work: `llvm-link` merges (from archives only what is needed), `opt` makes everything
//! except the exports private and optimises the whole, `llc` writes PTX for one machine. Files go
//! beside rustc's output, so a failed build leaves them for inspection.

use std::env;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::error::Error;
use crate::process;
use crate::ptx::targets::Target;
use crate::ptx::toolchain::LlvmTools;

const TOOLS: &str = "SEAWALL_LINK_TOOLS";
const CPU: &str = "SEAWALL_LINK_CPU";
const ISA: &str = "SEAWALL_LINK_ISA";

/// Settings of the build that the linker role needs.
pub(crate) struct LinkJob {
    tools: LlvmTools,
    cpu: String,
    isa: String,
}

/// The part of rustc's argument list that matters here.
#[derive(Debug, Default, PartialEq, Eq)]
struct Inputs {
    exports: Vec<String>,
    objects: Vec<String>,
    archives: Vec<String>,
    output: PathBuf,
}

/// Sets the variables that put a child of `cargo` into the linker role.
pub(crate) fn hand_over(cargo: &mut Command, tools: &LlvmTools, target: &Target) {
    cargo
        .env(TOOLS, tools.to_variable())
        .env(CPU, target.cpu())
        .env(ISA, target.isa.to_string());
}

impl LinkJob {
    /// The job, when this process was started as a linker.
    pub(crate) fn from_environment() -> Option<Result<Self, Error>> {
        let tools = env::var(TOOLS).ok()?;
        Some(Self::from_variables(&tools))
    }

    fn from_variables(tools: &str) -> Result<Self, Error> {
        Ok(Self {
            tools: LlvmTools::from_variable(tools).ok_or(Error::LinkRole { missing: TOOLS })?,
            cpu: env::var(CPU).map_err(|_| Error::LinkRole { missing: CPU })?,
            isa: env::var(ISA).map_err(|_| Error::LinkRole { missing: ISA })?,
        })
    }

    /// Links as `arguments` (rustc's, without the program's name) ask.
    pub(crate) fn run(&self, arguments: Vec<String>) -> Result<(), Error> {
        let inputs = Inputs::parse(arguments)?;
        let merged = self.merge(&inputs)?;
        let optimised = self.optimise(&inputs, &merged)?;
        self.emit(&inputs, &optimised)
    }

    fn merge(&self, inputs: &Inputs) -> Result<PathBuf, Error> {
        let own = inputs.output.with_extension("own.bc");
        tool(&self.tools.link)
            .args(&inputs.objects)
            .arg("-o")
            .arg(&own)
            .finish()?;
        if inputs.archives.is_empty() {
            return Ok(own);
        }
        let merged = inputs.output.with_extension("merged.bc");
        tool(&self.tools.link)
            .args(["--only-needed", "--ignore-non-bitcode"])
            .arg(&own)
            .args(&inputs.archives)
            .arg("-o")
            .arg(&merged)
            .finish()?;
        Ok(merged)
    }

    fn optimise(&self, inputs: &Inputs, merged: &Path) -> Result<PathBuf, Error> {
        let optimised = inputs.output.with_extension("optimised.bc");
        tool(&self.tools.opt)
            .arg("--passes=internalize,globaldce,default<O3>")
            .arg(format!(
                "--internalize-public-api-list={}",
                inputs.exports.join(",")
            ))
            .args(self.machine())
            .arg(merged)
            .arg("-o")
            .arg(&optimised)
            .finish()?;
        Ok(optimised)
    }

    fn emit(&self, inputs: &Inputs, optimised: &Path) -> Result<(), Error> {
        tool(&self.tools.llc)
            .args(["-O3", "--filetype=asm"])
            .args(self.machine())
            .arg(optimised)
            .arg("-o")
            .arg(&inputs.output)
            .finish()
    }

    fn machine(&self) -> [String; 2] {
        [
            format!("--mcpu={}", self.cpu),
            format!("--mattr=+ptx{}", self.isa),
        ]
    }
}

impl Inputs {
    fn parse(arguments: Vec<String>) -> Result<Self, Error> {
        let mut inputs = Self::default();
        let mut rest = arguments.into_iter();
        while let Some(argument) = rest.next() {
            match argument.as_str() {
                "--export-symbol" => inputs.exports.extend(rest.next()),
                "-o" => inputs.output = rest.next().unwrap_or_default().into(),
                "-L" | "--target" | "--target-cpu" => drop(rest.next()),
                _ => inputs.take_file(argument),
            }
        }
        inputs.checked()
    }

    fn take_file(&mut self, argument: String) {
        match Path::new(&argument).extension().and_then(OsStr::to_str) {
            Some("o" | "bc") => self.objects.push(argument),
            Some("rlib" | "a") => self.archives.push(argument),
            _ => {}
        }
    }

    fn checked(self) -> Result<Self, Error> {
        if self.output.as_os_str().is_empty() {
            return Err(Error::LinkRole { missing: "`-o`" });
        }
        if self.objects.is_empty() {
            return Err(Error::LinkRole {
                missing: "any bitcode object",
            });
        }
        if self.exports.is_empty() {
            return Err(Error::LinkRole {
                missing: "any exported kernel (`extern \"ptx-kernel\"` with `no_mangle`)",
            });
        }
        Ok(self)
    }
}

/// A tool's command line under construction.
struct Tool(Command);

fn tool(program: &Path) -> Tool {
    Tool(Command::new(program))
}

impl Tool {
    fn arg(mut self, argument: impl AsRef<OsStr>) -> Self {
        self.0.arg(argument);
        self
    }

    fn args(mut self, arguments: impl IntoIterator<Item = impl AsRef<OsStr>>) -> Self {
        self.0.args(arguments);
        self
    }

    fn finish(mut self) -> Result<(), Error> {
        process::capture(&mut self.0).map(drop)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &str) -> Vec<String> {
        line.split_whitespace().map(str::to_owned).collect()
    }

    #[test]
    fn rustc_arguments_are_sorted_by_kind() {
        let line = "--export-symbol a a.o --export-symbol b core.rlib -L dir.o \
                    --target nvptx64 --target-cpu sm_70 -o out.ptx -O3 --debug";
        let inputs = Inputs::parse(words(line)).unwrap();
        assert_eq!(
            inputs,
            Inputs {
                exports: words("a b"),
                objects: words("a.o"),
                archives: words("core.rlib"),
                output: "out.ptx".into(),
            }
        );
    }

    #[test]
    fn each_missing_part_is_named() {
        for (line, part) in [
            ("--export-symbol a a.o", "`-o`"),
            ("--export-symbol a -o x", "bitcode"),
            ("a.o -o x", "kernel"),
        ] {
            let text = Inputs::parse(words(line)).unwrap_err().to_string();
            assert!(text.contains(part), "{text}");
        }
    }
}
