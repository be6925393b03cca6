//! Pull: every node not yet visited searches for a visited neighbour.
//!
//! A visited neighbour of a node that is not yet visited is always in the current frontier, or the
//! node would have been found before. So a pull needs only the visited bits of the last step, and
//! writing the new ones to the other bitset separates readers and writers without an atomic.
//!
//! A search that only determines reachability goes ahead: pulls write where they read, so nodes
//! that were just found count as visited for the rest of the step. The other bitset then has the
//! previous bits.

use super::current::Search;
use super::shared_drive;
use super::visit::Discovery;
use crate::collectives::block::block_scan;
use crate::collectives::context::ContextRef;
use crate::collectives::team::Team;
use crate::machine::Grid;
use crate::machine::memory::Proven;
use crate::machine::shared::gathered_nodes;
use seawall_core::abi::search::DriveRecord;

/// Incoming edges that a lane tries alone before its warp helps.
const ALONE: u32 = 32;

/// No node, for lanes that found no parent.
pub(crate) const NOBODY: u32 = u32::MAX;

/// Nodes that a lane found in its share of a pull, and their edges.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Tally {
    nodes: u32,
    edges: u32,
}

/// The bitsets of one pull, and the level of the nodes that it finds.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pull {
    pub(crate) visited: Proven,
    after: Proven,
    /// Place for the previous bits, if they do not stay in place.
    before: Option<Proven>,
    level: u32,
}

impl Pull {
    /// Stores the previous bits of `word`, and those that were found.
    #[inline(always)]
    pub(crate) fn store<G: Grid>(&self, grid: G, word: u32, visited: u32, found: u32) {
        if let Some(before) = self.before {
            before.store_weak(grid, word, visited);
        }
        self.after.store_weak(grid, word, visited | found);
    }
}

/// Pull, one warp per word of the bitset.
#[inline(never)]
pub fn pull<G: Grid>(cx: ContextRef<G>) {
    Search::current(cx.grid()).pull_words(&cx.context().team);
}

/// Pull, one block per tile of the bitset.
#[inline(never)]
pub fn pull_gathered<G: Grid>(cx: ContextRef<G>) {
    Search::current(cx.grid()).pull_tiles(&cx.context().team);
}

impl Search {
    /// Pull, one warp per word of the bitset.
    #[inline(always)]
    fn pull_words<G: Grid>(&self, team: &Team<G>) {
        let drive = &shared_drive::read(team.grid);
        let pull = self.open_pull(drive);
        let mut tally = Tally::default();
        let (warp, warps) = team.warps();
        let mut word = warp;
        while word < self.frontier.bitset_words() {
            self.pull_word(team.grid, &pull, word, &mut tally);
            word += warps;
        }
        self.close_pull(team, drive, tally);
    }

    #[inline(always)]
    pub(crate) fn open_pull(&self, drive: &DriveRecord) -> Pull {
        let [visited, other] = [0, 1].map(|other| self.frontier.bitset(drive.visited ^ other));
        let ahead = drive.ahead != 0;
        Pull {
            visited,
            after: if ahead { visited } else { other },
            before: ahead.then_some(other),
            level: drive.iteration + 1,
        }
    }

    #[inline(always)]
    pub(crate) fn close_pull<G: Grid>(&self, team: &Team<G>, drive: &DriveRecord, tally: Tally) {
        let (_, nodes) = block_scan(team.grid, tally.nodes);
        let (_, edges) = block_scan(team.grid, tally.edges);
        if team.grid.lane() == 0 && nodes != 0 {
            self.frontier
                .add_marked(team.grid, drive.step + 1, nodes, edges);
        }
    }

    #[inline(always)]
    fn pull_word<G: Grid>(&self, grid: G, pull: &Pull, word: u32, tally: &mut Tally) {
        let visited = pull.visited.load_weak(grid, word);
        let mut found = 0;
        if visited != u32::MAX {
            let mut first = 0;
            while first < 32 {
                found |= self.pull_lanes(grid, pull, word, first, visited, tally) << first;
                first += G::WARP;
            }
        }
        if grid.warp_lane() == 0 {
            pull.store(grid, word, visited, found);
        }
    }

    /// The nodes of bitset word `word` that are not among the `visited` ones.
    #[inline(always)]
    pub(crate) fn open_bits(&self, word: u32, visited: u32) -> u32 {
        let nodes_left = self.frontier.nodes().saturating_sub(word * 32);
        let exist = if nodes_left >= 32 {
            u32::MAX
        } else {
            (1 << nodes_left) - 1
        };
        !visited & exist
    }

    /// Pulls for adjacent nodes, one per lane, and returns the bits of those that
    /// found a parent.
    #[inline(always)]
    fn pull_lanes<G: Grid>(
        &self,
        grid: G,
        pull: &Pull,
        word: u32,
        first: u32,
        visited: u32,
        tally: &mut Tally,
    ) -> u32 {
        let bit = first + grid.warp_lane();
        let node = word * 32 + bit;
        let open = node < self.frontier.nodes() && visited >> bit & 1 == 0;
        let (start, end) = if open {
            self.incoming.row(grid, node)
        } else {
            (0, 0)
        };
        let alone = end.min(start.saturating_add(ALONE));
        let mut parent = self.try_edges(grid, pull, start, alone);
        let mut waiting = grid.ballot(parent == NOBODY && alone < end);
        while waiting != 0 {
            let lane = waiting.trailing_zeros();
            waiting &= waiting - 1;
            let from = grid.shuffle(alone, lane);
            let to = grid.shuffle(end, lane);
            let helped = self.try_together(grid, pull, from, to);
            if grid.warp_lane() == lane {
                parent = helped;
            }
        }
        if parent != NOBODY {
            self.found(grid, pull, node, parent, tally);
        }
        grid.ballot(parent != NOBODY)
    }

