//! Names as ids: in tables, edge lists, lists of neighbours and GraphML.

use proptest::prelude::*;
use seawall_graph::{ColumnChoice, ColumnRef, LoadOptions};

use super::{edges, edges_of, graph_of, labels_of, load_as, refusal, weighted};

fn names(all: &[(&str, &str, f64)]) -> super::Edges {
    all.iter()
        .map(|(from, to, weight)| ((*from).to_owned(), (*to).to_owned(), *weight))
        .collect()
}

#[test]
fn names_are_ids_wherever_a_file_has_them() {
    let expected = names(&[("ann", "bob", 2.0), ("bob", "cid", 3.0)]);
    for (name, text) in [
        ("a.csv", "source,target,weight\nann,bob,2\nbob,cid,3\n"),
        (
            "a.csv",
            "\"from\";\"to\";\"weight\"\r\n\"ann\";\"bob\";2\r\nbob;cid;3\r\n",
        ),
        ("a.el", "ann bob 2\nbob cid 3\n"),
        ("a.tsv", "ann\tbob\t2\nbob\tcid\t3\n"),
        (
            "a.txt",
            "# names\nann bob {'weight': 2}\nbob cid {'weight': 3}\n",
        ),
    ] {
        assert_eq!(edges_of(&graph_of(name, text)), expected, "{text:?}");
    }
    let graph = graph_of(
        "a.csv",
        "source,target\n\"New York\",\"a \"\"b\"\"\"\nÖl,New York\n",
    );
    assert_eq!(labels_of(&graph), ["New York", "a \"b\"", "Öl"]);
    assert_eq!(
        (graph.find("Öl"), graph.find("0"), graph.has_names()),
        (Some(2), None, true)
    );
}

#[test]
fn digits_are_names_where_asked_for_or_beside_names() {
    let asked = LoadOptions {
        names: true,
        ..LoadOptions::default()
    };
    let graph = load_as("a.el", b"007 7\n7 12\n", &asked).unwrap().graph;
    assert_eq!(labels_of(&graph), ["007", "12", "7"]);
    let graph = graph_of("a.csv", "source,target\nann,7\n7,12\n");
    assert_eq!(labels_of(&graph), ["12", "7", "ann"]);
}

#[test]
fn what_may_be_a_header_or_a_mistake_is_refused() {
    for (text, expected) in [
        (
            "to x\n1 2\n",
            "a.el:2: found the number \"1\" as a node id, where the first edge has names",
        ),
        ("1 2\nann 3\n", "a.el:2: expected a node id, found \"ann\""),
        (
            "ann,bob\nbob,cid\n",
            "a.el:1: the names of the columns (\"ann,bob\")",
        ),
        ("ann bob friend\n", "a.el:1: the names of the columns"),
        ("ann bob\n#bob ann\nann\n", "a.el:3: the line ends before"),
        (
            "source,target\n#x,bob\nann,bob\n",
            "a.el:2: \"#x,bob\" is a comment by its first letter",
        ),
        (
            "source,target\nann,bob\n#x,bob\n",
            "a.el:3: \"#x,bob\" is a comment by its first letter",
        ),
        (
            "source,target\nann,\n",
            "a.el:2: the column of a node is empty",
        ),
        ("source,target\na\x01b,c\n", "has control characters"),
    ] {
        let found = refusal("a.el", text.as_bytes(), &LoadOptions::default());
        assert!(found.contains(expected), "{text:?}: {found}");
    }
    let found = refusal("a.el", b"ann b\xffb\n", &LoadOptions::default());
    assert!(found.contains("is not UTF-8"), "{found}");
}

