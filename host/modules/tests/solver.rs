//! The wave programs against a worklist, on random flow graphs and facts.

use crate::oracle;
use proptest::prelude::*;
use seawall::executor::Machine;
use seawall_modules::ModuleError;
use seawall_modules::flow::{
    Direction, FactSet, Limits, Meet, On, Problem, SetKill, Setup, Span, solve,
};
use seawall_modules::model::{Block, Body, Function, Module, Program};
use std::num::NonZeroUsize;
use std::time::Instant;

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

/// [`body`] in time linear in the edges.
fn body_of_sorted(blocks: usize, mut edges: Vec<(u32, u32)>) -> Body {
    edges.sort_unstable();
    edges.dedup();
    let mut body = Body::default();
    for block in 0..blocks as u32 {
        body.blocks.push(Block {
            first_successor: edges.partition_point(|edge| edge.0 < block) as u32,
            ..Block::default()
        });
    }
    body.successors = edges.into_iter().map(|edge| edge.1).collect();
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
        let block_of_kill = block.clone();
        let span = (block, 0..=facts, 0..=facts).prop_map(|(block, one, other)| Span {
            block,
            first: one.min(other),
            end: one.max(other),
        });
        let spans = || prop::collection::vec(span.clone(), 0..6);
        let boundary = prop::collection::vec((0..=facts, 0..=facts), 0..3);
        let set = prop::collection::btree_set(0..facts.max(1), 0..6);
        let kill = (block_of_kill, 0_u32..2).prop_map(|(block, set)| SetKill { block, set });
        let sets = (
            prop::collection::vec(set, 2),
            prop::collection::vec(kill, 0..4),
        );
        (edges, spans(), spans(), sets, boundary).prop_map(
            move |(edges, made, killed, (sets, set_kills), boundary)| {
                let boundary = boundary.into_iter();
                let sets = sets.into_iter().map(|set| {
                    let facts_of = set.into_iter().filter(|fact| *fact < facts);
                    FactSet::of(facts_of)
                });
                let problem = Problem {
                    facts,
                    made,
                    killed,
                    sets: sets.collect(),
                    set_kills,
                    boundary: boundary.map(|(a, b)| (a.min(b), a.max(b))).collect(),
                };
                (body(blocks, &edges), problem)
            },
        )
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

/// A problem of `facts` facts, most of which few blocks make or kill.
fn problem(blocks: u32, facts: u32) -> Problem {
    let span = |step: u32, of: u32| {
        let first = of * step % facts;
        let end = facts.min(first + 1 + of % 3);
        Span {
            block: of * 7 % blocks,
            first,
            end,
        }
    };
    let count = blocks.min(40);
    Problem {
        facts,
        made: (0..count).map(|of| span(31, of)).collect(),
        killed: (0..count).map(|of| span(17, of + 3)).collect(),
        boundary: vec![(facts / 2, facts)],
        ..Problem::default()
    }
}

/// Bodies of one block, with and without an edge to itself, of a loop with two entries, and of
/// chains as long as given, with such loops in them.
fn odd_bodies(chains: &[u32]) -> Vec<Body> {
    let mut bodies = vec![
        body(1, &[]),
        body(1, &[(0, 0)]),
        body(4, &[(0, 1), (0, 2), (1, 2), (2, 1), (2, 3)]),
    ];
    for blocks in chains {
        // Ways of up to 400 blocks.
        let before = |block: u32| {
            if block.is_multiple_of(400) {
                0
            } else {
                block - 1
            }
        };
        let mut edges: Vec<(u32, u32)> = (1..*blocks).map(|block| (before(block), block)).collect();
        let loops = (0..*blocks).step_by(11).filter(|block| block + 9 < *blocks);
        edges.extend(loops.flat_map(|at| [(at + 6, at + 1), (at, at + 4), (at + 9, at)]));
        bodies.push(body_of_sorted(*blocks as usize, edges));
    }
    bodies
}

#[test]
fn bodies_of_all_sizes_settle_together_where_a_worklist_does() {
    let mut bodies = odd_bodies(&[31, 33, 300, 1100]);
    let few = bodies.len();
    // Thousands that end at once, beside one of which all threads share each iteration.
    bodies.extend((0..3000).map(|number| body(1 + number % 3, &[(0, 0)])));
    bodies.extend(odd_bodies(&[66_000]).pop());
    let facts = [1, 64, 65, 1000];
    let problems: Vec<Problem> = bodies
        .iter()
        .enumerate()
        .map(|(number, body)| {
            let blocks = body.blocks.len() as u32;
            let facts = if number < few {
                facts[number % 4]
            } else {
                1 + number as u32 % 2
            };
            problem(blocks, facts)
        })
        .collect();
    let program = program(bodies);
    for (direction, meet, threads) in [
        (Direction::Forward, Meet::Any, 1),
        (Direction::Backward, Meet::All, 3),
    ] {
        let setup = Setup {
            name: "sizes",
            direction,
            meet,
        };
        let on = On::new(Machine::cpu(NonZeroUsize::new(threads)));
        let clock = Instant::now();
        let solution = solve(&program, setup, &problems, on).unwrap();
        let stats = solution.stats;
        assert_eq!(stats.submissions, 2);
        // Opening has a time of its own, and no time counts twice.
        assert!(stats.open_ns > 0 && u128::from(stats.ns()) <= clock.elapsed().as_nanos());
        for (number, problem) in problems.iter().enumerate() {
            let body = &program.functions[number].body;
            let expected = oracle::solve(body, problem, direction, meet);
            for (block, expected) in expected.iter().enumerate() {
                let facts = 0..problem.facts;
                let found = facts.filter(|fact| solution.passes(number, block, *fact));
                assert!(
                    found.eq(expected.iter().copied()),
                    "block {block} of body {number}"
                );
            }
        }
    }
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
            assert_eq!(solution.stats.nesting, depth);
            assert!(iterations <= depth + 3, "{iterations} at depth {depth}");
        }
    }
}
