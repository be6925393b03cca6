//! Rows of edges that are drawn in any order, on all threads and within twice the result.
//!
//! Edges are sorted into parts ([`super::scatter`]); then each part's rows are counted, placed and
//! sorted within a cache. An undirected edge is drawn once, for its lower end, which makes the
//! higher half of each row. The same edges reversed make the lower halves. Rows are sorted, so the
//! result is the same for any number of threads.

use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};

use rayon::prelude::*;

use super::scatter::{Chunks, Part, Plan, Pool, Writer};
use super::{Direction, Draw, LANES};
use crate::GraphError;
use crate::build::MAX_EDGES;
use crate::csr::Csr;
use crate::memory::{self, Shortage, cut};

/// Copies of the edges in memory at most: while they are sorted, and as rows.
pub(super) const COPIES: u64 = 2;
/// Least and most edges that a thread draws at a time.
const STRETCH: (u64, u64) = (1 << 12, 1 << 20);
/// Stretches per thread, as threads differ in speed; a large graph has more.
const STRETCHES: u64 = 4;
/// Steps in which the halves of rows are joined and freed.
const STEPS: usize = 16;

/// Draws edges and builds their rows.
pub(super) fn rows(
    nodes: u32,
    drawn: u64,
    draw: &impl Draw,
    direction: Direction,
) -> Result<Csr, Shortage> {
    let plan = Plan::of(nodes, drawn);
    let list = |out: &mut Writer<'_, '_>, stretch| {
        for_each(draw, stretch, |a, b| match direction {
            Direction::Directed => out.push(a, b),
            Direction::Both => out.push(a.min(b), a.max(b)),
        });
    };
    let higher = drawn_half(plan, drawn as usize, drawn, list)?;
    let lower = match direction {
        Direction::Directed => None,
        Direction::Both => Some(mirrored(plan, &higher)?),
    };
    joined(plan, lower, higher)
}

/// Returns the transpose of rows whose nodes are numbered from `first` on: `nodes` rows, of which row `v`
/// holds each of them whose row holds `v`. No row is written out of order in more than a cache holds.
pub(crate) fn transposed(csr: &Csr, first: u32, nodes: u32) -> Result<Csr, Shortage> {
    let edges = csr.targets().len();
    let plan = Plan::of(nodes, edges as u64);
    let lanes = plan.lanes(edges, STRETCHES as usize * rayon::current_num_threads());
    let start = |lane: usize| {
        let goal = (lane * edges / lanes) as u32;
        csr.offsets[..csr.nodes() as usize].partition_point(|&offset| offset < goal) as u32
    };
    let turn = |lane: usize, out: &mut Writer<'_, '_>| {
        let end = if lane + 1 == lanes {
            csr.nodes()
        } else {
            start(lane + 1)
        };
        for row in start(lane)..end {
            for &target in csr.neighbours(row) {
                out.push(target, first + row);
            }
        }
    };
    joined(plan, None, Half::of(plan, edges, lanes, Keep::All, turn)?)
}

/// Draws the same edges as [`rows`], and builds the rows of incoming edges of `nodes` alone, which are
/// not none. Every edge is drawn twice: to count those that lead to the nodes, and to keep them.
///
/// # Errors
/// [`GraphError::Memory`]; [`GraphError::TooManyEdges`] if 2^32 edges or more lead there.
pub(super) fn rows_to(
    name: &str,
    nodes: Range<u32>,
    drawn: u64,
    draw: &impl Draw,
    direction: Direction,
) -> Result<Csr, GraphError> {
    let short = |short| GraphError::memory(name, short);
    let stretch = stretch(drawn);
    let count = |at: u64| {
        let mut count = 0_u64;
        let own = at * stretch..drawn.min((at + 1) * stretch);
        for_each_to(draw, direction, &nodes, own, |_, _| count += 1);
        count
    };
    let counts = (0..drawn.div_ceil(stretch)).into_par_iter().map(count);
    let edges: u64 = counts.sum();
    memory::check(COPIES * 4 * (nodes.len() as u64 + edges)).map_err(short)?;
    let list = |out: &mut Writer<'_, '_>, own| {
        for_each_to(draw, direction, &nodes, own, |row, end| out.push(row, end));
    };
    let plan = Plan::of(nodes.len() as u32, edges);
    let half = drawn_half(plan, edges as usize, drawn, list).map_err(short)?;
    let kept = half.targets.len() as u64;
    if kept > MAX_EDGES {
        return Err(GraphError::TooManyEdges {
            file: name.to_owned(),
            edges: kept,
            limit: MAX_EDGES,
        });
    }
    joined(plan, None, half).map_err(short)
}

