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
                    if matches!(op.kind(), Kind::Gen | Kind::Kill) {
                        last[op.arg as usize] = Some((block, op.kind()));
                    }
                }
                for (fact, last) in (0..).zip(&last) {
                    match last {
                        Some((at, Kind::Gen)) if *at == block => {
                            problem.gen_.push(Span::one(block as u32, fact));
                        }
                        Some((at, _)) if *at == block => {
                            problem.kill.push(Span::one(block as u32, fact));
                        }
                        _ => {}
                    }
                }
            }
            problem
        })
        .collect()
}
