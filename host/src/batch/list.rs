//! A file that lists the graphs of a batch, one a line.
//!
//! Blank lines and lines that start with `#` are skipped. Paths are relative
//! to the list's folder, so that list and graphs can be moved together.

use super::BatchError;
use super::expand::{Origin, Spec, add_plain};
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;

/// Adds the graphs that `list` names.
///
/// # Errors
/// [`BatchError::Io`] when it cannot be read, [`BatchError::EmptyList`] when
/// it names none, and with its line what cannot be part of a batch.
pub(super) fn read(list: &str, specs: &mut Vec<Spec>) -> Result<(), BatchError> {
    let io = |action| {
        move |source| BatchError::Io {
            file: list.to_owned(),
            action,
            source,
        }
    };
    let file = File::open(list).map_err(io("open"))?;
    let folder = Path::new(list).parent().unwrap_or(Path::new(""));
    let before = specs.len();
    for (at, line) in BufReader::new(file).split(b'\n').enumerate() {
        let line = line.map_err(io("read"))?;
        let number = at + 1;
        let text = std::str::from_utf8(&line).map_err(|_| BatchError::NotText {
            list: list.to_owned(),
            line: number,
        })?;
        let text = text.trim();
        if text.is_empty() || text.starts_with('#') {
            continue;
        }
        let origin = Origin::line(list, number);
        add_line(text, folder, origin, specs)?;
    }
    if specs.len() == before {
        return Err(BatchError::EmptyList {
            list: list.to_owned(),
        });
    }
    Ok(())
}

fn add_line(
    text: &str,
    folder: &Path,
    origin: Origin,
    specs: &mut Vec<Spec>,
) -> Result<(), BatchError> {
    let refuse = |problem: &str| {
        Err(BatchError::Refused {
            origin: origin.clone(),
            value: text.to_owned(),
            problem: problem.to_owned(),
        })
    };
    if text.starts_with('@') {
        return refuse("a list names graphs, not other lists; write their lines here");
    }
    if text == "-" || text.starts_with("gen:") {
        return add_plain(text.to_owned(), &origin, specs);
    }
    let path = folder.join(text);
    if path.is_dir() {
        return refuse("a folder; a list names graphs, so write one line for each file");
    }
    add_plain(path.to_string_lossy().into_owned(), &origin, specs)
}
