//! Personalised ranks: the share of time that a random walk spends at every node. At times, and
//! always where no edge leaves, it jumps back to a source: to each with the same chance, or in
//! proportion to start weights.
//!
//! Each loop and each parallel edge counts. With weights, an edge is followed in proportion to its
//! weight, and an edge of weight 0 never. Equal weights above 0 say nothing and are not read.
//!
//! Shares of rank are added up as whole numbers of small units, so that their order does not matter
//! and every machine finds the same bits.
//!
//! The kernel of `pagerank` ranks, with one visit of each edge per round. Along weights, a program of
//! code does, with three visits of each edge at first and then one per round. Such a program also
//! ranks where the machine is not known, as in batches on a GPU. If all rounds reach only a small
//! part of the graph, CPU threads rank the nodes of a list, which grows from the sources.

mod near;
mod weights;

use super::definition::padded;
use super::pagerank::{highest_rank, limit_of, oracle, rank_from};
use super::{
    Analysis, AnalysisOutput, Answer, Bars, Built, Case, End, Facts, Highlight, LoopRule,
    ParallelRule, Picture, Question, Ranking, Reading,
};
use crate::column::Column;
use crate::cost::{Job, Worker};
use crate::graph::{Graph, WeightKind};
use crate::program::{
    Edges, Item, Join, Kind, Over, ProgramBuilder, ProgramError, RegisterId, Value,
};
use near::Near;
use seawall_core::abi::rank::unit_exponent;
use std::collections::BTreeMap;
use weights::Weighing;

pub(super) struct Ppr;

