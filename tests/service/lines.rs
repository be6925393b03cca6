//! Programs, batches and automata by the lines of clients.

use super::serve::{PROGRAM, Serving, answer, answers, ask};
use assert_cmd::Command;
use serde_json::{Value, json};
use std::path::Path;

/// Twice the numbers of a list, and which of them each node has.
const DOUBLED: &str = r#"{
    "version": 1,
    "registers": [
        {"name": "numbers", "kind": "u64", "values": [1, 2, 4294967295], "keep": true},
        {"name": "scale", "kind": "f32", "values": [0.5]},
        {"name": "doubled", "kind": "u64", "count": 3, "keep": true},
        {"name": "scaled", "kind": "f32", "count": "nodes", "keep": true}
    ],
    "waves": [
        {"wave": "each", "over": {"values": "numbers"}, "code": [
            {"store": "doubled", "value": ["add", ["load", "numbers"], ["load", "numbers"]]}
        ]},
        {"wave": "each", "over": "nodes", "code": [
            {"store": "scaled", "value": ["mul", ["to_f32", ["index"]], ["at", "scale", 0]]}
        ]}
    ]
}"#;

fn served(folder: &Path, input: &str) -> Vec<Value> {
    let program = folder.join("doubled.json");
    std::fs::write(&program, DOUBLED).unwrap();
    let output = Command::new(PROGRAM)
        .args(["serve", "gen:grid:100", "--threads", "2", "--program"])
        .arg(program)
        .write_stdin(input)
        .output()
        .unwrap();
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!((output.status.code(), &*errors), (Some(0), ""));
    answers(&output.stdout)
}

#[test]
fn programs_run_with_the_values_of_their_lines() {
    let folder = tempfile::tempdir().unwrap();
    let input = [
        r#"{"id":1,"op":"run","program":"doubled","result":"doubled"}"#,
        r#"{"id":2,"op":"run","program":"doubled","result":"doubled",
            "inputs":{"numbers":[9,8,8589934592]},"limit":2}"#,
        r#"{"id":3,"op":"run","program":"doubled","result":"scaled",
            "inputs":{"scale":[3.0]},"limit":3}"#,
        r#"{"id":4,"op":"run","program":"doubled","result":"scaled"}"#,
        r#"{"id":5,"op":"run","program":"tripled"}"#,
        r#"{"id":6,"op":"run","program":"doubled","result":"halved"}"#,
        r#"{"id":7,"op":"run","program":"doubled","inputs":{"others":[1]}}"#,
        r#"{"id":8,"op":"run","program":"doubled","inputs":{"numbers":[1,2]}}"#,
        r#"{"id":9,"op":"run","program":"doubled","inputs":{"numbers":[1,2,-3]}}"#,
        r#"{"id":10,"op":"run","program":"doubled","inputs":{"scale":"all"}}"#,
        r#"{"id":11,"op":"run","program":"doubled","limit":0}"#,
    ];
    let lines = input.map(|line| line.split('\n').map(str::trim).collect::<String>());
    let answers = served(folder.path(), &lines.join("\n"));
    assert_eq!(answers.len(), input.len());
    let values = |id: u32| answer(&answers, &json!(id))["values"].clone();
    let overflow = |id: u32| answer(&answers, &json!(id))["overflow"].clone();
    assert_eq!(values(1), json!([2, 4, 8_589_934_590_u64]));
    assert_eq!((values(2), overflow(2)), (json!([18, 16]), json!(1)));
    assert_eq!(
        (values(3), overflow(3)),
        (json!([0.0, 3.0, 6.0]), json!(9997))
    );
    assert_eq!(values(4).as_array().unwrap().len(), 4096);
    assert_eq!(
        (&values(4)[4095], overflow(4)),
        (&json!(2047.5), json!(10_000 - 4096))
    );
    assert_eq!((values(11), overflow(11)), (json!([]), json!(3)));
    let kind = |id: u32| answer(&answers, &json!(id))["error"]["kind"].clone();
    assert_eq!(kind(5), "no_such_program");
    assert_eq!(kind(6), "no_such_result");
    assert_eq!(kind(7), "no_such_input");
    assert_eq!(
        [8, 9, 10].map(kind),
        ["bad_input"; 3].map(|kind| json!(kind))
    );
}

