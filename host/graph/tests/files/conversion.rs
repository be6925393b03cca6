//! Conversions between all formats that are written: the same nodes, ids, names, edges and weights,
//! or a refusal and no file.

use std::path::Path;

use proptest::prelude::*;
use seawall_graph::{Format, Graph, GraphError, load, save};

use super::{edges_of, graph_of, labels_of, load_as, weighted};

/// A graph of a file, with isolated nodes, odd ids or names, weights of any kind or none.
fn texts() -> impl Strategy<Value = (String, &'static str)> {
    let edges = prop::collection::vec((0usize..9, 0usize..9, 0u32..99), 0..25);
    let ids = prop_oneof![
        (prop_oneof![0u64..4, Just(77), Just(1 << 31), Just(1 << 40)]).prop_map(|first| {
            (first..first + 9)
                .map(|id| id.to_string())
                .collect::<Vec<_>>()
        }),
        prop::collection::btree_set(prop_oneof![0u64..40, any::<u64>()], 9)
            .prop_map(|ids| ids.into_iter().map(|id| id.to_string()).collect()),
        prop::collection::btree_set("[a-zé%#;\" ,{0-9_-]{0,4}[a-z0-9]", 9)
            .prop_map(|names| names.into_iter().collect()),
        prop::collection::btree_set("[a-z][a-z0-9]{0,3}", 9)
            .prop_map(|names| names.into_iter().collect()),
        prop::collection::btree_set("0{0,2}[0-9]{1,2}", 9)
            .prop_map(|names| names.into_iter().collect()),
    ];
    let weights = prop_oneof![Just("none"), Just("whole"), Just("float")];
    (edges, ids, weights, any::<bool>())
        .prop_map(|(edges, ids, weights, both)| (graphml(&edges, &ids, weights, both), "g.graphml"))
}

fn escaped(name: &str) -> String {
    name.replace('&', "&amp;").replace('"', "&quot;")
}

/// GraphML can express everything: the source of all conversions.
fn graphml(edges: &[(usize, usize, u32)], ids: &[String], weights: &str, both: bool) -> String {
    let direction = if both { "undirected" } else { "directed" };
    let mut text = format!(
        "<graphml><key id=\"w\" for=\"edge\" attr.name=\"weight\"/><graph edgedefault=\"{direction}\">\n"
    );
    for id in ids {
        text += &format!("<node id=\"{}\"/>\n", escaped(id));
    }
    let mut seen = std::collections::BTreeSet::new();
    for (from, to, weight) in edges {
        // Loops and parallel edges are for other tests.
        if from == to || !seen.insert((from.min(to), from.max(to))) {
            continue;
        }
        let weight = match weights {
            "none" => String::new(),
            "whole" => format!("<data key=\"w\">{weight}</data>"),
            _ => format!("<data key=\"w\">{}.5</data>", weight),
        };
        let (from, to) = (escaped(&ids[*from]), escaped(&ids[*to]));
        text += &format!("<edge source=\"{from}\" target=\"{to}\">{weight}</edge>\n");
    }
    text + "</graph></graphml>\n"
}

/// Writes and reads; `None` if the format refuses the graph, which leaves no file.
fn through(graph: &Graph, format: Format, folder: &Path) -> Option<Graph> {
    let path = folder.join(format!("g.{}", format.name()));
    match save(graph, &path, Some(format)) {
        Ok(_) => {}
        Err(GraphError::Unwritable { .. } | GraphError::Directed { .. }) => {
            assert!(!path.exists(), "{format}");
            return None;
        }
        Err(error) => panic!("{format}: {error}"),
    }
    let options = seawall_graph::LoadOptions {
        format: Some(format),
        ..weighted()
    };
    let text = std::fs::read(&path).unwrap();
    let loaded = load(&path, &options, None);
    let loaded = loaded.unwrap_or_else(|error| {
        panic!("{error}\n{}", String::from_utf8_lossy(&text));
    });
    std::fs::remove_file(&path).unwrap();
    Some(loaded.graph)
}

