//! The reason why a program has no execution.

use crate::error::{ArenaError, GroupError};
use crate::launch::LaunchError;
use crate::topology::memory::MemoryError;

/// The reason why a program could not be planned from end to end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[cfg_attr(feature = "serde", serde(untagged))]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum ExecutionError {
    /// The waves could not be put into groups.
    #[error(transparent)]
    Groups(#[from] GroupError),
    /// The regions could not be laid out.
    #[error(transparent)]
    Arena(#[from] ArenaError),
    /// No plan keeps the memory of this program inside its budget.
    #[error(transparent)]
    OverBudget(#[from] OverBudget),
    /// The bytes of a group have no sum in 64 bits.
    #[error(transparent)]
    Memory(#[from] MemoryError),
    /// The dispatch could not be sized.
    #[error(transparent)]
    Launch(#[from] LaunchError),
}

/// A budget that no plan keeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[cfg_attr(feature = "serde", serde(tag = "kind", rename = "arena_over_budget"))]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[error(
    "what is alive at once takes {required_bytes} of {budget_bytes} budget bytes; raise the \
     budget to at least that"
)]
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
