//! DIMACS, GBBS and the matrices of SciPy.

use seawall_graph::{Graph, LoadOptions, load, save};

use super::{edges, edges_of, graph_of, labels_of, load_as, refusal, weighted};

#[test]
fn dimacs_has_four_problems() {
    let both = [(1, 2, -1.0), (2, 1, -1.0), (2, 3, -1.0), (3, 2, -1.0)];
    for text in [
        "c x\np edge 4 2\ne 1 2\ne 2 3\n",
        "p col 4 2\nn 1 5\ne 2 1\ne 3 2\n",
        // Many files of colours count each edge twice.
        "p col 4 4\ne 2 1\ne 3 2\n",
    ] {
        let graph = graph_of("a.col", text);
        assert_eq!(
            (edges_of(&graph), graph.nodes()),
            (edges(&both), 4),
            "{text:?}"
        );
        assert!(graph.is_symmetric());
    }
    let graph = graph_of("a.max", "p max 4 2\nn 1 s\nn 4 t\na 1 2 7\na 2 4 9\n");
    assert_eq!(edges_of(&graph), edges(&[(1, 2, 7.0), (2, 4, 9.0)]));
    assert_eq!(labels_of(&graph), ["1", "2", "3", "4"]);
    for (text, expected) in [
        (
            "p col 3 2\ne 1 2\n",
            ":2: the header promises 2 edges, the file has 1",
        ),
        (
            "p edge 3 1\na 1 2\n",
            ":2: unknown line (\"a\"); expected \"e U V\"",
        ),
        (
            "p max 3 1\ne 1 2 4\n",
            ":2: unknown line (\"e\"); expected \"a U V W\"",
        ),
        ("p edge 3 1\ne 1 4\n", ":2: node id out of range (4)"),
        (
            "p cnf 3 1\n",
            ":1: this problem type is not supported (cnf)",
        ),
    ] {
        // The first has half of the edges that it counts, the others have not.
        if text.starts_with("p col 3 2") {
            assert!(load_as("a.col", text.as_bytes(), &weighted()).is_ok());
            continue;
        }
        let found = refusal("a.col", text.as_bytes(), &weighted());
        assert!(found.contains(expected), "{text:?}: {found}");
    }
}

#[test]
fn binaries_of_gbbs_are_counts_offsets_and_targets() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("g.bin");
    let graph = Graph::from_edges(3, &[(0, 1), (0, 2), (2, 1)], false).unwrap();
    save(&graph, &path, None).unwrap();
    let bytes = std::fs::read(&path).unwrap();
    let words: Vec<u8> = [3u64, 3, 68, 0, 2, 2, 3]
        .iter()
        .flat_map(|word| word.to_le_bytes())
        .collect();
    let targets: Vec<u8> = [1u32, 2, 1]
        .iter()
        .flat_map(|word| word.to_le_bytes())
        .collect();
    assert_eq!(bytes, [words, targets].concat());
    // Recognised by content, from a stream too.
    let again = load_as("standard input", &bytes, &weighted())
        .unwrap()
        .graph;
    assert_eq!(edges_of(&again), edges_of(&graph));
    let heavy = Graph::from_weighted_edges(3, &[(0, 1, 5), (2, 1, 6)], false).unwrap();
    save(&heavy, &path, None).unwrap();
    assert_eq!(
        edges_of(&load(&path, &weighted(), None).unwrap().graph),
        edges_of(&heavy)
    );
    let plain = load(&path, &LoadOptions::default(), None).unwrap().graph;
    assert!(plain.weights().is_none() && plain.edges() == 2);
    for cut in 0..bytes.len() {
        refusal("g.bin", &bytes[..cut], &weighted());
    }
    for (at, value) in [(0, 0xff), (8, 0xff), (16, 0xff), (24, 1), (32, 9), (56, 3)] {
        let mut damaged = bytes.clone();
        damaged[at] = value;
        refusal("g.bin", &damaged, &weighted());
    }
}

#[test]
fn matrices_of_scipy_are_written_as_scipy_reads_them() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("g.npz");
    let graph = Graph::from_float_edges(3, &[(0, 1, 2.5), (2, 1, 0.5)], false).unwrap();
    save(&graph, &path, None).unwrap();
    let again = load(&path, &weighted(), None).unwrap().graph;
    assert_eq!(edges_of(&again), edges_of(&graph));
    let python = "import sys, scipy.sparse as s\nm = s.load_npz(sys.argv[1])\n\
                  print(m.format, m.shape, m.toarray().tolist())";
    let script = std::process::Command::new("python3")
        .args(["-c", python])
        .arg(&path)
        .output();
    match script {
        Ok(done) if done.status.success() => {
            let text = String::from_utf8_lossy(&done.stdout).into_owned();
            let expected = "csr (3, 3) [[0.0, 2.5, 0.0], [0.0, 0.0, 0.0], [0.0, 0.5, 0.0]]\n";
            assert_eq!(text, expected);
        }
        _ => println!("skipped: no Python with SciPy"),
    }
    // The ones of a graph without weights are no weights.
    let plain = Graph::from_edges(3, &[(0, 1), (2, 1)], false).unwrap();
    save(&plain, &path, None).unwrap();
    assert!(
        load(&path, &weighted(), None)
            .unwrap()
            .graph
            .weights()
            .is_none()
    );
}
