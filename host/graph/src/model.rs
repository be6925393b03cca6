//! The graph that every analysis runs on.
//!
//! A [`Graph`] is immutable: rows of outgoing edges, the file's ids, and whether every edge has
//! its mirror image. The rows of incoming edges and the hash are made on first use and kept.

use std::alloc::{Layout, handle_alloc_error};
use std::sync::{Arc, OnceLock};

use super::build::{self, Counts, Direction, MAX_EDGES, MAX_NODES, Order};
use super::csr::Csr;
use super::drawn;
use super::error::GraphError;
use super::form::Forms;
use super::ids::Ids;
use super::memory::{self, Shortage};
use super::mirror::{self, Missing};
use super::mix;
use super::shortcuts::Shortcuts;
use super::weights::{self, WeightKind};

/// A directed or symmetric graph with 32-bit node numbers `0..nodes`.
///
/// It is the graph as read: rows ascend, hold a target as often as there are edges to it, and may
/// hold their own node. Parallel edges are in the order of their weights, or in that of listing.
/// The numbers of loops and parallel edges are known from building; [`form`](Self::form) makes a
/// graph without them once, on demand.
///
/// ```
/// use seawall_graph::Graph;
///
/// let graph = Graph::from_edges(3, &[(0, 1), (1, 2), (0, 2)], false)?;
/// assert_eq!(graph.neighbours(0), [1, 2]);
/// assert_eq!(graph.incoming().neighbours(2), [0, 1]);
/// # Ok::<(), seawall_graph::GraphError>(())
/// ```
#[derive(Debug)]
pub struct Graph {
    outgoing: Arc<Csr>,
    /// The sizes of `outgoing`, so that a batch of many graphs is planned without looking there.
    nodes: u32,
    edges: u32,
    has_weights: bool,
    incoming: OnceLock<Arc<Csr>>,
    hash: OnceLock<u64>,
    symmetric: bool,
    kind: WeightKind,
    counts: Counts,
    order: Order,
    ids: Ids,
    pub(super) forms: Forms,
    pub(super) shortcuts: Shortcuts,
    matched: OnceLock<bool>,
    even: OnceLock<bool>,
}

/// Rows of a graph that stay in memory as long as this does.
#[derive(Clone, Debug)]
pub struct KeptRows {
    _outgoing: Arc<Csr>,
    _incoming: Option<Arc<Csr>>,
}

impl Graph {
    /// Builds a graph from edges in memory.
    ///
    /// With `undirected`, each edge also counts in the other direction, and an edge listed in both
    /// directions stays as often as in the direction that lists it more often; a loop stands once
    /// in its row. With weights that counts for each weight by itself. Time is linear in nodes and
    /// edges; memory is twice the result plus the input.
    ///
    /// # Errors
    /// [`GraphError::EdgeOutOfRange`] for an end that is not below `nodes`;
    /// [`GraphError::TooManyNodes`] and [`GraphError::TooManyEdges`] beyond 32 bits;
    /// [`GraphError::Memory`].
    pub fn from_edges(
        nodes: u32,
        edges: &[(u32, u32)],
        undirected: bool,
    ) -> Result<Self, GraphError> {
        let list = edges.iter().map(|&(from, to)| [from, to]);
        let list = memory::collect(edges.len(), list).map_err(too_large)?;
        Self::from_list(nodes, list, undirected)
    }

    /// Works as [`from_edges`](Self::from_edges), with `(source, target, weight)`; parallel
    /// edges are in the order of their weights.
    ///
    /// Whether an undirected edge is listed in both directions is a question of each weight:
    /// `(0, 1, 5)` and `(1, 0, 5)` are one edge, `(0, 1, 5)` and `(1, 0, 9)` two parallel ones.
    ///
    /// ```
    /// use seawall_graph::Graph;
    ///
    /// let one = Graph::from_weighted_edges(2, &[(0, 1, 5), (1, 0, 5)], true)?;
    /// let two = Graph::from_weighted_edges(2, &[(0, 1, 5), (1, 0, 9)], true)?;
    /// assert_eq!((one.neighbours(0), two.neighbours(0)), (&[1][..], &[1, 1][..]));
    /// # Ok::<(), seawall_graph::GraphError>(())
    /// ```
    ///
    /// # Errors
    /// As for [`from_edges`](Self::from_edges).
    pub fn from_weighted_edges(
        nodes: u32,
        edges: &[(u32, u32, u32)],
        undirected: bool,
    ) -> Result<Self, GraphError> {
        let list = edges.iter().map(|&(from, to, weight)| [from, to, weight]);
        let list = memory::collect(edges.len(), list).map_err(too_large)?;
        Self::from_list(nodes, list, undirected)
    }

