//! Edges along chains: a few rounds then lead from one end of a long path to the other.
//!
//! A chain is a path of nodes with two neighbours each, between any other two nodes. Nodes with one
//! neighbour do not count as neighbours here, so that the spine of a caterpillar is a chain. An edge
//! leads from every third node of a chain to the third one after it, from every ninth to the ninth
//! after it, and so on, and back. Each is as long as the way that it replaces, so distances stay the
//! same, and a way along `n` nodes of a chain takes some `6 log3 n` edges instead of `n`.
//!
//! Time and memory are linear in nodes and edges: there are at most as many new edges as nodes in
//! chains.

use super::build::{MAX_EDGES, Order};
use super::csr::Csr;
use super::dedup;
use super::ids::Ids;
use super::memory::{self, Shortage};
use super::model::Graph;
use super::weights::WeightKind;
use rayon::prelude::*;
use std::sync::OnceLock;

/// Nodes from one end of the shortest new edges to the other, and the factor from one length to the
/// next. Rounds and relaxed edges from the middle of a path of 240 000 nodes: 23 and 13.3 a node with
/// 2, 32 and 8.7 with 3, 34 and 13.9 with 4, 52 and 9.5 with 8.
const STEP: usize = 3;

/// Edges of the shortest chain that gets new edges.
const LONG: usize = 64;

/// Edges of the longest chain of a graph that is worth a copy of it.
const LONGEST: usize = 1024;

/// Part of the nodes, as a divisor, that may be in no long chain. Rounds of paths take several times
/// as long as levels of a search, so that nearly all of the way has to be along chains.
const OTHERS: u32 = 16;

/// Nodes of a sample, the part of them, as a divisor, that may be outside of chains, and edges of a
/// node that are looked at.
const SAMPLE: u32 = 1024;
const SAMPLED_OTHERS: usize = 8;
const EDGES_SEEN: usize = 64;

/// Nodes of a sample of which at least one has to be in a chain of [`LONGEST`] edges.
const WALKED: u32 = 8;

/// Nodes whose rows are filled together.
const BLOCK: usize = 1 << 12;

/// Lengths of edges.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum EdgeLengths {
    /// 1 for each.
    One,
    /// Their weights, which are whole numbers.
    Weights,
}

/// Graphs with shortcuts that were made, or that are not worth it.
#[derive(Debug, Default)]
pub(super) struct Shortcuts([OnceLock<Option<Box<Graph>>>; 2]);

impl Shortcuts {
    pub(super) fn bytes(&self) -> usize {
        let made = self.0.iter().filter_map(OnceLock::get).flatten();
        made.map(|graph| graph.memory_bytes()).sum()
    }
}

impl Graph {
    /// Returns this graph with edges along its long chains and with `lengths` as weights, if nearly
    /// all of its nodes lie in such chains or beside them. Distances are the same. `None` for others,
    /// for directed graphs, without whole weights if those are the lengths, and if memory is short.
    ///
    /// The first call makes it, in time linear in the edges; it stays in memory beside the graph.
    ///
    /// ```
    /// use seawall_graph::{EdgeLengths, Graph};
    ///
    /// let path: Vec<_> = (1..5000).map(|node| (node - 1, node)).collect();
    /// let graph = Graph::from_edges(5000, &path, true)?;
    /// let more = graph.with_shortcuts(EdgeLengths::One).expect("a long chain");
    /// assert!((9_000..20_000).contains(&more.edges()));
    /// assert!(Graph::from_edges(3, &[(0, 1), (1, 2)], true)?.with_shortcuts(EdgeLengths::One).is_none());
    /// # Ok::<(), seawall_graph::GraphError>(())
    /// ```
    pub fn with_shortcuts(&self, lengths: EdgeLengths) -> Option<&Self> {
        let slot = &self.shortcuts.0[lengths as usize];
        let made = slot.get_or_init(|| {
            let chains = Chains::of(self, lengths)?;
            chains.graph().ok().map(Box::new)
        });
        made.as_deref()
    }
}

/// An edge out of a node.
#[derive(Clone, Copy)]
struct Link {
    to: u32,
    length: u32,
}

/// A new edge, which leads both ways.
#[derive(Clone, Copy)]
struct Shortcut {
    ends: [u32; 2],
    length: u32,
}

