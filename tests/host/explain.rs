//! Reasons of steps: each rule for the shape of a search's step decides at least one here, from the
//! counters of a real run.

use seawall::backend::cpu::CpuSession;
use seawall::backend::{BackendError, RunLimits, Session, StepTaken};
use seawall::graph::Graph;
use seawall_oracles::ladder;
use std::num::NonZeroUsize;

fn open(graph: &Graph) -> Result<Box<dyn Session + '_>, BackendError> {
    let session = CpuSession::open(graph, NonZeroUsize::new(2), RunLimits::default())?;
    Ok(Box::new(session))
}

#[test]
fn every_rule_decides_a_step_of_some_search_and_none_changes_its_levels() {
    ladder::check(&open).unwrap();
}

#[test]
fn steps_follow_each_other_and_their_counters_are_those_of_the_search() {
    let graph = ladder::graph("gen:rmat:10:8").unwrap();
    let (levels, stats) = ladder::search(&graph, &open, ladder::ladder).unwrap();
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
