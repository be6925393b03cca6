//! Triangles whose two higher corners are hubs, by rows of bits.
//!
//! A warp sets a bit for each hub that a node's kept edges enter. The row of bits of one of these
//! hubs marks the others it has edges to, so the bits that both share are triangles. Eight lanes
//! compare a piece of a row, four words each at a time. Rows only lead to higher ranks, so the
//! piece ends at the hub itself; if triangles are counted at all corners, rows are whole, and the
//! bits that a hub shares are its own count.

use super::center::Centers;
use super::hubs::Hubs;
use super::neighbour_tables::space_of;
use super::orient::Forward;
use crate::collectives::block::warp_scan;
use crate::collectives::context::Context;
use crate::machine::memory::Proven;
use crate::machine::shared::HELD_ROWS;
use crate::machine::{Grid, PLACE};
use crate::operators::deal::{NONE, is_late, open_parts, take_parts};
use seawall_core::abi::control::FaultCode;
use seawall_core::abi::hubs::{HUBS_LEAST, HUBS_MOST};

/// Lanes that compare a piece.
const PART: u32 = 8;
/// Ranks of a piece: those of eight words per lane.
const PIECE: u32 = PART * 8 * 32;
/// Kept edges that a lane looks up together.
const EACH: usize = 4;
/// Pieces that a lane compares together.
const TOGETHER: usize = 2;
/// Nodes that a warp takes at a time.
const NODES: u32 = 8;
/// Bits of a rank in an item.
const RANK_BITS: u32 = HUBS_MOST.ilog2();
const _: () = assert!(HUBS_LEAST.is_multiple_of(PIECE));
const _: () = assert!(HELD_ROWS.words() >= PairMemory::words(HUBS_MOST / 32));
const _: () = assert!(HELD_ROWS.first().is_multiple_of(4));

/// The registers of a counting wave: it counts a triangle at each corner if `CORNERS`, else
/// at the lowest one.
#[derive(Clone, Copy, Debug)]
pub(super) struct HubPairs<const CORNERS: bool> {
    forward: Forward,
    hubs: Hubs,
    counts: Proven,
    centers: Centers,
}

/// A warp's shared memory: a bit per hub, clear before and after a node, and the pieces to
/// compare.
#[derive(Clone, Copy, Debug)]
struct PairMemory {
    bits: u32,
    /// Words of the bits.
    words: u32,
    items: u32,
}

impl PairMemory {
    /// Words of bits in `words` words, and of as many items as 32 hubs have pieces.
    const fn words(words: u32) -> u32 {
        words + 32 * (32 * words / PIECE)
    }

    /// This warp's memory, with the bits clear; `None` if there is too little for it.
    #[inline(always)]
    fn of<G: Grid>(grid: G, words: u32) -> Option<Self> {
        let (is_extra, first, space) = space_of(grid);
        let (number, each) = (grid.lane() / G::WARP, Self::words(words));
        if (number + 1) * each > space {
            return None;
        }
        let bits = grid.place(is_extra, first + number * each);
        let items = bits + words * PLACE;
        let space = Self { bits, words, items };
        space.clear(grid);
        Some(space)
    }

    #[inline(always)]
    fn clear<G: Grid>(self, grid: G) {
        let mut at = 4 * grid.warp_lane();
        while at < self.words {
            // SAFETY: the warp's memory has as many words, from a multiple of four on.
            unsafe { grid.place_store4(self.bits + at * PLACE, [0; 4]) };
            at += 4 * G::WARP;
        }
        grid.warp_barrier();
    }

    #[inline(always)]
    fn word(self, rank: u32) -> u32 {
        self.bits + rank / 32 * PLACE
    }

    /// Sets the bit of every lane's rank, if it has one, and returns their number. All bits
    /// are of different ranks. A warp operation.
    #[inline(always)]
    fn set<G: Grid>(self, grid: G, rank: u32) -> u32 {
        if rank != NONE {
            // SAFETY: ranks are below the space for hubs, which has `words` words of bits.
            unsafe { grid.place_add(self.word(rank), 1 << (rank % 32)) };
        }
        grid.ballot(rank != NONE).count_ones()
    }
}

