//! Memory of runs: predicted, allocated, and checked against budgets.

use seawall::analysis::{self, Question};
use seawall::backend::session_bytes;
use seawall::graph::Graph;
use seawall::outcome::Column;
use seawall::program::PlanRequest;
use seawall::run::{AnalysisKind, Detail, Executor, Machine, RunError, RunRequest, execute};
use seawall_oracles::graphs::{self, SHAPES};
use seawall_oracles::random::Random;
use std::num::NonZeroUsize;

const GRAPHS: usize = 102;

/// Graph number `number` of many shapes, weighted, and a source in it.
fn graph(number: usize) -> Graph {
    let mut random = Random::new(number as u64);
    let nodes = [40, 300, 2_000][number % 3];
    let shape = SHAPES[number % SHAPES.len()];
    let undirected = number.is_multiple_of(2);
    let list = graphs::draw(shape, nodes, undirected, &mut random);
    let graph = list.graph().unwrap();
    graph.with_drawn_weights(number as u64).unwrap()
}

/// The analyses that the graph admits, with every detail.
fn requests(graph: &Graph) -> Vec<RunRequest> {
    let machine = Machine::cpu(NonZeroUsize::new(2));
    let fits = |kind: &AnalysisKind| graph.is_symmetric() || !kind.is_undirected();
    let plain = AnalysisKind::ALL.into_iter().filter(fits);
    let mut requests: Vec<_> = plain
        .map(|kind| RunRequest::new(kind, vec![0]).on(machine))
        .collect();
    for (kind, detail) in [
        (AnalysisKind::Bfs, Detail::Parents),
        (AnalysisKind::Reach, Detail::EachSource),
    ] {
        let mut request = RunRequest::new(kind, vec![0]).on(machine);
        request.detail = detail;
        requests.push(request);
    }
    requests
}

fn needed(graph: &Graph, request: &RunRequest) -> u64 {
    let mut request = request.clone();
    request.machine.budget_bytes = Some(0);
    match execute(graph, &request) {
        Err(RunError::OverBudget { needed_bytes, .. }) => needed_bytes,
        other => panic!("{other:?}"),
    }
}

#[test]
fn what_is_predicted_is_what_the_cpu_allocates() {
    for number in 0..GRAPHS {
        let graph = graph(number);
        for request in requests(&graph) {
            let memory = execute(&graph, &request).unwrap().memory;
            let (predicted, allocated) = (memory.predicted_bytes, memory.allocated_bytes);
            assert!(
                allocated <= predicted && predicted <= allocated + allocated / 50,
                "graph {number}, {}: {predicted} predicted, {allocated} allocated",
                request.analysis
            );
        }
    }
}

#[test]
fn a_refusal_names_the_least_budget_and_that_budget_gives_the_same_answer() {
    for number in (0..GRAPHS).step_by(5) {
        let graph = graph(number);
        for mut request in requests(&graph) {
            let free = execute(&graph, &request).unwrap();
            let least = needed(&graph, &request);
            request.machine.budget_bytes = Some(least);
            let tight = execute(&graph, &request).unwrap();
            assert_eq!(
                tight.values, free.values,
                "graph {number}, {}",
                request.analysis
            );
            assert!(tight.memory.allocated_bytes <= least);
            request.machine.budget_bytes = Some(least - 1);
            let refused = execute(&graph, &request);
            assert!(
                matches!(refused, Err(RunError::OverBudget { needed_bytes, .. }) if needed_bytes == least),
                "graph {number}, {}",
                request.analysis
            );
        }
    }
}

/// Analyses that give the same answer within a smaller budget than a run takes without one.
#[test]
fn half_of_the_analyses_have_a_budget_below_what_they_take_without_one() {
    for number in [1, 4, 7, 20, 31] {
        let graph = graph(number);
        let (mut smaller, mut all) = (0, 0);
        for mut request in requests(&graph) {
            let free = execute(&graph, &request).unwrap();
            let least = needed(&graph, &request);
            let predicted = free.memory.predicted_bytes;
            assert!(least <= predicted, "graph {number}, {}", request.analysis);
            println!(
                "graph {number}, {} {:?}: {least} of {predicted}",
                request.analysis, request.detail
            );
            all += 1;
            if least < predicted {
                smaller += 1;
                request.machine.budget_bytes = Some(predicted - 1);
                let tight = execute(&graph, &request).unwrap();
                assert_eq!(
                    tight.values, free.values,
                    "graph {number}, {}",
                    request.analysis
                );
                assert!(tight.memory.allocated_bytes < predicted);
            }
        }
        assert!(2 * smaller >= all, "graph {number}: {smaller} of {all}");
    }
}

