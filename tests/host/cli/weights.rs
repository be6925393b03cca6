//! Weights in reports, and the options that replace them.

use super::{Finished, Fixture, finish, seawall};
use serde_json::{Value, json};

const PRICES: &[u8] = b"1 2 0.25\n2 3 1.5\n1 3 2.3\n3 4 4294967295.5\n";

fn paths(file: &str, more: &[&str]) -> Finished {
    let run = ["run", file, "--analysis", "sssp", "--backend", "cpu"];
    finish(seawall(&run).args(["--source", "1", "--check"]).args(more))
}

fn report(file: &str, more: &[&str]) -> Value {
    paths(file, &[more, &["--json"]].concat()).json()
}

#[test]
fn reports_name_the_origin_of_weights_and_the_rounding() {
    let read = Fixture::new("read.el", b"1 2 0.1\n2 3 0.5\n");
    let json = report(read.path(), &[]);
    let wanted = json!({"from": "file", "kind": "f32", "rounded": 1});
    assert_eq!(json["weights"], wanted);
    let text = paths(read.path(), &[]).stdout;
    assert!(
        text.contains("weights   f32, read from the file, 1 rounded to 32-bit floats"),
        "{text}"
    );
    let drawn = report("gen:grid:4", &["--source", "2"]);
    let wanted = json!({"from": "generator", "kind": "u32", "rounded": 0});
    assert_eq!(drawn["weights"], wanted);
    let levels = ["run", "gen:grid:4", "--analysis", "bfs", "--source", "1"];
    let levels = finish(seawall(&levels).arg("--json")).json();
    assert_eq!(levels.get("weights"), None, "searches read none");
}

#[test]
fn unit_weights_make_distances_levels() {
    // Invalid weights are not read.
    let fixture = Fixture::new("bad.el", b"1 2 -7\n2 3 nan\n1 4 9\n4 5 x\n");
    let out = fixture.beside("d.csv");
    let json = report(fixture.path(), &["--unit-weights", "--out", &out]);
    let wanted = json!({"from": "unit", "kind": "u32", "rounded": 0});
    assert_eq!(json["weights"], wanted);
    assert_eq!(
        (&json["eccentricity"], &json["checked"]),
        (&json!(2), &json!(true))
    );
    let rows = std::fs::read_to_string(out).unwrap();
    assert_eq!(rows, "node,value\n1,0\n2,1\n3,2\n4,1\n5,2\n");
    let plain = Fixture::new("plain.el", b"1 2\n2 3\n");
    assert_eq!(report(plain.path(), &["--unit-weights"])["eccentricity"], 2);
}

#[test]
fn scaled_weights_are_whole_and_report_the_rounding() {
    let fixture = Fixture::new("prices.el", b"1 2 0.25\n2 3 1.5\n1 3 2.3\n3 4 0.01\n");
    let json = report(fixture.path(), &["--scale-weights", "10"]);
    let scale = json!({"factor": 10.0, "rounded": 2, "vanished": 1});
    assert_eq!(json["weights"]["scale"], scale);
    assert_eq!(json["weights"]["kind"], "u32");
    // 2 and 15 make less than 23; the edge of 0.01 has become 0.
    assert_eq!(json["eccentricity"], 17);
    let text = paths(fixture.path(), &["--scale-weights", "10"]).stdout;
    assert!(
        text.contains("times 10.0, 2 products rounded, 1 of them to 0"),
        "{text}"
    );
}

#[test]
fn a_scaled_weight_beyond_32_bits_names_its_edge() {
    let fixture = Fixture::new("prices.el", PRICES);
    for (factor, edge) in [
        ("1.5", "; 1.5 times that is more than 4294967295"),
        (
            "1e300",
            ":1: a weight is too large to scale (0.25); 1e300 times",
        ),
    ] {
        let done = paths(fixture.path(), &["--scale-weights", factor, "--json"]);
        done.refused(&["prices.el", edge]);
        let failure: Value = serde_json::from_str(&done.stdout).unwrap();
        assert_eq!(failure["error"]["kind"], "scaled_weight");
    }
    paths("gen:chain:4", &["--scale-weights", "1e9"]).refused(&["gen:chain:4", "weighs"]);
    let plain = Fixture::new("plain.el", b"1 2\n2 3\n");
    paths(plain.path(), &["--scale-weights", "2"]).refused(&["has no weights"]);
}

#[test]
fn invalid_weight_options_are_refused_before_a_graph_is_read() {
    for factor in ["0", "-1", "nan", "inf", "1e400", "1e-400", "x", ""] {
        let option = format!("--scale-weights={factor}");
        paths("missing.el", &[&option]).refused(&["expected a number above 0"]);
    }
    let both = ["--unit-weights", "--scale-weights", "2"];
    paths("missing.el", &both).refused(&["cannot be used with"]);
    for option in ["--unit-weights", "--scale-weights=2"] {
        let run = ["run", "missing.el", "--analysis", "cc", "--json", option];
        let done = finish(&mut seawall(&run));
        done.refused(&["cc reads no weights", "sssp"]);
        assert!(
            done.stdout.contains("\"weights_unread\""),
            "{}",
            done.stdout
        );
    }
}

