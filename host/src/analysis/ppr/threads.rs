//! Ranks along weights on CPU threads.

use crate::analysis::pagerank::limit_of;
use crate::analysis::{Question, alone};
use crate::graph::Graph;
use crate::program::{Given, Kind, Over, ProgramBuilder, ProgramError, RegisterId};
use seawall_core::abi::sequential::{Algorithm, Lengths, SequentialRecord};

/// Adds the waves that rank nodes for a walk with these `starts`; returns the register of ranks. One
/// thread pushes ranks along edges, since threads that share edges would have to add atomically.
pub(super) fn rank(
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
