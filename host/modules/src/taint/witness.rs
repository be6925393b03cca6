//! One way from a source to a sink.

use super::ends::{Argument, Ends};
use super::reach::Reached;
use super::spec::Spec;
use super::summary::bit;
use crate::finding::{Place, Step};
use crate::model::Kind;
use crate::values::{Detail, NONE, owner};
use std::collections::VecDeque;

/// Most values of functions that are kept in detail.
const KEPT_MAX: usize = 1 << 23;

/// A value in detail: the node of the call graph, and its number there.
pub(super) type Value = (u32, u32);

/// Functions in detail, as ways needed them, and memory of searches.
#[derive(Default)]
pub(super) struct Details {
    /// By node.
    nodes: Vec<Option<Box<Detail>>>,
    /// Number of their values.
    values: usize,
    /// The value after each one on a way back, itself at the end; [`NONE`] for those not seen.
    next: Vec<u32>,
    seen: Vec<u32>,
}

/// Searches a way back from a sink, through all values of the functions on it.
pub(super) struct Way<'a> {
    pub(super) ends: &'a Ends<'a>,
    /// Inputs that values depend on.
    pub(super) summaries: &'a [u64],
    /// All values that the source reaches.
    pub(super) reach: &'a dyn Reached,
    pub(super) source: &'a Spec,
    pub(super) details: &'a mut Details,
}

/// The part of a way that is searched, from its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part {
    /// Down into callees, from where data came without that.
    Down,
    /// From the source up to callers.
    Up,
}

