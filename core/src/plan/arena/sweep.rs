//! A layout by one walk over the groups, for programs of any size.
//!
//! Outputs that outlive their group pile up from both ends of the arena; regions that live in one
//! group only lie in between. When the outputs of one layer all die with the next, the two piles
//! take turns and the layout is as small as can be. A pile reuses the gaps that dead outputs leave,
//! trying a bounded number of them, so the walk stays linear. It does not backtrack; see
//! [`super::fit`].

use super::super::cells::{IDS, place, read, write};
use super::super::groups::Groups;
use super::super::ready::heap_sort;
use super::{Lists, OUTPUT, Regions, slot};
use crate::scratch::split;

/// Gaps of a pile that one output is tried in before it goes on top.
const REACH: u32 = 16;
/// The end of a chain.
const NONE: u32 = u32::MAX;

/// Lays the regions out and returns the bytes taken.
pub(super) fn sweep(regions: &Regions<'_>, groups: &Groups<'_>, space: &mut Lists<'_>) -> u64 {
    sort_outputs(regions, groups, space);
    let [dying, behind, side] = split::<u32, 3>(space.order);
    let [next, previous, sorted] = split::<u32, 3>(space.links);
    dying.fill(NONE);
    side.fill(0);
    let mut walk = Walk {
        regions,
        dying,
        behind,
        side,
        chains: Chains { next, previous },
        offsets: space.offsets,
        piles: [Pile::EMPTY; 2],
    };
    let (mut total, mut begin) = (0, 0);
    for (group, end) in IDS.zip(groups.ends()) {
        let waves = sorted
            .get(begin as usize..*end as usize)
            .unwrap_or_default();
        total = total.max(walk.enter(group, waves));
        walk.leave(group);
        begin = *end;
    }
    walk.hang(total);
    total
}

/// Lists the waves of each group with the outputs that live longest, then the largest, in front.
fn sort_outputs(regions: &Regions<'_>, groups: &Groups<'_>, space: &mut Lists<'_>) {
    let [cursors, _, mut sorted] = split::<u32, 3>(space.links);
    match regions.names {
        None => {
            for (wave, id) in groups.order().iter().zip(sorted.iter_mut()) {
                *id = wave.0;
            }
        }
        Some(_) => {
            let begins = core::iter::once(&0).chain(groups.ends());
            for (begin, cursor) in begins.zip(cursors.iter_mut()) {
                *cursor = *begin;
            }
            place(regions.first, cursors, sorted);
        }
    }
    let mut keys = &mut *space.offsets;
    let mut begin = 0u32;
    for end in groups.ends() {
        let width = end.wrapping_sub(begin) as usize;
        begin = *end;
        let (ids, other_ids) = take(sorted, width);
        let (merits, other_keys) = take(keys, width);
        for (id, merit) in ids.iter().zip(merits.iter_mut()) {
            let last = u64::from(read(regions.last, *id));
            let size = regions.bytes(*id, OUTPUT) >> 32;
            *merit = !(last.wrapping_shl(32) | size);
        }
        heap_sort(ids, merits);
        (sorted, keys) = (other_ids, other_keys);
    }
}

/// The first cells of a list, and the others.
fn take<T>(cells: &mut [T], length: usize) -> (&mut [T], &mut [T]) {
    cells.split_at_mut_checked(length).unwrap_or_default()
}

/// Doubly linked chains of outputs in the order of their offsets.
struct Chains<'a> {
    next: &'a mut [u32],
    previous: &'a mut [u32],
}

/// One of the two piles; offsets count from its own end of the arena.
#[derive(Clone, Copy)]
struct Pile {
    head: u32,
    tail: u32,
}

impl Pile {
    const EMPTY: Self = Self {
        head: NONE,
        tail: NONE,
    };
}

/// A place for an output in a pile.
#[derive(Clone, Copy)]
struct Spot {
    offset: u64,
    /// The output below it, or `NONE`.
    below: u32,
    /// Bytes by which the pile would rise.
    rise: u64,
    /// Groups between the deaths of the output and of the pile's top.
    discord: u32,
}

struct Walk<'a> {
    regions: &'a Regions<'a>,
    /// Per group, the first output that dies with it.
    dying: &'a mut [u32],
    /// Per output, the next one that dies with the same group.
    behind: &'a mut [u32],
    /// Per output, its pile.
    side: &'a mut [u32],
    chains: Chains<'a>,
    offsets: &'a mut [u64],
    piles: [Pile; 2],
}

