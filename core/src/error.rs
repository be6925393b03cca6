//! Reasons why a plan could not be made.
//!
//! There is one enum per operation. Each error holds the numbers that a caller needs
//! to repair its input, and its text names a remedy. [`LayerError::kind`] and its
//! siblings return the stable `snake_case` name that reports and conformance vectors
//! use. Nothing here depends on how the planners work.

use core::fmt;

use crate::wave::WaveId;

/// The buffer of a scratch that was too small.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum ScratchField {
    /// Space for waves in the layers' scratch.
    Waves,
    /// Space for dependencies in the layers' scratch.
    Dependencies,
    /// Space for waves in the `u32` part of the packing scratch.
    PackWords,
    /// Space for waves in the `u64` part of the packing scratch.
    PackBytes,
    /// Space for waves in the `u32` part of the arena scratch.
    ArenaWords,
    /// Space for waves in the `u64` part of the arena scratch.
    ArenaOffsets,
    /// Space for waves in the scratch of several devices.
    DevicesWaves,
    /// Space for dependencies in the scratch of several devices.
    DevicesDependencies,
}

impl ScratchField {
    /// The name of the buffer in `snake_case`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Waves => "waves",
            Self::Dependencies => "dependencies",
            Self::PackWords => "pack_words",
            Self::PackBytes => "pack_bytes",
            Self::ArenaWords => "arena_words",
            Self::ArenaOffsets => "arena_offsets",
            Self::DevicesWaves => "devices_waves",
            Self::DevicesDependencies => "devices_dependencies",
        }
    }
}

impl fmt::Display for ScratchField {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A scratch buffer that holds fewer entries than the plan needs.
///
/// Both numbers count waves (or dependencies, for that buffer), not elements;
/// [`crate::plan::Requirements`] states elements and bytes.
///
/// ```
/// use seawall_core::error::{LayerError, ScratchField, ScratchTooSmall};
/// use seawall_core::plan::{layers, Dag, Wave};
/// use seawall_core::scratch::Scratch;
///
/// let dag = Dag { waves: &[Wave::default(); 5], dependencies: &[] };
/// let planned = layers(&dag, &mut Scratch::<4, 0>::new()).map(|plan| plan.len());
/// let small = ScratchTooSmall { field: ScratchField::Waves, needed: 5, capacity: 4 };
/// assert_eq!(planned, Err(LayerError::ScratchTooSmall(small)));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, thiserror::Error)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[error(
    "scratch buffer `{field}` holds {capacity}, the program needs {needed}; size it with \
     Requirements::for_dag"
)]
pub struct ScratchTooSmall {
    /// The buffer.
    pub field: ScratchField,
    /// Waves or dependencies of the program.
    pub needed: u64,
    /// Waves or dependencies that the buffer holds.
    pub capacity: u64,
}

/// The reason why waves could not be put into layers.
///
/// ```
/// use seawall_core::plan::{layers, Dag, Dependency, Wave};
/// use seawall_core::scratch::Scratch;
///
/// let dag = Dag {
///     waves: &[Wave::default(); 2],
///     dependencies: &[Dependency { before: 0, after: 2 }],
/// };
/// let error = layers(&dag, &mut Scratch::<2, 1>::new()).unwrap_err();
/// assert_eq!(error.kind(), "invalid_wave");
/// assert!(error.to_string().contains("outside 0..2"), "{error}");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, thiserror::Error)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[cfg_attr(feature = "serde", serde(tag = "kind", rename_all = "snake_case"))]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum LayerError {
    /// A dependency names a wave that does not exist.
    #[error(
        "dependency {before} -> {after} names a wave outside 0..{waves}; add the wave or drop \
         the dependency"
    )]
    InvalidWave {
        /// Waves in the program.
        waves: u64,
        /// First wave of the record.
        before: u64,
        /// Second wave of the record.
        after: u64,
    },
    /// A wave waits for itself.
    #[error("wave {wave} depends on itself; drop that dependency")]
    SelfDependency {
        /// The wave.
        wave: u64,
    },
    /// Some waves wait for each other in a cycle.
    #[error(
        "{unscheduled} waves lie on a cycle or depend on one, wave {wave} lies on it; break the \
         cycle at that wave"
    )]
    Cycle {
        /// Waves on a cycle or reachable from one.
        unscheduled: u64,
        /// One wave that lies on a cycle.
        wave: WaveId,
    },
    /// The scratch has too little space; nothing was written.
    #[error(transparent)]
    ScratchTooSmall(#[from] ScratchTooSmall),
}

