//! Expected results of analyses of graphs with loops and parallel edges, from the listed edges.
//!
//! Nothing here is shared with the graph under test, the programs or the sequential implementations
//! of `--check`: the edges of a pair of nodes are counted here, and every result follows from all
//! arcs, in the simplest way. For tests of a few nodes.

use std::collections::{BTreeMap, BTreeSet};

/// Listed edges, loops and parallel ones included.
#[derive(Clone, Debug)]
pub struct Listed {
    /// Nodes of the graph.
    pub nodes: u32,
    /// Ends and weight of each listed edge.
    pub edges: Vec<(u32, u32, u32)>,
    /// Whether each edge also counts in the other direction.
    pub undirected: bool,
}

/// A distance that nothing has.
const FAR: u64 = u64::MAX;

impl Listed {
    /// The arcs: of an undirected list, for two nodes and a weight, as many edges as the direction
    /// that lists more of them lists, each in both directions, and a loop once.
    #[must_use]
    pub fn arcs(&self, weighted: bool) -> Vec<(usize, usize, u32)> {
        let weight = |weight: u32| if weighted { weight } else { 0 };
        let edges = self.edges.iter();
        let edges = edges.map(|&(a, b, w)| (a as usize, b as usize, weight(w)));
        if !self.undirected {
            return edges.collect();
        }
        let mut pairs: BTreeMap<(usize, usize, u32), [usize; 2]> = BTreeMap::new();
        for (a, b, weight) in edges {
            pairs.entry((a.min(b), a.max(b), weight)).or_default()[usize::from(a > b)] += 1;
        }
        let mut arcs = Vec::new();
        for ((a, b, weight), [there, back]) in pairs {
            for _ in 0..there.max(back) {
                arcs.push((a, b, weight));
                if a != b {
                    arcs.push((b, a, weight));
                }
            }
        }
        arcs
    }

    /// Lengths from `sources` along arcs, by relaxing all of them until none changes.
    fn lengths(&self, sources: &[u32], arcs: &[(usize, usize, u64)]) -> Vec<u64> {
        let mut lengths = vec![FAR; self.nodes as usize];
        sources
            .iter()
            .for_each(|source| lengths[*source as usize] = 0);
        loop {
            let before = lengths.clone();
            for &(from, to, weight) in arcs {
                if lengths[from] != FAR {
                    lengths[to] = lengths[to].min(lengths[from] + weight);
                }
            }
            if before == lengths {
                return lengths;
            }
        }
    }

    fn steps(&self) -> Vec<(usize, usize, u64)> {
        let arcs = self.arcs(false).into_iter();
        arcs.map(|(from, to, _)| (from, to, 1)).collect()
    }

    /// Edges from the nearest source; `None` if there is no path.
    #[must_use]
    pub fn levels(&self, sources: &[u32]) -> Vec<Option<u64>> {
        reached(self.lengths(sources, &self.steps()))
    }

    /// Weight of a lightest path from the sources.
    #[must_use]
    pub fn distances(&self, sources: &[u32]) -> Vec<Option<u64>> {
        let arcs = self.arcs(true).into_iter();
        let arcs: Vec<_> = arcs.map(|(a, b, w)| (a, b, u64::from(w))).collect();
        reached(self.lengths(sources, &arcs))
    }

    /// The least weight along a widest path from the sources; `None` if there is no path, the
    /// largest number at a source.
    #[must_use]
    pub fn widths(&self, sources: &[u32]) -> Vec<Option<u64>> {
        let arcs = self.arcs(true);
        let mut widths = vec![None; self.nodes as usize];
        sources
            .iter()
            .for_each(|source| widths[*source as usize] = Some(FAR));
        loop {
            let before = widths.clone();
            for &(from, to, weight) in &arcs {
                let through = widths[from].map(|width: u64| width.min(u64::from(weight)));
                widths[to] = widths[to].max(through);
            }
            if before == widths {
                return widths;
            }
        }
    }

    /// The smallest node that a node reaches and is reached by, directions ignored if `weakly`.
    #[must_use]
    pub fn components(&self, weakly: bool) -> Vec<u32> {
        let mut arcs = self.steps();
        if weakly {
            let turned: Vec<_> = arcs.iter().map(|&(a, b, w)| (b, a, w)).collect();
            arcs.extend(turned);
        }
        let from: Vec<_> = (0..self.nodes)
            .map(|node| self.lengths(&[node], &arcs))
            .collect();
        let joined = |a: usize, b: usize| from[a][b] != FAR && from[b][a] != FAR;
        let nodes = 0..self.nodes as usize;
        let least = |node| nodes.clone().find(|other| joined(node, *other));
        nodes
            .clone()
            .map(|node| least(node).unwrap_or(node) as u32)
            .collect()
    }

    /// Ranks after many iterations: each arc passes on a share, and nodes without arcs pass theirs
    /// to the starts of the walk.
    #[must_use]
    pub fn ranks(&self, sources: Option<&[u32]>) -> Vec<f64> {
        let (nodes, arcs) = (self.nodes as usize, self.arcs(false));
        let mut starts = vec![1.0 / nodes as f64; nodes];
        if let Some(sources) = sources {
            starts.fill(0.0);
            let share = 1.0 / sources.len() as f64;
            sources
                .iter()
                .for_each(|source| starts[*source as usize] += share);
        }
        let mut degrees = vec![0.0; nodes];
        arcs.iter().for_each(|arc| degrees[arc.0] += 1.0);
        let mut ranks = starts.clone();
        for _ in 0..300 {
            let mut next = vec![0.0; nodes];
            let stuck = (0..nodes).filter(|node| degrees[*node] == 0.0);
            let stuck: f64 = stuck.map(|node| ranks[node]).sum();
            arcs.iter()
                .for_each(|arc| next[arc.1] += 0.85 * ranks[arc.0] / degrees[arc.0]);
            for (next, start) in next.iter_mut().zip(&starts) {
                *next += (0.15 + 0.85 * stuck) * start;
            }
            ranks = next;
        }
        ranks
    }

