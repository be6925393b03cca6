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
        "kcore",
        "batch",
        "cpu",
        "wide",
        "load",
        "survey",
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

/// The survey has a row for every analysis on every shape, with its growth and the time of a node and
/// of an edge.
#[test]
fn a_survey_measures_every_analysis_on_every_shape() {
    let quick = ["bench", "--quick", "--section", "survey", "--quiet"];
    let report = finish(seawall(&quick).arg("--json")).json();
    assert_eq!(report["wrong"], serde_json::json!([]));
    let silent = |note: &&serde_json::Value| note.as_str().unwrap().contains("no answer");
    let notes = report["notes"].as_array().unwrap();
    assert_eq!(notes.iter().find(silent), None);
    let rows = report["rows"].as_array().unwrap();
    let has = |what: &str| rows.iter().any(|row| row["what"] == what);
    for shape in seawall_cli::bench::samples(12, 1) {
        for analysis in ["sssp", "scc", "widest", "closeness"] {
            for direction in ["one direction", "both directions"] {
                let what = format!("{analysis}, {}, {direction}", shape.name);
                assert!(has(&what), "{what}");
            }
        }
        for analysis in ["labels", "msf", "kcore", "mis"] {
            assert!(has(&format!("{analysis}, {}, both directions", shape.name)));
            assert!(!has(&format!("{analysis}, {}, one direction", shape.name)));
        }
    }
    for row in rows {
        assert!(
            row["amount"]["nodes_and_edges"].as_u64().unwrap() > 0,
            "{row}"
        );
        assert!(row["ratio"].as_f64().unwrap() > 0.0, "{row}");
    }
    let text = finish(&mut seawall(&quick)).stdout;
    assert!(
        text.contains("Every analysis on graphs of many shapes"),
        "{text}"
    );
    assert!(text.contains("ns a node and edge"), "{text}");
}

#[test]
fn an_unknown_section_lists_the_known_ones() {
    let run = finish(&mut seawall(&["bench", "--section", "tides"]));
    run.refused(&["tides", "barrier", "pagerank"]);
}

/// Runs a quick section against a report whose times are `factor` times those of another run.
fn against(factor: f64) -> (i32, String) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("earlier.json");
    let arguments = ["bench", "--quick", "--quiet", "--section", "chain"];
    let mut report = finish(seawall(&arguments).arg("--json")).json();
    for row in report["rows"].as_array_mut().unwrap() {
        let ns = row["ours"]["ns"].as_f64().unwrap();
        row["ours"]["ns"] = (ns * factor).into();
    }
    std::fs::write(&file, report.to_string()).unwrap();
    let run = finish(seawall(&arguments).arg("--against").arg(&file));
    (run.code, run.stdout)
}

#[test]
fn a_benchmark_is_held_against_an_earlier_one() {
    let (code, text) = against(1e6);
    assert_eq!(code, 0, "{text}");
    assert!(text.contains("0 slower by more than 5 %"), "{text}");
    let (code, text) = against(1e-6);
    assert_eq!(code, 1, "{text}");
    assert!(text.contains("SLOWER: "), "{text}");
}

#[test]
fn a_report_that_is_none_is_refused_before_anything_is_measured() {
    for file in ["/dev/null", "no-such-report.json"] {
        let arguments = ["bench", "--quick", "--json", "--against", file];
        let run = finish(&mut seawall(&arguments));
        assert_eq!(run.code, 2, "{file}");
        let failure: serde_json::Value = serde_json::from_str(&run.stdout).unwrap();
        assert_eq!(failure["error"]["kind"], "earlier_benchmark", "{file}");
    }
}
