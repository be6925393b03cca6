//! Taint over all values of all functions, to compare with: nothing is condensed, every input of a
//! function has its own bit, searches share nothing, and every source is asked for alone.

use super::ends::{Argument, Ends};
use super::session::TaintSession;
use super::spec::Spec;
use super::witness::{Details, Part, Value};
use crate::order::{Rows, Visit, rows_by};
use crate::values::{Detail, NONE, Whole};
use std::collections::VecDeque;

/// The flows of a program.
pub(super) struct Plain<'a> {
    ends: &'a Ends<'a>,
    details: Vec<Detail>,
    /// The first value of each node.
    first: Vec<u32>,
    along: Rows,
    up: Rows,
    down: Rows,
}

/// The inputs that each value depends on, as words of bits: those of a function have one length.
struct Summaries<'a> {
    whole: &'a Whole<'a>,
    details: &'a [Detail],
    words: Vec<Vec<u64>>,
    /// The bit of all inputs from this one on.
    last: u32,
}

impl Summaries<'_> {
    fn columns(&self, node: u32) -> usize {
        let inputs = self.whole.values[node as usize].inputs;
        (inputs.min(self.last) / 64 + 1) as usize
    }

    fn of(&self, (node, own): Value) -> &[u64] {
        let columns = self.columns(node);
        &self.words[node as usize][own as usize * columns..][..columns]
    }

    fn depends(&self, value: Value, input: u32) -> bool {
        let bit = input.min(self.last);
        let words = self.of(value);
        words
            .get(bit as usize / 64)
            .is_some_and(|word| word >> (bit % 64) & 1 == 1)
    }

    /// Values that a value depends on by one flow, calls included.
    fn before(&self, node: u32) -> Vec<(u32, Value)> {
        let (whole, detail) = (self.whole, &self.details[node as usize]);
        let mut flows = Vec::new();
        for own in 0..detail.before.nodes() {
            let row = detail.before.row(own).iter();
            flows.extend(row.map(|from| (own as u32, (node, *from))));
        }
        for site in &detail.values.sites {
            let outputs = whole.values[site.callee as usize].outputs;
            for (number, out) in (0..outputs).zip(site.outs()) {
                let output = whole.values[site.callee as usize].output(number);
                for (input, from) in (0..).zip(detail.values.ins(site)) {
                    if *from != NONE && self.depends((site.callee, output), input) {
                        flows.push((out, (node, *from)));
                    }
                }
            }
        }
        let calls = &whole.calls;
        if node as usize >= calls.functions {
            for target in calls.callees.row(node as usize) {
                let (own, other) = (
                    &whole.values[node as usize],
                    &whole.values[*target as usize],
                );
                let both = 0..own.outputs.min(other.outputs);
                flows.extend(both.map(|one| (own.output(one), (*target, other.output(one)))));
            }
        }
        flows
    }

    /// Makes the words of a function those of all that its values depend on; returns whether its
    /// outputs changed.
    fn follow(&mut self, node: u32) -> bool {
        let columns = self.columns(node);
        let flows = self.before(node);
        let values = &self.whole.values[node as usize];
        let outputs =
            values.output(0) as usize * columns..values.output(values.outputs) as usize * columns;
        let outputs_before = self.words[node as usize][outputs.clone()].to_vec();
        let mut is_new = true;
        while is_new {
            is_new = false;
            for (own, from) in &flows {
                for column in 0..columns {
                    let coming = self.of(*from).get(column).copied().unwrap_or(0);
                    let word = &mut self.words[node as usize][*own as usize * columns + column];
                    is_new |= coming & !*word != 0;
                    *word |= coming;
                }
            }
        }
        self.words[node as usize][outputs] != outputs_before
    }

    /// Follows functions until no summary changes.
    fn solve(&mut self) {
        let nodes = 0..self.details.len() as u32;
        for node in nodes.clone() {
            let columns = self.columns(node);
            let count = self.details[node as usize].values.ops.len();
            let mut words = vec![0; count * columns];
            for input in 0..self.whole.values[node as usize].inputs {
                let bit = input.min(self.last) as usize;
                words[input as usize * columns + bit / 64] |= 1 << (bit % 64);
            }
            self.words.push(words);
        }
        let mut open: VecDeque<u32> = nodes.collect();
        let mut is_open = vec![true; self.details.len()];
        while let Some(node) = open.pop_front() {
            is_open[node as usize] = false;
            if self.follow(node) {
                for caller in self.whole.calls.callers.row(node as usize) {
                    if !std::mem::replace(&mut is_open[*caller as usize], true) {
                        open.push_back(*caller);
                    }
                }
            }
        }
    }
}

