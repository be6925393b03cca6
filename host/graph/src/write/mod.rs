//! Writing of graphs, in every format that is read.
//!
//! This module chooses format and compression from the suffix; [`text`] and [`binary`]
//! write, [`sink`] compresses, and [`crate::file`] makes the file appear whole or
//! not at all.

mod binary;
mod ecl;
mod metis;
mod sink;
mod text;

use std::path::Path;

use super::format::{Compression, Format, suffix_of};
use super::{Graph, GraphError, WeightKind};
use sink::Sink;

/// Result of a save.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Saved {
    /// Format written.
    pub format: Format,
    /// Compression written.
    pub compression: Compression,
    /// Bytes before compression.
    pub text_bytes: u64,
}

/// Writes a graph to a file, in the format of its suffix or in the one given.
///
/// The suffixes `.mtx`, `.txt`, `.el`, `.csv`, `.gr`, `.graph`, `.egr` and `.swg` are known, each
/// also followed by `.gz` or `.xz`. A `.gr` file is PACE if the graph is symmetric and has no
/// weights, and DIMACS otherwise (with weights of 1 if it has none). Edge lists carry the original
/// ids and a node count, `.csv` files the ids alone. An edge list keeps nodes without edges if ids
/// count from 0, or from 1 and the last node has an edge. A symmetric graph is written to an edge
/// list or DIMACS file with both directions, which are directed when read back. An existing file
/// is replaced once everything is written, and kept on an error.
///
/// ```
/// use seawall_graph::{self as graph, Graph, LoadOptions};
///
/// let path = std::env::temp_dir().join(format!("seawall-save-{}.swg", std::process::id()));
/// let graph = Graph::from_edges(3, &[(0, 1), (1, 2)], false)?;
/// graph::save(&graph, &path, None)?;
/// let again = graph::load(path.to_str().unwrap(), &LoadOptions::default(), None)?;
/// assert_eq!(again.graph.targets(), graph.targets());
/// # std::fs::remove_file(&path).unwrap();
/// # Ok::<(), graph::GraphError>(())
/// ```
///
/// # Errors
/// [`GraphError::UnknownSuffix`] without a known suffix or format, [`GraphError::Directed`] for a
/// directed graph as PACE or METIS, [`GraphError::Unwritable`] for anything else that a format
/// cannot hold, [`GraphError::Io`] if the file cannot be written.
pub fn save(graph: &Graph, path: &Path, format: Option<Format>) -> Result<Saved, GraphError> {
    write(graph, path, format)?.finish()
}

/// As [`save`], for a graph that is no longer needed: its memory goes back to the system while the
/// disk still writes.
///
/// # Errors
/// As [`save`].
pub fn save_and_free(
    graph: Graph,
    path: &Path,
    format: Option<Format>,
) -> Result<Saved, GraphError> {
    let written = write(&graph, path, format)?;
    graph.free();
    written.finish()
}

/// A file that holds all of a graph, but has no name yet.
struct Written {
    sink: Sink,
    name: String,
    format: Format,
    compression: Compression,
}

impl Written {
    fn finish(self) -> Result<Saved, GraphError> {
        let text_bytes = self.sink.finish().map_err(|source| GraphError::Io {
            file: self.name,
            action: "write",
            source,
        })?;
        Ok(Saved {
            format: self.format,
            compression: self.compression,
            text_bytes,
        })
    }
}

fn write(graph: &Graph, path: &Path, format: Option<Format>) -> Result<Written, GraphError> {
    let name = path.display().to_string();
    let (suffix, compression) = suffix_of(&name);
    let format = format
        .filter(|&format| format != Format::Generated)
        .or_else(|| format_of(&suffix, graph))
        .ok_or_else(|| GraphError::UnknownSuffix { file: name.clone() })?;
    check_writable(graph, format, &name)?;
    let fail = |action| {
        let file = name.clone();
        move |source| GraphError::Io {
            file,
            action,
            source,
        }
    };
    let mut sink = Sink::create(path, compression).map_err(fail("create"))?;
    match format {
        Format::Binary => binary::write(graph, &mut sink),
        Format::Metis => metis::write(graph, &mut sink),
        Format::Ecl => ecl::write(graph, &mut sink),
        _ => text::write(graph, format, &mut sink),
    }
    .map_err(fail("write"))?;
    Ok(Written {
        sink,
        name,
        format,
        compression,
    })
}

/// Refuses a graph that the format cannot hold.
fn check_writable(graph: &Graph, format: Format, name: &str) -> Result<(), GraphError> {
    let refused = |what| {
        Err(GraphError::Unwritable {
            file: name.to_owned(),
            format,
            what,
        })
    };
    let is_float = graph.weight_kind() == Some(WeightKind::Float);
    let is_large = |words: &[u32]| words.iter().any(|&word| word > ecl::WORD_MAX);
    match format {
        Format::Pace | Format::Metis if !graph.is_symmetric() => Err(GraphError::Directed {
            file: name.to_owned(),
            format,
        }),
        Format::Metis | Format::Ecl if is_float => refused("weights that are no whole numbers"),
        Format::Ecl if graph.nodes().max(graph.edges()) > ecl::WORD_MAX => {
            refused("more than 2147483647 nodes or edges")
        }
        Format::Ecl if graph.weights().is_some_and(is_large) => refused("weights above 2147483647"),
        _ if !format.is_written() => refused("graphs written by this program"),
        _ => Ok(()),
    }
}

/// The format of a suffix; `.gr` is PACE where that holds the graph.
fn format_of(suffix: &str, graph: &Graph) -> Option<Format> {
    let format = Format::of_suffix(suffix).filter(|format| format.is_written());
    let is_plain = graph.is_symmetric() && graph.weights().is_none();
    match format {
        Some(Format::Dimacs) if is_plain => Some(Format::Pace),
        other => other,
    }
}
