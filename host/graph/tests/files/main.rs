//! Files of many formats: nothing is lost or invented between them, and other files are recognised.

mod cases;
mod conversion;
mod foreign;
mod layouts;
mod named;
mod promises;
mod scaled;

use std::io::Cursor;

use seawall_graph::{
    Graph, GraphError, LoadOptions, Loaded, WeightChoice, WeightKind, load_reader,
};

/// Edges by the labels of their ends, with weights as numbers; those without a weight have -1.
type Edges = Vec<(String, String, f64)>;

fn weighted() -> LoadOptions {
    LoadOptions {
        weights: WeightChoice::Given,
        ..LoadOptions::default()
    }
}

fn load_as(name: &str, bytes: &[u8], options: &LoadOptions) -> Result<Loaded, GraphError> {
    load_reader(name, Cursor::new(bytes.to_vec()), options)
}

fn graph_of(name: &str, text: &str) -> Graph {
    match load_as(name, text.as_bytes(), &weighted()) {
        Ok(loaded) => loaded.graph,
        Err(error) => panic!("{text:?}: {error}"),
    }
}

/// The message of a failed load.
fn refusal(name: &str, bytes: &[u8], options: &LoadOptions) -> String {
    match load_as(name, bytes, options) {
        Ok(loaded) => panic!("{name} was read: {:?}", edges_of(&loaded.graph)),
        Err(error) => error.to_string(),
    }
}

fn labels_of(graph: &Graph) -> Vec<String> {
    (0..graph.nodes())
        .map(|node| graph.label_of(node).to_string())
        .collect()
}

fn edges_of(graph: &Graph) -> Edges {
    let weight = |edge: usize| match (graph.weights(), graph.weight_kind()) {
        (Some(words), Some(WeightKind::Float)) => f64::from(f32::from_bits(words[edge])),
        (Some(words), _) => f64::from(words[edge]),
        (None, _) => -1.0,
    };
    let label = |node: u32| graph.label_of(node).to_string();
    let rows = (0..graph.nodes())
        .flat_map(|node| graph.outgoing().row(node).map(move |edge| (node, edge)));
    rows.map(|(node, edge)| (label(node), label(graph.targets()[edge]), weight(edge)))
        .collect()
}

/// Edges of numbers, as [`edges_of`] returns them.
fn edges(all: &[(u64, u64, f64)]) -> Edges {
    all.iter()
        .map(|(from, to, weight)| (from.to_string(), to.to_string(), *weight))
        .collect()
}
