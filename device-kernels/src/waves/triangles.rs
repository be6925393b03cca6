//! Triangles at every node of a symmetric graph.
//!
//! Every edge is kept in one direction ([`orient`](super::orient)), so a triangle is
//! found once, from its lowest corner `a`: its corner `c` is in the row of `a` and in the
//! row of a node `b` that is in the row of `a`. The row of `a` lies in shared memory with
//! a small hash table, in which lanes look up the rows of all `b`. Triangles are counted
//! there too, so counting costs one atomic addition to device memory per edge and not per
//! triangle.
//!
//! A node is a corner of at most as many triangles as the graph has edges, so counts fit
//! a word.

use super::deal::{each_left, each_part, warp_sum};
use super::held_rows::{Crew, ENTRY};
use super::orient::Forward;
use crate::block::owner;

use crate::context::{Context, ContextRef};
use crate::grid::Grid;
use crate::memory::Proven;
use crate::tables::Wave;
use crate::team::Team;
use seawall_core::abi::control::FaultCode;
use seawall_core::abi::program::Opcode;

/// Longest row that a lane looks up alone, or looks up entry by entry in a longer one.
const SERIAL: u32 = 16;
/// Ratio of lengths from which on a lone lane looks up the held row in the other one.
const LONGER: u32 = 4;
/// Nodes between two looks of a warp at the clock.
const NODES_PER_LOOK: u32 = 512;

/// Runs an opcode of this family.
///
/// # Errors
/// [`FaultCode::BadRegister`] if a register is missing or too short,
/// [`FaultCode::TimeBudget`] if the run's time ends in the wave.
#[inline(never)]
pub fn run_triangles<G: Grid>(
    cx: ContextRef<G>,
    opcode: Opcode,
    wave: Wave,
) -> Result<(), FaultCode> {
    let context = &cx.context();
    let (tables, grid) = (context.tables, context.team.grid);
    let (nodes, edges) = (tables.nodes(grid), tables.edges(grid));
    let forward = |targets, degrees| {
        Ok(Forward {
            rows: tables.outgoing(grid),
            // SAFETY: what remains of a row lies in the row's place and holds nodes, as
            // the host proved (`Invariant::Rows` and `Invariant::Lengths`).
            targets: unsafe { tables.proven_of(grid, targets, edges)? },
            // SAFETY: indices are nodes of the graph.
            degrees: unsafe { tables.proven_of(grid, degrees, nodes)? },
        })
    };
    if opcode == Opcode::OrientEdges {
        forward(wave.destination(grid), wave.source(grid, 0))?.fill(context);
        return Ok(());
    }
    let count = Count {
        forward: forward(wave.source(grid, 0), wave.source(grid, 1))?,
        // SAFETY: indices are nodes of the graph.
        corners: unsafe { tables.proven_of(grid, wave.destination(grid), nodes)? },
    };
    let held = match wave.parameter(grid, 0) {
        0 => u32::MAX,
        held => held,
    };
    count.all(context, held)
}

/// The registers of a counting wave.
#[derive(Clone, Copy, Debug)]
struct Count {
    forward: Forward,
    corners: Proven,
}

/// A row, and the length of its held piece.
#[derive(Clone, Copy, Debug)]
struct Piece {
    /// First edge of the row, and its length.
    row: (u32, u32),
    /// Entries held.
    len: u32,
}

impl Count {
    /// Counts this team's share: short rows by warps, then long ones by blocks.
    #[inline(never)]
    fn all<G: Grid>(&self, context: &Context<G>, held: u32) -> Result<(), FaultCode> {
        let (team, grid) = (&context.team, context.team.grid);
        let nodes = context.tables.nodes(grid);
        let warp = Crew::warp(grid, held);
        let mut late = false;
        // Warps of this block may still read shared memory for an earlier wave.
        grid.block_barrier();
        warp.clear(grid);
        each_part(team, nodes, |node| {
            late = late || is_late(team, node);
            if !late {
                self.chunk(grid, &warp, (node, nodes));
            }
        });
        grid.block_barrier();
        late = grid.block_any(late);
        let is_left = |node| self.forward.degrees.load_weak(grid, node) > warp.held;
        let block = Crew::block(grid, held);
        block.clear(grid);
        each_left(team, nodes, is_left, |node| {
            late = late || grid.block_any(team.is_late());
            if !late {
                self.row(grid, &block, node);
            }
        });
        if grid.block_any(late) {
            return Err(FaultCode::TimeBudget);
        }
        Ok(())
    }

