//! Jobs whose times were measured, and what follows from them.

use super::*;
use crate::analysis::Ranking;
use crate::cost::{CpuCosts, GpuCosts, Tally};

/// The machine of docs/performance.md.
fn costs() -> Costs {
    Costs {
        cpu: CpuCosts::default_for(16),
        gpu: GpuCosts::default(),
    }
}

/// An analysis and its job.
type Pair = (AnalysisKind, Job);

fn predict((analysis, job): &Pair, costs: &Costs) -> Prediction {
    super::predict(*analysis, job, costs)
}

fn job(analysis: AnalysisKind, nodes: f64, edges: f64, tally: Tally) -> Pair {
    let rounds = analysis.definition().rounds_predicted(Ranking::default());
    let job = Job {
        nodes,
        edges,
        weighted: analysis.reads_weights(),
        can_pull: true,
        tally,
        sources: 1.0,
        rounds: rounds.clamp(1.0, 1e9),
        repeat: 1.0,
    };
    (analysis, job)
}

fn rmat(analysis: AnalysisKind) -> Pair {
    let mut tally = Tally::default();
    [1.0, 30.0, 20_000.0, 1_800_000.0, 550_000.0, 9_000.0, 60.0]
        .into_iter()
        .for_each(|width| tally.count(width));
    job(analysis, 4_194_304.0, 128_312_678.0, tally)
}

fn uniform() -> Pair {
    let mut tally = Tally::default();
    [
        1.0,
        32.0,
        1024.0,
        32_000.0,
        900_000.0,
        3_200_000.0,
        60_000.0,
    ]
    .into_iter()
    .for_each(|width| tally.count(width));
    job(AnalysisKind::Bfs, 4_194_304.0, 134_217_196.0, tally)
}

fn grid(side: f64) -> Pair {
    let tally = Tally::of_growth(side * side, 2.0 * side - 1.0, 2.0);
    job(AnalysisKind::Bfs, side * side, 4.0 * side * side, tally)
}

fn chain() -> Pair {
    let tally = Tally::of_growth(262_144.0, 73_934.0, 1.0);
    let (analysis, mut chain) = job(AnalysisKind::Bfs, 262_144.0, 327_000.0, tally);
    chain.can_pull = false;
    (analysis, chain)
}

