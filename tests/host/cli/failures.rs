//! Failures for scripts: one object on standard output, the message on standard error, and the
//! same exit code as without `--json`.

use super::{Finished, Fixture, finish, seawall};
use serde_json::{Value, json};

/// The `error` object of a command that fails with and without `--json`.
#[track_caller]
pub(super) fn failure(arguments: &[&str]) -> Value {
    let plain: Vec<&str> = arguments
        .iter()
        .copied()
        .filter(|word| *word != "--json")
        .collect();
    let plain = finish(&mut seawall(&plain));
    let found = finish(&mut seawall(arguments));
    assert!(found.code > 0);
    assert_eq!(found.code, plain.code, "{}", found.stderr);
    found.complains(&[]);
    let object = object(&found);
    let message = object["message"].as_str().unwrap();
    assert!(
        found.stderr.contains(message),
        "{message} is not in {}",
        found.stderr
    );
    object
}

fn object(found: &Finished) -> Value {
    assert_eq!(found.stdout.matches('\n').count(), 1, "{}", found.stdout);
    let value: Value = serde_json::from_str(&found.stdout).unwrap();
    assert_eq!(value.as_object().unwrap().len(), 1);
    value["error"].clone()
}

/// Asserts the fields that are listed.
#[track_caller]
fn has(found: &Value, fields: &Value) {
    for (name, value) in fields.as_object().unwrap() {
        assert_eq!(&found[name], value, "{name} of {found}");
    }
}

#[test]
fn every_command_reports_its_failure_as_json() {
    let file = Fixture::new("bad.el", b"0 1\n1 x\n");
    let (bad, table) = (file.path(), file.beside("o.docx"));
    let one_way = &file.beside("one-way.el");
    std::fs::write(one_way, "0 1\n").unwrap();
    for (arguments, fields) in [
        (
            &["run", bad, "--analysis", "cc", "--json"][..],
            json!({"kind": "line", "file": bad, "line": 2}),
        ),
        (
            &["run", "no-such", "--analysis", "cc", "--json"],
            json!({"kind": "io", "file": "no-such", "action": "open"}),
        ),
        (
            &["run", "gen:grid:4", "--analysis", "bfs", "--json"],
            json!({"kind": "missing_source", "analysis": "bfs"}),
        ),
        (
            &[
                "run",
                "gen:grid:4",
                "--analysis",
                "bfs",
                "--source",
                "16",
                "--json",
            ],
            json!({
                "kind": "no_such_source", "graph": "gen:grid:4",
                "range": {"first": 0, "last": 15, "gaps": false}
            }),
        ),
        (
            &[
                "run",
                one_way,
                "--analysis",
                "kcore",
                "--backend",
                "cpu",
                "--json",
            ],
            json!({"kind": "directed", "analysis": "kcore"}),
        ),
        (
            &[
                "run",
                "gen:grid:4",
                "--analysis",
                "cc",
                "--out",
                &table,
                "--json",
            ],
            json!({"kind": "unknown_output", "path": table}),
        ),
        (
            &["run", "gen:ring:4", "--analysis", "cc", "--json"],
            json!({"kind": "generator", "spec": "gen:ring:4"}),
        ),
        (
            &["convert", "gen:grid:4", &table, "--json"],
            json!({"kind": "unknown_suffix", "file": table}),
        ),
    ] {
        has(&failure(arguments), &fields);
    }
}

#[test]
fn a_failed_conversion_is_reported_as_json() {
    let found = failure(&["convert", "no-such", "x.swg", "--json"]);
    has(&found, &json!({"kind": "io", "file": "no-such"}));
}

#[test]
fn a_batch_names_the_graph_and_the_cause() {
    let file = Fixture::new("edges.txt", b"0 1\n");
    let graphs = ["run", "gen:grid:3", file.path(), "--analysis", "kcore"];
    let found = failure(&[&graphs[..], &["--backend", "cpu", "--json"]].concat());
    has(
        &found,
        &json!({"kind": "graph_of_batch", "name": file.path()}),
    );
    has(
        &found["cause"],
        &json!({"kind": "directed", "analysis": "kcore"}),
    );
    let late = [
        "run",
        "gen:batch:50:chain:400",
        "--analysis",
        "bfs",
        "--source",
        "0",
        "--backend",
        "cpu",
        "--time-budget",
        "0.0000001",
        "--json",
    ];
    let found = failure(&late);
    has(&found["cause"], &json!({"kind": "fault"}));
    assert!(found["cause"]["wave_name"].is_string(), "{found}");
}

