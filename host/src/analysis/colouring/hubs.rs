//! Colours of the nodes with very many edges, which come before all others.
//!
//! Such nodes are few, most of their neighbours come after them, and the chain of those that wait for
//! each other has thousands. Each lists the others of its neighbours that follow it, once, in the
//! slots of a register. When it has its colour, it tells those alone. So all rounds together
//! visit each edge between such nodes once, and a round costs little.

use super::super::lists::{List, of_turn, short_list};
use super::{Registers, WINDOW};
use crate::graph::Graph;
use crate::program::{
    Edge, Edges, Item, Join, Kind, Over, ProgramBuilder, ProgramError, RegisterId, Value,
};
use seawall_core::abi::UNREACHED;

/// A node of more edges is a hub. Fewer would make lists of most edges of a graph; more would
/// leave long rows to the rounds of other nodes.
const DEGREE: u32 = 512;

/// Least priority of a hub; priorities have the degree in their high word.
pub(super) const LEAST_PRIORITY: u64 = (DEGREE as u64 + 1) << 32;

/// Words of the colours that a hub is told of, a bit each. No more than a hub has edges.
const WORDS: u32 = 16;

/// Colours that a hub is told of.
const TOLD: u32 = WORDS * u32::BITS;

/// The registers of hubs.
#[derive(Clone, Copy)]
pub(super) struct Hubs {
    /// The hubs.
    pub(super) list: List,
    /// The hubs that wait for nobody any more. Lists take turns, and a round empties the list of
    /// the one after it.
    ready: [List; 3],
    /// Hubs to which none of the colours that they know of is left, now and after another look.
    full: [List; 2],
    /// The hubs that follow each hub, hub after hub.
    slots: RegisterId,
    /// The slot after the last one that is taken. No list begins at slot 0, so that each has a
    /// slot before it.
    end: RegisterId,
    /// The first slot of each hub.
    firsts: RegisterId,
    /// How many hubs each hub has listed.
    lengths: RegisterId,
    /// The colours that hubs were told of, [`WORDS`] words each.
    told: RegisterId,
    /// The first of these words of each hub, and of the next hub to take some.
    places: RegisterId,
    places_end: RegisterId,
    /// Not 0 while hubs are left to colour.
    left: RegisterId,
}

