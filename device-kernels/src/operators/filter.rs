//! Filters: appends the nodes that an algorithm wants to the queue of the next round.

use crate::collectives::queue::{Fill, Finds, Held, append};
use crate::collectives::team::Team;
use crate::machine::Grid;
use crate::machine::memory::{Proven, Words};

/// Appends the nodes below `count` that `wanted` accepts by their word in `values`, which do not
/// change meanwhile. `may` decides from a word alone whether its node can be wanted, where that can
/// be told; one-lane blocks then look at many words at a time. All lanes of the team take part.
#[inline(always)]
#[expect(
    clippy::needless_range_loop,
    reason = "several things go by one number"
)]
pub fn select<G: Grid>(
    team: &Team<G>,
    values: Proven,
    count: u32,
    sink: &impl Fill,
    may: Option<impl FnMut(u32) -> bool>,
    mut wanted: impl FnMut(u32, u32) -> bool,
) {
    let grid = team.grid;
    if G::WARP == 1 {
        if let Some(may) = may {
            return select_some(team, values, count, sink, may, wanted);
        }
        let mut held = Held::default();
        team.each(count, |node| {
            if wanted(node, values.load_weak(grid, node)) {
                held.add(grid, sink, node);
            }
        });
        held.append(grid, sink);
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
        append(team.grid, sink, &finds);
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

/// [`select`] in one-lane blocks, sixteen words at a time.
#[inline(always)]
fn select_some<G: Grid>(
    team: &Team<G>,
    values: Proven,
    count: u32,
    sink: &impl Fill,
    mut may: impl FnMut(u32) -> bool,
    mut wanted: impl FnMut(u32, u32) -> bool,
) {
    const AT_ONCE: u32 = 16;
    let grid = team.grid;
    let mut held = Held::default();
    let mut take = |node: u32| {
        if wanted(node, values.constant(grid, node)) {
            held.add(grid, sink, node);
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
    held.append(grid, sink);
}

/// Appends the nodes of `list` that `wanted` accepts. All lanes of the team take part.
/// Lists are short, so each warp appends its lanes' finds at once.
#[inline(always)]
pub fn append_list<G: Grid>(
    team: &Team<G>,
    list: Words,
    sink: &impl Fill,
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
        append(team.grid, sink, &finds);
        base += team.size() * lanes;
    }
}
