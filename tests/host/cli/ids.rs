//! Nodes in results have the ids of the file.

use super::{Fixture, finish, seawall};
use seawall::run::AnalysisKind;

/// Nodes of the list.
const NODES: u64 = 24;

/// The id of a node in the second file; the order of nodes stays.
const fn id_of(node: u64) -> u64 {
    node * 1_000_003 + 5_000_000_000
}

/// An edge list with weights whose nodes have the ids that `id` returns.
fn list(id: impl Fn(u64) -> u64) -> Fixture {
    let edge = |(from, to): (u64, u64)| {
        let weight = (from * 7 + to * 3) % 11 + 1;
        format!("{} {} {weight}\n", id(from), id(to))
    };
    let ring = (0..12).map(|node| (node, (node + 1) % 12));
    let chords = [(0, 5), (3, 9), (4, 2), (13, 15), (15, 14), (14, 13)];
    let tail = (16..NODES - 1).map(|node| (node, node + 1));
    let text: String = ring.chain(chords).chain(tail).map(edge).collect();
    Fixture::new("el", text.as_bytes())
}

/// The rows of an analysis, as numbers; nothing for a missing one.
fn rows(graph: &Fixture, analysis: AnalysisKind, source: u64) -> Vec<Vec<Option<f64>>> {
    let out = tempfile::tempdir().unwrap();
    let out = out.path().join("out.csv");
    let source = source.to_string();
    let mut command = seawall(&["run", graph.path(), "--analysis", analysis.name()]);
    command.args(["--backend", "cpu", "-q", "--out"]).arg(&out);
    if analysis.takes_sources() {
        command.args(["--source", &source]);
    }
    if analysis.is_undirected() {
        command.arg("--undirected");
    }
    let finished = finish(&mut command);
    assert_eq!(finished.code, 0, "{analysis}: {}", finished.stderr);
    let text = std::fs::read_to_string(&out).unwrap();
    let row = |line: &str| line.split(',').map(|cell| cell.parse().ok()).collect();
    text.lines().skip(1).map(row).collect()
}

/// Cells that name nodes, by their place in a row.
fn of_nodes(analysis: AnalysisKind) -> &'static [usize] {
    match analysis.name() {
        "cc" | "scc" | "labels" => &[0, 1],
        "msf" => &[0, 1, 2],
        _ => &[0],
    }
}

#[test]
fn results_of_every_analysis_name_nodes_by_their_ids() {
    let (plain, other) = (list(|node| node), list(id_of));
    for analysis in AnalysisKind::ALL {
        let mut expected = rows(&plain, analysis, 3);
        for row in &mut expected {
            for at in of_nodes(analysis) {
                row[*at] = row[*at].map(|node| id_of(node as u64) as f64);
            }
        }
        let found = rows(&other, analysis, id_of(3));
        assert_eq!(found, expected, "{analysis}");
    }
}