/// Whether a node is a hub.
pub(super) fn is_hub(node: Item<'_>) -> Value<'_> {
    node.degree(Edges::Out, node.index()).above(DEGREE)
}

impl Hubs {
    /// The registers for the hubs of `graph`, if it has some.
    pub(super) fn of(
        program: &mut ProgramBuilder,
        graph: &Graph,
    ) -> Result<Option<Self>, ProgramError> {
        let degrees = graph.offsets().windows(2).map(|row| row[1] - row[0]);
        let hubs = degrees.filter(|degree| *degree > DEGREE);
        let (count, edges) = hubs.fold((0_u64, 0_u64), |(count, edges), degree| {
            (count + 1, edges + u64::from(degree))
        });
        if count == 0 {
            return Ok(None);
        }
        // An edge between hubs is listed at one end.
        let pairs = count * (count - 1) / 2;
        let slots = pairs.min(edges).min(u64::from(graph.edges()).div_ceil(2));
        let mut list = |names| short_list(program, names, count);
        let lists = [
            list(["hubs", "hub count"])?,
            list(["hubs ready", "hubs ready count"])?,
            list(["hubs next", "hubs next count"])?,
            list(["hubs later", "hubs later count"])?,
            list(["full hubs", "full count"])?,
            list(["full hubs next", "full next count"])?,
        ];
        let [list, now, next, later, full, full_next] = lists;
        let hubs = Self {
            list,
            ready: [now, next, later],
            full: [full, full_next],
            slots: program.values("slots", Kind::U32, slots + 1)?,
            end: program.values("slots taken", Kind::U32, 1)?,
            firsts: program.per_node("first slots", Kind::U32)?,
            lengths: program.per_node("listed", Kind::U32)?,
            told: program.values("told", Kind::U32, count * u64::from(WORDS))?,
            places: program.per_node("places", Kind::U32)?,
            places_end: program.values("places taken", Kind::U32, 1)?,
            left: program.values("hubs are left", Kind::U32, 1)?,
        };
        program.fill("no slot is taken", hubs.end, 1);
        program.fill("no hub is listed", hubs.lengths, 0);
        program.fill("slots are empty", hubs.slots, 0);
        program.fill("no first slot", hubs.firsts, 1);
        program.fill("nobody is told", hubs.told, 0);
        program.fill("no places", hubs.places, 0);
        program.fill("no place is taken", hubs.places_end, 0);
        program.fill("hubs are left", hubs.left, 1);
        Ok(Some(hubs))
    }

    /// Colours the hubs, and tells the other nodes. `waits` has how many hubs precede each hub.
    pub(super) fn colour(self, program: &mut ProgramBuilder, registers: Registers, limit: u32) {
        let over = over(self.list);
        program.each("take slots", over, |hub| {
            let number = hub.gather(Edges::Out, Join::Sum, followers(hub, registers));
            hub.store(self.firsts, hub.scatter(self.end, 0, Join::Sum, number));
            let place = hub.scatter(self.places_end, 0, Join::Sum, WORDS);
            hub.store(self.places, place);
            let is_ready = hub.load(registers.waits).is_zero();
            hub.append(self.ready[0], hub.index(), is_ready);
        });
        program.each("list who follows", over, |hub| {
            let follow = followers(hub, registers);
            let first = hub.load(self.firsts);
            hub.each_edge(Edges::Out, |edge| {
                edge.only(follow(edge));
                let at = edge.scatter(self.lengths, edge.index(), Join::Sum, 1);
                edge.scatter(self.slots, first + at, Join::Max, edge.neighbour());
            });
        });
        program.while_nonzero("colour hubs", (self.left, limit), |body| {
            body.fixpoint("hubs that are told", limit, |body| {
                for turn in 0..3 {
                    let [now, next, later] = of_turn(self.ready, turn);
                    body.fill("nobody", later.1, 0);
                    body.each("hubs", self::over(now), |hub| {
                        self.round(hub, registers, next);
                    });
                }
            });
            self.look(body, registers);
        });
        // A limit may leave hubs without a colour: nobody may list those.
        program.each("leave hubs out", over, |hub| hub.store(registers.waits, 0));
        program.each("learn of hubs", Over::Nodes, |node| {
            let colours = registers.colours;
            node.only(node.load(colours).equals(UNREACHED));
            let used = node.gather(Edges::Out, Join::Or, |edge| {
                edge.constant(1_u32) << edge.there(colours)
            });
            node.store(registers.used, used);
        });
    }

    /// Takes the least colour that is left of those that a hub was told of.
    fn round(self, hub: Item<'_>, registers: Registers, next: List) {
        hub.changed(1);
        let place = hub.load(self.places);
        let first = hub.first_edge(Edges::Out, hub.index());
        // Words beside the edges of the row, the first ones at the first ones.
        let free = hub.gather(Edges::Out, Join::Min, |edge| {
            let at = edge.number() - first;
            edge.until(at.above(WORDS - 2));
            edge.only(at.below(WORDS));
            let word = edge.latest(self.told, place + at);
            edge.until(word.differs(u32::MAX));
            edge.only(word.differs(u32::MAX));
            (at << 5) + (word ^ u32::MAX).low_zeros()
        });
        let is_full = free.equals(u32::MAX);
        hub.append(self.full[0], hub.index(), is_full);
        hub.only(is_full.is_zero());
        self.settle(hub, registers, (free, next));
    }

    /// Looks at the next colours beyond those that hubs are told of, for the full ones.
    fn look(self, body: &mut ProgramBuilder, registers: Registers) {
        let Registers { colours, bases, .. } = registers;
        let [now, next] = self.full;
        for (now, next) in [(now, next), (next, now)] {
            body.each("look beyond", over(now), |hub| {
                let base = hub.load(bases).max(TOLD);
                let taken = hub.gather(Edges::Out, Join::Or, |edge| {
                    let colour = edge.latest(colours, edge.neighbour());
                    // No bit for colours below or above the window, or for none.
                    edge.constant(1_u64) << (colour - base)
                });
                let free = (taken ^ u64::MAX).low_zeros();
                let is_full = free.equals(WINDOW);
                hub.store(bases, base + WINDOW);
                hub.append(next, hub.index(), is_full);
                hub.only(is_full.is_zero());
                self.settle(hub, registers, (base + free, self.ready[0]));
            });
            body.fill("nobody is full", now.1, 0);
        }
        body.each("who is left", Over::Count(1), |one| {
            let [full, ready] = [self.full[0].1, self.ready[0].1];
            one.store(self.left, one.at(full, 0) | one.at(ready, 0));
        });
    }

    /// Gives a hub its colour, tells the hubs that follow it, and lists those that wait for nobody
    /// then.
    fn settle<'c>(self, hub: Item<'c>, registers: Registers, (colour, next): (Value<'c>, List)) {
        hub.store(registers.colours, colour);
        let is_told = colour.below(TOLD);
        let word = (colour >> 5).min(WORDS - 1);
        let bit = is_told << (colour & 31);
        let first = hub.load(self.firsts);
        let last = first + hub.load(self.lengths) - 1;
        let shift = first - hub.first_edge(Edges::Out, hub.index());
        hub.each_edge(Edges::Out, |edge| {
            let slot = edge.number() + shift;
            edge.until(last.at_most(slot));
            edge.only(slot.at_most(last));
            let follower = edge.at(self.slots, slot);
            let place = edge.at(self.places, follower) + word;
            edge.scatter(self.told, place, Join::Or, bit);
            let before = edge.scatter(registers.waits, follower, Join::Sum, u32::MAX);
            edge.append(next, follower, before.equals(1));
        });
    }
}

fn over((list, count): List) -> Over {
    Over::List { list, count }
}

/// Tells whether an edge leads to a hub that follows `hub`.
fn followers<'c>(hub: Item<'c>, registers: Registers) -> impl Fn(Edge<'c>) -> Value<'c> {
    let count = hub.load(registers.priorities) - LEAST_PRIORITY;
    move |edge| (edge.there(registers.priorities) - LEAST_PRIORITY).below(count)
}
