//! Forms of edge parts that have a specialised loop.
//!
//! A part loads a value of the neighbour, may add a weight to it and compare it with a value of the
//! item, and joins it, or another value, to a result; or it changes a value of the neighbour. A block
//! reads the form off the instructions once a wave.

use super::fetched::{A, B, Fetched, TO, known};
use seawall_core::abi::code::{
    EdgesPart, Join, Kind, NEIGHBOUR, NOTHING, OF_EDGE, Op, PAIR, TEMPORARY, WORD,
};

/// Form of a part, which a block stores beside the part's first instruction; 0 for any other form.
/// Places of instructions are counted from that one.
#[derive(Clone, Copy, Debug)]
pub(super) struct Form(u32);

/// A field of a form: its first bit and its width.
pub(super) type Field = (u32, u32);

/// The first load, counted from [`Op::Load`].
pub(super) const LOAD: Field = (0, 3);
/// Operation on the edge's weight, 0 for none.
pub(super) const WEIGHT: Field = (2, 7);
/// Place of the difference to a value of the item, 0 for none.
pub(super) const LESS: Field = (5, 7);
/// Whether the value becomes a bit, and whether the bit of a pair.
pub(super) const BIT: Field = (8, 3);
/// Place of a comparison, 0 for none.
pub(super) const TEST: Field = (10, 7);
/// Another value of the edge: 0 for none, 1 and more for a load, counted from [`Op::Load`], 5 for the
/// neighbour and the weight as a pair.
pub(super) const MORE: Field = (13, 7);
/// Place of that value.
pub(super) const MORE_AT: Field = (16, 7);
/// Whether the part only changes a value of the neighbour.
pub(super) const CHANGE: Field = (19, 1);
/// Set if there is a form.
pub(super) const KNOWN: Field = (20, 1);

impl Form {
    pub(super) const fn of_word(word: u32) -> Self {
        Self(word)
    }

    pub(super) const fn word(self) -> u32 {
        self.0
    }

    pub(super) const fn is_known(self) -> bool {
        self.has(KNOWN)
    }

    pub(super) const fn get(self, (first, bits): Field) -> u32 {
        self.0 >> first & bits
    }

    pub(super) const fn has(self, field: Field) -> bool {
        self.get(field) != 0
    }

    #[must_use]
    const fn with(self, (first, _): Field, value: u32) -> Self {
        Self(self.0 | value << first)
    }
}

/// Reads a part, instruction by instruction.
struct Reader<F> {
    fetch: F,
    /// The next place, and the number of instructions.
    at: u32,
    end: u32,
    form: Form,
    /// Temporary that also keeps the accumulator.
    kept: u32,
}

/// The form of the part that instruction `begin` begins. `fetch` returns an instruction by its place
/// after that one, and whether its register has a value for every node.
#[inline(always)]
pub(super) fn form_of(begin: Fetched, fetch: impl Fn(u32) -> (Fetched, bool)) -> u32 {
    let part = EdgesPart::from_word(begin.word);
    let reader = Reader {
        fetch,
        at: 1,
        end: begin.other + 1,
        form: Form(0),
        kept: u32::from(NOTHING),
    };
    let form = match part.reductions {
        0 => reader.change(),
        1 => reader.gathering(),
        _ => None,
    };
    form.map_or(0, |form| form.with(KNOWN, 1).0)
}

impl<F: Fn(u32) -> (Fetched, bool)> Reader<F> {
    #[inline(always)]
    fn change(self) -> Option<Form> {
        if self.end != 2 {
            return None;
        }
        let (at, is_sure) = (self.fetch)(1);
        let joined = at.joined()?;
        let is_plain = matches!(
            (joined.how, joined.kind),
            (Join::Sum | Join::Min | Join::Max | Join::Or, Kind::U32)
        );
        let fits = known(at.op) == Op::Scatter
            && is_sure
            && is_plain
            && at.byte(TO) == u32::from(NOTHING)
            && is_of_item(at.byte(B));
        fits.then(|| self.form.with(CHANGE, 1))
    }

    #[inline(always)]
    fn gathering(mut self) -> Option<Form> {
        let kind = self.load()?;
        self.form = self.form.with(LOAD, kind);
        self.weigh();
        self.lessen();
        self.bit();
        self.test();
        self.more();
        let (last, _) = (self.fetch)(self.at);
        let fits = self.at + 1 == self.end
            && known(last.op) == Op::Reduce
            && last.byte(A) == u32::from(NOTHING);
        fits.then_some(self.form)
    }

