//! Triangles of a symmetric graph, at each corner or at one of them: three nodes with an edge
//! between each two. Work is at most the edges times the square root of their number, which bounds
//! the rows that are kept (Schank, Wagner: "Finding, Counting and Listing All Triangles in Large
//! Graphs", WEA 2005); depth is one wave after the rows are made.
//!
//! Every edge is kept in one direction ([`orient`]), so that rows are short. The two
//! ends of an edge and a third node are a triangle if that node is in both of the rows that remain.
//! Of these two, the longer one lies in shared memory, in a hash table (`neighbour_tables`), and
//! lanes look up the entries of the shorter one. So an edge costs as many lookups as its shorter
//! row has entries, or `FEW`. The hash table of a row is built once for all the edges that it is
//! looked up for.
//!
//! Distribution: a lane takes the shortest rows, a warp most of the others (short ones in
//! `few_kept`), a block the longest ones and those of nodes with many edges. Triangles are counted
//! in shared memory and in registers, which costs one atomic addition to device memory per edge at
//! most and not per triangle.
//!
//! A node is a corner of at most as many triangles as the graph has edges, so counts fit
//! a word.

mod center;
mod few_kept;
mod hub_pairs;
mod hub_rows;
mod hub_waves;
mod hubs;
mod neighbour_tables;
pub mod orient;
mod sieve;

use crate::collectives::context::{Context, ContextRef};
use crate::collectives::team::Team;
use crate::machine::Grid;
use crate::machine::memory::Proven;
use crate::operators::advance::row_spread::{RowSpread, lanes_before};
use crate::operators::deal::{NONE, any_left, each_chunk, each_left, each_part, is_late};
use crate::tables::Wave;
use center::{Center, Centers, FEW, LANE_HELD, Most, Taker};
use hub_waves::run_hubs;
use neighbour_tables::{CHAINED, LaneGroup, Table};
use orient::Forward;
use seawall_core::abi::control::FaultCode;
use seawall_core::abi::program::Opcode;

/// Longest row whose entries share a step of the warp with those of other rows.
const SHORT: u32 = 32;
/// Entries of short rows that a lane looks up together.
const EACH: usize = 4;
/// Neighbours that a one-lane block filters for shorter rows at a time.
const PICKED: usize = 32;
/// Nodes that a warp takes at a time if they have many edges, and if they have few.
const PARTS: (u32, u32) = (8, 32);
/// Fewest edges of a node, on average, that are many.
const MANY: u32 = 8;

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
    if !matches!(opcode, Opcode::OrientEdges | Opcode::CountTriangles) {
        return run_hubs(cx, opcode, wave);
    }
    let context = &cx.context();
    let (tables, grid) = (context.tables, context.team.grid);
    let nodes = tables.nodes(grid);
    if opcode == Opcode::OrientEdges {
        Forward::of(tables, grid, wave.destination(grid), wave.source(grid, 0))?.fill(context);
        return Ok(());
    }
    let forward = Forward::of(tables, grid, wave.source(grid, 0), wave.source(grid, 1))?;
    let held = match wave.parameter(grid, 0) {
        0 => u32::MAX,
        held => held,
    };
    // SAFETY: indices are nodes of the graph.
    let counts = unsafe { tables.proven_of(grid, wave.destination(grid), nodes)? };
    let centers = Centers::of(grid, wave, nodes);
    if wave.parameter(grid, 1) == 0 {
        Count::<true>::new(forward, counts, centers).all(context, held)
    } else {
        Count::<false>::new(forward, counts, centers).all(context, held)
    }
}

/// The registers of a counting wave: it counts a triangle at each corner if `CORNERS`,
/// else at the one that both remaining edges leave, which needs no counters.
#[derive(Clone, Copy, Debug)]
struct Count<const CORNERS: bool> {
    forward: Forward,
    counts: Proven,
    centers: Centers,
}

impl<const CORNERS: bool> Count<CORNERS> {
    fn new(forward: Forward, counts: Proven, centers: Centers) -> Self {
        Self {
            forward,
            counts,
            centers,
        }
    }

