//! Colouring: numbers for nodes, so that no two neighbours have the same.
//!
//! A node takes the least number that its neighbours of higher priority leave, once all of
//! them have theirs (Jones, Plassmann, "A Parallel Graph Coloring Heuristic", 1993). Nodes
//! with many edges come first, which takes few colours. The colouring follows from the
//! priorities alone.

mod oracle;

use super::{
    Analysis, Answer, Bars, Built, Case, Facts, Figure, Found, Picture, Question, Reading,
    Sentence, Values,
};
use crate::column::Column;
use crate::cost::{Job, Worker};
use crate::graph::Graph;
use crate::program::{Edges, Item, Join, Kind, Over, ProgramBuilder, ProgramError, Value};
use crate::units::counted;
use seawall_core::abi::UNREACHED;

/// The analysis `colouring`.
pub(super) struct Colouring;

const FACTS: Facts = Facts {
    name: "colouring",
    title: "Colouring",
    summary: "A colour for every node, numbers from 0 on, no two neighbours of the same",
    values: Values::NumbersOfReached,
    is_undirected: true,
    picture: Picture {
        title: "Nodes by colour",
        axis: "colour",
        bars: Bars::Even,
    },
    ..Facts::PLAIN
};

/// Passes over all edges, and levels in between.
const PASSES: [f64; 2] = [4.0, 60.0];

/// Colours that a node looks at in a round.
const WINDOW: u32 = 32;

impl Analysis for Colouring {
    fn facts(&self) -> &'static Facts {
        &FACTS
    }

    fn build(&self, graph: &Graph, question: &Question) -> Result<Built, ProgramError> {
        build(graph, question)
    }

    /// There are many colourings; whether this is one is judged by itself.
    fn check(&self, case: &Case<'_>, found: Found<'_>) -> bool {
        let Column::U32(colours) = found.values else {
            return false;
        };
        oracle::is_proper(case.graph, colours)
            && (!case.end.converged || oracle::is_greedy(case.graph, colours))
    }

    fn answer(&self, _graph: &Graph, column: &Column) -> Answer {
        let Column::U32(colours) = column else {
            return Answer::reached();
        };
        let given = colours.iter().filter(|colour| **colour != UNREACHED);
        let most = given.max().map_or(0, |colour| u64::from(*colour) + 1);
        Answer {
            figures: vec![Figure::new("colours", most)],
            sentence: Sentence::Graph(counted(most, "colour")),
        }
    }

    fn cost_ns(&self, job: &Job, worker: &Worker) -> f64 {
        let [passes, levels] = PASSES;
        worker.code_ns(job, passes, levels)
    }
}

fn build(graph: &Graph, question: &Question) -> Result<Built, ProgramError> {
    let mut program = ProgramBuilder::new(graph.nodes());
    let priorities = program.per_node("priorities", Kind::U64)?;
    let colours = program.per_node("colours", Kind::U32)?;
    // The least colour that a node has not looked at yet.
    let bases = program.per_node("bases", Kind::U32)?;
    program.each("draw priorities", Over::Nodes, |node| {
        node.store(priorities, priority(node));
        node.store(colours, UNREACHED);
        node.store(bases, 0);
    });
    program.fixpoint("colour", question.max_iterations, |body| {
        body.each("round", Over::Nodes, |node| {
            node.only(node.load(colours).equals(UNREACHED));
            let (own, base) = (node.load(priorities), node.load(bases));
            let [waits, used] = node.edges(Edges::Out, |edge| {
                let neighbour = edge.neighbour();
                let comes_first = edge.at(priorities, neighbour).above(own);
                let colour = edge.latest(colours, neighbour);
                let waits = comes_first & colour.equals(UNREACHED);
                edge.until(waits);
                // No bit for colours below or above the window, or for none.
                let bit = edge.constant(1_u32) << (colour - base);
                [(Join::Any, waits), (Join::Or, bit)]
            });
            node.changed(1);
            node.only(waits.is_zero());
            let free = (used ^ u32::MAX).low_zeros();
            let is_full = free.equals(WINDOW);
            node.store(bases, is_full.select(base + WINDOW, base));
            node.store(colours, is_full.select(UNREACHED, base + free));
        });
    });
    program.keep(colours);
    Ok(Built {
        program,
        inputs: Vec::new(),
        result: colours,
        parents: None,
        reading: Reading::Words,
    })
}

/// The priority of a node: its degree, then chance, then its number.
fn priority(node: Item<'_>) -> Value<'_> {
    let number = node.index();
    let magnitude = node.degree(Edges::Out, number).to_f32().bits() >> 20;
    number.below_high((magnitude << 20) | (number.hash() >> 12))
}

#[cfg(test)]
mod tests {
    use super::super::{AnalysisKind, End};
    use super::*;

    #[test]
    fn colourings_that_are_none_are_refused() {
        let graph = Graph::from_edges(4, &[(0, 1), (1, 2), (2, 3)], true).unwrap();
        let question = Question::new(Vec::new());
        let judge = |colours: [u32; 4], converged: bool| {
            let end = End {
                iterations: 3,
                converged,
            };
            let case = Case {
                graph: &graph,
                question: &question,
                end,
            };
            let values = &Column::U32(colours.to_vec());
            let parents = None;
            let room = AnalysisKind::Colouring.room();
            room.check(&case, Found { values, parents })
        };
        assert!(judge([0, 1, 0, 1], true) && judge([0, 1, 2, 0], true));
        assert!(!judge([0, 1, 1, 0], true), "neighbours");
        assert!(!judge([0, 2, 0, 1], true), "1 is free");
        assert!(!judge([0, 1, 0, UNREACHED], true), "no colour");
        assert!(judge([0, 1, 0, UNREACHED], false));
    }
}
