//! Files of other programs: SciPy, NetworkX, pandas, METIS and the ECL codes.
use super::{PLAIN, WEIGHTED, gzip, load_as, message, rows, save};
use proptest::prelude::*;
use seawall::graph::{self, Format, Graph, GraphError, LoadOptions, WeightChoice, WeightKind};
use std::io::Write;

const SKIPPING: LoadOptions = LoadOptions {
    undirected: false,
    weights: WeightChoice::Given,
    skip_columns: true,
    format: None,
};

type Edge = (u64, u64, u32);

/// Edges by the ids of the file; those without a weight have 0.
fn edges_of(graph: &Graph) -> Vec<Edge> {
    let mut edges = Vec::new();
    for node in 0..graph.nodes() {
        for edge in graph.outgoing().row(node) {
            let to = graph.original_id(graph.targets()[edge]);
            let weight = graph.weights().map_or(0, |weights| weights[edge]);
            edges.push((graph.original_id(node), to, weight));
        }
    }
    edges
}

fn read(name: &str, text: &str, options: &LoadOptions) -> Vec<Edge> {
    match load_as(name, text.as_bytes(), options) {
        Ok(loaded) => edges_of(&loaded.graph),
        Err(error) => panic!("{text:?}: {error}"),
    }
}

fn refused(name: &str, text: &str, options: &LoadOptions, expected: &str) {
    let found = message(name, text.as_bytes(), options);
    assert!(
        found.starts_with(&format!("{name}{expected}")),
        "{text:?}: {found}"
    );
}

fn banner(rest: &str) -> String {
    format!("%%MatrixMarket matrix {rest}\n%\n")
}

#[test]
fn every_field_and_symmetry_of_matrix_market_is_an_edge() {
    for (head, body, expected) in [
        (
            "coordinate unsigned-integer general",
            "3 3 2\n1 2 4294967295\n3 1 7\n",
            vec![(1, 2), (3, 1)],
        ),
        (
            "coordinate complex general",
            "3 3 2\n1 2 0 1\n3 1 2.5 -1\n",
            vec![(1, 2), (3, 1)],
        ),
        (
            "coordinate real skew-symmetric",
            "3 3 1\n3 1 -4\n",
            vec![(1, 3), (3, 1)],
        ),
        (
            "coordinate complex hermitian",
            "3 3 2\n1 1 1 0\n3 1 2 9\n",
            vec![(1, 3), (3, 1)],
        ),
        ("Coordinate REAL General", "2 2 1\n1 2 nan\n", vec![(1, 2)]),
        (
            "array real general",
            "2 2\n0\n0.0\n-inf\n1e-400\n",
            vec![(1, 2)],
        ),
        (
            "array integer symmetric",
            "3 3\n5\n0\n2\n0\n1\n9\n",
            vec![(1, 3), (2, 3), (3, 1), (3, 2)],
        ),
        (
            "array real skew-symmetric",
            "3 3\n0\n2\n0\n",
            vec![(1, 3), (3, 1)],
        ),
        (
            "array complex general",
            "2 2\n1 1\n0 0\n0 1\n0 0\n",
            vec![(1, 2)],
        ),
    ] {
        let found = read("a.mtx", &(banner(head) + body), &PLAIN);
        let ends: Vec<_> = found.iter().map(|edge| (edge.0, edge.1)).collect();
        assert_eq!(ends, expected, "{head}");
    }
    let text = banner("coordinate unsigned-integer general") + "2 2 1\n1 2 4294967295\n";
    assert_eq!(read("a.mtx", &text, &WEIGHTED), [(1, 2, u32::MAX)]);
    let text = banner("array real general") + "2 2\n0\n1\n2\n0\n";
    assert_eq!(read("a.mtx", &text, &WEIGHTED), [(1, 2, 2), (2, 1, 1)]);
}

