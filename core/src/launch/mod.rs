//! Sizes of one dispatch of a work queue: groups, lanes, hit capacity and mode.
//!
//! A plan is a pure function of a request and a policy, cheap enough not to be cached. It takes the
//! adapter's limits as numbers and launches nothing. Unknown signals stay unknown: an unmeasured
//! density is not a density of zero.

mod error;
mod known;
mod plan;
mod policy;
mod requeue;
mod workers;

pub use error::LaunchError;
pub use policy::{LaunchPolicy, LaunchThresholds};
pub use requeue::RequeueAccount;

use crate::ratio::Bps;

/// A queue of work and the device that it is launched on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct LaunchRequest {
    /// Items in the queue.
    pub queue_len: u32,
    /// Requested worker groups; 0 derives them from the limits.
    pub requested_worker_groups: u32,
    /// Limits of the adapter.
    pub limits: AdapterLimits,
    /// Requested hit capacity; 0 derives it from the queue.
    pub requested_hit_capacity: u32,
    /// Hits expected of one item; 0 counts as 1.
    pub expected_hits_per_item: u32,
    /// Opcodes that are hot.
    pub hot_opcode_count: u32,
    /// Windows of the queue that are hot.
    pub hot_window_count: u32,
    /// Items that were requeued since the last launch.
    pub requeue_count: u64,
    /// Launches that the oldest priority item has waited for.
    pub max_priority_age: u32,
    /// Nodes of the graph; 0 when unknown.
    pub graph_node_count: u32,
    /// Directed edges of the graph.
    pub graph_edge_count: u32,
    /// Active nodes over all nodes; `None` when unknown.
    pub frontier_density: Option<Bps>,
    /// Used over available device memory; `None` when unknown.
    pub memory_pressure: Option<Bps>,
    /// Bytes that stay on the device.
    pub resident_device_bytes: u64,
    /// Bytes that the launch may use in all; 0 is unbounded.
    pub device_memory_budget_bytes: u64,
}

/// The limits of an adapter that shape a grid; each must be above 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct AdapterLimits {
    /// Most lanes of a group along its first dimension.
    pub max_workgroup_size_x: u32,
    /// Most groups along one dimension of the grid.
    pub max_compute_workgroups_per_dimension: u32,
    /// Most lanes of a group in all.
    pub max_compute_invocations_per_workgroup: u32,
}

/// Modes of walking the queue of a launch.
///
/// ```
/// use seawall_core::launch::{AdapterLimits, LaunchPolicy, LaunchRequest, LaunchTopology};
/// let limits = AdapterLimits {
///     max_workgroup_size_x: 256,
///     max_compute_workgroups_per_dimension: 1_024,
///     max_compute_invocations_per_workgroup: 256,
/// };
/// let nothing = LaunchRequest { limits, ..LaunchRequest::default() };
/// let plan = LaunchPolicy::STANDARD.plan(&nothing, None)?;
/// assert_eq!(plan.topology, LaunchTopology::Empty);
/// # Ok::<(), seawall_core::launch::LaunchError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum LaunchTopology {
    /// Nothing is queued, nothing is launched.
    Empty,
    /// Few nodes are active.
    Sparse,
    /// Between sparse and dense, or of unknown density.
    Hybrid,
    /// Many nodes are active.
    Dense,
    /// Dense, hot and on a graph large enough to fuse steps.
    FusedDense,
    /// Memory is nearly full: fewer groups, smaller hit buffers.
    MemoryConstrained,
}

/// Load of the launched grid.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum QueuePressure {
    /// No items.
    Empty,
    /// Fewer items than lanes.
    Light,
    /// At least one item per lane.
    Balanced,
    /// Several waves of items, or items that came back.
    Saturated,
}

/// Modes of executing items.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum LaunchMode {
    /// One opcode at a time.
    Interpreter,
    /// Hot opcodes fused.
    Fused,
}

/// One sized dispatch.
///
/// Kernels stride over `slot_count` slots, so every grid covers the whole queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct LaunchPlan {
    /// Mode of walking the queue.
    pub topology: LaunchTopology,
    /// The load of the grid.
    pub pressure: QueuePressure,
    /// Mode of executing items.
    pub mode: LaunchMode,
    /// Whether hot opcodes move to the fused path.
    pub promote_hot_opcodes: bool,
    /// Whether hot windows move to the front.
    pub promote_hot_windows: bool,
    /// Whether waiting priority items are aged.
    pub age_priority_work: bool,
    /// Entries of the hit buffer.
    pub hit_capacity: u32,
    /// Resident bytes and the hit buffer's.
    pub estimated_peak_bytes: u64,
    /// Worker groups after scaling; an upper bound of `grid_groups`.
    pub worker_groups: u32,
    /// Lanes of one group.
    pub lanes_per_group: u32,
    /// Items rounded up to whole groups.
    pub slot_count: u32,
    /// Groups to launch.
    pub grid_groups: u32,
}
