//! One way from a source to a sink.
//!
//! A way is searched among the inputs and outputs of functions: data comes down into a callee by an
//! input, which has a bit in the summary of an argument, and goes up to a caller by an output. Of
//! all ways it is one that goes down into the fewest callees, and to where it does so, up to the
//! fewest callers, which is searched from both ends. Inside of a function it takes the fewest flows
//! among all values, which are made anew for the functions on it alone.
//!
//! The search down sees most of the program before it finds where data of a source rose. It takes
//! all sources of an argument at once, a bit for each: an input that several come by is looked at
//! once, and each source is found by the same way as if it were alone.

use super::ends::Ends;
use super::reach::Reached;
use super::spec::Spec;
use super::summary::{bit, inputs_of};
use super::wide::SOURCES_MOST;
use crate::finding::{Place, Step};
use crate::flow::bits;
use crate::model::Kind;
use crate::values::{Detail, NONE, Whole};
use crate::wasm::{Effect, effect};
use hashbrown::hash_map::Entry;
use hashbrown::{HashMap, HashSet};
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

/// The program, and where data of the sources comes.
#[derive(Clone, Copy)]
struct Look<'a> {
    ends: &'a Ends<'a>,
    /// Inputs that values depend on.
    summaries: &'a [u64],
    /// All values that the sources reach.
    reach: &'a dyn Reached,
}

/// Searches ways from sources that were followed together, to one argument of a call after the
/// other. They share what does not differ by source.
pub(super) struct Ways<'a> {
    look: Look<'a>,
    sources: &'a [Spec],
    details: &'a mut Details,
    falling: Falling,
    feeds: Feeds,
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

/// An input of a function that data of some sources goes down by.
struct Fall {
    /// These sources, as bits.
    sources: u64,
    input: Value,
    how: Down,
    /// Number of the fall that data goes on by; [`NONE`] at the argument.
    after: u32,
}

/// A search for ways down, back from an argument, in breadth for each source.
#[derive(Default)]
struct Falling {
    falls: Vec<Fall>,
    /// Sources whose way goes on from each input, among those of all functions.
    seen: Vec<u64>,
    /// Sources whose data comes to each function without going down into it, once it was looked at.
    rises: Vec<Option<u64>>,
    /// Sources that do not rise in each function, and whose inputs there are all seen.
    idle: Vec<u64>,
    /// How data of each source goes down first, and the fall that it goes on by.
    turns: Vec<Option<(Down, u32)>>,
    /// Sources without that, as bits.
    open: u64,
}

impl Falling {
    /// Begins with an argument that data of these sources reaches.
    fn begin(&mut self, whole: &Whole<'_>, sources: u64) {
        let nodes = whole.values.len();
        self.rises.resize(nodes, None);
        self.idle.clear();
        self.idle.resize(nodes, 0);
        self.seen.clear();
        self.seen.resize(whole.interface()[0], 0);
        self.falls.clear();
        self.turns.clear();
        self.turns.resize(SOURCES_MOST, None);
        self.open = sources;
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

/// Feeds of outputs and of arguments, of all sources.
type Feeds = HashMap<u32, Rc<[Feed]>>;

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
    look: Look<'a>,
    /// Number of the source.
    source: u32,
    /// The value, in the numbering of all.
    to: u32,
    /// Values whose feeds this search has looked at. What others looked at costs as much here, so
    /// that a way does not depend on those before it.
    looked: HashSet<u32>,
    feeds: &'w mut Feeds,
}

impl<'a> Ways<'a> {
    pub(super) fn new(
        ends: &'a Ends<'a>,
        summaries: &'a [u64],
        reach: &'a dyn Reached,
        sources: &'a [Spec],
        details: &'a mut Details,
    ) -> Self {
        Self {
            look: Look {
                ends,
                summaries,
                reach,
            },
            sources,
            details,
            falling: Falling::default(),
            feeds: Feeds::new(),
        }
    }