#[test]
fn names_of_columns_that_are_nodes_too_may_be_the_first_edge() {
    let given = LoadOptions::default();
    let as_names = LoadOptions {
        names: true,
        ..LoadOptions::default()
    };
    for (text, options, expected) in [
        (
            "u v\nv w\n",
            &given,
            "a.el:1: \"u v\" names the columns, but \"v\" is a node",
        ),
        (
            "# x\n\ni\tj\nk\ti\n",
            &given,
            "a.el:3: \"i j\" names the columns, but \"i\" is a node",
        ),
        (
            "v2 v1 weight\nv0 v1 3\n",
            &weighted(),
            "a.el:1: \"v1 v2\" names the columns, but \"v1\" is",
        ),
        (
            "n1,n2\nn2,n3\n",
            &as_names,
            "a.el:1: \"n1 n2\" names the columns, but \"n2\" is",
        ),
    ] {
        let found = refusal("a.el", text.as_bytes(), options);
        assert!(found.starts_with(expected), "{text:?}: {found}");
    }
    let both = names(&[("u", "v", -1.0), ("v", "w", -1.0)]);
    let columns = LoadOptions {
        columns: chosen(Some("u"), Some("v"), None).columns,
        ..LoadOptions::default()
    };
    for (text, options, expected) in [
        // The line above says that it is an edge; commas and chosen columns, that it is a header.
        ("source target\nu v\nv w\n", &given, both.clone()),
        ("u,v\nv,w\n", &given, both[1..].to_vec()),
        ("u v\nv w\n", &columns, both[1..].to_vec()),
        ("u v\nV w\n", &given, names(&[("V", "w", -1.0)])),
        ("u v\n1 2\n", &given, edges(&[(1, 2, -1.0)])),
    ] {
        let graph = load_as("a.el", text.as_bytes(), options).unwrap().graph;
        assert_eq!(edges_of(&graph), expected, "{text:?}");
    }
}

fn chosen(source: Option<&str>, target: Option<&str>, weight: Option<&str>) -> LoadOptions {
    let column = |column: Option<&str>| column.map(ColumnRef::from);
    LoadOptions {
        columns: ColumnChoice {
            source: column(source),
            target: column(target),
            weight: column(weight),
        },
        ..weighted()
    }
}

#[test]
fn columns_are_chosen_by_name_or_number() {
    let expected = edges(&[(1, 2, 9.0), (2, 3, 8.0)]);
    for (text, options) in [
        (
            "to,x,y\n2,1,9\n3,2,8\n",
            chosen(Some("x"), Some("to"), Some("y")),
        ),
        (
            "to,x,y\n2,1,9\n3,2,8\n",
            chosen(Some("2"), Some("1"), Some("3")),
        ),
        ("to,x,y\n2,1,9\n3,2,8\n", chosen(Some("2"), Some("1"), None)),
        (
            "a b c\n2 1 9\n3 2 8\n",
            chosen(Some("b"), Some("a"), Some("c")),
        ),
        ("2 1 9\n3 2 8\n", chosen(Some("2"), Some("1"), None)),
        (
            "source,weight,target2\n1,9,2\n2,8,3\n",
            chosen(None, Some("3"), None),
        ),
        (
            "2 1 0 0 9\n3 2 0 0 8\n",
            chosen(Some("2"), Some("1"), Some("5")),
        ),
        (
            ",source,target,price,weight\n0,1,2,9,1\n1,2,3,8,1\n",
            chosen(None, None, Some("price")),
        ),
        (
            "Start Station;End Station;Min\n1;2;9\n2;3;8\n",
            chosen(Some("start station"), Some("End Station"), Some("min")),
        ),
    ] {
        let found = load_as("a.csv", text.as_bytes(), &options);
        let found = found
            .unwrap_or_else(|error| panic!("{text:?}: {error}"))
            .graph;
        // Names of columns that name no weight have none.
        let is_weightless = options.columns.weight.is_none() && text.starts_with("to");
        let expected = match is_weightless {
            true => edges(&[(1, 2, -1.0), (2, 3, -1.0)]),
            false => expected.clone(),
        };
        assert_eq!(edges_of(&found), expected, "{text:?}");
    }
    for (text, options, expected) in [
        (
            "a,b\n1,2\n",
            chosen(Some("x"), Some("b"), None),
            "no column \"x\" in the first line",
        ),
        (
            "a,b\n1,2\n",
            chosen(Some("3"), Some("2"), None),
            "no column 3 in the first line",
        ),
        (
            "a,b\n1,2\n",
            chosen(Some("a"), Some("a"), None),
            "column 1 is chosen twice",
        ),
        (
            "a,b,c\n1,2,3\n",
            chosen(None, None, Some("3")),
            "do not say which are the ends",
        ),
        (
            "a,b\n1,2\n",
            chosen(Some("a"), None, None),
            "do not say which are the ends",
        ),
        (
            "a,b\nx,y\n",
            chosen(Some("1"), Some("2"), None),
            "expected a node id, found \"x\"",
        ),
    ] {
        let found = refusal("a.csv", text.as_bytes(), &options);
        assert!(found.contains(expected), "{text:?}: {found}");
    }
    let matrix = b"%%MatrixMarket matrix coordinate pattern general\n2 2 1\n1 2\n";
    let found = refusal("a.mtx", matrix, &chosen(Some("1"), Some("2"), None));
    assert!(found.contains("columns are chosen in tables"), "{found}");
}

