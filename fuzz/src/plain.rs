//! A plain reader of text graphs, for ordinary texts.
//!
//! It shares nothing with the product's reader: it puts the lines of a whole text, one after the
//! other, into a map. Texts that it does not understand are not findings; all others the product
//! must read in the same way.

use std::collections::{BTreeMap, BTreeSet};

/// A graph by the ids of its file.
#[derive(Debug, Default)]
pub struct Plain {
    /// Ids of all nodes; `None` if the nodes are the ids that occur.
    pub nodes: BTreeSet<u64>,
    /// The weights of all listed edges with the same ends; 1 if there are none.
    edges: BTreeMap<(u64, u64), Vec<u32>>,
    /// Whether every line has a weight.
    pub weighted: bool,
    both: bool,
    /// Whether edges are listed at both ends, loops twice.
    at_both_ends: bool,
}

/// Most nodes of a header that this reader accepts.
const NODES_MAX: u64 = 1 << 12;

impl Plain {
    /// Reads `text`, the content of a file of this name; returns `None` for a text that this reader
    /// does not understand.
    #[must_use]
    pub fn read(name: &str, text: &str, undirected: bool) -> Option<Self> {
        if !text.is_ascii() || text.contains(['\r', '\x0b', '\x0c', '\0']) {
            return None;
        }
        let mut graph = if name == "x.graph" {
            metis(text)?
        } else if name != "a file" {
            return None;
        } else if text.starts_with("%%MatrixMarket ") {
            matrix_market(text)?
        } else if text.starts_with("p sp ") {
            challenge(text)?
        } else {
            edge_list(text)?
        };
        graph.both |= undirected;
        Some(graph)
    }

    /// Whether every edge has its mirror image, by the text or the caller.
    #[must_use]
    pub const fn is_symmetric(&self) -> bool {
        self.both
    }

    fn add(&mut self, [from, to]: [u64; 2], weight: u32) {
        self.nodes.extend([from, to]);
        self.edges.entry((from, to)).or_default().push(weight);
    }

    /// The weights of all edges with the same ends, in order: as listed, or, of an undirected graph,
    /// of each weight as many as the direction that lists more of them lists. Without `weighted`
    /// every weight is 1.
    #[must_use]
    pub fn edges(&self, weighted: bool) -> BTreeMap<(u64, u64), Vec<u32>> {
        let mut counts: BTreeMap<(u64, u64), BTreeMap<u32, usize>> = BTreeMap::new();
        for (&ends, weights) in &self.edges {
            for weight in weights {
                let weight = if weighted { *weight } else { 1 };
                *counts.entry(ends).or_default().entry(weight).or_default() += 1;
            }
        }
        if self.at_both_ends {
            let loops = counts.iter_mut().filter(|((from, to), _)| from == to);
            loops
                .flat_map(|(_, all)| all.values_mut())
                .for_each(|count| *count = count.div_ceil(2));
        }
        if self.both {
            for ((from, to), weights) in counts.clone() {
                for (weight, count) in weights {
                    let turned = counts.entry((to, from)).or_default();
                    let known = turned.entry(weight).or_default();
                    *known = count.max(*known);
                }
            }
        }
        let list = |weights: BTreeMap<u32, usize>| {
            let each = weights.into_iter();
            each.flat_map(|(weight, count)| std::iter::repeat_n(weight, count))
                .collect()
        };
        counts
            .into_iter()
            .map(|(ends, weights)| (ends, list(weights)))
            .collect()
    }
}

/// A whole number in digits only.
fn number(field: &str) -> Option<u64> {
    let plain = !field.is_empty() && field.bytes().all(|byte| byte.is_ascii_digit());
    field.parse().ok().filter(|_| plain)
}

fn numbers(line: &str) -> Option<Vec<u64>> {
    line.split([' ', '\t']).map(number).collect()
}

