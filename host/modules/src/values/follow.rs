//! The kinds of data that values stand for.

use crate::model::{ANY_INDEX, Initial, Module};
use hashbrown::HashSet;

/// The kind of data that is followed.
#[derive(Clone, Copy)]
pub(crate) enum Follow<'a> {
    /// Anything that a value depends on; with the bytes of the module.
    Data(&'a [u8]),
    /// References to functions, and indices of tables.
    References(&'a References<'a>),
}

/// The references of a module.
pub(crate) struct References<'a> {
    /// The bytes of the module.
    pub(crate) image: &'a [u8],
    /// Indices that some segment fills.
    indices: HashSet<u32>,
    /// Size of the largest table at the start.
    size: u32,
}

impl<'a> References<'a> {
    pub(crate) fn of(module: &'a Module) -> Self {
        let indices = module.entries.iter().map(|entry| entry.index);
        Self {
            image: &module.image.0,
            indices: indices.collect(),
            size: module.table_sizes.iter().max().copied().unwrap_or(0),
        }
    }

    /// A value without differences that no call can tell: indices beyond all tables are one.
    pub(crate) fn told_apart(&self, initial: Initial) -> Initial {
        match initial {
            Initial::Index(index) if index >= self.size && !self.indices.contains(&index) => {
                Initial::Index(ANY_INDEX)
            }
            other => other,
        }
    }
}

/// A flow between a value and a cell of the module.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Port {
    /// From a global.
    FromGlobal(u32),
    /// To a global.
    ToGlobal(u32),
    /// From any entry of a table.
    FromTable(u32),
    /// To an entry of a table.
    ToTable(u32),
    /// From the segments that instructions may copy.
    FromSegments,
    /// To where it is not followed.
    Outside,
}
