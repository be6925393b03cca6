//! Hubs of a graph and their order.
//!
//! Triangles of skewed graphs are counted from these ([`hub_pairs`](super::hub_pairs)). Nodes with
//! enough edges are listed in the order in which lanes find them. A hub's rank is the number of
//! hubs before it, which a warp counts for one hub at a time: a few million comparisons.

use crate::collectives::context::Context;
use crate::machine::Grid;
use crate::machine::memory::Proven;
use crate::operators::deal::each_chunk;
use seawall_core::abi::control::FaultCode;
use seawall_core::abi::hubs::{HUB, HUB_COUNT, HUB_ROOM, HubLayout};

/// The register of hubs.
#[derive(Clone, Copy, Debug)]
pub(super) struct Hubs {
    pub(super) words: Proven,
    pub(super) layout: HubLayout,
}

impl Hubs {
    /// Register `index`, with the space that it states.
    ///
    /// # Errors
    /// As [`Hubs::with_space`].
    #[inline(always)]
    pub(super) fn of<G: Grid>(context: &Context<G>, index: u32) -> Result<Self, FaultCode> {
        let grid = context.team.grid;
        let register = context.tables.register_of(grid, index, HUB_ROOM + 1)?;
        Self::with_space(context, index, register.load_weak(grid, HUB_ROOM))
    }

    /// Register `index` with space for `most` hubs.
    ///
    /// # Errors
    /// [`FaultCode::BadRegister`] if there is no such space or register, or it is too short.
    #[inline(always)]
    pub(super) fn with_space<G: Grid>(
        context: &Context<G>,
        index: u32,
        most: u32,
    ) -> Result<Self, FaultCode> {
        let (tables, grid) = (context.tables, context.team.grid);
        let layout = HubLayout::new(tables.nodes(grid), most).ok_or(FaultCode::BadRegister)?;
        let register = tables.register(grid, index)?;
        if u64::from(register.len()) < layout.words() {
            return Err(FaultCode::BadRegister);
        }
        Ok(Self {
            // SAFETY: indices are nodes of the graph, and ranks and places below the space.
            // Listed nodes and hubs are nodes, as the host proved (`Invariant::Listed` and
            // `Invariant::Hubs`).
            words: unsafe { register.proven() },
            layout,
        })
    }

    /// Number of hubs.
    #[inline(always)]
    pub(super) fn count<G: Grid>(self, grid: G) -> u32 {
        self.words.load_weak(grid, HUB_COUNT).min(self.layout.most)
    }

    /// The key of a node.
    #[inline(always)]
    pub(super) fn key<G: Grid>(self, grid: G, node: u32) -> u32 {
        self.words.load_weak(grid, self.layout.keys() as u32 + node)
    }

    #[inline(always)]
    fn set_key<G: Grid>(self, grid: G, node: u32, key: u32) {
        self.words
            .store_weak(grid, self.layout.keys() as u32 + node, key);
    }

    /// The rank of a node that is a hub.
    #[inline(always)]
    pub(super) fn rank<G: Grid>(self, grid: G, node: u32) -> Option<u32> {
        let key = self.key(grid, node);
        (key >= HUB).then(|| self.rank_of(key))
    }

    /// Number of a hub's kept edges.
    #[inline(always)]
    pub(super) fn len<G: Grid>(self, grid: G, rank: u32) -> u32 {
        self.words
            .load_weak(grid, self.layout.lengths() as u32 + rank)
    }

    #[inline(always)]
    pub(super) fn set_len<G: Grid>(self, grid: G, rank: u32, len: u32) {
        self.words
            .store_weak(grid, self.layout.lengths() as u32 + rank, len);
    }

    /// Four words of the rows of bits from word `at` of all rows on.
    #[inline(always)]
    pub(super) fn bits4<G: Grid>(self, grid: G, at: u32) -> [u32; 4] {
        self.words.load_weak4(grid, self.layout.bits() as u32 + at)
    }

    /// Sets bit `bit` of the row of `rank`, beside other lanes.
    #[inline(always)]
    pub(super) fn set_bit<G: Grid>(self, grid: G, rank: u32, bit: u32) {
        let at = self.layout.bits() as u32 + rank * self.layout.row_words() + bit / 32;
        self.words.or(grid, at, 1 << (bit % 32));
    }

    /// The hub of a rank below the number of hubs.
    #[inline(always)]
    pub(super) fn node<G: Grid>(self, grid: G, rank: u32) -> u32 {
        self.words.load_weak(grid, self.layout.hubs() as u32 + rank)
    }

    /// The key of a rank: higher for earlier hubs.
    #[inline(always)]
    pub(super) fn key_of(self, rank: u32) -> u32 {
        HUB | (self.layout.most - 1 - rank)
    }

    /// The rank of a hub's key.
    #[inline(always)]
    pub(super) fn rank_of(self, key: u32) -> u32 {
        !key & (self.layout.most - 1)
    }

    /// Stores keys, and lists the nodes of `least` edges or more.
    #[inline(never)]
    pub(super) fn pick<G: Grid>(self, context: &Context<G>, least: u32) {
        let (team, grid) = (&context.team, context.team.grid);
        let rows = context.tables.outgoing(grid);
        // Codegen rule `BY_VALUE`.
        let (hubs, listed) = (self, self.layout.listed() as u32);
        let nodes = hubs.layout.nodes;
        each_chunk(team, nodes, |node| {
            let mut degree = 0;
            if node < nodes {
                let (start, end) = rows.row(grid, node);
                degree = (end - start).min(HUB - 1);
                hubs.set_key(grid, node, degree);
            }
            let is_hub = node < nodes && degree >= least;
            let lanes = grid.ballot(is_hub);
            if lanes == 0 {
                return;
            }
            let mut first = 0;
            if grid.warp_lane() == 0 {
                first = hubs.words.add(grid, HUB_COUNT, lanes.count_ones());
            }
            let below = (lanes & grid.lanes_below()).count_ones();
            let at = grid.shuffle(first, 0).saturating_add(below);
            if is_hub && at < hubs.layout.most {
                hubs.words.store_weak(grid, listed + 2 * at, degree);
                hubs.words.store_weak(grid, listed + 2 * at + 1, node);
            }
        });
    }

    /// Finds the rank of each listed hub.
    #[inline(never)]
    pub(super) fn rank_all<G: Grid>(self, context: &Context<G>) {
        let (team, grid) = (&context.team, context.team.grid);
        // Codegen rule `BY_VALUE`.
        let (hubs, listed) = (self, self.layout.listed() as u32);
        let (count, order) = (hubs.count(grid), |degree: u32, node: u32| {
            u64::from(degree) << 32 | u64::from(node)
        });
        let (warp, warps) = team.warps();
        let mut own = warp;
        while own < count {
            let [degree, node] =
                [0, 1].map(|word| hubs.words.load_weak(grid, listed + 2 * own + word));
            let mine = order(degree, node);
            let (mut before, mut at) = (0, 2 * grid.warp_lane());
            while at < count {
                let [degree, node, next_degree, next] =
                    hubs.words.load_weak4(grid, listed + 2 * at);
                before += u32::from(order(degree, node) > mine);
                let is_next = at + 1 < count;
                before += u32::from(is_next && order(next_degree, next) > mine);
                at += 2 * G::WARP;
            }
            let rank = grid.warp_sum(before) & (hubs.layout.most - 1);
            if grid.warp_lane() == 0 {
                let place = hubs.layout.hubs() as u32 + rank;
                hubs.words.store_weak(grid, place, node);
                hubs.set_key(grid, node, hubs.key_of(rank));
            }
            own += warps;
        }
    }
}