/// Makes rows of the edges that `list` lists for each stretch of the drawn ones.
fn drawn_half(
    plan: Plan,
    edges: usize,
    drawn: u64,
    list: impl Fn(&mut Writer<'_, '_>, Range<u64>) + Sync,
) -> Result<Half, Shortage> {
    let stretch = stretch(drawn);
    let next = AtomicU64::new(0);
    let list = |_, out: &mut Writer<'_, '_>| {
        loop {
            let first = next.fetch_add(1, Ordering::Relaxed) * stretch;
            if first >= drawn {
                break;
            }
            list(out, first..drawn.min(first + stretch));
        }
    };
    let lanes = rayon::current_num_threads();
    Half::of(plan, edges, lanes, Keep::One, list)
}

/// Calls `keep` with the row and the other end of each edge of a stretch that leads to `nodes`; rows
/// count from the first of these.
#[inline]
fn for_each_to(
    draw: &impl Draw,
    direction: Direction,
    nodes: &Range<u32>,
    stretch: Range<u64>,
    mut keep: impl FnMut(u32, u32),
) {
    for_each(draw, stretch, |from, to| {
        if nodes.contains(&to) {
            keep(to - nodes.start, from);
        }
        if direction == Direction::Both && nodes.contains(&from) {
            keep(from - nodes.start, to);
        }
    });
}

/// Calls `each` with the ends of a stretch of edges, without loops.
#[inline]
fn for_each(draw: &impl Draw, stretch: Range<u64>, mut each: impl FnMut(u32, u32)) {
    for at in stretch.clone().step_by(LANES) {
        for [a, b] in draw.edges(at).into_iter().take((stretch.end - at) as usize) {
            if a != b {
                each(a, b);
            }
        }
    }
}

/// Returns how many of all edges a thread draws at a time.
fn stretch(drawn: u64) -> u64 {
    let shares = STRETCHES * rayon::current_num_threads() as u64;
    let stretch = (drawn / shares).clamp(STRETCH.0, STRETCH.1);
    stretch.next_multiple_of(LANES as u64)
}

/// Returns the lower half of each row: the reversed edges of the higher ones.
///
/// Each lane turns the rows of consecutive parts, so the edges of a new row are already in order if
/// lanes have separate groups. Sorting them again takes one visit of each.
fn mirrored(plan: Plan, higher: &Half) -> Result<Half, Shortage> {
    let edges = higher.targets.len();
    let lanes = plan.lanes(edges, STRETCHES as usize * rayon::current_num_threads());
    let first = |lane: usize| match lane * edges / lanes {
        start if lane < lanes => higher.starts.partition_point(|&other| other < start),
        _ => plan.parts(),
    };
    let turn = |lane: usize, out: &mut Writer<'_, '_>| {
        for part in first(lane)..first(lane + 1) {
            let (ends, targets) = higher.part(plan, part);
            let mut start = 0;
            for (row, &end) in (plan.first(part)..).zip(ends) {
                for &target in &targets[start..end as usize] {
                    out.push(target, row);
                }
                start = end as usize;
            }
        }
    };
    Half::of(plan, edges, lanes, Keep::One, turn)
}

/// How many of equal edges stay.
#[derive(Clone, Copy)]
enum Keep {
    One,
    All,
}

/// One half of each row, or all of it. Rows lie in order, with no gaps.
struct Half {
    targets: Vec<u32>,
    /// First target of each part.
    starts: Vec<usize>,
    /// End of each row, counted from the start of its part.
    ends: Vec<u32>,
}

