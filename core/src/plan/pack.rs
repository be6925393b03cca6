//! Packing: fewer groups than next-fit inside layers.
//!
//! List scheduling. Waves are ranked; group by group, the highest-ranked ready wave that still fits
//! is taken until none does; then the group closes and releases its successors. A few rankings are
//! tried from both ends of the program, and while the program is small some more are tried by
//! swapping two ranks of the best one. Some ranking always yields an optimal plan, namely the order
//! of that plan's groups. Each try costs `O((W + D) log W)` and their number is bounded, so the
//! total costs the same. The caller has checked the input.

use super::cells::{IDS, bump, counts_to_starts, place, read, swap, write};
use super::csr::{Direction, Neighbours};
use super::ready::{Dice, Ready, heap_sort, scaled};
use crate::scratch::{GroupScratchView, PackView, ScratchView};
use crate::wave::{Dag, Wave};

/// Rankings beyond the fixed ones are tried until this many waves and dependencies were visited.
const POLISH_VISITS: u32 = 16_384;
/// No program is polished longer than this many rankings.
const POLISH_TRIES: u32 = 256;
/// Programs above this many waves and dependencies are ranked by the longest path only.
const MANY: u32 = 1 << 18;

/// A program to pack.
pub(crate) struct Job<'a> {
    pub(crate) dag: Dag<'a>,
    pub(crate) group_bytes: u64,
    pub(crate) lower_bound: u64,
}

impl Job<'_> {
    #[inline(never)]
    fn bytes(&self, wave: u32) -> u64 {
        read::<Wave>(self.dag.waves, wave).checked_bytes()
    }

    /// Waves and dependencies.
    fn size(&self) -> u32 {
        let Dag {
            waves,
            dependencies,
        } = self.dag;
        u32::try_from(waves.len().saturating_add(dependencies.len())).unwrap_or(u32::MAX)
    }

    /// Bytes relative to the budget in 32 bits, for use inside a sort key.
    fn share(&self, wave: u32) -> u64 {
        scaled(self.bytes(wave), self.group_bytes)
    }
}

/// The criterion that ranks waves.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Rule {
    /// By edges on the longest path after it, then bytes, descending.
    Path,
    /// By bytes on the heaviest path after it, descending.
    Weight,
    /// By bytes, descending.
    Bytes,
}

const RULES: [Rule; 3] = [Rule::Path, Rule::Weight, Rule::Bytes];
const DIRECTIONS: [Direction; 2] = [Direction::Forward, Direction::Backward];

/// Tries to need fewer groups than `in_order`; on success the plan replaces it.
///
/// Expects the layers' order in `layers.order` and the in-order group ends in
/// `layers.depth`, and leaves the better plan there.
pub(crate) fn improve(job: &Job<'_>, in_order: u32, scratch: &mut GroupScratchView<'_>) -> u32 {
    let GroupScratchView { layers, pack } = scratch;
    pack.cut(job.dag.waves.len());
    let mut packer = Packer {
        job,
        waves: u32::try_from(job.dag.waves.len()).unwrap_or(u32::MAX),
        direction: Direction::Forward,
        layers,
        pack,
    };
    let mut best = Best {
        groups: in_order,
        direction: Direction::Forward,
        rule: Rule::Path,
    };
    let rules = if job.size() > MANY { 1 } else { RULES.len() };
    for direction in DIRECTIONS {
        packer.face(direction);
        for rule in RULES.iter().take(rules) {
            if u64::from(best.groups) <= job.lower_bound {
                break;
            }
            packer.rank(*rule);
            if let Some(groups) = packer.schedule(best.groups.wrapping_sub(1)) {
                packer.commit(groups);
                best = Best {
                    groups,
                    direction,
                    rule: *rule,
                };
            }
        }
    }
    if job.size() > POLISH_VISITS || u64::from(best.groups) <= job.lower_bound {
        return best.groups;
    }
    packer.face(best.direction);
    packer.rank(best.rule);
    packer.polish(best.groups)
}

#[derive(Clone, Copy)]
struct Best {
    groups: u32,
    direction: Direction,
    rule: Rule,
}

struct Packer<'a, 's> {
    job: &'a Job<'a>,
    waves: u32,
    direction: Direction,
    layers: &'a mut ScratchView<'s>,
    pack: &'a mut PackView<'s>,
}

