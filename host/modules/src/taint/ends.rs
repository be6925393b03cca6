//! The ends of questions: where data of sources begins, and what sinks take.

use super::spec::{Port, Spec};
use crate::calls::Calls;
use crate::error::ModuleError;
use crate::finding::Place;
use crate::flow::Limits;
use crate::model::Program;
use crate::names::Names;
use crate::order::{Components, Rows, rows_by};
use crate::values::{NONE, Site, Whole};
use std::borrow::Cow;
use std::sync::OnceLock;

/// The values of a program, and its functions and calls by what sources and sinks name.
pub(super) struct Ends<'a> {
    pub(super) whole: Whole<'a>,
    pub(super) names: Names,
    /// All calls: the function, and the place in its list.
    pub(super) sites: Vec<(u32, u32)>,
    /// Calls of each node of the call graph.
    pub(super) sites_of: Rows,
    passed: OnceLock<Passed>,
}

/// Arguments by the inputs that they are passed to.
pub(super) struct Passed {
    /// The first argument of each input, among those of all functions, and their number.
    first: Vec<u32>,
    /// The value that is passed, and the number of the call.
    all: Vec<[u32; 2]>,
}

impl Passed {
    fn of_calls(ends: &Ends<'_>) -> Self {
        let whole = &ends.whole;
        let each = |visit: &mut dyn FnMut(usize, [u32; 2])| {
            for ((node, at), number) in ends.sites.iter().zip(0..) {
                let values = &whole.values[*node as usize];
                let site = &values.sites[*at as usize];
                for (input, own) in whole.inputs(site.callee).zip(values.ins(site)) {
                    if *own != NONE {
                        visit(input, [whole.value(*node, *own), number]);
                    }
                }
            }
        };
        let mut first = vec![0; whole.interface()[0] + 2];
        each(&mut |input, _| first[input + 2] += 1);
        let mut next = 0;
        for first in &mut first {
            next += *first;
            *first = next;
        }
        let mut all = vec![[0; 2]; next as usize];
        each(&mut |input, passed| {
            all[first[input + 1] as usize] = passed;
            first[input + 1] += 1;
        });
        Self { first, all }
    }

    /// The arguments that are passed to an input.
    pub(super) fn of(&self, input: usize) -> &[[u32; 2]] {
        &self.all[self.first[input] as usize..self.first[input + 1] as usize]
    }
}

/// An argument of a call that a sink takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Argument {
    /// Number of the call, in the order of functions and operations.
    pub(super) site: u32,
    /// The function that is called.
    pub(super) target: u32,
    /// Number of the argument.
    pub(super) input: u32,
    pub(super) value: u32,
}

impl<'a> Ends<'a> {
    /// The values of a program.
    ///
    /// # Errors
    /// [`ModuleError::TooLarge`] beyond 2^30 values.
    pub(super) fn of(
        program: Cow<'a, Program>,
        calls: Cow<'a, Calls>,
        limits: Limits,
    ) -> Result<Self, ModuleError> {
        let whole = Whole::of(program, calls, "taint", None, limits)?;
        let numbered = |(node, sites): (u32, usize)| (0..sites as u32).map(move |at| (node, at));
        let counts = whole.values.iter().map(|values| values.sites.len());
        let sites: Vec<(u32, u32)> = (0..).zip(counts).flat_map(numbered).collect();
        let callee = |(node, at): &(u32, u32)| {
            let site = &whole.values[*node as usize].sites[*at as usize];
            site.callee
        };
        // There are fewer calls than values.
        let sites_of = rows_by(whole.values.len(), &|visit| {
            let callees = sites.iter().map(callee);
            callees
                .zip(0..)
                .for_each(|(callee, site)| visit(callee, site));
        });
        Ok(Self {
            names: Names::of(&whole.program),
            sites_of: sites_of.unwrap_or_default(),
            passed: OnceLock::new(),
            whole,
            sites,
        })
    }

    pub(super) fn program(&self) -> &Program {
        &self.whole.program
    }

    /// Arguments by the inputs that they are passed to. The first call costs a pass over all of them.
    pub(super) fn passed(&self) -> &Passed {
        self.passed.get_or_init(|| Passed::of_calls(self))
    }

    /// Dispatches that may call a function.
    pub(super) fn dispatches(&self, target: u32) -> impl Iterator<Item = u32> {
        let calls = &self.whole.calls;
        let callers = calls.callers.row(target as usize);
        let first = callers.partition_point(|node| (*node as usize) < calls.functions);
        callers[first..].iter().copied()
    }

