//! From the arguments of a command line to the graphs of a batch.
//!
//! An argument is a graph (a file or a generator), a folder of graph files, a
//! list of graphs as `@FILE`, or many generated graphs as `gen:batch:…`. What
//! each graph is called stays with it, so that an error can name it.

use super::{BatchError, list};
use crate::graph::{self, Graph, LoadOptions, Loaded};
use rayon::prelude::*;
use seawall_core::abi::batch::GRAPHS_MAX;
use std::fmt;
use std::path::Path;

/// What an argument that names a list starts with.
const LIST: char = '@';

/// A graph to load, and where it was named.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Spec {
    /// File or generator, as [`graph::load`] takes it.
    pub name: String,
    /// Where it was named.
    pub origin: Origin,
}

/// Where a graph was named: the line of a list, or the command line. Shown as
/// the start of a message, `list.txt:3: ` or nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Origin(Option<(String, usize)>);

impl Origin {
    pub(super) fn line(list: &str, line: usize) -> Self {
        Self(Some((list.to_owned(), line)))
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Some((list, line)) => write!(f, "{list}:{line}: "),
            None => Ok(()),
        }
    }
}

/// A loaded graph and its name.
#[derive(Debug)]
pub struct NamedGraph {
    /// Name, as the caller or a list gave it.
    pub name: String,
    /// The graph.
    pub graph: Graph,
}

/// Whether arguments stand for a batch rather than for one graph.
#[must_use]
pub fn is_batch(arguments: &[String]) -> bool {
    match arguments {
        [one] => one.starts_with(LIST) || graph::batch(one).is_some() || is_folder(one),
        _ => true,
    }
}

fn is_folder(argument: &str) -> bool {
    argument != "-" && !argument.starts_with("gen:") && Path::new(argument).is_dir()
}

/// The graphs that `arguments` stand for, in their order: files of a folder by
/// name, lines of a list from the top, generated graphs by seed.
///
/// ```
/// use seawall::batch;
/// let specs = batch::expand(&["gen:grid:4".to_owned(), "gen:batch:2:chain:9".to_owned()])?;
/// let names: Vec<_> = specs.iter().map(|spec| spec.name.as_str()).collect();
/// assert_eq!(names, ["gen:grid:4", "gen:chain:9:1", "gen:chain:9:2"]);
/// # Ok::<(), batch::BatchError>(())
/// ```
///
/// # Errors
/// When a folder or a list cannot be read or holds no graph, for standard
/// input, and for more than 2^20 graphs. Files themselves are not opened yet.
pub fn expand(arguments: &[String]) -> Result<Vec<Spec>, BatchError> {
    let mut specs = Vec::new();
    for argument in arguments {
        if let Some(path) = argument.strip_prefix(LIST) {
            list::read(path, &mut specs)?;
        } else if is_folder(argument) {
            add_folder(argument, &mut specs)?;
        } else {
            add_plain(argument.clone(), &Origin::default(), &mut specs)?;
        }
    }
    Ok(specs)
}

/// Ends the growth of a batch before it fills the memory.
fn check_count(specs: &[Spec]) -> Result<(), BatchError> {
    if specs.len() > GRAPHS_MAX as usize {
        return Err(BatchError::TooMany {
            graphs: specs.len(),
            most: GRAPHS_MAX,
        });
    }
    Ok(())
}

/// Adds a graph, or the graphs of a generated batch.
pub(super) fn add_plain(
    name: String,
    origin: &Origin,
    specs: &mut Vec<Spec>,
) -> Result<(), BatchError> {
    if name == "-" {
        return Err(BatchError::Refused {
            origin: origin.clone(),
            value: name,
            problem: "standard input holds one graph; name files in a batch".to_owned(),
        });
    }
    let spec = |name| Spec {
        name,
        origin: origin.clone(),
    };
    match graph::batch(&name) {
        None => specs.push(spec(name)),
        Some(Ok(names)) => specs.extend(names.into_iter().map(spec)),
        Some(Err(source)) => {
            return Err(BatchError::Load {
                origin: origin.clone(),
                source,
            });
        }
    }
    check_count(specs)
}

/// Adds the files of a folder whose names end like those of graphs. Folders in
/// it are not entered.
fn add_folder(folder: &str, specs: &mut Vec<Spec>) -> Result<(), BatchError> {
    let io = |source| BatchError::Io {
        file: folder.to_owned(),
        action: "read the folder",
        source,
    };
    let mut names = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(io)? {
        let path = entry.map_err(io)?.path();
        let name = path.to_string_lossy().into_owned();
        if graph::is_graph_name(&name) && !path.is_dir() {
            names.push(name);
        }
    }
    if names.is_empty() {
        return Err(BatchError::EmptyFolder {
            folder: folder.to_owned(),
        });
    }
    names.sort_unstable();
    specs.extend(names.into_iter().map(|name| Spec {
        name,
        origin: Origin::default(),
    }));
    check_count(specs)
}

/// Loads every graph, on all threads.
///
/// # Errors
/// [`BatchError::Load`] of the first graph that cannot be loaded, in the order
/// of `specs`; its text names the list's line too, where there is one.
pub fn load(specs: Vec<Spec>, options: &LoadOptions) -> Result<Vec<NamedGraph>, BatchError> {
    let load = |Spec { name, origin }: Spec| match graph::load(&name, options, None) {
        Ok(Loaded { graph, .. }) => Ok(NamedGraph { name, graph }),
        Err(source) => Err(BatchError::Load { origin, source }),
    };
    let loaded: Vec<_> = specs.into_par_iter().map(load).collect();
    loaded.into_iter().collect()
}