    /// Counts this team's share: rows of lanes, then those of warps, then of blocks.
    #[inline(never)]
    fn all<G: Grid>(&self, context: &Context<G>, held: u32) -> Result<(), FaultCode> {
        // Codegen rule `BY_VALUE`.
        let count = *self;
        let (team, grid) = (&context.team, context.team.grid);
        let (nodes, edges) = (context.tables.nodes(grid), context.tables.edges(grid));
        let longest = count.by_lanes(team, nodes);
        let size = if edges / MANY > nodes {
            PARTS.0
        } else {
            PARTS.1
        };
        // Parts of a warp's size are the chunks that lanes took. A block that met no longer rows
        // there need not search for them.
        let is_same = size == G::WARP;
        // Warps of this block may still read shared memory for an earlier wave: these are
        // block barriers.
        let is_any = any_left(grid, longest > LANE_HELD);
        let is_any_long = grid.block_any(longest > FEW) || !is_same;
        if !is_any && is_same {
            return Ok(());
        }
        let warp = LaneGroup::warp::<G, CORNERS>(grid, held);
        let most = Most::of(team, edges, warp.held);
        warp.clear(grid);
        let mut late = G::SIMT && count.by_few(team, nodes, size, &warp, most);
        grid.block_barrier();
        if is_any_long {
            each_part(team, nodes, size, |node| {
                late = late || is_late(team, node);
                if !late {
                    count.chunk(grid, &warp, most, node, nodes);
                }
            });
        }
        grid.block_barrier();
        late = grid.block_any(late);
        if is_any {
            let block = LaneGroup::block::<G, CORNERS>(grid, held);
            block.clear(grid);
            let is_left = |node| count.center(grid, node).taker(most) == Taker::Block;
            each_left(team, nodes, is_left, |node| {
                late = late || grid.block_any(team.is_late());
                if !late {
                    count.row(grid, &block, count.center(grid, node));
                }
            });
        }
        if grid.block_any(late) {
            return Err(FaultCode::TimeBudget);
        }
        Ok(())
    }

    /// The node with its row, or none if it is not among the centers.
    #[inline(always)]
    fn center<G: Grid>(&self, grid: G, node: u32) -> Center {
        if !self.centers.has(node) {
            return Center::NONE;
        }
        let (first, end) = self.forward.rows.row(grid, node);
        Center {
            node,
            first,
            end,
            len: self.forward.degrees.load_weak(grid, node),
        }
    }

    /// Adds `count` to that of a corner.
    #[inline(always)]
    fn add<G: Grid>(&self, grid: G, node: u32, count: u32) {
        if CORNERS {
            self.add_found(grid, node, count);
        }
    }

    /// Adds `count`, found at `edge` of the row of `center`, to that of the node which `edge`
    /// enters, and returns the amount to add to that of `center`.
    #[inline(always)]
    fn split<G: Grid>(&self, grid: G, center: Center, edge: u32, node: u32, count: u32) -> u32 {
        let is_kept = edge < center.first + center.len;
        if CORNERS || !is_kept {
            self.add_found(grid, node, count);
        }
        if CORNERS || is_kept { count } else { 0 }
    }

    /// Adds `count` to that of a node where it was found.
    #[inline(always)]
    fn add_found<G: Grid>(&self, grid: G, node: u32, count: u32) {
        if count != 0 {
            self.counts.add(grid, node, count);
        }
    }

    /// Counts at the nodes that lanes take, and returns the longest row that this lane met.
    #[inline(never)]
    fn by_lanes<G: Grid>(&self, team: &Team<G>, nodes: u32) -> u32 {
        // Codegen rule `BY_VALUE`.
        let count = *self;
        let (grid, mut longest) = (team.grid, 0);
        each_chunk(team, nodes, |node| {
            if node < nodes {
                let center = count.center(grid, node);
                longest = longest.max(center.len);
                if (2..=LANE_HELD).contains(&center.len) {
                    count.by_lane(grid, center);
                }
            }
            // Codegen rule `CONVERGE`.
            grid.warp_barrier();
        });
        longest
    }

    /// Counts at `center` with this lane alone.
    #[inline(always)]
    fn by_lane<G: Grid>(&self, grid: G, center: Center) {
        // Codegen rule `LOADS_TOGETHER`: a missing entry is the last one again, and an empty
        // row has the first edge.
        let held: [u32; LANE_HELD as usize] = core::array::from_fn(|at| {
            let at = (at as u32).min(center.len - 1);
            self.forward.target(grid, center.first + at)
        });
        let rows = held.map(|node| self.forward.row(grid, node));
        let rows: [(u32, u32); LANE_HELD as usize] = core::array::from_fn(|at| {
            let (first, len) = rows[at];
            let is_looked_up = (at as u32) < center.len && (1..=FEW).contains(&len);
            if is_looked_up { (first, len) } else { (0, 0) }
        });
        let heads = rows.map(|(first, _)| self.forward.target(grid, first));
        let mut own = 0;
        for k in 0..LANE_HELD as usize {
            let (first, len) = rows[k];
            let (mut found, mut at, mut to) = (0, 0, heads[k]);
            while at < len {
                if held.iter().fold(false, |any, node| any | (*node == to)) {
                    self.add(grid, to, 1);
                    found += 1;
                }
                at += 1;
                if at < len {
                    to = self.forward.target(grid, first + at);
                }
            }
            self.add(grid, held[k], found);
            own += found;
        }
        self.add_found(grid, center.node, own);
    }

