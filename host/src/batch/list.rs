//! A file that lists the graphs of a batch, one per line.
//!
//! Blank lines and lines that start with `#` are skipped. Paths are relative
//! to the list's folder, so that list and graphs can be moved together.

use super::BatchError;
use super::name::{list_of, of_bytes, shown};
use super::spec::{Origin, Spec, add_plain};
use std::ffi::OsStr;
use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;

/// Longest line of a list in bytes, its end included: longer than any path.
const LINE_MAX: u64 = 64 << 10;

/// Adds the graphs that `list` names.
///
/// # Errors
/// [`BatchError::Io`] if it cannot be read, [`BatchError::EmptyList`] if it names none, and an
/// error with its line for entries that cannot be part of a batch.
pub(super) fn read(path: &Path, specs: &mut Vec<Spec>) -> Result<(), BatchError> {
    let list = &*shown(path.as_os_str());
    let io = |action| {
        move |source| BatchError::Io {
            file: list.to_owned(),
            action,
            source,
        }
    };
    let file = File::open(path).map_err(io("open"))?;
    let folder = path.parent().unwrap_or(Path::new(""));
    let before = specs.len();
    let (mut lines, mut line, mut number) = (BufReader::new(file), Vec::new(), 0);
    loop {
        line.clear();
        number += 1;
        let piece = (&mut lines).take(LINE_MAX + 1).read_until(b'\n', &mut line);
        if piece.map_err(io("read"))? == 0 {
            break;
        }
        if line.len() as u64 > LINE_MAX {
            return Err(BatchError::LongLine {
                list: list.to_owned(),
                line: number,
                most: LINE_MAX,
            });
        }
        let line = line.trim_ascii();
        if line.is_empty() || line.starts_with(b"#") {
            continue;
        }
        let name = of_bytes(line).ok_or_else(|| BatchError::NotText {
            list: list.to_owned(),
            line: number,
        })?;
        let origin = Origin::line(list, number);
        add_line(&name, folder, origin, specs)?;
    }
    if specs.len() == before {
        return Err(BatchError::EmptyList {
            list: list.to_owned(),
        });
    }
    Ok(())
}

fn add_line(
    name: &OsStr,
    folder: &Path,
    origin: Origin,
    specs: &mut Vec<Spec>,
) -> Result<(), BatchError> {
    let refuse = |problem: &str| {
        Err(BatchError::Refused {
            origin: origin.clone(),
            value: shown(name),
            problem: problem.to_owned(),
        })
    };
    let text = name.to_str().unwrap_or("");
    if list_of(name).is_some() {
        return refuse("a list names graphs, not other lists; write their lines here");
    }
    if text == "-" || text.starts_with("gen:") {
        return add_plain(name.to_owned(), &origin, specs);
    }
    let path = folder.join(name);
    if path.is_dir() {
        return refuse("a folder; a list names graphs, so write one line for each file");
    }
    add_plain(path.into_os_string(), &origin, specs)
}
