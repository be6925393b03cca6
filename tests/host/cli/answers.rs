//! The answers of analyses, against the sequential oracle.

use super::{Fixture, finish, seawall};
use seawall::analysis::oracle;
use seawall::graph::{Graph, LoadOptions, WeightChoice, load};
use serde_json::{Value, json};

/// Several components, triangles and cores.
const SPEC: &str = "gen:uniform:8:1:5";

fn graph(undirected: bool) -> Graph {
    let options = LoadOptions {
        undirected,
        weights: WeightChoice::Given,
        ..LoadOptions::default()
    };
    load(SPEC, &options, None).unwrap().graph
}

fn run(graphs: &[&str], analysis: &str, more: &[&str]) -> super::Finished {
    let mut command = seawall(&["run"]);
    command
        .args(graphs)
        .args(["--analysis", analysis, "--backend", "cpu"]);
    finish(command.args(more))
}

fn report(analysis: &str, more: &[&str]) -> Value {
    run(&[SPEC], analysis, &[&["--json"], more].concat()).json()
}

fn text(analysis: &str, more: &[&str]) -> String {
    run(&[SPEC], analysis, more).stdout
}

/// Returns the frequency of the most frequent value, and the number of distinct values.
fn groups(labels: &[u32]) -> (usize, usize) {
    let mut sorted = labels.to_vec();
    sorted.sort_unstable();
    let groups: Vec<usize> = sorted.chunk_by(|a, b| a == b).map(<[u32]>::len).collect();
    (groups.len(), groups.into_iter().max().unwrap())
}

#[test]
fn components_are_counted_and_the_largest_is_measured() {
    let (components, largest) = groups(&oracle::components(&graph(true)));
    assert!(components > 5);
    let report = report("cc", &[]);
    assert_eq!(report["components"], components);
    assert_eq!(report["largest_component"], largest);
    let said = format!("{components} components, the largest of {largest} nodes");
    assert!(text("cc", &[]).contains(&said));
}

#[test]
fn the_largest_core_has_a_number_and_a_size() {
    let cores = oracle::cores(&graph(true));
    let largest = *cores.iter().max().unwrap();
    let members = cores.iter().filter(|core| **core == largest).count();
    let report = report("kcore", &["--undirected"]);
    assert_eq!(report["largest_core"], largest);
    assert_eq!(report["largest_core_nodes"], members);
    let said = format!("largest core number {largest}, of {members} nodes");
    assert!(text("kcore", &["--undirected"]).contains(&said));
}

#[test]
fn triangles_of_the_graph_are_a_third_of_the_corners() {
    let corners = oracle::triangles(&graph(true)).into_iter().sum::<u32>();
    assert!(corners > 0);
    let report = report("triangles", &["--undirected"]);
    assert_eq!(report["triangles"], corners / 3);
}

#[test]
fn a_search_reports_the_distance_of_the_farthest_node() {
    let levels = oracle::levels(&graph(false), &[1], u32::MAX - 1);
    let farthest = levels.iter().filter(|level| **level != u32::MAX).max();
    let found = report("bfs", &["--source", "1"]);
    assert_eq!(found["eccentricity"], *farthest.unwrap());
    let levels = found["levels"].as_u64().unwrap();
    assert_eq!(found["eccentricity"], levels - 1);
    let text = text("bfs", &["--source", "1"]);
    let said = format!("the farthest at level {}", levels - 1);
    assert!(text.contains(&said), "{text}");
}

#[test]
fn the_longest_of_the_shortest_paths_is_reported() {
    let file = Fixture::new("roads.el", b"0 1 5\n1 2 7\n0 2 100\n9 0 1\n");
    let more = ["--source", "0", "--json"];
    let report = run(&[file.path()], "sssp", &more).json();
    assert_eq!(
        (&report["eccentricity"], &report["reached"]),
        (&12.into(), &3.into())
    );
}

#[test]
fn the_cpu_launches_uploads_and_waits_for_nothing() {
    let report = report("cc", &["--repeat", "2"]);
    for counter in ["host_synchronisations", "launches", "uploads"] {
        assert_eq!(report[counter], 0, "{counter}");
    }
    let said = "0 launches, 0 uploads, 0 synchronisations";
    assert!(text("cc", &["--explain"]).contains(said));
    assert!(!text("cc", &[]).contains(said));
}