    /// Searches for how data of sources, as bits, goes down to an argument of a call from where it
    /// came without that.
    pub(super) fn search(&mut self, site: u32, input: u32, sources: u64) {
        let (look, ends) = (self.look, self.look.ends);
        let falling = &mut self.falling;
        falling.begin(&ends.whole, sources);
        if let Some((node, own)) = look.kept(site, input) {
            let passed = [ends.whole.value(node, own), site];
            look.fall(passed, input, sources, NONE, falling);
        }
        let mut at = 0;
        while let Some(&Fall { sources, input, .. }) = falling.falls.get(at)
            && falling.open != 0
        {
            let (node, number) = input;
            let place = ends.whole.inputs(node).start + number as usize;
            for passed in ends.passed().of(place) {
                look.fall(*passed, number, sources, at as u32, falling);
            }
            for dispatch in ends.dispatches(node) {
                let how = Down::Target(node);
                look.enter((dispatch, number), sources, how, at as u32, falling);
            }
            at += 1;
        }
    }

    /// The values from a source, by its number, to the argument that was searched for; none if data
    /// does not get there.
    pub(super) fn values(&mut self, source: u32) -> Vec<(Value, Part)> {
        let Some((mut how, mut after)) = self.falling.turns[source as usize] else {
            return Vec::new();
        };
        let mut way = Vec::new();
        let mut entered: Option<Value> = None;
        loop {
            match how {
                Down::Target(target) => {
                    entered = entered.map(|(_, input)| (target, input));
                    way.extend(entered.map(|input| (input, Part::Down)));
                }
                Down::Argument(site, input) => {
                    let argument = self.argument(site, input);
                    let values = match entered {
                        Some((_, from)) => self.inside(argument, |_, own| own == from),
                        None => self.up(source, argument, site, input),
                    };
                    let part = entered.map_or(Part::Up, |_| Part::Down);
                    // The input is there already.
                    let new = usize::from(entered.is_some());
                    way.extend(values.into_iter().skip(new).map(|value| (value, part)));
                    let callee = (self.look.ends.site(site).1.callee, input);
                    entered = Some(callee);
                    way.push((callee, Part::Down));
                }
            }
            let Some(fall) = self.falling.falls.get(after as usize) else {
                break;
            };
            (how, after) = (fall.how, fall.after);
        }
        way.pop();
        way
    }

    /// The steps from a source to the argument that was searched for.
    pub(super) fn steps(&mut self, source: u32, sink: &Place) -> Vec<Step> {
        let way = self.values(source);
        if way.is_empty() {
            return Vec::new();
        }
        let mut steps = Vec::new();
        for (at, (value, _)) in way.iter().enumerate() {
            let step = if at == 0 {
                let source = &self.sources[source as usize];
                Some((self.place(*value), format!("data of {source}")))
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
            let detail = self.look.ends.whole.detail(node);
            *values += detail.kept.len();
            detail
        })
    }

    /// An argument of a call.
    fn argument(&mut self, site: u32, input: u32) -> Value {
        let (node, at) = self.look.ends.sites[site as usize];
        (node, self.detail(node).ins(at)[input as usize])
    }

    /// The values from the source up to an argument of a call.
    fn up(&mut self, source: u32, argument: Value, site: u32, input: u32) -> Vec<Value> {
        let (look, whole) = (self.look, &self.look.ends.whole);
        let Some((node, own)) = look.kept(site, input) else {
            return Vec::new();
        };
        let to = whole.value(node, own);
        let way = Up {
            look,
            source,
            to,
            looked: HashSet::new(),
            feeds: &mut self.feeds,
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
                let at = look.ends.sites[via as usize].1;
                let made = self.detail(node).values.sites[at as usize].outs().start + number;
                values.extend(self.inside(end, |_, own| own == made));
            }
        }
        values
    }

    /// A shortest way inside of a function from a value that it may begin at to one, both included.
    fn inside(&mut self, (node, to): Value, begins: impl Fn(&Detail, u32) -> bool) -> Vec<Value> {
        let Look {
            ends, summaries, ..
        } = self.look;
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
        let function = self.look.ends.program().functions.get(node as usize)?;
        let op = self.detail(node).values.ops[own as usize];
        let offset = function.body.ops.get(op as usize).map(|op| op.offset);
        Some(Place::of(self.look.ends.program(), node as usize, offset))
    }

