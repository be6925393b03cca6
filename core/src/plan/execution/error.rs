//! The reason why a program has no execution.

use core::error::Error;
use core::fmt;

use crate::error::{ArenaError, GroupError};
use crate::launch::LaunchError;
use crate::topology::memory::MemoryError;

/// The reason why a program could not be planned from end to end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[cfg_attr(feature = "serde", serde(untagged))]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum ExecutionError {
    /// The waves could not be put into groups.
    Groups(GroupError),
    /// The regions could not be laid out.
    Arena(ArenaError),
    /// No plan keeps the memory of this program inside its budget.
    OverBudget(OverBudget),
    /// The bytes of a group have no sum in 64 bits.
    Memory(MemoryError),
    /// The dispatch could not be sized.
    Launch(LaunchError),
}

/// A budget that no plan keeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[cfg_attr(feature = "serde", serde(tag = "kind", rename = "arena_over_budget"))]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct OverBudget {
    /// The least budget that works, resident bytes included.
    pub required_bytes: u64,
    /// Bytes of the budget.
    pub budget_bytes: u64,
}

impl ExecutionError {
    /// The stable name of the error.
    #[must_use]
    pub const fn kind(&self) -> &'static str {
        match self {
            Self::Groups(error) => error.kind(),
            Self::Arena(error) => error.kind(),
            Self::OverBudget(_) => "arena_over_budget",
            Self::Memory(error) => error.kind(),
            Self::Launch(error) => error.kind(),
        }
    }
}

impl fmt::Display for ExecutionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Groups(error) => error.fmt(f),
            Self::Arena(error) => error.fmt(f),
            Self::OverBudget(error) => error.fmt(f),
            Self::Memory(error) => error.fmt(f),
            Self::Launch(error) => error.fmt(f),
        }
    }
}

impl Error for ExecutionError {}

impl fmt::Display for OverBudget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            required_bytes,
            budget_bytes,
        } = self;
        write!(
            f,
            "what is alive at once takes {required_bytes} of {budget_bytes} budget bytes; \
             raise the budget to at least that"
        )
    }
}

impl Error for OverBudget {}

impl From<GroupError> for ExecutionError {
    fn from(error: GroupError) -> Self {
        Self::Groups(error)
    }
}

impl From<ArenaError> for ExecutionError {
    fn from(error: ArenaError) -> Self {
        Self::Arena(error)
    }
}

impl From<OverBudget> for ExecutionError {
    fn from(error: OverBudget) -> Self {
        Self::OverBudget(error)
    }
}

impl From<MemoryError> for ExecutionError {
    fn from(error: MemoryError) -> Self {
        Self::Memory(error)
    }
}

impl From<LaunchError> for ExecutionError {
    fn from(error: LaunchError) -> Self {
        Self::Launch(error)
    }
}
