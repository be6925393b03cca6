//! Every kind of bad input ends in one message with file, line, reason and value.
use super::{PLAIN, WEIGHTED, gzip, load_as, message, xz};
use seawall::graph::{self, Format, Graph, GraphError};

const MTX: &str = "%%MatrixMarket matrix coordinate integer general\n% c\n";

fn check(name: &str, text: &str, expected: &str) {
    assert_eq!(
        message(name, text.as_bytes(), &WEIGHTED),
        format!("{name}{expected}"),
        "{text:?}"
    );
}

#[test]
fn matrix_market_errors_name_the_line() {
    check(
        "a.mtx",
        "1 2\n",
        ":1: wrong banner (\"1 2\"); expected %%MatrixMarket matrix coordinate|array FIELD SYMMETRY",
    );
    check(
        "a.mtx",
        &format!("{MTX}3 3 2\n1 2 5\n\n1 x 5\n"),
        ":6: expected a node id, found \"x\"",
    );
    check(
        "a.mtx",
        &format!("{MTX}3 3 2\n1 2 5\n1 4 5\n"),
        ":5: node id out of range (4); the header allows 1 to 3",
    );
    check(
        "a.mtx",
        &format!("{MTX}3 3 2\n1 2 5\n0 1 5\n"),
        ":5: node id out of range (0); the header allows 1 to 3",
    );
    check(
        "a.mtx",
        &format!("{MTX}3 3 1\n1 2 5\n1 3 5\n1 3 6\n"),
        ":5: the header promises 1 edges, the file has 2",
    );
    check(
        "a.mtx",
        &format!("{MTX}3 3 4\n1 2 5\n"),
        ":4: the header promises 4 edges, the file has 1",
    );
    check(
        "a.mtx",
        &format!("{MTX}3 3 2\n1 2 -5\n"),
        ":4: a weight is negative (-5)",
    );
    check(
        "a.mtx",
        &format!("{MTX}3 3 -2\n"),
        ":3: the entry count is negative (-2)",
    );
    check(
        "a.mtx",
        &format!("{MTX}3 3 1000000000000000000\n1 2 5\n"),
        ":3: the entry count is too large (1000000000000000000); at most 4294967295",
    );
    check(
        "a.mtx",
        MTX,
        ":2: the line ends before the size line \"ROWS COLUMNS ENTRIES\" (\"\")",
    );
}

#[test]
fn invalid_weights_matter_only_if_weights_are_read() {
    let text = "%%MatrixMarket matrix coordinate real general\n2 2 1\n1 2 -0.5\n";
    check("a.mtx", text, ":3: a weight is negative (-0.5)");
    check(
        "a.el",
        "1 2 0.5\n1 3 nan\n",
        ":2: expected a weight, found \"nan\"",
    );
    check(
        "a.el",
        "1 2 1e39\n",
        ":1: a weight is too large for a 32-bit float (1e39); at most 3.4028235e38",
    );
    let loaded = load_as("a.mtx", text.as_bytes(), &PLAIN).unwrap();
    assert_eq!(loaded.graph.targets(), [1]);
    assert!(loaded.graph.weights().is_none());
}

#[test]
fn challenge_errors_name_the_line() {
    check(
        "a.gr",
        "c hi\np sp 2 1\na 1 2\n",
        ":3: the line ends before a weight (\"a 1 2\")",
    );
    check(
        "a.gr",
        "p tw 3 1\n1 2 9\n",
        ":2: unexpected field after the last one (\"9\")",
    );
    check(
        "a.gr",
        "p tw 3 1\np tw 3 1\n",
        ":2: second header line (\"p\")",
    );
    check(
        "a.gr",
        "p tw 99999999999999999999 1\n",
        ":1: the node count is too large (99999999999999999999); at most 18446744073709551615",
    );
    check(
        "a.gr",
        "p tw 4000000000 1\n1 2\n",
        ": the header promises 4000000000 nodes for 1 edges; more than 67108864 nodes need an edge for each 16",
    );
    check(
        "a.gr",
        "c only\n",
        ":1: the line ends before the header \"p sp N M\" or \"p tw N M\" (\"\")",
    );
}

