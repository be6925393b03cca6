//! Budgets of memory and time, cancelling, and requests that do not stream.

use super::{Kept, STREAMING, on, windows};
use seawall::analysis::Detail;
use seawall::backend::BackendError;
use seawall::graph::{LoadOptions, load};
use seawall::run::{AnalysisKind, Executor, Machine, RunError};
use seawall::stream::StreamOptions;
use seawall_core::topology::Topology;

fn grid() -> Kept {
    let options = LoadOptions {
        weights: seawall::graph::WeightChoice::Given,
        ..LoadOptions::default()
    };
    let grid = load("gen:grid:150", &options, None).unwrap().graph;
    Kept::of(&grid)
}

#[test]
fn a_refusal_names_the_least_budget_and_that_budget_gives_the_same_answer() {
    let kept = grid();
    for kind in STREAMING {
        let mut request = on(kind, &[7], 2);
        let free = kept.run(&request, StreamOptions::default()).unwrap();
        request.machine.budget_bytes = Some(0);
        let refused = kept.run(&request, StreamOptions::default()).unwrap_err();
        let RunError::StreamOverBudget { needed_bytes, .. } = refused else {
            panic!("{refused:?}");
        };
        request.machine.budget_bytes = Some(needed_bytes);
        let tight = kept.run(&request, StreamOptions::default()).unwrap();
        assert_eq!(tight.values, free.values, "{kind}");
        assert!(tight.memory.allocated_bytes <= needed_bytes, "{kind}");
        request.machine.budget_bytes = Some(needed_bytes - 1);
        assert!(
            kept.run(&request, StreamOptions::default()).is_err(),
            "{kind}"
        );
    }
}

#[test]
fn the_time_budget_ends_a_run_between_windows() {
    let kept = grid();
    for kind in STREAMING {
        let mut request = on(kind, &[0], 2);
        request.machine.time_budget_ns = 1;
        let ended = kept.run(&request, windows(64)).unwrap_err();
        assert!(
            matches!(ended, RunError::StreamTime { pass: 1, .. }),
            "{ended:?}"
        );
    }
}

#[test]
fn a_canceller_ends_a_run_and_the_next_one_answers() {
    let streamed = grid().open();
    let canceller = streamed.canceller();
    let request = on(AnalysisKind::Pagerank, &[], 2);
    let mut cancel = |_| canceller.cancel();
    let ended = streamed
        .run_with_progress(&request, windows(4096), &mut cancel)
        .unwrap_err();
    assert!(matches!(ended, RunError::Backend(BackendError::Cancelled)));
    assert!(streamed.run(&request, windows(4096)).is_ok());
}

#[test]
fn what_does_not_stream_is_refused_by_name() {
    let kept = grid();
    let mut requests: Vec<_> = AnalysisKind::ALL
        .into_iter()
        .filter(|kind| !STREAMING.contains(kind))
        .map(|kind| on(kind, &[0], 1))
        .collect();
    let mut each = on(AnalysisKind::Reach, &[0], 1);
    each.detail = Detail::EachSource;
    let mut shaped = on(AnalysisKind::Bfs, &[0], 1);
    shaped.topology = Some(Topology::Dense);
    let launches = on(AnalysisKind::Bfs, &[0], 1).on(Machine::gpu(Executor::Launches, 0));
    requests.extend([each, shaped, launches]);
    for request in requests {
        let refused = kept.run(&request, StreamOptions::default()).unwrap_err();
        assert!(
            matches!(refused, RunError::CannotStream { .. }),
            "{refused:?}"
        );
        assert!(
            refused
                .to_string()
                .contains("bfs or reach or cc or sssp or pagerank")
        );
    }
}

#[test]
fn sources_and_weights_are_checked() {
    let kept = grid();
    let far = kept.run(
        &on(AnalysisKind::Bfs, &[22_500], 1),
        StreamOptions::default(),
    );
    assert!(matches!(
        far,
        Err(RunError::NoSuchSource {
            source_node: 22_500,
            ..
        })
    ));
    let none = kept.run(&on(AnalysisKind::Bfs, &[], 1), StreamOptions::default());
    assert!(matches!(none, Err(RunError::NoSource { .. })));
    let plain = load("gen:grid:5", &LoadOptions::default(), None)
        .unwrap()
        .graph;
    let light = Kept::of(&plain).run(&on(AnalysisKind::Sssp, &[0], 1), StreamOptions::default());
    assert!(matches!(light, Err(RunError::NoWeights { .. })));
}

#[test]
fn windows_have_sizes() {
    let kept = grid();
    let request = on(AnalysisKind::Cc, &[], 1);
    for (asked, taken) in [(1, 64), (64, 64), (65, 128), (1 << 20, 1 << 20)] {
        let outcome = kept.run(&request, windows(asked)).unwrap();
        assert_eq!(outcome.stream.unwrap().window_bytes, taken);
    }
    let mut bounded = request.clone();
    bounded.machine.budget_bytes = Some(1 << 30);
    let refused = kept.run(&bounded, windows(u64::MAX)).unwrap_err();
    assert!(matches!(refused, RunError::StreamOverBudget { .. }));
}

/// A ring whose search hops from window to window, against their order.
#[test]
fn a_report_lists_4096_passes() {
    let nodes = 5_000 * 16;
    let edges: Vec<_> = (0..nodes)
        .map(|node| (node, (node + nodes - 16) % nodes))
        .collect();
    let ring = seawall::graph::Graph::from_edges(nodes, &edges, false).unwrap();
    let request = on(AnalysisKind::Bfs, &[0], 1);
    let outcome = Kept::of(&ring).run(&request, windows(64)).unwrap();
    let report = outcome.stream.unwrap();
    assert_eq!(report.pass_list.len(), seawall::stream::PASSES_KEPT);
    assert!(report.passes > 4_900, "{}", report.passes);
}
