//! Sockets, and misbehaving services, with `seawall query`.

use super::serve::{PROGRAM, Serving, ask, wait_until};
use assert_cmd::Command;
use serde_json::Value;
use std::io::{BufRead, BufReader, Read, Write};
use std::os::fd::AsRawFd;
use std::os::unix::fs::MetadataExt;
use std::os::unix::net::{UnixDatagram, UnixListener, UnixStream};
use std::path::Path;
use std::process::{Output, Stdio};
use std::time::{Duration, Instant};

const NOP: &str = r#"{"op":"nop"}"#;

fn line_of(stream: &UnixStream) -> Value {
    let mut line = String::new();
    BufReader::new(stream).read_line(&mut line).unwrap();
    serde_json::from_str(&line).unwrap()
}

#[test]
fn idle_clients_are_closed_and_those_that_ask_are_not() {
    let serving = Serving::with(&["--clients", "2", "--idle-timeout", "3"]);
    let began = Instant::now();
    let idle = serving.connect();
    // Bytes without an end of line are no query.
    let drip = serving.connect();
    let mut is_open = true;
    while is_open && began.elapsed() < Duration::from_secs(20) {
        is_open = (&drip).write_all(b"x").is_ok();
        std::thread::sleep(Duration::from_millis(50));
    }
    assert!(!is_open, "a client that drips keeps its place");
    assert_eq!(line_of(&idle)["error"]["kind"], "idle");
    let mut rest = Vec::new();
    (&idle).read_to_end(&mut rest).unwrap();
    assert!(rest.is_empty());
    // Both places are free again, and an active client keeps its own.
    let active = serving.connect();
    for _ in 0..10 {
        assert_eq!(ask(&active, NOP)["done"], true);
        std::thread::sleep(Duration::from_millis(400));
    }
    let second = serving.connect();
    assert_eq!(ask(&second, NOP)["done"], true);
    let busy = line_of(&serving.connect());
    assert_eq!(busy["error"]["kind"], "busy");
    let message = busy["error"]["message"].as_str().unwrap();
    assert!(
        message.contains("2 clients") && message.contains("3 s"),
        "{message}"
    );
}

#[test]
fn limits_that_make_no_sense_are_refused() {
    let cases: [&[&str]; 6] = [
        &["--socket", "/tmp/no", "--clients", "0"],
        &["--socket", "/tmp/no", "--clients", "16"],
        &["--socket", "/tmp/no", "--idle-timeout", "0"],
        &["--socket", "/tmp/no", "--idle-timeout", "nan"],
        &["--clients", "3"],
        &["--idle-timeout", "3"],
    ];
    for arguments in cases {
        let mut command = Command::new(PROGRAM);
        let output = command
            .args(["serve", "gen:chain:3"])
            .args(arguments)
            .output();
        assert_eq!(output.unwrap().status.code(), Some(2), "{arguments:?}");
    }
}

/// Whether a query is answered. Of many connections at once a service refuses some, and may do so
/// before it has read the query.
fn is_answered(stream: &UnixStream) -> bool {
    let mut writer = stream;
    let mut line = String::new();
    let sent = writer.write_all(format!("{NOP}\n").as_bytes());
    let answered = sent.and_then(|()| BufReader::new(stream).read_line(&mut line));
    answered.is_ok() && serde_json::from_str::<Value>(&line).is_ok_and(|it| it["done"] == true)
}

