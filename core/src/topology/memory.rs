//! Device memory that a topology needs, and the choice of one that fits its budget.
//!
//! Sparse needs the least scratch, so a workload that fits at all fits as Sparse, and every other
//! topology that turns out too large falls back to it. Nothing is allocated here: the plan says
//! how many bytes the caller must have.

use super::metrics::memory_pressure;
use super::{Signals, Topology, TopologyPolicy};

/// Smallest scratch of `WarpSparse`: one byte per lane of a warp.
const WARP_SCRATCH_MIN_BYTES: u64 = 32;

/// Smallest scratch of `BlockDense` before it is doubled: the staging of one block.
const BLOCK_SCRATCH_MIN_BYTES: u64 = 1024;

/// The bytes of one workload, before its topology is known.
///
/// ```
/// use seawall_core::topology::Topology;
/// use seawall_core::topology::memory::Footprint;
///
/// let footprint = Footprint {
///     nodes: 1_000, edges: 4_000, bytes_per_node: 8, bytes_per_edge: 4,
///     frontier_bytes: 125, scratch_bytes: 1_000, output_bytes: 4_000, budget_bytes: 30_000,
/// };
/// assert_eq!(footprint.plan(Topology::Sparse)?.required_bytes, 29_125);
/// assert_eq!(footprint.plan(Topology::Hybrid).unwrap_err().kind(), "over_budget");
/// # Ok::<(), seawall_core::topology::memory::MemoryError>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Footprint {
    /// Nodes of the graph.
    pub nodes: u64,
    /// Directed edges of the graph.
    pub edges: u64,
    /// Bytes of layout per node.
    pub bytes_per_node: u64,
    /// Bytes of layout per edge.
    pub bytes_per_edge: u64,
    /// Bytes of the frontier.
    pub frontier_bytes: u64,
    /// Bytes of scratch that a Sparse step needs; other topologies take a multiple.
    pub scratch_bytes: u64,
    /// Bytes of the result.
    pub output_bytes: u64,
    /// Bytes that all of this may take.
    pub budget_bytes: u64,
}

/// The bytes of one workload under one topology; it fits its budget.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct MemoryPlan {
    /// The topology planned for.
    pub topology: Topology,
    /// Bytes of the graph's layout.
    pub graph_bytes: u64,
    /// Bytes of the frontier.
    pub frontier_bytes: u64,
    /// Bytes of scratch under this topology.
    pub scratch_bytes: u64,
    /// Bytes of the result.
    pub output_bytes: u64,
    /// All of the above.
    pub required_bytes: u64,
    /// Required over budgeted bytes in basis points, at most 10 000.
    pub memory_pressure_bps: u32,
}

/// The reason why a workload has no memory plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[cfg_attr(feature = "serde", serde(tag = "kind", rename_all = "snake_case"))]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum MemoryError {
    /// A byte count exceeds 64 bits.
    #[error("{field} exceed 64 bits; check the counts, or split the graph")]
    Overflow {
        /// The sum or product that overflowed.
        field: &'static str,
    },
    /// The workload does not fit its budget.
    #[error(
        "topology {topology} needs {required_bytes} bytes of a budget of {budget_bytes}; raise \
         the budget or partition the graph"
    )]
    OverBudget {
        /// The topology planned for.
        topology: Topology,
        /// Bytes that it needs.
        required_bytes: u64,
        /// Bytes that it may use.
        budget_bytes: u64,
    },
}

kinds! { MemoryError {
    Overflow => "overflow",
    OverBudget => "over_budget",
} }

impl Topology {
    /// Scratch of this topology when a Sparse step needs `base` bytes; `None` beyond 64 bits.
    ///
    /// ```
    /// use seawall_core::topology::Topology;
    /// assert_eq!(Topology::Fused.scratch_bytes(100), Some(400));
    /// assert_eq!(Topology::BlockDense.scratch_bytes(100), Some(2_048));
    /// ```
    #[must_use]
    pub const fn scratch_bytes(self, base: u64) -> Option<u64> {
        match self {
            Self::WarpSparse => Some(at_least(base, WARP_SCRATCH_MIN_BYTES)),
            Self::Sparse => Some(base),
            Self::Hybrid => base.checked_mul(3),
            Self::Dense => base.checked_mul(2),
            Self::BlockDense => at_least(base, BLOCK_SCRATCH_MIN_BYTES).checked_mul(2),
            Self::Fused => base.checked_mul(4),
        }
    }
}

impl Footprint {
    /// The memory plan of this workload under one topology; an exact fit fits.
    ///
    /// # Errors
    /// [`MemoryError::Overflow`] names the first step that exceeds 64 bits;
    /// [`MemoryError::OverBudget`] when the sum exceeds the budget.
    pub fn plan(&self, topology: Topology) -> Result<MemoryPlan, MemoryError> {
        self.beside(self.graph_bytes()?, topology)
    }