    /// Works as [`from_weighted_edges`](Self::from_weighted_edges), with float weights; -0.0
    /// becomes 0.0.
    ///
    /// # Errors
    /// [`GraphError::BadWeight`] for a weight that is negative, infinite or not a number;
    /// otherwise as for [`from_edges`](Self::from_edges).
    pub fn from_float_edges(
        nodes: u32,
        edges: &[(u32, u32, f32)],
        undirected: bool,
    ) -> Result<Self, GraphError> {
        let word = |(index, &(from, to, weight)): (usize, &(u32, u32, f32))| {
            let word = weights::float_word(weight);
            let word = word.ok_or(GraphError::BadWeight { index, weight })?;
            Ok([from, to, word])
        };
        let mut list = Vec::new();
        memory::reserve_exact(&mut list, edges.len()).map_err(too_large)?;
        for edge in edges.iter().enumerate().map(word) {
            list.push(edge?);
        }
        let graph = Self::from_list(nodes, list, undirected)?;
        Ok(graph.with_kind(WeightKind::Float))
    }

    /// Works as [`from_weighted_edges`](Self::from_weighted_edges), with weights that may be
    /// negative.
    ///
    /// ```
    /// use seawall_graph::{Graph, WeightKind};
    ///
    /// let graph = Graph::from_signed_edges(3, &[(0, 1, 4), (1, 2, -1)], false)?;
    /// assert_eq!(graph.weight_kind(), Some(WeightKind::Signed));
    /// # Ok::<(), seawall_graph::GraphError>(())
    /// ```
    ///
    /// # Errors
    /// As for [`from_edges`](Self::from_edges).
    pub fn from_signed_edges(
        nodes: u32,
        edges: &[(u32, u32, i32)],
        undirected: bool,
    ) -> Result<Self, GraphError> {
        let is_signed = edges.iter().any(|edge| edge.2 < 0);
        let word = |weight: i32| match is_signed {
            true => weights::signed_whole(weight),
            false => weight.cast_unsigned(),
        };
        let list = edges
            .iter()
            .map(|&(from, to, weight)| [from, to, word(weight)]);
        let list = memory::collect(edges.len(), list).map_err(too_large)?;
        let graph = Self::from_list(nodes, list, undirected)?;
        Ok(match is_signed {
            true => graph.with_kind(WeightKind::Signed),
            false => graph,
        })
    }

    /// Works as [`from_float_edges`](Self::from_float_edges), with weights that may be negative.
    ///
    /// # Errors
    /// [`GraphError::BadWeight`] for a weight that is infinite or not a number; otherwise as for
    /// [`from_edges`](Self::from_edges).
    pub fn from_signed_float_edges(
        nodes: u32,
        edges: &[(u32, u32, f32)],
        undirected: bool,
    ) -> Result<Self, GraphError> {
        if edges.iter().all(|edge| edge.2 >= 0.0) {
            return Self::from_float_edges(nodes, edges, undirected);
        }
        let wrong = edges.iter().position(|edge| !edge.2.is_finite());
        if let Some(index) = wrong {
            let weight = edges[index].2;
            return Err(GraphError::BadWeight { index, weight });
        }
        let word = |&(from, to, weight): &(u32, u32, f32)| [from, to, weights::signed_word(weight)];
        let list = memory::collect(edges.len(), edges.iter().map(word)).map_err(too_large)?;
        let graph = Self::from_list(nodes, list, undirected)?;
        Ok(graph.with_kind(WeightKind::SignedFloat))
    }

