//! Reads, generates, keeps and writes graphs.
//!
//! Every analysis starts from a [`Graph`], and every input becomes one here. A hostile file ends
//! as a [`GraphError`] that names file, line, reason and value, never as a crash. This crate knows
//! no analysis, no backend and no terminal.

mod arrays;
mod batch;
mod binary;
mod build;
mod cause;
mod check;
mod columns;
mod csr;
pub mod disk;
mod drawn;
mod error;
pub mod file;
mod form;
mod format;
mod generate;
mod ids;
mod limits;
mod load;
pub mod memory;
mod mirror;
mod mix;
mod model;
mod nearest;
mod notes;
pub mod npy;
mod npz_members;
#[cfg(feature = "petgraph")]
mod petgraph;
mod radix;
mod read;
mod sample;
mod scale;
mod shortcuts;
mod spec;
pub mod threads;
mod dedup;
mod weights;
mod write;

pub use arrays::CsrArrays;
pub use batch::batch;
pub use cause::Cause;
pub use columns::NodeNumber;
pub use csr::Csr;
pub use error::{
    ArchiveProblem, BinaryProblem, GeneratorProblem, GraphError, LineProblem, as_text,
};
pub use form::{Form, FormError, Loops, Parallel};
pub use format::{Compression, Format};
pub use generate::Generated;
pub use ids::{NodeLabel, NodeName};
pub use load::{
    ColumnChoice, ColumnRef, LoadOptions, LoadStats, Loaded, Progress, WeightChoice, WeightOrigin,
};
pub use model::{Graph, KeptRows};
pub use nearest::{did_you_mean, nearest};
#[doc(hidden)]
pub use read::{TextFacts, TextPart, TextShare};
pub use read::{TextFile, is_graph_name};
pub use scale::{Scale, ScaleError};
pub use shortcuts::EdgeLengths;
pub use weights::WeightKind;
pub use write::{Saved, save, save_and_free};

use std::ffi::OsStr;
use std::io::Read;
use std::time::Instant;

/// Loads a graph from a file, from standard input (`-`) or from a generator (`gen:...`).
///
/// A path need not be UTF-8; messages replace the bytes that are not. The content decides the
/// format, then the suffix; the first bytes decide between gzip, xz and neither. Memory peaks at
/// about twice the graph; a `.swg` is read straight into its arrays. The file is not read again
/// after the load.
///
/// The nodes of an edge list are the ids that occur. A comment `# Nodes: N` adds the ids without
/// edges, if all ids are below `N`, or from 1 to `N`. The 1-based formats start at 1 instead. In
/// all cases [`Graph::original_id`] returns the file's id. Loops and parallel edges stay;
/// [`Graph::form`] makes a graph without them. A list of undirected edges may name each of them from
/// both ends: for two nodes and a weight, the edges are as many as the direction that lists more of
/// them lists.
///
/// ```
/// use seawall_graph::{self as graph, LoadOptions};
///
/// let loaded = graph::load("gen:grid:3x2", &LoadOptions::default(), None)?;
/// assert_eq!(loaded.graph.nodes(), 6);
/// assert_eq!(loaded.graph.edges(), 14);
/// # Ok::<(), graph::GraphError>(())
/// ```
///
/// # Errors
/// Any [`GraphError`]; its text is one message that names file, line, reason and value.
pub fn load(
    spec: impl AsRef<OsStr>,
    options: &LoadOptions,
    progress: Option<&dyn Progress>,
) -> Result<Loaded, GraphError> {
    let path = spec.as_ref();
    traced(&path.to_string_lossy(), || {
        load_from(path, options, progress)
    })
}

fn load_from(
    path: &OsStr,
    options: &LoadOptions,
    progress: Option<&dyn Progress>,
) -> Result<Loaded, GraphError> {
    // Only a name that is valid text can name a generator.
    let spec = path.to_str().unwrap_or("");
    threads::start()?;
    let Some(shape) = spec::Generator::parse(spec) else {
        let loaded = read::load_file(path, options, progress)?;
        return finish(loaded, options, &path.to_string_lossy());
    };
    let mut graph = generate::generate(&shape?, spec, options.weights.are_drawn())?;
    let mut stats = LoadStats {
        listed_edges: u64::from(graph.edges()),
        ..LoadStats::of(Format::Generated)
    };
    if options.undirected {
        (graph, stats.mirrored) = graph.into_undirected(spec)?;
    }
    finish(Loaded { graph, stats }, options, spec)
}

/// Loads a graph from any reader: bytes in memory, a member of an archive, a connection.
///
/// Works as [`load`] for a file of this `name`, which messages show. Its suffix decides if the
/// content does not.
///
/// ```
/// use seawall_graph::{self as graph, LoadOptions};
///
/// let text: &[u8] = b"0 1\n1 2\n";
/// let loaded = graph::load_reader("two.el", text, &LoadOptions::default())?;
/// assert_eq!(loaded.graph.neighbours(1), [2]);
/// # Ok::<(), graph::GraphError>(())
/// ```
///
/// # Errors
/// As [`load`].
pub fn load_reader(
    name: &str,
    reader: impl Read + Send + 'static,
    options: &LoadOptions,
) -> Result<Loaded, GraphError> {
    traced(name, || {
        threads::start()?;
        let loaded = read::load_reader(name, Box::new(reader), options)?;
        finish(loaded, options, name)
    })
}

/// Loads in a span of `tracing`, which ends with an event.
fn traced(
    name: &str,
    work: impl FnOnce() -> Result<Loaded, GraphError>,
) -> Result<Loaded, GraphError> {
    let _entered = tracing::info_span!("load", graph = name).entered();
    let started = Instant::now();
    let loaded = work();
    match &loaded {
        Ok(Loaded { graph, stats }) => tracing::info!(
            nodes = graph.nodes(),
            edges = graph.edges(),
            format = %stats.format,
            ms = started.elapsed().as_micros() as f64 / 1e3,
            "loaded"
        ),
        Err(error) => tracing::error!(%error, "not loaded"),
    }
    loaded
}

/// The graph with the weights asked for, if it is of the format asked for.
fn finish(loaded: Loaded, options: &LoadOptions, name: &str) -> Result<Loaded, GraphError> {
    let loaded = loaded.of_format(options.format, name)?;
    let loaded = loaded.of_columns(&options.columns, name)?;
    loaded.weighted(options.weights, name)
}
