//! Content of pictures, against plain neighbourhoods and plain analyses.

use crate::analyses::read;
use crate::oracle::{self, Set};
use crate::random::{self, Numbers};
use proptest::prelude::*;
use seawall::executor::Machine;
use seawall_modules::analysis::{
    AVAILABLE, INITIALISED, REACHING, VERY_BUSY, available, expressions, initialised, reaching,
    very_busy,
};
use seawall_modules::around::{Around, Bounds, Way};
use seawall_modules::blocks::{BlockFacts, OF_BLOCKS, block_facts};
use seawall_modules::calls::Calls;
use seawall_modules::cells::Cells;
use seawall_modules::finding::FindingKind;
use seawall_modules::flow::{Direction, Limits, Meet, On, Problem, Setup};
use seawall_modules::model::{Body, Program};
use seawall_modules::points_to::OpenTables;
use seawall_modules::report::{AnalysisName, Request, Resolve, Run};
use std::collections::BTreeSet;
use std::num::NonZeroUsize;

type Pairs = BTreeSet<(u32, u32)>;

const WIDE: Bounds = Bounds {
    hops: 2,
    fan: usize::MAX,
    nodes: usize::MAX,
};

fn on() -> On {
    On::new(Machine::cpu(NonZeroUsize::new(1)))
}

/// A program in which function number i calls the second of each pair (i, j).
fn calling(functions: u32, pairs: &Pairs) -> Program {
    let mut text = String::from("seawall-flow 1\n");
    for caller in 0..functions {
        text.push_str(&format!("function f{caller} exported\nblock b\n"));
        let row = pairs.iter().filter(|pair| pair.0 == caller);
        row.for_each(|(_, callee)| text.push_str(&format!(" call f{callee}\n")));
    }
    let mut program = Program::default();
    seawall_modules::read(&mut program, "calls.flow", text.into_bytes()).unwrap();
    program
}

/// Nodes that `pairs` lead to, one step after another, through those of few neighbours.
fn plain_ball(pairs: &Pairs, from: u32, bounds: Bounds) -> Set {
    let mut ball = Set::from([from]);
    for _ in 0..bounds.hops {
        let passed = |node: u32| {
            let row = pairs.iter().filter(|pair| pair.0 == node);
            node == from || row.count() <= bounds.fan
        };
        let reached = pairs
            .iter()
            .filter(|pair| ball.contains(&pair.0) && passed(pair.0));
        let reached: Vec<u32> = reached.map(|pair| pair.1).collect();
        ball.extend(reached);
    }
    ball
}

fn way_from(function: u32) -> Way {
    Way {
        function,
        ..Way::default()
    }
}

