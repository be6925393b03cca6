//! Every file of the cases that once failed, by the command that failed, and variants of each. The
//! files lie beside the workspace; a test prints a message if they are missing.

use super::loops::{case, near, values};
use super::{Finished, Fixture, finish, seawall};
use serde_json::{Value, json};
use std::fmt::Write as _;

/// Report of a run on one file, with more options.
fn report(graph: &str, more: &[&str]) -> Value {
    let run = ["run", graph, "--json", "--backend", "cpu", "--check"];
    finish(seawall(&run).args(more)).json()
}

/// The file that a conversion writes; `name` says its format.
fn converted(graph: &str, name: &str, more: &[&str]) -> String {
    let folder = Fixture::new("none", b"");
    let to = folder.beside(name);
    let done = finish(seawall(&["convert", graph, &to, "--quiet"]).args(more));
    assert_eq!(done.code, 0, "{}", done.stderr);
    std::fs::read_to_string(to).unwrap()
}

/// Asserts that every command that reads a file refuses it with these words.
fn refused_everywhere(graph: &str, parts: &[&str]) {
    let folder = Fixture::new("none", b"");
    let target = folder.beside("out.csv");
    let convert = finish(&mut seawall(&["convert", graph, &target]));
    convert.refused(parts);
    assert!(!std::path::Path::new(&target).exists());
    for more in [
        &["--analysis", "cc", "--undirected"][..],
        &["--analysis", "sssp", "--source", "1"],
    ] {
        finish(seawall(&["run", graph]).args(more)).refused(parts);
    }
}

const RANKS: [&str; 4] = ["--analysis", "pagerank", "--tolerance", "1e-7"];

fn ranks(name: &str, expected: &[f64]) {
    if let Some(path) = case(name) {
        near(&values(&path, &RANKS), expected, 1e-3);
    }
}

#[test]
fn loop_in_cycle() {
    ranks("loop_in_cycle.el", &[0.26592, 0.48006, 0.25402]);
}

#[test]
fn loop_two() {
    ranks("loop_two.el", &[0.075, 0.925]);
    // A node with only a loop, or with two loops, keeps the rank that it receives.
    let alone = Fixture::new("loops.el", b"0 1\n1 1\n1 1\n2 0\n");
    let found = values(alone.path(), &RANKS);
    near(&found, &[0.0925, 0.8575, 0.05], 1e-3);
}

#[test]
fn loop_three() {
    if let Some(path) = case("loop_three.el") {
        let from = ["--analysis", "ppr", "--source", "0", "--tolerance", "1e-7"];
        near(&values(&path, &from), &[0.3219, 0.2736, 0.4045], 1e-4);
    }
}

#[test]
fn parallel_rank() {
    ranks("parallel_rank.el", &[0.4865, 0.3257, 0.1878]);
}

#[test]
fn parallel_betweenness() {
    if let Some(path) = case("parallel_betweenness.el") {
        let sources = ["0", "1", "2", "3"].map(|node| ["--source", node]).concat();
        let all = [&["--analysis", "betweenness"][..], &sources].concat();
        near(&values(&path, &all)[1..3], &[2.0 / 3.0, 1.0 / 3.0], 1e-3);
    }
}

#[test]
fn parallel_widest() {
    if let Some(path) = case("parallel_widest.el") {
        let from = ["--analysis", "widest", "--source", "0"];
        near(&values(&path, &from)[1..], &[9.0, 7.0], 0.0);
    }
}

#[test]
fn parallel_both_ways() {
    if let Some(path) = case("parallel_both_ways.el") {
        let from = ["--analysis", "widest", "--source", "0", "--undirected"];
        near(&values(&path, &from)[1..], &[9.0, 7.0], 0.0);
        let lightest = ["--analysis", "sssp", "--source", "0", "--undirected"];
        near(&values(&path, &lightest), &[0.0, 5.0, 12.0], 0.0);
    }
}

#[test]
fn weighted_rank() {
    ranks("weighted_rank.el", &[0.486, 0.422, 0.091]);
    // Weights of 1, and a factor on all weights, change nothing.
    let plain = Fixture::new("plain.el", b"0 1\n0 2\n1 0\n2 0\n");
    let threes = Fixture::new("threes.el", b"0 1 3\n0 2 3\n1 0 3\n2 0 3\n");
    near(
        &values(threes.path(), &RANKS),
        &values(plain.path(), &RANKS),
        1e-6,
    );
}

fn communities(name: &str, expected: u64) {
    if let Some(path) = case(name) {
        let found = report(&path, &["--analysis", "labels", "--undirected"]);
        assert_eq!(found["communities"], expected, "{name}");
        assert_eq!(found["converged"], true, "{name}");
    }
}

#[test]
fn labels_pair() {
    communities("labels_pair.el", 1);
}

#[test]
fn labels_pairs() {
    communities("labels_pairs.el", 4);
}

#[test]
fn labels_star() {
    communities("labels_star.el", 1);
}

#[test]
fn labels_k33() {
    communities("labels_k33.el", 1);
}

