//! Runs instructions one after another, up to the next part that is for edges.

use super::slots::{ALL, SLOTS, Words4, chosen, each, mask};
use super::temps::{A, B, C, Fetched, Room, TO, Temps, fetch, fetch_from};
use super::{Part, change, values};
use crate::context::ContextRef;
use crate::grid::Grid;
use crate::shared::EACH_SLOTS;
use seawall_core::abi::code::{Joined, Kind, Op, random};

/// Flags of [`run`]: a bit per slot that is still in.
pub(super) const ACTIVE: u32 = ALL;
/// Flag: the rest of the row may be left out.
pub(super) const ENOUGH: u32 = 1 << EACH_SLOTS;

/// Position of a lane. Words alone, which calls hand on in registers.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    /// The items of the slots, or the nodes at the other ends of the edges.
    pub(super) ends: Words4,
    /// The item whose edges these are.
    pub(super) item: u32,
    /// Edge of the first slot, and the distance to that of the next one.
    pub(super) edge: u32,
    pub(super) step: u32,
    /// Lane of the block whose item it is, and slot of that lane; [`OF_ITEMS`] for items.
    pub(super) owner: u32,
}

/// In place of an owner: the slots are items.
const OF_ITEMS: u32 = u32::MAX;

/// An owner as a word.
#[inline(always)]
pub(super) const fn owner_of(lane: u32, slot: u32) -> u32 {
    lane * EACH_SLOTS + slot
}

impl Place {
    /// A lane at items of its own.
    #[inline(always)]
    pub(super) fn of_items(items: Words4) -> Self {
        Self {
            ends: items,
            item: 0,
            edge: 0,
            step: 0,
            owner: OF_ITEMS,
        }
    }
}

/// Runs the instructions `at..end` for the slots of `active` up to a part for edges; tells where
/// it stopped, and flags: the slots that are still in, [`ENOUGH`], and above it the slots for which
/// every reduction holds a value that no other changes. All lanes of the warp call this with the
/// same part.
#[inline(always)]
pub(super) fn run<G: Grid>(cx: ContextRef<G>, part: Part, place: Place, active: u32) -> (u32, u32) {
    let [first, second, third, fourth] = place.ends;
    walk(
        cx,
        part.0,
        part.1,
        first,
        second,
        third,
        fourth,
        place.item,
        place.edge,
        place.step,
        place.owner,
        active,
    )
}

/// First bit of the settled slots among the flags.
pub(super) const SETTLED: u32 = EACH_SLOTS + 1;

/// [`run`] by words: what a call takes by reference lies in local memory.
#[inline(never)]
#[expect(clippy::too_many_arguments, reason = "see above")]
fn walk<G: Grid>(
    cx: ContextRef<G>,
    first: u32,
    end: u32,
    end_0: u32,
    end_1: u32,
    end_2: u32,
    end_3: u32,
    item: u32,
    edge: u32,
    step: u32,
    owner: u32,
    active: u32,
) -> (u32, u32) {
    let grid = cx.grid();
    let after = |at: u32| {
        if owner == OF_ITEMS {
            next_edges(cx, (at, end))
        } else {
            end
        }
    };
    if grid.ballot(active != 0) == 0 {
        return (after(first), 0);
    }
    let room = Room::of(grid);
    let mut lane = Lane {
        cx,
        grid,
        temps: if owner == OF_ITEMS {
            room.of_lane(grid, grid.lane())
        } else {
            room.at_edges(grid, (owner / EACH_SLOTS, owner % EACH_SLOTS))
        },
        place: Place {
            ends: [end_0, end_1, end_2, end_3],
            item,
            edge,
            step,
            owner,
        },
        active,
        settled: ALL,
        enough: false,
    };
    let code = cx.context().tables.code(grid);
    let mut at = first;
    let mut next = fetch_from(grid, code, at);
    while at < end {
        let instruction = next;
        // Fetched while this one runs; the last one again, as there may be none after it.
        next = fetch_from(grid, code, (at + 1).min(end - 1));
        let Some(op) = Op::from_word(instruction.op) else {
            break;
        };
        if op == Op::Edges {
            return (at, lane.flags());
        }
        lane.step(op, instruction);
        at += 1;
        if op == Op::Only && grid.ballot(lane.active != 0) == 0 {
            return (after(at), lane.flags());
        }
    }
    (end, lane.flags())
}

