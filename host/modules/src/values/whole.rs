//! The values of all functions in one numbering, and what flows between functions.

use super::condense::condensed;
use super::follow::{Follow, References};
use super::function::{Maker, NONE, Shape, Values};
use crate::calls::Calls;
use crate::error::ModuleError;
use crate::flow::Limits;
use crate::model::Program;
use crate::order::{Rows, rows};
use rayon::prelude::*;
use std::borrow::Cow;
use std::ops::Range;

/// Values of all functions and dispatches.
pub(crate) struct Whole<'a> {
    pub(crate) program: Cow<'a, Program>,
    pub(crate) calls: Cow<'a, Calls>,
    /// By node of the call graph.
    pub(crate) values: Vec<Values>,
    /// The first value of each node of the call graph, and the number of all.
    pub(crate) first: Vec<u32>,
    /// The same, before values were condensed.
    pub(crate) first_detail: Vec<u32>,
    /// Numbers of inputs and outputs of each node, which calls look up.
    ends: Vec<[u32; 2]>,
    shapes: Vec<Shape>,
}

/// Most values and most flows: numbers of both are words.
const MOST: u64 = 1 << 30;

/// The first number of each node, of this many each, and the number of all.
fn firsts(name: &str, counts: impl Iterator<Item = usize>) -> Result<Vec<u32>, ModuleError> {
    let mut firsts = vec![0];
    let mut next = 0_u64;
    for count in counts {
        next += count as u64;
        if next > MOST {
            return Err(ModuleError::TooLarge {
                path: name.to_owned(),
                what: "values of all functions".to_owned(),
                found: next,
                most: MOST,
            });
        }
        firsts.push(next as u32);
    }
    Ok(firsts)
}

/// Checks that no function has too many values at the starts of its blocks.
fn check(program: &Program, name: &str, limits: Limits) -> Result<(), ModuleError> {
    let needed = program.functions.iter().map(|function| {
        let body = &function.body;
        4 * u64::from(body.locals) * (body.blocks.len() + body.successors.len()) as u64
    });
    let needed = needed.max().unwrap_or(0);
    if needed > limits.function_bytes {
        return Err(ModuleError::TooLarge {
            path: name.to_owned(),
            what: "bytes of locals at the starts of a function's blocks".to_owned(),
            found: needed,
            most: limits.function_bytes,
        });
    }
    Ok(())
}

/// The node that a number belongs to, and its number there.
pub(crate) fn owner(firsts: &[u32], number: u32) -> (u32, u32) {
    let node = firsts.partition_point(|first| *first <= number) - 1;
    (node as u32, number - firsts[node])
}

