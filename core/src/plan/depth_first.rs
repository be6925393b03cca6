//! Groups that keep little memory alive, since the output of a wave is used next.
//!
//! A group takes the waves that were released last, so that a chain of waves is followed to its
//! end before the next one begins, and its memory is reused. This makes more and smaller groups
//! than packing, and so more barriers: a fallback if the arena of wider groups does not fit.
//! Linear in waves and dependencies.

use super::cells::{place, read, write};
use super::csr::{Direction, Neighbours};
use crate::scratch::ScratchView;
use crate::wave::{Dag, Dependency, Wave};

/// Makes groups of at most `group_bytes`, or of a single wave; returns their number.
///
/// Expects a program that has been checked; leaves the order in `order` and the
/// ends of the groups in `depth`, as [`super::groups()`] does.
pub(super) fn schedule(dag: &Dag<'_>, group_bytes: u64, room: &mut ScratchView<'_>) -> u32 {
    let waves = u32::try_from(dag.waves.len()).unwrap_or(u32::MAX);
    room.cut(dag.waves.len(), dag.dependencies.len());
    list(dag.dependencies, room);
    let mut stack = Stack {
        cells: room.order,
        top: waves,
    };
    for wave in (0..waves).rev() {
        if read(room.ends, wave) == 0 {
            stack.push(wave);
        }
    }
    let (mut groups, mut begin) = (0u32, 0u32);
    while begin < waves {
        let end = stack.fill(begin, group_bytes, dag.waves);
        // Only a cycle leaves nothing to take, and the caller has excluded cycles.
        if end == begin {
            break;
        }
        write(room.depth, groups, end);
        groups = groups.wrapping_add(1);
        let successors = Neighbours::over(room.starts, room.targets);
        for position in begin..end {
            let taken = read(stack.cells, position);
            for next in successors.of(taken).iter().rev() {
                let open = read(room.ends, *next).wrapping_sub(1);
                write(room.ends, *next, open);
                if open == 0 {
                    stack.push(*next);
                }
            }
        }
        begin = end;
    }
    sort_groups(groups, room);
    groups
}

/// Lists the successors of every wave, and counts its predecessors in `ends`.
fn list(dependencies: &[Dependency], room: &mut ScratchView<'_>) {
    let ScratchView {
        starts,
        targets,
        ends,
        ..
    } = room;
    Neighbours::build(Direction::Forward, dependencies, starts, targets, ends);
}

/// Puts ids inside each group in ascending order.
fn sort_groups(groups: u32, room: &mut ScratchView<'_>) {
    let mut begin = 0;
    for group in 0..groups {
        let end = read(room.depth, group);
        for position in begin..end {
            write(room.ends, read(room.order, position), group);
        }
        write(room.depth, group, begin);
        begin = end;
    }
    // Each start moves to its end while its group fills.
    place(room.ends, room.depth, room.order);
}

/// Waves in the order taken, from the front, and ready ones, from the back: together at most as
/// many as there are waves.
struct Stack<'a> {
    cells: &'a mut [u32],
    top: u32,
}

impl Stack<'_> {
    fn push(&mut self, wave: u32) {
        self.top = self.top.wrapping_sub(1);
        write(self.cells, self.top, wave);
    }

    /// Takes waves from the top for a group that begins at `end`, at least one.
    fn fill(&mut self, begin: u32, group_bytes: u64, waves: &[Wave]) -> u32 {
        let (mut end, mut held) = (begin, 0u64);
        while (self.top as usize) < self.cells.len() {
            let wave = read(self.cells, self.top);
            let bytes = read::<Wave>(waves, wave).checked_bytes();
            let sum = held.checked_add(bytes).filter(|sum| *sum <= group_bytes);
            match sum {
                Some(sum) => held = sum,
                None if end == begin => held = u64::MAX,
                None => break,
            }
            self.top = self.top.wrapping_add(1);
            write(self.cells, end, wave);
            end = end.wrapping_add(1);
        }
        end
    }
}
