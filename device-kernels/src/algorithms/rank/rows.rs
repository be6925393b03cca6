//! Ranks where all rows are short: an iteration is one wave.
//!
//! A lane sums a row and makes the node's rank at once, so no sums are stored. Contributions
//! are kept twice and take turns, since other lanes still read the old ones. The block that
//! comes last closes the iteration.
//!
//! The data of a lane's next row, and the ends of the row after that, are in flight while it works
//! on the present one: a lane has some thirty rows on a large graph, and each waits for device
//! memory three times.

use super::chunks::Chunks;
use super::gather::RowSums;
use super::parts::{CHANGE, NEXT_DANGLING, Ranks, Tally, Walk, settle, starts_of};
use super::running::RunningSums;
use super::scale::Scale;
use crate::collectives::block::warp_sum_wide;
use crate::collectives::context::{Context, ContextRef};
use crate::machine::Grid;
use crate::machine::memory::{Csr, Proven};
use crate::machine::shared::{MAKING, TALLIES};
use crate::tables::Wave;
use seawall_core::abi::control::FaultCode;
use seawall_core::abi::rank::TOTALS_WORDS;

/// Word of the totals: 1 if the running iteration reads the second contributions. It lies
/// beside a total that every block reads.
const TURN: u32 = 2;
/// Word of the totals: blocks that have done their share of the running iteration.
const DONE: u32 = CHANGE + 2;

/// Words of [`MAKING`]: the walk, the address of the contributions that an iteration makes, and that
/// of the shares of the walk that starts at each node, 0 without.
const WALK: u32 = 0;
const AFTER: u32 = 2;
const STARTS: u32 = 4;

/// Edges of a row that a lane has in flight at a time.
const EACH: usize = 4;

/// One iteration.
///
/// # Errors
/// As [`run_rank`](super::run_rank).
#[inline(never)]
pub(super) fn step<G: Grid>(cx: ContextRef<G>, wave: Wave) -> Result<(), FaultCode> {
    let context = &cx.context();
    let (tables, grid) = (context.tables, context.team.grid);
    if !tables.has_incoming(grid) {
        return Err(FaultCode::NoArray);
    }
    let nodes = tables.nodes(grid);
    // SAFETY: indices are nodes of the graph, and those of the totals.
    let (ranks, even, odd, totals) = unsafe {
        (
            tables.proven_of(grid, wave.destination(grid), nodes)?,
            tables.proven_of(grid, wave.source(grid, 0), nodes)?,
            tables.proven_of(grid, wave.source(grid, 1), nodes)?,
            tables.proven_of(grid, wave.source(grid, 2), TOTALS_WORDS)?,
        )
    };
    let turn = totals.load_weak(grid, TURN);
    let (before, after) = if turn == 0 { (even, odd) } else { (odd, even) };
    let damping = f32::from_bits(wave.parameter(grid, 0));
    let pass = Pass {
        grid,
        ranks,
        before,
        incoming: tables.incoming(grid),
        last: nodes.saturating_sub(1),
        scale: Scale::of_edges(tables.edges(grid)),
    };
    // SAFETY: indices are nodes of the graph.
    let starts = unsafe { starts_of(context, wave)? };
    let walk = Walk::of(grid, totals, damping, nodes, starts);
    let Tally { change, dangling } = pass.all(context, after, walk, starts);
    close(cx, wave, change, dangling)
}

/// The arrays of an iteration.
#[derive(Clone, Copy, Debug)]
struct Pass<G> {
    grid: G,
    ranks: Proven,
    before: Proven,
    incoming: Csr,
    /// The last node.
    last: u32,
    scale: Scale,
}

/// Fetched data of a row.
#[derive(Clone, Copy, Debug)]
struct Row {
    /// Its first edge, and the edge after its last one.
    ends: (u32, u32),
    /// Nodes that the first edges leave; missing ones repeat the last.
    sources: [u32; EACH],
    /// The node's rank.
    old: u32,
}

/// Number of nodes up to which the number of a row to fetch cannot wrap around.
const NODES_MAX: u32 = 1 << 31;

