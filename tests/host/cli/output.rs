//! Output of a run: the report, the table, the trace and the picture.

use super::{Finished, Fixture, finish, seawall};
use serde_json::Value;

fn search(arguments: &[&str]) -> Finished {
    let run = [
        "run",
        "gen:grid:8",
        "--analysis",
        "bfs",
        "--source",
        "0",
        "--backend",
        "cpu",
    ];
    finish(seawall(&run).args(arguments))
}

#[test]
fn the_json_report_has_the_fields_for_scripts() {
    let report = search(&["--json", "--check", "--threads", "1"]).json();
    assert_eq!(report["analysis"], "bfs");
    assert_eq!(report["backend"], "cpu");
    assert!(report["device"].is_string());
    assert_eq!(report["nodes"], 64);
    assert_eq!(report["edges"], 224);
    assert_eq!(
        (&report["source"], &report["sources"]),
        (&0.into(), &vec![0].into())
    );
    assert_eq!(report["reached"], 64);
    assert_eq!(report["levels"], 15);
    assert_eq!(report["converged"], true);
    assert_eq!(report["checked"], true);
    assert!(report["device_barriers"].is_u64());
    for field in [
        "groups",
        "global_barriers",
        "lower_bound",
        "peak_group_bytes",
        "arena_bytes",
    ] {
        assert!(report["plan"][field].is_u64(), "plan.{field}");
    }
    assert!(report["plan"]["topology"].is_string());
    for field in ["load", "upload", "plan", "run", "readback"] {
        assert!(report["time_ns"][field].is_u64(), "time_ns.{field}");
    }
}

/// Levels of the 8 x 8 grid from its corner, hashed as the report promises.
#[test]
fn the_checksum_is_that_of_the_column() {
    let levels = (0..64u32).map(|node| node / 8 + node % 8);
    let mut hash = 0xcbf2_9ce4_8422_2325u64;
    for byte in levels.flat_map(u32::to_le_bytes) {
        hash = (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3);
    }
    assert_eq!(
        search(&["--json"]).json()["checksum"],
        format!("{hash:016x}")
    );
}

#[test]
fn the_text_report_is_for_people_and_quiet_is_quiet() {
    let text = search(&["--check"]);
    assert_eq!((text.code, text.stderr.as_str()), (0, ""));
    assert!(
        text.stdout
            .starts_with("Breadth-first search of 64 nodes, 224 edges\n"),
        "{}",
        text.stdout
    );
    assert!(text.stdout.contains("64 nodes reached, 100.0 % of all"));
    assert!(
        text.stdout
            .contains("equal to a plain sequential implementation")
    );
    assert_eq!(search(&["--quiet"]).stdout, "");
    assert!(search(&["--quiet", "--json"]).json().is_object());
}

#[test]
fn tables_have_one_row_per_node_with_the_ids_of_the_file() {
    let file = Fixture::new("edges.txt", b"100 7\n7 300\n500 100\n");
    let table = |suffix: &str| {
        let path = file.beside(&format!("out.{suffix}"));
        let run = [
            "run",
            file.path(),
            "--analysis",
            "bfs",
            "--source",
            "100",
            "--backend",
            "cpu",
            "--out",
            &path,
        ];
        let run = finish(seawall(&run).arg("--quiet"));
        assert_eq!((run.code, run.stderr.as_str()), (0, ""));
        std::fs::read(path).unwrap()
    };
    let csv = String::from_utf8(table("csv")).unwrap();
    assert_eq!(csv, "node,value\n7,1\n100,0\n300,2\n500,\n");
    let json: Value = serde_json::from_slice(&table("json")).unwrap();
    assert_eq!(json[2], serde_json::json!({"node": 300, "value": 2}));
    let npy = table("npy");
    assert!(npy.starts_with(b"\x93NUMPY"));
    assert_eq!(
        &npy[npy.len() - 24..npy.len() - 12],
        b"\x2c\x01\0\0\0\0\0\0\x02\0\0\0"
    );
}

#[test]
fn traces_are_json_and_pictures_are_svg() {
    let folder = Fixture::new("x", b"");
    let (trace, plot) = (folder.beside("t.json"), folder.beside("p.svg"));
    assert_eq!(search(&["--trace", &trace, "--plot", &plot]).code, 0);
    let trace: Value = serde_json::from_slice(&std::fs::read(trace).unwrap()).unwrap();
    let spans = trace["traceEvents"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|event| event["ph"] == "X");
    assert!(spans.count() > 1);
    let plot = std::fs::read_to_string(plot).unwrap();
    assert_eq!(plot.matches("class=\"bar\"").count(), 15);
}

