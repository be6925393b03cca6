//! A narrow frontier in one block: iterations without a grid barrier.
//!
//! While one block searches, with its queues in shared memory, the others
//! wait at the next grid barrier. It hands back when the frontier grows too
//! wide for one block or nothing is left.

use super::drive::{choose, count_new};
use super::frontier::{Finds, Target, append};
use super::push::{Push, Row, SERIAL};
use super::visit::Visit;
use super::Search;
use crate::block::shared::{NARROW, NARROW_LEN, NARROW_NODES};
use crate::block::{block_scan, warp_scan};
use crate::control::{Place, Stop};
use crate::grid::Grid;
use crate::memory::Words;
use crate::team::Team;
use seawall_core::abi::control::FaultCode;
use seawall_core::abi::search::{DriveRecord, SearchPolicy};

/// Iterations between two looks at the clock.
const LOOK_MASK: u32 = 63;

/// What bounds a narrow run.
#[derive(Clone, Copy, Debug)]
pub struct Bounds<'a> {
    /// Thresholds.
    pub policy: &'a SearchPolicy,
    /// Iterations after which the loop ends.
    pub max_iterations: u32,
    /// Where the block is, for fault records.
    pub place: Place,
}

/// The two queues of a narrow search: a shared part, and an overflow in the
/// resident queue that was consumed when the search narrowed.
#[derive(Clone, Copy)]
struct Queues<G> {
    grid: G,
    overflow: Words,
}

impl<G: Grid> Queues<G> {
    #[inline(always)]
    fn len(self, which: u32) -> u32 {
        // SAFETY: a fixed word of shared memory.
        unsafe { self.grid.shared_load(NARROW_LEN + which) }
    }

    #[inline(always)]
    fn set_len(self, which: u32, len: u32) {
        // SAFETY: a fixed word of shared memory.
        unsafe { self.grid.shared_store(NARROW_LEN + which, len) };
    }

    #[inline(always)]
    fn get(self, which: u32, index: u32) -> u32 {
        if index >= NARROW_NODES {
            return self.overflow.load_weak(self.grid, index);
        }
        // SAFETY: the index was checked against the queue's length.
        unsafe { self.grid.shared_load(NARROW + which * NARROW_NODES + index) }
    }

    #[inline(always)]
    fn set(self, which: u32, index: u32, node: u32) {
        if index >= NARROW_NODES {
            self.overflow.store_weak(self.grid, index, node);
            return;
        }
        // SAFETY: the index was checked against the queue's length.
        unsafe { self.grid.shared_store(NARROW + which * NARROW_NODES + index, node) };
    }

    /// Appends every lane's finds; all lanes of the warp take part.
    #[inline(always)]
    fn append<const K: usize>(self, which: u32, finds: &Finds<K>) {
        if self.grid.ballot(finds.mask != 0) == 0 {
            return;
        }
        let (below, total) = warp_scan(self.grid, finds.mask.count_ones());
        let mut place = 0;
        if self.grid.warp_lane() == 0 {
            // SAFETY: a fixed word of shared memory.
            place = unsafe { self.grid.shared_add(NARROW_LEN + which, total) };
        }
        place = self.grid.shuffle(place, 0) + below;
        for (k, node) in finds.nodes.iter().enumerate() {
            if finds.mask >> k & 1 != 0 {
                self.set(which, place, *node);
                place += 1;
            }
        }
    }
}

/// How one narrow iteration went.
enum Pass {
    /// All edges of the frontier were visited.
    Done {
        /// Edges that this lane's rows had.
        edges: u32,
    },
    /// The frontier has too many edges for one block; none was visited.
    TooWide,
}

impl<V: Visit> Search<V> {
    /// Runs iterations in this block alone and leaves the frontier in a
    /// resident queue; `drive` describes it then.
    ///
    /// # Errors
    /// When the time budget ends or another block reports a fault.
    #[inline(never)]
    pub fn narrow<G: Grid>(
        &self,
        team: &Team<G>,
        drive: &mut DriveRecord,
        bounds: &Bounds<'_>,
    ) -> Result<u32, Stop> {
        let grid = team.grid;
        let queue = self.frontier.queue(drive.queue);
        let queues = Queues {
            grid,
            overflow: queue.nodes,
        };
        if grid.lane() == 0 {
            self.frontier.clear_found(grid, drive.step + 2);
        }
        self.load(queues, drive, queue.nodes);
        let first_iteration = drive.iteration;
        let mut which = 0;
        let mut explored = 0_u32;
        loop {
            let len = queues.len(which);
            // Everyone has read the length before anyone appends again.
            grid.block_barrier();
            let out_of_bounds =
                len > bounds.policy.narrow_exit_nodes.min(NARROW_NODES) || drive.iteration >= bounds.max_iterations;
            if len == 0 || (out_of_bounds && drive.iteration != first_iteration) {
                break;
            }
            let push = Push {
                visited: self.frontier.bitset(drive.visited),
                level: drive.iteration + 1,
            };
            match self.pass(queues, &push, (which, len), bounds.policy.narrow_edges) {
                Pass::TooWide => break,
                Pass::Done { edges } => explored = explored.saturating_add(edges),
            }
            if grid.lane() == 0 {
                queues.set_len(which, 0);
            }
            grid.block_barrier();
            which ^= 1;
            drive.frontier_max = drive.frontier_max.max(queues.len(which));
            drive.iteration += 1;
            if drive.iteration & LOOK_MASK == 0 {
                self.look(team, bounds, drive.iteration)?;
            }
        }
        self.hand_back(queues, drive, (which, explored), bounds.policy);
        Ok(drive.iteration - first_iteration)
    }

