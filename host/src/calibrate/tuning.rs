//! Vocabulary of tuning: the limits and lanes that may be other than the defaults on a machine.

use crate::backend::lanes::LaneTable;
use seawall_core::abi::search::SearchPolicy;
use seawall_core::topology::{Thresholds, TopologyPolicy};
use serde::{Deserialize, Serialize};

/// Least width of a frontier that one block searches alone, nodes: there is no gain below a
/// warp's.
pub const NARROW_NODES_MIN: u32 = 32;

/// Limits of searches that are best on a machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SearchTuning {
    /// Largest frontier that one block, or one thread, starts to search alone, nodes.
    pub narrow_nodes: u32,
    /// Share of the unexplored edges from which on a frontier is pulled, parts per million.
    pub pull_density_ppm: u32,
}

/// Choices that are best on a GPU.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct GpuTuning {
    /// Limits of searches.
    pub search: SearchTuning,
    /// Lanes of a block of the persistent kernel.
    pub lanes: LaneTable,
}

/// Choices that are best on a number of CPU threads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CpuTuning {
    /// Number of threads.
    pub threads: u32,
    /// Limits of searches.
    pub search: SearchTuning,
}

impl Default for SearchTuning {
    /// Returns the limits of an untuned machine.
    fn default() -> Self {
        Self {
            narrow_nodes: SearchPolicy::default().narrow_nodes,
            pull_density_ppm: SearchPolicy::THRESHOLDS.dense_density_min_ppm,
        }
    }
}

impl SearchTuning {
    /// Sets the limits in `policy`. A block that searches alone hands back a little above the
    /// width at which it starts, so that a frontier near the limit does not alternate.
    pub fn apply(&self, policy: &mut SearchPolicy) {
        policy.narrow_nodes = self.narrow_nodes;
        policy.narrow_exit_nodes = self.narrow_nodes.saturating_add(self.narrow_nodes / 7);
        if let Some(topology) = self.topology() {
            policy.topology = topology;
        }
    }

    /// The policy of searches with this density in the place of the default one.
    fn topology(&self) -> Option<TopologyPolicy> {
        let thresholds = Thresholds {
            dense_density_min_ppm: self.pull_density_ppm,
            ..SearchPolicy::THRESHOLDS
        };
        TopologyPolicy::new(thresholds).ok()
    }

    /// Tells whether the limits are some that tuning may choose.
    #[must_use]
    pub fn is_sane(&self) -> bool {
        let most = Self::default().narrow_nodes;
        (NARROW_NODES_MIN..=most).contains(&self.narrow_nodes) && self.topology().is_some()
    }
}

impl GpuTuning {
    /// Tells whether every choice is one that tuning may make.
    #[must_use]
    pub fn is_sane(&self) -> bool {
        self.search.is_sane() && self.lanes.is_sane()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn defaults_leave_the_policy_as_it_is() {
        let mut policy = SearchPolicy::default();
        SearchTuning::default().apply(&mut policy);
        assert_eq!(policy, SearchPolicy::default());
        assert!(GpuTuning::default().is_sane());
    }
}