#[test]
fn a_graph_can_come_from_standard_input() {
    let arguments = [
        "run",
        "-",
        "--analysis",
        "bfs",
        "--source",
        "5",
        "--backend",
        "cpu",
        "--json",
    ];
    let report = finish(seawall(&arguments).write_stdin("5 6\n6 9\n")).json();
    assert_eq!(
        (&report["nodes"], &report["reached"]),
        (&3.into(), &3.into())
    );
}

#[test]
fn undirected_takes_edges_both_ways() {
    let file = Fixture::new("edges.txt", b"1 2\n3 2\n");
    let reached = |arguments: &[&str]| {
        let run = [
            "run",
            file.path(),
            "--analysis",
            "bfs",
            "--source",
            "1",
            "--backend",
            "cpu",
            "--json",
        ];
        finish(seawall(&run).args(arguments)).json()["reached"].clone()
    };
    assert_eq!(
        (reached(&[]), reached(&["--undirected"])),
        (2.into(), 3.into())
    );
}

#[test]
fn a_converted_graph_has_the_same_result() {
    let folder = Fixture::new("x", b"");
    let expected = search(&["--json"]).json()["checksum"].clone();
    for name in ["g.swg", "g.mtx", "g.el.gz", "g.gr.xz"] {
        let path = folder.beside(name);
        let convert = finish(&mut seawall(&["convert", "gen:grid:8", &path]));
        assert_eq!(convert.code, 0, "{}", convert.stderr);
        assert!(
            convert
                .stdout
                .starts_with(&format!("{path}: 64 nodes, 224 edges")),
            "{}",
            convert.stdout
        );
        // Every format keeps the ids, which begin at 0.
        let source = "0";
        let run = [
            "run",
            &path,
            "--analysis",
            "bfs",
            "--source",
            source,
            "--backend",
            "cpu",
            "--json",
        ];
        assert_eq!(
            finish(&mut seawall(&run)).json()["checksum"],
            expected,
            "{name}"
        );
    }
}

#[test]
fn an_unchecked_run_is_reported_and_sources_do_not_affect_other_analyses() {
    assert!(search(&["--json"]).json()["checked"].is_null());
    let run = [
        "run",
        "gen:grid:8",
        "--analysis",
        "cc",
        "--source",
        "3",
        "--backend",
        "cpu",
        "--json",
        "--check",
    ];
    let report = finish(&mut seawall(&run)).json();
    assert_eq!(
        (&report["sources"], &report["checked"]),
        (&Value::Array(vec![]), &true.into())
    );
    assert!(report["iterations"].is_u64());
}

#[test]
fn a_report_in_json_becomes_a_page() {
    let folder = tempfile::tempdir().unwrap();
    let run = [
        "run",
        "gen:rmat:10:8",
        "--analysis",
        "bfs",
        "--source",
        "1",
        "--backend",
        "cpu",
        "--explain",
        "--json",
    ];
    let report = finish(&mut seawall(&run)).stdout;
    std::fs::write(folder.path().join("run.json"), &report).unwrap();
    let page = folder.path().join("run.html");
    let made = ["report", "run.json", "--out", "run.html"];
    let done = finish(seawall(&made).current_dir(&folder));
    assert_eq!(
        (done.code, done.stdout.as_str(), done.stderr.as_str()),
        (0, "", "")
    );
    let page = std::fs::read_to_string(page).unwrap();
    for part in [
        "Breadth-first search of 1,024 nodes",
        "<h2>Plan</h2>",
        "fill levels",
        "checksum",
    ] {
        assert!(page.contains(part), "{part}");
    }
    let piped = finish(seawall(&["report", "-"]).write_stdin(report));
    assert_eq!(piped.stdout, page);
    let wrong = finish(seawall(&["report", "-"]).write_stdin("{\"analysis\": \"bfs\"}"));
    wrong.refused(&["-: a report without times", "--json"]);
    finish(&mut seawall(&["report", "missing.json"])).refused(&["missing.json: cannot read"]);
    let over = ["report", "run.json", "--out", "run.json"];
    finish(seawall(&over).current_dir(&folder)).refused(&["run.json"]);
}
