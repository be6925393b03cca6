//! Streamed and resident runs end with the same column.

use super::{Kept, STREAMING, on, reading, windows};
use seawall::analysis::{Detail, oracle};
use seawall::graph::{Graph, WeightKind};
use seawall::outcome::Column;
use seawall::run::{AnalysisKind, execute};
use seawall::stream::{Caching, Pass, ReaderChoice, StreamOptions};
use seawall_oracles::graphs::{self, EdgeList, SHAPES};
use seawall_oracles::random::Random;
use std::num::{NonZeroU32, NonZeroUsize};
use std::sync::Mutex;

/// A graph of many shapes, sizes and kinds of weights.
pub(super) fn graph(number: usize) -> Graph {
    let mut random = Random::new(number as u64);
    let nodes = [1, 7, 200, 1_500][number % 4];
    let shape = SHAPES[number / 2 % SHAPES.len()];
    let list = graphs::draw(shape, nodes, number.is_multiple_of(3), &mut random);
    if number % 11 < 4 {
        return floats(&list, &mut random);
    }
    let graph = list.graph().unwrap();
    graph.with_drawn_weights(number as u64).unwrap()
}

fn floats(list: &EdgeList, random: &mut Random) -> Graph {
    let edges = list.simple().into_iter();
    let weighted: Vec<_> = edges
        .map(|(from, to)| (from, to, random.word() as f32 / 1e6))
        .collect();
    Graph::from_float_edges(list.nodes, &weighted, list.undirected).unwrap()
}

/// Options of many windows and readers. Windows of 64 bytes hold 16 edges, so that most rows of
/// hubs and cliques are longer.
pub(super) fn options(number: usize) -> StreamOptions {
    // Numbers without common factors with those of shapes and sizes, so that all combinations
    // occur.
    let bytes = [64, 64, 256, 4096, 8192][number % 5];
    let (reader, caching) = [
        (ReaderChoice::Auto, Caching::Auto),
        (ReaderChoice::Threads, Caching::Cached),
        (ReaderChoice::Auto, Caching::Direct),
        (ReaderChoice::Threads, Caching::Direct),
    ][number % 7 % 4];
    reading(reader, caching, bytes)
}

/// Runs all analyses on graphs of these numbers, with the kernel of a GPU on threads if `blocks`.
pub(super) fn compare_with_resident(numbers: std::ops::Range<usize>, blocks: bool) {
    for number in numbers {
        let graph = graph(number);
        let kept = Kept::of(&graph);
        let source = (number as u32 * 7) % graph.nodes();
        for kind in STREAMING {
            let request = on(kind, &[source, 0], [1, 2, 3, 5, 2][number / 3 % 5]);
            let resident = execute(&graph, &request).unwrap();
            let mut options = options(number);
            options.blocks = blocks;
            let streamed = kept.run(&request, options).unwrap();
            let case = format!("graph {number}, {kind}");
            assert_eq!(streamed.values, resident.values, "{case}");
            assert_eq!(streamed.reached, resident.reached, "{case}");
            assert_eq!(streamed.answer, resident.answer, "{case}");
            assert!(streamed.converged && resident.converged, "{case}");
            assert_eq!(streamed.device == "blocks on threads", blocks, "{case}");
            if kind == AnalysisKind::Pagerank {
                assert_eq!(streamed.rounds, resident.rounds, "{case}");
            }
            let report = streamed.stream.unwrap();
            let passed = report.streamed_bytes + report.skipped_bytes;
            assert_eq!(passed, report.passes * report.edge_bytes, "{case}");
        }
    }
}

#[test]
fn columns_are_those_of_resident_runs() {
    compare_with_resident(0..40, false);
}

