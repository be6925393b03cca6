//! Building in tests/firmware, and asking LLVM's tools about the result.
//!
//! Everything that depends on this machine goes through the environment, so
//! that the folder's own configuration stays the one that a reader would write.

use std::path::{Path, PathBuf};
use std::process::Command;

use super::images::IMAGES;
use crate::error::Error;
use crate::process;
use crate::ptx::toolchain::Toolchain;
use crate::workspace;

/// How images are compiled.
#[derive(Clone, Copy)]
pub(super) enum Profile {
    /// As shipped firmware is, which is measured.
    Release,
    /// The same with overflow checks in the planner, each of which is a panic path unless it can be
    /// proved away. Not a profile of Cargo, for which `core` would be compiled again.
    Checked,
}

const CHECKS: &str = "profile.release.package.seawall-core.overflow-checks=true";

pub(super) struct Firmware<'a> {
    toolchain: &'a Toolchain,
}

impl<'a> Firmware<'a> {
    pub(super) fn new(toolchain: &'a Toolchain) -> Self {
        Self { toolchain }
    }

    /// Links the images whose panic handler cannot be linked.
    pub(super) fn link_proofs(&self, target: &str, profile: Profile) -> Result<(), Error> {
        let mut cargo = self.cargo(target, profile);
        cargo.args(["--features", "proof"]);
        for image in IMAGES {
            cargo.args(["--bin", image.name]);
        }
        process::show(&mut cargo).map_err(|error| match error {
            Error::Failed { .. } => Error::Refused {
                what: "the proof images do not link",
                findings: vec![format!("{target}: the linker's message is above")],
                remedy: "an undefined `a_panic_path_remains` means that the planner can panic: \
                         take the indexing, the unchecked sum or the sort out of it",
            },
            other => other,
        })
    }

    pub(super) fn example(&self, target: &str) -> Result<PathBuf, Error> {
        process::show(self.cargo(target, Profile::Release).args([
            "--features",
            "run",
            "--bin",
            "plan",
        ]))?;
        Ok(self.image(target, "plan"))
    }

    /// The plan of the host.
    pub(super) fn twin(&self) -> Result<String, Error> {
        let host = process::capture(Command::new("rustc").args(["--print", "host-tuple"]))?;
        process::capture(
            process::cargo()
                .current_dir(folder())
                .args(["run", "--quiet", "--locked", "--features", "twin"])
                .args(["--bin", "twin", "--target", host.trim(), "--target-dir"])
                .arg(target_folder()),
        )
    }

    pub(super) fn image(&self, target: &str, name: &str) -> PathBuf {
        target_folder().join(target).join("release").join(name)
    }

    /// The output of one of LLVM's tools, such as `nm`.
    pub(super) fn ask(&self, tool: &str, options: &[&str], image: &Path) -> Result<String, Error> {
        process::capture(
            Command::new(self.tool(&format!("llvm-{tool}")))
                .args(options)
                .arg(image),
        )
    }

    /// A tool beside `llvm-link`, with the same suffix.
    fn tool(&self, name: &str) -> PathBuf {
        let link = &self.toolchain.tools.link;
        let file = link
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .replacen("llvm-link", name, 1);
        link.with_file_name(file)
    }

    fn cargo(&self, target: &str, profile: Profile) -> Command {
        let mut cargo = self.toolchain.cargo();
        if let Profile::Checked = profile {
            cargo.args(["--config", CHECKS]);
        }
        cargo
            .current_dir(folder())
            .args(["build", "--quiet", "--locked", "--release"])
            .args(["-Zbuild-std=core", "--target", target, "--target-dir"])
            .arg(target_folder())
            .env("CARGO_ENCODED_RUSTFLAGS", "-Zemit-stack-sizes")
            .env("DEFMT_LOG", "trace");
        let linker = self.tool("ld.lld");
        if linker.is_file() {
            // Debian's compiler comes without `rust-lld`, the targets' own linker.
            let variable = target.to_uppercase().replace('-', "_");
            cargo.env(format!("CARGO_TARGET_{variable}_LINKER"), linker);
        }
        cargo
    }
}

fn folder() -> PathBuf {
    workspace::root().join("tests/firmware")
}

fn target_folder() -> PathBuf {
    workspace::target("embed")
}
