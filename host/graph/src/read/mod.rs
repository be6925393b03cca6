//! Reading of files as graphs.
//!
//! Path of a file: [`source`] opens and decompresses, [`chunks`] cuts into pieces of whole lines,
//! [`header_sniffer`] recognises the format, [`body`] parses edges in parallel, [`gather`] joins
//! them, and [`labels`] numbers the nodes of edge lists by the ids that were [`seen`], [`named`]
//! for names; [`share`] reads a part of the bytes where several processes read one file. Formats other
//! than lists of edges have separate readers; `.swg` takes the short path
//! through [`binary`]. This module only chooses the path.

mod binary;
mod body;
mod chunks;
mod dense;
mod ecl;
mod fields;
mod foreign;
mod gather;
mod gbbs;
mod graphml;
mod labels;
mod layout;
mod listed;
mod matrix;
mod named;
mod neighbours;
mod npy;
mod npz;
mod gzip;
mod header_sniffer;
mod parsed;
mod plain;
mod quote;
mod rows;
mod seen;
mod share;
mod source;
mod table;
mod weight;
mod words;
mod zip;
mod zstd;

use super::binary::MAGIC;
use super::format::suffix_of;
use super::scale::Factor;
use super::{BinaryProblem, Format, GraphError, LoadOptions, Loaded, Progress, WeightChoice};
use plain::Plain;
pub use share::{TextFacts, TextFile, TextPart, TextShare};
use source::Source;
use std::ffi::OsStr;
pub(super) use table::{names_ends, starts_like_a_name};

/// The byte order mark of UTF-8.
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

pub(super) fn load_file(
    path: &OsStr,
    options: &LoadOptions,
    progress: Option<&dyn Progress>,
) -> Result<Loaded, GraphError> {
    load_source(Source::open(path)?, options, progress)
}

/// Returns whether a file's name ends like that of a graph, compressed or not. The content is not
/// read. `.csv`, `.npz` and `.bin`, which are common suffixes of other files, do not count.
///
/// ```
/// assert!(seawall_graph::is_graph_name("roads.GR.xz"));
/// assert!(!seawall_graph::is_graph_name("README.md"));
/// ```
#[must_use]
pub fn is_graph_name(name: &str) -> bool {
    !matches!(
        format_of(name),
        None | Some(Format::Csv | Format::Npz | Format::Gbbs)
    )
}

fn format_of(name: &str) -> Option<Format> {
    Format::of_suffix(&suffix_of(name).0)
}

/// The format of a file whose content does not state it: the one that the caller named, else that
/// of the file's name.
fn named(options: &LoadOptions, name: &str) -> Option<Format> {
    options.format.or_else(|| format_of(name))
}

/// The factor on all weights, if the caller asked for one.
fn factor(options: &LoadOptions, name: &str) -> Result<Option<Factor>, GraphError> {
    let WeightChoice::Scaled(factor) = options.weights else {
        return Ok(None);
    };
    let factor = Factor::of(factor).map_err(|problem| GraphError::Scale {
        file: name.to_owned(),
        problem,
    })?;
    Ok(Some(factor))
}

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
    match kind_of(&mut source, options)? {
        Kind::Binary => binary::load_binary(source, options, progress),
        Kind::Npz => npz::load_npz(source, options),
        Kind::Plain(plain) => plain.load(source, options, progress),
        Kind::GraphMl => graphml::load_graphml(source, options),
        Kind::Neighbours(format) => neighbours::load(source, options, format),
        Kind::Text => gather::load_text(source, options, progress),
    }
}

/// The reader of a file.
enum Kind {
    Binary,
    Npz,
    Plain(Plain),
    GraphMl,
    Neighbours(Format),
    /// Lines that can be read in pieces.
    Text,
}

/// Finds the reader by the first bytes, and by what the file is called.
fn kind_of(source: &mut Source, options: &LoadOptions) -> Result<Kind, GraphError> {
    let mut head = [0; foreign::HEAD_BYTES];
    let filled = source.fill(&mut head)?;
    let head = &head[..filled];
    let binary = match head {
        _ if head.starts_with(&MAGIC) => Some(Kind::Binary),
        _ if head.starts_with(&zip::MAGIC) => Some(Kind::Npz),
        _ => None,
    };
    // A byte order mark of UTF-8, which some editors put before the text.
    let head = head.strip_prefix(BYTE_ORDER_MARK).unwrap_or(head);
    source.unread(head);
    if let Some(binary) = binary {
        return Ok(binary);
    }
    let is_whole = filled < foreign::HEAD_BYTES;
    let total = source
        .plain_bytes()
        .or(is_whole.then_some(head.len() as u64));
    let named = named(options, &source.name);
    foreign::check(source, head)?;
    if named == Some(Format::Gbbs) || gbbs::starts(head) {
        return Ok(Kind::Plain(Plain {
            format: Format::Gbbs,
            suffix: ".bin",
            arrays: gbbs::arrays,
        }));
    }
    // The length of a stream is unknown, and without it much looks like this format.
    let may_be_ecl = named != Some(Format::Binary) && ecl::starts(head, total);
    if named == Some(Format::Ecl) || may_be_ecl {
        return Ok(Kind::Plain(Plain {
            format: Format::Ecl,
            suffix: ".egr",
            arrays: ecl::arrays,
        }));
    }
    let file = || source.name.clone();
    if head.is_empty() {
        return Err(GraphError::Empty { file: file() });
    }
    if named == Some(Format::Binary) {
        return Err(GraphError::Binary {
            file: file(),
            format: ".swg",
            problem: BinaryProblem::Magic,
        });
    }
    foreign::check_text(source, head)?;
    Ok(match named {
        Some(Format::GraphMl) => Kind::GraphMl,
        _ if graphml::starts(head) => Kind::GraphMl,
        Some(format @ (Format::Adjacency | Format::Lgl)) => Kind::Neighbours(format),
        _ => Kind::Text,
    })
}