impl<'a> Whole<'a> {
    /// Numbers the values of all functions for an analysis of this name, on all threads.
    /// `references` has the references of each module, if not data but those are followed.
    ///
    /// # Errors
    /// [`ModuleError::TooLarge`] beyond 2^30 values.
    pub(crate) fn of(
        program: Cow<'a, Program>,
        calls: Cow<'a, Calls>,
        name: &str,
        references: Option<&[References<'_>]>,
        limits: Limits,
    ) -> Result<Self, ModuleError> {
        check(&program, name, limits)?;
        let of_module = |module| match references {
            None => Shape::of(&program, module),
            Some(_) => Shape::EMPTY,
        };
        let shapes: Vec<Shape> = program.modules.iter().map(of_module).collect();
        let values = values(Input {
            program: &program,
            calls: &calls,
            shapes: &shapes,
            references,
        });
        let (values, counts): (Vec<Values>, Vec<usize>) = values.into_iter().unzip();
        let ends = values.iter().map(|one| [one.inputs, one.outputs]).collect();
        let first = firsts(name, values.iter().map(|one| one.ops.len()))?;
        let first_detail = firsts(name, counts.into_iter())?;
        Ok(Self {
            program,
            calls,
            values,
            first,
            first_detail,
            ends,
            shapes,
        })
    }

    /// Number of values.
    pub(crate) fn len(&self) -> usize {
        self.first.last().map_or(0, |last| *last as usize)
    }

    /// A value of a node of the call graph, in the numbering of all.
    pub(crate) fn value(&self, node: u32, value: u32) -> u32 {
        self.first[node as usize] + value
    }

    /// The values of a node of the call graph.
    pub(crate) fn range(&self, node: u32) -> Range<usize> {
        self.first[node as usize] as usize..self.first[node as usize + 1] as usize
    }

    /// An input of a node of the call graph; `None` beyond the last one.
    pub(crate) fn input(&self, node: u32, number: u32) -> Option<u32> {
        let [inputs, _] = self.ends[node as usize];
        (number < inputs).then(|| self.value(node, number))
    }

    /// An output of a node of the call graph.
    pub(crate) fn output(&self, node: u32, number: u32) -> Option<u32> {
        let [inputs, outputs] = self.ends[node as usize];
        (number < outputs).then(|| self.value(node, inputs + number))
    }

    /// Number of memory among the inputs of a function, which follows parameters and globals, or
    /// among the outputs if `arity` counts results.
    pub(crate) fn memory(&self, function: u32, arity: u32) -> u32 {
        let module = self.program.functions[function as usize].module;
        arity + self.shapes[module as usize].globals()
    }

    /// The node of the call graph that a value belongs to, and its number there.
    pub(crate) fn owner(&self, value: u32) -> (u32, u32) {
        owner(&self.first, value)
    }

    /// The values of a node where data is followed, before they were condensed. Costs a pass over
    /// its operations.
    pub(crate) fn detail(&self, node: u32) -> Detail {
        let input = Input {
            program: &self.program,
            calls: &self.calls,
            shapes: &self.shapes,
            references: None,
        };
        let mut values = input.values(node as usize);
        let count = values.ops.len();
        let kept = match input.is_condensed(node as usize) {
            true => condensed(&values).1,
            false => (0..count as u32).collect(),
        };
        let before = rows(count, values.edges.iter().map(|(from, to)| (*to, *from)));
        values.edges = Vec::new();
        Detail {
            values,
            kept,
            before: before.distinct(),
        }
    }

    /// Dependencies inside of functions.
    pub(crate) fn each_own(&self, mut visit: impl FnMut(u32, u32)) {
        for (node, values) in (0..).zip(&self.values) {
            for (from, to) in &values.edges {
                visit(self.value(node, *from), self.value(node, *to));
            }
        }
    }

    /// Outputs of targets to outputs of dispatches.
    pub(crate) fn each_dispatch_output(&self, mut visit: impl FnMut(u32, u32)) {
        for dispatch in self.calls.functions as u32..self.calls.nodes() as u32 {
            for target in self.calls.callees.row(dispatch as usize) {
                for number in 0..self.values[dispatch as usize].outputs {
                    if let (Some(from), Some(to)) =
                        (self.output(*target, number), self.output(dispatch, number))
                    {
                        visit(from, to);
                    }
                }
            }
        }
    }

    /// Inputs of dispatches to inputs of targets.
    pub(crate) fn each_dispatch_input(&self, mut visit: impl FnMut(u32, u32)) {
        for dispatch in self.calls.functions as u32..self.calls.nodes() as u32 {
            for target in self.calls.callees.row(dispatch as usize) {
                for number in 0..self.values[dispatch as usize].inputs {
                    if let (Some(from), Some(to)) =
                        (self.input(dispatch, number), self.input(*target, number))
                    {
                        visit(from, to);
                    }
                }
            }
        }
    }

    /// Arguments of calls: (value, number of the input, node that calls, callee).
    pub(crate) fn each_argument(&self, mut visit: impl FnMut(u32, u32, u32)) {
        for (node, values) in (0..).zip(&self.values) {
            for site in &values.sites {
                for (number, value) in (0..).zip(&site.ins) {
                    if *value != NONE {
                        visit(self.value(node, *value), number, site.callee);
                    }
                }
            }
        }
    }

    /// Results of calls: (callee, number of the output, value).
    pub(crate) fn each_result(&self, mut visit: impl FnMut(u32, u32, u32)) {
        for (node, values) in (0..).zip(&self.values) {
            for site in &values.sites {
                for (number, value) in (0..).zip(&site.outs) {
                    if *value != NONE {
                        visit(site.callee, number, self.value(node, *value));
                    }
                }
            }
        }
    }
}

/// The values of a node of the call graph before they were condensed.
pub(crate) struct Detail {
    pub(crate) values: Values,
    /// The condensed value that stands for each one; [`NONE`] where no data gets.
    pub(crate) kept: Vec<u32>,
    /// The values that each one depends on, in their order.
    pub(crate) before: Rows,
}

/// What values are made from.
#[derive(Clone, Copy)]
struct Input<'a> {
    program: &'a Program,
    calls: &'a Calls,
    shapes: &'a [Shape],
    /// References of each module, if not data but those are followed.
    references: Option<&'a [References<'a>]>,
}

/// Values of each node of the call graph, and their number before they were condensed.
fn values(input: Input<'_>) -> Vec<(Values, usize)> {
    let nodes = (0..input.calls.nodes()).into_par_iter();
    let of_node = |node: usize| {
        let values = input.values(node);
        let count = values.ops.len();
        match input.is_condensed(node) {
            true => (condensed(&values).0, count),
            false => (values, count),
        }
    };
    nodes.map(of_node).collect()
}

impl Input<'_> {
    /// Whether only values that matter are kept of a node.
    fn is_condensed(&self, node: usize) -> bool {
        let function = self.program.functions.get(node);
        self.references.is_none() && function.is_some_and(|one| one.import.is_none())
    }

    /// The values of a node of the call graph.
    fn values(&self, node: usize) -> Values {
        let (program, calls) = (self.program, self.calls);
        let Some(function) = program.functions.get(node) else {
            return self.of_dispatch(node);
        };
        let shape = self.shapes[function.module as usize];
        if function.import.is_some() {
            return match self.references {
                None => Values::of_import(function, shape),
                Some(_) => Values::interface(function, shape),
            };
        }
        let callee = |op: usize| {
            let callee = calls.callee(program, node, op)?;
            Some((callee, calls.arity(program, callee).0))
        };
        let follow = self.references.map_or(Follow::Data, |references| {
            Follow::References(&references[function.module as usize])
        });
        let made = |joined| Maker::new(function, shape, follow).make(&callee, joined);
        made(false).or_else(|| made(true)).unwrap_or_default()
    }

    fn of_dispatch(&self, node: usize) -> Values {
        let (program, calls) = (self.program, self.calls);
        let dispatch = calls.dispatches[node - calls.functions];
        let shape = self.shapes[dispatch.module as usize];
        let arity = calls.arity(program, node as u32);
        let is_open = self.references.is_none() && calls.is_open(program, node as u32);
        Values::of_dispatch(arity, shape, is_open)
    }
}
