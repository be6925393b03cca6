//! Counters of a session: moved bytes, allocations and waits since it was opened.

use seawall_core::session::SessionPlan;
use serde::Serialize;

/// Device allocations of a loaded program: arena, inputs, and tables with the control block.
pub(crate) const PROGRAM_ALLOCATIONS: u64 = 3;

/// Device allocations of a batch: one block for everything.
pub(crate) const BATCH_ALLOCATIONS: u64 = 1;

/// Work of a session since it was opened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct SessionWork {
    /// Times that the graph became resident.
    pub graph_uploads: u64,
    /// Bytes of the graph that became resident; on the CPU they are used where they lie.
    pub graph_bytes: u64,
    /// Allocations for programs, those of traces not counted.
    pub allocations: u64,
    /// Runs.
    pub runs: u64,
    /// Bytes of inputs that runs copied to the machine.
    pub input_bytes: u64,
    /// Times that the host waited for a run, or within it.
    pub synchronisations: u64,
    /// Bytes of results that were read.
    pub readback_bytes: u64,
}

impl SessionWork {
    pub(crate) fn of(plan: &SessionPlan, runs: u64, allocations: u64) -> Self {
        Self {
            graph_uploads: plan.graph_reuse.cold_uploads,
            graph_bytes: plan.one_time_graph_upload_bytes,
            allocations,
            runs,
            input_bytes: plan.total_frontier_refresh_bytes,
            synchronisations: runs,
            readback_bytes: plan.host_readback_bytes,
        }
    }

    pub(crate) const fn loaded(&mut self) {
        self.allocations = self.allocations.saturating_add(PROGRAM_ALLOCATIONS);
    }

    /// Counts a batch whose image of `bytes` bytes was uploaded, graphs and inputs with it.
    pub(crate) const fn packed(&mut self, bytes: usize) {
        self.graph_uploads = self.graph_uploads.saturating_add(1);
        self.graph_bytes = self.graph_bytes.saturating_add(bytes as u64);
        self.allocations = self.allocations.saturating_add(BATCH_ALLOCATIONS);
    }

    /// Counts a run with `inputs` words of inputs, for which the host waited `waits` times.
    pub(crate) const fn ran(&mut self, inputs: usize, waits: u64) {
        self.runs = self.runs.saturating_add(1);
        self.input_bytes = self.input_bytes.saturating_add(4 * inputs as u64);
        self.synchronisations = self.synchronisations.saturating_add(waits);
    }

    /// Counts a result of `words` words.
    pub(crate) const fn read(&mut self, words: usize) {
        self.readback_bytes = self.readback_bytes.saturating_add(4 * words as u64);
    }
}

counters! { SessionWork {
    graph_uploads, graph_bytes, allocations, runs, input_bytes, synchronisations, readback_bytes
} }
