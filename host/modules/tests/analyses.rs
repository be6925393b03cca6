//! Analyses of functions against plain ones.

use crate::oracle;
use crate::random::{self, Numbers};
use proptest::prelude::*;
use seawall::executor::Machine;
use seawall_modules::analysis::{
    AVAILABLE, INITIALISED, LIVENESS, NONE, REACHING, available, dead_stores, dominates,
    dominators, expressions, initialised, liveness, loops, reaching, uninitialised_uses,
};
use seawall_modules::calls::{self, Calls};
use seawall_modules::cells::Cells;
use seawall_modules::flow::{Limits, On, Problem, solve};
use seawall_modules::model::{Kind, Program};
use seawall_modules::points_to::OpenTables;
use seawall_modules::report::{AnalysisName, Request, Resolve, run};
use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZeroUsize;

fn machine() -> Machine {
    Machine::cpu(NonZeroUsize::new(1))
}

pub(crate) fn read(text: &str) -> Program {
    let bytes = wat::parse_str(text).unwrap();
    let mut program = Program::default();
    seawall_modules::read(&mut program, "test.wasm", bytes).unwrap();
    program
}

fn cells(program: &Program, function: usize) -> Cells {
    let function = &program.functions[function];
    Cells::of(function, &program.modules[function.module as usize])
}

/// Compares every analysis of every function with its plain form.
pub(crate) fn check_all(program: &Program) {
    check_liveness(program);
    check_reaching(program);
    check_initialised(program);
    check_available(program);
    check_loops(program);
    check_calls(program);
}

fn check_liveness(program: &Program) {
    let machine = machine();
    let (problems, live) = liveness(program);
    let solution = solve(program, LIVENESS, &problems, On::new(machine)).unwrap();
    let found = dead_stores(program, &live, &solution);
    for (number, function) in program.functions.iter().enumerate() {
        let (expected, dead) = oracle::liveness(function, cells(program, number));
        for (block, expected) in expected.iter().enumerate() {
            let facts = (0..).zip(&live[number].cells);
            let found: oracle::Set = facts
                .filter(|(fact, _)| solution.passes(number, block, *fact))
                .map(|(_, cell)| *cell)
                .collect();
            assert_eq!(
                &found,
                expected,
                "live in block {block} of {}",
                function.label()
            );
        }
        let found = found.iter().filter(|store| store.function == number);
        let found: Vec<u32> = found.map(|store| store.op).collect();
        assert_eq!(found, dead, "dead stores of {}", function.label());
    }
}

fn check_reaching(program: &Program) {
    let machine = machine();
    let on = On::new(machine);
    let (problems, all) = reaching(program, on.limits);
    let solution = solve(program, REACHING, &problems, on).unwrap();
    for (number, function) in program.functions.iter().enumerate() {
        let expected = oracle::reaching(function, cells(program, number));
        let facts = &all[number];
        let mut entry = vec![0_u64; solution.columns(number)];
        for (first, _) in &problems[number].boundary {
            entry[*first as usize / 64] |= 1 << (first % 64);
        }
        let mut found = BTreeMap::new();
        let mut coming = solution.arrivals(number, &function.body, &entry);
        for (block, cell, _) in &facts.uses {
            let words = coming.at(*block);
            let of_cell = facts.first[*cell as usize]..facts.first[*cell as usize + 1];
            let writes: oracle::Set = of_cell
                .filter(|fact| words[*fact as usize / 64] >> (fact % 64) & 1 == 1)
                .map(|fact| facts.blocks[fact as usize])
                .collect();
            found.insert((*block, facts.cells[*cell as usize]), writes);
        }
        assert_eq!(
            found,
            expected,
            "definitions that reach uses of {}",
            function.label()
        );
    }
}

fn check_initialised(program: &Program) {
    let machine = machine();
    let (problems, reads) = initialised(program);
    let on = On::new(machine);
    let solution = solve(program, INITIALISED, &problems, on).unwrap();
    let all = uninitialised_uses(program, &reads, &solution);
    for (number, function) in program.functions.iter().enumerate() {
        let expected = oracle::uninitialised(function, cells(program, number));
        let found = all.iter().filter(|read| read.function == number);
        let found: BTreeSet<(u32, u32)> = found.map(|read| (read.block, read.local)).collect();
        assert_eq!(found, expected, "early reads of {}", function.label());
    }
}

