use super::{Finished, finish, seawall};
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
