//! Savings of a session that keeps its graph on the device, in bytes and calls.
//!
//! A resident session uploads once and runs many times. Its savings are planned from a profile
//! before the upload, and counted while it runs. Nothing here touches a device.

mod telemetry;

pub use telemetry::{ReuseTelemetry, TelemetryError};

/// Device allocations that each warm run avoids: frontier, scratch and output.
const ALLOCATIONS_PER_RUN: u64 = 3;

/// The point at which the host reads results.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum ReadbackPolicy {
    /// Once, after the last run.
    #[default]
    FinalOnly,
    /// After every run; a resident session rejects it.
    PerRun,
}

/// A resident session as its caller describes it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct SessionProfile {
    /// Hash of the graph's layout; 0 means that it was never computed.
    pub graph_layout_hash: u64,
    /// Bytes of the graph.
    pub graph_bytes: u64,
    /// Runs over the same graph.
    pub run_count: u64,
    /// Bytes of frontier that each run uploads.
    pub per_run_frontier_bytes: u64,
    /// Bytes of scratch that all runs share.
    pub reusable_scratch_bytes: u64,
    /// Bytes of result of one run.
    pub per_run_output_bytes: u64,
    /// Bytes that the session may use.
    pub budget_bytes: u64,
    /// Times at which results are read back.
    pub readback: ReadbackPolicy,
}

/// A planned resident session, with its savings over one upload per run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct SessionPlan {
    /// Hash of the graph's layout.
    pub graph_layout_hash: u64,
    /// Bytes uploaded once.
    pub one_time_graph_upload_bytes: u64,
    /// Bytes of frontier uploaded over all runs.
    pub total_frontier_refresh_bytes: u64,
    /// Bytes on the device at once.
    pub peak_resident_bytes: u64,
    /// Bytes of graph that are not uploaded again.
    pub avoided_graph_upload_bytes: u64,
    /// The same figures as telemetry, to compare with the session's counters.
    pub graph_reuse: ReuseTelemetry,
    /// Device allocations that do not happen.
    pub avoided_device_allocations: u64,
    /// Host fences that do not happen.
    pub avoided_host_fences: u64,
    /// Bytes read back at the end.
    pub host_readback_bytes: u64,
    /// The graph stays on the device.
    pub graph_topology_resident: bool,
    /// All runs share one scratch.
    pub scratch_reused: bool,
    /// Only the last result is read back.
    pub final_only_host_readback: bool,
}

/// The reason why a profile makes no resident session.
///
/// ```
/// use seawall_core::session::SessionProfile;
/// let error = SessionProfile::default().plan().unwrap_err();
/// assert_eq!(error.kind(), "zero_graph_hash");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[cfg_attr(feature = "serde", serde(tag = "kind", rename_all = "snake_case"))]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum SessionError {
    /// The layout hash is 0.
    #[error("the layout hash is 0; hash the graph first")]
    ZeroGraphHash,
    /// The graph has no bytes.
    #[error("the graph has 0 bytes; load it first")]
    ZeroGraphBytes,
    /// There is no run.
    #[error("0 runs need no session; ask for at least 1")]
    ZeroRuns,
    /// There is no budget.
    #[error("the budget is 0 bytes; give the device's free memory")]
    ZeroBudget,
    /// Results were asked for after every run.
    #[error("a resident session reads back once, at the end; use final_only")]
    PerRunReadbackRejected,
    /// A byte count exceeds 64 bits.
    #[error("{field} exceed 64 bits; check the profile's byte counts")]
    ByteCountOverflow {
        /// The sum or product that overflowed.
        field: &'static str,
    },
    /// The session does not fit its budget.
    #[error(
        "the session needs {required_bytes} bytes of a budget of {budget_bytes}; raise the \
         budget or partition the graph"
    )]
    OverBudget {
        /// Bytes that it needs at once.
        required_bytes: u64,
        /// Bytes that it may use.
        budget_bytes: u64,
    },
}

