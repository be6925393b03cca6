//! All conformance vectors, through the public interface of the planner.
//!
//! The folder is `shared/vectors` beside the workspace; `SEAWALL_VECTORS=DIR` selects another one.
//! Without the default folder the tests print a reason and pass, since a plain checkout has none.
//! A requested folder must exist, and an unknown file fails: vectors that are silently skipped
//! prove nothing. Expected outcomes come only from the files.

mod compare;
mod dag;
mod evidence;
mod launch;
mod planning;
mod read;
mod tuning;

use compare::{Tolerance, mismatch};
use serde_json::Value;
use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

/// The result of a vector's function: the fields of `ok` or of `err`.
type Outcome = Result<Value, Value>;

/// One file of vectors: its stem, the function of a line, and the comparison of floats.
struct Suite {
    name: &'static str,
    run: fn(Value) -> Outcome,
    tolerance: Tolerance,
}

const fn suite(name: &'static str, run: fn(Value) -> Outcome) -> Suite {
    let tolerance = Tolerance::Exact;
    Suite {
        name,
        run,
        tolerance,
    }
}

const BARRIERS: Suite = suite("barriers", dag::barriers);
const FRONTIER_MEMORY: Suite = suite("frontier_memory", dag::frontier_memory);
const TOPOLOGY: Suite = suite("topology", planning::topology);
const EXECUTION: Suite = suite("execution", planning::execution);
const LAUNCH_POLICY: Suite = suite("launch_policy", launch::launch_policy);
const RESIDENT_SESSION: Suite = suite("resident_session", planning::resident_session);
const CONVERGENCE: Suite = suite("convergence", planning::convergence);
const SPEEDUP_GATE: Suite = suite("speedup_gate", evidence::gate);
const SPEEDUP_CSV: Suite = suite("speedup_csv", evidence::csv);
const DECAY: Suite = Suite {
    tolerance: Tolerance::Relative(1e-12),
    ..suite("decay", tuning::decay)
};
const AUTOTUNE: Suite = Suite {
    tolerance: Tolerance::Relative(1e-12),
    ..suite("autotune", tuning::autotune)
};

const SUITES: [Suite; 11] = [
    BARRIERS,
    FRONTIER_MEMORY,
    TOPOLOGY,
    EXECUTION,
    LAUNCH_POLICY,
    RESIDENT_SESSION,
    CONVERGENCE,
    SPEEDUP_GATE,
    SPEEDUP_CSV,
    DECAY,
    AUTOTUNE,
];

/// Returns the folder of vectors, or `None` with a printed reason.
pub(crate) fn folder() -> Option<PathBuf> {
    if let Some(asked_for) = std::env::var_os("SEAWALL_VECTORS") {
        // Tests run in the package's folder, but a typed path is relative to the workspace.
        let folder = workspace().join(asked_for);
        assert!(
            folder.is_dir(),
            "SEAWALL_VECTORS: {} is no folder",
            folder.display()
        );
        return Some(folder);
    }
    let folder = workspace().join("../shared/vectors");
    if folder.is_dir() {
        return Some(folder);
    }
    println!(
        "skipped: there is no {}; set SEAWALL_VECTORS=DIR",
        folder.display()
    );
    None
}

fn workspace() -> PathBuf {
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    package.parent().unwrap_or(package).to_path_buf()
}

/// Runs a suite's file and fails with all of its mismatches.
fn check(suite: &Suite) {
    let Some(folder) = folder() else { return };
    let path = folder.join(format!("{}.jsonl", suite.name));
    if !path.exists() {
        // `the_folder_holds_known_files_only` refuses folders that lack files without need.
        println!("skipped: there is no {}", path.display());
        return;
    }
    let text = fs::read_to_string(&path).unwrap();
    let lines: Vec<&str> = text
        .lines()
        .filter(|line| !line.trim().is_empty())
        .collect();
    assert!(!lines.is_empty(), "{} holds no vector", path.display());
    let failures: Vec<String> = lines
        .iter()
        .filter_map(|line| check_line(suite, line))
        .collect();
    assert!(
        failures.is_empty(),
        "{} of {} vectors of {} differ:\n{}",
        failures.len(),
        lines.len(),
        suite.name,
        failures.join("\n")
    );
    println!("{} vectors of {} hold", lines.len(), suite.name);
}

