//! Groups that keep little memory alive, since the output of a wave is used next.
//!
//! The search is for a line of all waves that keeps few bytes alive if they run one by one. Walks
//! give the first lines: each takes a wave that the previous one released, from the front or from
//! the back of the program, so that a chain of waves is followed to its end before the next one
//! begins, and a wave follows its predecessors. For small programs the best line is improved by
//! moves of single waves. Groups take waves along this line as they fit. They are smaller and more
//! numerous than packed ones, with more barriers: a fallback if the arena of wider groups does not
//! fit.
//!
//! Ties are broken by the names of [`super::canonical`]. Names and line stay in the layers'
//! scratch while an arena is laid out, and in the arena's while groups are made.

use super::arena::{self, ArenaOptions};
use super::cells::{IDS, copy, place, read, swap, write};
use super::csr::{Direction, Neighbours};
use super::ready::{Dice, Ready, heap_sort, scaled};
use crate::scratch::{ArenaScratchView, ScratchView, split};
use crate::wave::{Dag, Wave};

/// Moves are tried until this many waves and dependencies were visited.
const VISITS: u64 = 1 << 16;
/// No line is improved by more moves than this, for each pair of waves.
const TRIES: u64 = 16;

/// Bytes of a group; a larger wave is a separate group, and 0 puts every wave into a separate
/// group.
type GroupBytes = u64;

/// Leaves a line of waves in `layers.ends`; the names of the waves are in `layers.starts` and stay.
///
/// `O((W + D) log W)`.
pub(super) fn line_up(
    dag: &Dag<'_>,
    options: &ArenaOptions<'_>,
    layers: &mut ScratchView<'_>,
    arena: &mut ArenaScratchView<'_>,
) {
    let mut search = Search::new(dag, layers, arena);
    let mut peak = u64::MAX;
    for direction in [Direction::Forward, Direction::Backward] {
        for large_first in [false, true] {
            search.number(Source::Names);
            search.walk(direction, large_first);
            peak = search.keep_better(options, peak);
        }
    }
    search.polish(options, peak);
    search.stow();
}

/// Makes groups of at most `group_bytes`, or of a single wave; returns their number.
///
/// Expects names and line where [`line_up`] leaves them; leaves the order in `order` and the ends
/// of the groups in `depth`, as [`super::groups()`] does.
pub(super) fn groups(
    dag: &Dag<'_>,
    group_bytes: GroupBytes,
    layers: &mut ScratchView<'_>,
    arena: &mut ArenaScratchView<'_>,
) -> u32 {
    let mut search = Search::new(dag, layers, arena);
    search.list(Direction::Forward);
    search.number(Source::Line);
    let groups = search.schedule(group_bytes);
    search.sort_groups(groups);
    search.stow();
    groups
}

/// The list that waves are numbered by.
#[derive(Clone, Copy)]
enum Source {
    Names,
    Line,
}

struct Search<'a> {
    dag: &'a Dag<'a>,
    waves: u32,
    layers: ScratchView<'a>,
    /// Waves by name.
    names: &'a mut [u32],
    /// Waves in the best line so far.
    line: &'a mut [u32],
    /// Number of each wave in one of these lists.
    rank: &'a mut [u32],
    first: &'a mut [u32],
    last: &'a mut [u32],
    /// Sort keys, or the tree of ready waves.
    tree: &'a mut [u64],
    /// Changes of the bytes alive.
    live: &'a mut [u64],
    /// Output bytes of the wave that has most.
    most_output: u64,
}

impl<'a> Search<'a> {
    /// Takes names and line out of the layers' scratch.
    fn new(
        dag: &'a Dag<'_>,
        layers: &'a mut ScratchView<'_>,
        arena: &'a mut ArenaScratchView<'_>,
    ) -> Self {
        let waves = dag.waves.len();
        layers.cut(waves, dag.dependencies.len());
        let words = arena.words.get_mut(..waves.saturating_mul(5));
        let [names, line, rank, first, last] = split::<u32, 5>(words.unwrap_or_default());
        let offsets = arena.offsets.get_mut(..waves.saturating_mul(3));
        let (tree, live) = offsets
            .unwrap_or_default()
            .split_at_mut_checked(waves.saturating_mul(2))
            .unwrap_or_default();
        let layers = layers.reborrow();
        let outputs = dag.waves.iter().map(|wave| wave.output_bytes);
        copy(names, layers.starts);
        copy(line, layers.ends);
        Self {
            dag,
            waves: u32::try_from(waves).unwrap_or(u32::MAX),
            layers,
            names,
            line,
            rank,
            first,
            last,
            tree,
            live,
            most_output: outputs.max().unwrap_or(0),
        }
    }

