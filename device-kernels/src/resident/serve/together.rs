//! Light work, answered by all lanes of a dispatcher's warp together.
//!
//! A lane alone would take a dozen cycles for each word of a completion, and its writes cross the
//! bus one by one. So the warp acts as one worker: all lanes run the rules with equal values, one
//! of them changes memory, and each writes a word of the completion. No value has its address
//! taken, so all stay in registers.

use super::places::Places;
use crate::machine::Grid;
use seawall_core::abi::ring::{Kind, SlotRecord};
use seawall_core::protocol::post::{CompletionWords, seal_of_shares, share_of};
use seawall_core::protocol::{
    COUNTS, Ending, Layout, Read, Ring, Scope, Swap, Update, Words, Worker, Write,
};

/// Words of a completion.
const RECORD: u32 = (size_of::<CompletionWords>() / 4) as u32;

/// Answers the slot of a post that came. Returns false, without any effect, if the work is not
/// light or its tenant has no space. All lanes of the warp call this with the same slot.
#[inline(always)]
pub(super) fn handle<G: Grid>(
    grid: G,
    places: Places<G, true>,
    layout: Layout,
    index: u32,
    slot: SlotRecord,
) -> bool {
    if !is_light(&slot) || index >= layout.slots() {
        return false;
    }
    let words = Together { grid, places };
    let ring = Ring::new(&words, layout);
    if slot.opcode != Kind::Nop.opcode() {
        // The windows as they were when the host posted.
        places.fence();
    }
    // These loads are in flight while the slot is admitted; before the branches above, the branches
    // would wait for them.
    let epoch = ring.epoch_now();
    let mut worker = Worker::new(ring, None);
    let Some(claim) = worker.accept(index, &slot) else {
        return false;
    };
    let Some(result) = ring.execute_light(&claim) else {
        return false;
    };
    let ending = worker.light_ending(&claim, result, epoch);
    let shares = write(grid, &places, &ending);
    // The writes of the lanes come before the release by the lane that counts in a batch.
    grid.warp_barrier();
    ring.show_end(&ending, || seal_of_shares(ending.ended, shares));
    true
}

/// Whether a slot is work on at most one word.
#[inline(always)]
fn is_light(slot: &SlotRecord) -> bool {
    slot.opcode <= Kind::CompareSwap.opcode()
}
const _: () = {
    let mut opcode = 0;
    while opcode <= Kind::CompareSwap.opcode() {
        assert!(matches!(
            Kind::of(opcode),
            Some(Kind::Nop | Kind::Store | Kind::Add | Kind::Load | Kind::CompareSwap)
        ));
        opcode += 1;
    }
};

/// Writes a completion and its increments of the counters. Returns the sum of its words' shares.
#[inline(always)]
fn write<G: Grid>(grid: G, places: &Places<G, true>, ending: &Ending) -> u32 {
    let mut shares = 0_u32;
    let mut lane = grid.warp_lane();
    while lane < RECORD + COUNTS as u32 {
        if lane < RECORD {
            let word = chosen(&ending.words, lane);
            places.complete(ending.completion + lane, word);
            shares = shares.wrapping_add(share_of(lane + 1, word));
        } else {
            let (at, value) = chosen(&ending.counts, lane - RECORD);
            if value != 0 {
                places.tally(at, value);
            }
        }
        lane += G::WARP;
    }
    grid.warp_sum(shares)
}

/// An element of an array that has no address.
#[inline(always)]
fn chosen<T: Copy + Default, const N: usize>(among: &[T; N], index: u32) -> T {
    let mut found = T::default();
    for (at, element) in (0..).zip(among) {
        if at == index {
            found = *element;
        }
    }
    found
}

/// The words of a service for a warp that acts as one worker. Lanes may read different values of a
/// word that others change meanwhile; the rules read only values to report in that way, and one
/// lane writes each of those.
#[derive(Clone, Copy, Debug)]
struct Together<G> {
    grid: G,
    places: Places<G, true>,
}

impl<G: Grid> Together<G> {
    #[inline(always)]
    fn leads(&self) -> bool {
        self.grid.warp_lane() == 0
    }

    /// The result of the lane that changes memory.
    #[inline(always)]
    fn by_leader(&self, change: impl FnOnce() -> u32) -> u32 {
        let found = if self.leads() { change() } else { 0 };
        self.grid.shuffle(found, 0)
    }
}

impl<G: Grid> Words for Together<G> {
    #[inline(always)]
    fn load(&self, at: u32, order: Read, scope: Scope) -> u32 {
        self.places.load(at, order, scope)
    }

    #[inline(always)]
    fn store(&self, at: u32, value: u32, order: Write, scope: Scope) {
        if self.leads() {
            self.places.store(at, value, order, scope);
        }
    }

    #[inline(always)]
    fn swap_if(&self, at: u32, swap: Swap, order: Update, scope: Scope) -> u32 {
        self.by_leader(|| self.places.swap_if(at, swap, order, scope))
    }

    #[inline(always)]
    fn add(&self, at: u32, value: u32, order: Update, scope: Scope) -> u32 {
        self.by_leader(|| self.places.add(at, value, order, scope))
    }

    #[inline(always)]
    fn add_unseen(&self, at: u32, value: u32, order: Update, scope: Scope) {
        if self.leads() {
            self.places.add_unseen(at, value, order, scope);
        }
    }

    #[inline(always)]
    fn seals(&self) -> bool {
        true
    }
}
