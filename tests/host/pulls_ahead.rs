//! Searches that continue from nodes found in the same iteration reach the same nodes.

use crate::drawn::{Drawn, Tried, each, graphs};
use crate::lanes::{self, LIMITS, MACHINES};
use seawall::backend::Session;
use seawall::backend::cpu::CpuSession;
use seawall::graph::Graph;
use seawall::program::{Mark, PlanRequest, ProgramBuilder};
use seawall_core::topology::Topology;
use seawall_oracles::harness::compare;
use std::num::NonZeroUsize;

fn text(error: impl std::fmt::Display) -> String {
    error.to_string()
}

/// Bits of the nodes that a search from node 0 visits, and its iterations.
fn search(
    session: &mut dyn Session,
    graph: &Graph,
    mark: Mark,
    forced: Option<Topology>,
) -> Result<(Vec<u32>, u32), String> {
    let mut program = ProgramBuilder::new(graph.nodes());
    if let Some(topology) = forced {
        program.force_topology(topology);
    }
    let source = program.words("source", 1).map_err(text)?;
    let frontier = program.frontier("frontier").map_err(text)?;
    let visited = program.bitset("visited").map_err(text)?;
    program.fill("source", source, 0);
    program.reset("reset", frontier);
    program.seed("seed", frontier, source, mark);
    program.search("search", frontier, mark, graph.nodes());
    program.visited("visited", visited, frontier);
    program.keep(visited);
    let (encoded, _) = program.encode(&PlanRequest::default()).map_err(text)?;
    session.load(&encoded).map_err(text)?;
    let end = session.run(&[]).map_err(text)?.control.loops[0];
    let mut words = Vec::new();
    session.read(visited, &mut words).map_err(text)?;
    Ok((words, end.iterations))
}

fn threads(graph: &Graph, count: usize) -> CpuSession<'_> {
    CpuSession::open(graph, NonZeroUsize::new(count), LIMITS).unwrap()
}

/// Checks a machine with only pulls, by words and by blocks, and alternating with pushes.
fn check(graph: &Graph, mut session: CpuSession<'_>) -> Tried {
    if graph.nodes() == 0 {
        // There is no node to start from.
        return Ok(());
    }
    let (plain, _) = search(&mut threads(graph, 1), graph, Mark::Bits, None)?;
    for forced in [None, Some(Topology::Dense), Some(Topology::BlockDense)] {
        let (ahead, _) = search(&mut session, graph, Mark::BitsAhead, forced)?;
        compare(&format!("visited, {forced:?}"), &ahead, &plain)?;
    }
    Ok(())
}

#[test]
fn threads_that_go_ahead_reach_the_same() {
    let case = (graphs(400), 1..4_usize);
    each(60, case, |((list, _), count): (Drawn, _)| {
        let graph = list.graph().unwrap();
        check(&graph, threads(&graph, count))
    });
}

#[test]
fn warps_that_go_ahead_reach_the_same() {
    let case = (graphs(200), MACHINES);
    each(6, case, |((list, _), machine): (Drawn, _)| {
        let graph = list.graph().unwrap();
        check(&graph, lanes::session(&graph, machine))
    });
}

/// On a path that leads from word to word of the bits, ten of them, an iteration finds a node in
/// each.
#[test]
fn a_pull_goes_on_from_what_it_found() {
    let node = |at: u32| 32 * (at % 10) + at / 10;
    let edges: Vec<_> = (1..320).map(|at| (node(at - 1), node(at))).collect();
    let graph = Graph::from_edges(320, &edges, true).unwrap();
    let iterations = |mark| {
        let forced = Some(Topology::Dense);
        search(&mut threads(&graph, 1), &graph, mark, forced)
            .unwrap()
            .1
    };
    assert!(iterations(Mark::Bits) >= 319);
    assert!(iterations(Mark::BitsAhead) < 40);
}
