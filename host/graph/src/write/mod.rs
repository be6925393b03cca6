//! Writing of graphs, in every format that is read.
//!
//! This module chooses format and compression from the suffix; [`text`] and [`binary`]
//! write, [`sink`] compresses, and [`crate::file`] makes the file appear whole or
//! not at all.

mod binary;
mod ecl;
mod gbbs;
mod metis;
mod nodes;
mod npz;
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
/// The suffixes `.mtx`, `.txt`, `.el`, `.csv`, `.gr`, `.graph`, `.npz`, `.egr`, `.bin` and `.swg`
/// are known, each also followed by `.gz` or `.xz`. A `.gr` file is PACE if the graph is symmetric
/// and has no weights, and DIMACS otherwise. All ids and names of nodes are kept, including nodes
/// without edges: text formats use comments for facts that they cannot express, and a format that
/// cannot hold something refuses it before a byte is written; see [`renumbered`](Graph::renumbered)
/// where ids do not matter. A symmetric graph is written to an edge list or DIMACS file with both
/// directions, which are directed when read back. An existing file is replaced once everything is
/// written, and kept on an error.
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
    if matches!(compression, Compression::Bzip2 | Compression::Zstd) {
        return Err(GraphError::Unwritable {
            file: name,
            format,
            what: "a compression by bzip2 or zstd, which are read only",
            remedy: "use .gz or .xz",
        });
    }
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
        Format::Gbbs => gbbs::write(graph, &mut sink),
        Format::Npz => npz::write(graph, &mut sink),
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
    if matches!(format, Format::Pace | Format::Metis) && !graph.is_symmetric() {
        return Err(GraphError::Directed {
            file: name.to_owned(),
            format,
        });
    }
    let obstacle = weights_obstacle(graph, format).or_else(|| nodes::obstacle(graph, format));
    match obstacle {
        Some((what, remedy)) => Err(GraphError::Unwritable {
            file: name.to_owned(),
            format,
            what,
            remedy,
        }),
        None => Ok(()),
    }
}

/// A property that a format cannot hold, and the remedy.
type Obstacle = (&'static str, &'static str);

/// Counts and weights that the format cannot hold.
fn weights_obstacle(graph: &Graph, format: Format) -> Option<Obstacle> {
    const OTHER: &str = "write .mtx, .el or .swg";
    let is_float = graph.weight_kind() == Some(WeightKind::Float);
    let is_large = |words: &[u32]| words.iter().any(|&word| word > ecl::WORD_MAX);
    let has_many = graph.nodes().max(graph.edges()) > ecl::WORD_MAX;
    match format {
        _ if !format.is_written() => Some(("graphs written by this program", OTHER)),
        Format::Binary | Format::Metis | Format::Ecl | Format::Gbbs
            if graph.weight_kind().is_some_and(WeightKind::is_signed) =>
        {
            Some((
                "negative weights",
                "drop them (--no-weights), or write .mtx, .npz, .el or .csv",
            ))
        }
        Format::Pace if graph.weights().is_some() => Some((
            "weights",
            "drop them (--no-weights), or write .mtx, .el or .swg",
        )),
        Format::Metis | Format::Ecl | Format::Gbbs if is_float => Some((
            "weights that are no whole numbers",
            "scale them (--scale-weights), or write .mtx, .el or .swg",
        )),
        Format::Ecl | Format::Npz if has_many => {
            Some(("more than 2147483647 nodes or edges", OTHER))
        }
        Format::Ecl | Format::Gbbs if graph.weights().is_some_and(is_large) => {
            Some(("weights above 2147483647", OTHER))
        }
        _ => None,
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
