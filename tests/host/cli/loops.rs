//! Loops, parallel edges and directions on the command line: former failures, options and reports.

use super::{Finished, Fixture, finish, seawall};
use serde_json::{Value, json};
use std::path::PathBuf;

/// A case of the folder beside the workspace; `None`, with the reason printed, without it.
pub(super) fn case(name: &str) -> Option<String> {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    let path = root.join("../../shared/cases").join(name);
    if !path.is_file() {
        println!("skipped: there is no {}", path.display());
        return None;
    }
    Some(path.to_str().unwrap().to_owned())
}

/// Values of an analysis with its check, by `--out`.
pub(super) fn values(graph: &str, more: &[&str]) -> Vec<f64> {
    let out = Fixture::new("out", b"");
    let path = out.beside("values.csv");
    let mut values = Vec::new();
    for threads in ["1", "3"] {
        let run = ["run", graph, "--backend", "cpu", "--check", "--out", &path];
        let mut command = seawall(&run);
        let ran = finish(command.args(["--quiet", "--threads", threads]).args(more));
        assert_eq!(ran.code, 0, "{}", ran.stderr);
        let rows = std::fs::read_to_string(&path).unwrap();
        let rows = rows.lines().skip(1);
        values = rows
            .map(|row| row.split(',').nth(1).unwrap().parse().unwrap_or(f64::NAN))
            .collect();
    }
    values
}

pub(super) fn near(found: &[f64], expected: &[f64], tolerance: f64) {
    let pairs = found.iter().zip(expected);
    let is_near = pairs.into_iter().all(|(a, b)| (a - b).abs() <= tolerance);
    assert!(
        is_near && found.len() == expected.len(),
        "{found:?} is not {expected:?}"
    );
}

#[test]
fn edges_that_are_too_light_for_labels_are_counted() {
    let graph = Fixture::new("light.el", b"0 1 1\n1 2 1\n0 2 0\n3 4 1e30\n");
    let labels = ["run", graph.path(), "--undirected", "--analysis", "labels"];
    let weighted = finish(seawall(&labels).args(["--weighted"]));
    let left_out = "left out  4 edges (too light beside the heaviest)";
    assert!(weighted.stdout.contains(left_out), "{}", weighted.stdout);
    let found = finish(seawall(&labels).args(["--weighted", "--json"])).json();
    assert_eq!(found["weightless_edges"], 4);
    assert!(finish(seawall(&labels).arg("--json")).json()["weightless_edges"].is_null());
}

#[test]
fn sums_of_parallel_edges_are_weights_with_and_without_some() {
    for (edges, expected) in [
        ("0 1\n1 2\n", "0 1 1\n1 2 1\n"),
        ("0 1\n0 1\n1 2\n", "0 1 2\n1 2 1\n"),
        ("0 1 3\n0 1 4\n", "0 1 7\n"),
    ] {
        let graph = Fixture::new("sums.el", edges.as_bytes());
        let out = graph.beside("out.el");
        let convert = ["convert", graph.path(), &out, "--parallel", "sum"];
        let done = finish(&mut seawall(&convert));
        assert_eq!(done.code, 0, "{}", done.stderr);
        let written = std::fs::read_to_string(&out).unwrap();
        let lines = written.lines().filter(|line| !line.starts_with('#'));
        let lines: String = lines.map(|line| line.replace('\t', " ") + "\n").collect();
        assert_eq!(lines, expected);
    }
}

#[test]
fn loops_count_in_rankings() {
    let ranks = ["--analysis", "pagerank", "--tolerance", "1e-7"];
    for (name, expected) in [
        ("loop_in_cycle.el", &[0.26592, 0.48006, 0.25402][..]),
        ("loop_two.el", &[0.075, 0.925]),
        ("parallel_rank.el", &[0.4865, 0.3257, 0.1878]),
    ] {
        let Some(path) = case(name) else { return };
        near(&values(&path, &ranks), expected, 1e-4);
    }
    let Some(path) = case("loop_three.el") else {
        return;
    };
    let from = ["--analysis", "ppr", "--source", "0", "--tolerance", "1e-7"];
    near(&values(&path, &from), &[0.3219, 0.2736, 0.4045], 1e-4);
}

