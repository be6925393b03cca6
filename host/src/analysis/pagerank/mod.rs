//! Ranks: the share of time that a random walk spends at every node. It follows a random edge; at
//! times, and always if there is no edge, it jumps to a random node.
//!
//! Each loop and each parallel edge counts. With weights, an edge is followed in proportion to its
//! weight; the program is then that of personalised ranks from all nodes alike.

mod predicted;
pub(super) mod oracle;
mod slices;

use super::{
    Analysis, AnalysisOutput, Answer, Bars, Built, Case, End, Facts, Highlight, LoopRule,
    ParallelRule, Picture, Question, Ranking, Reading, Streaming,
};
use crate::column::Column;
use crate::cost::{Job, Worker};
use crate::graph::{Csr, Graph};
use crate::program::{ProgramBuilder, ProgramError, Ranks, RegisterId, Slices};
use slices::{Slicing, slicing_for};

pub(super) struct Pagerank;

pub(super) const FACTS: Facts = Facts {
    name: "pagerank",
    title: "PageRank",
    summary: "Rank of every node",
    follows_weights: true,
    ranks: true,
    streams: Some(Streaming::Ranks),
    loops: LoopRule::Count,
    parallel: ParallelRule::Count,
    highlight: Highlight::Highest,
    picture: Picture {
        title: "Nodes by rank",
        axis: "rank",
        bars: Bars::Suited,
    },
    ..Facts::PLAIN
};

/// Iterations of a ranking whose damping is close to 1.
const ITERATIONS_MAX: f64 = 100_000.0;

/// Barriers of an iteration, as a number of levels.
const LEVELS: f64 = 3.0;

impl Analysis for Pagerank {
    fn build(&self, graph: &Graph, question: &Question) -> Result<Built, ProgramError> {
        if question.weighted && graph.steering_weights().is_some() {
            return super::ppr::build_even(graph, question);
        }
        build(graph, question, suited(graph, question))
    }

    /// Ranks may differ from those in double precision by their roundings.
    fn check(&self, case: &Case<'_>, found: AnalysisOutput<'_>) -> bool {
        let Column::F32(ranks) = found.values else {
            return false;
        };
        let (graph, question) = (case.graph, case.question);
        let starts = oracle::even(graph);
        let walk = oracle::Walk::of(&starts, question);
        let exact = oracle::ranks_from(graph, walk, case.end.iterations);
        oracle::is_near(&exact, question.ranking, ranks, case.end)
    }

    /// In addition, a rank may lose up to a unit by rounding.
    fn tolerance(&self, _column: &Column, end: End) -> Option<f64> {
        Some(oracle::rank_tolerance(end.iterations))
    }

    fn answer(&self, graph: &Graph, column: &Column) -> Answer {
        highest_rank(graph, column)
    }

    fn cost_ns(&self, job: &Job, worker: &Worker) -> f64 {
        if worker.is_cpu() && job.weighted {
            return super::ppr::weighted_ns(job, worker);
        }
        job.rounds * worker.passes_ns(job, 1.0, LEVELS)
    }

    /// Each iteration shrinks the change by the damping or more.
    fn rounds_predicted(&self, ranking: Ranking) -> f64 {
        let (damping, tolerance) = (f64::from(ranking.damping), f64::from(ranking.tolerance));
        (tolerance.max(1e-7).ln() / damping.clamp(1e-3, 0.999).ln()).ceil()
    }

    fn rounds_sampled(&self, graph: &Graph, ranking: Ranking, edges: u64) -> Option<f64> {
        let sampled = predicted::iterations(graph, ranking, edges)?;
        Some(sampled.min(self.rounds_predicted(ranking)))
    }

    fn tiled_passes(&self, job: &Job) -> f64 {
        if job.weighted { 0.0 } else { job.rounds }
    }
}

/// The highest rank, and the first node that has it.
pub(super) fn highest_rank(graph: &Graph, column: &Column) -> Answer {
    Answer::highest(
        graph,
        column,
        ["highest_rank", "highest_rank_node"],
        "a rank",
    )
}

/// The slices that pay for the machine of `question`.
fn suited(graph: &Graph, question: &Question) -> Option<Slicing> {
    question.warps.then(|| slicing_for(graph)).flatten()
}

fn build(
    graph: &Graph,
    question: &Question,
    slicing: Option<Slicing>,
) -> Result<Built, ProgramError> {
    let mut program = ProgramBuilder::new(graph.nodes());
    let result = by_kernel(&mut program, graph, question, slicing, None)?;
    Ok(Built::of(program, Vec::new(), result, Reading::Floats))
}

/// Adds the waves that rank nodes for a walk with these `starts`, one share per node; returns the
/// register of ranks.
pub(super) fn rank_from(
    program: &mut ProgramBuilder,
    graph: &Graph,
    question: &Question,
    starts: RegisterId,
) -> Result<RegisterId, ProgramError> {
    let slicing = suited(graph, question);
    by_kernel(program, graph, question, slicing, Some(starts))
}

