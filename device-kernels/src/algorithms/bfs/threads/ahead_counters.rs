//! The lists and counters of threads that search several levels ahead, in the words of a search's
//! resident queues.

use super::thread_group::ThreadGroup;
use crate::algorithms::bfs::current::Search;
use crate::machine::memory::Proven;
use crate::machine::{Grid, THREAD_GROUP_MAX};

/// Nodes of a graph from which on its queues have space for counters.
pub const NODES_LEAST: u32 = 1 << 14;

/// Most levels between two meetings.
pub(crate) const LEVELS: usize = 32;

/// Words of a page of the counters.
const PAGE: u32 = 128;

/// The counters of a thread between two meetings, by levels after the first one: of the frontier
/// itself, then of the levels that it finds.
#[derive(Clone, Copy)]
pub(crate) struct Page {
    /// Nodes with edges that the thread found, minus those that it lowered; modulo 2^32.
    pub(crate) nodes: [u32; LEVELS + 1],
    /// Edges of these nodes; modulo 2^32.
    pub(crate) edges: [u32; LEVELS + 1],
    /// Entries of the thread's list up to the end of the level.
    pub(crate) ends: [u32; LEVELS + 1],
    /// Entries that the thread invalidated, its own or others'.
    pub(crate) voids: u32,
}

impl Page {
    /// Counters of a list of `entries` entries, all of the first level.
    pub(crate) fn of_entries(entries: u32) -> Self {
        Self {
            nodes: [0; LEVELS + 1],
            edges: [0; LEVELS + 1],
            ends: [entries; LEVELS + 1],
            voids: 0,
        }
    }

    /// Counts nodes with edges that were found in a level.
    #[inline(always)]
    pub(crate) fn found(&mut self, level: u32, nodes: u32, edges: u32) {
        let at = level as usize;
        if let (Some(all), Some(all_edges)) = (self.nodes.get_mut(at), self.edges.get_mut(at)) {
            *all = all.wrapping_add(nodes);
            *all_edges = all_edges.wrapping_add(edges);
        }
    }

    /// Subtracts a node with these edges that was found in a level.
    pub(crate) fn lowered(&mut self, level: u32, degree: u32) {
        let nodes = u32::from(degree != 0);
        self.found(level, nodes.wrapping_neg(), degree.wrapping_neg());
        self.voids = self.voids.saturating_add(1);
    }
}

const _: () = assert!(3 * (LEVELS + 1) < PAGE as usize);
const _: () = assert!(2 * THREAD_GROUP_MAX as u32 * PAGE <= NODES_LEAST);

/// The places of a run: lists of nodes take turns with the resident queues' nodes, the rest is in
/// their other words.
#[derive(Clone, Copy)]
pub(crate) struct Places {
    pub(crate) group: ThreadGroup,
    lists: [Proven; 2],
    /// The tentative level of each node.
    pub(crate) tentative: Proven,
    books: Proven,
}

impl Places {
    pub(crate) fn of(search: &Search, group: ThreadGroup) -> Self {
        let [first, second] = [0, 1].map(|parity| search.frontier.queue(parity));
        Self {
            group,
            lists: [first.nodes, second.nodes],
            tentative: second.starts,
            books: second.prefix,
        }
    }

    #[inline(always)]
    pub(crate) fn list(&self, parity: u32) -> Proven {
        self.lists[parity as usize & 1]
    }

    /// First word of the page of thread `rank` in the counters of turn `parity`.
    #[inline(always)]
    fn page(&self, parity: u32, rank: u32) -> u32 {
        ((parity & 1) * THREAD_GROUP_MAX as u32 + rank) * PAGE
    }

    pub(crate) fn publish<G: Grid>(&self, grid: G, parity: u32, page: &Page) {
        let first = self.page(parity, self.group.rank);
        let words = page.nodes.iter().chain(&page.edges).chain(&page.ends);
        let words = words.chain([&page.voids]);
        for (at, word) in (first..).zip(words) {
            self.books.store_weak(grid, at, *word);
        }
    }

    /// Entries of thread `rank` in `level`, by their first one and the one after the last.
    #[inline(always)]
    pub(crate) fn entries<G: Grid>(
        &self,
        grid: G,
        parity: u32,
        rank: u32,
        level: u32,
    ) -> (u32, u32) {
        let ends = self.page(parity, rank) + 2 * (LEVELS as u32 + 1);
        let end = |level: u32| self.books.load_weak(grid, ends + level);
        let first = if level == 0 { 0 } else { end(level - 1) };
        (first, end(level))
    }

    /// Nodes with edges that all threads found in `level`, and their edges.
    pub(crate) fn found<G: Grid>(&self, grid: G, parity: u32, level: u32) -> (u32, u32) {
        let (mut nodes, mut edges) = (0_u32, 0_u32);
        for rank in 0..self.group.threads {
            let at = self.page(parity, rank) + level;
            nodes = nodes.wrapping_add(self.books.load_weak(grid, at));
            edges = edges.wrapping_add(self.books.load_weak(grid, at + LEVELS as u32 + 1));
        }
        (nodes, edges)
    }

    /// Entries that thread `rank` invalidated.
    pub(crate) fn voids<G: Grid>(&self, grid: G, parity: u32, rank: u32) -> u32 {
        let at = self.page(parity, rank) + 3 * (LEVELS as u32 + 1);
        self.books.load_weak(grid, at)
    }
}