/// Expressions as strings: what each block computes first, at which operation; and what it does to
/// them in order. `Some` computes, `None` with a cell writes it.
type Events = Vec<(Option<(String, u32)>, Option<u32>)>;

/// Expressions and writes of a block, as plain strings; cells are written as `<N>`.
fn strings(program: &Program, number: usize, block: usize) -> Events {
    let function = &program.functions[number];
    let image = &program.modules[function.module as usize].image.0;
    let cells = cells(program, number);
    let mut events = Events::new();
    let mut stack: Vec<Option<String>> = Vec::new();
    let forget = |stack: &mut Vec<Option<String>>, cell: u32| {
        for value in stack.iter_mut() {
            if value
                .as_ref()
                .is_some_and(|text| text.contains(&format!("<{cell}>")))
            {
                *value = None;
            }
        }
    };
    for at in function.body.ops_of(block) {
        let op = function.body.ops[at];
        let mut operands = Vec::new();
        for _ in 0..op.pops() {
            operands.push(stack.pop().flatten());
        }
        operands.reverse();
        let mut made = None;
        let mut written = Vec::new();
        match op.kind() {
            Kind::LocalGet => made = Some(format!("<{}>", op.arg)),
            Kind::GlobalGet => made = Some(format!("<{}>", cells.global(op.arg))),
            Kind::Constant | Kind::Pure | Kind::Load => {
                let code = &image[op.offset as usize..(op.offset + op.arg) as usize];
                let operands: Option<Vec<String>> = operands.into_iter().collect();
                let suffix = match op.kind() {
                    Kind::Load => format!(" <{}>", cells.memory()),
                    _ => String::new(),
                };
                made = operands
                    .filter(|operands| operands.len() <= 3)
                    .map(|operands| format!("({code:?} {}{suffix})", operands.join(" ")));
                if let Some(text) = made.as_ref().filter(|_| op.kind() != Kind::Constant) {
                    events.push((Some((text.clone(), at as u32)), None));
                }
            }
            Kind::LocalSet | Kind::LocalTee => written.push(op.arg),
            Kind::GlobalSet => written.push(cells.global(op.arg)),
            Kind::Store | Kind::Update => written.push(cells.memory()),
            Kind::Call | Kind::Indirect => written.extend(cells.locals..=cells.memory()),
            Kind::Move | Kind::Opaque | Kind::Return | Kind::Fact => {}
        }
        for cell in written {
            forget(&mut stack, cell);
            events.push((None, Some(cell)));
        }
        if op.kind() == Kind::LocalTee {
            made = Some(format!("<{}>", op.arg));
        }
        for _ in 0..op.pushes() {
            stack.push(made.clone());
        }
    }
    events
}

fn check_available(program: &Program) {
    let machine = machine();
    let all = expressions(program);
    let problems: Vec<Problem> = all.iter().map(available).collect();
    let on = On::new(machine);
    let solution = solve(program, AVAILABLE, &problems, on).unwrap();
    for (number, function) in program.functions.iter().enumerate() {
        let mut found = BTreeSet::new();
        let mut coming = solution.arrivals(number, &function.body, &[]);
        for (block, fact, op) in &all[number].exposed {
            let words = coming.at(*block);
            if words[*fact as usize / 64] >> (fact % 64) & 1 == 1 {
                found.insert(*op);
            }
        }
        assert_eq!(
            found,
            plain_redundant(program, number),
            "of {}",
            function.label()
        );
    }
}

