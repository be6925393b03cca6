//! Findings in SARIF 2.1.0, the form that code hosts and editors show.
//!
//! A binary has no lines, so a place is a byte offset of the file (`byteOffset`) and a logical
//! location, the function's name. Places in text have lines.

use crate::finding::{Finding, FindingKind, Place};
use serde_json::{Value, json};

/// The findings as one SARIF log.
#[must_use]
pub fn log(findings: &[Finding]) -> Value {
    let rules: Vec<Value> = FindingKind::ALL
        .iter()
        .map(|kind| {
            json!({
                "id": kind.name(),
                "shortDescription": { "text": kind.summary() },
                "defaultConfiguration": { "level": level(*kind) },
            })
        })
        .collect();
    let results: Vec<Value> = findings.iter().map(result).collect();
    json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": {
                "name": "seawall",
                "version": env!("CARGO_PKG_VERSION"),
                "rules": rules,
            }},
            "results": results,
        }],
    })
}

const fn level(kind: FindingKind) -> &'static str {
    if kind.is_warning() { "warning" } else { "note" }
}

fn result(finding: &Finding) -> Value {
    let mut result = json!({
        "ruleId": finding.kind.name(),
        "level": level(finding.kind),
        "message": { "text": finding.message },
        "locations": [location(&finding.place)],
    });
    if !finding.witness.is_empty() {
        let steps: Vec<Value> = finding
            .witness
            .iter()
            .map(|step| {
                let mut location = location(&step.place);
                location["message"] = json!({ "text": step.what });
                json!({ "location": location })
            })
            .collect();
        result["codeFlows"] = json!([{ "threadFlows": [{ "locations": steps }] }]);
    }
    result
}

fn location(place: &Place) -> Value {
    let mut physical = json!({ "artifactLocation": { "uri": uri(&place.file) } });
    if let Some(offset) = place.offset {
        physical["region"] = if place.is_line {
            json!({ "startLine": offset.max(1) })
        } else {
            json!({ "byteOffset": offset, "byteLength": 1 })
        };
    }
    json!({
        "physicalLocation": physical,
        "logicalLocations": [{ "name": place.function, "kind": "function" }],
    })
}

/// A path as a relative reference: characters that have a meaning in a URI are escaped.
fn uri(path: &str) -> String {
    let mut uri = String::with_capacity(path.len());
    for byte in path.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'.' | b'-' | b'_' | b'~' | b'@' => {
                uri.push(byte as char);
            }
            b'\\' => uri.push('/'),
            _ => uri.push_str(&format!("%{byte:02X}")),
        }
    }
    uri
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_finding_has_its_rule_place_and_flow() {
        let place = |offset| Place {
            file: "a b/x.wasm".to_owned(),
            function: "main".to_owned(),
            index: 3,
            offset,
            is_line: false,
        };
        let finding = Finding {
            kind: FindingKind::Taint,
            place: place(Some(16)),
            message: "env.in reaches env.out".to_owned(),
            witness: vec![crate::finding::Step {
                place: place(None),
                what: "begins".to_owned(),
            }],
        };
        let log = log(&[finding]);
        let result = &log["runs"][0]["results"][0];
        assert_eq!(result["ruleId"], "taint");
        let location = &result["locations"][0];
        assert_eq!(location["physicalLocation"]["region"]["byteOffset"], 16);
        let uri = &location["physicalLocation"]["artifactLocation"]["uri"];
        assert_eq!(uri, "a%20b/x.wasm");
        let flow = &result["codeFlows"][0]["threadFlows"][0]["locations"];
        assert_eq!(flow[0]["location"]["message"]["text"], "begins");
        let rules = log["runs"][0]["tool"]["driver"]["rules"].as_array();
        assert_eq!(rules.map(Vec::len), Some(FindingKind::ALL.len()));
    }
}