impl Way<'_> {
    /// The values from the source to an argument of a call; none if data does not get there. Costs
    /// two searches.
    pub(super) fn values(&mut self, site: u32, input: u32) -> Vec<(Value, Part)> {
        self.clear();
        let (node, at) = self.ends.sites[site as usize];
        let value = self.detail(node).values.sites[at as usize].ins[input as usize];
        let down = self.back((node, value), Part::Down);
        let Some(turn) = down.first() else {
            return Vec::new();
        };
        let up = self.back(*turn, Part::Up).into_iter();
        let down = down.into_iter().skip(1).map(|value| (value, Part::Down));
        up.map(|value| (value, Part::Up)).chain(down).collect()
    }

    /// The steps from the source to an argument of a call.
    pub(super) fn steps(&mut self, argument: &Argument, sink: &Place) -> Vec<Step> {
        let way = self.values(argument.site, argument.input);
        if way.is_empty() {
            return Vec::new();
        }
        let mut steps = Vec::new();
        for (at, (value, _)) in way.iter().enumerate() {
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

    fn detail(&mut self, node: u32) -> &Detail {
        let details = &mut *self.details;
        details.nodes[node as usize].get_or_insert_with(|| {
            let detail = self.ends.whole.detail(node);
            details.values += detail.kept.len();
            Box::new(detail)
        })
    }

    /// Makes place for a search, and forgets the one before.
    fn clear(&mut self) {
        let whole = &self.ends.whole;
        let details = &mut *self.details;
        if details.values > KEPT_MAX {
            details.nodes.clear();
            details.values = 0;
        }
        details.nodes.resize_with(whole.values.len(), || None);
        for seen in details.seen.drain(..) {
            details.next[seen as usize] = NONE;
        }
        let count = whole.first_detail.last().copied().unwrap_or(0);
        details.next.resize(count as usize, NONE);
    }

    /// The number of a value among those of all functions in detail.
    fn number(&self, (node, own): Value) -> u32 {
        self.ends.whole.first_detail[node as usize] + own
    }

    /// Puts a value before another one on the way, unless it was seen.
    fn see(&mut self, value: Value, after: u32) -> bool {
        let number = self.number(value);
        let next = &mut self.details.next[number as usize];
        let is_new = *next == NONE;
        if is_new {
            *next = after;
            self.details.seen.push(number);
        }
        is_new
    }

    /// A shortest way back from a value to where a part of it begins, from that on.
    fn back(&mut self, from: Value, part: Part) -> Vec<Value> {
        self.clear();
        self.see(from, self.number(from));
        let mut open = VecDeque::from([from]);
        let mut before = Vec::new();
        while let Some(value) = open.pop_front() {
            let number = self.number(value);
            if self.is_start(value, part) {
                let after = |value: &u32| {
                    let after = self.details.next[*value as usize];
                    (after != *value).then_some(after)
                };
                let way = std::iter::successors(Some(number), after);
                let firsts = &self.ends.whole.first_detail;
                return way.map(|number| owner(firsts, number)).collect();
            }
            self.before(value, part, &mut before);
            for before in before.drain(..) {
                if self.is_on_the_way(before, part) && self.see(before, number) {
                    open.push_back(before);
                }
            }
        }
        Vec::new()
    }

    /// The value that stands for one in a search. Inputs and outputs stand for themselves.
    fn kept(&mut self, (node, own): Value) -> Option<u32> {
        let values = &self.ends.whole.values[node as usize];
        let kept = match own < values.inputs + values.outputs {
            true => own,
            false => self.detail(node).kept[own as usize],
        };
        (kept != NONE).then(|| self.ends.whole.value(node, kept))
    }

    fn is_on_the_way(&mut self, value: Value, part: Part) -> bool {
        let kept = self.kept(value);
        kept.is_some_and(|kept| match part {
            Part::Down => self.reach.has(kept),
            Part::Up => self.reach.has_risen(kept),
        })
    }

    fn is_start(&mut self, (node, own): Value, part: Part) -> bool {
        match part {
            Part::Down => self.is_on_the_way((node, own), Part::Up),
            Part::Up if self.source.is_load() => {
                let detail = self.detail(node);
                detail.values.loads.binary_search(&own).is_ok()
            }
            // A copy of a parameter is not where its data begins.
            Part::Up => {
                let whole = &self.ends.whole;
                let values = &whole.values[node as usize];
                let is_interface = own < values.inputs + values.outputs;
                is_interface && self.reach.is_seed(whole.value(node, own))
            }
        }
    }

    /// Lists the values whose data gets to one.
    fn before(&mut self, (node, own): Value, part: Part, found: &mut Vec<Value>) {
        let (whole, summaries) = (&self.ends.whole, self.summaries);
        let detail = self.detail(node);
        let values = &detail.values;
        let row = detail.before.row(own as usize);
        found.extend(row.iter().map(|before| (node, *before)));
        let made = values.site_of(own);
        if let Some((site, number)) = made {
            let output = whole.output(site.callee, number);
            let word = output.map_or(0, |output| summaries[output as usize]);
            let ins = (0..).zip(&site.ins);
            let ins = ins.filter(|(input, value)| **value != NONE && word >> bit(*input) & 1 == 1);
            found.extend(ins.map(|(_, value)| (node, *value)));
            found.sort_unstable();
        }
        let across = found.len();
        match part {
            Part::Up => {
                if let Some((site, number)) = made {
                    let callee = &whole.values[site.callee as usize];
                    let output = number < callee.outputs;
                    found.extend(output.then(|| (site.callee, callee.output(number))));
                }
                self.add_targets((node, own), found);
            }
            Part::Down if own < whole.values[node as usize].inputs => {
                self.add_arguments((node, own), found);
            }
            Part::Down => {}
        }
        found[across..].sort_unstable();
    }

    /// Adds the outputs of the functions that a dispatch calls.
    fn add_targets(&self, (node, own): Value, found: &mut Vec<Value>) {
        let (calls, values) = (&self.ends.whole.calls, &self.ends.whole.values);
        let number = own.checked_sub(values[node as usize].inputs);
        if let Some(number) = number.filter(|_| node as usize >= calls.functions) {
            let targets = calls.callees.row(node as usize).iter();
            let targets = targets.filter(|target| number < values[**target as usize].outputs);
            found.extend(targets.map(|target| (*target, values[*target as usize].output(number))));
        }
    }

    /// Adds what callers pass as an input.
    fn add_arguments(&mut self, (node, input): Value, found: &mut Vec<Value>) {
        for site in self.ends.sites_of.row(node as usize) {
            let (caller, at) = self.ends.sites[*site as usize];
            let condensed = &self.ends.whole.values[caller as usize].sites[at as usize];
            let kept = condensed.ins.get(input as usize).copied();
            let kept = kept.filter(|kept| *kept != NONE);
            // Only functions that data gets to are looked at in detail.
            if kept.is_some_and(|kept| self.reach.has(self.ends.whole.value(caller, kept))) {
                let detail = self.detail(caller);
                let ins = &detail.values.sites[at as usize].ins;
                found.extend(ins.get(input as usize).map(|value| (caller, *value)));
            }
        }
        let has_input = |node: &u32| input < self.ends.whole.values[*node as usize].inputs;
        let dispatches = self.ends.dispatches(node).filter(has_input);
        found.extend(dispatches.map(|dispatch| (dispatch, input)));
    }

    /// The place of a value; `None` for a dispatch.
    fn place(&mut self, (node, own): Value) -> Option<Place> {
        let function = self.ends.whole.program.functions.get(node as usize)?;
        let op = self.detail(node).values.ops[own as usize];
        let offset = function.body.ops.get(op as usize).map(|op| op.offset);
        Some(Place::of(self.ends.program(), node as usize, offset))
    }

    /// Description of a value on the way, if it is more than arithmetic.
    fn step(&mut self, value: Value) -> Option<(Option<Place>, String)> {
        let (node, own) = value;
        let function = self.ends.whole.program.functions.get(node as usize)?;
        let values = &self.detail(node).values;
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