#[test]
fn convert_isolated() {
    let Some(path) = case("convert_isolated.mtx") else {
        return;
    };
    let folder = Fixture::new("none", b"");
    for name in [
        "g.csv", "g.el", "g.mtx", "g.graph", "g.gr", "g.swg", "g.npz", "g.bin", "g.egr",
    ] {
        let to = folder.beside(name);
        let done = finish(&mut seawall(&["convert", &path, &to, "--quiet"]));
        if done.code != 0 {
            done.refused(&[name]);
            assert!(!std::path::Path::new(&to).exists(), "{name}");
            continue;
        }
        let found = report(&to, &["--analysis", "cc", "--undirected"]);
        assert_eq!(
            (&found["nodes"], &found["components"]),
            (&json!(6), &json!(4)),
            "{name}"
        );
    }
}

/// A DIMACS file whose first and last nodes have no edges.
#[test]
fn convert_outer_nodes() {
    let file = Fixture::new("outer.gr", b"p sp 6 2\na 2 3 4\na 5 3 1\n");
    let list = file.beside("outer.el");
    assert_eq!(
        finish(&mut seawall(&["convert", file.path(), &list, "--quiet"])).code,
        0
    );
    let found = report(&list, &["--analysis", "cc", "--undirected"]);
    assert_eq!(
        (&found["nodes"], &found["components"]),
        (&json!(6), &json!(4))
    );
    let table = finish(&mut seawall(&[
        "run",
        &list,
        "--analysis",
        "cc",
        "--undirected",
        "--out",
        "-",
    ]));
    let ids = table
        .stdout
        .lines()
        .skip(1)
        .map(|row| row.split(',').next().unwrap());
    assert_eq!(ids.collect::<Vec<_>>(), ["1", "2", "3", "4", "5", "6"]);
}

/// The edge list of `scc_triangles.py`: directed triangles in a chain, their ids mixed.
#[test]
fn scc_triangles() {
    for nodes in [2400_u64, 24_000] {
        // Multiplication by an odd number that shares no factor with the count mixes the ids.
        let id = |at: u64| at * 7919 % nodes;
        let mut text = String::new();
        for at in (0..nodes).step_by(3) {
            for (from, to) in [(at, at + 1), (at + 1, at + 2), (at + 2, at)] {
                writeln!(text, "{} {}", id(from), id(to)).unwrap();
            }
            if at + 3 < nodes {
                writeln!(text, "{} {}", id(at + 2), id(at + 3)).unwrap();
            }
        }
        let file = Fixture::new("triangles.el", text.as_bytes());
        let run = [
            "run",
            file.path(),
            "--json",
            "--backend",
            "cpu",
            "--threads",
            "1",
        ];
        let found = finish(seawall(&run).args(["--analysis", "scc"])).json();
        assert_eq!(found["components"], nodes / 3);
        // Work in proportion to the graph: each edge is visited once.
        assert_eq!(found["edges_examined"], found["edges"]);
    }
}

/// The edge list of `path.py`: closeness of an end takes one search.
#[test]
fn path() {
    let nodes = 40_000;
    let mut text = String::new();
    for at in 1..nodes {
        writeln!(text, "{} {at}", at - 1).unwrap();
    }
    let file = Fixture::new("path.el", text.as_bytes());
    let from = ["--analysis", "closeness", "--source", "0", "--undirected"];
    let found = report(file.path(), &from);
    let closeness = found["highest_closeness"].as_f64().unwrap();
    assert!((closeness - 0.00005).abs() < 1e-8, "{closeness}");
    // The last node's only edge leads back, once all nodes are found.
    assert_eq!(found["edges_examined"], 2 * (nodes - 1) - 1);
    let ends = [
        "--analysis",
        "eccentricity",
        "--source",
        "0",
        "--undirected",
    ];
    assert_eq!(
        report(file.path(), &ends)["largest_eccentricity"],
        nodes - 1
    );
}

#[test]
fn weights_in() {
    let (Some(graph), Some(program)) = (case("weights_in.mtx"), case("weights_in.json")) else {
        return;
    };
    let run = ["run", &graph, "--program", &program, "--out", "-"];
    for threads in ["1", "3"] {
        let table = finish(seawall(&run).args(["--threads", threads]));
        assert_eq!(table.code, 0, "{}", table.stderr);
        let values = table.stdout.lines().skip(1);
        let values: Vec<_> = values.map(|row| row.split(',').nth(1).unwrap()).collect();
        assert_eq!(values, ["100", "12", "0", "1000"]);
    }
}

#[test]
fn scale_digits() {
    let Some(path) = case("scale_digits.el") else {
        return;
    };
    let scaled = converted(&path, "g.el", &["--scale-weights", "100"]);
    assert!(scaled.ends_with("0\t1\t1234567891\n"), "{scaled}");
    let from = ["--analysis", "sssp", "--source", "0", "--scale-weights"];
    let found = report(&path, &[&from[..], &["100"]].concat());
    assert_eq!(found["weights"]["scale"]["rounded"], 0);
    assert_eq!(found["eccentricity"], 1_234_567_891);
    // Losing a digit matters.
    let found = report(&path, &[&from[..], &["10"]].concat());
    assert_eq!(found["weights"]["scale"]["rounded"], 1);
    assert_eq!(found["eccentricity"], 123_456_789);
}

