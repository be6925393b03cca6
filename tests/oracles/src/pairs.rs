//! Distances and numbers of paths by the plainest algorithms, from the rows of a graph.

use seawall::graph::Graph;

/// Returns the edges of the graph: start, end, and the weight or 1.
#[must_use]
pub fn triples(graph: &Graph) -> Vec<(usize, usize, f64)> {
    let weights = graph.weights().unwrap_or(&[]);
    let row = |node: u32| {
        let row = graph.outgoing().row(node);
        row.map(move |edge| {
            let weight = weights.get(edge).map_or(1.0, |weight| f64::from(*weight));
            (node as usize, graph.targets()[edge] as usize, weight)
        })
    };
    (0..graph.nodes()).flat_map(row).collect()
}

/// Returns the distances between all pairs and the numbers of shortest paths, by Floyd and Warshall, then by
/// falling distance from each end.
#[must_use]
pub fn all_pairs(graph: &Graph, weighted: bool) -> (Vec<Vec<f64>>, Vec<Vec<f64>>) {
    let n = graph.nodes() as usize;
    let mut edges = triples(graph);
    if !weighted {
        edges.iter_mut().for_each(|edge| edge.2 = 1.0);
    }
    edges.retain(|(from, to, _)| from != to);
    let mut far = vec![vec![f64::INFINITY; n]; n];
    for (node, row) in far.iter_mut().enumerate() {
        row[node] = 0.0;
    }
    for &(from, to, length) in &edges {
        far[from][to] = far[from][to].min(length);
    }
    for mid in 0..n {
        for from in 0..n {
            for to in 0..n {
                let longer = far[from][mid] + far[mid][to];
                if longer < far[from][to] {
                    far[from][to] = longer;
                }
            }
        }
    }
    let mut counts = vec![vec![0.0; n]; n];
    for from in 0..n {
        let mut order: Vec<usize> = (0..n).filter(|to| far[from][*to].is_finite()).collect();
        order.sort_by(|a, b| far[from][*a].total_cmp(&far[from][*b]));
        counts[from][from] = 1.0;
        for node in order {
            for &(start, end, length) in &edges {
                if end == node && node != from && far[from][start] + length == far[from][node] {
                    counts[from][node] += counts[from][start];
                }
            }
        }
    }
    (far, counts)
}

/// Returns the distances from the nearest of `sources`: of each node whose distance fell, all edges
/// are tried.
#[must_use]
pub fn distances(graph: &Graph, sources: &[u32]) -> Vec<u64> {
    let mut far = vec![u64::MAX; graph.nodes() as usize];
    for source in sources {
        far[*source as usize] = 0;
    }
    let mut rows = vec![Vec::new(); far.len()];
    for (from, to, weight) in triples(graph) {
        rows[from].push((to, weight as u64));
    }
    let mut fell: Vec<usize> = sources.iter().map(|source| *source as usize).collect();
    while !fell.is_empty() {
        let mut next = Vec::new();
        for from in fell {
            for (to, weight) in &rows[from] {
                let through = far[from].saturating_add(*weight);
                if through < far[*to] {
                    far[*to] = through;
                    next.push(*to);
                }
            }
        }
        next.sort_unstable();
        next.dedup();
        fell = next;
    }
    far
}
