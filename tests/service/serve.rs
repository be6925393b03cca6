//! `seawall serve` and `seawall query`, from the clients' view.

use assert_cmd::Command;
use serde_json::{Value, json};
use std::fs::File;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};
use tempfile::TempDir;

pub(super) const PROGRAM: &str = env!("CARGO_BIN_EXE_seawall-under-test");

pub(super) fn answers(output: &[u8]) -> Vec<Value> {
    let lines = output
        .split(|byte| *byte == b'\n')
        .filter(|line| !line.is_empty());
    lines
        .map(|line| serde_json::from_slice(line).unwrap())
        .collect()
}

/// The answer with this id.
#[track_caller]
pub(super) fn answer<'a>(answers: &'a [Value], id: &Value) -> &'a Value {
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

/// A service on a socket; ended when dropped.
pub(super) struct Serving {
    child: Child,
    folder: TempDir,
}

impl Serving {
    pub(super) fn start() -> Self {
        Self::on("gen:grid:10")
    }

    pub(super) fn on(graph: &str) -> Self {
        Self::starting(graph, &[])
    }

    /// A service with these options.
    pub(super) fn with(options: &[&str]) -> Self {
        Self::starting("gen:grid:10", options)
    }

    fn starting(graph: &str, options: &[&str]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let child = serve(graph, options, &folder.path().join("socket"), None);
        let serving = Self { child, folder };
        wait_until(|| serving.socket().exists());
        serving
    }

    pub(super) fn socket(&self) -> PathBuf {
        self.folder.path().join("socket")
    }

    pub(super) fn connect(&self) -> UnixStream {
        let stream = UnixStream::connect(self.socket()).unwrap();
        stream
            .set_read_timeout(Some(Duration::from_secs(30)))
            .unwrap();
        stream
    }

    pub(super) fn folder_path(&self) -> PathBuf {
        self.folder.path().to_owned()
    }

    /// Sends SIGTERM and waits for the end; the exit code, and whether a file is at the socket's
    /// path then.
    pub(super) fn terminate_keeping(mut self) -> (Option<i32>, bool) {
        let code = self.end();
        let socket = self.socket();
        (code, socket.symlink_metadata().is_ok())
    }

    /// Sends SIGTERM and waits for the end; the exit code.
    fn terminate(mut self) -> Option<i32> {
        self.end()
    }

    fn end(&mut self) -> Option<i32> {
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

pub(super) fn wait_until(holds: impl Fn() -> bool) {
    let began = Instant::now();
    while !holds() {
        assert!(began.elapsed() < Duration::from_secs(30));
        std::thread::sleep(Duration::from_millis(5));
    }
}

fn serve(graph: &str, options: &[&str], socket: &Path, log: Option<File>) -> Child {
    let mut command = std::process::Command::new(PROGRAM);
    command
        .args(["serve", graph, "--threads", "2", "--socket"])
        .arg(socket)
        .args(options)
        .stdout(Stdio::null())
        .env_remove("RUST_LOG");
    if let Some(log) = log {
        command.env("RUST_LOG", "debug").stderr(log);
    }
    command.spawn().unwrap()
}

impl Drop for Serving {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[track_caller]
pub(super) fn ask(stream: &UnixStream, line: &str) -> Value {
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
    // A flood by a client that reads nothing: the service stops reading from it.
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
fn clients_beyond_the_most_get_an_error_and_places_are_free_again() {
    let serving = Serving::start();
    let clients: Vec<_> = (0..15).map(|_| serving.connect()).collect();
    for client in &clients {
        assert_eq!(ask(client, REACH)["reached"], true);
    }
    let mut received = String::new();
    BufReader::new(serving.connect())
        .read_line(&mut received)
        .unwrap();
    assert!(received.contains("busy"), "{received}");
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
    serving.child = serve("gen:grid:10", &[], &serving.socket(), None);
    wait_until(|| UnixStream::connect(serving.socket()).is_ok());
    assert_eq!(ask(&serving.connect(), REACH)["reached"], true);
    let socket = serving.socket();
    assert_eq!(serving.terminate(), Some(0));
    assert!(!socket.exists());
}

/// Standard output has answers alone.
#[test]
fn a_service_that_does_not_start_prints_no_answer() {
    for arguments in [
        &["no-such-file"][..],
        &["gen:grid:3", "--program", "no-such-file"],
        &["gen:grid:3", "--threads", "4097"],
    ] {
        let mut command = Command::new(PROGRAM);
        let output = command.arg("serve").args(arguments).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        assert_eq!(String::from_utf8_lossy(&output.stdout), "", "{arguments:?}");
        assert!(output.stderr.starts_with(b"error: "), "{arguments:?}");
    }
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
    assert_eq!(nobody.status.code(), Some(1));
}

fn entries(folder: &Path) -> usize {
    std::fs::read_dir(folder).unwrap().count()
}

#[test]
fn a_lack_of_descriptors_leaves_nothing_beside_the_socket() {
    let folder = tempfile::tempdir().unwrap();
    let socket = folder.path().join("socket");
    let mut served = 0;
    for descriptors in 4..20 {
        let mut child = std::process::Command::new("sh")
            .args(["-c", "ulimit -n $0 && exec \"$@\""])
            .arg(descriptors.to_string())
            .args([
                PROGRAM,
                "serve",
                "gen:chain:3",
                "-q",
                "--threads",
                "1",
                "--socket",
            ])
            .arg(&socket)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let began = Instant::now();
        // The socket's temporary folder is removed shortly after the socket appears.
        let is_there = || socket.exists() && entries(folder.path()) == 1;
        while child.try_wait().unwrap().is_none()
            && !is_there()
            && began.elapsed() < Duration::from_secs(20)
        {
            std::thread::sleep(Duration::from_millis(5));
        }
        served += u32::from(is_there());
        child.kill().unwrap();
        child.wait().unwrap();
        // Nothing removes the socket of a process that is killed.
        let _ = std::fs::remove_file(&socket);
        assert_eq!(entries(folder.path()), 0, "{descriptors} descriptors");
    }
    assert!(served > 0);
}

#[test]
fn the_log_of_a_service_names_clients_queries_and_its_end() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("log");
    let log = File::create(&path).unwrap();
    let socket = folder.path().join("socket");
    let options = ["--log-format", "json"];
    let child = serve("gen:grid:10", &options, &socket, Some(log));
    let serving = Serving { child, folder };
    wait_until(|| socket.exists());
    let stream = serving.connect();
    assert_eq!(
        ask(&stream, r#"{"op":"reach","source":0,"target":1}"#)["reached"],
        true
    );
    assert!(ask(&stream, "hello").get("error").is_some());
    drop(stream);
    let text = || std::fs::read_to_string(&path).unwrap();
    wait_until(|| text().contains("\"left\""));
    let mut serving = serving;
    assert_eq!(serving.end(), Some(0));
    let events: Vec<Value> = text()
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let of = |message: &str| {
        let mut found = events
            .iter()
            .filter(|event| event["fields"]["message"] == message);
        found
            .next()
            .unwrap_or_else(|| panic!("{message} is not in {}", text()))
    };
    assert_eq!(of("the service answers")["fields"]["nodes"], 100);
    for message in ["connected", "answered", "refused", "left"] {
        assert_eq!(of(message)["span"]["tenant"], 1, "{message}");
    }
    assert!(of("answered")["fields"]["us"].is_u64());
    assert_eq!(of("the service has ended")["fields"]["faults"], 0);
}
