//! The walk over the instructions of a wave, which is the same for all machines.
//!
//! An instruction becomes operations of a [`Machine`]. Effects that depend on the same condition wait
//! until something else needs memory, or the item or edge ends: then they follow one test of the
//! condition, and values that only they use are made after it.

mod compute;
mod held;

pub(crate) use compute::Compute;
pub(crate) use held::{Held, Shape, Temps};

use crate::code::{self, Action, Operand};
use crate::{JitError, Tables};
use seawall_core::abi::code::{
    Instruction, Join, Joined, Kind, NOTHING, NUMBERED, Op, Outcome, PAIR, TEMPORARY, TEMPS,
};

/// The reason for which nothing was written, if there is one.
pub(crate) type Emitted = Result<(), JitError>;

/// The values at a point of the code, of `N` items at a time, and the effects that wait.
#[derive(Clone, Debug)]
pub(crate) struct Now<V, const N: usize> {
    /// The accumulator.
    pub(crate) hand: Held<V, N>,
    /// The number of the item; in a part for edges, the neighbour.
    pub(crate) number: Held<V, N>,
    pub(crate) temps: Temps<V, N>,
    waiting: Option<Waiting<V, N>>,
}

/// Effects that wait, in order, and their condition.
#[derive(Clone, Debug)]
struct Waiting<V, const N: usize> {
    condition: Held<V, N>,
    /// The comparison that made the condition, if it is known.
    compared: Option<(Op, [[V; N]; 2])>,
    effects: Vec<Effect<V, N>>,
}

/// A change of memory. Indices are in range.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Effect<V, const N: usize> {
    Write(Kind, Spot<V, N>),
    Change(Joined, Spot<V, N>),
    Append([u32; 2], Held<V, N>),
    Raise,
}

/// A place in a register, and a value for it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Spot<V, const N: usize> {
    pub(crate) register: u32,
    pub(crate) index: Held<V, N>,
    pub(crate) value: Held<V, N>,
}

impl<V, const N: usize> Now<V, N> {
    pub(crate) const fn new(hand: Held<V, N>, number: Held<V, N>) -> Self {
        Self {
            hand,
            number,
            temps: [const { None }; TEMPS as usize],
            waiting: None,
        }
    }
}

/// A machine that code is written for: its operations on single values, and its accesses to memory
/// for `N` items at a time.
pub(crate) trait Machine<const N: usize>: Sized {
    /// A value of an item.
    type Value: Copy + PartialEq + std::fmt::Debug;
    /// The state around effects that depend on a condition.
    type Guard;

    /// Whether a shift by more than the width gives 0, or all of the sign.
    const SHIFTS_END: bool;

    fn now(&mut self) -> &mut Now<Self::Value, N>;
    fn tables(&self) -> &Tables<'_>;

    /// A constant of a kind with these low bits.
    fn constant(&mut self, kind: Kind, bits: u64) -> Self::Value;
    /// Converts a word to another form, or another form to a word.
    fn reshape(&mut self, value: Self::Value, from: Shape, to: Shape) -> Self::Value;
    /// The result of an operation on two values of its kind, without those that [`Compute`] takes
    /// apart.
    fn operate(&mut self, op: Op, a: Self::Value, b: Self::Value) -> Self::Value;
    /// The result of an operation on one value of its kind.
    fn convert(&mut self, op: Op, a: Self::Value) -> Self::Value;
    /// Whether a comparison of values of its kind holds, as a condition.
    fn compare(&mut self, op: Op, a: Self::Value, b: Self::Value) -> Self::Value;
    /// One of two values of a kind by a condition.
    fn choose(&mut self, kind: Kind, holds: Self::Value, both: [Self::Value; 2]) -> Self::Value;

    /// Leaves out items whose index is not below `len`, with a note of the first.
    fn check(&mut self, words: [Self::Value; N], len: u64);
    /// Values at indices in range, perhaps as they are now.
    fn read(
        &mut self,
        kind: Kind,
        is_latest: bool,
        register: u32,
        index: Held<Self::Value, N>,
    ) -> Held<Self::Value, N>;
    fn write(&mut self, kind: Kind, spot: Spot<Self::Value, N>);
    /// Joins a value to the one at its place. Returns the previous value, which is valid if it is
    /// asked for.
    fn change(
        &mut self,
        joined: Joined,
        spot: Spot<Self::Value, N>,
        is_asked: bool,
    ) -> Held<Self::Value, N>;
    /// Appends a value to the list in a register, with its length in another.
    fn append(&mut self, registers: [u32; 2], value: Held<Self::Value, N>);
    /// The degree or the first edge of the node in the accumulator.
    fn row(&mut self, op: Op, edges: u32) -> Held<Self::Value, N>;
    /// The number or the weight of the edge.
    fn of_edge(&mut self, op: Op) -> Held<Self::Value, N>;