#[test]
fn unreadable_matrices_give_the_reason() {
    for (head, body, expected) in [
        (
            "coordinate complex general",
            "2 2 1\n1 2 1 1\n",
            ":1: this field as a weight is not supported (complex)",
        ),
        (
            "coordinate real skew-symmetric",
            "2 2 1\n2 1 1\n",
            ":1: this symmetry with weights",
        ),
        (
            "array pattern general",
            "2 2\n1\n",
            ":1: an array of this field is not supported",
        ),
        (
            "array real general",
            "2 3\n1\n",
            ":3: the matrix is not square (2 x 3)",
        ),
        (
            "array real general",
            "2 2\n1\n2\n3\n",
            ":6: the header promises 4 edges, the file has 3",
        ),
        (
            "array real general",
            "2 2\n1\n2\n3\n4\n5\n",
            ":8: the header promises 4 edges, the file has 5",
        ),
        ("array real general", "2 2\n1 2\n", ":4: unexpected field"),
        (
            "coordinate real general",
            "2 2 1\n1 2\n",
            ":4: the line ends before a weight",
        ),
        (
            "coordinate real odd",
            "2 2 1\n1 2\n",
            ":1: this symmetry is not supported (odd)",
        ),
    ] {
        refused("a.mtx", &(banner(head) + body), &WEIGHTED, expected);
    }
    let short = banner("coordinate complex general") + "2 2 1\n1 2 1\n";
    refused("a.mtx", &short, &PLAIN, ":4: the line ends before a value");
    let hollow = banner("array real general") + "4000000000 4000000000\n1\n";
    refused(
        "a.mtx",
        &hollow,
        &PLAIN,
        ":4: the header promises 16000000000000000000 edges",
    );
}

#[test]
fn tables_are_read_as_networkx_and_pandas_write_them() {
    let expected = [(0, 1, 4), (1, 2, 7)];
    for (name, text) in [
        ("a.csv", "source,target,weight\n0,1,4\n1,2,7\n"),
        (
            "a.csv",
            "\u{feff}Source;Target;Weight\r\n0;1;4\r\n1;2;7\r\n",
        ),
        ("a.csv", "0,1,4\n1,2,7"),
        ("a.csv", "weight,to,from\n4,1,0\n7,2,1\n\n"),
        (
            "a.csv",
            "\"u\",\"v\",\"w\"\n\"0\",\"1\",\"4\"\n\"1\" , 2,\"7\"\n",
        ),
        (
            "a.csv",
            "# comment\nstation a,station b,minutes\n0,1,4\n1,2,7\n",
        ),
        ("a.txt", "0,1,4\n1, 2, 7  \n"),
        ("a.tsv", "src\tdst\tcost\n0\t1\t4\n1\t2\t7\n"),
        (
            "a.tsv",
            "From Node Id\tTo Node Id\tweight\n0\t1\t4\n1\t2\t7\n",
        ),
        (
            "a.el",
            "0 1 {'weight': 4}\n1 2 {'color': 'a, {b', 'weight': 7}\n",
        ),
        (
            "a.el",
            "0,1,{'weight': 4}\n1,2,{'x': [1, 2], 'weight': np.int64(7)}\n",
        ),
        ("a.el", "\"0\" \"1\" 4\n1 2 7\n"),
        ("standard", "source,target,weight\n0,1,4\n1,2,7\n"),
    ] {
        assert_eq!(read(name, text, &WEIGHTED), expected, "{text:?}");
        let plain: Vec<_> = expected.map(|(from, to, _)| (from, to, 0)).into();
        assert_eq!(read(name, text, &PLAIN), plain, "{text:?}");
    }
    for text in [
        "0 1 {}\n1 2 {}\n",
        "source,target\n0,1\n1,2\n",
        "0 1 {'a': 1}\n1 2 {}\n",
    ] {
        assert_eq!(
            read("a.csv", text, &WEIGHTED),
            [(0, 1, 0), (1, 2, 0)],
            "{text:?}"
        );
    }
    let floats = load_as("a.csv", b"source,target,weight\n0,1,2.5\n", &WEIGHTED).unwrap();
    assert_eq!(floats.graph.weight_kind(), Some(WeightKind::Float));
}

