//! The choice of a frontier's execution, made between two iterations.
//!
//! The same functions run on the host (with all [`Signals`]) and inside the device kernel (with
//! [`Metrics`] that the grid already holds), so both sides always agree; [`TopologyPolicy::decide`]
//! therefore uses nothing but 32- and 64-bit comparisons. [`memory`] plans the bytes of a
//! topology. This module launches nothing and keeps no state: the topology used last is an
//! argument.

pub mod memory;
mod metrics;
mod policy;
mod reason;
mod select;

pub use metrics::{Metrics, Signals};
pub use policy::{Thresholds, TopologyPolicy};
pub use reason::Reason;
pub use select::{Decision, MetricClass};

use core::fmt;

/// The mapping of the grid's lanes to a frontier.
///
/// The first five form a ladder by density; the discriminants are part of the device ABI.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[repr(u32)]
pub enum Topology {
    /// One warp per active node; for very thin frontiers of moderate degree.
    WarpSparse = 0,
    /// A queue of active nodes; needs the least memory.
    Sparse = 1,
    /// Queue and bitmap side by side, for the band between sparse and dense.
    Hybrid = 2,
    /// A sweep over all nodes with coalesced reads.
    Dense = 3,
    /// A dense sweep in blocks that share their staging memory.
    BlockDense = 4,
    /// Several steps fused into one, when launches and readbacks dominate.
    Fused = 5,
}

impl Topology {
    /// Every topology, in the order of its discriminant.
    pub const ALL: [Self; 6] = [
        Self::WarpSparse,
        Self::Sparse,
        Self::Hybrid,
        Self::Dense,
        Self::BlockDense,
        Self::Fused,
    ];

    /// The topology with this discriminant; `None` for any other word. A device table stores such
    /// a word when there is no previous topology.
    ///
    /// ```
    /// use seawall_core::topology::Topology;
    /// assert_eq!(Topology::from_u32(3), Some(Topology::Dense));
    /// assert_eq!(Topology::from_u32(u32::MAX), None);
    /// ```
    #[must_use]
    pub const fn from_u32(word: u32) -> Option<Self> {
        Some(match word {
            0 => Self::WarpSparse,
            1 => Self::Sparse,
            2 => Self::Hybrid,
            3 => Self::Dense,
            4 => Self::BlockDense,
            5 => Self::Fused,
            _ => return None,
        })
    }

    /// The name in snake case, as reports and vectors write it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::WarpSparse => "warp_sparse",
            Self::Sparse => "sparse",
            Self::Hybrid => "hybrid",
            Self::Dense => "dense",
            Self::BlockDense => "block_dense",
            Self::Fused => "fused",
        }
    }
}

impl fmt::Display for Topology {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}
