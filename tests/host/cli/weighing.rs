//! Weights in rankings and labels, start weights, paths to a target and the largest forest, by the
//! command's options.

use super::{Finished, Fixture, finish, seawall};
use serde_json::{Value, json};

fn run(path: &str, analysis: &str, more: &[&str]) -> Finished {
    let run = [
        "run",
        path,
        "--backend",
        "cpu",
        "--check",
        "--json",
        "--analysis",
        analysis,
    ];
    finish(seawall(&run).args(more))
}

/// The report of a run, possibly after a warning.
fn report(done: &Finished) -> Value {
    assert_eq!(done.code, 0, "{}", done.stderr);
    serde_json::from_str(&done.stdout).unwrap()
}

/// The report, and the values of the nodes.
fn values(fixture: &Fixture, analysis: &str, more: &[&str]) -> (Value, Vec<f64>) {
    let out = fixture.beside("values.json");
    let rows = ["--out", &out, "--columns", "value"];
    let report = run(fixture.path(), analysis, &[more, &rows].concat()).json();
    assert_eq!(report["checked"], true, "{report}");
    let text = std::fs::read_to_string(out).unwrap();
    (report, serde_json::from_str(&text).unwrap())
}

#[track_caller]
fn near(values: &[f64], expected: &[f64]) {
    assert_eq!(values.len(), expected.len());
    for (value, expected) in values.iter().zip(expected) {
        assert!((value - expected).abs() < 6e-4, "{values:?}");
    }
}

#[test]
fn rankings_use_the_weights_of_a_file_and_of_no_generator() {
    let file = Fixture::new("weighted.el", b"0 1 9\n0 2 1\n1 0 1\n2 0 1\n");
    let (report, ranks) = values(&file, "pagerank", &["--tolerance", "1e-6"]);
    near(&ranks, &[0.486, 0.422, 0.091]);
    assert_eq!(report["weights"]["from"], "file");
    let (report, ranks) = values(
        &file,
        "pagerank",
        &["--tolerance", "1e-6", "--unit-weights"],
    );
    near(&ranks, &[0.4865, 0.2568, 0.2568]);
    assert!(report["weights"].is_null());
    let (_, ranks) = values(&file, "ppr", &["--source", "0", "--tolerance", "1e-6"]);
    near(&ranks, &[0.5405, 0.4135, 0.0459]);
    let drawn = run("gen:rmat:6:4", "pagerank", &[]).json();
    assert!(drawn["weights"].is_null());
    let unit = run("gen:rmat:6:4", "pagerank", &["--unit-weights"]).json();
    assert_eq!(unit["checksum"], drawn["checksum"]);
}

#[test]
fn walks_start_by_start_weights() {
    let file = Fixture::new("line.el", b"3 7\n7 3\n");
    let starts = [
        "--source",
        "3=0.5",
        "--source",
        "7=2",
        "--tolerance",
        "1e-5",
    ];
    let (_, ranks) = values(&file, "ppr", &starts);
    near(&ranks, &[0.4757, 0.5243]);
    let scaled = ["--source", "3=1", "--source", "7=4", "--tolerance", "1e-5"];
    assert_eq!(values(&file, "ppr", &scaled).1, ranks);
    for wrong in ["3=x", "=1", "5=1"] {
        run(file.path(), "ppr", &["--source", wrong]).refused(&[wrong, "no such node"]);
    }
    for wrong in ["3=-1", "3=nan", "3=inf"] {
        run(file.path(), "ppr", &["--source", wrong]).refused(&["start weights"]);
    }
    run(file.path(), "ppr", &["--source", "3=0"]).refused(&["start weights", "--source N=WEIGHT"]);
    run(file.path(), "bfs", &["--source", "3=1"])
        .refused(&["bfs has no option start weights, ppr has"]);
}

#[test]
fn a_limit_of_iterations_above_the_default_is_kept_to() {
    let path: String = (0..999).map(|at| format!("{at} {}\n", at + 1)).collect();
    let file = Fixture::new("path.el", path.as_bytes());
    let more = [
        "--damping",
        "0.999",
        "--tolerance",
        "1e-12",
        "--max-iterations",
        "300",
    ];
    let done = run(file.path(), "pagerank", &more);
    assert!(
        done.stderr.contains("after 300 iterations"),
        "{}",
        done.stderr
    );
    assert_eq!(report(&done)["iterations"], 300);
    let more = ["--tolerance", "0", "--max-iterations", "300"];
    let report = report(&run(file.path(), "pagerank", &more));
    assert!(
        report["iterations"] == 300 || report["converged"] == true,
        "{report}"
    );
}

