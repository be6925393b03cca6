//! `--devices`: one graph on several devices, which threads simulate.

use super::{Finished, finish, seawall};

fn run(analysis: &[&str], more: &[&str]) -> Finished {
    let arguments = ["run", "gen:rmat:12:8", "--backend", "cpu", "--threads", "2"];
    finish(seawall(&arguments).args(analysis).args(more))
}

#[test]
fn columns_and_counters_of_several_devices_are_in_the_report() {
    let analyses: [&[&str]; 4] = [
        &["--analysis", "bfs", "--source", "1"],
        &["--analysis", "cc"],
        &["--analysis", "pagerank"],
        &["--analysis", "kcore"],
    ];
    for analysis in analyses {
        let one = run(analysis, &["--json"]).json();
        assert!(one["devices"].is_null(), "{one}");
        for list in ["0", "0,1", "0,1,2", "all"] {
            let found = run(analysis, &["--devices", list, "--check", "--json"]).json();
            assert_eq!(found["checksum"], one["checksum"], "{analysis:?} {list}");
            assert_eq!(found["checked"], true, "{analysis:?} {list}");
            let devices = &found["devices"];
            let count = devices["nodes"].as_array().unwrap().len() as u64;
            assert_eq!(devices["count"].as_u64(), Some(count));
            assert!(devices["barriers"].as_u64().unwrap() > 0, "{devices}");
            let edges = devices["edges"].as_array().unwrap();
            let sum: u64 = edges.iter().filter_map(serde_json::Value::as_u64).sum();
            assert_eq!(Some(sum), found["edges"].as_u64());
        }
    }
    let text = run(&["--analysis", "cc"], &["--devices", "0,1", "--explain"]);
    assert_eq!(text.code, 0, "{}", text.stderr);
    for part in [
        "2 simulated devices of 1 thread",
        "device 1:",
        "barriers of all devices",
    ] {
        assert!(text.stdout.contains(part), "{part}: {}", text.stdout);
    }
}

/// Sources are dealt out: values, checks and figures are those of all.
#[test]
fn sources_of_closeness_and_eccentricity_are_dealt_out() {
    let sources: Vec<String> = (0..300).map(|at| (at * 7).to_string()).collect();
    let named = sources.iter().flat_map(|source| ["--source", source]);
    let named: Vec<&str> = named.collect();
    for name in ["closeness", "eccentricity"] {
        let analysis = [&["--analysis", name], &named[..]].concat();
        let one = run(&analysis, &["--json"]).json();
        let three = ["--devices", "0,1,2", "--check", "--json"];
        let found = run(&analysis, &three).json();
        for field in ["checksum", "reached", "sources", "answer", "converged"] {
            assert_eq!(found[field], one[field], "{name} {field}");
        }
        assert_eq!(found["checked"], true, "{name}");
        let devices = &found["devices"];
        assert_eq!(devices["sources"], serde_json::json!([128, 128, 44]));
        assert_eq!(devices["exchanged_bytes"], 0);
        let text = run(&analysis, &["--devices", "0,1", "--explain"]).stdout;
        assert!(text.contains("device 1: 140 sources, "), "{text}");
    }
    let few = ["--analysis", "closeness", "--source", "1", "--source", "2"];
    let found = run(&few, &["--devices", "0,1", "--json"]).json();
    let reason = found["backend_reason"].as_str().unwrap_or_default();
    assert!(
        reason.contains("one search there answers 32 sources"),
        "{found}"
    );
}

/// Nodes from which triangles are looked for are shared out by the lookups there.
#[test]
fn triangles_are_counted_by_all_devices() {
    for name in ["triangles", "triangle-total"] {
        let analysis = ["--analysis", name];
        let one = run(&analysis, &["--json"]).json();
        let found = run(&analysis, &["--devices", "0,1,2", "--check", "--json"]).json();
        for field in ["checksum", "answer", "triangles"] {
            assert_eq!(found[field], one[field], "{name} {field}");
        }
        assert_eq!(found["checked"], true, "{name}");
        let devices = &found["devices"];
        let centers = devices["centers"].as_array().unwrap();
        let sum: u64 = centers.iter().filter_map(serde_json::Value::as_u64).sum();
        assert_eq!((centers.len(), sum), (3, 4096), "{devices}");
        let text = run(&analysis, &["--devices", "0,1", "--explain"]).stdout;
        assert!(text.contains("device 1: triangles from "), "{text}");
    }
}

