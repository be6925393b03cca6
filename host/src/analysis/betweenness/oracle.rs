//! Brandes' algorithm in double precision, with a queue.

use crate::graph::Graph;
use std::collections::VecDeque;

/// A number of paths, `mantissa * 2^exponent`, as doubles end at 2^1024.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Paths {
    mantissa: f64,
    exponent: i32,
}

impl Paths {
    const NONE: Self = Self {
        mantissa: 0.0,
        exponent: 0,
    };
    const ONE: Self = Self {
        mantissa: 1.0,
        exponent: 0,
    };

    fn plus(self, other: Self) -> Self {
        if self.mantissa == 0.0 {
            return other;
        }
        let exponent = self.exponent.max(other.exponent);
        let part = |of: Self| of.mantissa * 2.0_f64.powi(of.exponent - exponent);
        let mut sum = Self {
            mantissa: part(self) + part(other),
            exponent,
        };
        while sum.mantissa >= 2.0_f64.powi(500) {
            sum.mantissa *= 0.5_f64.powi(500);
            sum.exponent += 500;
        }
        sum
    }

    fn over(self, other: Self) -> f64 {
        self.mantissa / other.mantissa * 2.0_f64.powi(self.exponent - other.exponent)
    }
}

/// Betweenness of every node for paths from `sources`. O(sources * (nodes + edges)).
#[must_use]
pub fn scores(graph: &Graph, sources: &[u32]) -> Vec<f64> {
    let mut scores = vec![0.0; graph.nodes() as usize];
    for source in sources {
        for (score, share) in scores.iter_mut().zip(shares(graph, *source)) {
            *score += share;
        }
    }
    scores
}

/// Shares of the paths from `source` that lead through each node.
fn shares(graph: &Graph, source: u32) -> Vec<f64> {
    let nodes = graph.nodes() as usize;
    let mut levels = vec![usize::MAX; nodes];
    let mut paths = vec![Paths::NONE; nodes];
    let mut order = Vec::new();
    let mut queue = VecDeque::from([source]);
    (levels[source as usize], paths[source as usize]) = (0, Paths::ONE);
    while let Some(node) = queue.pop_front() {
        order.push(node);
        let next = levels[node as usize] + 1;
        for other in graph.neighbours(node).iter().map(|other| *other as usize) {
            if levels[other] == usize::MAX {
                levels[other] = next;
                queue.push_back(other as u32);
            }
            if levels[other] == next {
                paths[other] = paths[other].plus(paths[node as usize]);
            }
        }
    }
    let mut shares = vec![0.0; nodes];
    for node in order.iter().rev().map(|node| *node as usize) {
        let next = levels[node] + 1;
        let row = graph.neighbours(node as u32).iter();
        let after = row
            .map(|other| *other as usize)
            .filter(|other| levels[*other] == next);
        shares[node] = after
            .map(|other| paths[node].over(paths[other]) * (1.0 + shares[other]))
            .sum();
    }
    shares[source as usize] = 0.0;
    shares
}
