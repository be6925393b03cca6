//! Every command with each of its failures, and with unintended arguments.

use super::failures::failure;
use super::{Fixture, finish, seawall};
use serde_json::Value;

/// A failure: its name, the arguments and its kind.
type Command<'a> = (&'a str, Vec<&'a str>, &'a str);

/// Files for the failures.
struct Files {
    folder: Fixture,
    bad: String,
    good: String,
    missing: String,
    closed: String,
}

impl Files {
    fn new() -> Self {
        let folder = Fixture::new("bad.el", b"0 1\n1 x\n");
        let beside = |name: &str| folder.beside(name);
        let [good, missing] = ["good.el", "missing.el"].map(beside);
        let closed = beside("no/such/folder.swg");
        std::fs::write(&good, "0 1\n1 2\n").unwrap();
        Self {
            bad: folder.path().to_owned(),
            good,
            missing,
            closed,
            folder,
        }
    }
}

fn ways<'a>(files: &'a Files, table: &'a str) -> Vec<Command<'a>> {
    let cc = |graphs: &[&'a str], more: &[&'a str]| {
        [
            &["run"],
            graphs,
            &["--analysis", "cc", "--backend", "cpu"],
            more,
        ]
        .concat()
    };
    let Files {
        bad,
        good,
        missing,
        closed,
        ..
    } = files;
    let verify = |file| vec!["evidence", "verify", file, "--required-speedup", "2"];
    vec![
        ("run", cc(&[good], &["--nonsense"]), "usage"),
        ("run", cc(&[good], &["--threads", "-1"]), "usage"),
        ("run", cc(&[missing], &[]), "io"),
        ("run", cc(&[bad], &[]), "line"),
        ("run", cc(&[good], &["--out", table]), "write"),
        ("run", cc(&[good], &["--out", good]), "output_is_input"),
        ("run", cc(&[good], &["--budget", "9"]), "over_budget"),
        ("run", cc(&[good], &["--unit-weights"]), "weights_unread"),
        ("run", cc(&[good], &["--format", "metis"]), "line"),
        ("run", cc(&["gen:rmat:31:65536"], &[]), "too_many_edges"),
        ("batch", cc(&[good, good], &["--nonsense"]), "usage"),
        ("batch", cc(&[good, missing], &[]), "load"),
        ("batch", cc(&[good, bad], &[]), "load"),
        (
            "batch",
            cc(&[good, good], &["--plot", "x.svg"]),
            "one_graph",
        ),
        (
            "batch",
            cc(&[good, good], &["--budget", "9"]),
            "over_budget",
        ),
        ("batch", cc(&["@", good], &[]), "io"),
        ("plan", vec!["plan", missing, "--nonsense"], "usage"),
        ("plan", vec!["plan", missing], "unreadable"),
        ("plan", vec!["plan", bad], "invalid_json"),
        ("convert", vec!["convert", good], "usage"),
        ("convert", vec!["convert", missing, "x.swg"], "io"),
        ("convert", vec!["convert", bad, closed], "write"),
        ("convert", vec!["convert", good, good], "output_is_input"),
        (
            "convert",
            vec!["convert", good, table, "--to", "metis"],
            "write",
        ),
        ("evidence", vec!["evidence", "verify", bad], "usage"),
        ("evidence", verify(missing), "unreadable"),
        ("info", vec!["info", "--nonsense"], "usage"),
        ("bench", vec!["bench", "--section", "nonsense"], "usage"),
        ("bench", vec!["bench", "--threads", "4097"], "usage"),
    ]
}

#[test]
fn failures_of_every_command_are_objects_for_scripts() {
    let files = Files::new();
    let table = files.folder.beside("no/such/folder.csv");
    for (command, mut arguments, kind) in ways(&files, &table) {
        arguments.push("--json");
        let found = failure(&arguments);
        assert_eq!(found["kind"], kind, "{command}: {arguments:?}: {found}");
    }
}

