//! Signals of a request after inference: known and unknown ones.

use super::{LaunchRequest, LaunchThresholds};
use crate::ratio::Bps;

/// A request and the signals derived from it before sizing.
pub(super) struct Known<'a> {
    pub(super) thresholds: &'a LaunchThresholds,
    pub(super) request: &'a LaunchRequest,
    pub(super) density: Option<Bps>,
    pub(super) pressure: Bps,
    pub(super) promote_hot_opcodes: bool,
    pub(super) promote_hot_windows: bool,
}

impl<'a> Known<'a> {
    pub(super) fn infer(thresholds: &'a LaunchThresholds, request: &'a LaunchRequest) -> Self {
        let density = match request.frontier_density {
            Some(given) => Some(given.clamped()),
            None => inferred_density(request),
        };
        let pressure = match request.memory_pressure {
            Some(given) => given.clamped(),
            None => inferred_pressure(request),
        };
        Self {
            thresholds,
            request,
            density,
            pressure,
            promote_hot_opcodes: request.hot_opcode_count >= thresholds.hot_opcode_min,
            promote_hot_windows: request.hot_window_count >= thresholds.hot_window_min,
        }
    }

    pub(super) const fn hot(&self) -> bool {
        self.promote_hot_opcodes || self.promote_hot_windows
    }

    pub(super) const fn ages(&self) -> bool {
        self.request.requeue_count > 0
            || self.request.max_priority_age >= self.thresholds.priority_age_min
    }

    pub(super) const fn fuses_dense(&self) -> bool {
        self.request.graph_edge_count >= self.thresholds.fusion_edges_min && self.hot()
    }
}

/// The queue's share of the nodes, at least one basis point since something is queued.
fn inferred_density(request: &LaunchRequest) -> Option<Bps> {
    let active = request.queue_len.min(request.graph_node_count);
    match Bps::share(u64::from(active), u64::from(request.graph_node_count)) {
        Some(density) if active > 0 => Some(density.max(Bps(1))),
        _ => None,
    }
}

/// The resident share of the budget; an unbounded budget exerts no pressure.
fn inferred_pressure(request: &LaunchRequest) -> Bps {
    Bps::share(
        request.resident_device_bytes,
        request.device_memory_budget_bytes,
    )
    .unwrap_or_default()
}
