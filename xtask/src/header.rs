//! `cargo xtask header`: the C interface to `core/capi/include/seawall.h`.
//!
//! cbindgen writes it and is not a dependency, since it takes longer to build than everything else
//! here. So the header names the hash of its sources and the version that wrote it: `--check`
//! always compares hashes, and the text if that version is installed. Another version may write
//! another text, or fail on these sources.

use std::path::PathBuf;
use std::process::Command;

use clap::Args;
use sha2::{Digest, Sha256};

use crate::error::Error;
use crate::process;
use crate::workspace;

const SOURCES: &str = "// Sources: sha256 ";
const WRITER: &str = "// Writer: cbindgen ";

/// Options of `header`.
#[derive(Args)]
pub(crate) struct Options {
    /// Compare with the committed header, write nothing.
    #[arg(long)]
    check: bool,
}

pub(crate) fn run(options: &Options) -> Result<(), Error> {
    let hash = hash()?;
    let path = folder().join("include/seawall.h");
    if !options.check {
        let version = installed()?;
        workspace::write(&path, &generate(&hash, &version)?)?;
        println!("wrote core/capi/include/seawall.h");
        return Ok(());
    }
    let committed = workspace::read(&path)?;
    if field(&committed, SOURCES) != Some(&hash) {
        return Err(stale("written from other sources"));
    }
    println!("{}", compare(&committed, &hash)?);
    Ok(())
}

/// Compares the text with the present output of the same version of cbindgen.
fn compare(committed: &str, hash: &str) -> Result<String, Error> {
    let writer = field(committed, WRITER).unwrap_or("of an unknown version");
    match installed() {
        Ok(version) if version == writer => match generate(hash, &version)? == committed {
            true => Ok("seawall.h is fresh".into()),
            false => Err(stale("cbindgen writes another text")),
        },
        Ok(_) | Err(Error::Start { .. }) => Ok(format!(
            "seawall.h has the hash of its sources; text not compared without cbindgen {writer}"
        )),
        Err(error) => Err(error),
    }
}

fn stale(how: &str) -> Error {
    Error::Stale {
        what: "the C header is",
        files: vec![format!("core/capi/include/seawall.h: {how}")],
        remedy: "cargo install cbindgen, run `cargo xtask header` and commit the file",
    }
}

fn installed() -> Result<String, Error> {
    let text = process::capture(Command::new("cbindgen").arg("--version"))?;
    Ok(text.trim().trim_start_matches("cbindgen ").to_owned())
}

fn generate(hash: &str, version: &str) -> Result<String, Error> {
    let text = process::capture(
        Command::new("cbindgen")
            .args(["--quiet", "--config", "cbindgen.toml", "."])
            .current_dir(folder()),
    )?;
    Ok(with_origin(&text, hash, version))
}

/// The hash and the version go below the first line.
fn with_origin(text: &str, hash: &str, version: &str) -> String {
    let (first, rest) = text.split_once('\n').unwrap_or((text, ""));
    format!("{first}\n{SOURCES}{hash}\n{WRITER}{version}\n{rest}")
}

fn field<'a>(header: &'a str, name: &str) -> Option<&'a str> {
    header.lines().find_map(|line| line.strip_prefix(name))
}

/// The hash of the crate's sources and of cbindgen's settings.
fn hash() -> Result<String, Error> {
    let mut files = workspace::files_below(&folder().join("src"))?;
    files.push(folder().join("cbindgen.toml"));
    files.sort();
    let mut hasher = Sha256::new();
    for file in files {
        // A checkout may have changed line endings, which changes no header.
        hasher.update(workspace::read(&file)?.replace("\r\n", "\n"));
    }
    let bytes = hasher.finalize();
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

fn folder() -> PathBuf {
    workspace::root().join("core/capi")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_origin_is_found_where_it_was_written() {
        let header = with_origin("// Title\n\n#ifndef X\n", "abc", "1.2.3");
        assert_eq!(
            header,
            "// Title\n// Sources: sha256 abc\n// Writer: cbindgen 1.2.3\n\n#ifndef X\n"
        );
        assert_eq!(field(&header, SOURCES), Some("abc"));
        assert_eq!(field(&header, WRITER), Some("1.2.3"));
        assert_eq!(field("// Title\n", SOURCES), None);
    }

    #[test]
    fn the_committed_header_has_the_hash_of_its_sources() {
        let header = workspace::read(&folder().join("include/seawall.h")).unwrap();
        assert_eq!(field(&header, SOURCES), Some(hash().unwrap().as_str()));
        assert!(field(&header, WRITER).is_some());
    }
}