#[test]
fn negative_numbers_are_values_of_their_options() {
    for option in [
        "--source",
        "--device",
        "--threads",
        "--budget",
        "--repeat",
        "--time-budget",
        "--max-iterations",
        "--damping",
        "--tolerance",
        "--scale-weights",
    ] {
        let run = ["run", "gen:grid:3", "--analysis", "sssp", option, "-1"];
        let done = finish(&mut seawall(&run));
        done.refused(&["invalid value '-1'", option]);
    }
}

#[test]
fn numbers_beyond_their_type_get_the_limit_in_the_message() {
    for (option, value, part) in [
        ("--repeat", "4294967296", "from 1 to 4294967295"),
        (
            "--max-iterations",
            "99999999999999999999",
            "from 1 to 4294967295",
        ),
        ("--budget", "18446744073709551616", "below 2^64"),
        ("--threads", "18446744073709551616", "from 1 to 4096"),
    ] {
        let run = ["run", "gen:grid:3", "--analysis", "cc", option, value];
        finish(&mut seawall(&run)).refused(&[part]);
    }
}

#[test]
fn a_name_that_ends_like_a_folder_is_no_file() {
    let folder = Fixture::new("x", b"");
    let out = folder.beside("o.csv/");
    let run = ["run", "gen:grid:3", "--analysis", "cc", "--out", &out];
    finish(&mut seawall(&run)).refused(&["o.csv/", "is a directory"]);
    let swg = folder.beside("o.swg/");
    finish(&mut seawall(&["convert", "gen:grid:3", &swg])).refused(&["is a directory"]);
    assert!(!folder.folder.path().join("o.csv").exists());
}

#[test]
fn a_graph_without_a_name_is_named_by_quotation_marks() {
    let run = ["run", "", "--analysis", "cc"];
    finish(&mut seawall(&run)).refused(&["\"\": cannot open"]);
}

/// Exit code of a command that pipes into `head`.
#[cfg(unix)]
fn piped(folder: &Fixture, command: &str) -> (String, String) {
    let script = format!("({command}; echo $? > code) 2> said | head -c 10 > /dev/null");
    let mut shell = std::process::Command::new("sh");
    shell
        .args(["-c", &script])
        .env("S", env!("CARGO_BIN_EXE_seawall-under-test"))
        .current_dir(folder.folder.path());
    assert!(shell.status().unwrap().success());
    let read = |name| std::fs::read_to_string(folder.folder.path().join(name)).unwrap();
    (read("code").trim().to_owned(), read("said"))
}

#[cfg(unix)]
#[test]
fn a_reader_that_leaves_is_no_failure_of_any_output() {
    let folder = Fixture::new("x", b"");
    for command in [
        "$S run gen:grid:400 --analysis bfs --source 0 --backend cpu --out /dev/stdout",
        "$S convert gen:grid:400 /dev/stdout --to el",
        "$S run gen:batch:3000:chain:9 --analysis cc --backend cpu --json",
    ] {
        let (code, said) = piped(&folder, command);
        assert_eq!(code, "0", "{command}: {said}");
        assert!(!said.contains("Broken pipe"), "{command}: {said}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_process_that_memory_ends_tells_scripts() {
    let folder = Fixture::new("x", b"");
    let waves = "{\"frontier_bytes\":1,\"scratch_bytes\":1,\"output_bytes\":1},";
    let script =
        format!("ulimit -v 250000; (echo '{{\"waves\":['; yes '{waves}') | $S plan - --json");
    let mut shell = std::process::Command::new("sh");
    shell
        .args(["-c", &script])
        .env("S", env!("CARGO_BIN_EXE_seawall-under-test"))
        .current_dir(folder.folder.path());
    let output = shell.output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    let found: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(found["error"]["kind"], "memory");
    let message = found["error"]["message"].as_str().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(said, format!("error: {message}\n"));
}
