//! A narrow frontier in one block: iterations without a grid barrier.
//!
//! While one block searches, with its queues in shared memory, the others
//! wait at the next grid barrier. A frontier that fits one warp is searched by
//! the block's first warp alone, without even a block barrier. The block hands
//! back when the frontier grows too wide or nothing is left.

use super::drive::{choose, count_new};
use super::frontier::{Finds, Target, append};
use super::narrow_queue::{Queues, Word};
use super::push::{Push, Row, SERIAL};
use super::visit::Visit;
use super::{Search, shared_drive};
use crate::block::block_scan;
use crate::block::shared::narrow_nodes;
use crate::control::{Place, Stop};
use crate::grid::Grid;
use crate::machine::Machine;
use crate::team::Team;
use seawall_core::abi::control::FaultCode;
use seawall_core::abi::search::{DriveRecord, SearchPolicy};

/// Iterations between two looks at the clock.
const LOOK_MASK: u32 = 255;

/// Largest degree that a warp walks alone.
const WARP_DEGREE: u32 = 64;

/// What bounds a narrow run.
#[derive(Clone, Copy, Debug)]
pub struct Bounds {
    /// The tables, for the thresholds.
    pub machine: Machine,
    /// Iterations after which the loop ends.
    pub max_iterations: u32,
    /// Where the block is, for fault records.
    pub place: Place,
}

/// Where a narrow run stands; the same in every lane, but for `explored`.
#[derive(Clone, Copy, Debug)]
struct Run {
    /// Nodes of the frontier.
    len: u32,
    /// Which of the queues holds it.
    parity: u32,
    /// Which of the lengths is its length.
    turn: u32,
    /// Iterations done.
    iteration: u32,
    /// Largest frontier so far.
    frontier_max: u32,
    /// Edges that this lane's rows had.
    explored: u32,
}

/// Whether an iteration visited all edges of the frontier, or none because
/// they were too many.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Pass {
    Done,
    TooWide,
}

impl<V: Visit> Search<V> {
    /// Runs iterations in this block alone and leaves the frontier in a
    /// resident queue, which drive record `slot` then describes. Gives the
    /// iterations run.
    ///
    /// # Errors
    /// When the time budget ends or another block reports a fault.
    #[inline(never)]
    pub fn narrow<G: Grid>(&self, team: &Team<G>, slot: u32, bounds: &Bounds) -> Result<u32, Stop> {
        let grid = team.grid;
        let drive = &shared_drive::read(grid);
        let policy = &bounds.machine.search_policy(grid);
        let queues = Queues::new(grid, self.frontier.queue(drive.queue).nodes);
        if grid.lane() == 0 {
            self.frontier.clear_found(grid, drive.step + 2);
        }
        queues.fill(drive.nodes);
        let mut run = Run {
            len: drive.nodes,
            parity: 0,
            turn: 0,
            iteration: drive.iteration,
            frontier_max: drive.frontier_max,
            explored: 0,
        };
        let widest = policy.narrow_exit_nodes.min(narrow_nodes::<G>());
        let mut pass = Pass::Done;
        while run.len != 0
            && pass == Pass::Done
            && run.iteration < bounds.max_iterations
            && (run.len <= widest || run.iteration == drive.iteration)
        {
            let stuck = G::WARP != 1
                && run.len <= G::WARP
                && self.run_warp(queues, drive.visited, &mut run, bounds.max_iterations);
            // The warp may have used up the last iteration.
            let goes_on = run.iteration < bounds.max_iterations;
            if goes_on && (G::WARP == 1 || stuck || run.len > G::WARP) {
                pass = self.run_block(queues, drive.visited, &mut run, policy.narrow_edges);
            }
            if stuck || run.iteration & LOOK_MASK == 0 {
                self.look(team, bounds, run.iteration)?;
            }
        }
        let iterations = run.iteration - drive.iteration;
        let edges = self.hand_back(queues, drive, &run);
        if grid.lane() == 0 {
            let next = self.close(grid, (drive, edges), &run, policy);
            self.frontier.set_drive(grid, slot, &next);
        }
        Ok(iterations)
    }

    #[inline(always)]
    fn push_of(&self, visited: u32, run: &Run) -> Push {
        Push {
            visited: self.frontier.bitset(visited),
            level: run.iteration + 1,
        }
    }

    /// Iterations by the first warp, while the frontier fits it; the other
    /// warps wait. True when the whole block must take the next iteration or
    /// it is time to look at the clock.
    #[inline(always)]
    fn run_warp<G: Grid>(
        &self,
        queues: Queues<G>,
        visited: u32,
        run: &mut Run,
        max_iterations: u32,
    ) -> bool {
        let grid = queues.grid;
        if grid.lane() < G::WARP {
            let mut stuck = false;
            while run.len != 0 && run.len <= G::WARP && run.iteration < max_iterations && !stuck {
                stuck = !self.pass_warp(queues, visited, run);
                if !stuck && run.iteration & LOOK_MASK == 0 {
                    break;
                }
            }
            if grid.lane() == 0 {
                queues.tell(Word::Len, run.len);
                queues.tell(Word::Iteration, run.iteration);
                queues.tell(Word::Parity, run.parity);
                queues.tell(Word::Stuck, u32::from(stuck));
                queues.tell(Word::Widest, run.frontier_max);
                queues.set_len(0, run.len);
                queues.set_len(1, 0);
            }
        }
        grid.block_barrier();
        run.len = queues.told(Word::Len);
        run.iteration = queues.told(Word::Iteration);
        run.parity = queues.told(Word::Parity);
        run.frontier_max = queues.told(Word::Widest);
        run.turn = 0;
        let stuck = queues.told(Word::Stuck) != 0;
        // Everyone has read before the first warp may tell again.
        grid.block_barrier();
        stuck
    }

