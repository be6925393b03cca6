//! Fills the queue of the next round.
//!
//! Queue places and the edges before them come from one atomic addition.

use super::rounds::Sink;
use crate::collectives::queue::{FindRows, Finds, enqueue};
use crate::collectives::team::Team;
use crate::machine::Grid;
use crate::machine::memory::{Proven, Words};
use seawall_core::abi::work::WORK_EDGES;

/// Appends every lane's finds to the sink, with one atomic addition per warp; nodes
/// without edges are left out. A warp operation.
#[inline(always)]
pub(crate) fn append<G: Grid, const K: usize>(team: &Team<G>, sink: &Sink, finds: &Finds<K>) {
    if team.grid.ballot(finds.mask != 0) != 0 {
        append_rows(team, sink, &FindRows::look_up(team.grid, sink.rows, finds));
    }
}

/// [`append`] for finds whose rows are known.
#[inline(always)]
pub(crate) fn append_rows<G: Grid, const K: usize>(
    team: &Team<G>,
    sink: &Sink,
    found: &FindRows<K>,
) {
    let grid = team.grid;
    if grid.ballot(found.finds.mask != 0) == 0 {
        return;
    }
    enqueue(grid, sink.queue, found, |nodes, edges| {
        let packed = u64::from(nodes) << 32 | u64::from(edges);
        let previous = sink.counters.add_wide(grid, WORK_EDGES, packed);
        sink.tag.raise(grid);
        ((previous >> 32) as u32, previous as u32)
    });
}

/// Appends the nodes below `count` that `wanted` accepts by their word in `values`.
/// All lanes of the team take part.
#[inline(always)]
#[expect(
    clippy::needless_range_loop,
    reason = "several things go by one number"
)]
pub fn select<G: Grid>(
    team: &Team<G>,
    values: Proven,
    count: u32,
    sink: &Sink,
    mut wanted: impl FnMut(u32, u32) -> bool,
) {
    let grid = team.grid;
    if G::WARP == 1 {
        let mut held = Held::default();
        team.each(count, |node| {
            if wanted(node, values.load_weak(grid, node)) {
                held.add(team, sink, node);
            }
        });
        append(team, sink, &held.finds);
        return;
    }
    // A lane takes adjacent nodes, so one access brings their words. Those of its next
    // nodes are in flight meanwhile.
    let tile = grid.lanes() * EACH as u32;
    let lane = grid.lane() * EACH as u32;
    let mut base = team.rank() * tile;
    let mut words = words_at(grid, values, count, base.saturating_add(lane));
    while base < count {
        let first = base.saturating_add(lane);
        base = base.saturating_add(team.size() * tile);
        let next = words_at(grid, values, count, base.saturating_add(lane));
        let mut finds = Finds::<EACH>::NONE;
        for k in 0..EACH {
            let node = first.saturating_add(k as u32);
            finds.nodes[k] = node;
            if node < count {
                finds.mask |= u32::from(wanted(node, words[k])) << k;
            }
        }
        append(team, sink, &finds);
        words = next;
    }
}

/// Adjacent nodes that a lane of a warp takes at a time.
const EACH: usize = 4;

/// The words of up to [`EACH`] nodes from `first` on, as many as are below `count`.
#[inline(always)]
fn words_at<G: Grid>(grid: G, values: Proven, count: u32, first: u32) -> [u32; EACH] {
    let here = count.saturating_sub(first);
    if here >= EACH as u32 {
        return values.load_weak4(grid, first);
    }
    let mut words = [0; EACH];
    for (k, word) in words.iter_mut().enumerate() {
        if (k as u32) < here {
            *word = values.load_weak(grid, first + k as u32);
        }
    }
    words
}

/// [`select`] in one-lane blocks, while `values` does not change: words are read sixteen at a time,
/// and `may` decides from a word alone whether its node can be wanted.
#[inline(always)]
pub fn select_some<G: Grid>(
    team: &Team<G>,
    values: Proven,
    count: u32,
    sink: &Sink,
    may: impl Fn(u32) -> bool,
    mut wanted: impl FnMut(u32, u32) -> bool,
) {
    const AT_ONCE: u32 = 16;
    let grid = team.grid;
    let mut held = Held::default();
    let mut take = |node: u32| {
        if wanted(node, values.constant(grid, node)) {
            held.add(team, sink, node);
        }
    };
    team.each(count.div_ceil(AT_ONCE), |part| {
        let first = part * AT_ONCE;
        if count - first < AT_ONCE {
            (first..count).for_each(&mut take);
            return;
        }
        // No branch in the loop, so that the comparisons are vectors.
        let mut any = false;
        for k in 0..AT_ONCE {
            any |= may(values.constant(grid, first + k));
        }
        if any {
            (first..first + AT_ONCE).for_each(&mut take);
        }
    });
    append(team, sink, &held.finds);
}

/// Appends the nodes of `list` that `wanted` accepts. All lanes of the team take part.
/// Lists are short, so each warp appends its lanes' finds at once.
#[inline(always)]
pub fn append_list<G: Grid>(
    team: &Team<G>,
    list: Words,
    sink: &Sink,
    wanted: impl Fn(u32) -> bool,
) {
    let lanes = team.grid.lanes();
    let mut base = team.rank() * lanes;
    while base < list.len() {
        let at = base + team.grid.lane();
        let mut finds = Finds::<1>::NONE;
        if at < list.len() {
            finds.nodes[0] = list.load_weak(team.grid, at);
            finds.mask = u32::from(wanted(finds.nodes[0]));
        }
        append(team, sink, &finds);
        base += team.size() * lanes;
    }
}

/// Finds that a one-lane block holds back until an append pays.
#[derive(Debug)]
pub(crate) struct Held {
    pub(crate) finds: Finds<32>,
    count: u32,
}

impl Default for Held {
    fn default() -> Self {
        Self {
            finds: Finds::NONE,
            count: 0,
        }
    }
}

impl Held {
    #[inline(always)]
    pub(crate) fn add<G: Grid>(&mut self, team: &Team<G>, sink: &Sink, node: u32) {
        self.finds.nodes[self.count as usize & 31] = node;
        self.finds.mask |= 1 << self.count;
        self.count += 1;
        if self.count == 32 {
            append(team, sink, &self.finds);
            (self.finds.mask, self.count) = (0, 0);
        }
    }
}