/// The chains of a graph, and the edges along them.
struct Chains<'g> {
    graph: &'g Graph,
    lengths: EdgeLengths,
    inner: Vec<Option<[Link; 2]>>,
    added: Vec<Shortcut>,
    /// Inner nodes of long chains.
    inside: usize,
    longest: usize,
}

impl<'g> Chains<'g> {
    /// Before any is found.
    fn none(graph: &'g Graph, lengths: EdgeLengths) -> Self {
        Self {
            graph,
            lengths,
            inner: Vec::new(),
            added: Vec::new(),
            inside: 0,
            longest: 0,
        }
    }

    /// Finds the chains of a graph that is worth it.
    fn of(graph: &'g Graph, lengths: EdgeLengths) -> Option<Self> {
        let kind = graph.weight_kind();
        let has_lengths = lengths == EdgeLengths::One || kind == Some(WeightKind::Integer);
        if !graph.is_symmetric() || !has_lengths {
            return None;
        }
        let mut chains = Self::none(graph, lengths);
        if !chains.looks_worth_it() {
            return None;
        }
        let beside = chains.find_inner().ok()?;
        let few = (graph.nodes() / OTHERS) as usize;
        let outside = graph.nodes() as usize - beside;
        let is_inner = |link: &&Option<[Link; 2]>| link.is_some();
        if outside - chains.inner.iter().filter(is_inner).count() > few {
            return None;
        }
        chains.walk_all().ok()?;
        let is_worth_it = outside - chains.inside <= few && chains.longest >= LONGEST;
        let edges = u64::from(graph.edges()) + 2 * chains.added.len() as u64;
        (is_worth_it && edges <= MAX_EDGES).then_some(chains)
    }