#[test]
fn many_connections_come_and_go() {
    let serving = Serving::start();
    let answered = std::thread::scope(|scope| {
        let clients = (0..8).map(|client| {
            let serving = &serving;
            scope.spawn(move || {
                let mut answered = 0;
                for round in 0..40 {
                    let stream = serving.connect();
                    // Some disconnect with a query, or half of one, in flight.
                    match (client + round) % 4 {
                        0 => drop((&stream).write_all(br#"{"op":"rea"#)),
                        1 => drop((&stream).write_all(format!("{NOP}\n").as_bytes())),
                        _ => answered += u32::from(is_answered(&stream)),
                    }
                }
                answered
            })
        });
        let clients: Vec<_> = clients.collect();
        clients
            .into_iter()
            .map(|client| client.join().unwrap())
            .sum::<u32>()
    });
    assert!(answered > 0);
    wait_until(|| is_answered(&serving.connect()));
}

#[test]
fn a_service_removes_its_own_socket_alone() {
    let serving = Serving::start();
    let socket = serving.socket();
    std::fs::remove_file(&socket).unwrap();
    std::fs::write(&socket, "somebody's file").unwrap();
    assert_eq!(serving.terminate_keeping(), (Some(0), true));

    let serving = Serving::start();
    let socket = serving.socket();
    std::fs::remove_file(&socket).unwrap();
    let other = UnixListener::bind(&socket).unwrap();
    let number = std::fs::metadata(&socket).unwrap().ino();
    let folder = serving.folder_path();
    assert_eq!(serving.terminate_keeping(), (Some(0), true), "{folder:?}");
    drop((other, number));
}

fn serve_at(path: &Path) -> Output {
    let mut command = Command::new(PROGRAM);
    command
        .args(["serve", "gen:chain:3", "-q", "--socket"])
        .arg(path);
    command.timeout(Duration::from_secs(20)).output().unwrap()
}

#[track_caller]
fn assert_refused(path: &Path, what: &str) {
    let before = std::fs::symlink_metadata(path).unwrap();
    let output = serve_at(path);
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2), "{text}");
    assert!(
        text.contains(what) && text.contains("is there already"),
        "{text}"
    );
    let after = std::fs::symlink_metadata(path).unwrap();
    assert_eq!((before.dev(), before.ino()), (after.dev(), after.ino()));
}

#[test]
fn what_lies_at_the_path_of_a_socket_stays_unless_it_is_a_dead_socket() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let datagrams = UnixDatagram::bind(at("datagrams")).unwrap();
    assert_refused(&at("datagrams"), "a socket of another kind");
    drop(datagrams);
    let listener = UnixListener::bind(at("stream")).unwrap();
    assert_refused(&at("stream"), "a service");
    std::fs::write(at("file"), "kept").unwrap();
    assert_refused(&at("file"), "a file");
    std::fs::create_dir(at("folder")).unwrap();
    assert_refused(&at("folder"), "a folder");
    std::os::unix::fs::symlink(at("stream"), at("link")).unwrap();
    assert_refused(&at("link"), "a symbolic link");
    assert!(
        std::process::Command::new("mkfifo")
            .arg(at("pipe"))
            .status()
            .unwrap()
            .success()
    );
    assert_refused(&at("pipe"), "a pipe");
    drop(listener);
}

/// The error of a service that cannot listen there; nothing is left in the folder.
fn refusal(path: &Path, folder: &Path) -> String {
    let count = || std::fs::read_dir(folder).unwrap().count();
    let before = count();
    let output = serve_at(path);
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2), "{text}");
    assert_eq!(String::from_utf8_lossy(&output.stdout), "", "{text}");
    assert!(
        !text.contains(".tmp") && !text.contains(".seawall"),
        "{text}"
    );
    assert_eq!(count(), before, "{text}");
    text
}

