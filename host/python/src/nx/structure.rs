//! Components, cores, colours, trees and communities whose results depend on an order, and plain
//! loops for graphs so small that the library's analyses take longer to open than they run.

use super::rows::{ROWS_AHEAD, Rows};
use super::search::NONE;

/// Returns the strongly connected components in the order in which Tarjan's search, with
/// Nuutila's changes, finishes them.
pub(crate) fn strong_components(rows: &Rows) -> Vec<Vec<u32>> {
    let nodes = rows.nodes();
    let (mut number, mut low) = (vec![0_u32; nodes], vec![0_u32; nodes]);
    let mut next: Vec<usize> = rows.offsets[..nodes].to_vec();
    let mut is_found = vec![false; nodes];
    let (mut stack, mut waiting) = (Vec::new(), Vec::new());
    let mut found = Vec::new();
    let mut last = 0;
    for source in rows.all() {
        if is_found[source as usize] {
            continue;
        }
        stack.push(source);
        while let Some(&node) = stack.last() {
            let own = node as usize;
            if number[own] == 0 {
                last += 1;
                number[own] = last;
            }
            let end = rows.offsets[own + 1];
            let unseen = (next[own]..end).find(|at| number[rows.targets[*at] as usize] == 0);
            next[own] = unseen.map_or(end, |at| at + 1);
            if let Some(at) = unseen {
                stack.push(rows.targets[at]);
                continue;
            }
            low[own] = number[own];
            for &other in rows.of(node) {
                let other = other as usize;
                if !is_found[other] {
                    let reach = if number[other] > number[own] {
                        low[other]
                    } else {
                        number[other]
                    };
                    low[own] = low[own].min(reach);
                }
            }
            stack.pop();
            if low[own] != number[own] {
                waiting.push(node);
                continue;
            }
            let mut component = vec![node];
            while let Some(&other) = waiting.last()
                && number[other as usize] > number[own]
            {
                component.push(other);
                waiting.pop();
            }
            for &member in &component {
                is_found[member as usize] = true;
            }
            found.push(component);
        }
    }
    found
}

/// Returns for every node the first node of its component, directions ignored.
pub(crate) fn components(rows: &Rows) -> Vec<u32> {
    let mut root: Vec<u32> = rows.all().collect();
    for node in rows.all() {
        for &next in rows.of(node) {
            let (a, b) = (find(&mut root, node), find(&mut root, next));
            root[a.max(b) as usize] = a.min(b);
        }
    }
    rows.all().map(|node| find(&mut root, node)).collect()
}

/// Returns the triangles at every node of an undirected graph without parallel edges; loops are no
/// sides. Each edge is followed to its end of more neighbours, so that hubs are not searched again
/// and again.
pub(crate) fn triangles(rows: &Rows) -> Vec<u64> {
    let degrees: Vec<u32> = rows.all().map(|node| rows.degree(node) as u32).collect();
    let rank = |node: u32| (degrees[node as usize], node);
    let mut later = Rows {
        offsets: Vec::with_capacity(rows.offsets.len()),
        targets: Vec::with_capacity(rows.targets.len() / 2),
    };
    later.offsets.push(0);
    for node in rows.all() {
        let own = rank(node);
        let larger = rows.of(node).iter().filter(|next| rank(**next) > own);
        later.targets.extend(larger);
        later.offsets.push(later.targets.len());
    }
    let mut counts = vec![0; rows.nodes()];
    let mut seen_from = vec![NONE; rows.nodes()];
    for node in rows.all() {
        for &next in later.of(node) {
            seen_from[next as usize] = node;
        }
        for &next in later.of(node) {
            for &third in later.of(next) {
                if seen_from[third as usize] == node {
                    for corner in [node, next, third] {
                        counts[corner as usize] += 1;
                    }
                }
            }
        }
    }
    counts
}