#[test]
fn parallel_edges_count_as_paths() {
    let Some(path) = case("parallel_betweenness.el") else {
        return;
    };
    let all = [
        "--analysis",
        "betweenness",
        "--source",
        "0",
        "--source",
        "1",
    ];
    let all = [&all[..], &["--source", "2", "--source", "3"]].concat();
    near(&values(&path, &all)[1..3], &[2.0 / 3.0, 1.0 / 3.0], 1e-5);
    let merged = [&all[..], &["--parallel", "first"]].concat();
    near(&values(&path, &merged)[1..3], &[0.5, 0.5], 1e-5);
}

#[test]
fn the_heaviest_of_parallel_edges_is_the_widest() {
    for (name, more) in [
        ("parallel_widest.el", &[][..]),
        ("parallel_both_ways.el", &["--undirected"]),
    ] {
        let Some(path) = case(name) else { return };
        let widest = [&["--analysis", "widest", "--source", "0"], more].concat();
        near(&values(&path, &widest)[1..], &[9.0, 7.0], 0.0);
    }
}

/// One loop, and edges of weights 5, 3 and 9 from 0 to 1.
const MULTI: &[u8] = b"0 0 2\n0 1 5\n0 1 3\n0 1 9\n1 2 4\n";

#[test]
fn options_choose_loops_and_parallel_edges() {
    let file = Fixture::new("multi.el", MULTI);
    for (how, distance) in [
        ("keep", 3.0),
        ("first", 5.0),
        ("least", 3.0),
        ("greatest", 9.0),
        ("sum", 17.0),
    ] {
        let asked = ["--analysis", "sssp", "--source", "0", "--parallel", how];
        near(
            &values(file.path(), &asked),
            &[0.0, distance, distance + 4.0],
            0.0,
        );
    }
    let run = ["run", file.path(), "--undirected", "--analysis", "kcore"];
    let refused = finish(seawall(&run).args(["--loops", "keep"]));
    refused.refused(&["kcore ignores self loops"]);
}

fn report(arguments: &[&str]) -> Value {
    finish(seawall(arguments).arg("--json")).json()
}

fn has(report: &Value, wanted: &Value) {
    for (name, value) in wanted.as_object().unwrap() {
        assert_eq!(&report[name], value, "{name} of {report}");
    }
}

#[test]
fn reports_say_what_was_left_out_and_why() {
    let file = Fixture::new("multi.el", MULTI);
    let run = |analysis: &'static str| {
        let run = ["run", file.path(), "--analysis", analysis, "--source", "0"];
        run.map(str::to_owned)
    };
    let on = |analysis: &'static str, more: &[&str]| {
        let run = run(analysis);
        let run: Vec<&str> = run
            .iter()
            .map(String::as_str)
            .chain(more.iter().copied())
            .collect();
        report(&[&run[..], &["--backend", "cpu"]].concat())
    };
    has(
        &on("sssp", &[]),
        &json!({
            "direction": "directed", "symmetric": false, "edges": 5, "self_loops": 1,
            "parallel_edges": 2, "dropped_self_loops": 1, "dropped_duplicates": 2,
            "loops_taken": "drop", "parallel_taken": "least",
            "loops_reason": "they have no effect", "parallel_reason": "the lightest one counts"
        }),
    );
    has(
        &on("ppr", &[]),
        &json!({
            "self_loops": 1, "dropped_self_loops": 0, "dropped_duplicates": 0,
            "loops_taken": "keep", "parallel_taken": "keep"
        }),
    );
    has(
        &on("ppr", &["--loops", "drop", "--parallel", "sum"]),
        &json!({"dropped_self_loops": 1, "dropped_duplicates": 2, "loops_reason": "as asked"}),
    );
    let run = ["run", file.path(), "--analysis", "sssp", "--source", "0"];
    let text = finish(&mut seawall(&run)).stdout;
    assert!(
        text.contains("edges     directed, 1 self loop, 2 parallel edges"),
        "{text}"
    );
    assert!(
        text.contains(
            "1 self loop (they have no effect), 2 duplicate edges (the lightest one counts)"
        ),
        "{text}"
    );
    let batch = report(&[
        "run",
        file.path(),
        file.path(),
        "--analysis",
        "cc",
        "--backend",
        "cpu",
    ]);
    has(
        &batch,
        &json!({"dropped_self_loops": 2, "dropped_duplicates": 4}),
    );
    has(
        &batch["results"][1],
        &json!({"self_loops": 1, "direction": "directed"}),
    );
}

