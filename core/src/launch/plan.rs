//! The steps of a launch, from signals to sizes.

use super::known::Known;
use super::workers::{Geometry, check_limits, geometry, worker_groups};
use super::{
    LaunchError, LaunchMode, LaunchPlan, LaunchPolicy, LaunchRequest, LaunchTopology, QueuePressure,
};
use crate::ratio::Bps;

/// The hit buffer and its memory.
struct Hits {
    capacity: u32,
    peak_bytes: u64,
}

impl LaunchPolicy {
    /// Sizes one dispatch, in constant time.
    ///
    /// `previous` is the topology of the last launch of this queue.
    ///
    /// ```
    /// use seawall_core::launch::{AdapterLimits, LaunchPolicy, LaunchRequest, LaunchTopology};
    /// let limits = AdapterLimits {
    ///     max_workgroup_size_x: 1024,
    ///     max_compute_workgroups_per_dimension: 65_535,
    ///     max_compute_invocations_per_workgroup: 1024,
    /// };
    /// let request = LaunchRequest { queue_len: 1_000, limits, ..LaunchRequest::default() };
    /// let plan = LaunchPolicy::STANDARD.plan(&request, None)?;
    /// assert_eq!(plan.topology, LaunchTopology::Hybrid); // of unknown density
    /// assert_eq!((plan.lanes_per_group, plan.slot_count, plan.grid_groups), (256, 1_024, 4));
    /// # Ok::<(), seawall_core::launch::LaunchError>(())
    /// ```
    ///
    /// # Errors
    /// In this order: a limit of 0, a queue or a hit capacity beyond 32 bits, a peak beyond 64
    /// bits, a peak above the budget.
    pub fn plan(
        &self,
        request: &LaunchRequest,
        previous: Option<LaunchTopology>,
    ) -> Result<LaunchPlan, LaunchError> {
        check_limits(&request.limits)?;
        let known = Known::infer(self.thresholds(), request);
        let topology = known.with_hysteresis(known.raw(), previous);
        let workers = worker_groups(&known, topology);
        let lanes_max = self.thresholds().lanes_max;
        let shape = geometry(request.queue_len, &request.limits, lanes_max, workers)?;
        let hits = known.hits(topology)?;
        let plan = LaunchPlan {
            topology,
            pressure: known.queue_pressure(&shape),
            mode: known.mode(topology),
            promote_hot_opcodes: known.promote_hot_opcodes,
            promote_hot_windows: known.promote_hot_windows,
            age_priority_work: known.ages(),
            hit_capacity: hits.capacity,
            estimated_peak_bytes: hits.peak_bytes,
            worker_groups: workers,
            lanes_per_group: shape.lanes_per_group,
            slot_count: shape.slot_count,
            grid_groups: shape.grid_groups,
        };
        Ok(launch_nothing_when_empty(plan))
    }
}

/// An empty queue has a plan, but no groups and no slots.
const fn launch_nothing_when_empty(plan: LaunchPlan) -> LaunchPlan {
    match plan.topology {
        LaunchTopology::Empty => LaunchPlan {
            worker_groups: 0,
            slot_count: 0,
            grid_groups: 0,
            ..plan
        },
        _ => plan,
    }
}

