//! The front ends: blocks of known functions, errors, names, tables.

use crate::analyses::read;
use crate::random::{self, Numbers};
use proptest::prelude::*;
use seawall::executor::Machine;
use seawall_modules::ModuleError;
use seawall_modules::calls::Calls;
use seawall_modules::flow::On;
use seawall_modules::model::{Body, Program};
use seawall_modules::points_to::OpenTables;
use seawall_modules::report::{AnalysisName, Request, Resolve, run};
use std::num::NonZeroUsize;

fn rows(body: &Body) -> Vec<Vec<u32>> {
    let blocks = 0..body.blocks.len();
    blocks
        .map(|block| body.successors_of(block).to_vec())
        .collect()
}

fn function(text: &str) -> Body {
    let program = read(&format!("(module (memory 1) (tag $e (param i32)) {text})"));
    program.functions.into_iter().next_back().unwrap().body
}

#[test]
fn structured_control_becomes_blocks() {
    let loops = function("(func (param i32) loop local.get 0 br_if 0 end)");
    assert_eq!(rows(&loops), [vec![1], vec![1, 2], vec![]]);
    let choice = function("(func (param i32) local.get 0 if nop else nop end)");
    assert_eq!(rows(&choice), [vec![1, 2], vec![3], vec![3], vec![]]);
    let one_sided = function("(func (param i32) local.get 0 if nop end)");
    assert_eq!(rows(&one_sided), [vec![1, 2], vec![2], vec![]]);
    let straight = function("(func (param i32) block block end end)");
    assert_eq!(rows(&straight), [Vec::<u32>::new()]);
    let table = function("(func (param i32) block block local.get 0 br_table 0 1 0 end nop end)");
    assert_eq!(rows(&table), [vec![1, 2], vec![2], vec![]]);
    let dead = function("(func (result i32) i32.const 1 return loop br 0 end i32.const 2)");
    assert_eq!(rows(&dead), [vec![1], vec![]]);
    let endless = function("(func loop br 0 end)");
    assert_eq!(rows(&endless), [vec![1], vec![1]]);
}

#[test]
fn a_branch_that_moves_values_has_a_block_for_it() {
    let body = function(
        "(func (param i32) (result i32) block (result i32) i32.const 1 i32.const 2 local.get 0 br_if 0 drop end)",
    );
    assert_eq!(rows(&body), [vec![1, 2], vec![3], vec![3], vec![]]);
    assert_eq!(body.blocks[1].height, 2);
    assert_eq!(body.blocks[3].height, 1);
}

#[test]
fn exceptions_lead_from_calls_to_handlers() {
    let body = function(
        "(func $f) (func (result i32)
         block $h (result i32) try_table (catch $e $h) call $f end i32.const 0 end)",
    );
    // Entry and call, after the call, landing, handler's values, after the table, end.
    let found = rows(&body);
    assert_eq!(found[0], [1, 2]);
    assert_eq!(found[2], [3]);
    assert_eq!(found.last(), Some(&vec![]));
}

#[test]
fn errors_name_the_offset() {
    let mut bytes = wat::parse_str("(module (func (result i32) i32.const 7))").unwrap();
    let at = bytes.iter().rposition(|byte| *byte == 0x41).unwrap();
    bytes[at] = 0x42;
    let error = seawall_modules::read(&mut Program::default(), "x.wasm", bytes).unwrap_err();
    let ModuleError::Invalid {
        offset, message, ..
    } = &error
    else {
        panic!("{error}");
    };
    assert!((at as u64..=at as u64 + 2).contains(offset), "{offset}");
    assert!(message.contains("type mismatch"), "{message}");
}

#[test]
fn components_and_other_files_are_refused_with_a_reason() {
    let component = b"\0asm\x0d\0\x01\0".to_vec();
    let error = seawall_modules::read(&mut Program::default(), "c.wasm", component).unwrap_err();
    assert!(matches!(error, ModuleError::Component { .. }), "{error}");
    let error = seawall_modules::read(&mut Program::default(), "x", b"ELF".to_vec()).unwrap_err();
    assert!(matches!(error, ModuleError::Unknown { .. }), "{error}");
}