impl Walk<'_> {
    fn size(&self, wave: u32) -> u64 {
        self.regions.bytes(wave, OUTPUT)
    }

    fn offset(&self, wave: u32) -> u64 {
        read(self.offsets, slot(wave, OUTPUT))
    }

    fn end(&self, wave: u32) -> u64 {
        if wave == NONE {
            0
        } else {
            self.offset(wave).wrapping_add(self.size(wave))
        }
    }

    /// Places the regions of a group and returns the bytes that it needs.
    fn enter(&mut self, group: u32, waves: &[u32]) -> u64 {
        for wave in waves {
            if self.outlives(*wave, group) {
                self.pile_up(*wave);
            }
        }
        let [low, high] = self.piles.map(|pile| self.end(pile.tail));
        let mut middle = low;
        for wave in waves {
            for kind in 0..=OUTPUT {
                if kind == OUTPUT && self.outlives(*wave, group) {
                    continue;
                }
                let bytes = self.regions.bytes(*wave, kind);
                write(
                    self.offsets,
                    slot(*wave, kind),
                    if bytes == 0 { 0 } else { middle },
                );
                middle = middle.wrapping_add(bytes);
            }
        }
        middle.wrapping_add(high)
    }

    /// Whether an output of this group has bytes that a later group needs.
    fn outlives(&self, wave: u32, group: u32) -> bool {
        read(self.regions.last, wave) > group && self.size(wave) > 0
    }

    fn pile_up(&mut self, wave: u32) {
        let [low, high] = self.piles.map(|pile| self.find(pile, wave));
        let is_high = (high.rise, high.discord) < (low.rise, low.discord);
        let place = if is_high { high } else { low };
        write(self.offsets, slot(wave, OUTPUT), place.offset);
        write(self.side, wave, u32::from(is_high));
        let [low, high] = &mut self.piles;
        self.chains
            .insert(if is_high { high } else { low }, wave, place.below);
        let last = read(self.regions.last, wave);
        write(self.behind, wave, read(self.dying, last));
        write(self.dying, last, wave);
    }

    /// The lowest gap among the first few, or the top.
    fn find(&self, pile: Pile, wave: u32) -> Spot {
        let size = self.size(wave);
        let (mut offset, mut below, mut node) = (0u64, NONE, pile.head);
        for _ in 0..REACH {
            if node == NONE || self.offset(node) >= offset.saturating_add(size) {
                return self.place(pile, wave, (offset, below));
            }
            (offset, below, node) = (self.end(node), node, read(self.chains.next, node));
        }
        self.place(pile, wave, (self.end(pile.tail), pile.tail))
    }

    fn place(&self, pile: Pile, wave: u32, (offset, below): (u64, u32)) -> Spot {
        let end = offset.saturating_add(self.size(wave));
        let own = read(self.regions.last, wave);
        let top = if pile.tail == NONE {
            own
        } else {
            read(self.regions.last, pile.tail)
        };
        let rise = end.saturating_sub(self.end(pile.tail));
        Spot {
            offset,
            below,
            rise,
            discord: own.abs_diff(top),
        }
    }

    /// Removes the outputs that die with a group.
    fn leave(&mut self, group: u32) {
        let mut wave = read(self.dying, group);
        while wave != NONE {
            let [low, high] = &mut self.piles;
            let pile = if read(self.side, wave) == 0 {
                low
            } else {
                high
            };
            self.chains.remove(pile, wave);
            wave = read(self.behind, wave);
        }
    }

    /// Mirrors the offsets of the high pile, once the arena's size is known.
    fn hang(&mut self, total: u64) {
        for (wave, side) in IDS.zip(self.side.iter()) {
            if *side == 1 {
                let end = self.offset(wave).wrapping_add(self.size(wave));
                write(self.offsets, slot(wave, OUTPUT), total.wrapping_sub(end));
            }
        }
    }
}

impl Chains<'_> {
    fn insert(&mut self, pile: &mut Pile, node: u32, below: u32) {
        let above = if below == NONE {
            pile.head
        } else {
            read(self.next, below)
        };
        write(self.next, node, above);
        write(self.previous, node, below);
        self.join(pile, below, node);
        self.join(pile, node, above);
    }

    fn remove(&mut self, pile: &mut Pile, node: u32) {
        let (below, above) = (read(self.previous, node), read(self.next, node));
        self.join(pile, below, above);
    }

    /// Makes two nodes neighbours; `NONE` stands for the pile's ends.
    fn join(&mut self, pile: &mut Pile, below: u32, above: u32) {
        match below {
            NONE => pile.head = above,
            node => write(self.next, node, above),
        }
        match above {
            NONE => pile.tail = below,
            node => write(self.previous, node, below),
        }
    }
}
