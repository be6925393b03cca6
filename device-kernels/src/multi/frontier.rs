//! Nodes that a step found: on each device a list, if they are few, else bits.

use super::meet::{Found, LISTED, Part};
use super::record::Multi;
use crate::collectives::block::warp_sum_wide;
use crate::machine::Grid;
use crate::machine::memory::{Proven, word_of};
use crate::operators::advance::row_spread::{RowSpread, owner};
use crate::tables::control::Stop;
use core::cell::Cell;
use seawall_core::abi::multi::{LIST, MultiState, StepCounters};

/// Counts of a lane in a step, until [`Tally::add`].
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Tally {
    pub(super) found: u32,
    pub(super) edges: u64,
    pub(super) examined: u64,
    pub(super) dangling: u64,
    pub(super) change: u64,
    /// Whether the list of this step is full.
    pub(super) is_full: bool,
}

impl Tally {
    /// Adds the counts of a warp's lanes to those of the step. A warp operation.
    #[inline(always)]
    pub(super) fn add<G: Grid>(self, part: &Part<G>) {
        let (grid, counters) = (part.grid(), part.counters());
        let found = grid.warp_sum(self.found);
        if grid.warp_lane() == 0 && found != 0 {
            counters.add(grid, word_of!(StepCounters, found), found);
        }
        let wide = [
            (word_of!(StepCounters, edges), self.edges),
            (word_of!(StepCounters, examined), self.examined),
            (word_of!(StepCounters, dangling), self.dangling),
            (word_of!(StepCounters, change), self.change),
        ];
        for (at, own) in wide {
            let sum = warp_sum_wide(grid, own);
            if grid.warp_lane() == 0 && sum != 0 {
                counters.add_wide(grid, at, sum);
            }
        }
    }
}

/// Marks a node of this device as found and counts it, with the edges that leave it; returns whether
/// it was not yet.
#[inline(always)]
pub(super) fn find<G: Grid>(part: &Part<G>, tally: &Cell<Tally>, node: u32) -> bool {
    let (grid, multi) = (part.grid(), part.multi);
    let at = node - multi.first(grid);
    let bit = 1 << (at % 32);
    if multi.found(grid).or(grid, at / 32, bit) & bit != 0 {
        return false;
    }
    let mut own = tally.get();
    own.found += 1;
    own.edges += u64::from(multi.degrees(grid).constant(grid, at));
    if !own.is_full {
        let place = place_in_list(part, 1);
        own.is_full = place >= LIST;
        if place < LIST {
            own_list(part).store(grid, place, node);
        }
    }
    tally.set(own);
    true
}

/// Marks the nodes whose bits are set in word `at` of this device, which no other warp changes in
/// this step, and counts them as [`find`]. A warp operation.
#[inline(always)]
pub(super) fn find_word<G: Grid>(part: &Part<G>, tally: &Cell<Tally>, at: u32, bits: u32) {
    let (grid, multi) = (part.grid(), part.multi);
    if bits == 0 {
        return;
    }
    let mut own = tally.get();
    let mut place = LIST;
    if grid.warp_lane() == 0 {
        multi.found(grid).store(grid, at, bits);
        if !own.is_full {
            place = place_in_list(part, bits.count_ones());
            own.is_full = place >= LIST;
        }
    }
    place = grid.shuffle(place, 0);
    let mut bit = grid.warp_lane();
    while bit < 32 {
        if bits >> bit & 1 != 0 {
            own.found += 1;
            own.edges += u64::from(multi.degrees(grid).constant(grid, at * 32 + bit));
            let place = place + (bits & ((1 << bit) - 1)).count_ones();
            if place < LIST {
                own_list(part).store(grid, place, multi.first(grid) + at * 32 + bit);
            }
        }
        bit += G::WARP;
    }
    tally.set(own);
}