    fn from_list<const N: usize>(
        nodes: u32,
        edges: build::Edges<N>,
        undirected: bool,
    ) -> Result<Self, GraphError>
    where
        [u32; N]: bytemuck::Pod,
    {
        check_counts(IN_MEMORY, u64::from(nodes), edges.len() as u64, undirected)?;
        for (index, edge) in edges.iter().enumerate() {
            if let Some(&node) = edge[..2].iter().find(|&&end| end >= nodes) {
                return Err(GraphError::EdgeOutOfRange { index, node, nodes });
            }
        }
        let built = build::rows(edges, nodes, Direction::of(undirected), Order::Weight);
        let (csr, counts) = built.map_err(too_large)?;
        let graph = Self::from_parts(csr, undirected, Ids::Offset(0));
        Ok(graph.with_counts(counts, Order::Weight))
    }

    /// Joins parts that were checked, without loops and parallel edges.
    pub(super) fn from_parts(outgoing: Csr, symmetric: bool, ids: Ids) -> Self {
        Self {
            nodes: outgoing.nodes(),
            edges: outgoing.edges(),
            has_weights: outgoing.weights().is_some(),
            outgoing: Arc::new(outgoing),
            incoming: OnceLock::new(),
            hash: OnceLock::new(),
            symmetric,
            kind: WeightKind::Integer,
            counts: Counts::default(),
            order: Order::Listed,
            ids,
            forms: Forms::default(),
            shortcuts: Shortcuts::default(),
            matched: OnceLock::new(),
            even: OnceLock::new(),
        }
    }

    /// Sets the number of loops and parallel edges, and the order of these.
    pub(super) fn with_counts(self, counts: Counts, order: Order) -> Self {
        Self {
            counts,
            order,
            ..self
        }
    }

    pub(super) fn with_kind(self, kind: WeightKind) -> Self {
        Self { kind, ..self }
    }

    /// Frees the rows on all threads, which saves a second for 10 GB.
    pub fn free(self) {
        let Some(rows) = Arc::into_inner(self.outgoing) else {
            return;
        };
        let Csr {
            offsets,
            targets,
            weights,
        } = rows;
        memory::free(offsets);
        memory::free(targets);
        weights.into_iter().for_each(memory::free);
    }

    /// Number of nodes.
    pub fn nodes(&self) -> u32 {
        self.nodes
    }

    /// Number of directed edges; an undirected edge counts twice, but a loop once.
    pub fn edges(&self) -> u32 {
        self.edges
    }

    /// Number of loops: edges from a node to itself.
    pub fn loops(&self) -> u32 {
        self.counts.loops
    }

    /// Number of edges beyond the first one with the same ends, counted as [`edges`](Self::edges)
    /// counts.
    pub fn parallel_edges(&self) -> u32 {
        self.counts.parallel
    }

    /// Returns whether there are no loops and no parallel edges.
    pub fn is_simple(&self) -> bool {
        self.loops() == 0 && self.parallel_edges() == 0
    }

    /// Whether parallel edges with weights are in the order of the source, instead of that of their
    /// weights.
    pub fn is_listed(&self) -> bool {
        self.order == Order::Listed
    }

    /// Row offsets: `nodes + 1` ascending indices into [`targets`](Self::targets).
    pub fn offsets(&self) -> &[u32] {
        self.outgoing.offsets()
    }

    /// Targets of all edges, row after row, ascending within a row.
    pub fn targets(&self) -> &[u32] {
        self.outgoing.targets()
    }

    /// One weight per edge in the order of [`targets`](Self::targets), if the graph has weights: a
    /// whole number or the bits of a float, see [`weight_kind`](Self::weight_kind).
    pub fn weights(&self) -> Option<&[u32]> {
        self.outgoing.weights()
    }

    /// Kind of the words of [`weights`](Self::weights), if the graph has any.
    pub fn weight_kind(&self) -> Option<WeightKind> {
        self.has_weights.then_some(self.kind)
    }

    /// Targets of one node, ascending; empty if there is no such node.
    pub fn neighbours(&self, node: u32) -> &[u32] {
        self.outgoing.neighbours(node)
    }