pub(super) const FACTS: Facts = Facts {
    name: "ppr",
    title: "Personalised PageRank",
    summary: "Rank of every node for a walker who starts anew at the sources",
    takes_sources: true,
    takes_source_weights: true,
    follows_weights: true,
    ranks: true,
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

/// Passes over all edges, and levels in between, in an iteration.
const PASSES: [f64; 2] = [1.0, 4.0];

/// Visits of each edge before the first iteration, if it has a weight.
const WEIGHING: f64 = 3.0;

/// Units of a total in 1, as a power of two.
const TOTAL_EXPONENT: u32 = 60;

impl Analysis for Ppr {
    fn build(&self, graph: &Graph, question: &Question) -> Result<Built, ProgramError> {
        build(graph, question, Start::of(question))
    }

    /// Ranks may differ from those in double precision by their roundings.
    fn check(&self, case: &Case<'_>, found: AnalysisOutput<'_>) -> bool {
        let Column::F32(ranks) = found.values else {
            return false;
        };
        let (graph, question) = (case.graph, case.question);
        let starts = starts(graph, question);
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
        if worker.is_cpu() && near::is_expected(job) {
            return near::cost_ns(job, worker);
        }
        if !job.weighted && !worker.is_of_batch() {
            return super::pagerank::Pagerank.cost_ns(job, worker);
        }
        if worker.is_cpu() {
            return weighted_ns(job, worker);
        }
        let [passes, levels] = PASSES;
        job.rounds * worker.code_ns(job, passes, levels)
    }

    fn rounds_predicted(&self, ranking: Ranking) -> f64 {
        super::pagerank::Pagerank.rounds_predicted(ranking)
    }

    fn tiled_passes(&self, job: &Job) -> f64 {
        super::pagerank::Pagerank.tiled_passes(job)
    }
}

/// Cost of ranks along weights on CPU threads, nanoseconds: compiled code takes about twice as long
/// for an edge as the kernel of `pagerank` (two shared x86-64 cores, 2026-11-29).
pub(super) fn weighted_ns(job: &Job, worker: &Worker) -> f64 {
    let [passes, levels] = PASSES;
    let rounds = job.rounds + WEIGHING;
    rounds * worker.passes_ns(job, 2.0 * passes, levels)
}

/// The share of a walk that starts at each node, for checks.
fn starts(graph: &Graph, question: &Question) -> Vec<f64> {
    let mut starts = vec![0.0; graph.nodes() as usize];
    let weight = |at: usize| question.source_weights.get(at).copied().unwrap_or(1.0);
    let sum: f64 = (0..question.sources.len()).map(weight).sum();
    for (at, source) in question.sources.iter().enumerate() {
        starts[*source as usize] += weight(at) / sum;
    }
    starts
}

enum Start {
    /// All nodes, with equal shares.
    Even,
    /// Distinct nodes, and the share of each.
    At { nodes: Vec<u32>, shares: Vec<f32> },
}

impl Start {
    /// The sources of `question`; a repeated source counts repeatedly.
    fn of(question: &Question) -> Self {
        let mut weights: BTreeMap<u32, f64> = BTreeMap::new();
        for (at, source) in question.sources.iter().enumerate() {
            let weight = question.source_weights.get(at).copied().unwrap_or(1.0);
            *weights.entry(*source).or_default() += weight;
        }
        let sum: f64 = weights.values().sum();
        let nodes = weights.keys().copied().collect();
        let shares = weights.values().map(|weight| (weight / sum) as f32);
        let shares = shares.collect();
        Self::At { nodes, shares }
    }

    fn into_inputs(self) -> Vec<u32> {
        let Self::At { nodes, shares } = self else {
            return Vec::new();
        };
        let shares = shares.into_iter().map(f32::to_bits).collect();
        [padded(nodes), padded(shares)].concat()
    }
}

/// The registers of the program, each except totals and sources with a value per node.
#[derive(Clone, Copy)]
struct Registers {
    ranks: RegisterId,
    /// The share of a walk that starts at each node.
    starts: RegisterId,
    /// The rank that a node passes on along each of its edges, in units; with weights, all of its
    /// rank, a float.
    shares: RegisterId,
    /// Rank of nodes without edges, and the sum of changes, in units of totals.
    jumping: RegisterId,
    change: RegisterId,
}

/// The program of ranks for a walk that starts at all nodes equally.
pub(super) fn build_even(graph: &Graph, question: &Question) -> Result<Built, ProgramError> {
    build(graph, question, Start::Even)
}

fn build(graph: &Graph, question: &Question, start: Start) -> Result<Built, ProgramError> {
    let mut program = ProgramBuilder::new(graph.nodes());
    let nodes = graph.nodes();
    let starts = begin(&mut program, nodes, &start)?;
    let is_known = question.threads.is_some() || question.warps;
    let is_near = matches!(start, Start::At { .. }) && near::suits(graph, question);
    let result = match weights(graph, question) {
        None if is_known && !is_near => rank_from(&mut program, graph, question, starts)?,
        kind => {
            let steps = Steps {
                starts,
                kind,
                is_near,
            };
            by_code(&mut program, graph, question, steps)?
        }
    };
    Ok(Built::of(
        program,
        start.into_inputs(),
        result,
        Reading::Floats,
    ))
}

/// The kind of the weights that `question` follows, if it does.
fn weights(graph: &Graph, question: &Question) -> Option<WeightKind> {
    graph.steering_weights().filter(|_| question.weighted)
}

/// The forms of a program of code.
#[derive(Clone, Copy)]
struct Steps {
    /// The register of the share of a walk that starts at each node.
    starts: RegisterId,
    /// The kind of the weights that ranks follow.
    kind: Option<WeightKind>,
    /// Whether it ranks a list of nodes.
    is_near: bool,
}

/// Adds the program of code; returns the register of ranks.
fn by_code(
    program: &mut ProgramBuilder,
    graph: &Graph,
    question: &Question,
    steps: Steps,
) -> Result<RegisterId, ProgramError> {
    let Steps {
        starts,
        kind,
        is_near,
    } = steps;
    let shares = kind.map_or(Kind::U64, |_| Kind::F32);
    let registers = Registers {
        ranks: program.per_node("ranks", Kind::F32)?,
        starts,
        shares: program.per_node("shares", shares)?,
        jumping: program.values("jumping", Kind::U64, 1)?,
        change: program.values("change", Kind::U64, 1)?,
    };
    program.each("start", Over::Nodes, |node| {
        node.store(registers.ranks, node.load(starts));
    });
    let weighing = kind.map(|kind| match is_near {
        true => Weighing::of_few(program, graph, kind),
        false => Weighing::of(program, graph, kind, question.shared),
    });
    let weighing = weighing.transpose()?;
    let near = is_near.then(|| Near::begin(program, registers, weighing));
    let step = Step {
        registers,
        weighing,
        near: near.transpose()?,
        ranking: question.ranking,
        exponent: unit_exponent(graph.edges()),
    };
    program.fixpoint("rank", limit_of(question), |body| step.run(body));
    Ok(registers.ranks)
}

/// The register of the share of a walk that starts at each node, and the waves that fill it.
fn begin(
    program: &mut ProgramBuilder,
    count: u32,
    start: &Start,
) -> Result<RegisterId, ProgramError> {
    let starts = match start {
        Start::Even => {
            let starts = program.per_node("starts", Kind::F32)?;
            program.each("start alike", Over::Nodes, |node| {
                node.store(starts, node.constant(1.0 / count as f32));
            });
            starts
        }
        Start::At { nodes, .. } => {
            let length = nodes.len() as u64;
            let sources = program.input("sources", length)?;
            let shares = program.input_values("source shares", Kind::F32, length)?;
            let starts = program.per_node("starts", Kind::F32)?;
            program.fill("no source", starts, 0);
            program.each("sources", Over::Values(sources), |source| {
                // Each node occurs once.
                source.scatter(starts, source.load(sources), Join::Max, source.load(shares));
            });
            starts
        }
    };
    Ok(starts)
}

/// An iteration: shares ranks, gathers them and checks the changes.
#[derive(Clone, Copy)]
struct Step {
    registers: Registers,
    weighing: Option<Weighing>,
    /// The nodes that it ranks, if these are not all.
    near: Option<Near>,
    ranking: Ranking,
    exponent: u32,
}

impl Step {
    fn run(self, body: &mut ProgramBuilder) {
        let Registers {
            ranks,
            starts,
            shares,
            jumping,
            change,
        } = self.registers;
        let (ranking, exponent) = (self.ranking, self.exponent);
        let over = self.near.map_or(Over::Nodes, Near::over);
        body.fill("none jumps", jumping, 0);
        body.fill("no change", change, 0);
        if let Some(near) = self.near {
            near.empty(body);
        }
        self.share(body, over);
        body.each("gather", over, |node| {
            let along = match self.weighing {
                Some(weighing) => weighing.arriving(node, self.registers, exponent),
                None => node.gather(Edges::In, Join::Sum, |edge| edge.there(shares)),
            };
            let along = along.to_f32() * unit(exponent);
            let anew = anew(node, jumping, ranking.damping) * node.load(starts);
            let next = anew + along * ranking.damping;
            let before = node.load(ranks);
            let moved = next.max(before) - next.min(before);
            node.fold(change, Join::Sum, units(moved, TOTAL_EXPONENT));
            node.store(ranks, next);
        });
        let tolerance = f64::from(ranking.tolerance) * 2.0_f64.powi(TOTAL_EXPONENT as i32);
        body.each("settle", Over::Count(1), |one| {
            one.changed(one.at(change, 0).above(tolerance as u64));
        });
    }

    /// Keeps what nodes pass on, and finds the next nodes to rank.
    fn share(self, body: &mut ProgramBuilder, over: Over) {
        let Self {
            registers,
            weighing,
            near,
            ..
        } = self;
        if weighing.is_some_and(|weighing| weighing.share_all(body, registers)) {
            return;
        }
        body.each("share", over, |node| {
            match weighing {
                Some(weighing) => weighing.share(node, registers),
                None => share(node, registers, self.exponent),
            }
            if let Some(near) = near {
                near.find(node);
            }
        });
        if let Some(near) = near {
            near.take(body, weighing);
        }
    }
}

/// Divides the rank of a node equally among its edges.
fn share(node: Item<'_>, registers: Registers, exponent: u32) {
    let own = node.load(registers.ranks);
    let degree = node.degree(Edges::Out, node.index());
    let is_end = degree.is_zero();
    let share = own / degree.max(1).to_f32();
    node.store(
        registers.shares,
        is_end.select(0_u64, units(share, exponent)),
    );
    jump(node, registers, is_end);
}

/// Moves the rank of a node without edges to the jumps.
fn jump<'c>(node: Item<'c>, registers: Registers, is_end: Value<'c>) {
    let own = units(node.load(registers.ranks), TOTAL_EXPONENT);
    node.fold(registers.jumping, Join::Sum, is_end.select(own, 0_u64));
}

/// The share of all rank that restarts.
fn anew<'c>(node: Item<'c>, jumping: RegisterId, damping: f32) -> Value<'c> {
    let jumping = node.at(jumping, 0).to_f32() * unit(TOTAL_EXPONENT);
    jumping * damping + (1.0 - damping)
}

fn unit(exponent: u32) -> f32 {
    0.5_f32.powi(exponent as i32)
}

fn units(value: Value<'_>, exponent: u32) -> Value<'_> {
    (value * 2.0_f32.powi(exponent as i32)).to_u64()
}
