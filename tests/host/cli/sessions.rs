//! Telemetry of sessions in JSON: of runs, batches and programs.

use super::{finish, seawall};
use serde_json::Value;

fn session(arguments: &[&str]) -> Value {
    let report = finish(&mut seawall(arguments)).json();
    let session = report["session"].clone();
    assert!(session["counted"].is_object(), "{report}");
    assert_eq!(session["predicted"], session["counted"], "{arguments:?}");
    session
}

#[test]
fn every_kind_of_run_reports_the_work_that_was_predicted() {
    let search = [
        "--analysis",
        "bfs",
        "--source",
        "0",
        "--backend",
        "cpu",
        "--json",
    ];
    let one = session(&[&["run", "gen:grid:30", "--repeat", "3"], &search[..]].concat());
    assert_eq!(one["counted"]["runs"], 3);
    assert_eq!(one["reuse"]["warm_reuses"], 2);
    assert_eq!(one["counted"]["readback_bytes"], 3_600);
    let many = ["run", "gen:batch:20:chain:64", "--repeat", "2"];
    let many = session(&[&many, &search[..]].concat());
    assert_eq!(many["counted"]["graph_uploads"], 1);
    assert_eq!(many["counted"]["runs"], 2);
    assert_eq!(many["counted"]["readback_bytes"], 20 * 64 * 4);
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/programs");
    let mut programs = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|suffix| suffix != "json") {
            continue;
        }
        let program = path.to_str().unwrap();
        let graph = "gen:rmat:8:8";
        let run = ["run", graph, "--undirected", "--program", program, "--json"];
        assert_eq!(session(&run)["counted"]["runs"], 1, "{program}");
        let repeated = [&run[..], &["--repeat", "3"]].concat();
        assert_eq!(session(&repeated)["counted"]["runs"], 3, "{program}");
        programs += 1;
    }
    assert!(programs > 0);
}
