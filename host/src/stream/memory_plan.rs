//! Memory of a streamed run: resident data, and windows from the rest of the budget.

use super::checks::Checked;
use super::marks::Marks;
use super::ranks::Ranking;
use super::windows::Windows;
use crate::analysis::Streaming;
use crate::graph::disk::Rows;

/// Bytes of the largest windows: longer reads are no faster.
const WINDOW_MAX: u64 = 4 << 20;

/// Bytes of the smallest windows: shorter reads are slow on most disks.
const WINDOW_MIN: u64 = 64 << 10;

/// Buffers beyond those that threads compute with: two reads are in flight while one more is
/// handed over.
const AHEAD: u64 = 3;

/// Fewest buffers: one to compute with, two in flight.
const BUFFERS_MIN: u64 = 3;

/// Bytes of the lists of readers and passes for each buffer, where there are many.
const BUFFER_LISTS: u64 = 256;

/// Windows for each buffer of a small file, so that some can be skipped.
const WINDOWS_EACH: u64 = 4;

/// Whether windows stay in memory after their first read, for later passes and repetitions: this
/// way a graph of more than 2^32 edges is resident.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
pub enum Keeping {
    /// If the graph has more than 2^32 edges, and they fit.
    ///
    /// They fit the budget and the memory that is left then.
    #[default]
    Auto,
    /// Always, or the run is refused.
    #[cfg_attr(feature = "clap", value(help = "Always, or the command fails"))]
    Always,
    /// Never.
    Never,
}

/// The sizes that memory depends on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Sizes {
    pub(super) nodes: u32,
    pub(super) edges: u64,
    pub(super) weighted: bool,
    pub(super) streaming: Streaming,
    /// Whether distances have 64 bits.
    pub(super) wide: bool,
    pub(super) parents: bool,
    /// Threads that compute, or windows that a kernel on a machine has at a time.
    pub(super) threads: usize,
    /// Whether such a kernel computes.
    pub(super) on_machine: bool,
    pub(super) keeping: Keeping,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct MemoryPlan {
    pub(super) window_bytes: u64,
    pub(super) buffers: u64,
    /// Most windows that are read or computed with at a time.
    pub(super) flight: u64,
    /// Whether windows stay in memory.
    pub(super) keeps: bool,
    pub(super) bytes: u64,
}

impl Sizes {
    /// Bytes of the values of nodes and the row offsets.
    fn node_bytes(&self) -> u64 {
        let nodes = u64::from(self.nodes);
        let words = match self.streaming {
            Streaming::Lengths if self.wide => 2,
            Streaming::Levels if self.parents => 2,
            Streaming::Ranks => {
                let shares = if self.on_machine { 4 } else { 0 };
                return (Ranking::NODE_BYTES + shares) * nodes + Rows::bytes(self.nodes);
            }
            _ => 1,
        };
        4 * words * nodes + Rows::bytes(self.nodes)
    }

    fn window_lists(&self, count: u64) -> u64 {
        let searches = match self.streaming {
            Streaming::Levels | Streaming::Reached | Streaming::Lengths => true,
            Streaming::Components | Streaming::Ranks => false,
        };
        if self.on_machine {
            // Bits of this pass and the next one; three words per window on the machine, one here.
            let bits = u64::from(self.nodes).div_ceil(32) * 2;
            return 4 * (bits + 4 * count);
        }
        let marks = if searches {
            Marks::bytes(self.nodes, count)
        } else {
            0
        };
        marks + Checked::WINDOW_BYTES * count
    }

    fn memory_plan(&self, window_bytes: u64, buffers: u64) -> MemoryPlan {
        let windows = Windows::list_bytes(self.edges, window_bytes);
        let count = windows / 4;
        let lists = windows + self.window_lists(count);
        let each = Windows::buffer_bytes_of(window_bytes, self.weighted);
        let memory = buffers.saturating_mul(each);
        MemoryPlan {
            window_bytes,
            buffers,
            flight: buffers,
            keeps: false,
            bytes: (self.node_bytes() + lists).saturating_add(memory),
        }
    }

    /// The run with all windows in memory, of `window_bytes` each. On threads each window has its
    /// own buffer; a machine has memory for them besides the host's buffers.
    fn kept(&self, window_bytes: u64) -> MemoryPlan {
        let passing = self.memory_plan(window_bytes, self.buffers());
        let windows = Windows::list_bytes(self.edges, window_bytes) / 4;
        if self.on_machine {
            let each = Windows::buffer_bytes_of(window_bytes, self.weighted);
            return MemoryPlan {
                keeps: true,
                bytes: passing.bytes.saturating_add(windows.saturating_mul(each)),
                ..passing
            };
        }
        let own = self.memory_plan(window_bytes, windows);
        MemoryPlan {
            keeps: true,
            flight: passing.flight,
            bytes: own
                .bytes
                .saturating_add(windows.saturating_mul(BUFFER_LISTS)),
            ..own
        }
    }

