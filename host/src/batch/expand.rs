//! From the arguments of a command line to the graphs of a batch.
//!
//! An argument is a graph (a file or a generator), a folder of graph files, a list of graphs as
//! `@FILE`, or many generated graphs as `gen:batch:…`. Each graph keeps its name for errors.

use super::name::{list_of, shown};
use super::spec::{Origin, Spec, add_plain, check_count, generated};
use super::{BatchError, list};
use crate::graph::{self, Graph, LoadOptions};
use crate::outcome::Weights;
use rayon::prelude::*;
use std::ffi::OsStr;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};

/// A loaded graph and its name.
#[derive(Debug)]
#[non_exhaustive]
pub struct NamedGraph {
    /// Name by the caller or a list, for messages.
    pub name: String,
    /// The graph.
    pub graph: Graph,
    /// Listed edges that are the other direction of an edge that was listed.
    pub mirrored: u64,
    /// Its weights, if they were loaded.
    pub weights: Option<Weights>,
}

/// Returns whether arguments denote a batch rather than one graph.
#[must_use]
pub fn is_batch(arguments: &[impl AsRef<OsStr>]) -> bool {
    let [one] = arguments else { return true };
    let one = one.as_ref();
    list_of(one).is_some() || generated(one).is_some() || is_folder(one)
}

fn is_folder(argument: &OsStr) -> bool {
    let is_generator = |text: &str| text.starts_with("gen:");
    argument != "-" && !argument.to_str().is_some_and(is_generator) && Path::new(argument).is_dir()
}

/// Returns the graphs that `arguments` denote, in their order: files of a folder by name, lines of
/// a list from the top, generated graphs by seed.
///
/// ```
/// use seawall::batch;
/// let specs = batch::expand(&["gen:grid:4", "gen:batch:2:chain:9"])?;
/// let names: Vec<_> = specs.iter().map(|spec| spec.name.to_str().unwrap()).collect();
/// assert_eq!(names, ["gen:grid:4", "gen:chain:9:1", "gen:chain:9:2"]);
/// # Ok::<(), batch::BatchError>(())
/// ```
///
/// # Errors
/// If a folder or a list cannot be read or holds no graph, for standard input, and for more than
/// 2^20 graphs. Files themselves are not opened yet.
pub fn expand(arguments: &[impl AsRef<OsStr>]) -> Result<Vec<Spec>, BatchError> {
    let mut specs = Vec::new();
    for argument in arguments {
        let argument = argument.as_ref();
        if let Some(path) = list_of(argument) {
            list::read(Path::new(&path), &mut specs)?;
        } else if is_folder(argument) {
            add_folder(Path::new(argument), &mut specs)?;
        } else {
            add_plain(argument.to_owned(), &Origin::default(), &mut specs)?;
        }
    }
    Ok(specs)
}

/// Adds the files of a folder that have the suffix of a graph. Subfolders are not entered.
fn add_folder(folder: &Path, specs: &mut Vec<Spec>) -> Result<(), BatchError> {
    let io = |source| BatchError::Io {
        file: shown(folder.as_os_str()),
        action: "read the folder",
        source,
    };
    let mut names = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(io)? {
        let path = entry.map_err(io)?.path();
        if graph::is_graph_name(&path.to_string_lossy()) && !path.is_dir() {
            names.push(path.into_os_string());
        }
    }
    if names.is_empty() {
        return Err(BatchError::EmptyFolder {
            folder: shown(folder.as_os_str()),
        });
    }
    names.sort_unstable();
    specs.extend(names.into_iter().map(|name| Spec {
        name,
        origin: Origin::default(),
    }));
    check_count(specs)
}

/// Loads every graph, on all threads; what follows one that cannot be loaded is not read.
///
/// # Errors
/// [`BatchError::Load`] of the first graph that cannot be loaded, in the order of `specs`; its
/// text also names the list's line, if there is one.
pub fn load(specs: Vec<Spec>, options: &LoadOptions) -> Result<Vec<NamedGraph>, BatchError> {
    let first_failed = AtomicUsize::new(usize::MAX);
    let load = |(at, Spec { name, origin }): (usize, Spec)| {
        if at > first_failed.load(Ordering::Relaxed) {
            return None;
        }
        Some(match graph::load(&name, options, None) {
            Ok(loaded) => Ok(NamedGraph {
                mirrored: loaded.stats.mirrored,
                weights: Weights::of(&loaded),
                name: shown(&name),
                graph: loaded.graph,
            }),
            Err(source) => {
                first_failed.fetch_min(at, Ordering::Relaxed);
                Err(BatchError::Load { origin, source })
            }
        })
    };
    graph::threads::start().map_err(|source| BatchError::Load {
        origin: Origin::default(),
        source,
    })?;
    let loaded: Vec<_> = specs.into_par_iter().enumerate().map(load).collect();
    loaded.into_iter().flatten().collect()
}
