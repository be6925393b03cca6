//! The reason for a topology, as a stable code for reports and tests.

use core::fmt;

/// The rule that decided a topology.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[repr(u32)]
pub enum Reason {
    /// The frontier is thin and the degree moderate: one warp per node pays.
    UltraSparseWarpSpecialized = 0,
    /// Memory is nearly full, so the topology with the least scratch is the safe one.
    MemoryPressureSparseSafety = 1,
    /// The frontier is sparse enough for a queue.
    LowDensitySparseQueue = 2,
    /// Neither a queue nor a sweep clearly wins.
    TransitionBandHybrid = 3,
    /// Most nodes are active, so a coalesced sweep wins.
    DenseCoalescedFrontier = 4,
    /// Nearly all nodes are active, so blocks can share their staging memory.
    HighDensityBlockSpecialized = 5,
    /// Launch overhead and readbacks dominate, so steps are fused.
    LaunchAndReadbackPressureFused = 6,
    /// The previous topology is kept although the raw choice differs.
    HeldByHysteresis = 7,
    /// Memory pressure has not fallen far enough to leave the sparse topologies.
    MemoryHysteresisSparse = 8,
}

impl Reason {
    /// Every reason, in the order of their words.
    pub const ALL: [Self; 9] = [
        Self::UltraSparseWarpSpecialized,
        Self::MemoryPressureSparseSafety,
        Self::LowDensitySparseQueue,
        Self::TransitionBandHybrid,
        Self::DenseCoalescedFrontier,
        Self::HighDensityBlockSpecialized,
        Self::LaunchAndReadbackPressureFused,
        Self::HeldByHysteresis,
        Self::MemoryHysteresisSparse,
    ];

    /// The reason of a word, or nothing if the word names none.
    ///
    /// ```
    /// use seawall_core::topology::Reason;
    /// assert_eq!(Reason::from_word(7), Some(Reason::HeldByHysteresis));
    /// assert_eq!(Reason::from_word(9), None);
    /// ```
    #[must_use]
    pub const fn from_word(word: u32) -> Option<Self> {
        let mut rest: &[Self] = &Self::ALL;
        while let [reason, tail @ ..] = rest {
            if *reason as u32 == word {
                return Some(*reason);
            }
            rest = tail;
        }
        None
    }

    /// The code in snake case, as reports and vectors write it.
    ///
    /// ```
    /// use seawall_core::topology::Reason;
    /// assert_eq!(Reason::HeldByHysteresis.code(), "held_by_hysteresis");
    /// ```
    #[must_use]
    pub const fn code(self) -> &'static str {
        match self {
            Self::UltraSparseWarpSpecialized => "ultra_sparse_warp_specialized",
            Self::MemoryPressureSparseSafety => "memory_pressure_sparse_safety",
            Self::LowDensitySparseQueue => "low_density_sparse_queue",
            Self::TransitionBandHybrid => "transition_band_hybrid",
            Self::DenseCoalescedFrontier => "dense_coalesced_frontier",
            Self::HighDensityBlockSpecialized => "high_density_block_specialized",
            Self::LaunchAndReadbackPressureFused => "launch_and_readback_pressure_fused",
            Self::HeldByHysteresis => "held_by_hysteresis",
            Self::MemoryHysteresisSparse => "memory_hysteresis_sparse",
        }
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.code())
    }
}
