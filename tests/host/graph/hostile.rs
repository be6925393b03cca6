//! Random and mutated files end as a graph or as an error.
use super::{PLAIN, WEIGHTED, gzip, load_as, save, xz};
use proptest::prelude::*;
use seawall::graph::{BinaryProblem, Graph, GraphError, LoadOptions, WeightChoice};
use std::collections::HashSet;

const NAMES: [&str; 13] = [
    "x", "x.mtx", "x.el", "x.gr", "x.swg", "x.el.gz", "x.swg.xz", "x.txt", "x.csv", "x.graph",
    "x.egr", "x.npz", "x.tsv",
];

const SEEDS: [&str; 12] = [
    "%%MatrixMarket matrix coordinate real symmetric\n% c\n5 5 3\n2 1 3.0\n4 3 1e2\n5 5 7\n",
    "%%MatrixMarket matrix coordinate pattern general\n4 4 2\n1 2\n4 1\n",
    "# Nodes: 6 Edges: 3\n0\t1\t5\n3\t4\t6\n5\t0\t7\n",
    "c x\np sp 4 3\na 1 2 9\na 2 3 8\na 4 1 7\n",
    "c x\np tw 4 3\n1 2\n2 3\n4 1\n",
    "%%MatrixMarket matrix array real skew-symmetric\n3 3\n0\n1.5\n2\n",
    "%%MatrixMarket matrix array complex hermitian\n2 2\n0 0\n1.5 1\n2 0\n",
    "source,target,weight\n0,1,4\n\"1\",2,2.5\n",
    ",from;to\n0;1;4\n",
    "0 1 {'weight': 4}\n1 2 {'a': ['x', {}], 'weight': np.float64(2.5)}\n",
    "% c\n3 2 1\n2 4 3 5\n1 4\n1 5\n",
    "3 2 111 2\n1 1 1 2 4 3 5\n1 1 1 1 4\n1 1 1 1 5\n",
];

/// Asserts that the rows of a load are valid.
fn load_and_check(name: &str, bytes: &[u8]) -> Result<(), TestCaseError> {
    for options in [
        PLAIN,
        WEIGHTED,
        LoadOptions {
            undirected: true,
            weights: WeightChoice::Given,
            ..LoadOptions::default()
        },
    ] {
        match load_as(name, bytes, &options) {
            Ok(loaded) => {
                let graph = loaded.graph;
                prop_assert_eq!(graph.offsets().len(), graph.nodes() as usize + 1);
                let some = 0..graph.nodes().min(5000);
                let labels: HashSet<_> = some
                    .clone()
                    .map(|node| graph.label_of(node).to_string())
                    .collect();
                prop_assert_eq!(labels.len(), some.len());
                for node in some {
                    let row = graph.neighbours(node);
                    prop_assert!(row.is_sorted());
                    prop_assert!(row.iter().all(|&target| target < graph.nodes()));
                    prop_assert_eq!(graph.node_of(graph.original_id(node)), Some(node));
                }
                prop_assert_eq!(graph.incoming().edges(), graph.edges());
            }
            Err(error) => prop_assert!(error.to_string().contains(name), "{}", error),
        }
    }
    Ok(())
}

fn mutated(mut bytes: Vec<u8>, changes: &[(usize, u8, u8)]) -> Vec<u8> {
    for &(at, byte, kind) in changes {
        if bytes.is_empty() {
            break;
        }
        let at = at % bytes.len();
        match kind % 4 {
            0 => bytes[at] = byte,
            1 => bytes.insert(at, b"0123456789 \n-.aepc%#"[byte as usize % 20]),
            2 => drop(bytes.remove(at)),
            _ => bytes.truncate(at),
        }
    }
    bytes
}

fn swg(graph: &Graph) -> Vec<u8> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.swg");
    save(graph, &path);
    std::fs::read(&path).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn random_bytes(bytes in prop::collection::vec(any::<u8>(), 0..400), name in 0..NAMES.len()) {
        load_and_check(NAMES[name], &bytes)?;
        load_and_check(NAMES[name], &gzip(&bytes))?;
    }

    #[test]
    fn mutated_text(
        seed in 0..SEEDS.len(), name in 0..NAMES.len(),
        changes in prop::collection::vec((any::<usize>(), any::<u8>(), any::<u8>()), 1..6)
    ) {
        let bytes = mutated(SEEDS[seed].into(), &changes);
        load_and_check(NAMES[name], &bytes)?;
    }

    #[test]
    fn mutated_compression(
        seed in 0..SEEDS.len(),
        changes in prop::collection::vec((any::<usize>(), any::<u8>(), any::<u8>()), 1..4)
    ) {
        load_and_check("x.gz", &mutated(gzip(SEEDS[seed].as_bytes()), &changes))?;
        load_and_check("x.xz", &mutated(xz(SEEDS[seed].as_bytes()), &changes))?;
    }

    #[test]
    fn mutated_binary(
        changes in prop::collection::vec((64usize..1000, any::<u8>(), any::<u8>()), 1..4),
        both: bool, named: bool
    ) {
        let edges: Vec<_> = (0..30u32).map(|i| (i % 7, (i * 5 + 1) % 11, i)).collect();
        let graph = if named {
            let lines = edges.iter().map(|(from, to, weight)| format!("n{from},é{to},{weight}\n"));
            let text = "source,target,weight\n".to_owned() + &lines.collect::<String>();
            let options = LoadOptions { undirected: both, ..WEIGHTED };
            load_as("x.csv", text.as_bytes(), &options).unwrap().graph
        } else {
            Graph::from_weighted_edges(11, &edges, both).unwrap()
        };
        let bytes = mutated(swg(&graph), &changes);
        load_and_check("x.swg", &bytes)?;
        load_and_check("x.swg.gz", &gzip(&bytes))?;
    }
}

