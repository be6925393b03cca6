//! Centralities, with floats added in the order in which NetworkX adds them.

use super::rows::Rows;
use super::search::{Levels, NONE, Ways};
use rayon::prelude::*;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;

/// Nodes whose searches are shared out at once: enough for the threads, few enough for memory.
const BATCH: usize = 64;

/// What a search from one node found.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Reach {
    /// Nodes reached, itself included.
    pub(crate) nodes: u64,
    /// Sum of their levels.
    pub(crate) total: u64,
    /// The largest level.
    pub(crate) largest: u32,
}

/// Searches from each of `sources` on all threads, until `stop`.
pub(crate) fn reaches(ways: Ways<'_>, sources: &[u32], stop: &AtomicBool) -> Vec<Reach> {
    let search = |levels: &mut Levels, source: &u32| {
        if stop.load(Relaxed) {
            return Reach::default();
        }
        levels.search(ways, &[*source], NONE, None);
        Reach {
            nodes: levels.order.len() as u64,
            total: levels.total(),
            largest: levels.largest(),
        }
    };
    let new = || Levels::of_order(ways.rows.nodes());
    sources
        .par_iter()
        .with_min_len(8)
        .map_init(new, search)
        .collect()
}

/// Adds 1 over its level to each node that a source reaches, or to the source (`to_source`), of
/// those that `wanted` has, until `stop`. Sources in order, so that sums round as they do in NetworkX.
pub(crate) fn harmonic(
    ways: Ways<'_>,
    sources: &[u32],
    wanted: &[bool],
    to_source: bool,
    stop: &AtomicBool,
) -> Vec<f64> {
    let mut sums = vec![0.0; ways.rows.nodes()];
    let mut levels = Levels::of_order(ways.rows.nodes());
    for &source in sources.iter().take_while(|_| !stop.load(Relaxed)) {
        levels.search(ways, &[source], NONE, None);
        for (level, nodes) in (0_u32..).zip(levels.layers()).skip(1) {
            for &node in nodes.iter().filter(|node| wanted[**node as usize]) {
                let to = if to_source { source } else { node };
                sums[to as usize] += 1.0 / f64::from(level);
            }
        }
    }
    sums
}

/// Shares of the shortest paths from one node, by Brandes' algorithm.
#[derive(Debug)]
struct Paths {
    levels: Levels,
    /// Nodes by rising distance.
    order: Vec<u32>,
    length: Vec<f64>,
    state: Vec<u8>,
    parents: Vec<Vec<u32>>,
    count: Vec<f64>,
    share: Vec<f64>,
}

impl Paths {
    fn new(nodes: usize) -> Self {
        Self {
            levels: Levels::new(nodes),
            order: Vec::new(),
            length: vec![0.0; nodes],
            state: vec![0; nodes],
            parents: vec![Vec::new(); nodes],
            count: vec![0.0; nodes],
            share: vec![0.0; nodes],
        }
    }

    /// Counts paths of fewest edges.
    fn plain(&mut self, rows: &Rows, source: u32) {
        self.levels
            .search(Ways::forward(rows), &[source], NONE, None);
        self.order.clone_from(&self.levels.order);
        for &node in &self.order {
            self.count[node as usize] = 0.0;
            self.parents[node as usize].clear();
        }
        self.count[source as usize] = 1.0;
        for &node in &self.order {
            let level = self.levels.level[node as usize];
            let paths = self.count[node as usize];
            for &next in rows.of(node) {
                if self.levels.level[next as usize] == level + 1 {
                    self.count[next as usize] += paths;
                    self.parents[next as usize].push(node);
                }
            }
        }
    }

    /// Counts lightest paths.
    fn weighted(&mut self, rows: &Rows, weight: &[f64], source: u32) {
        let mut heap = BinaryHeap::new();
        let mut pushes = 0_u64;
        self.order.clear();
        self.state.fill(0);
        self.count.fill(0.0);
        self.parents.iter_mut().for_each(Vec::clear);
        self.count[source as usize] = 1.0;
        self.length[source as usize] = 0.0;
        self.state[source as usize] = 1;
        heap.push(Reverse((Total(0.0), 0, source, source)));
        while let Some(Reverse((Total(length), _, parent, node))) = heap.pop() {
            if self.state[node as usize] == 2 {
                continue;
            }
            self.count[node as usize] += self.count[parent as usize];
            self.order.push(node);
            self.state[node as usize] = 2;
            self.length[node as usize] = length;
            for place in rows.range(node) {
                let next = rows.targets[place];
                let (state, known) = (self.state[next as usize], self.length[next as usize]);
                let longer = length + weight[place];
                if state == 0 || state == 1 && longer < known {
                    self.state[next as usize] = 1;
                    self.length[next as usize] = longer;
                    pushes += 1;
                    heap.push(Reverse((Total(longer), pushes, node, next)));
                    self.count[next as usize] = 0.0;
                    self.parents[next as usize].clear();
                    self.parents[next as usize].push(node);
                } else if longer == known {
                    self.count[next as usize] += self.count[node as usize];
                    self.parents[next as usize].push(node);
                }
            }
        }
    }

