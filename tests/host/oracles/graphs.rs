//! Drawn graphs.

use seawall_oracles::graphs::{SHAPES, draw};
use seawall_oracles::random::Random;

#[test]
fn every_shape_of_every_size_is_a_graph() {
    for shape in SHAPES {
        for nodes in [0, 1, 2, 3, 41, 200] {
            let list = draw(shape, nodes, nodes % 2 == 0, &mut Random::new(7));
            assert_eq!(
                list.graph().unwrap().nodes(),
                list.nodes,
                "{shape:?} {nodes}"
            );
        }
    }
}