#[test]
fn graphs_of_a_batch_have_the_requested_weights() {
    let fixture = Fixture::new("read.el", b"1 2 0.5\n2 3 0.1\n");
    let two = ["gen:chain:5", "--scale-weights", "100"];
    let json = report(fixture.path(), &two);
    let [read, drawn] = [0, 1].map(|at| json["results"][at]["weights"].clone());
    assert_eq!(
        (&read["from"], &read["rounded"]),
        (&json!("file"), &json!(0))
    );
    assert_eq!(drawn["from"], "generator");
    assert_eq!(json["results"][0]["eccentricity"], 60);
    let text = paths(fixture.path(), &["gen:chain:5", "--unit-weights"]).stdout;
    assert!(text.contains("weights   u32, 1 on every edge"), "{text}");
}

#[test]
fn converted_files_have_the_requested_weights() {
    let fixture = Fixture::new("prices.el", b"1 2 0.25\n2 3 1.5\n");
    let out = fixture.beside("whole.el");
    let convert =
        |more: &[&str]| finish(seawall(&["convert", fixture.path(), &out, "--json"]).args(more));
    let json = convert(&["--scale-weights", "4"]).json();
    assert_eq!(json["weights"]["scale"]["rounded"], 0);
    let text = std::fs::read_to_string(&out).unwrap();
    assert!(text.ends_with("1\t2\t1\n2\t3\t6\n"), "{text}");
    assert_eq!(
        convert(&["--unit-weights"]).json()["weights"]["from"],
        "unit"
    );
    convert(&["--unit-weights", "--no-weights"]).refused(&["cannot be used with"]);
}

#[test]
fn the_tolerance_of_a_check_is_reported_where_values_may_differ() {
    let floats = Fixture::new("floats.el", b"1 2 0.5\n2 3 0.1\n");
    let json = report(floats.path(), &[]);
    assert_eq!(json["check_tolerance"], 3.0 * 2_f64.powi(-23));
    assert_eq!(json["eccentricity"].as_f64(), Some(0.6));
    let text = paths(floats.path(), &[]).stdout;
    assert!(
        text.contains("each value within 3.6e-7 of itself"),
        "{text}"
    );
    let whole = report("gen:chain:5", &[]);
    assert_eq!(whole.get("check_tolerance"), None);
    let ranks = [
        "run",
        "gen:grid:4",
        "--analysis",
        "pagerank",
        "--check",
        "--json",
    ];
    let ranks = finish(&mut seawall(&ranks)).json();
    let rounds = ranks["iterations"].as_f64().unwrap() + 1.0;
    assert_eq!(ranks["check_tolerance"], rounds * 2_f64.powi(-21));
}

#[test]
fn a_ranking_reports_its_highest_rank() {
    let star = Fixture::new("star.el", b"7 30\n8 30\n9 30\n30 7\n");
    let run = [
        "run",
        star.path(),
        "--analysis",
        "pagerank",
        "--backend",
        "cpu",
    ];
    let json = finish(seawall(&run).arg("--json")).json();
    assert_eq!(json["highest_rank_node"], 30);
    assert!(json["highest_rank"].as_f64().unwrap() > 0.4);
    let text = finish(&mut seawall(&run)).stdout;
    assert!(
        text.contains("a rank for 4 nodes, the highest 0.4"),
        "{text}"
    );
    let several = finish(seawall(&run).args(["gen:grid:3", "--json"])).json();
    assert_eq!(several["results"][0]["highest_rank_node"], 30);
}

#[test]
fn long_paths_are_within_their_bound_or_exact() {
    const EDGES: u32 = 100_000;
    let lines = (0..EDGES).map(|node| format!("{node} {} 0.1\n", node + 1));
    let path = Fixture::new("tenths.el", lines.collect::<String>().as_bytes());
    let farthest = |more: &[&str]| {
        let run = ["run", path.path(), "--analysis", "sssp", "--source", "0"];
        let done = finish(
            seawall(&run)
                .args(["--backend", "cpu", "--json"])
                .args(more),
        );
        assert_eq!(done.code, 0, "{}", done.stderr);
        let report: Value = serde_json::from_str(&done.stdout).unwrap();
        report["eccentricity"].as_f64().unwrap()
    };
    let length = 0.1 * f64::from(EDGES);
    let found = farthest(&[]);
    let bound = length * f64::from(EDGES) * f64::from(f32::EPSILON) / 2.0;
    assert!((found - length).abs() <= bound, "{found}");
    assert_eq!(farthest(&["--scale-weights", "10"]), f64::from(EDGES));
}
