//! `--explain`: the groups of a run, as planned, predicted and measured.

use super::{finish, seawall};
use serde_json::Value;

fn report(graph: &str, analysis: &str, more: &[&str]) -> Value {
    let run = [
        "run",
        graph,
        "--analysis",
        analysis,
        "--backend",
        "cpu",
        "--threads",
        "2",
        "--explain",
        "--json",
    ];
    let run: Vec<&str> = run.iter().chain(more).copied().collect();
    finish(&mut seawall(&run)).json()
}

#[test]
fn each_group_has_its_waves_bytes_reason_and_both_times() {
    let source = ["--source", "0"];
    for (analysis, more) in [
        ("bfs", &source[..]),
        ("sssp", &source),
        ("cc", &[]),
        ("scc", &[]),
        ("pagerank", &[]),
        ("triangles", &[]),
    ] {
        let report = report("gen:rmat:9:8", analysis, more);
        let groups = report["explain"]["groups"].as_array().unwrap();
        let is_top = |group: &&Value| group["body_of"].is_null();
        let top: Vec<_> = groups.iter().filter(is_top).collect();
        assert_eq!(top.len() as u64, report["plan"]["groups"], "{analysis}");
        let bytes = top.iter().map(|group| group["bytes"].as_u64().unwrap());
        assert_eq!(bytes.max().unwrap(), report["plan"]["peak_group_bytes"]);
        let mut measured = 0;
        for group in groups {
            assert!(!group["waves"].as_array().unwrap().is_empty(), "{group}");
            assert!(!group["topology"].as_str().unwrap().is_empty(), "{group}");
            assert!(!group["reason"].as_str().unwrap().is_empty(), "{group}");
            let with = group["measured_with"].is_u64();
            assert!(with || group["measured_ns"].is_u64() || group["runs"].is_null());
        }
        for group in top {
            assert!(group["predicted_ns"].is_u64(), "{group}");
            assert!(group["runs"] == 1, "{group}");
            measured += group["measured_ns"].as_u64().unwrap_or(0);
        }
        let run = report["time_ns"]["run"].as_u64().unwrap();
        assert!(0 < measured && measured <= run, "{measured} of {run}");
    }
}

#[test]
fn bodies_are_counted_by_iteration() {
    let report = report("gen:grid:20", "pagerank", &[]);
    let groups = report["explain"]["groups"].as_array().unwrap();
    let bodies = groups.iter().filter(|group| group["body_of"] == "rank");
    let runs: Vec<_> = bodies.map(|group| &group["runs"]).collect();
    assert!(!runs.is_empty());
    assert!(runs.iter().all(|runs| **runs == report["iterations"]));
}

#[test]
fn a_tight_budget_makes_a_search_sparse_and_the_reason_says_so() {
    let source = ["--source", "0", "--undirected"];
    let free = report("gen:rmat:13:16", "bfs", &source);
    let reasons = |report: &Value| -> Vec<String> {
        let steps = report["explain"]["steps"].as_array().unwrap();
        let reason = |step: &Value| step["reason"].as_str().unwrap().to_owned();
        steps.iter().map(reason).collect()
    };
    let rule = "memory_pressure_sparse_safety".to_owned();
    assert!(!reasons(&free).contains(&rule));
    let needed = free["memory"]["predicted_bytes"].as_u64().unwrap() + 1024;
    let needed = needed.to_string();
    let tight = [&source[..], &["--budget", &needed]].concat();
    let tight = report("gen:rmat:13:16", "bfs", &tight);
    assert!(reasons(&tight).contains(&rule), "{:?}", reasons(&tight));
    assert_eq!(tight["checksum"], free["checksum"]);
}

