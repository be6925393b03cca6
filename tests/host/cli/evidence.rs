use super::{Finished, Fixture, finish, seawall};
use serde_json::Value;

const HEADER: &str = "backend_id,device_ordinal,device_memory_bytes,compute_capability_major,\
compute_capability_minor,graph_nodes,graph_edges,repetitions,host_orchestrated_ns,\
resident_megakernel_ns,setup_ns,timed_graph_uploads,timed_host_allocations,timed_host_syncs";

fn sample(host_ns: u32) -> String {
    format!("cuda,0,150754820096,9,0,262144,1046528,64,{host_ns}.0,1000000.0,500.0,0,0,0")
}

fn verify(rows: &[String], arguments: &[&str]) -> Finished {
    let text = format!("{HEADER}\n{}\n", rows.join("\n"));
    finish(
        seawall(&["evidence", "verify", "-"])
            .args(arguments)
            .write_stdin(text),
    )
}

#[test]
fn samples_above_the_threshold_are_a_proof() {
    let rows = [sample(3_000_000), sample(4_000_000)];
    let proof = verify(&rows, &["--required-speedup", "3.0", "--json"]).json();
    assert_eq!(proof["min_speedup_x"], 3.0);
    assert_eq!(proof["max_speedup_x"], 4.0);
    assert_eq!(proof["sample_count"], 2);
    assert_eq!(proof["total_repetitions"], 128);
    let text = verify(&rows, &["--required-speedup", "3.0"]);
    assert!(
        text.stdout.starts_with("accepted: 2 samples\n"),
        "{}",
        text.stdout
    );
}

#[test]
fn weak_samples_fail_for_scripts_and_people() {
    let weak = verify(
        &[sample(3_000_000), sample(2_000_000)],
        &["--required-speedup", "2.5", "--json"],
    );
    assert_eq!(weak.code, 1);
    weak.complains(&["-: "]);
    let error: Value = serde_json::from_str(&weak.stdout).unwrap();
    assert_eq!(error["error"]["kind"], "speedup_below_threshold");
    assert_eq!(error["error"]["index"], 1);
}

#[test]
fn one_sample_is_too_few_however_often_it_is_repeated() {
    let same = sample(3_000_000);
    assert_eq!(
        verify(&[same.clone(), same], &["--required-speedup", "2"]).code,
        1
    );
}

#[test]
fn a_damaged_file_and_an_invalid_threshold_are_bad_input() {
    let good = [sample(3_000_000), sample(4_000_000)];
    for threshold in ["0", "nan", "inf"] {
        verify(&good, &["--required-speedup", threshold]).refused(&[]);
    }
    verify(&["cuda,1,2".to_owned()], &["--required-speedup", "2"]).refused(&["2"]);
    finish(
        seawall(&["evidence", "verify", "-", "--required-speedup", "2"]).write_stdin("nonsense"),
    )
    .refused(&["-: "]);
    finish(&mut seawall(&[
        "evidence",
        "verify",
        "no-such-file",
        "--required-speedup",
        "2",
    ]))
    .refused(&["no-such-file: cannot read"]);
    finish(
        seawall(&["evidence", "verify", "-", "--required-speedup", "2"])
            .write_stdin(&b"\xff\xfe"[..]),
    )
    .refused(&["-: cannot read"]);
}

/// Records `graphs` on the CPU into a file; returns its path, the folder and the report.
fn record(graphs: &[&str], arguments: &[&str]) -> (tempfile::TempDir, String, Finished) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("speedups.csv");
    let file = file.to_str().unwrap().to_owned();
    let finished = finish(
        seawall(&["evidence", "record", "--backend", "cpu", "--out", &file])
            .args(graphs)
            .args(arguments),
    );
    (folder, file, finished)
}

