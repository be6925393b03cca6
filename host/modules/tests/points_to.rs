//! Points-to: modules made for it, and random ones against a plain interpreter of sets.

use crate::analyses::read;
use crate::random::Numbers;
use crate::real;
use crate::taint;
use proptest::prelude::*;
use seawall::executor::Machine;
use seawall_modules::calls::{self, Calls};
use seawall_modules::flow::On;
use seawall_modules::grammar::{Edges, Grammar, Select, reach};
use seawall_modules::model::{ANY_INDEX, ANY_TABLE, Initial, Kind, Module, Op, Program};
use seawall_modules::points_to::{
    Choice, Constraints, GRAMMAR, OpenTables, PointsTo, points_to, value_name,
};
use seawall_modules::report::{AnalysisName, Request, Resolve, run};
use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZeroUsize;
use std::rc::Rc;
use wasmparser::{BinaryReader, Operator, OperatorsReader};

fn ask(program: &Program, open_tables: OpenTables, threads: usize) -> PointsTo {
    let on = On::new(Machine::cpu(NonZeroUsize::new(threads)));
    points_to(program, &Calls::of(program), open_tables, on).unwrap()
}

const HEAD: &str = "(type $f (func (param i32) (result i32))) (type $n (func))
    (import \"env\" \"in\" (func $in (result i32)))
    (import \"env\" \"out\" (func $out (param funcref)))
    (memory 1) (table $t 8 funcref) (elem (i32.const 1) $a $b $c $n)
    (func $a (type $f) local.get 0) (func $b (type $f) i32.const 5)
    (func $c (type $f) i32.const 6) (func $n)";

/// Targets of the calls of a module with a usual head, in the order of the text: their names, or
/// `?` for a call that may reach all of its type.
fn targets(text: &str, open_tables: OpenTables) -> (Vec<String>, u32) {
    let program = read(&format!("(module {HEAD} {text})"));
    let found = ask(&program, open_tables, 1);
    let names = |targets: &Vec<u32>| {
        let labels = targets.iter();
        let labels: Vec<String> = labels
            .map(|target| program.functions[*target as usize].label())
            .collect();
        labels.join(" ")
    };
    let choices = found.choices.iter();
    let all = choices.map(|choice| choice.targets.as_ref().map_or("?".to_owned(), names));
    (all.collect(), found.rounds)
}

fn are(text: &str, expected: &[&str]) {
    assert_eq!(targets(text, OpenTables::Changed).0, expected, "{text}");
}

const CALL: &str = "call_indirect (type $f)";

#[test]
fn constants_choose_an_entry() {
    are(
        &format!("(func (export \"f\") i32.const 0 i32.const 2 {CALL} drop)"),
        &["b"],
    );
    // Entries of another type and no entries trap, as does a local that nothing has written.
    are(
        &format!(
            "(func (export \"f\") (local i32) i32.const 0 i32.const 4 {CALL} drop
             i32.const 0 i32.const 7 {CALL} drop i32.const 0 local.get 0 {CALL} drop)"
        ),
        &["", "", ""],
    );
}

#[test]
fn callbacks_are_followed_into_callees() {
    are(
        &format!(
            "(func $sort (param i32) (result i32) i32.const 0 local.get 0 {CALL})
             (func (export \"f\") i32.const 1 call $sort drop i32.const 3 call $sort drop)"
        ),
        &["a c"],
    );
    // One of several ways is as good as the other.
    are(
        &format!(
            "(func $sort (param i32 i32) (result i32) local.get 1 if
               i32.const 0 i32.const 1 local.get 0 call $sort2 return end i32.const 9)
             (func $sort2 (param i32 i32 i32) (result i32) i32.const 0 local.get 1 {CALL})
             (func (export \"f\") (param i32) i32.const 2 local.get 0 call $sort drop)"
        ),
        &["a"],
    );
}

#[test]
fn copies_are_followed() {
    are(
        &format!(
            "(global $g (mut i32) (i32.const 1)) (func (export \"s\") i32.const 3 global.set $g)
             (func (export \"f\") i32.const 0 global.get $g {CALL} drop)"
        ),
        &["a c"],
    );
    are(
        &format!(
            "(func (export \"f\") (param i32) i32.const 0
             (select (i32.const 1) (i32.const 2) (local.get 0)) {CALL} drop)"
        ),
        &["a b"],
    );
    are(
        &format!(
            "(func (export \"f\") (param i32) (local i32) local.get 0 if i32.const 2 local.set 1 else
             i32.const 3 local.set 1 end i32.const 0 local.get 1 {CALL} drop)"
        ),
        &["b c"],
    );
    are(
        &format!(
            "(func (export \"f\") (param i32) i32.const 0 i32.const 2
             block (param i32) (result i32) i32.const 3 local.get 0 br_if 0 drop end {CALL} drop)"
        ),
        &["b c"],
    );
    are(
        &format!(
            "(func $pick (result i32) i32.const 3)
             (func (export \"f\") i32.const 0 call $pick {CALL} drop)"
        ),
        &["c"],
    );
    // The callback changes with each turn of the recursion.
    are(
        &format!(
            "(func $turn (param i32 i32) (result i32) local.get 1 local.get 0 {CALL} if (result i32)
               local.get 1 i32.const 2 call $turn else i32.const 0 end)
             (func (export \"f\") i32.const 1 i32.const 3 call $turn drop)"
        ),
        &["a b c"],
    );
}

#[test]
fn values_that_are_not_followed_are_unknown() {
    let called = |value: &str| {
        are(
            &format!("(func (export \"f\") (param i32) i32.const 0 {value} {CALL} drop)"),
            &["?"],
        );
    };
    called("i32.const 8 i32.load");
    called("i32.const 1 i32.const 1 i32.add");
    called("local.get 0");
    called("call $in");
    are(
        &format!(
            "(global $g (export \"g\") (mut i32) (i32.const 1))
             (func (export \"f\") i32.const 0 global.get $g {CALL} drop)"
        ),
        &["?"],
    );
}

#[test]
fn the_outside_changes_or_extends_tables_that_it_sees() {
    let text = format!(
        "(export \"t\" (table $t)) (func (export \"f\") i32.const 0 i32.const 1 {CALL} drop
         i32.const 0 i32.const 6 {CALL} drop i32.const 0 i32.const 8 {CALL} drop
         i32.const 0 (ref.cast (ref $f) (table.get $t (i32.const 1))) call_ref $f drop)"
    );
    are(&text, &["?", "?", "?", "?"]);
    assert_eq!(targets(&text, OpenTables::Extended).0, ["a", "", "?", "?"]);
}

#[test]
fn tables_hold_what_instructions_write() {
    let call = format!("(func (export \"f\") i32.const 0 i32.const 1 {CALL} drop)");
    are(
        &format!("{call} (func (export \"s\") i32.const 5 ref.func $b table.set $t)"),
        &["a b"],
    );
    are(
        &format!(
            "{call} (table $o 4 funcref) (elem (table $o) (i32.const 0) func $c)
             (func (export \"s\") i32.const 0 i32.const 0 i32.const 1 table.copy $t $o)"
        ),
        &["a c"],
    );
    are(
        &format!(
            "{call} (elem $p func $b)
             (func (export \"s\") i32.const 0 i32.const 0 i32.const 1 table.init $t $p)"
        ),
        &["a b"],
    );
    are(
        &format!(
            "{call} (func (export \"s\") (param funcref) i32.const 0 local.get 0 table.set $t)"
        ),
        &["?"],
    );
}

#[test]
fn offsets_and_initial_values_that_may_be_anywhere_are_kept() {
    let of = |table: &str| {
        let program = read(&format!(
            "(module (import \"env\" \"base\" (global $base i32)) (type $f (func (result i32)))
             {table} (func $a (result i32) i32.const 1) (func $b (result i32) i32.const 2)
             (func (export \"f\") i32.const 1 call_indirect (type $f) drop))"
        ));
        let found = ask(&program, OpenTables::Changed, 1);
        assert_eq!(found.choices.len(), 1);
        (found.choices[0].targets.clone(), found.choices[0].by_type)
    };
    let segment = "(table 4 funcref) (elem (i32.const 1) $a)";
    assert_eq!(of(segment), (Some(vec![0]), 1));
    let segments = format!("{segment} (elem (global.get $base) $b)");
    assert_eq!(of(&segments), (Some(vec![0, 1]), 2));
    let initial = "(table 4 (ref func) (ref.func $b)) (elem (i32.const 2) $a)";
    assert_eq!(of(initial), (Some(vec![1]), 2));
    let through = "(global $g funcref (ref.func $b)) (table 4 funcref)
        (elem (i32.const 1) funcref (global.get $g))";
    assert_eq!(of(through), (Some(vec![1]), 1));
}

#[test]
fn references_are_followed() {
    are(
        "(elem declare func $a $b) (func $map (param (ref null $f)) (result i32)
           i32.const 0 local.get 0 call_ref $f)
         (func (export \"f\") ref.func $b call $map drop ref.null $f call $map drop)",
        &["b"],
    );
    are(
        "(func (export \"f\") (param (ref null $f)) i32.const 0 local.get 0 call_ref $f drop)",
        &["?"],
    );
    are(
        "(func (export \"f\") i32.const 0 (ref.cast (ref $f) (table.get $t (i32.const 1)))
         call_ref $f drop)",
        &["a b c"],
    );
}

#[test]
fn references_that_got_outside_are_called_with_anything() {
    let calls =
        format!("(func $d (type $f) i32.const 0 local.get 0 {CALL}) (elem declare func $d)");
    are(
        &format!("{calls} (func (export \"f\") ref.func $d call $out)"),
        &["?"],
    );
    are(
        &format!("{calls} (func (export \"f\") ref.func $d drop)"),
        &[""],
    );
    are(
        &format!("{calls} (func (export \"f\") (result funcref) ref.func $d)"),
        &["?"],
    );
    let objects = "(type $o (struct (field (mut funcref)))) (type $l (array (mut funcref)))";
    for boxes in [
        "(func (export \"f\") (result (ref $o)) ref.func $d struct.new $o)",
        "(func (export \"f\") (param (ref $o)) local.get 0 ref.func $d struct.set $o 0)",
        "(global (export \"g\") (ref $o) (struct.new $o (ref.func $d)))",
        "(elem $p funcref (ref.func $d)) (func (export \"f\") (result (ref $l))
           i32.const 0 i32.const 1 array.new_elem $l $p)",
    ] {
        are(&format!("{calls} {objects} {boxes}"), &["?"]);
    }
}

#[test]
fn choices_make_further_choices_known() {
    let table = "(type $k (func (param i32))) (table $u 4 funcref)
        (elem (table $u) (i32.const 0) func $one $two)";
    let text = format!(
        "{table} (func $one (type $k) local.get 0 local.get 0 call_indirect $u (type $k))
         (func $two (type $k) i32.const 0 local.get 0 {CALL} drop)
         (func (export \"f\") i32.const 1 i32.const 0 call_indirect $u (type $k))"
    );
    let (found, rounds) = targets(&text, OpenTables::Changed);
    assert_eq!(found, ["two", "a", "one"]);
    assert_eq!(rounds, 4);
}

/// A chain of calls: each function calls the entry that its argument chooses, with the next one.
fn chain(length: u32) -> PointsTo {
    let mut text = format!("(module (type $k (func (param i32))) (table {length} funcref)");
    let names: Vec<String> = (0..length).map(|number| format!("$f{number}")).collect();
    text.push_str(&format!("(elem (i32.const 0) {})", names.join(" ")));
    for (number, name) in names.iter().enumerate() {
        let next = number + 2;
        text.push_str(&format!(
            "(func {name} (type $k) i32.const {next} local.get 0 call_indirect (type $k))"
        ));
    }
    text.push_str("(func (export \"f\") i32.const 1 i32.const 0 call_indirect (type $k)))");
    ask(&read(&text), OpenTables::Changed, 1)
}

#[test]
fn calls_go_by_type_if_their_choices_take_too_many_rounds() {
    let found = chain(20);
    assert_eq!((found.rounds, found.escaped), (21, Some(Vec::new())));
    for choice in &found.choices {
        let next = choice.function + 1;
        let expected = match choice.function {
            20 => vec![0],
            19 => Vec::new(),
            _ => vec![next],
        };
        assert_eq!(choice.targets.as_ref(), Some(&expected), "{choice:?}");
    }
    let found = chain(300);
    assert_eq!((found.rounds, found.escaped), (256, None));
    assert_eq!(found.choices.len(), 301);
    let mut choices = found.choices.iter();
    assert!(choices.all(|choice| choice.targets.is_none() && choice.by_type == 300));
}

#[test]
fn points_to_has_one_report_whoever_goes_by_it() {
    use AnalysisName::{Calls, Liveness, PointsTo, Taint};
    let program = read(&format!(
        "(module {HEAD} (func (export \"f\") i32.const 0 i32.const 2 {CALL} drop))"
    ));
    let names = |analyses: &[AnalysisName], resolve| {
        let spec = |name: &str| vec![name.parse().unwrap()];
        let request = Request {
            analyses: analyses.to_vec(),
            reach: Vec::new(),
            sources: spec("in"),
            sinks: spec("out"),
            ways: usize::MAX,
            resolve,
            open_tables: OpenTables::Changed,
            on: On::new(Machine::cpu(NonZeroUsize::new(1))),
        };
        let answer = run(&program, &request).unwrap();
        for report in &answer.analyses {
            assert!(report.total_ns > 0, "{report:?}");
            let is_solved = report.name != "points-to" || report.work.submissions == 2;
            assert!(is_solved, "{report:?}");
        }
        let names = answer.analyses.iter().map(|report| report.name);
        names.collect::<Vec<&str>>()
    };
    let calls = "call graph";
    assert_eq!(names(&[Calls], Resolve::Type), [calls]);
    assert_eq!(names(&[Calls], Resolve::PointsTo), ["points-to", calls]);
    assert_eq!(
        names(&[Liveness, Taint, Calls], Resolve::PointsTo),
        ["liveness", "points-to", "summaries", "taint", calls]
    );
    assert_eq!(
        names(&[Calls, PointsTo], Resolve::PointsTo),
        [calls, "points-to"]
    );
}

#[test]
fn functions_whose_reference_gets_outside_are_reached() {
    let unreached = |text: &str, is_resolved: bool| {
        let program = read(&format!(
            "(module (import \"env\" \"out\" (func $out (param funcref)))
             (table $t 2 funcref) (func $d) (func $e) {text})"
        ));
        let mut calls = Calls::of(&program);
        if is_resolved {
            calls = Calls::resolved(&program, &ask(&program, OpenTables::Changed, 1));
        }
        let on = On::new(Machine::cpu(NonZeroUsize::new(1)));
        let (is_reached, _) = calls::reached(&calls, on).unwrap();
        let names = (0..3).filter(|number| !is_reached[*number]);
        names.collect::<Vec<usize>>()
    };
    let passes = "(elem declare func $d) (func (export \"f\") ref.func $d call $out)";
    assert_eq!(unreached(passes, false), [2]);
    assert_eq!(unreached(passes, true), [2]);
    // By type, a reference that code names may get anywhere.
    let drops = "(elem declare func $d) (func (export \"f\") ref.func $d drop i32.const 0 drop)";
    assert_eq!(unreached(drops, false), [0, 2]);
    assert_eq!(unreached(drops, true), [0, 1, 2]);
    let reads = "(elem (i32.const 0) $d)
        (func (export \"f\") i32.const 0 table.get $t call $out)";
    assert_eq!(unreached(reads, false), [2]);
    assert_eq!(unreached(reads, true), [2]);
    let holds = "(elem (i32.const 0) $d) (func (export \"f\"))";
    assert_eq!(unreached(holds, false), [0, 1, 2]);
    let global = "(global (export \"g\") funcref (ref.func $d)) (func (export \"f\"))";
    assert_eq!(unreached(global, false), [0, 2]);
    assert_eq!(unreached(global, true), [0, 2]);
}

/// Objects of the interpreter; `Initial::Unknown` stands for all. Shared, as most are copies.
type Set = Rc<BTreeSet<Initial>>;

fn only(object: Initial) -> Set {
    Rc::new(BTreeSet::from([object]))
}

/// Adds objects to a set; returns whether it has more then.
fn join(set: &mut Set, by: &Set) -> bool {
    if Rc::ptr_eq(set, by) || by.is_subset(set) {
        return false;
    }
    if set.is_empty() {
        set.clone_from(by);
    } else {
        Rc::make_mut(set).extend(by.iter());
    }
    true
}

/// Interprets all functions over sets until nothing changes.
struct Interpreter<'a> {
    program: &'a Program,
    calls: &'a Calls,
    open_tables: OpenTables,
    /// By function.
    parameters: Vec<Vec<Set>>,
    results: Vec<Vec<Set>>,
    /// Locals and stack at the start of each block that is reached.
    starts: BTreeMap<(usize, usize), (Vec<Set>, Vec<Set>)>,
    globals: Vec<Set>,
    /// References that any entry of a table may hold.
    written: Vec<Set>,
    outside: Set,
    found: BTreeMap<(u32, u32), Option<Set>>,
    has_changed: bool,
}

fn unknown() -> Set {
    only(Initial::Unknown)
}

impl<'a> Interpreter<'a> {
    fn new(program: &'a Program, calls: &'a Calls, open_tables: OpenTables) -> Self {
        let module = &program.modules[0];
        let functions = program.functions.iter();
        Self {
            program,
            calls,
            open_tables,
            parameters: functions
                .clone()
                .map(|f| vec![Set::default(); f.parameters as usize])
                .collect(),
            results: functions
                .map(|f| vec![Set::default(); f.results as usize])
                .collect(),
            starts: BTreeMap::new(),
            globals: vec![Set::default(); module.globals as usize],
            written: vec![Set::default(); module.open_tables.len()],
            outside: Set::default(),
            found: BTreeMap::new(),
            has_changed: false,
        }
    }

    fn module(&self) -> &'a Module {
        &self.program.modules[0]
    }

    fn of(&self, initial: Initial) -> Set {
        match initial {
            Initial::Null => Set::default(),
            Initial::Global(global) => self.globals[global as usize].clone(),
            object => only(object),
        }
    }

    fn grow(has_changed: &mut bool, set: &mut Set, by: &Set) {
        *has_changed |= join(set, by);
    }

    fn run(&mut self) {
        let module = self.module();
        loop {
            self.has_changed = false;
            let mut changed = false;
            for (number, global) in module.global_values.iter().enumerate() {
                let mut value = self.of(global.initial);
                if global.is_open {
                    join(&mut value, &unknown());
                    let all = self.globals[number].clone();
                    Self::grow(&mut changed, &mut self.outside, &all);
                }
                Self::grow(&mut changed, &mut self.globals[number], &value);
            }
            for entry in &module.entries {
                let is_function = matches!(entry.initial, Initial::Function(_));
                if entry.table != ANY_TABLE && (!is_function || entry.index == ANY_INDEX) {
                    let value = self.of(entry.initial);
                    Self::grow(
                        &mut changed,
                        &mut self.written[entry.table as usize],
                        &value,
                    );
                }
            }
            for (table, is_open) in module.open_tables.iter().enumerate() {
                if *is_open {
                    if self.open_tables == OpenTables::Changed {
                        Self::grow(&mut changed, &mut self.written[table], &unknown());
                    }
                    let held = self.held(table as u32);
                    Self::grow(&mut changed, &mut self.outside, &held);
                }
            }
            self.has_changed |= changed;
            for function in 0..self.program.functions.len() {
                self.function(function);
            }
            if !self.has_changed {
                return;
            }
        }
    }

    /// All that a table may hold.
    fn held(&self, table: u32) -> Set {
        let entries = self.module().entries.iter();
        let own = entries.filter(|entry| entry.table == table);
        let mut set = Set::default();
        for value in own.map(|entry| self.of(entry.initial)) {
            join(&mut set, &value);
        }
        if let Some(written) = self.written.get(table as usize) {
            join(&mut set, written);
        }
        if self.module().open_tables.get(table as usize) == Some(&true) {
            join(&mut set, &unknown());
        }
        set
    }

    fn function(&mut self, number: usize) {
        let function = &self.program.functions[number];
        let object = Initial::Function(number as u32);
        let is_called = self.calls.roots.contains(&(number as u32));
        if is_called || self.outside.contains(&object) {
            for parameter in 0..function.parameters as usize {
                let set = &mut self.parameters[number][parameter];
                Self::grow(&mut self.has_changed, set, &unknown());
            }
            for result in self.results[number].clone() {
                Self::grow(&mut self.has_changed, &mut self.outside, &result);
            }
        }
        if function.import.is_some() {
            for parameter in self.parameters[number].clone() {
                Self::grow(&mut self.has_changed, &mut self.outside, &parameter);
            }
            for result in &mut self.results[number] {
                Self::grow(&mut self.has_changed, result, &unknown());
            }
            return;
        }
        let mut locals = self.parameters[number].clone();
        locals.resize(function.body.locals as usize, only(Initial::Index(0)));
        self.enter(number, 0, &locals, &[]);
        for block in 0..function.body.blocks.len() {
            let Some((mut locals, mut stack)) = self.starts.get(&(number, block)).cloned() else {
                continue;
            };
            for at in function.body.ops_of(block) {
                self.step(number, at, &mut locals, &mut stack);
            }
            for to in function.body.successors_of(block) {
                self.enter(number, *to as usize, &locals, &stack);
            }
        }
    }

    fn enter(&mut self, function: usize, block: usize, locals: &[Set], stack: &[Set]) {
        let height = self.program.functions[function].body.blocks[block].height as usize;
        let stack = &stack[..height];
        let start = self.starts.entry((function, block)).or_insert_with(|| {
            self.has_changed = true;
            (
                vec![Set::default(); locals.len()],
                vec![Set::default(); height],
            )
        });
        let sets = start.0.iter_mut().chain(&mut start.1);
        for (set, by) in sets.zip(locals.iter().chain(stack)) {
            Self::grow(&mut self.has_changed, set, by);
        }
    }

    fn step(&mut self, number: usize, at: usize, locals: &mut [Set], stack: &mut Vec<Set>) {
        let op = self.program.functions[number].body.ops[at];
        let operands = stack.split_off(stack.len() - op.pops() as usize);
        let top = operands.last().cloned().unwrap_or_default();
        let local = op.arg as usize;
        match op.kind() {
            Kind::LocalGet => stack.push(locals[local].clone()),
            Kind::LocalSet => locals[local] = top,
            Kind::LocalTee => {
                locals[local] = top.clone();
                stack.push(top);
            }
            Kind::GlobalGet => stack.push(self.globals[local].clone()),
            Kind::GlobalSet => {
                Self::grow(&mut self.has_changed, &mut self.globals[local], &top);
            }
            Kind::Move => {
                stack.truncate(local);
                stack.extend(operands);
            }
            Kind::Return => {
                for (set, by) in self.results[number].iter_mut().zip(&operands) {
                    Self::grow(&mut self.has_changed, set, by);
                }
            }
            Kind::Call | Kind::Indirect => {
                let made = self.call(number, at, operands);
                stack.extend(made);
            }
            _ => {
                let made = self.other(op, &operands);
                let height = stack.len() + op.pushes() as usize;
                stack.resize(height, made);
            }
        }
    }

    /// The bytes of an operation decide.
    fn other(&mut self, op: Op, operands: &[Set]) -> Set {
        let bytes = &self.module().image.0[op.offset as usize..];
        let mut reader = OperatorsReader::new(BinaryReader::new(bytes, 0));
        match reader.read().unwrap() {
            Operator::I32Const { value } => only(Initial::Index(value as u32)),
            Operator::RefFunc { function_index } => only(Initial::Function(function_index)),
            Operator::RefNull { .. } => Set::default(),
            Operator::Select | Operator::TypedSelect { .. } => {
                let mut both = operands[0].clone();
                join(&mut both, &operands[1]);
                both
            }
            Operator::RefCastNonNull { .. } | Operator::RefAsNonNull => operands[0].clone(),
            Operator::TableGet { table } => self.held(table),
            Operator::TableSet { table } | Operator::TableFill { table } => {
                self.write(table, &operands[1].clone());
                unknown()
            }
            Operator::TableGrow { table } => {
                self.write(table, &operands[0].clone());
                unknown()
            }
            Operator::TableCopy {
                dst_table,
                src_table,
            } => {
                self.write(dst_table, &self.held(src_table));
                unknown()
            }
            Operator::TableInit { table, .. } => {
                // Segments that instructions may copy are entries of any table.
                self.write(table, &self.held(ANY_TABLE));
                unknown()
            }
            _ => unknown(),
        }
    }

    fn write(&mut self, table: u32, value: &Set) {
        let set = &mut self.written[table as usize];
        Self::grow(&mut self.has_changed, set, value);
    }

    fn call(&mut self, number: usize, at: usize, mut operands: Vec<Set>) -> Vec<Set> {
        let callee = self.calls.callee(self.program, number, at).unwrap();
        let op = self.program.functions[number].body.ops[at];
        if op.kind() == Kind::Call {
            return self.pass(callee, &operands);
        }
        let chosen_by = operands.pop().unwrap();
        let by_type = self.calls.callees.row(callee as usize);
        let key = self.program.functions[number].body.indirect[op.arg as usize];
        let targets = self.choose(key.table, &chosen_by, by_type);
        let mut made = vec![Set::default(); op.pushes() as usize];
        let all = targets.clone().unwrap_or_else(|| {
            let may_leave = key.table == ANY_TABLE
                || self.module().open_tables[key.table as usize]
                || self.module().written_tables[key.table as usize];
            if may_leave {
                for operand in &operands {
                    Self::grow(&mut self.has_changed, &mut self.outside, operand);
                }
                made.fill(unknown());
            }
            let all = by_type.iter().map(|function| Initial::Function(*function));
            Rc::new(all.collect())
        });
        for target in all.iter() {
            let Initial::Function(target) = *target else {
                continue;
            };
            for (set, by) in made.iter_mut().zip(self.pass(target, &operands)) {
                join(set, &by);
            }
        }
        self.found.insert((number as u32, at as u32), targets);
        made
    }

    fn choose(&self, table: u32, chosen_by: &Set, by_type: &[u32]) -> Option<Set> {
        if chosen_by.contains(&Initial::Unknown) {
            return None;
        }
        let mut found = BTreeSet::new();
        for object in chosen_by.iter() {
            match object {
                Initial::Index(index) if table != ANY_TABLE => {
                    if self.written[table as usize].contains(&Initial::Unknown) {
                        return None;
                    }
                    found.extend(self.written[table as usize].iter());
                    let entries = self.module().entries.iter();
                    let mut here = entries
                        .filter(|entry| entry.table == table && entry.index == *index)
                        .peekable();
                    let is_added = *index >= self.module().table_sizes[table as usize];
                    let is_open = self.module().open_tables[table as usize];
                    if here.peek().is_none() && is_open && is_added {
                        return None;
                    }
                    found.extend(here.map(|entry| entry.initial));
                }
                function => {
                    found.insert(*function);
                }
            }
        }
        let fits = |object: &Initial| match object {
            Initial::Function(function) => by_type.contains(function),
            _ => false,
        };
        found.retain(fits);
        Some(Rc::new(found))
    }

    /// Passes arguments to a function; returns its results so far.
    fn pass(&mut self, callee: u32, operands: &[Set]) -> Vec<Set> {
        let parameters = self.parameters[callee as usize].iter_mut();
        for (set, by) in parameters.zip(operands) {
            Self::grow(&mut self.has_changed, set, by);
        }
        self.results[callee as usize].clone()
    }
}

/// Compares every choice with the interpreter's, on one thread and on several.
fn check(program: &Program, open_tables: OpenTables, text: &str) {
    let calls = Calls::of(program);
    let mut interpreter = Interpreter::new(program, &calls, open_tables);
    interpreter.run();
    let found = ask(program, open_tables, 1);
    let several = ask(program, open_tables, 3);
    assert_eq!(found.choices, several.choices, "{text}");
    let outside = interpreter
        .outside
        .iter()
        .filter_map(|object| match object {
            Initial::Function(function) => Some(*function),
            _ => None,
        });
    assert_eq!(found.escaped, Some(outside.collect()), "{text}");
    let count = interpreter.found.len();
    assert_eq!(found.choices.len(), count, "{text}");
    for choice in &found.choices {
        let expected = interpreter.found[&(choice.function, choice.op)].clone();
        let targets = choice.targets.as_ref().map(|targets| {
            let functions = targets.iter();
            Set::new(
                functions
                    .map(|function| Initial::Function(*function))
                    .collect(),
            )
        });
        assert_eq!(targets, expected, "{choice:?} of {text}");
    }
}

/// Text of a random function body.
struct Text<'a, 'n> {
    numbers: &'a mut Numbers<'n>,
    text: String,
}

impl Text<'_, '_> {
    fn below(&mut self, end: u32) -> u32 {
        self.numbers.below(end)
    }

    fn say(&mut self, text: &str) {
        self.text.push_str(text);
    }

    /// A number: locals, small constants, calls.
    fn number(&mut self, depth: u32) {
        let kind = self.below(if depth < 3 { 14 } else { 6 });
        let which = self.below(3);
        match kind {
            0..=2 => self.say(&format!("(i32.const {})", which * 2)),
            3 | 4 => self.say(&format!("(local.get $n{which})")),
            5 => self.say(&format!("(global.get $g{})", which % 2)),
            6 => self.form("(i32.add ", depth, "nn"),
            7 => self.form("(i32.load ", depth, "n"),
            8 => self.form("(select ", depth, "nnn"),
            9 => self.form(&format!("(call $f{which} "), depth, "nr"),
            10 => self.form("(call $in ", depth, ""),
            11 => self.form("(call_indirect $t (type $f) ", depth, "nrn"),
            12 => self.form("(call_ref $f ", depth, "nrr"),
            _ => self.form("(block (result i32) (br_if 0 ", depth, "nn)"),
        }
    }

    /// A reference: locals, functions, entries.
    fn reference(&mut self, depth: u32) {
        let kind = self.below(if depth < 3 { 11 } else { 6 });
        let which = self.below(3);
        match kind {
            0 => self.say("(ref.null $f)"),
            1 | 2 => self.say(&format!("(ref.func $f{which})")),
            3 | 4 => self.say(&format!("(local.get $q{})", which % 2)),
            5 => self.say("(global.get $r)"),
            6 => self.form("(select (result (ref null $f)) ", depth, "rrn"),
            7 => self.form("(table.get $r ", depth, "n"),
            8 => self.form("(call_indirect $t (type $p) ", depth, "rn"),
            9 => self.form(&format!("(call $p{} ", which % 2), depth, "r"),
            _ => self.form("(ref.as_non_null ", depth, "r"),
        }
    }

    /// A form with operands: `n` a number, `r` a reference, others as they are.
    fn form(&mut self, head: &str, depth: u32, operands: &str) {
        self.say(head);
        for operand in operands.chars() {
            match operand {
                'n' => self.number(depth + 1),
                'r' => self.reference(depth + 1),
                other => self.text.push(other),
            }
        }
        self.say(")");
    }

    fn statements(&mut self, depth: u32) {
        for _ in 0..self.below(5) {
            self.statement(depth);
        }
    }

    fn statement(&mut self, depth: u32) {
        let kind = self.below(if depth < 3 { 17 } else { 12 });
        let which = self.below(3);
        match kind {
            0..=2 => self.form(&format!("(local.set $n{which} "), 0, "n"),
            3 | 4 => self.form(&format!("(local.set $q{} ", which % 2), 0, "r"),
            5 => self.form(&format!("(global.set $g{} ", which % 2), 0, "n"),
            6 => self.form("(global.set $r ", 0, "r"),
            7 => self.form("(table.set $r ", 0, "nr"),
            8 => match which {
                0 => self.form("(table.copy $r $s ", 0, "nnn"),
                1 => self.form("(table.fill $s ", 0, "nrn"),
                _ => self.form("(table.init $s $e ", 0, "nnn"),
            },
            9 if which == 0 => self.form("(call $out ", 0, "r"),
            9..=11 => self.form("(drop ", 0, "n"),
            12 | 13 => {
                self.say("(if ");
                self.number(1);
                self.say("(then ");
                self.statements(depth + 1);
                self.say(") (else ");
                self.statements(depth + 1);
                self.say(
                    "))
",
                );
            }
            14 => {
                self.say("(loop ");
                self.statements(depth + 1);
                self.form("(br_if 0 ", 0, "n");
                self.say(
                    ")
",
                );
            }
            _ => {
                self.say("(block ");
                self.statements(depth + 1);
                self.form("(br_if 0 ", 0, "n");
                self.statements(depth + 1);
                self.say(
                    ")
",
                );
            }
        }
    }
}

/// A module with tables, globals and functions that take numbers and references.
fn module(numbers: &mut Numbers<'_>) -> String {
    let shown = |numbers: &mut Numbers<'_>, name: &str| match numbers.below(6) {
        0 => format!("(export \"{name}\")"),
        _ => String::new(),
    };
    let (g, r, t) = (
        shown(numbers, "g"),
        shown(numbers, "r"),
        shown(numbers, "t"),
    );
    let first = numbers.below(4);
    let mut text = format!(
        "(module (type $f (func (param i32 (ref null $f)) (result i32)))
        (type $p (func (param (ref null $f)) (result (ref null $f))))
        (import \"env\" \"in\" (func $in (result i32)))
        (import \"env\" \"out\" (func $out (param (ref null $f))))
        (memory 1) (table $t {t} 6 funcref) (table $r 4 (ref null $f)) (table $s 4 (ref null $f))
        (elem (table $t) (i32.const {first}) func $f0 $p0 $f1 $p1)
        (elem (table $r) (i32.const 0) (ref null $f) (ref.func $f0)) (elem $e (ref null $f) (ref.func $f1))
        (elem declare func $f2)
        (global $g0 {g} (mut i32) (i32.const 2)) (global $g1 (mut i32) (i32.const {first}))
        (global $r {r} (mut (ref null $f)) (ref.func $f1))
"
    );
    for function in 0..5 {
        let is_f = function < 3;
        let export = if function == 0 { "(export \"f0\")" } else { "" };
        text.push_str(&match is_f {
            true => format!(
                "(func $f{function} {export} (type $f) (param $n0 i32) (param $q0 (ref null $f))
                (result i32) (local $n1 i32) (local $n2 i32) (local $q1 (ref null $f))\n"
            ),
            false => format!(
                "(func $p{} (type $p) (param $q0 (ref null $f)) (result (ref null $f))
                (local $n0 i32) (local $n1 i32) (local $n2 i32) (local $q1 (ref null $f))\n",
                function - 3
            ),
        });
        let mut body = Text {
            numbers: &mut *numbers,
            text: String::new(),
        };
        body.statements(0);
        match is_f {
            true => body.number(1),
            false => body.reference(1),
        }
        text.push_str(&body.text);
        text.push_str(
            ")
",
        );
    }
    text.push(')');
    text
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(50))]
    #[test]
    fn choices_are_those_of_a_plain_interpreter(
        numbers in prop::collection::vec(any::<u8>(), 0..600),
    ) {
        let text = module(&mut Numbers::new(&numbers));
        for open_tables in OpenTables::ALL {
            check(&read(&text), open_tables, &text);
        }
    }
}

/// Checks a module of a package; returns it unless it could not be fetched.
fn check_real(name: &str, file: &str) -> Option<Program> {
    let folder = match real::package(name) {
        Ok(folder) => folder,
        Err(reason) => {
            eprintln!("skipped: {name} could not be fetched: {reason}");
            return None;
        }
    };
    let mut program = Program::default();
    let bytes = std::fs::read(folder.join(file)).unwrap();
    seawall_modules::read(&mut program, file, bytes).unwrap();
    let calls = Calls::of(&program);
    let found = ask(&program, OpenTables::Extended, 2);
    assert!(found.choices.iter().any(|choice| choice.targets.is_some()));
    for choice in &found.choices {
        let callee = calls.callee(&program, choice.function as usize, choice.op as usize);
        let by_type = calls.callees.row(callee.unwrap() as usize);
        assert_eq!(choice.by_type as usize, by_type.len());
        for target in choice.targets.iter().flatten() {
            assert!(by_type.contains(target), "{choice:?}");
        }
    }
    Some(program)
}

#[test]
fn calls_of_an_sql_engine_are_those_of_a_plain_interpreter() {
    let file = "dist/sql-wasm.wasm";
    if let Some(program) = check_real("sql.js", file) {
        check(&program, OpenTables::Extended, file);
    }
}

#[test]
fn calls_of_a_database_are_among_those_of_their_type() {
    check_real(
        "@sqlite.org/sqlite-wasm@3.41.2",
        "sqlite-wasm/jswasm/sqlite3.wasm",
    );
}

#[test]
fn the_call_graph_and_taint_go_by_what_is_found() {
    let program = read(
        "(module (import \"env\" \"in\" (func $in (result i32)))
         (import \"env\" \"out\" (func $out (param i32)))
         (type $f (func (param i32) (result i32))) (table 4 funcref) (elem (i32.const 0) $same $drops)
         (func $same (type $f) local.get 0) (func $drops (type $f) i32.const 2)
         (func $apply (param i32 i32) (result i32) local.get 0 local.get 1 call_indirect (type $f))
         (func (export \"f\") call $in i32.const 1 call $apply call $out))",
    );
    let found = ask(&program, OpenTables::Changed, 1);
    let on = On::new(Machine::cpu(NonZeroUsize::new(1)));
    let leaks = |calls: &Calls| {
        let session = taint::session(&program, calls.clone());
        taint::all(&session, &["in"], &["out"]).findings.len()
    };
    let resolved = Calls::resolved(&program, &found);
    assert_eq!(leaks(&Calls::of(&program)), 1);
    assert_eq!(leaks(&resolved), 0);
    let (is_reached, _) = calls::reached(&resolved, on).unwrap();
    let unreached: Vec<&str> = program
        .functions
        .iter()
        .zip(is_reached)
        .filter(|(_, is_reached)| !is_reached)
        .filter_map(|(function, _)| function.name.as_deref())
        .collect();
    assert_eq!(unreached, ["same"]);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]
    #[test]
    fn resolved_calls_reach_what_was_found_and_others_go_by_type(
        numbers in prop::collection::vec(any::<u8>(), 0..600),
    ) {
        let program = read(&module(&mut Numbers::new(&numbers)));
        let by_type = Calls::of(&program);
        let found = ask(&program, OpenTables::Extended, 1);
        let resolved = Calls::resolved(&program, &found);
        let row = |calls: &Calls, choice: &Choice| {
            let (function, op) = (choice.function as usize, choice.op as usize);
            let callee = calls.callee(&program, function, op).unwrap();
            match (callee as usize) < calls.functions {
                true => vec![callee],
                false => calls.callees.row(callee as usize).to_vec(),
            }
        };
        for choice in &found.choices {
            let all = row(&by_type, choice);
            let expected = choice.targets.clone().unwrap_or(all);
            prop_assert_eq!(row(&resolved, choice), expected);
        }
    }
}

/// Objects of values by the grammar, over the graph as text: (object, value).
fn by_grammar(program: &Program, constraints: &Constraints) -> BTreeSet<(String, String)> {
    let grammar = Grammar::read("points-to.cnf", GRAMMAR).unwrap();
    let mut edges = Edges::default();
    let graph = constraints.graph(program);
    edges.read(&grammar, "points-to.g", &graph).unwrap();
    let size = (edges.names.len() as u64, edges.edges.len() as u64);
    assert_eq!((constraints.size().nodes, constraints.size().edges), size);
    let reached = reach(&grammar, &edges, 1 << 30).unwrap();
    let pairs = reached.pairs(Select {
        symbol: grammar.start,
        from: None,
        to: None,
    });
    let name = |node: u32| edges.names[node as usize].to_string();
    pairs.map(|pair| (name(pair.from), name(pair.to))).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]
    #[test]
    fn inclusions_are_a_grammar(
        numbers in prop::collection::vec(any::<u8>(), 0..600),
        is_extended in any::<bool>(),
    ) {
        let program = read(&module(&mut Numbers::new(&numbers)));
        let open_tables = if is_extended { OpenTables::Extended } else { OpenTables::Changed };
        let on = On::new(Machine::cpu(NonZeroUsize::new(1)));
        let calls = Calls::of(&program);
        let constraints = Constraints::of(&program, &calls, open_tables, on).unwrap();
        let found = constraints.found.iter();
        let found: BTreeSet<(String, String)> =
            found.map(|(object, value)| (object.name(), value_name(*value))).collect();
        prop_assert_eq!(&by_grammar(&program, &constraints), &found);
        // A call by reference reaches the functions that the grammar finds, unless it is unknown.
        let answer = ask(&program, open_tables, 1);
        prop_assert_eq!(answer.choices.len(), constraints.choices.len());
        for (choice, (function, op, value)) in answer.choices.iter().zip(&constraints.choices) {
            prop_assert_eq!((choice.function, choice.op), (*function, *op));
            let is_unknown = found.contains(&("unknown@0".to_owned(), value_name(*value)));
            prop_assert!(!is_unknown || choice.targets.is_none());
        }
    }
}
