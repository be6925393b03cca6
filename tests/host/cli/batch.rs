//! `seawall run` with several graphs.

use super::{Finished, Fixture, finish, seawall};
use serde_json::Value;
use std::collections::BTreeSet;

const SEARCH: [&str; 6] = ["--analysis", "bfs", "--source", "0", "--backend", "cpu"];

fn run(graphs: &[&str], arguments: &[&str]) -> Finished {
    finish(seawall(&["run"]).args(graphs).args(SEARCH).args(arguments))
}

/// Checksum and levels of each graph run alone.
fn alone(graph: &str) -> (Value, Value) {
    let report = run(&[graph], &["--json"]).json();
    (report["checksum"].clone(), report["levels"].clone())
}

fn names(report: &Value) -> Vec<&str> {
    let results = report["results"].as_array().unwrap();
    results
        .iter()
        .map(|result| result["name"].as_str().unwrap())
        .collect()
}

#[test]
fn a_batch_has_totals_and_the_result_of_every_graph() {
    let report = run(
        &["gen:batch:3:chain:40:5", "gen:grid:4"],
        &["--json", "--check", "--threads", "2"],
    )
    .json();
    assert_eq!(
        (&report["analysis"], &report["backend"]),
        (&"bfs".into(), &"cpu".into())
    );
    assert_eq!(
        (&report["graphs"], &report["nodes"]),
        (&4.into(), &136.into())
    );
    assert_eq!(
        (&report["converged"], &report["checked"]),
        (&true.into(), &true.into())
    );
    assert_eq!(report["workers"], 2);
    for field in ["edges", "reached", "programs", "memory_bytes", "repeat"] {
        assert!(report[field].is_u64(), "{field}");
    }
    for field in ["load", "upload", "plan", "run", "readback"] {
        assert!(report["time_ns"][field].is_u64(), "time_ns.{field}");
    }
    let expected = [
        "gen:chain:40:5",
        "gen:chain:40:6",
        "gen:chain:40:7",
        "gen:grid:4",
    ];
    assert_eq!(names(&report), expected);
    for (result, name) in report["results"].as_array().unwrap().iter().zip(expected) {
        let (checksum, levels) = alone(name);
        assert_eq!(
            (&result["checksum"], &result["levels"]),
            (&checksum, &levels)
        );
        assert_eq!(
            (&result["checked"], &result["sources"]),
            (&true.into(), &vec![0].into())
        );
        assert_eq!(result["reached"], result["nodes"]);
        assert!(result["edges"].is_u64() && result["run_ns"].is_u64());
        assert!(result["topology"].is_string());
    }
}

#[test]
fn one_graph_keeps_its_report_and_a_batch_of_one_has_a_batch_report() {
    assert!(run(&["gen:chain:9"], &["--json"]).json()["results"].is_null());
    let report = run(&["gen:batch:1:chain:9"], &["--json"]).json();
    assert_eq!(names(&report), ["gen:chain:9:1"]);
}

#[test]
fn a_folder_stands_for_its_graph_files_by_name() {
    let folder = Fixture::new("b.el", b"0 1\n1 2\n");
    std::fs::write(folder.beside("a.txt"), "0 7\n").unwrap();
    std::fs::write(folder.beside("README.md"), "no graph").unwrap();
    std::fs::create_dir(folder.beside("c.mtx")).unwrap();
    let path = folder.folder.path().to_str().unwrap();
    let report = run(&[path], &["--json"]).json();
    assert_eq!(
        names(&report),
        [folder.beside("a.txt"), folder.beside("b.el")]
    );
    assert_eq!(report["reached"], 5);
    let empty = tempfile::tempdir().unwrap();
    let empty = empty.path().to_str().unwrap();
    run(&[empty], &[]).refused(&[empty, "no graph files", ".mtx"]);
}

#[test]
fn a_list_names_graphs_relative_to_itself() {
    let list = Fixture::new(
        "list",
        b"# graphs\n\n  a.txt \ngen:batch:2:chain:5\ngen:grid:3\n",
    );
    std::fs::write(list.beside("a.txt"), "0 7\n").unwrap();
    let report = run(&[&format!("@{}", list.path())], &["--json"]).json();
    let a = list.beside("a.txt");
    assert_eq!(
        names(&report),
        [a.as_str(), "gen:chain:5:1", "gen:chain:5:2", "gen:grid:3"]
    );
}