    /// The node with most outgoing edges, the first of them; `None` without nodes. Takes one pass
    /// over the row offsets.
    pub fn widest_node(&self) -> Option<u32> {
        let rows = (0..self.nodes()).zip(self.offsets().windows(2));
        let widest = rows.max_by_key(|(node, row)| (row[1] - row[0], std::cmp::Reverse(*node)));
        widest.map(|(node, _)| node)
    }

    /// Whether every edge is known to have its mirror image of the same weight.
    ///
    /// True for symmetric Matrix Market files, PACE files, `undirected` loads and the symmetric
    /// generators. A directed file that happens to list both directions of each edge is not
    /// searched; see [`has_all_images`](Self::has_all_images).
    pub fn is_symmetric(&self) -> bool {
        self.symmetric
    }

    /// Returns whether every edge has its mirror image of the same weight, also in a directed
    /// graph.
    ///
    /// Free for a symmetric graph. Otherwise the first call checks a few edges, and takes one pass
    /// over all of them if these have their images. A graph without some image passes with a chance
    /// of about 2^-64.
    pub fn has_all_images(&self) -> bool {
        self.symmetric
            || *self
                .matched
                .get_or_init(|| mirror::are_matched(&self.outgoing))
    }

    /// Returns the kind of the weights that steer a random walk: `None` without weights, and where
    /// all edges have the same one above 0, since a walk then follows each with the same chance.
    ///
    /// The first call reads weights up to one that differs from the first.
    pub fn steering_weights(&self) -> Option<WeightKind> {
        let kind = self.weight_kind()?;
        let is_even = || {
            let [first, rest @ ..] = self.weights().unwrap_or(&[]) else {
                return true;
            };
            // Of signed weights that are equal, all are negative.
            let is_unsigned = matches!(kind, WeightKind::Integer | WeightKind::Float);
            is_unsigned && *first > 0 && rest.iter().all(|weight| weight == first)
        };
        (!*self.even.get_or_init(is_even)).then_some(kind)
    }

    /// Rows of outgoing edges.
    pub fn outgoing(&self) -> &Csr {
        &self.outgoing
    }

    /// Rows of incoming edges: row `v` holds each `u` with an edge `u` to `v`, with its weight.
    ///
    /// A symmetric graph returns its own rows. Otherwise the first call builds the transpose on
    /// all threads, in time linear in edges and with the memory of a second graph; later calls are
    /// free. If there is no memory for it, the process ends as it does when a `Vec` finds none;
    /// [`try_incoming`](Self::try_incoming) returns an error.
    pub fn incoming(&self) -> &Csr {
        self.try_incoming().unwrap_or_else(|_| {
            handle_alloc_error(Layout::for_value(self.outgoing.targets()));
        })
    }

    /// Works as [`incoming`](Self::incoming).
    ///
    /// # Errors
    /// [`Shortage`] if there is not enough memory.
    pub fn try_incoming(&self) -> Result<&Csr, Shortage> {
        if self.symmetric {
            return Ok(&self.outgoing);
        }
        if let Some(rows) = self.incoming.get() {
            return Ok(rows);
        }
        let rows = self.outgoing.transpose()?;
        Ok(self.incoming.get_or_init(|| Arc::new(rows)))
    }

    /// Keeps the memory of the rows, those of incoming edges too if they were made, when the graph
    /// is dropped: for threads that may outlive it.
    pub fn keep_rows(&self) -> KeptRows {
        KeptRows {
            _outgoing: Arc::clone(&self.outgoing),
            _incoming: self.incoming.get().cloned(),
        }
    }

    /// Returns the id of a node in the file.
    pub fn original_id(&self, node: u32) -> u64 {
        self.ids.original(node)
    }

    /// Returns the node with this id in the file, if there is one. Takes at most 32 steps.
    pub fn node_of(&self, original: u64) -> Option<u32> {
        self.ids.node(original, self.nodes())
    }

