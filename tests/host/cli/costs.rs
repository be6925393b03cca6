//! Calibration, and its use by a run.

use super::{Finished, finish, seawall};
use serde_json::{Value, json};
use tempfile::TempDir;

/// The program with its caches in `folder`.
fn with_cache(folder: &TempDir, arguments: &[&str]) -> Finished {
    finish(
        seawall(arguments)
            .env("XDG_CACHE_HOME", folder.path())
            .env("HOME", folder.path()),
    )
}

const CHAIN: [&str; 7] = [
    "run",
    "gen:chain:500",
    "--analysis",
    "bfs",
    "--source",
    "0",
    "--json",
];

#[cfg(unix)]
#[test]
fn a_calibration_is_kept_and_shown() {
    let folder = tempfile::tempdir().unwrap();
    let before = with_cache(&folder, &["info", "--json"]).json();
    assert_eq!(before["costs"]["cpu_measured"], false);
    let measured = with_cache(&folder, &["info", "--calibrate", "--json"]).json();
    assert_eq!(measured["costs"]["cpu_measured"], true);
    let file = measured["costs"]["file"].as_str().unwrap();
    assert!(file.starts_with(folder.path().to_str().unwrap()), "{file}");
    let again = with_cache(&folder, &["info", "--json"]).json();
    assert_eq!(again["costs"]["cpu"], measured["costs"]["cpu"]);
    let text = with_cache(&folder, &["info"]).stdout;
    assert!(text.contains("CPU, one thread (measured)"), "{text}");
}

#[cfg(unix)]
#[test]
fn a_damaged_calibration_is_ignored_and_named() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("seawall").join("calibration.json");
    std::fs::create_dir_all(file.parent().unwrap()).unwrap();
    std::fs::write(&file, "{\"format\":").unwrap();
    let reason = with_cache(&folder, &CHAIN).json()["backend_reason"].to_string();
    assert!(reason.contains("the calibration was ignored"), "{reason}");
    assert!(reason.contains("calibration.json"), "{reason}");
    let text = with_cache(&folder, &["info"]).stdout;
    assert!(text.contains("the calibration was ignored"), "{text}");
}

#[cfg(unix)]
#[test]
fn tuned_limits_are_shown_and_shape_later_runs() {
    let folder = tempfile::tempdir().unwrap();
    let alone = with_cache(&folder, &["info", "--tune"]);
    alone.refused(&["--calibrate"]);
    let tuned = with_cache(&folder, &["info", "--calibrate", "--tune", "--json"]).json();
    let nodes = &tuned["costs"]["cpu_tuned"]["narrow_nodes"];
    assert!((32..=896).contains(&nodes.as_u64().unwrap()), "{nodes}");
    let text = with_cache(&folder, &["info"]).stdout;
    let line = format!("tuned: searches alone up to {nodes} nodes");
    assert!(text.contains(&line), "{text}");

    let file = tuned["costs"]["file"].as_str().unwrap();
    let barriers = |narrow_nodes: u32| {
        let kept: Value = serde_json::from_slice(&std::fs::read(file).unwrap()).unwrap();
        let search = json!({"narrow_nodes": narrow_nodes, "pull_density_ppm": 70_000});
        let mut edited = kept;
        edited["cpu_tuned"] = json!({"threads": 2, "search": search});
        std::fs::write(file, edited.to_string()).unwrap();
        let mut wide = vec!["run", "gen:grid:400", "--analysis", "bfs"];
        for source in [
            "20100", "20300", "60100", "60300", "100100", "100300", "140100", "140300",
        ] {
            wide.extend(["--source", source]);
        }
        wide.extend(["--backend", "cpu", "--threads", "2", "--check", "--json"]);
        let report = with_cache(&folder, &wide).json();
        assert_eq!(report["checked"], true);
        report["device_barriers"].as_u64().unwrap()
    };
    // One thread searches six times as wide a frontier alone. From eight nodes on, frontiers are
    // too wide for that until the search counts as long and threads search ahead.
    let (wide, narrow) = (barriers(896), barriers(32));
    assert!(wide < 10 && narrow > 50, "{wide} {narrow}");
}

#[test]
fn a_narrow_search_gets_one_thread_by_default() {
    let folder = tempfile::tempdir().unwrap();
    let report = with_cache(&folder, &CHAIN).json();
    if report["backend"] == "cpu" {
        assert_eq!(report["device"], "CPU, 1 thread");
    }
    let mut arguments = CHAIN.to_vec();
    arguments.extend(["--backend", "cpu", "--threads", "2"]);
    assert_eq!(
        with_cache(&folder, &arguments).json()["device"],
        "CPU, 2 threads"
    );
}
