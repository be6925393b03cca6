//! Random programs of the tests on random graphs.

use crate::draw::Draw;
use seawall_oracles::draw::Limits;
use seawall_oracles::graphs::{self, EdgeList, SHAPES};
use seawall_oracles::random::Random;
use seawall_oracles::script::Script;
use std::num::NonZeroUsize;

/// A program, its graph, and the threads that it runs on.
#[derive(Debug)]
pub struct Case {
    /// The graph.
    pub list: EdgeList,
    /// The program.
    pub script: Script,
    /// One to three threads.
    pub threads: Option<NonZeroUsize>,
}

impl Case {
    /// Draws a graph, and the program for it by `script`.
    pub fn draw(
        draw: &mut Draw<'_>,
        script: impl FnOnce(&mut Draw<'_>, Limits, &mut Random) -> Script,
    ) -> Self {
        let shape = SHAPES[draw.below(SHAPES.len() as u32) as usize];
        let nodes = draw.below(80);
        let waves = 1 + draw.below(12);
        let words = 1 + draw.below(300);
        let threads = NonZeroUsize::new(1 + draw.below(3) as usize);
        let undirected = draw.flag();
        let mut random = Random::new(draw.long());
        let list = graphs::draw(shape, nodes, undirected, &mut random);
        let limits = Limits {
            nodes: list.nodes,
            waves,
            words,
        };
        let script = script(draw, limits, &mut random);
        Self {
            list,
            script,
            threads,
        }
    }
}
