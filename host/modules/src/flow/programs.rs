//! The wave programs of submissions.

use super::layout::Ranges;
use seawall::program::{
    Edges, EncodedProgram, Join, Kind, Over, PlanRequest, Problems, ProgramBuilder, ProgramError,
    RegisterId,
};

/// Iterations after which a program gives up.
pub(super) const ITERATIONS_MOST: u32 = u32::MAX - 1;

/// A program that is ready to run, and its input.
pub(super) struct Ready {
    pub(super) encoded: EncodedProgram,
    /// Facts that each node makes, and those that it keeps.
    pub(super) transfer: RegisterId,
    /// The nodes of each problem, or the problem of each node.
    pub(super) problems: (RegisterId, Vec<u32>),
    /// Facts that each node passes on.
    pub(super) after: RegisterId,
    /// Counters of sweeps; without them, the iterations are those of the fixpoint.
    pub(super) counters: Option<RegisterId>,
}

/// One wave that solves each range by itself.
pub(super) fn settle(nodes: u32, ranges: Ranges) -> Result<Ready, ProgramError> {
    let mut program = ProgramBuilder::new(nodes);
    let transfer = program.input_values("made and kept", Kind::U64, 2 * u64::from(nodes))?;
    let ends: Vec<u32> = ranges.ends.into_flattened();
    let problems = program.input_values("ranges", Kind::U32, ends.len() as u64)?;
    let after = program.per_node("after", Kind::U64)?;
    let counters = program.values("counters", Kind::U32, Problems::COUNTERS)?;
    program.fill("nothing holds", after, 0);
    let all = Problems {
        transfer,
        ranges: problems,
        large: ranges.large,
        counters,
    };
    program.settle("meet and pass on", after, all);
    program.keep(after);
    program.keep(counters);
    Ok(Ready {
        encoded: program.encode(&PlanRequest::default())?.0,
        transfer,
        problems: (problems, ends),
        after,
        counters: Some(counters),
    })
}

/// A wave in a fixpoint. It leaves out nodes of parts in which the last iteration changed nothing,
/// since those are settled.
pub(super) fn rounds(nodes: u32, parts: (Vec<u32>, u32)) -> Result<Ready, ProgramError> {
    let (parts, count) = parts;
    let mut program = ProgramBuilder::new(nodes);
    let transfer = program.input_values("made and kept", Kind::U64, 2 * u64::from(nodes))?;
    let of_node = program.input_values("parts", Kind::U32, u64::from(nodes))?;
    let after = program.per_node("after", Kind::U64)?;
    let changed = program.values("last change of parts", Kind::U32, u64::from(count))?;
    let turn = program.values("iteration", Kind::U32, 1)?;
    program.fill("nothing holds", after, 0);
    program.fill("no part has changed", changed, 0);
    program.fill("the first iteration", turn, 1);
    program.fixpoint("settle", ITERATIONS_MOST, |body| {
        body.each("meet and pass on", Over::Nodes, |node| {
            let (part, now) = (node.load(of_node), node.at(turn, 0));
            node.only(now.at_most(node.latest(changed, part) + 1));
            let coming = node.gather(Edges::Out, Join::Or, |edge| {
                edge.latest(after, edge.neighbour())
            });
            let made = node.at(transfer, node.index() * 2);
            let kept = node.at(transfer, node.index() * 2 + 1);
            let passed = made | (coming & kept);
            node.only(passed.differs(node.load(after)));
            node.store(after, passed);
            node.scatter(changed, part, Join::Max, now);
            node.changed(1);
        });
        body.each("count the iteration", Over::Count(1), |one| {
            one.store(turn, one.load(turn) + 1);
        });
    });
    program.keep(after);
    Ok(Ready {
        encoded: program.encode(&PlanRequest::default())?.0,
        transfer,
        problems: (of_node, parts),
        after,
        counters: None,
    })
}
