//! The cut of a graph: ranges of nodes, and the edges that lead to each.

use super::sliced::slice;
use crate::backend::multi::DeviceEdges;
use crate::backend::share::first_node;
use crate::graph::disk::Rows;
use crate::graph::memory::{Shortage, zeroed};
use crate::graph::{Csr, Graph, WeightKind};
use rayon::prelude::*;
use seawall_core::abi::multi::CUT;
use std::borrow::Cow;

/// Rows that a thread takes at a time.
const ROWS: usize = 1 << 14;

/// Directions in which an analysis walks edges.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Walks {
    /// From nodes to those from which edges lead to them.
    pub(super) back: bool,
    /// Along edges.
    pub(super) forth: bool,
    /// With their weights.
    pub(super) weights: bool,
    /// Back by slices of as many sources, as a power of two.
    pub(super) slices: Option<u32>,
}

/// The sizes of rows: of a graph, or of one whose edges are in parts.
#[derive(Clone, Copy)]
pub(super) enum Sizes<'g> {
    /// A graph, and its incoming edges.
    Graph(&'g Graph, &'g Csr),
    /// Offsets of outgoing and of incoming rows.
    Rows {
        outgoing: &'g Rows,
        incoming: &'g Rows,
        is_symmetric: bool,
        /// Kind of the weights that are followed, if any are.
        kind: Option<WeightKind>,
    },
}

impl Sizes<'_> {
    pub(super) fn nodes(self) -> u32 {
        match self {
            Self::Graph(graph, _) => graph.nodes(),
            Self::Rows { outgoing, .. } => outgoing.len(),
        }
    }

    pub(super) fn edges(self) -> u64 {
        match self {
            Self::Graph(graph, _) => u64::from(graph.edges()),
            Self::Rows { outgoing, .. } => outgoing.edges(),
        }
    }

    /// Edges that leave a node.
    pub(super) fn degree(self, node: u32) -> u32 {
        match self {
            Self::Graph(graph, _) => graph.outgoing().degree(node),
            Self::Rows { outgoing, .. } => outgoing.degree(node),
        }
    }

    /// Edges that lead to nodes before this one.
    pub(super) fn edges_before(self, node: u32) -> u64 {
        match self {
            Self::Graph(_, incoming) => u64::from(incoming.offsets()[node as usize]),
            Self::Rows { incoming, .. } => incoming.start(node),
        }
    }

    pub(super) fn weight_kind(self) -> Option<WeightKind> {
        match self {
            Self::Graph(graph, _) => graph.weight_kind(),
            Self::Rows { kind, .. } => kind,
        }
    }

    pub(super) fn is_symmetric(self) -> bool {
        match self {
            Self::Graph(graph, _) => graph.is_symmetric(),
            Self::Rows { is_symmetric, .. } => is_symmetric,
        }
    }
}

/// First nodes of `devices` ranges and the number of nodes, so that about as many edges lead to each
/// range. Ranges begin at multiples of [`CUT`], and may be empty.
pub(super) fn cuts(sizes: Sizes<'_>, devices: u32) -> Vec<u32> {
    let nodes = sizes.nodes();
    // A node costs about as much as an edge.
    let cost = |node: u32| sizes.edges_before(node) + u64::from(node);
    let all = u128::from(cost(nodes));
    let mut cuts = vec![0];
    for device in 1..devices {
        let wanted = (all * u128::from(device) / u128::from(devices)) as u64;
        let first = first_node(nodes, |node| cost(node) >= wanted);
        let rounded = (u64::from(first) + u64::from(CUT / 2)) / u64::from(CUT) * u64::from(CUT);
        let cut = rounded.min(u64::from(nodes / CUT * CUT)) as u32;
        cuts.push(cut.max(cuts[cuts.len() - 1]));
    }
    cuts.push(nodes);
    cuts
}