    /// Puts names and line back.
    fn stow(self) {
        copy(self.layers.starts, self.names);
        copy(self.layers.ends, self.line);
    }

    fn number(&mut self, source: Source) {
        let list = match source {
            Source::Names => &*self.names,
            Source::Line => &*self.line,
        };
        for (rank, wave) in IDS.zip(list) {
            write(self.rank, *wave, rank);
        }
    }

    /// Lists the neighbours of every wave, and counts those on the other side in `ends`.
    fn list(&mut self, direction: Direction) {
        let ScratchView {
            starts,
            targets,
            ends,
            ..
        } = &mut self.layers;
        Neighbours::build(direction, self.dag.dependencies, starts, targets, ends);
    }

    /// Leaves a line in `order`, in which a wave follows the one that released it.
    fn walk(&mut self, direction: Direction, large_first: bool) {
        self.list(direction);
        // The front holds the waves taken, the back is a stack of those released.
        let mut top = self.waves;
        let mut released = top;
        for wave in 0..self.waves {
            if read::<u32>(self.layers.ends, wave) == 0 {
                top = top.wrapping_sub(1);
                write(self.layers.order, top, wave);
            }
        }
        let mut taken = 0;
        while taken < self.waves {
            self.sort_stack(top, released, large_first);
            // Only a cycle leaves nothing to take, and the caller has excluded cycles.
            if top == self.waves {
                break;
            }
            let wave = read(self.layers.order, top);
            top = top.wrapping_add(1);
            write(self.layers.order, taken, wave);
            taken = taken.wrapping_add(1);
            released = top;
            let neighbours = Neighbours::over(self.layers.starts, self.layers.targets);
            for next in neighbours.of(wave) {
                let open = read::<u32>(self.layers.ends, *next).wrapping_sub(1);
                write(self.layers.ends, *next, open);
                if open == 0 {
                    top = top.wrapping_sub(1);
                    write(self.layers.order, top, *next);
                }
            }
        }
        if direction == Direction::Backward {
            let mut back = self.waves;
            for front in 0..self.waves >> 1 {
                back = back.wrapping_sub(1);
                swap(self.layers.order, front, back);
            }
        }
    }

    /// Sorts the waves on the stack that were released together by their output, then by name.
    fn sort_stack(&mut self, begin: u32, end: u32, large_first: bool) {
        let range = begin as usize..end as usize;
        let waves = self.layers.order.get_mut(range).unwrap_or_default();
        if waves.len() < 2 {
            return;
        }
        let (keys, _) = self
            .tree
            .split_at_mut_checked(waves.len())
            .unwrap_or_default();
        for (wave, key) in waves.iter().zip(keys.iter_mut()) {
            let bytes = read::<Wave>(self.dag.waves, *wave).output_bytes;
            let share = scaled(bytes, self.most_output);
            let share = if large_first { !share } else { share };
            let rank: u32 = read(self.rank, *wave);
            *key = share.wrapping_shl(32) | u64::from(rank);
        }
        heap_sort(waves, keys);
    }

    /// Makes the line in `order` the best one if it keeps at most as much alive; returns the least
    /// peak.
    fn keep_better(&mut self, options: &ArenaOptions<'_>, peak: u64) -> u64 {
        let found = self.peak(options);
        if found <= peak {
            copy(self.line, self.layers.order);
        }
        found.min(peak)
    }