/// Returns the difference of one line as text, `None` if there is none.
fn check_line(suite: &Suite, line: &str) -> Option<String> {
    let vector: Value = match serde_json::from_str(line) {
        Ok(vector) => vector,
        Err(error) => return Some(format!("  unreadable line: {error}: {line}")),
    };
    let expected = match (vector.get("ok"), vector.get("err")) {
        (Some(ok), None) => Ok(ok),
        (None, Some(err)) => Err(err),
        _ => return Some(format!("  neither ok nor err: {line}")),
    };
    let input = vector.get("in").cloned().unwrap_or_default();
    let difference = match catch_unwind(AssertUnwindSafe(|| (suite.run)(input))) {
        Ok(got) => difference(expected, &got, suite.tolerance),
        Err(_) => Some("panicked".to_owned()),
    }?;
    let id = vector.get("id").and_then(Value::as_str).unwrap_or("?");
    Some(format!("  {id}: {difference}\n    in: {}", vector["in"]))
}

fn difference(
    expected: Result<&Value, &Value>,
    got: &Outcome,
    tolerance: Tolerance,
) -> Option<String> {
    let at = match (expected, got) {
        (Ok(expected), Ok(got)) | (Err(expected), Err(got)) => mismatch(expected, got, tolerance)?,
        _ => "outcome".to_owned(),
    };
    Some(format!(
        "{at} differs\n    expected: {expected:?}\n    got:      {got:?}"
    ))
}

#[test]
fn the_folder_holds_known_files_only() {
    let Some(folder) = folder() else { return };
    let known: Vec<String> = SUITES
        .iter()
        .map(|suite| format!("{}.jsonl", suite.name))
        .collect();
    let mut unknown = Vec::new();
    let mut found = 0;
    for entry in fs::read_dir(&folder).unwrap() {
        let name = entry.unwrap().file_name().to_string_lossy().into_owned();
        if known.contains(&name) {
            found += 1;
        } else if name != "README.md" {
            unknown.push(name);
        }
    }
    assert!(
        unknown.is_empty(),
        "nobody runs {unknown:?} of {}",
        folder.display()
    );
    assert!(found > 0, "{} holds no vectors", folder.display());
    if std::env::var_os("SEAWALL_VECTORS").is_none() {
        assert_eq!(found, known.len(), "{} lacks files", folder.display());
    }
}

#[test]
fn a_wrong_outcome_is_reported() {
    let line = r#"{"id":"x","in":{"max_device_iterations":1,"changed_flag_bytes":4,
        "requested_host_iteration_polls":0},"ok":{"host_sync_points":2}}"#;
    let report = check_line(&CONVERGENCE, line).unwrap();
    assert!(report.contains("x: host_sync_points differs"), "{report}");
    let right = line.replace("points\":2", "points\":1");
    assert_eq!(check_line(&CONVERGENCE, &right), None);
    let wrong_side = line.replace("\"ok\"", "\"err\"");
    assert!(check_line(&CONVERGENCE, &wrong_side).is_some());
}

#[test]
fn barriers() {
    check(&BARRIERS);
}

#[test]
fn frontier_memory() {
    check(&FRONTIER_MEMORY);
}

#[test]
fn topology() {
    check(&TOPOLOGY);
}

#[test]
fn execution() {
    check(&EXECUTION);
}

#[test]
fn launch_policy() {
    check(&LAUNCH_POLICY);
}

#[test]
fn resident_session() {
    check(&RESIDENT_SESSION);
}

#[test]
fn convergence() {
    check(&CONVERGENCE);
}

#[test]
fn speedup_gate() {
    check(&SPEEDUP_GATE);
}

#[test]
fn speedup_csv() {
    check(&SPEEDUP_CSV);
}

#[test]
fn decay() {
    check(&DECAY);
}

#[test]
fn autotune() {
    check(&AUTOTUNE);
}
