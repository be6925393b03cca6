//! The component of the node with the most pairs of edges, by two searches.

use super::super::lists::{List, list, of_turn, over};
use super::{GONE, Registers};
use crate::program::{
    Edges, Item, Join, Kind, Over, ProgramBuilder, ProgramError, RegisterId, Value,
};
use seawall_core::abi::UNREACHED;

/// Most rounds of [`Search::step`] for each list: in a deeper graph, many steps do not find a large
/// component fast.
const ROUNDS: u32 = 6;

/// A step that finds fewer nodes is narrow. A search that is narrow after its first round is given
/// up: it would take too long, or its component is small.
const WIDE: u32 = 64;

/// A search along edges of one kind. Its lists take turns, and a step empties the one after the
/// next.
#[derive(Clone, Copy)]
struct Search {
    edges: Edges,
    /// 1 for nodes that it found.
    seen: RegisterId,
    lists: [List; 3],
}

/// Removes the component of one node and divides the others by the searches that found them; counts
/// the remaining nodes.
pub(super) fn take_out(
    program: &mut ProgramBuilder,
    registers: Registers,
) -> Result<(), ProgramError> {
    let ahead = Search::new(program, Edges::Out, AHEAD)?;
    let behind = Search::new(program, Edges::In, BEHIND)?;
    let pivot = program.values("pivot", Kind::U64, 1)?;
    let rounds = program.values("rounds", Kind::U32, 1)?;
    let goes_on = program.values("search goes on", Kind::U32, 1)?;
    program.fill("no pivot", pivot, 0);
    program.fill("all rounds are left", rounds, ROUNDS);
    program.fill("nothing to search", goes_on, 0);
    program.each("choose a pivot", Over::Nodes, |node| {
        node.only(node.load(registers.parts).differs(GONE));
        node.fold(pivot, Join::Max, node.index().below_high(pairs(node)));
    });
    program.each("begin at the pivot", Over::Count(1), |one| {
        let pivot = one.at(pivot, 0);
        // A remaining node has edges of both kinds, and so a pair.
        one.only(pivot.high());
        for search in [ahead, behind] {
            one.append(search.lists[0], pivot.to_u32(), 1);
            one.scatter(search.seen, pivot.to_u32(), Join::Or, 1);
        }
        one.store(goes_on, 1);
    });
    program.while_nonzero("search", goes_on, u32::MAX, |body| {
        for turn in 0..3 {
            ahead.step(body, registers, turn);
            behind.step(body, registers, turn);
        }
        body.each("check the rounds", Over::Count(1), |one| {
            let before = one.load(rounds);
            let found = one.at(ahead.lists[0].1, 0) | one.at(behind.lists[0].1, 0);
            let is_narrow = before.equals(ROUNDS) & found.below(WIDE);
            // A search that has found few nodes so far gets no further round, unless it has ended.
            let rest = is_narrow.select(1, before) - 1;
            one.store(rounds, rest);
            one.store(goes_on, rest.differs(0) & found.differs(0));
        });
    });
    program.fill("count who is left", registers.left, 0);
    program.each("part", Over::Nodes, |node| {
        let Registers { parts, found, .. } = registers;
        node.only(node.load(parts).differs(GONE));
        let unseen = node.at(ahead.lists[0].1, 0) | node.at(behind.lists[0].1, 0);
        let is_whole = unseen.is_zero();
        let (after, before) = (node.load(ahead.seen), node.load(behind.seen));
        let is_found = is_whole & after & before;
        // Searches that were given up prove nothing.
        let part = (after * is_whole).below_high(before * is_whole);
        node.store(parts, is_found.select(GONE, part));
        let pivot = node.at(pivot, 0).to_u32();
        node.store(found, is_found.select(pivot, UNREACHED));
        node.fold(registers.left, Join::Sum, is_found.is_zero());
    });
    Ok(())
}

/// Pairs of an edge that enters the node and one that leaves it, as far as a word holds them.
fn pairs(node: Item<'_>) -> Value<'_> {
    let [entering, leaving] = [Edges::In, Edges::Out]
        .map(|edges| node.degree(edges, node.index()).min(u32::from(u16::MAX)));
    entering * leaving
}

/// Names of the registers of a search: seen nodes, lists and their lengths.
type Names = [&'static str; 7];

const AHEAD: Names = [
    "reached",
    "ahead",
    "ahead count",
    "ahead next",
    "ahead next count",
    "ahead later",
    "ahead later count",
];
const BEHIND: Names = [
    "reaching",
    "behind",
    "behind count",
    "behind next",
    "behind next count",
    "behind later",
    "behind later count",
];

impl Search {
    fn new(program: &mut ProgramBuilder, edges: Edges, names: Names) -> Result<Self, ProgramError> {
        let [
            seen,
            first,
            first_count,
            next,
            next_count,
            later,
            later_count,
        ] = names;
        let lists = [
            list(program, [first, first_count])?,
            list(program, [next, next_count])?,
            list(program, [later, later_count])?,
        ];
        let seen = program.per_node(seen, Kind::U32)?;
        program.fill("nothing is seen", seen, 0);
        Ok(Self { edges, seen, lists })
    }

    /// Lists the neighbours of list `turn` that were not seen before.
    fn step(self, body: &mut ProgramBuilder, registers: Registers, turn: usize) {
        let [now, next, later] = of_turn(self.lists, turn);
        body.fill("none", later.1, 0);
        body.each("step", over(now), |node| {
            node.each_edge(self.edges, |edge| {
                let neighbour = edge.neighbour();
                edge.only(edge.latest(self.seen, neighbour).is_zero());
                edge.only(edge.at(registers.parts, neighbour).differs(GONE));
                let before = edge.scatter(self.seen, neighbour, Join::Or, 1);
                edge.append(next, neighbour, before.is_zero());
            });
        });
    }
}