#[test]
fn a_path_that_no_client_can_connect_to_is_refused() {
    let folder = tempfile::Builder::new().prefix("sockets").tempdir();
    let folder = folder.unwrap();
    let most = 107;
    let named = |bytes: usize| {
        let name = bytes - folder.path().as_os_str().len() - 1;
        folder.path().join("x".repeat(name))
    };
    for bytes in [most + 1, 200] {
        let text = refusal(&named(bytes), folder.path());
        let limit = format!("at most {most} bytes, and this one has {bytes}");
        assert!(text.contains(&limit), "{text}");
    }
    // Also beside a socket there, which nobody can have made by that name.
    std::fs::write(named(most + 1), "").unwrap();
    assert!(refusal(&named(most + 1), folder.path()).contains("at most"));
    let output = query(&named(most + 1), &[NOP]);
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2), "{text}");
    assert!(text.contains("at most 107 bytes"), "{text}");

    let missing = folder.path().join("no/such");
    let text = refusal(&missing.join("x.sock"), folder.path());
    let named = format!("{} is missing", missing.display());
    assert!(text.contains(&named), "{text}");
    let file = folder.path().join("file");
    std::fs::write(&file, "").unwrap();
    for path in [file.join("x.sock"), file.join("y/x.sock")] {
        assert!(refusal(&path, folder.path()).contains("is no folder"));
    }
    // Nothing can be made there.
    let text = refusal(Path::new("/proc/x.sock"), folder.path());
    assert!(text.contains("/proc/x.sock: No such file"), "{text}");
}

/// The draft of a socket has a longer path than the socket.
#[test]
fn a_path_as_long_as_may_be_is_served_and_taken_again_after_a_kill() {
    let folder = tempfile::tempdir().unwrap();
    let deep = folder
        .path()
        .join("y".repeat(100 - folder.path().as_os_str().len()));
    std::fs::create_dir(&deep).unwrap();
    let socket = deep.join("x".repeat(107 - deep.as_os_str().len() - 1));
    assert_eq!(socket.as_os_str().len(), 107);
    for _ in 0..2 {
        let mut service = std::process::Command::new(PROGRAM)
            .args(["serve", "gen:chain:3", "-q", "--socket"])
            .arg(&socket)
            .stdin(Stdio::null())
            .spawn()
            .unwrap();
        wait_until(|| UnixStream::connect(&socket).is_ok());
        let output = query(&socket, &[NOP]);
        assert_eq!(output.status.code(), Some(0), "{output:?}");
        assert_eq!(std::fs::read_dir(&deep).unwrap().count(), 1);
        service.kill().unwrap();
        service.wait().unwrap();
    }
}

/// Fills a listener's queue of pending connections; more would wait.
fn fill(listener: &UnixListener, path: &Path) -> UnixStream {
    // SAFETY: the listener is open, and listening again only changes the length of its queue.
    let listens = unsafe { libc::listen(listener.as_raw_fd(), 0) };
    assert_eq!(listens, 0);
    UnixStream::connect(path).unwrap()
}

#[test]
fn a_service_that_takes_no_connection_is_waited_for_in_vain_for_seconds() {
    let folder = tempfile::tempdir().unwrap();
    let socket = folder.path().join("socket");
    let listener = UnixListener::bind(&socket).unwrap();
    let _waiting = fill(&listener, &socket);
    assert_refused(&socket, "a service");
    for arguments in [&[NOP][..], &["--load", "3"]] {
        let began = Instant::now();
        let output = query(&socket, arguments);
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(text.contains("took no connection within 5 s"), "{text}");
        assert_eq!(output.status.code(), Some(1), "{text}");
        assert!(began.elapsed() < Duration::from_secs(11));
    }
    drop(listener);
}

fn query(socket: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(PROGRAM);
    command
        .arg("query")
        .arg("--socket")
        .arg(socket)
        .args(arguments);
    command.timeout(Duration::from_secs(30)).output().unwrap()
}

/// The result of a query to a service that sends `answer` once it has read all queries, and closes.
fn query_of(answer: impl FnOnce(&UnixStream) + Send + 'static) -> (Option<i32>, String, String) {
    query_with(&[NOP], answer)
}

fn query_with(
    arguments: &[&str],
    answer: impl FnOnce(&UnixStream) + Send + 'static,
) -> (Option<i32>, String, String) {
    let folder = tempfile::tempdir().unwrap();
    let socket = folder.path().join("socket");
    let listener = UnixListener::bind(&socket).unwrap();
    // A measurement sends one query before it waits.
    let queries = arguments.iter().filter(|text| **text == NOP).count().max(1);
    let service = std::thread::spawn(move || {
        let (stream, _) = listener.accept().unwrap();
        for line in BufReader::new(&stream).lines().take(queries) {
            line.unwrap();
        }
        answer(&stream);
    });
    let output = query(&socket, arguments);
    service.join().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
    (
        output.status.code(),
        text(output.stdout),
        text(output.stderr),
    )
}