impl<'a> Plain<'a> {
    /// The flows of a session's program. Inputs from `last` on share a bit.
    pub(super) fn of(session: &'a TaintSession<'_>, last: u32) -> Self {
        let whole = &session.ends.whole;
        let nodes = 0..whole.values.len() as u32;
        let details: Vec<Detail> = nodes.clone().map(|node| whole.detail(node)).collect();
        let mut summaries = Summaries {
            whole,
            details: &details,
            words: Vec::new(),
            last,
        };
        summaries.solve();
        let mut first = vec![0];
        for detail in &details {
            first.push(first[first.len() - 1] + detail.kept.len() as u32);
        }
        let count = first[details.len()] as usize;
        let number = |(node, own): Value| first[node as usize] + own;
        let made = |each: &dyn Fn(&mut Visit<'_>)| rows_by(count, each).unwrap();
        let along = made(&|visit| {
            for node in nodes.clone() {
                for (own, from) in summaries.before(node) {
                    if from.0 == node {
                        visit(number(from), number((node, own)));
                    }
                }
            }
        });
        let up = made(&|visit| {
            for node in nodes.clone() {
                for (own, from) in summaries.before(node) {
                    if from.0 != node {
                        visit(number(from), number((node, own)));
                    }
                }
                for site in &details[node as usize].values.sites {
                    let callee = &whole.values[site.callee as usize];
                    for (output, out) in (0..callee.outputs).zip(site.outs()) {
                        visit(
                            number((site.callee, callee.output(output))),
                            number((node, out)),
                        );
                    }
                }
            }
        });
        let down = made(&|visit| {
            for node in nodes.clone() {
                let values = &details[node as usize].values;
                for site in &values.sites {
                    let callee = &whole.values[site.callee as usize];
                    for (input, from) in (0..callee.inputs).zip(values.ins(site)) {
                        if *from != NONE {
                            visit(
                                number((node, *from)),
                                number((site.callee, callee.input(input))),
                            );
                        }
                    }
                }
                if (node as usize) < whole.calls.functions {
                    continue;
                }
                for target in whole.calls.callees.row(node as usize) {
                    let inputs = whole.values[*target as usize].inputs;
                    for input in 0..inputs.min(whole.values[node as usize].inputs) {
                        visit(number((node, input)), number((*target, input)));
                    }
                }
            }
        });
        Self {
            ends: &session.ends,
            details,
            first,
            along,
            up,
            down,
        }
    }

    fn number(&self, (node, own): Value) -> u32 {
        self.first[node as usize] + own
    }

    /// The value that an argument is.
    fn argument(&self, argument: &Argument) -> Option<Value> {
        let (node, at) = self.ends.sites[argument.site as usize];
        let own = self.details[node as usize]
            .ins(at)
            .get(argument.input as usize)
            .copied();
        own.filter(|own| *own != NONE).map(|own| (node, own))
    }

    /// The values where data of a source begins.
    fn seeds(&self, source: &Spec) -> Vec<u32> {
        if source.is_load() {
            let details = (0..).zip(&self.details);
            let loads = details.flat_map(|(node, detail)| {
                let loads = detail.values.loads.iter();
                loads.map(move |load| self.number((node, *load)))
            });
            return loads.collect();
        }
        let seeds = self.ends.seeds(source).unwrap().into_iter();
        seeds
            .map(|seed| self.number(self.ends.whole.owner(seed)))
            .collect()
    }

    /// The values that flows lead to from these, by the fewest flows across functions to each;
    /// [`NONE`] for others.
    fn distances(&self, across: &Rows, from: Vec<u32>) -> Vec<u32> {
        let mut distances = vec![NONE; self.along.nodes()];
        from.iter().for_each(|value| distances[*value as usize] = 0);
        let mut open = VecDeque::from(from);
        while let Some(value) = open.pop_front() {
            let distance = distances[value as usize];
            for to in self.along.row(value as usize) {
                if distances[*to as usize] > distance {
                    distances[*to as usize] = distance;
                    open.push_front(*to);
                }
            }
            for to in across.row(value as usize) {
                if distances[*to as usize] > distance + 1 {
                    distances[*to as usize] = distance + 1;
                    open.push_back(*to);
                }
            }
        }
        distances
    }

    /// Distances of values from a source on the way up, and from there on the way down.
    pub(super) fn reached(&self, source: &Spec) -> [Vec<u32>; 2] {
        let risen = self.distances(&self.up, self.seeds(source));
        let turns = (0..).zip(&risen).filter(|(_, up)| **up != NONE);
        let turns = turns.map(|(value, _)| value).collect();
        let reached = self.distances(&self.down, turns);
        [risen, reached]
    }

    /// The arguments, of a list, that data reaches.
    fn leaks(&self, reached: &[u32], arguments: &[Argument]) -> Vec<Argument> {
        let leaks = |argument: &&Argument| {
            let value = self.argument(argument);
            value.is_some_and(|value| reached[self.number(value) as usize] != NONE)
        };
        arguments.iter().filter(leaks).copied().collect()
    }

    /// Why a way from a source to an argument is none, or none of the shortest: each step of it has to
    /// be a flow, those of the first part up to callers, those of the second down into callees.
    fn fault(
        &self,
        source: &Spec,
        [risen, reached]: &[Vec<u32>; 2],
        argument: &Argument,
        way: &[(Value, Part)],
    ) -> Option<String> {
        let Some((((first, _), (last, _)), value)) =
            way.first().zip(way.last()).zip(self.argument(argument))
        else {
            return Some("there is no way".to_owned());
        };
        if !self.seeds(source).contains(&self.number(*first)) {
            return Some(format!("it begins at {first:?}"));
        }
        if *last != value {
            return Some(format!("it ends at {last:?} instead of {value:?}"));
        }
        let mut across = [0; 2];
        let fault = way.windows(2).find(|pair| {
            let [(from, before), (to, part)] = pair else {
                return false;
            };
            let (count, rows) = match part {
                Part::Up => (&mut across[0], &self.up),
                Part::Down => (&mut across[1], &self.down),
            };
            let (from, to) = (self.number(*from), self.number(*to));
            let is_along = self.along.row(from as usize).contains(&to);
            *count += u32::from(!is_along);
            let is_flow = is_along || rows.row(from as usize).contains(&to);
            !is_flow || (*before == Part::Down && *part == Part::Up)
        });
        if let Some(pair) = fault {
            return Some(format!("no flow: {pair:?}"));
        }
        let ups = way.iter().filter(|(_, part)| *part == Part::Up).count();
        let turn = risen[self.number(way[ups - 1].0) as usize];
        let least = [turn, reached[self.number(value) as usize]];
        (across != least).then(|| format!("{across:?} flows across functions instead of {least:?}"))
    }
}

mod tests {
    use super::super::{TaintAnswer, TaintQuestion};
    use super::*;
    use crate::calls::Calls;
    use crate::finding::Finding;
    use crate::flow::On;
    use crate::model::Program;
    use proptest::prelude::*;
    use seawall::executor::Machine;
    use std::borrow::Cow;
    use std::collections::BTreeSet;
    use std::fmt::Write;
    use std::num::NonZeroUsize;