#[test]
fn a_bad_line_of_a_list_is_named_with_file_and_line() {
    for (text, line, parts) in [
        (
            &b"gen:grid:3\n\nmissing.txt\n"[..],
            3,
            &["missing.txt", "cannot open"][..],
        ),
        (b"gen:ring:3\n", 1, &["gen:ring:3", "unknown generator"]),
        (
            b"# one\ngen:batch:0:chain:4\n",
            2,
            &["gen:batch:0:chain:4", "COUNT"],
        ),
        (b"gen:grid:3\n@other\n", 2, &["@other", "not other lists"]),
        (b"-\n", 1, &["standard input"]),
        (b"gen:grid:3\n.\n", 2, &["a folder"]),
        (b"gen:grid:3\n\xff\xfe\n", 2, &["cannot open"]),
    ] {
        let list = Fixture::new("list", text);
        let place = format!("{}:{line}: ", list.path());
        let refused = run(&[&format!("@{}", list.path())], &[]);
        refused.refused(&[&place]);
        refused.refused(parts);
    }
    let list = Fixture::new("list", b"# nothing\n\n");
    run(&[&format!("@{}", list.path())], &[]).refused(&[list.path(), "names no graph"]);
    run(&["@no-such-list"], &[]).refused(&["no-such-list", "cannot open"]);
}

#[test]
fn a_missing_or_damaged_file_of_a_batch_is_named() {
    run(&["gen:grid:3", "no-such.mtx"], &[]).refused(&["no-such.mtx", "cannot open"]);
    let bad = Fixture::new("bad.el", b"0 1\n2 x\n");
    run(&["gen:grid:3", bad.path()], &[]).refused(&[&format!("{}:2: ", bad.path())]);
}

#[test]
fn requests_for_a_single_graph_are_refused() {
    run(&["gen:grid:3", "-"], &[]).refused(&["standard input", "one graph"]);
    for backend in ["launches", "graph"] {
        let arguments = [
            "run",
            "gen:batch:2:chain:4",
            "--analysis",
            "cc",
            "--backend",
            backend,
        ];
        finish(&mut seawall(&arguments)).refused(&[backend, "use mega or cpu"]);
    }
    let folder = Fixture::new("x", b"");
    run(
        &["gen:batch:2:chain:4"],
        &["--plot", &folder.beside("p.svg")],
    )
    .refused(&["--plot", "one graph"]);
    let each = ["--analysis", "reach", "--source", "0", "--each"];
    finish(seawall(&["run", "gen:batch:2:chain:4"]).args(each)).refused(&["--each", "one graph"]);
    run(&["gen:batch:2:chain:4"], &["--parents"]).refused(&["--parents", "one graph"]);
}

#[test]
fn a_trace_has_each_graph_once_and_those_of_a_row_follow_each_other() {
    let folder = Fixture::new("x", b"");
    let path = folder.beside("t.json");
    let more = ["--trace", &path, "--threads", "3"];
    assert_eq!(run(&["gen:batch:40:chain:300"], &more).code, 0);
    let trace: Value = serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap();
    let events = trace["traceEvents"].as_array().unwrap();
    let graphs: Vec<_> = events
        .iter()
        .filter(|event| event["cat"] == "graph")
        .collect();
    let names: BTreeSet<_> = graphs.iter().map(|graph| graph["name"].as_str()).collect();
    assert_eq!((graphs.len(), names.len()), (40, 40));
    let rows: BTreeSet<_> = graphs.iter().map(|graph| graph["tid"].as_u64()).collect();
    assert!(rows.len() <= 3, "{rows:?}");
    let number = |event: &Value, field: &str| event[field].as_f64().unwrap();
    for row in graphs.iter().map(|graph| &graph["tid"]) {
        let row = graphs.iter().filter(|graph| graph["tid"] == *row);
        let times: Vec<_> = row
            .map(|graph| [number(graph, "ts"), number(graph, "dur")])
            .collect();
        // Microseconds in floats are rounded.
        let follows = |pair: &[[f64; 2]]| pair[0][0] + pair[0][1] <= pair[1][0] + 1e-3;
        assert!(times.windows(2).all(follows), "{times:?}");
    }
    let phases = events.iter().filter(|event| event["cat"] == "phase");
    assert_eq!(phases.count(), 5);
}

#[test]
fn invalid_generated_batches_are_refused() {
    for (spec, part) in [
        ("gen:batch", "COUNT is missing"),
        ("gen:batch:many:chain:4", "COUNT must be a whole number"),
        ("gen:batch:4", "SHAPE is missing"),
        ("gen:batch:4:grid:8", "rmat, uniform or chain"),
        ("gen:batch:2:chain:0", "NODES must be a whole number from 1"),
    ] {
        run(&[spec], &[]).refused(&[spec, part]);
    }
    let many = "gen:batch:1048576:chain:1";
    run(&[many, "gen:chain:1"], &[]).refused(&["1048577 graphs", "1048576"]);
    let list = Fixture::new("list", format!("{many}\n").repeat(3).as_bytes());
    run(&[&format!("@{}", list.path())], &[]).refused(&["2097152 graphs", "split it"]);
    let folder = Fixture::new("x", b"");
    let out = folder.beside("g.swg");
    finish(&mut seawall(&["convert", "gen:batch:2:chain:4", &out])).refused(&["many graphs"]);
}