/// Returns the core number of every node, edges in both directions of a directed graph counted each
/// (Batagelj and Zaversnik, 2003). Linear in nodes and edges.
pub(crate) fn core_numbers(rows: &Rows, back: Option<&Rows>) -> Vec<usize> {
    let before = |node: u32| back.map_or(&[][..], |back| back.of(node));
    let mut core: Vec<usize> = rows
        .all()
        .map(|v| rows.degree(v) + before(v).len())
        .collect();
    let most = core.iter().copied().max().unwrap_or(0);
    let mut bins = vec![0_usize; most + 2];
    for &degree in &core {
        bins[degree + 1] += 1;
    }
    for degree in 1..bins.len() {
        bins[degree] += bins[degree - 1];
    }
    let mut nodes: Vec<u32> = rows.all().collect();
    nodes.sort_by_key(|node| core[*node as usize]);
    let mut position = vec![0_usize; nodes.len()];
    for (at, &node) in nodes.iter().enumerate() {
        position[node as usize] = at;
    }
    for at in 0..nodes.len() {
        let node = nodes[at];
        for &next in rows.of(node).iter().chain(before(node)) {
            let degree = core[next as usize];
            if degree > core[node as usize] {
                let (first, place) = (bins[degree], position[next as usize]);
                let other = nodes[first];
                nodes.swap(first, place);
                position[next as usize] = first;
                position[other as usize] = place;
                bins[degree] += 1;
                core[next as usize] -= 1;
            }
        }
    }
    core
}

/// Returns nodes by falling degree, and for every node the least colour that no neighbour before it
/// has.
pub(crate) fn largest_first(rows: &Rows) -> (Vec<u32>, Vec<u32>) {
    let loops = |node: u32| rows.of(node).iter().filter(|next| **next == node).count();
    let keyed = rows.all().map(|v| (rows.degree(v) + loops(v), v)).collect();
    let nodes = sorted_by_key(keyed, |entry: &(usize, u32)| !(entry.0 as u64));
    let nodes: Vec<u32> = nodes.into_iter().map(|entry| entry.1).collect();
    let mut colour = vec![NONE; rows.nodes()];
    // The same in a byte, where it is one of the least colours: these stay in the caches.
    let mut low = vec![u8::MAX; rows.nodes()];
    let mut taken = Vec::new();
    for ahead in nodes.chunks(ROWS_AHEAD) {
        rows.touch(ahead);
        for &node in ahead {
            let mut seen = 0_u64;
            for &next in rows.of(node) {
                let own = u32::from(low[next as usize]);
                seen |= u64::from(own < LOW_COLOURS) << (own % LOW_COLOURS);
            }
            let free = match seen.trailing_ones() {
                LOW_COLOURS => free_colour(rows, &colour, &mut taken, node),
                free => free,
            };
            colour[node as usize] = free;
            if free < LOW_COLOURS {
                low[node as usize] = free as u8;
            }
        }
    }
    (nodes, colour)
}

const LOW_COLOURS: u32 = u64::BITS;

/// The least colour that no neighbour has; `taken` names for each colour the last node that saw it.
fn free_colour(rows: &Rows, colour: &[u32], taken: &mut Vec<u32>, node: u32) -> u32 {
    let degree = rows.degree(node);
    if taken.len() <= degree {
        taken.resize(degree + 1, NONE);
    }
    for &next in rows.of(node) {
        if let Some(slot) = taken.get_mut(colour[next as usize] as usize) {
            *slot = node;
        }
    }
    let free = taken.iter().position(|slot| *slot != node);
    free.unwrap_or(taken.len()) as u32
}

