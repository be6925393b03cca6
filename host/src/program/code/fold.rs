//! Optimisation of steps: no unused values, the number of an item once for all of its edges, and
//! comparisons fused with their decisions.

use super::steps::{Source, Step, ValueSpec, Written};
use seawall_core::abi::code::{Kind, Op, Outcome};
use std::collections::{BTreeMap, BTreeSet};

/// Drops unused values, moves numbers of items out of edge parts, and fuses comparisons with their
/// decisions.
pub(super) fn fold(written: &mut Written) {
    number_items(written);
    turn(&mut written.steps);
    drop_unused(&mut written.steps);
    decide(&mut written.steps);
    measure_parts(&mut written.steps);
}

/// Lets edges use the number of their item as it was taken before their part.
fn number_items(written: &mut Written) {
    let Written { steps, values, .. } = written;
    let mut number = None;
    let mut renamed = BTreeMap::new();
    let mut all = Vec::with_capacity(steps.len() + 1);
    for step in steps.drain(..) {
        let is_number = step.source == Some(Source::Item);
        if let (true, Some(to)) = (is_number, step.to) {
            if step.part == 0 {
                number = number.or(Some(to));
                all.push(step);
                continue;
            }
            let taken = number.unwrap_or_else(|| take_number(&mut all, values));
            number = Some(taken);
            renamed.insert(to, taken);
            continue;
        }
        all.push(step);
    }
    for step in &mut all {
        for from in &mut step.from {
            *from = renamed.get(from).copied().unwrap_or(*from);
        }
    }
    *steps = all;
}

/// Takes the number of the item before the part that is the last one of `steps`.
fn take_number(steps: &mut Vec<Step>, values: &mut Vec<ValueSpec>) -> u32 {
    let (kind, part) = (Kind::U32, 0);
    values.push(ValueSpec { kind, part });
    let to = values.len() as u32 - 1;
    let begin = steps.iter().rposition(|step| step.op == Op::Edges);
    let step = Step {
        to: Some(to),
        ..Step::taking(Source::Item)
    };
    steps.insert(begin.unwrap_or(steps.len()), step);
    to
}

/// Swaps operands of commutative operations so that numbers come first and words last.
fn turn(steps: &mut [Step]) {
    let sources: BTreeMap<u32, Source> = steps
        .iter()
        .filter_map(|step| Some((step.to?, step.source?)))
        .collect();
    for step in steps {
        let &[one, other] = step.from.as_slice() else {
            continue;
        };
        let rank = |id| match sources.get(&id) {
            Some(Source::Item | Source::Neighbour) => 0,
            None => 1,
            Some(Source::Words(..)) => 2,
        };
        let turned = step.op.turned().filter(|_| rank(one) > rank(other));
        if let Some(turned) = turned {
            (step.op, step.from) = (turned, vec![other, one]);
        }
    }
}

/// Drops steps that only make a value that no later step uses.
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
    let mut kept = kept.into_iter();
    steps.retain(|_| kept.next().unwrap_or(true));
}

/// Fuses a comparison with the next step, if that is its only use and decides about the item, the
/// edge or the row.
fn decide(steps: &mut Vec<Step>) {
    let mut uses = BTreeMap::new();
    for id in steps.iter().flat_map(|step| &step.from) {
        *uses.entry(*id).or_insert(0_u32) += 1;
    }
    let mut all: Vec<Step> = Vec::with_capacity(steps.len());
    for step in steps.drain(..) {
        let outcome = match step.op {
            Op::Only => Outcome::Only,
            Op::Until => Outcome::Until,
            _ => Outcome::Value,
        };
        let before = all.last_mut().filter(|before| {
            let is_used = before.to.is_some() && before.to == step.from.first().copied();
            let is_alone = before.to.is_some_and(|to| uses.get(&to) == Some(&1));
            before.op.is_comparison() && is_used && is_alone
        });
        match before {
            Some(before) if outcome != Outcome::Value => {
                (before.to, before.outcome) = (None, outcome);
            }
            _ => all.push(step),
        }
    }
    *steps = all;
}

/// Records the lengths of edge parts.
pub(super) fn measure_parts(steps: &mut [Step]) {
    let mut length = 0;
    for step in steps.iter_mut().rev() {
        if step.op == Op::Edges {
            (step.second, length) = (length, 0);
        } else if step.part != 0 {
            length += 1;
        }
    }
}