    /// The next instruction, if the part has one more before its reduction.
    #[inline(always)]
    fn peek(&self, ahead: u32) -> Option<(Fetched, Op)> {
        let at = self.at + ahead;
        (at + 1 < self.end).then(|| {
            let (instruction, _) = (self.fetch)(at);
            (instruction, known(instruction.op))
        })
    }

    #[inline(always)]
    fn go_on(&mut self, count: u32, last: Fetched) {
        self.at += count;
        self.kept = last.byte(TO);
    }

    /// Reads a load of a value of the neighbour; returns which.
    #[inline(always)]
    fn load(&mut self) -> Option<u32> {
        let (at, op) = self.peek(0)?;
        let is_load = op.is_within(Op::Load, Op::LatestWide);
        let fits = is_load && (self.fetch)(self.at).1;
        fits.then(|| {
            self.go_on(1, at);
            op as u32 - Op::Load as u32
        })
    }

    #[inline(always)]
    fn weigh(&mut self) {
        let (Some((weight, Op::EdgeWeight)), Some((at, op))) = (self.peek(0), self.peek(1)) else {
            return;
        };
        let which = match op {
            Op::Add => 1,
            Op::Min => 2,
            Op::Max => 3,
            Op::AddFloat => 4,
            Op::MulFloat => 5,
            Op::MinFloat => 6,
            Op::MaxFloat => 7,
            _ => 0,
        };
        let fits = which > 0
            && self.form.get(LOAD) & 1 == 0
            && weight.byte(TO) == u32::from(NOTHING)
            && at.byte(A) == u32::from(NOTHING)
            && self.is_kept(at.byte(B));
        if fits {
            self.form = self.form.with(WEIGHT, which);
            self.go_on(2, at);
        }
    }

    #[inline(always)]
    fn lessen(&mut self) {
        let Some((at, op)) = self.peek(0) else {
            return;
        };
        let fits = matches!(op, Op::Sub | Op::SubWide)
            && at.byte(A) == u32::from(NOTHING)
            && is_of_item(at.byte(B));
        if fits {
            self.form = self.form.with(LESS, self.at);
            self.go_on(1, at);
        }
    }

    #[inline(always)]
    fn bit(&mut self) {
        let Some((at, op)) = self.peek(0) else {
            return;
        };
        // The words of the instruction are shifted.
        let which = match (op, at.word, at.other) {
            (Op::ShiftLeft, 1, _) => 1,
            (Op::ShiftLeftWide, 1, 0) => 2,
            _ => 0,
        };
        let is_one = at.byte(A) & !u32::from(PAIR) == u32::from(WORD);
        if which > 0 && is_one && self.is_kept(at.byte(B)) {
            self.form = self.form.with(BIT, which);
            self.go_on(1, at);
        }
    }

    #[inline(always)]
    fn test(&mut self) {
        let Some((at, op)) = self.peek(0) else {
            return;
        };
        let is_wide = op.is_within(Op::EqualWide, Op::AtLeastWide);
        // A bit of a pair is compared with nothing.
        let fits = op.is_comparison()
            && is_wide == (self.form.get(LOAD) & 1 != 0)
            && !self.form.has(BIT)
            && at.byte(A) == u32::from(NOTHING)
            && is_of_item(at.byte(B))
            && at.byte(TO) == u32::from(NOTHING);
        if fits {
            self.form = self.form.with(TEST, self.at);
            self.go_on(1, at);
        }
    }

    #[inline(always)]
    fn more(&mut self) {
        let first = self.at;
        if let Some(kind) = self.load() {
            self.form = self.form.with(MORE, kind + 1).with(MORE_AT, first);
            return;
        }
        let (Some((weight, Op::EdgeWeight)), Some((at, Op::Pair))) = (self.peek(0), self.peek(1))
        else {
            return;
        };
        let is_held = weight.byte(TO) & u32::from(TEMPORARY) != 0;
        let fits = is_held
            && at.byte(A) == u32::from(NEIGHBOUR)
            && at.byte(B) == weight.byte(TO)
            && at.byte(TO) == u32::from(NOTHING);
        if fits {
            self.form = self.form.with(MORE, 5).with(MORE_AT, first);
            self.go_on(2, at);
        }
    }

    /// Whether a byte names the temporary that keeps the accumulator.
    #[inline(always)]
    fn is_kept(&self, byte: u32) -> bool {
        byte & u32::from(TEMPORARY) != 0 && byte == self.kept
    }
}

/// Whether a byte names a value of the item, or a word of the instruction.
#[inline(always)]
const fn is_of_item(byte: u32) -> bool {
    byte & !(PAIR as u32) == WORD as u32 || byte & (TEMPORARY | OF_EDGE) as u32 == TEMPORARY as u32
}
