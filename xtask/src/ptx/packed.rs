//! The packed PTX that the library embeds, the only committed form of the kernels' text.
//!
//! The file begins with the line that names the hash of the sources, which the library reads at
//! every start. All texts follow, oldest machine first, packed by xz with a zero byte between
//! them. Texts for two machines differ little, so the second one adds a fifth to the size.

use std::fs;
use std::path::PathBuf;

use crate::error::Error;
use crate::ptx::targets::{TARGETS, Target};
use crate::workspace;
use crate::xz;

/// The file, from the workspace's root.
pub(crate) const FILE: &str = "host/ptx/seawall.ptx.packed";

/// The line of a text that names the hash of its sources.
pub(crate) const SOURCES: &str = "// sources: sha256 ";

/// Returns the committed texts with their machines, oldest machine first.
pub(crate) fn texts() -> Result<Vec<(&'static Target, String)>, Error> {
    let path = path();
    let bytes = fs::read(&path).map_err(Error::file("reading", &path))?;
    let texts = unpacked(&bytes).filter(|texts| texts.len() == TARGETS.len());
    let texts = texts.ok_or_else(|| Error::Stale {
        what: "host/ptx is",
        files: vec![format!("{FILE}: damaged, or for other machines")],
        remedy: "run `cargo xtask build-ptx`",
    })?;
    Ok(TARGETS.iter().zip(texts).collect())
}

/// Writes the file anew; returns its length in bytes.
pub(crate) fn write(texts: &[String]) -> Result<usize, Error> {
    let bytes = packed(texts)?;
    let path = path();
    fs::write(&path, &bytes).map_err(Error::file("writing", &path))?;
    Ok(bytes.len())
}

/// Returns the value of a line of the text's header.
pub(crate) fn field<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    text.lines()
        .take(4)
        .find_map(|line| line.strip_prefix(name))
}

/// Returns the hash of the sources that all committed texts agree on.
pub(crate) fn sources() -> Result<String, Error> {
    let texts = texts()?;
    let mut found: Vec<&str> = texts
        .iter()
        .map(|(_, text)| field(text, SOURCES).unwrap_or_default())
        .collect();
    found.dedup();
    match found.as_slice() {
        [one] if !one.is_empty() => Ok((*one).to_owned()),
        _ => Err(Error::Stale {
            what: "host/ptx is",
            files: vec![format!("{FILE}: its texts are of different sources")],
            remedy: "run `cargo xtask build-ptx`",
        }),
    }
}

fn path() -> PathBuf {
    workspace::root().join(FILE)
}

fn packed(texts: &[String]) -> Result<Vec<u8>, Error> {
    let sources = texts.first().and_then(|text| field(text, SOURCES));
    let mut bytes = format!("{SOURCES}{}\n", sources.unwrap_or_default()).into_bytes();
    bytes.extend(xz::pack(texts.join("\0").as_bytes())?);
    Ok(bytes)
}

fn unpacked(bytes: &[u8]) -> Option<Vec<String>> {
    let end = bytes.iter().position(|byte| *byte == b'\n')?;
    let plain = String::from_utf8(xz::unpack(&bytes[end + 1..])?).ok()?;
    Some(plain.split('\0').map(str::to_owned).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ptx::audit::Audit;

    #[test]
    fn committed_texts_break_no_rule_and_are_of_one_source() {
        for (target, text) in texts().unwrap() {
            assert!(text.contains(&format!(".target {}", target.cpu())));
            assert_eq!(Audit::of(&text).errors, [""; 0], "{}", target.cpu());
        }
        let line = fs::read(path()).unwrap();
        let line = line.split(|byte| *byte == b'\n').next().unwrap_or_default();
        assert_eq!(line, format!("{SOURCES}{}", sources().unwrap()).as_bytes());
    }

    #[test]
    fn packed_texts_begin_with_the_hash_of_their_sources() {
        let texts = ["one", "two"].map(|name| format!("// {name}\n{SOURCES}abc\ncode\n"));
        let packed = packed(&texts).unwrap();
        assert!(packed.starts_with(b"// sources: sha256 abc\n"));
        assert_eq!(unpacked(&packed).unwrap(), texts);
    }

    #[test]
    fn damaged_files_hold_no_texts() {
        let mut bytes = packed(&["one".to_owned(), "two".to_owned()]).unwrap();
        bytes.truncate(bytes.len() - 9);
        assert!(unpacked(&bytes).is_none());
        assert!(unpacked(b"").is_none());
    }
}