/// Returns the label of every node by semi-synchronous propagation (Cordasco and Gargano, 2010),
/// colour by colour until every label is one of the most frequent around it.
pub(crate) fn propagated_labels(rows: &Rows) -> Vec<u32> {
    let (nodes, colours) = largest_first(rows);
    let mut order: Vec<u32> = Vec::new();
    let mut groups: Vec<Vec<u32>> = Vec::new();
    for node in nodes {
        let colour = colours[node as usize];
        match order.iter().position(|known| *known == colour) {
            Some(at) => groups[at].push(node),
            None => {
                order.push(colour);
                groups.push(vec![node]);
            }
        }
    }
    let mut labels: Vec<u32> = rows.all().collect();
    let mut votes = vec![0_u32; rows.nodes()];
    loop {
        let is_complete = rows.all().all(|node| {
            let best = best_labels(rows, &labels, &mut votes, node);
            best.is_none_or(|(_, has_own)| has_own)
        });
        if is_complete {
            return labels;
        }
        for &node in groups.iter().flatten() {
            if let Some((largest, has_own)) = best_labels(rows, &labels, &mut votes, node)
                && !has_own
            {
                labels[node as usize] = largest;
            }
        }
    }
}

/// The largest of the most frequent labels around `node`, and whether its own is one of them;
/// `None` without neighbours. Leaves `votes` at 0.
fn best_labels(rows: &Rows, labels: &[u32], votes: &mut [u32], node: u32) -> Option<(u32, bool)> {
    let mut best: Option<(u32, u32)> = None;
    for &next in rows.of(node) {
        let label = labels[next as usize];
        votes[label as usize] += 1;
        let found = (votes[label as usize], label);
        best = Some(best.map_or(found, |best| best.max(found)));
    }
    let own = votes[labels[node as usize] as usize];
    for &next in rows.of(node) {
        votes[labels[next as usize] as usize] = 0;
    }
    best.map(|(most, label)| (label, own == most))
}

/// Returns the edges of a spanning forest, as Kruskal's algorithm finds them in the order of
/// `key(place)`, equal ones in the order of their places.
pub(crate) fn kruskal(rows: &Rows, key: impl Fn(usize) -> u64) -> Vec<(u32, u32)> {
    let mut edges = Vec::with_capacity(rows.targets.len() / 2 + 1);
    for node in rows.all() {
        for place in rows.range(node) {
            if rows.targets[place] >= node {
                edges.push((key(place), node, rows.targets[place]));
            }
        }
    }
    let edges = sorted_by_key(edges, |edge| edge.0);
    let mut root: Vec<u32> = rows.all().collect();
    let mut forest = Vec::with_capacity(rows.nodes());
    for (_, from, to) in edges {
        if forest.len() + 1 >= rows.nodes() {
            break;
        }
        let (a, b) = (find(&mut root, from), find(&mut root, to));
        if a != b {
            root[a.max(b) as usize] = a.min(b);
            forest.push((from, to));
        }
    }
    forest
}

/// Returns the edges between the nodes of `order`, each at the first of its ends.
pub(crate) fn induced(rows: &Rows, order: &[u32]) -> Vec<(u32, u32)> {
    let mut place = vec![NONE; rows.nodes()];
    for (at, &node) in (0..).zip(order) {
        place[node as usize] = at;
    }
    let mut edges = Vec::new();
    for (at, &node) in (0..).zip(order) {
        let later = rows.of(node).iter().filter(|next| {
            let other = place[**next as usize];
            other >= at && other != NONE
        });
        edges.extend(later.map(|next| (node, *next)));
    }
    edges
}

/// Sorts by a word, equal ones in the order that they have: by counting, where the words are no
/// farther apart than there are entries.
fn sorted_by_key<T: Copy>(mut entries: Vec<T>, key: impl Fn(&T) -> u64) -> Vec<T> {
    let keys = entries.iter().map(&key);
    let (least, most) = keys.fold((u64::MAX, 0), |(a, b), key| (a.min(key), b.max(key)));
    let spread = most.saturating_sub(least);
    if spread >= entries.len() as u64 {
        entries.sort_by_key(key);
        return entries;
    }
    let mut next = vec![0_usize; spread as usize + 2];
    for entry in &entries {
        next[(key(entry) - least) as usize + 1] += 1;
    }
    for at in 1..next.len() {
        next[at] += next[at - 1];
    }
    let mut sorted = entries.clone();
    for entry in &entries {
        let slot = &mut next[(key(entry) - least) as usize];
        sorted[*slot] = *entry;
        *slot += 1;
    }
    sorted
}

