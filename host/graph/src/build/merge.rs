//! Counts loops and parallel edges of sorted edges, and joins the two directions of an edge.

use std::collections::HashMap;
use std::ops::Range;

use rayon::prelude::*;

use super::parts::Cuts;
use super::{Counts, Edges, Order};

/// Counts loops and parallel edges of sorted edges, and puts equal ones in the order of their
/// weights if asked.
pub(super) fn settle<const N: usize>(edges: &mut Edges<N>, order: Order) -> Counts {
    let cuts = Cuts::of(edges);
    let parts = cuts.split(edges, 1);
    let settle = |part| settle_part(part, order);
    let counts = parts.into_par_iter().map(settle);
    counts.reduce(Counts::default, Counts::plus)
}

fn settle_part<const N: usize>(edges: &mut [[u32; N]], order: Order) -> Counts {
    let mut counts = Counts::default();
    let mut start = 0;
    for at in 0..edges.len() {
        counts.loops += u32::from(edges[at][0] == edges[at][1]);
        if at > start && edges[at][..2] == edges[start][..2] {
            counts.parallel += 1;
            continue;
        }
        order_run(&mut edges[start..at], order);
        start = at;
    }
    order_run(&mut edges[start..], order);
    counts
}

/// Puts equal edges in the order of their weights if asked.
fn order_run<const N: usize>(run: &mut [[u32; N]], order: Order) {
    if N == 3 && order == Order::Weight && run.len() > 1 {
        run.sort_unstable_by_key(|edge| edge[N - 1]);
    }
}

/// Puts equal ones among sorted edges in the order of their weights.
pub(super) fn order_weights<const N: usize>(edges: &mut Edges<N>) {
    let cuts = Cuts::of(edges);
    cuts.split(edges, 1).into_par_iter().for_each(|part| {
        let runs = part.chunk_by_mut(|a, b| a[..2] == b[..2]);
        runs.for_each(|run| order_run(run, Order::Weight));
    });
}

/// Reads the larger end of an edge, and whether the edge was listed from it to the smaller one.
pub(super) trait Directed<const N: usize>: Sync {
    /// Reads the edge at this place.
    fn read(&self, at: usize, edge: &[u32; N]) -> (u32, bool);
}

impl<const N: usize, F: Fn(usize, &[u32; N]) -> (u32, bool) + Sync> Directed<N> for F {
    fn read(&self, at: usize, edge: &[u32; N]) -> (u32, bool) {
        self(at, edge)
    }
}

/// Joins the directions of edges that are sorted with their smaller end first.
///
/// Of the edges of two nodes with the same weight, as many stay as the direction that lists more
/// of them lists. Their second word is the larger end afterwards. Parts are joined apart and then
/// moved together.
pub(super) fn join_directions<const N: usize>(
    edges: &mut Edges<N>,
    directed: &impl Directed<N>,
    order: Order,
) -> Counts {
    let cuts = Cuts::of(edges);
    let parts = cuts.split(edges, 1);
    let kept: Vec<(usize, Counts)> = parts
        .into_par_iter()
        .zip(cuts.ranges().collect::<Vec<_>>())
        .map(|(edges, range)| Part::new(edges, range.start, order).join(directed))
        .collect();
    let (mut end, mut all) = (0, Counts::default());
    for (part, (kept, counts)) in cuts.ranges().zip(kept) {
        if end < part.start {
            edges.copy_within(part.start..part.start + kept, end);
        }
        end += kept;
        all = all.plus(counts);
    }
    edges.truncate(end);
    edges.shrink_to_fit();
    all
}

struct Part<'a, const N: usize> {
    edges: &'a mut [[u32; N]],
    start: usize,
    order: Order,
    /// Number of edges that stay so far; they are at the front.
    kept: usize,
    counts: Counts,
    /// Weights of a run and whether they are of reversed edges.
    run: Vec<(u32, bool)>,
}

impl<'a, const N: usize> Part<'a, N> {
    fn new(edges: &'a mut [[u32; N]], start: usize, order: Order) -> Self {
        Self {
            edges,
            start,
            order,
            kept: 0,
            counts: Counts::default(),
            run: Vec::new(),
        }
    }

    /// Moves the edges that stay to the front; returns their number.
    fn join(mut self, directed: &impl Directed<N>) -> (usize, Counts) {
        let mut at = 0;
        while at < self.edges.len() {
            let (row, target) = (self.edges[at][0], self.read(directed, at).0);
            let is_equal = |other: &usize| {
                self.edges[*other][0] == row && self.read(directed, *other).0 == target
            };
            let more = (at + 1..self.edges.len()).take_while(is_equal).count();
            let run = at..at + 1 + more;
            at = run.end;
            let kept = self.kept;
            if more == 0 {
                self.keep([row, target], self.edges[run.start][N - 1]);
            } else {
                self.join_run(run.clone(), target, directed);
            }
            self.count(row == target, run.len(), self.kept - kept);
        }
        (self.kept, self.counts)
    }

    fn read(&self, directed: &impl Directed<N>, at: usize) -> (u32, bool) {
        directed.read(self.start + at, &self.edges[at])
    }

    /// Keeps an edge; without weights, `weight` is not used.
    fn keep(&mut self, ends: [u32; 2], weight: u32) {
        let mut edge = [weight; N];
        edge[..2].copy_from_slice(&ends);
        self.edges[self.kept] = edge;
        self.kept += 1;
    }

    fn count(&mut self, is_loop: bool, listed: usize, kept: usize) {
        let repeats = kept.saturating_sub(1) as u32;
        if is_loop {
            self.counts.loops += kept as u32;
            self.counts.parallel += repeats;
        } else {
            self.counts.parallel += 2 * repeats;
        }
        self.counts.mirrored += (listed - kept) as u64;
    }

    /// Keeps the remaining edges of several with the same ends.
    fn join_run(&mut self, run: Range<usize>, target: u32, directed: &impl Directed<N>) {
        let ends = [self.edges[run.start][0], target];
        if N == 2 {
            let turned = run.clone().filter(|at| self.read(directed, *at).1).count();
            (0..turned.max(run.len() - turned)).for_each(|_| self.keep(ends, 0));
            return;
        }
        let mut pairs = std::mem::take(&mut self.run);
        pairs.clear();
        let pair = |at: usize| (self.edges[at][N - 1], self.read(directed, at).1);
        pairs.extend(run.map(pair));
        match self.order {
            Order::Weight => self.join_by_weight(&mut pairs, ends),
            Order::Listed => self.join_as_listed(&pairs, ends),
        }
        self.run = pairs;
    }

    fn join_by_weight(&mut self, pairs: &mut [(u32, bool)], ends: [u32; 2]) {
        pairs.sort_unstable();
        for equal in pairs.chunk_by(|a, b| a.0 == b.0) {
            let straight = equal.partition_point(|pair| !pair.1);
            let count = straight.max(equal.len() - straight);
            (0..count).for_each(|_| self.keep(ends, equal[0].0));
        }
    }

    /// Keeps an edge whenever its direction has listed more of its weight than the other one.
    fn join_as_listed(&mut self, pairs: &[(u32, bool)], ends: [u32; 2]) {
        let mut listed: HashMap<u32, [u32; 2]> = HashMap::new();
        for &(weight, is_turned) in pairs {
            let counts = listed.entry(weight).or_default();
            let most = counts[0].max(counts[1]);
            let own = &mut counts[usize::from(is_turned)];
            *own += 1;
            if *own > most {
                self.keep(ends, weight);
            }
        }
    }
}
