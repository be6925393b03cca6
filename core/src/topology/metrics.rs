//! The few integers that decide a topology, derived from a caller's measurements.
//!
//! The divisions of a selection all happen here, on the host; the device keeps its own
//! [`Metrics`] and only compares.

use crate::ratio::{BPS_PER_ONE, Bps, Ppm, saturate_at, scaled_floor, scaled_nearest};

/// A caller's measurements for the next step of an analysis.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Signals {
    /// Nanoseconds that the work of one dispatch takes; 0 when unknown.
    pub dispatch_cost_ns: u64,
    /// Active nodes over all nodes; [`Ppm::share`] makes it from two counts.
    pub frontier_density: Ppm,
    /// Bytes that one step would read back.
    pub readback_bytes: u64,
    /// Nodes of the graph.
    pub nodes: u64,
    /// Directed edges of the graph.
    pub edges: u64,
    /// Bytes that the step needs on the device.
    pub required_bytes: u64,
    /// Bytes that it may use.
    pub budget_bytes: u64,
    /// Nanoseconds that one launch costs.
    pub launch_overhead_ns: u64,
    /// Share of the work that could be fused.
    pub fusion_pressure: Bps,
}

/// The integers that decide a topology.
///
/// `repr(C)` without padding: the device keeps one of these and updates it between iterations.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, bytemuck::Pod, bytemuck::Zeroable)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[repr(C)]
pub struct Metrics {
    /// Edges per node in basis points; `u64::MAX` for edges without nodes.
    pub average_degree_bps: u64,
    /// Bytes that one step would read back.
    pub readback_bytes: u64,
    /// Active nodes over all nodes in parts per million.
    pub density_ppm: u32,
    /// Required over budgeted bytes in basis points, at most 10 000.
    pub memory_pressure_bps: u32,
    /// Launch overhead over dispatch cost in basis points.
    pub launch_pressure_bps: u32,
    /// Share of the work that could be fused, in basis points.
    pub fusion_pressure_bps: u32,
}

const _: () = assert!(size_of::<Metrics>() == 32 && align_of::<Metrics>() == 8);

impl Signals {
    /// The metrics of these signals: four divisions at most.
    ///
    /// ```
    /// use seawall_core::topology::Signals;
    /// let metrics = Signals { nodes: 4, edges: 9, ..Signals::default() }.metrics();
    /// assert_eq!(metrics.average_degree_bps, 22_500);
    /// ```
    #[must_use]
    pub const fn metrics(&self) -> Metrics {
        Metrics {
            average_degree_bps: average_degree_bps(self.nodes, self.edges),
            readback_bytes: self.readback_bytes,
            density_ppm: self.frontier_density.0,
            memory_pressure_bps: memory_pressure(self.required_bytes, self.budget_bytes).0,
            launch_pressure_bps: launch_pressure_bps(
                self.launch_overhead_ns,
                self.dispatch_cost_ns,
            ),
            fusion_pressure_bps: self.fusion_pressure.0,
        }
    }
}

/// Required over budgeted bytes, rounded down and at most one; without a budget any requirement is
/// full pressure.
#[must_use]
pub(super) const fn memory_pressure(required_bytes: u64, budget_bytes: u64) -> Bps {
    match Bps::share(required_bytes, budget_bytes) {
        Some(pressure) => pressure,
        None if required_bytes == 0 => Bps(0),
        None => Bps::ONE,
    }
}

/// Edges per node in basis points, saturating; edges without nodes count as the maximum.
const fn average_degree_bps(nodes: u64, edges: u64) -> u64 {
    match scaled_floor(edges, BPS_PER_ONE, nodes) {
        Some(degree) => degree,
        None if edges == 0 => 0,
        None => u64::MAX,
    }
}

/// Launch overhead over dispatch cost in basis points, saturating; an unknown cost exerts none.
const fn launch_pressure_bps(overhead_ns: u64, cost_ns: u64) -> u32 {
    match scaled_nearest(overhead_ns, BPS_PER_ONE, cost_ns) {
        Some(pressure) => saturate_at(pressure, u32::MAX),
        None => 0,
    }
}
