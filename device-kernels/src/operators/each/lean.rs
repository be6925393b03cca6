//! Edge parts of common forms, in a specialised loop.
//!
//! Their [forms](super::form) are distinguished once for all edges, which takes a fraction of the
//! instructions of interpreting a part. A part's work depends only on its instructions, and lanes
//! that interpret them get the same result.

use super::change;
use super::fetched::{B, Fetched, known};
use super::form::{BIT, CHANGE, Field, Form, LESS, LOAD, MORE, MORE_AT, TEST, WEIGHT};
use super::slots::{ALL, SLOTS, Words4, chosen, each, each_of, mask};
use super::steps::Steps;
use super::sweep::{Place, Sweep};
use super::temps::{Temps, Values};
use super::values;
use crate::collectives::context::ContextRef;
use crate::machine::Grid;
use crate::machine::memory::Proven;
use seawall_core::abi::code::{Joined, Kind, Op, Outcome, PAIR, TEMPORARY};

/// Runs a part of a known form for a sweep's edges; returns the slots that are done. All lanes of the
/// warp call this with the same part.
#[inline(always)]
pub(super) fn run<G: Grid>(cx: ContextRef<G>, sweep: Sweep, form: Form) -> u32 {
    let Sweep { from, to, .. } = sweep;
    go(
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
        form.word(),
    )
}

/// [`run`] with its arguments as words, since arguments by reference lie in local memory.
#[inline(never)]
#[expect(clippy::too_many_arguments, reason = "see above")]
fn go<G: Grid>(
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
    form: u32,
) -> u32 {
    let sweep = Sweep {
        code: (first, end),
        from: [from_0, from_1, from_2, from_3],
        to: [to_0, to_1, to_2, to_3],
        step,
        group,
        place: Place::of_word(place),
    };
    let form = Form::of_word(form);
    if form.has(CHANGE) {
        changes(cx, sweep);
        return 0;
    }
    // Loads of pairs have odd numbers.
    if form.get(LOAD) & 1 == 0 {
        Lean::<G, false>::new(cx, sweep, form).map_or(0, |lean| lean.sweep(sweep))
    } else {
        Lean::<G, true>::new(cx, sweep, form).map_or(0, |lean| lean.sweep(sweep))
    }
}

/// The edges of a sweep, one after the other for each slot.
#[inline(always)]
fn each_edge<G: Grid>(
    cx: ContextRef<G>,
    sweep: Sweep,
    mut visit: impl FnMut(Words4, Words4, u32) -> u32,
) -> u32 {
    let grid = cx.grid();
    let csr = sweep.place.csr(cx);
    let (mut numbers, mut last, mut done) = (sweep.from, sweep.to, 0);
    loop {
        let on = mask(|slot| numbers[slot] < last[slot]);
        if grid.ballot(on != 0) == 0 {
            return done;
        }
        let ends = each_of::<G, _>(on, |slot| csr.target(grid, numbers[slot]));
        let mut stop = visit(numbers, ends, on);
        if sweep.group != 0 {
            let is_stopped = grid.ballot(stop != 0) & sweep.group != 0;
            stop = if is_stopped { ALL } else { 0 };
        }
        done |= stop;
        last = chosen(stop, [0; SLOTS], last);
        numbers = each(|slot| numbers[slot].saturating_add(sweep.step));
    }
}

/// Changes a value of the neighbour at each edge of a sweep.
#[inline(always)]
fn changes<G: Grid>(cx: ContextRef<G>, sweep: Sweep) {
    let (grid, steps) = (cx.grid(), Steps::again(cx));
    let (first, _) = sweep.code;
    let at = steps.next(first);
    let Some(joined) = at.joined() else {
        return;
    };
    let temps = sweep.place.temps(grid);
    let value = operand(temps, at).low;
    // SAFETY: the form says that there is a value for every node, and neighbours are nodes.
    let to = unsafe { steps.array(first).words.proven() };
    each_edge(cx, sweep, |_, ends, on| {
        change::change_words(grid, to, joined, ends, value, on);
        0
    });
}