/// Counts the edges of each node.
const DEGREES: &str = "../examples/programs/degrees.json";

#[test]
fn programs_take_graphs_as_read_unless_asked() {
    let file = Fixture::new("multi.el", MULTI);
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    let program = root.join(DEGREES);
    let program = program.to_str().unwrap();
    let run = ["run", file.path(), "--program", program, "--backend", "cpu"];
    has(
        &report(&run),
        &json!({
            "edges": 5, "self_loops": 1, "parallel_edges": 2, "dropped_self_loops": 0,
            "dropped_duplicates": 0, "direction": "directed"
        }),
    );
    let simple = [&run[..], &["--loops", "drop", "--parallel", "least"]].concat();
    has(
        &report(&simple),
        &json!({"dropped_self_loops": 1, "dropped_duplicates": 2, "parallel_reason": "as asked"}),
    );
    let text = finish(&mut seawall(&simple)).stdout;
    assert!(
        text.contains("left out  1 self loop (as asked), 2 duplicate edges"),
        "{text}"
    );
}

fn converted(file: &Fixture, to: &str, more: &[&str]) -> (String, Value) {
    let out = file.beside(to);
    let report = report(&[&["convert", file.path(), &out], more].concat());
    (out, report)
}

#[test]
fn conversion_keeps_loops_and_parallel_edges_by_default() {
    let file = Fixture::new("multi.el", MULTI);
    for to in [
        "a.mtx", "a.csv", "a.txt", "a.gr", "a.egr", "a.swg", "a.swg.gz",
    ] {
        let (out, said) = converted(&file, to, &[]);
        has(
            &said,
            &json!({"edges": 5, "dropped_self_loops": 0, "self_loops": 1}),
        );
        let again = report(&[
            "run",
            &out,
            "--analysis",
            "ppr",
            "--source",
            "1",
            "--backend",
            "cpu",
        ]);
        has(
            &again,
            &json!({"edges": 5, "self_loops": 1, "parallel_edges": 2}),
        );
    }
    for to in ["u.mtx", "u.graph", "u.gr", "u.swg"] {
        let (out, _) = converted(&file, to, &["--undirected", "--no-weights"]);
        let run = [
            "run",
            &out,
            "--undirected",
            "--analysis",
            "ppr",
            "--source",
            "1",
        ];
        let again = report(&[&run[..], &["--backend", "cpu"]].concat());
        has(
            &again,
            &json!({"edges": 9, "self_loops": 1, "parallel_edges": 4}),
        );
    }
    let (out, said) = converted(&file, "s.swg", &["--loops", "drop", "--parallel", "first"]);
    has(
        &said,
        &json!({"edges": 2, "dropped_self_loops": 1, "dropped_duplicates": 2}),
    );
    let simple = report(&["run", &out, "--analysis", "sssp", "--source", "0"]);
    has(
        &simple,
        &json!({"edges": 2, "eccentricity": 9, "self_loops": 0}),
    );
}

#[test]
fn a_simple_graph_is_the_same_file_as_before() {
    let grid = Fixture::new("x", b"");
    let out = grid.beside("grid.swg");
    report(&["convert", "gen:grid:4", &out]);
    let bytes = std::fs::read(out).unwrap();
    // Version 1, only the flags of symmetry and drawn weights, and no loops or parallel edges.
    assert_eq!(bytes[8..16], [1, 0, 0, 0, 3, 0, 0, 0]);
    assert_eq!(bytes[40..56], [0; 16]);
}

