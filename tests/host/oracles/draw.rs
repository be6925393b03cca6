//! Drawn scripts.

use seawall_oracles::draw::{Limits, draw};
use seawall_oracles::graphs::{self, EdgeList, SHAPES};
use seawall_oracles::interpret::interpret;
use seawall_oracles::random::Random;
use std::collections::BTreeSet;

#[test]
fn drawn_scripts_use_every_kind_of_wave() {
    let mut seen = BTreeSet::new();
    for seed in 0..400 {
        let limits = Limits {
            nodes: 40,
            waves: 8,
            words: 100,
        };
        let script = draw(limits, &mut Random::new(seed));
        for wave in &script.waves {
            let text = format!("{wave:?}");
            seen.insert(text.split(' ').next().unwrap().to_owned());
        }
    }
    assert_eq!(seen.len(), 18, "{seen:?}");
}

#[test]
fn unlimited_loops_converge() {
    for seed in 0..60 {
        let mut random = Random::new(seed);
        let shape = SHAPES[seed as usize % SHAPES.len()];
        let list: EdgeList = graphs::draw(shape, 60, false, &mut random);
        let limits = Limits {
            nodes: list.nodes,
            waves: 6,
            words: 60,
        };
        let left = interpret(&draw(limits, &mut random), &list);
        assert!(
            left.loops
                .iter()
                .all(|end| end.converged || end.iterations <= 7)
        );
    }
}