impl Packer<'_, '_> {
    fn neighbours(&self) -> Neighbours<'_> {
        Neighbours::over(self.layers.starts, self.layers.targets)
    }

    /// Direction: from the start or the end of the program.
    fn face(&mut self, direction: Direction) {
        self.direction = direction;
        let ScratchView {
            starts,
            targets,
            ends,
            ..
        } = &mut *self.layers;
        Neighbours::build(direction, self.job.dag.dependencies, starts, targets, ends);
    }

    /// The layers' order, walked so that every neighbour comes before its wave.
    fn wave_from_far_end(&self, step: u32) -> u32 {
        match self.direction {
            Direction::Backward => read(self.layers.order, step),
            Direction::Forward => read(
                self.layers.order,
                self.waves.wrapping_sub(1).wrapping_sub(step),
            ),
        }
    }

    /// Sorts the waves by a rule, then by id.
    fn rank(&mut self, rule: Rule) {
        for step in 0..self.waves {
            let wave = self.wave_from_far_end(step);
            let rest = match rule {
                Rule::Bytes => 0,
                _ => self.longest_after(wave),
            };
            let own = match rule {
                Rule::Path => 1,
                _ => self.job.bytes(wave),
            };
            let path = rest.saturating_add(own);
            write(self.pack.bytes, wave, path);
        }
        let (keys, _) = self
            .pack
            .bytes
            .split_at_mut_checked(self.waves as usize)
            .unwrap_or_default();
        let slots = IDS.zip(self.pack.ranking.iter_mut());
        for (key, (id, slot)) in keys.iter_mut().zip(slots) {
            let merit = match rule {
                Rule::Path => key.wrapping_shl(32) | self.job.share(id),
                _ => *key,
            };
            (*key, *slot) = (!merit, id);
        }
        heap_sort(self.pack.ranking, keys);
        for (rank, wave) in IDS.zip(self.pack.ranking.iter()) {
            write(self.pack.rank, *wave, rank);
        }
    }

    /// The longest of the paths that begin at the neighbours.
    fn longest_after(&self, wave: u32) -> u64 {
        let after = self.neighbours().of(wave).iter();
        after
            .map(|next| read(self.pack.bytes, *next))
            .max()
            .unwrap_or(0)
    }

    /// Tries swaps of two ranks, keeping those that do no harm.
    fn polish(&mut self, mut groups: u32) -> u32 {
        let mut dice = Dice::new();
        let mut visits = 0u32;
        for _ in 0..POLISH_TRIES {
            visits = visits.saturating_add(self.job.size());
            if visits > POLISH_VISITS || u64::from(groups) <= self.job.lower_bound {
                break;
            }
            let (a, b) = (dice.below(self.waves), dice.below(self.waves));
            self.swap_ranks(a, b);
            match self.schedule(groups) {
                Some(found) if found < groups => {
                    self.commit(found);
                    groups = found;
                }
                Some(_) => {}
                None => self.swap_ranks(a, b),
            }
        }
        groups
    }

    fn swap_ranks(&mut self, a: u32, b: u32) {
        swap(self.pack.ranking, a, b);
        write(self.pack.rank, read(self.pack.ranking, a), a);
        write(self.pack.rank, read(self.pack.ranking, b), b);
    }

    /// Fills groups by rank; `None` when more than `most` would be needed.
    fn schedule(&mut self, most: u32) -> Option<u32> {
        let open = &mut *self.layers.ends;
        open.fill(0);
        self.layers.targets.iter().for_each(|target| {
            bump(open, *target);
        });
        let mut ready = Ready::new(self.pack.bytes, self.waves);
        for wave in 0..self.waves {
            if read(self.layers.ends, wave) == 0 {
                ready.insert(read(self.pack.rank, wave), self.job.bytes(wave));
            }
        }
        let neighbours = Neighbours::over(self.layers.starts, self.layers.targets);
        let (mut groups, mut begin) = (0u32, 0u32);
        while begin < self.waves {
            let end = fill(
                &mut ready,
                begin,
                self.job.group_bytes,
                (self.pack.ranking, self.pack.order),
            );
            // An empty group would mean that nothing fits, which the check of single waves excludes.
            if groups >= most || end == begin {
                return None;
            }
            write(self.pack.ends, groups, end);
            groups = groups.wrapping_add(1);
            for wave in self
                .pack
                .order
                .get(begin as usize..end as usize)
                .unwrap_or_default()
            {
                for next in neighbours.of(*wave) {
                    if bump_down(self.layers.ends, *next) == 0 {
                        ready.insert(read(self.pack.rank, *next), self.job.bytes(*next));
                    }
                }
            }
            begin = end;
        }
        Some(groups)
    }

    /// Overwrites the previous plan with the last scheduled one, ids ascending in each group.
    fn commit(&mut self, groups: u32) {
        let ScratchView {
            order,
            depth,
            ends: group_of,
            ..
        } = &mut *self.layers;
        let cursors = depth.get_mut(..groups as usize).unwrap_or_default();
        let mut begin = 0;
        for found in 0..groups {
            let end = read(self.pack.ends, found);
            let group = match self.direction {
                Direction::Forward => found,
                Direction::Backward => groups.wrapping_sub(1).wrapping_sub(found),
            };
            write(cursors, group, end.wrapping_sub(begin));
            for position in begin..end {
                write(group_of, read(self.pack.order, position), group);
            }
            begin = end;
        }
        counts_to_starts(cursors);
        // Each start moves to its end while its group fills.
        place(group_of, cursors, order);
    }
}

/// Takes ready waves for one group and returns the end of the order after them.
fn fill(ready: &mut Ready<'_>, begin: u32, mut space: u64, lists: (&[u32], &mut [u32])) -> u32 {
    let (ranking, order) = lists;
    let mut end = begin;
    while let Some((rank, bytes)) = ready.take_first(space) {
        space = space.saturating_sub(bytes);
        write(order, end, read(ranking, rank));
        end = end.wrapping_add(1);
    }
    end
}

/// Subtracts one and returns the rest.
fn bump_down(cells: &mut [u32], index: u32) -> u32 {
    let left = read(cells, index).wrapping_sub(1);
    write(cells, index, left);
    left
}
