//! Taint: planted leaks and planted safe flows, and random runs, none of which may leak unfound.

use crate::analyses::read;
use crate::random::{self, Numbers};
use proptest::prelude::*;
use seawall::executor::Machine;
use seawall_modules::calls::Calls;
use seawall_modules::cells::Cells;
use seawall_modules::finding::Finding;
use seawall_modules::flow::On;
use seawall_modules::model::{Kind, Program};
use seawall_modules::taint::{Spec, taint};
use std::collections::BTreeSet;
use std::num::NonZeroUsize;

fn ask(program: &Program, source: &str, sink: &str) -> Vec<Finding> {
    let calls = Calls::of(program);
    let spec = |text: &str| vec![text.parse::<Spec>().unwrap()];
    let on = On::new(Machine::cpu(NonZeroUsize::new(1)));
    let (sources, sinks) = (spec(source), spec(sink));
    taint(program, &calls, &sources, &sinks, on)
        .unwrap()
        .findings
}

const HEAD: &str = "(import \"env\" \"in\" (func $in (result i32)))
    (import \"env\" \"out\" (func $out (param i32)))
    (memory 1) (table 4 funcref) (type $f (func (param i32) (result i32)))
    (global $g (mut i32) (i32.const 0)) (global $h (mut i32) (i32.const 0))";

/// Findings of a module with the usual imports.
fn leaks(text: &str) -> Vec<Finding> {
    ask(
        &read(&format!("(module {HEAD} {text})")),
        "env.in",
        "env.out",
    )
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
fn names_that_nothing_has_are_refused() {
    let program = read(&format!("(module {HEAD})"));
    let calls = Calls::of(&program);
    let on = On::new(Machine::cpu(None));
    for (source, sink) in [
        ("env.no", "env.out"),
        ("env.in", "env.out:1"),
        ("env.in", "no"),
    ] {
        let (source, sink) = ([source.parse().unwrap()], [sink.parse().unwrap()]);
        assert!(taint(&program, &calls, &source, &sink, on).is_err());
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