kinds! { LayerError {
    InvalidWave => "invalid_wave",
    SelfDependency => "self_dependency",
    Cycle => "cycle",
    ScratchTooSmall => "scratch_too_small",
} }

/// The reason why waves could not be put into groups.
///
/// ```
/// use seawall_core::plan::{groups, Budget, Dag, Strategy, Wave};
/// use seawall_core::scratch::GroupScratch;
///
/// let wave = Wave { frontier_bytes: 0, scratch_bytes: 0, output_bytes: 60 };
/// let dag = Dag { waves: &[wave], dependencies: &[] };
/// let budget = Budget { budget_bytes: 50, ..Budget::default() };
/// let mut scratch = GroupScratch::<1, 0>::new();
/// let error = groups(&dag, &budget, Strategy::InOrder, &mut scratch).unwrap_err();
/// assert_eq!(error.kind(), "wave_over_budget");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, thiserror::Error)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[cfg_attr(feature = "serde", serde(tag = "kind", rename_all = "snake_case"))]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum GroupError {
    /// The resident graph alone is larger than the budget.
    #[error(
        "the resident graph takes {required_bytes} of {budget_bytes} budget bytes; raise the \
         budget or partition the graph"
    )]
    ResidentOverBudget {
        /// Resident bytes.
        required_bytes: u64,
        /// Bytes of the budget.
        budget_bytes: u64,
    },
    /// A byte count does not fit in 64 bits.
    #[error("{field} overflow 64 bits; correct the byte counts of the wave")]
    Overflow {
        /// The sum that overflowed.
        field: &'static str,
    },
    /// One wave alone is larger than a group may be.
    #[error(
        "wave {wave} alone takes {required_bytes} bytes, and the budget leaves {budget_bytes} \
         beside resident data; split the wave or raise the budget"
    )]
    WaveOverBudget {
        /// The wave.
        wave: WaveId,
        /// Its fused bytes.
        required_bytes: u64,
        /// Bytes that a group may hold: budget less resident.
        budget_bytes: u64,
    },
    /// The scratch has too little space; nothing was written.
    #[error(transparent)]
    ScratchTooSmall(#[from] ScratchTooSmall),
    /// The waves could not be put into layers.
    #[cfg_attr(feature = "serde", serde(untagged))]
    #[error(transparent)]
    Layers(LayerError),
}

impl GroupError {
    /// The stable name of the error, as in the conformance vectors.
    #[must_use]
    pub const fn kind(&self) -> &'static str {
        match self {
            Self::ResidentOverBudget { .. } => "resident_over_budget",
            Self::Overflow { .. } => "overflow",
            Self::WaveOverBudget { .. } => "wave_over_budget",
            Self::ScratchTooSmall(_) => "scratch_too_small",
            Self::Layers(error) => error.kind(),
        }
    }
}

impl From<LayerError> for GroupError {
    /// Keeps `ScratchTooSmall` the same variant for every step.
    fn from(error: LayerError) -> Self {
        match error {
            LayerError::ScratchTooSmall(small) => Self::ScratchTooSmall(small),
            other => Self::Layers(other),
        }
    }
}

/// The reason why regions could not be laid out in an arena.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, thiserror::Error)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[cfg_attr(feature = "serde", serde(tag = "kind", rename_all = "snake_case"))]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum ArenaError {
    /// The alignment is not a power of two.
    #[error("alignment {alignment_bytes} is no power of two; 256 suits most devices")]
    InvalidAlignment {
        /// The alignment that was asked for.
        alignment_bytes: u64,
    },
    /// The groups were not planned for this program.
    #[error("groups of {planned} waves do not belong to a program of {waves}; plan it again")]
    PlanMismatch {
        /// Waves in the program.
        waves: u64,
        /// Waves in the groups.
        planned: u64,
    },
    /// A byte count does not fit in 64 bits.
    #[error("{field} overflow 64 bits; correct the byte counts of the waves")]
    Overflow {
        /// The sum that overflowed.
        field: &'static str,
    },
    /// The scratch has too little space; nothing was written.
    #[error(transparent)]
    ScratchTooSmall(#[from] ScratchTooSmall),
}

kinds! { ArenaError {
    InvalidAlignment => "invalid_alignment",
    PlanMismatch => "plan_mismatch",
    Overflow => "overflow",
    ScratchTooSmall => "scratch_too_small",
} }