#[test]
fn calls_by_table_reach_the_elements_of_their_type() {
    let program = read(
        "(module (type $a (func)) (type $b (func (param i32)))
         (table $t 4 funcref) (table $u 4 funcref)
         (elem (table $t) (i32.const 0) func $one $two) (elem (table $u) (i32.const 0) func $three)
         (func $one) (func $two (param i32)) (func $three)
         (func $main (export \"main\") i32.const 0 call_indirect $t (type $a)))",
    );
    let calls = Calls::of(&program);
    let dispatch = calls.callees.row(3);
    assert_eq!(dispatch, [4]);
    assert_eq!(calls.callees.row(4), [0]);
    assert_eq!(calls.label(&program, 0), "one");
    assert_eq!(calls.roots, [3]);
}

#[test]
fn operators_on_references_and_tables_are_noted() {
    for (code, given, is_written) in [
        ("ref.func $f drop", &[0][..], false),
        ("i32.const 0 table.get $t drop", &[0], false),
        (
            "i32.const 0 i32.const 1 array.new_elem $a $e drop",
            &[0],
            false,
        ),
        (
            "local.get 0 i32.const 0 i32.const 0 i32.const 1 array.init_elem $a $e",
            &[0],
            false,
        ),
        ("i32.const 0 ref.null func table.set $t", &[], true),
        ("ref.null func i32.const 1 table.grow $t drop", &[], true),
        (
            "i32.const 0 ref.null func i32.const 1 table.fill $t",
            &[],
            true,
        ),
        (
            "i32.const 0 i32.const 0 i32.const 1 table.copy $t $t",
            &[],
            true,
        ),
        (
            "i32.const 0 i32.const 0 i32.const 1 table.init $t $e",
            &[],
            false,
        ),
        ("unreachable ref.func $f drop", &[], false),
    ] {
        let program = read(&format!(
            "(module (type $a (array (mut funcref))) (table $t 4 funcref) (elem $e func $f)
             (func $f) (func (param (ref null $a)) {code}))"
        ));
        let module = &program.modules[0];
        assert_eq!(module.given, given, "{code}");
        assert_eq!(module.written_tables, [is_written], "{code}");
    }
}

#[test]
fn text_is_read_and_its_errors_name_the_line() {
    let read = |text: &str| {
        let mut program = Program::default();
        let read = seawall_modules::read(&mut program, "f.flow", text.as_bytes().to_vec());
        read.map(|()| program)
    };
    let program = read(
        "seawall-flow 1 # a loop\nfunction f exported\nparameters n\nblock a -> c\n def i\n\
         block c -> c b\n use i\n call g\nblock b\nfunction g imported\n",
    )
    .unwrap();
    assert_eq!(
        rows(&program.functions[0].body),
        [vec![1], vec![1, 2], vec![]]
    );
    assert_eq!(Calls::of(&program).callees.row(0), [1]);
    for (text, line) in [
        ("seawall-flow 2\n", 1),
        ("seawall-flow 1\nblock a\n", 2),
        ("seawall-flow 1\nfunction f\nblock a -> z\n", 3),
        ("seawall-flow 1\nfunction f\nblock a\ncall g\n", 4),
        ("seawall-flow 1\nfunction f\nblock a\nblock a\n", 4),
        ("seawall-flow 1\nfunction f imported\nblock a\n", 3),
    ] {
        let error = read(text).unwrap_err();
        let ModuleError::Text { line: found, .. } = error else {
            panic!("{error}");
        };
        assert_eq!(found, line, "{text}");
    }
}

/// Every analysis of a program ends.
fn analyse(program: &Program) {
    let request = Request {
        analyses: AnalysisName::ALL.to_vec(),
        reach: Vec::new(),
        sources: vec!["load".parse().unwrap()],
        sinks: Vec::new(),
        ways: 0,
        resolve: Resolve::PointsTo,
        open_tables: OpenTables::Extended,
        on: On::new(Machine::cpu(NonZeroUsize::new(1))),
    };
    let answer = run(program, &request).unwrap();
    assert!(answer.analyses.len() > AnalysisName::ALL.len());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]
    #[test]
    fn damaged_modules_are_refused_or_analysed(
        numbers in prop::collection::vec(any::<u8>(), 0..200),
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4),
    ) {
        let text = random::module(&mut Numbers::new(&numbers));
        let mut bytes = wat::parse_str(text).unwrap();
        for (at, byte) in changes {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        let mut program = Program::default();
        if seawall_modules::read(&mut program, "x.wasm", bytes).is_ok() {
            analyse(&program);
        }
    }

    #[test]
    fn any_text_is_refused_or_analysed(
        lines in prop::collection::vec((0_usize..8, 0_u8..4, 0_u8..4), 0..30)
    ) {
        let mut text = String::from("seawall-flow 1\n");
        for (statement, one, other) in lines {
            let words = ["function", "block", "use", "def", "gen", "kill", "call", "parameters"];
            let arrow = if statement == 1 { "->" } else { "" };
            text.push_str(&format!("{} {one} {arrow} {other}\n", words[statement]));
        }
        let mut program = Program::default();
        if seawall_modules::read(&mut program, "x.flow", text.into_bytes()).is_ok() {
            analyse(&program);
        }
    }
}