#[test]
fn a_plan_and_evidence_have_the_fields_of_their_vectors() {
    for arguments in [
        ["plan", "no-such", "--json"].as_slice(),
        &["plan", "no-such", "--format=json"],
    ] {
        let found = finish(&mut seawall(arguments));
        assert_eq!(found.code, 2);
        has(
            &object(&found),
            &json!({"kind": "unreadable", "file": "no-such"}),
        );
    }
    let missing = [
        "evidence",
        "verify",
        "no-such",
        "--required-speedup",
        "2",
        "--json",
    ];
    has(
        &failure(&missing),
        &json!({"kind": "unreadable", "file": "no-such"}),
    );
    let file = Fixture::new("e.csv", b"nonsense\n");
    let bad = [
        "evidence",
        "verify",
        file.path(),
        "--required-speedup",
        "2",
        "--json",
    ];
    let found = finish(&mut seawall(&bad));
    assert_eq!(found.code, 2);
    assert_eq!(object(&found)["kind"], "invalid_evidence_header");
}

#[test]
fn wrong_arguments_are_json_too_on_request() {
    for (arguments, fields) in [
        (
            &["run", "gen:grid:4", "--analysis", "frobnicate", "--json"][..],
            json!({"problem": "invalid_value", "value": "frobnicate"}),
        ),
        (
            &["info", "--json", "--fast"],
            json!({"problem": "unknown_argument", "argument": "--fast"}),
        ),
        (
            &["bench", "--json", "--section", "nothing"],
            json!({"problem": "invalid_value", "value": "nothing"}),
        ),
        (
            &["convert", "--json"],
            json!({"problem": "missing_argument", "argument": ["<IN>", "<OUT>"]}),
        ),
        (
            &["fly", "--json"],
            json!({"problem": "unknown_command", "command": "fly"}),
        ),
        (
            &["evidence", "verify", "--json"],
            json!({"problem": "missing_argument"}),
        ),
        (
            &[
                "run",
                "gen:grid:4",
                "--analysis",
                "bfs",
                "--parents",
                "--each",
                "--json",
            ],
            json!({"problem": "conflict"}),
        ),
    ] {
        let found = failure(arguments);
        assert_eq!(found["kind"], "usage");
        has(&found, &fields);
    }
    let help = finish(&mut seawall(&["run", "--json", "--help"]));
    assert!(help.code == 0 && help.stdout.contains("Usage:"));
    let text = finish(&mut seawall(&["info", "--fast"]));
    assert_eq!(text.stdout, "");
}

#[test]
fn a_conversion_reports_as_json_the_written_and_dropped_edges() {
    let file = Fixture::new("a.el", b"0 1\n0 1\n1 1\n1 2\n");
    let out = file.beside("a.swg");
    let report = finish(&mut seawall(&["convert", file.path(), &out, "--json"])).json();
    let bytes = std::fs::metadata(&out).unwrap().len();
    has(
        &report,
        &json!({
            "direction": "directed", "output": out, "nodes": 3, "edges": 4, "bytes": bytes, "self_loops": 1,
            "parallel_edges": 1, "dropped_self_loops": 0, "dropped_duplicates": 0
        }),
    );
}

/// A run that a limit ends is not a failure, but it is reported.
#[test]
fn unconverged_runs_are_reported_on_standard_error() {
    let run = |graphs: &[&str], analysis: &str, limit: &str| {
        let mut command = seawall(&["run"]);
        let more = [
            "--source",
            "0",
            "--backend",
            "cpu",
            "--max-iterations",
            limit,
            "--json",
        ];
        command
            .args(graphs)
            .args(["--analysis", analysis])
            .args(more);
        finish(&mut command)
    };
    for analysis in ["pagerank", "bfs", "reach", "sssp"] {
        let cut = run(&["gen:grid:30"], analysis, "2");
        assert_eq!(cut.code, 0);
        let report: Value = serde_json::from_str(&cut.stdout).unwrap();
        assert_eq!(report["converged"], false, "{analysis}");
        let start = format!("warning: {analysis} stopped at the limit");
        assert!(cut.stderr.starts_with(&start), "{}", cut.stderr);
        assert!(cut.stderr.contains("--max-iterations"));
    }
    let batch = run(&["gen:grid:30", "gen:grid:2"], "bfs", "9");
    assert!(
        batch.stderr.contains("1 graph, gen:grid:30 first"),
        "{}",
        batch.stderr
    );
    assert_eq!(run(&["gen:grid:2"], "bfs", "9").stderr, "");
    let help = finish(&mut seawall(&["run", "--help-all"])).stdout;
    let help: Vec<&str> = help.split_whitespace().collect();
    assert!(
        help.join(" ")
            .contains("pagerank: 107 at the default damping")
    );
}

