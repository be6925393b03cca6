//! Colours of the nodes with very many edges, which come before all others.
//!
//! Such nodes are few, and most of their neighbours come after them. Each lists its neighbours
//! that come before it, once, in the slots of a register. In a round it looks at that list alone,
//! and only if the node that it waited for has its colour. So a round costs little, and there may
//! be thousands of them: as many as the longest chain of such nodes.

use super::super::lists::{List, list};
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

/// The registers of hubs.
#[derive(Clone, Copy)]
pub(super) struct Hubs {
    /// The hubs.
    pub(super) list: List,
    /// The neighbours that come before each hub, hub after hub.
    slots: RegisterId,
    /// The slot after the last one that is taken. No list begins at slot 0, so that each has a
    /// slot before it.
    end: RegisterId,
    /// The first slot of each hub.
    firsts: RegisterId,
    /// Number of listed neighbours of each hub.
    lengths: RegisterId,
    /// A neighbour that a hub waits for; itself if it has yet to look for one.
    awaited: RegisterId,
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
        let hubs = Self {
            list: list(program, ["hubs", "hub count"])?,
            slots: program.values("slots", Kind::U32, slots + 1)?,
            end: program.values("slots taken", Kind::U32, 1)?,
            firsts: program.per_node("first slots", Kind::U32)?,
            lengths: program.per_node("listed", Kind::U32)?,
            awaited: program.per_node("awaited", Kind::U32)?,
        };
        program.fill("no slot is taken", hubs.end, 1);
        program.fill("no neighbour is listed", hubs.lengths, 0);
        program.fill("slots are empty", hubs.slots, 0);
        program.fill("no first slot", hubs.firsts, 1);
        program.fill("nobody is awaited", hubs.awaited, 0);
        Ok(Some(hubs))
    }

    /// Colours the hubs, and tells the other nodes. `waits` has how many hubs precede each hub.
    pub(super) fn colour(self, program: &mut ProgramBuilder, registers: Registers, limit: u32) {
        let (list, count) = self.list;
        let over = Over::List { list, count };
        program.each("take slots", over, |hub| {
            let before = hub.load(registers.waits);
            hub.store(self.firsts, hub.scatter(self.end, 0, Join::Sum, before));
            hub.store(self.awaited, hub.index());
        });
        program.each("list who comes before", over, |hub| {
            let own = hub.load(registers.priorities);
            let first = hub.load(self.firsts);
            hub.each_edge(Edges::Out, |edge| {
                let neighbour = edge.neighbour();
                edge.only(edge.at(registers.priorities, neighbour).above(own));
                let at = edge.scatter(self.lengths, edge.index(), Join::Sum, 1);
                edge.scatter(self.slots, first + at, Join::Max, neighbour);
            });
        });
        program.fixpoint("colour hubs", limit, |body| {
            body.each("hubs", over, |hub| self.round(hub, registers));
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

    /// Looks for a neighbour to wait for. Without one, takes the least colour that is left.
    fn round(self, hub: Item<'_>, registers: Registers) {
        let Registers { colours, bases, .. } = registers;
        hub.only(hub.load(colours).equals(UNREACHED));
        hub.changed(1);
        let awaited = hub.load(self.awaited);
        let is_there = hub.latest(colours, awaited).differs(UNREACHED);
        hub.only(is_there | awaited.equals(hub.index()));
        let first = hub.load(self.firsts);
        let last = first + hub.load(registers.waits) - 1;
        // Slots beside the edges of the row, the first ones at the first ones.
        let shift = first - hub.first_edge(Edges::Out, hub.index());
        // Of those without a colour, the one with the fewest edges will have its colour last.
        let awaited = hub.gather(Edges::Out, Join::Min, |edge| {
            let neighbour = self.listed(edge, shift, last);
            edge.only(edge.latest(colours, neighbour).equals(UNREACHED));
            neighbour.below_high(edge.degree(Edges::Out, neighbour))
        });
        let awaited = awaited.to_u32();
        let base = hub.load(bases);
        let colour = base + self.free_from(hub, (colours, base), (shift, last));
        // A second look where the first window is full, at no slot where it is not.
        let is_full = (colour - base).equals(WINDOW);
        let last = is_full.select(last, hub.load(self.firsts) - 1);
        let more = self.free_from(hub, (colours, colour), (shift, last));
        let base = hub.load(bases);
        let is_full = (colour - base).equals(WINDOW);
        let lacks = more.equals(WINDOW);
        let next_base = colour + lacks.select(WINDOW, 0);
        hub.store(bases, is_full.select(next_base, base));
        // One that has to look at more colours looks again.
        let is_last = awaited.equals(u32::MAX);
        hub.store(self.awaited, is_last.select(hub.index(), awaited));
        hub.only(is_last & lacks.is_zero());
        hub.store(colours, colour + more);
    }

    /// The neighbour in the slot beside `edge`, if it is not after the last one.
    fn listed<'c>(self, edge: Edge<'c>, shift: Value<'c>, last: Value<'c>) -> Value<'c> {
        let slot = edge.number() + shift;
        edge.until(last.at_most(slot));
        edge.only(slot.at_most(last));
        edge.at(self.slots, slot)
    }

    /// Number of consecutive colours from `base` on that the listed neighbours have, at most
    /// [`WINDOW`]; 0 if there is no slot up to the last one.
    fn free_from<'c>(
        self,
        hub: Item<'c>,
        (colours, base): (RegisterId, Value<'c>),
        (shift, last): (Value<'c>, Value<'c>),
    ) -> Value<'c> {
        let taken = hub.gather(Edges::Out, Join::Or, |edge| {
            let colour = edge.latest(colours, self.listed(edge, shift, last));
            // No bit for colours below or above the window, or for none.
            edge.constant(1_u64) << (colour - base)
        });
        (taken ^ u64::MAX).low_zeros()
    }
}
