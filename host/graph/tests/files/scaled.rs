//! Scaling multiplies the number as written.

use proptest::prelude::*;
use seawall_graph::{GraphError, LineProblem, LoadOptions, WeightChoice};

use super::load_as;

fn scaled(factor: f64) -> LoadOptions {
    LoadOptions {
        weights: WeightChoice::Scaled(factor),
        ..LoadOptions::default()
    }
}

/// The weights and the counts of rounded and vanished ones.
fn weights(name: &str, text: &str, factor: f64) -> (Vec<u32>, [u64; 2]) {
    let loaded = load_as(name, text.as_bytes(), &scaled(factor));
    let loaded = loaded.unwrap_or_else(|error| panic!("{text:?}: {error}"));
    let scale = loaded.stats.scale.unwrap();
    (
        loaded.graph.weights().unwrap().to_vec(),
        [scale.rounded, scale.vanished],
    )
}

#[test]
fn no_digit_is_lost_in_any_format() {
    let expected = (vec![1_234_567_891], [0, 0]);
    for (name, text) in [
        ("a.el", "0 1 12345678.91\n"),
        ("a.el", "0 1 1234567891e-2\n"),
        ("a.csv", "source,target,weight\n0,1,\"12345678.91\"\n"),
        ("a.el", "ann bob 12345678.91\n"),
        ("a.el", "0 1 {'weight': 12345678.91}\n"),
        ("a.gr", "p sp 2 1\na 1 2 12345678.91\n"),
        ("a.lgl", "# 0\n1 12345678.91\n"),
        (
            "a.mtx",
            "%%MatrixMarket matrix coordinate real general\n2 2 1\n1 2 12345678.91\n",
        ),
        (
            "a.mtx",
            "%%MatrixMarket matrix array real general\n2 2\n0\n0\n12345678.91\n0\n",
        ),
        (
            "a.graphml",
            "<graphml><key id=\"w\" for=\"edge\" attr.name=\"weight\"/><graph edgedefault=\"directed\">\
             <node id=\"a\"/><node id=\"b\"/><edge source=\"a\" target=\"b\">\
             <data key=\"w\">12345678.91</data></edge></graph></graphml>",
        ),
    ] {
        let mut found = weights(name, text, 100.0);
        found.0.dedup();
        assert_eq!(found, expected, "{text:?}");
    }
    let both = weights("a.graph", "2 1 1\n2 12345678.91\n1 12345678.91\n", 100.0);
    assert_eq!(both, (vec![1_234_567_891; 2], [0, 0]));
}

#[test]
fn what_is_lost_is_counted_and_what_is_too_large_named() {
    let text = "0 1 0.25\n0 2 0.04\n0 3 0.35\n0 4 3\n0 5 0\n0 6 16777217\n";
    let found = weights("a.el", text, 10.0);
    assert_eq!(found, (vec![2, 0, 4, 30, 0, 167_772_170], [3, 1]));
    for (text, factor) in [
        ("0 1 2\n0 2 4294967295\n", 1.5),
        ("0 1 1\n1 2 99999999999\n", 1.0),
    ] {
        let error = load_as("a.el", text.as_bytes(), &scaled(factor)).unwrap_err();
        let is_named = matches!(
            &error,
            GraphError::Line {
                line: 2,
                problem: LineProblem::ScaledTooLarge { .. },
                ..
            }
        );
        assert!(is_named, "{error}");
    }
    let large = weights("a.el", "0 1 99999999999\n", 0.001);
    assert_eq!(large, (vec![100_000_000], [1, 0]));
}

proptest! {
    #[test]
    fn products_are_those_of_whole_numbers(
        digits in 0u64..1_000_000_000, places in 0u32..12, factor in 1u64..100_000, down in 0u32..6
    ) {
        let text = format!("0 1 {digits}e-{places}\n");
        let factor_text = format!("{factor}e-{down}");
        let value: f64 = factor_text.parse().unwrap();
        let exact = u128::from(digits) * u128::from(factor);
        let divisor = 10u128.pow(places + down);
        let (whole, rest) = (exact / divisor, exact % divisor);
        let up = 2 * rest > divisor || 2 * rest == divisor && whole % 2 == 1;
        let expected = whole + u128::from(up);
        let loaded = load_as("a.el", text.as_bytes(), &scaled(value));
        match u32::try_from(expected) {
            Ok(expected) => {
                let loaded = loaded.unwrap();
                prop_assert_eq!(loaded.graph.weights(), Some(&[expected][..]));
                let rounded = u64::from(rest > 0);
                prop_assert_eq!(loaded.stats.scale.unwrap().rounded, rounded);
            }
            Err(_) => prop_assert!(loaded.is_err()),
        }
    }
}