    /// Description of a value on the way, if it is more than arithmetic.
    fn step(&mut self, value: Value) -> Option<(Option<Place>, String)> {
        let (node, own) = value;
        let look = self.look;
        let whole = &look.ends.whole;
        let function = whole.program.functions.get(node as usize)?;
        let image = &whole.program.modules[function.module as usize].image.0;
        let shared = |number: u32, arity: u32| match whole.tables(node, arity) == Some(number) {
            true => "a table",
            false => "a global or memory",
        };
        let values = &self.detail(node).values;
        let what = if own < values.inputs {
            match own < function.parameters {
                true => format!("comes in as parameter {own}"),
                false => format!("comes in by {}", shared(own, function.parameters)),
            }
        } else if own < values.inputs + values.outputs {
            let output = own - values.inputs;
            match output < function.results {
                true => "is returned".to_owned(),
                false => format!("is left in {}", shared(output, function.results)),
            }
        } else {
            let op = function.body.ops.get(values.ops[own as usize] as usize)?;
            match op.kind() {
                Kind::Load => "is loaded from memory".to_owned(),
                Kind::Store => "is stored in memory".to_owned(),
                Kind::Update => "passes memory".to_owned(),
                Kind::Call | Kind::Indirect => "comes out of the call".to_owned(),
                Kind::Opaque => match effect(image, op.offset) {
                    Effect::TableGet(_) => "is read from a table".to_owned(),
                    Effect::TableSet { .. } => "is stored in a table".to_owned(),
                    Effect::Builds => "becomes part of an object".to_owned(),
                    _ => return None,
                },
                _ => return None,
            }
        };
        Some((self.place(value), what))
    }
}

