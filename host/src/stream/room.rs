//! Memory of a streamed run: what stays in memory, and windows from what the budget leaves.

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

/// Windows for each buffer of a small file, so that there is something to leave out.
const WINDOWS_EACH: u64 = 4;

/// The sizes that memory depends on.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sizes {
    pub(super) nodes: u32,
    pub(super) edges: u64,
    pub(super) weighted: bool,
    pub(super) streaming: Streaming,
    /// Whether distances have 64 bits.
    pub(super) wide: bool,
    /// Whether parents follow.
    pub(super) parents: bool,
    /// Threads that compute, or windows that a kernel on a machine has at a time.
    pub(super) threads: usize,
    /// Whether such a kernel computes.
    pub(super) on_machine: bool,
}

/// The memory of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Room {
    pub(super) window_bytes: u64,
    pub(super) buffers: u64,
    /// Bytes of everything.
    pub(super) bytes: u64,
}

impl Sizes {
    /// Bytes of the values of nodes and the starts of rows.
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

    /// Bytes of lists that grow with `count` windows.
    fn window_lists(&self, count: u64) -> u64 {
        let searches = match self.streaming {
            Streaming::Levels | Streaming::Reached | Streaming::Lengths => true,
            Streaming::Components | Streaming::Ranks => false,
        };
        if self.on_machine {
            // Bits of this pass and the next one; three words for a window there, one here.
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

    /// The run with windows of `window_bytes` in `buffers` buffers.
    fn room(&self, window_bytes: u64, buffers: u64) -> Room {
        let windows = Windows::list_bytes(self.edges, window_bytes);
        let count = windows / 4;
        let lists = windows + self.window_lists(count);
        let memory = buffers * Windows::buffer_bytes_of(window_bytes, self.weighted);
        Room {
            window_bytes,
            buffers,
            bytes: self.node_bytes() + lists + memory,
        }
    }

    fn buffers(&self) -> u64 {
        self.threads as u64 + AHEAD
    }

    /// The least memory that works.
    pub(super) fn least(&self) -> Room {
        self.room(WINDOW_MIN, BUFFERS_MIN)
    }

    /// The memory of a run with windows of `asked` bytes, by default the largest that `budget`
    /// leaves room for.
    ///
    /// # Errors
    /// The least bytes that work.
    pub(super) fn plan(&self, budget: Option<u64>, asked: Option<u64>) -> Result<Room, u64> {
        let budget = budget.unwrap_or(u64::MAX);
        if let Some(window_bytes) = asked {
            let window_bytes = Windows::rounded(window_bytes);
            let room = self.room(window_bytes, self.buffers());
            return if room.bytes <= budget {
                Ok(room)
            } else {
                Err(room.bytes)
            };
        }
        let each = 4 * self.edges / (WINDOWS_EACH * self.buffers());
        let mut window_bytes = each.next_power_of_two().clamp(WINDOW_MIN, WINDOW_MAX);
        loop {
            let room = self.room(window_bytes, self.buffers());
            if room.bytes <= budget {
                return Ok(room);
            }
            if window_bytes == WINDOW_MIN {
                break;
            }
            window_bytes /= 2;
        }
        let fewer = (BUFFERS_MIN..self.buffers()).rev();
        let mut rooms = fewer.map(|buffers| self.room(WINDOW_MIN, buffers));
        rooms
            .find(|room| room.bytes <= budget)
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
        }
    }

    #[test]
    fn windows_shrink_with_the_budget_down_to_the_least_that_is_named() {
        for threads in [1, 2, 16] {
            let sizes = sizes(threads);
            let free = sizes.plan(None, None).unwrap();
            assert_eq!(free.buffers, threads as u64 + AHEAD);
            let least = sizes.plan(Some(0), None).unwrap_err();
            assert_eq!(sizes.plan(Some(least - 1), None), Err(least));
            let mut before = sizes.plan(Some(least), None).unwrap();
            assert_eq!(before, sizes.least());
            while before != free {
                let budget = before.bytes + before.bytes / 8;
                let room = sizes.plan(Some(budget), None).unwrap();
                assert!(room.bytes <= budget);
                assert!(room.window_bytes >= before.window_bytes);
                let next = sizes.plan(Some(budget), None).unwrap();
                before = Room {
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
        let room = sizes(2).plan(None, Some(100)).unwrap();
        assert_eq!(room.window_bytes, 128);
        assert_eq!(
            sizes(2).plan(Some(room.bytes - 1), Some(100)),
            Err(room.bytes)
        );
    }
}
