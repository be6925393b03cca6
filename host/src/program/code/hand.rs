//! The form of each instruction: values in the accumulator, immediate values, and values in
//! temporaries.

use super::fold::measure_parts;
use super::steps::{Source, Step, ValueSpec, Written};
use seawall_core::abi::code::{Kind, Op};
use std::collections::{BTreeMap, BTreeSet};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Operand {
    AtHand,
    /// The number of the item, or the node at the other end of the edge.
    Number,
    /// Words of the instruction, an immediate value.
    Word(Kind),
    /// A value in a temporary.
    HeldFact(u32),
}

/// The form of the instruction of a step.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Shape {
    pub(super) op: Op,
    /// Its operands `a`, `b` and `c`.
    pub(super) from: [Option<Operand>; 3],
    pub(super) words: [u32; 2],
    /// Whether a later step uses its value.
    pub(super) is_asked: bool,
}

/// The forms of all steps. Drops steps whose values become immediate operands.
pub(super) fn shapes(written: &mut Written) -> Vec<Shape> {
    let sources: BTreeMap<u32, Source> = written
        .steps
        .iter()
        .filter_map(|step| Some((step.to?, step.source?)))
        .collect();
    let forms = Forms {
        values: &written.values,
        sources: &sources,
    };
    let made: BTreeSet<u32> = written
        .steps
        .iter()
        .flat_map(|step| forms.made_for(step))
        .collect();
    written
        .steps
        .retain(|step| step.source.is_none() || step.to.is_some_and(|to| made.contains(&to)));
    measure_parts(&mut written.steps);
    let mut hand = Hand { forms, value: None };
    let used: BTreeSet<u32> = written
        .steps
        .iter()
        .flat_map(|step| step.from.clone())
        .collect();
    let mut part = 0;
    let shape = |step: &Step| {
        if step.part != part || step.op == Op::Edges {
            (hand.value, part) = (None, step.part);
        }
        let mut shape = hand.shape(step);
        shape.is_asked = step.to.is_some_and(|to| used.contains(&to));
        hand.go_on(step, &shape);
        shape
    };
    written.steps.iter().map(shape).collect()
}

/// Finds the values that are immediate operands.
#[derive(Clone, Copy)]
struct Forms<'w> {
    values: &'w [ValueSpec],
    sources: &'w BTreeMap<u32, Source>,
}

impl Forms<'_> {
    /// The immediate operands of a step: one of its first two as a word, and the first one as a
    /// number.
    fn standing(&self, step: &Step) -> [Option<Operand>; 3] {
        let mut found = [None; 3];
        let source = |at: usize| self.sources.get(step.from.get(at)?);
        if let Some(Source::Words(low, _)) = source(1) {
            found[1] = self.word(step, 1, *low);
        }
        found[0] = match source(0) {
            Some(Source::Item) if step.part == 0 => Some(Operand::Number),
            Some(Source::Neighbour) => Some(Operand::Number),
            Some(Source::Words(low, _)) if found[1].is_none() => self.word(step, 0, *low),
            _ => None,
        };
        found
    }

    fn word(&self, step: &Step, at: usize, low: u32) -> Option<Operand> {
        let kind = self.values[step.from[at] as usize].kind;
        let fits = match step.op {
            // Its second word is a register.
            Op::Append => at == 1 && low == 1,
            _ => !step.op.uses_first() || kind != Kind::U64,
        };
        fits.then_some(Operand::Word(kind))
    }

    /// The values from sources that a step must load.
    fn made_for(&self, step: &Step) -> Vec<u32> {
        let standing = self.standing(step);
        let of = step.from.iter().zip(standing);
        let of = of.filter(|(id, standing)| standing.is_none() && self.sources.contains_key(id));
        of.map(|(id, _)| *id).collect()
    }

    /// The words of a step's instruction.
    fn words(&self, step: &Step, standing: [Option<Operand>; 3]) -> [u32; 2] {
        if let Some(Source::Words(low, high)) = step.source {
            return [low, high];
        }
        let is_word = |operand: &Option<Operand>| matches!(operand, Some(Operand::Word(_)));
        let word = standing.iter().position(is_word);
        let source = word.and_then(|at| self.sources.get(&step.from[at]));
        match source {
            Some(Source::Words(low, high)) if !step.op.uses_first() => [*low, *high],
            Some(Source::Words(low, _)) if step.op != Op::Append => [step.first, *low],
            _ => [step.first, step.second],
        }
    }
}

/// The accumulator while steps follow each other.
struct Hand<'w> {
    forms: Forms<'w>,
    value: Option<u32>,
}

impl Hand<'_> {
    fn shape(&self, step: &Step) -> Shape {
        let standing = self.forms.standing(step);
        let words = self.forms.words(step, standing);
        let at = |at: usize| {
            let held = step.from.get(at).map(|id| Operand::HeldFact(*id));
            standing[at].or(held)
        };
        let mut from = [at(0), at(1), at(2)];
        let is_at_hand = |from: Option<Operand>| match from {
            Some(Operand::HeldFact(id)) => self.value == Some(id),
            _ => false,
        };
        let mut op = step.op;
        match step.source {
            Some(Source::Words(..)) => {
                let kind = step.to.map(|to| self.forms.values[to as usize].kind);
                from[0] = Some(Operand::Word(kind.unwrap_or(Kind::U32)));
            }
            Some(Source::Item | Source::Neighbour) => from[0] = Some(Operand::Number),
            None => {}
        }
        let may_turn = !is_at_hand(from[0]) && from[0] != Some(Operand::Number);
        if let (true, true, Some(turned)) = (may_turn, is_at_hand(from[1]), op.turned()) {
            from.swap(0, 1);
            op = turned;
        }
        if is_at_hand(from[0]) {
            from[0] = Some(Operand::AtHand);
        }
        Shape {
            op,
            from,
            words,
            is_asked: false,
        }
    }

    /// Records the accumulator after a step.
    fn go_on(&mut self, step: &Step, shape: &Shape) {
        let makes = step.op != Op::Reduce && (step.op != Op::Scatter || shape.is_asked);
        if let Some(to) = step.to.filter(|_| makes) {
            self.value = Some(to);
            return;
        }
        self.value = match shape.from[0] {
            Some(Operand::HeldFact(id)) => Some(id),
            Some(Operand::AtHand) => self.value,
            _ => None,
        };
    }
}