    /// Counts at the nodes of a chunk whose rows the warp can hold, one after another.
    #[inline(always)]
    fn chunk<G: Grid>(&self, grid: G, crew: &Crew, (node, nodes): (u32, u32)) {
        let degree = if node < nodes {
            self.forward.degrees.load_weak(grid, node)
        } else {
            0
        };
        let mut wanted = grid.ballot(degree > 1 && degree <= crew.held);
        while wanted != 0 {
            let lane = wanted.trailing_zeros();
            wanted &= wanted - 1;
            self.row(grid, crew, grid.shuffle(node, lane));
        }
    }

    /// Counts the triangles whose lowest corner is `node`, one piece of its row after
    /// another. All lanes of the crew take part.
    #[inline(never)]
    fn row<G: Grid>(&self, grid: G, crew: &Crew, node: u32) {
        // Codegen rule `BY_VALUE`.
        let (count, crew) = (*self, *crew);
        let row = count.forward.row(grid, node);
        let (mut own, mut first) = (0, 0);
        while first < row.1 {
            let len = (row.1 - first).min(crew.held);
            count.hold(grid, &crew, (row.0 + first, len));
            crew.meet(grid);
            own += count.look_up(grid, &crew, Piece { row, len });
            crew.meet(grid);
            count.settle(grid, &crew, (row.0 + first, len));
            crew.meet(grid);
            first += len;
        }
        count.add(grid, node, warp_sum(grid, own));
    }

    /// Adds `count`, known to all lanes of the warp, to that of `node`.
    #[inline(always)]
    fn add<G: Grid>(&self, grid: G, node: u32, count: u32) {
        if grid.warp_lane() == 0 && count != 0 {
            self.corners.add(grid, node, count);
        }
    }

    /// Puts `len` entries from `edge` on into shared memory and the table, and
    /// clears their counters.
    #[inline(always)]
    fn hold<G: Grid>(&self, grid: G, crew: &Crew, (edge, len): (u32, u32)) {
        let mut at = crew.lane.0;
        while at < len {
            let to = self.forward.target(grid, edge + at);
            // SAFETY: a crew's memory has `WORDS` words for each entry.
            unsafe {
                crew.list.store(grid, at, to);
                crew.list.store(grid, crew.counter(at), 0);
                crew.list.add(grid, crew.slot(to), ENTRY + at + 1);
            }
            at += crew.lane.1;
        }
    }

    /// Adds the counters of the held entries to those of their nodes, and
    /// empties their slots.
    #[inline(always)]
    fn settle<G: Grid>(&self, grid: G, crew: &Crew, (edge, len): (u32, u32)) {
        let mut at = crew.lane.0;
        while at < len {
            let node = self.forward.target(grid, edge + at);
            // SAFETY: as in `hold`.
            let count = unsafe {
                crew.list.store(grid, crew.slot(node), 0);
                crew.list.load(grid, crew.counter(at))
            };
            if count != 0 {
                self.corners.add(grid, node, count);
            }
            at += crew.lane.1;
        }
    }