    /// Shares of the shortest paths from the sources through each node, over pairs of nodes:
    /// parallel edges make separate paths.
    #[must_use]
    pub fn betweenness(&self, sources: &[u32]) -> Vec<f64> {
        let nodes = self.nodes as usize;
        let arcs = self.arcs(false);
        let levels: Vec<_> = (0..self.nodes).map(|node| self.levels(&[node])).collect();
        let mut paths = vec![vec![0.0; nodes]; nodes];
        for from in 0..nodes {
            paths[from][from] = 1.0;
            for level in 1..=nodes as u64 {
                for &(before, to, _) in &arcs {
                    let is_next = levels[from][to] == Some(level);
                    if is_next && levels[from][before] == Some(level - 1) {
                        paths[from][to] += paths[from][before];
                    }
                }
            }
        }
        let mut scores = vec![0.0; nodes];
        for source in sources.iter().map(|source| *source as usize) {
            for (target, node) in (0..nodes).flat_map(|t| (0..nodes).map(move |v| (t, v))) {
                let whole = levels[source][target];
                let parts = levels[source][node].zip(levels[node][target]);
                let is_between = parts.map(|(a, b)| a + b) == whole && whole.is_some();
                if is_between && node != source && node != target {
                    let through = paths[source][node] * paths[node][target];
                    // An undirected path is the same from both of its ends.
                    let twice = self.undirected && sources.contains(&(target as u32));
                    let share = if twice { 0.5 } else { 1.0 };
                    scores[node] += share * through / paths[source][target];
                }
            }
        }
        scores
    }

    /// Closeness of Wasserman and Faust, inward: by the distances from the nodes that reach it.
    #[must_use]
    pub fn closeness(&self, node: u32) -> f64 {
        let turned: Vec<_> = self
            .steps()
            .into_iter()
            .map(|(a, b, w)| (b, a, w))
            .collect();
        let known: Vec<u64> = self.lengths(&[node], &turned);
        let known: Vec<u64> = known.into_iter().filter(|length| *length != FAR).collect();
        let (others, sum) = (known.len() as f64 - 1.0, known.iter().sum::<u64>() as f64);
        if sum == 0.0 {
            return 0.0;
        }
        others * others / (sum * (f64::from(self.nodes) - 1.0))
    }

    /// The other ends of each node's edges, each once, without the node itself.
    fn others(&self) -> Vec<BTreeSet<usize>> {
        let mut others = vec![BTreeSet::new(); self.nodes as usize];
        for (from, to, _) in self.arcs(false) {
            if from != to {
                others[from].insert(to);
                others[to].insert(from);
            }
        }
        others
    }

    /// Core number of each node, by removing nodes of few neighbours for increasing numbers.
    #[must_use]
    pub fn cores(&self) -> Vec<u32> {
        let mut others = self.others();
        let mut cores = vec![0; others.len()];
        for core in 1..=self.nodes {
            let few = |others: &[BTreeSet<usize>]| {
                let mut nodes = 0..others.len();
                nodes.find(|node| (1..core as usize).contains(&others[*node].len()))
            };
            while let Some(node) = few(&others) {
                for other in std::mem::take(&mut others[node]) {
                    others[other].remove(&node);
                }
            }
            for (core_of, others) in cores.iter_mut().zip(&others) {
                if others.len() >= core as usize {
                    *core_of = core;
                }
            }
        }
        cores
    }

    /// Number of triangles at each node.
    #[must_use]
    pub fn triangles(&self) -> Vec<u32> {
        let others = self.others();
        let corner = |node: &BTreeSet<usize>| {
            let pairs = node
                .iter()
                .flat_map(|a| node.range(a + 1..).map(move |b| (*a, *b)));
            pairs.filter(|(a, b)| others[*a].contains(b)).count() as u32
        };
        others.iter().map(corner).collect()
    }

    /// Whether nodes with a number in `colours` differ from all their neighbours.
    #[must_use]
    pub fn differ(&self, colours: &[u32]) -> bool {
        let others = self.others();
        let pairs = others.iter().zip(colours);
        pairs
            .into_iter()
            .all(|(others, own)| others.iter().all(|other| colours[*other] != *own))
    }

    /// Whether flags mark a maximal independent set.
    #[must_use]
    pub fn is_independent_and_maximal(&self, flags: &[u32]) -> bool {
        let others = self.others();
        let meets = |node: usize| others[node].iter().any(|other| flags[*other] == 1);
        (0..flags.len()).all(|node| meets(node) == (flags[node] == 0))
    }

    /// Weight of a lightest spanning forest.
    #[must_use]
    pub fn forest_weight(&self) -> u64 {
        let mut arcs = self.arcs(true);
        arcs.sort_by_key(|arc| arc.2);
        let mut labels: Vec<usize> = (0..self.nodes as usize).collect();
        let mut weight = 0;
        for (from, to, arc) in arcs {
            let (old, new) = (labels[from], labels[to]);
            if old != new {
                weight += u64::from(arc);
                labels
                    .iter_mut()
                    .filter(|label| **label == old)
                    .for_each(|label| *label = new);
            }
        }
        weight
    }
}

fn reached(lengths: Vec<u64>) -> Vec<Option<u64>> {
    let known = |length: u64| (length != FAR).then_some(length);
    lengths.into_iter().map(known).collect()
}
