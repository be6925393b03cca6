//! Invariants of every graph that a reader returns, for any bytes.

use std::io::Cursor;

use seawall::graph::{
    ColumnChoice, Format, Graph, GraphError, LoadOptions, Loaded, WeightChoice, WeightKind,
    load_reader,
};

const fn asked(undirected: bool, weights: WeightChoice) -> LoadOptions {
    asked_as(undirected, weights, false, None, false)
}

const fn asked_as(
    undirected: bool,
    weights: WeightChoice,
    skip_columns: bool,
    format: Option<Format>,
    names: bool,
) -> LoadOptions {
    LoadOptions {
        undirected,
        weights,
        skip_columns,
        format,
        columns: ColumnChoice::NONE,
        names,
        listed_order: false,
        signed: false,
    }
}

/// The options of reading a file; the first [`PLAIN_OPTIONS`] take its weights or none.
pub const OPTIONS: [LoadOptions; 8] = [
    asked(false, WeightChoice::Ignored),
    asked(false, WeightChoice::Given),
    asked(true, WeightChoice::Ignored),
    asked(true, WeightChoice::Given),
    asked_as(false, WeightChoice::Given, false, None, true),
    asked(false, WeightChoice::Scaled(0.75)),
    asked_as(false, WeightChoice::Given, true, None, false),
    asked_as(
        false,
        WeightChoice::Given,
        false,
        Some(Format::Metis),
        false,
    ),
];

/// Options that give a graph the edges and weights of its file.
pub const PLAIN_OPTIONS: usize = 4;

/// Names whose suffixes claim each format; claims may be false.
pub const NAMES: [&str; 16] = [
    "a file",
    "x.mtx",
    "x.el",
    "x.gr",
    "x.txt",
    "x.swg",
    "x.lgl",
    "x.el.bz2",
    "x.csv",
    "x.graph",
    "x.npz",
    "x.egr",
    "x.tsv",
    "x.graphml",
    "x.bin",
    "x.adjlist",
];

/// The name and the number of the options that a byte chooses.
#[must_use]
pub fn chosen(choice: u8) -> (&'static str, usize) {
    (
        NAMES[usize::from(choice & 15)],
        usize::from(choice >> 4) % OPTIONS.len(),
    )
}

/// Nodes up to which every edge's mirror image and every id is looked up.
const LOOKED_UP: u32 = 1 << 12;

/// Reads the bytes; an error must name the file.
pub fn read(name: &str, bytes: &[u8], options: &LoadOptions) -> Result<Loaded, GraphError> {
    let loaded = load_reader(name, Cursor::new(bytes.to_vec()), options);
    match &loaded {
        Ok(loaded) => check(&loaded.graph, options),
        Err(error) => assert!(error.to_string().contains(name), "{error}"),
    }
    loaded
}

/// Checks that rows ascend within the graph, loops and parallel edges are counted, weights are as requested,
/// ids map both ways, and incoming edges are the transposed outgoing ones.
pub fn check(graph: &Graph, options: &LoadOptions) {
    let (offsets, targets) = (graph.offsets(), graph.targets());
    assert_eq!(offsets.len(), graph.nodes() as usize + 1);
    assert_eq!((offsets[0], offsets[offsets.len() - 1]), (0, graph.edges()));
    assert!(offsets.is_sorted());
    assert_eq!(targets.len(), graph.edges() as usize);
    assert!(
        graph
            .weights()
            .is_none_or(|weights| weights.len() == targets.len())
    );
    assert!(options.weights != WeightChoice::Ignored || graph.weights().is_none());
    if graph.weight_kind() == Some(WeightKind::Float) {
        let mut floats = graph.weights().into_iter().flatten().copied();
        assert!(floats.all(|word| word < f32::INFINITY.to_bits()));
    }
    assert!(graph.is_symmetric() || !options.undirected);
    let (mut loops, mut repeats) = (0, 0);
    for node in 0..graph.nodes() {
        let row = graph.neighbours(node);
        assert!(row.is_sorted());
        assert!(row.iter().all(|&target| target < graph.nodes()));
        loops += row.iter().filter(|&&target| target == node).count();
        repeats += row.windows(2).filter(|pair| pair[0] == pair[1]).count();
    }
    assert_eq!(
        (graph.loops() as usize, graph.parallel_edges() as usize),
        (loops, repeats)
    );
    let looked_up = graph.nodes().min(LOOKED_UP);
    for node in 0..looked_up {
        assert_eq!(graph.node_of(graph.original_id(node)), Some(node));
    }
    let incoming = graph.incoming();
    assert_eq!(
        (incoming.nodes(), incoming.edges()),
        (graph.nodes(), graph.edges())
    );
    for node in 0..looked_up {
        for edge in graph.outgoing().row(node) {
            let row = incoming.row(targets[edge]);
            let sources = &incoming.targets()[row.clone()];
            let first = row.start + sources.partition_point(|source| *source < node);
            let last = row.start + sources.partition_point(|source| *source <= node);
            assert!(first < last, "the edge turned around");
            if let (Some(turned), Some(weights)) = (incoming.weights(), graph.weights()) {
                assert!(turned[first..last].contains(&weights[edge]));
            }
        }
    }
}

/// Panics unless both are the same graph.
pub fn check_same(a: &Graph, b: &Graph) {
    assert_eq!(a.offsets(), b.offsets());
    assert_eq!(a.targets(), b.targets());
    assert_eq!(a.weights(), b.weights());
    assert_eq!(a.weight_kind(), b.weight_kind());
    assert_eq!(a.is_symmetric(), b.is_symmetric());
    let ids = |graph: &Graph| -> Vec<u64> {
        (0..graph.nodes().min(LOOKED_UP))
            .map(|node| graph.original_id(node))
            .collect()
    };
    assert_eq!(ids(a), ids(b));
}

/// Returns whether the bytes begin as a compressed file.
///
/// A compressed header may ask for a large buffer, so targets with narrow limits leave such bytes
/// to the target `compressed`.
#[must_use]
pub fn is_compressed(bytes: &[u8]) -> bool {
    let magics: [&[u8]; 4] = [b"\x1f\x8b", b"\xfd7zXZ\0", b"BZh", b"\x28\xb5\x2f\xfd"];
    magics.iter().any(|magic| bytes.starts_with(magic))
}

/// Returns whether a header in this text may make a reader build a large graph without edges.
///
/// Readers allow that on purpose up to a documented number of nodes; it costs much time for few
/// bytes, so targets skip it.
#[must_use]
pub fn promises_much(bytes: &[u8]) -> bool {
    let numbers = bytes.split(|byte| !byte.is_ascii_digit());
    let values = numbers.filter_map(|digits| std::str::from_utf8(digits).ok()?.parse().ok());
    let large = values
        .into_iter()
        .any(|value: u64| (1 << 17..=1 << 26).contains(&value));
    let has_header = bytes.starts_with(b"%")
        || [&b"p "[..], b"odes"]
            .iter()
            .any(|mark| bytes.windows(mark.len()).any(|window| window == *mark));
    large && has_header
}