/// The next part for edges among the instructions `at..end`, or the end.
#[inline(always)]
fn next_edges<G: Grid>(cx: ContextRef<G>, (mut at, end): Part) -> u32 {
    while at < end && fetch(cx, at).op != Op::Edges as u32 {
        at += 1;
    }
    at
}

/// A lane and what it runs with.
#[derive(Clone, Copy, Debug)]
pub(super) struct Lane<G> {
    pub(super) cx: ContextRef<G>,
    pub(super) grid: G,
    pub(super) temps: Temps<G>,
    pub(super) place: Place,
    /// Slots that are in.
    pub(super) active: u32,
    /// Slots whose reductions hold values that no other changes.
    settled: u32,
    enough: bool,
}

/// Whether `op` is one of those up to `last`.
#[inline(always)]
const fn is_up_to(op: Op, last: Op) -> bool {
    op as u32 <= last as u32
}

impl<G: Grid> Lane<G> {
    #[inline(always)]
    fn flags(&self) -> u32 {
        self.active | u32::from(self.enough) << EACH_SLOTS | self.settled << SETTLED
    }

    /// Runs an instruction. Values are made in every slot, as that costs nothing; memory
    /// is left alone by slots that are out.
    #[inline(always)]
    fn step(&mut self, op: Op, at: Fetched) {
        if is_up_to(op, Op::AtMostFloat) {
            return self.word(op, at);
        }
        if is_up_to(op, Op::AtMostWide) {
            return self.wide(op, at);
        }
        if is_up_to(op, Op::WideOf) {
            return self.convert(op, at);
        }
        self.effect(op, at);
    }

    /// Words, and what is loaded.
    #[inline(always)]
    fn word(&self, op: Op, at: Fetched) {
        if is_up_to(op, Op::EdgeWeight) {
            return self.make(op, at);
        }
        if is_up_to(op, Op::FirstEdge) {
            return self.row(op, at);
        }
        if is_up_to(op, Op::LatestWide) {
            return self.load(op, at);
        }
        let temps = self.temps;
        let words = values::words::<G>(op, temps.operand(at, A), temps.operand(at, B));
        temps.set(at, TO, words);
    }

    /// Pairs, and comparisons of them.
    #[inline(always)]
    fn wide(&self, op: Op, at: Fetched) {
        let temps = self.temps;
        let a = temps.pairs(at, A);
        if is_up_to(op, Op::ShiftRightWide) {
            let b = if is_up_to(op, Op::XorWide) {
                temps.pairs(at, B)
            } else {
                temps.operand(at, B).map(u64::from)
            };
            return temps.set_pairs(at, TO, values::wide::<G>(op, a, b));
        }
        temps.set(at, TO, values::narrow::<G>(op, a, temps.pairs(at, B)));
    }

    /// Values that come from where the lane is.
    #[inline(always)]
    fn make(&self, op: Op, at: Fetched) {
        let (temps, place) = (self.temps, self.place);
        let words = match op {
            Op::Item if place.owner != OF_ITEMS => [place.item; SLOTS],
            Op::Item | Op::Neighbour => place.ends,
            Op::EdgeNumber => self.edges(),
            Op::EdgeWeight => self.weights(),
            Op::ConstantWide => {
                let pair = u64::from(at.first) | u64::from(at.second) << 32;
                return temps.fill(at, TO, true, pair);
            }
            _ => [at.first; SLOTS],
        };
        temps.set(at, TO, words);
    }

    #[inline(always)]
    pub(super) fn edges(&self) -> Words4 {
        let Place { edge, step, .. } = self.place;
        each::<G, _>(|slot| edge.wrapping_add(step.wrapping_mul(slot as u32)))
    }

