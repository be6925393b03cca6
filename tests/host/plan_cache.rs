//! Plans that are made once: the number of encode calls equals that of distinct shapes, and no
//! result depends on the cache.

use seawall::analysis::AnalysisKind;
use seawall::batch::{self, BatchControl, BatchGraph};
use seawall::graph::Graph;
use seawall::program::PlanCache;
use seawall::run::{Analyzer, Machine, RunRequest};
use std::num::NonZeroUsize;

fn chain(nodes: u32) -> Graph {
    let edges: Vec<_> = (1..nodes).map(|node| (node - 1, node)).collect();
    Graph::from_edges(nodes, &edges, true).unwrap()
}

fn request(kind: AnalysisKind) -> RunRequest {
    RunRequest::new(kind, vec![0]).on(Machine::cpu(NonZeroUsize::new(2)))
}

const KINDS: [AnalysisKind; 4] = [
    AnalysisKind::Bfs,
    AnalysisKind::Cc,
    AnalysisKind::Reach,
    AnalysisKind::Kcore,
];

#[test]
fn an_analyzer_plans_each_shape_once_however_requests_alternate() {
    let graph = chain(300);
    let mut with = Analyzer::new(&graph);
    let mut without = Analyzer::new(&graph);
    for round in 0_u64..3 {
        for (kind, number) in KINDS.into_iter().zip(1_u64..) {
            let mut request = request(kind);
            let cached = with.run(&request).unwrap();
            request.reuse_plans = false;
            let anew = without.run(&request).unwrap();
            assert_eq!(cached.values, anew.values, "{kind}");
            assert_eq!(cached.plan, anew.plan, "{kind}");
            let shapes = number.max(4 * round.min(1));
            assert_eq!(cached.plans.encodes, shapes, "{kind} in round {round}");
            assert_eq!(cached.plans.cache.misses, shapes);
            assert_eq!(cached.plans.cache.hits, 4 * round + number - shapes);
            assert_eq!(anew.plans.encodes, 4 * round + number);
        }
    }
}

#[test]
fn a_smaller_cache_forgets_and_answers_alike() {
    let graph = chain(300);
    let mut roomy = Analyzer::new(&graph);
    for capacity in 0..4 {
        let mut small = Analyzer::new(&graph).with_plans(PlanCache::new(capacity));
        for kind in KINDS.into_iter().chain(KINDS) {
            let [small, roomy] =
                [&mut small, &mut roomy].map(|analyzer| analyzer.run(&request(kind)).unwrap());
            assert_eq!(small.values, roomy.values, "{kind}");
            // Each was evicted before it was requested again.
            assert_eq!(small.plans.cache.hits, 0);
        }
    }
}

#[test]
fn budgets_and_machines_have_plans_of_their_own() {
    let graph = chain(3_000);
    let mut analyzer = Analyzer::new(&graph);
    let free = analyzer.run(&request(AnalysisKind::Bfs));
    let free = free.unwrap();
    let mut tight = request(AnalysisKind::Bfs);
    tight.machine.budget_bytes = Some(free.memory.predicted_bytes + 4_096);
    let mut plans = Vec::new();
    for request in [&tight, &request(AnalysisKind::Bfs), &tight] {
        let outcome = analyzer.run(request).unwrap();
        assert_eq!(outcome.values, free.values);
        plans.push(outcome.plans.encodes);
    }
    assert_eq!(plans, [2, 2, 2]);
}

#[test]
fn an_overflowed_search_is_planned_anew_once() {
    let graph = chain(4).with_unit_weights().unwrap();
    let (graph, _) = graph.with_scaled_weights(4e9).unwrap();
    let mut analyzer = Analyzer::new(&graph);
    for _ in 0..3 {
        let outcome = analyzer.run(&request(AnalysisKind::Sssp)).unwrap();
        assert_eq!(outcome.plans.encodes, 2, "in 32 bits and in 64");
    }
}

#[test]
fn a_batch_plans_each_size_once_and_a_second_batch_none() {
    let graphs: Vec<Graph> = (0..60).map(|number| chain(10 + number % 7)).collect();
    let named: Vec<_> = graphs
        .iter()
        .map(|graph| BatchGraph::new("chain", graph, vec![0]))
        .collect();
    let mut plans = PlanCache::new(16);
    let mut request = request(AnalysisKind::Bfs);
    let run = |request: &RunRequest, plans: &mut PlanCache| {
        let control = BatchControl {
            plans: Some(plans),
            ..BatchControl::default()
        };
        batch::execute_with(&named, request, control).unwrap()
    };
    for _ in 0..2 {
        let outcome = run(&request, &mut plans);
        assert_eq!((outcome.programs, outcome.plans.encodes), (7, 7));
    }
    let cached = run(&request, &mut plans);
    request.reuse_plans = false;
    let anew = run(&request, &mut PlanCache::new(16));
    assert_eq!(anew.plans.encodes, 60);
    for (cached, anew) in cached.graphs.iter().zip(&anew.graphs) {
        assert_eq!(cached.run.values, anew.run.values);
    }
}
