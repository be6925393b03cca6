//! Shortest paths of every kind of weight, for scripts.

use super::{Fixture, finish, seawall};
use serde_json::json;

fn paths(file: &str, more: &[&str]) -> super::Finished {
    let run = [
        "run",
        file,
        "--analysis",
        "sssp",
        "--source",
        "1",
        "--backend",
        "cpu",
    ];
    finish(seawall(&run).args(more))
}

#[test]
fn distances_beyond_32_bits_are_written_in_full() {
    let fixture = Fixture::new("long.el", b"1 2 4000000000\n2 3 4000000000\n4 1 7\n");
    let report = paths(fixture.path(), &["--check", "--json"]).json();
    assert_eq!(report["checked"], true);
    assert_eq!(report["distance_bits"], 64);
    assert_eq!(report["reached"], 3);
    assert_eq!(report["eccentricity"], 8_000_000_000_u64);
    for (name, wanted) in [
        (
            "d.csv",
            "node,value\n1,0\n2,4000000000\n3,8000000000\n4,\n".as_bytes(),
        ),
        (
            "d.npy",
            &[
                0, 80, 214, 220, 1, 0, 0, 0, 255, 255, 255, 255, 255, 255, 255, 255,
            ],
        ),
    ] {
        let out = fixture.beside(name);
        let columns = ["--columns", "value"];
        let columns = if name == "d.npy" { &columns[..] } else { &[] };
        let done = finish(
            seawall(&["run", fixture.path(), "--analysis", "sssp", "--source", "1"])
                .args(["--backend", "cpu", "--quiet", "--out", &out])
                .args(columns),
        );
        assert_eq!(done.code, 0, "{}", done.stderr);
        let bytes = std::fs::read(&out).unwrap();
        assert!(bytes.ends_with(wanted), "{name}: {bytes:?}");
    }
    let plot = fixture.beside("d.svg");
    assert_eq!(paths(fixture.path(), &["--plot", &plot]).code, 0);
}

#[test]
fn float_weights_lead_to_float_distances() {
    let fixture = Fixture::new("short.el", b"1 2 0.5\n2 3 1\n4 1 7\n");
    let out = fixture.beside("d.json");
    let report = paths(fixture.path(), &["--check", "--json", "--out", &out]).json();
    assert_eq!(
        (&report["checked"], &report["distance_bits"]),
        (&json!(true), &json!(32))
    );
    let rows: serde_json::Value = serde_json::from_slice(&std::fs::read(&out).unwrap()).unwrap();
    assert_eq!(rows[2], json!({"node": 3, "value": 1.5}));
    assert_eq!(rows[3], json!({"node": 4, "value": null}));
}

#[test]
fn a_float_path_that_is_too_long_names_its_edge() {
    let fixture = Fixture::new("long.el", b"1 2 3e38\n2 3 3e38\n");
    paths(fixture.path(), &[]).refused(&["node 3, over its edge from node 2"]);
}

#[test]
fn graphs_of_a_batch_share_a_table_that_holds_all_distances() {
    let long = Fixture::new("long.el", b"1 2 4000000000\n2 3 4000000000\n");
    let short = long.beside("short.el");
    std::fs::write(&short, "1 2 5\n").unwrap();
    let float = long.beside("float.el");
    std::fs::write(&float, "1 2 0.5\n").unwrap();
    let table = |files: &[&str]| {
        let out = long.beside("all.npy");
        let done = finish(seawall(&["run"]).args(files).args([
            "--analysis",
            "sssp",
            "--source",
            "1",
            "--backend",
            "cpu",
            "--check",
            "--quiet",
            "--columns",
            "value",
            "--out",
            &out,
        ]));
        assert_eq!(done.code, 0, "{}", done.stderr);
        std::fs::read(&out).unwrap()
    };
    let both = table(&[&short, long.path()]);
    let words = [0, 5, 0, 4_000_000_000, 8_000_000_000_u64].map(u64::to_le_bytes);
    assert!(both.ends_with(words.as_flattened()));
    let all = table(&[&short, &float, long.path()]);
    let doubles = [0.0, 5.0, 0.0, 0.5, 0.0, 4e9, 8e9_f64].map(f64::to_le_bytes);
    assert!(all.ends_with(doubles.as_flattened()));
}