#[test]
fn columns_are_those_of_the_oracles() {
    for number in 0..24 {
        let graph = graph(number);
        let kept = Kept::of(&graph);
        let source = (number as u32 * 5) % graph.nodes();
        let column = |kind| {
            let request = on(kind, &[source], 1 + number % 3);
            kept.run(&request, options(number + 1)).unwrap().values
        };
        let levels = oracle::levels(&graph, &[source], u32::MAX);
        assert_eq!(column(AnalysisKind::Bfs), Column::U32(levels), "{number}");
        let labels = oracle::components(&graph);
        assert_eq!(column(AnalysisKind::Cc), Column::U32(labels), "{number}");
        let lengths = oracle::distances(&graph, &[source]);
        assert_eq!(column(AnalysisKind::Sssp), lengths, "{number}");
    }
}

#[test]
fn every_check_of_the_command_agrees() {
    for number in [2, 3, 9, 10, 14] {
        let kept = Kept::of(&graph(number));
        for kind in STREAMING {
            let mut request = on(kind, &[0], 2);
            request.check = true;
            let outcome = kept.run(&request, options(number)).unwrap();
            assert_eq!(outcome.checked, Some(true), "graph {number}, {kind}");
        }
    }
}

#[test]
fn parents_are_those_of_resident_runs() {
    for number in 0..48 {
        let graph = graph(number);
        let kept = Kept::of(&graph);
        let mut request = on(
            AnalysisKind::Bfs,
            &[number as u32 % graph.nodes()],
            1 + number % 3,
        );
        request.detail = Detail::Parents;
        let resident = execute(&graph, &request).unwrap();
        let streamed = kept.run(&request, options(number)).unwrap();
        assert_eq!(streamed.parents, resident.parents, "graph {number}");
    }
}

/// Ends runs early, with the kernel of a GPU on threads if `blocks`.
pub(super) fn compare_limits(numbers: std::ops::Range<usize>, blocks: bool) {
    for number in numbers {
        let graph = graph(number);
        let kept = Kept::of(&graph);
        for (kind, limit) in [
            (AnalysisKind::Bfs, 1),
            (AnalysisKind::Bfs, 3),
            (AnalysisKind::Reach, 2),
            (AnalysisKind::Pagerank, 4),
        ] {
            let mut request = on(kind, &[0], 2);
            request.max_iterations = NonZeroU32::new(limit);
            let resident = execute(&graph, &request).unwrap();
            let mut options = options(number);
            options.blocks = blocks;
            let streamed = kept.run(&request, options).unwrap();
            let case = format!("graph {number}, {kind} to {limit}");
            assert_eq!(streamed.values, resident.values, "{case}");
            assert_eq!(streamed.converged, resident.converged, "{case}");
        }
    }
}

#[test]
fn limits_of_iterations_end_searches_alike() {
    compare_limits(0..48, false);
}

/// Distances of 64 bits, and floats beyond the largest.
#[test]
fn long_paths_are_wide_or_refused_with_their_edge() {
    let edges: Vec<_> = (0..300).map(|at| (at, at + 1, u32::MAX - 5)).collect();
    let graph = Graph::from_weighted_edges(301, &edges, false).unwrap();
    let request = on(AnalysisKind::Sssp, &[0], 2);
    let wide = Kept::of(&graph).run(&request, windows(64)).unwrap();
    assert_eq!(wide.values, oracle::distances(&graph, &[0]));
    assert!(matches!(wide.values, Column::U64(_)));

    let edges: Vec<_> = (0..300).map(|at| (at, at + 1, 2e37)).collect();
    let graph = Graph::from_float_edges(301, &edges, false).unwrap();
    assert_eq!(graph.weight_kind(), Some(WeightKind::Float));
    let expected = execute(&graph, &request).unwrap_err();
    let found = Kept::of(&graph).run(&request, windows(64)).unwrap_err();
    assert_eq!(found.to_string(), expected.to_string());
}

/// A path around a long edge: the sum over the edge exceeds a word, but the distance does not.
#[test]
fn sums_that_no_distance_needs_do_no_harm() {
    let most = u32::MAX - 1;
    let edges = [(0, 1, most), (1, 2, most), (0, 3, 1), (3, 2, 1)];
    let graph = Graph::from_weighted_edges(4, &edges, false).unwrap();
    let request = on(AnalysisKind::Sssp, &[0], 1);
    let streamed = Kept::of(&graph).run(&request, windows(64)).unwrap();
    assert_eq!(streamed.values, Column::U32(vec![0, most, 2, 1]));
}

