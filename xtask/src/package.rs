//! `cargo xtask package`: the crates as they would be published.
//!
//! Packs all of them at once, so that none needs an earlier one on crates.io, and checks what
//! crates.io asks and what a user expects inside. `--build` unpacks them into an empty folder and
//! builds the program from the packed sources alone.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use clap::Args;
use serde::Deserialize;

use crate::error::{Error, refuse_any};
use crate::metadata;
use crate::process;
use crate::workspace;

/// The crates in the order in which they are published: each after those that it needs.
const CRATES: [&str; 10] = [
    "seawall-core",
    "seawall-capi",
    "seawall-device",
    "seawall-graph",
    "seawall-jit",
    "seawall",
    "seawall-modules",
    "seawall-report",
    "seawall-cli",
    "seawall-cluster",
];

/// Largest package of crates.io.
const BYTES_MAX: u64 = 10 << 20;

/// Most keywords of crates.io.
const KEYWORDS_MAX: usize = 5;

const FILES: [&str; 4] = ["Cargo.toml", "LICENSE-APACHE", "LICENSE-MIT", "README.md"];

/// Further files of single packages: what their users need and a wrong manifest would leave out.
const FILES_OF: [(&str, &[&str]); 4] = [
    (
        "seawall",
        &[
            "examples/batch.rs",
            "examples/bfs.rs",
            "examples/dataflow.rs",
            "examples/own_program.rs",
            "examples/plan_static.rs",
            "ptx/precompiled.bin",
            "ptx/seawall.ptx.packed",
        ],
    ),
    ("seawall-capi", &["examples/plan.c", "include/seawall.h"]),
    ("seawall-cli", &["src/bench/compare/barrier.cu"]),
    ("seawall-modules", &["examples/analyse_module.rs"]),
];

/// Options of the command.
#[derive(Args)]
pub(crate) struct Options {
    /// Also build the program from the packed crates, in an empty folder. Takes minutes.
    #[arg(long)]
    build: bool,
}

/// Fields of a manifest that crates.io reads.
#[derive(Deserialize)]
struct Manifest {
    name: String,
    version: String,
    description: Option<String>,
    license: Option<String>,
    readme: Option<String>,
    documentation: Option<String>,
    keywords: Vec<String>,
    categories: Vec<String>,
    /// Registries to publish to: `Some` and empty for none.
    publish: Option<Vec<String>>,
}

pub(crate) fn run(options: &Options) -> Result<(), Error> {
    let manifests = manifests()?;
    pack()?;
    let mut findings = Vec::new();
    for name in CRATES {
        let Some(manifest) = manifests.get(name) else {
            findings.push(format!("{name}: not in the workspace"));
            continue;
        };
        findings.extend(manifest.findings());
        let files = listed(name)?;
        findings.extend(missing(name, &files));
        let bytes = size(&packed(manifest))?;
        println!(
            "{name} {}: {} files, {bytes} bytes",
            manifest.version,
            files.len()
        );
        if bytes > BYTES_MAX {
            findings.push(format!("{name}: {bytes} bytes, at most {BYTES_MAX}"));
        }
    }
    refuse_any(
        "packages that are not to be published",
        findings,
        "mend the manifests",
    )?;
    if options.build {
        build(&manifests)?;
    }
    Ok(())
}

fn manifests() -> Result<BTreeMap<String, Manifest>, Error> {
    let packages = metadata::described::<Manifest>(&["--no-deps"])?.into_iter();
    Ok(packages.map(|it| (it.name.clone(), it)).collect())
}

/// Packs all crates into `target/package`, as they are in the working tree.
fn pack() -> Result<(), Error> {
    let mut command = process::cargo();
    command.args(["package", "--no-verify", "--allow-dirty", "--quiet"]);
    command.arg("--target-dir").arg(workspace::target(""));
    for name in CRATES {
        command.args(["-p", name]);
    }
    process::capture(&mut command).map(drop)
}

fn listed(name: &str) -> Result<Vec<String>, Error> {
    let mut command = process::cargo();
    command.args(["package", "--list", "--allow-dirty", "-p", name]);
    let text = process::capture(&mut command)?;
    Ok(text.lines().map(str::to_owned).collect())
}

fn missing(name: &str, files: &[String]) -> Vec<String> {
    let own = FILES_OF.iter().filter(|(of, _)| *of == name);
    let wanted = FILES.iter().chain(own.flat_map(|(_, files)| *files));
    let lacks = wanted.filter(|file| !files.iter().any(|have| have == *file));
    lacks.map(|file| format!("{name}: no {file}")).collect()
}