    /// Memory when a function has run, and when it is called, of one out of most functions that call
    /// each other; `None` if there are no such.
    pub(super) fn passing_memory(&self) -> Option<[u32; 2]> {
        let calls = &self.whole.calls;
        let mut largest = Vec::new();
        let nodes = 0..calls.nodes() as u32;
        let memory = &mut Components::default();
        calls.callees.each_component(nodes, memory, |members| {
            if members.len() > largest.len() {
                largest = members.to_vec();
            }
        });
        if largest.len() < 2 {
            return None;
        }
        largest.retain(|node| (*node as usize) < calls.functions);
        let callers = |node: &u32| calls.callers.row(*node as usize).len();
        let node = largest.into_iter().max_by_key(callers)?;
        let function = &self.program().functions[node as usize];
        let after = self.whole.memory(node, function.results);
        let before = self.whole.memory(node, function.parameters);
        Some([
            self.whole.output(node, after)?,
            self.whole.input(node, before)?,
        ])
    }

    /// The call with a number, and the function that it is in.
    pub(super) fn site(&self, number: u32) -> (u32, &Site) {
        let (node, at) = self.sites[number as usize];
        (node, &self.whole.values[node as usize].sites[at as usize])
    }

    /// Number of the first call of a function.
    pub(super) fn first_site(&self, node: u32) -> u32 {
        self.sites.partition_point(|(of, _)| *of < node) as u32
    }

    /// The place of an argument, and what it is.
    pub(super) fn described(&self, argument: &Argument) -> (Place, String) {
        let program = self.program();
        let (node, site) = self.site(argument.site);
        let offset = program.functions[node as usize].body.ops[site.op as usize].offset;
        let callee = &program.functions[argument.target as usize];
        let what = match argument.input < callee.parameters {
            true => format!("argument {}", argument.input),
            false => "memory at the call".to_owned(),
        };
        let place = Place::of(program, node as usize, Some(offset));
        (place, format!("{what} of {}", callee.label()))
    }

    /// Values where data of a source begins, sorted.
    pub(super) fn seeds(&self, source: &Spec) -> Result<Vec<u32>, ModuleError> {
        let whole = &self.whole;
        let mut seeds = Vec::new();
        if source.is_load() {
            for (node, values) in (0..).zip(&whole.values) {
                let loads = values.loads.iter();
                seeds.extend(loads.map(|load| whole.value(node, *load)));
            }
            return Ok(seeds);
        }
        for function in source.functions("source", self.program(), &self.names)? {
            let results = self.program().functions[*function as usize].results;
            match source.port {
                Port::All => {
                    let all = (0..results).filter_map(|result| whole.output(*function, result));
                    seeds.extend(all);
                }
                Port::Parameter(parameter) => seeds.extend(whole.input(*function, parameter)),
                Port::Memory => {
                    let memory = whole.memory(*function, results);
                    seeds.extend(whole.output(*function, memory));
                }
            }
        }
        Ok(seeds)
    }

    /// Arguments of all calls that may call a sink, sorted.
    pub(super) fn arguments(&self, sinks: &[Spec]) -> Result<Vec<Argument>, ModuleError> {
        let mut arguments = Vec::new();
        for sink in sinks {
            for function in sink.functions("sink", self.program(), &self.names)? {
                let parameters = self.program().functions[*function as usize].parameters;
                let inputs = match sink.port {
                    Port::All => 0..parameters,
                    Port::Parameter(input) => input..input + 1,
                    Port::Memory => {
                        let memory = self.whole.memory(*function, parameters);
                        memory..memory + 1
                    }
                };
                for input in inputs {
                    self.add_arguments(*function, input, &mut arguments);
                }
            }
        }
        arguments.sort_unstable();
        arguments.dedup();
        Ok(arguments)
    }

    /// Adds an argument of the calls of a function, and of those that may call it.
    fn add_arguments(&self, target: u32, input: u32, arguments: &mut Vec<Argument>) {
        for callee in std::iter::once(target).chain(self.dispatches(target)) {
            for number in self.sites_of.row(callee as usize) {
                let (node, site) = self.site(*number);
                let ins = self.whole.values[node as usize].ins(site);
                let value = ins.get(input as usize).filter(|value| **value != NONE);
                arguments.extend(value.map(|value| Argument {
                    site: *number,
                    target,
                    input,
                    value: self.whole.value(node, *value),
                }));
            }
        }
    }
}