    /// Most bytes alive if waves run one by one as in `order`.
    fn peak(&mut self, options: &ArenaOptions<'_>) -> u64 {
        for (position, wave) in IDS.zip(self.layers.order.iter()) {
            write(self.first, *wave, position);
            write(self.last, *wave, position);
        }
        let spans = (&mut *self.first, &mut *self.last);
        arena::live_peak(self.dag, options, spans.0, spans.1, self.live).unwrap_or(u64::MAX)
    }

    /// Moves waves along the line, keeping each move that does no harm.
    fn polish(&mut self, options: &ArenaOptions<'_>, mut peak: u64) {
        let size = self
            .dag
            .waves
            .len()
            .saturating_add(self.dag.dependencies.len());
        let size = u64::try_from(size).unwrap_or(u64::MAX).max(1);
        // No budget below the bytes of the largest wave works.
        let fused = self.dag.waves.iter().map(Wave::checked_bytes);
        let least = fused.max().unwrap_or(0);
        let waves = u64::from(self.waves);
        let most = waves.saturating_mul(waves).saturating_mul(TRIES);
        let most = most.saturating_mul(size).min(VISITS);
        let mut visits = size;
        let mut dice = Dice::new();
        self.list(Direction::Forward);
        while visits <= most && peak > least {
            visits = visits.saturating_add(size);
            let (from, to) = (dice.below(self.waves), dice.below(self.waves));
            self.shift(from, to);
            self.number(Source::Line);
            self.schedule(0);
            let found = self.peak(options);
            if found <= peak {
                peak = found;
                copy(self.line, self.layers.order);
            } else {
                self.shift(to, from);
            }
        }
    }

    /// Moves a wave to another place in the line; those between step aside.
    fn shift(&mut self, from: u32, to: u32) {
        let mut at = from;
        while at != to {
            let next = if at < to {
                at.wrapping_add(1)
            } else {
                at.wrapping_sub(1)
            };
            swap(self.line, at, next);
            at = next;
        }
    }

    /// Fills groups with the first ready waves that fit, by rank; returns their number.
    fn schedule(&mut self, group_bytes: GroupBytes) -> u32 {
        let open = &mut *self.layers.ends;
        open.fill(0);
        for target in self.layers.targets.iter() {
            write(open, *target, read::<u32>(open, *target).wrapping_add(1));
        }
        let mut ready = Ready::new(self.tree, self.waves);
        for wave in 0..self.waves {
            if read::<u32>(open, wave) == 0 {
                ready.insert(read(self.rank, wave), bytes(self.dag, wave));
            }
        }
        let neighbours = Neighbours::over(self.layers.starts, self.layers.targets);
        let (mut groups, mut begin, mut end) = (0u32, 0u32, 0u32);
        while begin < self.waves {
            let mut left = group_bytes;
            let mut most = u64::MAX;
            while let Some((rank, bytes)) = ready.take_first(most) {
                write(self.layers.order, end, read(self.line, rank));
                end = end.wrapping_add(1);
                left = left.saturating_sub(bytes);
                most = left;
                if group_bytes == 0 {
                    break;
                }
            }
            if end == begin {
                break;
            }
            write(self.layers.depth, groups, end);
            groups = groups.wrapping_add(1);
            for position in begin..end {
                for next in neighbours.of(read(self.layers.order, position)) {
                    let left = read::<u32>(open, *next).wrapping_sub(1);
                    write(open, *next, left);
                    if left == 0 {
                        ready.insert(read(self.rank, *next), bytes(self.dag, *next));
                    }
                }
            }
            begin = end;
        }
        groups
    }

    /// Puts ids inside each group in ascending order.
    fn sort_groups(&mut self, groups: u32) {
        let ScratchView {
            order, depth, ends, ..
        } = &mut self.layers;
        let mut begin = 0;
        for group in 0..groups {
            let end = read(depth, group);
            for position in begin..end {
                write(ends, read(order, position), group);
            }
            write(depth, group, begin);
            begin = end;
        }
        // Each start moves to its end while its group fills.
        place(ends, depth, order);
    }
}

/// Fused bytes of a wave, as the tree of ready waves holds them.
fn bytes(dag: &Dag<'_>, wave: u32) -> u64 {
    let bytes = read::<Wave>(dag.waves, wave).checked_bytes();
    bytes.min(u64::MAX.wrapping_sub(1))
}
