//! Drawings of graphs: whole, with every node and edge, and refused where they would be a blot.

use super::pictures::{assert_whole, elements};
use super::{Finished, Fixture, finish, seawall};
use proptest::prelude::*;

const CALLS: &[u8] = b"ann bob\nbob cleo\ncleo dora\ndora ann\nbob dora\nerik ann\nann ann\n";

fn draw(graph: &str, analysis: &str, file: &str, more: &[&str]) -> Finished {
    let run = [
        "run",
        graph,
        "--analysis",
        analysis,
        "--quiet",
        "--draw",
        file,
    ];
    finish(seawall(&run).args(more))
}

fn drawn(graph: &str, analysis: &str, more: &[&str]) -> String {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("drawing.svg");
    let file = file.to_str().unwrap();
    let done = draw(graph, analysis, file, more);
    assert_eq!((done.code, done.stderr.as_str()), (0, ""));
    let picture = std::fs::read_to_string(file).unwrap();
    assert_whole(&picture);
    picture
}

/// Number of elements of a class.
fn count(picture: &str, class: &str) -> usize {
    picture.matches(&format!(" class=\"{class}\"")).count()
}

#[test]
fn every_analysis_draws_all_nodes_and_edges() {
    let analyses = [
        "bfs",
        "reach",
        "cc",
        "sssp",
        "pagerank",
        "kcore",
        "triangles",
        "betweenness",
        "closeness",
        "eccentricity",
        "ppr",
        "widest",
        "msf",
        "scc",
        "labels",
        "mis",
        "colouring",
    ];
    for analysis in analyses {
        let takes_source = ![
            "cc",
            "pagerank",
            "kcore",
            "triangles",
            "msf",
            "scc",
            "labels",
            "mis",
            "colouring",
        ]
        .contains(&analysis);
        let source: &[&str] = if takes_source {
            &["--source", "0"]
        } else {
            &[]
        };
        let picture = drawn("gen:grid:5", analysis, source);
        let nodes = count(&picture, "node") + count(&picture, "marked");
        let legend = elements(&picture, "circle").len() - 25;
        assert_eq!(nodes - legend, 25, "{analysis}");
        let edges = count(&picture, "link") + count(&picture, "tree");
        assert_eq!(edges, 40, "{analysis}");
        if analysis == "msf" {
            assert_eq!(count(&picture, "tree"), 24);
        }
    }
}

#[test]
fn a_path_and_a_tree_are_on_the_drawing_and_nodes_have_their_names() {
    let file = Fixture::new("calls.el", CALLS);
    let source = ["--source", "erik", "--target", "cleo"];
    let picture = drawn(file.path(), "bfs", &source);
    assert_eq!((count(&picture, "path"), count(&picture, "marked")), (3, 2));
    assert_eq!(count(&picture, "on-path"), 2);
    // Directed edges are arrows; a loop has no direction to draw.
    assert_eq!(count(&picture, "edge"), 6);
    for name in ["ann", "bob", "cleo", "dora", "erik"] {
        assert!(picture.contains(&format!(">{name}</text>")), "{name}");
    }
    // A part has the name of its first node.
    let parts = drawn(file.path(), "cc", &["--undirected"]);
    assert!(
        parts.contains("<title>node bob: set of ann</title>"),
        "{parts}"
    );
    let tree = drawn("gen:grid:9", "bfs", &["--source", "0", "--parents"]);
    assert_eq!(count(&tree, "tree"), 80);
}

#[test]
fn a_drawing_in_pixels_has_twice_its_units() {
    let file = Fixture::new("calls.el", CALLS);
    for option in ["--draw", "--plot"] {
        let png = file.beside("picture.png");
        let run = [
            "run",
            file.path(),
            "--analysis",
            "pagerank",
            "--quiet",
            option,
            &png,
        ];
        let done = finish(&mut seawall(&run));
        assert_eq!((done.code, done.stderr.as_str()), (0, ""));
        let bytes = std::fs::read(&png).unwrap();
        assert!(bytes.starts_with(b"\x89PNG\r\n\x1a\n"));
        let side = |at: usize| u32::from_be_bytes(bytes[at..at + 4].try_into().unwrap());
        let expected = if option == "--draw" {
            (1920, 1520)
        } else {
            (1720, 720)
        };
        assert_eq!((side(16), side(20)), expected);
    }
}

#[test]
fn a_graph_of_another_size_is_refused_before_it_is_run() {
    for graph in ["gen:grid:65", "gen:rmat:10:60"] {
        let done = draw(graph, "cc", "unused.svg", &[]);
        done.refused(&["--draw", "4,096 nodes and 32,768 edges", "--plot"]);
        assert!(!std::path::Path::new("unused.svg").exists());
    }
    draw("gen:grid:3", "cc", "x.jpg", &[]).refused(&["--draw x.jpg", ".svg or .png"]);
    draw("gen:grid:3", "cc", "x.svg", &["--stream", "always"]).refused(&["--stream", "--draw"]);
    let batch = [
        "run",
        "gen:grid:3",
        "gen:grid:4",
        "--analysis",
        "cc",
        "--draw",
        "x.svg",
    ];
    finish(&mut seawall(&batch)).refused(&["--draw", "batch"]);
}

#[test]
fn the_same_graph_has_the_same_drawing() {
    let graph = "gen:rmat:10:4";
    assert_eq!(drawn(graph, "cc", &[]), drawn(graph, "cc", &[]));
}

#[test]
fn graphs_without_edges_or_nodes_are_drawn() {
    let file = Fixture::new(
        "empty.mtx",
        b"%%MatrixMarket matrix coordinate pattern general\n6 6 0\n",
    );
    assert_eq!(count(&drawn(file.path(), "pagerank", &[]), "node"), 6);
    assert_eq!(count(&drawn("gen:grid:1", "kcore", &[]), "node"), 1);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_small_graph_is_drawn_whole(edges in proptest::collection::vec((0..40_u32, 0..40_u32), 1..90), is_directed: bool) {
        use std::fmt::Write as _;
        let mut text = String::new();
        for (from, to) in &edges {
            writeln!(text, "{from} {to}").unwrap();
        }
        let file = Fixture::new("any.el", text.as_bytes());
        let more: &[&str] = if is_directed { &[] } else { &["--undirected"] };
        let mut nodes: Vec<u32> = edges.iter().flat_map(|(from, to)| [*from, *to]).collect();
        nodes.sort_unstable();
        nodes.dedup();
        let picture = drawn(file.path(), "pagerank", more);
        prop_assert_eq!(elements(&picture, "circle").len(), nodes.len());
        prop_assert!(!picture.contains("NaN") && !picture.contains("inf"));
    }
}
