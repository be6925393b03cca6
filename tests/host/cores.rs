//! Core numbers of graphs that lose most of their edges in one round, so that rounds recount.

use crate::lanes::{self, LIMITS};
use seawall::analysis::{Question, build, oracle};
use seawall::backend::Session;
use seawall::backend::cpu::CpuSession;
use seawall::graph::Graph;
use seawall::program::PlanRequest;
use seawall::run::AnalysisKind;
use seawall_oracles::graphs::EdgeList;
use seawall_oracles::random::Random;
use std::num::NonZeroUsize;

fn check(graph: &Graph, mut session: CpuSession<'_>) {
    let built = build(AnalysisKind::Kcore, graph, &Question::new(Vec::new())).unwrap();
    let (encoded, _) = built.program.encode(&PlanRequest::default()).unwrap();
    session.load(&encoded).unwrap();
    let end = session.run(&[]).unwrap().control.loops[0];
    let mut words = Vec::new();
    session.read(built.result, &mut words).unwrap();
    assert!(words == oracle::cores(graph), "other core numbers");
    assert_eq!(end.converged, 1);
}

fn check_all(list: &EdgeList, machines: &[u32]) {
    let graph = list.graph().unwrap();
    let threads = |count| CpuSession::open(&graph, NonZeroUsize::new(count), LIMITS).unwrap();
    check(&graph, threads(1));
    check(&graph, threads(3));
    for machine in machines {
        check(&graph, lanes::session(&graph, *machine));
    }
}

fn undirected(nodes: u32, edges: Vec<(u32, u32)>) -> EdgeList {
    EdgeList {
        nodes,
        edges,
        undirected: true,
    }
}

/// Three complete bipartite graphs with sides of `side` nodes are removed in the first rounds. Some
/// of the other nodes had most of their edges there, and a clique remains.
fn sides_and_a_clique(side: u32) -> EdgeList {
    let mut edges = Vec::new();
    for pair in 0..3 {
        let first = 2 * pair * side;
        let ends = (0..side).flat_map(|one| (0..side).map(move |other| (one, side + other)));
        edges.extend(ends.map(|(one, other)| (first + one, first + other)));
    }
    let many = 6 * side..6 * side + 3;
    for node in many.clone() {
        edges.extend((0..side + 5).map(|end| (node, end)));
    }
    let clique = many.end..many.end + side + 3;
    for node in clique.clone() {
        edges.extend((clique.start..node).map(|end| (node, end)));
    }
    undirected(clique.end, edges)
}

#[test]
fn rows_of_any_length_are_recounted() {
    // A block takes rows of more than 512 edges, a warp shorter ones.
    check_all(&sides_and_a_clique(60), &[0, 3, 4]);
    check_all(&sides_and_a_clique(600), &[3]);
}

/// Most nodes of a random graph are removed in the last level, in growing rounds.
#[test]
fn what_remains_of_random_graphs_is_recounted() {
    for (seed, nodes, degree, machines) in [(1, 20_000, 20, &[][..]), (2, 900, 24, &[0, 4])] {
        let mut random = Random::new(seed);
        let mut node = || random.below(nodes);
        let edges = (0..nodes * degree / 2).map(|_| (node(), node()));
        let list = undirected(nodes, edges.filter(|(from, to)| from != to).collect());
        check_all(&list, machines);
    }
}
