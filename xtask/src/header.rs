//! `cargo xtask header`: the C interface to `core/capi/include/seawall.h`.
//!
//! cbindgen writes it and is not a dependency, since it takes longer to build than
//! everything else here. So the header names the hash of its sources: `--check`
//! compares hashes always, and the text itself wherever cbindgen is installed.

use std::path::PathBuf;
use std::process::Command;

use clap::Args;
use sha2::{Digest, Sha256};

use crate::error::Error;
use crate::process;
use crate::workspace;

const SOURCES: &str = "// Sources: sha256 ";

/// Options of `header`.
#[derive(Args)]
pub(crate) struct Options {
    /// Compare with the committed header, write nothing.
    #[arg(long)]
    check: bool,
}

/// Runs the command.
pub(crate) fn run(options: &Options) -> Result<(), Error> {
    let hash = hash()?;
    let path = folder().join("include/seawall.h");
    if !options.check {
        workspace::write(&path, &generate(&hash)?)?;
        println!("wrote core/capi/include/seawall.h");
        return Ok(());
    }
    let committed = workspace::read(&path)?;
    if sources(&committed) != Some(&hash) {
        return Err(stale("written from other sources"));
    }
    match generate(&hash) {
        Ok(text) if text == committed => println!("seawall.h is fresh"),
        Ok(_) => return Err(stale("cbindgen writes another text")),
        Err(Error::Start { .. }) => {
            println!("seawall.h has the hash of its sources; text not compared without cbindgen");
        }
        Err(error) => return Err(error),
    }
    Ok(())
}

fn stale(how: &str) -> Error {
    Error::Stale {
        what: "the C header is",
        files: vec![format!("core/capi/include/seawall.h: {how}")],
        remedy: "cargo install cbindgen, run `cargo xtask header` and commit the file",
    }
}

fn generate(hash: &str) -> Result<String, Error> {
    let text = process::capture(
        Command::new("cbindgen")
            .args(["--quiet", "--config", "cbindgen.toml", "."])
            .current_dir(folder()),
    )?;
    Ok(with_hash(&text, hash))
}

/// The hash goes below the first line.
fn with_hash(text: &str, hash: &str) -> String {
    let (first, rest) = text.split_once('\n').unwrap_or((text, ""));
    format!("{first}\n{SOURCES}{hash}\n{rest}")
}

fn sources(header: &str) -> Option<&str> {
    header.lines().find_map(|line| line.strip_prefix(SOURCES))
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
    fn the_hash_is_found_where_it_was_written() {
        let header = with_hash("// Title\n\n#ifndef X\n", "abc");
        assert_eq!(header, "// Title\n// Sources: sha256 abc\n\n#ifndef X\n");
        assert_eq!(sources(&header), Some("abc"));
        assert_eq!(sources("// Title\n"), None);
    }

    #[test]
    fn the_committed_header_has_the_hash_of_its_sources() {
        let header = workspace::read(&folder().join("include/seawall.h")).unwrap();
        assert_eq!(sources(&header), Some(hash().unwrap().as_str()));
    }
}
