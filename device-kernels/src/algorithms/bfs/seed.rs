//! The sources of a search, put into a freshly reset frontier.

use super::current::Search;
use super::drive;
use super::frontier::{Frontier, Target};
use super::fused::reach;
use super::visit::Discovery;
use crate::collectives::queue::{Finds, append};
use crate::collectives::team::Team;
use crate::machine::Grid;
use crate::machine::memory::{Words, is_node};
use seawall_core::abi::UNREACHED;
use seawall_core::abi::search::{DriveRecord, SearchPolicy};

impl Search {
    /// Seeds the frontier with `sources`, in the first block alone, since they are few. Duplicates
    /// count once, [`UNREACHED`] is ignored; other sources outside the graph are recorded as
    /// faults.
    #[inline(never)]
    pub fn seed<G: Grid>(&self, team: &Team<G>, sources: Words, edges: u32, policy: &SearchPolicy) {
        if !team.is_first() {
            return;
        }
        let grid = team.grid;
        let lanes = grid.lanes();
        let mut base = 0;
        while base < sources.len() {
            self.seed_tile(grid, sources, base);
            base += lanes;
        }
        grid.block_barrier();
        if grid.lane() == 0 {
            // The number of blocks that will search decides which frontiers are narrow.
            let policy = &drive::policy_for::<G>(policy, reach(team));
            let first = DriveRecord {
                unexplored_edges: edges,
                ahead: self.visit.goes_ahead().into(),
                ..DriveRecord::default()
            };
            start(grid, self.frontier, first, policy);
        }
    }

    #[inline(always)]
    fn seed_tile<G: Grid>(&self, grid: G, sources: Words, base: u32) {
        let index = base + grid.lane();
        let node = if index < sources.len() {
            sources.load_weak(grid, index)
        } else {
            UNREACHED
        };
        let visited = self.frontier.bitset(0);
        let is_new = is_node(grid, node, self.frontier.nodes()) && {
            let bit = 1 << (node & 31);
            visited.or(grid, node >> 5, bit) & bit == 0
        };
        if is_new {
            let (from, level) = (node, 0);
            self.visit.discovered(grid, Discovery { node, from, level });
        }
        let target = Target {
            step: 0,
            parity: 0,
            rows: self.outgoing,
        };
        let finds = Finds {
            nodes: [node],
            mask: u32::from(is_new),
        };
        append(grid, &self.frontier.next(target), &finds);
    }
}

/// Writes the first drive record.
fn start<G: Grid>(grid: G, frontier: Frontier, mut first: DriveRecord, policy: &SearchPolicy) {
    let found = frontier.found(grid, 0);
    first.topology = u32::MAX;
    drive::count_new(&mut first, found.queued_nodes, found.queued_edges);
    drive::choose::<G>(&mut first, policy);
    frontier.set_drive(grid, 0, &first);
}