#[test]
fn heads() {
    let Some(path) = case("heads.lgl") else {
        return;
    };
    let table = converted(&path, "g.csv", &[]);
    let mut edges: Vec<_> = table.lines().filter(|line| line.contains(',')).collect();
    edges.retain(|line| !line.starts_with("source"));
    let mut pairs: Vec<_> = edges
        .iter()
        .map(|line| {
            let mut ends: Vec<u32> = line
                .split(',')
                .take(2)
                .map(|end| end.parse().unwrap())
                .collect();
            ends.sort_unstable();
            ends
        })
        .collect();
    pairs.sort();
    pairs.dedup();
    assert_eq!(pairs, [[1, 7], [1, 8], [2, 3]]);
}

/// A header is refused unless the caller chooses columns; the edge is that of the first and the
/// given one.
fn refused_header(name: &str, target: &str, edge: &str) {
    if let Some(path) = case(name) {
        refused_everywhere(&path, &["--source-column"]);
        let chosen = ["--source-column", "1", "--target-column", target];
        let list = converted(&path, "g.el", &chosen);
        assert!(list.ends_with(edge), "{list}");
    }
}

#[test]
fn header_to() {
    refused_header("header_to.csv", "2", "1\t2\n");
}

#[test]
fn header_no_source() {
    refused_header("header_no_source.csv", "2", "1\t9\n");
    let turned = Fixture::new("turned.csv", b"weight,source\n9,1\n");
    refused_everywhere(turned.path(), &["--source-column"]);
}

#[test]
fn header_target2() {
    refused_header("header_target2.csv", "3", "1\t2\t9\n");
}

#[test]
fn widest_names() {
    let from = ["--analysis", "widest", "--source", "10"];
    if let Some(path) = case("widest_names.el") {
        let refused = finish(seawall(&["run", &path]).args(from));
        refused.refused(&["from 10 to 20", "4294967295"]);
    }
    let named = Fixture::new(
        "named.csv",
        b"source,target,weight\nann,bob,4294967295\nbob,cid,1\n",
    );
    let from = ["--analysis", "widest", "--source", "ann", "--json"];
    let refused = finish(seawall(&["run", named.path()]).args(from));
    refused.refused(&["from ann to bob"]);
    let error: Value = serde_json::from_str(&refused.stdout).unwrap();
    assert_eq!(
        (&error["error"]["from"], &error["error"]["to"]),
        (&json!("ann"), &json!("bob"))
    );
}

#[test]
fn layout_bsr() {
    if let Some(path) = case("layout_bsr.npz") {
        refused_everywhere(&path, &["bsr"]);
    }
}

#[test]
fn layout_dia() {
    if let Some(path) = case("layout_dia.npz") {
        refused_everywhere(&path, &["dia"]);
    }
}

#[test]
fn zip_with_matrix() {
    if let Some(path) = case("zip_with_matrix.zip") {
        refused_everywhere(&path, &["zip archive"]);
    }
}

#[test]
fn utf16() {
    if let Some(path) = case("utf16.txt") {
        refused_everywhere(&path, &["UTF-16"]);
    }
    let bytes: Vec<u8> = "\u{feff}0 1\n"
        .encode_utf16()
        .flat_map(u16::to_be_bytes)
        .collect();
    refused_everywhere(Fixture::new("big.txt", &bytes).path(), &["UTF-16"]);
    refused_everywhere(
        Fixture::new("nul.el", b"0 1\n\x00\x00 2\n").path(),
        &["NUL"],
    );
}

fn plan(name: &str, budget: u64) -> Option<Finished> {
    let text = std::fs::read_to_string(case(name)?).unwrap();
    let mut input: Value = serde_json::from_str(&text).unwrap();
    input["budget_bytes"] = json!(budget);
    let file = Fixture::new("plan.json", input.to_string().as_bytes());
    Some(finish(&mut seawall(&[
        "plan",
        file.path(),
        "--format",
        "json",
    ])))
}

/// The least budget that a refusal names, which works.
fn least_budget(name: &str, expected: u64) {
    let Some(refused) = plan(name, 1_000) else {
        return;
    };
    assert_eq!(refused.code, 2, "{}", refused.stderr);
    let error: Value = serde_json::from_str(&refused.stdout).unwrap();
    assert_eq!(error["error"]["least_budget_bytes"], expected, "{name}");
    assert_eq!(plan(name, expected).unwrap().code, 0, "{name}");
    assert_eq!(plan(name, expected - 1).unwrap().code, 2, "{name}");
}

#[test]
fn plan_numbering_a() {
    least_budget("plan_numbering_a.json", 32_768);
}

#[test]
fn plan_numbering_b() {
    least_budget("plan_numbering_b.json", 32_768);
}

#[test]
fn plan_least_budget() {
    least_budget("plan_least_budget.json", 32_768);
}
