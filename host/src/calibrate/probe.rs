//! Small jobs whose times reveal the costs of levels, nodes and edges.
//!
//! A layered graph has any number of levels of equal width. Two of them with different widths make
//! two equations for the cost of a level and of a node; a random graph shows the cost of edges.

use crate::Cause;
use crate::analysis::{AnalysisKind, Question, Ranking, build};
use crate::backend::{BackendError, Session};
use crate::cost::{CLASSES, LevelCost, MachineCosts, class_of};
use crate::graph::{Graph, LoadOptions, load};
use crate::program::{PlanRequest, ProgramError};
use seawall_device::algorithms::bfs::threads::levels_ahead::LONG;

/// Width and depth of the layered graphs, two for each class of width.
const LAYERS: [[[u32; 2]; 2]; CLASSES] = [
    [[1, 4000], [24, 1000]],
    [[128, 500], [512, 250]],
    [[2048, 60], [4096, 40]],
    [[16_384, 16], [32_768, 10]],
];

/// Width and depth of the layered graphs of long searches, in which threads go ahead.
const LONG_LAYERS: [[u32; 2]; 2] = [[256, 1024], [2048, 256]];

const RANDOM: &str = "gen:uniform:15:16";

/// Iterations of the ranking that times a pass over all edges.
const RANKINGS: u32 = 3;

/// Runs of each job; the fastest counts, since a host interrupts.
const RUNS: u32 = 3;

/// A session on a graph, opened by the caller.
pub(super) type Open<'o> =
    dyn for<'g> Fn(&'g Graph) -> Result<Box<dyn Session + 'g>, BackendError> + 'o;

/// A job with its graph.
struct Probe {
    graph: Graph,
    analysis: AnalysisKind,
    max_iterations: u32,
}

impl Probe {
    fn search(graph: Graph) -> Self {
        Self {
            graph,
            analysis: AnalysisKind::Bfs,
            max_iterations: Question::UNLIMITED,
        }
    }

    /// Fastest run, nanoseconds.
    fn run_ns(&self, open: &Open<'_>) -> Result<f64, ProbeError> {
        let question = Question {
            max_iterations: self.max_iterations,
            ranking: Ranking {
                tolerance: 0.0,
                ..Ranking::default()
            },
            ..Question::new(vec![0])
        };
        let built = build(self.analysis, &self.graph, &question)?;
        let (program, _) = built.program.encode(&PlanRequest::default())?;
        let mut session = open(&self.graph)?;
        session.load(&program)?;
        let mut best = u64::MAX;
        for _ in 0..RUNS {
            best = best.min(session.run(&built.inputs)?.run_ns);
        }
        Ok(best as f64)
    }
}

/// Levels of `width` nodes below node 0, `depth` of them; each node leads to
/// the one below it and to that one's neighbour.
fn layers(width: u32, depth: u32) -> Result<Graph, crate::graph::GraphError> {
    let node = |level: u32, place: u32| 1 + level * width + place % width;
    let first = (0..width).map(|place| (0, node(0, place)));
    let rest = (1..depth).flat_map(|level| {
        (0..width).flat_map(move |place| {
            let above = node(level - 1, place);
            [(above, node(level, place)), (above, node(level, place + 1))]
        })
    });
    let edges: Vec<(u32, u32)> = first.chain(rest).collect();
    Graph::from_edges(1 + width * depth, &edges, false)
}