    /// The same beside a graph whose bytes are known.
    pub(crate) fn beside(
        &self,
        graph_bytes: u64,
        topology: Topology,
    ) -> Result<MemoryPlan, MemoryError> {
        let scratch_bytes =
            topology
                .scratch_bytes(self.scratch_bytes)
                .ok_or(MemoryError::Overflow {
                    field: "topology scratch",
                })?;
        let sum = plus(
            graph_bytes,
            self.frontier_bytes,
            "graph plus frontier bytes",
        )?;
        let sum = plus(sum, scratch_bytes, "scratch bytes")?;
        let required_bytes = plus(sum, self.output_bytes, "output bytes")?;
        if required_bytes > self.budget_bytes {
            return Err(MemoryError::OverBudget {
                topology,
                required_bytes,
                budget_bytes: self.budget_bytes,
            });
        }
        Ok(MemoryPlan {
            topology,
            graph_bytes,
            frontier_bytes: self.frontier_bytes,
            scratch_bytes,
            output_bytes: self.output_bytes,
            required_bytes,
            memory_pressure_bps: memory_pressure(required_bytes, self.budget_bytes).0,
        })
    }

    /// Bytes of the graph's layout.
    ///
    /// # Errors
    /// [`MemoryError::Overflow`] beyond 64 bits.
    pub fn graph_bytes(&self) -> Result<u64, MemoryError> {
        let nodes = times(self.nodes, self.bytes_per_node, "node layout bytes")?;
        let edges = times(self.edges, self.bytes_per_edge, "edge layout bytes")?;
        plus(nodes, edges, "graph layout bytes")
    }
}

/// A workload with the signals that are not bytes; the pressure comes from its Sparse plan.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct ExecutionRequest {
    /// The workload's bytes and counts.
    pub footprint: Footprint,
    /// Nanoseconds that the work of one dispatch takes; 0 when unknown.
    pub dispatch_cost_ns: u64,
    /// Active nodes over all nodes.
    pub frontier_density: crate::ratio::Ppm,
    /// Bytes that one step would read back.
    pub readback_bytes: u64,
    /// Nanoseconds that one launch costs.
    pub launch_overhead_ns: u64,
    /// Share of the work that could be fused.
    pub fusion_pressure: crate::ratio::Bps,
}

impl ExecutionRequest {
    /// The signals of this request when it needs `required_bytes`.
    #[must_use]
    pub const fn signals(&self, required_bytes: u64) -> Signals {
        Signals {
            dispatch_cost_ns: self.dispatch_cost_ns,
            frontier_density: self.frontier_density,
            readback_bytes: self.readback_bytes,
            nodes: self.footprint.nodes,
            edges: self.footprint.edges,
            required_bytes,
            budget_bytes: self.footprint.budget_bytes,
            launch_overhead_ns: self.launch_overhead_ns,
            fusion_pressure: self.fusion_pressure,
        }
    }
}

/// A topology that fits, and its memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct ExecutionPlan {
    /// The memory plan of the topology to run.
    pub memory: MemoryPlan,
    /// Whether Sparse replaced the selected topology because that did not fit.
    pub downgraded: bool,
}

impl TopologyPolicy {
    /// Selects a topology for a workload and plans its memory, in constant time.
    ///
    /// `previous` is the topology actually used last; `None` selects without hysteresis.
    ///
    /// ```
    /// use seawall_core::ratio::Ppm;
    /// use seawall_core::topology::{Topology, TopologyPolicy};
    /// use seawall_core::topology::memory::{ExecutionRequest, Footprint};
    /// let footprint = Footprint {
    ///     nodes: 1_000, edges: 4_000, bytes_per_node: 8, bytes_per_edge: 4,
    ///     frontier_bytes: 125, scratch_bytes: 6_000, output_bytes: 4_000, budget_bytes: 48_000,
    /// };
    /// let request = ExecutionRequest { footprint, frontier_density: Ppm(750_000), ..Default::default() };
    /// let plan = TopologyPolicy::DEFAULT.plan_execution(&request, None)?;
    /// assert_eq!((plan.memory.topology, plan.downgraded), (Topology::Dense, false));
    /// assert_eq!(plan.memory.required_bytes, 40_125);
    /// # Ok::<(), seawall_core::topology::memory::MemoryError>(())
    /// ```
    ///
    /// # Errors
    /// The error of the Sparse plan, when not even that fits.
    pub fn plan_execution(
        &self,
        request: &ExecutionRequest,
        previous: Option<Topology>,
    ) -> Result<ExecutionPlan, MemoryError> {
        let sparse = request.footprint.plan(Topology::Sparse)?;
        let signals = request.signals(sparse.required_bytes);
        let chosen = self.select(&signals, previous).topology;
        Ok(fit(&request.footprint, sparse, chosen))
    }
}

/// The plan of the chosen topology if it fits, else the Sparse plan, which does.
pub(crate) fn fit(footprint: &Footprint, sparse: MemoryPlan, chosen: Topology) -> ExecutionPlan {
    match footprint.plan(chosen) {
        Ok(memory) => ExecutionPlan {
            memory,
            downgraded: false,
        },
        Err(_) => ExecutionPlan {
            memory: sparse,
            downgraded: true,
        },
    }
}

fn plus(a: u64, b: u64, field: &'static str) -> Result<u64, MemoryError> {
    a.checked_add(b).ok_or(MemoryError::Overflow { field })
}

fn times(a: u64, b: u64, field: &'static str) -> Result<u64, MemoryError> {
    a.checked_mul(b).ok_or(MemoryError::Overflow { field })
}

const fn at_least(value: u64, floor: u64) -> u64 {
    if value < floor { floor } else { value }
}
