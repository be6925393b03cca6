//! Pairs of nodes, against a search by levels and against Dijkstra's algorithm.

use super::{client, config, expect, expect_fault, start};
use crate::graphs::{self, EdgeList};
use crate::oracle;
use crate::random::Random;
use seawall::column::Column;
use seawall::graph::Graph;
use seawall::service::{Client, Metric, On, Query, Reply, Span};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Most nodes of a drawn graph.
const NODES: u32 = 400;

/// Draws graphs and compares the answers about some of their pairs.
///
/// # Errors
/// The first answer that differs.
pub fn check(on: On, workers: usize, seed: u64, graphs: u32) -> Result<(), String> {
    let mut random = Random::new(seed);
    for _ in 0..graphs {
        let nodes = 1 + random.below(NODES);
        let shape = random.pick(&graphs::SHAPES).ok_or("no shapes")?;
        let undirected = random.once_in(2);
        let list = graphs::draw(shape, nodes, undirected, &mut random);
        hops(on, workers, &list, &mut random).map_err(|error| format!("{shape:?}: {error}"))?;
        lengths(on, workers, &list, &mut random).map_err(|error| format!("{shape:?}: {error}"))?;
    }
    Ok(())
}

fn hops(on: On, workers: usize, list: &EdgeList, random: &mut Random) -> Result<(), String> {
    let graph = list.graph().map_err(|error| error.to_string())?;
    let rows: Vec<_> = (0..list.nodes)
        .map(|node| graph.neighbours(node).to_vec())
        .collect();
    let service = start(graph, config(on, workers))?;
    let client = client(&service)?;
    for _ in 0..4 {
        let source = random.below(list.nodes);
        let levels = oracle::levels(list, &[source], u32::MAX);
        for _ in 0..8 {
            let target = random.below(list.nodes);
            let level = levels[target as usize];
            let hops = (level != Column::UNREACHED).then_some(u64::from(level));
            let metric = Metric::Hops;
            let distance = Query::Distance {
                source,
                target,
                metric,
            };
            expect(&client, distance, Reply::Distance(hops))?;
            let reach = Query::Reach { source, target };
            expect(&client, reach, Reply::Reached(hops.is_some()))?;
        }
        let row = &rows[source as usize];
        neighbours(&client, source, row)?;
    }
    let none = Query::Reach {
        source: 0,
        target: list.nodes,
    };
    expect_fault(&client, none, "no node")
}

fn neighbours(client: &Client, node: u32, row: &[u32]) -> Result<(), String> {
    let capacity = row.len() as u32 / 2 + 3;
    let words = capacity.min(row.len() as u32);
    let overflow = row.len() as u32 - words;
    let to = Span {
        address: 7,
        words: capacity,
    };
    let query = Query::Neighbours { node, to };
    expect(client, query, Reply::Written { words, overflow })?;
    let mut written = vec![0; words as usize];
    let read = client.read(7, &mut written);
    read.map_err(|error| error.to_string())?;
    let mut all = row.to_vec();
    all.sort_unstable();
    written.sort_unstable();
    let is_some = written.iter().all(|node| all.binary_search(node).is_ok());
    if !is_some || overflow == 0 && written != all {
        return Err(format!("neighbours of {node}: {written:?} of {all:?}"));
    }
    Ok(())
}

fn lengths(on: On, workers: usize, list: &EdgeList, random: &mut Random) -> Result<(), String> {
    let most = random.pick(&[1, 10, 1 << 20, u32::MAX]).unwrap_or(1);
    let edges: Vec<_> = list
        .edges
        .iter()
        .map(|(from, to)| (*from, *to, random.below(most)))
        .collect();
    let graph = Graph::from_weighted_edges(list.nodes, &edges, list.undirected);
    let graph = graph.map_err(|error| error.to_string())?;
    let rows = weighted_rows(&graph);
    let service = start(graph, config(on, workers))?;
    let client = client(&service)?;
    for _ in 0..3 {
        let source = random.below(list.nodes);
        let found = dijkstra(&rows, source);
        for _ in 0..8 {
            let target = random.below(list.nodes);
            let metric = Metric::Weights;
            let query = Query::Distance {
                source,
                target,
                metric,
            };
            expect(&client, query, Reply::Distance(found[target as usize]))?;
        }
    }
    Ok(())
}

fn weighted_rows(graph: &Graph) -> Vec<Vec<(u32, u32)>> {
    let weights = graph.weights().unwrap_or(&[]);
    let row = |node| {
        let row = graph.outgoing().row(node);
        let targets = graph.targets()[row.clone()].iter().copied();
        targets.zip(weights[row].iter().copied()).collect()
    };
    (0..graph.nodes()).map(row).collect()
}

fn dijkstra(rows: &[Vec<(u32, u32)>], source: u32) -> Vec<Option<u64>> {
    let mut found = vec![None; rows.len()];
    let mut queue = BinaryHeap::from([Reverse((0_u64, source))]);
    while let Some(Reverse((length, node))) = queue.pop() {
        if found[node as usize].is_some() {
            continue;
        }
        found[node as usize] = Some(length);
        for (to, weight) in &rows[node as usize] {
            queue.push(Reverse((length + u64::from(*weight), *to)));
        }
    }
    found
}
