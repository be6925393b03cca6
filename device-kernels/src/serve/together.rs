//! A post that came alone: one lane decides, all lanes of a courier's warp write its answer.
//!
//! A lane alone would take a dozen cycles for each word of a completion, and its writes cross the
//! bus one by one. Here a lane has one word, and a warp's words cross in one line.

use super::courier::{self, BEHIND_RIGHTS};
use super::places::Places;
use crate::grid::Grid;
use seawall_core::abi::ring::{Kind, RESULTS, SlotRecord};
use seawall_core::protocol::post::{CompletionWords, seal_of_shares, share_of};
use seawall_core::protocol::{COUNTS, Ending, Ring, Scope, Update, Words, Worker, Write};

/// Words of a completion.
const RECORD: u32 = (size_of::<CompletionWords>() / 4) as u32;

/// First word of the block's shared memory that keeps a completion, then the places of counts, then
/// their additions.
const ENDING: u32 = BEHIND_RIGHTS;
const PLACES: u32 = ENDING + RECORD;
const ADDITIONS: u32 = PLACES + COUNTS as u32;

/// Answers the post that came, or leaves it to the workers. All lanes of the warp call this.
#[inline(always)]
pub(super) fn handle<G: Grid>(
    grid: G,
    worker: &mut Worker<'_, Places<G>>,
    post: impl FnOnce() -> (u32, SlotRecord),
) {
    // A copy whose address nobody has, so that it stays in registers.
    let places = *worker.ring().memory();
    let ring = Ring::new(&places, worker.ring().layout());
    let mut held = None;
    if grid.warp_lane() == 0 {
        let (index, slot) = post();
        if is_light(&slot) && index < ring.layout().slots() {
            held = decide(ring, (index, &slot));
            if held.is_none() {
                ring.publish(index, &slot);
            }
        } else {
            courier::handle(worker, (index, slot));
        }
        if let Some(ending) = &held {
            keep(grid, ending);
        }
    }
    let ending = held.as_ref();
    let first = ending.map_or(0, |ending| ending.completion);
    // A completion is never the first word of a ring.
    let first = grid.shuffle(first, 0);
    if first == 0 {
        return;
    }
    grid.warp_barrier();
    let shares = write(grid, &places, first);
    if let Some(ending) = ending {
        ring.show_end(ending, || seal_of_shares(ending.ended, shares));
    }
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

/// The end of light work; `None` if its tenant has no room.
#[inline(always)]
fn decide<G: Grid>(ring: Ring<'_, Places<G>>, (index, slot): (u32, &SlotRecord)) -> Option<Ending> {
    if slot.opcode != Kind::Nop.opcode() {
        // The windows as they were when the host posted.
        ring.memory().fence();
    }
    let mut worker = Worker::new(ring, None);
    let claim = worker.accept(index, slot)?;
    let result = ring.execute_light(&claim)?;
    Some(worker.ending(&claim, result.map(first_of_results)))
}

fn first_of_results(word: u32) -> [u32; RESULTS] {
    let mut results = [0; RESULTS];
    results[0] = word;
    results
}

/// Keeps an end for all lanes.
#[inline(always)]
fn keep<G: Grid>(grid: G, ending: &Ending) {
    let words = (ENDING..).zip(ending.words);
    let places = (PLACES..).zip(ending.counts.map(|(at, _)| at));
    let additions = (ADDITIONS..).zip(ending.counts.map(|(_, value)| value));
    for (at, word) in words.chain(places).chain(additions) {
        // SAFETY: a block has far more words.
        unsafe { grid.shared_store(at, word) };
    }
}

/// Writes the completion from word `first` of the ring on, and what it adds to the books; the sum
/// of its words' shares.
#[inline(always)]
fn write<G: Grid>(grid: G, places: &Places<G>, first: u32) -> u32 {
    // SAFETY: `keep` wrote all of these words.
    let kept = |at| unsafe { grid.shared_load(at) };
    let mut shares = 0_u32;
    let mut lane = grid.warp_lane();
    while lane < RECORD + COUNTS as u32 {
        if lane < RECORD {
            let word = kept(ENDING + lane);
            places.store(first + lane, word, Write::Relaxed, Scope::System);
            shares = shares.wrapping_add(share_of(lane + 1, word));
        } else {
            let [at, value] = [PLACES, ADDITIONS].map(|first| kept(first + lane - RECORD));
            if value != 0 {
                places.add(at, value, Update::Relaxed, Scope::Device);
            }
        }
        lane += G::WARP;
    }
    grid.warp_sum(shares)
}