impl<G: Grid> Pass<G> {
    /// Makes the ranks of this lane's rows, and the contributions `after`.
    #[inline(always)]
    fn all(
        &self,
        context: &Context<G>,
        after: Proven,
        walk: Walk,
        starts: Option<Proven>,
    ) -> Tally {
        let (team, grid) = (&context.team, self.grid);
        let (made, nodes) = (self.made(after), context.tables.nodes(grid));
        let mut tally = Tally::default();
        if G::SIMT && self.incoming.edges() != 0 && nodes <= NODES_MAX {
            self.keep(after, walk, starts);
            tally = self.by_lanes(context);
            // Codegen rule `CONVERGE`.
            grid.warp_barrier();
        } else if !G::SIMT && self.scale.fits_doubles() {
            let chunks = Chunks {
                sums: RunningSums {
                    rows: self.incoming,
                    contributions: self.before,
                },
                outgoing: context.tables.outgoing(grid),
                made,
                walk,
                starts,
            };
            tally = chunks.make_all(context);
        } else {
            let rows = RowSums::of(context, self.before);
            team.each_taken(nodes, |node| {
                let sum = rows.one(grid, node);
                let old = f32::from_bits(self.ranks.load_weak(grid, node));
                let (start, end) = context.tables.outgoing(grid).row(grid, node);
                let walk = walk.at(starts.map(|starts| starts.load_weak(grid, node)));
                tally.add(made.make(grid, walk, node, end - start, sum, old));
            });
        }
        tally
    }

    /// The registers that this iteration makes.
    #[inline(always)]
    fn made(&self, contributions: Proven) -> Ranks {
        Ranks {
            ranks: self.ranks,
            contributions,
            scale: self.scale,
        }
    }

    /// Stores the inputs of ranks in shared memory, as a lane has too few registers for them beside
    /// the rows: codegen rule `LOOK_UP_AGAIN`. A block operation.
    #[inline(always)]
    fn keep(&self, after: Proven, walk: Walk, starts: Option<Proven>) {
        let grid = self.grid;
        // SAFETY: the area has six words.
        let store = |at, word| unsafe { MAKING.store(grid, at, word) };
        let store_address = |at, address: u64| {
            store(at, address as u32);
            store(at + 1, (address >> 32) as u32);
        };
        if grid.lane() == 0 {
            store_address(AFTER, after.address());
            store_address(STARTS, starts.map_or(0, Proven::address));
            store(WALK, walk.base.to_bits());
            store(WALK + 1, walk.damping.to_bits());
        }
        grid.block_barrier();
    }

    /// Makes the rank of `node`, which has `degree` edges, of `sum` in place of the rank `old`,
    /// after [`Pass::keep`].
    #[inline(always)]
    fn make(&self, node: u32, degree: u32, sum: u64, old: f32) -> Tally {
        let grid = self.grid;
        // SAFETY: the area has six words.
        let word = |at| unsafe { MAKING.load(grid, at) };
        let address = |at| (u64::from(word(at)) | u64::from(word(at + 1)) << 32) as *mut u32;
        // SAFETY: `keep` left the address of words for all nodes.
        let per_node = |address| unsafe { Proven::trusted(address, self.ranks.len()) };
        let walk = Walk {
            base: f32::from_bits(word(WALK)),
            damping: f32::from_bits(word(WALK + 1)),
        };
        let starts = address(STARTS);
        let start = (!starts.is_null()).then(|| per_node(starts).load_weak(grid, node));
        let after = per_node(address(AFTER));
        self.made(after)
            .make(grid, walk.at(start), node, degree, sum, old)
    }

    /// Every lane takes whole rows of a graph with edges. Loads are unconditional, of the
    /// last node where there is none: codegen rule `LOADS_TOGETHER`.
    #[inline(always)]
    fn by_lanes(&self, context: &Context<G>) -> Tally {
        let (this, grid) = (*self, self.grid);
        let mut tally = Tally::default();
        let stride = context.team.size() * grid.lanes();
        let mut node = context.team.rank() * grid.lanes() + grid.lane();
        if node > this.last {
            return tally;
        }
        let ahead = |node: u32| node.wrapping_add(stride).min(this.last);
        let mut row = this.fetch(node, this.incoming.row(grid, node));
        let mut coming = this.incoming.row(grid, ahead(node));
        while node <= this.last {
            let shares = row.sources.map(|from| this.before.load_weak(grid, from));
            let (out, out_end) = context.tables.outgoing(grid).row(grid, node);
            let next = ahead(node);
            let next_row = this.fetch(next, coming);
            coming = this.incoming.row(grid, ahead(next));
            let sum = this.sum(context, row.ends, shares);
            let old = f32::from_bits(row.old);
            tally.add(this.make(node, out_end - out, sum, old));
            node = node.wrapping_add(stride);
            row = next_row;
        }
        tally
    }