    /// Hash of offsets, targets, weights and their kind, the same on every machine and for any number of threads.
    ///
    /// Equal graphs have equal hashes; ids in the file do not count. Costs one pass
    /// over the arrays the first time. Not a defence against forgery.
    pub fn layout_hash(&self) -> u64 {
        *self.hash.get_or_init(|| {
            let kind = self.weight_kind().map_or(0, |kind| kind as u64);
            let seed = u64::from(self.symmetric) | kind << 1;
            let rows = mix::hash_words(seed, self.offsets());
            let all = mix::hash_words(rows, self.targets());
            self.weights()
                .map_or(all, |weights| mix::hash_words(all, weights))
        })
    }

    /// Returns the same graph with a weight of 1 to 64 on each edge, drawn from the edge's ends
    /// and `seed`.
    ///
    /// Both directions of an edge get the same weight. Existing weights are replaced.
    ///
    /// # Errors
    /// [`GraphError::Memory`].
    pub fn with_drawn_weights(self, seed: u64) -> Result<Self, GraphError> {
        self.draw_weights(seed).map_err(too_large)
    }

    /// Works as [`with_drawn_weights`](Self::with_drawn_weights), for callers that name the graph.
    pub(super) fn draw_weights(self, seed: u64) -> Result<Self, Shortage> {
        let weights = drawn::draw_weights(&self.outgoing, 0, seed)?;
        Ok(self.with_weights(weights))
    }

    /// Returns the same graph with these whole weights, one per edge.
    pub(super) fn with_weights(self, weights: Vec<u32>) -> Self {
        self.map_rows(|rows| Csr {
            weights: Some(weights),
            ..rows
        })
    }

    /// Returns the same graph without weights.
    #[must_use]
    pub fn without_weights(self) -> Self {
        self.map_rows(|rows| Csr {
            weights: None,
            ..rows
        })
    }

    /// Returns the same graph with other rows, whose weights are whole numbers.
    pub(super) fn map_rows(self, rows: impl FnOnce(Csr) -> Csr) -> Self {
        let outgoing = Arc::unwrap_or_clone(self.outgoing);
        Self::from_parts(rows(outgoing), self.symmetric, self.ids)
            .with_counts(self.counts, self.order)
    }

    /// Returns the same graph with every edge in both directions, and the number of edges that had
    /// both already. Of two nodes and a weight, the edges are as many as in the direction that has
    /// more of them. Free if the graph is symmetric; otherwise memory is at most twice the result.
    ///
    /// # Errors
    /// [`GraphError::TooManyEdges`], naming `name`, if the edges exceed 32-bit offsets;
    /// [`GraphError::Memory`].
    pub(super) fn into_undirected(self, name: &str) -> Result<(Self, u64), GraphError> {
        if self.symmetric {
            return Ok((self, 0));
        }
        let mut csr = Arc::unwrap_or_clone(self.outgoing);
        let short = |short| GraphError::memory(name, short);
        let missing = Missing::of(&csr).map_err(short)?;
        let (edges, added) = (u64::from(csr.edges()), u64::from(missing.edges()));
        check_counts(name, 0, edges + added, false)?;
        let pairs = csr.edges() - self.counts.parallel + missing.new_pairs();
        missing.add_to(&mut csr, self.order).map_err(short)?;
        let counts = Counts {
            parallel: csr.edges() - pairs,
            ..self.counts
        };
        let graph = Self::from_parts(csr, true, self.ids).with_kind(self.kind);
        let mirrored = (edges - added - u64::from(counts.loops)) / 2;
        Ok((graph.with_counts(counts, self.order), mirrored))
    }

    /// Whether separate incoming rows are in memory already.
    pub fn has_incoming_rows(&self) -> bool {
        self.incoming.get().is_some()
    }

    /// Bytes of memory that the graph holds.
    pub fn memory_bytes(&self) -> usize {
        let incoming = self.incoming.get().map_or(0, |rows| rows.memory_bytes());
        let table = self.ids.bytes();
        self.outgoing.memory_bytes()
            + incoming
            + table
            + self.forms.bytes()
            + self.shortcuts.bytes()
    }

    /// Relation of node numbers to the file's ids.
    pub(super) fn ids(&self) -> &Ids {
        &self.ids
    }

    pub(super) fn ids_mut(&mut self) -> &mut Ids {
        &mut self.ids
    }
}

/// Name of a list of edges in errors.
pub(super) const IN_MEMORY: &str = "edges in memory";