impl<const CORNERS: bool> HubPairs<CORNERS> {
    pub(super) fn new(forward: Forward, hubs: Hubs, counts: Proven, centers: Centers) -> Self {
        Self {
            forward,
            hubs,
            counts,
            centers,
        }
    }

    /// Counts this team's share.
    #[inline(never)]
    pub(super) fn all<G: Grid>(&self, context: &Context<G>) -> Result<(), FaultCode> {
        // Codegen rule `BY_VALUE`.
        let pairs = *self;
        let (team, grid) = (&context.team, context.team.grid);
        let nodes = context.tables.nodes(grid);
        let mut late = false;
        // Warps of this block may still read shared memory for an earlier wave.
        grid.block_barrier();
        open_parts(grid);
        if let Some(space) = PairMemory::of(grid, pairs.hubs.layout.row_words()) {
            take_parts(team, nodes, NODES, |node| {
                late = late || is_late(team, node);
                let (mut first, mut len) = (0, 0);
                if !late && node < nodes && pairs.centers.has(node) {
                    (first, len) = pairs.row(grid, node);
                }
                let mut wanted = grid.ballot(len >= 2);
                while wanted != 0 {
                    let lane = wanted.trailing_zeros();
                    wanted &= wanted - 1;
                    let (first, len) = (grid.shuffle(first, lane), grid.shuffle(len, lane));
                    let found = pairs.node(grid, space, first, len);
                    let node = grid.shuffle(node, lane);
                    if grid.warp_lane() == 0 && found != 0 {
                        pairs.counts.add(grid, node, found);
                    }
                }
            });
        }
        if grid.block_any(late) {
            return Err(FaultCode::TimeBudget);
        }
        Ok(())
    }

    /// First kept edge of `node`, and their number.
    #[inline(always)]
    fn row<G: Grid>(&self, grid: G, node: u32) -> (u32, u32) {
        let (first, end) = self.forward.rows.row(grid, node);
        let len = match self.hubs.rank(grid, node) {
            Some(rank) => self.hubs.len(grid, rank),
            None => self.forward.degrees.load_weak(grid, node),
        };
        (first, len.min(end - first))
    }

    /// Counts at a node's kept edges, and returns the triangles. A warp operation.
    #[inline(always)]
    fn node<G: Grid>(&self, grid: G, space: PairMemory, first: u32, len: u32) -> u32 {
        let is_short = len <= G::WARP;
        let (mut rank, mut hubs) = (NONE, 0);
        if is_short {
            [rank] = self.ranks(grid, first, len);
            hubs = space.set(grid, rank);
        } else {
            let mut at = 0;
            while at < len {
                let ranks: [u32; EACH] = self.ranks(grid, first + at, len - at);
                for rank in &ranks {
                    hubs += space.set(grid, *rank);
                }
                at += (len - at).min(EACH as u32 * G::WARP);
            }
        }
        grid.warp_barrier();
        let (mut found, mut at) = (0, 0);
        while hubs >= 2 && at < len {
            if !is_short {
                [rank] = self.ranks(grid, first + at, len - at);
            }
            found += self.window(grid, space, rank);
            at += (len - at).min(G::WARP);
        }
        if !is_short {
            space.clear(grid);
        } else if rank != NONE {
            // SAFETY: ranks are below the space for hubs.
            unsafe { grid.place_store(space.word(rank), 0) };
        }
        grid.warp_barrier();
        let found = grid.warp_sum(found);
        if CORNERS { found / 2 } else { found }
    }

