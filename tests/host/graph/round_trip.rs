//! Round trips of every format and compression.
use super::{PLAIN, WEIGHTED, load_as, rows, save};
use crate::drawn::few;
use proptest::prelude::*;
use seawall::graph::{self, Graph, LoadOptions, WeightChoice, WeightKind};

const COMPRESSIONS: [&str; 3] = ["", ".gz", ".xz"];

fn through(graph: &Graph, name: &str, options: &LoadOptions) -> Graph {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    save(graph, &path);
    let loaded = graph::load(path.to_str().unwrap(), options, None).unwrap();
    loaded.graph
}

/// Any float weight, often a small and whole one.
fn float() -> impl Strategy<Value = f32> {
    let any = (0..f32::INFINITY.to_bits()).prop_map(f32::from_bits);
    prop_oneof![any, (0u8..20).prop_map(|eighths| f32::from(eighths) / 8.0)]
}

/// Returns the weights as numbers of either kind; whole floats read back as whole numbers.
fn values(graph: &Graph) -> Vec<f64> {
    let value = |word: &u32| match graph.weight_kind() {
        Some(WeightKind::Float) => f64::from(f32::from_bits(*word)),
        _ => f64::from(*word),
    };
    graph.weights().unwrap_or(&[]).iter().map(value).collect()
}

fn graphs() -> impl Strategy<Value = Graph> {
    let edges = prop::collection::vec((0u32..50, 0u32..50, 0u32..1000), 0..300);
    (edges, any::<bool>(), any::<bool>()).prop_map(|(edges, undirected, weighted)| {
        if weighted {
            Graph::from_weighted_edges(50, &edges, undirected).unwrap()
        } else {
            let plain: Vec<_> = edges.iter().map(|&(a, b, _)| (a, b)).collect();
            Graph::from_edges(50, &plain, undirected).unwrap()
        }
    })
}

proptest! {
    #![proptest_config(few(32))]

    #[test]
    fn every_format_and_compression_keeps_the_rows(graph in graphs()) {
        for suffix in ["mtx", "el", "txt", "swg", "gr"] {
            for compression in COMPRESSIONS {
                let again = through(&graph, &format!("g.{suffix}{compression}"), &WEIGHTED);
                let mut expected = rows(&graph);
                if graph.edges() == 0 && suffix != "swg" {
                    expected.2 = again.weights().map(<[u32]>::to_vec);
                }
                prop_assert_eq!(rows(&again), expected, "{}{}", suffix, compression);
                let keeps_symmetry = matches!(suffix, "mtx" | "swg");
                prop_assert!(!keeps_symmetry || again.is_symmetric() == graph.is_symmetric());
            }
        }
    }

    #[test]
    fn float_weights_come_back_as_they_were(
        edges in prop::collection::vec((0u32..9, 0u32..9, float()), 0..40), undirected: bool
    ) {
        let graph = Graph::from_float_edges(9, &edges, undirected).unwrap();
        let expected = values(&graph);
        for name in ["g.mtx", "g.el", "g.gr.xz", "g.swg"] {
            let again = through(&graph, name, &WEIGHTED);
            prop_assert_eq!(values(&again), expected.clone(), "{}", name);
            if name == "g.swg" {
                prop_assert_eq!(again.weight_kind(), graph.weight_kind());
            }
        }
    }

    #[test]
    fn edge_lists_with_any_ids_number_nodes_in_id_order(
        pairs in prop::collection::vec((any::<u64>(), 0u64..100), 1..60)
    ) {
        let text: String = pairs.iter().map(|(a, b)| format!("{a} {b}\n")).collect();
        let graph = load_as("g.el", text.as_bytes(), &PLAIN).unwrap().graph;
        let mut ids: Vec<u64> = pairs.iter().flat_map(|&(a, b)| [a, b]).collect();
        ids.sort_unstable();
        ids.dedup();
        let found: Vec<u64> = (0..graph.nodes()).map(|node| graph.original_id(node)).collect();
        prop_assert_eq!(&found, &ids);
        for (a, b) in pairs {
            let (from, to) = (graph.node_of(a).unwrap(), graph.node_of(b).unwrap());
            prop_assert!(from == to || graph.neighbours(from).contains(&to));
        }
        let again = through(&graph, "g.swg.gz", &PLAIN);
        prop_assert_eq!(again.original_id(again.nodes() - 1), ids[ids.len() - 1]);
    }
}

#[test]
fn parsing_on_many_threads_equals_parsing_on_one() {
    let graph = graph::load("gen:rmat:15:8", &WEIGHTED, None).unwrap().graph;
    let folder = tempfile::tempdir().unwrap();
    for name in ["g.mtx", "g.el.gz", "g.gr", "g.swg.xz"] {
        let path = folder.path().join(name);
        save(&graph, &path);
        let load = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new()
                .num_threads(threads)
                .build()
                .unwrap();
            pool.install(|| graph::load(path.to_str().unwrap(), &WEIGHTED, None))
                .unwrap()
        };
        let (one, five) = (load(1), load(5));
        assert_eq!(one.stats, five.stats, "{name}");
        assert_eq!(rows(&one.graph), rows(&five.graph), "{name}");
        assert_eq!(one.graph.targets().len(), graph.targets().len(), "{name}");
    }
}

