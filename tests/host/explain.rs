//! Reasons of steps: each rule for the shape of a search's step decides at least one here, from the
//! counters of a real run. And what threads do between barriers.

use seawall::analysis::AnalysisKind;
use seawall::backend::cpu::CpuSession;
use seawall::backend::{BackendError, RunLimits, Session, StepTaken};
use seawall::graph::Graph;
use seawall_core::abi::search::Step;

use seawall::outcome::Timeline;
use seawall::run::{Machine, RunRequest, execute};
use seawall_oracles::ladder;
use std::num::{NonZeroU32, NonZeroUsize};

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

/// A pull looks at all nodes that are left, so it pays once the frontier has two edges for each.
#[test]
fn graphs_of_few_edges_are_pulled_late() {
    fn alone(graph: &Graph) -> Result<Box<dyn Session + '_>, BackendError> {
        let session = CpuSession::open(graph, NonZeroUsize::new(1), RunLimits::default())?;
        Ok(Box::new(session))
    }
    for (edges_each, pulls_least) in [(1, 0), (2, 0), (4, 0), (16, 1)] {
        let graph = ladder::graph(&format!("gen:uniform:14:{edges_each}")).unwrap();
        let (levels, stats) = ladder::search(&graph, &alone, ladder::ladder).unwrap();
        let nodes = 2.0 * f64::from(graph.nodes());
        let pays = (nodes / (nodes + f64::from(graph.edges()))).max(0.07);
        let (mut pulls, mut margin) = (0, 0.0);
        for step in stats.trace.unwrap().steps {
            let is_left = |node: &u32| levels[*node as usize] > step.iteration;
            let left = (0..graph.nodes()).filter(is_left);
            let left: usize = left.map(|node| graph.outgoing().row(node).len()).sum();
            let edges = f64::from(step.edges);
            let density = edges / (edges + left as f64);
            let is_pull = matches!(step.step, Step::Dense | Step::BlockDense);
            let holds = !is_pull || density >= pays - margin - 1e-5;
            assert!(holds, "{edges_each}: {step:?}, density {density} of {pays}");
            pulls += u32::from(is_pull);
            // Hysteresis goes on with a pull down to there.
            margin = if is_pull { 0.01 } else { 0.0 };
        }
        assert!(pulls >= pulls_least, "{edges_each}: {pulls}");
    }
}

/// The timeline of an analysis from `sources` on so many threads, and the barriers that it crossed.
fn timeline(
    graph: &str,
    analysis: AnalysisKind,
    sources: &[u32],
    threads: usize,
) -> (Option<Timeline>, u64) {
    let graph = ladder::graph(graph).unwrap();
    let machine = Machine::cpu(NonZeroUsize::new(threads));
    let mut request = RunRequest::new(analysis, sources.to_vec()).on(machine);
    request.explain = true;
    if analysis.facts().ranks {
        // It goes on for many iterations.
        request.ranking.tolerance = 1e-30;
    }
    request.max_iterations = NonZeroU32::new(80);
    let outcome = execute(&graph, &request).unwrap();
    (outcome.timeline, outcome.device_barriers)
}

#[test]
fn every_thread_leaves_each_barrier_after_it_arrived_and_before_it_arrives_at_the_next() {
    for threads in [2, 5] {
        let (timeline, crossed) = timeline("gen:rmat:10:8", AnalysisKind::Bfs, &[0], threads);
        let timeline = timeline.unwrap();
        assert!(timeline.is_whole());
        assert_eq!(timeline.blocks, threads);
        assert_eq!(timeline.barriers.len() as u64, crossed.min(64));
        let mut before = vec![0; threads];
        for barrier in &timeline.barriers {
            assert!(!barrier.wave.is_empty());
            let [arrived, left] = [&barrier.arrived_ns, &barrier.left_ns];
            assert!(
                arrived
                    .iter()
                    .zip(left)
                    .all(|(arrived, left)| arrived <= left)
            );
            assert!(
                before
                    .iter()
                    .zip(arrived)
                    .all(|(before, arrived)| before <= arrived)
            );
            before.clone_from(&barrier.left_ns);
        }
        let [least, mean, most] = timeline.waited_percent();
        assert!(0.0 <= least && least <= mean && mean <= most && most <= 100.0);
    }
}

#[test]
fn a_timeline_has_the_first_barriers_of_a_long_run_and_one_thread_has_none() {
    let (long, crossed) = timeline("gen:grid:20", AnalysisKind::Pagerank, &[], 2);
    assert!(crossed > 64, "{crossed}");
    assert_eq!(long.unwrap().barriers.len(), 64);
    assert_eq!(timeline("gen:grid:10", AnalysisKind::Bfs, &[0], 1).0, None);
}