    /// Leaves the item or edge unless a condition holds.
    fn only(&mut self, holds: [Self::Value; N]);
    /// Allows the row to end if a condition holds.
    fn until(&mut self, holds: [Self::Value; N]);
    /// Raises the flag of the loop.
    fn raise(&mut self);
    /// Joins values to the partial result of an instruction; `None` if it has none.
    fn join(&mut self, number: usize, joined: Joined, values: [Self::Value; N]) -> Option<()>;
    /// Begins code that depends on a condition and ends with [`Machine::end_guard`].
    fn begin_guard(&mut self, holds: [Self::Value; N]) -> Self::Guard;
    fn end_guard(&mut self, guard: Self::Guard);
}

/// The walk.
pub(crate) trait Walk<const N: usize>: Compute<N> {
    /// Writes instruction `number` of the table.
    fn step(&mut self, number: usize, at: &Instruction) -> Emitted {
        let action = Action::of(number, at)?;
        if let Some(first) = Operand::first(at) {
            self.now().hand = self.operand(first);
        }
        let hand = self.now().hand;
        let made = match action {
            Action::Decide(op) => {
                self.decide(op, at, hand);
                return Ok(());
            }
            Action::Store(op) => {
                self.store(kind_of(op == Op::StoreWide), at.first, hand);
                return Ok(());
            }
            Action::Append => {
                self.append_if(at, hand);
                return Ok(());
            }
            Action::Scatter(joined) => match self.scatter(at, joined, hand) {
                None => return Ok(()),
                Some(before) => before,
            },
            Action::Join(joined) => {
                self.flush();
                let values = self.in_kind(joined.kind, hand);
                let unchecked = JitError::Unchecked {
                    instruction: number,
                };
                return self.join(number, joined, values).ok_or(unchecked);
            }
            Action::Compare(op, outcome) => {
                let holds = self.compared(op, at);
                match outcome {
                    Outcome::Value => Held::shaped(holds, Shape::Flag),
                    Outcome::Only => {
                        self.flush();
                        self.only(holds);
                        return Ok(());
                    }
                    Outcome::Until => {
                        self.until(holds);
                        return Ok(());
                    }
                }
            }
            Action::Make(op) if op.only_makes() => self.make(op, at),
            Action::Make(op) => {
                self.flush();
                self.access(op, at.first, hand)
            }
        };
        self.now().hand = made;
        if at.temps[0] & TEMPORARY != 0 {
            self.set_temp(at.temps[0], made);
        }
        Ok(())
    }

    /// Reads a register or a row.
    fn access(&mut self, op: Op, first: u32, hand: Held<Self::Value, N>) -> Held<Self::Value, N> {
        if matches!(op, Op::Degree | Op::FirstEdge) {
            return self.row(op, first);
        }
        let kind = kind_of(matches!(op, Op::LoadWide | Op::LatestWide));
        let is_latest = matches!(op, Op::Latest | Op::LatestWide);
        let index = self.checked_in(kind, first, hand);
        self.read(kind, is_latest, first, index)
    }

    /// Writes the consequences of a condition in the accumulator.
    fn decide(&mut self, op: Op, at: &Instruction, hand: Held<Self::Value, N>) {
        match op {
            Op::Raise if code::is_always(at) => self.raise(),
            Op::Raise => self.wait(hand, Effect::Raise),
            _ => {
                let holds = self.shaped(hand, Shape::Flag);
                if op == Op::Until {
                    return self.until(holds);
                }
                self.flush();
                self.only(holds);
            }
        }
    }

    /// Stores the accumulator in a register at the item.
    fn store(&mut self, kind: Kind, register: u32, value: Held<Self::Value, N>) {
        self.flush();
        let number = self.now().number;
        let index = self.checked_in(kind, register, number);
        self.write(
            kind,
            Spot {
                register,
                index,
                value,
            },
        );
    }

    /// Appends the accumulator to a list, perhaps on a condition.
    fn append_if(&mut self, at: &Instruction, hand: Held<Self::Value, N>) {
        let registers = [at.first, at.second];
        if code::second_word(at).is_some() {
            self.flush();
            return self.append(registers, hand);
        }
        let condition = self.second(at);
        self.wait(condition, Effect::Append(registers, hand));
    }

