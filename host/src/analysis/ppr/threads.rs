//! Ranks on CPU threads.

use crate::analysis::pagerank::limit_of;
use crate::analysis::{Question, alone};
use crate::graph::Graph;
use crate::program::{Given, Kind, Over, ProgramBuilder, ProgramError, Ranks, RegisterId};
use seawall_core::abi::sequential::{Algorithm, Lengths, SequentialRecord};

/// Adds the waves that rank nodes for a walk with these `starts`; returns the register of ranks.
pub(super) fn rank(
    program: &mut ProgramBuilder,
    (graph, question): (&Graph, &Question),
    starts: RegisterId,
) -> Result<RegisterId, ProgramError> {
    match alone::lengths(graph, question.weighted) {
        Lengths::Edges => by_rows(program, graph, question, starts),
        lengths => by_weights(program, graph, question, starts, lengths),
    }
}

/// Edges of a node with equal shares: the kernel of `pagerank`, by all threads.
fn by_rows(
    program: &mut ProgramBuilder,
    graph: &Graph,
    question: &Question,
    starts: RegisterId,
) -> Result<RegisterId, ProgramError> {
    let nodes = u64::from(graph.nodes());
    let ranks = Ranks {
        ranks: program.words("ranks", nodes)?,
        contributions: program.words("contributions", nodes)?,
        sums: program.words("sums", nodes)?,
        totals: program.totals("totals")?,
    };
    program.fill("clear totals", ranks.totals, 0);
    program.seed_ranks_from("start", ranks, starts);
    let step = (question.ranking.damping, question.ranking.tolerance);
    program.fixpoint("rank", limit_of(question), |body| {
        body.step_ranks_from(ranks, starts, step);
    });
    Ok(ranks.ranks)
}

/// Edges by their weights: one thread pushes ranks along them, since threads that share edges would
/// have to add atomically.
fn by_weights(
    program: &mut ProgramBuilder,
    graph: &Graph,
    question: &Question,
    starts: RegisterId,
    lengths: Lengths,
) -> Result<RegisterId, ProgramError> {
    let record = SequentialRecord {
        lengths,
        damping: question.ranking.damping.to_bits(),
        tolerance: question.ranking.tolerance.to_bits(),
        ..SequentialRecord::new(Algorithm::Ranks)
    };
    let ranks = program.per_node("ranks", Kind::F32)?;
    program.each("start", Over::Nodes, |node| {
        node.store(ranks, node.load(starts));
    });
    let shares = program.words("shares of edges", u64::from(graph.edges()))?;
    program.fill("no shares yet", shares, 0);
    let sharing = SequentialRecord {
        algorithm: Algorithm::Shares,
        ..record
    };
    let given = Given {
        weights: alone::weights(graph, sharing),
        ..Given::default()
    };
    program.sequential("share weights", shares, sharing, given);
    let given = Given {
        memory: Some(program.sequential_memory(record, graph.edges())?),
        sources: Some(starts),
        third: Some(shares),
        ..Given::default()
    };
    program.fixpoint("rank", limit_of(question), |body| {
        body.sequential("follow weights", ranks, record, given);
    });
    Ok(ranks)
}