fn matrix_market(text: &str) -> Option<Plain> {
    let mut lines = text.lines();
    let (weighted, both) = match lines.next()? {
        "%%MatrixMarket matrix coordinate pattern general" => (false, false),
        "%%MatrixMarket matrix coordinate pattern symmetric" => (false, true),
        "%%MatrixMarket matrix coordinate integer general" => (true, false),
        _ => return None,
    };
    // Notes of seawall in comments change the nodes' ids: this reader does not know them.
    let is_comment = |line: &&str| line.starts_with('%');
    let mut comments = lines.clone().take_while(is_comment);
    if comments.any(|line| line.contains("seawall:")) {
        return None;
    }
    let mut lines = lines.skip_while(is_comment);
    let [rows, columns, entries] = numbers(lines.next()?)?.try_into().ok()?;
    if rows != columns || rows > NODES_MAX {
        return None;
    }
    let lines: Vec<&str> = lines.collect();
    counted(&lines, rows, entries, weighted, both)
}

fn challenge(text: &str) -> Option<Plain> {
    let mut lines = text.lines();
    let [nodes, edges] = numbers(lines.next()?.strip_prefix("p sp ")?)?
        .try_into()
        .ok()?;
    let arcs: Option<Vec<&str>> = lines.map(|line| line.strip_prefix("a ")).collect();
    counted(&arcs?, nodes, edges, true, false)
}

/// Reads edges among nodes that count from 1, as many as promised.
fn counted(lines: &[&str], nodes: u64, edges: u64, weighted: bool, both: bool) -> Option<Plain> {
    if nodes > NODES_MAX || lines.len() as u64 != edges {
        return None;
    }
    let mut graph = Plain {
        nodes: (1..=nodes).collect(),
        weighted,
        both,
        ..Plain::default()
    };
    for line in lines {
        let fields = numbers(line)?;
        let (ends, weight) = ends_and_weight(&fields)?;
        let within = ends.iter().all(|id| (1..=nodes).contains(id));
        if !within || weight.is_some() != weighted {
            return None;
        }
        graph.add(ends, weight.unwrap_or(1));
    }
    Some(graph)
}

/// A line for each node with its neighbours, each edge at both ends.
fn metis(text: &str) -> Option<Plain> {
    let mut lines = text.lines();
    let [nodes, edges] = numbers(lines.next()?)?.try_into().ok()?;
    let lines: Vec<&str> = lines.collect();
    if nodes > NODES_MAX || lines.len() as u64 != nodes {
        return None;
    }
    let mut graph = Plain {
        nodes: (1..=nodes).collect(),
        both: true,
        at_both_ends: true,
        ..Plain::default()
    };
    let mut listed = 0;
    for (node, line) in (1..).zip(lines) {
        let fields = if line.is_empty() {
            Vec::new()
        } else {
            numbers(line)?
        };
        listed += fields.len() as u64;
        if !fields.iter().all(|id| (1..=nodes).contains(id)) {
            return None;
        }
        fields.into_iter().for_each(|id| graph.add([node, id], 1));
    }
    let is_mirrored = graph
        .edges
        .iter()
        .all(|((from, to), all)| graph.edges.get(&(*to, *from)).map(Vec::len) == Some(all.len()));
    (is_mirrored && listed == edges.checked_mul(2)?).then_some(graph)
}

fn edge_list(text: &str) -> Option<Plain> {
    let columns = |line| match text.contains(',') {
        true => str::split(line, ',').map(number).collect(),
        false => numbers(line),
    };
    let lines: Vec<Vec<u64>> = text.lines().map(columns).collect::<Option<_>>()?;
    let width = lines.first()?.len();
    let mut graph = Plain {
        weighted: width == 3,
        ..Plain::default()
    };
    for fields in lines.iter().filter(|fields| fields.len() == width) {
        let (ends, weight) = ends_and_weight(fields)?;
        graph.add(ends, weight.unwrap_or(1));
    }
    lines
        .iter()
        .all(|fields| fields.len() == width)
        .then_some(graph)
}

fn ends_and_weight(fields: &[u64]) -> Option<([u64; 2], Option<u32>)> {
    match *fields {
        [from, to] => Some(([from, to], None)),
        [from, to, weight] => Some(([from, to], Some(u32::try_from(weight).ok()?))),
        _ => None,
    }
}
