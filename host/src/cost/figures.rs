//! The figures of predictions.
//!
//! A machine has four price lists for a search, because the cost depends on whether one warp holds
//! the frontier, one block holds it, one CPU thread still searches it alone, or the whole machine
//! shares it. Defaults come from `docs/performance.md`.

use seawall_device::machine::THREAD_GROUP_MAX;
use serde::{Deserialize, Serialize};

/// Widest frontier of each price list except the last, nodes.
pub const WIDTH_LIMITS: [f64; 3] = [32.0, 1000.0, 5376.0];

/// Price lists of a search: narrow, within a block, on one CPU thread, shared out.
pub const CLASSES: usize = WIDTH_LIMITS.len() + 1;

/// Returns the price list of a frontier of `width` nodes.
#[must_use]
pub fn class_of(width: f64) -> usize {
    WIDTH_LIMITS.iter().filter(|limit| width > **limit).count()
}

/// Cost of a level of a search.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct LevelCost {
    /// The level itself, for any content, nanoseconds.
    pub level_ns: f64,
    /// Each node of its frontier with about four edges, nanoseconds.
    pub node_ns: f64,
}

impl LevelCost {
    const fn new(level_ns: f64, node_ns: f64) -> Self {
        Self { level_ns, node_ns }
    }

    /// Tells whether both figures are times.
    fn is_sane(&self) -> bool {
        is_time(self.level_ns) && is_time(self.node_ns)
    }
}

/// Costs of work on one machine.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct MachineCosts {
    /// A run without work, nanoseconds.
    pub start_ns: f64,
    /// Levels by the width of their frontier, see [`WIDTH_LIMITS`].
    pub levels: [LevelCost; CLASSES],
    /// An edge of a search that may skip edges by pulling, nanoseconds.
    pub edge_ns: f64,
    /// An edge of a pass over every edge, nanoseconds.
    pub gather_ns: f64,
}

/// Costs of the `cpu` backend.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct CpuCosts {
    /// Threads of [`Self::all`].
    pub threads: u32,
    /// A barrier of that many threads, nanoseconds.
    pub barrier_ns: f64,
    /// One thread.
    pub one: MachineCosts,
    /// All threads.
    pub all: MachineCosts,
    /// A level of a long search, in which each thread goes several levels ahead.
    pub ahead: LevelCost,
}

/// Costs of a GPU.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct GpuCosts {
    /// Work of the persistent kernel.
    pub run: MachineCosts,
    /// Upload of one byte of the graph, nanoseconds.
    pub upload_byte_ns: f64,
    /// A grid barrier in the default shape, nanoseconds.
    pub barrier_ns: f64,
    /// A launch among many back to back, nanoseconds.
    pub launch_ns: f64,
    /// A launch and a wait for it, nanoseconds.
    pub launch_sync_ns: f64,
    /// A launch, a readback of four bytes and a wait, nanoseconds.
    pub readback_ns: f64,
    /// An empty node of a CUDA graph, nanoseconds.
    pub graph_node_ns: f64,
    /// Bytes per second that the device's memory reads and writes.
    pub memory_bytes_per_s: f64,
}

/// Costs of both machines.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Costs {
    /// The CPU.
    pub cpu: CpuCosts,
    /// The GPU.
    pub gpu: GpuCosts,
}

/// A node of a search on one CPU core whose data is in the cache.
const CPU_NODE_NS: f64 = 13.0;

/// An edge of a pass over all edges on one CPU core whose node values are in the cache: an
/// iteration of ranks takes 1 to 1.2 ns per edge on graphs of a million edges.
const CPU_GATHER_NS: f64 = 1.2;

/// An edge of a search that threads share, times their number: 16 threads take 11.9 ms for
/// `gen:rmat:22:16`.
const SHARED_EDGE_NS: f64 = 1.8;

/// Waking a thread that waits for its next run, nanoseconds: small runs on 16 threads took 0.1
/// to 0.2 ms longer than on one, 14 us when they follow each other at once.
const WAKE_NS: f64 = 6e3;

/// Share of one thread in the end of a wide level, nanoseconds: from core numbers of
/// `gen:grid:1024` with 16 threads. A barrier alone takes a quarter of it.
const MEETING_NS: f64 = 600.0;

/// Share of one thread in a level of a search in which threads go ahead, nanoseconds: from grids of
/// 2^16 to 2^24 nodes with 2 to 16 threads, of which `gen:grid:1024` takes 5.6 ms with 16 and
/// 28.7 ms with one.
const AHEAD_NS: f64 = 120.0;

/// A node of such a search, times the number of threads: from the same grids.
const AHEAD_NODE_NS: f64 = 24.0;