/// Searches fall back to one queue if a budget does not fit a frontier: about a third of the memory
/// that they take besides the graph without a budget.
#[test]
fn searches_fit_a_budget_that_holds_no_frontier() {
    for number in 0..30 {
        let graph = graph(number);
        for detail in [Detail::Plain, Detail::Parents] {
            for kind in [AnalysisKind::Bfs, AnalysisKind::Reach] {
                if kind == AnalysisKind::Reach && detail == Detail::Parents {
                    continue;
                }
                let mut request = RunRequest::new(kind, vec![0, graph.nodes() - 1, 0])
                    .on(Machine::cpu(NonZeroUsize::new(2)));
                request.detail = detail;
                request.check = true;
                let free = execute(&graph, &request).unwrap();
                let least = needed(&graph, &request);
                let nodes = u64::from(graph.nodes());
                assert!(
                    least + 8 * nodes <= free.memory.predicted_bytes,
                    "graph {number}, {kind} {detail}: {least}"
                );
                request.machine.budget_bytes = Some(least);
                let tight = execute(&graph, &request).unwrap();
                assert_eq!(tight.checked, Some(true), "graph {number}, {kind} {detail}");
                assert_eq!(tight.values, free.values, "graph {number}, {kind} {detail}");
                let none = if kind == AnalysisKind::Bfs {
                    u32::MAX
                } else {
                    0
                };
                let most = reached_edges(&graph, &tight.values, none);
                let edges = tight.edges_examined.unwrap();
                let all_found = reached(&tight.values, none).count() == graph.nodes() as usize;
                // The nodes found last are not looked at where they are the last of all.
                let holds = edges == most || all_found && edges < most;
                assert!(holds, "graph {number}, {kind}: {edges} of {most}");
            }
        }
    }
}

/// The nodes whose value is not `none`.
fn reached(values: &Column, none: u32) -> impl Iterator<Item = u32> {
    let Column::U32(values) = values else {
        panic!("{values:?}");
    };
    let values = (0..).zip(values);
    values.filter_map(move |(node, value)| (*value != none).then_some(node))
}

/// Edges of the nodes whose value is not `none`.
fn reached_edges(graph: &Graph, values: &Column, none: u32) -> u64 {
    let edges = reached(values, none).map(|node| graph.outgoing().row(node).len() as u64);
    edges.sum()
}

/// The least budget between a refused and an accepted one, by bisection.
fn least_by_halving(works: impl Fn(u64) -> bool, mut high: u64) -> u64 {
    let mut low = 0;
    while low + 1 < high {
        let middle = low + (high - low) / 2;
        if works(middle) {
            high = middle;
        } else {
            low = middle;
        }
    }
    high
}

#[test]
fn halving_finds_the_budget_that_a_refusal_names() {
    let graph = graph(7);
    for request in requests(&graph) {
        let works = |budget_bytes| {
            let mut request = request.clone();
            request.machine.budget_bytes = Some(budget_bytes);
            execute(&graph, &request).is_ok()
        };
        let found = least_by_halving(works, 1 << 24);
        assert_eq!(found, needed(&graph, &request), "{}", request.analysis);
    }
}

/// Allocations of the GPU executors depend only on array lengths: each array, and each part of the
/// tables, rounded up to whole lines.
#[test]
fn what_is_predicted_for_a_gpu_is_the_sum_of_its_allocations() {
    for number in 0..GRAPHS {
        let graph = graph(number);
        for request in requests(&graph) {
            let mut question = Question::new(vec![0]);
            question.detail = request.detail;
            let built = analysis::build(request.analysis, &graph, &question).unwrap();
            let (encoded, _) = built.program.encode(&PlanRequest::default()).unwrap();
            let array = |words: usize| (4 * words as u64).max(256);
            let rows = array(graph.offsets().len()) + array(graph.targets().len());
            let incoming = encoded.needs.incoming && !graph.is_symmetric();
            let weights = encoded.needs.weights.is_some();
            let line = |bytes: usize| bytes.next_multiple_of(256) as u64;
            let tables = line(size_of::<seawall_core::abi::program::LaunchRecord>())
                + line(size_of::<seawall_core::abi::control::ControlRecord>())
                + line(16 * encoded.groups.len())
                + line(48 * encoded.waves.len())
                + line(16 * encoded.registers.len())
                + line(16 * encoded.code.len());
            let digest = 256;
            let allocated = digest
                + rows * if incoming { 2 } else { 1 }
                + if weights {
                    array(graph.targets().len())
                } else {
                    0
                }
                + encoded.arena_bytes.max(256)
                + encoded.input_bytes.max(256)
                + tables;
            for executor in [Executor::Mega, Executor::Launches, Executor::Graph] {
                let predicted = session_bytes(&graph, &encoded, executor);
                assert_eq!(predicted, allocated, "graph {number}, {}", request.analysis);
            }
        }
    }
}
