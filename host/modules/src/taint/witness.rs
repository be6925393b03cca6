//! One way from a source to a sink.
//!
//! A way is searched among the inputs and outputs of functions: data comes down into a callee by an
//! input, which has a bit in the summary of an argument, and goes up to a caller by an output. Of
//! all ways it is one that goes down into the fewest callees, and to where it does so, up to the
//! fewest callers, which is searched from both ends. Inside of a function it takes the fewest flows
//! among all values, which are made anew for the functions on it alone.

use super::ends::{Argument, Ends};
use super::reach::Reached;
use super::spec::Spec;
use super::summary::{bit, inputs_of};
use crate::finding::{Place, Step};
use crate::model::Kind;
use crate::values::{Detail, NONE};
use hashbrown::HashMap;
use hashbrown::hash_map::Entry;
use std::collections::VecDeque;
use std::rc::Rc;

/// Most values of functions that are kept in detail.
const KEPT_MAX: usize = 1 << 23;

/// A value in detail: the node of the call graph, and its number there.
pub(super) type Value = (u32, u32);

/// Functions in detail, as ways needed them.
#[derive(Default)]
pub(super) struct Details {
    by_node: HashMap<u32, Detail>,
    /// Number of their values.
    values: usize,
}

/// Searches a way from a source to a sink.
pub(super) struct Way<'a> {
    pub(super) ends: &'a Ends<'a>,
    /// Inputs that values depend on.
    pub(super) summaries: &'a [u64],
    /// All values that the source reaches.
    pub(super) reach: &'a dyn Reached,
    /// Number of the source among those that were followed.
    pub(super) number: u32,
    pub(super) source: &'a Spec,
    pub(super) details: &'a mut Details,
}

/// The part of a way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part {
    /// Down into callees, from where data came without that.
    Down,
    /// From the source up to callers.
    Up,
}

/// How data goes on from an input of a function on its way down.
#[derive(Clone, Copy)]
enum Down {
    /// As an argument of a call: its number, and that of the argument.
    Argument(u32, u32),
    /// Into a target of the dispatch.
    Target(u32),
}

/// A search for a way down, back from an argument.
#[derive(Default)]
struct Falling {
    /// How data goes on from each input, and the input that it gets to so.
    next: HashMap<Value, (Down, Option<Value>)>,
    open: VecDeque<Value>,
    /// Whether data comes to a function without going down into it, and the number of inputs that it
    /// comes by and that were not seen; by function, once it was looked at.
    callers: Vec<Option<(bool, u32)>>,
}

impl Falling {
    fn see(&mut self, input: Value, step: (Down, Option<Value>)) {
        if let Entry::Vacant(new) = self.next.entry(input) {
            new.insert(step);
            self.open.push_back(input);
            if let Some((_, unseen)) = &mut self.callers[input.0 as usize] {
                *unseen -= 1;
            }
        }
    }
}

/// A value that data gets to another one from, on its way up: an output of a callee, or where the
/// data begins.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Feed {
    /// The output, in the numbering of all values; [`NONE`] for the beginning.
    from: u32,
    /// Number of the call that the output comes out of; [`NONE`] for a dispatch and its target. For
    /// a beginning, the value.
    via: u32,
}

/// One end of a search for a way up.
struct Side {
    /// For each value, the next one towards this end, how it comes there, and their distance.
    seen: HashMap<u32, (u32, u32, u32)>,
    open: Vec<u32>,
}

impl Side {
    fn new(end: u32) -> Self {
        Self {
            seen: HashMap::from([(end, (end, NONE, 0))]),
            open: vec![end],
        }
    }
}

/// A search for a way up to a value.
struct Up<'w, 'a> {
    way: &'w Way<'a>,
    /// The value, in the numbering of all.
    to: u32,
    /// Feeds of outputs and of the value.
    feeds: HashMap<u32, Rc<[Feed]>>,
}