/// Measured milliseconds on one thread, on 16 threads and on the GPU.
fn measured() -> [(&'static str, Pair, [f64; 3]); 5] {
    [
        ("rmat22", rmat(AnalysisKind::Bfs), [136.0, 11.9, 0.57]),
        ("uniform22", uniform(), [98.0, 13.5, 0.57]),
        ("grid2048", grid(2048.0), [141.0, 14.0, 10.5]),
        ("grid512", grid(512.0), [4.0, 2.5, 2.05]),
        ("chain", chain(), [3.9, 6.4, 50.3]),
    ]
}

#[test]
fn predictions_are_within_a_factor_of_two_of_measurements() {
    for (name, job, expected) in measured() {
        let p = predict(&job, &costs());
        for (predicted, measured) in [p.one_ns, p.all_ns, p.gpu_ns].into_iter().zip(expected) {
            let ratio = predicted / (measured * 1e6);
            assert!(
                (0.5..2.0).contains(&ratio),
                "{name}: {measured} ms, {predicted} ns"
            );
        }
    }
}

#[test]
fn the_faster_number_of_threads_is_the_measured_one() {
    for (name, job, [one, all, _]) in measured() {
        let expected = if one < all {
            Candidate::OneThread
        } else {
            Candidate::AllThreads
        };
        assert_eq!(predict(&job, &costs()).best_cpu(), expected, "{name}");
    }
}

#[test]
fn deep_narrow_searches_belong_on_the_cpu_and_wide_ones_on_the_gpu() {
    // So many runs that opening the GPU hardly counts.
    let best = |(analysis, job): &Pair| {
        let repeat = 1e4;
        predict(&(*analysis, Job { repeat, ..*job }), &costs()).best()
    };
    assert_eq!(best(&chain()), Candidate::OneThread);
    assert_eq!(best(&grid(512.0)), Candidate::Gpu);
    assert_eq!(best(&grid(2048.0)), Candidate::Gpu);
    assert_eq!(best(&rmat(AnalysisKind::Bfs)), Candidate::Gpu);
    assert_eq!(best(&rmat(AnalysisKind::Sssp)), Candidate::Gpu);
    assert_eq!(best(&rmat(AnalysisKind::Pagerank)), Candidate::Gpu);
    assert_eq!(best(&rmat(AnalysisKind::Cc)), Candidate::Gpu);
}

#[test]
fn a_single_run_bears_the_opening_of_a_gpu() {
    let once = predict(&rmat(AnalysisKind::Bfs), &costs());
    assert_eq!(once.best(), Candidate::AllThreads);
    assert!(once.is_too_small_for_a_gpu());
    let reason = once.small_reason();
    assert!(
        reason.ends_with("opening one takes about 250.0 ms"),
        "{reason}"
    );
    let ranks = predict(&rmat(AnalysisKind::Pagerank), &costs());
    assert_eq!(ranks.best(), Candidate::Gpu);
    assert!(!ranks.is_too_small_for_a_gpu());
}

#[test]
fn ties_go_to_one_thread() {
    let p = Prediction {
        one_ns: 1.05e6,
        all_ns: 1e6,
        ..predict(&chain(), &costs())
    };
    assert_eq!((p.best_cpu(), p.cpu_ns()), (Candidate::OneThread, 1.05e6));
}

#[test]
fn a_small_graph_is_not_worth_a_launch() {
    let mut tally = Tally::default();
    tally.count(10.0);
    let small = job(AnalysisKind::Cc, 100.0, 400.0, tally);
    assert_eq!(predict(&small, &costs()).best(), Candidate::OneThread);
}

#[test]
fn paths_ranks_and_components_cost_about_as_measured_on_the_gpu() {
    for (analysis, milliseconds) in [
        (AnalysisKind::Sssp, 7.4),
        (AnalysisKind::Cc, 0.91),
        (AnalysisKind::Pagerank, 57.0 * 0.99),
    ] {
        let predicted = predict(&rmat(analysis), &costs()).gpu_ns;
        let ratio = predicted / (milliseconds * 1e6);
        assert!((0.5..2.0).contains(&ratio), "{analysis}: {predicted}");
    }
}

#[test]
fn an_iteration_of_ranks_costs_about_as_measured_on_the_cpu() {
    let (analysis, mut iteration) = rmat(AnalysisKind::Pagerank);
    iteration.rounds = 1.0;
    let p = predict(&(analysis, iteration), &costs());
    for (predicted, milliseconds) in [(p.one_ns, 630.0), (p.all_ns, 62.0)] {
        let ratio = predicted / (milliseconds * 1e6);
        assert!((0.5..2.0).contains(&ratio), "{milliseconds}: {predicted}");
    }
}

#[test]
fn the_reason_reads_as_a_sentence() {
    let text = predict(&chain(), &costs()).reason();
    assert_eq!(
        text,
        "the CPU is the better machine for 1 run of this job: about 4.2 ms a run on one thread; about 45.0 ms on the GPU, which takes 250.0 ms to open and 73.0 us to upload to"
    );
    let ranks = predict(&rmat(AnalysisKind::Pagerank), &costs());
    let text = ranks.reason();
    assert!(
        text.starts_with("the GPU is the better machine for 1 run"),
        "{text}"
    );
    assert!(text.ends_with("a run on 16 CPU threads"), "{text}");
}

#[test]
fn a_graph_without_nodes_costs_a_start() {
    let empty = job(AnalysisKind::Pagerank, 0.0, 0.0, Tally::default());
    assert!(predict(&empty, &costs()).one_ns.is_finite());
}
