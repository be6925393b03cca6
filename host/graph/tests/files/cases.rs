//! The small inputs that once failed, if they exist beside the workspace.

use std::path::PathBuf;

use seawall_graph::{Format, Graph, GraphError, LoadOptions, WeightChoice, load, save};

use super::{edges, edges_of, labels_of, weighted};

/// The path of a case; prints a message if there is none.
fn case(name: &str) -> Option<PathBuf> {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("../../../shared/cases")
        .join(name);
    if path.exists() {
        return Some(path);
    }
    println!("skipped: no {}", path.display());
    None
}

fn read(name: &str, options: &LoadOptions) -> Option<Result<Graph, GraphError>> {
    let loaded = load(case(name)?, options, None);
    Some(loaded.map(|loaded| loaded.graph))
}

#[test]
fn a_matrix_with_isolated_nodes_keeps_them_as_a_table() {
    let Some(graph) = read("convert_isolated.mtx", &weighted()) else {
        return;
    };
    let graph = graph.unwrap();
    let folder = tempfile::tempdir().unwrap();
    for name in ["g.csv", "g.el", "g.gr", "g.npz", "g.swg"] {
        let path = folder.path().join(name);
        save(&graph, &path, None).unwrap();
        let again = load(&path, &weighted(), None).unwrap().graph;
        assert_eq!(labels_of(&again), ["1", "2", "3", "4", "5", "6"], "{name}");
        assert_eq!(
            edges_of(&again),
            edges(&[(2, 3, 4.0), (3, 4, 5.0)]),
            "{name}"
        );
    }
    let refused = save(&graph, &folder.path().join("g.egr"), None).unwrap_err();
    assert!(refused.to_string().contains("--renumber"), "{refused}");
    assert!(!folder.path().join("g.egr").exists());
}

#[test]
fn lists_of_neighbours_and_headers_are_not_guessed() {
    if let Some(graph) = read("heads.lgl", &LoadOptions::default()) {
        let found = edges_of(&graph.unwrap());
        let one_way = found
            .into_iter()
            .filter(|edge| edge.0 < edge.1)
            .collect::<Vec<_>>();
        assert_eq!(one_way, edges(&[(1, 7, -1.0), (1, 8, -1.0), (2, 3, -1.0)]));
    }
    for name in [
        "header_to.csv",
        "header_no_source.csv",
        "header_target2.csv",
    ] {
        if let Some(refused) = read(name, &weighted()) {
            let Err(refused) = refused else {
                panic!("{name} was read");
            };
            let message = refused.to_string();
            assert!(message.contains("--source-column"), "{message}");
        }
    }
}

#[test]
fn scaling_keeps_every_digit() {
    let options = LoadOptions {
        weights: WeightChoice::Scaled(100.0),
        ..LoadOptions::default()
    };
    if let Some(graph) = read("scale_digits.el", &options) {
        assert_eq!(graph.unwrap().weights(), Some(&[1_234_567_891][..]));
    }
}

#[test]
fn files_are_named_for_what_they_are() {
    for (name, parts) in [
        ("layout_bsr.npz", ["layout", "bsr"]),
        ("layout_dia.npz", ["layout", "dia"]),
        ("zip_with_matrix.zip", ["zip archive", "g.mtx"]),
        ("utf16.txt", ["UTF-16", "UTF-8"]),
    ] {
        for options in [weighted(), LoadOptions::default()] {
            if let Some(refused) = read(name, &options) {
                let Err(refused) = refused else {
                    panic!("{name} was read");
                };
                let message = refused.to_string();
                assert!(parts.iter().all(|part| message.contains(part)), "{message}");
            }
        }
    }
}

#[test]
fn dimacs_files_keep_ids_and_outer_nodes_without_edges() {
    let text = "p sp 6 2\na 2 3 4\na 5 3 1\n";
    let graph = super::graph_of("a.gr", text);
    let folder = tempfile::tempdir().unwrap();
    for format in Format::ALL.into_iter().filter(|format| format.is_written()) {
        let path = folder.path().join(format.name());
        if save(&graph, &path, Some(format)).is_ok() {
            let options = LoadOptions {
                format: Some(format),
                ..weighted()
            };
            let again = load(&path, &options, None).unwrap().graph;
            assert_eq!(
                labels_of(&again),
                ["1", "2", "3", "4", "5", "6"],
                "{format}"
            );
        }
    }
}
