//! Allocation of temporaries for values, and instructions with their operands.
//!
//! A value that only the next step uses stays in the accumulator. Any other has a temporary from
//! the step that makes it to the last that uses it. A value that edges use keeps it beyond the end
//! of their part, which runs many times: not even the value of the part's last step may take it.

use super::fold::fold;
use super::hand::{Operand, Shape, shapes};
use super::steps::{Step, ValueSpec, Written};
use crate::program::error::CodeError;
use seawall_core::abi::code::{
    AT_HAND, Instruction, Kind, NEIGHBOUR, NOTHING, NUMBER, OF_EDGE, Op, PAIR, TEMPORARY, TEMPS,
    WORD,
};

/// Returns the instructions of the steps.
///
/// # Errors
/// [`CodeError::TooManyValues`] when there are more at a time than there are places.
pub(in crate::program) fn allocate(written: &mut Written) -> Result<Vec<Instruction>, CodeError> {
    fold(written);
    let shapes = shapes(written);
    let mut places = Places {
        last: last_uses(written, &shapes),
        values: &written.values,
        held: vec![None; written.values.len()],
        taken: [None; TEMPS as usize],
    };
    // Results of items are kept from the first step to the last.
    let mut folds = Vec::new();
    for step in written.steps.iter().filter(|step| step.op == Op::Fold) {
        let kind = step.joined.map_or(Kind::U32, |joined| joined.kind);
        folds.push(places.take(kind, usize::MAX)? | OF_EDGE | pair_of(kind));
    }
    let mut folds = folds.into_iter();
    let mut code = Vec::with_capacity(written.steps.len());
    let mut partials = Vec::new();
    for (at, step) in written.steps.iter().enumerate() {
        if step.op == Op::Edges {
            partials = places.open(written, at)?;
        }
        let found = match step.op {
            Op::Fold => folds.next(),
            Op::Reduce => (!partials.is_empty()).then(|| partials.remove(0)),
            _ => None,
        };
        code.push(places.step(step, &shapes[at], at, found)?);
    }
    Ok(code)
}

/// The last step that uses each value in a temporary; `None` for one that needs none.
fn last_uses(written: &Written, shapes: &[Shape]) -> Vec<Option<usize>> {
    let mut last: Vec<Option<usize>> = vec![None; written.values.len()];
    let mut end = None;
    for (at, (step, shape)) in written.steps.iter().zip(shapes).enumerate() {
        if step.op == Op::Edges {
            end = Some(at + step.second as usize);
        }
        let open = end.filter(|end| at <= *end);
        let held = shape.from.iter().filter_map(|from| match from {
            Some(Operand::HeldFact(id)) => Some(*id),
            _ => None,
        });
        for id in held {
            let of_item = written.values[id as usize].part == 0;
            let until = open.filter(|_| of_item).map_or(at, |end| end + 1);
            last[id as usize] = last[id as usize].max(Some(until));
        }
    }
    last
}

const fn pair_of(kind: Kind) -> u8 {
    match kind {
        Kind::U64 => PAIR,
        _ => 0,
    }
}

struct Places<'w> {
    values: &'w [ValueSpec],
    last: Vec<Option<usize>>,
    held: Vec<Option<u8>>,
    /// The last step that needs the value of each temporary.
    taken: [Option<usize>; TEMPS as usize],
}

impl Places<'_> {
    /// Takes temporaries for a value that is needed up to step `until`.
    fn take(&mut self, kind: Kind, until: usize) -> Result<u8, CodeError> {
        let words = kind.words() as usize;
        let free = |at: &usize| self.taken[*at..at + words].iter().all(Option::is_none);
        let at = (0..=self.taken.len() - words).find(free);
        let at = at.ok_or(CodeError::TooManyValues {
            most: u32::from(TEMPS),
        })?;
        self.taken[at..at + words].fill(Some(until));
        Ok(at as u8 | TEMPORARY)
    }

    /// Frees the temporaries that no step from `at` on needs.
    fn release(&mut self, at: usize) {
        for taken in &mut self.taken {
            *taken = taken.filter(|until| *until >= at);
        }
    }

    /// Allocates temporaries for the reductions of the part that begins at step `at`: for results
    /// of items, and for partial results of lanes, which it returns.
    fn open(&mut self, written: &Written, at: usize) -> Result<Vec<u8>, CodeError> {
        self.release(at);
        let end = at + written.steps[at].second as usize;
        let part = &written.steps[at..=end];
        let mut partials = Vec::new();
        for step in part.iter().filter(|step| step.op == Op::Reduce) {
            let Some(to) = step.to else { continue };
            let kind = self.values[to as usize].kind;
            let until = self.last[to as usize].unwrap_or(end).max(end);
            self.held[to as usize] = Some(self.take(kind, until)?);
            partials.push(self.take(kind, end)? | OF_EDGE | pair_of(kind));
        }
        Ok(partials)
    }

    /// The byte of a value that is in a temporary.
    fn of(&self, id: u32) -> u8 {
        let spec = &self.values[id as usize];
        let flag = if spec.part == 0 { 0 } else { OF_EDGE };
        self.held[id as usize].unwrap_or(TEMPORARY) | flag | pair_of(spec.kind)
    }

    fn step(
        &mut self,
        step: &Step,
        shape: &Shape,
        at: usize,
        found: Option<u8>,
    ) -> Result<Instruction, CodeError> {
        let byte = |from: Option<Operand>| match from {
            None | Some(Operand::AtHand) => NOTHING,
            Some(Operand::Number) if step.part == 0 => NUMBER,
            Some(Operand::Number) => NEIGHBOUR,
            Some(Operand::Word(kind)) => WORD | pair_of(kind),
            Some(Operand::HeldFact(id)) => self.of(id),
        };
        let [a, b, c] = shape.from;
        let mut temps = [NOTHING, byte(a), byte(b), byte(c)];
        if let Some(place) = found {
            temps[2] = place;
        }
        if let Some(joined) = step.joined {
            temps[3] = joined.to_word() as u8;
        } else if step.op.is_comparison() {
            temps[3] = step.outcome as u8;
        }
        // A value may take the temporary of a value that this step is the last to use.
        self.release(at + 1);
        if let Some(id) = step.to {
            temps[0] = self.target(id, shape)?;
        }
        Ok(Instruction {
            op: shape.op as u32,
            temps,
            first: shape.words[0],
            second: shape.words[1],
        })
    }

    /// The byte of the value that a step makes.
    fn target(&mut self, id: u32, shape: &Shape) -> Result<u8, CodeError> {
        let kind = self.values[id as usize].kind;
        if self.held[id as usize].is_none() {
            let Some(until) = self.last[id as usize] else {
                let is_asked = shape.op == Op::Scatter && shape.is_asked;
                return Ok(if is_asked {
                    AT_HAND | pair_of(kind)
                } else {
                    NOTHING
                });
            };
            self.held[id as usize] = Some(self.take(kind, until)?);
        }
        Ok(self.of(id))
    }
}