#[test]
fn a_source_must_be_in_every_graph() {
    let file = Fixture::new("edges.txt", b"10 20\n");
    run(&["gen:grid:3", file.path()], &[]).refused(&["--source 0", file.path(), "from 10 to 20"]);
    let arguments = ["run", "gen:batch:2:chain:4", "--analysis", "bfs"];
    finish(&mut seawall(&arguments)).refused(&["bfs", "--source"]);
}

#[test]
fn a_graph_that_cannot_answer_is_named() {
    let file = Fixture::new("edges.txt", b"0 1\n");
    let with = |analysis| {
        let run = [
            "run",
            "gen:uniform:3:2",
            file.path(),
            "--analysis",
            analysis,
            "--source",
            "0",
            "--backend",
            "cpu",
        ];
        finish(&mut seawall(&run))
    };
    with("sssp").refused(&[file.path(), "weights"]);
    with("kcore").refused(&[file.path(), "--undirected"]);
    run(&["gen:batch:99:chain:400"], &["--budget", "64KiB"]).refused(&["--budget"]);
}

#[test]
fn tables_name_the_graph_of_every_row() {
    let file = Fixture::new("edges.txt", b"0 7\n");
    let table = |suffix: &str| {
        let path = file.beside(&format!("out.{suffix}"));
        let ran = run(&["gen:chain:2", file.path()], &["--out", &path, "--quiet"]);
        assert_eq!((ran.code, ran.stderr.as_str()), (0, ""));
        std::fs::read(path).unwrap()
    };
    let name = file.path();
    assert_eq!(
        String::from_utf8(table("csv")).unwrap(),
        format!(
            "graph,name,node,value\n0,gen:chain:2,0,0\n0,gen:chain:2,1,1\n1,{name},0,0\n1,{name},7,1\n"
        )
    );
    let json: Value = serde_json::from_slice(&table("json")).unwrap();
    assert_eq!(json.as_array().unwrap().len(), 4);
    assert_eq!(
        json[3],
        serde_json::json!({"graph": 1, "name": name, "node": 7, "value": 1})
    );
    let npy = table("npy");
    let row = [
        1u32.to_le_bytes(),
        7u32.to_le_bytes(),
        [0; 4],
        1u32.to_le_bytes(),
    ]
    .concat();
    assert_eq!(&npy[npy.len() - 16..], row);
}

#[test]
fn the_text_report_counts_graphs_and_names_the_first() {
    let text = run(&["gen:batch:14:chain:30"], &["--check", "--explain"]);
    assert_eq!((text.code, text.stderr.as_str()), (0, ""));
    for part in [
        "Breadth-first search of 14 graphs: 420 nodes",
        "a value for 420 nodes, 100.0 % of all",
        "all converged",
        "equal to a plain sequential implementation",
        "gen:chain:30:12: 30 nodes",
        "and 2 more graphs; --json lists all",
    ] {
        assert!(
            text.stdout.contains(part),
            "{part:?} is not in\n{}",
            text.stdout
        );
    }
    assert!(!text.stdout.contains("gen:chain:30:13"));
    assert_eq!(run(&["gen:batch:2:chain:30"], &["--quiet"]).stdout, "");
}

#[test]
fn the_time_budget_is_that_of_the_whole_batch_and_names_a_graph() {
    let late = run(&["gen:batch:50:chain:400"], &["--time-budget", "0.0000001"]);
    assert_eq!((late.code, late.stdout.as_str()), (1, ""));
    late.complains(&["gen:chain:400:", "time budget ended", "--time-budget"]);
}

#[test]
fn every_analysis_runs_on_a_batch() {
    for analysis in ["bfs", "reach", "cc", "sssp", "kcore", "pagerank"] {
        let run = [
            "run",
            "gen:batch:5:uniform:6:4",
            "gen:rmat:5:3",
            "--analysis",
            analysis,
            "--source",
            "0",
            "--backend",
            "cpu",
            "--check",
            "--json",
            "--repeat",
            "3",
        ];
        let report = finish(&mut seawall(&run)).json();
        assert_eq!(report["checked"], true, "{analysis}");
        assert_eq!(
            (&report["graphs"], &report["repeat"]),
            (&6.into(), &3.into())
        );
    }
}

#[test]
fn a_forced_shape_applies_to_every_graph() {
    let arguments = ["--topology", "sparse", "--json", "--check"];
    let report = run(&["gen:batch:3:chain:50"], &arguments).json();
    let results = report["results"].as_array().unwrap();
    assert!(results.iter().all(|result| result["topology"] == "sparse"));
    assert_eq!(report["checked"], true);
}
