//! Shares out edges block by block: the rows of a share lie in the block's shared memory.

use super::{Edges, Source, Visit, append_picked};
use crate::collectives::block::{last_by_block, owner};
use crate::collectives::queue::{Fill, Finds};
use crate::collectives::team::Team;
use crate::machine::Grid;
use crate::machine::memory::Csr;
use crate::machine::shared::{Area, ROUND_ROWS, ROUND_SHIFTS, ROUND_STARTS, ROUND_VALUES};
use core::ops::Range;

/// Edges that a lane has in flight at a time, in shares with more than one for it.
const EACH: usize = 4;

/// Shared memory for the rows of a share.
#[derive(Clone, Copy, Debug)]
pub struct Tile {
    /// The offset of each row in the share.
    pub starts: Area,
    /// The difference between an edge of the queue and the same edge of the graph, per row.
    pub shifts: Area,
    /// A word per row that its edges carry; without it they carry the number of their queue entry.
    pub values: Option<Area>,
    /// Rows that it has space for.
    pub rows: u32,
}

impl Tile {
    /// The memory of rounds.
    const ROUND: Self = Self {
        starts: ROUND_STARTS,
        shifts: ROUND_SHIFTS,
        values: Some(ROUND_VALUES),
        rows: ROUND_ROWS,
    };
}

/// Edges of a block whose rows lie in shared memory.
#[derive(Clone, Copy, Debug)]
pub struct Share {
    /// The place of its rows.
    pub tile: Tile,
    /// Edges of the queue before them.
    pub first_edge: u32,
    /// Their number.
    pub edges: u32,
    /// The queue entry that the first of them belongs to.
    pub first_row: u32,
    /// The entries that they belong to.
    pub rows: u32,
}

/// The traversal by blocks.
#[inline(always)]
pub(super) fn expand<G: Grid, V: Visit>(
    team: &Team<G>,
    source: &Source,
    to: &impl Fill,
    mut visitor: V,
) {
    let grid = team.grid;
    let size = size_of(team, source.edges);
    each_share(
        team,
        size,
        || source.edges,
        |first_edge, edges| {
            let nodes = source.queue.nodes;
            let share = Share::load(
                grid,
                Tile::ROUND,
                source,
                first_edge..first_edge + edges,
                |entry| nodes.load_weak(grid, entry),
                // SAFETY: the row is one of the tile's.
                |at, node| unsafe { ROUND_VALUES.store(grid, at, visitor.leave(node)) },
            );
            if edges > grid.lanes() && V::TOGETHER {
                share.visit::<G, EACH>(grid, source, to, &mut visitor);
            } else {
                share.visit::<G, 1>(grid, source, to, &mut visitor);
            }
            grid.block_barrier();
        },
    );
}

/// Calls `visit` with the first edge and the number of edges of each of this block's shares, of
/// `size` edges or what is left of as many as `all` returns.
#[inline(always)]
pub fn each_share<G: Grid>(
    team: &Team<G>,
    size: u32,
    all: impl Fn() -> u32,
    mut visit: impl FnMut(u32, u32),
) {
    let mut first = u64::from(team.rank()) * u64::from(size);
    loop {
        let all = all();
        if first >= u64::from(all) {
            return;
        }
        let at = first as u32;
        visit(at, (all - at).min(size));
        first += u64::from(team.size()) * u64::from(size);
    }
}

/// Edges of a share: few enough to keep every block busy.
#[inline(always)]
fn size_of<G: Grid>(team: &Team<G>, edges: u32) -> u32 {
    let lanes = team.grid.lanes();
    let most = (ROUND_ROWS / lanes).max(1) * lanes;
    let even = edges.div_ceil(team.size()).div_ceil(lanes).max(1);
    even.saturating_mul(lanes).min(most)
}

