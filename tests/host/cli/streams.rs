//! Graphs larger than the budget: their edges stream, and the report says so.

use super::{Fixture, finish, seawall};
use serde_json::Value;

/// A weighted graph as `.swg`.
fn kept() -> Fixture {
    let fixture = Fixture::new("none", b"");
    let path = fixture.beside("graph.swg");
    let convert = &["convert", "gen:rmat:13:16", &path, "--quiet"];
    assert_eq!(finish(&mut seawall(convert)).code, 0);
    fixture
}

fn run(path: &str, more: &[&str]) -> super::Finished {
    let arguments = ["run", path, "--backend", "cpu", "--threads", "2"];
    finish(seawall(&arguments).args(more))
}

/// Arguments of each analysis that streams.
const STREAMING: [&[&str]; 5] = [
    &["--analysis", "bfs", "--source", "0", "--parents"],
    &["--analysis", "reach", "--source", "0"],
    &["--analysis", "cc"],
    &["--analysis", "sssp", "--source", "0"],
    &["--analysis", "pagerank", "--unit-weights"],
];

#[test]
fn a_graph_beyond_the_budget_streams_by_itself_with_the_same_checksum() {
    let fixture = kept();
    let path = fixture.beside("graph.swg");
    for arguments in STREAMING {
        let resident = run(&path, &[arguments, &["--json"]].concat()).json();
        let budget = ["--json", "--check", "--budget", "520KiB"];
        let streamed = run(&path, &[arguments, &budget].concat()).json();
        for field in [
            "checksum",
            "parents_checksum",
            "reached",
            "converged",
            "edges",
        ] {
            assert_eq!(streamed[field], resident[field], "{arguments:?} {field}");
        }
        assert_eq!(streamed["checked"], true, "{arguments:?}");
        assert!(resident["stream"].is_null() && resident["streamed_bytes"].is_null());
        let reason = streamed["backend_reason"].as_str().unwrap();
        assert!(reason.contains("the budget is 520.0 KiB: its edges stream"));
        let stream = &streamed["stream"];
        assert_eq!(streamed["streamed_bytes"], stream["streamed_bytes"]);
        for field in ["passes", "window_bytes", "windows", "buffers", "edge_bytes"] {
            assert!(stream[field].as_u64().unwrap() > 0, "{field}");
        }
        assert!(stream["reader"].is_string() && stream["direct"].is_boolean());
        assert!(stream["skipped_bytes"].is_u64() && stream["kept_bytes"] == 0);
        assert_eq!(stream["keeps"], false);
        assert!(streamed["memory"]["allocated_bytes"].as_u64().unwrap() <= 520 << 10);
    }
}

#[test]
fn every_reader_answers_alike() {
    let fixture = kept();
    let path = fixture.beside("graph.swg");
    let mut checksums = Vec::new();
    for (reader, caching) in [
        ("auto", "cached"),
        ("threads", "auto"),
        ("threads", "direct"),
    ] {
        let more = [
            "--analysis",
            "cc",
            "--stream",
            "always",
            "--stream-window",
            "4KiB",
        ];
        let reading = [
            "--stream-reader",
            reader,
            "--stream-caching",
            caching,
            "--json",
        ];
        let report = run(&path, &[&more[..], &reading].concat()).json();
        if reader == "threads" {
            assert_eq!(report["stream"]["reader"], "threads");
        }
        assert_eq!(report["stream"]["window_bytes"], 4096);
        checksums.push(report["checksum"].clone());
    }
    checksums.dedup();
    assert_eq!(checksums.len(), 1);
}

#[test]
fn text_and_explanation_have_the_passes() {
    let fixture = kept();
    let path = fixture.beside("graph.swg");
    let more = [
        "--analysis",
        "bfs",
        "--source",
        "1",
        "--stream",
        "always",
        "--explain",
    ];
    let report = run(&path, &more);
    assert_eq!(report.code, 0, "{}", report.stderr);
    for part in [
        "streamed  ",
        " of edges",
        "reader  ",
        "nodes and buffers",
        "left out    measured",
    ] {
        assert!(report.stdout.contains(part), "{part:?}: {}", report.stdout);
    }
    assert!(!report.stdout.contains("grid barrier"), "{}", report.stdout);
    let report = run(&path, &[&more[..], &["--json"]].concat()).json();
    let passes = report["explain"]["passes"].as_array().unwrap();
    assert_eq!(
        Some(passes.len() as u64),
        report["stream"]["passes"].as_u64()
    );
    let read: u64 = passes
        .iter()
        .map(|pass| pass["read_bytes"].as_u64().unwrap())
        .sum();
    assert_eq!(Some(read), report["streamed_bytes"].as_u64());
}

#[test]
fn rows_of_a_streamed_run_have_the_ids_of_the_file() {
    let fixture = Fixture::new("gaps.el", b"10 20\n20 300\n300 7\n");
    let path = fixture.beside("gaps.swg");
    assert_eq!(
        finish(&mut seawall(&["convert", fixture.path(), &path, "--quiet"])).code,
        0
    );
    let table = fixture.beside("levels.csv");
    let more = [
        "--analysis",
        "bfs",
        "--source",
        "20",
        "--stream",
        "always",
        "--out",
        &table,
    ];
    assert_eq!(run(&path, &more).code, 0);
    let rows = std::fs::read_to_string(&table).unwrap();
    assert_eq!(rows, "node,value\n7,2\n10,\n20,0\n300,1\n");
    let refused = run(
        &path,
        &["--analysis", "bfs", "--source", "11", "--stream", "always"],
    );
    refused.refused(&["--source 11", "gaps.swg"]);
}

