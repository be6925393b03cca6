//! The values of all functions in one numbering, and what flows between functions.

use super::follow::{Follow, References};
use super::function::{LiveIn, Maker, NONE, Shape, Values};
use crate::analysis::Lived;
use crate::calls::Calls;
use crate::error::ModuleError;
use crate::model::Program;
use rayon::prelude::*;
use std::borrow::Cow;

/// Values of all functions and dispatches.
pub(crate) struct Whole<'a> {
    pub(crate) program: Cow<'a, Program>,
    pub(crate) calls: Cow<'a, Calls>,
    /// By node of the call graph.
    pub(crate) values: Vec<Values>,
    /// The first value of each node of the call graph, and the number of all.
    pub(crate) first: Vec<u32>,
    shapes: Vec<Shape>,
}

/// Most values and most flows: numbers of both are words.
const MOST: u64 = 1 << 30;

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
        lived: &Lived,
    ) -> Result<Self, ModuleError> {
        let (values, shapes) = values(&program, &calls, references, lived);
        let mut first = Vec::with_capacity(values.len() + 1);
        let mut next = 0_u64;
        for one in &values {
            first.push(next as u32);
            next += one.ops.len() as u64;
            if next > MOST {
                return Err(ModuleError::TooLarge {
                    path: name.to_owned(),
                    what: "values of all functions".to_owned(),
                    found: next,
                    most: MOST,
                });
            }
        }
        first.push(next as u32);
        Ok(Self {
            program,
            calls,
            values,
            first,
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

    /// An input of a node of the call graph; `None` beyond the last one.
    pub(crate) fn input(&self, node: u32, number: u32) -> Option<u32> {
        let values = &self.values[node as usize];
        (number < values.inputs).then(|| self.value(node, values.input(number)))
    }

    /// An output of a node of the call graph.
    pub(crate) fn output(&self, node: u32, number: u32) -> Option<u32> {
        let values = &self.values[node as usize];
        (number < values.outputs).then(|| self.value(node, values.output(number)))
    }

    /// Number of memory among the inputs of a function, which follows parameters and globals, or
    /// among the outputs if `arity` counts results.
    pub(crate) fn memory(&self, function: u32, arity: u32) -> u32 {
        let module = self.program.functions[function as usize].module;
        arity + self.shapes[module as usize].globals
    }

    /// The node of the call graph that a value belongs to, and its number there.
    pub(crate) fn owner(&self, value: u32) -> (u32, u32) {
        let node = self.first.partition_point(|first| *first <= value) - 1;
        (node as u32, value - self.first[node])
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
                for number in 0..site.made {
                    visit(site.callee, number, self.value(node, site.outs + number));
                }
            }
        }
    }
}

/// Values of each node of the call graph, and the shape of each module.
fn values(
    program: &Program,
    calls: &Calls,
    references: Option<&[References<'_>]>,
    lived: &Lived,
) -> (Vec<Values>, Vec<Shape>) {
    let shapes: Vec<Shape> = program
        .modules
        .iter()
        .map(|module| match references {
            None => Shape::of(module.globals),
            Some(_) => Shape::EMPTY,
        })
        .collect();
    let of_function = |number: usize| {
        let function = &program.functions[number];
        let shape = shapes[function.module as usize];
        if function.import.is_some() {
            return match references {
                None => Values::of_import(function, shape),
                Some(_) => Values::interface(function, shape),
            };
        }
        let live = LiveIn {
            cells: &lived.live[number].cells,
            solution: &lived.solution,
            function: number,
        };
        let callee = |op: usize| {
            let callee = calls.callee(program, number, op)?;
            Some((callee, calls.arity(program, callee).0))
        };
        let follow = references.map_or(Follow::Data, |references| {
            Follow::References(&references[function.module as usize])
        });
        Maker::new(program, function, shape, follow).make(&live, &callee)
    };
    let functions = (0..program.functions.len()).into_par_iter();
    let mut values: Vec<Values> = functions.map(of_function).collect();
    for (number, dispatch) in calls.dispatches.iter().enumerate() {
        let node = calls.functions + number;
        let shape = shapes[dispatch.module as usize];
        let arity = calls.arity(program, node as u32);
        let is_open = references.is_none() && calls.is_open(program, node as u32);
        values.push(Values::of_dispatch(arity, shape, is_open));
    }
    (values, shapes)
}