#[test]
fn other_columns_are_skipped_only_on_request() {
    for (text, expected) in [
        (
            ",source,target,weight\n0,5,6,7\n",
            ":1: column 1 (\"\") is neither",
        ),
        (
            "source,target,when,weight\n5,6,x,7\n",
            ":1: column 3 (\"when\") is neither",
        ),
        ("5,6,7,x\n", ":1: column 4 (\"x\") is neither"),
        ("5 6 7 x\n", ":1: column 4 (\"x\") is neither"),
    ] {
        refused("a.csv", text, &WEIGHTED, expected);
        assert_eq!(read("a.csv", text, &SKIPPING), [(5, 6, 7)], "{text:?}");
    }
}

#[test]
fn unreadable_tables_name_line_and_value() {
    for (text, expected) in [
        (
            "alice,bob\ncarol,dave\n",
            ":2: expected a node id, found \"carol\"; ids are whole numbers",
        ),
        (
            "alice bob\n",
            ":1: expected a node id, found \"alice\"; ids are",
        ),
        (
            "1 2\nalice 2\n",
            ":2: expected a node id, found \"alice\"; ids are",
        ),
        (
            "source,target\n1,2\n3\n",
            ":3: the line ends before a node id (\"3\")",
        ),
        (
            "source,target,weight\n1,2,\n",
            ":2: the line ends before a weight (\"1,2,\")",
        ),
        (
            "source,target,weight\n1,2,-4\n",
            ":2: a weight is negative (-4)",
        ),
        ("source,target\n1,-2\n", ":2: a node id is negative (-2)"),
        (
            "source,target\n1,\"2\n",
            ":2: the quotation mark before \"2\" has no partner",
        ),
        ("source,target\n1,2,3\n", ":2: column 3 (\"3\") is neither"),
        (
            "1 2 {}\n1 2 {'weight': 3}\n",
            ":2: a weight, which the first edge",
        ),
        (
            "1 2 {'weight': 3}\n1 2 {}\n",
            ":2: the line ends before a weight",
        ),
        ("1 2 {'weight': 'x'}\n", ":1: expected a weight"),
    ] {
        refused("a.csv", text, &WEIGHTED, expected);
    }
}

#[test]
fn metis_rows_are_read_with_all_their_formats() {
    let expected = vec![(1, 2, 4), (1, 3, 5), (2, 1, 4), (3, 1, 5)];
    for text in [
        "% c\n4 2 1\n2 4 3 5\n1 4\n% c\n1 5\n\n",
        "4 2 001\r\n2 4 3 5 \r\n1 4\r\n1 5\r\n\r\n\r\n",
        "4 2 111 2\n9 8 8 2 4 3 5\n9 8 8 1 4\n9 8 8 1 5\n9 8 8\n",
    ] {
        assert_eq!(read("a.graph", text, &WEIGHTED), expected, "{text:?}");
        let loaded = load_as("a.graph", text.as_bytes(), &PLAIN).unwrap();
        assert_eq!(
            (loaded.stats.format, loaded.graph.nodes()),
            (Format::Metis, 4)
        );
        assert!(loaded.graph.is_symmetric() && loaded.stats.duplicates == 0);
    }
    for (text, expected) in [
        (
            "3 1\n2\n",
            ": the header promises 3 nodes, one a line, the file has 1 lines",
        ),
        (
            "2 2\n2\n1\n",
            ": the header promises 2 edges, each listed at both ends, the file lists 2",
        ),
        ("2 1\n2\n1\n2\n", ":4: a line (\"2\") for more nodes"),
        ("2 1\n3\n1\n", ":2: node id out of range (3)"),
        (
            "3 1\n2\n3\n\n",
            ": node 1 lists node 2, which does not list it",
        ),
        (
            "2 1 1\n2 5\n1 6\n",
            ": node 1 lists node 2, which does not list it with the same weight",
        ),
        (
            "2 1 12\n2\n1\n",
            ":1: this METIS format is not supported (12)",
        ),
        (
            "2 1 10 3\n1 1\n",
            ":2: the line ends before the weight or size of a node",
        ),
        ("2 4000000000\n", ":1: the edge count is too large"),
        (
            "4000000000 1\n2\n",
            ": the header promises 4000000000 nodes",
        ),
    ] {
        refused("a.graph", text, &WEIGHTED, expected);
    }
}

