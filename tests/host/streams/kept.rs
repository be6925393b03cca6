//! Windows that stay in memory once they were read.

use super::alike::graph;
use super::wide::{EACH, NEXT, huge};
use super::{Kept, STREAMING, on, windows};
use seawall::backend::BackendError;
use seawall::outcome::Column;
use seawall::run::{AnalysisKind, RunError, execute};
use seawall::stream::{Keeping, StreamOptions, Streamed};
use std::num::NonZeroU32;

fn keeping(bytes: u64, blocks: bool) -> StreamOptions {
    let mut options = windows(bytes);
    (options.keeping, options.blocks) = (Keeping::Always, blocks);
    options
}

#[test]
fn each_window_is_read_once_and_columns_are_those_of_resident_runs() {
    for number in 0..16 {
        let graph = graph(number);
        let file = Kept::of(&graph);
        for (kind, blocks) in STREAMING
            .iter()
            .flat_map(|kind| [(*kind, false), (*kind, true)])
        {
            let request = on(kind, &[number as u32 % graph.nodes()], 1 + number % 3);
            let resident = execute(&graph, &request).unwrap();
            let streamed = file.run(&request, keeping(64 << (number % 5), blocks));
            let streamed = streamed.unwrap();
            let case = format!("graph {number}, {kind}, blocks {blocks}");
            assert_eq!(streamed.values, resident.values, "{case}");
            let report = streamed.stream.unwrap();
            assert!(report.keeps, "{case}");
            assert!(report.streamed_bytes <= report.edge_bytes, "{case}");
            let passed = report.streamed_bytes + report.kept_bytes + report.skipped_bytes;
            assert_eq!(passed, report.passes * report.edge_bytes, "{case}");
            let runs_on = kind == AnalysisKind::Pagerank && report.passes > 1 && graph.edges() > 0;
            assert!(!runs_on || report.kept_bytes > 0, "{case}");
        }
    }
}

#[test]
fn repetitions_on_threads_read_nothing() {
    let graph = graph(14);
    for kind in STREAMING {
        let mut request = on(kind, &[1], 2);
        request.repeat = NonZeroU32::new(3).unwrap();
        let outcome = Kept::of(&graph).run(&request, keeping(256, false)).unwrap();
        let resident = execute(&graph, &request).unwrap();
        assert_eq!(outcome.values, resident.values, "{kind}");
        let report = outcome.stream.unwrap();
        assert!(
            report.streamed_bytes == 0 && report.kept_bytes > 0,
            "{kind}"
        );
    }
}

#[test]
fn the_budget_holds_all_windows_or_the_run_is_refused_with_the_least_that_does() {
    let file = Kept::of(&graph(14));
    for blocks in [false, true] {
        let mut request = on(AnalysisKind::Pagerank, &[], 2);
        let free = file.run(&request, keeping(256, blocks)).unwrap();
        request.machine.budget_bytes = Some(0);
        let refused = file.run(&request, keeping(256, blocks)).unwrap_err();
        let RunError::StreamOverBudget { needed_bytes, .. } = refused else {
            panic!("{refused:?}");
        };
        request.machine.budget_bytes = Some(needed_bytes);
        let tight = file.run(&request, keeping(256, blocks)).unwrap();
        assert_eq!(tight.values, free.values);
        assert!(tight.stream.unwrap().kept_bytes > 0);
        request.machine.budget_bytes = Some(needed_bytes - 1);
        assert!(file.run(&request, keeping(256, blocks)).is_err());
        // By default a graph of so few edges is resident otherwise.
        let passing = file.run(&request, windows(256)).unwrap();
        assert!(!passing.stream.unwrap().keeps);
    }
}

/// The file has holes whose pages are never read, and neither are the buffers of their windows.
#[test]
fn a_graph_of_more_than_2_to_the_32_edges_is_resident_where_it_fits() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("huge.swg");
    assert!(huge(&path, EACH) > 1 << 32);
    let streamed = Streamed::open(&path).unwrap().unwrap();
    let mut request = on(AnalysisKind::Bfs, &[0], 2);
    request.max_iterations = NonZeroU32::new(2);
    request.repeat = NonZeroU32::new(2).unwrap();
    for budget in [None, Some(1 << 30)] {
        request.machine.budget_bytes = budget;
        let mut options = windows(64 << 10);
        if budget.is_none() {
            options.keeping = Keeping::Always;
        }
        let outcome = match streamed.run(&request, options) {
            Err(RunError::Backend(short @ BackendError::OutOfMemory { .. })) => {
                eprintln!("skipped: {short}");
                continue;
            }
            outcome => outcome.unwrap(),
        };
        let Column::U32(levels) = outcome.values else {
            panic!("no levels");
        };
        let reached = (0..).zip(&levels).filter(|(_, level)| **level != u32::MAX);
        let reached: Vec<(u32, u32)> = reached.map(|(node, level)| (node, *level)).collect();
        assert_eq!(reached, [(0, 0), (3, 2), (NEXT, 1), (NEXT + 1, 2)]);
        let report = outcome.stream.unwrap();
        assert_eq!(report.keeps, budget.is_none());
        assert_eq!(report.streamed_bytes == 0, report.keeps);
    }
}
