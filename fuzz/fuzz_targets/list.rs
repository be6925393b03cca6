//! Lists of graphs, `@LIST`, against a plain reader of their lines.
#![no_main]

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;
use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use seawall::batch::{BatchError, expand};
use seawall::graph;
use seawall_fuzz::limit;

static FOLDER: LazyLock<PathBuf> = LazyLock::new(|| {
    let folder = std::env::temp_dir().join(format!("seawall-fuzz-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("the temporary folder takes a folder");
    folder
});

/// Most graphs of a batch.
const GRAPHS_MAX: usize = 1 << 20;

fuzz_target!(|bytes: &[u8]| {
    limit::allow(256 << 20, "a list may name 2^20 graphs");
    let list = FOLDER.join("list");
    std::fs::write(&list, bytes).expect("the temporary folder takes a file");
    let argument = format!("@{}", list.display());
    let found = expand(&[argument]);
    match (found, plain(bytes)) {
        (Ok(specs), Ok(names)) => {
            assert!(specs.iter().map(|spec| &spec.name).eq(&names));
        }
        (Err(error), Err(line)) => {
            let place = format!("list:{line}: ");
            let is_whole = matches!(
                error,
                BatchError::EmptyList { .. } | BatchError::TooMany { .. }
            );
            assert!(
                error.to_string().contains(&place) || is_whole,
                "{error}, not in line {line}"
            );
        }
        (found, plain) => panic!("{:?} instead of {plain:?}", found.map(|specs| specs.len())),
    }
});

/// Returns the graphs of all lines, or the number of the first line that names none; 0 if no line
/// does.
fn plain(bytes: &[u8]) -> Result<Vec<OsString>, usize> {
    let mut names = Vec::new();
    for (line, number) in bytes.split(|byte| *byte == b'\n').zip(1..) {
        let line = line.trim_ascii();
        if line.is_empty() || line.starts_with(b"#") {
            continue;
        }
        let path = FOLDER.join(OsStr::from_bytes(line));
        match std::str::from_utf8(line) {
            Ok(text) if text.starts_with("gen:") => match graph::batch(text) {
                Some(many) => {
                    names.extend(many.map_err(|_| number)?.into_iter().map(OsString::from))
                }
                None => names.push(text.into()),
            },
            _ if line.starts_with(b"@") || line == b"-" || path.is_dir() => return Err(number),
            _ => names.push(path.into_os_string()),
        }
        if names.len() > GRAPHS_MAX {
            return Err(number);
        }
    }
    if names.is_empty() { Err(0) } else { Ok(names) }
}