/// Measures runs on `open`.
pub(super) fn costs(open: &Open<'_>) -> Result<MachineCosts, ProbeError> {
    let start_ns = Probe::search(Graph::from_edges(2, &[(0, 1)], false)?).run_ns(open)?;
    let mut levels = [LevelCost {
        level_ns: 0.0,
        node_ns: 0.0,
    }; CLASSES];
    for (cost, pair) in levels.iter_mut().zip(LAYERS) {
        let mut per_level = [(0.0, 0.0); 2];
        for (point, [width, depth]) in per_level.iter_mut().zip(pair) {
            let time = Probe::search(layers(width, depth)?).run_ns(open)?;
            *point = (f64::from(width), (time - start_ns) / f64::from(depth));
        }
        *cost = line(per_level);
    }
    let random = load(RANDOM, &LoadOptions::default(), None)?.graph;
    let edges = f64::from(random.edges());
    let mut probe = Probe::search(random);
    let search_ns = probe.run_ns(open)? - start_ns;
    probe.analysis = AnalysisKind::Pagerank;
    probe.max_iterations = RANKINGS;
    let ranking_ns = (probe.run_ns(open)? - start_ns) / f64::from(RANKINGS);
    Ok(MachineCosts {
        start_ns,
        levels,
        edge_ns: (search_ns / edges).max(0.0),
        gather_ns: (ranking_ns / edges).max(0.0),
    })
}

/// Measures a level of searches in which threads go ahead on `open`, whose shared levels cost as
/// `costs` says.
pub(super) fn ahead(open: &Open<'_>, costs: &MachineCosts) -> Result<LevelCost, ProbeError> {
    let mut per_level = [(0.0, 0.0); 2];
    for (point, [width, depth]) in per_level.iter_mut().zip(LONG_LAYERS) {
        let time = Probe::search(layers(width, depth)?).run_ns(open)?;
        let width = f64::from(width);
        let class = costs.levels[class_of(width)];
        let before = f64::from(LONG) * (class.level_ns + class.node_ns * width);
        let rest = (time - costs.start_ns - before).max(0.0);
        *point = (width, rest / f64::from(depth - LONG));
    }
    Ok(line(per_level))
}

/// The line through two points, neither part of it negative.
fn line([(x0, y0), (x1, y1)]: [(f64, f64); 2]) -> LevelCost {
    let slope = ((y1 - y0) / (x1 - x0)).clamp(0.0, (y1 / x1).max(0.0));
    LevelCost {
        level_ns: (y1 - slope * x1).max(0.0),
        node_ns: slope,
    }
}

/// A probe could not be made or could not run.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ProbeError {
    /// Its graph could not be made.
    #[error(transparent)]
    Graph(#[from] crate::graph::GraphError),
    /// Its program could not be built or planned.
    #[error(transparent)]
    Program(#[from] ProgramError),
    /// The machine could not run it, or its own measurements failed.
    #[error(transparent)]
    Backend(#[from] BackendError),
}

impl ProbeError {
    /// Returns the cause: the request or the machine.
    #[must_use]
    pub fn cause(&self) -> Cause {
        match self {
            Self::Graph(error) => error.cause(),
            Self::Program(_) => Cause::Request,
            Self::Backend(error) => error.cause(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::calibrate::sample::{SAMPLE_EDGES, sample};

    #[test]
    fn layered_graphs_have_the_requested_levels_and_widths() {
        for [width, depth] in [[1, 40], [24, 10], [512, 3]] {
            let graph = layers(width, depth).unwrap();
            let tally = sample(&graph, &[0], SAMPLE_EDGES);
            assert_eq!(tally.depth(), f64::from(depth + 1));
            let nodes: f64 = tally.nodes.iter().sum();
            assert_eq!(nodes, f64::from(1 + width * depth));
        }
    }

    #[test]
    fn a_line_recovers_level_and_node() {
        let cost = line([(100.0, 2600.0), (500.0, 4600.0)]);
        assert_eq!((cost.level_ns, cost.node_ns), (2100.0, 5.0));
    }

    #[test]
    fn noise_makes_no_negative_cost() {
        let falling = line([(100.0, 3000.0), (500.0, 2000.0)]);
        assert_eq!((falling.level_ns, falling.node_ns), (2000.0, 0.0));
        let steep = line([(100.0, 100.0), (500.0, 5000.0)]);
        assert_eq!((steep.level_ns, steep.node_ns), (0.0, 10.0));
    }
}
