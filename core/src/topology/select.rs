//! The choice itself: a raw choice from the metrics, then hysteresis against the topology used
//! last, so that a density that hovers at a boundary does not make the kernel flap.

use super::{Metrics, Reason, Signals, Thresholds, Topology, TopologyPolicy};
use core::fmt;

/// A chosen topology with the numbers that explain it.
///
/// `Display` writes one line:
///
/// ```
/// use seawall_core::topology::{Signals, TopologyPolicy};
/// let decision = TopologyPolicy::DEFAULT.select(&Signals::default(), None);
/// assert_eq!(
///     decision.to_string(),
///     "topology=warp_sparse memory_pressure_bps=0 average_degree_bps=0 \
///      launch_pressure_bps=0 reason=ultra_sparse_warp_specialized"
/// );
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Decision {
    /// The topology to run.
    pub topology: Topology,
    /// Required over budgeted bytes in basis points, at most 10 000.
    pub memory_pressure_bps: u32,
    /// Edges per node in basis points.
    pub average_degree_bps: u64,
    /// Launch overhead over dispatch cost in basis points.
    pub launch_pressure_bps: u32,
    /// The rule that decided.
    pub reason: Reason,
}

impl fmt::Display for Decision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "topology={} memory_pressure_bps={} average_degree_bps={} launch_pressure_bps={} reason={}",
            self.topology,
            self.memory_pressure_bps,
            self.average_degree_bps,
            self.launch_pressure_bps,
            self.reason
        )
    }
}

/// The sides of all thresholds of the raw choice on which metrics lie, one bit per comparison.
///
/// Two metrics of one class have the same raw topology, which makes a class a sound key for a
/// cache.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[repr(transparent)]
pub struct MetricClass(pub u16);

impl TopologyPolicy {
    /// Chooses a topology from everything a host knows; constant time, at most four divisions.
    ///
    /// `previous` is the topology actually used last, `None` at the start.
    #[must_use]
    pub const fn select(&self, signals: &Signals, previous: Option<Topology>) -> Decision {
        let metrics = signals.metrics();
        let raw = self.raw(&metrics);
        self.explain(&metrics, raw, previous)
    }

    /// Chooses from metrics that are already known: comparisons only, as the device does.
    ///
    /// ```
    /// use seawall_core::topology::{Metrics, Topology, TopologyPolicy};
    /// let metrics = Metrics { density_ppm: 720_000, average_degree_bps: 40_000, ..Metrics::default() };
    /// let policy = TopologyPolicy::DEFAULT;
    /// assert_eq!(policy.decide(&metrics, None).0, Topology::Dense);
    /// assert_eq!(policy.decide(&metrics, Some(Topology::Hybrid)).0, Topology::Hybrid);
    /// ```
    #[must_use]
    pub const fn decide(
        &self,
        metrics: &Metrics,
        previous: Option<Topology>,
    ) -> (Topology, Reason) {
        self.with_hysteresis(metrics, self.raw(metrics), previous)
    }

    /// A decision from metrics, a raw topology that was found for them before, and the previous
    /// topology.
    #[must_use]
    pub const fn explain(
        &self,
        metrics: &Metrics,
        raw: Topology,
        previous: Option<Topology>,
    ) -> Decision {
        let (topology, reason) = self.with_hysteresis(metrics, raw, previous);
        Decision {
            topology,
            memory_pressure_bps: metrics.memory_pressure_bps,
            average_degree_bps: metrics.average_degree_bps,
            launch_pressure_bps: metrics.launch_pressure_bps,
            reason,
        }
    }

    /// The topology by the metrics alone.
    #[must_use]
    pub const fn raw(&self, metrics: &Metrics) -> Topology {
        let t = &self.thresholds;
        let density = metrics.density_ppm;
        let degree = metrics.average_degree_bps;
        if metrics.memory_pressure_bps >= t.sparse_memory_min_bps {
            Topology::Sparse
        } else if enters_fused(t, metrics) {
            Topology::Fused
        } else if density <= t.warp_density_max_ppm && degree <= t.warp_degree_max_bps as u64 {
            Topology::WarpSparse
        } else if density <= t.sparse_density_max_ppm {
            Topology::Sparse
        } else if degree < t.dense_degree_min_bps as u64 {
            Topology::Hybrid
        } else if density >= t.block_density_min_ppm {
            Topology::BlockDense
        } else if density >= t.dense_density_min_ppm {
            Topology::Dense
        } else {
            Topology::Hybrid
        }
    }

