//! Code of waves taken apart, as each compiler needs it.

use crate::{CodeWave, JitError, Tables};
use seawall_core::abi::code::{
    Edges, EdgesPart, Instruction, Joined, Kind, NOTHING, NUMBER, Op, Outcome, PAIR, TEMPORARY,
    WORD,
};
use seawall_core::abi::compiled::EachCall;
use seawall_core::abi::program::Region;
use std::mem::offset_of;

/// Instructions, with the number of the first in the table.
pub(crate) type Numbered<'t> = (usize, &'t [Instruction]);

/// An instruction that joins values, with its number in the table.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Joining<'t> {
    pub(crate) number: usize,
    pub(crate) at: &'t Instruction,
    pub(crate) joined: Joined,
}

/// A piece of the code of an item.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Piece<'t> {
    /// An instruction with its number in the table.
    Step(usize, &'t Instruction),
    /// An [`Op::Edges`] and the code of its part.
    Edges(&'t Instruction, Numbered<'t>),
}

/// The work of an instruction.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Action {
    /// Decides by the accumulator: [`Op::Only`], [`Op::Until`] or [`Op::Raise`].
    Decide(Op),
    Store(Op),
    Append,
    Scatter(Joined),
    /// Joins the accumulator to the partial result of a reduction or a fold.
    Join(Joined),
    Compare(Op, Outcome),
    /// Makes a value and does nothing else.
    Make(Op),
}

/// An operand of an instruction.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Operand {
    /// The number of the item; in a part for edges, the neighbour.
    Number,
    /// The temporary that a byte names.
    Temporary(u8),
    /// A word or a pair in the instruction.
    Word(u32),
    Pair(u64),
}

/// A part for edges.
#[derive(Clone, Debug)]
pub(crate) struct Part<'t> {
    pub(crate) kind: EdgesPart,
    /// The code before the reductions.
    pub(crate) body: Numbered<'t>,
    pub(crate) reductions: Vec<Joining<'t>>,
}

/// The instructions of a wave.
pub(crate) fn of_wave<'t>(tables: &Tables<'t>, wave: &CodeWave) -> Result<Numbered<'t>, JitError> {
    let first = wave.record.first as usize;
    let end = first.saturating_add(wave.record.instructions as usize);
    let code = tables.code.get(first..end);
    code.map(|code| (first, code))
        .ok_or(JitError::Unchecked { instruction: first })
}

