//! Specifications of generators: one that parses builds the graph that it names.
#![no_main]

use libfuzzer_sys::fuzz_target;
use seawall::graph::{LoadOptions, batch, load};
use seawall_fuzz::graph::{OPTIONS, check};
use seawall_fuzz::{limit, pool};

fuzz_target!(|bytes: &[u8]| {
    let Ok(text) = std::str::from_utf8(bytes) else {
        return;
    };
    pool::start();
    limit::allow(64 << 20, "a batch may have 2^20 names");
    let spec = format!("gen:{text}");
    if let Some(Ok(names)) = batch(&spec) {
        check_names(text, &names);
        return;
    }
    match plain(text) {
        Some((nodes, edges)) if nodes <= 1 << 10 && edges <= 1 << 14 => {
            // A generator takes no format.
            for options in OPTIONS.iter().filter(|options| options.format.is_none()) {
                let graph = build(&spec, options);
                assert_eq!(u64::from(graph.nodes()), nodes, "{spec}");
                assert!(u64::from(graph.edges()) <= 2 * edges, "{spec}");
            }
        }
        Some(_) => {}
        None => {
            let error = load(&spec, &LoadOptions::default(), None).expect_err("no generator");
            assert!(error.to_string().contains(&spec), "{error}");
        }
    }
});

fn build(spec: &str, options: &LoadOptions) -> seawall::graph::Graph {
    let graph = load(spec, options, None).expect("a small graph").graph;
    check(&graph, options);
    graph
}

/// `batch:COUNT:SHAPE` has COUNT names, all different, none a batch.
fn check_names(text: &str, names: &[String]) {
    let count = text.split(':').nth(1).and_then(|count| count.parse().ok());
    assert_eq!(Some(names.len()), count, "{text}");
    let last = names.last().expect("at least one");
    assert!(names.len() == 1 || names[0] != *last, "{text}");
    assert!(batch(last).is_none(), "{last}");
}

/// A whole number from `least` to `most` in digits.
fn number(field: &str, least: u64, most: u64) -> Option<u64> {
    let is_plain = field.bytes().all(|byte| byte.is_ascii_digit());
    let value = field.parse().ok().filter(|_| is_plain)?;
    (least..=most).contains(&value).then_some(value)
}

/// Nodes, and an upper bound of undirected edges, of a specification without its `gen:`.
fn plain(text: &str) -> Option<(u64, u64)> {
    let fields: Vec<&str> = text.split(':').collect();
    let seed = |at: usize| {
        fields
            .get(at)
            .is_none_or(|seed| number(seed, 0, u64::MAX).is_some())
    };
    match *fields.as_slice() {
        ["rmat" | "rmat-directed" | "uniform", scale, factor, ..]
            if fields.len() <= 4 && seed(3) =>
        {
            let nodes = 1_u64 << number(scale, 0, 31)?;
            Some((nodes, nodes * number(factor, 0, 1 << 16)?))
        }
        ["chain", nodes, ..] if fields.len() <= 3 && seed(2) => {
            let nodes = number(nodes, 1, 1 << 31)?;
            Some((nodes, 2 * nodes))
        }
        ["grid", sides] => {
            let (width, height) = sides.split_once('x').unwrap_or((sides, sides));
            let [width, height] = [number(width, 1, 1 << 30)?, number(height, 1, 1 << 30)?];
            let nodes = width * height;
            (nodes <= 1 << 31).then_some((nodes, 2 * nodes))
        }
        _ => None,
    }
}