/// The first of `count` places in the list of this step, [`LIST`] or more if there is none. Once the
/// list is full it is not used, so later nodes need no place.
#[inline(always)]
fn place_in_list<G: Grid>(part: &Part<G>, count: u32) -> u32 {
    let (grid, counters, listed) = (part.grid(), part.counters(), word_of!(StepCounters, listed));
    // One block finds few nodes, and a look at the counter would take as long as its change.
    if !part.team.is_alone() && counters.load(grid, listed) >= LIST {
        return LIST;
    }
    counters.add(grid, listed, count)
}

/// This device's list of what the running step finds.
#[inline(always)]
fn own_list<G: Grid>(part: &Part<G>) -> Proven {
    let (grid, multi) = (part.grid(), part.multi);
    multi.list(grid, multi.own(grid), part.step() + 1)
}

/// Calls `take` with the nodes that the last step found on all devices, one or none in each lane. A
/// warp operation in each of `take`'s calls.
#[inline(always)]
pub(super) fn each<G: Grid>(part: &Part<G>, mut take: impl FnMut(Option<u32>)) {
    let (grid, multi) = (part.grid(), part.multi);
    let (warp, warps) = part.team.warps();
    for device in 0..multi.devices(grid) {
        let form = part.state(word_of!(MultiState, parts) + device);
        if form & LISTED != 0 {
            let (list, count) = (multi.list(grid, device, part.step()), form & !LISTED);
            let mut base = warp * G::WARP;
            while base < count {
                let at = base + grid.warp_lane();
                take((at < count).then(|| list.load_weak(grid, at)));
                base += warps * G::WARP;
            }
        } else if form != 0 {
            each_bit(part, device, &mut take);
        }
    }
}

/// Calls `take` with the nodes whose bits a device sent.
#[inline(always)]
fn each_bit<G: Grid>(part: &Part<G>, device: u32, take: &mut impl FnMut(Option<u32>)) {
    let (grid, multi) = (part.grid(), part.multi);
    let (warp, warps) = part.team.warps();
    let bits = multi.bits(grid, part.step());
    let first = multi.cut(grid, device) / 32;
    let end = multi.cut(grid, device + 1).div_ceil(32);
    let mut base = first + warp * G::WARP;
    while base < end {
        let at = base + grid.warp_lane();
        let word = if at < end {
            bits.load_weak(grid, at)
        } else {
            0
        };
        each_set(grid, word, base * 32, take);
        base += warps * G::WARP;
    }
}

/// Calls `take` with the nodes whose bits are set in the words of the warp's lanes, the first of
/// which begins at node `first`. A warp operation in each of `take`'s calls.
#[inline(always)]
fn each_set<G: Grid>(grid: G, word: u32, first: u32, take: &mut impl FnMut(Option<u32>)) {
    if G::WARP == 1 {
        let mut rest = word;
        while rest != 0 {
            take(Some(first + rest.trailing_zeros()));
            rest &= rest - 1;
        }
        return;
    }
    let spread = RowSpread::of(grid, word.count_ones());
    let mut step = 0;
    while step < spread.total {
        let entry = step + grid.warp_lane();
        let lane = owner(grid, spread.start, entry);
        let place = entry.wrapping_sub(grid.shuffle(spread.start, lane));
        let bit = set_bit(grid.shuffle(word, lane), place);
        take((entry < spread.total).then_some(first + lane * 32 + bit));
        step += G::WARP;
    }
}

/// The number of the bit of `word` that has `place` set ones below it.
#[inline(always)]
fn set_bit(word: u32, mut place: u32) -> u32 {
    let mut bit = 0;
    for width in [16, 8, 4, 2, 1] {
        let below = (word >> bit & ((1 << width) - 1)).count_ones();
        if place >= below {
            place -= below;
            bit += width;
        }
    }
    bit.min(31)
}

