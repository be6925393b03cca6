//! Batches whose times were measured, and what follows from them.

use super::*;
use crate::analysis::Ranking;
use crate::cost::{CpuCosts, GpuCosts, Tally};

/// Multiprocessors of the GPU of docs/performance.md.
const UNITS: u32 = 132;

fn costs() -> Costs {
    Costs {
        cpu: CpuCosts::default_for(16),
        gpu: GpuCosts::default(),
    }
}

fn search(nodes: f64, edges: f64, levels: f64) -> Job {
    Job {
        nodes,
        edges,
        weighted: false,
        can_pull: false,
        tally: Tally::of_growth(nodes, levels, 1.0),
        sources: 1.0,
        rounds: f64::INFINITY,
        repeat: 1.0,
    }
}

fn batch(graph: Job, graphs: f64, repeat: f64) -> BatchJob {
    BatchJob {
        analysis: AnalysisKind::Bfs,
        graphs,
        bytes: graphs * graph.graph_bytes(),
        largest: graph,
        others: vec![graph],
        scale: graphs - 1.0,
        repeat,
    }
}

/// The mean of `gen:batch:8192:chain:512`.
fn chains(repeat: f64) -> BatchPrediction {
    let job = batch(search(512.0, 634.0, 150.0), 8192.0, repeat);
    predict_batch(&job, &costs(), UNITS)
}

#[test]
fn predictions_are_within_a_factor_of_two_of_measurements() {
    let p = chains(1.0);
    for (predicted_ns, milliseconds) in [
        (p.gpu.run_ns, 1.75),
        (p.gpu.run_ns - 8192.0 * CONTROL_NS, 0.83),
        (p.cpu.run_ns, 7.2),
        (p.total_ns(p.gpu), 259.0),
        (p.total_ns(p.cpu), 86.0),
    ] {
        let ratio = predicted_ns / (milliseconds * 1e6);
        assert!((0.5..2.0).contains(&ratio), "{milliseconds}: {ratio}");
    }
}

#[test]
fn a_batch_of_small_graphs_is_for_the_gpu_if_it_runs_often() {
    assert!(!chains(1.0).is_for_gpu());
    assert!(!chains(25.0).is_for_gpu());
    assert!(chains(200.0).is_for_gpu());
}

#[test]
fn a_batch_of_larger_graphs_is_for_the_gpu_at_once() {
    let analysis = AnalysisKind::Pagerank;
    let ranks = |nodes: f64| Job {
        rounds: analysis.definition().rounds_predicted(Ranking::default()),
        ..search(nodes, 16.0 * nodes, 1.0)
    };
    let best = |nodes| {
        let job = BatchJob {
            analysis,
            ..batch(ranks(nodes), 256.0, 1.0)
        };
        predict_batch(&job, &costs(), UNITS)
    };
    assert!(best(100e3).is_for_gpu(), "{}", best(100e3).reason());
    assert!(!best(100.0).is_for_gpu(), "{}", best(100.0).reason());
}

#[test]
fn no_machine_is_faster_than_with_its_largest_graph_alone() {
    let small = search(512.0, 634.0, 150.0);
    let job = BatchJob {
        largest: search(1e6, 1.25e6, 300e3),
        ..batch(small, 100.0, 1.0)
    };
    let p = predict_batch(&job, &costs(), UNITS);
    // A million nodes of 13 ns on a thread, 300 000 levels of 600 ns in a block.
    assert!(p.cpu.run_ns > 13e6, "{p:?}");
    assert!(p.gpu.run_ns > 180e6, "{p:?}");
}

#[test]
fn the_reason_has_figures_of_both_machines() {
    assert_eq!(
        chains(1.0).reason(),
        "the CPU is the better machine for 1 run of this batch: about 70.0 ms on 16 CPU threads, 4.4 ms a run; about 250.0 ms on the GPU, 1.8 ms a run"
    );
    let text = chains(1000.0).reason();
    assert!(
        text.starts_with("the GPU is the better machine for 1,000 runs"),
        "{text}"
    );
}