    /// Parameters of each function, and sources: more than a word has bits.
    const WIDE: u32 = 70;

    /// Numbers that decide what is generated; zeros when they run out, which end every list.
    struct Numbers<'a>(std::slice::Iter<'a, u8>);

    impl Numbers<'_> {
        fn below(&mut self, end: u32) -> u32 {
            self.0.next().map_or(0, |number| u32::from(*number) % end)
        }

        /// A parameter or local: many beside the last bits of a word.
        fn local(&mut self) -> u32 {
            match self.below(3) {
                0 => self.below(WIDE + 4),
                _ => 60 + self.below(14),
            }
        }
    }

    /// Pushes a value.
    fn value(numbers: &mut Numbers<'_>, text: &mut String) {
        let (one, other) = (numbers.local(), numbers.local());
        let _ = match numbers.below(8) {
            0 => write!(text, "i32.const {one} "),
            1 | 2 => write!(text, "local.get {one} "),
            3 => write!(text, "local.get {one} local.get {other} i32.add "),
            4 => write!(text, "i32.const {one} i32.load "),
            5 => write!(text, "global.get $g{} ", one % 2),
            _ => write!(text, "call $in{} ", (one + other) % WIDE),
        };
    }

    /// Calls a function whose parameters are constants but a few, and keeps its results.
    fn call(numbers: &mut Numbers<'_>, text: &mut String) {
        let chosen = [(); 3].map(|()| numbers.local());
        for parameter in 0..WIDE {
            match chosen.contains(&parameter) {
                true => value(numbers, text),
                false => text.push_str("i32.const 0 "),
            }
        }
        let callee = numbers.below(4);
        let (one, other) = (numbers.local(), numbers.local());
        let _ = match callee {
            3 => write!(text, "local.get {one} call_indirect (type $wide) "),
            _ => write!(text, "call $f{callee} "),
        };
        let _ = writeln!(text, "local.set {one} local.set {other}");
    }

    fn statements(numbers: &mut Numbers<'_>, nested: u32, text: &mut String) {
        for _ in 0..numbers.below(8) {
            match numbers.below(if nested < 3 { 10 } else { 7 }) {
                0 | 1 => {
                    value(numbers, text);
                    let _ = writeln!(text, "local.set {}", numbers.local());
                }
                2 => {
                    value(numbers, text);
                    let _ = writeln!(text, "global.set $g{}", numbers.below(2));
                }
                3 => {
                    text.push_str("i32.const 0 ");
                    value(numbers, text);
                    text.push_str("i32.store\n");
                }
                4 => {
                    value(numbers, text);
                    text.push_str("call $out\n");
                }
                5 | 6 => call(numbers, text),
                kind => {
                    let _ = writeln!(text, "local.get {}", numbers.local());
                    text.push_str(["if\n", "drop loop\n", "drop block\n"][kind as usize - 7]);
                    statements(numbers, nested + 1, text);
                    if kind > 7 {
                        let _ = writeln!(text, "local.get {} br_if 0", numbers.local());
                    }
                    text.push_str("end\n");
                }
            }
        }
    }

    /// A module whose functions have more inputs than a word has bits, and whose last function
    /// passes a source to a sink as a parameter of the first one.
    fn module(numbers: &mut Numbers<'_>) -> String {
        let mut text = "(module (type $wide (func".to_owned();
        text.push_str(&"(param i32)".repeat(WIDE as usize));
        text.push_str("(result i32 i32)))\n");
        for source in 0..WIDE {
            let _ = write!(
                text,
                "(import \"env\" \"in{source}\" (func $in{source} (result i32)))"
            );
        }
        text.push_str(
            "(import \"env\" \"out\" (func $out (param i32)))
            (memory 1) (table 2 funcref) (elem (i32.const 0) $f0 $f1)
            (global $g0 (mut i32) (i32.const 0)) (global $g1 (mut i32) (i32.const 0))\n",
        );
        let planted = numbers.below(WIDE);
        for function in 0..3 {
            let _ = writeln!(
                text,
                "(func $f{function} (export \"f{function}\") (type $wide) (local i32 i32 i32 i32)
                local.get {planted} local.get {planted}"
            );
            statements(numbers, 0, &mut text);
            let _ = writeln!(text, "local.set 70 local.get {})", numbers.local());
        }
        text.push_str("(func (export \"f\") ");
        for parameter in 0..WIDE {
            match parameter == planted {
                true => text.push_str("call $in7 "),
                false => text.push_str("i32.const 0 "),
            }
        }
        text.push_str("call $f0 drop call $out))");
        text
    }

    fn specs(names: &[String]) -> Vec<Spec> {
        names.iter().map(|name| name.parse().unwrap()).collect()
    }

    fn all(session: &TaintSession<'_>, sources: &[Spec], sinks: &[Spec]) -> TaintAnswer {
        let question = TaintQuestion {
            sources,
            sinks,
            limit: usize::MAX,
            ways: usize::MAX,
        };
        session.ask(&question).unwrap()
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn answers_are_those_over_all_values_and_ways_are_flows(
            numbers in prop::collection::vec(any::<u8>(), 0..400),
        ) {
            let text = module(&mut Numbers(numbers.iter()));
            let mut program = Program::default();
            crate::read(&mut program, "m.wasm", wat::parse_str(&text).unwrap()).unwrap();
            let calls = Calls::of(&program);
            let on = On::new(Machine::cpu(NonZeroUsize::new(1)));
            let session = TaintSession::open(Cow::Borrowed(&program), Cow::Borrowed(&calls), on);
            let session = session.unwrap();
            let mut names: Vec<String> = (0..WIDE).map(|source| format!("in{source}")).collect();
            names.extend(["load", "out:memory", "f1:69", "f2:3"].map(str::to_owned));
            names.extend((62..66).map(|parameter| format!("f0:{parameter}")));
            let sources = specs(&names);
            let sinks = specs(&["out".to_owned(), "f1:66".to_owned(), "out:memory".to_owned()]);
            let arguments = session.ends.arguments(&sinks).unwrap();
            // Inputs from the last bit on share it, in both.
            let shared = Plain::of(&session, 63);
            let exact = Plain::of(&session, u32::MAX);
            let mut expected = BTreeSet::new();
            for source in &sources {
                let reached = shared.reached(source);
                let leaks = shared.leaks(&reached[1], &arguments);
                for leak in &leaks {
                    let way = session.follow(source, |reach| {
                        reach.complete(session.flows().unwrap(), None);
                        let details = &mut Details::default();
                        let sources = std::slice::from_ref(source);
                        let mut ways = session.ways(sources, reach, details);
                        ways.search(leak.site, leak.input, 1);
                        ways.values(0)
                    });
                    let fault = shared.fault(source, &reached, leak, &way.unwrap());
                    prop_assert_eq!(fault, None, "{} to {:?} of {}", source, leak, &text);
                    let (place, what) = session.ends.described(leak);
                    expected.insert(format!("{place}: data from {source} reaches {what}"));
                }
                for leak in exact.leaks(&exact.reached(source)[1], &arguments) {
                    prop_assert!(leaks.contains(&leak), "{} to {:?} of {}", source, leak, &text);
                }
            }
            // All sources at once, more than a word has bits.
            let answer = all(&session, &sources, &sinks);
            let named = |one: &Finding| format!("{}: {}", one.place, one.message);
            let found: BTreeSet<String> = answer.findings.iter().map(named).collect();
            prop_assert_eq!(answer.count, Some(expected.len()));
            prop_assert_eq!(&found, &expected, "{}", &text);
            let limits = on.limits;
            for first in [&sources[..], &sources[1..], &[]] {
                let (program, calls) = (Cow::Borrowed(&program), Cow::Borrowed(&calls));
                let once = TaintSession::over(program, calls, first, limits);
                let once = all(&once.unwrap(), &sources, &sinks);
                prop_assert_eq!((once.count, &once.findings), (answer.count, &answer.findings));
            }
            let planted = |one: &String| one.ends_with("data from in7 reaches argument 0 of env.out");
            prop_assert!(found.iter().any(planted), "{}", &text);
        }
    }
}