    /// One iteration by one warp; false when a degree is too large for it.
    #[inline(always)]
    fn pass_warp<G: Grid>(&self, queues: Queues<G>, visited: u32, run: &mut Run) -> bool {
        let grid = queues.grid;
        let row = self.narrow_row(queues, run, grid.lane());
        let degree = row.degree();
        if grid.ballot(degree > WARP_DEGREE) != 0 {
            return false;
        }
        let push = self.push_of(visited, run);
        let mut len = 0;
        let mut rest = row;
        while grid.ballot(rest.start < rest.end) != 0 {
            let head = Row {
                end: rest.end.min(rest.start + 2),
                ..rest
            };
            let finds = self.visit_row::<G, 2, false>(grid, &push, head);
            queues.append_alone(run.parity ^ 1, &mut len, &finds);
            rest.start = head.end;
        }
        grid.warp_barrier();
        run.explored += degree;
        run.advance(len);
        true
    }

    /// Row `index` of the narrow frontier, or none behind its end.
    #[inline(always)]
    fn narrow_row<G: Grid>(&self, queues: Queues<G>, run: &Run, index: u32) -> Row {
        if index >= run.len {
            return Row::NONE;
        }
        let node = queues.get(run.parity, index);
        let (start, end) = self.outgoing.row(queues.grid, node);
        Row { node, start, end }
    }

    /// One iteration by the whole block.
    #[inline(always)]
    fn run_block<G: Grid>(
        &self,
        queues: Queues<G>,
        visited: u32,
        run: &mut Run,
        edges_max: u32,
    ) -> Pass {
        let grid = queues.grid;
        let push = self.push_of(visited, run);
        let lanes = grid.lanes();
        let first = self.narrow_row(queues, run, grid.lane());
        let mut edges = first.degree();
        let mut large = edges > SERIAL;
        let mut index = lanes + grid.lane();
        while index < run.len {
            let degree = self.narrow_row(queues, run, index).degree();
            edges = edges.saturating_add(degree);
            large |= degree > SERIAL;
            index += lanes;
        }
        if grid.lane() == 0 {
            // Nobody reads this length any more, and nobody adds to it before
            // the next barrier.
            queues.set_len(run.turn + 2, 0);
        }
        let large = grid.block_any(large);
        if large && block_scan(grid, edges).1 > edges_max {
            return Pass::TooWide;
        }
        let next = (run.parity ^ 1, run.turn + 1);
        let mut row = first;
        let mut base = 0;
        loop {
            if G::WARP == 1 {
                self.expand_alone(grid, &push, row, |finds| queues.append(next, finds));
            } else if large {
                self.expand_together(grid, &push, row, |finds| queues.append(next, finds));
            } else {
                self.expand_serially::<G, 4, false>(grid, &push, row, |finds| {
                    queues.append(next, finds);
                });
            }
            base += lanes;
            if base >= run.len {
                break;
            }
            row = self.narrow_row(queues, run, base + grid.lane());
        }
        grid.block_barrier();
        run.turn += 1;
        run.explored = run.explored.saturating_add(edges);
        run.advance(queues.len(run.turn));
        Pass::Done
    }

    #[inline(never)]
    fn look<G: Grid>(&self, team: &Team<G>, bounds: &Bounds, iteration: u32) -> Result<(), Stop> {
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

    /// Moves the frontier to the other resident queue; gives the edges that
    /// the block explored.
    #[inline(always)]
    fn hand_back<G: Grid>(&self, queues: Queues<G>, drive: &DriveRecord, run: &Run) -> u32 {
        let grid = queues.grid;
        let (_, explored) = block_scan(grid, run.explored);
        let target = Target {
            step: drive.step + 1,
            parity: drive.queue ^ 1,
            rows: self.outgoing,
        };
        let mut base = 0;
        while base < run.len {
            let index = base + grid.lane();
            let inside = index < run.len;
            let finds = Finds {
                nodes: [if inside {
                    queues.get(run.parity, index)
                } else {
                    0
                }],
                mask: u32::from(inside),
            };
            append(grid, self.frontier, target, &finds);
            base += grid.lanes();
        }
        grid.block_barrier();
        explored
    }

    /// The drive record after the run, by one lane.
    #[inline(never)]
    fn close<G: Grid>(
        &self,
        grid: G,
        (before, explored): (&DriveRecord, u32),
        run: &Run,
        policy: &SearchPolicy,
    ) -> DriveRecord {
        let mut drive = DriveRecord {
            step: before.step + 1,
            queue: before.queue ^ 1,
            iteration: run.iteration,
            frontier_max: run.frontier_max,
            unexplored_edges: before
                .unexplored_edges
                .saturating_sub(explored.saturating_sub(before.edges)),
            ..*before
        };
        let found = self.frontier.found(grid, drive.step);
        count_new(&mut drive, found.queued_nodes, found.queued_edges);
        choose::<G>(&mut drive, policy);
        drive
    }
}

impl Run {
    /// Takes the next frontier, of `len` nodes.
    #[inline(always)]
    fn advance(&mut self, len: u32) {
        self.len = len;
        self.parity ^= 1;
        self.iteration += 1;
        self.frontier_max = self.frontier_max.max(len);
    }
}
