//! Places of nodes: ForceAtlas2 (Jacomy and others, PLoS ONE 9(6): e98679, 2014) from a start by
//! distances, so that paths and grids unfold.

use std::collections::VecDeque;

use fa2::{FA2Data, FA2Settings};
use seawall::graph::Graph;

/// Nodes from which on repulsion is by regions, O(n log n) a step, instead of pairs.
const MANY: usize = 512;

/// Steps of the layout for small and for large graphs.
const STEPS: (usize, usize) = (600, 200);

/// Share of an edge by which nodes at equal distances are moved apart.
const APART: f64 = 0.4;

/// A place in the plane.
pub(super) type Place = (f64, f64);

/// Neighbours of each node in both directions, without loops, each once.
pub(super) fn neighbours(graph: &Graph) -> Vec<Vec<u32>> {
    let mut rows = vec![Vec::new(); graph.nodes() as usize];
    for node in 0..graph.nodes() {
        for &other in graph
            .neighbours(node)
            .iter()
            .filter(|other| **other != node)
        {
            rows[node as usize].push(other);
            rows[other as usize].push(node);
        }
    }
    for row in &mut rows {
        row.sort_unstable();
        row.dedup();
    }
    rows
}

/// A place for each node; the same for the same graph. Nodes without neighbours are in rows below
/// all others.
pub(super) fn places(rows: &[Vec<u32>]) -> Vec<Place> {
    let (alone, joined): (Vec<u32>, Vec<u32>) =
        (0..rows.len() as u32).partition(|node| rows[*node as usize].is_empty());
    let found = level(forced(rows, &joined));
    let mut places = vec![(0.0, 0.0); rows.len()];
    for (node, place) in joined.iter().zip(&found) {
        places[*node as usize] = *place;
    }
    let left = found.iter().map(|place| place.0).fold(0.0, f64::min);
    let right = found.iter().map(|place| place.0).fold(0.0, f64::max);
    let bottom = found.iter().map(|place| place.1).fold(0.0, f64::max);
    // Rows of all together are some eight times as wide as high.
    let columns = (8.0 * alone.len() as f64).sqrt().ceil().max(1.0);
    let width = if right > left { right - left } else { columns };
    let pitch = width / columns;
    for (at, node) in alone.iter().enumerate() {
        let (row, column) = (at / columns as usize, at % columns as usize);
        let x = left + pitch * (column as f64 + 0.5);
        places[*node as usize] = (x, bottom + pitch * (row as f64 + 1.5));
    }
    places
}

/// Places of the nodes `joined`, all with neighbours, by forces.
fn forced(rows: &[Vec<u32>], joined: &[u32]) -> Vec<Place> {
    let start = start(rows);
    let start: Vec<Place> = joined.iter().map(|node| start[*node as usize]).collect();
    if joined.is_empty() {
        return start;
    }
    let mut numbers = vec![0; rows.len()];
    let mut data = FA2Data::<f64>::new();
    for (node, &(x, y)) in joined.iter().zip(&start) {
        numbers[*node as usize] = data.add_node_with_position(x, y);
    }
    for node in joined {
        let others = rows[*node as usize].iter().filter(|other| *other > node);
        for other in others {
            data.add_edge(numbers[*node as usize], numbers[*other as usize]);
        }
    }
    let settings = FA2Settings::from_graph_order(joined.len());
    let (settings, steps) = match joined.len() < MANY {
        true => (settings.with_pairwise_repulsion(), STEPS.0),
        false => (settings.with_barnes_hut_theta(1.0).parallel(true), STEPS.1),
    };
    let mut layout = settings.build(data);
    layout.run(steps);
    let places: Vec<Place> = layout.data().positions().collect();
    match places.iter().all(|(x, y)| x.is_finite() && y.is_finite()) {
        true => places,
        false => start,
    }
}

/// The places turned so that they spread most along the first axis.
fn level(mut places: Vec<Place>) -> Vec<Place> {
    let count = places.len().max(1) as f64;
    let sum = places
        .iter()
        .fold((0.0, 0.0), |sum, place| (sum.0 + place.0, sum.1 + place.1));
    let mean = (sum.0 / count, sum.1 / count);
    let (mut xx, mut xy, mut yy) = (0.0, 0.0, 0.0);
    for (x, y) in &mut places {
        (*x, *y) = (*x - mean.0, *y - mean.1);
        (xx, xy, yy) = (xx + *x * *x, xy + *x * *y, yy + *y * *y);
    }
    // The direction of the greatest variance.
    let (sin, cos) = (0.5 * f64::atan2(2.0 * xy, xx - yy)).sin_cos();
    for (x, y) in &mut places {
        (*x, *y) = (*x * cos + *y * sin, *y * cos - *x * sin);
    }
    places
}