#[test]
fn text_has_a_line_for_each_group_and_json_without_explain_has_none() {
    let run = [
        "run",
        "gen:grid:30",
        "--analysis",
        "bfs",
        "--source",
        "0",
        "--backend",
        "cpu",
    ];
    let plain = finish(&mut seawall(&[&run[..], &["--json"]].concat())).json();
    assert!(plain.get("explain").is_none());
    let text = finish(&mut seawall(&[&run[..], &["--explain"]].concat()));
    assert_eq!(text.code, 0);
    for part in ["predicted", "measured", "narrow_frontier", "iterations"] {
        assert!(
            text.stdout.contains(part),
            "{part:?} is not in\n{}",
            text.stdout
        );
    }
    let batch = |more: &[&str]| finish(seawall(&run).arg("gen:grid:4").args(more));
    batch(&["--explain", "--json"]).refused(&["--explain"]);
    let (short, long) = (batch(&[]), batch(&["--explain"]));
    assert_eq!((short.code, long.code), (0, 0));
    for part in ["workers", "memory", "checksum", "rounds"] {
        assert!(
            long.stdout.contains(&format!("  {part}")),
            "{}",
            long.stdout
        );
        assert!(
            !short.stdout.contains(&format!("  {part}")),
            "{}",
            short.stdout
        );
    }
    assert!(short.stdout.contains("with loading and all else"));
}

#[test]
fn plans_are_counted_and_a_run_without_the_cache_has_the_same_checksum() {
    let run = |more: &[&str]| {
        let run = [
            "run",
            "gen:grid:30",
            "--analysis",
            "bfs",
            "--source",
            "0",
            "--json",
        ];
        finish(&mut seawall(&[&run[..], more].concat())).json()
    };
    let (with, without) = (run(&["--repeat", "3"]), run(&["--no-plan-cache"]));
    assert_eq!(with["checksum"], without["checksum"]);
    assert_eq!(
        (
            &with["plan_cache"]["encodes"],
            &with["plan_cache"]["misses"]
        ),
        (&1.into(), &1.into())
    );
    assert_eq!(without["plan_cache"]["misses"], 0);
    let batch = |more: &[&str]| {
        let run = [
            "run",
            "gen:batch:50:chain:64",
            "--analysis",
            "bfs",
            "--source",
            "0",
            "--json",
        ];
        finish(&mut seawall(&[&run[..], more].concat())).json()
    };
    let (with, without) = (batch(&[]), batch(&["--no-plan-cache"]));
    assert_eq!(with["checksum"], without["checksum"]);
    assert_eq!(with["plan_cache"]["encodes"], with["programs"]);
    assert_eq!(without["plan_cache"]["encodes"], 50);
}

#[test]
fn a_program_as_text_has_times_of_its_groups_and_a_trace() {
    let folder = tempfile::tempdir().unwrap();
    let trace = folder.path().join("trace.json");
    let program = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../examples/programs/components.json"
    );
    let mut arguments = vec!["run", "gen:rmat:9:8", "--program", program, "--explain"];
    arguments.extend(["--repeat", "2", "--trace", trace.to_str().unwrap()]);
    let text = finish(&mut seawall(&arguments)).stdout;
    assert!(text.contains("look around (body of spread)"), "{text}");
    assert!(text.contains("median of 2, the first "), "{text}");
    arguments.push("--json");
    let report = finish(&mut seawall(&arguments)).json();
    // Of two runs the median is the longer one.
    let time = |name: &str| report["time_ns"][name].as_u64().unwrap();
    assert!(0 < time("first_run") && time("first_run") <= time("run"));
    let groups = report["explain"]["groups"].as_array().unwrap();
    let body = groups.iter().find(|group| group["body_of"] == "spread");
    let iterations = &report["loops"][0]["iterations"];
    assert_eq!(&body.unwrap()["runs"], iterations, "{report}");
    let loops = groups.iter().filter(|group| group["body_of"].is_null());
    assert!(
        loops.clone().any(|group| group["measured_ns"].is_u64()),
        "{report}"
    );
    assert!(loops.clone().all(|group| group["predicted_ns"].is_null()));
    let events: Value = serde_json::from_slice(&std::fs::read(&trace).unwrap()).unwrap();
    let events = events["traceEvents"].as_array().unwrap();
    let named = |end: &str| {
        let names = events.iter().filter_map(|event| event["name"].as_str());
        names.filter(|name| name.ends_with(end)).count()
    };
    assert_eq!((named("run 2"), named("run 3")), (1, 0));
    assert_eq!(named("look around"), 1);
}