fn packed(manifest: &Manifest) -> PathBuf {
    let file = format!("{}-{}.crate", manifest.name, manifest.version);
    workspace::target("package").join(file)
}

fn size(path: &Path) -> Result<u64, Error> {
    let metadata = std::fs::metadata(path).map_err(Error::file("reading", &path))?;
    Ok(metadata.len())
}

impl Manifest {
    /// Fields that crates.io would refuse or show empty.
    fn findings(&self) -> Vec<String> {
        let is_some = |text: &Option<String>| text.as_ref().is_some_and(|text| !text.is_empty());
        let checks = [
            (is_some(&self.description), "no description"),
            (is_some(&self.license), "no licence"),
            (is_some(&self.readme), "no readme"),
            (is_some(&self.documentation), "no documentation"),
            (!self.categories.is_empty(), "no categories"),
            (
                (1..=KEYWORDS_MAX).contains(&self.keywords.len()),
                "no keywords, or more than five",
            ),
            (self.publish.is_none(), "marked as not to be published"),
        ];
        let failed = checks.iter().filter(|(holds, _)| !holds);
        failed
            .map(|(_, problem)| format!("{}: {problem}", self.name))
            .collect()
    }
}

/// Builds the program from the packed crates alone.
fn build(manifests: &BTreeMap<String, Manifest>) -> Result<(), Error> {
    let folder = tempfile::tempdir().map_err(Error::file("creating", std::env::temp_dir()))?;
    let packed_crates = || CRATES.iter().filter_map(|name| manifests.get(*name));
    for manifest in packed_crates() {
        let mut tar = Command::new("tar");
        tar.arg("-xzf")
            .arg(packed(manifest))
            .arg("-C")
            .arg(folder.path());
        process::capture(&mut tar)?;
    }
    let names = packed_crates().map(|it| (it.name.as_str(), it.version.as_str()));
    workspace::write(&folder.path().join("Cargo.toml"), &scratch(names))?;
    // The same versions of dependencies as here.
    let lock = workspace::read(&workspace::root().join("Cargo.lock"))?;
    workspace::write(&folder.path().join("Cargo.lock"), &lock)?;
    let mut build = process::cargo();
    build.current_dir(folder.path());
    build.args(["build", "-p", "seawall-cli", "--target-dir", "target"]);
    process::show(&mut build)?;
    let mut program = Command::new(folder.path().join("target/debug/seawall"));
    program.args([
        "run",
        "gen:grid:64",
        "--analysis",
        "bfs",
        "--source",
        "0",
        "--check",
    ]);
    print!("{}", process::capture(&mut program)?);
    Ok(())
}

/// The manifest of a workspace of the packed crates, which stand for those of crates.io.
fn scratch<'a>(crates: impl Iterator<Item = (&'a str, &'a str)>) -> String {
    let (mut members, mut patches) = (String::new(), String::new());
    for (name, version) in crates {
        let _ = write!(members, "\"{name}-{version}\", ");
        let _ = writeln!(patches, "{name} = {{ path = \"{name}-{version}\" }}");
    }
    format!("[workspace]\nresolver = \"3\"\nmembers = [{members}]\n\n[patch.crates-io]\n{patches}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bare_manifest_is_refused() {
        let bare =
            r#"{"name": "a", "version": "0.1.0", "keywords": [], "categories": [], "publish": []}"#;
        let manifest: Manifest = serde_json::from_str(bare).unwrap();
        assert_eq!(manifest.findings().len(), 7);
    }

    #[test]
    fn a_package_without_kernels_is_refused() {
        let mut files: Vec<String> = FILES.map(str::to_owned).to_vec();
        assert!(missing("seawall-core", &files).is_empty());
        let lacks = missing("seawall", &files);
        assert!(
            lacks.contains(&"seawall: no ptx/precompiled.bin".to_owned()),
            "{lacks:?}"
        );
        files.remove(0);
        assert_eq!(
            missing("seawall-core", &files),
            ["seawall-core: no Cargo.toml"]
        );
    }

    #[test]
    fn packed_crates_stand_for_those_of_the_registry() {
        let text = scratch([("a", "1.0.0")].into_iter());
        assert!(text.contains("members = [\"a-1.0.0\", ]"), "{text}");
        assert!(
            text.ends_with("[patch.crates-io]\na = { path = \"a-1.0.0\" }\n"),
            "{text}"
        );
    }
}