pub(super) fn too_large(short: Shortage) -> GraphError {
    GraphError::memory(IN_MEMORY, short)
}

/// Checks that this many nodes and edges fit 32-bit arrays.
pub(super) fn check_counts(
    name: &str,
    nodes: u64,
    edges: u64,
    undirected: bool,
) -> Result<(), GraphError> {
    if nodes > MAX_NODES {
        return Err(GraphError::TooManyNodes {
            file: name.to_owned(),
            nodes,
            limit: MAX_NODES,
        });
    }
    let edges = if undirected {
        edges.saturating_mul(2)
    } else {
        edges
    };
    if edges > MAX_EDGES {
        return Err(GraphError::TooManyEdges {
            file: name.to_owned(),
            edges,
            limit: MAX_EDGES,
        });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_end_outside_the_graph_is_an_error_with_its_position() {
        let error = Graph::from_edges(3, &[(0, 1), (1, 3)], false).unwrap_err();
        assert_eq!(
            error.to_string(),
            "edge 1 ends at node 3, but there are 3 nodes, from 0"
        );
    }

    #[test]
    fn a_symmetric_graph_is_its_own_transpose() {
        let graph = Graph::from_edges(4, &[(0, 1), (1, 2), (3, 0)], true).unwrap();
        assert!(std::ptr::eq(graph.incoming(), graph.outgoing()));
        assert_eq!(
            graph.outgoing().transpose().unwrap().targets(),
            graph.targets()
        );
    }

    #[test]
    fn drawn_weights_agree_in_both_directions_and_change_the_hash() {
        let plain = Graph::from_edges(5, &[(0, 1), (1, 2), (3, 4), (0, 4)], true).unwrap();
        let hash = plain.layout_hash();
        let graph = plain.with_drawn_weights(3).unwrap();
        assert_ne!(graph.layout_hash(), hash);
        assert_eq!(
            graph.outgoing().transpose().unwrap().weights(),
            graph.weights()
        );
        assert!(
            graph
                .weights()
                .unwrap()
                .iter()
                .all(|w| (1..=64).contains(w))
        );
        assert_eq!(graph.without_weights().layout_hash(), hash);
    }

    #[test]
    fn float_weights_keep_their_kind_and_their_order() {
        let edges = [(0, 1, 2.5), (1, 2, -0.0), (0, 1, 0.5)];
        let graph = Graph::from_float_edges(3, &edges, false).unwrap();
        let bits = [0.5f32, 2.5].map(f32::to_bits);
        assert_eq!(graph.weights(), Some(&[bits[0], bits[1], 0][..]));
        let words = [(0, 1, bits[0]), (0, 1, bits[1]), (1, 2, 0)];
        let whole = Graph::from_weighted_edges(3, &words, false).unwrap();
        assert_eq!(whole.weight_kind(), Some(WeightKind::Integer));
        assert_ne!(graph.layout_hash(), whole.layout_hash());
        let (both, _) = graph.into_undirected("x").unwrap();
        assert_eq!(both.weight_kind(), Some(WeightKind::Float));
        assert_eq!(both.without_weights().weight_kind(), None);
    }

    #[test]
    fn float_weights_in_memory_are_finite_and_not_negative() {
        for weight in [-1.0, f32::NAN, f32::INFINITY] {
            let edges = [(0, 1, 1.0), (1, 0, weight)];
            let error = Graph::from_float_edges(2, &edges, false).unwrap_err();
            assert!(error.to_string().starts_with("edge 1 has the weight"));
        }
    }

    #[test]
    fn counts_beyond_32_bits_are_typed_errors() {
        assert!(matches!(
            check_counts("x", 1 << 32, 0, false),
            Err(GraphError::TooManyNodes { .. })
        ));
        assert!(matches!(
            check_counts("x", 5, 1 << 31, true),
            Err(GraphError::TooManyEdges { .. })
        ));
        assert!(check_counts("x", 5, 1 << 31, false).is_ok());
        assert!(matches!(
            check_counts("x", 5, u64::MAX, true),
            Err(GraphError::TooManyEdges { .. })
        ));
    }
}
