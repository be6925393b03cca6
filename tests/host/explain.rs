//! Reasons of steps: every rule that decides the shape of a search's step decides one here, from
//! the counters of a real run.

use seawall::analysis::{self, AnalysisKind, Question};
use seawall::backend::{RunStats, Settings, StepTaken, open};
use seawall::executor::{Executor, Machine};
use seawall::graph::{Graph, LoadOptions, load};
use seawall::program::PlanRequest;
use seawall_core::abi::search::SearchPolicy;
use seawall_core::abi::trace::StepReason;
use seawall_core::topology::{Reason, Topology};
use std::ffi::OsStr;
use std::num::NonZeroUsize;

fn graph(name: &str) -> Graph {
    let options = LoadOptions {
        undirected: true,
        ..LoadOptions::default()
    };
    load(OsStr::new(name), &options, None).unwrap().graph
}

/// Levels of a search from node 0 under a policy, and its run.
fn search(graph: &Graph, change: impl FnOnce(&mut SearchPolicy)) -> (Vec<u32>, RunStats) {
    let question = Question::new(vec![0]);
    let built = analysis::build(AnalysisKind::Bfs, graph, &question).unwrap();
    let (mut encoded, _) = built.program.encode(&PlanRequest::default()).unwrap();
    change(&mut encoded.search);
    let machine = Machine::cpu(NonZeroUsize::new(2));
    let mut session = open(graph, Executor::Cpu, (&machine, Settings::default())).unwrap();
    session.trace_runs(true);
    session.load(&encoded).unwrap();
    let stats = session.run(&built.inputs).unwrap();
    let mut levels = Vec::new();
    session.read(built.result, &mut levels).unwrap();
    (levels, stats)
}

/// A policy that leaves every frontier to the ladder.
fn ladder(policy: &mut SearchPolicy) {
    policy.narrow_nodes = 0;
    policy.pull_edges_min = 1;
}

/// Changes of a policy, with the graph whose search they are for.
type Case = (&'static str, fn(&mut SearchPolicy));

const CASES: [Case; 11] = [
    ("gen:grid:40", |_| ()),
    ("gen:grid:40", |policy| {
        policy.forced = Topology::Dense as u32
    }),
    ("gen:grid:40", |policy| policy.narrow_nodes = 0),
    ("gen:grid:40", ladder),
    ("gen:rmat:10:8", ladder),
    ("gen:rmat:10:16", ladder),
    ("gen:uniform:10:4", ladder),
    ("gen:uniform:8:2", ladder),
    ("gen:rmat:10:8", |policy| {
        ladder(policy);
        policy.memory_pressure_bps = 9_000;
    }),
    ("gen:rmat:10:8", |policy| {
        ladder(policy);
        policy.memory_pressure_bps = 8_800;
    }),
    // A few blocks hold nearly all of the frontier, steps cost more than their edges, and the
    // host would read back after each.
    ("gen:grid:60", |policy| {
        ladder(policy);
        policy.narrow_nodes = 4;
        policy.pull_edges_min = 100;
        policy.readback_bytes = 4_096;
        policy.step_ns = 1_000;
        policy.edge_ps = 1_000;
    }),
];

#[test]
fn every_rule_decides_a_step_of_some_search_and_none_changes_its_levels() {
    let mut found: Vec<StepReason> = Vec::new();
    for (name, change) in CASES {
        let graph = graph(name);
        let (expected, _) = search(&graph, |_| ());
        let (levels, stats) = search(&graph, change);
        assert_eq!(levels, expected, "{name}");
        let trace = stats.trace.unwrap();
        assert_eq!(trace.steps.len(), trace.steps_total as usize, "{name}");
        assert!(!trace.steps.is_empty(), "{name}");
        found.extend(trace.steps.iter().map(|step| step.reason));
    }
    let rules = Reason::ALL.into_iter().map(StepReason::Planned);
    let own = [
        StepReason::Requested,
        StepReason::NarrowFrontier,
        StepReason::TooFewEdgesForASweep,
    ];
    let missing: Vec<_> = rules
        .chain(own)
        .filter(|rule| !found.contains(rule))
        .collect();
    assert_eq!(missing, [], "rules that decided nothing");
}

#[test]
fn steps_follow_each_other_and_their_counters_are_those_of_the_search() {
    let graph = graph("gen:rmat:10:8");
    let (levels, stats) = search(&graph, ladder);
    let steps = stats.trace.unwrap().steps;
    let end = |step: &StepTaken| step.start_ns + step.duration_ns;
    assert!(
        steps
            .windows(2)
            .all(|pair| end(&pair[0]) <= pair[1].start_ns)
    );
    assert!(steps.iter().all(|step| end(step) <= stats.run_ns));
    for step in &steps {
        let level = levels.iter().filter(|level| **level == step.iteration);
        let hybrid = step.nodes == 0;
        assert!(hybrid || level.count() as u32 == step.nodes, "{step:?}");
    }
    let counted: u32 = stats.control.loops[0].steps.iter().sum();
    let compactions = stats.control.loops[0].compactions;
    assert_eq!(steps.len() as u32, counted + compactions);
}
