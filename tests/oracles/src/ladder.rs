//! Each rule for the shape of a search's step decides at least one here, from the counters of a
//! real run.

use seawall::analysis::{self, AnalysisKind, Question};
use seawall::backend::{BackendError, RunStats, Session};
use seawall::graph::{Graph, LoadOptions, load};
use seawall::program::PlanRequest;
use seawall_core::abi::search::SearchPolicy;
use seawall_core::abi::trace::StepReason;
use seawall_core::topology::{Reason, Topology};
use std::ffi::OsStr;

/// Opens a session that can trace the steps of searches.
pub type Open<'t> = &'t dyn for<'g> Fn(&'g Graph) -> Result<Box<dyn Session + 'g>, BackendError>;

/// Returns an undirected graph of a generator.
///
/// # Errors
/// If there is no such graph.
pub fn graph(name: &str) -> Result<Graph, String> {
    let options = LoadOptions {
        undirected: true,
        ..LoadOptions::default()
    };
    Ok(load(OsStr::new(name), &options, None).map_err(text)?.graph)
}

fn text(error: impl std::fmt::Display) -> String {
    error.to_string()
}

/// Levels of a search from node 0 under a policy, and its run.
///
/// # Errors
/// If the run fails.
pub fn search(
    graph: &Graph,
    open: Open<'_>,
    change: fn(&mut SearchPolicy),
) -> Result<(Vec<u32>, RunStats), String> {
    let question = Question::new(vec![0]);
    let built = analysis::build(AnalysisKind::Bfs, graph, &question).map_err(text)?;
    let encoded = built.program.encode(&PlanRequest::default());
    let (mut encoded, _) = encoded.map_err(text)?;
    change(&mut encoded.search);
    let mut session = open(graph).map_err(text)?;
    session.trace_runs(true);
    session.load(&encoded).map_err(text)?;
    let stats = session.run(&built.inputs).map_err(text)?;
    let mut levels = Vec::new();
    session.read(built.result, &mut levels).map_err(text)?;
    Ok((levels, stats))
}

/// A policy that leaves every frontier to the ladder.
pub fn ladder(policy: &mut SearchPolicy) {
    policy.narrow_nodes = 0;
    policy.pull_edges_min = 1;
}

/// A few blocks hold nearly all of the frontier, steps cost more than their edges, and the host
/// would read back after each.
fn nearly_narrow(policy: &mut SearchPolicy) {
    ladder(policy);
    policy.narrow_nodes = 4;
    // A fused step ends as soon as its frontier is no longer narrow, so that pressures decide the
    // next one.
    policy.narrow_exit_nodes = 4;
    policy.pull_edges_min = 100;
    policy.readback_bytes = 4_096;
    policy.step_ns = 1_000;
    policy.edge_ps = 1_000;
}

/// Changes of a policy, with the graph whose search they are for.
type Case = (&'static str, fn(&mut SearchPolicy));

const CASES: [Case; 13] = [
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
    ("gen:grid:60", nearly_narrow),
    // Up to 16 blocks of a cluster hold four nodes each, or eight.
    ("gen:grid:120", nearly_narrow),
    ("gen:grid:200", |policy| {
        nearly_narrow(policy);
        policy.narrow_nodes = 8;
        policy.narrow_exit_nodes = 8;
    }),
];

/// Runs all cases; none may change the levels of its search.
///
/// # Errors
/// The rules that decided no step, or the error.
pub fn check(open: Open<'_>) -> Result<(), String> {
    let mut found: Vec<StepReason> = Vec::new();
    for (name, change) in CASES {
        let graph = graph(name)?;
        let (expected, _) = search(&graph, open, |_| ())?;
        let (levels, stats) = search(&graph, open, change)?;
        if levels != expected {
            return Err(format!("{name}: the levels differ"));
        }
        let trace = stats.trace.unwrap_or_default();
        if trace.steps.is_empty() || trace.steps.len() != trace.steps_total as usize {
            let (kept, all) = (trace.steps.len(), trace.steps_total);
            return Err(format!("{name}: {kept} of {all} steps have a reason"));
        }
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
    if missing.is_empty() {
        return Ok(());
    }
    Err(format!("rules that decided nothing: {missing:?}"))
}