/// Starts with the shares `starts`, else with equal ranks; then gathers, applies and settles until
/// nothing changes. Warps gather along edges in slices if there is a `slicing`, unless rows are short
/// or memory is scarce.
fn by_kernel(
    program: &mut ProgramBuilder,
    graph: &Graph,
    question: &Question,
    slicing: Option<Slicing>,
    starts: Option<RegisterId>,
) -> Result<RegisterId, ProgramError> {
    let nodes = u64::from(graph.nodes());
    let by_rows = !question.warps || has_short_rows(graph);
    let slicing = slicing.filter(|_| !by_rows && !question.low_memory);
    let sliced = slicing.and_then(|slicing| Some((slicing, graph.try_incoming().ok()?)));
    let frequent = sliced.and_then(|(slicing, _)| slicing.frequent);
    let again = frequent.map_or(0, |frequent| u64::from(frequent.count));
    let ranks = Ranks {
        ranks: program.words("ranks", nodes)?,
        contributions: program.words("contributions", nodes + again)?,
        sums: program.words("sums", if by_rows { nodes } else { 2 * nodes })?,
        totals: program.totals("totals")?,
        starts,
    };
    let slices = match sliced {
        Some((slicing, incoming)) => Some(make_slices(program, slicing, incoming)?),
        None => None,
    };
    let damping = question.ranking.damping;
    let limit = limit_of(question);
    program.fill("clear totals", ranks.totals, 0);
    if by_rows {
        program.seed_ranks_by_rows("start", ranks);
    } else {
        program.seed_ranks("start", ranks);
    }
    let step = (damping, question.ranking.tolerance);
    program.fixpoint("rank", limit, |body| match slices {
        Some(slices) => body.step_ranks_by_slices(ranks, slices, step),
        None if by_rows => body.step_ranks_by_rows(ranks, step),
        None => body.step_ranks(ranks, step.0, step.1),
    });
    Ok(ranks.ranks)
}

/// Registers of slices, and the waves that make them.
fn make_slices(
    program: &mut ProgramBuilder,
    slicing: Slicing,
    incoming: &Csr,
) -> Result<Slices, ProgramError> {
    let mut slices = program.slices(slicing.shape, incoming)?;
    if let Some(frequent) = slicing.frequent {
        slices = program.frequent_sources(slices, frequent)?;
    }
    program.once(|once| once.slice_edges(slices));
    Ok(slices)
}

/// Longest row of incoming edges that a lane sums alone.
const SHORT_ROW: u32 = 32;

/// Whether lanes take whole rows: on average at most 8 edges, as on roads, and none longer than
/// [`SHORT_ROW`]. One pass over the row offsets if the average is that low.
fn has_short_rows(graph: &Graph) -> bool {
    let mean = u64::from(graph.edges()) / u64::from(graph.nodes().max(1));
    let is_short = |row: &[u32]| row[1] - row[0] <= SHORT_ROW;
    let rows = (mean <= 8).then(|| graph.try_incoming());
    matches!(rows, Some(Ok(rows)) if rows.offsets().windows(2).all(is_short))
}

/// The limit of iterations: the requested one, or else the one from which ranks change only by
/// rounding.
pub(super) fn limit_of(question: &Question) -> u32 {
    match question.max_iterations {
        Question::UNLIMITED => iterations_max(question.ranking.damping),
        limit => limit,
    }
}

/// Iterations after which ranks change only by rounding: iteration `k` changes them by at most `2 *
/// damping^k` in total, and a float in 1 by 2^-24.
pub(super) fn iterations_max(damping: f32) -> u32 {
    let needed = -25.0 * 2.0_f64.ln() / f64::from(damping).ln();
    if needed.is_nan() || needed <= 0.0 {
        return 1;
    }
    needed.ceil().clamp(2.0, ITERATIONS_MAX) as u32
}

#[cfg(test)]
mod tests {
    use super::{Slicing, build, iterations_max};
    use crate::analysis::Question;
    use crate::graph::Graph;
    use crate::program::{PlanRequest, SliceShape};
    use seawall_core::abi::program::Opcode;

    fn plain_bytes(graph: &Graph) -> u64 {
        let question = Question {
            warps: true,
            ..Question::new(Vec::new())
        };
        let built = build(graph, &question, None).unwrap();
        let (program, _) = built.program.encode(&PlanRequest::default()).unwrap();
        program.arena_bytes
    }

    /// Whether the program for such a question along slices of 16 nodes has any.
    fn has_slices(graph: &Graph, warps: bool, low_memory: bool) -> bool {
        let question = Question {
            warps,
            low_memory,
            ..Question::new(Vec::new())
        };
        let shape = SliceShape {
            width_log2: 4,
            part_log2: 5,
        };
        let slicing = Slicing {
            shape,
            frequent: None,
        };
        let built = build(graph, &question, Some(slicing)).unwrap();
        let (program, _) = built.program.encode(&PlanRequest::default()).unwrap();
        // A budget for the program without slices only fits the other one if that has none either.
        let budget = PlanRequest {
            budget_bytes: Some(plain_bytes(graph)),
            ..PlanRequest::default()
        };
        let fits = built.program.encode(&budget).is_ok();
        let has = |opcode: Opcode| {
            program
                .waves
                .iter()
                .any(|wave| wave.opcode == opcode as u32)
        };
        let makes = has(Opcode::CopySlices);
        assert_eq!(makes, has(Opcode::GatherSlices));
        assert_eq!(makes, !program.once.is_empty());
        assert_eq!(makes, !fits);
        makes
    }

    #[test]
    fn warps_with_memory_for_them_gather_along_slices() {
        let edges: Vec<_> = (1..100).map(|node| (node, 0)).collect();
        let star = Graph::from_edges(100, &edges, false).unwrap();
        assert!(has_slices(&star, true, false));
        assert!(!has_slices(&star, true, true));
        assert!(!has_slices(&star, false, false));
        // Rows are short.
        let path: Vec<_> = (1..100).map(|node| (node - 1, node)).collect();
        let path = Graph::from_edges(100, &path, false).unwrap();
        assert!(!has_slices(&path, true, false));
    }

    #[test]
    fn the_limit_grows_with_the_damping() {
        assert_eq!(iterations_max(0.0), 1);
        assert_eq!(iterations_max(f32::MIN_POSITIVE), 2);
        assert_eq!(iterations_max(0.85), 107);
        assert!(iterations_max(0.99) > 1700);
        assert_eq!(iterations_max(1.0 - f32::EPSILON), 100_000);
    }
}