fn say(text: &'static str) -> impl FnOnce(&UnixStream) + Send {
    move |mut stream| stream.write_all(text.as_bytes()).unwrap()
}

#[test]
fn answers_that_are_cut_missing_or_none_are_failures() {
    let whole = "{\"done\":true,\"id\":null}\n";
    assert_eq!(
        query_of(say(whole)),
        (Some(0), whole.to_owned(), String::new())
    );
    let cases = [
        ("{\"done\":tr", "was cut after 10 bytes"),
        // The received text is JSON, but the end of its line is missing.
        ("{\"done\":true}", "was cut after 13 bytes"),
        ("", "1 queries have no answer"),
        ("hello\n", "\"hello\" is none of seawall serve"),
        ("[1]\n", "\"[1]\" is none"),
        ("\u{0}\n", "is none of seawall serve"),
        (
            "{\"error\":{\"kind\":\"busy\",\"message\":\"15 clients\"},\"id\":null}\n",
            "15 clients",
        ),
        (
            "{\"error\":{\"kind\":\"idle\",\"message\":\"asked nothing\"},\"id\":null}\n",
            "asked nothing",
        ),
    ];
    for (answer, expected) in cases {
        for arguments in [&[NOP][..], &["--load", "1"]] {
            let (code, out, error) = query_with(arguments, say(answer));
            assert_eq!((code, &*out), (Some(1), ""), "{answer:?}: {error}");
            assert!(error.contains(expected), "{answer:?}: {error}");
        }
    }
    // Unrequested answers.
    let (code, out, error) = query_of(say("{\"done\":true}\n{\"done\":true}\n{\"done\":true}\n"));
    assert_eq!((code, &*out), (Some(1), "{\"done\":true}\n"), "{error}");
    // Some complete answers, and a part of the next.
    let two = [NOP, NOP];
    let (code, out, error) = query_with(&two, say("{\"done\":true}\n{\"do"));
    assert_eq!((code, &*out), (Some(1), "{\"done\":true}\n"));
    assert!(
        error.contains("was cut after 4 bytes; 1 queries"),
        "{error}"
    );
}

#[test]
fn an_argument_may_have_several_queries_and_has_one() {
    let serving = Serving::start();
    let ask = |arguments: &[&str]| {
        let output = query(&serving.socket(), arguments);
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let lines = text(&output.stdout).lines().count();
        (output.status.code(), lines, text(&output.stderr))
    };
    let whole = |arguments: &[&str], answers: usize| {
        let expected = (Some(0), answers, String::new());
        assert_eq!(ask(arguments), expected, "{arguments:?}");
    };
    let two = format!("{NOP}\n{NOP}");
    whole(&[&two], 2);
    whole(&[&format!("\r\n{two}\r\n\n"), NOP], 3);
    whole(&["{\n  \"op\":\n  \"nop\"\n}\n", &two], 3);
    for empty in ["", " ", "\n\n"] {
        for (arguments, number) in [(&[empty][..], 1), (&[NOP, empty], 2)] {
            let (code, answers, error) = ask(arguments);
            assert_eq!((code, answers), (Some(2), 0), "{error}");
            assert!(
                error.contains(&format!("query {number} is empty")),
                "{error}"
            );
        }
    }
    // Text that is no JSON is for the service to refuse, a line at a time.
    let (code, answers, error) = ask(&["{\n\"op\""]);
    assert_eq!((code, answers), (Some(0), 2), "{error}");
}

