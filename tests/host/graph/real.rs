//! Real graphs, if the data folder has them.
use super::PLAIN;
use seawall::graph::{self, Format, LoadOptions, Loaded, WeightChoice};
use std::path::PathBuf;

/// Loads a graph of the data folder, or prints why it cannot.
fn load(name: &str, options: &LoadOptions) -> Option<Loaded> {
    let folders = ["../../shared/data", "../shared/data"];
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    let path = folders
        .iter()
        .map(|folder| root.join(folder).join(name))
        .find(|path| path.exists());
    let Some(path) = path else {
        println!("skipped: {name} is not here");
        return None;
    };
    Some(graph::load(path.to_str().unwrap(), options, None).unwrap())
}

#[test]
fn road_networks_have_their_published_counts() {
    for (name, nodes, edges) in [
        ("NY.gr.xz", 264_346, 365_050),
        ("FLA.gr.xz", 1_070_376, 1_343_951),
    ] {
        let Some(loaded) = load(name, &PLAIN) else {
            continue;
        };
        assert_eq!(loaded.stats.format, Format::Pace);
        assert_eq!(loaded.stats.listed_edges, edges);
        assert_eq!(loaded.graph.nodes(), nodes);
        let loops = u64::from(loaded.graph.loops());
        let kept = u64::from(loaded.graph.edges()) - loops;
        assert_eq!(kept, 2 * (edges - loaded.stats.mirrored - loops));
        assert!(loaded.graph.is_symmetric());
        assert_eq!(loaded.graph.original_id(0), 1);
    }
}

#[test]
fn the_mail_network_has_its_published_counts() {
    let both = LoadOptions {
        undirected: true,
        weights: WeightChoice::Ignored,
        ..LoadOptions::default()
    };
    let Some(loaded) = load("email-Enron.txt.xz", &both) else {
        return;
    };
    assert_eq!(loaded.stats.format, Format::EdgeList);
    assert_eq!(
        (loaded.graph.nodes(), loaded.graph.edges()),
        (36_692, 2 * 183_830)
    );
    let Some(directed) = load("email-Enron.txt.xz", &PLAIN) else {
        return;
    };
    assert_eq!(directed.graph.nodes(), 36_692);
    let turned = directed.graph.incoming();
    assert_eq!(turned.edges(), directed.graph.edges());
}