#[test]
fn a_batch_has_the_numbers_of_every_graph_and_their_sums() {
    let batch = |analysis, more: &[&str]| {
        let more = [&["--json"], more].concat();
        run(&[SPEC, "gen:grid:4"], analysis, &more).json()
    };
    let alone = report("cc", &[]);
    let found = batch("cc", &[]);
    let results = &found["results"];
    for number in ["components", "largest_component"] {
        assert_eq!(results[0][number], alone[number]);
    }
    assert_eq!(results[1]["components"], 1);
    assert_eq!(results[1]["largest_component"], 16);
    let sum = alone["components"].as_u64().unwrap() + 1;
    assert_eq!(found["components"], sum);
    assert_eq!(found["launches"], 0);
    let cores = batch("kcore", &["--undirected"]);
    assert_eq!(cores["results"][1]["largest_core"], 2);
    assert!(cores.get("components").is_none());
    let triangles = batch("triangles", &["--undirected"]);
    assert_eq!(triangles["results"][1]["triangles"], 0);
    assert_eq!(triangles["triangles"], triangles["results"][0]["triangles"]);
}

/// Returns the content of a result file for its only unreached node.
#[test]
fn an_unreached_node_has_no_value_in_any_file() {
    let file = Fixture::new("edges.txt", b"100 7 1\n7 300 1\n500 100 1\n");
    let table = |analysis, suffix: &str| {
        let path = file.beside(&format!("out.{suffix}"));
        let more = ["--source", "100", "--out", &path, "--quiet"];
        let ran = run(&[file.path()], analysis, &more);
        assert_eq!((ran.code, ran.stderr.as_str()), (0, ""));
        std::fs::read(path).unwrap()
    };
    for analysis in ["bfs", "sssp"] {
        let csv = String::from_utf8(table(analysis, "csv")).unwrap();
        assert_eq!(csv, "node,value\n7,1\n100,0\n300,2\n500,\n");
        let rows: Value = serde_json::from_slice(&table(analysis, "json")).unwrap();
        assert_eq!(rows[3], json!({"node": 500, "value": null}));
        assert!(table(analysis, "npy").ends_with(&[0xff; 4]));
    }
    let flags = String::from_utf8(table("reach", "csv")).unwrap();
    assert_eq!(flags, "node,value\n7,1\n100,1\n300,1\n500,0\n");
}

#[test]
fn columns_are_as_requested_in_their_order() {
    let file = Fixture::new("edges.txt", b"100 7\n7 300\n500 100\n");
    let table = |suffix: &str, more: &[&str]| {
        let path = file.beside(&format!("out.{suffix}"));
        let search = ["--source", "100", "--out", &path, "--quiet"];
        let ran = run(&[file.path()], "bfs", &[&search, more].concat());
        assert_eq!((ran.code, ran.stderr.as_str()), (0, ""));
        std::fs::read(path).unwrap()
    };
    let csv = |more: &[&str]| String::from_utf8(table("csv", more)).unwrap();
    assert_eq!(csv(&["--columns", "value"]), "value\n1\n0\n2\n\"\"\n");
    assert_eq!(csv(&["--columns", "id,value"]), csv(&[]));
    let parents = ["--parents", "--columns", "parent,node"];
    assert_eq!(csv(&parents), "parent,node\n100,7\n100,100\n7,300\n,500\n");
    let values: Value = serde_json::from_slice(&table("json", &["--columns", "value"])).unwrap();
    assert_eq!(values, json!([1, 0, 2, null]));
    let npy = table("npy", &["--columns", "value"]);
    let text = String::from_utf8_lossy(&npy);
    assert!(text.contains("'descr': '<u4'"), "{text}");
    assert_eq!(
        &npy[npy.len() - 16..],
        b"\x01\0\0\0\0\0\0\0\x02\0\0\0\xff\xff\xff\xff"
    );
}

#[test]
fn unknown_columns_are_refused_before_the_graph_is_read() {
    let folder = Fixture::new("x", b"");
    let refused = |graphs: &[&str], more: &[&str], parts: &[&str]| {
        let search = [&["--source", "0"], more].concat();
        run(graphs, "bfs", &search).refused(parts);
    };
    let (csv, npy) = (folder.beside("o.csv"), folder.beside("o.npy"));
    let one = ["no-such-graph"];
    let out = |columns| ["--out", csv.as_str(), "--columns", columns];
    refused(&one, &out("parent"), &["parent", "node, name, value"]);
    refused(&one, &out("graph"), &["graph", "node, name, value"]);
    refused(&one, &out("value,value"), &["value", "twice"]);
    refused(&one, &out("colour"), &["colour", "node, name, value"]);
    refused(&one, &["--columns", "value"], &["--out"]);
    let batch = ["gen:batch:2:chain:4"];
    let name = ["--out", npy.as_str(), "--columns", "name"];
    refused(&batch, &name, &["name", "graph, node, value"]);
    let found = run(&batch, "cc", &out("graph,value"));
    assert_eq!(found.code, 0);
    let table = std::fs::read_to_string(&csv).unwrap();
    assert!(table.starts_with("graph,value\n0,0\n"), "{table}");
}
