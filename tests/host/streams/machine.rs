//! The kernel of a GPU's stream, its blocks on threads: the columns of resident runs.

use super::alike::{compare_limits, compare_with_resident, graph, options};
use super::hostile::{forged, problem};
use super::wide::sealed;
use super::{Kept, STREAMING, on, windows};
use seawall::analysis::{Detail, oracle};
use seawall::graph::{BinaryProblem, Graph};
use seawall::outcome::{Column, RunOutcome};
use seawall::run::{AnalysisKind, RunError, RunRequest, execute};
use seawall::stream::StreamOptions;
use std::os::unix::fs::FileExt;

fn on_blocks(
    kept: &Kept,
    request: &RunRequest,
    mut options: StreamOptions,
) -> Result<RunOutcome, RunError> {
    options.blocks = true;
    kept.run(request, options)
}

#[test]
fn columns_are_those_of_resident_runs() {
    compare_with_resident(0..24, true);
}

#[test]
fn limits_of_iterations_end_runs_alike() {
    compare_limits(0..24, true);
}

#[test]
fn parents_are_those_of_resident_runs() {
    for number in 0..24 {
        let graph = graph(number);
        let kept = Kept::of(&graph);
        let mut request = on(AnalysisKind::Bfs, &[number as u32 % graph.nodes()], 2);
        request.detail = Detail::Parents;
        let resident = execute(&graph, &request).unwrap();
        let streamed = on_blocks(&kept, &request, options(number)).unwrap();
        assert_eq!(streamed.parents, resident.parents, "graph {number}");
    }
}

#[test]
fn distances_beyond_a_word_go_on_in_64_bits_or_name_their_edge() {
    let edges: Vec<_> = (0..300).map(|at| (at, at + 1, u32::MAX - 5)).collect();
    let graph = Graph::from_weighted_edges(301, &edges, false).unwrap();
    let request = on(AnalysisKind::Sssp, &[0], 2);
    let wide = on_blocks(&Kept::of(&graph), &request, windows(64)).unwrap();
    assert_eq!(wide.values, oracle::distances(&graph, &[0]));
    assert!(matches!(wide.values, Column::U64(_)));

    let edges: Vec<_> = (0..300).map(|at| (at, at + 1, 2e37)).collect();
    let graph = Graph::from_float_edges(301, &edges, false).unwrap();
    let expected = execute(&graph, &request).unwrap_err();
    let found = on_blocks(&Kept::of(&graph), &request, windows(64)).unwrap_err();
    assert_eq!(found.to_string(), expected.to_string());
}

/// Slices of several blocks, and rows longer than a slice.
#[test]
fn windows_of_many_slices_are_shared() {
    let spec = "gen:rmat:12:16";
    let options = seawall::graph::LoadOptions::default();
    let graph = seawall::graph::load(spec, &options, None).unwrap().graph;
    let kept = Kept::of(&graph);
    for kind in STREAMING {
        if kind == AnalysisKind::Sssp {
            continue;
        }
        let request = on(kind, &[1], 3);
        let resident = execute(&graph, &request).unwrap();
        let streamed = on_blocks(&kept, &request, windows(1 << 16)).unwrap();
        assert_eq!(streamed.values, resident.values, "{kind}");
    }
}

#[test]
fn the_kernel_agrees_on_warps() {
    seawall_oracles::serving::stream::check();
}

#[test]
fn invalid_edges_are_errors_with_their_place() {
    for edge in [0, 17, 3_000, 5_999] {
        let kept = forged(&[(edge, 2_000)]);
        for kind in STREAMING {
            let found = on_blocks(&kept, &on(kind, &[0], 2), windows(64)).unwrap_err();
            let (value, nodes) = (2_000, 2_000);
            assert_eq!(problem(found), BinaryProblem::Target { edge, value, nodes });
        }
    }
    for node in [0_u32, 5, 6, 1_000, 1_999] {
        let first = 3 * u64::from(node);
        let targets = super::hostile::graph().neighbours(node).to_vec();
        for words in [
            vec![(first, targets[1]), (first + 1, targets[0])],
            vec![(first + 1, targets[2])],
            vec![(first, node)],
        ] {
            let kept = forged(&words);
            let request = on(AnalysisKind::Cc, &[], 3);
            let found = on_blocks(&kept, &request, windows(64)).unwrap_err();
            let node = u64::from(node);
            assert_eq!(problem(found), BinaryProblem::Order { node });
        }
    }
}

#[test]
fn limits_of_time_and_cancellers_end_the_kernel() {
    let graph = graph(15);
    let kept = Kept::of(&graph);
    let mut request = on(AnalysisKind::Pagerank, &[], 2);
    request.machine.time_budget_ns = 1;
    let late = on_blocks(&kept, &request, windows(64)).unwrap_err();
    assert!(matches!(late, RunError::StreamTime { .. }), "{late}");
    let streamed = kept.open();
    let canceller = streamed.canceller();
    let request = on(AnalysisKind::Pagerank, &[], 2);
    let mut options = windows(64);
    options.blocks = true;
    let ended = streamed.run_with_progress(&request, options, &mut |_| canceller.cancel());
    assert!(ended.is_err());
    assert!(streamed.run(&request, options).is_ok());
}

/// Shares are pulled if the file claims that edges have mirror images, and pushed if the claim is
/// false.
#[test]
fn a_file_that_lies_about_mirror_images_gets_the_same_ranks() {
    for number in [17, 19, 22] {
        let graph = graph(number);
        assert!(!graph.is_symmetric());
        let kept = Kept::of(&graph);
        let mut options = std::fs::OpenOptions::new();
        let file = options.read(true).write(true).open(&kept.path).unwrap();
        let mut header = [0; 64];
        file.read_exact_at(&mut header, 0).unwrap();
        header[12] |= 1;
        file.write_all_at(&sealed(header), 0).unwrap();
        let request = on(AnalysisKind::Pagerank, &[], 2);
        let resident = execute(&graph, &request).unwrap();
        let streamed = on_blocks(&kept, &request, windows(256)).unwrap();
        assert_eq!(streamed.values, resident.values, "graph {number}");
        // One pass detects the false claim.
        let plain = kept.run(&request, windows(256)).unwrap();
        let [pulled, pushed] = [streamed, plain].map(|outcome| outcome.stream.unwrap().passes);
        assert_eq!(pulled, pushed + 1, "graph {number}");
    }
}
