//! Exhausted resources: one message and exit code 1, never a crash.

use super::{Finished, Fixture, finish, seawall};
use std::io::Write;
use std::os::unix::process::ExitStatusExt;
use std::process::{Command, Output, Stdio};

/// Runs a shell command with the program as `$S`. A crash would be a signal.
#[track_caller]
fn shell(fixture: &Fixture, script: &str) -> Finished {
    let mut command = Command::new("sh");
    command
        .args(["-c", script])
        .env("S", env!("CARGO_BIN_EXE_seawall-under-test"))
        .current_dir(fixture.folder.path());
    ended(script, command.output().unwrap())
}

#[track_caller]
fn ended(script: &str, output: Output) -> Finished {
    assert_eq!(output.status.signal(), None, "{script}");
    Finished {
        code: output.status.code().unwrap(),
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
    }
}

impl Finished {
    #[track_caller]
    fn failed(&self, part: &str) {
        assert_eq!(self.code, 1, "{}", self.stderr);
        self.complains(&[part]);
    }
}

/// A shell's limit of the address space in KiB that leaves space to start.
const LIMIT: &str = "ulimit -v 400000; export RAYON_NUM_THREADS=2;";

#[test]
fn graphs_beyond_the_address_space_are_failures() {
    let folder = Fixture::new("x", b"");
    for graph in [
        "gen:grid:20000",
        "gen:chain:200000000",
        "gen:rmat:22:16",
        "gen:uniform:22:16",
        "gen:grid:4000 gen:rmat:20:16",
    ] {
        let script = format!("{LIMIT} $S run {graph} --analysis cc --backend cpu");
        shell(&folder, &script).failed("out of memory");
    }
    let script = format!("{LIMIT} $S convert gen:rmat:22:16 out.swg");
    shell(&folder, &script).failed("out of memory");
    assert!(!folder.folder.path().join("out.swg").exists());
}

#[test]
fn edges_stream_by_default_wherever_they_stream_on_request() {
    let folder = Fixture::new("x", b"");
    let convert = "$S convert gen:rmat:18:16 graph.swg --quiet";
    assert_eq!(shell(&folder, convert).code, 0);
    let run = "$S run graph.swg --backend cpu --threads 2 --json --analysis";
    // Limits of a run: the address space in KiB, by which the allocator decides whether a graph
    // fits, and a budget in bytes.
    let spaces = (120_000..=300_000).step_by(90_000);
    let spaces = spaces.map(|limit| (format!("ulimit -v {limit};"), String::new()));
    let budgets = (1..=32).step_by(15).map(|mebibytes| {
        let bytes = mebibytes << 20;
        (String::new(), format!("--budget {bytes}"))
    });
    let mut streamed = 0;
    for (space, budget) in spaces.chain(budgets) {
        for analysis in ["cc", "bfs --source 0"] {
            let with = |stream: &str| {
                let limit = format!("{space} export RAYON_NUM_THREADS=2;");
                let script = format!("{limit} {run} {analysis} {budget} --stream {stream}");
                shell(&folder, &script)
            };
            if with("always").code == 0 {
                let auto = with("auto");
                let case = format!("{space}{budget} {analysis}");
                assert_eq!(auto.code, 0, "{case}: {}", auto.stderr);
                streamed += usize::from(auto.stdout.contains("its edges stream"));
            }
        }
    }
    assert!(streamed > 0, "no limit left space for the stream alone");
}

#[test]
fn endless_inputs_end_with_the_memory() {
    let folder = Fixture::new("x", b"");
    for script in [
        "yes '1 2' | $S run - --analysis cc --backend cpu",
        "yes '1 2' | $S convert - out.swg",
        "yes 7 | $S run gen:grid:4 --analysis bfs --sources-file /dev/stdin --backend cpu",
    ] {
        // Less than elsewhere: reading until the memory ends takes time.
        let limit = LIMIT.replace("400000", "250000");
        shell(&folder, &format!("{limit} {script}")).failed("out of memory");
    }
}

#[test]
fn a_long_list_of_graphs_ends_with_the_memory() {
    let mut text = Vec::new();
    for seed in 0..100_000 {
        writeln!(text, "gen:uniform:12:16:{seed}").unwrap();
    }
    assert!(text.len() > 2_000_000);
    let list = Fixture::new("list", &text);
    let script = format!("{LIMIT} $S run @list --analysis cc --backend cpu");
    shell(&list, &script).failed("out of memory");
}

