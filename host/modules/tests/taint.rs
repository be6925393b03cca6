//! Taint: planted leaks and planted safe flows, and random runs, none of which may leak unfound.

use crate::analyses::read;
use crate::random::{self, Numbers};
use proptest::prelude::*;
use seawall::executor::Machine;
use seawall_modules::calls::Calls;
use seawall_modules::cells::Cells;
use seawall_modules::finding::Finding;
use seawall_modules::flow::On;
use seawall_modules::grammar::{Edges, Grammar, GraphSize, Select, reach};
use seawall_modules::model::{Function, Kind, Program};
use seawall_modules::taint::{
    GRAMMAR, Port, Spec, TaintAnswer, TaintGraph, TaintQuestion, TaintSession,
};
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZeroUsize;

pub(crate) fn session<'a>(program: &'a Program, calls: Calls) -> TaintSession<'a> {
    let on = On::new(Machine::cpu(NonZeroUsize::new(1)));
    TaintSession::open(Cow::Borrowed(program), Cow::Owned(calls), on).unwrap()
}

fn specs(names: &[&str]) -> Vec<Spec> {
    names.iter().map(|name| name.parse().unwrap()).collect()
}

/// All findings, with their ways.
pub(crate) fn all(session: &TaintSession<'_>, sources: &[&str], sinks: &[&str]) -> TaintAnswer {
    let (sources, sinks) = (&specs(sources), &specs(sinks));
    let question = TaintQuestion {
        sources,
        sinks,
        limit: usize::MAX,
        ways: usize::MAX,
    };
    session.ask(&question).unwrap()
}

/// Whether data of the sources reaches the sinks.
fn whether(session: &TaintSession<'_>, sources: &[&str], sinks: &[&str]) -> TaintAnswer {
    let (sources, sinks) = (&specs(sources), &specs(sinks));
    let question = TaintQuestion {
        sources,
        sinks,
        limit: 0,
        ways: 0,
    };
    session.ask(&question).unwrap()
}

fn ask(program: &Program, source: &str, sink: &str) -> Vec<Finding> {
    all(&session(program, Calls::of(program)), &[source], &[sink]).findings
}

/// A source, an argument of a sink with its place, by their names in the graph of a grammar.
type Leaked = (String, String);

/// The pairs that the grammar's closure finds over the graph as text, and the size of that.
fn by_grammar(
    program: &Program,
    calls: &Calls,
    sources: &[&str],
    sinks: &[&str],
) -> (BTreeSet<Leaked>, GraphSize) {
    let on = On::new(Machine::cpu(NonZeroUsize::new(1)));
    let ends = [&*specs(sources), &*specs(sinks)];
    let graph = TaintGraph::of(program, calls, ends, on).unwrap();
    let mut text = Vec::new();
    let size = graph.write(&mut text).unwrap();
    let text = String::from_utf8(text).unwrap();
    let named = text.lines().filter_map(|line| line.strip_prefix("# "));
    let named: BTreeMap<&str, &str> = named.map(|line| line.split_once(": ").unwrap()).collect();
    let grammar = Grammar::read("taint.cnf", GRAMMAR).unwrap();
    let mut edges = Edges::default();
    edges.read(&grammar, "taint.g", &text).unwrap();
    let read = (edges.names.len() as u64, edges.edges.len() as u64);
    assert_eq!((size.nodes, size.edges, edges.others), (read.0, read.1, 0));
    let reached = reach(&grammar, &edges, 1 << 30).unwrap();
    let pairs = reached.pairs(Select {
        symbol: grammar.start,
        from: None,
        to: None,
    });
    let name = |node: u32| named[&*edges.names[node as usize]].to_owned();
    let pairs = pairs.map(|pair| (name(pair.from), name(pair.to)));
    (pairs.collect(), size)
}

/// The pairs of a session's answer.
fn by_session(
    program: &Program,
    calls: &Calls,
    sources: &[&str],
    sinks: &[&str],
) -> BTreeSet<Leaked> {
    let session = session(program, calls.clone());
    let findings = all(&session, sources, sinks).findings.into_iter();
    let pair = |finding: Finding| {
        let message = finding.message.strip_prefix("data from ").unwrap();
        let (source, sink) = message.split_once(" reaches ").unwrap();
        (source.to_owned(), format!("{}: {sink}", finding.place))
    };
    findings.map(pair).collect()
}

/// Whether the grammar says what the session does; returns the number of pairs.
fn is_a_grammar(program: &Program, sources: &[&str], sinks: &[&str]) -> usize {
    let calls = Calls::of(program);
    let (by_grammar, _) = by_grammar(program, &calls, sources, sinks);
    let found = by_session(program, &calls, sources, sinks);
    assert_eq!(by_grammar, found);
    found.len()
}