impl CpuCosts {
    /// Returns the costs of `threads` threads without a measurement: those of the 16-core machine
    /// of `docs/performance.md`, scaled to the number of threads.
    #[must_use]
    pub fn default_for(threads: u32) -> Self {
        let one = MachineCosts {
            start_ns: 10e3,
            levels: [LevelCost::new(10.0, CPU_NODE_NS); CLASSES],
            edge_ns: 1.0,
            gather_ns: CPU_GATHER_NS,
        };
        let count = f64::from(threads.max(1));
        let shared = LevelCost::new(MEETING_NS * count, 1.4 * CPU_NODE_NS / count);
        let all = MachineCosts {
            start_ns: one.start_ns + WAKE_NS * count,
            levels: [one.levels[0], one.levels[1], one.levels[2], shared],
            edge_ns: SHARED_EDGE_NS / count,
            gather_ns: CPU_GATHER_NS / count,
        };
        let group = count.min(THREAD_GROUP_MAX as f64);
        Self {
            threads: threads.max(1),
            barrier_ns: shared.level_ns,
            one,
            all: if threads <= 1 { one } else { all },
            ahead: if threads <= 1 {
                one.levels[1]
            } else {
                LevelCost::new(AHEAD_NS * group, AHEAD_NODE_NS / group)
            },
        }
    }
}

impl Default for GpuCosts {
    /// Returns the costs of a GPU without a measurement: those measured by `seawall info
    /// --calibrate` on the H200 of `docs/performance.md`, except for the nodes of wide levels,
    /// which follow from the wide searches there.
    fn default() -> Self {
        Self {
            run: MachineCosts {
                start_ns: 55e3,
                levels: [
                    LevelCost::new(600.0, 2.5),
                    LevelCost::new(1100.0, 2.5),
                    LevelCost::new(3400.0, 0.05),
                    LevelCost::new(3400.0, 0.05),
                ],
                edge_ns: 0.0042,
                gather_ns: 0.0094,
            },
            upload_byte_ns: 0.031,
            barrier_ns: 1300.0,
            launch_ns: 2900.0,
            launch_sync_ns: 8400.0,
            readback_ns: 16_800.0,
            graph_node_ns: 920.0,
            memory_bytes_per_s: 4.24e12,
        }
    }
}

impl MachineCosts {
    /// Tells whether every figure is a time.
    fn is_sane(&self) -> bool {
        let others = [self.start_ns, self.edge_ns, self.gather_ns];
        self.levels.iter().all(LevelCost::is_sane) && others.into_iter().all(is_time)
    }
}

impl CpuCosts {
    /// Tells whether every figure is a time.
    #[must_use]
    pub fn is_sane(&self) -> bool {
        self.threads > 0
            && is_time(self.barrier_ns)
            && self.one.is_sane()
            && self.all.is_sane()
            && self.ahead.is_sane()
    }
}

impl GpuCosts {
    /// Tells whether every figure is a time, and the memory's speed is valid.
    #[must_use]
    pub fn is_sane(&self) -> bool {
        let times = [
            self.upload_byte_ns,
            self.barrier_ns,
            self.launch_ns,
            self.launch_sync_ns,
            self.readback_ns,
            self.graph_node_ns,
        ];
        self.run.is_sane()
            && times.into_iter().all(is_time)
            && self.memory_bytes_per_s.is_finite()
            && self.memory_bytes_per_s > 0.0
    }

    /// Returns the frontier at which the whole grid becomes cheaper than one block, nodes; `None`
    /// if one of them is cheaper at any width.
    ///
    /// The planner uses it to choose the width at which one block starts to search alone.
    #[must_use]
    pub fn crossing_nodes(&self) -> Option<f64> {
        let [_, block, .., grid] = self.run.levels;
        let saved = block.node_ns - grid.node_ns;
        let dearer = grid.level_ns - block.level_ns;
        (saved > 0.0 && dearer > 0.0).then(|| dearer / saved)
    }
}

fn is_time(value: f64) -> bool {
    value.is_finite() && value >= 0.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn defaults_are_valid_for_any_number_of_threads() {
        for threads in [0, 1, 2, 16, u32::MAX] {
            assert!(CpuCosts::default_for(threads).is_sane(), "{threads}");
        }
        assert!(GpuCosts::default().is_sane());
    }

    #[test]
    fn figures_that_are_not_times_are_found() {
        let mut costs = CpuCosts::default_for(4);
        costs.all.levels[CLASSES - 1].node_ns = f64::NAN;
        assert!(!costs.is_sane());
        let costs = GpuCosts {
            memory_bytes_per_s: 0.0,
            ..GpuCosts::default()
        };
        assert!(!costs.is_sane());
    }

    #[test]
    fn block_and_grid_meet_near_a_thousand_nodes_as_was_measured() {
        let crossing = GpuCosts::default().crossing_nodes().unwrap();
        assert!((900.0..1100.0).contains(&crossing), "{crossing}");
        let mut costs = GpuCosts::default();
        costs.run.levels[CLASSES - 1].level_ns = 1.0;
        assert_eq!(costs.crossing_nodes(), None);
    }
}