#[test]
fn an_answer_that_is_an_error_fails_on_request() {
    let serving = Serving::start();
    let wrong = r#"{"op":"reach","source":0,"target":100}"#;
    for (arguments, code) in [
        (&[wrong][..], 0),
        (&["--fail", wrong], 1),
        (&["--fail", NOP, wrong, wrong], 1),
        (&["--fail", NOP, NOP], 0),
        (&["--fail"], 0),
    ] {
        let output = query(&serving.socket(), arguments);
        let errors = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(code), "{arguments:?}: {errors}");
        let asked = arguments.iter().filter(|text| text.starts_with('{'));
        let printed = String::from_utf8_lossy(&output.stdout).lines().count();
        assert_eq!(printed, asked.count(), "{arguments:?}");
        let failed = arguments.iter().filter(|text| **text == wrong).count();
        let counted = format!("{failed} of {printed} answers are errors");
        assert_eq!(errors.contains(&counted), code == 1, "{errors}");
    }
    for other in [&["--metrics"][..], &["--load", "3"]] {
        let output = query(&serving.socket(), &[&["--fail"], other].concat());
        assert_eq!(output.status.code(), Some(2), "{other:?}");
    }
}

/// Ids that the library's values do not hold.
#[test]
fn a_query_prints_the_answer_to_any_id() {
    let serving = Serving::start();
    let deep = format!("{}{}", "[".repeat(1000), "]".repeat(1000));
    for id in ["1e400", "123456789012345678901234567890", &deep] {
        let output = query(
            &serving.socket(),
            &[&format!("{{\"op\":\"nop\",\"id\":{id}}}")],
        );
        let printed = String::from_utf8_lossy(&output.stdout).into_owned();
        assert_eq!(printed, format!("{{\"id\":{id},\"done\":true}}\n"));
        assert_eq!(output.status.code(), Some(0), "{id}");
    }
}

#[test]
fn an_answer_without_an_end_is_left_soon() {
    for arguments in [&[NOP][..], &["--load", "1"]] {
        let (code, out, error) = query_with(arguments, |mut stream| {
            let piece = vec![b'x'; 1 << 16];
            // The client leaves long before.
            let endless = (0..1 << 14).try_for_each(|_| stream.write_all(&piece));
            assert!(endless.is_err(), "the client took a gigabyte");
        });
        assert_eq!((code, &*out), (Some(1), ""), "{error}");
        assert!(
            error.contains("an answer of more than 1048576 bytes"),
            "{error}"
        );
    }
}

#[test]
fn a_long_query_is_refused_before_it_is_sent() {
    let serving = Serving::start();
    let long = format!("{{\"op\":\"nop\",\"id\":\"{}\"}}", "x".repeat(1 << 16));
    let output = query(&serving.socket(), &[NOP, &long]);
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2), "{text}");
    assert!(text.contains("query 2 has more than 65536 bytes"), "{text}");
    assert_eq!(String::from_utf8_lossy(&output.stdout).lines().count(), 1);
    let mut command = Command::new(PROGRAM);
    command.arg("query").arg("--socket").arg(serving.socket());
    let output = command
        .write_stdin(format!("{NOP}\n{long}\n{NOP}\n"))
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert_eq!(String::from_utf8_lossy(&output.stdout).lines().count(), 1);
}

#[test]
fn a_query_that_waits_for_its_input_ends_with_the_service() {
    let serving = Serving::start();
    let mut child = std::process::Command::new(PROGRAM)
        .args(["query", "--socket"])
        .arg(serving.socket())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut input = child.stdin.take().unwrap();
    writeln!(input, "{NOP}").unwrap();
    let mut answer = String::new();
    let mut output = BufReader::new(child.stdout.take().unwrap());
    output.read_line(&mut answer).unwrap();
    assert_eq!(serving.terminate_keeping(), (Some(0), false));
    let began = Instant::now();
    let status = loop {
        if let Some(status) = child.try_wait().unwrap() {
            break status;
        }
        assert!(
            began.elapsed() < Duration::from_secs(20),
            "it waits for its input"
        );
        std::thread::sleep(Duration::from_millis(10));
    };
    assert_eq!(status.code(), Some(1));
    drop(input);
}
