//! Programs that several devices share.

use seawall::graph::Graph;
use seawall::program::{
    Edges, Join, Kind, Over, ProgramBuilder, ProgramError, Reduction, RegisterId,
};

/// A program and its results.
pub type Built = Result<(ProgramBuilder, Vec<RegisterId>), ProgramError>;

/// Makes a program for a graph.
pub type Build = fn(&Graph) -> Built;

/// Labels that spread to the least, gathered along edges in both directions.
///
/// # Errors
/// If the graph is too large for a register.
pub fn labels(graph: &Graph) -> Built {
    let mut program = ProgramBuilder::new(graph.nodes());
    let labels = program.per_node("labels", Kind::U32)?;
    let next = program.per_node("next", Kind::U32)?;
    program.iota("number", labels);
    program.fixpoint("spread", 100_000, |body| {
        body.each("gather", Over::Nodes, |node| {
            let own = node.load(labels);
            let out = node.gather(Edges::Out, Join::Min, |edge| edge.there(labels));
            let into = node.gather(Edges::In, Join::Min, |edge| edge.there(labels));
            let least = own.min(out).min(into);
            node.store(next, least);
            node.changed(least.below(own));
        });
        body.copy("take", labels, next);
    });
    program.keep(labels);
    Ok((program, vec![labels]))
}

/// Every join that is scattered along edges, of words, of pairs, and of floats.
fn scatters(graph: &Graph) -> Built {
    let mut program = ProgramBuilder::new(graph.nodes());
    let mut results = Vec::new();
    for (kind, how) in [
        (Kind::U32, Join::Sum),
        (Kind::U32, Join::Or),
        (Kind::U32, Join::And),
        (Kind::U32, Join::Any),
        (Kind::U32, Join::Max),
        (Kind::U64, Join::Sum),
        (Kind::U64, Join::Min),
        (Kind::I32, Join::Min),
        (Kind::I32, Join::Max),
        (Kind::F32, Join::Max),
    ] {
        let to = program.per_node("to", kind)?;
        let first = program.values("first", kind, 1)?;
        for (name, register) in [("begin", to), ("begin the first", first)] {
            program.fill(name, register, 7);
        }
        program.each("scatter", Over::Nodes, |node| {
            let value = node.index() * 0x9e37 + 3;
            node.each_edge(Edges::Out, |edge| match kind {
                Kind::U32 => {
                    edge.scatter(to, edge.neighbour(), how, value);
                }
                Kind::U64 => {
                    edge.scatter(to, edge.neighbour(), how, value.to_u64());
                }
                Kind::I32 => {
                    edge.scatter(to, edge.neighbour(), how, value.to_i32());
                }
                Kind::F32 => {
                    edge.scatter(to, edge.neighbour(), how, value.to_f32());
                }
            });
            match kind {
                Kind::U32 => node.fold(first, how, value),
                Kind::U64 => node.fold(first, how, value.to_u64()),
                Kind::I32 => node.fold(first, how, value.to_i32()),
                Kind::F32 => node.fold(first, how, value.to_f32()),
            }
        });
        program.keep(to);
        program.keep(first);
        results.extend([to, first]);
    }
    Ok((program, results))
}

/// Ranks by floats that each node gathers, and their sum over all nodes, until it settles.
fn ranks(graph: &Graph) -> Built {
    let mut program = ProgramBuilder::new(graph.nodes());
    let shares = program.per_node("shares", Kind::F32)?;
    let ranks = program.per_node("ranks", Kind::F32)?;
    let sum = program.values("sum", Kind::F32, 1)?;
    let left = program.values("left", Kind::U32, 1)?;
    program.fill("begin", ranks, 1.0_f32.to_bits());
    program.fill("rounds", left, 6);
    program.fill("no sum yet", sum, 0);
    program.while_nonzero("repeat", left, 20, |body| {
        body.each("share", Over::Nodes, |node| {
            let degree = node.degree(Edges::Out, node.index()).max(1).to_f32();
            node.store(shares, node.load(ranks) / degree);
        });
        body.each("gather", Over::Nodes, |node| {
            let sum = node.gather(Edges::In, Join::Sum, |edge| edge.there(shares));
            node.store(ranks, sum * 0.85_f32 + 0.15_f32);
        });
        body.fill("no sum", sum, 0);
        body.each("add up", Over::Nodes, |node| {
            node.fold(sum, Join::Sum, node.load(ranks));
        });
        body.each("count down", Over::Count(1), |all| {
            all.store(left, all.load(left) - 1);
        });
    });
    for register in [ranks, sum, left] {
        program.keep(register);
    }
    Ok((program, vec![ranks, sum, left]))
}

