//! A user's analysis without device code: the distance of every node from the nearest local maximum
//! of degree.
//!
//! `cargo run --release -p seawall --example own_program`

use seawall::backend::cpu::CpuSession;
use seawall::backend::{RunLimits, Session};
use seawall::graph::{LoadOptions, load};
use seawall::program::{Edges, Join, Kind, Over, PlanRequest, ProgramBuilder};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let graph = load("gen:rmat:10:8", &LoadOptions::default(), None)?.graph;
    let mut program = ProgramBuilder::new(graph.nodes());
    let steps = program.per_node("steps", Kind::U32)?;
    program.each("find the peaks", Over::Nodes, |node| {
        let own = node.degree(Edges::Out, node.index());
        let most = node.gather(Edges::Out, Join::Max, |edge| {
            edge.degree(Edges::Out, edge.neighbour())
        });
        node.store(steps, own.above(most).select(0, u32::MAX));
    });
    program.fixpoint("walk away from them", graph.nodes(), |body| {
        body.each("step", Over::Nodes, |node| {
            let own = node.load(steps);
            let nearest = node.gather(Edges::Out, Join::Min, |edge| {
                edge.latest(steps, edge.neighbour())
            });
            let next = nearest.min(u32::MAX - 1) + 1;
            node.only(next.below(own));
            node.store(steps, next);
            node.changed(1);
        });
    });
    program.keep(steps);

    let (encoded, plan) = program.encode(&PlanRequest::default())?;
    println!("{} groups, {} bytes", plan.groups, plan.arena_bytes);
    let mut session = CpuSession::open(&graph, None, RunLimits::default())?;
    session.load(&encoded)?;
    let stats = session.run(&[])?;
    let mut found = Vec::new();
    session.read(steps, &mut found)?;
    let peaks = found.iter().filter(|steps| **steps == 0).count();
    let far = found.iter().filter(|steps| **steps != u32::MAX).max();
    println!(
        "{peaks} peaks, the farthest node {far:?} steps away, {} rounds",
        stats.control.loops[0].iterations
    );
    Ok(())
}