#[test]
fn labels_end_in_communities() {
    for (edges, communities) in [
        ("0 1\n", 1),
        ("0 1\n2 3\n4 5\n6 7\n", 4),
        ("0 1\n0 2\n0 3\n0 4\n", 1),
        ("0 3\n0 4\n0 5\n1 3\n1 4\n1 5\n2 3\n2 4\n2 5\n", 1),
    ] {
        let file = Fixture::new("labels.el", edges.as_bytes());
        let report = run(file.path(), "labels", &["--undirected"]).json();
        assert_eq!(report["communities"], communities, "{edges}");
        assert_eq!(
            (&report["converged"], &report["checked"]),
            (&json!(true), &json!(true))
        );
    }
    let pair = Fixture::new("pair.el", b"0 1\n");
    let ldbc = run(pair.path(), "labels", &["--undirected", "--rule", "ldbc"]);
    assert!(
        ldbc.stderr.contains("after 10 iterations"),
        "{}",
        ldbc.stderr
    );
    let report = report(&ldbc);
    assert_eq!(
        (&report["communities"], &report["converged"]),
        (&json!(2), &json!(false))
    );
    run(pair.path(), "cc", &["--rule", "ldbc"]).refused(&["cc has no option rule, labels has"]);
    run(pair.path(), "labels", &["--undirected", "--weighted"]).refused(&["no weights"]);
    run(pair.path(), "cc", &["--weighted"]).refused(&["cc has no option weighted", "--weighted"]);
    let weighted = Fixture::new("w.el", b"0 1 1\n1 2 5\n2 3 1\n");
    let report = run(weighted.path(), "labels", &["--undirected", "--weighted"]).json();
    assert_eq!(
        (&report["converged"], &report["weights"]["from"]),
        (&json!(true), &json!("file"))
    );
}

#[test]
fn a_path_to_a_target_is_shown() {
    let file = Fixture::new("paths.el", b"10 20 5\n10 30 1\n30 20 1\n20 40 2\n50 10 1\n");
    let more = ["--source", "10", "--target", "40"];
    let report = run(file.path(), "sssp", &more).json();
    let expected = json!({"target": 40, "reached": true, "nodes": [10, 30, 20, 40], "weight": 4});
    assert_eq!(
        (&report["path"], &report["checked"]),
        (&expected, &json!(true))
    );
    let report = run(file.path(), "bfs", &more).json();
    let expected = json!({"target": 40, "reached": true, "nodes": [10, 20, 40], "weight": 2});
    assert_eq!(report["path"], expected);
    let none = run(file.path(), "sssp", &["--source", "10", "--target", "50"]);
    let expected = json!({"target": 50, "reached": false, "nodes": [], "weight": null});
    assert_eq!(none.json()["path"], expected);
    let text = |target| {
        let run = [
            "run",
            file.path(),
            "--analysis",
            "sssp",
            "--source",
            "10",
            "--target",
            target,
        ];
        finish(&mut seawall(&run)).stdout
    };
    assert!(
        text("40").contains("3 edges, 4 in all: 10 30 20 40"),
        "{}",
        text("40")
    );
    assert!(
        text("50").contains("no source reaches node 50"),
        "{}",
        text("50")
    );
    run(file.path(), "sssp", &["--source", "10", "--target", "60"])
        .refused(&["--target 60", "no such node"]);
    run(file.path(), "cc", &["--target", "10"]).refused(&["--target", "bfs or sssp"]);
    let out = file.beside("tree.csv");
    run(
        file.path(),
        "sssp",
        &["--source", "10", "--parents", "--out", &out],
    )
    .json();
    let table = std::fs::read_to_string(out).unwrap();
    assert_eq!(
        table,
        "node,value,parent\n10,0,10\n20,2,30\n30,1,10\n40,4,20\n50,,\n"
    );
}

#[test]
fn names_lead_to_paths_and_starts() {
    let file = Fixture::new("names.el", b"ann bob 2\nbob eve 3\n");
    let more = ["--source", "ann", "--target", "eve"];
    let report = run(file.path(), "sssp", &more).json();
    assert_eq!(report["path"]["names"], json!(["ann", "bob", "eve"]));
    assert_eq!(report["path"]["weight"], 5);
    run(file.path(), "sssp", &["--source", "ann", "--target", "tom"])
        .refused(&["--target tom", "no such node"]);
    let starts = ["--source", "ann=1", "--source", "bob=3"];
    assert_eq!(run(file.path(), "ppr", &starts).json()["checked"], true);
}

#[test]
fn the_largest_forest_is_asked_for() {
    let file = Fixture::new("triangle.el", b"0 1 5\n1 2 1\n0 2 2\n");
    let forest =
        |more: &[&str]| run(file.path(), "msf", &[&["--undirected"], more].concat()).json();
    assert_eq!(forest(&[])["forest_weight"], 3);
    let largest = forest(&["--maximum"]);
    assert_eq!(
        (&largest["forest_weight"], &largest["checked"]),
        (&json!(7), &json!(true))
    );
    run(file.path(), "cc", &["--maximum"]).refused(&["cc has no option maximum, msf has"]);
}

#[test]
fn weighted_ranks_do_not_stream() {
    let file = Fixture::new("weighted.el", b"0 1 9\n0 2 1\n1 0 1\n2 0 1\n");
    let swg = file.beside("weighted.swg");
    assert_eq!(
        finish(&mut seawall(&["convert", file.path(), &swg])).code,
        0
    );
    let streamed = |more: &[&str]| run(&swg, "pagerank", &[&["--stream", "always"], more].concat());
    streamed(&[]).refused(&["pagerank would use the weights", "--unit-weights"]);
    let alike = run(&swg, "pagerank", &["--unit-weights"]).json();
    assert_eq!(
        streamed(&["--unit-weights"]).json()["checksum"],
        alike["checksum"]
    );
}
