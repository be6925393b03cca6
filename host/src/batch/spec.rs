//! Graphs of a batch before they are loaded: their names and origins.

use super::BatchError;
use super::name::shown;
use crate::graph::{self, GraphError};
use seawall_core::abi::batch::GRAPHS_MAX;
use std::ffi::{OsStr, OsString};
use std::fmt;

/// A graph to load, and its origin.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Spec {
    /// File or generator, as [`graph::load`] takes it.
    pub name: OsString,
    /// Its origin.
    pub origin: Origin,
}

/// Origin of a graph: the line of a list, or the command line. Displays as the start of a message,
/// `list.txt:3: ` or an empty text.
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

pub(super) fn generated(argument: &OsStr) -> Option<Result<Vec<String>, GraphError>> {
    graph::batch(argument.to_str()?)
}

/// Adds a graph, or the graphs of a generated batch.
pub(super) fn add_plain(
    name: OsString,
    origin: &Origin,
    specs: &mut Vec<Spec>,
) -> Result<(), BatchError> {
    if name == "-" {
        return Err(BatchError::Refused {
            origin: origin.clone(),
            value: shown(&name),
            problem: "standard input holds one graph; name files in a batch".to_owned(),
        });
    }
    let spec = |name| Spec {
        name,
        origin: origin.clone(),
    };
    match generated(&name) {
        None => specs.push(spec(name)),
        Some(Ok(names)) => specs.extend(names.into_iter().map(|name| spec(name.into()))),
        Some(Err(source)) => {
            return Err(BatchError::Load {
                origin: origin.clone(),
                source,
            });
        }
    }
    check_count(specs)
}

/// Limits the growth of a batch before it fills the memory.
pub(super) fn check_count(specs: &[Spec]) -> Result<(), BatchError> {
    if specs.len() > GRAPHS_MAX as usize {
        return Err(BatchError::TooMany {
            graphs: specs.len(),
            most: GRAPHS_MAX,
        });
    }
    Ok(())
}
