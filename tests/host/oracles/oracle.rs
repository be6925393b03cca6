//! Oracles on graphs whose answers are plain to see.

use seawall::outcome::Column;
use seawall_oracles::graphs::EdgeList;
use seawall_oracles::oracle::{
    Corners, components, levels, oriented_triangles, parents, reached, reached_from, triangles,
};

/// 0 to 1 to 2, 3 to 2, and 4 alone.
fn list(undirected: bool) -> EdgeList {
    EdgeList {
        nodes: 5,
        edges: vec![(0, 1), (1, 2), (3, 2), (1, 1)],
        undirected,
    }
}

#[test]
fn levels_follow_directions_and_stop_at_the_limit() {
    const NO: u32 = Column::UNREACHED;
    assert_eq!(levels(&list(false), &[0], 9), [0, 1, 2, NO, NO]);
    assert_eq!(levels(&list(true), &[0, 0], 9), [0, 1, 2, 3, NO]);
    assert_eq!(levels(&list(true), &[0], 2), [0, 1, 2, NO, NO]);
    assert_eq!(levels(&list(true), &[4, 3], 0), [NO, NO, NO, 0, 0]);
    assert_eq!(reached(&list(false), &[3], 9), [0, 0, 1, 1, 0]);
}

#[test]
fn parents_are_the_smallest_neighbours_a_level_up() {
    const NO: u32 = Column::UNREACHED;
    let square = EdgeList {
        nodes: 5,
        edges: vec![(3, 1), (0, 1), (2, 3), (2, 0), (1, 1)],
        undirected: false,
    };
    let levels = levels(&square, &[2], 9);
    assert_eq!(parents(&square, &levels), [2, 0, 2, 2, NO]);
}

#[test]
fn sets_hold_a_bit_a_source() {
    let sets = reached_from(&list(false), &[3, 0, 3], 9);
    assert_eq!(sets, [2, 0, 2, 0, 7, 0, 5, 0, 0, 0]);
    let many = reached_from(&list(false), &[0; 65], 1);
    assert_eq!(many[4..8], [u32::MAX, u32::MAX, 1, 0]);
}

#[test]
fn components_ignore_directions_and_take_their_smallest_node() {
    assert_eq!(components(&list(false)), [0, 0, 0, 0, 4]);
}

#[test]
fn triangles_have_three_corners_however_often_their_edges_are_listed() {
    let edges = vec![
        (0, 1),
        (1, 0),
        (1, 2),
        (2, 0),
        (2, 2),
        (3, 2),
        (0, 3),
        (3, 4),
    ];
    let list = EdgeList {
        nodes: 5,
        edges,
        undirected: true,
    };
    assert_eq!(triangles(&list), [2, 1, 2, 1, 0]);
    assert_eq!(
        oriented_triangles(&list, Corners::All, usize::MAX),
        [2, 1, 2, 1, 0]
    );
    assert_eq!(
        oriented_triangles(&list, Corners::First, usize::MAX),
        [1, 1, 0, 0, 0]
    );
}
