//! `cargo xtask archive`: the program with completions, manual pages and licences, as one archive
//! that is unpacked into `/usr/local` or `~/.local`.

use std::path::{Path, PathBuf};
use std::process::Command;

use clap::Args;
use sha2::{Digest, Sha256};

use crate::error::{Error, refuse_any};
use crate::process;
use crate::workspace;

/// Options of the command.
#[derive(Args)]
pub(crate) struct Options {
    /// Program to pack, instead of a release build.
    #[arg(long, value_name = "FILE")]
    program: Option<PathBuf>,
}

/// Where a shell looks for its completions.
const COMPLETIONS: [(&str, &str); 3] = [
    ("bash", "share/bash-completion/completions/seawall"),
    ("fish", "share/fish/vendor_completions.d/seawall.fish"),
    ("zsh", "share/zsh/site-functions/_seawall"),
];

/// Files of the repository for `share/doc/seawall`.
const DOCUMENTS: [&str; 5] = [
    "CHANGELOG.md",
    "LICENSE-APACHE",
    "LICENSE-MIT",
    "README.md",
    "SECURITY.md",
];

/// Manual pages of the most important commands, without which an archive is not whole.
const PAGES: [&str; 3] = ["seawall.1", "seawall-run.1", "seawall-serve.1"];

pub(crate) fn run(options: &Options) -> Result<(), Error> {
    let program = match &options.program {
        Some(program) => program.clone(),
        None => build()?,
    };
    let name = format!("seawall-{}-{}", env!("CARGO_PKG_VERSION"), process::host()?);
    let out = workspace::target("archive");
    let folder = out.join(&name);
    if folder.exists() {
        std::fs::remove_dir_all(&folder).map_err(Error::file("removing", &folder))?;
    }
    fill(&folder, &program)?;
    name_latest(&out, &name)?;
    let archive = out.join(format!("{name}.tar.gz"));
    pack(&out, &name, &archive)?;
    check(&archive, &name)?;
    let bytes = std::fs::read(&archive).map_err(Error::file("reading", &archive))?;
    let sum = Sha256::digest(&bytes);
    let sum: String = sum.iter().map(|byte| format!("{byte:02x}")).collect();
    println!(
        "{}: {} bytes, SHA-256 {sum}",
        archive.display(),
        bytes.len()
    );
    Ok(())
}

/// Names the folder `latest` as well, where the package for Debian finds it whatever its version
/// (`package.metadata.deb` of `seawall-cli`).
#[cfg(unix)]
fn name_latest(out: &Path, name: &str) -> Result<(), Error> {
    let link = out.join("latest");
    if link.is_symlink() {
        std::fs::remove_file(&link).map_err(Error::file("removing", &link))?;
    }
    std::os::unix::fs::symlink(name, &link).map_err(Error::file("linking", &link))
}

/// Only Debian's packages need the name.
#[cfg(not(unix))]
fn name_latest(_: &Path, _: &str) -> Result<(), Error> {
    Ok(())
}

/// A release build without symbols.
fn build() -> Result<PathBuf, Error> {
    let mut cargo = process::cargo();
    cargo
        .args(["build", "--release", "--package", "seawall-cli"])
        .args(["--config", "profile.release.strip=true", "--target-dir"])
        .arg(workspace::target("archive-build"));
    process::show(&mut cargo)?;
    Ok(workspace::target("archive-build/release/seawall"))
}

/// Puts everything into `folder`.
fn fill(folder: &Path, program: &Path) -> Result<(), Error> {
    copy(program, &folder.join("bin/seawall"))?;
    for name in DOCUMENTS {
        let from = workspace::root().join(name);
        copy(&from, &folder.join("share/doc/seawall").join(name))?;
    }
    for (shell, path) in COMPLETIONS {
        let text = process::capture(Command::new(program).args(["completions", shell]))?;
        let path = folder.join(path);
        make_parent(&path)?;
        workspace::write(&path, &text)?;
    }
    let pages = folder.join("share/man/man1");
    std::fs::create_dir_all(&pages).map_err(Error::file("creating", &pages))?;
    process::capture(Command::new(program).arg("man").arg("--out").arg(&pages)).map(drop)
}

fn make_parent(path: &Path) -> Result<(), Error> {
    let parent = path.parent().unwrap_or(path);
    std::fs::create_dir_all(parent).map_err(Error::file("creating", parent))
}

fn copy(from: &Path, to: &Path) -> Result<(), Error> {
    make_parent(to)?;
    std::fs::copy(from, to)
        .map_err(Error::file("copying", from))
        .map(drop)
}

/// Packs so that the same files are the same bytes: sorted, of nobody, at one time.
fn pack(out: &Path, name: &str, archive: &Path) -> Result<(), Error> {
    let mut tar = Command::new("tar");
    tar.args(["--sort=name", "--mtime=@0", "--owner=0", "--group=0"])
        .args(["--numeric-owner", "--mode=u=rwX,go=rX", "-czf"])
        .arg(archive)
        .arg("-C")
        .arg(out)
        .arg(name);
    process::capture(&mut tar).map(drop)
}

/// Unpacks as a user would, and has the program answer.
fn check(archive: &Path, name: &str) -> Result<(), Error> {
    let root = tempfile::tempdir().map_err(Error::file("creating", std::env::temp_dir()))?;
    let mut tar = Command::new("tar");
    tar.args(["--strip-components=1", "-xzf"])
        .arg(archive)
        .arg("-C")
        .arg(root.path());
    process::capture(&mut tar)?;
    let pages = PAGES.iter().map(|page| format!("share/man/man1/{page}"));
    let completions = COMPLETIONS.iter().map(|(_, path)| (*path).to_owned());
    let missing = pages.chain(completions).filter(|path| {
        std::fs::metadata(root.path().join(path)).map_or(true, |found| found.len() == 0)
    });
    let findings: Vec<String> = missing.map(|path| format!("{name}: no {path}")).collect();
    refuse_any(
        "an archive that is not whole",
        findings,
        "mend `seawall man` or `seawall completions`",
    )?;
    let mut program = Command::new(root.path().join("bin/seawall"));
    program.args([
        "run",
        "gen:grid:9",
        "--analysis",
        "cc",
        "--check",
        "--quiet",
    ]);
    process::capture(&mut program).map(drop)
}