    /// Edges of `node` that are no loops.
    fn links(&self, node: u32) -> impl Iterator<Item = Link> + use<'g> {
        let (graph, lengths) = (self.graph, self.lengths);
        let links = graph.outgoing().row(node).map(move |edge| Link {
            to: graph.targets()[edge],
            length: lengths.of(graph, edge),
        });
        links.filter(move |link| link.to != node)
    }

    /// Whether few nodes of a sample are outside of chains, and a chain of a smaller one is long.
    fn looks_worth_it(&self) -> bool {
        let nodes = self.graph.nodes();
        let sample = |count: u32| (0..nodes).step_by((nodes / count).max(1) as usize);
        let links_on = |node| self.links(node).filter(|link| !self.is_leaf(link.to));
        let is_outside = |node: &u32| {
            let seen = self.links(*node).take(EDGES_SEEN);
            let on = seen.filter(|link| !self.is_leaf(link.to)).take(3);
            !self.is_leaf(*node) && on.count() != 2
        };
        let is_long = |node: u32| {
            let next = |&[from, node]: &[u32; 2]| {
                let mut links = links_on(node).take(3).filter(|link| link.to != from);
                let link = links.next()?;
                links.next().is_none().then_some([node, link.to])
            };
            let walk = |link: Link| std::iter::successors(Some([node, link.to]), next);
            let sides = links_on(node)
                .take(2)
                .map(|link| walk(link).take(LONGEST).count());
            sides.sum::<usize>() >= LONGEST
        };
        let outside = sample(SAMPLE).filter(is_outside).count();
        outside <= sample(SAMPLE).count() / SAMPLED_OTHERS && sample(WALKED).any(is_long)
    }

    /// Finds the inner nodes of chains; returns the number of nodes with at most one edge.
    fn find_inner(&mut self) -> Result<usize, Shortage> {
        let nodes = self.graph.nodes();
        let all = (0..nodes).into_par_iter().with_min_len(1 << 12);
        let (mut leaves, mut inner) = (Vec::new(), Vec::new());
        memory::reserve_exact(&mut leaves, nodes as usize)?;
        memory::reserve_exact(&mut inner, nodes as usize)?;
        let is_leaf = |node| self.is_leaf(node);
        all.clone().map(is_leaf).collect_into_vec(&mut leaves);
        let links_on = |node: u32| {
            let mut links = self.links(node).filter(|link| !leaves[link.to as usize]);
            match (links.next(), links.next(), links.next()) {
                (Some(one), Some(other), None) => Some([one, other]),
                _ => None,
            }
        };
        all.map(links_on).collect_into_vec(&mut inner);
        self.inner = inner;
        Ok(leaves.iter().filter(|is_leaf| **is_leaf).count())
    }

    /// Whether `node` has at most one edge.
    fn is_leaf(&self, node: u32) -> bool {
        self.links(node).nth(1).is_none()
    }

    fn is_inner(&self, node: u32) -> bool {
        self.inner[node as usize].is_some()
    }

    /// Finds the edges along all chains: from their ends, then in cycles without an end.
    fn walk_all(&mut self) -> Result<(), Shortage> {
        let (mut starts, mut chain) = (Vec::new(), Vec::new());
        for node in 0..self.graph.nodes() {
            if !self.is_inner(node) && !self.is_leaf(node) {
                let links = self.links(node).filter(|link| self.is_inner(link.to));
                starts.extend(links);
            }
            for link in starts.drain(..) {
                // A chain that begins and ends here was walked from the other side.
                if self.is_inner(link.to) {
                    self.walk(node, link, &mut chain)?;
                }
            }
        }
        for node in 0..self.graph.nodes() {
            if let Some([link, _]) = self.inner[node as usize].take() {
                self.walk(node, link, &mut chain)?;
            }
        }
        Ok(())
    }

    /// Walks along the chain that begins with `link` out of `start`, whose nodes and their distances
    /// from there `chain` has then.
    fn walk(
        &mut self,
        start: u32,
        mut link: Link,
        chain: &mut Vec<(u32, u64)>,
    ) -> Result<(), Shortage> {
        chain.clear();
        chain.push((start, 0));
        let (mut from, mut length) = (start, 0);
        loop {
            length += u64::from(link.length);
            memory::reserve(chain, 1)?;
            chain.push((link.to, length));
            let Some([one, other]) = self.inner[link.to as usize].take() else {
                break;
            };
            let next = if one.to == from { other } else { one };
            (from, link) = (link.to, next);
        }
        self.longest = self.longest.max(chain.len() - 1);
        if chain.len() > LONG {
            self.inside += chain.len() - 2;
            self.cut(chain)?;
        }
        Ok(())
    }

    /// Adds the edges along a chain.
    fn cut(&mut self, chain: &[(u32, u64)]) -> Result<(), Shortage> {
        let steps = std::iter::successors(Some(STEP), |step| step.checked_mul(STEP));
        for step in steps.take_while(|step| *step < chain.len()) {
            let ends = chain.iter().step_by(step);
            for ((from, near), (to, far)) in ends.clone().zip(ends.skip(1)) {
                let length = u32::try_from(far - near).unwrap_or(u32::MAX);
                if length < u32::MAX && from != to {
                    memory::reserve(&mut self.added, 1)?;
                    let ends = [*from, *to];
                    self.added.push(Shortcut { ends, length });
                }
            }
        }
        Ok(())
    }

    /// The graph with the edges found.
    fn graph(self) -> Result<Graph, Shortage> {
        let (old, nodes) = (self.graph.outgoing(), self.graph.nodes() as usize);
        let mut offsets = memory::zeroed::<u32>(nodes + 1)?;
        for end in self.added.iter().flat_map(|one| one.ends) {
            offsets[end as usize + 1] += 1;
        }
        for (node, rows) in old.offsets().windows(2).enumerate() {
            offsets[node + 1] += offsets[node] + (rows[1] - rows[0]);
        }
        let edges = offsets[nodes] as usize;
        let (mut targets, mut weights) = (memory::zeroed(edges)?, memory::zeroed(edges)?);
        // New edges fill rows from their ends.
        let mut ends = memory::collect(nodes, offsets[1..].iter().copied())?;
        for &Shortcut {
            ends: [a, b],
            length,
        } in &self.added
        {
            for (from, to) in [(a, b), (b, a)] {
                ends[from as usize] -= 1;
                let at = ends[from as usize] as usize;
                (targets[at], weights[at]) = (to, length);
            }
        }
        let (mut targets_left, mut weights_left) = (&mut targets[..], &mut weights[..]);
        let mut blocks = Vec::new();
        for first in (0..nodes).step_by(BLOCK) {
            let last = (first + BLOCK).min(nodes);
            let length = (offsets[last] - offsets[first]) as usize;
            let own = [&mut targets_left, &mut weights_left]
                .map(|left| left.split_off_mut(..length).unwrap_or_default());
            blocks.push((&offsets[first..=last], first as u32, own));
        }
        blocks
            .into_par_iter()
            .for_each(|(offsets, first, own)| self.fill(offsets, first, own));
        let rows = Csr {
            offsets,
            targets,
            weights: Some(weights),
        };
        let counts = dedup::count(&rows);
        Ok(Graph::from_parts(rows, true, Ids::Offset(0)).with_counts(counts, Order::Weight))
    }
}