/// First nodes of `devices` ranges and the number of nodes, so that ranges have about as many nodes each;
/// they begin at multiples of [`CUT`].
pub(super) fn even_cuts(nodes: u32, devices: u32) -> Vec<u32> {
    let blocks = u64::from(nodes.div_ceil(CUT));
    let first = |device: u32| {
        let block = blocks * u64::from(device) / u64::from(devices.max(1));
        (block * u64::from(CUT)).min(u64::from(nodes)) as u32
    };
    (0..=devices.max(1)).map(first).collect()
}

/// The edges that lead to the nodes from `first` up to `end`. Work O(n + m).
pub(super) fn edges_of<'g>(
    graph: &'g Graph,
    incoming: &'g Csr,
    [first, end]: [u32; 2],
    walks: Walks,
) -> Result<DeviceEdges<'g>, Shortage> {
    let mut edges = DeviceEdges::default();
    let own = (end - first) as usize;
    edges.degrees = zeroed(own)?;
    let degree = |(at, degree): (usize, &mut u32)| {
        *degree = graph.outgoing().degree(first + at as u32);
    };
    edges.degrees.par_iter_mut().enumerate().for_each(degree);
    if walks.back {
        let rows = &incoming.offsets()[first as usize..=end as usize];
        let start = rows[0];
        edges.in_offsets = zeroed(own + 1)?;
        let places = edges.in_offsets.par_iter_mut().zip(rows);
        places.for_each(|(to, from)| *to = from - start);
        let sources = &incoming.targets()[start as usize..rows[own] as usize];
        edges.in_sources = Cow::Borrowed(sources);
        if let Some(width_log2) = walks.slices {
            slice(&mut edges, graph.nodes(), width_log2)?;
        }
    }
    if walks.forth {
        forth(graph, [first, end], walks.weights, &mut edges)?;
    }
    Ok(edges)
}

/// The edges that lead to the nodes from `first` on, of which `part` has the rows. Work O(n + m') for
/// m' of them.
pub(super) fn edges_of_part<'g>(
    part: Cow<'g, Csr>,
    sizes: Sizes<'_>,
    first: u32,
    walks: Walks,
) -> Result<DeviceEdges<'g>, Shortage> {
    let mut edges = DeviceEdges {
        degrees: zeroed(part.nodes() as usize)?,
        ..DeviceEdges::default()
    };
    for (degree, node) in edges.degrees.iter_mut().zip(first..) {
        *degree = sizes.degree(node);
    }
    if walks.forth {
        let forth = part.transpose_part(first, sizes.nodes(), walks.weights)?;
        let (offsets, targets, weights) = forth.into_arrays();
        (edges.out_offsets, edges.out_targets) = (offsets, targets);
        edges.out_weights = weights.unwrap_or_default();
    }
    if walks.back {
        match part {
            Cow::Owned(part) => {
                let (offsets, sources, _) = part.into_arrays();
                (edges.in_offsets, edges.in_sources) = (offsets, Cow::Owned(sources));
            }
            Cow::Borrowed(part) => {
                edges.in_offsets = part.offsets().to_vec();
                edges.in_sources = Cow::Borrowed(part.targets());
            }
        }
        if let Some(width_log2) = walks.slices {
            slice(&mut edges, sizes.nodes(), width_log2)?;
        }
    }
    Ok(edges)
}

