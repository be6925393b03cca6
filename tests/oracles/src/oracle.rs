//! Expected results of analyses, computed from the drawn edges.
//!
//! Nothing here is shared with the programs or with the sequential implementations of `--check`:
//! searches advance whole levels over plain adjacency lists, components are sets joined by edges.

use crate::graphs::EdgeList;
use seawall::outcome::Column;
use std::collections::BTreeSet;

/// Edges from the nearest source to each node; [`Column::UNREACHED`] where
/// there is no path or more than `max_levels` edges are needed.
#[must_use]
pub fn levels(list: &EdgeList, sources: &[u32], max_levels: u32) -> Vec<u32> {
    let rows = list.adjacency(false);
    let mut levels = vec![Column::UNREACHED; list.nodes as usize];
    let mut frontier = sources.to_vec();
    let mut level = 0;
    while !frontier.is_empty() {
        let mut next = Vec::new();
        for node in frontier {
            if levels[node as usize] == Column::UNREACHED {
                levels[node as usize] = level;
                next.extend(&rows[node as usize]);
            }
        }
        frontier = if level < max_levels { next } else { Vec::new() };
        level += 1;
    }
    levels
}

/// 1 at each node within `max_levels` edges of a source, 0 elsewhere.
#[must_use]
pub fn reached(list: &EdgeList, sources: &[u32], max_levels: u32) -> Vec<u32> {
    let levels = levels(list, sources, max_levels);
    levels
        .iter()
        .map(|level| u32::from(*level != Column::UNREACHED))
        .collect()
}

/// Parent of each node by the levels of a search: the smallest node one level
/// before it with an edge to it, itself at level 0.
#[must_use]
pub fn parents(list: &EdgeList, levels: &[u32]) -> Vec<u32> {
    let mut parents = vec![Column::UNREACHED; list.nodes as usize];
    let back = list.edges.iter().map(|&(from, to)| (to, from));
    let back = back.filter(|_| list.undirected);
    for (from, to) in list.edges.iter().copied().chain(back) {
        let (above, level) = (levels[from as usize], levels[to as usize]);
        if level != Column::UNREACHED && level.checked_sub(1) == Some(above) {
            parents[to as usize] = parents[to as usize].min(from);
        }
    }
    for (node, level) in (0..list.nodes).zip(levels) {
        if *level == 0 {
            parents[node as usize] = node;
        }
    }
    parents
}

/// For each node a set of the sources within `max_levels` edges, one bit per source and an even
/// number of words, at least two.
#[must_use]
pub fn reached_from(list: &EdgeList, sources: &[u32], max_levels: u32) -> Vec<u32> {
    let words = 2 * sources.len().div_ceil(64).max(1);
    let mut sets = vec![0; list.nodes as usize * words];
    for (number, source) in sources.iter().enumerate() {
        let reached = reached(list, &[*source], max_levels);
        for (node, flag) in reached.into_iter().enumerate() {
            sets[node * words + number / 32] |= flag << (number % 32);
        }
    }
    sets
}

/// Smallest node of each node's component, ignoring directions.
#[must_use]
pub fn components(list: &EdgeList) -> Vec<u32> {
    let mut parents: Vec<u32> = (0..list.nodes).collect();
    for &(from, to) in &list.edges {
        let (a, b) = (root(&mut parents, from), root(&mut parents, to));
        parents[a.max(b) as usize] = a.min(b);
    }
    (0..list.nodes)
        .map(|node| root(&mut parents, node))
        .collect()
}

fn root(parents: &mut [u32], mut node: u32) -> u32 {
    while parents[node as usize] != node {
        parents[node as usize] = parents[parents[node as usize] as usize];
        node = parents[node as usize];
    }
    node
}

/// Number of triangles at each node, ignoring directions.
#[must_use]
pub fn triangles(list: &EdgeList) -> Vec<u32> {
    let mut later = vec![BTreeSet::new(); list.nodes as usize];
    for &(from, to) in list.edges.iter().filter(|(from, to)| from != to) {
        later[from.min(to) as usize].insert(from.max(to));
    }
    let mut corners = vec![0; list.nodes as usize];
    for (first, ends) in later.iter().enumerate() {
        for second in ends {
            for third in later[*second as usize].intersection(ends) {
                for corner in [first, *second as usize, *third as usize] {
                    corners[corner] += 1;
                }
            }
        }
    }
    corners
}

/// Largest number of kept edges of a node that visits only them.
const FEW: usize = 32;

/// The nodes at which a triple is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Corners {
    /// All three nodes.
    All,
    /// The node whose kept edges lead to the two others.
    First,
}

/// Triples that the triangle waves count, at their nodes: an edge and a third node to which both of
/// its ends have kept edges. An edge is kept if it is listed towards the node of more listed edges,
/// or of equally many and higher number. Each node visits its kept edges, up to nodes that have as
/// many as it or `FEW`. With more than `FEW` it also visits its other edges, to nodes that have
/// fewer. Kept edges of hubs, the nodes of `hub` listed edges or more, are visited only from the
/// lower end, however many they are. In undirected graphs these triples are the triangles, each
/// found once.
#[must_use]
pub fn oriented_triangles(list: &EdgeList, corners: Corners, hub: usize) -> Vec<u32> {
    let rows = rows_of(list);
    let place = |node: u32| (rows[node as usize].len(), node);
    let is_hub = |node: u32| place(node).0 >= hub;
    let kept = |from: u32| -> BTreeSet<u32> {
        let row = rows[from as usize].iter().copied();
        row.filter(|to| place(*to) > place(from)).collect()
    };
    let kept: Vec<_> = (0..list.nodes).map(kept).collect();
    let length = |node: u32| kept[node as usize].len();
    let mut counts = vec![0; rows.len()];
    for (first, second) in
        (0..list.nodes).flat_map(|node| rows[node as usize].iter().map(move |to| (node, *to)))
    {
        let is_kept = place(second) > place(first);
        let looks = match (is_hub(first), is_hub(second)) {
            (_, true) => is_kept,
            (true, false) => false,
            _ if is_kept => length(second) <= length(first).max(FEW),
            _ => length(first) > FEW && length(second) < length(first),
        };
        if !looks {
            continue;
        }
        let (low, high) = if is_kept {
            (first, second)
        } else {
            (second, first)
        };
        for third in kept[first as usize].intersection(&kept[second as usize]) {
            count(&mut counts, [low, high, *third], corners);
        }
    }
    counts
}

fn count(counts: &mut [u32], nodes: [u32; 3], corners: Corners) {
    let counted = match corners {
        Corners::All => 3,
        Corners::First => 1,
    };
    for corner in nodes.into_iter().take(counted) {
        counts[corner as usize] += 1;
    }
}

/// The ends of the edges that each node has in the list.
fn rows_of(list: &EdgeList) -> Vec<BTreeSet<u32>> {
    let mut rows = vec![BTreeSet::new(); list.nodes as usize];
    for &(from, to) in list.edges.iter().filter(|(from, to)| from != to) {
        rows[from as usize].insert(to);
        if list.undirected {
            rows[to as usize].insert(from);
        }
    }
    rows
}
