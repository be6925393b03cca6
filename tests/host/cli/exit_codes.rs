//! Every kind of error and its exit code: 2 for what was asked or given, 1 for what the
//! machine could not do.

use super::{Fixture, finish, seawall};

const DONE: i32 = 0;
const FAILED: i32 = 1;
const REFUSED: i32 = 2;

#[test]
fn every_kind_of_error_has_its_code() {
    let text = Fixture::new("text.el", b"0 1\n1 2\n");
    let broken = text.beside("broken.el");
    std::fs::write(&broken, "0 1\n1 x\n").unwrap();
    let (graph, missing) = (text.path(), text.beside("missing.el"));
    let run = |rest: &[&'static str]| -> Vec<String> {
        let start = ["run", "gen:grid:8", "--analysis", "bfs", "--backend", "cpu"];
        start
            .iter()
            .chain(rest)
            .map(|&word| word.to_owned())
            .collect()
    };
    let words = |words: &[&str]| words.iter().map(|&word| word.to_owned()).collect();
    let table: Vec<(Vec<String>, i32)> = vec![
        // Done.
        (run(&["--source", "0"]), DONE),
        (words(&["--help"]), DONE),
        (words(&["--version"]), DONE),
        // Arguments.
        (words(&[]), REFUSED),
        (words(&["fly"]), REFUSED),
        (run(&[]), REFUSED),
        (run(&["--source", "64"]), REFUSED),
        (run(&["--source", "0", "--threads", "1000000"]), REFUSED),
        (
            run(&["--source", "0", "--threads", "99999999999999999999"]),
            REFUSED,
        ),
        (run(&["--source", "0", "--budget", "1KiB"]), REFUSED),
        (run(&["--source", "0", "--each"]), REFUSED),
        (run(&["--source", "0", "--out", "a.docx"]), REFUSED),
        (
            run(&["--source", "0", "--sources-file", "no/such/file"]),
            REFUSED,
        ),
        (words(&["bench", "--threads", "1000000"]), REFUSED),
        // Graphs and other inputs.
        (words(&["run", &missing, "--analysis", "cc"]), REFUSED),
        (words(&["run", &broken, "--analysis", "cc"]), REFUSED),
        (
            words(&["run", graph, "--analysis", "sssp", "--source", "0"]),
            REFUSED,
        ),
        (words(&["run", graph, "--analysis", "kcore"]), REFUSED),
        (
            words(&["run", "@no-such-list", "--analysis", "cc"]),
            REFUSED,
        ),
        (words(&["run", "gen:grid:0", "--analysis", "cc"]), REFUSED),
        (
            words(&["run", "gen:grid:100000x100000", "--analysis", "cc"]),
            REFUSED,
        ),
        (
            words(&["run", "gen:batch:4000000000:chain:5", "--analysis", "cc"]),
            REFUSED,
        ),
        (words(&["convert", &missing, "x.swg"]), REFUSED),
        (words(&["convert", graph, graph]), REFUSED),
        (words(&["convert", graph, "no/such/folder/x.swg"]), REFUSED),
        (words(&["plan", &missing]), REFUSED),
        (words(&["plan", graph]), REFUSED),
        (
            words(&["evidence", "verify", &missing, "--required-speedup", "2"]),
            REFUSED,
        ),
        (
            words(&["evidence", "verify", graph, "--required-speedup", "2"]),
            REFUSED,
        ),
        // The machine.
        (
            run(&[
                "--source",
                "0",
                "--time-budget",
                "0.000000001",
                "--threads",
                "2",
            ]),
            FAILED,
        ),
        #[cfg(target_os = "linux")]
        (
            words(&["convert", graph, "/dev/full", "--to", "el"]),
            FAILED,
        ),
        #[cfg(target_os = "linux")]
        (words(&["convert", graph, "/sys/x.el"]), FAILED),
        #[cfg(target_os = "linux")]
        (
            words(&["run", "/proc/self/mem", "--analysis", "cc"]),
            FAILED,
        ),
    ];
    for (arguments, code) in table {
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        let mut command = seawall(&arguments);
        let finished = finish(command.current_dir(text.folder.path()));
        assert_eq!(finished.code, code, "{arguments:?}: {}", finished.stderr);
        if code != DONE && !arguments.is_empty() {
            finished.complains(&[]);
        }
    }
}
