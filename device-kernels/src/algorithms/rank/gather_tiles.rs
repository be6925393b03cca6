//! Sums the contributions of every node's predecessors, tile by tile.
//!
//! A block keeps the low words of a tile's sums in shared memory and reads the edges in
//! the order of their sources, so contributions are read in order too. Carries go to the
//! sums in memory: at most one for each 2^32 units, whatever the graph.

use super::scale::Scale;
use crate::collectives::context::Context;
use crate::machine::Grid;
use crate::machine::memory::Proven;
use crate::tables::tiles::{EACH, QUADS, Quad, Tiles};
use seawall_core::abi::control::FaultCode;
use seawall_core::abi::tiles::TileRecord;

/// Adds the predecessors' contributions to the zero sums.
///
/// Takes references, the exception to codegen rule `BY_VALUE`.
///
/// # Errors
/// [`FaultCode::NoSpace`] if the launch asked for less shared memory than a tile has
/// slots.
#[inline(never)]
pub(super) fn gather<G: Grid>(
    context: &Context<G>,
    tiles: Tiles,
    contributions: Proven,
    sums: Proven,
) -> Result<(), FaultCode> {
    let (team, grid) = (&context.team, context.team.grid);
    let pull = Pull {
        tiles,
        contributions,
        sums,
        scale: Scale::of_edges(context.tables.edges(grid)),
    };
    let mut index = team.rank();
    while index < tiles.count {
        let tile = tiles.record(grid, index);
        if tile.slots > grid.extra_words() {
            return Err(FaultCode::NoSpace);
        }
        pull.clear(grid, tile.slots);
        grid.block_barrier();
        pull.add_up(grid, &tile);
        grid.block_barrier();
        pull.flush(grid, &tile);
        // The next tile clears each slot in the lane that flushed it.
        index += team.size();
    }
    Ok(())
}

/// The arrays of a gathering wave.
#[derive(Clone, Copy, Debug)]
struct Pull {
    tiles: Tiles,
    contributions: Proven,
    sums: Proven,
    scale: Scale,
}

impl Pull {
    #[inline(always)]
    fn clear<G: Grid>(&self, grid: G, slots: u32) {
        let mut slot = grid.lane();
        while slot < slots {
            // SAFETY: the tile's slots fit, as was checked.
            unsafe { grid.place_store(grid.place(true, slot), 0) };
            slot += grid.lanes();
        }
    }

    /// Adds every edge to the slot of its row. While the shares of some edges are added, the shares
    /// of the next edges and the edges after those are in flight.
    #[inline(always)]
    fn add_up<G: Grid>(&self, grid: G, tile: &TileRecord) {
        let end = (tile.first_step + tile.steps) * QUADS;
        let rows = self.tiles.rows_of(tile);
        let edges = |index: u32| self.tiles.quad(grid, index, end);
        let mut index = tile.first_step * QUADS + grid.lane();
        let quad = edges(index);
        let (mut shares, mut slots) = (self.shares(grid, &quad), quad.slots());
        let mut next = edges(index + grid.lanes());
        while index < end {
            let behind = edges(index + 2 * grid.lanes());
            let next_shares = self.shares(grid, &next);
            self.add(grid, rows, slots, shares.map(f32::from_bits));
            (shares, slots) = (next_shares, next.slots());
            next = behind;
            index += grid.lanes();
        }
    }

    /// The bits of the contributions along four edges.
    #[inline(always)]
    fn shares<G: Grid>(&self, grid: G, quad: &Quad) -> [u32; EACH] {
        let [first, second, third, fourth] = quad.sources();
        let bits = |source: u32| self.contributions.load_weak(grid, source);
        [bits(first), bits(second), bits(third), bits(fourth)]
    }

    /// Adds four shares to their slots.
    #[inline(always)]
    fn add<G: Grid>(&self, grid: G, rows: Proven, slots: [u32; EACH], shares: [f32; EACH]) {
        // A missing edge adds 0.0 to the first slot instead of branching: codegen rule
        // `LOADS_TOGETHER`.
        let is_edge = |k: usize| slots[k] < rows.len();
        let slot = |k: usize| if is_edge(k) { slots[k] } else { 0 };
        let share = |k: usize| if is_edge(k) { shares[k] } else { 0.0 };
        let add = |k: usize| {
            let low = self.scale.word(share(k));
            // SAFETY: the tile's slots fit, as was checked, and it has at least one.
            let before = unsafe { grid.extra_add(slot(k), low.unwrap_or(0)) };
            match low {
                Some(low) => before.wrapping_add(low) < low,
                None => true,
            }
        };
        // All four are in flight before the first answer is needed.
        let carries = [add(0), add(1), add(2), add(3)];
        if carries.iter().any(|carries| *carries) {
            for (k, carries) in carries.iter().enumerate() {
                if *carries {
                    let share = share(k);
                    let rest = if self.scale.word(share).is_some() {
                        1 << 32
                    } else {
                        self.scale.units(share)
                    };
                    let row = rows.constant(grid, slot(k));
                    self.sums.add_wide(grid, 2 * row, rest);
                }
            }
        }
    }

    /// Adds the low words to the sums in memory.
    #[inline(always)]
    fn flush<G: Grid>(&self, grid: G, tile: &TileRecord) {
        let mut slot = grid.lane();
        while slot < tile.slots {
            // SAFETY: the tile's slots fit, as was checked.
            let sum = unsafe { grid.place_load(grid.place(true, slot)) };
            if sum != 0 {
                let row = self.tiles.rows_of(tile).constant(grid, slot);
                self.sums.add_wide(grid, 2 * row, u64::from(sum));
            }
            slot += grid.lanes();
        }
    }
}