#[test]
fn a_hub_of_a_metis_file_may_have_a_long_line() {
    let leaves = 300_000;
    let mut text = format!("{} {leaves}\n", leaves + 1);
    (0..leaves).for_each(|leaf| text.push_str(&format!("{} ", leaf + 2)));
    text.push('\n');
    text.push_str(&"1\n".repeat(leaves));
    let loaded = load_as("hub.graph", text.as_bytes(), &PLAIN).unwrap();
    assert_eq!(loaded.graph.neighbours(0).len(), leaves);
}

/// The words of an `.egr` file.
pub(super) fn egr(words: &[i32]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

#[test]
fn ecl_binaries_are_read_and_checked() {
    let plain = [3, 4, 0, 3, 4, 4, 2, 1, 1, 1];
    let weighted = [&plain[..], &[7, 5, 3, 9]].concat();
    for bytes in [egr(&plain), gzip(&egr(&plain))] {
        let name = if bytes[0] == 0x1f {
            "a.egr.gz"
        } else {
            "a.egr"
        };
        let loaded = load_as(name, &bytes, &WEIGHTED).unwrap();
        assert_eq!(edges_of(&loaded.graph), [(0, 1, 0), (0, 2, 0)]);
        assert_eq!((loaded.stats.self_loops, loaded.stats.duplicates), (1, 1));
    }
    let loaded = load_as("a.egr", &egr(&weighted), &WEIGHTED).unwrap();
    assert_eq!(edges_of(&loaded.graph), [(0, 1, 3), (0, 2, 7)]);
    let without = load_as("a.egr", &egr(&weighted), &PLAIN).unwrap().graph;
    assert!(without.weights().is_none());
    for (words, expected) in [
        (
            &[3][..],
            ": not a valid .egr file: 4 bytes, the header promises 8",
        ),
        (
            &[-3, 4, 0, 0],
            ": not a valid .egr file: 4294967293 nodes and 4 edges",
        ),
        (
            &[i32::MAX, i32::MAX, 0],
            ": not a valid .egr file: 12 bytes, the header promises",
        ),
        (&[1, 1, 0, 2, 0], ": not a valid .egr file: offset 2"),
        (
            &[1, 1, 0, 1, 1],
            ": not a valid .egr file: edge 0 ends at node 1",
        ),
        (
            &[1, 1, 0, 1, 0, 4, 4],
            ": not a valid .egr file: 28 bytes, the header promises 24",
        ),
        (
            &[1, 1, 0, 1, 0, -4],
            ": not a valid .egr file: the weight of edge 0 is negative (-4)",
        ),
    ] {
        let found = message("a.egr", &egr(words), &WEIGHTED);
        assert!(found.starts_with(&format!("a.egr{expected}")), "{found}");
        let packed = message("a.egr.gz", &gzip(&egr(words)), &WEIGHTED);
        assert!(
            packed.starts_with("a.egr.gz: not a valid .egr file: "),
            "{packed}"
        );
    }
}

/// A `.npy` array of `<i4` or another type, from its bytes.
pub(super) fn npy(descr: &str, shape: &str, bytes: &[u8]) -> Vec<u8> {
    let header = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}\n");
    let length = (header.len() as u16).to_le_bytes();
    [b"\x93NUMPY\x01\x00", &length[..], header.as_bytes(), bytes].concat()
}

/// An archive of stored and deflated members, with sizes of 64 bits as NumPy writes them.
pub(super) fn archive(members: &[(&str, Vec<u8>)], deflated: bool) -> Vec<u8> {
    let mut out = Vec::new();
    for (name, bytes) in members {
        let mut crc = flate2::Crc::new();
        crc.update(bytes);
        let mut packed = bytes.clone();
        if deflated {
            let level = flate2::Compression::default();
            let mut encoder = flate2::write::DeflateEncoder::new(Vec::new(), level);
            encoder.write_all(bytes).unwrap();
            packed = encoder.finish().unwrap();
        }
        out.extend(b"PK\x03\x04\x2d\0\0\0");
        out.extend([if deflated { 8 } else { 0 }, 0, 0, 0, 0, 0]);
        out.extend(crc.sum().to_le_bytes());
        out.extend([0xff; 8]);
        out.extend((name.len() as u16).to_le_bytes());
        out.extend(20u16.to_le_bytes());
        out.extend(name.as_bytes());
        out.extend([1, 0, 16, 0]);
        out.extend((bytes.len() as u64).to_le_bytes());
        out.extend((packed.len() as u64).to_le_bytes());
        out.extend(packed);
    }
    out.extend(b"PK\x01\x02");
    out
}