    /// Records a node and its parent.
    #[inline(always)]
    pub(crate) fn found<G: Grid>(
        &self,
        grid: G,
        pull: &Pull,
        node: u32,
        from: u32,
        tally: &mut Tally,
    ) {
        let level = pull.level;
        self.visit.discovered(grid, Discovery { node, from, level });
        let (start, end) = self.outgoing.row(grid, node);
        tally.nodes += 1;
        tally.edges += end - start;
    }

    #[inline(always)]
    fn is_visited<G: Grid>(grid: G, pull: &Pull, node: u32) -> bool {
        pull.visited.load_weak(grid, node >> 5) >> (node & 31) & 1 != 0
    }

    /// The first visited source of the edges `start..end` or [`NOBODY`], by one lane,
    /// four edges at a time: codegen rule `LOADS_TOGETHER`.
    #[inline(always)]
    pub(crate) fn try_edges<G: Grid>(&self, grid: G, pull: &Pull, start: u32, end: u32) -> u32 {
        let mut edge = start;
        while edge + 4 <= end {
            let nodes = [0, 1, 2, 3].map(|k| self.incoming.target(grid, edge + k));
            let hits = nodes.map(|node| Self::is_visited(grid, pull, node));
            // Codegen rule `NO_INDEXED_ARRAYS`.
            let mut parent = NOBODY;
            for (node, hit) in nodes.iter().zip(&hits).rev() {
                parent = if *hit { *node } else { parent };
            }
            if parent != NOBODY {
                return parent;
            }
            edge += 4;
        }
        while edge < end {
            let node = self.incoming.target(grid, edge);
            if Self::is_visited(grid, pull, node) {
                return node;
            }
            edge += 1;
        }
        NOBODY
    }

    /// A visited source of the edges `start..end` or [`NOBODY`], by all lanes of
    /// a warp.
    #[inline(always)]
    fn try_together<G: Grid>(&self, grid: G, pull: &Pull, start: u32, end: u32) -> u32 {
        let mut base = start;
        while base < end {
            let edge = base + grid.warp_lane();
            let mut node = 0;
            let mut hit = false;
            if edge < end {
                node = self.incoming.target(grid, edge);
                hit = Self::is_visited(grid, pull, node);
            }
            let hits = grid.ballot(hit);
            if hits != 0 {
                return grid.shuffle(node, hits.trailing_zeros());
            }
            base = base.saturating_add(G::WARP);
        }
        NOBODY
    }

    /// Pull, one block per tile of words. Its unvisited nodes are first gathered in shared memory,
    /// so that even few of them keep all lanes busy.
    #[inline(always)]
    fn pull_tiles<G: Grid>(&self, team: &Team<G>) {
        let drive = &shared_drive::read(team.grid);
        let pull = self.open_pull(drive);
        let mut tally = Tally::default();
        let words = self.frontier.bitset_words();
        // Four unvisited nodes per lane fit, so a tile has one word for every eight
        // lanes.
        let tile = team.grid.lanes() / 8;
        let mut base = team.rank() * tile;
        while base < words {
            self.pull_tile(team.grid, &pull, base, tile.min(words - base), &mut tally);
            base += team.size() * tile;
        }
        self.close_pull(team, drive, tally);
    }

    #[inline(always)]
    fn pull_tile<G: Grid>(&self, grid: G, pull: &Pull, base: u32, words: u32, tally: &mut Tally) {
        let lane = grid.lane();
        let mut open = 0;
        if lane < words {
            let visited = pull.visited.load_weak(grid, base + lane);
            pull.store(grid, base + lane, visited, 0);
            open = self.open_bits(base + lane, visited);
        }
        let gathered = gathered_nodes::<G>();
        let (mut at, total) = block_scan(grid, open.count_ones());
        while open != 0 {
            // SAFETY: a tile of `lanes / 8` words has at most four open nodes per lane.
            unsafe { gathered.store(grid, at, (base + lane) * 32 + open.trailing_zeros()) };
            at += 1;
            open &= open - 1;
        }
        grid.block_barrier();
        let mut first = 0;
        while first < total {
            let index = first + lane;
            if index < total {
                // SAFETY: `index` is below the number of gathered nodes.
                let node = unsafe { gathered.load(grid, index) };
                self.pull_node(grid, pull, node, tally);
            }
            first += grid.lanes();
        }
        grid.block_barrier();
    }

    #[inline(always)]
    fn pull_node<G: Grid>(&self, grid: G, pull: &Pull, node: u32, tally: &mut Tally) {
        let (start, end) = self.incoming.row(grid, node);
        let parent = self.try_edges(grid, pull, start, end);
        if parent != NOBODY {
            pull.after.or(grid, node >> 5, 1 << (node & 31));
            self.found(grid, pull, node, parent, tally);
        }
    }
}
