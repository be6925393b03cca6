use super::*;
use crate::GraphError;

fn graph(spec: &str, weights: bool) -> Result<Graph, GraphError> {
    generate(&Generator::parse(spec).unwrap()?, spec, weights)
}

/// Returns the levels of a plain queue search from node 0, and the number of nodes that it
/// reaches.
fn search(graph: &Graph) -> (usize, usize) {
    let mut seen = vec![false; graph.nodes() as usize];
    let mut frontier = vec![0u32];
    let (mut levels, mut reached) = (0, 1);
    seen[0] = true;
    while !frontier.is_empty() {
        let mut next = Vec::new();
        for &node in &frontier {
            for &near in graph.neighbours(node) {
                if !std::mem::replace(&mut seen[near as usize], true) {
                    next.push(near);
                }
            }
        }
        levels += 1;
        reached += next.len();
        frontier = next;
    }
    (levels, reached)
}

#[test]
fn a_grid_has_four_neighbours_inside_and_two_in_corners() {
    let grid = graph("gen:grid:5x4", false).unwrap();
    assert_eq!((grid.nodes(), grid.edges()), (20, 2 * (4 * 4 + 5 * 3)));
    assert_eq!(grid.neighbours(0), [1, 5]);
    assert_eq!(grid.neighbours(7), [2, 6, 8, 12]);
    assert_eq!(
        grid.outgoing().transpose().unwrap().targets(),
        grid.targets()
    );
    assert_eq!(search(&grid), (5 + 4 - 1, 20));
}

#[test]
fn a_chain_is_as_deep_as_the_published_one() {
    let chain = graph("gen:chain:262144", false).unwrap();
    let (levels, reached) = search(&chain);
    assert_eq!(reached, 262_144);
    let published = 73_934.0;
    assert!(
        (levels as f64 / published - 1.0).abs() < 0.02,
        "{levels} levels"
    );
    let jumps = chain.edges() - 262_143;
    assert!(
        (jumps as f64 / 65_536.0 - 1.0).abs() < 0.02,
        "{jumps} jumps"
    );
    assert!(!chain.is_symmetric());
}

#[test]
fn random_graphs_are_symmetric_clean_and_depend_on_the_seed_alone() {
    for name in ["rmat", "uniform"] {
        let spec = format!("gen:{name}:12:8:5");
        let one = rayon::ThreadPoolBuilder::new()
            .num_threads(1)
            .build()
            .unwrap();
        let three = rayon::ThreadPoolBuilder::new()
            .num_threads(3)
            .build()
            .unwrap();
        let a = one.install(|| graph(&spec, true)).unwrap();
        let b = three.install(|| graph(&spec, true)).unwrap();
        assert_eq!(a.layout_hash(), b.layout_hash());
        assert_ne!(
            a.layout_hash(),
            graph(&format!("gen:{name}:12:8:6"), true)
                .unwrap()
                .layout_hash()
        );
        let turned = a.outgoing().transpose().unwrap();
        assert_eq!(
            (turned.targets(), turned.weights()),
            (a.targets(), a.weights())
        );
        for node in 0..a.nodes() {
            assert!(a.neighbours(node).windows(2).all(|w| w[0] < w[1]));
            assert!(!a.neighbours(node).contains(&node));
        }
    }
}

#[test]
fn every_shape_has_the_same_bytes_for_any_number_of_threads() {
    for spec in [
        "gen:rmat:15:16:3",
        "gen:rmat-directed:15:16:3",
        "gen:uniform:15:16:3",
        "gen:uniform:3:50000:3",
        "gen:grid:301x200",
        "gen:chain:100001:3",
    ] {
        for weights in [false, true] {
            let with = |threads| {
                let pool = rayon::ThreadPoolBuilder::new().num_threads(threads);
                let pool = pool.build().unwrap();
                pool.install(|| graph(spec, weights)).unwrap()
            };
            let one = with(1);
            assert_eq!(one.weights().is_some(), weights);
            for threads in [2, 3, 7] {
                let other = with(threads);
                let parts = |graph: &Graph| {
                    let arrays = (graph.offsets().to_vec(), graph.targets().to_vec());
                    (arrays, graph.weights().map(<[u32]>::to_vec))
                };
                assert!(parts(&one) == parts(&other), "{spec}, {threads} threads");
            }
        }
    }
}

/// Measured figures name these shapes, so their hashes are those of the first generators.
#[test]
fn published_shapes_stay_as_they_are() {
    for (spec, hash) in [
        ("gen:rmat:12:16", 0x52f1_c7bc_cda0_43cf),
        ("gen:rmat-directed:12:16", 0x7db2_49fa_28c6_8139),
        ("gen:uniform:12:16", 0xad87_a111_d68f_eb3e),
        ("gen:grid:100x90", 0x4553_8742_61c7_8258),
        ("gen:chain:10000", 0x91d5_b5a9_bbc9_a65c),
    ] {
        assert_eq!(graph(spec, false).unwrap().layout_hash(), hash, "{spec}");
    }
}

#[test]
fn a_directed_kronecker_graph_has_the_edges_of_the_undirected_one_in_one_direction() {
    let with_threads = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads);
        let pool = pool.build().unwrap();
        pool.install(|| graph("gen:rmat-directed:11:8:5", true))
            .unwrap()
    };
    let (directed, three) = (with_threads(1), with_threads(3));
    assert_eq!(directed.layout_hash(), three.layout_hash());
    assert!(!directed.is_symmetric());
    let undirected = graph("gen:rmat:11:8:5", false).unwrap();
    let edges = |graph: &Graph, turned: bool| {
        let all = (0..graph.nodes())
            .flat_map(|from| graph.neighbours(from).iter().map(move |to| (from, *to)));
        all.map(|(from, to)| if turned { (to, from) } else { (from, to) })
            .collect::<std::collections::BTreeSet<_>>()
    };
    let (forward, backward) = (edges(&directed, false), edges(&directed, true));
    assert_ne!(forward, backward);
    assert_eq!(forward.len(), directed.edges() as usize);
    assert!(forward.iter().all(|(from, to)| from != to));
    let both: std::collections::BTreeSet<_> = forward.union(&backward).copied().collect();
    assert_eq!(both, edges(&undirected, false));
}

#[test]
fn a_kronecker_graph_is_skewed_and_a_uniform_one_is_not() {
    let largest = |spec| {
        let graph = graph(spec, false).unwrap();
        (0..graph.nodes())
            .map(|node| graph.outgoing().degree(node))
            .max()
            .unwrap()
    };
    assert!(largest("gen:rmat:14:16") > 1000);
    assert!(largest("gen:uniform:14:16") < 100);
}

#[test]
fn graphs_beyond_32_bits_are_refused_before_allocating() {
    for spec in [
        "gen:rmat:31:16",
        "gen:rmat-directed:31:16",
        "gen:uniform:30:65536",
        "gen:grid:1073741824",
        "gen:chain:2147483649",
    ] {
        assert!(graph(spec, false).is_err(), "{spec}");
    }
}

#[test]
fn the_smallest_graphs_exist() {
    for spec in [
        "gen:rmat:0:4",
        "gen:rmat-directed:0:4",
        "gen:uniform:0:0",
        "gen:grid:1",
        "gen:chain:1",
    ] {
        let graph = graph(spec, true).unwrap();
        assert_eq!((graph.nodes(), graph.edges()), (1, 0), "{spec}");
    }
}
