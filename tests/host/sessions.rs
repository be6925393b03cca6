//! Sessions: requests move the bytes that the session plan predicts, run after run.

use seawall::analysis::AnalysisKind;
use seawall::graph::Graph;
use seawall::outcome::RunOutcome;
use seawall::run::{Analyzer, Detail, Machine, RunRequest};
use seawall_oracles::graphs::{SHAPES, draw};
use seawall_oracles::random::Random;
use std::num::{NonZeroU32, NonZeroUsize};

fn run(analyzer: &mut Analyzer<'_>, request: &RunRequest) -> RunOutcome {
    let outcome = analyzer.run(request).unwrap();
    let session = outcome.session;
    assert_eq!(session.predicted, session.counted, "{}", request.analysis);
    assert_eq!(session.peak_bytes, outcome.memory.predicted_bytes);
    outcome
}

fn request(kind: AnalysisKind, repeat: u32) -> RunRequest {
    let mut request = RunRequest::new(kind, vec![0]).on(Machine::cpu(NonZeroUsize::new(2)));
    request.repeat = NonZeroU32::new(repeat).unwrap();
    request
}

#[test]
fn each_request_moves_what_was_predicted_for_it() {
    for (number, shape) in SHAPES.into_iter().enumerate() {
        let mut random = Random::new(number as u64);
        let graph = draw(shape, 200, true, &mut random).graph().unwrap();
        let graph = graph.with_drawn_weights(7).unwrap();
        let mut analyzer = Analyzer::new(&graph);
        for round in 0..2 {
            for (kind, repeat) in AnalysisKind::ALL
                .into_iter()
                .zip([1, 2, 3].into_iter().cycle())
            {
                let mut request = request(kind, repeat);
                run(&mut analyzer, &request);
                if kind == AnalysisKind::Bfs && round == 1 {
                    request.detail = Detail::Parents;
                    run(&mut analyzer, &request);
                }
            }
        }
    }
}

#[test]
fn a_second_run_uploads_and_allocates_nothing_but_its_inputs() {
    let graph = Graph::from_edges(4, &[(0, 1), (1, 2), (2, 3)], false).unwrap();
    let mut analyzer = Analyzer::new(&graph);
    let first = run(&mut analyzer, &request(AnalysisKind::Bfs, 3)).session;
    assert_eq!((first.counted.graph_uploads, first.counted.runs), (1, 3));
    assert_eq!(first.counted.allocations, 3);
    assert_eq!(first.reuse_rate_ppm, Some(666_666));
    assert_eq!(first.avoided_upload_ppm, Some(666_666));
    let second = run(&mut analyzer, &request(AnalysisKind::Bfs, 1)).session;
    let counted = second.counted;
    assert_eq!(
        (
            counted.graph_uploads,
            counted.graph_bytes,
            counted.allocations
        ),
        (0, 0, 0)
    );
    assert_eq!(counted.input_bytes, first.counted.input_bytes / 3);
    assert_eq!((counted.runs, counted.readback_bytes), (1, 16));
    assert_eq!(
        (second.reuse.cold_uploads, second.reuse.warm_reuses),
        (1, 3)
    );
    let other = run(&mut analyzer, &request(AnalysisKind::Reach, 1)).session;
    assert_eq!(
        (other.counted.graph_bytes, other.counted.allocations),
        (0, 3)
    );
}

#[test]
fn a_search_that_outgrows_its_words_is_predicted_with_both_programs() {
    let graph = Graph::from_edges(4, &[(0, 1), (1, 2), (2, 3)], false).unwrap();
    let graph = graph.with_unit_weights().unwrap();
    let (graph, _) = graph.with_scaled_weights(4e9).unwrap();
    let outcome = run(&mut Analyzer::new(&graph), &request(AnalysisKind::Sssp, 2));
    assert_eq!(
        (
            outcome.session.counted.runs,
            outcome.session.counted.allocations
        ),
        (4, 6)
    );
    assert_eq!(outcome.session.counted.readback_bytes, 32);
}