    /// Values that come of others in other ways.
    #[inline(always)]
    fn convert(&self, op: Op, at: Fetched) {
        let temps = self.temps;
        let words = match op {
            Op::Select => {
                let [which, b, c] = [A, B, C].map(|from| temps.words(at, from));
                each::<G, _>(|slot| if which[slot] != 0 { b[slot] } else { c[slot] })
            }
            Op::SelectWide => {
                let which = temps.words(at, A);
                let [b, c] = [B, C].map(|from| temps.pairs(at, from));
                let pair = |slot: usize| if which[slot] != 0 { b[slot] } else { c[slot] };
                return temps.set_pairs(at, TO, each::<G, _>(pair));
            }
            Op::Random => {
                let [key, counter] = [A, B].map(|from| temps.words(at, from));
                each::<G, _>(|slot| random(at.first, key[slot], counter[slot]))
            }
            Op::OnesWide | Op::LowZerosWide | Op::LowWord | Op::HighWord | Op::FloatOfWide => {
                let a = temps.pairs(at, A);
                values::narrow::<G>(op, a, a)
            }
            Op::Widen | Op::WideOf => {
                let is_whole = op == Op::Widen;
                let wide = |word: u32| {
                    if is_whole {
                        u64::from(word)
                    } else {
                        f32::from_bits(word) as u64
                    }
                };
                return temps.set_pairs(at, TO, temps.words(at, A).map(wide));
            }
            Op::Pair => {
                let [low, high] = [A, B].map(|from| temps.words(at, from));
                let pair = |slot: usize| u64::from(low[slot]) | u64::from(high[slot]) << 32;
                return temps.set_pairs(at, TO, each::<G, _>(pair));
            }
            _ => values::of_words::<G>(op, temps.words(at, A)),
        };
        temps.set(at, TO, words);
    }

    /// Instructions that change more than a temporary.
    #[inline(always)]
    fn effect(&mut self, op: Op, at: Fetched) {
        let temps = self.temps;
        match op {
            Op::Only => self.active &= self.set_in(at, A),
            Op::Store | Op::StoreWide => self.store(op, at),
            Op::Append => {
                let put = self.active & self.set_in(at, B);
                let (list, count) = (self.register(at.first), self.register(at.second));
                change::append(self.grid, (list, count), temps.words(at, A), put);
            }
            Op::Raise if self.active & self.set_in(at, A) != 0 => self.cx.tag().raise(self.grid),
            Op::Until => self.enough |= self.active & self.set_in(at, A) != 0,
            Op::Scatter | Op::Fold | Op::Reduce => self.join(op, at),
            _ => {}
        }
    }

    /// The slots whose word `which` is not 0.
    #[inline(always)]
    fn set_in(&self, at: Fetched, which: u32) -> u32 {
        let words = self.temps.words(at, which);
        mask::<G>(|slot| words[slot] != 0)
    }

    /// Instructions that join values to others.
    #[inline(always)]
    fn join(&mut self, op: Op, at: Fetched) {
        let (temps, grid, active) = (self.temps, self.grid, self.active);
        let Some(joined) = Joined::from_word(at.second) else {
            return;
        };
        let is_wide = joined.kind == Kind::U64;
        if op == Op::Scatter {
            let (to, index) = ((self.register(at.first), joined), temps.words(at, A));
            // Without a question for the values before, nothing waits for them.
            let is_asked = !at.is_nobody(TO);
            if is_wide {
                let before = change::change_pairs(grid, to, (index, temps.pairs(at, B)), active);
                if is_asked {
                    temps.set_pairs(at, TO, before);
                }
            } else if is_asked {
                let values = (index, temps.words(at, B));
                temps.set(at, TO, change::change_words(grid, to, values, active));
            } else {
                change::change_words(grid, to, (index, temps.words(at, B)), active);
            }
            return;
        }
        let end = joined.end();
        let settled = if is_wide {
            let (so_far, more) = (temps.pairs(at, B), temps.pairs(at, A));
            let now = values::join_pairs::<G>(joined.how, so_far, more);
            let now = chosen::<G, _>(active, now, so_far);
            temps.set_pairs(at, B, now);
            mask::<G>(|slot| end == Some(now[slot]))
        } else {
            let (so_far, more) = (temps.words(at, B), temps.words(at, A));
            let now = values::join_words::<G>(joined, so_far, more);
            let now = chosen::<G, _>(active, now, so_far);
            temps.set(at, B, now);
            mask::<G>(|slot| end == Some(u64::from(now[slot])))
        };
        if op == Op::Reduce {
            self.settled &= settled;
        }
    }
}