#[test]
fn recorded_samples_hold_measured_times_and_counters() {
    let graphs = ["gen:grid:8", "gen:chain:40"];
    let (_folder, file, finished) = record(&graphs, &["--repetitions", "3", "--json"]);
    let samples = finished.json()["samples"].clone();
    let rows = std::fs::read_to_string(&file).unwrap();
    let rows: Vec<Vec<&str>> = rows.lines().map(|row| row.split(',').collect()).collect();
    assert_eq!((rows.len(), rows[0].join(",")), (3, HEADER.to_owned()));
    for (at, graph) in graphs.iter().enumerate() {
        let (row, sample) = (&rows[at + 1], &samples[at]);
        assert_eq!(
            (row[0], row[7], &sample["graph"]),
            ("cpu", "3", &Value::from(*graph))
        );
        let [host, resident] = ["host_ns", "resident_ns"].map(|key| sample[key].as_u64().unwrap());
        assert!(host > 0 && resident > 0);
        assert_eq!(
            (row[8], row[9]),
            (&*host.to_string(), &*resident.to_string())
        );
        assert_eq!(sample["reuse"], sample["planned_reuse"]);
        assert_eq!(sample["reuse"]["warm_reuses"], 2);
        // Threads take shared memory for each run, which the allocator of the program counts.
        assert!(sample["allocations"].as_u64().unwrap() >= 3, "{sample}");
        assert_eq!(
            row[13 - 2..],
            ["0", &sample["allocations"].to_string(), "0"]
        );
    }
}

#[test]
fn samples_of_a_cpu_prove_nothing() {
    let (_folder, file, finished) = record(&["gen:grid:8"], &["--repetitions", "1"]);
    assert_eq!(finished.code, 0, "{}", finished.stderr);
    assert!(
        finished.stdout.contains("The gate requires 64 pairs.\n")
            && finished
                .stdout
                .contains("The gate requires samples of two graphs.\n"),
        "{}",
        finished.stdout
    );
    let judged = finish(&mut seawall(&[
        "evidence",
        "verify",
        &file,
        "--required-speedup",
        "1",
        "--json",
    ]));
    let refusal: Value = serde_json::from_str(&judged.stdout).unwrap();
    let (kind, field) = (&refusal["error"]["kind"], &refusal["error"]["field"]);
    assert_eq!(
        (judged.code, kind.as_str(), field.as_str()),
        (2, Some("invalid_evidence_value"), Some("backend_id"))
    );
}

#[test]
fn what_cannot_be_recorded_writes_no_file() {
    for (graph, against) in [("gen:grid:8", "launches"), ("gen:grid:8", "graph")] {
        let (_folder, file, finished) = record(&[graph], &["--against", against]);
        finished.refused(&[graph, "the CPU has no"]);
        assert!(!std::path::Path::new(&file).exists());
    }
    // Another executor would count as the resident kernel.
    for backend in ["launches", "graph"] {
        let out = Fixture::new("speedups.csv", b"old");
        let start = ["evidence", "record", "gen:grid:8", "--backend", backend];
        let finished = finish(seawall(&start).args(["--out", out.path()]));
        finished.refused(&["gen:grid:8", backend, "not a resident kernel"]);
        assert_eq!(std::fs::read(out.path()).unwrap(), b"old");
    }
    let (_folder, file, finished) = record(&["no-such-file"], &[]);
    finished.refused(&["no-such-file"]);
    assert!(!std::path::Path::new(&file).exists());
    let missing = Fixture::new("speedups.csv", b"old");
    let absent = [
        "evidence",
        "record",
        "--device",
        "4000000000",
        "gen:grid:8",
        "--out",
    ];
    let finished = finish(seawall(&absent).arg(missing.path()));
    assert_eq!(finished.code, 1, "{}", finished.stderr);
    finished.complains(&["gen:grid:8", "no usable CUDA device"]);
    assert_eq!(std::fs::read(missing.path()).unwrap(), b"old");
    let looped = [
        "evidence",
        "record",
        missing.path(),
        "--out",
        missing.path(),
    ];
    finish(&mut seawall(&looped)).refused(&["is the file that"]);
}