#[test]
fn edge_list_errors_name_the_line() {
    check(
        "a.el",
        "# c\n1 2\n3\n",
        ":3: the line ends before a node id (\"3\")",
    );
    check(
        "a.el",
        "1 2 3\n1 2\n",
        ":2: the line ends before a weight (\"1 2\")",
    );
    check("a.el", "1 2\n-1 2\n", ":2: a node id is negative (-1)");
    check(
        "a.el",
        "1 2\n1 2 3 4\n",
        ":2: column 3 (\"3\") is neither an end of an edge nor its weight; remove it, give --skip-columns, or choose columns with --source-column, --target-column and --weight-column; lists of neighbours need --format adjlist",
    );
    check(
        "page",
        "<page>\n",
        ":1: not a graph in a known format (\"<page>\"); known are Matrix Market, edge list (also .csv), DIMACS, PACE, METIS (.graph), GraphML, .adjlist, .lgl, .npz, .egr, .bin (GBBS) and .swg, each also as .gz, .xz, .bz2 or .zst",
    );
}

#[test]
fn lines_are_exact_deep_in_a_large_file() {
    let mut text = String::from("# many pieces\n");
    for line in 0..400_000u32 {
        text.push_str(&format!("{} {}\n", line * 7 % 100_003, line));
    }
    text.push_str("17 oops\n");
    text.push_str(&"1 2\n".repeat(300_000));
    check(
        "big.el",
        &text,
        ":400002: expected a node id, found \"oops\"; the ids before it are whole numbers; if all ids are names, give --names",
    );
    let packed = gzip(text.as_bytes());
    assert!(message("big.el.gz", &packed, &PLAIN).starts_with("big.el.gz:400002: "));
}

#[test]
fn empty_files_are_named() {
    for (name, bytes) in [
        ("a.mtx", &b""[..]),
        ("a.el", b"# nothing\n\n"),
        ("a.gr", b"\n"),
        ("plain", b"  \n"),
    ] {
        assert_eq!(
            message(name, bytes, &PLAIN).split(": ").last(),
            Some("the file is empty, or has comments alone; expected a graph"),
            "{name}"
        )
    }
    assert!(message("a.el.gz", &gzip(b""), &PLAIN).contains("the file is empty"));
}

#[test]
fn broken_compression_is_named() {
    let text = "1 2\n".repeat(50_000);
    for (name, packed) in [
        ("a.el.gz", gzip(text.as_bytes())),
        ("a.el.xz", xz(text.as_bytes())),
    ] {
        let codec = if name.ends_with("gz") { "gzip" } else { "xz" };
        let cut = message(name, &packed[..packed.len() - 9], &PLAIN);
        assert!(
            cut.starts_with(&format!(
                "{name}: the {codec} stream is truncated or damaged after "
            )),
            "{cut}"
        );
        let mut garbage = packed[..8].to_vec();
        garbage.extend([0xff; 200]);
        assert!(message(name, &garbage, &PLAIN).contains("truncated or damaged"));
        let mut flipped = packed.clone();
        let middle = flipped.len() / 2;
        flipped[middle] ^= 0x55;
        assert!(load_as(name, &flipped, &PLAIN).is_err(), "{name}");
    }
}

#[test]
fn the_system_is_quoted_with_the_path() {
    let missing = graph::load("/no/such/graph.mtx", &PLAIN, None)
        .unwrap_err()
        .to_string();
    assert!(
        missing.starts_with("/no/such/graph.mtx: cannot open: "),
        "{missing}"
    );
    let folder = tempfile::tempdir().unwrap();
    let error = graph::load(folder.path().to_str().unwrap(), &PLAIN, None).unwrap_err();
    assert!(error.to_string().contains("cannot read"), "{error}");
}

#[test]
fn unwritable_output_is_an_error_and_leaves_nothing() {
    let graph = Graph::from_edges(2, &[(0, 1)], false).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let inside = folder.path().join("no").join("x.mtx");
    assert!(matches!(
        graph::save(&graph, &inside, None),
        Err(GraphError::Io {
            action: "create",
            ..
        })
    ));
    let odd = folder.path().join("x.dot");
    assert!(matches!(
        graph::save(&graph, &odd, None),
        Err(GraphError::UnknownSuffix { .. })
    ));
    let pace = folder.path().join("x.gr");
    let refused = graph::save(&graph, &pace, Some(Format::Pace));
    assert!(matches!(refused, Err(GraphError::Directed { .. })));
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
}
