//! Personalised ranks: the share of time that a random walker spends at every node who, now and
//! then and always where no edge leaves, jumps back to one of the sources.
//!
//! Shares of rank are added up as whole numbers of small units, so that their order does not
//! matter: every machine finds the same bits.

use super::pagerank::{highest_rank, iterations_max, oracle};
use super::room::padded;
use super::{
    Analysis, Answer, Bars, Built, Case, End, Facts, Found, LoopRule, ParallelRule, Picture,
    Question, Ranking, Reading,
};
use crate::column::Column;
use crate::cost::{Job, Worker};
use crate::graph::Graph;
use crate::program::{
    Edges, Item, Join, Kind, Over, ProgramBuilder, ProgramError, RegisterId, Value,
};
use seawall_core::abi::rank::unit_exponent;

/// The analysis `ppr`.
pub(super) struct Ppr;

const FACTS: Facts = Facts {
    name: "ppr",
    title: "Personalised PageRank",
    summary: "Rank of every node for a walker who starts anew at the sources",
    takes_sources: true,
    ranks: true,
    loops: LoopRule::Count,
    parallel: ParallelRule::Count,
    picture: Picture {
        title: "Nodes by rank",
        axis: "rank",
        bars: Bars::Suited,
    },
    ..Facts::PLAIN
};

/// Passes over all edges, and levels in between, in an iteration.
const PASSES: [f64; 2] = [1.0, 4.0];

/// Units of a total in 1, as a power of two.
const TOTAL_EXPONENT: u32 = 60;

impl Analysis for Ppr {
    fn facts(&self) -> &'static Facts {
        &FACTS
    }

    fn build(&self, graph: &Graph, question: &Question) -> Result<Built, ProgramError> {
        build(graph, question)
    }

    /// Ranks may differ from those in double precision by their roundings.
    fn check(&self, case: &Case<'_>, found: Found<'_>) -> bool {
        let Column::F32(ranks) = found.values else {
            return false;
        };
        let starts = starts(case.graph, &case.question.sources);
        let exact = oracle::ranks_from(
            case.graph,
            (&starts, case.question.ranking.damping),
            case.end.iterations,
        );
        oracle::is_near(&exact, case.question.ranking, ranks, case.end)
    }

    /// In addition, a rank may lose the rounding to units.
    fn tolerance(&self, _column: &Column, end: End) -> Option<f64> {
        Some(oracle::rank_tolerance(end.iterations))
    }

    fn answer(&self, graph: &Graph, column: &Column) -> Answer {
        highest_rank(graph, column)
    }

    fn cost_ns(&self, job: &Job, worker: &Worker) -> f64 {
        let [passes, levels] = PASSES;
        job.rounds * worker.code_ns(job, passes, levels)
    }

    fn rounds_foreseen(&self, ranking: Ranking) -> f64 {
        super::pagerank::Pagerank.rounds_foreseen(ranking)
    }
}

/// The share of a walk that starts at each node.
fn starts(graph: &Graph, sources: &[u32]) -> Vec<f64> {
    let mut starts = vec![0.0; graph.nodes() as usize];
    for source in sources {
        starts[*source as usize] += 1.0 / sources.len() as f64;
    }
    starts
}

/// The registers of the program, a value a node each but for totals and sources.
#[derive(Clone, Copy)]
struct Registers {
    ranks: RegisterId,
    /// The share of a walk that starts at each node.
    starts: RegisterId,
    /// The rank that a node passes on along each of its edges, in units.
    shares: RegisterId,
    /// Rank of nodes without edges, and the sum of changes, in units of totals.
    jumping: RegisterId,
    change: RegisterId,
}

fn build(graph: &Graph, question: &Question) -> Result<Built, ProgramError> {
    let mut program = ProgramBuilder::new(graph.nodes());
    let sources = program.input("sources", question.sources.len() as u64)?;
    let registers = Registers {
        ranks: program.per_node("ranks", Kind::F32)?,
        starts: program.per_node("starts", Kind::F32)?,
        shares: program.per_node("shares", Kind::U64)?,
        jumping: program.values("jumping", Kind::U64, 1)?,
        change: program.values("change", Kind::U64, 1)?,
    };
    let times = program.per_node("times", Kind::U32)?;
    program.fill("no source", times, 0);
    program.each("sources", Over::Values(sources), |source| {
        source.scatter(times, source.load(sources), Join::Sum, 1);
    });
    // Without sources nothing starts anywhere.
    let count = question.sources.len().max(1) as f32;
    program.each("start", Over::Nodes, |node| {
        let start = node.load(times).to_f32() / count;
        node.store(registers.starts, start);
        node.store(registers.ranks, start);
    });
    let ranking = question.ranking;
    let limit = question.max_iterations.min(iterations_max(ranking.damping));
    let exponent = unit_exponent(graph.edges());
    program.fixpoint("rank", limit, |body| {
        step(body, registers, (ranking, exponent));
    });
    program.keep(registers.ranks);
    Ok(Built {
        program,
        inputs: padded(question.sources.clone()),
        result: registers.ranks,
        parents: None,
        reading: Reading::Floats,
    })
}

/// An iteration: share ranks, gather them, look at what changed.
fn step(body: &mut ProgramBuilder, registers: Registers, (ranking, exponent): (Ranking, u32)) {
    let Registers {
        ranks,
        starts,
        shares,
        jumping,
        change,
    } = registers;
    body.fill("nobody jumps", jumping, 0);
    body.fill("no change", change, 0);
    body.each("share", Over::Nodes, |node| {
        let own = node.load(ranks);
        let degree = node.degree(Edges::Out, node.index());
        let is_end = degree.is_zero();
        let share = own / degree.max(1).to_f32();
        node.store(shares, is_end.select(0_u64, units(share, exponent)));
        node.fold(
            jumping,
            Join::Sum,
            is_end.select(units(own, TOTAL_EXPONENT), 0_u64),
        );
    });
    body.each("gather", Over::Nodes, |node| {
        let along = node.gather(Edges::In, Join::Sum, |edge| edge.there(shares));
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

/// The share of all rank that starts anew.
fn anew<'c>(node: Item<'c>, jumping: RegisterId, damping: f32) -> Value<'c> {
    let jumping = node.at(jumping, 0).to_f32() * unit(TOTAL_EXPONENT);
    jumping * damping + (1.0 - damping)
}

/// A unit as a float.
fn unit(exponent: u32) -> f32 {
    0.5_f32.powi(exponent as i32)
}

/// Whole units in `value`.
fn units(value: Value<'_>, exponent: u32) -> Value<'_> {
    (value * 2.0_f32.powi(exponent as i32)).to_u64()
}