    /// Ranks of the hubs that this lane's edges of the `left` ones from edge `first` on enter;
    /// [`NONE`] for other nodes and missing edges.
    #[inline(always)]
    fn ranks<G: Grid, const K: usize>(&self, grid: G, first: u32, left: u32) -> [u32; K] {
        let targets: [u32; K] = core::array::from_fn(|k| {
            let number = k as u32 * G::WARP + grid.warp_lane();
            if number < left {
                self.forward.target(grid, first + number)
            } else {
                NONE
            }
        });
        targets.map(|to| match to {
            NONE => NONE,
            to => self.hubs.rank(grid, to).unwrap_or(NONE),
        })
    }

    /// Compares the rows of a hub per lane with the bits of the node, and returns this lane's
    /// finds. A warp operation.
    #[inline(always)]
    fn window<G: Grid>(&self, grid: G, space: PairMemory, rank: u32) -> u32 {
        let pieces = match rank {
            NONE => 0,
            _ if CORNERS => 1,
            rank => rank / PIECE + 1,
        };
        let (start, total) = warp_scan(grid, pieces);
        for piece in 0..pieces {
            let place = space.items + (start + piece) * PLACE;
            // SAFETY: there is a word for each piece of as many hubs as a warp has lanes.
            unsafe { grid.place_store(place, rank | piece << RANK_BITS) };
        }
        grid.warp_barrier();
        let groups = (G::WARP / PART).max(1);
        let group = grid.warp_lane() / PART;
        let (mut found, mut base) = (0, 0);
        while base < total {
            let numbers: [u32; TOGETHER] =
                core::array::from_fn(|k| base + k as u32 * groups + group);
            // A missing item is the last one again.
            let items = numbers.map(|number| {
                let place = space.items + number.min(total - 1) * PLACE;
                // SAFETY: as above.
                unsafe { grid.place_load(place) }
            });
            let shared = self.shared(grid, space, items);
            for k in 0..TOGETHER {
                let here = if numbers[k] < total { shared[k] } else { 0 };
                found += here;
                if CORNERS {
                    self.add_all(grid, items[k] % HUBS_MOST, here);
                }
            }
            base += TOGETHER as u32 * groups;
        }
        grid.warp_barrier();
        found
    }

    /// Numbers of bits that this lane's parts of the items share with the node.
    #[inline(always)]
    fn shared<G: Grid>(
        &self,
        grid: G,
        space: PairMemory,
        items: [u32; TOGETHER],
    ) -> [u32; TOGETHER] {
        let mut shared = [0; TOGETHER];
        let step = PART.min(G::WARP);
        let part = grid.warp_lane() % step;
        let last = if CORNERS {
            space.words / (PIECE / 32)
        } else {
            1
        };
        let mut piece = 0;
        while piece < last {
            let mut quad = part;
            while quad < PIECE / 128 {
                // Codegen rule `NO_INDEXED_ARRAYS`: numbers that are known, so that nothing
                // lies in local memory.
                for k in 0..TOGETHER {
                    let number = (items[k] >> RANK_BITS) + piece;
                    let word = number * (PIECE / 32) + 4 * quad;
                    let row = (items[k] % HUBS_MOST) * space.words;
                    let theirs = self.hubs.bits4(grid, row + word);
                    // SAFETY: a piece lies within the bits of all hubs.
                    let own = unsafe { grid.place_load4(space.bits + word * PLACE) };
                    shared[k] += (theirs[0] & own[0]).count_ones()
                        + (theirs[1] & own[1]).count_ones()
                        + (theirs[2] & own[2]).count_ones()
                        + (theirs[3] & own[3]).count_ones();
                }
                quad += step;
            }
            piece += 1;
        }
        shared
    }

    /// Adds the sum of `found` in the lanes of a piece to the count of the hub of `rank`.
    #[inline(always)]
    fn add_all<G: Grid>(&self, grid: G, rank: u32, found: u32) {
        let (mut sum, mut delta) = (found, PART.min(G::WARP) / 2);
        while delta > 0 {
            sum += grid.shuffle(sum, grid.warp_lane() ^ delta);
            delta /= 2;
        }
        if sum != 0 && grid.warp_lane().is_multiple_of(PART) {
            self.counts.add(grid, self.hubs.node(grid, rank), sum);
        }
    }
}
