//! `seawall serve` and `seawall query`, as clients meet them.

use assert_cmd::Command;
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};
use tempfile::TempDir;

const PROGRAM: &str = env!("CARGO_BIN_EXE_seawall-under-test");

fn answers(output: &[u8]) -> Vec<Value> {
    let lines = output
        .split(|byte| *byte == b'\n')
        .filter(|line| !line.is_empty());
    lines
        .map(|line| serde_json::from_slice(line).unwrap())
        .collect()
}

/// The answer with this id.
#[track_caller]
fn answer<'a>(answers: &'a [Value], id: &Value) -> &'a Value {
    answers.iter().find(|answer| answer["id"] == *id).unwrap()
}

#[test]
fn lines_of_standard_input_are_answered_with_their_ids() {
    let input = concat!(
        r#"{"id":1,"op":"distance","source":0,"target":99}"#,
        "\n\n",
        r#"{"id":"two","op":"neighbours","node":5,"limit":2,"priority":"idle"}"#,
        "\n",
        r#"{"id":[3],"op":"reach","source":0,"target":1000}"#,
        "\n",
        r#"{"id":4,"op":"load","address":65536}"#,
        "\n",
        r#"{"id":5,"op":"zork"}"#,
        "\n",
        "garbage\n",
        r#"{"id":6,"op":"stats"}"#,
    );
    let output = Command::new(PROGRAM)
        .args(["serve", "gen:grid:10", "--threads", "2"])
        .write_stdin(input)
        .output()
        .unwrap();
    assert_eq!((output.status.code(), output.stderr), (Some(0), Vec::new()));
    let answers = answers(&output.stdout);
    assert_eq!(answers.len(), 7);
    assert_eq!(answer(&answers, &json!(1))["distance"], 18);
    let neighbours = answer(&answers, &json!("two"));
    assert_eq!(
        (&neighbours["neighbours"], &neighbours["overflow"]),
        (&json!([4, 6]), &json!(1))
    );
    let kind = |id: Value| answer(&answers, &id)["error"]["kind"].clone();
    assert_eq!(kind(json!([3])), "no_such_node");
    assert_eq!(kind(json!(4)), "bad_address");
    assert_eq!(kind(json!(5)), "bad_query");
    assert_eq!(kind(Value::Null), "not_json");
    assert_eq!(answer(&answers, &json!(6))["graph"]["nodes"], 100);
}

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
    let folder = tempfile::tempdir().unwrap();
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
    drop(folder);
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

/// A service on a socket; ended when dropped.
struct Serving {
    child: Child,
    folder: TempDir,
}

impl Serving {
    fn start() -> Self {
        Self::on("gen:grid:10")
    }

    fn on(graph: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let child = serve(graph, &folder.path().join("socket"));
        let serving = Self { child, folder };
        wait_until(|| serving.socket().exists());
        serving
    }

    fn socket(&self) -> PathBuf {
        self.folder.path().join("socket")
    }

    fn connect(&self) -> UnixStream {
        let stream = UnixStream::connect(self.socket()).unwrap();
        stream
            .set_read_timeout(Some(Duration::from_secs(30)))
            .unwrap();
        stream
    }

    /// Sends SIGTERM and waits for the end; the exit code.
    fn terminate(mut self) -> Option<i32> {
        let pid = self.child.id().to_string();
        assert!(
            std::process::Command::new("kill")
                .arg(pid)
                .status()
                .unwrap()
                .success()
        );
        self.child.wait().unwrap().code()
    }
}

fn wait_until(holds: impl Fn() -> bool) {
    let began = Instant::now();
    while !holds() {
        assert!(began.elapsed() < Duration::from_secs(30));
        std::thread::sleep(Duration::from_millis(5));
    }
}

fn serve(graph: &str, socket: &Path) -> Child {
    std::process::Command::new(PROGRAM)
        .args(["serve", graph, "--threads", "2", "--socket"])
        .arg(socket)
        .stdout(Stdio::null())
        .spawn()
        .unwrap()
}