    /// Returns what every reached node gains, in the order of the search.
    fn shares(&mut self, source: u32, endpoints: bool) -> Vec<(u32, f64)> {
        let mut gains = Vec::with_capacity(self.order.len() + 1);
        if endpoints {
            gains.push((source, self.order.len() as f64 - 1.0));
        }
        let more = if endpoints { 1.0 } else { 0.0 };
        let gain = |node, own| {
            if node != source {
                gains.push((node, own + more));
            }
        };
        self.pass_back(|_, _, _| (), gain);
        gains
    }

    /// Returns what every edge on a path gains, in the order of the search.
    fn edge_shares(&mut self, edges: &Edges) -> Vec<(u32, f64)> {
        let mut gains = Vec::new();
        let gain = |parent, node, share| gains.push((edges.number(parent, node), share));
        self.pass_back(gain, |_, _| ());
        gains
    }

    /// Passes shares of paths back from the last node: each goes `over` the edge from a parent to a
    /// node, and then `through` that node.
    fn pass_back(
        &mut self,
        mut over: impl FnMut(u32, u32, f64),
        mut through: impl FnMut(u32, f64),
    ) {
        for &node in &self.order {
            self.share[node as usize] = 0.0;
        }
        for &node in self.order.iter().rev() {
            let factor = (1.0 + self.share[node as usize]) / self.count[node as usize];
            for &parent in &self.parents[node as usize] {
                let share = self.count[parent as usize] * factor;
                self.share[parent as usize] += share;
                over(parent, node, share);
            }
            through(node, self.share[node as usize]);
        }
    }
}

/// A float with the order of its value; none is NaN.
#[derive(Clone, Copy, Debug)]
struct Total(f64);

impl Ord for Total {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        (self.0 + 0.0).total_cmp(&(other.0 + 0.0))
    }
}

impl PartialOrd for Total {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Total {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Total {}

/// The edges of a graph, each once and in the order of its rows.
#[derive(Debug)]
pub(crate) struct Edges {
    is_directed: bool,
    pub(crate) ends: Vec<(u32, u32)>,
    /// Ends of each row, ascending, and the number of the edge to each.
    sorted: Vec<(u32, u32)>,
    offsets: Vec<usize>,
}

impl Edges {
    /// Numbers the edges of `rows`; those of an undirected graph from their first node.
    pub(crate) fn new(rows: &Rows, is_directed: bool) -> Self {
        let (mut ends, mut sorted) = (Vec::new(), Vec::new());
        let mut offsets = vec![0];
        for node in rows.all() {
            for &next in rows.of(node) {
                if is_directed || next >= node {
                    sorted.push((next, ends.len() as u32));
                    ends.push((node, next));
                }
            }
            sorted[offsets[node as usize]..].sort_unstable();
            offsets.push(sorted.len());
        }
        Self {
            is_directed,
            ends,
            sorted,
            offsets,
        }
    }

