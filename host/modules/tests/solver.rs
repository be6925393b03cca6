//! The wave program against a worklist, on random flow graphs and facts.

use crate::oracle;
use proptest::prelude::*;
use seawall::executor::Machine;
use seawall_modules::ModuleError;
use seawall_modules::flow::{Direction, Limits, Meet, On, Problem, Setup, Span, solve};
use seawall_modules::model::{Block, Body, Function, Module, Program};
use std::num::NonZeroUsize;

/// A body of blocks with these edges.
pub(crate) fn body(blocks: usize, edges: &[(u32, u32)]) -> Body {
    let mut body = Body::default();
    for block in 0..blocks as u32 {
        body.blocks.push(Block {
            first_successor: body.successors.len() as u32,
            ..Block::default()
        });
        let mut row: Vec<u32> = edges
            .iter()
            .filter(|edge| edge.0 == block)
            .map(|edge| edge.1)
            .collect();
        row.sort_unstable();
        row.dedup();
        body.successors.extend(row);
    }
    body
}

/// A program of these bodies.
pub(crate) fn program(bodies: Vec<Body>) -> Program {
    let functions = bodies.into_iter().map(|body| Function {
        body,
        ..Function::default()
    });
    let functions: Vec<Function> = functions.collect();
    Program {
        modules: vec![Module {
            functions: 0..functions.len(),
            ..Module::default()
        }],
        functions,
    }
}

fn case() -> impl Strategy<Value = (Body, Problem)> {
    (1_usize..9, 0_u32..150).prop_flat_map(|(blocks, facts)| {
        let block = 0..blocks as u32;
        let edges = prop::collection::vec((block.clone(), block.clone()), 0..16);
        let span = (block, 0..=facts, 0..=facts).prop_map(|(block, one, other)| Span {
            block,
            first: one.min(other),
            end: one.max(other),
        });
        let spans = || prop::collection::vec(span.clone(), 0..6);
        let boundary = prop::collection::vec((0..=facts, 0..=facts), 0..3);
        (edges, spans(), spans(), boundary).prop_map(move |(edges, made, killed, boundary)| {
            let boundary = boundary.into_iter();
            let problem = Problem {
                facts,
                made,
                killed,
                boundary: boundary.map(|(a, b)| (a.min(b), a.max(b))).collect(),
            };
            (body(blocks, &edges), problem)
        })
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn waves_settle_where_a_worklist_does(
        cases in prop::collection::vec(case(), 1..6), forward: bool, all: bool, bytes in 600_u64..9000,
        threads in 1_usize..3,
    ) {
        let (bodies, problems): (Vec<Body>, Vec<Problem>) = cases.into_iter().unzip();
        let program = program(bodies);
        let direction = if forward { Direction::Forward } else { Direction::Backward };
        let meet = if all { Meet::All } else { Meet::Any };
        let setup = Setup { name: "test", direction, meet };
        let limits = Limits { batch_bytes: bytes, ..Limits::default() };
        let machine = Machine::cpu(NonZeroUsize::new(threads));
        let solution = solve(&program, setup, &problems, On { machine, limits }).unwrap();
        for (number, problem) in problems.iter().enumerate() {
            let body = &program.functions[number].body;
            let expected = oracle::solve(body, problem, direction, meet);
            for (block, expected) in expected.iter().enumerate() {
                let found: oracle::Set = (0..problem.facts)
                    .filter(|fact| solution.passes(number, block, *fact))
                    .collect();
                prop_assert_eq!(&found, expected, "block {} of body {}", block, number);
            }
        }
    }
}

#[test]
fn facts_that_do_not_fit_are_refused_with_the_figure() {
    let program = program(vec![body(488_000, &[])]);
    let problem = Problem {
        facts: 488_000,
        ..Problem::default()
    };
    let setup = Setup {
        name: "dominators",
        direction: Direction::Forward,
        meet: Meet::All,
    };
    let on = On::new(Machine::cpu(None));
    let error = solve(&program, setup, &[problem], on).err();
    let Some(ModuleError::TooManyFacts { needed, facts, .. }) = error else {
        panic!("{error:?}");
    };
    assert_eq!(facts, 488_000);
    assert_eq!(needed, 488_000 * 32 * 7625);
}

#[test]
fn a_nest_of_loops_takes_its_depth_and_three_sweeps() {
    for depth in 1..6_u32 {
        // Headers 0.., then latches from the innermost outwards, each with an edge to its header.
        let blocks = 2 * depth + 1;
        let mut edges: Vec<(u32, u32)> = (1..blocks).map(|block| (block - 1, block)).collect();
        edges.extend((0..depth).map(|one| (blocks - 2 - one, one)));
        let program = program(vec![body(blocks as usize, &edges)]);
        let problem = Problem {
            facts: blocks,
            made: (0..blocks).map(|block| Span::one(block, block)).collect(),
            ..Problem::default()
        };
        let on = On::new(Machine::cpu(NonZeroUsize::new(1)));
        for direction in [Direction::Forward, Direction::Backward] {
            let setup = Setup {
                name: "nest",
                direction,
                meet: Meet::Any,
            };
            let solution = solve(&program, setup, std::slice::from_ref(&problem), on).unwrap();
            let iterations = solution.stats.iterations;
            assert!(iterations <= depth + 3, "{iterations} at depth {depth}");
        }
    }
}