/// Returns a word whose order is that of whole numbers.
pub(crate) fn key_of_whole(weight: i64) -> u64 {
    weight as u64 ^ (1 << 63)
}

/// Returns a word whose order is that of floats without NaN; both zeroes are alike.
pub(crate) fn key_of_real(weight: f64) -> u64 {
    let bits = (weight + 0.0).to_bits();
    if bits >> 63 == 0 {
        bits ^ (1 << 63)
    } else {
        !bits
    }
}

pub(crate) fn find(root: &mut [u32], mut node: u32) -> u32 {
    while root[node as usize] != node {
        let above = root[root[node as usize] as usize];
        root[node as usize] = above;
        node = above;
    }
    node
}

/// Returns the generations of a directed graph: nodes all of whose predecessors are in earlier
/// ones. Nodes on a circle, and behind one, are in none.
pub(crate) fn generations(rows: &Rows) -> Vec<Vec<u32>> {
    let mut missing = vec![0_u32; rows.nodes()];
    for &next in &rows.targets {
        missing[next as usize] += 1;
    }
    let mut now: Vec<u32> = rows.all().filter(|v| missing[*v as usize] == 0).collect();
    let mut found = Vec::new();
    while !now.is_empty() {
        let mut later = Vec::new();
        for &node in &now {
            for &next in rows.of(node) {
                missing[next as usize] -= 1;
                if missing[next as usize] == 0 {
                    later.push(next);
                }
            }
        }
        found.push(std::mem::replace(&mut now, later));
    }
    found
}

/// Nodes in some order, from which some go; the others can be found by their place among those left.
#[derive(Debug)]
pub(crate) struct Order {
    pub(crate) nodes: Vec<u32>,
    pub(crate) ranks: Ranks,
    /// Place of each node, [`NONE`] of those that are not there.
    places: Vec<u32>,
}

impl Order {
    /// Takes `nodes` of a graph of `count` nodes.
    pub(crate) fn new(nodes: Vec<u32>, count: usize) -> Self {
        let mut places = vec![NONE; count];
        for (place, &node) in (0..).zip(&nodes) {
            places[node as usize] = place;
        }
        let ranks = Ranks::new(nodes.len());
        Self {
            nodes,
            ranks,
            places,
        }
    }

    /// Removes a node; tells whether it was there.
    pub(crate) fn remove(&mut self, node: u32) -> bool {
        let place = std::mem::replace(&mut self.places[node as usize], NONE);
        if place != NONE {
            self.ranks.remove(place as usize);
        }
        place != NONE
    }
}

/// Places, of which some are removed, with sums of those left (Fenwick, 1994).
#[derive(Debug)]
pub(crate) struct Ranks(Vec<u32>);

impl Ranks {
    fn new(places: usize) -> Self {
        Self((1..=places).map(|at| 1 << at.trailing_zeros()).collect())
    }

    fn remove(&mut self, place: usize) {
        let mut at = place + 1;
        while let Some(sum) = self.0.get_mut(at - 1) {
            *sum -= 1;
            at += at & at.wrapping_neg();
        }
    }

    /// The place that so many of those left are before. Logarithmic.
    pub(crate) fn find(&self, before: usize) -> usize {
        let (mut at, mut rest) = (0, before);
        let mut step = (self.0.len() + 1).next_power_of_two();
        while step != 0 {
            match self.0.get(at + step - 1) {
                Some(sum) if *sum as usize <= rest => {
                    rest -= *sum as usize;
                    at += step;
                }
                _ => (),
            }
            step /= 2;
        }
        at
    }
}