impl Half {
    /// Makes sorted rows of up to `edges` edges that `list` lists on each of `lanes` lanes.
    fn of(
        plan: Plan,
        edges: usize,
        lanes: usize,
        keep: Keep,
        list: impl Fn(usize, &mut Writer<'_, '_>) + Sync,
    ) -> Result<Self, Shortage> {
        let mut pool = Pool::new(plan, edges, lanes)?;
        let mut ends = memory::zeroed::<u32>(plan.first(plan.parts()) as usize)?;
        let mut parts = pool.sort(lanes, list);
        let rows = (0..parts.len()).map(|at| (plan.first(at + 1) - plan.first(at)) as usize);
        let jobs: Vec<_> = parts.iter_mut().zip(cut(&mut ends, rows)).collect();
        let jobs = jobs.into_par_iter();
        let counts = jobs.map_init(Vec::new, |scratch, (part, ends)| {
            let targets = place(part, scratch, ends)?;
            let kept = match keep {
                Keep::One => dedup(targets, ends),
                Keep::All => sort(targets, ends),
            };
            part.put(&targets[..kept]);
            Ok(kept)
        });
        let counts = counts.collect::<Result<Vec<usize>, Shortage>>()?;
        let chunks: Vec<Vec<usize>> = parts.into_iter().map(Part::chunks).collect();
        let pool = pool.into_ends();
        let (targets, starts) = gathered(&pool, &chunks, &counts)?;
        pool.free();
        Ok(Self {
            targets,
            starts,
            ends,
        })
    }

    /// Returns the ends of a part's rows, and its targets.
    fn part(&self, plan: Plan, part: usize) -> (&[u32], &[u32]) {
        let rows = plan.first(part) as usize..plan.first(part + 1) as usize;
        let ends = &self.ends[rows];
        let count = ends.last().map_or(0, |&end| end as usize);
        (ends, &self.targets[self.starts[part]..][..count])
    }

    /// Frees the targets of a part and of those after it.
    fn free_from(&mut self, part: usize) {
        memory::shorten(&mut self.targets, self.starts[part]);
    }

    /// Frees the rest.
    fn free(self) {
        memory::free(self.targets);
        memory::free(self.ends);
    }
}

/// Copies the words of each part's chunks, one part after the other; returns also the start of each
/// part.
fn gathered(
    chunks: &Chunks,
    parts: &[Vec<usize>],
    counts: &[usize],
) -> Result<(Vec<u32>, Vec<usize>), Shortage> {
    let mut words = memory::zeroed::<u32>(counts.iter().sum())?;
    let (mut rest, mut start) = (words.as_mut_slice(), 0);
    let (mut starts, mut jobs) = (Vec::new(), Vec::new());
    for (part, &count) in parts.iter().zip(counts) {
        jobs.push((part, rest.split_off_mut(..count).unwrap_or_default()));
        starts.push(start);
        start += count;
    }
    jobs.into_par_iter().for_each(|(part, mut own)| {
        memory::prepare(own);
        for &chunk in part {
            let from = chunks.get(chunk);
            let place = own.split_off_mut(..from.len().min(own.len()));
            let place = place.unwrap_or_default();
            place.copy_from_slice(&from[..place.len()]);
        }
    });
    Ok((words, starts))
}

/// Places the targets of a part's edges by row.
fn place<'a>(
    part: &Part<'_>,
    scratch: &'a mut Vec<u32>,
    ends: &mut [u32],
) -> Result<&'a mut [u32], Shortage> {
    for (rows, _) in part.edges() {
        rows.iter().for_each(|&row| ends[usize::from(row)] += 1);
    }
    let mut sum = 0;
    for end in ends.iter_mut() {
        sum += std::mem::replace(end, sum);
    }
    let count = sum as usize;
    if scratch.len() < count {
        // A part of few nodes may have most edges.
        memory::reserve(scratch, count - scratch.len())?;
        scratch.resize(count, 0);
    }
    let slot = &mut scratch[..count];
    for (rows, targets) in part.edges() {
        for (&row, &target) in rows.iter().zip(targets) {
            let end = &mut ends[usize::from(row)];
            slot[*end as usize] = target;
            *end += 1;
        }
    }
    Ok(slot)
}

