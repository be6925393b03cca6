//! Shapes of graphs on which work has to follow the size, whatever the depth, the degrees and the
//! number of components; nodes and edges are shuffled, and weights drawn.

use crate::random::Random;

/// A graph by its weighted edges, loops and parallel edges included.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sample {
    /// The name of its shape.
    pub name: &'static str,
    /// Its nodes.
    pub nodes: u32,
    /// Its edges with their weights.
    pub edges: Vec<(u32, u32, u32)>,
}

type Ends = Vec<(u32, u32)>;

/// Draws the edges of a shape for about a number of nodes.
type Draw = fn(u32, &mut Random) -> Ends;

/// Every shape: its name, and its edges for about a number of nodes.
const SHAPES: [(&str, Draw); 22] = [
    ("path", |n, _| (1..n).map(|i| (i - 1, i)).collect()),
    ("path back", |n, _| (1..n).map(|i| (i, i - 1)).collect()),
    ("cycle", |n, _| (0..n).map(|i| (i, (i + 1) % n)).collect()),
    ("star", |n, _| (1..n).map(|i| (0, i)).collect()),
    ("tree", |n, random| {
        (1..n).map(|i| (random.below(i), i)).collect()
    }),
    ("binary", |n, _| (1..n).map(|i| ((i - 1) / 2, i)).collect()),
    ("triangles", |n, _| triangles(n, false)),
    ("chained triangles", |n, _| triangles(n, true)),
    ("pairs", |n, _| {
        (0..n / 2).map(|i| (2 * i, 2 * i + 1)).collect()
    }),
    ("grid", |n, _| grid(n)),
    ("ring of four", |n, _| ring_of_four(n)),
    ("world", |n, random| {
        let mut edges = ring_of_four(n);
        edges.extend(drawn(n, n / 20, random));
        edges
    }),
    ("sparse", |n, random| drawn(n, n, random)),
    ("dense", |n, random| drawn(n, 8 * n, random)),
    ("power", |n, random| power(n, random)),
    ("layers", |n, random| layers(n, random)),
    ("clique", |n, _| clique(root(2 * n))),
    ("bipartite", |n, _| {
        let k = root(n);
        (0..k)
            .flat_map(|i| (0..k).map(move |j| (i, k + j)))
            .collect()
    }),
    ("lollipop", |n, _| {
        let k = root(n);
        let mut edges = clique(k);
        edges.extend((k..n).map(|i| (i - 1, i)));
        edges
    }),
    ("caterpillar", |n, _| {
        let k = n / 2;
        let mut edges: Ends = (1..k).map(|i| (i - 1, i)).collect();
        edges.extend((0..k).map(|i| (i, k + i)));
        edges
    }),
    ("hubs", |n, _| {
        let hubs = 10.min(n / 2);
        (0..hubs)
            .flat_map(|hub| (hubs..n).map(move |i| (hub, i)))
            .collect()
    }),
    ("diamonds", |n, _| {
        let link = |i: u32| {
            [
                (3 * i, 3 * i + 1),
                (3 * i, 3 * i + 2),
                (3 * i + 1, 3 * i + 3),
                (3 * i + 2, 3 * i + 3),
            ]
        };
        (0..n / 3).flat_map(link).collect()
    }),
];

fn root(n: u32) -> u32 {
    f64::from(n).sqrt() as u32
}

fn drawn(n: u32, count: u32, random: &mut Random) -> Ends {
    (0..count)
        .map(|_| (random.below(n), random.below(n)))
        .collect()
}

fn triangles(n: u32, are_chained: bool) -> Ends {
    let link = |i: u32| {
        let of = [
            (3 * i, 3 * i + 1),
            (3 * i + 1, 3 * i + 2),
            (3 * i + 2, 3 * i),
        ];
        let next = (are_chained && i + 1 < n / 3).then_some((3 * i + 2, 3 * i + 3));
        of.into_iter().chain(next)
    };
    (0..n / 3).flat_map(link).collect()
}

fn grid(n: u32) -> Ends {
    let side = root(n);
    let links = |i: u32| {
        let right = (i % side + 1 < side).then_some((i, i + 1));
        let below = (i / side + 1 < side).then_some((i, i + side));
        right.into_iter().chain(below)
    };
    (0..side * side).flat_map(links).collect()
}

fn ring_of_four(n: u32) -> Ends {
    (0..n)
        .flat_map(|i| [(i, (i + 1) % n), (i, (i + 2) % n)])
        .collect()
}

fn clique(k: u32) -> Ends {
    (0..k)
        .flat_map(|i| (i + 1..k).map(move |j| (i, j)))
        .collect()
}

fn power(n: u32, random: &mut Random) -> Ends {
    let mut end = || {
        let share = f64::from(random.below(1 << 20)) / f64::from(1 << 20);
        (f64::from(n) * share.powi(3)) as u32
    };
    (0..8 * n).map(|_| (end(), end())).collect()
}

fn layers(n: u32, random: &mut Random) -> Ends {
    let width = root(n).max(2);
    (0..4 * n)
        .map(|_| {
            let from = random.below(n.saturating_sub(width).max(1));
            let to = from - from % width + width + random.below(width);
            (from, to.min(n - 1))
        })
        .collect()
}

/// Draws every shape with about `nodes` nodes, at least 12, from `seed`.
#[must_use]
pub fn samples(nodes: u32, seed: u64) -> Vec<Sample> {
    let random = &mut Random::new(seed);
    let sample = |&(name, draw): &(&'static str, fn(u32, &mut Random) -> Ends)| {
        let ends = draw(nodes, random);
        let most = ends.iter().map(|(from, to)| from.max(to) + 1).max();
        let nodes = nodes.max(most.unwrap_or(0));
        let mut order: Vec<u32> = (0..nodes).collect();
        shuffle(&mut order, random);
        let mut edges: Vec<(u32, u32, u32)> = ends
            .into_iter()
            .map(|(from, to)| {
                let weight = 1 + random.below(999);
                (order[from as usize], order[to as usize], weight)
            })
            .collect();
        shuffle(&mut edges, random);
        Sample { name, nodes, edges }
    };
    SHAPES.iter().map(sample).collect()
}

fn shuffle<T>(list: &mut [T], random: &mut Random) {
    for at in (1..list.len()).rev() {
        list.swap(at, random.below(at as u32 + 1) as usize);
    }
}