impl Way<'_> {
    /// The values from the source to an argument of a call; none if data does not get there.
    pub(super) fn values(&mut self, site: u32, input: u32) -> Vec<(Value, Part)> {
        let Some(down) = self.down(site, input) else {
            return Vec::new();
        };
        let mut way = Vec::new();
        let mut entered: Option<Value> = None;
        for step in down {
            match step {
                Down::Target(target) => {
                    entered = entered.map(|(_, input)| (target, input));
                    way.extend(entered.map(|input| (input, Part::Down)));
                }
                Down::Argument(site, input) => {
                    let argument = self.argument(site, input);
                    let values = match entered {
                        Some((_, from)) => self.inside(argument, |_, own| own == from),
                        None => self.up(argument, site, input),
                    };
                    let part = entered.map_or(Part::Up, |_| Part::Down);
                    // The input is there already.
                    let new = usize::from(entered.is_some());
                    way.extend(values.into_iter().skip(new).map(|value| (value, part)));
                    let callee = (self.ends.site(site).1.callee, input);
                    entered = Some(callee);
                    way.push((callee, Part::Down));
                }
            }
        }
        way.pop();
        way
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
        let Details { by_node, values } = &mut *self.details;
        if *values > KEPT_MAX && !by_node.contains_key(&node) {
            by_node.clear();
            *values = 0;
        }
        by_node.entry(node).or_insert_with(|| {
            let detail = self.ends.whole.detail(node);
            *values += detail.kept.len();
            detail
        })
    }

    /// An argument of a call.
    fn argument(&mut self, site: u32, input: u32) -> Value {
        let (node, at) = self.ends.sites[site as usize];
        (node, self.detail(node).ins(at)[input as usize])
    }

    /// The same where values are condensed; `None` if it is not followed.
    fn kept(&self, site: u32, input: u32) -> Option<Value> {
        let (node, site) = self.ends.site(site);
        let ins = self.ends.whole.values[node as usize].ins(site);
        let own = ins.get(input as usize).copied();
        own.filter(|own| *own != NONE).map(|own| (node, own))
    }

    /// How data goes down to an argument, from where it came without that.
    fn down(&self, site: u32, input: u32) -> Option<Vec<Down>> {
        let mut search = Falling::default();
        search.callers.resize(self.ends.whole.values.len(), None);
        let mut turn = self.turns(site, input, None, &mut search);
        while let (None, Some((node, input))) = (turn, search.open.pop_front()) {
            let after = Some((node, input));
            let mut sites = self.ends.sites_of.row(node as usize).iter();
            turn = sites.find_map(|site| self.turns(*site, input, after, &mut search));
            for dispatch in self.ends.dispatches(node) {
                if self.has((dispatch, input)) {
                    search.see((dispatch, input), (Down::Target(node), after));
                }
            }
        }
        let (mut step, mut after) = turn?;
        let mut down = vec![step];
        while let Some(input) = after {
            (step, after) = search.next[&input];
            down.push(step);
        }
        Some(down)
    }

    /// Whether data came to an argument without going down into its function: then it goes down
    /// there. Else the inputs that it came by are looked at next.
    fn turns(
        &self,
        site: u32,
        input: u32,
        after: Option<Value>,
        search: &mut Falling,
    ) -> Option<(Down, Option<Value>)> {
        let whole = &self.ends.whole;
        let (node, _) = self.ends.sites[site as usize];
        let inputs = whole.inputs(node).len() as u32;
        let (rises, unseen) = *search.callers[node as usize].get_or_insert_with(|| {
            let mut range = whole.range(node);
            let rises = range.any(|value| self.has_risen(value as u32));
            let has = |input: &u32| {
                self.has((node, *input)) && !search.next.contains_key(&(node, *input))
            };
            (rises, (0..inputs).filter(has).count() as u32)
        });
        if !rises && unseen == 0 {
            return None;
        }
        let (_, own) = self.kept(site, input)?;
        let value = whole.value(node, own);
        let step = (Down::Argument(site, input), after);
        if rises && self.has_risen(value) {
            return Some(step);
        }
        let mut add = |input: u32| {
            if self.has((node, input)) {
                search.see((node, input), step);
            }
        };
        let word = self.summaries[value as usize];
        if word >> 63 == 0 {
            inputs_of(word, inputs).for_each(add);
        } else {
            // Inputs share a bit.
            let before = self.before((node, own), |own, _| self.has((node, own)));
            before
                .into_iter()
                .filter(|own| *own < inputs)
                .for_each(&mut add);
        }
        None
    }

    /// Condensed values of a function that data gets to one from, nearest first, of those that
    /// `passes` takes.
    fn before(&self, (node, own): Value, passes: impl Fn(u32, u32) -> bool) -> Vec<u32> {
        let whole = &self.ends.whole;
        let values = &whole.values[node as usize];
        let mut seen = vec![false; whole.range(node).len()];
        seen[own as usize] = true;
        let mut found = vec![own];
        let mut at = 0;
        while let Some(own) = found.get(at).copied() {
            at += 1;
            let mut add = |before: u32| {
                if !seen[before as usize] && passes(before, whole.value(node, before)) {
                    seen[before as usize] = true;
                    found.push(before);
                }
            };
            values.before(own).for_each(&mut add);
            if let Some(made) = values.result(own) {
                let site = &values.sites[made.site as usize];
                let output = whole.output(site.callee, made.number);
                let word = output.map_or(0, |output| self.summaries[output as usize]);
                let ins = (0..).zip(values.ins(site));
                let ins = ins.filter(|(input, own)| **own != NONE && word >> bit(*input) & 1 == 1);
                ins.for_each(|(_, own)| add(*own));
            }
        }
        found
    }

    /// The values from the source up to an argument of a call.
    fn up(&mut self, argument: Value, site: u32, input: u32) -> Vec<Value> {
        let whole = &self.ends.whole;
        let Some((node, own)) = self.kept(site, input) else {
            return Vec::new();
        };
        let to = whole.value(node, own);
        let way = Up {
            way: self,
            to,
            feeds: HashMap::new(),
        }
        .search();
        let mut values = Vec::new();
        for (Feed { from, via }, after) in way {
            let (node, own) = whole.owner(after);
            let end = if after == to { argument } else { (node, own) };
            if from == NONE {
                let (_, own) = whole.owner(via);
                let is_interface = own < whole.interface_of(node);
                values.extend(self.inside(end, |detail, one| match is_interface {
                    // A copy of a parameter is not where its data begins.
                    true => one == own,
                    false => {
                        let is_load = detail.values.loads.binary_search(&one).is_ok();
                        is_load && detail.kept[one as usize] == own
                    }
                }));
            } else if via == NONE {
                values.push(end);
            } else {
                let (callee, output) = whole.owner(from);
                let number = output - whole.inputs(callee).len() as u32;
                let at = self.ends.sites[via as usize].1;
                let made = self.detail(node).values.sites[at as usize].outs().start + number;
                values.extend(self.inside(end, |_, own| own == made));
            }
        }
        values
    }

    /// A shortest way inside of a function from a value that it may begin at to one, both included.
    fn inside(&mut self, (node, to): Value, begins: impl Fn(&Detail, u32) -> bool) -> Vec<Value> {
        let (ends, summaries) = (self.ends, self.summaries);
        let detail = self.detail(node);
        let mut next: HashMap<u32, u32> = HashMap::from([(to, to)]);
        let mut open = VecDeque::from([to]);
        let mut before = Vec::new();
        while let Some(own) = open.pop_front() {
            if begins(detail, own) {
                let after = |own: &u32| Some(next[own]).filter(|after| after != own);
                let way = std::iter::successors(Some(own), after);
                return way.map(|own| (node, own)).collect();
            }
            before.extend(detail.before.row(own as usize));
            if let Some((site, number)) = detail.values.site_of(own) {
                let output = ends.whole.output(site.callee, number);
                let word = output.map_or(0, |output| summaries[output as usize]);
                let ins = (0..).zip(detail.values.ins(site));
                let ins = ins.filter(|(input, own)| **own != NONE && word >> bit(*input) & 1 == 1);
                before.extend(ins.map(|(_, own)| *own));
            }
            before.sort_unstable();
            for before in before.drain(..) {
                next.entry(before).or_insert_with(|| {
                    open.push_back(before);
                    own
                });
            }
        }
        Vec::new()
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

impl Up<'_, '_> {
    /// The feeds from the source to the value, each with the value that it feeds: of the fewest.
    fn search(&mut self) -> Vec<(Feed, u32)> {
        let mut sides = [Side::new(NONE), Side::new(self.to)];
        let meeting = loop {
            let costs = [self.cost_on(&sides[0].open), self.cost_back(&sides[1].open)];
            let near = usize::from(costs[1] < costs[0]);
            if sides[near].open.is_empty() {
                return Vec::new();
            }
            if let Some(meeting) = self.advance(&mut sides, near) {
                break meeting;
            }
        };
        let mut way = Vec::new();
        let mut at = meeting;
        while at != NONE {
            let (before, via, _) = sides[0].seen[&at];
            way.push((Feed { from: before, via }, at));
            at = before;
        }
        way.reverse();
        at = meeting;
        while at != self.to {
            let (after, via, _) = sides[1].seen[&at];
            way.push((Feed { from: at, via }, after));
            at = after;
        }
        way
    }

    /// Takes all values that are one feed further from an end; returns one that is nearest to the
    /// other end, if there is one that a way leads from to there.
    fn advance(&mut self, sides: &mut [Side; 2], near: usize) -> Option<u32> {
        let mut meeting = None;
        let mut found = Vec::new();
        let open = std::mem::take(&mut sides[near].open);
        for at in open {
            match near {
                0 => self.fed_by(at, &mut found),
                _ => found.extend(self.feeds(at).iter().map(|feed| (feed.from, feed.via))),
            }
            for (value, via) in found.drain(..) {
                let distance = sides[near].seen[&at].2 + 1;
                let side = &mut sides[near];
                if let Entry::Vacant(new) = side.seen.entry(value) {
                    new.insert((at, via, distance));
                    side.open.push(value);
                    let other = sides[1 - near].seen.get(&value);
                    let other = other.map(|(.., distance)| (*distance, value));
                    meeting = meeting.into_iter().chain(other).min();
                }
            }
        }
        meeting.map(|(_, value)| value)
    }

    /// Values of functions that are looked at to find what values feed.
    fn cost_on(&self, open: &[u32]) -> usize {
        let ends = self.way.ends;
        let size = |node: u32| ends.whole.range(node).len();
        let of_value = |value: &u32| -> usize {
            if *value == NONE {
                let seeds = self.way.seeds().iter();
                return seeds.map(|seed| size(ends.whole.owner(*seed).0)).sum();
            }
            let sites = ends
                .sites_of
                .row(ends.whole.owner(*value).0 as usize)
                .iter();
            sites.map(|site| size(ends.sites[*site as usize].0)).sum()
        };
        open.iter().map(of_value).sum()
    }

    /// Values of functions that are looked at to find what feeds values.
    fn cost_back(&self, open: &[u32]) -> usize {
        let whole = &self.way.ends.whole;
        let known = open.iter().filter(|value| !self.feeds.contains_key(*value));
        known
            .map(|value| whole.range(whole.owner(*value).0).len())
            .sum()
    }

    /// All that feeds an output, or the value at the end.
    fn feeds(&mut self, value: u32) -> Rc<[Feed]> {
        if value == NONE {
            return Rc::default();
        }
        let way = self.way;
        let feeds = self.feeds.entry(value);
        Rc::clone(feeds.or_insert_with(|| way.feeds(value).into()))
    }

    /// All that the source, or an output, feeds, and how.
    fn fed_by(&mut self, from: u32, found: &mut Vec<(u32, u32)>) {
        let ends = self.way.ends;
        if from == NONE {
            let mut last = NONE;
            for seed in self.way.seeds() {
                let (node, _) = ends.whole.owner(*seed);
                if std::mem::replace(&mut last, node) != node {
                    self.fed_in(node, from, None, found);
                }
            }
            return;
        }
        let (node, own) = ends.whole.owner(from);
        for site in ends.sites_of.row(node as usize) {
            self.fed_in(ends.sites[*site as usize].0, from, Some(*site), found);
        }
        let number = own - ends.whole.inputs(node).len() as u32;
        let outputs = ends
            .dispatches(node)
            .filter_map(|one| ends.whole.output(one, number));
        found.extend(outputs.map(|output| (output, NONE)));
    }

    /// Values of a function that the source, or an output by a call, feeds.
    fn fed_in(&mut self, node: u32, from: u32, via: Option<u32>, found: &mut Vec<(u32, u32)>) {
        let whole = &self.way.ends.whole;
        let outputs =
            (0..whole.outputs(node).len() as u32).filter_map(|one| whole.output(node, one));
        let own = Some(self.to).filter(|to| whole.range(node).contains(&(*to as usize)));
        for value in outputs.chain(own) {
            if self.way.has_risen(value) {
                let is_from =
                    |feed: &&Feed| feed.from == from && via.is_none_or(|via| via == feed.via);
                let feed = self.feeds(value).iter().find(is_from).copied();
                found.extend(feed.map(|feed| (value, feed.via)));
            }
        }
    }
}

impl Way<'_> {
    /// Values where data of the source begins.
    fn seeds(&self) -> &[u32] {
        self.reach.seeds(self.number)
    }

    fn has_risen(&self, value: u32) -> bool {
        self.reach.has_risen(self.number, value)
    }

    fn has(&self, (node, own): Value) -> bool {
        let value = self.ends.whole.value(node, own);
        self.reach.sources(value, (node, own)) >> self.number & 1 == 1
    }

    /// All that feeds an output or another value, nearest first.
    fn feeds(&self, value: u32) -> Vec<Feed> {
        let whole = &self.ends.whole;
        let (node, own) = whole.owner(value);
        let has_risen = |output: &u32| self.has_risen(*output);
        if node as usize >= whole.calls.functions {
            let number = own - whole.inputs(node).len() as u32;
            let targets = whole.calls.callees.row(node as usize).iter();
            let outputs = targets.filter_map(|target| whole.output(*target, number));
            let feed = |from| Feed { from, via: NONE };
            return outputs.filter(has_risen).map(feed).collect();
        }
        let values = &whole.values[node as usize];
        let first = self.ends.first_site(node);
        let mut feeds = Vec::new();
        let mut begins = false;
        for own in self.before((node, own), |_, value| self.has_risen(value)) {
            let value = whole.value(node, own);
            if !begins && self.seeds().binary_search(&value).is_ok() {
                begins = true;
                feeds.push(Feed {
                    from: NONE,
                    via: value,
                });
            }
            if let Some(made) = values.result(own) {
                let callee = values.sites[made.site as usize].callee;
                let output = whole.output(callee, made.number).filter(has_risen);
                feeds.extend(output.map(|from| Feed {
                    from,
                    via: first + made.site,
                }));
            }
        }
        feeds
    }
}