/// Rows of all nodes, with the edges to the nodes of a range alone.
fn forth(
    graph: &Graph,
    [first, end]: [u32; 2],
    weights: bool,
    edges: &mut DeviceEdges<'_>,
) -> Result<(), Shortage> {
    let rows = graph.outgoing();
    let within = |node: u32| {
        let row = rows.row(node);
        let targets = &rows.targets()[row.clone()];
        let from = row.start + targets.partition_point(|to| *to < first);
        let to = row.start + targets.partition_point(|to| *to < end);
        from..to
    };
    let nodes = rows.nodes() as usize;
    edges.out_offsets = zeroed(nodes + 1)?;
    let counts = edges.out_offsets[1..].par_iter_mut().enumerate();
    counts.for_each(|(node, count)| *count = within(node as u32).len() as u32);
    let mut sum = 0;
    for offset in &mut edges.out_offsets {
        sum += *offset;
        *offset = sum;
    }
    let fill = |from: &[u32]| -> Result<Vec<u32>, Shortage> {
        let mut to: Vec<u32> = zeroed(sum as usize)?;
        let mut parts = Vec::new();
        let mut rest: &mut [u32] = &mut to;
        for start in (0..nodes).step_by(ROWS) {
            let last = nodes.min(start + ROWS);
            let words = edges.out_offsets[last] - edges.out_offsets[start];
            let part = rest.split_off_mut(..words as usize).unwrap_or_default();
            parts.push((start..last, part));
        }
        parts.into_par_iter().for_each(|(nodes, part)| {
            let mut at = 0;
            for node in nodes {
                let range = within(node as u32);
                let end = at + range.len();
                part[at..end].copy_from_slice(&from[range]);
                at = end;
            }
        });
        Ok(to)
    };
    edges.out_targets = fill(rows.targets())?;
    if let Some(from) = rows.weights().filter(|_| weights) {
        edges.out_weights = fill(from)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn graph() -> impl Strategy<Value = Graph> {
        let edges = prop::collection::vec((0..5000_u32, 0..5000_u32, 1..9_u32), 0..400);
        edges.prop_map(|edges| Graph::from_weighted_edges(5000, &edges, false).unwrap())
    }

    #[test]
    fn rows_of_more_than_32_bits_are_cut_evenly() {
        let nodes = 1_u32 << 14;
        let all = 5_u64 << 32;
        let start = |row| all * u64::from(row) / u64::from(nodes);
        let rows = Rows::collect(nodes, (0..=nodes).map(start)).unwrap();
        let sizes = Sizes::Rows {
            outgoing: &rows,
            incoming: &rows,
            is_symmetric: true,
            kind: None,
        };
        assert_eq!(sizes.edges(), all);
        let cuts = cuts(sizes, 4);
        assert_eq!(cuts, [0, 1 << 12, 1 << 13, 3 << 12, 1 << 14]);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(40))]

        #[test]
        fn every_edge_is_on_the_device_of_its_end(graph in graph(), devices in 1..6_u32) {
            let incoming = graph.incoming();
            let cuts = cuts(Sizes::Graph(&graph, incoming), devices);
            prop_assert_eq!(cuts.len() as u32, devices + 1);
            let walks = Walks { back: true, forth: true, weights: true, slices: None };
            let mut all = Vec::new();
            for range in cuts.windows(2) {
                let range = [range[0], range[1]];
                prop_assert!(range[0] <= range[1] && range[0] % 32 == 0);
                let edges = edges_of(&graph, incoming, range, walks).unwrap();
                prop_assert_eq!(edges.in_sources.len(), edges.out_targets.len());
                let mut back = Vec::new();
                for own in range[0]..range[1] {
                    let at = (own - range[0]) as usize;
                    let row = edges.in_offsets[at] as usize..edges.in_offsets[at + 1] as usize;
                    back.extend(edges.in_sources[row].iter().map(|from| (*from, own)));
                    prop_assert_eq!(edges.degrees[at], graph.outgoing().degree(own));
                }
                let mut forth = Vec::new();
                for from in 0..graph.nodes() {
                    let [start, end] = [0, 1].map(|k| edges.out_offsets[from as usize + k] as usize);
                    for at in start..end {
                        let to = edges.out_targets[at];
                        prop_assert!((range[0]..range[1]).contains(&to));
                        forth.push((from, to));
                        all.push((from, to, edges.out_weights[at]));
                    }
                }
                back.sort_unstable();
                forth.sort_unstable();
                prop_assert_eq!(back, forth);
            }
            let mut wanted = Vec::new();
            for from in 0..graph.nodes() {
                for at in graph.outgoing().row(from) {
                    wanted.push((from, graph.targets()[at], graph.weights().unwrap()[at]));
                }
            }
            all.sort_unstable();
            wanted.sort_unstable();
            prop_assert_eq!(all, wanted);
        }
    }
}