impl Known<'_> {
    fn raw(&self) -> LaunchTopology {
        let t = self.thresholds;
        if self.request.queue_len == 0 {
            return LaunchTopology::Empty;
        }
        if self.pressure.0 >= t.memory_pressure_min_bps {
            return LaunchTopology::MemoryConstrained;
        }
        match self.density {
            None => LaunchTopology::Hybrid,
            Some(Bps(density)) if density <= t.sparse_density_max_bps => LaunchTopology::Sparse,
            Some(Bps(density)) if density >= t.dense_density_min_bps => self.dense(),
            Some(_) => LaunchTopology::Hybrid,
        }
    }

    const fn dense(&self) -> LaunchTopology {
        if self.request.graph_node_count > 0 && self.fuses_dense() {
            LaunchTopology::FusedDense
        } else {
            LaunchTopology::Dense
        }
    }

    fn with_hysteresis(
        &self,
        raw: LaunchTopology,
        previous: Option<LaunchTopology>,
    ) -> LaunchTopology {
        let Some(previous) = previous else {
            return raw;
        };
        if matches!(
            raw,
            LaunchTopology::Empty | LaunchTopology::MemoryConstrained
        ) {
            return raw;
        }
        if previous == LaunchTopology::MemoryConstrained && self.memory_is_still_short() {
            return previous;
        }
        match self.density {
            Some(Bps(density)) if self.keeps(density, raw, previous) => previous,
            _ => raw,
        }
    }

    const fn memory_is_still_short(&self) -> bool {
        let t = self.thresholds;
        self.pressure.0
            >= t.memory_pressure_min_bps
                .saturating_sub(t.memory_hysteresis_bps)
    }

    /// Whether the density is close enough to the band of `previous` to stay in it.
    const fn keeps(&self, density: u32, raw: LaunchTopology, previous: LaunchTopology) -> bool {
        use LaunchTopology::{Dense, FusedDense, Hybrid, Sparse};
        let t = self.thresholds;
        let margin = t.density_hysteresis_bps;
        let still_dense = density >= t.dense_density_min_bps.saturating_sub(margin);
        match (previous, raw) {
            (Sparse, _) => density <= t.sparse_density_max_bps.saturating_add(margin),
            (Hybrid, Sparse) => density >= t.sparse_density_max_bps.saturating_sub(margin),
            (Hybrid, Dense | FusedDense) => {
                density <= t.dense_density_min_bps.saturating_add(margin)
            }
            (Dense, Hybrid) => still_dense,
            (FusedDense, Hybrid) => still_dense && self.fuses_dense(),
            _ => false,
        }
    }

    const fn queue_pressure(&self, shape: &Geometry) -> QueuePressure {
        let queue = self.request.queue_len as u64;
        let lanes = (shape.grid_groups as u64).saturating_mul(shape.lanes_per_group as u64);
        let saturated = lanes.saturating_mul(self.thresholds.saturated_waves as u64);
        if queue == 0 {
            QueuePressure::Empty
        } else if self.request.requeue_count > 0 || queue >= saturated {
            QueuePressure::Saturated
        } else if queue >= lanes {
            QueuePressure::Balanced
        } else {
            QueuePressure::Light
        }
    }

    const fn mode(&self, topology: LaunchTopology) -> LaunchMode {
        let long = self.request.queue_len >= self.thresholds.fused_queue_min;
        if long || self.hot() || matches!(topology, LaunchTopology::FusedDense) {
            LaunchMode::Fused
        } else {
            LaunchMode::Interpreter
        }
    }

    fn hits(&self, topology: LaunchTopology) -> Result<Hits, LaunchError> {
        let capacity = self.hit_capacity(topology)?;
        let resident_bytes = self.request.resident_device_bytes;
        let peak_bytes = u64::from(capacity)
            .checked_mul(u64::from(self.thresholds.bytes_per_hit))
            .and_then(|bytes| bytes.checked_add(resident_bytes))
            .ok_or(LaunchError::PeakBytesOverflow {
                resident_bytes,
                hit_capacity: capacity,
            })?;
        let available = self.request.device_memory_budget_bytes;
        if available != 0 && peak_bytes > available {
            return Err(LaunchError::OutOfMemory {
                requested: peak_bytes,
                available,
            });
        }
        Ok(Hits {
            capacity,
            peak_bytes,
        })
    }

    fn hit_capacity(&self, topology: LaunchTopology) -> Result<u32, LaunchError> {
        let request = self.request;
        if request.requested_hit_capacity != 0 || topology == LaunchTopology::Empty {
            return Ok(request.requested_hit_capacity);
        }
        let multiplier = match topology {
            LaunchTopology::MemoryConstrained => 1,
            _ => self.thresholds.hit_multiplier,
        };
        request
            .queue_len
            .checked_mul(request.expected_hits_per_item.max(1))
            .and_then(|hits| hits.checked_mul(multiplier))
            .map(|hits| hits.max(self.thresholds.hit_capacity_min))
            .ok_or(LaunchError::HitCapacityOverflow {
                queue_len: request.queue_len,
                expected_hits_per_item: request.expected_hits_per_item,
            })
    }
}
