//! Files with false claims, or that change or end while they are read.

use super::{Kept, STREAMING, on, windows};
use seawall::graph::{BinaryProblem, Graph, GraphError};
use seawall::run::{AnalysisKind, Phase, RunError};
use seawall::stream::Streamed;
use std::fs::{File, OpenOptions};
use std::os::unix::fs::FileExt;

/// A ring with chords: every row has three targets.
pub(super) fn graph() -> Graph {
    let nodes = 2_000;
    let edges = (0..nodes).flat_map(|at| [1, 7, 100].map(|far| (at, (at + far) % nodes)));
    let edges: Vec<_> = edges.collect();
    let graph = Graph::from_edges(nodes, &edges, false).unwrap();
    graph.with_drawn_weights(1).unwrap()
}

/// Place of the targets of that graph.
const TARGETS: u64 = (64 + 4 * 2_001_u64).next_multiple_of(64);

pub(super) fn problem(error: RunError) -> BinaryProblem {
    match error {
        RunError::Stream(GraphError::Binary { problem, .. }) => problem,
        other => panic!("{other:?}"),
    }
}

/// The kept graph with words of its targets replaced.
pub(super) fn forged(words: &[(u64, u32)]) -> Kept {
    let kept = Kept::of(&graph());
    let file = OpenOptions::new().write(true).open(&kept.path).unwrap();
    for (edge, word) in words {
        file.write_all_at(&word.to_le_bytes(), TARGETS + 4 * edge)
            .unwrap();
    }
    kept
}

#[test]
fn a_target_that_is_no_node_is_an_error_with_its_edge() {
    for edge in [0, 17, 3_000, 5_999] {
        let kept = forged(&[(edge, 2_000)]);
        for kind in STREAMING {
            let found = kept.run(&on(kind, &[0], 2), windows(64)).unwrap_err();
            let (value, nodes) = (2_000, 2_000);
            assert_eq!(problem(found), BinaryProblem::Target { edge, value, nodes });
        }
    }
}

#[test]
fn rows_out_of_order_are_errors_also_across_windows() {
    let graph = graph();
    let row = |node: u32| graph.neighbours(node).to_vec();
    for node in [0, 5, 6, 1_000, 1_999] {
        let targets = row(node);
        let first = 3 * u64::from(node);
        for words in [
            vec![(first, targets[1]), (first + 1, targets[0])],
            vec![(first + 1, targets[2])],
            vec![(first, node)],
        ] {
            let kept = forged(&words);
            let found = kept
                .run(&on(AnalysisKind::Cc, &[], 3), windows(64))
                .unwrap_err();
            let node = u64::from(node);
            assert_eq!(problem(found), BinaryProblem::Order { node });
        }
    }
}

#[test]
fn starts_out_of_order_are_refused_when_the_file_is_opened() {
    for (row, word) in [(0_u64, 1_u32), (7, 0), (7, u32::MAX), (2_000, 5)] {
        let kept = Kept::of(&graph());
        let file = OpenOptions::new().write(true).open(&kept.path).unwrap();
        file.write_all_at(&word.to_le_bytes(), 64 + 4 * row)
            .unwrap();
        let found = Streamed::open(&kept.path).unwrap_err();
        let is_offset = matches!(
            found,
            GraphError::Binary {
                problem: BinaryProblem::Offset { .. },
                ..
            }
        );
        assert!(is_offset, "{found:?}");
    }
}

#[test]
fn a_weight_that_is_no_float_is_an_error_with_its_edge() {
    let edges = [(0, 1, 0.5), (1, 2, 2.0), (2, 0, 3.0)];
    let kept = Kept::of(&Graph::from_float_edges(3, &edges, false).unwrap());
    let file = OpenOptions::new().write(true).open(&kept.path).unwrap();
    let weights = 64 + 64 + 64;
    file.write_all_at(&(-1.0_f32).to_le_bytes(), weights + 4)
        .unwrap();
    let found = kept.run(&on(AnalysisKind::Sssp, &[0], 1), windows(64));
    let (edge, value) = (1, -1.0);
    assert_eq!(
        problem(found.unwrap_err()),
        BinaryProblem::Weight { edge, value }
    );
    assert!(
        kept.run(&on(AnalysisKind::Bfs, &[0], 1), windows(64))
            .is_ok()
    );
}

#[test]
fn every_length_but_the_right_one_is_refused() {
    let kept = Kept::of(&graph());
    let whole = std::fs::read(&kept.path).unwrap();
    for length in [8, 63, 64, 65, 5_000, whole.len() - 1, whole.len() + 1] {
        let mut content = whole.clone();
        content.resize(length, 0);
        let found = Streamed::open(&Kept::with(&content).path).unwrap_err();
        let is_length = matches!(
            found,
            GraphError::Binary {
                problem: BinaryProblem::Length { .. },
                ..
            }
        );
        assert!(is_length, "{length}: {found:?}");
    }
}

#[test]
fn other_files_do_not_stream() {
    for content in [&b""[..], b"0 1\n1 2\n", b"SEAWALL"] {
        assert!(Streamed::open(&Kept::with(content).path).unwrap().is_none());
    }
    let folder = tempfile::tempdir().unwrap();
    assert!(Streamed::open(folder.path()).unwrap().is_none());
    assert!(
        Streamed::open(&folder.path().join("none"))
            .unwrap()
            .is_none()
    );
}

/// Changes the file when the run begins, after it was opened.
fn changed(kind: AnalysisKind, change: impl Fn(&File)) -> RunError {
    let kept = Kept::of(&graph());
    let streamed = kept.open();
    let file = OpenOptions::new().write(true).open(&kept.path).unwrap();
    let mut begin = |phase| {
        if matches!(phase, Phase::Run { .. }) {
            change(&file);
        }
    };
    let request = on(kind, &[0], 2);
    streamed
        .run_with_progress(&request, windows(4096), &mut begin)
        .unwrap_err()
}

#[test]
fn a_file_that_shrinks_under_the_run_is_an_error() {
    for kind in STREAMING {
        for length in [0, 100, TARGETS + 2, TARGETS + 20_000] {
            let error = changed(kind, |file| file.set_len(length).unwrap());
            let found = length;
            let is_short = matches!(
                problem(error),
                BinaryProblem::Length { found: at, .. } if at == found
            );
            assert!(is_short, "{kind} {length}");
        }
    }
}

#[test]
fn a_file_that_is_written_under_the_run_is_an_error() {
    for kind in STREAMING {
        let error = changed(kind, |file| {
            // Beyond the resolution of the file system's clock.
            std::thread::sleep(std::time::Duration::from_millis(15));
            let other = graph().targets()[10].to_le_bytes();
            file.write_all_at(&other, TARGETS + 40).unwrap();
        });
        let is_changed = matches!(error, RunError::Stream(GraphError::Changed { .. }));
        assert!(is_changed, "{kind}: {error:?}");
    }
}

/// Random words as targets: an error or a column.
#[test]
fn noise_is_refused() {
    let mut random = seawall_oracles::random::Random::new(11);
    for _ in 0..40 {
        let words: Vec<_> = (0..5)
            .map(|_| (random.bits() % 6_000, random.word()))
            .collect();
        let kept = forged(&words);
        for kind in STREAMING {
            let found = kept.run(&on(kind, &[0], 2), windows(256));
            assert!(found.is_err(), "{kind} {words:?}");
        }
    }
}