    /// The class of these metrics under this policy.
    #[must_use]
    pub const fn class(&self, metrics: &Metrics) -> MetricClass {
        let t = &self.thresholds;
        let m = metrics;
        MetricClass(
            bit(0, m.memory_pressure_bps >= t.sparse_memory_min_bps)
                | bit(1, m.memory_pressure_bps <= t.fused_memory_max_bps)
                | bit(2, m.fusion_pressure_bps >= t.fused_fusion_min_bps)
                | bit(3, m.launch_pressure_bps >= t.fused_launch_min_bps)
                | bit(4, m.readback_bytes >= t.fused_readback_min_bytes as u64)
                | bit(5, m.density_ppm <= t.warp_density_max_ppm)
                | bit(6, m.density_ppm <= t.sparse_density_max_ppm)
                | bit(7, m.density_ppm >= t.dense_density_min_ppm)
                | bit(8, m.density_ppm >= t.block_density_min_ppm)
                | bit(9, m.average_degree_bps <= t.warp_degree_max_bps as u64)
                | bit(10, m.average_degree_bps >= t.dense_degree_min_bps as u64),
        )
    }

    /// Applies hysteresis to `raw` when `previous` ran last.
    #[must_use]
    pub const fn with_hysteresis(
        &self,
        metrics: &Metrics,
        raw: Topology,
        previous: Option<Topology>,
    ) -> (Topology, Reason) {
        let t = &self.thresholds;
        let memory = metrics.memory_pressure_bps;
        if memory >= t.sparse_memory_min_bps {
            return (Topology::Sparse, Reason::MemoryPressureSparseSafety);
        }
        let Some(previous) = previous else {
            return (raw, reason_of(raw));
        };
        let fused = matches!(raw, Topology::Fused);
        if !fused && is_sparse(previous) && memory >= t.sparse_memory_hold_bps {
            return (Topology::Sparse, memory_hold_reason(raw));
        }
        if !fused && raw as u32 != previous as u32 && keeps(t, metrics, raw, previous) {
            (previous, Reason::HeldByHysteresis)
        } else {
            (raw, reason_of(raw))
        }
    }
}

const fn bit(position: u32, set: bool) -> u16 {
    if set { 1u16.wrapping_shl(position) } else { 0 }
}

const fn enters_fused(t: &Thresholds, m: &Metrics) -> bool {
    m.fusion_pressure_bps >= t.fused_fusion_min_bps
        && m.launch_pressure_bps >= t.fused_launch_min_bps
        && m.readback_bytes >= t.fused_readback_min_bytes as u64
        && m.memory_pressure_bps <= t.fused_memory_max_bps
}

const fn keeps_fused(t: &Thresholds, m: &Metrics) -> bool {
    m.fusion_pressure_bps >= t.fused_fusion_hold_bps
        && m.launch_pressure_bps >= t.fused_launch_hold_bps
        && m.readback_bytes >= t.fused_readback_min_bytes as u64
        && m.memory_pressure_bps <= t.fused_memory_hold_bps
}

/// Whether a previous topology that differs from `raw` is kept; `raw` is on the ladder.
const fn keeps(t: &Thresholds, m: &Metrics, raw: Topology, previous: Topology) -> bool {
    let density = m.density_ppm;
    let (lower, upper) = match previous {
        Topology::Fused => return keeps_fused(t, m),
        Topology::WarpSparse => (0, t.warp_density_max_ppm),
        Topology::Sparse => (t.warp_density_max_ppm, t.sparse_density_max_ppm),
        Topology::Hybrid => (t.sparse_density_max_ppm, t.dense_density_min_ppm),
        Topology::Dense => (t.dense_density_min_ppm, t.block_density_min_ppm),
        Topology::BlockDense => (t.block_density_min_ppm, u32::MAX),
    };
    let degree_fits = match previous {
        Topology::WarpSparse => m.average_degree_bps <= t.warp_degree_max_bps as u64,
        Topology::Dense | Topology::BlockDense => {
            m.average_degree_bps >= t.dense_degree_min_bps as u64
        }
        _ => true,
    };
    degree_fits
        && if raw as u32 > previous as u32 {
            density <= upper.saturating_add(t.density_margin_ppm)
        } else {
            density >= lower.saturating_sub(t.density_margin_ppm)
        }
}

const fn is_sparse(topology: Topology) -> bool {
    matches!(topology, Topology::Sparse | Topology::WarpSparse)
}

const fn memory_hold_reason(raw: Topology) -> Reason {
    match raw {
        Topology::Sparse => Reason::LowDensitySparseQueue,
        _ => Reason::MemoryHysteresisSparse,
    }
}

/// The reason of a raw topology below the memory limit.
const fn reason_of(topology: Topology) -> Reason {
    match topology {
        Topology::WarpSparse => Reason::UltraSparseWarpSpecialized,
        Topology::Sparse => Reason::LowDensitySparseQueue,
        Topology::Hybrid => Reason::TransitionBandHybrid,
        Topology::Dense => Reason::DenseCoalescedFrontier,
        Topology::BlockDense => Reason::HighDensityBlockSpecialized,
        Topology::Fused => Reason::LaunchAndReadbackPressureFused,
    }
}