#[test]
fn unit_weights_count_edges() {
    let graph = Graph::from_edges(4, &[(0, 1), (1, 2), (2, 3)], false).unwrap();
    let mut options = windows(64);
    options.unit_weights = true;
    let request = on(AnalysisKind::Sssp, &[0], 1);
    let outcome = Kept::of(&graph).run(&request, options).unwrap();
    assert_eq!(outcome.values, Column::U32(vec![0, 1, 2, 3]));
}

/// One edge of a long path has work at a time: most windows are skipped.
#[test]
fn searches_leave_out_windows_without_work() {
    let nodes = 4_000;
    let edges: Vec<_> = (1..nodes).map(|node| (node - 1, node)).collect();
    let path = Graph::from_edges(nodes, &edges, false).unwrap();
    let request = on(AnalysisKind::Bfs, &[nodes - 10], 1);
    let outcome = Kept::of(&path).run(&request, windows(256)).unwrap();
    let report = outcome.stream.unwrap();
    assert!(
        report.windows > 50 && report.streamed_bytes <= 1024,
        "{report:?}"
    );
    assert!(report.skipped_bytes > 10 * report.streamed_bytes);
}

/// Rows that lower the row before them: no sweep in order of rows does more than one at a time.
#[test]
fn paths_against_the_order_of_rows_take_no_pass_for_each_row() {
    let nodes = 100_000;
    let edges: Vec<_> = (1..nodes).map(|node| (node, node - 1)).collect();
    let path = Graph::from_edges(nodes, &edges, false).unwrap();
    let request = on(AnalysisKind::Bfs, &[nodes - 1], 2);
    let outcome = Kept::of(&path).run(&request, windows(1 << 16)).unwrap();
    let levels = oracle::levels(&path, &[nodes - 1], u32::MAX);
    assert_eq!(outcome.values, Column::U32(levels));
    let report = outcome.stream.unwrap();
    assert!(report.passes <= report.windows, "{report:?}");
}

/// Every edge is passed once, with its row and its weight, in the caller's buffers.
#[test]
fn a_pass_of_a_caller_sees_each_edge_once() {
    for number in 0..24 {
        let graph = graph(number);
        let streamed = Kept::of(&graph).open();
        let plan = streamed.windows([64, 256, 8192][number % 3], true);
        let each = plan.buffer_bytes() as usize + 4096;
        let mut memory = vec![0; (1 + number % 4) * each];
        let found = Mutex::new(Vec::new());
        let mut pass = Pass::new(memory.chunks_exact_mut(each).collect());
        pass.threads = NonZeroUsize::new(1 + number % 3).unwrap();
        let report = streamed.pass(&plan, pass, &|window| {
            let mut found = found.lock().unwrap();
            for row in window.rows.clone() {
                let weights = window.weights.unwrap();
                found.extend(
                    window
                        .row(row)
                        .map(|at| (row, window.targets[at], weights[at])),
                );
            }
        });
        assert_eq!(report.unwrap().passes, 1);
        let mut expected = Vec::new();
        for node in 0..graph.nodes() {
            let edges = graph.outgoing().row(node);
            let edge = |at: usize| (node, graph.targets()[at], graph.weights().unwrap()[at]);
            expected.extend(edges.map(edge));
        }
        let mut found = found.into_inner().unwrap();
        found.sort_unstable();
        assert_eq!(found, expected, "graph {number}");
    }
}

#[test]
fn buffers_that_are_too_short_are_refused() {
    let streamed = Kept::of(&graph(5)).open();
    let plan = streamed.windows(256, false);
    let mut memory = vec![0; plan.buffer_bytes() as usize - 1];
    for buffers in [vec![], vec![&mut memory[..]]] {
        let refused = streamed
            .pass(&plan, Pass::new(buffers), &|_| {})
            .unwrap_err();
        assert!(
            refused.to_string().contains("the buffer of a window"),
            "{refused}"
        );
    }
}
