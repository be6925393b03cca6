//! The benchmark, with small graphs.

use super::{finish, seawall};

#[test]
fn a_quick_benchmark_runs_everywhere_and_lists_omissions() {
    let report = finish(&mut seawall(&[
        "bench",
        "--quick",
        "--json",
        "--threads",
        "2",
    ]))
    .json();
    assert_eq!(report["quick"], true);
    assert_eq!(report["threads"], 2);
    assert_eq!(report["wrong"], serde_json::json!([]));
    let rows = report["rows"].as_array().unwrap();
    let sections: Vec<_> = rows
        .iter()
        .map(|row| row["section"].as_str().unwrap())
        .collect();
    for section in [
        "chain",
        "loop",
        "bfs",
        "sssp",
        "pagerank",
        "cc",
        "triangles",
        "batch",
        "cpu",
        "wide",
    ] {
        assert!(sections.contains(&section), "{section} has no row");
    }
    for row in rows {
        assert!(row["ours"]["ns"].as_f64().unwrap() > 0.0, "{row}");
        assert!(row["floor"].is_null(), "{row}");
    }
    if report["device"].is_null() {
        let notes = report["notes"].to_string();
        assert!(notes.contains("rows of a GPU are left out"), "{notes}");
        assert!(rows.iter().all(|row| row["clock"] == "wall"));
    }
}

#[test]
fn sections_are_chosen_and_measured_once() {
    let sections = "loop,chain,loop";
    let run = finish(&mut seawall(&["bench", "--quick", "--section", sections]));
    assert_eq!((run.code, run.stderr.as_str()), (0, ""));
    assert_eq!(run.stdout.matches("Loop with a frontier").count(), 1);
    assert_eq!(run.stdout.matches("Chain of dependent").count(), 1);
    assert!(!run.stdout.contains("Breadth-first"), "{}", run.stdout);
    assert!(run.stdout.contains("agrees"), "{}", run.stdout);
}

#[test]
fn an_unknown_section_lists_the_known_ones() {
    let run = finish(&mut seawall(&["bench", "--section", "tides"]));
    run.refused(&["tides", "barrier", "pagerank"]);
}
