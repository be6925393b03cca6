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

/// Runs lines, and returns the text of each answer by the line's place in `id`.
fn texts(input: &[String]) -> Vec<String> {
    let output = Command::new(PROGRAM)
        .args(["serve", "gen:grid:10", "--threads", "1"])
        .write_stdin(input.join("\n"))
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(0));
    let text = String::from_utf8(output.stdout).unwrap();
    text.lines().map(str::to_owned).collect()
}

#[test]
fn an_id_comes_back_as_it_was_written() {
    let ids = [
        "18446744073709551616",
        "-9223372036854775809",
        "123456789012345678901234567890",
        "0.1000000000000000055511151231257827",
        "1e400",
        "1.0",
        "\"\\u0041\"",
        "[1, {\"b\":2,  \"a\":1}]",
        "null",
    ];
    for op in [
        r#""op":"nop""#,
        r#""op":"stats""#,
        r#""op":"zork""#,
        r#""op":"nop","x":1"#,
    ] {
        for id in ids {
            let answers = texts(&[format!("{{{op},\"id\":{id}}}")]);
            assert_eq!(answers.len(), 1);
            assert!(
                answers[0].starts_with(&format!("{{\"id\":{id},")),
                "{id}: {}",
                answers[0]
            );
        }
    }
    // Without one, it is null.
    assert_eq!(
        texts(&[r#"{"op":"nop"}"#.to_owned()]),
        [r#"{"id":null,"done":true}"#]
    );
}

/// What a client may say is JSON for any reader.
#[test]
fn an_id_with_half_of_a_surrogate_pair_is_refused() {
    let half = [
        r#""\ud800""#,
        r#""\udc00""#,
        r#"["\ud83d","\ude00"]"#,
        r#"{"\udbff":1}"#,
        r#""\\\ud800""#,
    ];
    for id in half {
        for op in [r#""op":"nop""#, r#""op":"zork""#] {
            let answers = texts(&[format!("{{{op},\"id\":{id}}}")]);
            let answer: Value = serde_json::from_str(&answers[0]).unwrap();
            assert_eq!(answer["id"], Value::Null, "{id}");
            assert_eq!(answer["error"]["kind"], "bad_query", "{id}");
            assert_eq!(answer["error"]["field"], "id", "{id}");
        }
    }
    for id in [r#""\ud83d\ude00""#, r#""\\ud800""#, r#""\u0000""#] {
        let answers = texts(&[format!("{{\"op\":\"nop\",\"id\":{id}}}")]);
        assert_eq!(answers, [format!("{{\"id\":{id},\"done\":true}}")]);
    }
}

#[test]
fn null_counts_as_a_field_that_is_left_out() {
    for (line, field) in [
        (r#"{"op":"nop","source":null}"#, "done"),
        (
            r#"{"op":"nop","metrc":null,"batch":null,"id":null}"#,
            "done",
        ),
        (
            r#"{"op":"distance","source":0,"target":9,"metric":null,"node":null}"#,
            "distance",
        ),
        (
            r#"{"op":"packed","operations":[{"op":"load","address":1,"value":null}]}"#,
            "values",
        ),
        (r#"{"op":"stats","batch":null}"#, "stats"),
    ] {
        let answers = texts(&[line.to_owned()]);
        let answer: Value = serde_json::from_str(&answers[0]).unwrap();
        assert!(!answer[field].is_null(), "{line}: {answer}");
    }
    // A field that is needed is missing, and two of one name are two.
    for (line, piece) in [
        (r#"{"op":null}"#, "missing"),
        (r#"{"op":"reach","source":null,"target":1}"#, "missing"),
        (r#"{"op":"nop","a":null,"a":null}"#, "twice"),
    ] {
        let answers = texts(&[line.to_owned()]);
        assert!(answers[0].contains(piece), "{line}: {}", answers[0]);
    }
    let folder = tempfile::tempdir().unwrap();
    let line = r#"{"op":"run","program":"doubled","result":"doubled","inputs":{"numbers":null},"limit":null}"#;
    let answers = served(folder.path(), line);
    assert_eq!(answers[0]["values"], json!([2, 4, 8_589_934_590_u64]));
}

/// A line, the field that the error names, and a piece of its message.
const WRONG_FIELDS: &[(&str, &str, &str)] = &[
    (
        r#"{"op":"distance","source":0,"target":1,"metrc":"weights"}"#,
        "metrc",
        "metric",
    ),
    (r#"{"op":1}"#, "op", "1; it must be one of nop"),
    (r#"{"op":"zork"}"#, "op", "zork"),
    (r#"{"op":["nop"]}"#, "op", "[\"nop\"]"),
    (r#"{"op":{"nop":null}}"#, "op", "nop"),
    (r#"{}"#, "op", "missing"),
    (
        r#"{"op":"nop","priority":2}"#,
        "priority",
        "2; it must be one of critical",
    ),
    (
        r#"{"op":"nop","priority":{"high":null}}"#,
        "priority",
        "high",
    ),
    (r#"{"op":"nop","priority":"High"}"#, "priority", "High"),
    (r#"{"op":"nop","batch":7}"#, "batch", "7"),
    (r#"{"op":"nop","source":7}"#, "source", "nop has no field"),
    (r#"{"op":"nop","op":"stats"}"#, "op", "twice"),
    (r#"{"id":1,"op":"nop","id":2}"#, "id", "twice"),
    (
        r#"{"op":"stats","batch":"a"}"#,
        "batch",
        "stats has no field",
    ),
    (r#"{"op":"fence"}"#, "batch", "missing"),
    (r#"{"op":"reach","source":0}"#, "target", "missing"),
    (
        r#"{"op":"reach","source":0,"target":18446744073709551616}"#,
        "target",
        "18446744073709551616;",
    ),
    (
        r#"{"op":"reach","source":0,"target":99.0}"#,
        "target",
        "99.0",
    ),
    (r#"{"op":"reach","source":-1,"target":9}"#, "source", "-1"),
    (
        r#"{"op":"reach","source":"0","target":9}"#,
        "source",
        "\"0\"",
    ),
    (
        r#"{"op":"distance","source":0,"target":9,"metric":1}"#,
        "metric",
        "1",
    ),
    (
        r#"{"op":"distance","source":0,"target":9,"metric":"hop"}"#,
        "metric",
        "hop",
    ),
    (
        r#"{"op":"neighbours","node":0,"limit":4294967296}"#,
        "limit",
        "4294967296",
    ),
    (
        r#"{"op":"neighbours","node":0,"limits":1}"#,
        "limits",
        "limit",
    ),
    (r#"{"op":"load","address":-1}"#, "address", "-1"),
    (r#"{"op":"store","address":1,"value":1e3}"#, "value", "1e3"),
    (
        r#"{"op":"copy","from":1,"to":3,"words":2,"step":1}"#,
        "step",
        "words",
    ),
    (r#"{"op":"print","words":[1,-2]}"#, "words", "[1,-2]"),
    (r#"{"op":"packed","operations":{}}"#, "operations", "{}"),
    (r#"{"op":"packed","operations":[1]}"#, "operations[0]", "1"),
    (
        r#"{"op":"packed","operations":[{"op":"nop"},{"op":"load","adress":1}]}"#,
        "operations[1].address",
        "missing",
    ),
    (
        r#"{"op":"packed","operations":[{"op":"load","address":1,"value":2}]}"#,
        "operations[0].value",
        "load has no field",
    ),
    (
        r#"{"op":"packed","operations":[{"op":2}]}"#,
        "operations[0].op",
        "2",
    ),
    (
        r#"{"op":"packed","operations":[{"op":"nop","op":"nop"}]}"#,
        "operations[0].op",
        "twice",
    ),
    (r#"{"op":"run","program":3}"#, "program", "3"),
    (
        r#"{"op":"run","program":"p","inputs":[1]}"#,
        "inputs",
        "[1]",
    ),
    (
        r#"{"op":"run","program":"p","inputs":{"a":[1],"a":[2]}}"#,
        "inputs.a",
        "twice",
    ),
    (
        r#"{"op":"run","program":"p","output":"x"}"#,
        "output",
        "result",
    ),
];

#[test]
fn each_field_that_is_wrong_is_named_with_its_value() {
    // One at a time, as answers come in no order.
    for (line, field, piece) in WRONG_FIELDS {
        let answers = texts(&[(*line).to_owned()]);
        let answer: Value = serde_json::from_str(&answers[0]).unwrap();
        let error = &answer["error"];
        assert_eq!(error["kind"], "bad_query", "{line}: {answer}");
        assert_eq!(error["field"], *field, "{line}: {answer}");
        let message = error["message"].as_str().unwrap();
        assert!(message.contains(piece), "{line}: {message}");
    }
    for line in ["[1]", "1", "null", "\"nop\""] {
        let answers = texts(&[line.to_owned()]);
        assert!(answers[0].contains("bad_query"), "{answers:?}");
    }
}

/// A field of one operation is one of every line: each other name is refused.
#[test]
fn an_op_takes_its_own_fields_alone() {
    let fields: [(&str, &str); 17] = [
        ("source", "0"),
        ("target", "1"),
        ("metric", "\"hops\""),
        ("node", "0"),
        ("limit", "1"),
        ("address", "0"),
        ("value", "0"),
        ("expected", "0"),
        ("from", "0"),
        ("to", "0"),
        ("words", "0"),
        ("table", "0"),
        ("operations", "[]"),
        ("program", "\"p\""),
        ("inputs", "{}"),
        ("result", "\"r\""),
        ("Op", "1"),
    ];
    let ops: [(&str, &[&str]); 13] = [
        ("nop", &[]),
        ("stats", &[]),
        ("reach", &["source", "target"]),
        ("distance", &["source", "target", "metric"]),
        ("neighbours", &["node", "limit"]),
        ("load", &["address"]),
        ("store", &["address", "value"]),
        ("add", &["address", "value"]),
        ("compare_swap", &["address", "expected", "value"]),
        ("copy", &["from", "to", "words"]),
        ("packed", &["operations"]),
        ("automaton", &["table", "from", "words"]),
        ("run", &["program", "inputs", "result", "limit"]),
    ];
    let mut lines = Vec::new();
    for (op, own) in ops {
        let given = fields.iter().filter(|(name, _)| own.contains(name));
        let given: String = given
            .map(|(name, value)| format!(",\"{name}\":{value}"))
            .collect();
        for (name, value) in fields.iter().filter(|(name, _)| !own.contains(name)) {
            let id = format!("\"{op} {name}\"");
            lines.push(format!(
                "{{\"id\":{id},\"op\":\"{op}\"{given},\"{name}\":{value}}}"
            ));
        }
    }
    let answers = texts(&lines);
    assert_eq!(answers.len(), lines.len());
    for answer in answers {
        let answer: Value = serde_json::from_str(&answer).unwrap();
        let id = answer["id"].as_str().unwrap();
        let (_, name) = id.split_once(' ').unwrap();
        assert_eq!(answer["error"]["field"], name, "{answer}");
    }
}

const SEARCH: &str = r#"{
    "version": 1,
    "registers": [
        {"name": "sources", "kind": "u32", "values": [0, 5]},
        {"name": "wave front", "kind": "frontier"},
        {"name": "levels", "kind": "u32", "count": "nodes", "keep": true}
    ],
    "waves": [
        {"wave": "search", "frontier": "wave front", "from": "sources", "levels": "levels"}
    ]
}"#;

#[test]
fn sources_of_a_search_that_are_no_nodes_are_errors() {
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join("levels.json");
    std::fs::write(&program, SEARCH).unwrap();
    let lines = [
        r#"{"id":0,"op":"run","program":"levels","limit":9}"#,
        r#"{"id":1,"op":"run","program":"levels","inputs":{"sources":[8,8]},"limit":9}"#,
        r#"{"id":2,"op":"run","program":"levels","inputs":{"sources":[3,9]}}"#,
        r#"{"id":3,"op":"run","program":"levels","inputs":{"sources":[4294967295,1]}}"#,
    ];
    let output = Command::new(PROGRAM)
        .args(["serve", "gen:chain:9", "--threads", "1", "--program"])
        .arg(program)
        .write_stdin(lines.join("\n"))
        .output()
        .unwrap();
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!((output.status.code(), &*errors), (Some(0), ""));
    let answers = answers(&output.stdout);
    let values = |id: u32| answer(&answers, &json!(id))["values"].clone();
    let none = u32::MAX;
    assert_eq!(values(0), json!([0, 1, 2, 3, 4, 0, 1, 2, 3]));
    assert_eq!(
        values(1),
        json!([none, none, none, none, none, none, none, none, 0])
    );
    for (id, place, node) in [(2, 1, 9_u32), (3, 0, u32::MAX)] {
        let error = &answer(&answers, &json!(id))["error"];
        assert_eq!(error["kind"], "no_such_node");
        assert_eq!(
            (&error["input"], &error["at"], &error["node"]),
            (&json!("sources"), &json!(place), &json!(node))
        );
        let message = error["message"].as_str().unwrap();
        assert!(message.contains("below 9"), "{message}");
    }
}

/// Each value of a list is stored at the place that it names.
const SCATTERED: &str = r#"{
    "version": 1,
    "registers": [
        {"name": "places", "kind": "u32", "values": [0, 1, 2]},
        {"name": "found", "kind": "u32", "count": 10, "keep": true}
    ],
    "waves": [
        {"wave": "fill", "to": "found", "value": 0},
        {"wave": "each", "name": "put away", "over": {"values": "places"}, "code": [
            {"scatter": "found", "at": ["load", "places"], "join": "sum", "value": 1}
        ]}
    ]
}"#;

#[test]
fn a_program_that_stops_says_at_which_wave_and_index() {
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join("scattered.json");
    std::fs::write(&program, SCATTERED).unwrap();
    let lines = [
        r#"{"id":0,"op":"run","program":"scattered"}"#,
        r#"{"id":1,"op":"run","program":"scattered","inputs":{"places":[3,12,3]}}"#,
        r#"{"id":2,"op":"run","program":"scattered","inputs":{"places":[9,9,9]}}"#,
    ];
    let output = Command::new(PROGRAM)
        .args(["serve", "gen:chain:9", "--threads", "1", "--program"])
        .arg(program)
        .write_stdin(lines.join("\n"))
        .output()
        .unwrap();
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!((output.status.code(), &*errors), (Some(0), ""));
    let answers = answers(&output.stdout);
    let values = |id: u32| answer(&answers, &json!(id))["values"].clone();
    assert_eq!(values(0), json!([1, 1, 1, 0, 0, 0, 0, 0, 0, 0]));
    // A run that stopped leaves nothing to later ones.
    assert_eq!(values(2), json!([0, 0, 0, 0, 0, 0, 0, 0, 0, 3]));
    let error = &answer(&answers, &json!(1))["error"];
    assert_eq!(
        (&error["kind"], &error["wave"]),
        (&json!("fault"), &json!("put away"))
    );
    assert_eq!(
        (&error["index"], &error["length"]),
        (&json!(12), &json!(10))
    );
    assert_eq!(error["wave_number"], 1);
    let message = error["message"].as_str().unwrap();
    for piece in ["index 12 of a register of 10 words", "wave 1 (put away)"] {
        assert!(message.contains(piece), "{message}");
    }
}

#[test]
fn nodes_are_called_by_their_names() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("friends.csv");
    std::fs::write(
        &file,
        "source,target,weight\nann,bob,2\nann,7,1\nbob,\"d, e\",3\n",
    )
    .unwrap();
    let lines = [
        r#"{"id":1,"op":"reach","source":"ann","target":"d, e"}"#,
        r#"{"id":2,"op":"distance","source":"ann","target":"d, e","metric":"weights"}"#,
        r#"{"id":3,"op":"neighbours","node":"ann"}"#,
        r#"{"id":4,"op":"reach","source":"ann","target":7}"#,
        r#"{"id":5,"op":"reach","source":"ann","target":"eve"}"#,
        r#"{"id":6,"op":"neighbours","node":0}"#,
        r#"{"id":7,"op":"stats"}"#,
    ];
    let serve = |graph: &str, input: &str| {
        let mut serve = Command::new(PROGRAM);
        let serve = serve.args(["serve", graph, "--threads", "2"]);
        let output = serve.write_stdin(input).output().unwrap();
        assert_eq!(output.status.code(), Some(0));
        answers(&output.stdout)
    };
    let found = serve(file.to_str().unwrap(), &lines.join("\n"));
    let of = |id: u32| answer(&found, &json!(id));
    assert_eq!(of(1)["reached"], true);
    assert_eq!(of(2)["distance"], 5);
    assert_eq!(of(3)["neighbours"], json!(["7", "bob"]));
    assert_eq!(of(4)["reached"], true);
    assert_eq!(
        (&of(5)["error"]["kind"], &of(5)["error"]["node"]),
        (&json!("no_such_node"), &json!("eve"))
    );
    assert_eq!(of(6)["error"]["kind"], "no_such_node");
    assert_eq!(of(7)["graph"]["ids"], json!(["7", "d, e"]));
    // Ids are numbers where nodes have no names.
    let found = serve("gen:chain:3", r#"{"id":1,"op":"neighbours","node":"1"}"#);
    assert_eq!(found[0]["error"]["kind"], "bad_query");
}