#[test]
fn the_index_of_pandas_is_named() {
    for text in [
        ",source,target\n0,1,2\n",
        "Unnamed: 0,source,target\n0,1,2\n",
    ] {
        let found = refusal("a.csv", text.as_bytes(), &LoadOptions::default());
        assert!(
            found.contains("index=False") && found.contains("--skip-columns"),
            "{found}"
        );
    }
}

#[test]
fn lists_of_neighbours_are_read_by_name_and_never_guessed() {
    let lgl = "# 1\n7 36\n8 4\n# 2\n3 5\n";
    let graph = graph_of("a.lgl", lgl);
    assert_eq!(labels_of(&graph), ["1", "2", "3", "7", "8"]);
    let of_one = |node: &str| {
        let from = edges_of(&graph).into_iter().filter(|edge| edge.0 == node);
        from.map(|edge| (edge.1, edge.2)).collect::<Vec<_>>()
    };
    assert_eq!(of_one("1"), [("7".to_owned(), 36.0), ("8".to_owned(), 4.0)]);
    assert_eq!(of_one("2"), [("3".to_owned(), 5.0)]);
    for name in ["a.txt", "a.el", "a"] {
        let found = refusal(name, lgl.as_bytes(), &weighted());
        assert!(found.contains("head of a list of neighbours"), "{found}");
    }
    let adjacency = "#comment\nann bob cid\nbob\ncid ann\n";
    let expected = names(&[
        ("ann", "bob", -1.0),
        ("ann", "cid", -1.0),
        ("cid", "ann", -1.0),
    ]);
    assert_eq!(edges_of(&graph_of("a.adjlist", adjacency)), expected);
    // Lines of other lengths are not an edge list, with and without weights.
    for options in [weighted(), LoadOptions::default()] {
        for text in ["0 1 2\n1 2\n", "0 1\n1 2 3\n", "0 1 2 3\n", "0 1\n2\n"] {
            refusal("a.txt", text.as_bytes(), &options);
        }
    }
    for (text, expected) in [
        ("7 36\n", "a.lgl:1: unknown line"),
        ("# 1 2\n", "a.lgl:1: unexpected field"),
        ("# 1\n2 3\n4\n", "a.lgl:3: the line ends before a weight"),
        ("# 1\n2\n4 3\n", "a.lgl:3: a weight, which the first edge"),
        ("# 1\n2 x\n", "a.lgl:2: expected a weight, found \"x\""),
    ] {
        let found = refusal("a.lgl", text.as_bytes(), &weighted());
        assert!(found.starts_with(expected), "{text:?}: {found}");
    }
}

const GRAPHML: &str = r#"<?xml version="1.0" encoding="UTF-8"?>
<graphml xmlns="http://graphml.graphdrawing.org/xmlns">
  <key id="d1" for="edge" attr.name="weight" attr.type="double"><default>7</default></key>
  <key id="d2" for="node" attr.name="weight" attr.type="double"/>
  <graph edgedefault="undirected">
    <node id="n&amp;0"><data key="d2">99</data></node>
    <node id="n1"/>
    <edge source="n&amp;0" target="n1"><data key="d1"> 2.5 </data></edge>
    <edge source="n1" target="n2"/>
    <node id="n2"/><node id="n3"/>
  </graph>
</graphml>
"#;

#[test]
fn graphml_has_nodes_weights_and_directions() {
    let graph = graph_of("a.graphml", GRAPHML);
    assert_eq!(labels_of(&graph), ["n&0", "n1", "n2", "n3"]);
    assert!(graph.is_symmetric());
    let of_n1 = edges_of(&graph).into_iter().filter(|edge| edge.0 == "n1");
    assert_eq!(of_n1.map(|edge| edge.2).collect::<Vec<_>>(), [2.5, 7.0]);
    // Recognised by content, with ids that are numbers.
    let numbers = GRAPHML.replace("n&amp;0", "10").replace("\"n", "\"1");
    let graph = graph_of("standard input", &numbers);
    assert_eq!(labels_of(&graph), ["10", "11", "12", "13"]);
    assert!(!graph.has_names());
    let mixed = GRAPHML.replace("target=\"n2\"", "target=\"n2\" directed=\"true\"");
    let graph = graph_of("a.graphml", &mixed);
    let found = names(&[("n&0", "n1", 2.5), ("n1", "n&0", 2.5), ("n1", "n2", 7.0)]);
    assert_eq!((edges_of(&graph), graph.is_symmetric()), (found, false));
}