    /// The remaining row of `node`: its first edge, and its length, 0 instead of more than
    /// `longest`.
    #[inline(always)]
    fn row_up_to<G: Grid>(&self, grid: G, node: u32, longest: u32) -> (u32, u32) {
        let (first, len) = self.forward.row(grid, node);
        (first, if len <= longest { len } else { 0 })
    }

    /// Counts at the nodes of a part that a warp takes, one after another.
    #[inline(always)]
    fn chunk<G: Grid>(&self, grid: G, group: &LaneGroup, most: Most, node: u32, nodes: u32) {
        let center = if node < nodes {
            self.center(grid, node)
        } else {
            Center::NONE
        };
        let is_left = center.len > FEW || !G::SIMT;
        let mut wanted = grid.ballot(is_left && center.taker(most) == Taker::Warp);
        while wanted != 0 {
            let lane = wanted.trailing_zeros();
            wanted &= wanted - 1;
            self.row(grid, group, center.of_lane(grid, lane));
        }
    }

    /// Counts at `center`, one piece of its row after another. All lanes of the thread group take
    /// part.
    #[inline(never)]
    fn row<G: Grid>(&self, grid: G, group: &LaneGroup, center: Center) {
        // Codegen rule `BY_VALUE`.
        let (count, group) = (*self, *group);
        let (mut own, mut first) = (0, 0);
        let is_chained = count.forward.degrees.len() < CHAINED;
        while first < center.len {
            let len = (center.len - first).min(group.held);
            let table = group.table(len, is_chained);
            group.each(len, |at| {
                let edge = center.first + first + at;
                table.put(grid, count.forward.target(grid, edge));
            });
            group.meet(grid);
            own += count.look_up(grid, &group, &table, center);
            group.meet(grid);
            group.each(table.slots(), |slot| {
                if CORNERS {
                    let (node, found) = table.counted(grid, slot);
                    count.add(grid, node, found);
                }
                table.clear(grid, slot);
            });
            group.meet(grid);
            first += len;
        }
        let sum = grid.warp_sum(own);
        if grid.warp_lane() == 0 {
            count.add_found(grid, center.node, sum);
        }
    }

    /// Looks up the rows of the neighbours of `center` that are not longer than its own,
    /// and returns this lane's finds.
    #[inline(always)]
    fn look_up<G: Grid>(&self, grid: G, group: &LaneGroup, table: &Table, center: Center) -> u32 {
        if !G::SIMT {
            return self.look_up_alone(grid, table, center);
        }
        // Neighbours in turn: in sorted rows, those with long rows may lie together.
        let (warp, warps) = group.warp;
        let spot = grid.warp_lane() * warps + warp;
        let mut own = 0;
        let mut first = center.first;
        let end = center.looks();
        while first < end {
            let at = first.saturating_add(spot);
            let (mut node, mut row) = (NONE, (0, 0));
            if at < end {
                node = self.forward.target(grid, at);
                row = self.row_up_to(grid, node, center.longest(at));
            }
            let is_short = row.1 <= SHORT;
            let short = if is_short { row.1 } else { 0 };
            let found = self.look_up_short(grid, table, row.0, short);
            own += self.split(grid, center, at, node, found);
            let mut long = grid.ballot(row.1 != 0 && !is_short);
            while long != 0 {
                let lane = long.trailing_zeros();
                long &= long - 1;
                let start = grid.shuffle(row.0, lane);
                let end = start + grid.shuffle(row.1, lane);
                let found = self.look_up_long(grid, table, start, end);
                let is_kept = grid.shuffle(at, lane) < center.first + center.len;
                if CORNERS || !is_kept {
                    let (node, sum) = (grid.shuffle(node, lane), grid.warp_sum(found));
                    if grid.warp_lane() == 0 {
                        self.add_found(grid, node, sum);
                    }
                }
                if CORNERS || is_kept {
                    own += found;
                }
            }
            first = first.saturating_add(warps * G::WARP);
        }
        own
    }

