//! All text formats through the reader, recognised by content or by a name that may mislead.
//!
//! An accepted text must be a valid graph. A text that a plain reader understands must have the
//! same edges, and writing and reading must return the same graph.
#![no_main]

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use seawall::graph::{
    Format, Graph, GraphError, LoadOptions, Loaded, WeightChoice, WeightKind, load, save,
};
use seawall_fuzz::graph::{
    OPTIONS, PLAIN_OPTIONS, check_same, chosen, is_compressed, promises_much, read,
};
use seawall_fuzz::plain::Plain;
use seawall_fuzz::pool;

static FOLDER: LazyLock<PathBuf> = LazyLock::new(|| {
    let folder = std::env::temp_dir().join(format!("seawall-fuzz-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("the temporary folder takes a folder");
    folder
});

/// Most edges of a graph that is compared and written.
const COMPARED: u32 = 1 << 12;

fuzz_target!(|bytes: &[u8]| {
    let Some((&choice, text)) = bytes.split_first() else {
        return;
    };
    if promises_much(text) || is_compressed(text) {
        return;
    }
    pool::start();
    let (name, options) = chosen(choice);
    let is_plain = options < PLAIN_OPTIONS;
    let options = &OPTIONS[options];
    let loaded = read(name, text, options);
    let plain = std::str::from_utf8(text).ok().filter(|_| is_plain);
    let plain = plain.and_then(|text| Plain::read(name, text, options.undirected));
    match (&loaded, plain) {
        (Ok(loaded), Some(plain)) => compare(&loaded.graph, &plain, options),
        (Err(error), Some(plain)) => panic!("{error}, but it is plain: {plain:?}"),
        _ => {}
    }
    if let Ok(Loaded { graph, stats }) = loaded {
        assert_ne!(stats.format, Format::Generated);
        if graph.edges() <= COMPARED && graph.nodes() <= COMPARED {
            write_and_read(&graph);
        }
    }
});

/// Panics unless the graph has the edges of the plain one, and its ids.
fn compare(graph: &Graph, plain: &Plain, options: &LoadOptions) {
    let ids: Vec<u64> = (0..graph.nodes())
        .map(|node| graph.original_id(node))
        .collect();
    assert!(plain.nodes.iter().eq(&ids), "{:?} and {ids:?}", plain.nodes);
    let weights = graph.weights();
    assert_eq!(
        weights.is_some(),
        options.weights.are_read() && plain.weighted
    );
    let mut found: BTreeMap<_, Vec<u32>> = BTreeMap::new();
    for from in 0..graph.nodes() {
        for edge in graph.outgoing().row(from) {
            let to = graph.targets()[edge];
            let ends = (ids[from as usize], ids[to as usize]);
            let weight = weights.map_or(1, |weights| weights[edge]);
            found.entry(ends).or_default().push(weight);
        }
    }
    if weights.is_some() {
        assert_eq!(graph.weight_kind(), Some(WeightKind::Integer));
    }
    assert_eq!(found, plain.edges(weights.is_some()));
    let loops = found.iter().filter(|((from, to), _)| from == to);
    let loops: usize = loops.map(|(_, all)| all.len()).sum();
    assert_eq!(graph.loops() as usize, loops);
    let edges = graph.edges() - graph.parallel_edges();
    assert_eq!(edges as usize, found.len());
    assert!(graph.is_symmetric() || !plain.is_symmetric());
}

/// Panics unless a written graph reads back equal.
fn write_and_read(graph: &Graph) {
    let options = LoadOptions {
        undirected: false,
        weights: match graph.weights() {
            Some(_) => WeightChoice::Given,
            None => WeightChoice::Ignored,
        },
        ..LoadOptions::default()
    };
    let through = |name: &str| {
        let path = FOLDER.join(name);
        match save(graph, &path, None) {
            Err(GraphError::Directed { .. } | GraphError::Unwritable { .. }) => return None,
            saved => saved.expect("the temporary folder takes a file"),
        };
        let name = path.to_str().expect("temporary folders have plain names");
        let loaded = load(name, &options, None).expect("what was written is a graph");
        Some(loaded.graph)
    };
    for name in [
        "graph.swg",
        "graph.mtx",
        "graph.gr",
        "graph.npz",
        "graph.egr",
        "graph.bin",
        "graph.graph",
    ] {
        let Some(again) = through(name) else {
            continue;
        };
        if name == "graph.swg" {
            check_same(graph, &again);
        }
        assert!((0..graph.nodes()).all(|node| graph.label_of(node) == again.label_of(node)));
        assert_eq!(again.offsets(), graph.offsets(), "{name}");
        assert_eq!(again.targets(), graph.targets(), "{name}");
        if graph.weight_kind() == Some(WeightKind::Integer) {
            // Without edges, an ECL file does not show whether there are weights.
            let weights = |graph: &Graph| graph.weights().unwrap_or_default().to_vec();
            assert_eq!(weights(&again), weights(graph), "{name}");
        }
    }
}
