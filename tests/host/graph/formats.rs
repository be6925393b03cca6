//! Text files of other programs: SciPy, NetworkX, pandas and METIS; files for them read back.
use super::{PLAIN, WEIGHTED, load_as, message, rows, save};
use proptest::prelude::*;
use seawall::graph::{
    self, ColumnChoice, Format, Graph, GraphError, LoadOptions, WeightChoice, WeightKind,
};

const SKIPPING: LoadOptions = LoadOptions {
    undirected: false,
    weights: WeightChoice::Given,
    skip_columns: true,
    format: None,
    listed_order: false,
    signed: false,
    columns: ColumnChoice::NONE,
    names: false,
};

type Edge = (u64, u64, u32);

/// Edges by the ids of the file; those without a weight have 0.
pub(super) fn edges_of(graph: &Graph) -> Vec<Edge> {
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

#[test]
fn skipped_columns_may_begin_below_the_first_line() {
    let edges = read("a.el", "1 2\n2 3 3 4\n", &SKIPPING);
    assert_eq!(edges, [(1, 2, 0), (2, 3, 0)]);
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
            vec![(1, 1), (1, 3), (3, 1)],
        ),
        ("Coordinate REAL General", "2 2 1\n1 2 nan\n", vec![(1, 2)]),
        (
            "array real general",
            "2 2\n0\n0.0\n-inf\n1e-400\n",
            vec![(1, 2), (2, 2)],
        ),
        (
            "array integer symmetric",
            "3 3\n5\n0\n2\n0\n1\n9\n",
            vec![(1, 1), (1, 3), (2, 3), (3, 1), (3, 2), (3, 3)],
        ),
        (
            "array real skew-symmetric",
            "3 3\n0\n2\n0\n",
            vec![(1, 3), (3, 1)],
        ),
        (
            "array complex general",
            "2 2\n1 1\n0 0\n0 1\n0 0\n",
            vec![(1, 1), (1, 2)],
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
        ("a.csv", "# comment\nsource,target,cost\n0,1,4\n1,2,7\n"),
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
            ":1: column 1 (\"\") is the index of pandas",
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
            ":1: the names of the columns (\"alice,bob\") do not say",
        ),
        (
            "station a,station b,minutes\n0,1,4\n",
            ":1: the names of the columns (\"station a,station b,minutes\")",
        ),
        (
            "1 2\nalice 2\n",
            ":2: expected a node id, found \"alice\"; the ids before",
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
        assert!(loaded.graph.is_symmetric() && loaded.graph.is_simple());
    }
    for (text, expected) in [
        (
            "3 1\n2\n",
            ": the header promises 3 nodes, one per line, the file has 1 lines",
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