/// Operations that compute what every way to their block has computed, by sets of strings.
fn plain_redundant(program: &Program, number: usize) -> BTreeSet<u32> {
    let body = &program.functions[number].body;
    let events: Vec<Events> = (0..body.blocks.len())
        .map(|block| strings(program, number, block))
        .collect();
    let universe: BTreeSet<String> = events
        .iter()
        .flatten()
        .filter_map(|event| event.0.as_ref().map(|(text, _)| text.clone()))
        .collect();
    let before = oracle::predecessors(body);
    let mut passed = vec![universe.clone(); body.blocks.len()];
    let coming = |passed: &[BTreeSet<String>], block: usize| {
        let mut set = if block == 0 {
            BTreeSet::new()
        } else {
            universe.clone()
        };
        for from in &before[block] {
            set = set.intersection(&passed[*from]).cloned().collect();
        }
        set
    };
    loop {
        let mut has_changed = false;
        for block in 0..body.blocks.len() {
            let mut set = coming(&passed, block);
            for event in &events[block] {
                apply(event, &mut set);
            }
            has_changed |= set != passed[block];
            passed[block] = set;
        }
        if !has_changed {
            break;
        }
    }
    let mut found = BTreeSet::new();
    for (block, events) in events.iter().enumerate() {
        let (mut set, mut seen) = (coming(&passed, block), BTreeSet::new());
        for event in events {
            if let (Some((text, op)), _) = event
                && seen.insert(text.clone())
                && set.contains(text)
            {
                found.insert(*op);
            }
            if let (_, Some(cell)) = event {
                // A value that was changed in the block is no longer the one that came in.
                let changed = universe
                    .iter()
                    .filter(|text| text.contains(&format!("<{cell}>")));
                seen.extend(changed.cloned());
            }
            apply(event, &mut set);
        }
    }
    found
}

fn apply(event: &(Option<(String, u32)>, Option<u32>), set: &mut BTreeSet<String>) {
    match event {
        (Some((text, _)), _) => {
            set.insert(text.clone());
        }
        (_, Some(cell)) => set.retain(|text| !text.contains(&format!("<{cell}>"))),
        _ => {}
    }
}

fn check_loops(program: &Program) {
    let tree = dominators(program);
    let nests = loops(program, &tree);
    for (number, function) in program.functions.iter().enumerate() {
        let body = &function.body;
        let nearest = &tree.nearest[number];
        let reached = oracle::reached(body, None);
        let expected = oracle::dominated(body);
        for (above, expected) in expected.iter().enumerate() {
            for below in (0..body.blocks.len()).filter(|below| reached[*below]) {
                let found = reached[above] && dominates(nearest, above as u32, below as u32);
                assert_eq!(found, expected.contains(&below), "{above} over {below}");
            }
        }
        let expected = oracle::loops(body);
        let headers: Vec<usize> = expected.keys().copied().collect();
        let found: Vec<usize> = nests.headers[number].iter().map(|h| *h as usize).collect();
        assert_eq!(found, headers, "loops of {}", function.label());
        for block in 0..body.blocks.len() {
            let around = expected.values().filter(|blocks| blocks.contains(&block));
            let depth = nests.depth[number][block] as usize;
            assert_eq!(
                depth,
                around.count(),
                "depth of block {block} of {}",
                function.label()
            );
            let innermost = nests.innermost[number][block];
            assert_eq!(innermost == NONE, depth == 0);
            if innermost != NONE {
                let header = headers[innermost as usize];
                let own = expected[&header].len();
                assert!(expected[&header].contains(&block));
                let others = expected.values().filter(|blocks| blocks.contains(&block));
                assert_eq!(others.map(BTreeSet::len).min(), Some(own));
            }
        }
    }
}

/// Compares the dominators of every function with those of petgraph (Cooper, Harvey and Kennedy).
pub(crate) fn check_dominators(program: &Program) {
    let tree = dominators(program);
    for (number, function) in program.functions.iter().enumerate() {
        let body = &function.body;
        let mut graph = petgraph::graph::DiGraph::<(), ()>::new();
        let nodes: Vec<_> = body.blocks.iter().map(|_| graph.add_node(())).collect();
        for block in 0..nodes.len() {
            for to in body.successors_of(block) {
                graph.add_edge(nodes[block], nodes[*to as usize], ());
            }
        }
        let Some(entry) = nodes.first() else { continue };
        let expected = petgraph::algo::dominators::simple_fast(&graph, *entry);
        for (block, node) in nodes.iter().enumerate() {
            let nearest = tree.nearest[number][block];
            let found = (nearest != NONE).then_some(nearest as usize);
            let expected = expected.immediate_dominator(*node).map(|node| node.index());
            assert_eq!(found, expected, "block {block} of {}", function.label());
        }
    }
}

