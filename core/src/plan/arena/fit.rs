//! A search for a tighter layout of a small program.
//!
//! Regions are placed one after the other, each at the lowest or at the highest
//! gap that is free for its whole life. The search is over their order. A few
//! orders by size and life are tried, then swaps of two places in the best one,
//! until the lower bound is met or a constant number of steps is spent. Large
//! programs are left to [`super::sweep`].

use super::super::cells::{read, swap, write};
use super::super::ready::{Dice, heap_sort, scaled};
use super::{Lists, Regions, slot};

/// Regions compared, over all orders together.
const VISITS: u64 = 1 << 18;
/// Programs of more regions could not be laid out once within the visits.
pub(super) const REGIONS: usize = 1 << 10;
/// Waves of such programs.
pub(crate) const WAVES: usize = REGIONS / 3;
/// Orders tried by swapping.
const TRIES: u32 = 400;
/// The end of the chain.
const NONE: u32 = u32::MAX;

/// The criterion that orders regions.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Rule {
    /// Long-lived, then large.
    Life,
    /// Large times long-lived.
    Area,
    /// Large.
    Size,
    /// Early, then long-lived; every other group from the top.
    Turns,
}

const RULES: [Rule; 4] = [Rule::Life, Rule::Area, Rule::Turns, Rule::Size];

/// Finds a layout below `most` bytes; after `None` the offsets are unspecified.
pub(super) fn refine(
    regions: &Regions<'_>,
    least: u64,
    most: u64,
    space: &mut Lists<'_>,
) -> Option<u64> {
    let mut search = Search {
        regions,
        least,
        visits: 0,
        space,
    };
    let (mut best, mut bytes) = (None, most);
    for rule in RULES {
        if search.visits >= VISITS || bytes <= least {
            break;
        }
        search.sort(rule);
        if let Some(found) = search.lay_out(bytes.wrapping_sub(1)) {
            (best, bytes) = (Some(rule), found);
        }
    }
    search.sort(best.unwrap_or(Rule::Life));
    let polished = search.polish(bytes);
    // The last order tried need not have been the best one.
    search.visits = 0;
    if polished < most {
        search.lay_out(polished)
    } else {
        None
    }
}

struct Search<'a, 'r> {
    regions: &'a Regions<'a>,
    /// The lower bound, at which highest gaps end.
    least: u64,
    visits: u64,
    space: &'a mut Lists<'r>,
}

/// The wave of a region, and which of its three the region is.
fn owner(region: u32) -> (u32, u32) {
    let wave = region.checked_div(3).unwrap_or(0);
    (wave, region.wrapping_sub(slot(wave, 0)))
}

impl Search<'_, '_> {
    fn size(&self, region: u32) -> u64 {
        let (wave, kind) = owner(region);
        self.regions.bytes(wave, kind)
    }

    fn span(&self, region: u32) -> (u32, u32) {
        let (wave, kind) = owner(region);
        self.regions.span(wave, kind)
    }

    fn sort(&mut self, rule: Rule) {
        for region in 0..u32::try_from(self.space.order.len()).unwrap_or(0) {
            let (first, last) = self.span(region);
            let size = scaled(self.size(region), self.least);
            let life = u64::from(last.wrapping_sub(first));
            let key = match rule {
                Rule::Life => !(life.wrapping_shl(32) | size),
                Rule::Area => !(life.wrapping_add(1).wrapping_mul(size)),
                Rule::Size => !size,
                Rule::Turns if life == 0 => u64::MAX.wrapping_sub(size),
                Rule::Turns => u64::from(first).wrapping_shl(32) | (!life & 0xFFFF_FFFF),
            };
            write(self.space.offsets, region, key);
            write(self.space.order, region, region);
        }
        heap_sort(self.space.order, self.space.offsets);
        let turns = rule == Rule::Turns;
        for index in 0..u32::try_from(self.space.order.len()).unwrap_or(0) {
            let region = read(self.space.order, index);
            let (first, last) = self.span(region);
            let from_top = turns && first & 1 == 1 && last > first;
            write(
                self.space.order,
                index,
                region.wrapping_shl(1) | u32::from(from_top),
            );
        }
    }