    /// Number of the edge from `node` to `next`, which exists.
    fn number(&self, node: u32, next: u32) -> u32 {
        let is_turned = !self.is_directed && next < node;
        let (node, next) = if is_turned {
            (next, node)
        } else {
            (node, next)
        };
        let row = &self.sorted[self.offsets[node as usize]..self.offsets[node as usize + 1]];
        row[row.partition_point(|(end, _)| *end < next)].1
    }
}

/// Returns the sums over `sources` of the shares of shortest paths through each node, not scaled.
pub(crate) fn betweenness(
    rows: &Rows,
    weight: Option<&[f64]>,
    sources: &[u32],
    endpoints: bool,
    stop: &AtomicBool,
) -> Vec<f64> {
    let shares = |paths: &mut Paths, source| paths.shares(source, endpoints);
    sums(rows, weight, sources, rows.nodes(), shares, stop)
}

/// Returns the sums over `sources` of the shares of shortest paths over each edge, not scaled.
pub(crate) fn edge_betweenness(
    rows: &Rows,
    weight: Option<&[f64]>,
    sources: &[u32],
    edges: &Edges,
    stop: &AtomicBool,
) -> Vec<f64> {
    let shares = |paths: &mut Paths, _| paths.edge_shares(edges);
    sums(rows, weight, sources, edges.ends.len(), shares, stop)
}

/// Sums of what each of so many parts of a graph gains by the shortest paths from `sources`.
///
/// Searches run on all threads, until `stop`; their shares are added in the order of the sources.
fn sums(
    rows: &Rows,
    weight: Option<&[f64]>,
    sources: &[u32],
    parts: usize,
    shares: impl Fn(&mut Paths, u32) -> Vec<(u32, f64)> + Sync,
    stop: &AtomicBool,
) -> Vec<f64> {
    let mut sums = vec![0.0; parts];
    let search = |paths: &mut Paths, source: &u32| {
        if stop.load(Relaxed) {
            return Vec::new();
        }
        match weight {
            Some(weight) => paths.weighted(rows, weight, *source),
            None => paths.plain(rows, *source),
        }
        shares(paths, *source)
    };
    let new = || Paths::new(rows.nodes());
    for batch in sources.chunks(BATCH) {
        let found: Vec<_> = batch
            .par_iter()
            .with_min_len(4)
            .map_init(new, search)
            .collect();
        for (part, share) in found.into_iter().flatten() {
            sums[part as usize] += share;
        }
    }
    sums
}

/// Sums as `numpy.add.reduceat` does: the first value, and the rest by pairs.
fn row_sum(values: &[f64]) -> f64 {
    match values.split_first() {
        None => 0.0,
        Some((first, [])) => *first,
        Some((first, rest)) => first + pairwise_sum(rest),
    }
}

/// Sums halves of long slices, and eight interleaved parts of short ones, as NumPy does.
fn pairwise_sum(values: &[f64]) -> f64 {
    const LONGEST: usize = 128;
    if values.len() > LONGEST {
        let half = values.len() / 2;
        let (left, right) = values.split_at(half - half % 8);
        return pairwise_sum(left) + pairwise_sum(right);
    }
    let (eights, rest) = values.as_chunks::<8>();
    let Some((first, others)) = eights.split_first() else {
        return values.iter().fold(-0.0, |sum, value| sum + value);
    };
    let mut parts = *first;
    for eight in others {
        for (part, value) in parts.iter_mut().zip(eight) {
            *part += value;
        }
    }
    let [a, b, c, d, e, f, g, h] = parts;
    let sum = ((a + b) + (c + d)) + ((e + f) + (g + h));
    rest.iter().fold(sum, |sum, value| sum + value)
}

/// Edges of the transition matrix of a random walk, by the node that they enter.
#[derive(Debug)]
pub(crate) struct Walk {
    incoming: Rows,
    share: Vec<f64>,
    /// Nodes that pass nothing on.
    pub(crate) dangling: Vec<u32>,
}

impl Walk {
    /// Divides the weights of each row by their sum.
    pub(crate) fn new(rows: &Rows, weight: impl Fn(usize) -> f64) -> Self {
        let (incoming, places) = rows.transposed();
        // By ascending ends, as SciPy adds the entries of a row.
        let mut sorted = vec![0.0; places.len()];
        let mut next = rows.offsets.clone();
        for (from, place) in incoming.targets.iter().zip(&places) {
            let slot = &mut next[*from as usize];
            sorted[*slot] = weight(*place);
            *slot += 1;
        }
        let sums = rows.all().map(|node| row_sum(&sorted[rows.range(node)]));
        let invert = |sum: f64| if sum == 0.0 { 0.0 } else { 1.0 / sum };
        let inverse: Vec<f64> = sums.map(invert).collect();
        let from = incoming.targets.iter().zip(&places);
        // A row that adds up to infinity passes nothing on, as in a sparse matrix without zeros.
        let share_of = |inverse: f64, place| match inverse == 0.0 {
            true => 0.0,
            false => inverse * weight(place),
        };
        let share = from
            .map(|(from, place)| share_of(inverse[*from as usize], *place))
            .collect();
        let dangling = rows
            .all()
            .filter(|node| inverse[*node as usize] == 0.0)
            .collect();
        Self {
            incoming,
            share,
            dangling,
        }
    }

    /// Returns what every node receives of `ranks`, on all threads.
    pub(crate) fn step(&self, ranks: &[f64]) -> Vec<f64> {
        let receive = |node: u32| {
            let places = self.incoming.range(node);
            places.fold(0.0, |sum, place| {
                sum + self.share[place] * ranks[self.incoming.targets[place] as usize]
            })
        };
        self.incoming
            .all()
            .into_par_iter()
            .with_min_len(4096)
            .map(receive)
            .collect()
    }
}
