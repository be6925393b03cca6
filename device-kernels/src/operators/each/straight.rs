//! Runs instructions one after another: for items up to the next part for edges, or for the edges of
//! rows.
//!
//! One function serves both, so that it takes few lines of a processor's instruction caches. The
//! accumulator is in registers, so most instructions touch no memory for their operands.

use super::fetched::{Fetched, known};
use super::slots::{ALL, Words4, chosen, each, each_of, mask};
use super::steps::{Array, FAR, Steps};
use super::sweep::{Place, Sweep};
use super::temps::{Temps, Values};
use crate::collectives::context::ContextRef;
use crate::machine::Grid;
use crate::machine::shared::EACH_SLOTS;
use seawall_core::abi::code::Op;

/// Flags of [`run`]: a bit per slot that is still in.
pub(super) const ACTIVE: u32 = ALL;
/// Flag: the loop's flag is to be raised.
pub(super) const RAISED: u32 = 1 << EACH_SLOTS;
/// First bit of the slots whose rows may end.
const DONE: u32 = EACH_SLOTS + 1;

/// The slots whose rows ended before their last edge.
#[inline(always)]
pub(super) const fn done_of(flags: u32) -> u32 {
    flags >> DONE & ALL
}

/// Runs the code of a sweep; returns where it stopped, and flags: the slots that are still in,
/// [`RAISED`], and [the slots that are done](done_of). All lanes of the warp call this with the
/// same code.
#[inline(always)]
pub(super) fn run<G: Grid>(cx: ContextRef<G>, sweep: Sweep) -> (u32, u32) {
    let Sweep { from, to, .. } = sweep;
    walk(
        cx,
        sweep.code.0,
        sweep.code.1,
        from[0],
        from[1],
        from[2],
        from[3],
        to[0],
        to[1],
        to[2],
        to[3],
        sweep.step,
        sweep.group,
        sweep.place.word(),
    )
}

/// [`run`] with its arguments as words, since arguments by reference lie in local memory.
#[inline(never)]
#[expect(clippy::too_many_arguments, reason = "see above")]
fn walk<G: Grid>(
    cx: ContextRef<G>,
    first: u32,
    end: u32,
    from_0: u32,
    from_1: u32,
    from_2: u32,
    from_3: u32,
    to_0: u32,
    to_1: u32,
    to_2: u32,
    to_3: u32,
    step: u32,
    group: u32,
    place: u32,
) -> (u32, u32) {
    let sweep = Sweep {
        code: (first, end),
        from: [from_0, from_1, from_2, from_3],
        to: [to_0, to_1, to_2, to_3],
        step,
        group,
        place: Place::of_word(place),
    };
    let lane = Lane {
        cx,
        grid: cx.grid(),
        steps: Steps::again(cx),
        temps: sweep.place.temps(cx.grid()),
        hand: Values::default(),
        numbers: sweep.from,
        ends: sweep.from,
        active: 0,
        enough: 0,
        place: sweep.place,
        settled: 0,
        flags: 0,
    };
    lane.sweep(sweep)
}

/// A lane and its data.
#[derive(Clone, Copy, Debug)]
pub(super) struct Lane<G> {
    pub(super) cx: ContextRef<G>,
    pub(super) grid: G,
    pub(super) steps: Steps<G>,
    pub(super) temps: Temps<G>,
    /// The accumulators.
    pub(super) hand: Values,
    /// The items of the slots, or the edges.
    pub(super) numbers: Words4,
    /// The items of the slots, or the nodes at the other ends of the edges.
    pub(super) ends: Words4,
    /// Slots that are in.
    pub(super) active: u32,
    /// Slots that allowed their row to end.
    pub(super) enough: u32,
    /// The items or edges that it goes through.
    pub(super) place: Place,
    /// Slots whose reductions allow it.
    pub(super) settled: u32,
    pub(super) flags: u32,
}

impl<G: Grid> Lane<G> {
    /// The next part for edges among the instructions `at..end`, or the end.
    #[inline(always)]
    fn next_edges(&self, mut at: u32, end: u32) -> u32 {
        while at < end && self.steps.fetch(at).op != Op::Edges as u32 {
            at += 1;
        }
        at
    }

    /// Visits items once, or edges one after the other, in the same loop, so that instructions run
    /// at one place.
    #[inline(always)]
    fn sweep(mut self, sweep: Sweep) -> (u32, u32) {
        let Sweep {
            place, step, group, ..
        } = sweep;
        let (first, end) = sweep.code;
        let csr = place.csr(self.cx);
        let (mut last, mut done) = (sweep.to, 0);
        let mut on = if place.is_edges(self.grid) {
            self.before(last)
        } else {
            sweep.to[0]
        };
        let mut at = first;
        while self.grid.ballot(on != 0) != 0 {
            (self.active, self.enough, self.settled) = (on, 0, ALL);
            if place.is_edges(self.grid) {
                let numbers = self.numbers;
                self.ends = each_of::<G, _>(on, |slot| csr.target(self.grid, numbers[slot]));
            }
            at = self.code((first, end));
            if !place.is_edges(self.grid) {
                break;
            }
            let mut stop = self.stopped();
            if group != 0 {
                let is_stopped = self.grid.ballot(stop != 0) & group != 0;
                stop = if is_stopped { ALL } else { 0 };
            }
            done |= stop;
            last = chosen(stop, [0; 4], last);
            let numbers = self.numbers;
            self.numbers = each(|slot| numbers[slot].saturating_add(step));
            on = self.before(last);
        }
        if !place.is_edges(self.grid) && self.grid.ballot(self.active != 0) == 0 {
            at = self.next_edges(at, end);
        }
        (at, self.active | self.flags | done << DONE)
    }

    /// The slots that are before their last edge.
    #[inline(always)]
    fn before(&self, last: Words4) -> u32 {
        mask(|slot| self.numbers[slot] < last[slot])
    }

    /// The slots whose rows may end. An edge that was left out has reduced nothing, and so settles
    /// nothing.
    #[inline(always)]
    fn stopped(&self) -> u32 {
        let settled = if self.place.ends_early() {
            self.settled & self.active
        } else {
            0
        };
        settled | self.enough
    }

    /// Runs instructions up to the next part for edges; returns where it stopped.
    #[inline(always)]
    fn code(&mut self, (first, end): (u32, u32)) -> u32 {
        let mut at = first;
        while at < end {
            let mut instruction = self.steps.next(at);
            let mut array = self.steps.array(at);
            if instruction.op >= Op::Edges as u32 {
                if instruction.op == FAR {
                    instruction = self.steps.far(at);
                    array = self.steps.beside(instruction);
                }
                if instruction.op == Op::Edges as u32 {
                    return at;
                }
            }
            let op = known(instruction.op);
            let may_be_out = self.step(op, (instruction, array));
            at += 1;
            if may_be_out && self.grid.ballot(self.active != 0) == 0 {
                return at;
            }
        }
        end
    }

    /// Records that active slots raise the loop's flag.
    #[inline(always)]
    pub(super) fn note_raised(&mut self, raised: u32) {
        if self.active & raised != 0 {
            self.flags |= RAISED;
        }
    }
}

/// An instruction and the array of the register that it uses first, if it uses one.
pub(super) type Using = (Fetched, Array);
