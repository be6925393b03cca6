//! Negative weights on the command line.

use super::{Fixture, finish, seawall};
use serde_json::{Value, json};

const SIGNED: &[u8] = b"1 2 4\n1 3 6\n3 2 -5\n2 4 -2\n";

fn run(file: &str, more: &[&str]) -> super::Finished {
    finish(seawall(&["run", file, "--backend", "cpu"]).args(more))
}

#[test]
fn shortest_paths_and_forests_take_them() {
    let file = Fixture::new("signed.el", SIGNED);
    let paths = ["--analysis", "sssp", "--source", "1", "--check"];
    let report = run(
        file.path(),
        &[&paths[..], &["--json", "--target", "4"]].concat(),
    )
    .json();
    assert_eq!(
        (&report["checked"], &report["eccentricity"]),
        (&json!(true), &json!(6))
    );
    assert_eq!(report["path"]["nodes"], json!([1, 3, 2, 4]));
    assert_eq!(report["path"]["weight"], json!(-1));
    assert_eq!(report["weights"]["kind"], "i32");
    let table = run(file.path(), &[&paths[..], &["--out", "-"]].concat());
    assert_eq!(table.stdout, "node,value\n1,0\n2,1\n3,6\n4,-1\n");
    let out = file.beside("d.npy");
    let columns = ["--quiet", "--columns", "value", "--out", &out];
    assert_eq!(run(file.path(), &[&paths[..], &columns].concat()).code, 0);
    let bytes = std::fs::read(&out).unwrap();
    assert!(bytes.ends_with(&(-1_i64).to_le_bytes()), "{bytes:?}");
    let plot = file.beside("d.svg");
    assert_eq!(
        run(file.path(), &[&paths[..], &["--plot", &plot]].concat()).code,
        0
    );
    let forest = ["--analysis", "msf", "--undirected", "--check", "--json"];
    assert_eq!(run(file.path(), &forest).json()["forest_weight"], -3);
    let most = run(file.path(), &[&forest[..], &["--maximum"]].concat()).json();
    assert_eq!(
        (&most["checked"], &most["forest_weight"]),
        (&json!(true), &json!(8))
    );
}

#[test]
fn cycles_are_named_by_ids_and_names() {
    let file = Fixture::new(
        "cycle.csv",
        b"source,target,weight\nann,bob,1\nbob,cid,-3\ncid,bob,2\n",
    );
    let paths = ["--analysis", "sssp", "--source", "ann"];
    let refused = run(file.path(), &[&paths[..], &["--json"]].concat());
    refused.refused(&[
        "around bob, cid, bob have the weight -1",
        "correct the weights",
    ]);
    let error: Value = serde_json::from_str(&refused.stdout).unwrap();
    assert_eq!(error["error"]["kind"], "negative_cycle");
    assert_eq!(error["error"]["nodes"], json!(["bob", "cid"]));
    let both = run(file.path(), &[&paths[..], &["--undirected"]].concat());
    both.refused(&["every undirected edge of negative weight", "--undirected"]);
}

#[test]
fn other_analyses_name_the_line_and_the_value() {
    let file = Fixture::new("signed.el", SIGNED);
    for analysis in ["widest", "pagerank", "ppr"] {
        let refused = run(file.path(), &["--analysis", analysis, "--source", "1"]);
        refused.refused(&[
            "signed.el:3: a weight is negative (-5)",
            analysis,
            "sssp or msf",
        ]);
    }
    for analysis in ["betweenness", "closeness", "eccentricity", "labels"] {
        let more = [
            "--analysis",
            analysis,
            "--source",
            "1",
            "--weighted",
            "--undirected",
        ];
        run(file.path(), &more).refused(&["signed.el:3: a weight is negative (-5)", analysis]);
    }
    let mut batch = seawall(&["run", file.path(), file.path(), "--analysis", "widest"]);
    finish(batch.args(["--source", "1"])).refused(&["signed.el:3", "widest takes weights from 0"]);
    // Without weights, they are not read.
    assert_eq!(
        run(
            file.path(),
            &["--analysis", "bfs", "--source", "1", "--quiet"]
        )
        .code,
        0
    );
}

#[test]
fn formats_that_can_hold_them_do_and_the_others_refuse_them() {
    let paths = |file: &str, source: &str| {
        let more = [
            "--analysis",
            "sssp",
            "--source",
            source,
            "--json",
            "--check",
        ];
        run(file, &more).json()["checksum"].clone()
    };
    for (content, source) in [
        (SIGNED, "1"),
        (&b"1 2 0.5\n2 3 -0.25\n3 4 4294967295\n"[..], "1"),
        (&b"1 2 4294967295\n2 3 -7\n"[..], "1"),
    ] {
        let file = Fixture::new("signed.el", content);
        let expected = paths(file.path(), source);
        for name in ["g.csv", "g.mtx", "g.el", "g.gr", "g.npz"] {
            let to = file.beside(name);
            let done = finish(&mut seawall(&["convert", file.path(), &to, "--quiet"]));
            assert_eq!(done.code, 0, "{name}: {}", done.stderr);
            assert_eq!(paths(&to, source), expected, "{name}");
            let ranks = ["run", &to, "--analysis", "pagerank"];
            finish(&mut seawall(&ranks)).refused(&[name, "-", "pagerank takes weights from 0 on"]);
        }
        for name in ["g.swg", "g.egr", "g.bin", "g.graph"] {
            let to = file.beside(name);
            let mut convert = seawall(&["convert", file.path(), &to, "--undirected"]);
            finish(&mut convert).refused(&["negative weights", ".el"]);
            assert!(!std::path::Path::new(&to).exists(), "{name}");
        }
    }
}

#[test]
fn scaled_weights_keep_their_sign() {
    let file = Fixture::new("tenths.el", b"0 1 0.1\n1 2 0.2\n2 0 -0.3\n");
    let paths = [
        "--analysis",
        "sssp",
        "--source",
        "0",
        "--scale-weights",
        "10",
        "--json",
    ];
    let report = run(file.path(), &paths).json();
    assert_eq!(
        (
            &report["eccentricity"],
            &report["weights"]["scale"]["rounded"]
        ),
        (&json!(3), &json!(0))
    );
    let beyond = Fixture::new("beyond.el", b"0 1 -2147483649\n");
    let paths = ["--analysis", "sssp", "--source", "0"];
    run(beyond.path(), &paths).refused(&[
        "beyond.el:1",
        "too small (-2147483649); at least -2147483648",
    ]);
}
