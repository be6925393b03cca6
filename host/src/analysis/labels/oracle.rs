//! Label propagation, one node after the other, with a map of counts.

use crate::analysis::LabelRule;
use crate::graph::{Graph, WeightKind};
use std::collections::BTreeMap;

/// Least units in the largest float weight.
const UNITS: f64 = 2_147_483_648.0;

/// Labels after `rounds` rounds of the rule of LDBC. O(rounds * edges * log degree).
#[must_use]
pub fn labels(graph: &Graph, rounds: u32) -> Vec<u32> {
    Propagation::run(graph, LabelRule::Ldbc, false, rounds).communities()
}

/// Labels between two rounds, as nodes.
pub(crate) struct Propagation<'g> {
    graph: &'g Graph,
    rule: LabelRule,
    /// Weights as whole numbers, if they count.
    weights: Option<Vec<u64>>,
    labels: Vec<u32>,
}

impl<'g> Propagation<'g> {
    /// Runs `rounds` rounds, or until no node changes.
    pub(crate) fn run(graph: &'g Graph, rule: LabelRule, weighted: bool, rounds: u32) -> Self {
        let mut state = Self {
            graph,
            rule,
            weights: graph
                .weights()
                .filter(|_| weighted)
                .map(|words| whole(graph, words)),
            labels: (0..graph.nodes()).collect(),
        };
        for _ in 0..rounds {
            let next = state.next();
            if next == state.labels {
                break;
            }
            state.labels = next;
        }
        state
    }

    /// Whether no node wants another label.
    pub(crate) fn is_stable(&self) -> bool {
        (0..self.graph.nodes()).all(|node| self.wanted(node) == self.labels[node as usize])
    }

    /// The label of each node, by the stable rule named after the smallest node that has it.
    pub(crate) fn communities(&self) -> Vec<u32> {
        if self.rule == LabelRule::Ldbc {
            return self.labels.clone();
        }
        let mut names = BTreeMap::new();
        for (node, label) in (0..).zip(&self.labels) {
            names.entry(*label).or_insert(node);
        }
        self.labels.iter().map(|label| names[label]).collect()
    }

    fn next(&self) -> Vec<u32> {
        let wanted: Vec<u32> = (0..self.graph.nodes())
            .map(|node| self.wanted(node))
            .collect();
        if self.rule == LabelRule::Ldbc {
            return wanted;
        }
        let label = |node: u32| self.labels[node as usize];
        let wish = |node: u32| wanted[node as usize];
        let waits = |node: u32| {
            self.graph.neighbours(node).iter().any(|&other| {
                wish(other) != label(other)
                    && (wish(node) == label(other) || wish(other) == label(node))
                    && place(other) < place(node)
            })
        };
        let nodes = 0..self.graph.nodes();
        nodes
            .map(|node| match wish(node) != label(node) && !waits(node) {
                true => wish(node),
                false => label(node),
            })
            .collect()
    }

    /// The label that `node` would take if only it changed.
    fn wanted(&self, node: u32) -> u32 {
        let own = self.labels[node as usize];
        let mut sums = BTreeMap::new();
        for edge in self.graph.outgoing().row(node) {
            let other = self.graph.targets()[edge];
            if other != node {
                let amount = self.weights.as_ref().map_or(1, |weights| weights[edge]);
                *sums.entry(self.labels[other as usize]).or_insert(0_u64) += amount;
            }
        }
        let most = sums.values().copied().max().unwrap_or(0);
        sums.retain(|_, sum| *sum == most);
        if most == 0 {
            return own;
        }
        let best = sums.into_keys();
        let found = match self.rule {
            LabelRule::Ldbc => best.min(),
            LabelRule::Stable => best.min_by_key(|label| (*label != own, place(*label))),
        };
        found.unwrap_or(own)
    }
}

/// The place of a node in the random order of the stable rule.
fn place(node: u32) -> u32 {
    let mut place = node.wrapping_add(1);
    for (shift, factor) in [(16, 0x7FEB_352D), (15, 0x846C_A68B)] {
        place = (place ^ (place >> shift)).wrapping_mul(factor);
    }
    place ^ (place >> 16)
}

fn whole(graph: &Graph, words: &[u32]) -> Vec<u64> {
    if graph.weight_kind() != Some(WeightKind::Float) {
        return words.iter().map(|word| u64::from(*word)).collect();
    }
    let floats = words.iter().map(|word| f64::from(f32::from_bits(*word)));
    let largest = floats.clone().fold(0.0, f64::max);
    // The largest weight has from 2^31 to less than 2^32 units.
    let mut factor = 1.0;
    while largest > 0.0 && largest * factor < UNITS {
        factor *= 2.0;
    }
    while largest * factor >= 2.0 * UNITS {
        factor /= 2.0;
    }
    floats.map(|weight| (weight * factor) as u64).collect()
}