/// A value of the item, or a word of the instruction.
#[inline(always)]
fn operand<G: Grid>(temps: Temps<G>, at: Fetched) -> Values {
    let byte = at.byte(B);
    if byte & u32::from(TEMPORARY) == 0 {
        return Values {
            low: [at.word; SLOTS],
            high: [at.other; SLOTS],
        };
    }
    Values {
        low: temps.low(byte),
        high: if byte & u32::from(PAIR) == 0 {
            [0; SLOTS]
        } else {
            temps.high(byte)
        },
    }
}

/// A gather and its operands at each edge. Pairs have a separate loop, as they take twice the
/// registers.
#[derive(Clone, Copy, Debug)]
struct Lean<G, const PAIRS: bool> {
    cx: ContextRef<G>,
    grid: G,
    form: Form,
    temps: Temps<G>,
    from: Proven,
    more: Proven,
    weights: Option<Proven>,
    less: Values,
    /// The comparison, its outcome, and the value to compare with.
    test: (Op, u32, Values),
    joined: Joined,
    /// The temporary of the lane's partial result, and that result.
    found: (u32, Values),
    /// Whether rows end where this value was found.
    ends_early: bool,
    end: u64,
}

impl<G: Grid, const PAIRS: bool> Lean<G, PAIRS> {
    #[inline(always)]
    fn new(cx: ContextRef<G>, sweep: Sweep, form: Form) -> Option<Self> {
        let (grid, steps) = (cx.grid(), Steps::again(cx));
        let (first, end) = sweep.code;
        let temps = sweep.place.temps(grid);
        // Places are counted from the instruction before the first one.
        let at = |field: Field| steps.next(first - 1 + form.get(field).max(1));
        let array = |number: u32| {
            let words = steps.array(number).words;
            // SAFETY: the form says that there is a value for every node.
            unsafe { words.proven() }
        };
        let (less, test, last) = (at(LESS), at(TEST), steps.next(end - 1));
        let joined = last.joined()?;
        Some(Self {
            cx,
            grid,
            form,
            temps,
            from: array(first),
            more: array(first - 1 + form.get(MORE_AT).max(1)),
            weights: sweep.place.weights(cx),
            less: operand(temps, less),
            test: (
                known(test.op),
                test.byte(super::fetched::C),
                operand(temps, test),
            ),
            joined,
            found: (last.byte(B), temps.own_values(last.byte(B))),
            ends_early: sweep.place.ends_early(),
            end: steps.array(end - 1).end(),
        })
    }

    #[inline(always)]
    fn sweep(mut self, sweep: Sweep) -> u32 {
        let done = each_edge(self.cx, sweep, |numbers, ends, on| {
            self.edge(numbers, ends, on)
        });
        self.temps.set(self.found.0, self.found.1);
        done
    }

    /// Visits an edge of each slot; returns the slots whose rows may end.
    #[inline(always)]
    fn edge(&mut self, numbers: Words4, ends: Words4, on: u32) -> u32 {
        let (form, mut active, mut enough) = (self.form, on, 0);
        let mut value = self.first(ends, on);
        if !PAIRS && form.has(WEIGHT) {
            let weights = self.weights(numbers, on);
            value.low = weighed(form.get(WEIGHT), weights, value.low);
        }
        if form.has(LESS) {
            value = self.lessened(value);
        }
        if !PAIRS && form.has(BIT) {
            value = bit(form.get(BIT), value.low);
        }
        if form.has(TEST) {
            let (holds, outcome) = self.holds(value);
            if outcome == Outcome::Only as u32 {
                active &= holds;
            } else if outcome == Outcome::Until as u32 {
                enough = active & holds;
            } else {
                value.low = each(|slot| holds >> slot & 1);
            }
        }
        if form.has(MORE) {
            value = self.other(numbers, ends, active);
        }
        self.join(value, active) | enough
    }

    /// The values of neighbours that are loaded first.
    #[inline(always)]
    fn first(&self, ends: Words4, on: u32) -> Values {
        let (grid, from) = (self.grid, self.from);
        let is_latest = self.form.get(LOAD) >= 2;
        if PAIRS {
            return Values::of_pairs(pairs(grid, (from, is_latest), ends, on));
        }
        Values {
            low: words(grid, (from, is_latest), ends, on),
            high: [0; SLOTS],
        }
    }