impl<'a> Up<'_, 'a> {
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
                _ => self.each_feed(at, |feed| {
                    found.push((feed.from, feed.via));
                    true
                }),
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
        let ends = self.look.ends;
        let size = |node: u32| ends.whole.range(node).len();
        let of_value = |value: &u32| -> usize {
            if *value == NONE {
                let seeds = self.seeds().iter();
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
        let whole = &self.look.ends.whole;
        let known = open.iter().filter(|value| !self.looked.contains(*value));
        known
            .map(|value| whole.range(whole.owner(*value).0).len())
            .sum()
    }

    /// Values where data of the source begins.
    fn seeds(&self) -> &'a [u32] {
        self.look.reach.seeds(self.source)
    }

    fn has_risen(&self, value: u32) -> bool {
        self.look.reach.risen(value) >> self.source & 1 == 1
    }

    /// Visits all that feeds an output, or the value at the end, as long as `each` says so.
    fn each_feed(&mut self, value: u32, mut each: impl FnMut(Feed) -> bool) {
        if value == NONE {
            return;
        }
        let look = self.look;
        self.looked.insert(value);
        let feeds = self.feeds.entry(value);
        let feeds = Rc::clone(feeds.or_insert_with(|| look.feeds(value).into()));
        let mut begins = false;
        for feed in feeds.iter() {
            let is_one = match feed.from {
                NONE => !begins && self.seeds().binary_search(&feed.via).is_ok(),
                from => self.has_risen(from),
            };
            begins |= is_one && feed.from == NONE;
            if is_one && !each(*feed) {
                return;
            }
        }
    }

    /// All that the source, or an output, feeds, and how.
    fn fed_by(&mut self, from: u32, found: &mut Vec<(u32, u32)>) {
        let ends = self.look.ends;
        if from == NONE {
            let mut last = NONE;
            for seed in self.seeds() {
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
        let whole = &self.look.ends.whole;
        let outputs =
            (0..whole.outputs(node).len() as u32).filter_map(|one| whole.output(node, one));
        let own = Some(self.to).filter(|to| whole.range(node).contains(&(*to as usize)));
        for value in outputs.chain(own) {
            if self.has_risen(value) {
                self.each_feed(value, |feed| {
                    let is_one = feed.from == from && via.is_none_or(|via| via == feed.via);
                    found.extend(is_one.then_some((value, feed.via)));
                    !is_one
                });
            }
        }
    }
}

impl Look<'_> {
    /// An argument of a call where values are condensed; `None` if it is not followed.
    fn kept(&self, site: u32, input: u32) -> Option<Value> {
        let (node, site) = self.ends.site(site);
        let ins = self.ends.whole.values[node as usize].ins(site);
        let own = ins.get(input as usize).copied();
        own.filter(|own| *own != NONE).map(|own| (node, own))
    }

    /// Sources whose data comes to a value, as bits.
    fn sources(&self, (node, own): Value) -> u64 {
        let value = self.ends.whole.value(node, own);
        self.reach.sources(value, (node, own))
    }

    /// Data of sources that came to an argument without going down into its function goes down
    /// there. For others, the inputs that it came by are looked at later.
    fn fall(
        &self,
        [value, site]: [u32; 2],
        input: u32,
        sources: u64,
        after: u32,
        falling: &mut Falling,
    ) {
        let whole = &self.ends.whole;
        let (node, _) = self.ends.sites[site as usize];
        let sources = sources & falling.open & !falling.idle[node as usize];
        if sources == 0 {
            return;
        }
        let how = Down::Argument(site, input);
        let rises = *falling.rises[node as usize].get_or_insert_with(|| {
            let range = whole.range(node);
            range.fold(0, |all, value| all | self.reach.risen(value as u32))
        });
        let turned = match rises & sources {
            0 => 0,
            some => self.reach.risen(value) & some,
        };
        for source in bits(turned) {
            falling.turns[source as usize] = Some((how, after));
        }
        falling.open &= !turned;
        let sources = sources & !turned;
        if sources == 0 {
            return;
        }
        let inputs = whole.inputs(node).len() as u32;
        let word = self.summaries[value as usize];
        let first = falling.falls.len();
        if word >> 63 == 0 {
            inputs_of(word, inputs)
                .for_each(|input| self.enter((node, input), sources, how, after, falling));
        } else {
            // Inputs share a bit.
            let place = (node, value - whole.value(node, 0));
            let before = self.before(place, |own, _| self.sources((node, own)) & sources != 0);
            let before = before.into_iter().filter(|own| *own < inputs);
            before.for_each(|input| self.enter((node, input), sources, how, after, falling));
        }
        if falling.falls.len() > first || falling.idle[node as usize] == 0 {
            let seen = &falling.seen[whole.inputs(node)];
            let unseen = (0..).zip(seen);
            let unseen = unseen.fold(0, |all, (input, seen)| {
                all | self.sources((node, input)) & !seen
            });
            falling.idle[node as usize] = !(rises | unseen);
        }
    }

    /// Notes how data of sources goes on from an input, if they come by it and that is new.
    fn enter(&self, input: Value, sources: u64, how: Down, after: u32, falling: &mut Falling) {
        let (node, number) = input;
        let Some(place) = self.ends.whole.inputs(node).nth(number as usize) else {
            return;
        };
        let sources = sources & falling.open & !falling.seen[place];
        let sources = match sources {
            0 => 0,
            some => self.sources(input) & some,
        };
        if sources != 0 {
            falling.seen[place] |= sources;
            falling.falls.push(Fall {
                sources,
                input,
                how,
                after,
            });
        }
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

    /// All that feeds an output or another value, of any source, nearest first.
    fn feeds(&self, value: u32) -> Vec<Feed> {
        let whole = &self.ends.whole;
        let (node, own) = whole.owner(value);
        let has_risen = |output: &u32| self.reach.risen(*output) != 0;
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
        let seeds = self.reach.seeds_within(whole.range(node));
        for own in self.before((node, own), |_, value| has_risen(&value)) {
            let value = whole.value(node, own);
            if seeds
                .iter()
                .any(|seeds| seeds.binary_search(&value).is_ok())
            {
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