fn search(file: &Fixture, more: &[&str]) -> Finished {
    let run = [
        "run",
        file.path(),
        "--analysis",
        "bfs",
        "--source",
        "1",
        "--backend",
        "cpu",
    ];
    finish(seawall(&run).args(more))
}

#[test]
fn a_search_that_reaches_next_to_nothing_hints_at_undirected() {
    let into = Fixture::new("into.el", b"2 1\n3 2\n4 3\n");
    let text = search(&into, &[]).stdout;
    assert!(
        text.contains("hint") && text.contains("--undirected"),
        "{text}"
    );
    let json = search(&into, &["--json"]).json();
    assert!(
        json["hint"].as_str().unwrap().contains("--undirected"),
        "{json}"
    );
    for (more, content) in [
        (&["--undirected"][..], &b"2 1\n3 2\n4 3\n"[..]),
        (&[], b"1 2\n2 3\n3 4\n"),
        (&[], b"1 1\n2 3\n3 4\n"),
    ] {
        let file = Fixture::new("other.el", content);
        let json = search(&file, &[more, &["--json"]].concat()).json();
        assert_eq!(json.get("hint"), None, "{json}");
    }
}

#[test]
fn reports_say_directed_undirected_or_symmetric() {
    let file = Fixture::new("both.el", b"1 2\n2 1\n2 3\n3 2\n");
    let text = search(&file, &[]).stdout;
    assert!(
        text.contains("edges     directed, each with its mirror image"),
        "{text}"
    );
    let json = search(&file, &["--json"]).json();
    has(&json, &json!({"direction": "directed", "symmetric": true}));
    let json = search(&file, &["--undirected", "--json"]).json();
    let wanted = json!({"direction": "undirected", "symmetric": true, "mirrored_edges": 2});
    has(&json, &wanted);
    let text = search(&file, &["--undirected"]).stdout;
    assert!(
        text.contains("edges     undirected; 2 edges listed from both ends"),
        "{text}"
    );
}

#[cfg(unix)]
#[test]
fn a_stream_of_a_file_falsely_marked_symmetric_is_refused() {
    let chain = Fixture::new("chain.el", b"0 1\n1 2\n2 3\n");
    let (out, _) = converted(&chain, "chain.swg", &["--undirected"]);
    let mut bytes = std::fs::read(&out).unwrap();
    // 3 then leads to 1, and 2 has no edge back to 3.
    let last = bytes.len() - 4;
    bytes[last..].copy_from_slice(&1_u32.to_le_bytes());
    std::fs::write(&out, bytes).unwrap();
    let run = [
        "run",
        &out,
        "--undirected",
        "--stream",
        "always",
        "--analysis",
        "bfs",
    ];
    let ran = finish(seawall(&run).args(["--source", "3", "--backend", "cpu"]));
    ran.refused(&["marked symmetric"]);
}

#[cfg(unix)]
#[test]
fn streams_of_multigraphs_go_to_the_cpu_and_say_so() {
    let file = Fixture::new("m.el", b"0 1\n0 1\n1 1\n1 2\n");
    let swg = file.beside("m.swg");
    assert_eq!(
        finish(&mut seawall(&["convert", file.path(), &swg, "--quiet"])).code,
        0
    );
    let search = [
        "run",
        &swg,
        "--analysis",
        "bfs",
        "--source",
        "0",
        "--stream",
        "always",
    ];
    let report = finish(seawall(&search).args(["--json", "--check"])).json();
    assert_eq!(
        (&report["backend"], &report["checked"]),
        (&json!("cpu"), &json!(true))
    );
    let reason = report["backend_reason"].as_str().unwrap();
    assert!(reason.contains("loops or parallel edges"), "{reason}");
    let refused = finish(seawall(&search).args(["--backend", "mega"]));
    refused.refused(&["the backend cpu", "--loops drop --parallel first"]);
}