/// A search by levels: a fixpoint in a loop on a register, and a reduction.
fn levels(graph: &Graph) -> Built {
    let mut program = ProgramBuilder::new(graph.nodes());
    let levels = program.per_node("levels", Kind::U32)?;
    let start = program.values("start", Kind::U32, 1)?;
    let deepest = program.values("deepest", Kind::U32, 1)?;
    let sums = program.per_node("sums", Kind::U32)?;
    program.fill("no level yet", levels, u32::MAX);
    program.fill("no sum yet", sums, 0);
    program.fill("from", start, 3);
    program.while_nonzero("each start", start, 10, |body| {
        body.each("begin", Over::Nodes, |node| {
            let first = node.at(start, 0).min(graph.nodes().saturating_sub(1));
            node.only(node.index().equals(first));
            node.store(levels, 0);
        });
        body.fixpoint("go on", 100_000, |body| {
            body.each("push", Over::Nodes, |node| {
                let own = node.latest(levels, node.index());
                node.only(own.differs(u32::MAX));
                node.each_edge(Edges::Out, |edge| {
                    let theirs = edge.latest(levels, edge.neighbour());
                    let is_nearer = (own + 1).below(theirs);
                    edge.changed(is_nearer);
                    edge.only(is_nearer);
                    edge.scatter(levels, edge.neighbour(), Join::Min, own + 1);
                });
            });
        });
        body.each("add levels", Over::Nodes, |node| {
            node.store(sums, node.load(sums) + node.load(levels));
        });
        body.each("next start", Over::Count(1), |all| {
            all.store(start, all.load(start) - 1);
        });
    });
    program.reduce("deepest", Reduction::Max, deepest, sums);
    for register in [levels, sums, deepest] {
        program.keep(register);
    }
    Ok((program, vec![levels, sums, deepest]))
}

/// Values of edges: an item for each, and sums of rows by what their nodes have.
fn edge_values(graph: &Graph) -> Built {
    let mut program = ProgramBuilder::new(graph.nodes());
    let edges = u64::from(graph.edges()).max(1);
    let values = program.values("values", Kind::U64, edges)?;
    let sums = program.per_node("sums", Kind::U64)?;
    let bits = program.values("bits", Kind::U32, 7)?;
    program.fill("no bits", bits, 0);
    program.each("number", Over::Values(values), |edge| {
        edge.store(values, edge.index().below_high(edge.index() * 3));
    });
    program.each("sum", Over::Nodes, |node| {
        let sum = node.gather(Edges::Out, Join::Sum, |edge| edge.at(values, edge.number()));
        node.store(sums, sum);
    });
    program.each("mark", Over::Count(1000), |item| {
        item.scatter(bits, item.index() % 7, Join::Or, item.index().hash());
    });
    for register in [values, sums, bits] {
        program.keep(register);
    }
    Ok((program, vec![values, sums, bits]))
}

/// Values at the numbers of edges, in either direction: float sums, and what was there before.
fn edge_numbers(graph: &Graph) -> Built {
    let mut program = ProgramBuilder::new(graph.nodes());
    let edges = u64::from(graph.edges()).max(1);
    let mut results = Vec::new();
    for (direction, kind) in [(Edges::In, Kind::F32), (Edges::Out, Kind::U64)] {
        let values = program.values("values", kind, edges)?;
        let before = program.per_node("before", Kind::U32)?;
        program.fill("begin", values, 5);
        program.fill("nothing before", before, 0);
        program.each("number", Over::Nodes, |node| {
            let count = node.gather(direction, Join::Sum, |edge| {
                let given = edge.neighbour() * 3 + node.index();
                edge.only(given.differs(9));
                let given = match kind {
                    Kind::F32 => given.to_f32() * 0.1_f32,
                    _ => given.to_u64(),
                };
                let found = edge.scatter(values, edge.number(), Join::Sum, given);
                match kind {
                    Kind::F32 => found.to_u32(),
                    _ => found.to_f32().to_u32(),
                }
            });
            node.store(before, count);
        });
        program.keep(values);
        program.keep(before);
        results.extend([values, before]);
    }
    Ok((program, results))
}

/// All of them, by name.
pub const PROGRAMS: [(&str, Build); 6] = [
    ("edge numbers", edge_numbers),
    ("labels", labels),
    ("scatters", scatters),
    ("ranks", ranks),
    ("levels", levels),
    ("edge values", edge_values),
];
