//! Every kind of error and its exit code: 2 for requests and input, 1 for the machine.

use super::{Fixture, finish, seawall};

const DONE: i32 = 0;
const FAILED: i32 = 1;
const REFUSED: i32 = 2;

/// Runs each command line in a folder with `graph.el`, `broken.el` and `text`.
#[track_caller]
fn end(code: i32, lines: &[&str]) {
    let folder = Fixture::new("graph.el", b"0 1\n1 2\n");
    for (name, content) in [("broken.el", "0 1\n1 x\n"), ("text", "no table at all\n")] {
        std::fs::write(folder.beside(name), content).unwrap();
    }
    for line in lines {
        let words: Vec<&str> = line.split_whitespace().collect();
        let mut command = seawall(&words);
        let finished = finish(command.current_dir(folder.folder.path()));
        assert_eq!(finished.code, code, "{line}: {}", finished.stderr);
        if code != DONE && !words.is_empty() {
            finished.complains(&[]);
        }
    }
}

#[test]
fn success_is_0() {
    let lines = [
        "--help",
        "--version",
        "run --help",
        "run graph.el --analysis bfs --source 0 --backend cpu",
        "convert graph.el graph.swg",
    ];
    end(DONE, &lines);
}

#[test]
fn wrong_arguments_are_2() {
    let lines = [
        "",
        "fly",
        "run gen:grid:8 --analysis bfs",
        "run gen:grid:8 --analysis bfs --source 64",
        "run gen:grid:8 --analysis bfs --source 0 --threads 1000000",
        "run gen:grid:8 --analysis bfs --source 0 --threads 99999999999999999999",
        "run gen:grid:8 --analysis bfs --source 0 --budget 1KiB --backend cpu",
        "run gen:grid:8 --analysis bfs --source 0 --each",
        "run gen:grid:8 --analysis bfs --source 0 --out a.docx",
        "run gen:grid:8 --analysis bfs --sources-file no/such/file",
        "run graph.el --analysis cc --backend cpu --out no/such/folder/a.csv",
        "bench --threads 1000000",
        "convert graph.el graph.el",
        "convert graph.el no/such/folder/x.swg",
        "evidence verify text --required-speedup x",
    ];
    end(REFUSED, &lines);
}

#[test]
fn wrong_inputs_are_2() {
    let lines = [
        "run missing.el --analysis cc",
        "run broken.el --analysis cc",
        "run graph.el --analysis sssp --source 0",
        "run graph.el --analysis kcore",
        "run @missing --analysis cc",
        "run . no-such-folder/ --analysis cc",
        "run gen:grid:0 --analysis cc",
        "run gen:grid:100000x100000 --analysis cc",
        "run gen:batch:4000000000:chain:5 --analysis cc",
        "convert missing.el x.swg",
        "plan missing.json",
        "plan text",
        "evidence verify missing.csv --required-speedup 2",
        "evidence verify text --required-speedup 2",
    ];
    end(REFUSED, &lines);
}

#[test]
fn impossible_requests_to_the_machine_are_1() {
    let late = "run gen:rmat:12:16 --analysis triangles --time-budget 0.000000001 --backend cpu";
    end(FAILED, &[late]);
}

#[test]
#[cfg(target_os = "linux")]
fn refusals_of_the_system_are_1() {
    let lines = [
        "convert graph.el /dev/full --to el",
        "convert graph.el /sys/x.el",
        "run /proc/self/mem --analysis cc",
    ];
    end(FAILED, &lines);
}
