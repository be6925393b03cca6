//! Triangles at every node of a symmetric graph.
//!
//! Every edge is kept in one direction ([`orient`](super::orient)), so that a
//! triangle is found once, from its lowest corner `a`: a node `c` that is kept
//! both by `a` and by a node `b` that `a` keeps. The row of `a` lies in shared
//! memory behind a small hash table, and the lanes look the rows of all `b` up
//! in it. What is found is counted there too, so that counting costs an atomic addition an edge of the
//! device's memory and not one a triangle.
//!
//! A node is a corner of at most as many triangles as the graph has edges:
//! counts fit a word.

use super::deal::{FREE, each_left, each_part, warp_sum};
use super::orient::Forward;
use crate::block::owner;
use crate::context::{Context, ContextRef};
use crate::grid::{Grid, LANES_MAX, SHARED_WORDS};
use crate::memory::Proven;
use crate::tables::Wave;
use crate::team::Team;
use seawall_core::abi::control::FaultCode;
use seawall_core::abi::program::Opcode;

/// Entries of a row that a warp holds at a time; a power of two.
const WARP_HELD: u32 = 64;
/// Entries of a row that a block holds at a time; a power of two.
const BLOCK_HELD: u32 = 2048;
/// Proven of shared memory for each entry held: the entry, its counter, and two
/// slots of the table that finds it.
const WORDS: u32 = 4;
/// What a slot counts its entries in; below it is the sum of their numbers,
/// counted from 1.
const ENTRY: u32 = 1 << 20;
/// Longest row that a lane looks up alone, or that it looks up entry by entry
/// in a longer one.
const SERIAL: u32 = 16;
/// How much longer another row is for a lone lane to look up the held one in
/// it.
const LONGER: u32 = 4;
/// Which nodes a warp looks at the clock before: one in as many.
const NODES_PER_LOOK: u32 = 512;

const _: () = assert!((FREE + WORDS * BLOCK_HELD) as usize <= SHARED_WORDS);
const _: () = assert!((FREE + WORDS * WARP_HELD * (LANES_MAX / 32)) as usize <= SHARED_WORDS);
const _: () = assert!(WARP_HELD.is_power_of_two() && BLOCK_HELD.is_power_of_two());
// Full slots must not wrap around.
const _: () = assert!(BLOCK_HELD <= u32::MAX / (ENTRY + BLOCK_HELD));

/// Runs an opcode of this family.
///
/// # Errors
/// [`FaultCode::BadRegister`] when a register is missing or too short,
/// [`FaultCode::TimeBudget`] when the run's time ends in the wave.
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

/// What a counting wave reads and writes.
#[derive(Clone, Copy, Debug)]
struct Count {
    forward: Forward,
    corners: Proven,
}

/// Lanes that count at one node: a warp, or all of a block.
#[derive(Clone, Copy, Debug)]
struct Crew {
    /// Number of this lane, and lanes.
    lane: (u32, u32),
    /// Number of this lane's warp, and warps.
    warp: (u32, u32),
    /// First word of shared memory of the row; counters and table follow.
    list: u32,
    /// Entries that there is room for.
    room: u32,
    /// Entries that are held at a time.
    held: u32,
}

impl Crew {
    /// This lane's warp.
    #[inline(always)]
    fn warp<G: Grid>(grid: G, held: u32) -> Self {
        let number = grid.lane() / G::WARP % (LANES_MAX / 32);
        Self {
            lane: (grid.warp_lane(), G::WARP),
            warp: (0, 1),
            list: FREE + number * WORDS * WARP_HELD,
            room: WARP_HELD,
            held: held.min(WARP_HELD),
        }
    }

    /// All lanes of the block.
    #[inline(always)]
    fn block<G: Grid>(grid: G, held: u32) -> Self {
        Self {
            lane: (grid.lane(), grid.lanes()),
            warp: (grid.lane() / G::WARP, grid.lanes() / G::WARP),
            list: FREE,
            room: BLOCK_HELD,
            held: held.min(BLOCK_HELD),
        }
    }

    /// Word of the counter of entry `at`.
    #[inline(always)]
    fn counter(&self, at: u32) -> u32 {
        self.list + self.room + at
    }

