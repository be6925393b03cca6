//! One hash over everything that decides the PTX, apart from the toolchain.
//!
//! It covers the sources of the two crates, their manifests, the part of the root
//! manifest and of the lock file that concerns them, and the tables of `targets`.
//! Files are taken in order of their path written with `/`, line ends are
//! normalised, so any checkout on any system has the same hash. It covers no paths
//! of the machine and no packages that the kernels do not depend on.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

use sha2::{Digest, Sha256};

use crate::error::Error;
use crate::ptx::targets::{BOUNDS, TARGETS};
use crate::workspace;

const FOLDERS: &[&str] = &["core/src", "device-kernels/src"];
const MANIFESTS: &[&str] = &["core/Cargo.toml", "device-kernels/Cargo.toml"];
const PACKAGE: &str = "seawall-device";

/// The hash, as 64 lower-case hexadecimal digits.
pub(crate) fn hash() -> Result<String, Error> {
    Ok(digest(&collect(&workspace::root())?))
}

/// Text by path, or by a name if there is no file.
type Texts = BTreeMap<String, String>;

fn collect(root: &Path) -> Result<Texts, Error> {
    let mut texts = Texts::new();
    for folder in FOLDERS {
        for path in workspace::files_below(&root.join(folder))? {
            texts.insert(name_of(root, &path), workspace::read(&path)?);
        }
    }
    for manifest in MANIFESTS {
        texts.insert(
            (*manifest).to_owned(),
            workspace::read(&root.join(manifest))?,
        );
    }
    let locked = locked(&workspace::read(&root.join("Cargo.lock"))?);
    let manifest = workspace::read(&root.join("Cargo.toml"))?;
    texts.insert("Cargo.toml".to_owned(), concerning(&manifest, &locked));
    texts.insert("Cargo.lock".to_owned(), locked.into_values().collect());
    texts.insert("targets".to_owned(), tables());
    Ok(texts)
}

fn name_of(root: &Path, path: &Path) -> String {
    let relative = path.strip_prefix(root).unwrap_or(path);
    let parts = relative
        .iter()
        .map(|part| part.to_string_lossy().into_owned());
    parts.collect::<Vec<_>>().join("/")
}

fn digest(texts: &Texts) -> String {
    let mut hasher = Sha256::new();
    for (name, text) in texts {
        let text = text.replace("\r\n", "\n");
        // Lengths separate one file's end from the next one's beginning.
        hasher.update(format!("{} {} {name}\n", name.len(), text.len()));
        hasher.update(text);
    }
    hasher
        .finalize()
        .iter()
        .fold(String::new(), |mut hex, byte| {
            let _ = write!(hex, "{byte:02x}");
            hex
        })
}

/// The lock file's blocks that the kernels reach, by package name and version.
fn locked(lock: &str) -> BTreeMap<String, String> {
    let blocks: Vec<&str> = lock.split("[[package]]\n").skip(1).collect();
    let mut reached = BTreeMap::new();
    let mut pending = vec![PACKAGE.to_owned()];
    while let Some(wanted) = pending.pop() {
        for block in blocks.iter().filter(|block| answers_to(block, &wanted)) {
            let text = block.trim_end().to_owned() + "\n";
            if reached.insert(key_of(block), text).is_none() {
                pending.extend(dependencies(block));
            }
        }
    }
    reached
}

fn key_of(block: &str) -> String {
    let field = |name| field(block, name).unwrap_or_default();
    format!("{} {}", field("name"), field("version"))
}

/// Cargo writes `name`, or `name version` where several versions are locked.
fn answers_to(block: &str, wanted: &str) -> bool {
    let key = key_of(block);
    key == wanted || key.split(' ').next() == Some(wanted)
}

fn field<'a>(block: &'a str, name: &str) -> Option<&'a str> {
    let line = block.lines().find(|line| line.starts_with(name))?;
    line.split('"').nth(1)
}

fn dependencies(block: &str) -> Vec<String> {
    let list = block.split("dependencies = [").nth(1).unwrap_or_default();
    let list = list.split(']').next().unwrap_or_default();
    list.split('"')
        .skip(1)
        .step_by(2)
        .map(str::to_owned)
        .collect()
}

/// The lines of the root manifest that set the package fields and the versions and features of the
/// reached packages.
fn concerning(manifest: &str, reached: &BTreeMap<String, String>) -> String {
    let mut section = "";
    let mut kept = String::new();
    for line in manifest.lines() {
        if line.starts_with('[') {
            section = line.trim();
        }
        let name = line.split([' ', '=', '.']).next().unwrap_or_default();
        let keep = match section {
            "[workspace.package]" => true,
            "[workspace.dependencies]" => reached
                .keys()
                .any(|key| key.split(' ').next() == Some(name)),
            _ => false,
        };
        if keep {
            kept.push_str(line.trim_end());
            kept.push('\n');
        }
    }
    kept
}

fn tables() -> String {
    let mut text = String::new();
    for target in TARGETS {
        let _ = writeln!(text, "{} {}", target.cpu(), target.isa);
    }
    for bounds in BOUNDS {
        let _ = writeln!(text, "{} {} {}", bounds.kernel, bounds.lanes, bounds.blocks);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOCK: &str = "version = 4\n\n\
        [[package]]\nname = \"seawall-device\"\nversion = \"0.1.0\"\n\
        dependencies = [\n \"heapless\",\n \"two 2.0.0\",\n]\n\n\
        [[package]]\nname = \"heapless\"\nversion = \"0.9.3\"\nchecksum = \"aa\"\n\n\
        [[package]]\nname = \"two\"\nversion = \"1.0.0\"\n\n\
        [[package]]\nname = \"two\"\nversion = \"2.0.0\"\n\n\
        [[package]]\nname = \"stranger\"\nversion = \"3.0.0\"\n";

    #[test]
    fn only_reached_packages_count() {
        let names: Vec<String> = locked(LOCK).into_keys().collect();
        assert_eq!(
            names,
            ["heapless 0.9.3", "seawall-device 0.1.0", "two 2.0.0"]
        );
    }

    #[test]
    fn only_their_manifest_lines_count() {
        let manifest = "[workspace.package]\nedition = \"2024\"\n[workspace.dependencies]\n\
            heapless = \"0.9\"\nclap = \"4\"\n[profile.dev]\nopt-level = 1\n";
        let kept = concerning(manifest, &locked(LOCK));
        assert!(
            kept.contains("edition") && kept.contains("heapless"),
            "{kept}"
        );
        assert!(
            !kept.contains("clap") && !kept.contains("opt-level"),
            "{kept}"
        );
    }

    #[test]
    fn line_ends_do_not_change_the_hash_and_text_does() {
        let one = |text: &str| digest(&Texts::from([("a".to_owned(), text.to_owned())]));
        assert_eq!(one("x\r\ny\r\n"), one("x\ny\n"));
        assert_ne!(one("x\ny\n"), one("x\ny"));
    }

    #[test]
    fn moving_text_between_files_changes_the_hash() {
        let two = |a: &str, b: &str| {
            digest(&Texts::from([
                ("a".to_owned(), a.to_owned()),
                ("b".to_owned(), b.to_owned()),
            ]))
        };
        assert_ne!(two("xy", "z"), two("x", "yz"));
    }
}