    /// Looks up the rows of all nodes of `piece.row` in its held piece, or the piece in a
    /// row that is much longer, and returns this lane's finds. A lane takes a row alone
    /// if either is short; a warp takes the others.
    #[inline(always)]
    fn look_up<G: Grid>(&self, grid: G, crew: &Crew, piece: Piece) -> u32 {
        let (warp, warps) = crew.warp;
        let (mut own, mut base) = (0, warp);
        while base < piece.row.1 {
            let at = base.saturating_add(warps * grid.warp_lane());
            let (mut node, mut start, mut len) = (0, 0, 0);
            if at < piece.row.1 {
                node = self.forward.target(grid, piece.row.0 + at);
                (start, len) = self.forward.row(grid, node);
            }
            let by_held =
                len > SERIAL && (piece.len <= SERIAL || (G::WARP == 1 && len / LONGER > piece.len));
            let mut found = 0;
            if by_held {
                for held in 0..piece.len {
                    found += self.find_held(grid, crew, (held, start, len));
                }
            } else if len <= SERIAL {
                for edge in start..start + len {
                    let to = self.forward.target(grid, edge);
                    found += self.find(grid, crew, (piece.len, to));
                }
            }
            if found != 0 {
                self.corners.add(grid, node, found);
            }
            own += found;
            let mut long = grid.ballot(len > SERIAL && !by_held);
            while long != 0 {
                let lane = long.trailing_zeros();
                long &= long - 1;
                let start = grid.shuffle(start, lane);
                let end = start + grid.shuffle(len, lane);
                let mut found = 0;
                let mut edge = start.saturating_add(grid.warp_lane());
                let target = |edge| {
                    if edge < end {
                        self.forward.target(grid, edge)
                    } else {
                        0
                    }
                };
                let mut to = target(edge);
                while edge < end {
                    // The next edge is in flight while this one is looked up.
                    edge = edge.saturating_add(G::WARP);
                    let next = target(edge);
                    found += self.find(grid, crew, (piece.len, to));
                    to = next;
                }
                // Codegen rule `CONVERGE`.
                grid.warp_barrier();
                self.add(grid, grid.shuffle(node, lane), warp_sum(grid, found));
                own += found;
            }
            base = base.saturating_add(warps * G::WARP);
        }
        own
    }

    /// Counts held entry `at` and returns 1 if it is a target of the `len` edges from
    /// `start` on, at least one; else returns 0.
    #[inline(always)]
    fn find_held<G: Grid>(&self, grid: G, crew: &Crew, (at, start, len): (u32, u32, u32)) -> u32 {
        // SAFETY: the entry was stored by `hold`.
        let node = unsafe { crew.list.load(grid, at) };
        let (mut low, mut span) = (start, len);
        while span > 1 {
            let half = span / 2;
            if self.forward.target(grid, low + half) <= node {
                low += half;
                span -= half;
            } else {
                span = half;
            }
        }
        if self.forward.target(grid, low) != node {
            return 0;
        }
        // SAFETY: the entry's counter was stored by `hold`.
        unsafe { crew.list.add(grid, crew.counter(at), 1) };
        1
    }

    /// Counts `to` and returns 1 if it is among the `len` held entries; else returns 0.
    #[inline(always)]
    fn find<G: Grid>(&self, grid: G, crew: &Crew, (len, to): (u32, u32)) -> u32 {
        // SAFETY: slots are in the crew's memory. A slot with a single entry holds its
        // number; other entries are searched for.
        unsafe {
            let slot = crew.list.load(grid, crew.slot(to));
            let at = if slot < 2 * ENTRY {
                (slot % ENTRY).wrapping_sub(1)
            } else if crew.list.load(grid, 0) <= to {
                owner(grid, crew.list, len, to)
            } else {
                return 0;
            };
            if at >= len || crew.list.load(grid, at) != to {
                return 0;
            }
            crew.list.add(grid, crew.counter(at), 1);
        }
        1
    }
}

/// Whether the run's time is over, by a look now and then; lanes of a warp return the
/// same.
#[inline(always)]
fn is_late<G: Grid>(team: &Team<G>, node: u32) -> bool {
    let first = team.grid.shuffle(node, 0);
    first.is_multiple_of(NODES_PER_LOOK) && team.grid.ballot(team.is_late()) != 0
}
