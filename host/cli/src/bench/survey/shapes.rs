//! Shapes of graphs on which work has to follow the size, whatever the depth, the degrees, the
//! number of components and the spread of weights; nodes and edges are shuffled, and weights drawn.

/// A graph by its weighted edges, loops and parallel edges included.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sample {
    /// The name of its shape.
    pub name: &'static str,
    /// Its nodes.
    pub nodes: u32,
    /// Its edges with their weights.
    pub edges: Vec<(u32, u32, u32)>,
    /// The node that the shape begins at.
    pub source: u32,
}

/// SplitMix64 (Steele, Lea, Flood, OOPSLA 2014).
struct Random {
    state: u64,
}

impl Random {
    /// A number below `end`; 0 if `end` is 0.
    fn below(&mut self, end: u32) -> u32 {
        self.state = self.state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut word = self.state;
        word = (word ^ (word >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        word = (word ^ (word >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        word ^= word >> 31;
        (((word >> 32) * u64::from(end)) >> 32) as u32
    }
}

type Ends = Vec<(u32, u32)>;

/// Draws the edges of a shape for about so many nodes.
type Draw = fn(u32, &mut Random) -> Ends;

/// Every shape: its name, and its edges for about so many nodes.
const SHAPES: [(&str, Draw); 27] = [
    ("path", |n, _| (1..n).map(|i| (i - 1, i)).collect()),
    ("path back", |n, _| {
        (1..n).rev().map(|i| (i, i - 1)).collect()
    }),
    (IN_ORDER, |n, _| (1..n).map(|i| (i - 1, i)).collect()),
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
    ("clique and ladder", |n, _| {
        let k = root(n);
        let mut edges = clique(k);
        edges.extend(ladder(k, n));
        edges
    }),
    ("dense and ladder", |n, random| {
        let dense = (n / 4).max(1);
        let mut edges = vec![(0, 1)];
        edges.extend(drawn(dense, 8 * dense, random));
        edges.extend(ladder(dense, n));
        edges
    }),
    (HEAVY, |n, random| drawn(n, 3 * n, random)),
    (WIDE, |n, random| {
        let mut edges: Ends = (1..n).map(|i| (0, i)).collect();
        edges.extend((2..n).map(|i| (i - 1, i)));
        edges.extend(drawn(n, n, random));
        edges
    }),
];

/// The shape whose nodes keep their order.
const IN_ORDER: &str = "path in order";

/// The shape of weights far apart: every node of a path of weight 1 also has a heavier edge from the
/// first node, and there are very heavy ones anywhere.
const WIDE: &str = "wide weights";

/// The weight of edge `at` of that shape.
fn wide_weight(at: usize, n: u32) -> u32 {
    let (direct, path) = (n.saturating_sub(1) as usize, n.saturating_sub(2) as usize);
    if at < direct {
        3 * (at as u32 + 1)
    } else if at < direct + path {
        1
    } else {
        4_000_000
    }
}

/// The shape of weights of 1 beside weights of which a path of 32 bits has two at most.
const HEAVY: &str = "heavy weights";
const HEAVIEST: u32 = (1 << 31) - 1;

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

/// Rungs of two nodes from node `first` on, the first of which has an edge from the node before.
fn ladder(first: u32, end: u32) -> Ends {
    let rungs = end.saturating_sub(first) / 2;
    let link = |i: u32| {
        let at = first + 2 * i;
        let before = if i == 0 { at - 1 } else { at - 2 };
        [
            (before, at),
            (at, at + 1),
            (if i == 0 { at } else { at - 1 }, at + 1),
        ]
    };
    (0..rungs).flat_map(link).collect()
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
    (0..SHAPES.len())
        .filter_map(|shape| sample(shape, nodes, seed))
        .collect()
}

/// Draws the shape of that number, likewise; `None` from the last shape on.
pub(super) fn sample(shape: usize, nodes: u32, seed: u64) -> Option<Sample> {
    let random = &mut Random {
        state: seed ^ (shape as u64) << 32,
    };
    let &(name, draw) = SHAPES.get(shape)?;
    let ends = draw(nodes, random);
    let most = ends.iter().map(|(from, to)| from.max(to) + 1).max();
    let count = nodes.max(most.unwrap_or(0));
    let mut order: Vec<u32> = (0..count).collect();
    if name != IN_ORDER {
        shuffle(&mut order, random);
    }
    let place = |node: u32| order.get(node as usize).copied().unwrap_or(node);
    let source = ends.first().map_or(0, |(from, _)| place(*from));
    let mut edges: Vec<(u32, u32, u32)> = ends
        .into_iter()
        .enumerate()
        .map(|(at, (from, to))| {
            let weight = match name {
                WIDE => wide_weight(at, nodes),
                HEAVY => [1, HEAVIEST][random.below(2) as usize % 2],
                _ => 1 + random.below(999),
            };
            (place(from), place(to), weight)
        })
        .collect();
    shuffle(&mut edges, random);
    Some(Sample {
        name,
        nodes: count,
        edges,
        source,
    })
}

fn shuffle<T>(list: &mut [T], random: &mut Random) {
    for at in (1..list.len()).rev() {
        list.swap(at, random.below(at as u32 + 1) as usize);
    }
}