impl Share {
    /// Loads the rows of the queue's edges `edges` into shared memory. For each, it calls `keep` with
    /// its place there and what `fetch` returned for its queue entry; entries that turn out to be
    /// beyond the share are fetched too. A block operation.
    #[inline(always)]
    pub fn load<G: Grid, T>(
        grid: G,
        tile: Tile,
        source: &Source,
        edges: Range<u32>,
        fetch: impl Fn(u32) -> T,
        keep: impl Fn(u32, T),
    ) -> Self {
        let queue = &source.queue;
        let first_row = last_by_block(grid, source.nodes, |entry| {
            queue.prefix.load_weak(grid, entry) <= edges.start
        });
        let (mut rows, mut base) = (0, 0);
        loop {
            let at = base + grid.lane();
            let entry = first_row + at;
            let mut inside = false;
            if entry < source.nodes && at < tile.rows {
                let prefix = queue.prefix.load_weak(grid, entry);
                let fetched = fetch(entry);
                let start = queue.starts.load_weak(grid, entry);
                inside = prefix < edges.end;
                if inside {
                    // SAFETY: `at` was checked against the rows of the tile.
                    unsafe {
                        tile.starts
                            .store(grid, at, prefix.saturating_sub(edges.start));
                        tile.shifts.store(grid, at, start.wrapping_sub(prefix));
                    }
                    keep(at, fetched);
                }
            }
            let count = grid.block_count(inside);
            rows += count;
            base += grid.lanes();
            if count < grid.lanes() || base >= tile.rows {
                break;
            }
        }
        Self {
            tile,
            first_edge: edges.start,
            edges: edges.end - edges.start,
            first_row,
            rows,
        }
    }

    /// Visits `K` edges per lane at a time.
    #[inline(always)]
    fn visit<G: Grid, const K: usize>(
        self,
        grid: G,
        source: &Source,
        to: &impl Fill,
        visitor: &mut impl Visit,
    ) {
        let mut base = 0;
        while base < self.edges {
            let taken = self.edges_from::<G, K>(grid, source.rows, base);
            let picked = Finds {
                nodes: taken.to,
                mask: visitor.visit(&taken),
            };
            append_picked(grid, to, visitor, &picked);
            base += K as u32 * grid.lanes();
        }
    }

    /// This lane's edges from number `base` on, up to `K`.
    #[inline(always)]
    pub fn edges_from<G: Grid, const K: usize>(self, grid: G, rows: Csr, base: u32) -> Edges<K> {
        let number = |k: usize| base + k as u32 * grid.lanes() + grid.lane();
        let owners = self.owners::<G, K>(grid, number);
        let mut edges = Edges::NONE;
        for (k, owner) in owners.iter().enumerate() {
            // SAFETY: an owner is below `rows`, at most those of the tile.
            let shift = unsafe { self.tile.shifts.load(grid, *owner) };
            edges.value[k] = match self.tile.values {
                // SAFETY: as above.
                Some(values) => unsafe { values.load(grid, *owner) },
                None => self.first_row + *owner,
            };
            let is_edge = number(k) < self.edges;
            edges.index[k] = self.first_edge.wrapping_add(number(k)).wrapping_add(shift);
            edges.to[k] = rows.target_if(grid, is_edge, edges.index[k]);
            edges.mask |= u32::from(is_edge) << k;
        }
        edges
    }

    /// The row of each `number`. Several searches take equal steps, so that they overlap.
    #[inline(always)]
    fn owners<G: Grid, const K: usize>(self, grid: G, number: impl Fn(usize) -> u32) -> [u32; K] {
        let starts = self.tile.starts;
        if K == 1 {
            return [owner(grid, starts, self.rows, number(0)); K];
        }
        let mut owners = [0; K];
        let mut half = 1 << (31 - self.rows.max(1).leading_zeros());
        while half != 0 {
            for (k, owner) in owners.iter_mut().enumerate() {
                let at = *owner + half;
                // SAFETY: `at` is below `rows`, at most those of the tile.
                if at < self.rows && unsafe { starts.load(grid, at) } <= number(k) {
                    *owner = at;
                }
            }
            half >>= 1;
        }
        owners
    }
}