const HEAD: &str = "(import \"env\" \"in\" (func $in (result i32)))
    (import \"env\" \"out\" (func $out (param i32)))
    (memory 1) (table 4 funcref) (type $f (func (param i32) (result i32)))
    (global $g (mut i32) (i32.const 0)) (global $h (mut i32) (i32.const 0))";

/// Findings of a module with the usual imports, which are those of the grammar.
fn leaks(text: &str) -> Vec<Finding> {
    let program = read(&format!("(module {HEAD} {text})"));
    let found = ask(&program, "env.in", "env.out");
    assert_eq!(
        is_a_grammar(&program, &["env.in"], &["env.out"]),
        found.len()
    );
    found
}

fn is_safe(text: &str) {
    let found = leaks(text);
    assert!(found.is_empty(), "{text}: {found:?}");
}

fn leaks_once(text: &str) -> Finding {
    let mut found = leaks(text);
    assert_eq!(found.len(), 1, "{text}: {found:?}");
    found.remove(0)
}

#[test]
fn data_flows_through_locals_and_arithmetic() {
    let found = leaks_once(
        "(func (export \"f\") (local i32) call $in i32.const 3 i32.add local.set 0
         local.get 0 call $out)",
    );
    assert!(found.witness.len() >= 2, "{found:?}");
    is_safe(
        "(func (export \"f\") (local i32) call $in local.set 0 i32.const 1 local.set 0 local.get 0 call $out)",
    );
    is_safe("(func (export \"f\") call $in drop i32.const 7 call $out)");
    is_safe("(func (export \"f\") i32.const 7 call $out call $in drop)");
}

#[test]
fn one_way_that_leaks_is_enough() {
    leaks_once(
        "(func (export \"f\") (param i32) (local i32) local.get 0 if call $in local.set 1 else
         i32.const 1 local.set 1 end local.get 1 call $out)",
    );
    leaks_once(
        "(func (export \"f\") (param i32) (local i32) loop local.get 1 call $out call $in local.set 1
         local.get 0 br_if 0 end)",
    );
    leaks_once(
        "(func (export \"f\") (param i32) i32.const 5 block (param i32) (result i32) drop call $in
         local.get 0 br_if 0 end call $out)",
    );
}

