//! Compares an outcome with the fields that a vector lists.

use serde_json::Value;

/// Comparison of two floats.
#[derive(Clone, Copy)]
pub(super) enum Tolerance {
    /// Equal.
    Exact,
    /// Equal up to a relative difference; exactly for 0.
    Relative(f64),
}

impl Tolerance {
    fn accepts(self, expected: f64, got: f64) -> bool {
        match self {
            _ if expected == got => true,
            Self::Exact => false,
            Self::Relative(share) => {
                let larger = expected.abs().max(got.abs());
                expected != 0.0 && (expected - got).abs() <= share * larger
            }
        }
    }
}

/// Returns the first difference of `got` from `expected`, `None` if every listed field is equal.
///
/// Fields that the vector does not list are free; lists must agree in length.
pub(super) fn mismatch(expected: &Value, got: &Value, tolerance: Tolerance) -> Option<String> {
    match (expected, got) {
        (Value::Object(expected), Value::Object(got)) => {
            expected.iter().find_map(|(key, value)| match got.get(key) {
                Some(got) => mismatch(value, got, tolerance).map(|rest| join(key, &rest)),
                None => Some(key.clone()),
            })
        }
        (Value::Array(expected), Value::Array(got)) if expected.len() == got.len() => {
            let mut pairs = expected.iter().zip(got).enumerate();
            pairs.find_map(|(index, (expected, got))| {
                mismatch(expected, got, tolerance).map(|rest| join(&index.to_string(), &rest))
            })
        }
        (Value::Number(a), Value::Number(b)) if a.is_f64() && b.is_f64() => {
            let (a, b) = (a.as_f64().unwrap(), b.as_f64().unwrap());
            (!tolerance.accepts(a, b)).then(String::new)
        }
        _ => (expected != got).then(String::new),
    }
}

fn join(head: &str, rest: &str) -> String {
    if rest.is_empty() {
        head.to_owned()
    } else {
        format!("{head}.{rest}")
    }
}

#[test]
fn differences_are_found_where_they_are() {
    let check = |expected: &str, got: &str| {
        let parse = |text| serde_json::from_str::<Value>(text).unwrap();
        mismatch(&parse(expected), &parse(got), Tolerance::Exact)
    };
    assert_eq!(check(r#"{"a":1}"#, r#"{"a":1,"b":2}"#), None);
    assert_eq!(check(r#"{"a":1}"#, r#"{"b":2}"#), Some("a".into()));
    assert_eq!(
        check(r#"{"a":[1,2]}"#, r#"{"a":[1,3]}"#),
        Some("a.1".into())
    );
    assert_eq!(check("[1]", "[1,1]"), Some(String::new()));
    assert_eq!(check("1", "1.0"), Some(String::new()));
    assert_eq!(
        check("18446744073709551615", "18446744073709551614"),
        Some(String::new())
    );
    assert_eq!(check("0.1", "0.10000000000000002"), Some(String::new()));
}

#[test]
fn a_tolerance_is_relative_and_exact_at_zero() {
    let relative = Tolerance::Relative(1e-12);
    assert!(relative.accepts(1e20, 1e20 * (1.0 + 1e-13)));
    assert!(!relative.accepts(1e20, 1e20 * (1.0 + 1e-11)));
    assert!(!relative.accepts(0.0, 1e-300));
}