impl Drop for Serving {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[track_caller]
fn ask(stream: &UnixStream, line: &str) -> Value {
    let mut writer = stream;
    writer.write_all(format!("{line}\n").as_bytes()).unwrap();
    let mut answer = String::new();
    BufReader::new(stream).read_line(&mut answer).unwrap();
    serde_json::from_str(&answer).unwrap()
}

const REACH: &str = r#"{"id":1,"op":"reach","source":0,"target":99}"#;

#[test]
fn hostile_clients_harm_nobody_else() {
    let serving = Serving::start();
    let mode = std::fs::metadata(serving.socket())
        .unwrap()
        .permissions()
        .mode();
    assert_eq!(mode & 0o777, 0o600);
    let friend = serving.connect();
    // Half a line, a line without an end, bytes that are no text, and leaving at once.
    let half = serving.connect();
    (&half).write_all(br#"{"op":"#).unwrap();
    let long = serving.connect();
    (&long).write_all(&[b'x'; 1 << 17]).unwrap();
    (&long).write_all(b"\n").unwrap();
    let mut refused = String::new();
    BufReader::new(&long).read_line(&mut refused).unwrap();
    assert!(refused.contains("long_line"), "{refused}");
    assert_eq!(ask(&long, REACH)["reached"], true);
    let noise = serving.connect();
    assert_eq!(
        ask(&noise, "\u{0}\u{1}\u{fffd}")["error"]["kind"],
        "not_json"
    );
    drop(serving.connect());
    // A flood by a client that reads nothing: it stops being read from.
    let flood = serving.connect();
    flood
        .set_write_timeout(Some(Duration::from_millis(200)))
        .unwrap();
    let lines = REACH.to_owned() + "\n";
    let flooded = (0..1 << 20).try_for_each(|_| (&flood).write_all(lines.as_bytes()));
    assert!(flooded.is_err(), "the service took a million lines");
    // Words of one client are no other's.
    assert_eq!(
        ask(&noise, r#"{"op":"store","address":7,"value":5}"#)["done"],
        true
    );
    assert_eq!(ask(&friend, r#"{"op":"load","address":7}"#)["value"], 0);
    for _ in 0..50 {
        assert_eq!(ask(&friend, REACH)["reached"], true);
    }
}

#[test]
fn clients_beyond_the_most_are_told_so_and_places_are_free_again() {
    let serving = Serving::start();
    let clients: Vec<_> = (0..15).map(|_| serving.connect()).collect();
    for client in &clients {
        assert_eq!(ask(client, REACH)["reached"], true);
    }
    let mut told = String::new();
    BufReader::new(serving.connect())
        .read_line(&mut told)
        .unwrap();
    assert!(told.contains("busy"), "{told}");
    assert_eq!(
        ask(&clients[0], r#"{"op":"store","address":7,"value":5}"#)["done"],
        true
    );
    drop(clients);
    let began = Instant::now();
    loop {
        let client = serving.connect();
        let answer = ask(&client, r#"{"op":"load","address":7}"#);
        if answer["error"]["kind"] != "busy" {
            // The remains of the earlier client are gone.
            assert_eq!(answer["value"], 0);
            break;
        }
        assert!(began.elapsed() < Duration::from_secs(30));
    }
}

#[test]
fn sigterm_answers_what_was_asked_and_removes_the_socket() {
    let serving = Serving::start();
    let socket = serving.socket();
    let client = serving.connect();
    assert_eq!(ask(&client, REACH)["reached"], true);
    let folder_stays = serving.folder.path().to_owned();
    assert_eq!(serving.terminate(), Some(0));
    assert!(!socket.exists(), "{}", folder_stays.display());
}

#[test]
fn sigterm_answers_queries_that_are_open() {
    const OPEN: u64 = 16;
    const SIDE: u64 = 1000;
    let serving = Serving::on("gen:grid:1000");
    let asker = serving.connect();
    let last = SIDE * SIDE - 1;
    let mut lines = String::new();
    for id in 0..OPEN {
        let query = json!({"id": id, "op": "distance", "source": id, "target": last});
        lines += &format!("{query}\n");
    }
    (&asker).write_all(lines.as_bytes()).unwrap();
    let watcher = serving.connect();
    let began = Instant::now();
    let delivered = loop {
        let stats = &ask(&watcher, r#"{"op":"stats"}"#)["stats"];
        if stats["submitted"].as_u64().unwrap() >= OPEN {
            break stats["delivered"].as_u64().unwrap();
        }
        assert!(began.elapsed() < Duration::from_secs(30));
    };
    assert_eq!(serving.terminate(), Some(0));
    assert!(delivered < OPEN, "all {OPEN} ended before the signal");
    let answers: Vec<Value> = BufReader::new(&asker)
        .lines()
        .map(|line| serde_json::from_str(&line.unwrap()).unwrap())
        .collect();
    assert_eq!(answers.len() as u64, OPEN);
    for id in 0..OPEN {
        let hops = 2 * (SIDE - 1) - id;
        assert_eq!(answer(&answers, &json!(id))["distance"], hops);
    }
}

#[test]
fn a_dead_socket_is_replaced() {
    let mut serving = Serving::start();
    // Nothing removes the socket of a process that is killed.
    serving.child.kill().unwrap();
    serving.child.wait().unwrap();
    assert!(serving.socket().exists());
    serving.child = serve("gen:grid:10", &serving.socket());
    wait_until(|| UnixStream::connect(serving.socket()).is_ok());
    assert_eq!(ask(&serving.connect(), REACH)["reached"], true);
    let socket = serving.socket();
    assert_eq!(serving.terminate(), Some(0));
    assert!(!socket.exists());
}

#[test]
fn a_path_that_is_taken_is_refused() {
    let serving = Serving::start();
    let refuse = |path: &Path| {
        let output = Command::new(PROGRAM)
            .args(["serve", "gen:chain:3", "--socket"])
            .arg(path)
            .output()
            .unwrap();
        assert_eq!(output.status.code(), Some(2));
        assert!(
            String::from_utf8(output.stderr)
                .unwrap()
                .contains("is there already")
        );
    };
    refuse(&serving.socket());
    let file = serving.folder.path().join("file");
    std::fs::write(&file, "kept").unwrap();
    refuse(&file);
    assert_eq!(std::fs::read(&file).unwrap(), b"kept");
}

#[test]
fn a_query_prints_its_answer_and_a_load_its_latencies() {
    let serving = Serving::start();
    let query = |arguments: &[&str]| {
        let mut command = Command::new(PROGRAM);
        command.arg("query").arg("--socket").arg(serving.socket());
        command.args(arguments).output().unwrap()
    };
    let output = query(&[REACH]);
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(answers(&output.stdout)[0]["reached"], true);
    let plot = serving.folder.path().join("latency.svg");
    let output = query(&[
        "--load",
        "500",
        "--clients",
        "3",
        "--op",
        "distance",
        "--json",
        "--plot",
        plot.to_str().unwrap(),
    ]);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let report = &answers(&output.stdout)[0];
    assert_eq!(
        (&report["queries"], &report["failed"]),
        (&json!(500), &json!(0))
    );
    let times: Vec<u64> = ["p50", "p90", "p99", "p99.9"]
        .map(|share| report["time_ns"][share].as_u64().unwrap())
        .into();
    assert!(times[0] > 0 && times.is_sorted() && report["max_ns"].as_u64().unwrap() >= times[3]);
    assert!(std::fs::read_to_string(plot).unwrap().contains("p99.9"));
    let nobody = Command::new(PROGRAM)
        .args(["query", "--socket", "/nonexistent/socket", REACH])
        .output()
        .unwrap();
    assert_eq!(nobody.status.code(), Some(2));
}