/// The pieces of an item's code, in order.
pub(crate) fn pieces((first, code): Numbered<'_>) -> Result<Vec<Piece<'_>>, JitError> {
    let mut pieces = Vec::new();
    let mut at = 0;
    while let Some(instruction) = code.get(at) {
        let number = first + at;
        if Op::from_word(instruction.op) == Some(Op::Edges) {
            let from = at + 1;
            let end = from.saturating_add(instruction.second as usize);
            let unchecked = JitError::Unchecked {
                instruction: number,
            };
            let body = code.get(from..end).ok_or(unchecked)?;
            pieces.push(Piece::Edges(instruction, (number + 1, body)));
            at = end;
        } else {
            pieces.push(Piece::Step(number, instruction));
            at += 1;
        }
    }
    Ok(pieces)
}

/// The folds of a wave.
pub(crate) fn folds((first, code): Numbered<'_>) -> Result<Vec<Joining<'_>>, JitError> {
    let all = (first..).zip(code);
    all.filter(|(_, at)| at.op == Op::Fold as u32)
        .map(|(number, at)| joining(number, at))
        .collect()
}

fn joining(number: usize, at: &Instruction) -> Result<Joining<'_>, JitError> {
    let joined = at.joined().ok_or(JitError::Unchecked {
        instruction: number,
    })?;
    Ok(Joining { number, at, joined })
}

impl<'t> Part<'t> {
    /// The part that `begin` begins.
    pub(crate) fn of(begin: &Instruction, (first, code): Numbered<'t>) -> Result<Self, JitError> {
        let kind = EdgesPart::from_word(begin.first);
        let unchecked = JitError::Unchecked { instruction: first };
        let end = code.len().checked_sub(kind.reductions as usize);
        let (body, reductions) = code.split_at(end.ok_or(unchecked.clone())?);
        let reductions = (first + body.len()..).zip(reductions).map(|(number, at)| {
            let joining = joining(number, at)?;
            (at.op == Op::Reduce as u32)
                .then_some(joining)
                .ok_or(unchecked.clone())
        });
        Ok(Self {
            kind,
            body: (first, body),
            reductions: reductions.collect::<Result<_, _>>()?,
        })
    }
}

impl Action {
    /// The work of instruction `number` of the table; not for [`Op::Edges`].
    pub(crate) fn of(number: usize, at: &Instruction) -> Result<Self, JitError> {
        let unchecked = || JitError::Unchecked {
            instruction: number,
        };
        let joined = || at.joined().ok_or_else(unchecked);
        Ok(match Op::from_word(at.op).ok_or_else(unchecked)? {
            op @ (Op::Only | Op::Until | Op::Raise) => Self::Decide(op),
            op @ (Op::Store | Op::StoreWide) => Self::Store(op),
            Op::Append => Self::Append,
            Op::Scatter => Self::Scatter(joined()?),
            Op::Reduce | Op::Fold => Self::Join(joined()?),
            Op::Edges => return Err(unchecked()),
            op if op.is_comparison() => {
                Self::Compare(op, Outcome::from_byte(at.temps[3]).ok_or_else(unchecked)?)
            }
            op => Self::Make(op),
        })
    }
}

impl Operand {
    /// The first operand; `None` if it is the accumulator.
    pub(crate) fn first(at: &Instruction) -> Option<Self> {
        match at.temps[1] {
            NOTHING => None,
            byte if byte & NUMBER != 0 => Some(Self::Number),
            byte => Some(Self::of(byte, at)),
        }
    }

    /// The second operand; 0 if there is none.
    pub(crate) fn second(at: &Instruction) -> Self {
        match at.temps[2] {
            NOTHING => Self::Word(0),
            byte => Self::of(byte, at),
        }
    }

    fn of(byte: u8, at: &Instruction) -> Self {
        let uses_first = Op::from_word(at.op).is_some_and(Op::uses_first);
        let (low, high) = if uses_first {
            (at.second, at.first)
        } else {
            (at.first, at.second)
        };
        if byte & TEMPORARY != 0 {
            Self::Temporary(byte)
        } else if byte & PAIR != 0 {
            Self::Pair(u64::from(low) | u64::from(high) << 32)
        } else {
            Self::Word(low)
        }
    }
}

/// The word of the second operand, if it is in the instruction.
pub(crate) fn second_word(at: &Instruction) -> Option<u32> {
    match (at.temps[2], Operand::second(at)) {
        (NOTHING, _) => None,
        (_, Operand::Word(word)) => Some(word),
        (_, Operand::Pair(pair)) => Some(pair as u32),
        _ => None,
    }
}

/// Whether the accumulator of an instruction is a word in it that is not 0.
pub(crate) fn is_always(at: &Instruction) -> bool {
    at.temps[1] == WORD && matches!(Operand::first(at), Some(Operand::Word(word)) if word != 0)
}

/// Whether an instruction may end an item or an edge.
pub(crate) fn may_leave(at: &Instruction) -> bool {
    decides(at, Op::Only, Outcome::Only)
}

/// Whether an instruction may end a row.
pub(crate) fn may_end_row(at: &Instruction) -> bool {
    decides(at, Op::Until, Outcome::Until)
}

fn decides(at: &Instruction, alone: Op, outcome: Outcome) -> bool {
    Op::from_word(at.op)
        .is_some_and(|op| op == alone || op.is_comparison() && at.temps[3] == outcome as u8)
}

/// The kind of both values that an operation compares.
pub(crate) const fn compared(op: Op) -> Kind {
    if op.is_within(Op::EqualFloat, Op::AtLeastFloat) {
        Kind::F32
    } else if op.is_within(Op::EqualWide, Op::AtLeastWide) {
        Kind::U64
    } else {
        Kind::U32
    }
}

/// The kind of the values of an operation on two that compares nothing.
pub(crate) const fn of_two(op: Op) -> Kind {
    if op.is_within(Op::AddFloat, Op::MaxFloat) {
        Kind::F32
    } else if op.is_within(Op::AddWide, Op::ShiftRightWide) {
        Kind::U64
    } else {
        Kind::U32
    }
}

/// The kinds of the operand and of the result of an operation on one value.
pub(crate) const fn of_one(op: Op) -> [Kind; 2] {
    match op {
        Op::OnesWide | Op::LowZerosWide => [Kind::U64, Kind::U32],
        Op::FloatOf | Op::FloatOfSigned => [Kind::U32, Kind::F32],
        Op::FloatOfWide => [Kind::U64, Kind::F32],
        Op::WordOf | Op::SignedOf => [Kind::F32, Kind::U32],
        Op::WideOf => [Kind::F32, Kind::U64],
        _ => [Kind::U32, Kind::U32],
    }
}

/// The comparison of values of a kind by `<`.
pub(crate) const fn below(kind: Kind) -> Op {
    match kind {
        Kind::U32 => Op::Below,
        Kind::I32 => Op::BelowSigned,
        Kind::F32 => Op::BelowFloat,
        Kind::U64 => Op::BelowWide,
    }
}

/// The comparison of values of a kind by `>`.
pub(crate) const fn above(kind: Kind) -> Op {
    match kind {
        Kind::U32 => Op::Above,
        Kind::I32 => Op::AboveSigned,
        Kind::F32 => Op::AboveFloat,
        Kind::U64 => Op::AboveWide,
    }
}

/// Whether the value of a scatter, a word below `bound`, is that of a condition, of which 0 changes
/// nothing.
pub(crate) fn is_rare(at: &Instruction, joined: Joined, bound: u64) -> bool {
    let is_condition = bound <= 2 && second_word(at).is_none();
    let is_neutral = joined.identity() == 0 && joined.kind == Kind::U32;
    is_condition && is_neutral
}

/// The fields of [`EachCall`] with the offsets and the targets of a kind of edges.
pub(crate) const fn fields_of_rows(edges: u32) -> [usize; 2] {
    if edges == Edges::Out as u32 {
        [offset_of!(EachCall, offsets), offset_of!(EachCall, targets)]
    } else {
        [
            offset_of!(EachCall, incoming_offsets),
            offset_of!(EachCall, incoming_targets),
        ]
    }
}

/// The field of [`EachCall`] with the weights of a kind of edges.
pub(crate) const fn field_of_weights(edges: Edges) -> usize {
    match edges {
        Edges::Out => offset_of!(EachCall, weights),
        Edges::In => offset_of!(EachCall, incoming_weights),
    }
}

impl Tables<'_> {
    /// The field of [`EachCall`] with the region of a register, and the register's place in it,
    /// bytes.
    pub(crate) fn place_of(&self, register: u32) -> (usize, u64) {
        let arena = offset_of!(EachCall, arena);
        match self.registers.get(register as usize) {
            None => (arena, 0),
            Some(found) if found.region == Region::Input as u32 => {
                (offset_of!(EachCall, inputs), found.offset_bytes)
            }
            Some(found) => (arena, found.offset_bytes),
        }
    }

    /// The number of values of `words` words in a register.
    pub(crate) fn held(&self, register: u32, words: u32) -> u64 {
        let register = self.registers.get(register as usize);
        register.map_or(0, |register| u64::from(register.words / words))
    }
}