fn matrix(format: &str, data: (&str, Vec<u8>)) -> Vec<(&'static str, Vec<u8>)> {
    let words = |words: &[i32]| egr(words);
    let (first, second) = match format {
        "coo" => ("row.npy", "col.npy"),
        _ => ("indptr.npy", "indices.npy"),
    };
    let (a, b) = match format {
        "coo" => (
            npy("<i4", "(3,)", &words(&[0, 0, 2])),
            npy("<i4", "(3,)", &words(&[2, 1, 0])),
        ),
        _ => (
            npy("<i4", "(4,)", &words(&[0, 2, 2, 3])),
            npy("<i4", "(3,)", &words(&[2, 1, 0])),
        ),
    };
    let shape: Vec<u8> = [3i64, 3].iter().flat_map(|n| n.to_le_bytes()).collect();
    vec![
        (second, b),
        (first, a),
        ("format.npy", npy("|S3", "()", format.as_bytes())),
        ("shape.npy", npy("<i8", "(2,)", &shape)),
        ("data.npy", npy(data.0, "(3,)", &data.1)),
    ]
}

fn doubles(values: [f64; 3]) -> (&'static str, Vec<u8>) {
    (
        "<f8",
        values
            .iter()
            .flat_map(|value| value.to_le_bytes())
            .collect(),
    )
}

#[test]
fn sparse_matrices_of_scipy_are_read() {
    for deflated in [false, true] {
        for format in ["csr", "csc", "coo"] {
            let bytes = archive(&matrix(format, doubles([7.0, 5.0, 4.0])), deflated);
            let loaded = load_as("a.npz", &bytes, &WEIGHTED).unwrap();
            let expected = match format {
                "csc" => [(0, 2, 4), (1, 0, 5), (2, 0, 7)],
                _ => [(0, 1, 5), (0, 2, 7), (2, 0, 4)],
            };
            assert_eq!(edges_of(&loaded.graph), expected, "{format} {deflated}");
            assert_eq!(loaded.stats.format, Format::Npz);
        }
    }
    let floats = archive(&matrix("csr", doubles([0.5, 3.0, 0.1])), true);
    let loaded = load_as("a.npz", &floats, &WEIGHTED).unwrap();
    let words = [3.0f32, 0.5, 0.1].map(f32::to_bits);
    assert_eq!(loaded.graph.weights(), Some(&words[..]));
    assert_eq!(loaded.stats.rounded_weights, 1);
    let nan = archive(&matrix("csr", doubles([f64::NAN; 3])), true);
    assert_eq!(load_as("a.npz", &nan, &PLAIN).unwrap().graph.edges(), 3);
    assert!(message("a.npz", &nan, &WEIGHTED).contains("member data.npy: its number 0 (NaN)"));
}

