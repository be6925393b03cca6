//! Calibration, and its use by a run.

use super::{Finished, finish, seawall};
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

#[test]
fn a_narrow_search_gets_one_thread_by_default() {
    let folder = tempfile::tempdir().unwrap();
    let report = with_cache(&folder, &CHAIN).json();
    if report["backend"] == "cpu" {
        assert_eq!(report["device"], "CPU, 1 thread");
    }
    let mut told = CHAIN.to_vec();
    told.extend(["--backend", "cpu", "--threads", "2"]);
    assert_eq!(
        with_cache(&folder, &told).json()["device"],
        "CPU, 2 threads"
    );
}