#[test]
fn a_fence_is_answered_after_all_queries_of_its_batch() {
    let folder = tempfile::tempdir().unwrap();
    let mut lines: Vec<String> = Vec::new();
    for number in 0..40 {
        lines.push(format!(
            r#"{{"id":{number},"op":"add","address":5,"value":1,"batch":"a","priority":"idle"}}"#
        ));
    }
    lines.push(r#"{"id":"early","op":"fence","batch":"b","priority":"critical"}"#.to_owned());
    lines.push(r#"{"id":"fence","op":"fence","batch":"a","priority":"critical"}"#.to_owned());
    lines.push(r#"{"id":"again","op":"fence","batch":"a"}"#.to_owned());
    lines.push(r#"{"id":"b","op":"nop","batch":"b"}"#.to_owned());
    lines.push(r#"{"id":"c","op":"nop","batch":"c"}"#.to_owned());
    lines.push(r#"{"id":"d","op":"nop","batch":"d"}"#.to_owned());
    let answers = served(folder.path(), &lines.join("\n"));
    assert_eq!(answers.len(), lines.len());
    let place = |id: Value| answers.iter().position(|answer| answer["id"] == id);
    let fence = place(json!("fence"));
    assert!((0..40).all(|number| place(json!(number)) < fence));
    let last = (0..40).map(|number| answer(&answers, &json!(number))["value"].as_u64());
    assert_eq!(last.max().unwrap(), Some(39));
    assert_eq!(answer(&answers, &json!("fence"))["epoch"], 1);
    let kind = |id: &str| answer(&answers, &json!(id))["error"]["kind"].clone();
    assert_eq!(
        [kind("early"), kind("again")],
        ["no_such_batch"; 2].map(|kind| json!(kind))
    );
    // Two batches may be open at once.
    assert_eq!(kind("d"), "batches");
    assert_eq!(answer(&answers, &json!("c"))["done"], true);
}

#[test]
fn an_automaton_runs_over_words_of_the_window() {
    // Two states and two symbols: the state is the parity of the ones.
    let table = [2, 2, 0, 1, 1, 0];
    let text = [1, 0, 1, 1];
    let words = table.iter().chain(&text).enumerate();
    let mut lines: Vec<String> = words
        .map(|(at, word)| {
            format!(r#"{{"id":{at},"op":"store","address":{at},"value":{word},"batch":"w"}}"#)
        })
        .collect();
    lines.push(r#"{"id":"w","op":"fence","batch":"w"}"#.to_owned());
    let serving = Serving::start();
    let client = serving.connect();
    for line in &lines {
        let _ = ask(&client, line);
    }
    let line = r#"{"op":"automaton","table":0,"from":6,"words":4}"#;
    assert_eq!(ask(&client, line)["value"], 1);
    let beyond = r#"{"op":"automaton","table":0,"from":65533,"words":4}"#;
    assert_eq!(ask(&client, beyond)["error"]["kind"], "bad_address");
}

#[test]
fn programs_that_cannot_be_served_are_refused_at_the_start() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str, text: &str| {
        let path = folder.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, text).unwrap();
        path
    };
    let forgetful = DOUBLED.replace(", \"keep\": true", "");
    let long = DOUBLED.replace("[0.5]", &format!("[{}]", vec!["1"; 70_000].join(",")));
    let cases = [
        (
            vec![file("a/x.json", DOUBLED), file("b/x.json", DOUBLED)],
            "called \"x\" already",
        ),
        (vec![file("forgetful.json", &forgetful)], "keeps no result"),
        (vec![file("long.json", &long)], "takes 65536 at most"),
        (vec![file("broken.json", "{")], "line 1"),
        (vec![folder.path().join("missing.json")], "cannot read"),
    ];
    for (files, expected) in cases {
        let mut command = Command::new(PROGRAM);
        command.args(["serve", "gen:grid:10", "-q"]);
        for file in &files {
            command.arg("--program").arg(file);
        }
        let output = command.write_stdin("").output().unwrap();
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(text.contains(expected), "{text}");
        assert_eq!(output.status.code(), Some(2), "{text}");
    }
}
