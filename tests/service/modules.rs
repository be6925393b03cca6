//! A service of modules: its answers beside those of `seawall analyze`, lines that it refuses, and
//! several clients.

use super::serve::{PROGRAM, Serving, answer, answers, ask};
use assert_cmd::Command;
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// Data of `env.in` leaks by a call, by the table and by memory; `$safe` overwrites it.
const MODULE: &str = "(module
    (import \"env\" \"in\" (func $in (result i32)))
    (import \"env\" \"out\" (func $out (param i32 i32)))
    (import \"env\" \"abort\" (func $abort))
    (memory 1) (table 2 funcref) (elem (i32.const 0) $same $drops)
    (type $f (func (param i32) (result i32)))
    (func $same (type $f) local.get 0)
    (func $drops (type $f) i32.const 2)
    (func $put (param i32) local.get 0 i32.const 1 call $out)
    (func (export \"leak\") call $in call $put)
    (func (export \"table\") (param i32)
      i32.const 1 call $in local.get 0 call_indirect (type $f) call $out)
    (func (export \"memory\") i32.const 0 call $in i32.store i32.const 4 i32.load call $kept)
    (func $kept (param i32) local.get 0 if call $abort end)
    (func (export \"safe\") (local i32) call $in local.set 0 i32.const 7 local.set 0
      local.get 0 local.get 0 call $out))";

struct Folder(TempDir);

impl Folder {
    fn new() -> Self {
        let folder = Self(tempfile::tempdir().unwrap());
        std::fs::write(folder.module(), wat::parse_str(MODULE).unwrap()).unwrap();
        folder
    }

    fn module(&self) -> PathBuf {
        self.0.path().join("module.wasm")
    }
}

fn served(files: &[&Path], options: &[&str], input: &str) -> Vec<Value> {
    let mut command = Command::new(PROGRAM);
    let output = command.arg("serve").args(files).args(options);
    let output = output.args(["--threads", "2"]).write_stdin(input).output();
    let output = output.unwrap();
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!((output.status.code(), &*errors), (Some(0), ""));
    answers(&output.stdout)
}

/// Findings of one kind by `seawall analyze`.
fn analysed(module: &Path, kind: &str, options: &[String]) -> Vec<Value> {
    let mut command = Command::new(PROGRAM);
    let command = command.arg("analyze").arg(module).arg("--json");
    let output = command.args(options).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{options:?}");
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    let findings = report["findings"].as_array().unwrap().iter();
    findings
        .filter(|one| one["kind"] == kind)
        .cloned()
        .collect()
}

fn without_ways(findings: &[Value]) -> Vec<Value> {
    let mut findings = findings.to_vec();
    for finding in &mut findings {
        finding.as_object_mut().unwrap().remove("witness");
    }
    findings
}

#[test]
fn answers_are_those_of_the_command() {
    let folder = Folder::new();
    let names = ["env.in", "in:memory", "load", "put:0"];
    let sinks = ["env.out", "out:1", "abort:memory", "kept"];
    for resolve in ["type", "points-to"] {
        let mut input = String::new();
        let mut expected = Vec::new();
        for source in names {
            for sink in sinks {
                let common = format!(r#""op":"taint","source":"{source}","sink":["{sink}"]"#);
                let options = ["--source", source, "--sink", sink, "--resolve", resolve];
                let options = options.map(str::to_owned);
                let findings = analysed(&folder.module(), "taint", &options);
                for rest in [r#""limit":0"#, r#""limit":1000"#, r#""witness":true"#] {
                    let _ = writeln!(input, r#"{{"id":{},{common},{rest}}}"#, expected.len());
                    expected.push((rest, options.clone(), findings.clone()));
                }
            }
        }
        let answers = served(&[&folder.module()], &["--resolve", resolve], &input);
        assert_eq!(answers.len(), expected.len());
        let mut reached = 0;
        for (at, (rest, options, findings)) in expected.iter().enumerate() {
            let line = answer(&answers, &json!(at));
            assert_eq!(line["reached"], !findings.is_empty(), "{options:?}");
            reached += findings.len();
            if rest.contains("limit\":0") {
                assert_eq!(
                    (&line["count"], &line["findings"]),
                    (&Value::Null, &Value::Null)
                );
                continue;
            }
            let has_ways = rest.contains("witness");
            let shown = if has_ways {
                findings.clone()
            } else {
                without_ways(findings)
            };
            assert_eq!(line["findings"], json!(shown), "{options:?}");
            assert_eq!(
                (&line["count"], &line["overflow"]),
                (&json!(findings.len()), &json!(0))
            );
        }
        assert!(reached > 10);
    }
    let reaching = analysed(
        &folder.module(),
        "reaches-import",
        &["--reach", "env.abort", "--analysis", "calls"].map(str::to_owned),
    );
    assert_eq!(reaching.len(), 1);
    let line = r#"{"op":"reaches","import":"abort","witness":true}"#;
    let answers = served(&[&folder.module()], &[], line);
    assert_eq!(
        (&answers[0]["findings"], &answers[0]["count"]),
        (&json!(reaching), &json!(1))
    );
}

#[test]
fn planted_leaks_are_found_and_callers_named() {
    let folder = Folder::new();
    let input = [
        r#"{"id":0,"op":"taint","source":"env.in","sink":"env.out"}"#,
        r#"{"id":1,"op":"taint","source":["env.in","load"],"sink":"kept","explain":true}"#,
        r#"{"id":2,"op":"taint","source":"env.in","sink":"abort","limit":4294967295}"#,
        r#"{"id":3,"op":"taint","source":["load","env.in"],"sink":"kept","explain":true}"#,
        r#"{"id":4,"op":"callers","function":"env.abort"}"#,
        r#"{"id":5,"op":"callers","function":"same"}"#,
        r#"{"id":6,"op":"callers","function":"in","limit":2}"#,
        r#"{"id":7,"op":"reaches","import":"env.abort","from":"memory"}"#,
        r#"{"id":8,"op":"reaches","import":"env.abort","from":"put"}"#,
        r#"{"id":9,"op":"reaches","import":"in","limit":0}"#,
        r#"{"id":10,"op":"taint","source":"env.in","sink":"env.out","limit":1}"#,
        r#"{"id":11,"op":"nop"}"#,
        r#"{"id":12,"op":"stats"}"#,
    ];
    let answers = served(&[&folder.module()], &[], &input.join("\n"));
    let line = |id: u32| answer(&answers, &json!(id));
    let names = |list: &Value| -> Vec<String> {
        let places = list.as_array().unwrap().iter();
        let name = |place: &Value| place["function"].as_str().unwrap().to_owned();
        places.map(name).collect()
    };
    assert_eq!(names(&line(0)["findings"]), ["put", "table"]);
    assert_eq!(
        (&line(0)["count"], &line(0)["overflow"]),
        (&json!(2), &json!(0))
    );
    assert_eq!(
        (&line(1)["count"], &line(1)["work"]["followed"]),
        (&json!(2), &json!(1))
    );
    assert!(line(1)["work"]["values"].as_u64() > Some(0));
    assert_eq!(
        (&line(2)["reached"], &line(2)["count"]),
        (&json!(false), &json!(0))
    );
    // The same sources again: nothing is followed.
    let work = &line(3)["work"];
    assert_eq!((&work["followed"], &work["values"]), (&json!(0), &json!(0)));
    assert_eq!(names(&line(4)["callers"]), ["kept"]);
    assert_eq!(names(&line(5)["callers"]), ["table"]);
    assert_eq!(names(&line(6)["callers"]), ["leak", "table"]);
    assert_eq!(
        (&line(6)["count"], &line(6)["overflow"]),
        (&json!(4), &json!(2))
    );
    assert_eq!(line(7)["reached"], true);
    assert_eq!(
        (&line(8)["reached"], &line(8)["findings"]),
        (&json!(false), &json!([]))
    );
    assert_eq!(
        (&line(9)["count"], &line(9)["overflow"]),
        (&json!(4), &json!(4))
    );
    assert_eq!(
        (&line(10)["count"], &line(10)["overflow"]),
        (&json!(2), &json!(1))
    );
    assert_eq!(line(11)["done"], true);
    let stats = line(12);
    assert_eq!(
        stats["stats"],
        json!({"asked": 13, "refused": 0, "sources_kept": 2})
    );
    assert_eq!(
        (&stats["program"]["imports"], &stats["program"]["files"]),
        (&json!(3), &json!(1))
    );
}

#[test]
fn bad_lines_are_refused_with_their_ids() {
    let folder = Folder::new();
    let many: Vec<String> = (0..65).map(|number| format!("f{number}")).collect();
    let many = json!({"id": 9, "op": "taint", "source": many, "sink": "out"}).to_string();
    let input = [
        r#"{"id":0,"op":"reach","source":0,"target":1}"#,
        r#"{"id":1,"op":"zork"}"#,
        r#"{"id":2,"op":"taint","source":"env.inn","sink":"env.out"}"#,
        r#"{"id":3,"op":"taint","source":"env.in","sink":"out:9"}"#,
        r#"{"id":4,"op":"taint","source":"env.in","sink":":0"}"#,
        r#"{"id":5,"op":"taint","source":"env.in"}"#,
        r#"{"id":6,"op":"taint","source":7,"sink":"env.out"}"#,
        r#"{"id":7,"op":"taint","source":"env.in","sink":"env.out","limit":-1}"#,
        r#"{"id":8,"op":"taint","source":"env.in","sink":"env.out","priority":"high"}"#,
        &many,
        r#"{"id":10,"op":"reaches","import":"leak"}"#,
        r#"{"id":11,"op":"reaches","import":"abort","from":"leek"}"#,
        r#"{"id":12,"op":"callers","function":"abord"}"#,
        r#"{"id":13,"op":"taint","op":"nop"}"#,
        "garbage",
        "[]",
    ];
    let answers = served(&[&folder.module()], &[], &input.join("\n"));
    assert_eq!(answers.len(), input.len());
    let error = |id: Value| answer(&answers, &id)["error"].clone();
    for (id, kind, part) in [
        (0, "bad_query", "this service has modules"),
        (1, "bad_query", "one of nop, taint, reaches, callers, stats"),
        (2, "no_such_name", "did you mean \"env.in\"?"),
        (3, "no_such_name", "fewer parameters"),
        (4, "bad_query", "expected NAME"),
        (5, "bad_query", "\"sink\" is missing"),
        (6, "bad_query", "\"source\" is 7"),
        (7, "bad_query", "\"limit\" is -1"),
        (8, "bad_query", "taint has no field \"priority\""),
        (9, "bad_query", "65 names"),
        (10, "no_such_name", "no module imports"),
        (11, "no_such_name", "did you mean \"leak\"?"),
        (12, "no_such_name", "did you mean \"abort\"?"),
        (13, "bad_query", "given twice"),
    ] {
        let error = error(json!(id));
        let message = error["message"].as_str().unwrap();
        assert_eq!(error["kind"], kind, "{id}: {error}");
        assert!(message.contains(part), "{id}: {error}");
    }
    let without: Vec<&Value> = answers.iter().filter(|one| one["id"].is_null()).collect();
    let kinds: Vec<&Value> = without.iter().map(|one| &one["error"]["kind"]).collect();
    assert_eq!(kinds, ["not_json", "bad_query"]);
}

#[test]
fn several_files_are_one_program_and_graphs_are_none_of_it() {
    let folder = Folder::new();
    let flow = folder.0.path().join("calls.flow");
    let text =
        "seawall-flow 1\nfunction main exported\nblock b\n call far\nfunction far imported\n";
    std::fs::write(&flow, text).unwrap();
    let input = [
        r#"{"id":1,"op":"reaches","import":"far"}"#,
        r#"{"id":2,"op":"stats"}"#,
    ];
    let answers = served(&[&folder.module(), &flow], &[], &input.join("\n"));
    assert_eq!(answer(&answers, &json!(1))["count"], 1);
    assert_eq!(answer(&answers, &json!(2))["program"]["files"], 2);

    let graph = folder.0.path().join("graph.txt");
    std::fs::write(&graph, "0 1\n").unwrap();
    let module = folder.module();
    let cases: [(&[&Path], &[&str], &str); 7] = [
        (&[&module, &graph], &[], "neither a WebAssembly module"),
        (&[&graph, &module], &[], "neither a WebAssembly module"),
        (&[&module, Path::new("missing.wasm")], &[], "No such file"),
        (
            &[&module, Path::new("gen:chain:3")],
            &[],
            "neither a WebAssembly module",
        ),
        (&[&module], &["--undirected"], "--undirected is for graphs"),
        (
            &[&graph],
            &["--resolve", "points-to"],
            "--resolve is for modules",
        ),
        (
            &[&module],
            &["--scale-weights", "2"],
            "--scale-weights is for graphs",
        ),
    ];
    for (files, options, part) in cases {
        let mut command = Command::new(PROGRAM);
        let output = command.arg("serve").args(files).args(options).output();
        let output = output.unwrap();
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{text}");
        assert!(text.contains(part), "{text}");
    }
    let line = r#"{"op":"taint","source":"env.in","sink":"env.out"}"#;
    let answers = served(&[Path::new("gen:chain:3")], &[], line);
    let message = answers[0]["error"]["message"].as_str().unwrap();
    assert!(message.contains("this service has a graph"), "{message}");
}

#[test]
fn clients_share_a_module() {
    let folder = Folder::new();
    let module = folder.module();
    let serving = Serving::on(module.to_str().unwrap());
    std::thread::scope(|scope| {
        let clients = (0..4).map(|number| {
            let serving = &serving;
            scope.spawn(move || {
                let client = serving.connect();
                for round in 0..30 {
                    let (sink, expected) =
                        [("env.out", 2), ("kept", 1), ("abort", 0)][(number + round) % 3];
                    let line = json!({"id": round, "op": "taint", "source": "in", "sink": sink});
                    let answer = ask(&client, &line.to_string());
                    assert_eq!(
                        (&answer["id"], &answer["count"]),
                        (&json!(round), &json!(expected))
                    );
                }
            })
        });
        let clients: Vec<_> = clients.collect();
        clients
            .into_iter()
            .for_each(|client| client.join().unwrap());
    });
    let query = |arguments: &[&str]| {
        let mut command = Command::new(PROGRAM);
        let command = command.args(["query", "--socket"]).arg(serving.socket());
        command.args(arguments).output().unwrap()
    };
    let one = query(&[r#"{"op":"taint","source":"in","sink":"kept","limit":0}"#]);
    assert_eq!(answers(&one.stdout)[0]["reached"], true);
    let metrics = query(&["--metrics"]);
    let text = String::from_utf8_lossy(&metrics.stdout).into_owned();
    for line in [
        "seawall_program_functions 11",
        "seawall_questions_asked_total 122",
        "seawall_questions_refused_total 0",
        "seawall_sources_kept 1",
    ] {
        assert!(text.lines().any(|have| have == line), "{line}\n{text}");
    }
    let nops = query(&["--load", "50", "--op", "nop"]);
    assert_eq!(nops.status.code(), Some(0));
    let reach = query(&["--load", "5"]);
    let text = String::from_utf8_lossy(&reach.stderr).into_owned();
    assert!(text.contains("serves modules"), "{text}");
    assert_eq!(serving.terminate_keeping(), (Some(0), false));
}