/// Places by distances from the ends of each component, components side by side in a spiral.
fn start(rows: &[Vec<u32>]) -> Vec<Place> {
    let mut places = vec![(0.0, 0.0); rows.len()];
    let mut is_placed = vec![false; rows.len()];
    let mut before = 0.0_f64;
    for node in 0..rows.len() {
        if is_placed[node] {
            continue;
        }
        let members = Distances::from(rows, node as u32).order;
        // The golden angle spreads components evenly.
        let (sin, cos) = (before * 2.399_963).sin_cos();
        let away = 3.0 * before.sqrt();
        before += members.len() as f64;
        for (member, (x, y)) in members.iter().zip(unfolded(rows, &members)) {
            is_placed[*member as usize] = true;
            places[*member as usize] = (x + away * cos, y + away * sin);
        }
    }
    places
}

/// Places of a component's members: along its longest path, and across it.
fn unfolded(rows: &[Vec<u32>], members: &[u32]) -> Vec<Place> {
    let last = |found: &Distances| found.order.last().copied().unwrap_or(members[0]);
    let first = Distances::from(rows, last(&Distances::from(rows, members[0])));
    let second = Distances::from(rows, last(&first));
    let nearest = |node: &&u32| first.to(**node).min(second.to(**node));
    let side = members.iter().max_by_key(nearest).copied();
    let third = Distances::from(rows, side.unwrap_or(members[0]));
    let fourth = Distances::from(rows, last(&third));
    let between = |one: &Distances, other: &Distances, node| {
        f64::from(one.to(node)) - f64::from(other.to(node))
    };
    let place = |node: &u32| {
        (
            between(&first, &second, *node) + drawn(*node, 1),
            between(&third, &fourth, *node) + drawn(*node, 2),
        )
    };
    members.iter().map(place).collect()
}

/// A number around zero that differs from node to node.
fn drawn(node: u32, salt: u64) -> f64 {
    let mixed = (u64::from(node) + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15 ^ (salt << 32));
    ((mixed >> 40) as f64 / f64::from(1_u32 << 24) - 0.5) * APART
}

/// Levels of a search of one component.
struct Distances {
    levels: Vec<u32>,
    /// The nodes found, nearest first.
    order: Vec<u32>,
}

impl Distances {
    fn from(rows: &[Vec<u32>], source: u32) -> Self {
        let mut levels = vec![u32::MAX; rows.len()];
        levels[source as usize] = 0;
        let (mut order, mut open) = (Vec::new(), VecDeque::from([source]));
        while let Some(node) = open.pop_front() {
            order.push(node);
            for &other in &rows[node as usize] {
                if levels[other as usize] == u32::MAX {
                    levels[other as usize] = levels[node as usize] + 1;
                    open.push_back(other);
                }
            }
        }
        Self { levels, order }
    }

    fn to(&self, node: u32) -> u32 {
        self.levels[node as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(edges: &[(u32, u32)], nodes: u32) -> Vec<Place> {
        places(&neighbours(
            &Graph::from_edges(nodes, edges, false).unwrap(),
        ))
    }

    /// On which side of the line from `a` to `b` a place lies.
    fn side(a: Place, b: Place, place: Place) -> bool {
        (b.0 - a.0) * (place.1 - a.1) > (b.1 - a.1) * (place.0 - a.0)
    }

    #[test]
    fn a_path_does_not_cross_itself() {
        let edges: Vec<_> = (0..60).map(|node| (node, node + 1)).collect();
        let places = of(&edges, 61);
        let lines: Vec<(Place, Place)> = places.windows(2).map(|it| (it[0], it[1])).collect();
        for (at, (a, b)) in lines.iter().enumerate() {
            for (c, d) in lines.iter().skip(at + 2) {
                let crosses =
                    side(*a, *b, *c) != side(*a, *b, *d) && side(*c, *d, *a) != side(*c, *d, *b);
                assert!(!crosses, "edge {at} is crossed");
            }
        }
    }

    #[test]
    fn every_graph_has_finite_places_and_no_two_are_equal() {
        let star: Vec<_> = (1..600).map(|leaf| (0, leaf)).collect();
        let cases: [(&[(u32, u32)], u32); 5] = [
            (&[], 0),
            (&[], 1),
            (&[], 90),
            (&[(0, 0), (0, 1), (1, 0), (0, 1)], 2),
            (&star, 600),
        ];
        for (edges, nodes) in cases {
            let mut found = of(edges, nodes);
            assert_eq!(found.len(), nodes as usize);
            assert!(found.iter().all(|(x, y)| x.is_finite() && y.is_finite()));
            found.sort_by(|one, other| one.partial_cmp(other).unwrap());
            assert!(
                found.windows(2).all(|pair| pair[0] != pair[1]),
                "{nodes} nodes"
            );
        }
    }
}
