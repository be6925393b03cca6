//! Colours of the nodes with very many edges, which come before all others.
//!
//! Hubs are few, most of their neighbours come after them, and chains of hubs that precede each
//! other have thousands. But a hub need not wait for all its predecessors: it takes its least free
//! colour once no predecessor can take that one any more, since each has a colour or a larger least
//! one (a shortcut of Alabandi, Powers, Burtscher, "Increasing the Parallelism of Graph Coloring
//! via Shortcutting", 2020). The colours are the same, in about as many rounds as there are
//! colours.
//!
//! A hub that has its colour notifies those that follow it. A waiting hub watches a single hub that
//! blocks its colour, and searches for another only when that one no longer does. Hubs far down the
//! order would search in vain for long, so they join once few hubs before them are left.
//!
//! A round is four waves: hubs check whether they may search, those search, and those that found no
//! blocker publish their colour, in two waves. Searches and notification lists go through long
//! rows, a block each, and the lists of the few hubs that have one distribute them over all blocks:
//! in one wave over all hubs some block would have several. The longest notification lists, of
//! which a round has a few, are distributed by entries instead: a single block would delay all
//! others.

use super::super::lists::{List, of_turn, over, short_list};
use super::Registers;
use crate::graph::Graph;
use crate::program::{
    Edges, Item, Join, Kind, Over, ProgramBuilder, ProgramError, RegisterId, Value,
};
use seawall_core::abi::UNREACHED;

/// Largest degree of a node that is no hub. A lower limit would put most edges of a graph into
/// lists; a higher one would leave long rows and many rounds to the other nodes: on an R-MAT graph
/// of 4 M nodes 180 with 512, 46 with 256.
pub(super) const DEGREE: u32 = 256;

/// While fewer uncoloured hubs than this are left, more join: just enough to keep all rounds busy.
const WINDOW: u32 = 1024;

/// Least priority of a hub; priorities have the degree in their high word.
pub(super) const LEAST_PRIORITY: u64 = (DEGREE as u64 + 1) << 32;

/// A hub has a long notification list if one in this many hubs follows it.
const LONG_SHARE: u32 = 32;

/// Fewest hubs that follow one with a long notification list.
const LONG_LEAST: u32 = 64;

/// Most long notification lists of a round that are distributed.
const LONG_LISTS: u32 = 16;

/// In [`Hubs::long_lists`]: the first hub.
const SENDERS: u32 = 2;

/// Most words of the colours that hubs are notified of. A graph that needs more has no hubs.
const MOST_WORDS: u64 = 1 << 30;

/// In [`Hubs::least`]: the hub has its colour and takes no other.
const HAS_COLOUR: u32 = u32::MAX;

/// The registers of hubs, which are numbered separately.
#[derive(Clone, Copy)]
pub(super) struct Hubs {
    /// Number of hubs, and the number that stands for none.
    count: u32,
    /// Hubs of a higher degree join at once.
    bar: u32,
    pub(super) list: List,
    /// Degree above which hubs have joined, before it was last lowered and since.
    bars: [RegisterId; 2],
    /// The hubs that have joined and have no colour. Lists take turns, and a round empties the next
    /// one's list.
    left: [List; 3],
    /// Hubs whose watched hub no longer blocks their colour, and those of them that got it in a
    /// round.
    searchers: List,
    winners: List,
    /// Number of each hub, and how many hubs have one.
    numbers: RegisterId,
    numbered: RegisterId,
    /// The neighbouring hubs of each hub, at the numbers of its edges: first predecessors, then
    /// followers.
    slots: RegisterId,
    /// Numbers of listed followers and predecessors of each hub, by number.
    listed: RegisterId,
    /// The colours that hubs were notified of: one bit each, by the colour's word, then by number.
    notified: RegisterId,
    /// The least colour that is left to a hub, by number, or [`HAS_COLOUR`].
    least: RegisterId,
    /// The number of the hub that each hub watches.
    watched: RegisterId,
    /// Entries of a round's long notification lists, the number of these lists, and the hubs of the
    /// first [`LONG_LISTS`].
    long_lists: RegisterId,
    entries: RegisterId,
}

