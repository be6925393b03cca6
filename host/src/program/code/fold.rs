//! Steps that need fewer instructions: constants within the instructions that use them, and nothing
//! for values that nobody uses.

use super::steps::{Step, Written};
use seawall_core::abi::code::Op;
use std::collections::{BTreeMap, BTreeSet};

/// Folds constants into the steps that use them and drops values without a use.
pub(super) fn fold(written: &mut Written) {
    let steps = &mut written.steps;
    let constants: BTreeMap<u32, u32> = steps
        .iter()
        .filter(|step| step.op == Op::Constant)
        .filter_map(|step| Some((step.to?, step.first)))
        .collect();
    for step in steps.iter_mut().filter(|step| step.op.takes_word()) {
        take_constant(step, &constants);
    }
    drop_unused(steps);
}

fn take_constant(step: &mut Step, constants: &BTreeMap<u32, u32>) {
    let &[one, other] = step.from.as_slice() else {
        return;
    };
    let is_word = !matches!(step.op, Op::ShiftLeftWide | Op::ShiftRightWide);
    let (kept, word, at) = match (constants.get(&one), constants.get(&other)) {
        (_, Some(word)) => (one, *word, 1),
        (Some(word), None) if is_word => (other, *word, 0),
        _ => return,
    };
    step.from = vec![kept];
    (step.first, step.word) = (word, Some(at));
}

/// Drops steps that only make a value that no later one uses.
fn drop_unused(steps: &mut Vec<Step>) {
    let mut used = BTreeSet::new();
    let mut kept = vec![true; steps.len()];
    for (step, kept) in steps.iter().zip(&mut kept).rev() {
        let is_used = step.to.is_some_and(|to| used.contains(&to));
        *kept = is_used || !step.op.only_makes();
        if *kept {
            used.extend(step.from.iter().copied());
        }
    }
    for at in 0..steps.len() {
        if steps[at].op == Op::Edges {
            let end = at + 1 + steps[at].second as usize;
            let rest = kept[at + 1..end].iter().filter(|kept| **kept);
            steps[at].second = rest.count() as u32;
        }
    }
    let mut kept = kept.into_iter();
    steps.retain(|_| kept.next().unwrap_or(true));
}
