//! Colours of graphs whose rows are all short, such as grids and roads.
//!
//! A word of a node describes all its neighbours: the number of uncoloured predecessors, and the
//! number of neighbours of each colour. So a node that gets its colour notifies each neighbour by
//! one addition, whether that one comes before it or not: words of coloured nodes are not read
//! again.

use super::super::lists::{list, of_turn, over};
use super::super::{Built, Question, Reading};
use super::SPREAD;
use crate::graph::Graph;
use crate::program::{Edges, Join, Kind, Over, ProgramBuilder, ProgramError, Value};
use seawall_core::abi::UNREACHED;

/// Most edges of a row: a word has one more count than a row has edges.
const MOST_EDGES: u32 = 6;

/// Bits of a count. The lowest count of a word is of neighbours without a colour.
const COUNT: u32 = 4;

/// The top bit of each count, which is never set: a count has fewer neighbours than that.
const TOPS: u32 = 0x8888_8888;

pub(super) fn fits(graph: &Graph) -> bool {
    let mut rows = graph.offsets().windows(2);
    rows.all(|row| row[1] - row[0] <= MOST_EDGES)
}

/// The priority of a node of such a graph: a unique number.
pub(super) fn priority(number: Value<'_>) -> Value<'_> {
    number * SPREAD
}

/// The program for such a graph. Nodes are ordered by a unique number: at most seven colours are
/// needed whatever the order.
pub(super) fn build(graph: &Graph, question: &Question) -> Result<Built, ProgramError> {
    let mut program = ProgramBuilder::new(graph.nodes());
    let colours = program.per_node("colours", Kind::U32)?;
    let counts = program.per_node("counts", Kind::U32)?;
    let lists = [
        list(&mut program, ["ready", "ready count"])?,
        list(&mut program, ["next", "next count"])?,
        list(&mut program, ["later", "later count"])?,
    ];
    program.fill("none has a colour", colours, UNREACHED);
    program.each("count who comes before", Over::Nodes, |node| {
        let own = priority(node.index());
        let before = node.gather(Edges::Out, Join::Sum, |edge| {
            priority(edge.neighbour()).above(own)
        });
        node.store(counts, before);
        node.append(lists[0], node.index(), before.is_zero());
    });
    program.fixpoint("colour", question.max_iterations, |body| {
        for turn in 0..3 {
            let [now, next, later] = of_turn(lists, turn);
            body.fill("none", later.1, 0);
            body.each("round", over(now), |node| {
                node.changed(1);
                let counted = node.latest(counts, node.index());
                // The top bit of an empty count: four times the colour plus three.
                let free = (node.constant(TOPS) - (counted >> COUNT)) & TOPS;
                let top = free.low_zeros();
                node.store(colours, top >> 2);
                // One more neighbour of the colour, one less without.
                let news = (node.constant(2_u32) << top) - 1;
                node.each_edge(Edges::Out, |edge| {
                    let neighbour = edge.neighbour();
                    let before = edge.scatter(counts, neighbour, Join::Sum, news);
                    let waits = before & ((1_u32 << COUNT) - 1);
                    edge.append(next, neighbour, waits.equals(1));
                });
            });
        }
    });
    Ok(Built::of(program, Vec::new(), colours, Reading::Words))
}
