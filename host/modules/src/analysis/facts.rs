//! Facts of the text format, which blocks make and kill by name.

use crate::flow::{Direction, Meet, Problem, Setup, Span};
use crate::model::{Kind, Program};

/// The problem of the named facts: which hold after a block on some way, or on every way.
#[must_use]
pub const fn text_setup(direction: Direction, meet: Meet) -> Setup {
    Setup {
        name: "facts of the text",
        direction,
        meet,
    }
}

/// The problems of all functions, in which the last statement of a block about a fact decides in
/// the direction of the flow. Nothing holds at the boundary.
#[must_use]
pub fn text_facts(program: &Program, direction: Direction) -> Vec<Problem> {
    let functions = program.functions.iter();
    functions
        .map(|function| {
            let body = &function.body;
            let mut problem = Problem {
                facts: body.facts.len() as u32,
                ..Problem::default()
            };
            let mut last = vec![None; body.facts.len()];
            for block in 0..body.blocks.len() {
                let ops = body.ops[body.ops_of(block)].iter();
                let ops: Vec<_> = match direction {
                    Direction::Forward => ops.collect(),
                    Direction::Backward => ops.rev().collect(),
                };
                for op in ops {
                    if op.kind() == Kind::Fact {
                        last[op.arg as usize / 2] = Some((block, op.arg % 2 == 1));
                    }
                }
                for (fact, last) in (0..).zip(&last) {
                    match last {
                        Some((at, true)) if *at == block => {
                            problem.made.push(Span::one(block as u32, fact));
                        }
                        Some((at, _)) if *at == block => {
                            problem.killed.push(Span::one(block as u32, fact));
                        }
                        _ => {}
                    }
                }
            }
            problem
        })
        .collect()
}
