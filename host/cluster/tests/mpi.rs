//! Jobs of several ranks on this machine, started by `mpirun`: results of one process, and failures
//! that name their rank.

use seawall::graph::{LoadOptions, load, save};
use serde_json::Value;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

const PROGRAM: &str = env!("CARGO_BIN_EXE_seawall-cluster");

/// Time in which a failure has to end all ranks, with the start of the job.
const PATIENCE: Duration = Duration::from_secs(25);

/// A command that starts `parts`: numbers of ranks, each with arguments of its own.
fn job(parts: &[(u32, &[&str])]) -> Command {
    let mut command = Command::new("mpirun");
    command.args(["--oversubscribe", "--bind-to", "none"]);
    for (number, (ranks, arguments)) in parts.iter().enumerate() {
        if number > 0 {
            command.arg(":");
        }
        command
            .args(["-n", &ranks.to_string(), PROGRAM])
            .args(*arguments);
    }
    // Open MPI asks for this in containers.
    command.env("OMPI_ALLOW_RUN_AS_ROOT", "1");
    command.env("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1");
    command
}

fn output(parts: &[(u32, &[&str])]) -> Output {
    job(parts)
        .output()
        .expect("mpirun starts: it comes with Open MPI")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// The report of a run on `ranks` ranks, which has to succeed.
fn report(ranks: u32, arguments: &[&str]) -> Value {
    let mut all = vec!["run"];
    all.extend(arguments);
    all.extend(["--json", "--threads", "1"]);
    let found = output(&[(ranks, &all)]);
    let errors = text(&found.stderr);
    assert!(found.status.success(), "{arguments:?}: {errors}");
    serde_json::from_slice(&found.stdout).expect("rank 0 alone prints one object")
}

/// The same checksum on one, two and four ranks, whose first is the kernel without an exchange.
fn compare(arguments: &[&str]) {
    let mut checked = arguments.to_vec();
    checked.push("--check");
    let one = report(1, &checked);
    for ranks in [2, 4] {
        let found = report(ranks, &checked);
        assert_eq!(found["checked"], Value::Bool(true), "{arguments:?}");
        assert_eq!(
            found["checksum"], one["checksum"],
            "{arguments:?} on {ranks}"
        );
        assert_eq!(found["devices"]["count"], ranks, "{arguments:?}");
    }
}

#[test]
fn each_analysis_has_the_result_of_one_process() {
    compare(&[
        "gen:rmat:12:8",
        "--analysis",
        "bfs",
        "--source",
        "1",
        "--explain",
    ]);
    compare(&["gen:grid:50", "--analysis", "reach", "--source", "1"]);
    compare(&["gen:uniform:13:2", "--analysis", "cc"]);
    compare(&[
        "gen:grid:50",
        "--analysis",
        "sssp",
        "--source",
        "7",
        "--unit-weights",
    ]);
    compare(&["gen:rmat:12:8", "--analysis", "pagerank"]);
    compare(&["gen:rmat:12:8", "--analysis", "ppr", "--source", "1"]);
    compare(&["gen:rmat-directed:10:8", "--analysis", "scc"]);
    let weighted = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("weighted.el");
    let edges: String = (0..3000_u32)
        .map(|at| format!("{} {} {}\n", at % 797, at * at % 991, at % 13 + 1))
        .collect();
    std::fs::write(&weighted, edges).expect("the folder takes files");
    let weighted = weighted.to_str().expect("a path of text");
    compare(&[weighted, "--analysis", "pagerank"]);
    compare(&["gen:rmat:12:8", "--analysis", "kcore"]);
    compare(&["gen:rmat:12:8", "--analysis", "triangle-total"]);
    compare(&[
        "gen:grid:50",
        "--analysis",
        "closeness",
        "--source",
        "1",
        "--source",
        "70",
    ]);
    compare(&["gen:chain:1", "--analysis", "eccentricity", "--source", "0"]);
}

/// Ranks that read or make their own parts have the columns of one process that loads the graph.
#[test]
fn parts_have_the_result_of_one_process() {
    let folder = std::path::Path::new(env!("CARGO_TARGET_TMPDIR"));
    for shape in ["gen:rmat:12:8", "gen:rmat-directed:12:8"] {
        let graph = load(shape, &LoadOptions::default(), None).expect("it is generated");
        let saved = |suffix: &str| {
            let path = folder.join(format!("{}.{suffix}", shape.replace(':', "-")));
            save(&graph.graph, &path, None).expect("the folder takes files");
            path.to_str().expect("a path of text").to_owned()
        };
        // Compressed files are loaded as a whole by each rank.
        let whole = saved("swg.gz");
        for analysis in ["bfs", "cc", "pagerank"] {
            let options: &[&str] = match analysis {
                "bfs" => &["--source", "1"],
                "pagerank" => &["--unit-weights"],
                _ => &[],
            };
            let run = |graph: &str| {
                let arguments = [&[graph, "--analysis", analysis, "--check"], options].concat();
                report(3, &arguments)
            };
            let wanted = run(&whole);
            assert_eq!(wanted["devices"]["graph_bytes"], Value::Null);
            for graph in [saved("swg"), saved("mtx"), shape.to_owned()] {
                let parts = run(&graph);
                for field in ["checksum", "checked", "nodes", "edges", "reached"] {
                    assert_eq!(
                        parts[field], wanted[field],
                        "{field} of {analysis}, {graph}"
                    );
                }
                assert_eq!(parts["checked"], Value::Bool(true));
                let bytes = parts["devices"]["graph_bytes"].as_array();
                assert_eq!(bytes.map(Vec::len), Some(3), "{analysis}, {graph}");
            }
        }
    }
}

/// The rank whose share has the line names it, and the others name the rank.
#[test]
fn a_wrong_line_is_named_once() {
    let path = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("wrong.el");
    let mut text: String = (0..900)
        .map(|node| format!("{node} {}\n", node + 1))
        .collect();
    text = text.replace("\n700 701\n", "\n700 x\n");
    std::fs::write(&path, text).expect("the folder takes files");
    let file = path.to_str().expect("a path of text");
    let found = output(&[(3, &["run", file, "--analysis", "cc", "--undirected"])]);
    let errors = String::from_utf8_lossy(&found.stderr);
    assert!(!found.status.success(), "{errors}");
    assert_eq!(errors.matches("wrong.el:701").count(), 1, "{errors}");
}

#[test]
fn a_program_has_the_results_of_one_process() {
    let programs = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/programs");
    let program = |name: &str| format!("{programs}/{name}.json");
    let components = program("components");
    let arguments = ["gen:rmat:10:4", "--program", &components];
    let one = report(1, &arguments);
    for ranks in [2, 4] {
        let found = report(ranks, &arguments);
        assert_eq!(found["results"], one["results"], "{ranks}");
        assert_eq!(found["devices"]["count"], ranks);
    }

    let degrees = program("degrees");
    let refused = output(&[(3, &["run", "gen:rmat:10:4", "--program", &degrees])]);
    let errors = text(&refused.stderr);
    assert_eq!(refused.status.code(), Some(2), "{errors}");
    assert_eq!(errors.matches("appends to a list").count(), 1, "{errors}");
    let missing = output(&[(2, &["run", "no/such/file.el", "--program", &components])]);
    let errors = text(&missing.stderr);
    assert_eq!(errors.matches("no/such/file.el").count(), 1, "{errors}");
}

/// Commands of docs/clusters.md with `mpirun`, as they stand there.
#[test]
fn commands_of_the_page_succeed() {
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/clusters.md");
    let page = std::fs::read_to_string(page).expect("the page is there");
    let commands: Vec<&str> = page
        .lines()
        .filter_map(|line| line.strip_prefix("mpirun "))
        .collect();
    assert!(!commands.is_empty());
    for command in commands {
        let command = command.replace("seawall-cluster", PROGRAM);
        let mut listed = job(&[]);
        listed.args(command.split_whitespace());
        let found = listed.output().expect("mpirun starts");
        let (printed, errors) = (text(&found.stdout), text(&found.stderr));
        assert!(found.status.success(), "{command}: {errors}");
        assert!(printed.contains("  check     equal to"), "{printed}");
    }
}

#[test]
fn a_request_that_is_wrong_is_refused_once() {
    let usage = output(&[(3, &["run", "gen:grid:9", "--analysis", "bsf"])]);
    let errors = text(&usage.stderr);
    assert_eq!(usage.status.code(), Some(2), "{errors}");
    assert_eq!(
        errors.matches("a similar value exists").count(),
        1,
        "{errors}"
    );

    let missing = output(&[(3, &["run", "no/such/file.el", "--analysis", "cc"])]);
    let errors = text(&missing.stderr);
    assert_eq!(missing.status.code(), Some(2), "{errors}");
    assert_eq!(errors.matches("no/such/file.el").count(), 1, "{errors}");

    let program = output(&[(2, &["run", "gen:grid:9", "--analysis", "labels"])]);
    let errors = text(&program.stderr);
    assert_eq!(program.status.code(), Some(2), "{errors}");
    assert!(
        errors.contains("labels cannot run on several devices"),
        "{errors}"
    );

    let bfs = ["run", "gen:grid:9", "--analysis", "bfs", "--source", "0"];
    for refused in [["--backend", "launches"], ["--device", "1"]] {
        let found = output(&[(2, &[&bfs[..], &refused].concat())]);
        let errors = text(&found.stderr);
        assert_eq!(found.status.code(), Some(2), "{errors}");
        assert_eq!(errors.matches("is not for ranks").count(), 1, "{errors}");
    }
}

#[test]
fn a_rank_that_differs_is_refused_at_the_start() {
    let bfs = ["--analysis", "bfs", "--source", "0"];
    let with = |graph: &'static str| [&["run", graph], &bfs[..]].concat();
    let (here, there) = (with("gen:grid:40"), with("gen:grid:41"));
    let found = output(&[(2, &here), (1, &there)]);
    let errors = text(&found.stderr);
    assert_eq!(found.status.code(), Some(2), "{errors}");
    assert!(
        errors.contains("rank 2 has another graph than rank 0"),
        "{errors}"
    );

    let missing = with("no/such/file.el");
    let found = output(&[(2, &here), (1, &missing)]);
    let errors = text(&found.stderr);
    assert!(!found.status.success(), "{errors}");
    assert!(
        errors.contains("rank 2: ") && errors.contains("no/such/file.el"),
        "{errors}"
    );
    assert!(errors.contains("rank 2 could not go on"), "{errors}");
}

/// Two hosts with files of one length and name, of which each rank reads a share.
#[test]
fn a_rank_with_another_file_is_named() {
    let folder = std::path::Path::new(env!("CARGO_TARGET_TMPDIR"));
    let list = |name: &str, step: u32| {
        let edge = |node: u32| format!("{node:04},{:04}\n", node * step % 1009);
        let path = folder.join(name);
        std::fs::write(&path, (1..1009).map(edge).collect::<String>()).expect("it takes files");
        path.to_str().expect("a path of text").to_owned()
    };
    let (here, there) = (list("here.csv", 7), list("there.csv", 11));
    let with = |graph| ["run", graph, "--analysis", "cc", "--undirected", "--json"];
    let found = output(&[(2, &with(&here)), (1, &with(&there))]);
    let errors = text(&found.stderr);
    assert_eq!(found.status.code(), Some(2), "{errors}");
    assert!(
        errors.contains("rank 2 has another graph than rank 0"),
        "{errors}"
    );
}

/// The process of a rank that `mpirun` has started.
fn process_of(job: &Child, rank: u32) -> Option<u32> {
    let parent = format!("PPid:\t{}\n", job.id());
    let wanted = format!("OMPI_COMM_WORLD_RANK={rank}");
    let folder = std::fs::read_dir("/proc").ok()?;
    folder.flatten().find_map(|entry| {
        let number: u32 = entry.file_name().to_str()?.parse().ok()?;
        let status = std::fs::read_to_string(entry.path().join("status")).ok()?;
        let environment = std::fs::read(entry.path().join("environ")).ok()?;
        let mut words = environment.split(|byte| *byte == 0);
        let is_rank = status.contains(&parent) && words.any(|word| word == wanted.as_bytes());
        is_rank.then_some(number)
    })
}

/// Starts a long run on three ranks, sends a signal to rank 2, and returns what was printed, and
/// when.
fn after_signal(signal: &str) -> (Output, Duration) {
    let arguments: &[&str] = &[
        "run",
        "gen:grid:700",
        "--analysis",
        "bfs",
        "--source",
        "0",
        "--repeat",
        "100000",
        "--time-budget",
        "600",
        "--threads",
        "1",
    ];
    let mut command = job(&[(3, arguments)]);
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let child = command.spawn().expect("mpirun starts");
    let started = Instant::now();
    let rank = loop {
        if let Some(found) = process_of(&child, 2) {
            break found;
        }
        assert!(started.elapsed() < PATIENCE, "rank 2 does not start");
        std::thread::sleep(Duration::from_millis(50));
    };
    // Into the run, or its start on a slow machine: both have to end.
    std::thread::sleep(Duration::from_secs(2));
    let sent = Command::new("kill")
        .args([signal, &rank.to_string()])
        .status();
    assert!(sent.expect("kill starts").success());
    let since = Instant::now();
    let found = child.wait_with_output().expect("mpirun ends");
    (found, since.elapsed())
}

#[test]
fn a_rank_that_stops_is_named_by_all_others() {
    let (found, elapsed) = after_signal("-STOP");
    let errors = text(&found.stderr);
    assert_eq!(found.status.code(), Some(1), "{errors}");
    assert!(elapsed < PATIENCE, "{elapsed:?}");
    let named = errors
        .matches("rank 2 is lost: nothing was heard of it")
        .count();
    assert!(named >= 2, "rank 0 and rank 1 name it: {errors}");
}

#[test]
fn a_rank_that_dies_ends_all() {
    let (found, elapsed) = after_signal("-KILL");
    let errors = text(&found.stderr);
    assert!(!found.status.success(), "{errors}");
    assert!(elapsed < PATIENCE, "{elapsed:?}");
    assert!(errors.contains("rank 2"), "{errors}");
}