fn same(a: &Graph, b: &Graph, how: &str) {
    assert_eq!(labels_of(a), labels_of(b), "{how}");
    assert_eq!(edges_of(a), edges_of(b), "{how}");
    let is_weighted = a.weights().is_some() && a.edges() > 0;
    assert_eq!(is_weighted, b.weights().is_some() && b.edges() > 0, "{how}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn every_pair_of_formats_keeps_nodes_ids_edges_and_weights((text, name) in texts()) {
        let folder = tempfile::tempdir().unwrap();
        let graph = load_as(name, text.as_bytes(), &weighted()).unwrap().graph;
        let written = || Format::ALL.into_iter().filter(|format| format.is_written());
        for first in written() {
            let Some(once) = through(&graph, first, folder.path()) else {
                continue;
            };
            same(&graph, &once, &format!("{first}\n{text}"));
            for second in written() {
                if let Some(twice) = through(&once, second, folder.path()) {
                    same(&graph, &twice, &format!("{first}, {second}\n{text}"));
                }
            }
        }
    }
}

#[test]
fn formats_that_hold_everything_refuse_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let everything = "<graphml><graph edgedefault=\"directed\"><node id=\"b c\"/><node id=\"a,1\"/>\
                      <node id=\"7\"/><edge source=\"b c\" target=\"7\"/></graph></graphml>";
    let graph = graph_of("g.graphml", everything);
    for format in [Format::Csv, Format::MatrixMarket, Format::Dimacs] {
        assert!(through(&graph, format, folder.path()).is_some(), "{format}");
    }
    let ids = graph_of("g.el", "# seawall: nodes 3 900\n5 1099511627776\n");
    for format in Format::ALL.into_iter().filter(|format| format.is_written()) {
        let is_binary = matches!(format, Format::Ecl | Format::Gbbs);
        let needs_both = matches!(format, Format::Metis | Format::Pace);
        let found = through(&ids, format, folder.path());
        assert_eq!(found.is_none(), is_binary || needs_both, "{format}");
    }
    for format in [Format::Ecl, Format::Gbbs, Format::Npz, Format::Binary] {
        let plain = graph.clone_renumbered();
        assert!(through(&plain, format, folder.path()).is_some(), "{format}");
    }
}

/// A copy with the ids 0, 1, 2, ….
trait Renumber {
    fn clone_renumbered(&self) -> Graph;
}

impl Renumber for Graph {
    fn clone_renumbered(&self) -> Graph {
        let pairs: Vec<_> = (0..self.nodes())
            .flat_map(|node| self.neighbours(node).iter().map(move |to| (node, *to)))
            .collect();
        Graph::from_edges(self.nodes(), &pairs, false)
            .unwrap()
            .renumbered()
    }
}

#[test]
fn a_file_edited_or_joined_by_hand_is_refused() {
    for (name, text, expected) in [
        (
            "g.el",
            "# seawall: ids 0 to 5\n0 6\n",
            "g.el:1: node 6 is outside",
        ),
        ("g.el", "0 1\n# seawall: ids 0 to 5\n", "g.el:2: "),
        (
            "g.el",
            "# seawall: ids 5 to 3\n0 1\n",
            "g.el:1: unknown line",
        ),
        (
            "g.el",
            "# seawall: ids 0 to 99999999999\n0 1\n",
            "promises 100000000000 nodes",
        ),
        (
            "g.mtx",
            "%%MatrixMarket matrix coordinate pattern general\n% seawall: nodes 4 6\n3 3 1\n1 2\n",
            "g.mtx:2: the comments of seawall list 2 ids in ascending order for 3 nodes",
        ),
    ] {
        let found = super::refusal(name, text.as_bytes(), &weighted());
        assert!(found.contains(expected), "{text:?}: {found}");
    }
}
