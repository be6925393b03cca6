//! One way from a source to a sink.

use super::flow::Flows;
use super::reach::Reach;
use super::spec::Spec;
use crate::finding::{Place, Step};
use crate::model::Kind;
use crate::order::Rows;
use crate::values::{NONE, Whole};
use hashbrown::HashMap;
use std::collections::VecDeque;

/// Searches a way back from a sink.
pub(super) struct Way<'a> {
    pub(super) whole: &'a Whole<'a>,
    /// The flows the other way round.
    pub(super) back: &'a Flows,
    /// All values that the source reaches.
    pub(super) reach: &'a Reach,
    pub(super) source: &'a Spec,
}

/// A shortest way back from `from` over `rows`, along values for which `is_on_the_way` holds, to one
/// for which `is_end` holds. The way is returned from that end on.
fn back(
    rows: [&Rows; 2],
    from: u32,
    is_on_the_way: &dyn Fn(u32) -> bool,
    is_end: &dyn Fn(u32) -> bool,
) -> Vec<u32> {
    let mut next: HashMap<u32, u32> = HashMap::new();
    next.insert(from, NONE);
    let mut open = VecDeque::from([from]);
    while let Some(value) = open.pop_front() {
        if is_end(value) {
            let mut way = vec![value];
            let mut at = value;
            while let Some(after) = next.get(&at).filter(|after| **after != NONE) {
                at = *after;
                way.push(at);
            }
            return way;
        }
        for before in rows.iter().flat_map(|rows| rows.row(value as usize)) {
            if is_on_the_way(*before) && !next.contains_key(before) {
                next.insert(*before, value);
                open.push_back(*before);
            }
        }
    }
    Vec::new()
}

impl Way<'_> {
    /// The steps from the source to a value. Costs two searches.
    pub(super) fn steps(&self, value: u32, sink: &Place) -> Vec<Step> {
        let Self {
            back: flows, reach, ..
        } = self;
        let risen = |value: u32| reach.has_risen(value);
        let down = back(
            [&flows.along, &flows.down],
            value,
            &|value| reach.has(value),
            &risen,
        );
        let Some(turn) = down.first() else {
            return Vec::new();
        };
        let is_seed = |value: u32| reach.is_seed(value);
        let mut way = back([&flows.along, &flows.up], *turn, &risen, &is_seed);
        way.extend(down.iter().skip(1));
        let mut steps = Vec::new();
        for (at, value) in way.iter().enumerate() {
            let step = if at == 0 {
                Some((self.place(*value), format!("data of {}", self.source)))
            } else {
                self.step(*value)
            };
            if let Some((Some(place), what)) = step {
                steps.push(Step { place, what });
            }
        }
        steps.push(Step {
            place: sink.clone(),
            what: "the sink".to_owned(),
        });
        steps
    }

    /// The place of a value; `None` for a dispatch.
    fn place(&self, value: u32) -> Option<Place> {
        let (node, own) = self.whole.owner(value);
        let function = self.whole.program.functions.get(node as usize)?;
        let op = self.whole.values[node as usize].ops[own as usize];
        let offset = function.body.ops.get(op as usize).map(|op| op.offset);
        Some(Place::of(&self.whole.program, node as usize, offset))
    }

    /// Description of a value on the way, if it is more than arithmetic.
    fn step(&self, value: u32) -> Option<(Option<Place>, String)> {
        let (node, own) = self.whole.owner(value);
        let values = &self.whole.values[node as usize];
        let function = self.whole.program.functions.get(node as usize)?;
        let what = if own < values.inputs {
            match own < function.parameters {
                true => format!("comes in as parameter {own}"),
                false => "comes in by a global or memory".to_owned(),
            }
        } else if own < values.inputs + values.outputs {
            match own - values.inputs < function.results {
                true => "is returned".to_owned(),
                false => "is left in a global or memory".to_owned(),
            }
        } else {
            let op = function.body.ops.get(values.ops[own as usize] as usize)?;
            match op.kind() {
                Kind::Load => "is loaded from memory".to_owned(),
                Kind::Store => "is stored in memory".to_owned(),
                Kind::Update => "passes memory".to_owned(),
                Kind::Call | Kind::Indirect => "comes out of the call".to_owned(),
                _ => return None,
            }
        };
        Some((self.place(value), what))
    }
}