    /// Places all regions in order; `None` once more than `most` bytes are taken.
    fn lay_out(&mut self, most: u64) -> Option<u64> {
        let (mut head, mut total) = (NONE, 0);
        for index in 0..u32::try_from(self.space.order.len()).unwrap_or(0) {
            let code = read(self.space.order, index);
            let region = code >> 1;
            let (offset, below) = match self.size(region) {
                0 => (0, NONE),
                _ => self.find(head, code),
            };
            let end = offset.saturating_add(self.size(region));
            if end > most || self.visits >= VISITS {
                return None;
            }
            total = total.max(end);
            write(self.space.offsets, region, offset);
            if self.size(region) > 0 {
                self.link(&mut head, region, below);
            }
        }
        Some(total)
    }

    fn link(&mut self, head: &mut u32, region: u32, below: u32) {
        if below == NONE {
            write(self.space.links, region, *head);
            *head = region;
        } else {
            write(self.space.links, region, read(self.space.links, below));
            write(self.space.links, below, region);
        }
    }

    /// A free offset for a region, and the placed region that precedes it.
    fn find(&mut self, head: u32, code: u32) -> (u64, u32) {
        let (region, from_top) = (code >> 1, code & 1 == 1);
        let (size, (first, last)) = (self.size(region), self.span(region));
        let mut gap = Gap {
            start: 0,
            below: NONE,
        };
        let mut highest = None;
        let mut node = head;
        while node != NONE {
            self.visits = self.visits.wrapping_add(1);
            let offset = read(self.space.offsets, node);
            let (other_first, other_last) = self.span(node);
            if first <= other_last && other_first <= last {
                if offset >= gap.start.saturating_add(size) {
                    if !from_top {
                        break;
                    }
                    highest = Some(offset.wrapping_sub(size));
                }
                let end = offset.saturating_add(self.size(node));
                gap.start = gap.start.max(end);
            }
            if offset <= gap.start {
                gap.below = node;
            }
            node = read(self.space.links, node);
        }
        if !from_top {
            return (gap.start, gap.below);
        }
        let offset = match self.least.checked_sub(size) {
            Some(top) if top >= gap.start => top,
            _ => highest.unwrap_or(gap.start),
        };
        (offset, self.below(head, offset))
    }

    /// The last placed region that begins at or below an offset.
    fn below(&self, head: u32, offset: u64) -> u32 {
        let (mut below, mut node) = (NONE, head);
        while node != NONE && read::<u64>(self.space.offsets, node) <= offset {
            (below, node) = (node, read(self.space.links, node));
        }
        below
    }

    /// Swaps places and flips ends, keeping each change that does no harm.
    fn polish(&mut self, mut bytes: u64) -> u64 {
        let regions = u32::try_from(self.space.order.len()).unwrap_or(0);
        let mut dice = Dice::new();
        for _ in 0..TRIES {
            if bytes <= self.least || self.visits >= VISITS {
                break;
            }
            let (a, b) = (dice.below(regions), dice.below(regions));
            let turn = u32::from(dice.below(4) == 0);
            self.alter(a, b, turn);
            match self.lay_out(bytes) {
                Some(found) => bytes = found,
                None => self.alter(a, b, turn),
            }
        }
        bytes
    }

    /// Its own inverse.
    fn alter(&mut self, a: u32, b: u32, turn: u32) {
        if turn == 1 {
            write(self.space.order, a, read::<u32>(self.space.order, a) ^ 1);
        } else {
            swap(self.space.order, a, b);
        }
    }
}

/// Free bytes between placed regions.
struct Gap {
    start: u64,
    /// The placed region that precedes a region at `start`.
    below: u32,
}