fn over_budget(report: &super::Finished) -> Value {
    assert_eq!(report.code, 2, "{}", report.stderr);
    let failure: Value = serde_json::from_str(&report.stdout).unwrap();
    assert_eq!(failure["error"]["kind"], "over_budget", "{failure}");
    failure["error"].clone()
}

#[test]
fn a_budget_too_small_for_a_stream_is_refused_with_the_least() {
    let fixture = kept();
    let path = fixture.beside("graph.swg");
    for arguments in STREAMING {
        let budget =
            |bytes: &str| run(&path, &[arguments, &["--json", "--budget", bytes]].concat());
        let failure = over_budget(&budget("1KiB"));
        assert_eq!(failure["streamed"], true);
        let least = failure["needed_bytes"].as_u64().unwrap();
        assert!(budget(&least.to_string()).json()["stream"].is_object());
        over_budget(&budget(&(least - 1).to_string()));
    }
}

/// Windows take more than a small graph does.
#[test]
fn a_refusal_of_a_small_graph_names_what_it_takes_resident() {
    let fixture = kept();
    let small = fixture.beside("small.swg");
    finish(&mut seawall(&["convert", "gen:grid:30", &small, "--quiet"]));
    for arguments in STREAMING {
        let budget = |bytes: &str| {
            run(
                &small,
                &[arguments, &["--json", "--budget", bytes]].concat(),
            )
        };
        let least = over_budget(&budget("10"))["needed_bytes"].as_u64().unwrap();
        assert!(least < 100_000, "{least}");
        assert!(budget(&least.to_string()).json()["stream"].is_null());
        assert_eq!(
            over_budget(&budget(&(least - 1).to_string()))["needed_bytes"],
            least
        );
    }
}

#[test]
fn what_cannot_stream_says_what_could() {
    let fixture = kept();
    let path = fixture.beside("graph.swg");
    let small = ["--budget", "100KiB", "--json"];
    let kcore = run(&path, &[&["--analysis", "kcore"][..], &small].concat());
    let message = over_budget(&kcore)["message"].to_string();
    assert!(
        message.contains("only bfs or reach or cc or sssp or pagerank can stream"),
        "{message}"
    );
    let text = run(
        "gen:rmat:12:16",
        &[&["--analysis", "cc"][..], &small].concat(),
    );
    let message = over_budget(&text)["message"].to_string();
    assert!(
        message.contains("stream the edges of a large graph from an uncompressed .swg file"),
        "{message}"
    );
    let never = run(
        &path,
        &[&["--analysis", "cc", "--stream", "never"][..], &small].concat(),
    );
    assert!(over_budget(&never)["streamed"].is_null());

    let edges = fixture.beside("graph.el");
    std::fs::write(&edges, "0 1\n1 2\n").unwrap();
    let always = ["--analysis", "cc", "--stream", "always"];
    run(&edges, &always).refused(&["is no uncompressed .swg file", "(--stream)"]);
    let directed = fixture.beside("directed.swg");
    finish(&mut seawall(&["convert", &edges, &directed, "--quiet"]));
    let both = [&always[..], &["--undirected"]].concat();
    run(&directed, &both).refused(&["convert it with --undirected"]);
    let kcore = ["--analysis", "kcore", "--stream", "always"];
    run(&path, &kcore).refused(&["kcore runs on resident graphs alone"]);
    let scaled = ["--analysis", "sssp", "--source", "0", "--stream", "always"];
    run(&path, &[&scaled[..], &["--scale-weights", "2"]].concat()).refused(&["would be scaled"]);
    let unit = run(
        &path,
        &[&scaled[..], &["--unit-weights", "--json"]].concat(),
    )
    .json();
    assert_eq!(unit["weights"]["from"], "unit");
}

#[test]
fn a_time_budget_ends_a_stream() {
    let fixture = kept();
    let path = fixture.beside("graph.swg");
    let more = [
        "--analysis",
        "pagerank",
        "--unit-weights",
        "--stream",
        "always",
        "--json",
    ];
    let ended = run(&path, &[&more[..], &["--time-budget", "0.000001"]].concat());
    assert_eq!(ended.code, 1, "{}", ended.stderr);
    let failure: Value = serde_json::from_str(&ended.stdout).unwrap();
    assert_eq!(failure["error"]["kind"], "time_budget");
}

#[test]
fn windows_that_stay_are_read_once() {
    let fixture = kept();
    let path = fixture.beside("graph.swg");
    let more = [
        "--analysis",
        "pagerank",
        "--unit-weights",
        "--stream",
        "always",
        "--json",
    ];
    let passing = run(&path, &more).json();
    let staying = run(&path, &[&more[..], &["--stream-keep", "always"]].concat()).json();
    assert_eq!(staying["checksum"], passing["checksum"]);
    let stream = &staying["stream"];
    assert_eq!(stream["keeps"], true);
    assert_eq!(stream["streamed_bytes"], stream["edge_bytes"]);
    assert!(stream["kept_bytes"].as_u64() > stream["edge_bytes"].as_u64());
    let little = ["--stream-keep", "always", "--budget", "520KiB"];
    let failure = over_budget(&run(&path, &[&more[..], &little].concat()));
    assert!(failure["needed_bytes"].as_u64() > stream["edge_bytes"].as_u64());
}