fn check_calls(program: &Program) {
    let machine = machine();
    let calls = Calls::of(program);
    let on = On::new(machine);
    let rows: Vec<Vec<u32>> = (0..calls.nodes())
        .map(|node| calls.callees.row(node).to_vec())
        .collect();
    let from: Vec<BTreeSet<u32>> = (0..rows.len() as u32)
        .map(|node| oracle::called_from(&rows, node))
        .collect();
    let (is_reached, _) = calls::reached(&calls, on).unwrap();
    let roots = calls
        .roots
        .iter()
        .flat_map(|root| from[*root as usize].iter().copied());
    let expected: BTreeSet<u32> = roots.collect();
    let reach = calls::import_reach(program, &calls, on).unwrap();
    let components = calls::components(&calls, &machine).unwrap();
    let mut counts = vec![0; reach.imports.len()];
    for node in 0..rows.len() as u32 {
        assert_eq!(is_reached[node as usize], expected.contains(&node));
        for (number, import) in reach.imports.iter().enumerate() {
            let found = reach.reaches(node, number);
            assert_eq!(
                found,
                from[node as usize].contains(import),
                "{node} to {import}"
            );
            counts[number] += u32::from(found && (node as usize) < calls.functions);
        }
        for other in 0..rows.len() as u32 {
            let is_one =
                from[node as usize].contains(&other) && from[other as usize].contains(&node);
            let found = components[node as usize] == components[other as usize];
            assert_eq!(found, is_one, "{node} and {other}");
        }
    }
    assert_eq!(reach.counts(calls.functions), counts);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]
    #[test]
    fn random_modules_have_the_facts_of_plain_analyses(
        numbers in prop::collection::vec(any::<u8>(), 0..400)
    ) {
        let text = random::module(&mut Numbers::new(&numbers));
        let program = read(&text);
        check_all(&program);
        check_dominators(&program);
    }

    #[test]
    fn random_graphs_have_the_dominators_and_loops_of_plain_analyses(
        edges in prop::collection::vec((0_u32..12, 0_u32..12), 0..30)
    ) {
        let mut text = String::from("seawall-flow 1\nfunction f exported\n");
        for block in 0..12 {
            let targets = edges.iter().filter(|edge| edge.0 == block);
            let targets: Vec<String> = targets.map(|edge| edge.1.to_string()).collect();
            text.push_str(&format!("block {block} -> {}\n use x{}\n def x{}\n", targets.join(" "), block % 3, block % 4));
        }
        let mut program = Program::default();
        seawall_modules::read(&mut program, "f.flow", text.into_bytes()).unwrap();
        check_all(&program);
        check_dominators(&program);
    }
}

/// A function with these edges, after that of each block to the next one.
fn function_of(blocks: u32, more: impl Iterator<Item = (u32, u32)>) -> Program {
    let mut lists: Vec<Vec<u32>> = (1..blocks).map(|next| vec![next]).collect();
    lists.push(Vec::new());
    more.for_each(|(from, to)| lists[from as usize].push(to));
    let mut text = String::from("seawall-flow 1\nfunction f exported\n");
    for (block, list) in lists.iter().enumerate() {
        let targets: Vec<String> = list.iter().map(u32::to_string).collect();
        text.push_str(&format!("block {block} -> {}\n", targets.join(" ")));
    }
    let mut program = Program::default();
    seawall_modules::read(&mut program, "f.flow", text.into_bytes()).unwrap();
    program
}

#[test]
fn dominators_and_loops_of_long_functions_take_no_bit_for_each_pair_of_blocks() {
    const BLOCKS: u32 = 200_000;
    // Each block may leave for the last one, which only the entry dominates.
    let ladder = function_of(BLOCKS, (0..BLOCKS - 2).map(|block| (block, BLOCKS - 1)));
    let found = dominators(&ladder);
    let nearest = &found.nearest[0];
    let expected = (0..BLOCKS).map(|block| match block {
        0 => NONE,
        block if block == BLOCKS - 1 => 0,
        block => block - 1,
    });
    assert!(nearest.iter().copied().eq(expected));
    assert!(loops(&ladder, &found).headers[0].is_empty());
    // Loops in loops: each closes after those within.
    let half = BLOCKS / 2;
    let nested = function_of(BLOCKS, (0..half).map(|block| (BLOCKS - 1 - block, block)));
    let found = loops(&nested, &dominators(&nested));
    assert_eq!(found.headers[0].len() as u32, half);
    let depth = (0..BLOCKS).map(|block| block.min(BLOCKS - 1 - block) + 1);
    assert!(found.depth[0].iter().copied().eq(depth));
    assert_eq!(found.innermost[0].first(), Some(&0));
    // A second way into each of them: they are none.
    let back = (1..BLOCKS - 1).map(|block| (block + 1, block));
    let entered = function_of(BLOCKS, back.chain([(0, 2), (0, BLOCKS - 1)]));
    let found = loops(&entered, &dominators(&entered));
    assert_eq!(found.irreducible as u32, BLOCKS - 2);
}