    /// Loads the resident queue into the first narrow one.
    #[inline(always)]
    fn load<G: Grid>(&self, queues: Queues<G>, drive: &DriveRecord, nodes: Words) {
        let grid = queues.grid;
        let mut index = grid.lane();
        while index < drive.nodes.min(NARROW_NODES) {
            queues.set(0, index, nodes.load_weak(grid, index));
            index += grid.lanes();
        }
        if grid.lane() == 0 {
            queues.set_len(0, drive.nodes);
            queues.set_len(1, 0);
        }
        grid.block_barrier();
    }

    /// Expands the `len` nodes of narrow queue `which` into the other one.
    #[inline(always)]
    fn pass<G: Grid>(
        &self,
        queues: Queues<G>,
        push: &Push,
        (which, len): (u32, u32),
        edges_max: u32,
    ) -> Pass {
        let grid = queues.grid;
        if G::WARP == 1 {
            return self.pass_alone(queues, push, (which, len), edges_max);
        }
        let row_at = |index: u32| {
            if index >= len {
                return Row::NONE;
            }
            let node = queues.get(which, index);
            let (start, end) = self.outgoing.row(grid, node);
            Row { node, start, end }
        };
        let first = row_at(grid.lane());
        let mut edges = first.degree();
        let mut large = edges > SERIAL;
        let mut index = grid.lanes() + grid.lane();
        while index < len {
            let degree = row_at(index).degree();
            edges += degree;
            large |= degree > SERIAL;
            index += grid.lanes();
        }
        let large = grid.block_any(large);
        if large && block_scan(grid, edges).1 > edges_max {
            return Pass::TooWide;
        }
        let mut row = first;
        let mut base = 0;
        loop {
            let sink = |finds: &Finds<8>| queues.append(which ^ 1, finds);
            if large {
                self.expand_together(grid, push, row, sink);
            } else {
                self.expand_serially(grid, push, row, sink);
            }
            base += grid.lanes();
            if base >= len {
                break;
            }
            row = row_at(base + grid.lane());
        }
        grid.block_barrier();
        Pass::Done { edges }
    }

    /// The same by one lane without neighbours.
    #[inline(always)]
    fn pass_alone<G: Grid>(
        &self,
        queues: Queues<G>,
        push: &Push,
        (which, len): (u32, u32),
        edges_max: u32,
    ) -> Pass {
        let grid = queues.grid;
        let mut edges = 0_u32;
        for index in 0..len {
            let (start, end) = self.outgoing.row(grid, queues.get(which, index));
            edges = edges.saturating_add(end - start);
        }
        if edges > edges_max {
            return Pass::TooWide;
        }
        for index in 0..len {
            let node = queues.get(which, index);
            let (start, end) = self.outgoing.row(grid, node);
            self.expand_alone(grid, push, Row { node, start, end }, |finds| {
                queues.append(which ^ 1, finds);
            });
        }
        Pass::Done { edges }
    }

    #[inline(never)]
    fn look<G: Grid>(&self, team: &Team<G>, bounds: &Bounds<'_>, iteration: u32) -> Result<(), Stop> {
        let late = team.grid.lane() == 0 && (team.is_late() || team.control.is_stopped(team.grid));
        if !team.grid.block_any(late) {
            return Ok(());
        }
        let place = Place {
            iteration,
            ..bounds.place
        };
        Err(team.control.fault(team.grid, FaultCode::TimeBudget, place))
    }

    /// Moves the frontier to the other resident queue and brings the books up
    /// to date.
    #[inline(always)]
    fn hand_back<G: Grid>(
        &self,
        queues: Queues<G>,
        drive: &mut DriveRecord,
        (which, explored): (u32, u32),
        policy: &SearchPolicy,
    ) {
        let grid = queues.grid;
        let (_, explored) = block_scan(grid, explored);
        drive.unexplored_edges = drive
            .unexplored_edges
            .saturating_sub(explored.saturating_sub(drive.edges));
        let len = queues.len(which);
        let target = Target {
            step: drive.step + 1,
            parity: drive.queue ^ 1,
            rows: self.outgoing,
        };
        let mut base = 0;
        while base < len {
            let index = base + grid.lane();
            let inside = index < len;
            let finds = Finds {
                nodes: [if inside { queues.get(which, index) } else { 0 }],
                mask: u32::from(inside),
            };
            append(grid, self.frontier, target, &finds);
            base += grid.lanes();
        }
        grid.block_barrier();
        drive.step += 1;
        drive.queue ^= 1;
        let found = self.frontier.found(grid, drive.step);
        count_new(drive, found.queued_nodes, found.queued_edges);
        choose(drive, policy);
    }
}
