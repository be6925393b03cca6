//! `seawall analyze`: what calls through a table reach, by type and by points-to.

use super::{Fixture, finish, seawall};
use serde_json::Value;

/// Functions 0 and 1 are in the table, and the export `run` calls its entry 1.
const MODULE: &[u8] = b"\0asm\x01\0\0\0\
    \x01\x04\x01\x60\0\0\
    \x03\x04\x03\0\0\0\
    \x04\x04\x01\x70\0\x02\
    \x07\x07\x01\x03run\0\x02\
    \x09\x08\x01\0\x41\0\x0b\x02\0\x01\
    \x0a\x0f\x03\x02\0\x0b\x02\0\x0b\x07\0\x41\x01\x11\0\0\x0b";

fn findings(more: &[&str]) -> Vec<(String, String)> {
    let module = Fixture::new("module.wasm", MODULE);
    let done = finish(seawall(&["analyze", module.path(), "--json"]).args(more));
    assert_eq!((done.code, done.stderr.as_str()), (0, ""));
    let report: Value = serde_json::from_str(&done.stdout).unwrap();
    let findings = report["findings"].as_array().unwrap().iter();
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    findings
        .map(|finding| (text(&finding["kind"]), text(&finding["message"])))
        .collect()
}

#[test]
fn a_constant_chooses_the_function_that_is_called() {
    let found = findings(&["--analysis", "points-to"]);
    let [(kind, message)] = found.as_slice() else {
        panic!("{found:?}");
    };
    assert_eq!(kind, "resolved-call");
    assert!(message.contains("function 1"), "{message}");
    assert!(!message.contains("function 0"), "{message}");
}

#[test]
fn calls_that_are_resolved_leave_functions_unreachable() {
    let by_type = findings(&["--analysis", "calls"]);
    assert!(by_type.is_empty(), "{by_type:?}");
    let resolved = findings(&["--analysis", "calls", "--resolve", "points-to"]);
    let kinds: Vec<&str> = resolved.iter().map(|(kind, _)| kind.as_str()).collect();
    assert_eq!(kinds, ["unreachable-function"], "{resolved:?}");
}
