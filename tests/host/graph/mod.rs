//! Graph files end to end: round trips, and errors of broken files.
mod binaries;
mod dropped;
mod errors;
#[cfg(target_os = "linux")]
mod exhaustion;
mod formats;
mod hostile;
#[cfg(unix)]
mod names;
mod real;
mod round_trip;

use seawall::graph::{self, ColumnChoice, Graph, GraphError, LoadOptions, Loaded, WeightChoice};
use std::io::Write;
use std::path::Path;

pub(crate) const PLAIN: LoadOptions = LoadOptions {
    undirected: false,
    weights: WeightChoice::Ignored,
    skip_columns: false,
    format: None,
    listed_order: false,
    signed: false,
    columns: ColumnChoice::NONE,
    names: false,
};
pub(crate) const WEIGHTED: LoadOptions = LoadOptions {
    undirected: false,
    weights: WeightChoice::Given,
    skip_columns: false,
    format: None,
    listed_order: false,
    signed: false,
    columns: ColumnChoice::NONE,
    names: false,
};

/// Loads bytes as a file of this name.
pub(crate) fn load_as(
    name: &str,
    bytes: &[u8],
    options: &LoadOptions,
) -> Result<Loaded, GraphError> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    std::fs::write(&path, bytes).unwrap();
    graph::load(path.to_str().unwrap(), options, None)
}

/// The one message of a failed load, from the file's name on.
pub(crate) fn message(name: &str, bytes: &[u8], options: &LoadOptions) -> String {
    let text = load_as(name, bytes, options)
        .expect_err("the load should fail")
        .to_string();
    let at = text.find(name).expect("the message names the file");
    text[at..].to_owned()
}

pub(crate) fn gzip(bytes: &[u8]) -> Vec<u8> {
    compressed("x.gz", bytes)
}

pub(crate) fn xz(bytes: &[u8]) -> Vec<u8> {
    compressed("x.xz", bytes)
}

/// Compresses directly with the libraries, not with the product's writers.
fn compressed(name: &str, bytes: &[u8]) -> Vec<u8> {
    if name.ends_with(".gz") {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    } else {
        let options = lzma_rust2::XzOptions::with_preset(1);
        let mut encoder = lzma_rust2::XzWriter::new(Vec::new(), options).unwrap();
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    }
}

/// The rows of a graph, for comparing.
pub(crate) fn rows(graph: &Graph) -> (Vec<u32>, Vec<u32>, Option<Vec<u32>>) {
    (
        graph.offsets().to_vec(),
        graph.targets().to_vec(),
        graph.weights().map(<[u32]>::to_vec),
    )
}

pub(crate) fn save(graph: &Graph, path: &Path) {
    graph::save(graph, path, None).unwrap();
}