#[test]
fn a_large_file_is_the_same_from_any_number_of_threads() {
    let graph = graph::load("gen:grid:1100", &WEIGHTED, None).unwrap().graph;
    let folder = tempfile::tempdir().unwrap();
    let written = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads);
        let path = folder.path().join("g.swg");
        pool.build().unwrap().install(|| save(&graph, &path));
        std::fs::read(path).unwrap()
    };
    let one = written(1);
    assert!(one.len() > 40_000_000, "{}", one.len());
    assert!([2, 5].iter().all(|&threads| written(threads) == one));
}

#[test]
fn undirected_loads_mirror_and_merge() {
    let options = LoadOptions {
        undirected: true,
        weights: WeightChoice::Given,
        ..LoadOptions::default()
    };
    let loaded = load_as("g.el", b"0 1 5\n1 0 3\n1 2 7\n2 2 1\n", &options).unwrap();
    assert!(loaded.graph.is_symmetric());
    assert_eq!(
        rows(&loaded.graph),
        (
            vec![0, 2, 5, 7],
            vec![1, 1, 0, 0, 2, 1, 2],
            Some(vec![3, 5, 3, 5, 7, 7, 1])
        )
    );
    assert_eq!(
        (loaded.stats.listed_edges, loaded.stats.mirrored),
        (4, 0),
        "edges of different weights are two"
    );
    let edges = [(0, 1, 5), (1, 0, 3), (1, 2, 7), (2, 2, 1)];
    let directed = Graph::from_weighted_edges(3, &edges, false).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("g.swg");
    save(&directed, &path);
    let again = graph::load(path.to_str().unwrap(), &options, None).unwrap();
    // A file does not say in which order it lists parallel edges.
    let sorted = |graph: &Graph| {
        let (offsets, targets, weights) = rows(graph);
        let mut edges: Vec<_> = (0..graph.nodes())
            .flat_map(|node| graph.outgoing().row(node).map(move |edge| (node, edge)))
            .map(|(node, edge)| (node, targets[edge], weights.as_ref().unwrap()[edge]))
            .collect();
        edges.sort_unstable();
        (offsets, edges)
    };
    assert_eq!(sorted(&again.graph), sorted(&loaded.graph));
}

#[test]
fn gzip_members_and_xz_streams_add_up() {
    for (name, pack) in [
        ("g.el.gz", super::gzip as fn(&[u8]) -> Vec<u8>),
        ("g.el.xz", super::xz),
    ] {
        let mut bytes = pack(b"0 1\n1 ");
        bytes.extend(pack(b"2\n"));
        let loaded = load_as(name, &bytes, &PLAIN).unwrap();
        assert_eq!(rows(&loaded.graph).1, [1, 2], "{name}");
    }
}

#[test]
fn one_based_formats_keep_their_ids() {
    let loaded = load_as("g.gr", b"p sp 3 2\na 1 2 4\na 3 1 6\n", &WEIGHTED).unwrap();
    let graph = loaded.graph;
    assert_eq!(
        (graph.original_id(0), graph.node_of(3), graph.node_of(0)),
        (1, Some(2), None)
    );
    assert_eq!(graph.incoming().neighbours(0), [2]);
    assert_eq!(graph.incoming().weights(), Some(&[6u32, 4][..]));
}

#[test]
fn progress_ends_at_the_size_of_the_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("g.el.gz");
    save(
        &Graph::from_edges(3, &[(0, 1), (1, 2)], false).unwrap(),
        &path,
    );
    let last = std::sync::Mutex::new((0, None));
    let hear = |done: u64, total: Option<u64>| *last.lock().unwrap() = (done, total);
    graph::load(path.to_str().unwrap(), &PLAIN, Some(&hear)).unwrap();
    let size = std::fs::metadata(&path).unwrap().len();
    assert_eq!(*last.lock().unwrap(), (size, Some(size)));
}

#[test]
fn an_edge_list_that_counts_from_one_keeps_nodes_without_edges() {
    let mtx = b"%%MatrixMarket matrix coordinate pattern general\n5 5 2\n2 5\n5 4\n";
    let graph = load_as("g.mtx", mtx, &PLAIN).unwrap().graph;
    let again = through(&graph, "g.el", &PLAIN);
    assert_eq!(rows(&again), rows(&graph));
    assert_eq!((again.nodes(), again.original_id(0)), (5, 1));
}

#[test]
fn one_large_id_in_a_short_file_is_one_node() {
    let loaded = load_as("g.el", b"7 2147483647\n700 7\n", &PLAIN).unwrap();
    let ids: Vec<u64> = (0..3).map(|node| loaded.graph.original_id(node)).collect();
    assert_eq!(ids, [7, 700, 2_147_483_647]);
    assert_eq!(loaded.graph.neighbours(0), [2]);
}