#[test]
fn a_binary_file_names_its_wrong_word() {
    let graph = Graph::from_edges(3, &[(0, 1), (1, 2), (0, 2)], true).unwrap();
    let good = swg(&graph);
    let with = |at: usize, word: u32| {
        let mut bytes = good.clone();
        bytes[at..at + 4].copy_from_slice(&word.to_le_bytes());
        match load_as("x.swg", &bytes, &PLAIN) {
            Err(GraphError::Binary { problem, .. }) => problem,
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(with(64, 1), BinaryProblem::Offset { node: 0, value: 1 });
    assert_eq!(with(68, 9), BinaryProblem::Offset { node: 2, value: 4 });
    assert_eq!(
        with(128, 3),
        BinaryProblem::Target {
            edge: 0,
            value: 3,
            nodes: 3
        }
    );
    assert_eq!(with(132, 1), BinaryProblem::Order { node: 0 });
    let mut short = good.clone();
    short.truncate(good.len() - 1);
    let error = load_as("x.swg", &short, &PLAIN).unwrap_err();
    let length = BinaryProblem::Length {
        promised: good.len() as u64,
        found: good.len() as u64 - 1,
    };
    assert!(matches!(error, GraphError::Binary { problem, .. } if problem == length));
    let directed =
        swg(&Graph::from_edges(3, &[(0, 1), (0, 2), (1, 2), (2, 0), (2, 1)], false).unwrap());
    assert!(load_as("x.swg", &directed, &PLAIN).is_ok());
}

/// Sets the flags in the header of a `.swg` file, with the matching checksum.
fn with_flags(mut bytes: Vec<u8>, flags: u32) -> Vec<u8> {
    bytes[12..16].copy_from_slice(&flags.to_le_bytes());
    let hash = bytes[..56]
        .iter()
        .fold(0xcbf2_9ce4_8422_2325u64, |hash, &byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
        });
    bytes[56..64].copy_from_slice(&hash.to_le_bytes());
    bytes
}

proptest! {
    #[test]
    fn a_mark_of_symmetry_is_checked(
        edges in prop::collection::vec((0u32..6, 0u32..6, 1u32..3), 0..14)
    ) {
        // Flags and counts that falsely claim loops or parallel edges.
        let mut edges = edges;
        edges.retain(|(from, to, _)| from != to);
        edges.sort_unstable();
        edges.dedup_by_key(|(from, to, _)| (*from, *to));
        let graph = Graph::from_weighted_edges(6, &edges, false).unwrap();
        let marked = with_flags(swg(&graph), 1 | 2);
        let edge_of = |from: u32, to: u32| {
            let row = graph.outgoing().row(from);
            let at = graph.neighbours(from).binary_search(&to).ok()?;
            Some(graph.weights().unwrap()[row.start + at])
        };
        let unmatched = (0..6).find_map(|from| {
            let mut row = graph.neighbours(from).iter();
            let to = row.find(|&&to| edge_of(from, to) != edge_of(to, from))?;
            Some((from, *to))
        });
        match (load_as("x.swg", &marked, &WEIGHTED), unmatched) {
            (Ok(loaded), None) => prop_assert!(loaded.graph.is_symmetric()),
            (Err(GraphError::Binary { problem, .. }), Some((from, to))) => {
                prop_assert_eq!(problem, BinaryProblem::Asymmetric { from, to });
            }
            (other, unmatched) => prop_assert!(false, "{:?} {:?}", other, unmatched),
        }
    }
}

#[test]
fn a_binary_file_that_changes_after_its_load_changes_nothing() {
    let graph = Graph::from_edges(3, &[(0, 1), (1, 2), (0, 2)], true).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.swg");
    save(&graph, &path);
    let loaded = seawall::graph::load(&path, &PLAIN, None).unwrap().graph;
    std::fs::OpenOptions::new()
        .write(true)
        .truncate(true)
        .open(&path)
        .unwrap();
    assert_eq!(super::rows(&loaded), super::rows(&graph));
}

#[test]
fn a_long_line_and_a_long_id_table_end_quickly() {
    let line = vec![b'1'; 3 << 20];
    let message = load_as("x.el", &line, &PLAIN).unwrap_err().to_string();
    assert!(
        message.contains(":1: a node id is too large (1111"),
        "{message}"
    );
    let comment = [b"# ".as_slice(), &vec![b'x'; 1 << 19], b"\n0 1\n"].concat();
    assert_eq!(load_as("x.el", &comment, &PLAIN).unwrap().graph.edges(), 1);
}
