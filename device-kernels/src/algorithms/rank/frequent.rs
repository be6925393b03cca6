//! Sources of many edges, and their places side by side.
//!
//! A gather reads the words of such nodes again and again, but they lie far apart, and a
//! multiprocessor's cache holds few lines. Side by side, a line has the words of many of them.
//! Warps take places in order of time, so that the nodes of a slice are adjacent, except near its
//! ends.

use crate::collectives::context::{Context, ContextRef};
use crate::machine::Grid;
use crate::machine::memory::Proven;
use crate::tables::{Tables, Wave};
use seawall_core::abi::control::FaultCode;
use seawall_core::abi::program::NO_REGISTER;
use seawall_core::abi::slices::{MAP_NODES, map_words};

/// Lists the nodes of many edges, and makes the map of their places.
///
/// # Errors
/// [`FaultCode::BadRegister`] if a register is missing or too short.
#[inline(never)]
pub(super) fn pick<G: Grid>(cx: ContextRef<G>, wave: Wave) -> Result<(), FaultCode> {
    let context = &cx.context();
    let (tables, grid) = (context.tables, context.team.grid);
    let nodes = tables.nodes(grid);
    let pick = Pick {
        least: wave.parameter(grid, 0),
        // SAFETY: indices are pairs of words of the map.
        map: unsafe { tables.proven_of(grid, wave.destination(grid), map_words(nodes))? },
        // SAFETY: indices are compared with the register's own length.
        list: unsafe { tables.proven_of(grid, wave.source(grid, 0), 0)? },
        // SAFETY: the register has a word.
        count: unsafe { tables.proven_of(grid, wave.source(grid, 1), 1)? },
    };
    let pairs = nodes.div_ceil(MAP_NODES);
    context
        .team
        .each_by_warp(pairs, |pair| pick.pair(context, pair));
    Ok(())
}

/// Copies the words of frequent sources to their places.
///
/// # Errors
/// As [`pick`].
#[inline(never)]
pub(super) fn copy<G: Grid>(cx: ContextRef<G>, wave: Wave) -> Result<(), FaultCode> {
    let context = &cx.context();
    let (tables, grid) = (context.tables, context.team.grid);
    let nodes = tables.nodes(grid);
    // SAFETY: indices are nodes, or places after them that the register has.
    let words = unsafe { tables.proven_of(grid, wave.destination(grid), nodes)? };
    // SAFETY: indices are below the register's own length.
    let list = unsafe { tables.proven_of(grid, wave.source(grid, 0), 0)? };
    let count = list.len().min(words.len() - nodes);
    context.team.each(count, |place| {
        let node = list.load_weak(grid, place);
        // The list may hold anything.
        let word = words.load_weak_if(grid, node < nodes, node, 0);
        words.store_weak(grid, nodes + place, word);
    });
    Ok(())
}

/// Nodes to pick, and registers to note them in.
#[derive(Clone, Copy, Debug)]
struct Pick {
    /// Fewest edges.
    least: u32,
    map: Proven,
    list: Proven,
    count: Proven,
}

impl Pick {
    /// Picks among the nodes of pair `pair` of the map. A warp operation.
    #[inline(always)]
    fn pair<G: Grid>(&self, context: &Context<G>, pair: u32) {
        let (tables, grid) = (context.tables, context.team.grid);
        let (rows, nodes) = (tables.outgoing(grid), tables.nodes(grid));
        let base = pair * MAP_NODES;
        let (mut bits, mut first) = (0, 0);
        while first < MAP_NODES {
            let node = base + first + grid.warp_lane();
            let (start, end) = rows.row_if(grid, node < nodes, node);
            let is_picked = node < nodes && end - start >= self.least;
            bits |= grid.ballot(is_picked) << first;
            first += G::WARP;
        }
        let picked = bits.count_ones();
        let mut place = 0;
        if picked != 0 {
            if grid.warp_lane() == 0 {
                place = self.count.add(grid, 0, picked);
            }
            place = grid.shuffle(place, 0);
        }
        if u64::from(place) + u64::from(picked) > u64::from(self.list.len()) {
            bits = 0;
        }
        first = 0;
        while first < MAP_NODES {
            let at = first + grid.warp_lane();
            if bits >> at & 1 != 0 {
                self.list
                    .store_weak(grid, place + before(bits, at), base + at);
            }
            first += G::WARP;
        }
        if grid.warp_lane() == 0 {
            let words = u64::from(place) << 32 | u64::from(bits);
            self.map.store_weak_wide(grid, 2 * pair, words);
        }
    }
}

/// Bits of `bits` below bit `at`.
#[inline(always)]
fn before(bits: u32, at: u32) -> u32 {
    (bits & ((1 << at) - 1)).count_ones()
}

/// Places of frequent sources, if there are any.
#[derive(Clone, Copy, Debug)]
pub(super) struct Places {
    map: Option<Proven>,
    nodes: u32,
}

impl Places {
    /// The places in register `map`.
    ///
    /// # Errors
    /// [`FaultCode::BadRegister`] if it is too short.
    #[inline(always)]
    pub(super) fn of<G: Grid>(grid: G, tables: Tables, map: u32) -> Result<Self, FaultCode> {
        let nodes = tables.nodes(grid);
        let map = if map == NO_REGISTER {
            None
        } else {
            // SAFETY: indices are pairs of words of the map.
            Some(unsafe { tables.proven_of(grid, map, map_words(nodes))? })
        };
        Ok(Self { map, nodes })
    }

    /// The word that stands for source `node` of an edge.
    #[inline(always)]
    pub(super) fn word<G: Grid>(&self, grid: G, node: u32) -> u32 {
        let Some(map) = self.map else {
            return node;
        };
        let words = map.load_weak_wide(grid, 2 * (node / MAP_NODES));
        let (bits, place) = (words as u32, (words >> 32) as u32);
        let at = node % MAP_NODES;
        if bits >> at & 1 == 0 {
            return node;
        }
        self.nodes
            .wrapping_add(place)
            .wrapping_add(before(bits, at))
    }
}