    /// Word of the slot of `node`, by Fibonacci hashing.
    #[inline(always)]
    fn slot(&self, node: u32) -> u32 {
        let hash = node.wrapping_mul(0x9E37_79B9) >> self.room.leading_zeros();
        self.list + 2 * self.room + hash
    }

    /// Empties the table, then waits for all lanes of the crew.
    #[inline(always)]
    fn clear<G: Grid>(&self, grid: G) {
        let mut at = self.lane.0;
        while at < 2 * self.room {
            // SAFETY: a crew's memory has two slots for each entry.
            unsafe { grid.shared_store(self.list + 2 * self.room + at, 0) };
            at += self.lane.1;
        }
        self.meet(grid);
    }

    /// Waits for all lanes of the crew.
    #[inline(always)]
    fn meet<G: Grid>(&self, grid: G) {
        if self.lane.1 == G::WARP {
            grid.warp_barrier();
        } else {
            grid.block_barrier();
        }
    }
}

/// A row of which a piece of `len` entries is held.
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
        // Warps of this block may still read what an earlier wave left in
        // shared memory.
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

    /// The nodes of a chunk whose rows the warp can hold, one after the other.
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

    /// Counts the triangles whose lowest corner is `node`, a piece of its row
    /// after the other. All lanes of the crew take part.
    #[inline(never)]
    fn row<G: Grid>(&self, grid: G, crew: &Crew, node: u32) {
        // What is behind references would be loaded again in the inner loops.
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
                grid.shared_store(crew.list + at, to);
                grid.shared_store(crew.counter(at), 0);
                grid.shared_add(crew.slot(to), ENTRY + at + 1);
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
                grid.shared_store(crew.slot(node), 0);
                grid.shared_load(crew.counter(at))
            };
            if count != 0 {
                self.corners.add(grid, node, count);
            }
            at += crew.lane.1;
        }
    }

    /// Looks up the rows of all nodes of `piece.row` in its held piece, or the
    /// piece in a row that is much longer; gives what this lane found. A lane
    /// takes rows alone where either is short, a warp others.
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
                    // The next edge is under way while this one is looked up.
                    edge = edge.saturating_add(G::WARP);
                    let next = target(edge);
                    found += self.find(grid, crew, (piece.len, to));
                    to = next;
                }
                // Lanes that leave the loop one after the other would stay apart, and
                // what the warp does together would take several times as long.
                grid.warp_barrier();
                self.add(grid, grid.shuffle(node, lane), warp_sum(grid, found));
                own += found;
            }
            base = base.saturating_add(warps * G::WARP);
        }
        own
    }

    /// 1, counted, when the held entry `at` is a target of the `len` edges from
    /// `start` on, at least one.
    #[inline(always)]
    fn find_held<G: Grid>(&self, grid: G, crew: &Crew, (at, start, len): (u32, u32, u32)) -> u32 {
        // SAFETY: the entry was stored by `hold`.
        let node = unsafe { grid.shared_load(crew.list + at) };
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
        unsafe { grid.shared_add(crew.counter(at), 1) };
        1
    }

    /// 1, counted, when `to` is among the `len` held entries.
    #[inline(always)]
    fn find<G: Grid>(&self, grid: G, crew: &Crew, (len, to): (u32, u32)) -> u32 {
        // SAFETY: a slot is in the crew's memory; one with a single entry holds
        // its number, and in others the entry is searched for.
        unsafe {
            let slot = grid.shared_load(crew.slot(to));
            let at = if slot < 2 * ENTRY {
                (slot % ENTRY).wrapping_sub(1)
            } else if grid.shared_load(crew.list) <= to {
                owner(grid, crew.list, len, to)
            } else {
                return 0;
            };
            if at >= len || grid.shared_load(crew.list + at) != to {
                return 0;
            }
            grid.shared_add(crew.counter(at), 1);
        }
        1
    }
}

/// Whether the run's time is over, by a look now and then; the warp's lanes
/// agree.
#[inline(always)]
fn is_late<G: Grid>(team: &Team<G>, node: u32) -> bool {
    let first = team.grid.shuffle(node, 0);
    first.is_multiple_of(NODES_PER_LOOK) && team.grid.ballot(team.is_late()) != 0
}