#[test]
fn damaged_archives_name_their_fault() {
    let good = matrix("csr", doubles([1.0; 3]));
    let with = |name: &str, bytes: Vec<u8>| {
        let mut members = good.clone();
        let place = members.iter_mut().find(|member| member.0 == name).unwrap();
        place.1 = bytes;
        message("a.npz", &archive(&members, true), &WEIGHTED)
    };
    let huge = npy("<i4", "(9000000000000000000,)", &egr(&[1]));
    for (name, bytes, expected) in [
        ("indices.npy", huge, "member indices.npy: "),
        (
            "indices.npy",
            npy("<i4", "(3, 4000000000000, 4000000000000)", &[]),
            "its header is not understood",
        ),
        (
            "indices.npy",
            npy("<i4", "(3,)", &egr(&[0, 1, -1])),
            "its number 2 (-1)",
        ),
        (
            "indices.npy",
            npy("<i4", "(3,)", &egr(&[0, 1, 3])),
            "edge 2 ends at node 3",
        ),
        (
            "indices.npy",
            npy("|O8", "(3,)", &[0; 24]),
            "expected an array of real numbers, found 3 of type O8",
        ),
        (
            "indices.npy",
            b"\x93NUMPY\x02\x00\xff\xff\xff\xff".to_vec(),
            "its header has 4294967295 bytes",
        ),
        (
            "indptr.npy",
            npy("<i4", "(4,)", &egr(&[0, 2, 1, 3])),
            "offset 1 of node 2",
        ),
        (
            "indptr.npy",
            npy("<i4", "(3,)", &egr(&[0, 2, 3])),
            "indptr.npy has 3 numbers, expected 4",
        ),
        (
            "format.npy",
            npy("|S3", "()", b"dia"),
            "the layout \"dia\" is not read",
        ),
        (
            "shape.npy",
            npy("<i4", "(2,)", &egr(&[3, 4])),
            "the shape [3, 4] is not that of a graph",
        ),
        ("data.npy", npy("<c16", "(3,)", &[0; 48]), "of type c16"),
        (
            "data.npy",
            npy("<f8", "(2,)", &[0; 16]),
            "data.npy has 2 numbers, expected 3",
        ),
    ] {
        let found = with(name, bytes);
        assert!(found.contains(expected), "{found}");
    }
    let bytes = archive(&good, false);
    assert!(load_as("a.npz", &bytes, &WEIGHTED).is_ok());
    for end in 0..bytes.len() - 1 {
        assert!(load_as("a.npz", &bytes[..end], &WEIGHTED).is_err(), "{end}");
    }
}

fn graphs() -> impl Strategy<Value = Graph> {
    let edges = prop::collection::vec((0u32..30, 0u32..30, 0u32..1000), 1..150);
    (edges, any::<bool>(), any::<bool>()).prop_map(|(edges, undirected, weighted)| {
        if weighted {
            Graph::from_weighted_edges(30, &edges, undirected).unwrap()
        } else {
            let plain: Vec<_> = edges.iter().map(|&(a, b, _)| (a, b)).collect();
            Graph::from_edges(30, &plain, undirected).unwrap()
        }
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn files_for_other_programs_read_back(graph in graphs()) {
        let folder = tempfile::tempdir().unwrap();
        for suffix in ["csv", "egr", "graph", "csv.gz", "egr.xz"] {
            let path = folder.path().join(format!("g.{suffix}"));
            if suffix == "graph" && !graph.is_symmetric() {
                let refused = graph::save(&graph, &path, None);
                let is_directed = matches!(refused, Err(GraphError::Directed { .. }));
                prop_assert!(is_directed);
                continue;
            }
            save(&graph, &path);
            let again = graph::load(&path, &WEIGHTED, None).unwrap().graph;
            if suffix.starts_with("csv") {
                prop_assert_eq!(edges_of(&again), edges_of(&graph));
            } else {
                let mut expected = rows(&graph);
                if graph.edges() == 0 {
                    expected.2 = again.weights().map(<[u32]>::to_vec);
                }
                prop_assert_eq!(rows(&again), expected, "{}", suffix);
            }
        }
    }
}

#[test]
fn graphs_that_a_format_cannot_hold_are_refused_before_writing() {
    let folder = tempfile::tempdir().unwrap();
    let floats = Graph::from_float_edges(2, &[(0, 1, 0.5)], true).unwrap();
    let heavy = Graph::from_weighted_edges(2, &[(0, 1, 1 << 31)], true).unwrap();
    for (graph, name) in [(&floats, "x.graph"), (&floats, "x.egr"), (&heavy, "x.egr")] {
        let refused = graph::save(graph, &folder.path().join(name), None);
        assert!(
            matches!(refused, Err(GraphError::Unwritable { .. })),
            "{name}"
        );
    }
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
}
