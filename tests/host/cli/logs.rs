//! The log that RUST_LOG asks for: on standard error alone, with spans, and never unasked.

use super::{Finished, finish, seawall};
use serde_json::Value;

const RUN: [&str; 5] = ["run", "gen:grid:9", "--analysis", "cc", "--quiet"];

fn run(level: &str, more: &[&str]) -> Finished {
    finish(seawall(&RUN).args(more).env("RUST_LOG", level))
}

/// The events of a log in JSON.
fn events(finished: &Finished) -> Vec<Value> {
    let lines = finished.stderr.lines();
    lines
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

#[test]
fn nothing_is_logged_unasked() {
    for level in ["", " ", "off", "error", "other_crate=trace"] {
        let done = run(level, &[]);
        assert_eq!((done.code, done.stderr.as_str()), (0, ""), "{level:?}");
    }
}

#[test]
fn a_log_tells_what_was_loaded_and_where_it_ran() {
    let done = run("info", &["--json", "--log-format", "json"]);
    assert_eq!(done.code, 0);
    let report: Value = serde_json::from_str(&done.stdout).unwrap();
    let events = events(&done);
    let [loaded, answered] = events.as_slice() else {
        panic!("{}", done.stderr);
    };
    assert_eq!(loaded["span"]["graph"], "gen:grid:9");
    assert_eq!(
        (&loaded["fields"]["nodes"], &loaded["target"]),
        (&81.into(), &"seawall_graph".into())
    );
    assert_eq!(answered["target"], "seawall::run");
    assert_eq!(answered["span"]["analysis"], "cc");
    assert_eq!(answered["fields"]["backend"], report["backend"]);
    assert_eq!(answered["level"], "INFO");
}

#[test]
fn levels_are_by_target_and_debug_has_the_steps() {
    let done = run("warn,seawall::run=debug", &[]);
    assert!(!done.stderr.contains("seawall_graph"), "{}", done.stderr);
    for part in [
        "run{analysis=cc",
        "name=\"plan\"",
        "name=\"run 1\"",
        "answered",
    ] {
        assert!(done.stderr.contains(part), "{part}: {}", done.stderr);
    }
}

#[test]
fn a_streamed_run_and_a_batch_have_their_spans() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("grid.swg");
    let file = file.to_str().unwrap();
    assert_eq!(
        finish(&mut seawall(&["convert", "gen:grid:9", file, "--quiet"])).code,
        0
    );
    let cases: [(&[&str], &str); 2] = [
        (
            &[
                "run",
                file,
                "--analysis",
                "bfs",
                "--source",
                "0",
                "--stream",
                "always",
                "--quiet",
            ],
            "on=\"stream\"",
        ),
        (
            &["run", file, "gen:grid:2", "--analysis", "cc", "--quiet"],
            "batch{analysis=cc graphs=2}",
        ),
    ];
    for (arguments, part) in cases {
        let done = finish(seawall(arguments).env("RUST_LOG", "info"));
        assert_eq!(done.code, 0, "{}", done.stderr);
        assert!(done.stderr.contains(part), "{part}: {}", done.stderr);
    }
}

#[test]
fn a_refused_request_is_logged_as_such_and_exits_with_2() {
    let done = finish(
        seawall(&[
            "run",
            "gen:grid:30",
            "--analysis",
            "kcore",
            "--budget",
            "64",
        ])
        .env("RUST_LOG", "warn"),
    );
    assert_eq!(done.code, 2);
    assert!(
        done.stderr.contains("WARN seawall::run: refused"),
        "{}",
        done.stderr
    );
    let missing = seawall(&["run", "missing.el", "--analysis", "cc"])
        .env("RUST_LOG", "info")
        .output()
        .unwrap();
    let log = String::from_utf8(missing.stderr).unwrap();
    assert!(log.contains("ERROR load{graph=\"missing.el\"}"), "{log}");
}

#[test]
fn a_level_that_is_none_is_named() {
    let done = run("seawall=in=fo", &[]);
    done.refused(&["RUST_LOG=seawall=in=fo", "info, debug or trace"]);
}
