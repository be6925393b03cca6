use super::*;
use crate::graph::{LoadOptions, load};
use seawall_core::evidence::{EvidenceError as Refusal, verify};
use std::sync::atomic::{AtomicU64, Ordering};

/// A counter that moves once, as if only the probe allocated.
fn probed() -> impl Fn() -> u64 {
    let calls = AtomicU64::new(0);
    move || calls.fetch_add(1, Ordering::Relaxed).min(1)
}

fn request<'a>(against: Orchestration, allocations: &'a dyn Fn() -> u64) -> EvidenceRequest<'a> {
    EvidenceRequest {
        machine: Machine::cpu(None),
        settings: Settings::default(),
        against,
        repetitions: NonZeroU32::new(64).unwrap(),
        allocations,
    }
}

fn graph(name: &str) -> Graph {
    load(name, &LoadOptions::default(), None).unwrap().graph
}

/// The sample of a comparison, as if from an accepted device.
fn as_of_a_gpu(measured: &Measurement) -> Sample<'static> {
    let sample = measured.sample();
    assert_eq!(sample.backend_id, "cpu");
    Sample {
        backend_id: BACKEND,
        device_memory_bytes: 1 << 36,
        compute_capability_major: 9,
        graph_nodes: sample.graph_nodes.max(10_000),
        graph_edges: sample.graph_edges.max(80_000),
        ..sample
    }
}

#[test]
fn a_resident_run_that_uploads_nothing_is_accepted() {
    let graphs = ["gen:grid:8", "gen:grid:9"].map(graph);
    let samples = graphs.each_ref().map(|graph| {
        let measured = measure(graph, &request(Orchestration::Baseline, &probed())).unwrap();
        assert_eq!(
            (measured.repetitions, measured.region),
            (64, HostWork::default())
        );
        assert!(measured.setup_ns > 0 && measured.host_ns > 0);
        assert_eq!(measured.reuse, measured.planned_reuse);
        assert_eq!(measured.reuse.warm_reuses, 63);
        as_of_a_gpu(&measured)
    });
    let proof = verify(&samples, 1e-9).unwrap();
    assert_eq!((proof.sample_count, proof.total_repetitions), (2, 128));
}

#[test]
fn an_upload_in_the_region_of_the_resident_runs_is_refused() {
    let graph = graph("gen:grid:8");
    let machine = Machine::cpu(None);
    let mut host = backend::open_baseline(&graph, &machine).unwrap();
    // A baseline host in the place of the resident kernel uploads before every wave.
    let mut resident = backend::open_baseline(&graph, &machine).unwrap();
    let sides: [&mut dyn Session; 2] = [host.as_mut(), resident.as_mut()];
    let allocations = probed();
    let asked = request(Orchestration::Baseline, &allocations);
    let measured = compare(&graph, sides, &asked).unwrap();
    assert_eq!(
        (measured.reuse.cold_uploads, measured.reuse.warm_reuses),
        (65, 0)
    );
    assert_ne!(measured.reuse, measured.planned_reuse);
    let sample = as_of_a_gpu(&measured);
    assert!(sample.timed_graph_uploads >= 64 * 15, "{sample:?}");
    let refused = verify(&[sample; 2], 1e-9).unwrap_err();
    assert!(
        matches!(refused, Refusal::PollutedTimedRegion { .. }),
        "{refused}"
    );
}

#[test]
fn allocations_of_resident_runs_are_counted_and_must_be() {
    let graph = graph("gen:grid:8");
    let calls = AtomicU64::new(0);
    let busy = || calls.fetch_add(1, Ordering::Relaxed);
    let asked = request(Orchestration::Baseline, &busy);
    let measured = measure(&graph, &asked).unwrap();
    assert_eq!(measured.allocations, 64);
    let idle = || 7;
    let error = measure(&graph, &request(Orchestration::Baseline, &idle)).unwrap_err();
    assert!(matches!(error, EvidenceError::NotCounted), "{error}");
}

#[test]
fn orchestrations_of_a_gpu_and_empty_graphs_are_refused() {
    let small = graph("gen:grid:2");
    for against in [Orchestration::Launches, Orchestration::Graph] {
        let error = measure(&small, &request(against, &probed())).unwrap_err();
        assert!(matches!(error, EvidenceError::NotOnCpu { .. }), "{error}");
    }
    let empty = Graph::from_edges(0, &[], false).unwrap();
    let error = measure(&empty, &request(Orchestration::Baseline, &probed())).unwrap_err();
    assert!(matches!(error, EvidenceError::NoNode), "{error}");
}