#[test]
fn calls_match_their_returns() {
    let same = "(func $same (param i32) (result i32) local.get 0)";
    leaks_once(&format!(
        "{same} (func (export \"f\") call $in call $same call $out)"
    ));
    // The secret goes in at one call; what comes out at the other is the constant.
    is_safe(&format!(
        "{same} (func (export \"f\") call $in call $same drop i32.const 1 call $same call $out)"
    ));
    is_safe(
        "(func $drops (param i32) (result i32) i32.const 2)
         (func (export \"f\") call $in call $drops call $out)",
    );
    leaks_once(
        "(func $second (param i32 i32) (result i32) local.get 1)
         (func (export \"f\") i32.const 1 call $in call $second call $out)",
    );
    is_safe(
        "(func $second (param i32 i32) (result i32) local.get 1)
         (func (export \"f\") call $in i32.const 1 call $second call $out)",
    );
}

#[test]
fn data_flows_up_to_callers_and_down_into_callees() {
    let found = leaks_once(
        "(func $get (result i32) call $in) (func $put (param i32) local.get 0 call $out)
         (func (export \"f\") call $get call $put)",
    );
    let names: Vec<&str> = found
        .witness
        .iter()
        .map(|step| step.place.function.as_str())
        .collect();
    assert!(
        names.contains(&"get") && names.contains(&"put"),
        "{names:?}"
    );
    is_safe(
        "(func $get (result i32) call $in) (func $put (param i32) local.get 0 call $out)
         (func (export \"f\") call $get drop i32.const 1 call $put)",
    );
}

#[test]
fn recursion_is_followed() {
    leaks_once(
        "(func $down (param i32 i32) (result i32) local.get 1 if (result i32)
           local.get 0 local.get 1 i32.const 1 i32.sub call $down else local.get 0 end)
         (func (export \"f\") call $in i32.const 9 call $down call $out)",
    );
    // The parameters change places at every call, and only the second one comes out.
    leaks_once(
        "(func $turn (param i32 i32 i32) (result i32) local.get 2 if (result i32)
           local.get 1 local.get 0 i32.const 0 call $turn else local.get 1 end)
         (func (export \"f\") call $in i32.const 1 i32.const 1 call $turn call $out)",
    );
    is_safe(
        "(func $turn (param i32 i32 i32) (result i32) local.get 2 if (result i32)
           i32.const 4 local.get 0 i32.const 0 call $turn drop i32.const 8 else local.get 1 end)
         (func (export \"f\") call $in i32.const 1 i32.const 1 call $turn call $out)",
    );
}

#[test]
fn tables_lead_to_functions_of_the_type() {
    let table = "(elem (i32.const 0) $same $drops)
        (func $same (param i32) (result i32) local.get 0)
        (func $drops (param i32) (result i32) i32.const 2)";
    leaks_once(&format!(
        "{table} (func (export \"f\") (param i32) call $in local.get 0 call_indirect (type $f) call $out)"
    ));
    is_safe(
        "(elem (i32.const 0) $drops) (func $drops (param i32) (result i32) i32.const 2)
         (func $same (param i32) (result i32) local.get 0)
         (func (export \"f\") (param i32) call $in local.get 0 call_indirect (type $f) call $out)",
    );
    // The choice of the function is no data of its result.
    is_safe(&format!(
        "{table} (func (export \"f\") i32.const 1 call $in call_indirect (type $f) call $out)"
    ));
}

#[test]
fn globals_hold_what_was_written_last() {
    leaks_once("(func (export \"f\") call $in global.set $g global.get $g call $out)");
    is_safe(
        "(func (export \"f\") call $in global.set $g i32.const 1 global.set $g global.get $g call $out)",
    );
    is_safe("(func (export \"f\") call $in global.set $g global.get $h call $out)");
    leaks_once(
        "(func $save call $in global.set $g) (func $send global.get $g call $out)
         (func (export \"f\") call $save call $send)",
    );
    is_safe(
        "(func $save call $in global.set $g) (func $send global.get $g call $out)
         (func $clean i32.const 0 global.set $g)
         (func (export \"f\") call $save call $clean call $send)",
    );
    is_safe(
        "(func $save call $in global.set $g) (func $send global.get $g call $out)
         (func (export \"f\") call $send call $save)",
    );
}

#[test]
fn memory_is_one_cell_that_no_store_cleans() {
    leaks_once(
        "(func (export \"f\") i32.const 0 call $in i32.store i32.const 4 i32.load call $out)",
    );
    // The address is no data of what is loaded.
    is_safe("(func (export \"f\") call $in i32.load call $out)");
    is_safe("(func (export \"f\") i32.const 4 i32.load call $out i32.const 0 call $in i32.store)");
}

/// A module whose head has references of the outside, to read and to send, and a table of them.
fn held(body: &str) -> Vec<Finding> {
    let program = read(&format!(
        "(module (type $s (struct (field (mut i32)))) (type $a (array (mut i32)))
         (import \"env\" \"in\" (func $in (result externref)))
         (import \"env\" \"out\" (func $out (param externref)))
         (import \"env\" \"count\" (func $count (result i32)))
         (import \"env\" \"show\" (func $show (param i32)))
         (memory 1) (table $t 8 externref) (table $u 8 externref) {body})"
    ));
    let mut found = ask(&program, "env.in", "env.out");
    found.extend(ask(&program, "env.count", "env.show"));
    found
}

#[test]
fn tables_are_one_cell_that_no_write_cleans() {
    let read = "i32.const 1 table.get $t call $out";
    for write in [
        "i32.const 1 call $in table.set $t",
        "call $in i32.const 1 table.grow $t drop",
        "i32.const 1 call $in i32.const 1 table.fill $t",
        "i32.const 1 call $in table.set $u
         i32.const 0 i32.const 0 i32.const 1 table.copy $t $u",
    ] {
        let found = held(&format!("(func (export \"f\") {write} {read})"));
        let [leak] = found.as_slice() else {
            panic!("{write}: {found:?}");
        };
        let steps: Vec<&str> = leak.witness.iter().map(|step| &*step.what).collect();
        assert!(steps.contains(&"is stored in a table"), "{steps:?}");
        assert!(steps.contains(&"is read from a table"), "{steps:?}");
        let halves = format!(
            "(func $save {write}) (func $send {read}) (func (export \"f\") call $save call $send)"
        );
        assert_eq!(held(&halves).len(), 1, "{write}");
        assert_eq!(
            held(&format!("(func (export \"f\") {read} {write})")).len(),
            0
        );
    }
    // An index is no data of the entry, and what no code reads keeps nothing apart from memory.
    let index = "call $count table.get $t drop i32.const 0 i32.load call $show";
    assert_eq!(held(&format!("(func (export \"f\") {index})")).len(), 0);
    let beside = "i32.const 1 call $in table.set $t i32.const 0 i32.load call $show";
    assert_eq!(held(&format!("(func (export \"f\") {beside})")).len(), 0);
}

#[test]
fn objects_hold_what_they_are_made_of() {
    for (make, read) in [
        ("call $count struct.new $s", "struct.get $s 0"),
        (
            "call $count i32.const 3 array.new $a",
            "i32.const 0 array.get $a",
        ),
        (
            "i32.const 1 call $count array.new_fixed $a 2",
            "i32.const 0 array.get $a",
        ),
    ] {
        let leak = format!("(func (export \"f\") {make} {read} call $show)");
        assert_eq!(held(&leak).len(), 1, "{make}");
    }
    let safe = "(func (export \"f\") i32.const 1 struct.new $s struct.get $s 0 call $show
                call $count struct.new $s drop)";
    assert_eq!(held(safe).len(), 0);
}

#[test]
fn a_source_that_is_named_twice_is_found_once() {
    let program = read(&format!(
        "(module {HEAD} (func (export \"f\") call $in call $out))"
    ));
    let session = session(&program, Calls::of(&program));
    let answer = all(
        &session,
        &["env.in", "env.in", "in", "env.in"],
        &["env.out"],
    );
    assert_eq!((answer.findings.len(), answer.count), (2, Some(2)));
}

#[test]
fn parameters_memory_and_loads_are_sources() {
    let program = read(&format!(
        "(module {HEAD} (func (export \"f\") (param i32 i32) local.get 1 call $out
         i32.const 8 i32.load drop))"
    ));
    assert_eq!(ask(&program, "f:1", "env.out").len(), 1);
    assert_eq!(ask(&program, "f:0", "env.out").len(), 0);
    assert_eq!(ask(&program, "load", "out:0").len(), 0);
    let program = read(&format!(
        "(module {HEAD} (func (export \"f\") i32.const 8 call $in i32.store i32.const 1 call $out
         i32.const 8 i32.load call $out))"
    ));
    assert_eq!(ask(&program, "load", "out").len(), 1);
    assert_eq!(ask(&program, "in", "out:memory").len(), 2);
    assert_eq!(ask(&program, "in:memory", "out:0").len(), 1);
}

#[test]
fn a_load_is_told_from_other_values_that_depend_on_the_same() {
    // Memory of either call depends on memory before and the parameter; one has what a loop loads.
    let program = read(&format!(
        "(module {HEAD} (func (export \"f\") (param i32 i32)
         local.get 1 if
           loop
             i32.const 0 i32.const 0 i32.load local.get 0 i32.add i32.store
             local.get 1 br_if 0
           end
           i32.const 1 call $out
         else
           i32.const 0 local.get 0 i32.store i32.const 2 call $out
         end))"
    ));
    assert_eq!(ask(&program, "load", "out:memory").len(), 1);
    assert_eq!(ask(&program, "f:0", "out:memory").len(), 2);
}

#[test]
fn names_that_nothing_has_are_refused() {
    let program = read(&format!("(module {HEAD})"));
    let session = session(&program, Calls::of(&program));
    for (source, sink, part) in [
        ("env.no", "env.out", "source env.no: no module has"),
        ("env.in", "env.out:1", "fewer parameters"),
        ("env.in", "oot", "did you mean \"out\"?"),
    ] {
        for limit in [0, 1] {
            let error = session.ask(&TaintQuestion {
                sources: &specs(&[source]),
                sinks: &specs(&[sink]),
                limit,
                ways: 0,
            });
            let text = error.unwrap_err().to_string();
            assert!(text.contains(part), "{text}");
        }
    }
}

#[test]
fn a_second_question_does_only_what_is_new() {
    let program = read(&format!(
        "(module {HEAD} (func $one (param i32)) (func $two (param i32))
         (func (export \"f\") (param i32) call $in call $one call $in call $out
           local.get 0 call $two))"
    ));
    let session = session(&program, Calls::of(&program));
    assert_eq!((session.kept(), session.predicted(&specs(&["in"]))), (0, 1));
    let first = all(&session, &["in"], &["one"]);
    assert_eq!((first.count, first.work.followed), (Some(1), 1));
    assert!(first.work.values > 0);
    assert_eq!((session.kept(), session.predicted(&specs(&["in"]))), (1, 0));
    // Other sinks are lookups alone.
    let second = all(&session, &["in"], &["out", "two"]);
    let work = second.work;
    assert_eq!((second.count, work.followed, work.values), (Some(1), 0, 0));
    assert_eq!(work.arguments, 2);
    // Another source is followed, and the first one is not.
    let third = all(&session, &["in", "f:0"], &["two"]);
    assert_eq!((third.count, third.work.followed), (Some(1), 1));
    assert_eq!(session.kept(), 2);
}

#[test]
fn a_question_ends_at_the_first_sink_and_the_next_one_goes_on_there() {
    // Each function passes the data on to the next one.
    let link = |at: usize| {
        let next = at + 1;
        format!("(func $f{at} (param i32) local.get 0 i32.const 1 i32.add call $f{next})")
    };
    let links: String = (0..1000).map(link).collect();
    let program = read(&format!(
        "(module {HEAD} {links} (func $f1000 (param i32) local.get 0 call $out) (func $no (param i32))
         (func (export \"f\") call $in call $f0))"
    ));
    let session = session(&program, Calls::of(&program));
    let near = whether(&session, &["in"], &["f1"]);
    assert!(near.is_reached && near.count.is_none() && near.findings.is_empty());
    assert!(near.work.values < 200, "{near:?}");
    assert_eq!(session.predicted(&specs(&["in"])), 1);
    let far = whether(&session, &["in"], &["out"]);
    assert!(far.is_reached && far.work.values > 900, "{far:?}");
    let again = whether(&session, &["in"], &["f0", "f999"]);
    assert_eq!((again.is_reached, again.work.values), (true, 0));
    let never = whether(&session, &["in"], &["no"]);
    assert!(!never.is_reached && never.work.arguments == 0);
    // All of it is as much as if it had been asked for at once.
    let rest = all(&session, &["in"], &["out"]);
    let parts = near.work.values + far.work.values + never.work.values + rest.work.values;
    let whole = all(
        &self::session(&program, Calls::of(&program)),
        &["in"],
        &["out"],
    );
    assert_eq!((rest.findings, parts), (whole.findings, whole.work.values));
}

#[test]
fn answers_have_the_first_findings_and_count_all() {
    let calls = "call $in call $out ".repeat(9);
    let program = read(&format!("(module {HEAD} (func (export \"f\") {calls}))"));
    let session = session(&program, Calls::of(&program));
    let full = all(&session, &["in"], &["out"]);
    assert_eq!(full.findings.len(), 9);
    let few = session.ask(&TaintQuestion {
        sources: &specs(&["in"]),
        sinks: &specs(&["out"]),
        limit: 4,
        ways: usize::MAX,
    });
    let few = few.unwrap();
    assert_eq!(
        (few.count, &few.findings[..]),
        (Some(9), &full.findings[..4])
    );
}

#[test]
fn threads_ask_one_session() {
    let calls = "call $in call $out ".repeat(40);
    let program = read(&format!("(module {HEAD} (func (export \"f\") {calls}))"));
    let session = session(&program, Calls::of(&program));
    std::thread::scope(|scope| {
        let ask = |number: usize| {
            let session = &session;
            let names = ["in", "env.in", "in:memory", "load"];
            scope.spawn(move || {
                for at in 0..50 {
                    let name = names[(number + at) % names.len()];
                    let found = all(session, &[name], &["out"]).findings.len();
                    assert_eq!(found, if name.ends_with("in") { 40 } else { 0 });
                }
            })
        };
        let threads: Vec<_> = (0..4).map(ask).collect();
        threads
            .into_iter()
            .for_each(|thread| thread.join().unwrap());
    });
    assert_eq!(session.kept(), 4);
}

#[test]
fn calls_of_one_function_match_by_their_words() {
    // The data goes in at one call in nine, and comes out there alone.
    for at in 0..9 {
        let call = |number: usize| match number == at {
            true => "call $in call $same call $out ",
            false => "i32.const 1 call $same call $out ",
        };
        let calls: String = (0..9).map(call).collect();
        let same = "(func $same (param i32) (result i32) local.get 0)";
        leaks_once(&format!("{same} (func (export \"f\") {calls})"));
    }
}

#[test]
fn a_graph_grows_with_the_logarithm_of_the_calls_of_a_function() {
    let size = |count: usize| {
        let calls = "call $in call $same call $out ".repeat(count);
        let program = read(&format!(
            "(module {HEAD} (func $same (param i32) (result i32) local.get 0)
             (func (export \"f\") {calls}))"
        ));
        by_grammar(&program, &Calls::of(&program), &["in"], &["out"]).1
    };
    let (few, many) = (size(8), size(64));
    // Each call has a word for its argument, result and memory; words have 3 and 6 bits.
    assert!(
        many.edges > 8 * few.edges && many.edges < 16 * few.edges,
        "{few:?} {many:?}"
    );
    assert!(
        many.nodes > 8 * few.nodes && many.nodes < 20 * few.nodes,
        "{few:?} {many:?}"
    );
}

#[test]
fn names_of_several_lines_stay_in_comments() {
    let program = read(
        "(module (import \"env\" \"a\\nv0 v0 sink\" (func $in (result i32)))
         (import \"env\" \"out\" (func $out (param i32)))
         (func (export \"f\") call $in call $out))",
    );
    let pairs = by_grammar(&program, &Calls::of(&program), &["a\nv0 v0 sink"], &["out"]).0;
    let sources: Vec<&str> = pairs.iter().map(|(source, _)| source.as_str()).collect();
    assert_eq!(sources, ["a v0 v0 sink"]);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]
    #[test]
    fn taint_is_a_grammar(numbers in prop::collection::vec(any::<u8>(), 0..500)) {
        let text = random::module(&mut Numbers::new(&numbers));
        let text = text.replace("local.get 0)", "call $in local.set 3 local.get 0)");
        let program = read(&text);
        let sources = ["in", "load", "in:memory", "f0:0", "f0", "out:0"];
        is_a_grammar(&program, &sources, &["out", "out:memory", "f0"]);
    }
}

/// A run of a program in which every branch is taken by chance, which follows data as it goes.
struct Runner<'a> {
    program: &'a Program,
    calls: &'a Calls,
    numbers: &'a [u8],
    at: usize,
    steps: u32,
    globals: Vec<bool>,
    memory: bool,
    /// Calls of the sink that got data of the source: function and operation.
    leaks: BTreeSet<(usize, usize)>,
}

/// The run ended before the function did.
struct Stopped;

impl Runner<'_> {
    fn step(&mut self) -> Result<(), Stopped> {
        self.steps += 1;
        if self.steps > 3000 {
            Err(Stopped)
        } else {
            Ok(())
        }
    }

    fn choose(&mut self, count: usize) -> usize {
        let number = self.numbers.get(self.at % self.numbers.len().max(1));
        self.at += 1;
        usize::from(number.copied().unwrap_or(0)).wrapping_add(self.at / 7) % count
    }

    fn run(&mut self, number: usize, arguments: Vec<bool>) -> Result<Vec<bool>, Stopped> {
        let function = &self.program.functions[number];
        if let Some((_, field)) = &function.import {
            return Ok(vec![field == "in"; function.results as usize]);
        }
        let cells = Cells::of(function, &self.program.modules[0]);
        let mut locals = arguments;
        locals.resize(cells.locals as usize, false);
        let (mut block, mut stack) = (0, Vec::new());
        loop {
            // Blocks may be empty, and so may endless loops.
            self.step()?;
            for at in function.body.ops_of(block) {
                self.step()?;
                let op = function.body.ops[at];
                let below = stack.len() - op.pops() as usize;
                let operands: Vec<bool> = stack.split_off(below);
                let top = operands.last().copied().unwrap_or(false);
                let mut made = vec![operands.contains(&true); op.pushes() as usize];
                match op.kind() {
                    Kind::Constant => made = vec![false],
                    Kind::LocalGet => made = vec![locals[op.arg as usize]],
                    Kind::LocalSet | Kind::LocalTee => locals[op.arg as usize] = top,
                    Kind::GlobalGet => made = vec![self.globals[op.arg as usize]],
                    Kind::GlobalSet => self.globals[op.arg as usize] = top,
                    Kind::Load => made = vec![self.memory],
                    Kind::Store => self.memory |= top,
                    Kind::Call | Kind::Indirect => {
                        made = self.call(number, at, operands)?;
                    }
                    Kind::Move => {
                        stack.truncate(op.arg as usize);
                        stack.extend(operands);
                        continue;
                    }
                    Kind::Return => return Ok(operands),
                    _ => {}
                }
                stack.extend(made);
            }
            let row = function.body.successors_of(block);
            if row.is_empty() {
                return Err(Stopped);
            }
            block = row[self.choose(row.len())] as usize;
            stack.truncate(function.body.blocks[block].height as usize);
        }
    }

    fn call(
        &mut self,
        number: usize,
        at: usize,
        mut operands: Vec<bool>,
    ) -> Result<Vec<bool>, Stopped> {
        let callee = self.calls.callee(self.program, number, at).unwrap();
        let mut target = callee as usize;
        if target >= self.calls.functions {
            operands.pop();
            let row = self.calls.callees.row(target);
            if row.is_empty() {
                return Err(Stopped);
            }
            target = row[self.choose(row.len())] as usize;
        }
        let callee = &self.program.functions[target];
        let is_sink = callee
            .import
            .as_ref()
            .is_some_and(|(_, field)| field == "out");
        if is_sink && operands.contains(&true) {
            self.leaks.insert((number, at));
        }
        self.run(target, operands)
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]
    #[test]
    fn no_run_leaks_unfound(
        numbers in prop::collection::vec(any::<u8>(), 0..500),
        runs in prop::collection::vec(prop::collection::vec(any::<u8>(), 1..40), 6),
    ) {
        let text = random::module(&mut Numbers::new(&numbers));
        // A source in the middle of every function, so that most modules have something to follow.
        let text = text.replace("local.get 0)", "call $in local.set 3 local.get 0)");
        let program = read(&text);
        let found = ask(&program, "env.in", "env.out");
        let found: BTreeSet<(u32, Option<u32>)> = found
            .iter()
            .map(|finding| (finding.place.index, finding.place.offset))
            .collect();
        let calls = Calls::of(&program);
        for numbers in &runs {
            let mut runner = Runner {
                program: &program,
                calls: &calls,
                numbers,
                at: 0,
                steps: 0,
                globals: vec![false; 2],
                memory: false,
                leaks: BTreeSet::new(),
            };
            let start = program.functions.iter().position(|f| !f.exports.is_empty()).unwrap();
            let _ = runner.run(start, vec![false]);
            for (function, op) in runner.leaks {
                let function = &program.functions[function];
                let place = (function.index, Some(function.body.ops[op].offset));
                prop_assert!(found.contains(&place), "{place:?} of {text}");
            }
        }
    }
}

/// The data that each cell may hold: a bit for each input of its function, and one for the source.
#[derive(Clone, Default, PartialEq)]
struct State {
    locals: Vec<u64>,
    globals: Vec<u64>,
    memory: u64,
    stack: Vec<u64>,
}

/// The bit of the source.
const SOURCE: u64 = 1 << 63;

/// Taint by rounds over all functions until nothing changes: states of blocks instead of a graph of
/// values, and summaries that are computed anew. Shares no code with the analysis.
struct Rounds<'a> {
    program: &'a Program,
    calls: &'a Calls,
    source: &'a Spec,
    /// Outputs of each function: results, globals, memory.
    summaries: Vec<Vec<u64>>,
    /// Arguments, globals and memory of each call: by function, operation and called function.
    sites: BTreeMap<(usize, usize, usize), Vec<u64>>,
}

impl Rounds<'_> {
    fn is_source(&self, number: usize, port: Port) -> bool {
        let function = &self.program.functions[number];
        let import = function.import.as_ref().map(|(_, field)| field.as_str());
        let has_name = import == Some(self.source.name.as_str())
            || function.exports.contains(&self.source.name);
        has_name && self.source.port == port
    }

    /// Outputs of a called function for its inputs.
    fn called(&self, target: usize, ins: &[u64]) -> Vec<u64> {
        let function = &self.program.functions[target];
        let Function {
            parameters,
            results,
            ..
        } = function;
        let mut outs = match function.import {
            Some(_) => {
                let arguments = ins[..*parameters as usize]
                    .iter()
                    .fold(0, |all, one| all | one);
                let mut outs = vec![arguments; *results as usize];
                outs.extend(&ins[*parameters as usize..]);
                outs
            }
            None => self.summaries[target]
                .iter()
                .map(|word| {
                    let of_inputs = (0..ins.len()).filter(|input| word >> input & 1 == 1);
                    of_inputs.fold(word & SOURCE, |all, input| all | ins[input])
                })
                .collect(),
        };
        for (number, out) in outs.iter_mut().enumerate() {
            let is_result = number < *results as usize;
            *out |= match is_result {
                true if self.is_source(target, Port::All) => SOURCE,
                _ => 0,
            };
        }
        if self.is_source(target, Port::Memory) {
            *outs.last_mut().unwrap() |= SOURCE;
        }
        outs
    }

    fn entry(&self, number: usize) -> State {
        let function = &self.program.functions[number];
        let cells = Cells::of(function, &self.program.modules[0]);
        let source = |parameter| match self.is_source(number, Port::Parameter(parameter)) {
            true => SOURCE,
            false => 0,
        };
        let mut locals: Vec<u64> = (0..function.parameters)
            .map(|parameter| 1 << parameter | source(parameter))
            .collect();
        locals.resize(cells.locals as usize, 0);
        let globals = self.program.modules[0].globals;
        let first = function.parameters;
        State {
            locals,
            globals: (first..first + globals).map(|input| 1 << input).collect(),
            memory: 1 << (first + globals),
            stack: Vec::new(),
        }
    }

    /// Follows a function; returns its outputs.
    fn follow(&mut self, number: usize) -> Vec<u64> {
        let function = &self.program.functions[number];
        let blocks = function.body.blocks.len();
        let mut states: Vec<Option<State>> = vec![None; blocks];
        states[0] = Some(self.entry(number));
        let globals = self.program.modules[0].globals as usize;
        let mut outs = vec![0; function.results as usize + globals + 1];
        let mut open = vec![0];
        while let Some(block) = open.pop() {
            let Some(mut state) = states[block].clone() else {
                continue;
            };
            for at in function.body.ops_of(block) {
                self.step(number, at, &mut state, &mut outs);
            }
            for to in function.body.successors_of(block) {
                let to = *to as usize;
                let mut next = state.clone();
                next.stack
                    .truncate(function.body.blocks[to].height as usize);
                let before = states[to].clone();
                let joined = before
                    .clone()
                    .map_or_else(|| next.clone(), |one| one.join(&next));
                if before.as_ref() != Some(&joined) {
                    states[to] = Some(joined);
                    open.push(to);
                }
            }
        }
        outs
    }

    fn step(&mut self, number: usize, at: usize, state: &mut State, outs: &mut [u64]) {
        let op = self.program.functions[number].body.ops[at];
        let operands = state
            .stack
            .split_off(state.stack.len() - op.pops() as usize);
        let top = operands.last().copied().unwrap_or(0);
        let any = operands.iter().fold(0, |all, one| all | one);
        let mut made = vec![any; op.pushes() as usize];
        match op.kind() {
            Kind::Constant => made = vec![0],
            Kind::LocalGet => made = vec![state.locals[op.arg as usize]],
            Kind::LocalSet | Kind::LocalTee => state.locals[op.arg as usize] = top,
            Kind::GlobalGet => made = vec![state.globals[op.arg as usize]],
            Kind::GlobalSet => state.globals[op.arg as usize] = top,
            Kind::Load if self.source.name == "load" => made = vec![state.memory | SOURCE],
            Kind::Load => made = vec![state.memory],
            Kind::Store => state.memory |= operands[1..].iter().fold(0, |all, one| all | one),
            Kind::Call | Kind::Indirect => made = self.call(number, at, operands, state),
            Kind::Move => {
                state.stack.truncate(op.arg as usize);
                state.stack.extend(operands);
                return;
            }
            Kind::Return => {
                let all = operands.iter().chain(&state.globals).chain([&state.memory]);
                outs.iter_mut()
                    .zip(all)
                    .for_each(|(out, value)| *out |= value);
                return;
            }
            _ => {}
        }
        state.stack.extend(made);
    }

    fn call(
        &mut self,
        number: usize,
        at: usize,
        mut operands: Vec<u64>,
        state: &mut State,
    ) -> Vec<u64> {
        let callee = self.calls.callee(self.program, number, at).unwrap();
        let is_dispatch = callee as usize >= self.calls.functions;
        let targets = match is_dispatch {
            true => self.calls.callees.row(callee as usize).to_vec(),
            false => vec![callee],
        };
        if is_dispatch {
            operands.pop();
        }
        operands.extend(&state.globals);
        operands.push(state.memory);
        let pushes = self.program.functions[number].body.ops[at].pushes() as usize;
        let mut joined = vec![0; pushes + state.globals.len() + 1];
        for target in targets {
            let target = target as usize;
            let site = self.sites.entry((number, at, target)).or_default();
            site.resize(operands.len(), 0);
            site.iter_mut()
                .zip(&operands)
                .for_each(|(all, one)| *all |= one);
            let outs = self.called(target, &operands);
            joined
                .iter_mut()
                .zip(outs)
                .for_each(|(all, one)| *all |= one);
        }
        let shared = joined.split_off(pushes);
        state.memory = shared[shared.len() - 1];
        state.globals = shared[..shared.len() - 1].to_vec();
        joined
    }

    /// Calls of a sink that get data of the source: function, operation, argument.
    fn leaks(mut self, sink: &Spec) -> BTreeSet<(usize, usize, u32)> {
        let bodies = |one: &&usize| self.program.functions[**one].import.is_none();
        let all: Vec<usize> = (0..self.program.functions.len()).collect();
        let own: Vec<usize> = all.iter().filter(bodies).copied().collect();
        let mut before = Vec::new();
        while before != self.summaries {
            before.clone_from(&self.summaries);
            for number in &own {
                self.summaries[*number] = self.follow(*number);
            }
        }
        // Inputs that hold data of the source at some call.
        let mut fallen: Vec<u64> = vec![0; all.len()];
        let tainted = |word: u64, fallen: u64| word & (SOURCE | fallen) != 0;
        let mut is_new = true;
        while is_new {
            is_new = false;
            for ((caller, _, target), ins) in &self.sites {
                for (input, word) in ins.iter().enumerate() {
                    if tainted(*word, fallen[*caller]) && fallen[*target] >> input & 1 == 0 {
                        fallen[*target] |= 1 << input;
                        is_new = true;
                    }
                }
            }
        }
        let mut leaks = BTreeSet::new();
        for ((caller, at, target), ins) in &self.sites {
            let callee = &self.program.functions[*target];
            let is_sink = callee
                .import
                .as_ref()
                .is_some_and(|(_, field)| *field == sink.name);
            for (input, word) in (0..).zip(ins) {
                let is_wanted = match sink.port {
                    Port::Memory => input as usize == ins.len() - 1,
                    Port::Parameter(parameter) => input == parameter,
                    Port::All => input < callee.parameters,
                };
                if is_sink && is_wanted && tainted(*word, fallen[*caller]) {
                    leaks.insert((*caller, *at, input));
                }
            }
        }
        leaks
    }
}

impl State {
    fn join(mut self, other: &Self) -> Self {
        let join = |one: &mut [u64], other: &[u64]| {
            one.iter_mut()
                .zip(other)
                .for_each(|(one, other)| *one |= other);
        };
        join(&mut self.locals, &other.locals);
        join(&mut self.globals, &other.globals);
        join(&mut self.stack, &other.stack);
        self.memory |= other.memory;
        self
    }
}

/// Findings of rounds over all functions.
fn by_rounds(program: &Program, calls: &Calls, source: &str, sink: &str) -> BTreeSet<Leak> {
    let rounds = Rounds {
        program,
        calls,
        source: &source.parse().unwrap(),
        summaries: vec![Vec::new(); program.functions.len()],
        sites: BTreeMap::new(),
    };
    let leaks = rounds.leaks(&sink.parse().unwrap()).into_iter();
    let place = |(function, op, input): (usize, usize, u32)| {
        let function = &program.functions[function];
        let is_argument = input == 0;
        (function.index, function.body.ops[op].offset, is_argument)
    };
    leaks.map(place).collect()
}

/// A leak: function, offset, and whether an argument leaks or memory.
type Leak = (u32, u32, bool);

fn as_leaks(findings: &[Finding]) -> BTreeSet<Leak> {
    let leak = |finding: &Finding| {
        let place = &finding.place;
        let is_argument = finding.message.contains("argument 0");
        (place.index, place.offset.unwrap(), is_argument)
    };
    findings.iter().map(leak).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(192))]
    #[test]
    fn answers_are_those_of_rounds_whatever_was_asked_before(
        numbers in prop::collection::vec(any::<u8>(), 0..500),
        questions in prop::collection::vec((0_usize..6, 0_usize..3, any::<bool>()), 1..16),
    ) {
        let text = random::module(&mut Numbers::new(&numbers));
        let text = text.replace("local.get 0)", "call $in local.set 3 local.get 0)");
        let program = read(&text);
        let calls = Calls::of(&program);
        let session = session(&program, calls.clone());
        for (source, sink, is_whether) in questions {
            let source = ["in", "load", "in:memory", "f0:0", "f0", "out:0"][source];
            let sink = ["out", "out:0", "out:memory"][sink];
            let expected = by_rounds(&program, &calls, source, sink);
            if is_whether {
                let answer = whether(&session, &[source], &[sink]);
                prop_assert_eq!(answer.is_reached, !expected.is_empty(), "{} {} {}", source, sink, &text);
                continue;
            }
            let predicted = session.predicted(&specs(&[source]));
            let answer = all(&session, &[source], &[sink]);
            // A source without values is never followed.
            let followed = if answer.work.values > 0 { predicted } else { 0 };
            prop_assert_eq!(answer.work.followed, followed);
            prop_assert_eq!(&as_leaks(&answer.findings), &expected, "{} {} {}", source, sink, &text);
            prop_assert!(answer.findings.iter().all(|finding| finding.witness.len() > 1));
        }
    }
}