    /// Joins the second operand to a register at the accumulator; returns the previous value if
    /// code asks for it.
    fn scatter(
        &mut self,
        at: &Instruction,
        joined: Joined,
        hand: Held<Self::Value, N>,
    ) -> Option<Held<Self::Value, N>> {
        let (register, value) = (at.first, self.second(at));
        let index = self.checked_in(joined.kind, register, hand);
        let is_asked = at.temps[0] != NOTHING;
        let spot = |value| Spot {
            register,
            index,
            value,
        };
        if !is_asked && code::is_rare(at, joined, value.bound) {
            let one = Held::word([self.constant(Kind::U32, 1); N]);
            self.wait(value, Effect::Change(joined, spot(one)));
            return None;
        }
        self.flush();
        let op = match (joined.how, joined.kind) {
            (Join::Max, kind) => code::below(kind),
            (Join::Min, kind) => code::above(kind),
            _ => return self.changed(joined, spot(value), is_asked),
        };
        if !self.tables().is_alone {
            return self.changed(joined, spot(value), is_asked);
        }
        // Most values do not change, and then nothing has to wait for the store. What else code does
        // about a change mostly asks the same.
        let before = self.read(joined.kind, true, register, index);
        let [a, b] = [before, value].map(|held| self.in_kind(joined.kind, held));
        let holds = std::array::from_fn(|slot| self.compare(op, a[slot], b[slot]));
        let write = Effect::Write(joined.kind, spot(value));
        self.wait(Held::shaped(holds, Shape::Flag), write);
        if let Some(waiting) = &mut self.now().waiting {
            waiting.compared = Some((op, [a, b]));
        }
        is_asked.then(|| Held::of_kind(joined.kind, a))
    }

    fn changed(
        &mut self,
        joined: Joined,
        spot: Spot<Self::Value, N>,
        is_asked: bool,
    ) -> Option<Held<Self::Value, N>> {
        let before = self.change(joined, spot, is_asked);
        is_asked.then_some(before)
    }

    /// An index of a register, which is in range from here on.
    fn checked_in(
        &mut self,
        kind: Kind,
        register: u32,
        index: Held<Self::Value, N>,
    ) -> Held<Self::Value, N> {
        let len = self.tables().held(register, kind.words());
        self.checked(index, len)
    }

    /// An index, which is below `len` from here on.
    fn checked(&mut self, index: Held<Self::Value, N>, len: u64) -> Held<Self::Value, N> {
        if index.bound <= len {
            return index;
        }
        self.flush();
        let words = self.shaped(index, Shape::Word);
        self.check(words, len);
        // Facts about the item's number hold from here on.
        let number = &mut self.now().number;
        if number.values == index.values {
            *number = number.below(len);
        }
        index.below(len)
    }

    /// Lets an effect wait, beside others of the same condition.
    fn wait(&mut self, condition: Held<Self::Value, N>, effect: Effect<Self::Value, N>) {
        if let Some(waiting) = &mut self.now().waiting
            && waiting.condition.values == condition.values
        {
            waiting.effects.push(effect);
            return;
        }
        self.flush();
        self.now().waiting = Some(Waiting {
            condition,
            compared: None,
            effects: vec![effect],
        });
    }

    /// Writes the effects that wait.
    fn flush(&mut self) {
        let Some(waiting) = self.now().waiting.take() else {
            return;
        };
        let holds = self.shaped(waiting.condition, Shape::Flag);
        let guard = self.begin_guard(holds);
        for effect in waiting.effects {
            match effect {
                Effect::Write(kind, spot) => self.write(kind, spot),
                Effect::Change(joined, spot) => {
                    self.change(joined, spot, false);
                }
                Effect::Append(registers, value) => self.append(registers, value),
                Effect::Raise => self.raise(),
            }
        }
        self.end_guard(guard);
    }

    /// Whether a comparison holds, which effects may wait for.
    fn compared(&mut self, op: Op, at: &Instruction) -> [Self::Value; N] {
        let kind = code::compared(op);
        let (hand, second) = (self.now().hand, self.second(at));
        let [a, b] = [hand, second].map(|held| self.in_kind(kind, held));
        if let Some(Waiting {
            compared: Some(known),
            condition,
            ..
        }) = &self.now().waiting
            && (*known == (op, [a, b]) || op.turned().is_some_and(|op| *known == (op, [b, a])))
        {
            return condition.values;
        }
        std::array::from_fn(|slot| self.compare(op, a[slot], b[slot]))
    }

    /// Keeps a value in the temporary that a byte names, as a pair or as a word.
    fn set_temp(&mut self, byte: u8, held: Held<Self::Value, N>) {
        let number = usize::from(byte & NUMBERED);
        let is_pair = byte & PAIR != 0;
        let held = match (is_pair, held.shape) {
            (true, _) => Held::pair(self.shaped(held, Shape::Pair)),
            (false, Shape::Pair) => Held::word(self.shaped(held, Shape::Word)).below(held.bound),
            (false, _) => held,
        };
        let mut temps = self.now().temps.iter_mut().skip(number);
        if let Some(temp) = temps.next() {
            *temp = Some(held);
        }
        // A pair takes the next temporary too.
        if let (true, Some(next)) = (is_pair, temps.next()) {
            *next = None;
        }
    }
}

impl<const N: usize, M: Machine<N>> Walk<N> for M {}

/// The kind of words or of pairs.
const fn kind_of(is_wide: bool) -> Kind {
    if is_wide { Kind::U64 } else { Kind::U32 }
}
