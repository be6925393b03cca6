//! The values of all functions in one numbering, and what flows between functions.

use super::condense::Condenser;
use super::follow::{Follow, References};
use super::function::{Maker, NONE, Shape, Site, Values};
use crate::calls::Calls;
use crate::error::ModuleError;
use crate::flow::Limits;
use crate::model::{Function, Program};
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
    /// The first input and the first output of each node, among those of all, and their numbers.
    ends: Vec<[u32; 2]>,
    shapes: Vec<Shape>,
    /// Number of parameters of each node, without a look at all that is known of functions.
    parameters: Vec<u32>,
}

/// Most values and most flows: numbers of both are words.
const MOST: u64 = 1 << 30;

/// The first number of each node, of this many each, and the number of all.
fn firsts(name: &str, counts: impl Iterator<Item = u32>) -> Result<Vec<u32>, ModuleError> {
    let mut firsts = vec![0];
    let mut next = 0_u64;
    for count in counts {
        next += u64::from(count);
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
        let nodes = 0..calls.nodes() as u32;
        let parameters: Vec<u32> = nodes.map(|node| calls.arity(&program, node).0).collect();
        let values = values(Input {
            program: &program,
            calls: &calls,
            shapes: &shapes,
            parameters: &parameters,
            references,
        });
        let first = firsts(name, values.iter().map(|(_, count)| *count))?;
        let values: Vec<Values> = values.into_iter().map(|(values, _)| values).collect();
        let mut ends = vec![[0; 2]];
        ends.extend(values.iter().scan([0; 2], |[inputs, outputs], one| {
            *inputs += one.inputs;
            *outputs += one.outputs;
            Some([*inputs, *outputs])
        }));
        Ok(Self {
            program,
            calls,
            values,
            first,
            ends,
            shapes,
            parameters,
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

    /// The inputs of a node of the call graph, among those of all.
    pub(crate) fn inputs(&self, node: u32) -> Range<usize> {
        self.ends[node as usize][0] as usize..self.ends[node as usize + 1][0] as usize
    }

    /// The outputs of a node of the call graph, among those of all.
    pub(crate) fn outputs(&self, node: u32) -> Range<usize> {
        self.ends[node as usize][1] as usize..self.ends[node as usize + 1][1] as usize
    }

    /// Numbers of all inputs and of all outputs.
    pub(crate) fn interface(&self) -> [usize; 2] {
        let last = self.ends.last().copied().unwrap_or_default();
        last.map(|count| count as usize)
    }

    /// Number of the inputs and outputs of a node.
    pub(crate) fn interface_of(&self, node: u32) -> u32 {
        (self.inputs(node).len() + self.outputs(node).len()) as u32
    }

    /// The value of an input of a node of the call graph; `None` beyond the last one.
    pub(crate) fn input(&self, node: u32, number: u32) -> Option<u32> {
        let is_one = (number as usize) < self.inputs(node).len();
        is_one.then(|| self.value(node, number))
    }

    /// The value of an output of a node of the call graph.
    pub(crate) fn output(&self, node: u32, number: u32) -> Option<u32> {
        let is_one = (number as usize) < self.outputs(node).len();
        is_one.then(|| self.value(node, self.inputs(node).len() as u32 + number))
    }

    /// Number of memory among the inputs of a function, which follows parameters and globals, or
    /// among the outputs if `arity` counts results.
    pub(crate) fn memory(&self, function: u32, arity: u32) -> u32 {
        let module = self.program.functions[function as usize].module;
        arity + self.shapes[module as usize].globals()
    }

    /// Number of the cell of tables, counted as memory is; `None` where they have none.
    pub(crate) fn tables(&self, function: u32, arity: u32) -> Option<u32> {
        let module = self.program.functions[function as usize].module;
        let cell = self.shapes[module as usize].tables()?;
        Some(arity + cell as u32)
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
            parameters: &self.parameters,
            references: None,
        };
        let mut place = Workplace::default();
        let (mut values, kept) = match input.with_body(node as usize) {
            Some(function) => {
                let values = input.make(function, node as usize, &mut place.maker);
                place.condenser.condense(values);
                (values.clone(), place.condenser.kept().to_vec())
            }
            None => {
                let values = input.interface(node as usize);
                let count = values.ops.len() as u32;
                (values, (0..count).collect())
            }
        };
        let count = values.ops.len();
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
        self.each_dispatch(Self::output, |dispatch, target| visit(target, dispatch));
    }

    /// Inputs of dispatches to inputs of targets.
    pub(crate) fn each_dispatch_input(&self, visit: impl FnMut(u32, u32)) {
        self.each_dispatch(Self::input, visit);
    }

    /// Values at the interfaces of dispatches, with those of their targets.
    fn each_dispatch(
        &self,
        at: impl Fn(&Self, u32, u32) -> Option<u32>,
        mut visit: impl FnMut(u32, u32),
    ) {
        for dispatch in self.calls.functions as u32..self.calls.nodes() as u32 {
            for target in self.calls.callees.row(dispatch as usize) {
                let both = |number| at(self, dispatch, number).zip(at(self, *target, number));
                for (dispatch, target) in (0..).map_while(both) {
                    visit(dispatch, target);
                }
            }
        }
    }

    /// Arguments of calls: (value, number of the input, node that calls, callee).
    pub(crate) fn each_argument(&self, mut visit: impl FnMut(u32, u32, u32)) {
        for (node, values) in (0..).zip(&self.values) {
            for site in &values.sites {
                for (number, value) in (0..).zip(values.ins(site)) {
                    if *value != NONE {
                        visit(self.value(node, *value), number, site.callee);
                    }
                }
            }
        }
    }

    /// Results of calls where values are condensed: the output of the callee, the value, and the node
    /// that calls, with the call.
    pub(crate) fn each_result(&self, mut visit: impl FnMut(u32, u32, u32, &Site)) {
        for (node, values) in (0..).zip(&self.values) {
            for made in &values.results {
                let site = &values.sites[made.site as usize];
                if let Some(output) = self.output(site.callee, made.number) {
                    visit(output, self.value(node, made.value), node, site);
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

impl Detail {
    /// The arguments of a call.
    pub(crate) fn ins(&self, site: u32) -> &[u32] {
        self.values.ins(&self.values.sites[site as usize])
    }
}

/// What values are made from.
#[derive(Clone, Copy)]
struct Input<'a> {
    program: &'a Program,
    calls: &'a Calls,
    shapes: &'a [Shape],
    /// Number of parameters of each node.
    parameters: &'a [u32],
    /// References of each module, if not data but those are followed.
    references: Option<&'a [References<'a>]>,
}

/// A thread's memory, from one function to the next.
#[derive(Default)]
struct Workplace<'a> {
    maker: Option<Maker<'a>>,
    condenser: Condenser,
}

/// Values of each node of the call graph, and their number.
fn values(input: Input<'_>) -> Vec<(Values, u32)> {
    let nodes = (0..input.calls.nodes()).into_par_iter();
    let made = nodes.map_init(Workplace::default, |place, node| {
        let Some(function) = input.with_body(node) else {
            let values = input.interface(node);
            let count = values.ops.len() as u32;
            return (values, count);
        };
        let values = input.make(function, node, &mut place.maker);
        let (kept, count) = match input.references {
            None => place.condenser.condense(values),
            Some(_) => (values, values.ops.len() as u32),
        };
        // A clone has no memory that is left over.
        (kept.clone(), count)
    });
    made.collect()
}

impl<'a> Input<'a> {
    /// The function that a node of the call graph is, if it has a body.
    fn with_body(&self, node: usize) -> Option<&'a Function> {
        let function = self.program.functions.get(node)?;
        function.import.is_none().then_some(function)
    }

    /// Makes the values of a function.
    fn make<'m>(
        &self,
        function: &'a Function,
        node: usize,
        maker: &'m mut Option<Maker<'a>>,
    ) -> &'m Values {
        let (program, calls) = (self.program, self.calls);
        let callee = |op: usize| {
            let callee = calls.callee(program, node, op)?;
            Some((callee, self.parameters[callee as usize]))
        };
        let module = function.module as usize;
        let follow = match self.references {
            None => Follow::Data(&program.modules[module].image.0),
            Some(references) => Follow::References(&references[module]),
        };
        let shape = self.shapes[module];
        let maker = maker.get_or_insert_with(|| Maker::new(function, shape, follow));
        maker.next(function, shape, follow);
        if maker.make(&callee, false).is_none() {
            maker.make(&callee, true);
        }
        &maker.values
    }

    /// The values of a node of the call graph that has no body.
    fn interface(&self, node: usize) -> Values {
        let (program, calls) = (self.program, self.calls);
        if let Some(function) = program.functions.get(node) {
            let shape = self.shapes[function.module as usize];
            return match self.references {
                None => Values::of_import(function, shape),
                Some(_) => Values::interface(function, shape),
            };
        }
        let dispatch = calls.dispatches[node - calls.functions];
        let shape = self.shapes[dispatch.module as usize];
        let arity = calls.arity(program, node as u32);
        let is_open = self.references.is_none() && calls.is_open(program, node as u32);
        Values::of_dispatch(arity, shape, is_open)
    }
}