/// Sorts each row of a part; returns the length of all.
fn sort(slot: &mut [u32], ends: &[u32]) -> usize {
    let mut rest = slot;
    let mut start = 0;
    for end in ends {
        let row = rest.split_off_mut(..(end - start) as usize);
        row.unwrap_or_default().sort_unstable();
        start = *end;
    }
    start as usize
}

/// Sorts each row of a part, drops duplicates, and moves rows together; returns their length.
fn dedup(slot: &mut [u32], ends: &mut [u32]) -> usize {
    let (mut start, mut kept) = (0, 0);
    for end in ends {
        let row = start..*end as usize;
        start = row.end;
        slot[row.clone()].sort_unstable();
        let first = kept;
        for at in row {
            let target = slot[at];
            if kept == first || slot[kept - 1] != target {
                slot[kept] = target;
                kept += 1;
            }
        }
        *end = kept as u32;
    }
    kept
}

/// Joins the halves of each row, the lower one first if there is one.
///
/// Goes from the last parts to the first ones, and frees the halves on the way.
fn joined(plan: Plan, mut lower: Option<Half>, mut higher: Half) -> Result<Csr, Shortage> {
    let parts = plan.parts();
    let edges = higher.targets.len() + lower.as_ref().map_or(0, |lower| lower.targets.len());
    let mut offsets = memory::zeroed::<u32>(higher.ends.len() + 1)?;
    let mut targets = memory::zeroed::<u32>(edges)?;
    let (mut ends, mut rest) = (&mut offsets[1..], targets.as_mut_slice());
    let step = parts.div_ceil(STEPS);
    for first in (0..parts).step_by(step).rev() {
        let mut slots = Vec::with_capacity(step);
        for part in (first..parts.min(first + step)).rev() {
            let low = lower.as_ref().map(|lower| lower.part(plan, part));
            let halves = [low.unwrap_or_default(), higher.part(plan, part)];
            let count: usize = halves.iter().map(|(_, targets)| targets.len()).sum();
            let start = rest.len() - count;
            let own_ends = ends.split_off_mut(plan.first(part) as usize..);
            slots.push(Slot {
                halves,
                start: start as u32,
                ends: own_ends.unwrap_or_default(),
                targets: rest.split_off_mut(start..).unwrap_or_default(),
            });
        }
        slots.into_par_iter().for_each(join);
        higher.free_from(first);
        lower.iter_mut().for_each(|lower| lower.free_from(first));
    }
    [Some(higher), lower]
        .into_iter()
        .flatten()
        .for_each(Half::free);
    Ok(Csr {
        offsets,
        targets,
        weights: None,
    })
}

/// A part whose halves are joined.
struct Slot<'a> {
    /// Ends and targets of the rows of each half.
    halves: [(&'a [u32], &'a [u32]); 2],
    /// Edges before the part.
    start: u32,
    /// Ends of the joined rows.
    ends: &'a mut [u32],
    /// Targets of the joined rows.
    targets: &'a mut [u32],
}

fn join(slot: Slot<'_>) {
    let Slot {
        halves,
        start,
        ends,
        targets,
    } = slot;
    memory::prepare(targets);
    let mut at = 0;
    for (row, end) in ends.iter_mut().enumerate() {
        for half in halves {
            let from = row_of(half.0, half.1, row);
            targets[at..at + from.len()].copy_from_slice(from);
            at += from.len();
        }
        *end = start + at as u32;
    }
}

/// Returns a row of a part; none if the part has no rows.
fn row_of<'a>(ends: &[u32], targets: &'a [u32], row: usize) -> &'a [u32] {
    let end = |row: usize| ends.get(row).map_or(0, |&end| end as usize);
    &targets[row.checked_sub(1).map_or(0, end)..end(row)]
}
