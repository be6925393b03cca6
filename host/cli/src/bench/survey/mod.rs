//! Every analysis on graphs of many shapes, at a size and at four times that size.
//!
//! A row is an analysis on a shape on one thread, with the time on the large graph beside that on
//! the small one. Their ratio is the growth. The floor is the time that a node and an edge may take
//! (an iteration of a ranking, a round of labels), and six times the time on the small graph where
//! that takes over 10 ms.

mod shapes;

pub use shapes::{Sample, samples};

use super::BenchError;
use super::row::{Amount, Baseline, Clock, Figure, Floor, Row, Timing, Unit};
use super::setting::Setting;
use seawall::analysis::AnalysisKind;
use seawall::executor::Machine;
use seawall::graph::Graph;
use seawall::outcome::{Rounds, RunOutcome};
use seawall::run::{RunError, RunRequest, execute};
use std::num::NonZeroUsize;

/// Nodes of the small graphs, at full size and with `--quick`.
const NODES: [u32; 2] = [60_000, 120];
/// Nodes of a large graph over those of a small one.
const TIMES: u32 = 4;
const SEED: u64 = 5;
/// Runs of a median.
const TURNS: usize = 3;
const BUDGET_NS: u64 = 8_000_000_000;
/// Growth that is allowed, where the small graph takes at least that long.
const GROWTH: f64 = 6.0;
const GROWTH_NS: f64 = 10e6;

/// Adds a row for each analysis and shape.
pub(super) fn rows(setting: &mut Setting<'_>) -> Result<(), BenchError> {
    let nodes = NODES[usize::from(setting.quick)];
    let turns = if setting.quick { 1 } else { TURNS };
    for shape in 0.. {
        let sizes = [nodes, TIMES * nodes].map(|nodes| shapes::sample(shape, nodes, SEED));
        let [Some(small), Some(large)] = sizes else {
            break;
        };
        for undirected in [false, true] {
            let graph = |sample: &Sample| {
                Graph::from_weighted_edges(sample.nodes, &sample.edges, undirected)
            };
            let pair = Pair {
                graphs: [graph(&small)?, graph(&large)?],
                samples: [&small, &large],
                undirected,
                turns,
            };
            pair.rows(setting);
        }
    }
    Ok(())
}

/// A shape at both sizes.
struct Pair<'s> {
    graphs: [Graph; 2],
    samples: [&'s Sample; 2],
    undirected: bool,
    turns: usize,
}

impl Pair<'_> {
    fn rows(&self, setting: &mut Setting<'_>) {
        let [sample, _] = self.samples;
        let direction = if self.undirected {
            "both directions"
        } else {
            "one direction"
        };
        for analysis in AnalysisKind::ALL {
            if analysis.facts().is_undirected && !self.undirected {
                continue;
            }
            let what = format!("{analysis}, {}, {direction}", sample.name);
            setting.say(format!("survey: {what}"));
            match self.row(analysis, &what) {
                Ok(row) => setting.push(row),
                Err(error) => setting.note(format!("{what} gives no answer: {error}")),
            }
        }
    }

    fn row(&self, analysis: AnalysisKind, what: &str) -> Result<Row, RunError> {
        let [small, large] = [0, 1].map(|at| self.time(analysis, at));
        let ((small, _), (time, outcome)) = (small?, large?);
        // Edges as listed: a mirror image is no other edge.
        let [_, sample] = self.samples;
        let size = f64::from(sample.nodes) + sample.edges.len() as f64;
        let rounds = rounds(analysis, &outcome);
        let most_ns = limit_ns(analysis).map_or(f64::INFINITY, |limit| limit * size * rounds);
        let most_growth_ns = match small.median >= GROWTH_NS {
            true => GROWTH * small.median,
            false => f64::INFINITY,
        };
        let most_ns = most_ns.min(most_growth_ns);
        let name = |at: usize| format!("{} nodes", self.samples[at].nodes);
        let row = Row::new(
            what,
            Clock::Wall,
            Figure::new(name(1), time),
            Baseline::Measured(Figure::new(name(0), small)),
        );
        Ok(row
            .shown_in(Unit::Milliseconds)
            .of(Amount::NodesAndEdges((size * rounds) as u64))
            .with_floor(Some(Floor::Ns(most_ns)).filter(|_| most_ns.is_finite())))
    }

    /// The median time of runs on one of the graphs, and the last of them.
    fn time(&self, analysis: AnalysisKind, at: usize) -> Result<(Timing, RunOutcome), RunError> {
        let source = analysis
            .facts()
            .takes_sources
            .then_some(self.samples[at].source);
        let mut machine = Machine::cpu(Some(NonZeroUsize::MIN));
        machine.time_budget_ns = BUDGET_NS;
        let mut request = RunRequest::new(analysis, source.into_iter().collect()).on(machine);
        // Weights are drawn for paths.
        request.weighted = false;
        let mut times = Vec::new();
        loop {
            let outcome = execute(&self.graphs[at], &request)?;
            times.push(outcome.times.run as f64);
            if times.len() >= self.turns {
                return Ok((Timing::of(&mut times), outcome));
            }
        }
    }
}

/// The rounds that a limit is for: iterations of a ranking, and rounds of labels, which look at most
/// three times at an edge.
fn rounds(analysis: AnalysisKind, outcome: &RunOutcome) -> f64 {
    match (analysis, outcome.rounds, outcome.edges_examined) {
        (AnalysisKind::Labels, _, Some(looks)) => {
            (looks as f64 / (3.0 * outcome.edges.max(1) as f64)).max(1.0)
        }
        (_, Rounds::Iterations(count), _) if analysis.facts().ranks => f64::from(count.max(1)),
        _ => 1.0,
    }
}

/// Nanoseconds that a node and an edge may take, if there is a limit.
fn limit_ns(analysis: AnalysisKind) -> Option<f64> {
    use AnalysisKind::*;
    match analysis {
        Bfs | Reach | Cc | Pagerank | Ppr => Some(60.0),
        Scc | Sssp | Widest | Kcore | Msf | Closeness | Eccentricity | Labels => Some(150.0),
        Betweenness => Some(300.0),
        _ => None,
    }
}
