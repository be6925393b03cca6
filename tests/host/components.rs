//! Components of graphs for which a search comes first: it may find the largest component, another
//! one, or give up.

use seawall::graph::Graph;
use seawall::outcome::Rounds;
use seawall::run::{AnalysisKind, Machine, RunError, RunRequest, execute};
use seawall_oracles::graphs::EdgeList;
use seawall_oracles::random::Random;
use std::num::NonZeroUsize;

/// Finds the components with one thread and with three, checks them, and returns whether a search
/// came first.
fn begins_with_a_search(graph: &Graph) -> bool {
    begins_within(graph, None).unwrap()
}

/// As [`begins_with_a_search`], within a budget of bytes.
fn begins_within(graph: &Graph, budget_bytes: Option<u64>) -> Result<bool, RunError> {
    let begins = [1, 3].map(|threads| -> Result<bool, RunError> {
        let mut machine = Machine::cpu(NonZeroUsize::new(threads));
        machine.budget_bytes = budget_bytes;
        let mut request = RunRequest::new(AnalysisKind::Cc, Vec::new()).on(machine);
        request.check = true;
        let outcome = execute(graph, &request)?;
        assert_eq!(outcome.checked, Some(true), "{threads} threads");
        assert_eq!(
            (outcome.rounds, outcome.converged),
            (Rounds::Iterations(1), true)
        );
        let mut waves = outcome.waves.iter();
        Ok(waves.any(|wave| wave.name == "hook what was reached"))
    });
    let [one, other] = begins;
    let (one, other) = (one?, other?);
    assert_eq!(one, other);
    Ok(one)
}

/// Random edges between the nodes of each of some ranges.
fn random(ranges: &[(u32, u32)], edges: u32, undirected: bool) -> Graph {
    let mut random = Random::new(7);
    let mut list = EdgeList {
        nodes: ranges.iter().map(|range| range.1).max().unwrap_or(0),
        edges: Vec::new(),
        undirected,
    };
    for &(first, end) in ranges {
        let mut node = || first + random.below(end - first);
        let own = (0..edges).map(|_| (node(), node()));
        list.edges.extend(own);
    }
    list.graph().unwrap()
}

/// Edges of a ring of rings of rings, in which every node has 26 neighbours, and paths are long.
fn mesh(side: u32) -> Vec<(u32, u32)> {
    let at = |x: u32, y: u32, z: u32| (x % side * side + y % side) * side + z % side;
    let mut edges = Vec::new();
    for (x, y, z) in (0..side.pow(3)).map(|n| (n / side / side, n / side % side, n % side)) {
        for (dx, dy, dz) in (14..27).map(|n| (n / 9, n / 3 % 3, n % 3)) {
            let to = at(x + dx + side - 1, y + dy + side - 1, z + dz + side - 1);
            edges.push((at(x, y, z), to));
        }
    }
    edges
}

#[test]
fn one_large_component_and_some_small_ones_are_found() {
    // Half of the nodes have no edge; a triangle and a pair are separate.
    let apart = [(90_000, 90_003), (95_000, 95_002), (99_999, 100_000)];
    let ranges = [&[(10_000, 60_000)][..], &apart].concat();
    assert!(begins_with_a_search(&random(&ranges, 600_000, true)));
}

#[test]
fn of_two_large_components_a_search_finds_one() {
    let graph = random(&[(0, 30_000), (30_000, 50_000)], 600_000, true);
    assert!(begins_with_a_search(&graph));
    let graph = random(&[(0, 20_000), (20_000, 50_000)], 600_000, true);
    assert!(begins_with_a_search(&graph));
}

#[test]
fn a_hub_of_a_small_component_begins_no_search() {
    // Nodes of a clique have most edges, but all of its paths end nearby.
    let first = 50_000;
    let mut edges = EdgeList::of(&random(&[(0, first)], 550_000, true)).edges;
    edges.extend((0..200).flat_map(|high| (0..high).map(move |low| (first + high, first + low))));
    let graph = Graph::from_edges(first + 200, &edges, true).unwrap();
    assert!(!begins_with_a_search(&graph));
}

#[test]
fn a_search_gives_up_where_paths_are_long() {
    // Nodes of more edges than those of a mesh, one of which leads there.
    let (side, mut random) = (40, Random::new(11));
    let (first, end) = (side * side * side, side * side * side + 5_000);
    let mut node = || first + random.below(end - first);
    let mut edges = mesh(side);
    edges.extend((0..300_000).map(|_| (node(), node())));
    edges.push((0, first));
    assert!(begins_with_a_search(
        &Graph::from_edges(end, &edges, true).unwrap()
    ));
}

#[test]
fn meshes_small_lean_and_directed_graphs_are_not_searched() {
    let mesh = Graph::from_edges(64_000, &mesh(40), true).unwrap();
    assert!(!begins_with_a_search(&mesh));
    let whole = [(0, 50_000)];
    assert!(!begins_with_a_search(&random(&whole, 400_000, true)));
    assert!(!begins_with_a_search(&random(&whole, 1_200_000, false)));
    assert!(!begins_with_a_search(&random(
        &[(0, 200_000)],
        700_000,
        true
    )));
}

#[test]
fn a_budget_that_holds_no_search_holds_a_sample() {
    let graph = random(&[(0, 50_000)], 600_000, true);
    let mut needed = 1;
    let mut refusals = 0;
    while let Err(error) = begins_within(&graph, Some(needed)) {
        let RunError::OverBudget { needed_bytes, .. } = error else {
            panic!("{error}")
        };
        assert!(needed_bytes > needed);
        (needed, refusals) = (needed_bytes, refusals + 1);
    }
    assert!(refusals > 0);
    assert!(!begins_within(&graph, Some(needed)).unwrap());
    assert!(begins_within(&graph, Some(4 * needed)).unwrap());
}