#[test]
fn graphml_has_a_key_for_each_type_of_a_weight() {
    let key = r#"<key id="d1" for="edge" attr.name="weight" attr.type="double">"#;
    let others = [
        r#"<key id="d0" for="edge" attr.name="weight" attr.type="long"/>"#,
        r#"<key id="d0" for="all" attr.name="weight" attr.type="long"><desc>8</desc></key>"#,
    ];
    // NetworkX writes such keys where whole weights are beside floats, in any order.
    for other in others {
        let before = GRAPHML.replace(key, &format!("{other}{key}"));
        let after = GRAPHML.replace("</default></key>", &format!("</default></key>{other}"));
        for text in [before, after] {
            let whole = r#"target="n2"><data key="d0">4</data></edge>"#;
            let graph = graph_of("a.graphml", &text.replace(r#"target="n2"/>"#, whole));
            let of_n1 = edges_of(&graph).into_iter().filter(|edge| edge.0 == "n1");
            assert_eq!(of_n1.map(|edge| edge.2).collect::<Vec<_>>(), [2.5, 4.0]);
        }
    }
    let described = GRAPHML.replace("<default>", "<desc>5</desc>\n<default>");
    assert_eq!(
        edges_of(&graph_of("a.graphml", &described)),
        edges_of(&graph_of("a.graphml", GRAPHML))
    );
}

#[test]
fn broken_graphml_names_line_and_reason() {
    for (from, to, expected) in [
        (
            "edgedefault=\"undirected\"",
            "",
            "a.graphml:5: the element <graph> has no attribute edgedefault",
        ),
        (
            "\"undirected\"",
            "\"both\"",
            "a.graphml:5: this edgedefault is not supported (both)",
        ),
        (
            "<node id=\"n1\"/>",
            "",
            "the edge of line 8 ends at \"n1\", a node that",
        ),
        (
            "<node id=\"n3\"/>",
            "<node id=\"n1\"/>",
            "a.graphml:10: a second node with the id \"n1\"",
        ),
        (
            " 2.5 ",
            "heavy",
            "a.graphml:8: expected a weight, found \"heavy\"",
        ),
        ("</graphml>", "", "ends within an element"),
        ("</graph>", "</graff>", "not valid GraphML"),
        ("n&amp;0", "n&bomb;0", "not valid GraphML"),
        (
            "<node id=\"n1\"/>",
            "<node id=\"n1\"><graph edgedefault=\"directed\"/></node>",
            "a second or nested graph",
        ),
        (
            "<node id=\"n1\"/>",
            "<node id=\"n1\"/><hyperedge/>",
            "an edge of more than two ends",
        ),
    ] {
        let text = GRAPHML.replacen(from, to, 1);
        let found = refusal("a.graphml", text.as_bytes(), &weighted());
        assert!(found.contains(expected), "{from} {to}: {found}");
    }
    let deep = format!("<graphml>{}", "<a>".repeat(100_000));
    assert!(refusal("a.graphml", deep.as_bytes(), &weighted()).contains("nest more than"));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn names_do_not_depend_on_the_order_of_edges_nor_on_threads(
        pairs in prop::collection::vec(("[a-f]{1,3}", "[a-f]{1,3}"), 1..40)
    ) {
        let text = |pairs: &[(String, String)]| {
            pairs.iter().map(|(a, b)| format!("{a} {b}\n")).collect::<String>()
        };
        let forward = graph_of("a.el", &text(&pairs));
        let mut turned = pairs.clone();
        turned.reverse();
        let backward = graph_of("a.el", &text(&turned));
        prop_assert_eq!(labels_of(&forward), labels_of(&backward));
        prop_assert_eq!(edges_of(&forward), edges_of(&backward));
        for (a, b) in &pairs {
            let (from, to) = (forward.find(a).unwrap(), forward.find(b).unwrap());
            prop_assert!(from == to || forward.neighbours(from).contains(&to));
        }
    }
}

#[test]
fn a_large_list_of_names_is_the_same_from_any_number_of_threads() {
    let text: String = (0..400_000u32)
        .map(|at| {
            format!(
                "node{} node{}\n",
                at % 1013,
                at.wrapping_mul(2_654_435_761) % 5003
            )
        })
        .collect();
    let load = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()
            .unwrap();
        pool.install(|| graph_of("a.el", &text))
    };
    let (one, five) = (load(1), load(5));
    assert_eq!(labels_of(&one), labels_of(&five));
    assert_eq!(one.layout_hash(), five.layout_hash());
}