/// Writes what the running step found on this device into the memory of all, and clears the bits
/// for the next one; `send` gets each node that was found, and whose value others may need. All
/// blocks have met since the last one was found; returns whether it is a list.
#[inline(always)]
fn publish<G: Grid>(part: &Part<G>, mut send: impl FnMut(u32)) -> bool {
    let (grid, multi) = (part.grid(), part.multi);
    let count = part.counters().load(grid, word_of!(StepCounters, found));
    let (own, first) = (multi.own(grid), multi.first(grid));
    let (found, next) = (multi.found(grid), part.step() + 1);
    if count <= LIST {
        let list = multi.list(grid, own, next);
        part.team.each(count, |at| {
            let node = list.load(grid, at);
            found.store(grid, (node - first) / 32, 0);
            copy(multi, grid, list, at, node);
            send(node);
        });
        return true;
    }
    let bits = multi.bits(grid, next);
    part.team.each(multi.own_words(grid), |at| {
        let word = found.load(grid, at);
        if word != 0 {
            found.store(grid, at, 0);
        }
        let place = first / 32 + at;
        bits.store_weak(grid, place, word);
        copy(multi, grid, bits, place, word);
        let mut rest = word;
        while rest != 0 {
            send(first + at * 32 + rest.trailing_zeros());
            rest &= rest - 1;
        }
    });
    false
}

/// Ends a step: publishes what it found, as [`publish`], meets the other devices, and returns what all
/// have found.
///
/// # Errors
/// As [`Part::meet`].
#[inline(always)]
pub(super) fn tell<G: Grid>(part: &mut Part<G>, send: impl FnMut(u32)) -> Result<Found, Stop> {
    let is_list = publish(part, send);
    part.meet(is_list)?;
    Ok(part.found())
}

/// Writes a word of an array into the memory of all other devices.
#[inline(always)]
pub(super) fn copy<G: Grid>(multi: Multi, grid: G, words: Proven, at: u32, value: u32) {
    let own = multi.own(grid);
    for device in 0..multi.devices(grid) {
        if device != own {
            multi
                .of_device(grid, words, device)
                .store_weak(grid, at, value);
        }
    }
}

/// Makes bits of all lists of the last step. A device whose nodes are in a list has no bits of its
/// own there. Every lane calls this, and a barrier follows.
///
/// # Errors
/// As [`Part::barrier`].
#[inline(always)]
pub(super) fn lists_to_bits<G: Grid>(part: &Part<G>) -> Result<(), Stop> {
    let (grid, multi) = (part.grid(), part.multi);
    let bits = multi.bits(grid, part.step());
    let form = |device| part.state(word_of!(MultiState, parts) + device);
    for device in 0..multi.devices(grid) {
        if form(device) & LISTED == 0 && form(device) != 0 {
            continue;
        }
        let first = multi.cut(grid, device) / 32;
        let end = multi.cut(grid, device + 1).div_ceil(32);
        part.team
            .each(end - first, |at| bits.store_weak(grid, first + at, 0));
    }
    part.barrier()?;
    for device in 0..multi.devices(grid) {
        let list = multi.list(grid, device, part.step());
        if form(device) & LISTED != 0 {
            part.team.each(form(device) & !LISTED, |at| {
                let node = list.load_weak(grid, at);
                bits.or(grid, node / 32, 1 << (node % 32));
            });
        }
    }
    part.barrier()
}

#[cfg(test)]
mod tests {
    use super::set_bit;

    #[test]
    fn each_set_bit_has_its_place() {
        for word in [0, 1, 1 << 31, 0x8000_0001, 0x1234_5678, u32::MAX] {
            let bits = (0..32).filter(|bit| word >> bit & 1 != 0);
            for (place, bit) in (0..).zip(bits) {
                assert_eq!(set_bit(word, place), bit, "{word:x}");
            }
            // Lanes past the last entry may ask for anything.
            assert!((0..99).all(|place| set_bit(word, place) < 32));
        }
    }
}