    /// Begins to fetch the row of `node`, which has these ends.
    #[inline(always)]
    fn fetch(&self, node: u32, ends: (u32, u32)) -> Row {
        let (start, end) = ends;
        // A row without edges takes any edge, as the graph has some.
        let last = end.max(1) - 1;
        let mut sources = [0; EACH];
        for (k, source) in sources.iter_mut().enumerate() {
            // A number that wraps around is an edge too, which the sum ignores.
            let at = start.wrapping_add(k as u32);
            *source = self.incoming.target(self.grid, at.min(last));
        }
        Row {
            ends,
            sources,
            old: self.ranks.load_weak(self.grid, node),
        }
    }

    /// Sum of a row with these ends whose first edges contribute `shares`, in units.
    #[inline(always)]
    fn sum(&self, context: &Context<G>, ends: (u32, u32), shares: [u32; EACH]) -> u64 {
        let (start, end) = ends;
        let mut sum = 0_u64;
        let mut edge = start.saturating_add(EACH as u32);
        // Few rows are that long. Their edges come first, so that a branch keeps the shares
        // from being waited for before the loads of the next row.
        while edge < end {
            let from = context.tables.incoming(self.grid).target(self.grid, edge);
            let share = f32::from_bits(self.before.load_weak(self.grid, from));
            sum = sum.wrapping_add(self.scale.bounded_units(share));
            edge += 1;
        }
        for (k, share) in shares.iter().enumerate() {
            let share = if end - start > k as u32 { *share } else { 0 };
            sum = sum.wrapping_add(self.scale.bounded_units(f32::from_bits(share)));
        }
        sum
    }
}

/// Adds the lanes' tallies to the totals; the block that comes last closes the iteration. A
/// separate function, so that the loop before it needs no registers for it: codegen rule
/// `OWN_FUNCTION`. A block operation.
#[inline(never)]
fn close<G: Grid>(
    cx: ContextRef<G>,
    wave: Wave,
    change: u64,
    dangling: u64,
) -> Result<(), FaultCode> {
    let context = &cx.context();
    let (team, grid) = (&context.team, context.team.grid);
    let (change, dangling) = block_totals(grid, (change, dangling));
    if grid.lane() != 0 {
        return Ok(());
    }
    // SAFETY: indices are those of the totals.
    let totals = unsafe {
        let register = wave.source(grid, 2);
        context.tables.proven_of(grid, register, TOTALS_WORDS)?
    };
    let add = |at, sum| {
        if sum != 0 {
            totals.add_wide(grid, at, sum);
        }
    };
    add(CHANGE, change);
    add(NEXT_DANGLING, dangling);
    // A count that tables of unknown origin left may be any number.
    if totals.arrive(grid, DONE).wrapping_add(1) == team.size() {
        totals.store_weak(grid, DONE, 0);
        let turn = totals.load(grid, TURN);
        totals.store_weak(grid, TURN, u32::from(turn == 0));
        settle(context, totals, f32::from_bits(wave.parameter(grid, 1)));
    }
    Ok(())
}

/// Sums of both numbers over the lanes of the block, in its first lane. A block operation.
#[inline(always)]
fn block_totals<G: Grid>(grid: G, own: (u64, u64)) -> (u64, u64) {
    let join = |(first, second)| (warp_sum_wide(grid, first), warp_sum_wide(grid, second));
    let (first, second) = join(own);
    let store = |at: u32, sum: u64| {
        // SAFETY: there are four words per warp.
        unsafe {
            TALLIES.store(grid, at, sum as u32);
            TALLIES.store(grid, at + 1, (sum >> 32) as u32);
        }
    };
    if grid.warp_lane() == 0 {
        let place = grid.lane() / G::WARP * 4;
        store(place, first);
        store(place + 2, second);
    }
    grid.block_barrier();
    let load = |at: u32| {
        // SAFETY: as above.
        let (low, high) = unsafe { (TALLIES.load(grid, at), TALLIES.load(grid, at + 1)) };
        u64::from(low) | u64::from(high) << 32
    };
    let warp = grid.warp_lane();
    join(if warp < grid.lanes() / G::WARP {
        (load(4 * warp), load(4 * warp + 2))
    } else {
        (0, 0)
    })
}