    fn buffers(&self) -> u64 {
        self.threads as u64 + AHEAD
    }

    pub(super) fn least(&self) -> MemoryPlan {
        self.memory_plan(WINDOW_MIN, BUFFERS_MIN)
    }

    /// The memory of a run with windows of `asked` bytes, by default the largest that `budget`
    /// leaves space for. Windows stay in memory according to [`Keeping`], if `has` allows their
    /// bytes.
    pub(super) fn plan(
        &self,
        budget: Option<u64>,
        asked: Option<u64>,
        has: impl FnOnce(u64) -> bool,
    ) -> Result<MemoryPlan, u64> {
        if self.keeping != Keeping::Never {
            let each = asked.map_or_else(|| self.usual_window(), Windows::rounded);
            let memory_plan = self.kept(each);
            let fits = budget.is_none_or(|budget| memory_plan.bytes <= budget);
            match self.keeping {
                Keeping::Always if !fits => return Err(memory_plan.bytes),
                Keeping::Always => return Ok(memory_plan),
                _ if fits && has(memory_plan.bytes) => return Ok(memory_plan),
                _ => {}
            }
        }
        self.passing(budget, asked)
    }

    /// The largest useful window.
    fn usual_window(&self) -> u64 {
        let each = 4 * self.edges / (WINDOWS_EACH * self.buffers());
        each.next_power_of_two().clamp(WINDOW_MIN, WINDOW_MAX)
    }

    /// The memory of a run whose windows do not stay.
    fn passing(&self, budget: Option<u64>, asked: Option<u64>) -> Result<MemoryPlan, u64> {
        let budget = budget.unwrap_or(u64::MAX);
        if let Some(window_bytes) = asked {
            let window_bytes = Windows::rounded(window_bytes);
            let memory_plan = self.memory_plan(window_bytes, self.buffers());
            return if memory_plan.bytes <= budget {
                Ok(memory_plan)
            } else {
                Err(memory_plan.bytes)
            };
        }
        let mut window_bytes = self.usual_window();
        loop {
            let memory_plan = self.memory_plan(window_bytes, self.buffers());
            if memory_plan.bytes <= budget {
                return Ok(memory_plan);
            }
            if window_bytes == WINDOW_MIN {
                break;
            }
            window_bytes /= 2;
        }
        let fewer = (BUFFERS_MIN..self.buffers()).rev();
        let mut spaces = fewer.map(|buffers| self.memory_plan(WINDOW_MIN, buffers));
        spaces
            .find(|memory_plan| memory_plan.bytes <= budget)
            .ok_or_else(|| self.least().bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sizes(threads: usize) -> Sizes {
        Sizes {
            nodes: 1 << 20,
            edges: 1 << 25,
            weighted: true,
            streaming: Streaming::Lengths,
            wide: false,
            parents: false,
            threads,
            on_machine: false,
            keeping: Keeping::Never,
        }
    }

    #[test]
    fn windows_shrink_with_the_budget_down_to_the_least_that_is_named() {
        for threads in [1, 2, 16] {
            let sizes = sizes(threads);
            let free = sizes.plan(None, None, |_| true).unwrap();
            assert_eq!(free.buffers, threads as u64 + AHEAD);
            let least = sizes.plan(Some(0), None, |_| true).unwrap_err();
            assert_eq!(sizes.plan(Some(least - 1), None, |_| true), Err(least));
            let mut before = sizes.plan(Some(least), None, |_| true).unwrap();
            assert_eq!(before, sizes.least());
            while before != free {
                let budget = before.bytes + before.bytes / 8;
                let memory_plan = sizes.plan(Some(budget), None, |_| true).unwrap();
                assert!(memory_plan.bytes <= budget);
                assert!(memory_plan.window_bytes >= before.window_bytes);
                let next = sizes.plan(Some(budget), None, |_| true).unwrap();
                before = MemoryPlan {
                    bytes: before.bytes.max(budget),
                    ..next
                };
                if next == free {
                    before = free;
                }
            }
        }
    }

    #[test]
    fn an_asked_window_is_kept_or_refused() {
        let memory_plan = sizes(2).plan(None, Some(100), |_| true).unwrap();
        assert_eq!(memory_plan.window_bytes, 128);
        assert_eq!(
            sizes(2).plan(Some(memory_plan.bytes - 1), Some(100), |_| true),
            Err(memory_plan.bytes)
        );
    }
}
