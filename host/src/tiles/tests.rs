//! Tiles hold every edge once, for any graph.

use super::deal::{CHUNK, PIECE};
use super::*;
use proptest::prelude::*;

/// Every edge of the tiles as source and row, checked on the way.
fn edges_of(tiles: &Tiles, slots: u32) -> Vec<(u32, u32)> {
    let mut edges = Vec::new();
    let (mut steps, mut rows) = (0, 0);
    for record in tiles.records() {
        assert_eq!((record.first_step, record.first_slot), (steps, rows));
        assert!(record.slots <= slots, "{} slots", record.slots);
        for step in record.first_step..record.first_step + record.steps {
            let words = &tiles.steps[step as usize];
            let base = tiles.bases()[step as usize];
            let mut last = base;
            for index in 0..STEP_EDGES {
                let word = words[place_of(index) as usize];
                if word >= NO_EDGE {
                    assert_eq!(word, NO_EDGE);
                    continue;
                }
                let (source, slot) = (base + (word & DISTANCE_MAX), word >> SLOT_SHIFT);
                assert!(source >= last && slot < record.slots);
                last = source;
                let row = tiles.rows()[(record.first_slot + slot) as usize];
                edges.push((source, row));
            }
        }
        steps += record.steps;
        rows += record.slots;
    }
    assert_eq!(steps as usize, tiles.bases().len());
    assert_eq!(rows as usize, tiles.rows().len());
    edges.sort_unstable();
    edges
}

fn all_edges(graph: &Graph) -> Vec<(u32, u32)> {
    (0..graph.nodes())
        .flat_map(|from| graph.neighbours(from).iter().map(move |to| (from, *to)))
        .collect()
}

const SHAPE: TileShape = TileShape {
    blocks: 3,
    slots: 200,
    always: true,
};

proptest! {
    #[test]
    fn tiles_hold_every_edge_once(
        nodes in 1_u32..700,
        ends in prop::collection::vec((any::<u32>(), any::<u32>()), 0..3000),
        blocks in 1_u32..9,
        slots in 66_u32..400,
        undirected: bool,
    ) {
        let edges: Vec<_> = ends.iter().map(|(a, b)| (a % nodes, b % nodes)).collect();
        let graph = Graph::from_edges(nodes, &edges, undirected).unwrap();
        let shape = TileShape { blocks, slots, always: true };
        match Tiles::of(&graph, shape) {
            Some(tiles) => {
                prop_assert!(tiles.records().len() % blocks as usize == 0);
                prop_assert_eq!(edges_of(&tiles, slots), all_edges(&graph));
            }
            None => prop_assert_eq!(graph.edges(), 0),
        }
    }
}

#[test]
fn rows_of_many_edges_are_cut_and_distant_sources_get_separate_steps() {
    let nodes = 400_000;
    let mut edges: Vec<_> = (1..nodes).step_by(7).map(|from| (from, 0)).collect();
    edges.extend([(5, 399_999), (200_000, 399_999), (390_000, 399_999)]);
    let graph = Graph::from_edges(nodes, &edges, false).unwrap();
    let tiles = Tiles::of(&graph, SHAPE).unwrap();
    assert_eq!(edges_of(&tiles, SHAPE.slots), all_edges(&graph));
    let pieces = tiles.rows().iter().filter(|row| **row == 0).count();
    assert_eq!(pieces, (nodes as usize / 7 + 1).div_ceil(PIECE as usize));
}

#[test]
fn tiles_are_about_equal() {
    let graph = crate::graph::load(
        "gen:rmat:14:16",
        &crate::graph::LoadOptions::default(),
        None,
    )
    .unwrap()
    .graph;
    let shape = TileShape {
        blocks: 8,
        slots: 4096,
        always: true,
    };
    let tiles = Tiles::of(&graph, shape).unwrap();
    assert_eq!(edges_of(&tiles, shape.slots), all_edges(&graph));
    let steps = tiles.records().iter().map(|record| record.steps);
    let (least, most) = (steps.clone().min().unwrap(), steps.max().unwrap());
    assert!(most <= least + least / 8, "{least} to {most} steps");
}

#[test]
fn where_tiles_do_not_pay_there_are_none() {
    let graph = Graph::from_edges(10, &[(0, 1), (1, 2)], false).unwrap();
    let shape = TileShape {
        always: false,
        ..SHAPE
    };
    assert!(Tiles::of(&graph, shape).is_none());
    let small = TileShape {
        slots: CHUNK,
        ..SHAPE
    };
    assert!(Tiles::of(&graph, small).is_none());
    let empty = Graph::from_edges(10, &[], false).unwrap();
    assert!(Tiles::of(&empty, SHAPE).is_none());
}
