//! `cargo xtask formats`: every public type of the planner can be logged by firmware.
//!
//! The generated documentation has one page per public type, which names the traits
//! that the type implements. So a new type is checked without an entry in a list.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::error::{Error, refuse_any};
use crate::process;
use crate::workspace;

/// The anchor of the implementation on the page of a type.
const ANCHOR: &str = "id=\"impl-Format-for-";
/// Mark of a page that only leads to the public path of a type.
const REDIRECT: &str = "http-equiv=\"refresh\"";
/// Prefixes of the names of pages of types.
const KINDS: [&str; 3] = ["struct.", "enum.", "union."];

pub(crate) fn run() -> Result<(), Error> {
    let target = workspace::target("formats");
    process::show(&mut document(&target))?;
    let mut pages = workspace::files_below(&target.join("doc/seawall_core"))?;
    pages.retain(|page| is_type(page));
    pages.sort();
    judge(&pages)
}

fn document(target: &Path) -> Command {
    let mut command = process::cargo();
    command
        .args(["doc", "--quiet", "--no-deps", "--package", "seawall-core"])
        .args(["--features", "defmt", "--target-dir"])
        .arg(target);
    command
}

fn is_type(page: &Path) -> bool {
    let name = name_of(page);
    KINDS.iter().any(|kind| name.starts_with(kind))
}

fn name_of(page: &Path) -> String {
    let name = page.file_name().unwrap_or_default();
    name.to_string_lossy().into_owned()
}

/// Refuses types without the trait, and documentation without types.
fn judge(pages: &[PathBuf]) -> Result<(), Error> {
    let (mut types, mut findings) = (0, Vec::new());
    for page in pages {
        let text = workspace::read(page)?;
        if text.contains(REDIRECT) {
            continue;
        }
        types += 1;
        if !text.contains(ANCHOR) {
            findings.push(name_of(page));
        }
    }
    if types == 0 {
        findings.push("the documentation has no page of a type".to_owned());
    }
    refuse_any(
        "public types that firmware cannot log",
        findings,
        "derive defmt::Format with the feature `defmt`",
    )?;
    println!("{types} public types implement defmt::Format");
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pages(texts: &[(&str, &str)]) -> (tempfile::TempDir, Vec<PathBuf>) {
        let folder = tempfile::tempdir().unwrap();
        let write = |(name, text): &(&str, &str)| {
            let path = folder.path().join(name);
            workspace::write(&path, text).unwrap();
            path
        };
        let pages = texts.iter().map(write).collect();
        (folder, pages)
    }

    #[test]
    fn a_type_without_the_trait_is_named() {
        let with = ("struct.Wave.html", "<section id=\"impl-Format-for-Wave\">");
        let (_folder, good) = pages(&[with]);
        assert!(judge(&good).is_ok());
        let without = ("enum.Cut.html", "<section id=\"impl-Debug-for-Cut\">");
        let (_folder, bad) = pages(&[with, without]);
        let refused = judge(&bad).unwrap_err().to_string();
        assert!(refused.contains("enum.Cut.html") && !refused.contains("Wave"));
    }

    #[test]
    fn documentation_without_types_proves_nothing() {
        assert!(judge(&[]).is_err());
        let stub = "<meta http-equiv=\"refresh\" content=\"0;URL=../struct.Wave.html\">";
        let (_folder, stubs) = pages(&[("struct.Wave.html", stub)]);
        assert!(judge(&stubs).is_err());
    }

    #[test]
    fn pages_of_functions_are_no_types() {
        assert!(is_type(Path::new("plan/struct.Dag.html")));
        assert!(!is_type(Path::new("plan/fn.layers.html")));
        assert!(!is_type(Path::new("plan/index.html")));
    }
}