impl Chains<'_> {
    /// Fills the rows from node `first` on, whose ends have the new edges already, and sorts them.
    fn fill(&self, offsets: &[u32], first: u32, [targets, weights]: [&mut [u32]; 2]) {
        let (old, mut sorted) = (self.graph.outgoing(), Vec::new());
        let place = |offset: u32| (offset - offsets[0]) as usize;
        for (node, row) in (first..).zip(offsets.windows(2)) {
            let slots = place(row[0])..place(row[1]);
            let edges = old.row(node);
            for (at, edge) in slots.clone().zip(edges.clone()) {
                targets[at] = old.targets()[edge];
                weights[at] = self.lengths.of(self.graph, edge);
            }
            if edges.len() < slots.len() {
                sorted.extend(slots.clone().map(|at| (targets[at], weights[at])));
                sorted.sort_unstable();
                for (at, edge) in slots.zip(sorted.drain(..)) {
                    (targets[at], weights[at]) = edge;
                }
            }
        }
    }
}

impl EdgeLengths {
    /// Length of `edge`.
    fn of(self, graph: &Graph, edge: usize) -> u32 {
        let weights = graph.weights().filter(|_| self == Self::Weights);
        weights.map_or(1, |weights| weights[edge])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    type Edges = Vec<(u32, u32, u32)>;

    /// Replaces each of `edges` among `nodes` nodes by a chain of so many nodes, and hangs `leaves`
    /// leaves at nodes of all kinds; edges from a node to itself become cycles, and 0 nodes loops.
    fn stretched(nodes: u32, edges: &[(u32, u32, u32)], leaves: u32, seed: u32) -> Graph {
        let mut all = Edges::new();
        let mut end = nodes;
        let mut state = seed;
        let mut draw = |below: u32| {
            state = state.wrapping_mul(747_796_405).wrapping_add(2_891_336_453);
            ((u64::from(state) * u64::from(below)) >> 32) as u32
        };
        for &(from, to, between) in edges {
            let mut last = from;
            for node in end..end + between {
                all.push((last, node, draw(9)));
                last = node;
            }
            end += between;
            all.push((last, to, draw(9)));
        }
        for leaf in end..end + leaves {
            all.push((draw(end), leaf, draw(9)));
        }
        // Numbers say nothing about places.
        let nodes = end + leaves;
        let mut names: Vec<u32> = (0..nodes).collect();
        for at in (1..nodes).rev() {
            names.swap(at as usize, draw(at + 1) as usize);
        }
        let name = |node: u32| names[node as usize];
        let named: Edges = all
            .iter()
            .map(|(a, b, w)| (name(*a), name(*b), *w))
            .collect();
        Graph::from_weighted_edges(nodes, &named, true).unwrap()
    }

    /// Distances from `source`, each edge as long as `length` says, and the rounds that they took.
    fn distances(graph: &Graph, source: u32, length: impl Fn(usize) -> u32) -> (Vec<u32>, u32) {
        let mut all = vec![u32::MAX; graph.nodes() as usize];
        all[source as usize] = 0;
        let (mut queue, mut rounds) = (vec![source], 0);
        while !queue.is_empty() {
            rounds += 1;
            for node in std::mem::take(&mut queue) {
                for edge in graph.outgoing().row(node) {
                    let to = graph.targets()[edge];
                    let sum = all[node as usize] + length(edge);
                    if sum < all[to as usize] {
                        all[to as usize] = sum;
                        queue.push(to);
                    }
                }
            }
            queue.sort_unstable();
            queue.dedup();
        }
        (all, rounds)
    }

    /// The graph with shortcuts, worth it or not.
    fn shortened(graph: &Graph, lengths: EdgeLengths) -> Graph {
        let mut chains = Chains::none(graph, lengths);
        chains.find_inner().unwrap();
        chains.walk_all().unwrap();
        chains.graph().unwrap()
    }

    fn check(graph: &Graph, sources: &[u32]) -> u32 {
        let mut most = 0;
        for lengths in [EdgeLengths::One, EdgeLengths::Weights] {
            let more = &shortened(graph, lengths);
            assert!(more.edges() <= graph.edges() + graph.nodes());
            let back = more.outgoing().transpose().unwrap();
            assert!(back.targets() == more.targets() && back.weights() == more.weights());
            for source in sources {
                let plain = |edge: usize| match lengths {
                    EdgeLengths::One => 1,
                    EdgeLengths::Weights => graph.weights().unwrap()[edge],
                };
                let (expected, _) = distances(graph, *source, plain);
                let (found, rounds) =
                    distances(more, *source, |edge| more.weights().unwrap()[edge]);
                assert!(expected == found, "{lengths:?} from {source}");
                most = most.max(rounds);
            }
        }
        most
    }

    #[test]
    fn paths_cycles_caterpillars_and_combs_take_few_rounds() {
        let comb: Vec<_> = (0..20).map(|at| (at, at + 1, 300)).collect();
        let shapes = [
            ("path", stretched(2, &[(0, 1, 9_000)], 0, 1)),
            ("cycle", stretched(1, &[(0, 0, 9_000)], 0, 2)),
            (
                "two edges twice",
                stretched(
                    2,
                    &[(0, 1, 3_000), (0, 1, 1), (0, 1, 3_000), (1, 1, 0)],
                    0,
                    3,
                ),
            ),
            ("caterpillar", stretched(2, &[(0, 1, 3_000)], 6_000, 4)),
            (
                "star of paths",
                stretched(
                    9,
                    &[1, 2, 3, 4, 5, 6, 7, 8].map(|end| (0, end, 1_100)),
                    50,
                    5,
                ),
            ),
            ("chain of chains", stretched(21, &comb, 0, 6)),
        ];
        for (name, graph) in &shapes[..5] {
            assert!(graph.with_shortcuts(EdgeLengths::One).is_some(), "{name}");
            let rounds = check(graph, &[0, 1, graph.nodes() / 2]);
            assert!(rounds < 60, "{name}: {rounds}");
        }
        // All of it is one chain, but for its ends.
        assert!(check(&shapes[5].1, &[0, 7]) < 60);
    }

    #[test]
    fn short_chains_and_other_graphs_are_left_alone() {
        let without = |graph: &Graph| graph.with_shortcuts(EdgeLengths::One).is_none();
        assert!(without(&stretched(2, &[(0, 1, 1_024)], 0, 1)));
        assert!(!without(&stretched(2, &[(0, 1, 1_025)], 0, 1)));
        let triangles: Vec<_> = (0..3_000).map(|node| (node, node, 2)).collect();
        assert!(without(&stretched(3_000, &triangles, 0, 1)));
        let star: Vec<_> = (1..3_000).map(|node| (0, node)).collect();
        assert!(without(&Graph::from_edges(3_000, &star, true).unwrap()));
        let path: Vec<_> = (1..3_000).map(|node| (node - 1, node)).collect();
        assert!(without(&Graph::from_edges(3_000, &path, false).unwrap()));
        assert!(without(&Graph::from_edges(0, &[], true).unwrap()));
        let floats: Vec<_> = path.iter().map(|(a, b)| (*a, *b, 0.5)).collect();
        let floats = Graph::from_float_edges(3_000, &floats, true).unwrap();
        assert!(floats.with_shortcuts(EdgeLengths::Weights).is_none());
        assert!(floats.with_shortcuts(EdgeLengths::One).is_some());
    }

    #[test]
    fn sums_beyond_a_word_get_no_edge() {
        let edges: Vec<_> = (1..3_000).map(|node| (node - 1, node, 1 << 30)).collect();
        let graph = Graph::from_weighted_edges(3_000, &edges, true).unwrap();
        let more = graph.with_shortcuts(EdgeLengths::Weights).unwrap();
        // Three edges add up to less than 2^32, nine do not.
        assert_eq!(more.edges() - graph.edges(), 2 * (2_999 / 3));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(48))]
        #[test]
        fn distances_are_those_of_the_graph(
            edges in prop::collection::vec((0..12_u32, 0..12_u32, 0..400_u32), 1..25),
            leaves in 0..200_u32,
            seed: u32,
        ) {
            let long = [(0, 1, 1_100), (12, 12, 700)];
            let all: Vec<_> = long.iter().chain(&edges).copied().collect();
            let graph = stretched(13, &all, leaves, seed);
            check(&graph, &[0, seed % graph.nodes(), graph.nodes() - 1]);
        }
    }
}
