//! Reading of files as graphs.
//!
//! Path of a file: [`source`] opens and decompresses, [`chunks`] cuts into pieces of whole lines,
//! [`opening`] recognises the format, [`body`] parses edges in parallel, [`gather`] joins them,
//! and [`labels`] numbers the nodes of edge lists by the ids that were [`seen`]. `.swg` takes the
//! short path through [`binary`]. This module only chooses the path.

mod binary;
mod body;
mod chunks;
mod dense;
mod ecl;
mod fields;
mod gather;
mod labels;
mod layout;
mod matrix;
mod npy;
mod npz;
mod opening;
mod parsed;
mod quote;
mod rows;
mod seen;
mod source;
mod table;
mod weight;
mod words;
mod zip;

use super::binary::MAGIC;
use super::format::suffix_of;
use super::{BinaryProblem, Format, GraphError, LoadOptions, Loaded, Progress};
use source::Source;
use std::ffi::OsStr;

/// Loads a file or standard input.
pub(super) fn load_file(
    path: &OsStr,
    options: &LoadOptions,
    progress: Option<&dyn Progress>,
) -> Result<Loaded, GraphError> {
    load_source(Source::open(path)?, options, progress)
}

/// Tells whether a file's name ends like that of a graph, compressed or not. The content is not
/// read. `.csv` and `.npz`, which many other files are named, do not count.
///
/// ```
/// assert!(seawall_graph::is_graph_name("roads.GR.xz"));
/// assert!(!seawall_graph::is_graph_name("README.md"));
/// ```
#[must_use]
pub fn is_graph_name(name: &str) -> bool {
    !matches!(format_of(name), None | Some(Format::Csv | Format::Npz))
}

/// The format by a file's name.
fn format_of(name: &str) -> Option<Format> {
    Format::of_suffix(&suffix_of(name).0)
}

/// The format of a file whose content does not state it: the one that the caller named, else that
/// of the file's name.
fn named(options: &LoadOptions, name: &str) -> Option<Format> {
    options.format.or_else(|| format_of(name))
}

/// Loads the bytes of a reader.
pub(super) fn load_reader(
    name: &str,
    reader: source::Stream,
    options: &LoadOptions,
) -> Result<Loaded, GraphError> {
    load_source(Source::of_reader(name, reader)?, options, None)
}

fn load_source(
    mut source: Source,
    options: &LoadOptions,
    progress: Option<&dyn Progress>,
) -> Result<Loaded, GraphError> {
    let mut head = [0; ecl::HEAD_BYTES];
    let filled = source.fill(&mut head)?;
    let head = &head[..filled];
    // A byte order mark of UTF-8, which some editors put before the text.
    source.unread(head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(head));
    if head.starts_with(&MAGIC) {
        return binary::load_binary(source, options, progress);
    }
    if head.starts_with(&zip::MAGIC) {
        return npz::load_npz(source, options);
    }
    let named = named(options, &source.name);
    if named == Some(Format::Ecl) || ecl::starts(head) {
        return ecl::load_ecl(source, options, progress);
    }
    if head.is_empty() {
        return Err(GraphError::Empty { file: source.name });
    }
    if named == Some(Format::Binary) {
        return Err(GraphError::Binary {
            file: source.name,
            format: ".swg",
            problem: BinaryProblem::Magic,
        });
    }
    gather::load_text(source, options, progress)
}
