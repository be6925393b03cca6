//! Sums gathered by tiles of rows on the CPU, by the kernels of GPUs: the same ranks, bit for bit,
//! as row by row.

use crate::drawn;
use proptest::prelude::*;
use seawall::backend::RunLimits;
use seawall::backend::cpu::CpuSession;
use seawall::graph::Graph;
use seawall::tiles::{TileShape, Tiles};
use seawall_oracles::ranks::run_ranks;
use std::num::NonZeroUsize;

/// Runs ranks by tiles of `shape` on `threads` threads.
fn run(graph: &Graph, shape: TileShape, threads: usize) -> Result<(), String> {
    let session = CpuSession::open(graph, NonZeroUsize::new(threads), RunLimits::default())
        .map_err(|error| error.to_string())?;
    let mut session = session.with_tiles(shape);
    run_ranks(&mut session, graph, 20, 2)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn ranks_by_tiles_equal_those_by_rows(
        (list, _) in drawn::graphs(900),
        blocks in 1..6_u32,
        slots in 66..500_u32,
        threads in 1..4_usize,
    ) {
        let graph = list.graph().unwrap();
        let tiles = TileShape { blocks, slots, always: true };
        prop_assume!(graph.nodes() > 0);
        prop_assert_eq!(Tiles::of(&graph, tiles).is_some(), graph.edges() > 0);
        run(&graph, tiles, threads).map_err(TestCaseError::fail)?;
    }
}

/// Carries of sums above 2^32 units go to memory outside the tile: one node holds half of the total
/// here, and passes all of it along one edge.
#[test]
fn sums_larger_than_a_word_carry_over() {
    let nodes = 30_000;
    let mut edges: Vec<_> = (1..nodes).map(|from| (from, 0)).collect();
    edges.push((0, 1));
    let graph = Graph::from_edges(nodes, &edges, false).unwrap();
    let shape = TileShape {
        blocks: 2,
        slots: 20_000,
        always: true,
    };
    assert!(Tiles::of(&graph, shape).is_some());
    run(&graph, shape, 2).unwrap();
}