#[test]
fn inputs_without_lines_are_refused() {
    for line in [
        "run @/dev/zero --analysis cc",
        "run /dev/zero --analysis cc",
        "run gen:grid:4 --analysis bfs --sources-file /dev/zero",
        "plan /dev/zero",
        "evidence verify /dev/zero --required-speedup 2",
    ] {
        let words: Vec<_> = line.split(' ').collect();
        let finished = finish(&mut seawall(&words));
        assert_eq!(finished.code, 2, "{line}: {}", finished.stderr);
        finished.complains(&[]);
    }
}

/// Threads whose stacks are larger than any address space are refused by every system.
#[test]
fn threads_that_cannot_start_are_a_failure() {
    let folder = Fixture::new("graph.el", b"0 1\n1 2\n");
    for script in [
        "$S run graph.el --analysis cc --backend cpu",
        "$S run gen:grid:9 --analysis cc --backend cpu --threads 3",
        "$S run gen:grid:9 gen:grid:8 --analysis cc --backend cpu",
        "$S convert graph.el out.swg",
    ] {
        let script = format!("RUST_MIN_STACK=70368744177664 {script}");
        shell(&folder, &script).failed("threads");
    }
    let crowd = "RAYON_NUM_THREADS=99999999 $S run graph.el --analysis cc --backend cpu";
    assert_eq!(shell(&folder, crowd).code, 0);
    let plan = r#"echo '{"waves":[],"dependencies":[]}' | RUST_MIN_STACK=70368744177664 $S plan -"#;
    assert_eq!(shell(&folder, plan).code, 0);
}

/// If a thread's start finds no memory, the command ends with a message.
#[test]
fn threads_that_find_no_memory_end_with_a_message() {
    let folder = Fixture::new("graph.el", b"0 1\n1 2\n");
    for kibibytes in (60_000..400_000).step_by(7_001) {
        let script = format!(
            "ulimit -v {kibibytes}; $S run graph.el --analysis cc --backend cpu --threads 60 -q"
        );
        let finished = shell(&folder, &script);
        let (code, text) = (finished.code, &finished.stderr);
        let message = text.starts_with("error: ") && text.lines().count() == 1;
        assert!(code == 0 || code == 1 && message, "{script}: {code} {text}");
    }
}

/// The budget holds for any number of threads; most of the measured time is that of making the
/// graph.
#[test]
fn the_time_budget_holds_with_any_number_of_threads() {
    let folder = Fixture::new("x", b"");
    let convert = finish(&mut seawall(&[
        "convert",
        "gen:rmat:15:16",
        &folder.beside("g.swg"),
    ]));
    assert_eq!(convert.code, 0, "{}", convert.stderr);
    for analysis in [
        "triangles",
        "pagerank --tolerance 0 --max-iterations 1000000",
    ] {
        for threads in [1, 2, 4] {
            let script = format!(
                "$S run g.swg --analysis {analysis} --backend cpu --threads {threads} --time-budget 0.02"
            );
            let start = std::time::Instant::now();
            shell(&folder, &script).failed("time budget");
            assert!(start.elapsed().as_secs() < 20, "{script}");
        }
    }
}

/// Thousands of waiting threads share the cores in turn.
#[test]
fn the_time_budget_holds_where_threads_wait_for_a_core() {
    let folder = Fixture::new("x", b"");
    for (threads, budget) in [(1024, 0.01), (4096, 0.01), (4096, 0.5)] {
        let script = format!(
            "$S run gen:grid:512 --analysis pagerank --tolerance 0 --max-iterations 1000000 --backend cpu --threads {threads} --time-budget {budget}"
        );
        let start = std::time::Instant::now();
        shell(&folder, &script).failed("time budget");
        let elapsed = start.elapsed();
        assert!(elapsed.as_secs() < 10, "{script}: {elapsed:?}");
    }
}

#[test]
fn output_without_a_reader_is_not_a_crash() {
    let mut command = Command::new(env!("CARGO_BIN_EXE_seawall-under-test"));
    command.args(["run", "gen:grid:9", "--analysis", "cc", "--backend", "cpu"]);
    let mut child = command
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let finished = ended("closed pipe", child.wait_with_output().unwrap());
    assert_eq!((finished.code, finished.stderr.as_str()), (0, ""));
    let folder = Fixture::new("x", b"");
    let full = "$S run gen:grid:9 --analysis cc --backend cpu > /dev/full";
    shell(&folder, full).failed("No space left");
}