    #[inline(always)]
    fn load(&self, (from, kind): (Proven, u32), index: Words4, on: u32) -> Values {
        let (grid, from) = (self.grid, (from, kind >= 2));
        if kind & 1 == 0 {
            return Values {
                low: words(grid, from, index, on),
                high: [0; SLOTS],
            };
        }
        Values::of_pairs(pairs(grid, from, index, on))
    }

    #[inline(always)]
    fn weights(&self, numbers: Words4, on: u32) -> Words4 {
        let Some(weights) = self.weights else {
            return [0; SLOTS];
        };
        each_of::<G, _>(on, |slot| weights.constant(self.grid, numbers[slot]))
    }

    #[inline(always)]
    fn lessened(&self, value: Values) -> Values {
        let less = self.less;
        if !PAIRS {
            let low = each(|slot| value.low[slot].wrapping_sub(less.low[slot]));
            return Values { low, ..value };
        }
        let (all, less) = (value.pairs(), less.pairs());
        Values::of_pairs(each(|slot| all[slot].wrapping_sub(less[slot])))
    }

    /// The slots for which the comparison holds, and their outcome.
    #[inline(always)]
    fn holds(&self, value: Values) -> (u32, u32) {
        let (op, outcome, with) = self.test;
        let holds = if PAIRS {
            values::holds_wide(op, value.pairs(), with.pairs())
        } else {
            values::holds(op, value.low, with.low)
        };
        (holds, outcome)
    }

    /// Another value of the edge.
    #[inline(always)]
    fn other(&self, numbers: Words4, ends: Words4, active: u32) -> Values {
        let kind = self.form.get(MORE) - 1;
        if kind < 4 {
            return self.load((self.more, kind), ends, active);
        }
        Values {
            low: ends,
            high: self.weights(numbers, active),
        }
    }

    /// Joins values to the partial result; returns the slots whose rows may end then.
    #[inline(always)]
    fn join(&mut self, value: Values, active: u32) -> u32 {
        let (joined, found) = (self.joined, self.found.1);
        let now = if joined.kind == Kind::U64 {
            let before = found.pairs();
            let now = values::join_pairs(joined.how, before, value.pairs());
            Values::of_pairs(chosen(active, now, before))
        } else {
            let now = values::join_words(joined, found.low, value.low);
            Values {
                low: chosen(active, now, found.low),
                ..found
            }
        };
        self.found.1 = now;
        if !self.ends_early {
            return 0;
        }
        let (end, now) = (self.end, now.pairs());
        active & mask(|slot| end == now[slot])
    }
}

/// Words of an array, before the wave or current.
#[inline(always)]
fn words<G: Grid>(grid: G, (from, is_latest): (Proven, bool), index: Words4, on: u32) -> Words4 {
    if is_latest {
        each_of::<G, _>(on, |slot| from.load(grid, index[slot]))
    } else {
        each_of::<G, _>(on, |slot| from.load_weak(grid, index[slot]))
    }
}

/// [`words`] of pairs.
#[inline(always)]
fn pairs<G: Grid>(
    grid: G,
    (from, is_latest): (Proven, bool),
    index: Words4,
    on: u32,
) -> [u64; SLOTS] {
    if is_latest {
        each_of::<G, _>(on, |slot| from.load_wide(grid, 2 * index[slot]))
    } else {
        each_of::<G, _>(on, |slot| from.load_weak_wide(grid, 2 * index[slot]))
    }
}

/// Weights and values, combined by a form.
#[inline(always)]
fn weighed(which: u32, weights: Words4, values: Words4) -> Words4 {
    match which {
        1 => values::words(Op::Add, weights, values),
        2 => values::words(Op::Min, weights, values),
        3 => values::words(Op::Max, weights, values),
        4 => values::words(Op::AddFloat, weights, values),
        5 => values::words(Op::MulFloat, weights, values),
        6 => values::words(Op::MinFloat, weights, values),
        _ => values::words(Op::MaxFloat, weights, values),
    }
}

/// The bits at given numbers of a word or a pair.
#[inline(always)]
fn bit(which: u32, numbers: Words4) -> Values {
    if which == 1 {
        return Values {
            low: each(|slot| 1_u32.checked_shl(numbers[slot]).unwrap_or(0)),
            high: [0; SLOTS],
        };
    }
    Values::of_pairs(each(|slot| 1_u64.checked_shl(numbers[slot]).unwrap_or(0)))
}
