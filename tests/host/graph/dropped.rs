//! Loops and parallel edges in every format: they stay, and are counted.
use super::binaries::{archive, egr, npy};
use super::{PLAIN, WEIGHTED, load_as};
use seawall::graph::{Format, LoadOptions, Loaded};

/// One graph in every format: a loop at the first node, three edges of weights 5, 3 and 9
/// from the first to the second, and one of weight 4 from the second to the third.
fn directed() -> Vec<(&'static str, Format, Vec<u8>)> {
    let matrix = |field: &str, rows: &str| {
        format!("%%MatrixMarket matrix coordinate {field} general\n{rows}").into_bytes()
    };
    let weighted = "3 3 5\n1 1 1\n1 2 5\n1 2 3\n1 2 9\n2 3 4\n";
    let complex = "3 3 5\n1 1 1 0\n1 2 5 0\n1 2 3 0\n1 2 9 0\n2 3 4 0\n";
    let list = b"1 1 1\n1 2 5\n1 2 3\n1 2 9\n2 3 4\n".to_vec();
    let table = b"source,target,weight\n1,1,1\n1,2,5\n1,2,3\n1,2,9\n2,3,4\n".to_vec();
    let arcs = b"p sp 3 5\na 1 1 1\na 1 2 5\na 1 2 3\na 1 2 9\na 2 3 4\n".to_vec();
    let binary = egr(&[3, 5, 0, 4, 5, 5, 0, 1, 1, 1, 2, 1, 5, 3, 9, 4]);
    vec![
        ("a.mtx", Format::MatrixMarket, matrix("integer", weighted)),
        (
            "a.mtx",
            Format::MatrixMarket,
            matrix("unsigned-integer", weighted),
        ),
        ("a.mtx", Format::MatrixMarket, matrix("real", weighted)),
        ("c.mtx", Format::MatrixMarket, matrix("complex", complex)),
        ("a.el", Format::EdgeList, list),
        ("a.csv", Format::Csv, table),
        ("a.gr", Format::Dimacs, arcs),
        ("a.egr", Format::Ecl, binary),
        ("a.npz", Format::Npz, sparse("coo")),
        ("a.npz", Format::Npz, sparse("csr")),
    ]
}

/// The graph as SciPy writes it.
fn sparse(layout: &str) -> Vec<u8> {
    let words = |words: &[i32]| egr(words);
    let array = |name, words_of: &[i32]| {
        (
            name,
            npy("<i4", &format!("({},)", words_of.len()), &words(words_of)),
        )
    };
    let mut members = match layout {
        "coo" => vec![
            array("row.npy", &[0, 0, 0, 0, 1]),
            array("col.npy", &[0, 1, 1, 1, 2]),
        ],
        _ => vec![
            array("indptr.npy", &[0, 4, 5, 5]),
            array("indices.npy", &[0, 1, 1, 1, 2]),
        ],
    };
    members.push(("format.npy", npy("|S3", "()", layout.as_bytes())));
    members.push(array("shape.npy", &[3, 3]));
    members.push(array("data.npy", &[1, 5, 3, 9, 4]));
    archive(&members, true)
}

#[test]
fn loops_and_parallel_edges_stay_and_are_counted() {
    for (name, format, bytes) in directed() {
        let options = if name == "c.mtx" { PLAIN } else { WEIGHTED };
        let loaded = load_as(name, &bytes, &options).unwrap();
        let Loaded { graph, stats } = loaded;
        assert_eq!((stats.format, stats.listed_edges), (format, 5));
        assert_eq!((graph.loops(), graph.parallel_edges()), (1, 2), "{format}");
        assert_eq!(graph.targets(), [0, 1, 1, 1, 2], "{format}");
        let weights = (name != "c.mtx").then_some(&[1, 3, 5, 9, 4][..]);
        assert_eq!(graph.weights(), weights, "{format}");
    }
}

#[test]
fn parallel_edges_stay_in_both_directions() {
    for (name, format, bytes) in directed() {
        let options = LoadOptions {
            undirected: true,
            ..PLAIN
        };
        let loaded = load_as(name, &bytes, &options).unwrap();
        let Loaded { graph, stats } = loaded;
        assert_eq!((stats.listed_edges, stats.mirrored), (5, 0), "{format}");
        assert_eq!((graph.loops(), graph.parallel_edges()), (1, 4), "{format}");
        let targets = [0, 1, 1, 1, 0, 0, 0, 2, 1];
        assert_eq!(graph.targets(), targets, "{format}");
    }
}

/// Formats whose entries stand for both directions, for a graph with a loop at the second node and
/// two edges between the first two. METIS lists each at both ends.
#[test]
fn undirected_formats_keep_loops_once() {
    let matrix =
        |kind: &str, rows: &str| format!("%%MatrixMarket matrix {kind}\n{rows}").into_bytes();
    let pattern = matrix(
        "coordinate pattern symmetric",
        "3 3 4\n2 1\n2 1\n2 2\n3 2\n",
    );
    let hermitian = "3 3 4\n2 1 1 1\n2 1 1 1\n2 2 1 0\n3 2 1 1\n";
    let hermitian = matrix("coordinate complex hermitian", hermitian);
    let array = matrix("array real symmetric", "3 3\n0\n1\n0\n8\n1\n0\n");
    let pace = b"p tw 3 4\n2 1\n2 1\n2 2\n3 2\n".to_vec();
    let metis = b"3 4\n2 2\n1 1 2 2 3\n2\n".to_vec();
    for (name, bytes, wanted) in [
        ("pattern.mtx", pattern, (4, 2)),
        ("hermitian.mtx", hermitian, (4, 2)),
        ("array.mtx", array, (3, 0)),
        ("a.gr", pace, (4, 2)),
        ("a.graph", metis, (8, 2)),
    ] {
        let Loaded { graph, stats } = load_as(name, &bytes, &PLAIN).unwrap();
        let counts = (stats.listed_edges, graph.parallel_edges());
        assert_eq!(counts, wanted, "{name}");
        assert_eq!(graph.loops(), 1, "{name}");
        let targets = match wanted.1 {
            0 => vec![1, 0, 1, 2, 1],
            _ => vec![1, 1, 0, 0, 1, 2, 1],
        };
        assert_eq!(graph.targets(), targets, "{name}");
    }
}