/// Stores that nothing reads.
fn dead(text: &str) -> usize {
    let program = read(text);
    check_all(&program);
    let (problems, live) = liveness(&program);
    let solution = solve(&program, LIVENESS, &problems, On::new(machine())).unwrap();
    dead_stores(&program, &live, &solution).len()
}

#[test]
fn what_a_function_stores_before_it_throws_is_seen() {
    // Every way that does not throw stores again.
    let text = |body: &str| {
        format!(
            "(module (tag $e) (tag $o) (global $g (export \"g\") (mut i32) (i32.const 0))
             (func (export \"f\") {body} i32.const 5 global.set $g))"
        )
    };
    let throws = "i32.const 1 global.set $g throw $o";
    for (body, stores) in [
        (format!("block $h try_table (catch $e $h) {throws} end unreachable end"), 0),
        (format!("block $h try_table (catch_all $h) {throws} end unreachable end"), 1),
        (
            format!(
                "block $h try_table (catch_all $h) block $i try_table (catch $e $i) {throws} end
                 unreachable end br $h end unreachable end"
            ),
            1,
        ),
        (
            format!(
                "block $h try_table (catch $e $h) block $i try_table (catch $e $i) {throws} end
                 unreachable end br $h end unreachable end"
            ),
            0,
        ),
        (format!("try {throws} catch $e end"), 0),
        (format!("try {throws} catch_all end"), 1),
        (format!("try try {throws} delegate 0 catch_all end"), 1),
        (format!("try try {throws} delegate 1 catch_all end"), 0),
        (format!("try {throws} end"), 0),
        ("try i32.const 1 global.set $g throw $e catch $e i32.const 2 global.set $g rethrow 0 end".to_owned(), 0),
    ] {
        assert_eq!(dead(&text(&body)), stores, "{body}");
    }
}

/// Places where a value was computed already.
fn redundant(text: &str) -> usize {
    let program = read(text);
    check_all(&program);
    let request = Request {
        analyses: vec![AnalysisName::Available],
        reach: Vec::new(),
        sources: Vec::new(),
        sinks: Vec::new(),
        ways: 0,
        resolve: Resolve::Type,
        open_tables: OpenTables::default(),
        on: On::new(machine()),
    };
    run(&program, &request).unwrap().findings.len()
}

#[test]
fn what_writes_memory_or_objects_ends_values_of_loads() {
    let text = |load: &str, write: &str| {
        format!(
            "(module (type $s (struct (field (mut i32)))) (type $a (array (mut i32)))
             (type $r (array (mut funcref))) (memory 1) (data $d \"abcdefgh\")
             (elem $e funcref (ref.null func)) (global $g (mut i32) (i32.const 0))
             (func (export \"f\") (param i32 (ref $s) (ref $a) (ref $r))
             {load} drop block local.get 0 br_if 0 end
             {write} block local.get 0 br_if 0 end {load} drop))"
        )
    };
    let loads = [
        "i32.const 0 i32.load",
        "local.get 1 struct.get $s 0",
        "local.get 2 i32.const 0 array.get $a",
        "local.get 3 i32.const 0 array.get $r",
        "memory.size",
    ];
    assert_eq!(redundant(&text("i32.const 0 i32.atomic.load", "")), 0);
    let (three, four) = (
        "i32.const 0 i32.const 0 i32.const 1",
        "i32.const 0 i32.const 0",
    );
    for load in loads {
        for write in [
            "i32.const 0 i32.const 0 i32.store".to_owned(),
            "atomic.fence".to_owned(),
            "i32.const 0 i32.atomic.load drop".to_owned(),
            "i32.const 0 i32.const 0 i32.atomic.store".to_owned(),
            format!("{three} memory.fill"),
            format!("{three} memory.copy"),
            format!("{three} memory.init $d"),
            "i32.const 1 memory.grow drop".to_owned(),
            "local.get 1 i32.const 0 struct.set $s 0".to_owned(),
            "local.get 2 i32.const 0 i32.const 0 array.set $a".to_owned(),
            format!("local.get 2 {three} array.fill $a"),
            format!("local.get 2 i32.const 0 local.get 2 {four} array.copy $a $a"),
            format!("local.get 2 {three} array.init_data $a $d"),
            format!("local.get 3 {three} array.init_elem $r $e"),
        ] {
            assert_eq!(redundant(&text(load, &write)), 0, "{load}, {write}");
        }
        let kept = "i32.const 0 global.set $g i32.const 1 struct.new $s drop";
        assert_eq!(redundant(&text(load, kept)), 1, "{load}");
    }
}

#[test]
fn calls_state_all_globals_at_once() {
    let mut text = String::from("(module (func $c)");
    for global in 0..60 {
        text.push_str(&format!("(global $g{global} (mut i32) (i32.const 0))"));
    }
    text.push_str("(func (export \"f\") (param i32)");
    for global in 0..60 {
        text.push_str(&format!("i32.const 1 global.set $g{global}\n"));
    }
    for _ in 0..80 {
        text.push_str("loop i32.const 2 global.set $g7 call $c global.get $g9 local.set 0 end\n");
    }
    text.push_str("))");
    let program = read(&text);
    check_all(&program);
    let (problems, _) = liveness(&program);
    let spans = problems[1].made.len() + problems[1].killed.len();
    let function = &program.functions[1].body;
    // Each block writes one global before it calls.
    assert_eq!(problems[1].facts, 59);
    assert!(spans < 2 * function.ops.len(), "{spans} spans");
}

#[test]
fn expressions_of_one_cell_that_many_blocks_write_are_one_set() {
    // Each of 3,000 values reads local 0, which each of 3,000 blocks writes, beside a deep stack.
    let mut text = String::from("(module (func $c) (func (export \"f\") (param i32)\n");
    let values = |text: &mut String| {
        for value in 0..3000 {
            text.push_str(&format!(
                "local.get 0 i32.const {value} i32.add local.set 0\n"
            ));
        }
    };
    values(&mut text);
    for _ in 0..3000 {
        text.push_str("loop local.get 0 local.set 0 call $c end\n");
    }
    values(&mut text);
    text.push_str(&"local.get 0\n".repeat(100_000));
    text.push_str(&"i32.const 1 local.set 0\n".repeat(100_000));
    text.push_str(&"drop\n".repeat(100_000));
    text.push_str("))");
    let program = read(&text);
    let problem = available(&expressions(&program)[1]);
    assert_eq!(problem.facts, 3000);
    let sets: usize = problem.sets.iter().map(|set| set.facts().count()).sum();
    let entries = problem.made.len() + problem.killed.len() + problem.set_kills.len() + sets;
    let ops = program.functions[1].body.ops.len();
    assert!(entries < ops / 10, "{entries} entries of {ops} operations");
}

#[test]
fn definitions_beyond_the_limits_are_counted_and_not_listed() {
    let mut text = String::from("(module (func $c)");
    for global in 0..200 {
        text.push_str(&format!("(global $g{global} (mut i32) (i32.const 0))"));
    }
    text.push_str("(func (export \"f\")");
    for global in 0..200 {
        text.push_str(&format!("global.get $g{global} drop\n"));
    }
    for _ in 0..300 {
        text.push_str("loop call $c end\n");
    }
    text.push_str("))");
    let program = read(&text);
    let blocks = program.functions[1].body.blocks.len() as u64;
    let mut on = On::new(machine());
    for (bytes, fits) in [(blocks * 40 * 200 * 300 / 64, true), (1 << 20, false)] {
        on.limits = Limits {
            function_bytes: bytes,
            ..Limits::default()
        };
        let (problems, lists) = reaching(&program, on.limits);
        let is_listed = !problems[1].made.is_empty() && !lists[1].blocks.is_empty();
        assert_eq!(is_listed, fits, "{bytes} bytes");
        assert!((200 * 300..200 * 302).contains(&problems[1].facts));
        assert_eq!(solve(&program, REACHING, &problems, on).is_ok(), fits);
    }
}
