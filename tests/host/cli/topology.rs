//! `--topology`: one shape for every step of a search.

use super::{Fixture, finish, seawall};
use serde_json::Value;

const SHAPES: [(&str, &str); 6] = [
    ("warp-sparse", "warp_sparse"),
    ("sparse", "sparse"),
    ("hybrid", "hybrid"),
    ("dense", "dense"),
    ("block-dense", "block_dense"),
    ("fused", "fused"),
];

fn search(graph: &str, analysis: &str, topology: &str) -> Value {
    let run = [
        "run",
        graph,
        "--analysis",
        analysis,
        "--source",
        "0",
        "--backend",
        "cpu",
        "--check",
        "--json",
        "--topology",
        topology,
    ];
    finish(&mut seawall(&run)).json()
}

#[test]
fn each_shape_runs_and_has_the_same_result() {
    for analysis in ["bfs", "reach"] {
        for graph in ["gen:grid:24", "gen:chain:300", "gen:rmat:7:8"] {
            let auto = search(graph, analysis, "auto");
            for (name, reported) in SHAPES {
                let forced = search(graph, analysis, name);
                assert_eq!(forced["plan"]["topology"], reported, "{graph} {analysis}");
                assert_eq!(forced["checked"], true, "{graph} {analysis} {name}");
                assert_eq!(forced["checksum"], auto["checksum"], "{graph} {name}");
                assert_eq!(forced["reached"], auto["reached"], "{graph} {name}");
            }
        }
    }
}

#[test]
fn a_search_without_a_step_has_no_shape() {
    let file = Fixture::new("edges.txt", b"1 0\n");
    let report = search(file.path(), "bfs", "dense");
    assert_eq!(report["plan"]["topology"], "none");
    assert_eq!(report["reached"], 1);
}

#[test]
fn a_program_without_searches_refuses_a_shape() {
    for analysis in ["cc", "kcore", "pagerank", "sssp"] {
        let run = [
            "run",
            "gen:grid:8",
            "--analysis",
            analysis,
            "--source",
            "0",
            "--backend",
            "cpu",
            "--topology",
            "dense",
        ];
        finish(&mut seawall(&run)).refused(&[
            "topology dense",
            "(--topology)",
            analysis,
            "bfs or reach",
        ]);
    }
}

#[test]
fn an_unknown_shape_is_refused_with_the_known_ones() {
    let run = [
        "run",
        "gen:grid:8",
        "--analysis",
        "bfs",
        "--source",
        "0",
        "--topology",
        "round",
    ];
    finish(&mut seawall(&run)).refused(&["round", "auto", "block_dense"]);
}

#[test]
fn every_shape_is_named_as_reports_name_it() {
    for (_, reported) in SHAPES {
        let forced = search("gen:grid:24", "bfs", reported);
        assert_eq!(forced["plan"]["topology"], reported);
    }
    let help = finish(&mut seawall(&["run", "--help-all"]));
    assert!(help.stdout.contains("warp_sparse") && help.stdout.contains("block_dense"));
    assert!(!help.stdout.contains("warp-sparse") && !help.stdout.contains("block-dense"));
}

#[test]
fn sets_of_sources_refuse_a_shape_and_say_why() {
    let run = [
        "run",
        "gen:grid:8",
        "--analysis",
        "reach",
        "--each",
        "--source",
        "0",
        "--backend",
        "cpu",
        "--topology",
        "dense",
    ];
    let refused = finish(&mut seawall(&run));
    refused.refused(&["topology dense", "set of sources", "--topology, --each"]);
    assert!(
        !refused.stderr.contains("bfs or reach"),
        "{}",
        refused.stderr
    );
}