    /// [`Self::look_up`] by a one-lane block. A processor mispredicts which of two rows is shorter,
    /// so the neighbours are picked without a branch first. Then the rows of all that were picked
    /// are fetched together.
    #[inline(always)]
    fn look_up_alone<G: Grid>(&self, grid: G, table: &Table, center: Center) -> u32 {
        let (mut own, mut edge, end) = (0, center.first, center.looks());
        while edge < end {
            let stop = end.min(edge.saturating_add(PICKED as u32));
            let (mut picked, mut count) = ([(0, 0); PICKED], 0);
            for at in edge..stop {
                let node = self.forward.target(grid, at);
                let len = self.forward.degrees.load_weak(grid, node);
                self.forward.rows.prefetch_row(grid, node);
                picked[count % PICKED] = (at, node);
                count += usize::from(len <= center.longest(at));
            }
            for (_, node) in picked.into_iter().take(count) {
                let (first, _) = self.forward.row(grid, node);
                self.forward.targets.prefetch(grid, first);
            }
            for (at, node) in picked.into_iter().take(count) {
                let found = self.look_up_row(grid, table, self.forward.row(grid, node));
                own += self.split(grid, center, at, node, found);
            }
            edge = stop;
        }
        own
    }

    /// Looks up the `len` entries from `first` on, in a one-lane block, and returns the finds.
    #[inline(always)]
    fn look_up_row<G: Grid>(&self, grid: G, table: &Table, (first, len): (u32, u32)) -> u32 {
        if !CORNERS && table.is_chained() {
            return table.count(grid, self.forward.targets, (first, len));
        }
        let mut found = 0;
        for edge in first..first + len {
            let nodes = [self.forward.target(grid, edge)];
            let [hit] = table.find::<G, 1, CORNERS>(grid, nodes);
            found += u32::from(hit);
        }
        found
    }

    /// Looks up a row per lane, `len` edges from `first` on, and returns the finds in this
    /// lane's row. Lanes take even shares of all entries.
    #[inline(always)]
    fn look_up_short<G: Grid>(&self, grid: G, table: &Table, first: u32, len: u32) -> u32 {
        let row_spread = RowSpread::of(grid, len);
        let end = row_spread.start + len;
        let (mut found, mut step) = (0, 0);
        while step < row_spread.total {
            let nodes: [u32; EACH] = core::array::from_fn(|k| {
                let spot = row_spread.spot(grid, step, k as u32);
                let edge = grid.shuffle(first, spot.lane).wrapping_add(spot.at);
                if spot.exists {
                    self.forward.target(grid, edge)
                } else {
                    NONE
                }
            });
            let hits = table.find::<G, EACH, CORNERS>(grid, nodes);
            step += EACH as u32 * G::WARP;
            if grid.ballot(hits.iter().fold(false, |any, hit| any | hit)) == 0 {
                continue;
            }
            for (k, hit) in (0..).zip(&hits) {
                let lanes = grid.ballot(*hit);
                // This lane's row in the window of the step.
                let window = step - EACH as u32 * G::WARP + k * G::WARP;
                let own =
                    lanes_before::<G>(end, window) & !lanes_before::<G>(row_spread.start, window);
                found += (lanes & own).count_ones();
            }
        }
        found
    }

    /// Looks up a row with all lanes of the warp and returns this lane's finds.
    #[inline(always)]
    fn look_up_long<G: Grid>(&self, grid: G, table: &Table, first: u32, end: u32) -> u32 {
        let (mut found, mut edge) = (0, first);
        while edge < end {
            if end - edge > 2 * G::WARP {
                found += self.look_up_step::<G, 4>(grid, table, edge, end);
                edge = edge.saturating_add(4 * G::WARP);
            } else {
                found += self.look_up_step::<G, 2>(grid, table, edge, end);
                edge = edge.saturating_add(2 * G::WARP);
            }
        }
        found
    }

    /// Looks up `K` entries per lane from `edge` on, as far as `end`; returns the finds.
    #[inline(always)]
    fn look_up_step<G: Grid, const K: usize>(
        &self,
        grid: G,
        table: &Table,
        edge: u32,
        end: u32,
    ) -> u32 {
        let nodes: [u32; K] = core::array::from_fn(|k| {
            let at = edge.saturating_add(k as u32 * G::WARP + grid.warp_lane());
            if at < end {
                self.forward.target(grid, at)
            } else {
                NONE
            }
        });
        let hits = table.find::<G, K, CORNERS>(grid, nodes);
        hits.iter().map(|hit| u32::from(*hit)).sum()
    }
}
