//! Places for values: which temporary holds which, and instructions that say so.
//!
//! A value has its place from the step that makes it to the last that uses it. One that
//! edges use keeps it beyond the end of their part, which runs many times: not even the value of
//! the part's last step may take it.

use super::fold::fold;
use super::steps::{Step, ValueSpec, Written};
use crate::program::error::CodeError;
use seawall_core::abi::code::{Instruction, Kind, NOBODY, OF_EDGE, Op, TEMPS, WORD};

/// The instructions of what was written.
///
/// # Errors
/// [`CodeError::TooManyValues`] when there are more at a time than there are places.
pub(in crate::program) fn allocate(written: &mut Written) -> Result<Vec<Instruction>, CodeError> {
    fold(written);
    let mut places = Places {
        last: last_uses(written),
        values: &written.values,
        held: vec![None; written.values.len()],
        taken: [None; TEMPS as usize],
    };
    // Results of items are kept from the first to the last.
    let mut folds = Vec::new();
    for step in written.steps.iter().filter(|step| step.op == Op::Fold) {
        let kind = written.values[step.from[0] as usize].kind;
        folds.push(places.take(kind, usize::MAX)?);
    }
    let mut folds = folds.into_iter();
    let mut code = Vec::with_capacity(written.steps.len());
    let mut partials = Vec::new();
    for (at, step) in written.steps.iter().enumerate() {
        if step.op == Op::Edges {
            partials = places.open(written, at)?;
        }
        let extra = match step.op {
            Op::Fold => folds.next(),
            Op::Reduce => (!partials.is_empty()).then(|| partials.remove(0)),
            _ => None,
        };
        code.push(places.step(step, at, extra)?);
    }
    Ok(code)
}

/// The last step that uses each value.
fn last_uses(written: &Written) -> Vec<usize> {
    let mut last = vec![0; written.values.len()];
    let mut end = None;
    for (at, step) in written.steps.iter().enumerate() {
        if step.op == Op::Edges {
            end = Some(at + step.second as usize);
        }
        let open = end.filter(|end| at <= *end);
        for id in &step.from {
            let of_item = written.values[*id as usize].part == 0;
            let until = open.filter(|_| of_item).map_or(at, |end| end + 1);
            last[*id as usize] = last[*id as usize].max(until);
        }
        if let Some(id) = step.to {
            last[id as usize] = last[id as usize].max(at);
        }
    }
    last
}

struct Places<'w> {
    values: &'w [ValueSpec],
    last: Vec<usize>,
    held: Vec<Option<u8>>,
    /// The last step that needs what each temporary holds.
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
        Ok(at as u8)
    }

    /// Gives back what no step from `at` on needs.
    fn release(&mut self, at: usize) {
        for taken in &mut self.taken {
            *taken = taken.filter(|until| *until >= at);
        }
    }

    /// Takes places for the reductions of the part that begins at step `at`: of what items
    /// come to, and of what lanes have found so far, which it returns.
    fn open(&mut self, written: &Written, at: usize) -> Result<Vec<u8>, CodeError> {
        self.release(at);
        let end = at + written.steps[at].second as usize;
        let part = &written.steps[at..=end];
        let mut partials = Vec::new();
        for step in part.iter().filter(|step| step.op == Op::Reduce) {
            let Some(to) = step.to else { continue };
            let kind = self.values[to as usize].kind;
            let until = self.last[to as usize].max(end);
            self.held[to as usize] = Some(self.take(kind, until)?);
            partials.push(self.take(kind, end)? | OF_EDGE);
        }
        Ok(partials)
    }

    /// The temporary of a value.
    fn of(&self, id: u32) -> u8 {
        let spec = &self.values[id as usize];
        let flag = if spec.part == 0 { 0 } else { OF_EDGE };
        self.held[id as usize].unwrap_or(0) | flag
    }

    fn step(
        &mut self,
        step: &Step,
        at: usize,
        extra: Option<u8>,
    ) -> Result<Instruction, CodeError> {
        let mut temps = [0; 4];
        let mut from = step.from.iter();
        for (at, temp) in temps[1..].iter_mut().enumerate() {
            *temp = match step.word {
                Some(word) if word == at => WORD,
                _ => from.next().map_or(0, |id| self.of(*id)),
            };
        }
        if let Some(place) = extra {
            temps[2] = place | OF_EDGE;
        }
        // A value may take the place of one that this step is the last to use.
        self.release(at + 1);
        let is_asked = |id: &u32| step.op != Op::Scatter || self.last[*id as usize] > at;
        if step.to.is_some() && step.to.filter(is_asked).is_none() {
            temps[0] = NOBODY;
        }
        if let Some(id) = step.to.filter(is_asked) {
            if self.held[id as usize].is_none() {
                let (kind, until) = (self.values[id as usize].kind, self.last[id as usize]);
                self.held[id as usize] = Some(self.take(kind, until)?);
            }
            temps[0] = self.of(id);
        }
        Ok(Instruction {
            op: step.op as u32,
            temps,
            first: step.first,
            second: step.second,
        })
    }
}
