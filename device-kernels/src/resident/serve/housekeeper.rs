//! The housekeeper: orders of the hosts in, counters out.

use super::deadline::is_over;
use super::places::{BATCHES_AT, CONTROL_WORDS};
use super::record::Serve;
use crate::machine::Grid;
use crate::machine::memory::word_of;
use seawall_core::abi::ring::ControlBlock;
use seawall_core::abi::serve::ServeState;
use seawall_core::protocol::{Layout, Read, Scope, Site, Write};

/// Words of the control block that hosts write.
const ORDERS: [u32; 4] = [
    word_of!(ControlBlock, shutdown),
    word_of!(ControlBlock, workers),
    word_of!(ControlBlock, favourite),
    word_of!(ControlBlock, ageing_after),
];

/// Time between two rounds, nanoseconds.
const ROUND_NS: u32 = 20_000;

/// Repeats its rounds until all other blocks have ended.
#[inline(never)]
pub(super) fn run<G: Grid>(grid: G, serve: Serve, layout: Layout) {
    if grid.lane() >= G::WARP {
        return;
    }
    let rounds = Rounds {
        grid,
        device: serve.device(grid),
        host: serve.host(grid),
    };
    loop {
        let is_ordered = rounds.take_orders();
        let others = grid.blocks() - 1;
        let ended = serve
            .state(grid, layout)
            .poll(grid, word_of!(ServeState, ended));
        // After that poll, so that the last round has the counters of all.
        rounds.show_counters();
        if grid.shuffle(u32::from(is_ordered && ended == others), 0) != 0 {
            return;
        }
        grid.rest(ROUND_NS);
    }
}

#[derive(Clone, Copy)]
struct Rounds<G> {
    grid: G,
    device: *mut u32,
    host: *mut u32,
}

impl<G: Grid> Rounds<G> {
    /// Copies the orders; returns whether one of them is the end, as seen by lane 0.
    #[inline(always)]
    fn take_orders(self) -> bool {
        let mut place = self.grid.warp_lane();
        let mut is_over_now = false;
        while place < ORDERS.len() as u32 {
            let at = order_at(place);
            // SAFETY: both rings begin with a control block, as `Serve::new` promises.
            unsafe {
                let from = self.host.wrapping_add(at);
                let order = self
                    .grid
                    .load_word(from, Read::Acquire(Site::Machine), Scope::System);
                let to = self.device.wrapping_add(at);
                // An order to drain comes as a slot, which must not be lost to a host that has
                // given none.
                if place != 0 || order != 0 {
                    self.grid
                        .store_word(to, order, Write::Release(Site::Machine), Scope::Device);
                }
                is_over_now |= place == 0 && is_over(order);
            }
            place += G::WARP;
        }
        is_over_now
    }

    /// Copies the words that are not orders.
    #[inline(always)]
    fn show_counters(self) {
        let mut at = self.grid.warp_lane();
        while at < CONTROL_WORDS {
            if at < BATCHES_AT && !ORDERS.contains(&at) {
                let at = at as usize;
                // SAFETY: as in `take_orders`.
                unsafe {
                    let from = self.device.wrapping_add(at);
                    let word = self.grid.load_word(from, Read::Relaxed, Scope::Device);
                    let to = self.host.wrapping_add(at);
                    self.grid
                        .store_word(to, word, Write::Relaxed, Scope::System);
                }
            }
            at += G::WARP;
        }
    }
}

/// The place of an order, without a table, which would lie in memory.
#[inline(always)]
const fn order_at(order: u32) -> usize {
    let [shutdown, workers, favourite, ageing_after] = ORDERS;
    let at = match order {
        0 => shutdown,
        1 => workers,
        2 => favourite,
        _ => ageing_after,
    };
    at as usize
}