/// Weights are followed by a program that devices share, and others are shared by their name.
#[test]
fn ranks_along_weights_and_composed_analyses_are_shared() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("weighted.el");
    let edges: String = (0..4000_u32)
        .map(|at| format!("{} {} {}\n", at % 997, at * at % 991, at % 13 + 1))
        .collect();
    std::fs::write(&file, edges).unwrap();
    let file = file.to_str().unwrap();
    for analysis in [
        &["pagerank"][..],
        &["ppr", "--source", "3"],
        &["widest", "--source", "3"],
        &["msf", "--undirected"],
        &["mis", "--undirected"],
        &["scc"],
    ] {
        let run = |more: &[&str]| {
            let arguments = ["run", file, "--backend", "cpu", "--threads", "2", "--json"];
            let mut command = seawall(&arguments);
            finish(command.arg("--analysis").args(analysis).args(more)).json()
        };
        let one = run(&[]);
        for list in ["0", "0,1,2"] {
            let found = run(&["--devices", list, "--check"]);
            for field in ["checksum", "answer", "reached", "converged", "weights"] {
                assert_eq!(found[field], one[field], "{analysis:?} {field}");
            }
            assert_eq!(found["checked"], true, "{analysis:?}");
            let edges = found["devices"]["edges"].as_array().unwrap();
            assert_eq!(edges.len(), list.split(',').count(), "{analysis:?}");
        }
    }
}

#[test]
fn requests_for_one_device_are_refused_before_a_run() {
    let refused = |analysis: &[&str], more: &[&str], part: &str| {
        let end = run(analysis, more);
        assert_eq!(end.code, 2, "{}", end.stderr);
        assert!(end.stderr.contains(part), "{}", end.stderr);
    };
    let bfs = ["--analysis", "bfs", "--source", "1"];
    refused(
        &["--analysis", "labels"],
        &["--devices", "0,1"],
        "runs on one device",
    );
    refused(
        &bfs,
        &["--devices", "0,x"],
        "\"x\" is no number of a device",
    );
    refused(
        &bfs,
        &["--devices", "0,1", "--parents"],
        "cannot be used with",
    );
    let many: Vec<String> = (0..17).map(|number| number.to_string()).collect();
    refused(
        &bfs,
        &["--devices", &many.join(",")],
        "1 to 16 devices, not 17",
    );
}

/// A program has the results of one device, or is refused with the wave that is in the way.
#[test]
fn devices_share_a_program() {
    let program = |name: &str, more: &[&str]| {
        let file = format!("{}/../examples/programs/{name}", env!("CARGO_MANIFEST_DIR"));
        let arguments = ["run", "gen:rmat:10:4", "--backend", "cpu", "--threads", "2"];
        finish(seawall(&arguments).args(["--program", &file]).args(more))
    };
    let one = program("components.json", &["--json"]).json();
    assert!(one["devices"].is_null(), "{one}");
    for list in ["0", "0,1", "0,1,2", "all"] {
        let found = program("components.json", &["--devices", list, "--json"]).json();
        assert_eq!(found["results"], one["results"], "{list}");
        let devices = &found["devices"];
        let nodes = devices["nodes"].as_array().unwrap();
        assert_eq!(devices["count"].as_u64(), Some(nodes.len() as u64));
        assert!(devices["barriers"].as_u64().unwrap() > 0, "{devices}");
    }
    let text = program("components.json", &["--devices", "0,1,2"]).stdout;
    assert!(text.contains("3 simulated devices"), "{text}");
    let refused = program("degrees.json", &["--devices", "0,1"]);
    assert_eq!(refused.code, 2, "{}", refused.stderr);
    assert!(
        refused.stderr.contains("(list) appends to a list"),
        "{}",
        refused.stderr
    );
}