/// Waves have the times of their groups, within `run`; bodies those of all `iterations`.
fn waves_have_times_within_the_run(events: &[Value], run: &Value, iterations: &Value) {
    let waves = || {
        events
            .iter()
            .filter(|event| event["cat"] == "wave" && event["ph"] == "X")
    };
    let within = |wave: &Value| {
        let [start, end] = [run, wave].map(|event| event["ts"].as_f64().unwrap());
        start <= end && wave["dur"].as_f64().unwrap() <= run["dur"].as_f64().unwrap() + 1e-3
    };
    assert!(waves().all(within));
    let rank = waves().find(|event| event["name"] == "rank").unwrap();
    assert_eq!(rank["args"]["opcode"], "Fixpoint");
    assert_eq!(rank["args"]["iterations"], *iterations);
    let body: Vec<_> = waves()
        .filter(|event| event["args"]["body_of"] == "rank")
        .collect();
    assert!(!body.is_empty());
    let runs = |event: &&Value| event["args"]["runs"] == *iterations;
    assert!(body.iter().all(runs), "{body:?}");
    let spent: f64 = body
        .iter()
        .map(|event| event["dur"].as_f64().unwrap())
        .sum();
    let loop_us = rank["dur"].as_f64().unwrap();
    assert!(0.0 < spent && spent <= loop_us, "{spent} of {loop_us}");
}

/// The trace-event format: every event has its fields, times are microseconds.
#[test]
fn a_trace_shows_every_phase_and_the_waves_by_name() {
    let folder = Fixture::new("x", b"");
    let trace = folder.beside("t.json");
    let run = [
        "run",
        "gen:rmat:10:16",
        "--analysis",
        "pagerank",
        "--backend",
        "cpu",
        "--check",
        "--repeat",
        "2",
        "--json",
        "--trace",
        &trace,
    ];
    let report = finish(&mut seawall(&run)).json();
    let trace: Value = serde_json::from_slice(&std::fs::read(trace).unwrap()).unwrap();
    let events = trace["traceEvents"].as_array().unwrap();
    for event in events {
        assert!(event["name"].is_string() && event["pid"].is_u64() && event["tid"].is_u64());
        match event["ph"].as_str().unwrap() {
            "X" => assert!(event["ts"].is_f64() && event["dur"].as_f64().unwrap() >= 0.0),
            "i" => assert!(event["ts"].is_f64() && event["s"] == "t"),
            "M" => assert!(event["args"]["name"].is_string()),
            other => panic!("{other}"),
        }
    }
    let of = |ph: &'static str| events.iter().filter(move |event| event["ph"] == ph);
    let phase = || of("X").filter(|event| event["cat"] == "phase");
    let names: Vec<&str> = phase()
        .map(|event| event["name"].as_str().unwrap())
        .collect();
    let phases = [
        "load",
        "choose",
        "plan",
        "open",
        "upload",
        "load program",
        "run 1",
        "run 2",
        "readback",
        "check",
    ];
    assert_eq!(names, phases);
    let read = of("X").find(|event| event["name"] == "readback").unwrap();
    let microseconds = report["time_ns"]["readback"].as_f64().unwrap() / 1e3;
    assert!((read["dur"].as_f64().unwrap() - microseconds).abs() < 1e-3);
    let starts: Vec<f64> = phase().map(|event| event["ts"].as_f64().unwrap()).collect();
    assert!(starts.is_sorted(), "{starts:?}");
    let run = of("X").find(|event| event["name"] == "run 2").unwrap();
    waves_have_times_within_the_run(events, run, &report["iterations"]);
}
