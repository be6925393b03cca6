//! An encoded program: the tables that every executor walks.

use super::table_error::TableError;
use crate::backend::BackendError;
use crate::graph::{Graph, WeightKind};
use seawall_core::abi::program::{GroupRecord, RegisterRecord, WaveRecord};
use seawall_core::abi::search::SearchPolicy;

/// Names a register of one program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct RegisterId(pub u32);

/// Which graph arrays a program reads beside the row offsets and targets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct GraphNeeds {
    /// Edge weights of this kind.
    pub weights: Option<WeightKind>,
    /// Incoming edges.
    pub incoming: bool,
    /// Incoming edges by tiles of rows, where those are faster.
    pub tiles: bool,
}

impl GraphNeeds {
    /// Whether `graph` holds what these need.
    ///
    /// # Errors
    /// [`BackendError::MissingGraphArray`] when it has no weights,
    /// [`BackendError::WrongWeights`] when it has others.
    pub(crate) fn check(self, graph: &Graph) -> Result<(), BackendError> {
        match (self.weights, graph.weight_kind()) {
            (Some(_), None) => Err(BackendError::MissingGraphArray {
                what: "edge weights",
            }),
            (Some(needed), Some(found)) if needed != found => {
                Err(BackendError::WrongWeights { needed, found })
            }
            _ => Ok(()),
        }
    }
}

/// A planned program as the tables of [`seawall_core::abi::program`], free of
/// addresses: a backend adds those of its machine.
#[derive(Clone, Debug, PartialEq)]
pub struct EncodedProgram {
    /// Top-level groups first, then the bodies of fixpoints.
    pub groups: Vec<GroupRecord>,
    /// How many of them are top-level.
    pub top_groups: u32,
    /// Waves, by group.
    pub waves: Vec<WaveRecord>,
    /// Registers.
    pub registers: Vec<RegisterRecord>,
    /// Name of each wave, by wave number, for fault messages and traces.
    pub wave_names: Vec<String>,
    /// Bytes of the arena.
    pub arena_bytes: u64,
    /// Bytes of the input region.
    pub input_bytes: u64,
    /// Graph arrays that the program reads.
    pub needs: GraphNeeds,
    /// Thresholds of frontier searches.
    pub search: SearchPolicy,
}

impl EncodedProgram {
    /// Checks that groups, loops and registers stay within their tables and
    /// regions, and proves that registers hold what waves take for granted
    /// ([`seawall_core::abi::facts`]). Of about linear cost in the tables.
    ///
    /// # Errors
    /// The first contradiction.
    pub fn check(&self) -> Result<(), TableError> {
        super::check::check(self)
    }
}