pub(super) fn is_hub(node: Item<'_>) -> Value<'_> {
    node.degree(Edges::Out, node.index()).above(DEGREE)
}

/// The largest `n` such that `n` nodes have at least `n - 1` edges: nodes ordered by degree need no
/// more colours.
fn most_colours(graph: &Graph) -> u32 {
    let mut above = vec![0_u32; graph.nodes() as usize + 1];
    let last = above.len() - 1;
    for row in graph.offsets().windows(2) {
        above[(row[1] - row[0] + 1).min(last as u32) as usize] += 1;
    }
    let mut found = 0;
    for colours in (1..=last).rev() {
        found += above[colours];
        if found as usize >= colours {
            return colours as u32;
        }
    }
    1
}

impl Hubs {
    pub(super) fn of(
        program: &mut ProgramBuilder,
        graph: &Graph,
    ) -> Result<Option<Self>, ProgramError> {
        let degrees = graph.offsets().windows(2).map(|row| row[1] - row[0]);
        let mut degrees: Vec<u32> = degrees.filter(|degree| *degree > DEGREE).collect();
        degrees.sort_unstable_by(|one, other| other.cmp(one));
        let count = degrees.len() as u32;
        let space = u64::from(count);
        let words = most_colours(graph) / u32::BITS + 1;
        if count == 0 || space * u64::from(words) > MOST_WORDS {
            return Ok(None);
        }
        let mut list = |names| short_list(program, names, space);
        let lists = [
            list(["hubs", "hub count"])?,
            list(["hubs left", "hubs left count"])?,
            list(["hubs next", "hubs next count"])?,
            list(["hubs later", "hubs later count"])?,
            list(["searchers", "searcher count"])?,
            list(["winners", "winner count"])?,
        ];
        let [list, now, next, later, searchers, winners] = lists;
        let hubs = Self {
            count,
            bar: degrees.get(WINDOW as usize).copied().unwrap_or(DEGREE),
            bars: [
                program.values("bar before", Kind::U32, 1)?,
                program.values("bar", Kind::U32, 1)?,
            ],
            list,
            left: [now, next, later],
            searchers,
            winners,
            numbers: program.per_node("hub numbers", Kind::U32)?,
            numbered: program.values("hubs numbered", Kind::U32, 1)?,
            slots: program.values("slots", Kind::U32, u64::from(graph.edges()))?,
            listed: program.values("listed", Kind::U32, 2 * space)?,
            notified: program.values("notified", Kind::U32, space * u64::from(words))?,
            least: program.values("least colours", Kind::U32, space + 1)?,
            watched: program.per_node("watched", Kind::U32)?,
            long_lists: program.values(
                "long notification lists",
                Kind::U32,
                u64::from(SENDERS + LONG_LISTS),
            )?,
            entries: program.values("entries", Kind::U32, space * u64::from(LONG_LISTS))?,
        };
        program.iota("number entries", hubs.entries);
        program.fill("none joined before", hubs.bars[0], u32::MAX);
        program.fill("who joins at once", hubs.bars[1], hubs.bar);
        program.fill("no hub has a number", hubs.numbers, 0);
        program.fill("no number is taken", hubs.numbered, 0);
        program.fill("slots are empty", hubs.slots, 0);
        program.fill("no hub is listed", hubs.listed, 0);
        program.fill("no hub is notified", hubs.notified, 0);
        program.fill("every colour is left", hubs.least, 0);
        program.fill("none is watched", hubs.watched, count);
        Ok(Some(hubs))
    }

    /// Colours the hubs, and notifies the other nodes. `waits` has the number of hubs that precede
    /// each hub.
    pub(super) fn colour(self, program: &mut ProgramBuilder, registers: Registers, limit: u32) {
        self.meet(program, registers);
        program.fixpoint("colour hubs", limit, |body| {
            for turn in 0..3 {
                self.round(body, registers, turn);
            }
            self.join(body);
        });
        // A limit may leave hubs without a colour, which must not be listed.
        program.each("leave hubs out", over(self.list), |hub| {
            hub.store(registers.waits, 0);
        });
        program.each("learn of hubs", Over::Nodes, |node| {
            let colours = registers.colours;
            node.only(node.load(colours).equals(UNREACHED));
            let used = node.gather(Edges::Out, Join::Or, |edge| {
                edge.constant(1_u32) << edge.there(colours)
            });
            node.store(registers.used, used);
        });
    }

    /// Gives the hubs numbers, and lists the hubs next to each.
    fn meet(self, program: &mut ProgramBuilder, registers: Registers) {
        let priorities = registers.priorities;
        program.each("number hubs", over(self.list), |hub| {
            hub.store(self.numbers, hub.scatter(self.numbered, 0, Join::Sum, 1));
            let degree = hub.degree(Edges::Out, hub.index());
            hub.append(self.left[0], hub.index(), degree.above(self.bar));
        });
        program.each("list neighbours", over(self.list), |hub| {
            let own = hub.load(priorities);
            let first = hub.first_edge(Edges::Out, hub.index());
            let middle = first + hub.load(registers.waits);
            let counts = hub.load(self.numbers) * 2;
            hub.each_edge(Edges::Out, |edge| {
                let theirs = edge.there(priorities);
                edge.only(edge.constant(LEAST_PRIORITY).at_most(theirs));
                let precedes = own.below(theirs);
                let at = edge.scatter(self.listed, counts + precedes, Join::Sum, 1);
                let at = precedes.select(first, middle) + at;
                edge.scatter(self.slots, at, Join::Max, edge.there(self.numbers));
            });
        });
        program.each("mark the number of none", Over::Count(1), |one| {
            one.scatter(self.least, self.count, Join::Max, HAS_COLOUR);
        });
    }

    /// Lets hubs of the next degrees join if few are left.
    fn join(self, body: &mut ProgramBuilder) {
        let [before, bar] = self.bars;
        body.each("lower the bar", Over::Count(1), |one| {
            let is_low = one.at(self.left[0].1, 0).below(WINDOW);
            let now = one.load(bar);
            let lower = (now - (now >> 3)).max(DEGREE);
            one.store(before, now);
            one.store(bar, is_low.select(lower, now));
            one.changed(now.above(DEGREE));
        });
        body.each("join", over(self.list), |hub| {
            let degree = hub.degree(Edges::Out, hub.index());
            let joins = degree.at_most(hub.at(before, 0)) & degree.above(hub.at(bar, 0));
            hub.append(self.left[0], hub.index(), joins);
        });
    }

    /// Gives the remaining hubs their least free colour, if no preceding hub can take that one.
    fn round(self, body: &mut ProgramBuilder, registers: Registers, turn: usize) {
        let [now, next, later] = of_turn(self.left, turn);
        body.fill("none", later.1, 0);
        body.fill("none has won", self.winners.1, 0);
        body.fill("no long notification list", self.long_lists, 0);
        body.each("watch", over(now), |hub| self.watch(hub, next));
        body.each("search", over(self.searchers), |hub| {
            self.look(hub, registers, next);
        });
        body.fill("none searches", self.searchers.1, 0);
        body.each("notify", over(self.winners), |hub| {
            self.notify(hub, registers)
        });
        let entries = over((self.entries, self.long_lists));
        body.each("notify by long lists", entries, |entry| {
            self.notify_entry(entry, registers);
        });
    }

    /// Finds a hub's least free colour, and whether the watched hub may take that one.
    fn watch(self, hub: Item<'_>, next: List) {
        hub.changed(1);
        let number = hub.load(self.numbers);
        let word = hub.latest(self.least, number) >> 5;
        let notified = hub.at(self.notified, word * self.count + number);
        let free = (notified ^ u32::MAX).low_zeros();
        let colour = (word << 5) + free;
        hub.scatter(self.least, number, Join::Max, colour);
        let watched = hub.latest(self.least, hub.load(self.watched));
        let waits = free.equals(u32::BITS) | watched.at_most(colour);
        hub.append(next, hub.index(), waits);
        hub.append(self.searchers, hub.index(), waits.is_zero());
    }

    /// Searches for a hub that may take the colour. A hub that gets it in this round counts, since
    /// it publishes this later.
    fn look(self, hub: Item<'_>, registers: Registers, next: List) {
        let colour = hub.at(self.least, hub.load(self.numbers));
        let end = hub.first_edge(Edges::Out, hub.index()) + hub.load(registers.waits);
        let last = end - 1;
        // One more than the number of a hub that may take the colour.
        let found = hub.gather(Edges::Out, Join::Max, |edge| {
            let slot = edge.number();
            edge.until(last.at_most(slot));
            edge.only(slot.below(end));
            let other = edge.at(self.slots, slot);
            let is_taker = edge.at(self.least, other).at_most(colour);
            edge.until(is_taker);
            edge.only(is_taker);
            other + 1
        });
        hub.append(next, hub.index(), found);
        hub.store(self.watched, found.is_zero().select(self.count, found - 1));
        hub.only(found.is_zero());
        hub.store(registers.colours, colour);
        let followers = hub.at(self.listed, hub.load(self.numbers) * 2);
        let is_long = followers.above(self.long());
        hub.append(self.winners, hub.index(), is_long.is_zero());
        hub.only(is_long);
        let place = hub.scatter(self.long_lists, 1, Join::Sum, 1);
        hub.append(self.winners, hub.index(), place.above(LONG_LISTS - 1));
        hub.only(place.below(LONG_LISTS));
        hub.scatter(self.long_lists, place + SENDERS, Join::Max, hub.index());
        hub.scatter(self.long_lists, 0, Join::Max, followers * LONG_LISTS);
    }

    /// Hubs with more than this many followers have long notification lists.
    fn long(self) -> u32 {
        (self.count / LONG_SHARE).max(LONG_LEAST)
    }

    /// Notifies the followers of a hub of its colour.
    fn notify(self, hub: Item<'_>, registers: Registers) {
        let number = hub.load(self.numbers);
        let colour = hub.load(registers.colours);
        hub.scatter(self.least, number, Join::Max, HAS_COLOUR);
        let (word, bit) = (colour >> 5, hub.constant(1_u32) << (colour & 31));
        let place = word * self.count;
        let shift = hub.load(registers.waits);
        let middle = hub.first_edge(Edges::Out, hub.index()) + shift;
        let end = middle + hub.at(self.listed, number * 2);
        let last = end - 1;
        hub.each_edge(Edges::Out, |edge| {
            let slot = edge.number() + shift;
            edge.until(last.at_most(slot));
            edge.only(slot.below(end));
            let follower = edge.at(self.slots, slot);
            edge.scatter(self.notified, place + follower, Join::Or, bit);
        });
    }

    /// Notifies one follower of a hub with a long notification list: entries alternate between
    /// these lists.
    fn notify_entry(self, entry: Item<'_>, registers: Registers) {
        let (list_number, at) = (entry.index() % LONG_LISTS, entry.index() / LONG_LISTS);
        entry.only(list_number.below(entry.at(self.long_lists, 1)));
        let hub = entry.at(self.long_lists, list_number + SENDERS);
        let number = entry.at(self.numbers, hub);
        entry.only(at.below(entry.at(self.listed, number * 2)));
        let middle = entry.first_edge(Edges::Out, hub) + entry.at(registers.waits, hub);
        let follower = entry.at(self.slots, middle + at);
        let colour = entry.at(registers.colours, hub);
        let (word, bit) = (colour >> 5, entry.constant(1_u32) << (colour & 31));
        entry.scatter(self.notified, word * self.count + follower, Join::Or, bit);
        entry.only(at.is_zero());
        entry.scatter(self.least, number, Join::Max, HAS_COLOUR);
    }
}