kinds! { SessionError {
    ZeroGraphHash => "zero_graph_hash",
    ZeroGraphBytes => "zero_graph_bytes",
    ZeroRuns => "zero_runs",
    ZeroBudget => "zero_budget",
    PerRunReadbackRejected => "per_run_readback_rejected",
    ByteCountOverflow => "byte_count_overflow",
    OverBudget => "over_budget",
} }

impl SessionProfile {
    /// Plans a resident session, in constant time.
    ///
    /// ```
    /// use seawall_core::session::SessionProfile;
    /// let profile = SessionProfile {
    ///     graph_layout_hash: 7, graph_bytes: 1_000, run_count: 5, per_run_frontier_bytes: 10,
    ///     budget_bytes: 2_000, ..SessionProfile::default()
    /// };
    /// let plan = profile.plan()?;
    /// assert_eq!(plan.avoided_graph_upload_bytes, 4_000);
    /// assert_eq!(plan.total_frontier_refresh_bytes, 50);
    /// # Ok::<(), seawall_core::session::SessionError>(())
    /// ```
    ///
    /// # Errors
    /// In this order: a hash, graph, run count or budget of 0; readback after every run; a peak
    /// beyond 64 bits or the budget; savings beyond 64 bits.
    pub fn plan(&self) -> Result<SessionPlan, SessionError> {
        self.check()?;
        let peak_resident_bytes = self.peak_resident_bytes()?;
        let warm = self.run_count.saturating_sub(1);
        let refreshed = times(
            self.run_count,
            self.per_run_frontier_bytes,
            "total frontier refresh bytes",
        )?;
        let avoided = times(warm, self.graph_bytes, "avoided graph upload bytes")?;
        let allocations = times(warm, ALLOCATIONS_PER_RUN, "avoided allocations")?;
        Ok(SessionPlan {
            graph_layout_hash: self.graph_layout_hash,
            one_time_graph_upload_bytes: self.graph_bytes,
            total_frontier_refresh_bytes: refreshed,
            peak_resident_bytes,
            avoided_graph_upload_bytes: avoided,
            graph_reuse: ReuseTelemetry {
                cold_uploads: 1,
                warm_reuses: warm,
                upload_bytes: self.graph_bytes,
                avoided_upload_bytes: avoided,
            },
            avoided_device_allocations: allocations,
            avoided_host_fences: warm,
            host_readback_bytes: self.per_run_output_bytes,
            graph_topology_resident: true,
            scratch_reused: true,
            final_only_host_readback: true,
        })
    }

    const fn check(&self) -> Result<(), SessionError> {
        Err(if self.graph_layout_hash == 0 {
            SessionError::ZeroGraphHash
        } else if self.graph_bytes == 0 {
            SessionError::ZeroGraphBytes
        } else if self.run_count == 0 {
            SessionError::ZeroRuns
        } else if self.budget_bytes == 0 {
            SessionError::ZeroBudget
        } else if matches!(self.readback, ReadbackPolicy::PerRun) {
            SessionError::PerRunReadbackRejected
        } else {
            return Ok(());
        })
    }

    fn peak_resident_bytes(&self) -> Result<u64, SessionError> {
        let sum = self.graph_bytes;
        let sum = plus(
            sum,
            self.per_run_frontier_bytes,
            "graph plus frontier bytes",
        )?;
        let sum = plus(
            sum,
            self.reusable_scratch_bytes,
            "graph frontier scratch bytes",
        )?;
        let required_bytes = plus(sum, self.per_run_output_bytes, "peak resident bytes")?;
        if required_bytes > self.budget_bytes {
            return Err(SessionError::OverBudget {
                required_bytes,
                budget_bytes: self.budget_bytes,
            });
        }
        Ok(required_bytes)
    }
}

fn plus(a: u64, b: u64, field: &'static str) -> Result<u64, SessionError> {
    a.checked_add(b)
        .ok_or(SessionError::ByteCountOverflow { field })
}

fn times(a: u64, b: u64, field: &'static str) -> Result<u64, SessionError> {
    a.checked_mul(b)
        .ok_or(SessionError::ByteCountOverflow { field })
}