/// Asserts that calls go forward but those that close a recursion among the nodes.
fn assert_in_order(part: &Around) {
    let place = |node: u32| part.nodes.iter().position(|other| *other == node);
    let rows: Vec<Vec<u32>> = part
        .nodes
        .iter()
        .map(|from| {
            let row = part.calls.iter().filter(|call| call.0 == *from);
            row.map(|call| place(call.1).unwrap() as u32).collect()
        })
        .collect();
    for (from, row) in (0..).zip(&rows) {
        for to in row.iter().filter(|to| **to < from) {
            assert!(oracle::called_from(&rows, *to).contains(&from), "{part:?}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]
    #[test]
    fn a_part_of_a_call_graph_is_the_plain_neighbourhood(
        pairs in prop::collection::btree_set((0_u32..14, 0_u32..14), 0..40),
        from in 0_u32..14,
        hops in 0_usize..4,
        fan in 1_usize..6,
        nodes in 1_usize..16,
    ) {
        let program = calling(14, &pairs);
        let calls = Calls::of(&program);
        let turned: Pairs = pairs.iter().map(|(caller, callee)| (*callee, *caller)).collect();
        let bounds = Bounds { hops, fan, nodes: usize::MAX };
        let mut expected = plain_ball(&pairs, from, bounds);
        expected.extend(plain_ball(&turned, from, bounds));
        let part = Around::of(&calls, &way_from(from), bounds);
        prop_assert_eq!(&part.nodes.iter().copied().collect::<Set>(), &expected);
        prop_assert_eq!(part.nodes.len(), expected.len());
        prop_assert_eq!(part.all, expected.len());
        let inside = pairs.iter().filter(|(a, b)| expected.contains(a) && expected.contains(b));
        let inside: Pairs = inside.copied().collect();
        prop_assert_eq!(&part.calls.iter().copied().collect::<Pairs>(), &inside);
        assert_in_order(&part);
        // Of too many the nearest are left, the function among them, and they are counted.
        let few = Around::of(&calls, &way_from(from), Bounds { nodes, ..bounds });
        prop_assert_eq!(few.nodes.len(), nodes.min(expected.len()));
        prop_assert!(few.nodes.contains(&from));
        prop_assert!(few.nodes.iter().all(|node| expected.contains(node)));
        prop_assert_eq!(few.all, expected.len());
        assert_in_order(&few);
    }

    #[test]
    fn facts_of_blocks_are_those_of_plain_analyses(
        numbers in prop::collection::vec(any::<u8>(), 0..300)
    ) {
        let program = read(&random::module(&mut Numbers::new(&numbers)));
        for function in 0..program.functions.len() {
            check_live_cells(&program, function);
            check_problems(&program, function);
            check_dominators(&program, function);
        }
    }
}

fn facts(program: &Program, function: usize, analysis: AnalysisName) -> BlockFacts {
    let found = block_facts(program, function, analysis, on()).unwrap();
    let found = found.unwrap_or_else(|| panic!("{} has facts of blocks", analysis.name()));
    let blocks = program.functions[function].body.blocks.len();
    assert_eq!(found.blocks.len(), blocks);
    found
}

fn names(facts: &BlockFacts, list: &[u32]) -> BTreeSet<String> {
    list.iter()
        .map(|fact| facts.facts[*fact as usize].clone())
        .collect()
}

fn check_live_cells(program: &Program, number: usize) {
    let function = &program.functions[number];
    let cells = Cells::of(function, &program.modules[0]);
    let found = facts(program, number, AnalysisName::Liveness);
    let (live, _) = oracle::liveness(function, cells);
    let shared = oracle::shared(&oracle::accesses(function, cells), cells);
    let named = |set: &Set| -> BTreeSet<String> {
        let known = set.iter().map(|cell| cells.cell(*cell).to_string());
        known.filter(|name| found.facts.contains(name)).collect()
    };
    for (block, [before, after]) in found.blocks.iter().enumerate() {
        assert_eq!(names(&found, before), named(&live[block]), "block {block}");
        let row = function.body.successors_of(block).iter();
        let next = row.flat_map(|to| live[*to as usize].iter().copied());
        let next: Set = match function.body.is_exit(block) {
            true => shared.clone(),
            false => next.collect(),
        };
        assert_eq!(names(&found, after), named(&next), "block {block}");
    }
}

/// Facts that come into a block, by the rows that it has them from.
fn coming(body: &Body, block: usize, passed: &[Set], problem: &Problem, setup: Setup) -> Set {
    let (mut sets, is_boundary): (Vec<Set>, bool) = match setup.direction {
        Direction::Forward => {
            let before = oracle::predecessors(body)[block].clone();
            (
                before.iter().map(|from| passed[*from].clone()).collect(),
                block == 0,
            )
        }
        Direction::Backward => {
            let row = body.successors_of(block).iter();
            (
                row.map(|to| passed[*to as usize].clone()).collect(),
                body.is_exit(block),
            )
        }
    };
    if is_boundary {
        let outside = problem.boundary.iter();
        sets.push(outside.flat_map(|(first, end)| *first..*end).collect());
    }
    (0..problem.facts)
        .filter(|fact| match setup.meet {
            Meet::Any => sets.iter().any(|set| set.contains(fact)),
            Meet::All => sets.iter().all(|set| set.contains(fact)),
        })
        .collect()
}

fn check_problems(program: &Program, number: usize) {
    let body = &program.functions[number].body;
    let expressions = &expressions(program)[number];
    let cases = [
        (
            AnalysisName::Initialised,
            INITIALISED,
            initialised(program).0[number].clone(),
        ),
        (
            AnalysisName::Reaching,
            REACHING,
            reaching(program, Limits::default()).0[number].clone(),
        ),
        (AnalysisName::Available, AVAILABLE, available(expressions)),
        (AnalysisName::VeryBusy, VERY_BUSY, very_busy(expressions)),
    ];
    for (analysis, setup, problem) in cases {
        let found = facts(program, number, analysis);
        assert_eq!(found.facts.len(), problem.facts as usize);
        let passed = oracle::solve(body, &problem, setup.direction, setup.meet);
        for (block, lists) in found.blocks.iter().enumerate() {
            let [before, after] = lists.clone().map(|list| list.into_iter().collect::<Set>());
            let (from, onward) = match setup.direction {
                Direction::Forward => (before, after),
                Direction::Backward => (after, before),
            };
            assert_eq!(
                onward,
                passed[block],
                "{} of block {block}",
                analysis.name()
            );
            let expected = coming(body, block, &passed, &problem, setup);
            assert_eq!(from, expected, "{} of block {block}", analysis.name());
        }
    }
}

fn check_dominators(program: &Program, number: usize) {
    let body = &program.functions[number].body;
    let found = facts(program, number, AnalysisName::Loops);
    let dominated = oracle::dominated(body);
    for (block, [above, header]) in found.blocks.iter().enumerate() {
        let expected: Vec<u32> = (0..body.blocks.len())
            .filter(|other| *other != block && dominated[*other].contains(&block))
            .map(|other| other as u32)
            .collect();
        assert_eq!(above, &expected, "dominators of block {block}");
        let around = oracle::loops(body);
        let innermost = around.iter().filter(|(_, blocks)| blocks.contains(&block));
        let least = innermost.min_by_key(|(_, blocks)| blocks.len());
        let sizes = header
            .iter()
            .map(|header| around[&(*header as usize)].len());
        assert_eq!(
            sizes.collect::<Vec<_>>(),
            least
                .map(|(_, blocks)| blocks.len())
                .into_iter()
                .collect::<Vec<_>>()
        );
    }
}

/// A module in which the export `main` reaches the import by a call, a table and a call.
const PLANTED: &str = r#"(module
    (type $plain (func))
    (import "env" "unlink" (func $unlink))
    (table $t 2 funcref)
    (elem (table $t) (i32.const 0) func $erase $other)
    (func $erase call $unlink)
    (func $other)
    (func $choose i32.const 0 call_indirect $t (type $plain))
    (func $main (export "main") call $choose call $aside)
    (func $aside))"#;

fn request(analysis: AnalysisName) -> Request {
    Request {
        analyses: vec![analysis],
        reach: Vec::new(),
        sources: Vec::new(),
        sinks: Vec::new(),
        ways: usize::MAX,
        resolve: Resolve::Type,
        open_tables: OpenTables::Changed,
        on: on(),
    }
}

/// The way of the first finding of a kind, in the call graph.
fn way_of(program: &Program, request: &Request, kind: FindingKind) -> (Way, Calls) {
    let run = Run::new(program, request);
    let answer = run.answer().unwrap();
    let calls = run.call_graph().unwrap();
    let finding = answer.findings.iter().find(|it| it.kind == kind);
    (Way::of(program, &calls, finding.unwrap()).unwrap(), calls)
}

#[test]
fn the_way_of_data_goes_back_out_of_calls_and_ends_in_the_sink() {
    let program = read(
        r#"(module
        (import "env" "read" (func $read (result i32)))
        (import "env" "send" (func $send (param i32)))
        (func $fetch (result i32) call $read)
        (func $pass (param i32) local.get 0 call $send)
        (func $main (export "main") call $fetch call $pass))"#,
    );
    let mut request = request(AnalysisName::Taint);
    request.sources = vec!["env.read".parse().unwrap()];
    request.sinks = vec!["env.send".parse().unwrap()];
    let (way, _) = way_of(&program, &request, FindingKind::Taint);
    let [read, send, fetch, pass, main] = [0, 1, 2, 3, 4];
    assert_eq!(way.function, pass);
    let mut order = way.steps.clone();
    order.dedup();
    assert_eq!(order, [read, fetch, main, pass]);
    assert_eq!(
        way.calls,
        [(fetch, read), (main, fetch), (main, pass), (pass, send)]
    );
    assert_eq!(way.gaps, []);
    assert_eq!(way.nodes(), [pass, read, fetch, main, send]);
}

#[test]
fn the_way_of_a_finding_passes_the_table() {
    let program = read(PLANTED);
    let mut request = request(AnalysisName::Calls);
    request.reach = vec!["env.unlink".to_owned()];
    let (way, calls) = way_of(&program, &request, FindingKind::ReachesImport);
    let [unlink, erase, other, choose, main, aside, dispatch] = [0, 1, 2, 3, 4, 5, 6];
    assert_eq!(way.function, main);
    assert_eq!(way.steps, [main, choose, erase, unlink]);
    let expected = [
        (main, choose),
        (choose, dispatch),
        (dispatch, erase),
        (erase, unlink),
    ];
    assert_eq!(way.calls, expected);
    assert_eq!(way.gaps, []);
    let part = Around::of(&calls, &way, WIDE);
    let nodes: Set = part.nodes.iter().copied().collect();
    // Two calls from `main` is the table; what it reaches is two more, but for the way.
    assert_eq!(
        nodes,
        Set::from([main, choose, erase, unlink, aside, dispatch])
    );
    assert!(!nodes.contains(&other));
    let mut inside = expected.to_vec();
    inside.push((main, aside));
    assert_eq!(
        part.calls.iter().copied().collect::<Pairs>(),
        inside.into_iter().collect()
    );
}

#[test]
fn analyses_without_facts_of_blocks_have_none() {
    let program = read(PLANTED);
    for analysis in AnalysisName::ALL {
        let found = block_facts(&program, 1, analysis, on()).unwrap();
        assert_eq!(
            found.is_some(),
            OF_BLOCKS.contains(&analysis),
            "{}",
            analysis.name()
        );
    }
}

#[test]
fn facts_have_the_names_of_the_text() {
    let text = "seawall-flow 1\nfunction f exported\nparameters size\nblock a -> b\n def step\nblock b\n use step\n use size\n";
    let mut program = Program::default();
    seawall_modules::read(&mut program, "f.flow", text.into()).unwrap();
    let found = facts(&program, 0, AnalysisName::Liveness);
    let [[entry, after], [before, end]] = [found.blocks[0].clone(), found.blocks[1].clone()];
    let named = |list: &[u32]| names(&found, list).into_iter().collect::<Vec<_>>();
    assert_eq!(named(&entry), ["size"]);
    assert_eq!(named(&after), ["size", "step"]);
    assert_eq!(named(&before), ["size", "step"]);
    assert!(end.is_empty());
    let found = facts(&program, 0, AnalysisName::Reaching);
    assert_eq!(
        found
            .facts
            .iter()
            .map(String::as_str)
            .collect::<BTreeSet<_>>(),
        BTreeSet::from(["size at entry", "step at entry", "step of block 0"])
    );
}
