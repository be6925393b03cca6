//! Summaries of functions: which outputs depend on which inputs.
//!
//! Every value has a word whose bit `i` says that it depends on input `i` of its function. A result
//! of a call depends on an argument only if the callee's output depends on that input, which is a
//! bit of the output's word (IFDS: Reps, Horwitz and Sagiv, "Precise interprocedural dataflow
//! analysis via graph reachability", 1995). Functions are followed one at a time, callees first, and
//! those that call each other again when the summary of a callee has changed, so that the words at
//! hand stay in the cache. Words of outputs are kept apart, since calls look them up.
//!
//! Inputs from number 63 on share a bit, which can only add dependencies.

use crate::calls::Calls;
use crate::error::ModuleError;
use crate::flow::{Limits, SolveStats, bits};
use crate::order::{Components, Rows};
use crate::values::{CallResult, NONE, Values, Whole};
use seawall::units::elapsed_ns;
use std::time::Instant;

/// The bit of an input.
pub(super) const fn bit(input: u32) -> u32 {
    if input < 63 { input } else { 63 }
}

/// The inputs of a function, of this many, that a word has the bits of.
pub(super) fn inputs_of(word: u64, inputs: u32) -> impl Iterator<Item = u32> {
    bits(word).flat_map(move |bit| bit..if bit < 63 { bit + 1 } else { inputs })
}

/// Effects of calls on words.
pub(super) struct Across<'a> {
    pub(super) whole: &'a Whole<'a>,
    /// The inputs that each output depends on.
    pub(super) gates: &'a [u64],
    /// Words of outputs that join results of calls, if they do.
    pub(super) rising: Option<&'a [u64]>,
}

impl Across<'_> {
    /// Joins the words of a function's values until none changes. `late` is memory.
    pub(super) fn flow(&self, values: &Values, words: &mut [u64], late: &mut Vec<[u32; 2]>) {
        loop {
            late.clear();
            let mut results = values.results.iter();
            let mut next = results.next();
            for (from, to) in &values.edges {
                let is_inner = *to >= values.inputs + values.outputs;
                while let Some(one) = next.filter(|one| one.value < *to || !is_inner) {
                    self.join(values, *one, words, late);
                    next = results.next();
                }
                words[*to as usize] |= words[*from as usize];
            }
            for one in next.into_iter().chain(results) {
                self.join(values, *one, words, late);
            }
            let is_missing =
                |[from, to]: &[u32; 2]| words[*from as usize] & !words[*to as usize] != 0;
            if !late.iter().any(is_missing) {
                return;
            }
        }
    }

    /// Joins the words of a call at one of its results. Arguments that are made after it, in loops,
    /// are listed as late.
    fn join(&self, values: &Values, made: CallResult, words: &mut [u64], late: &mut Vec<[u32; 2]>) {
        let site = &values.sites[made.site as usize];
        let mut outputs = self.whole.outputs(site.callee);
        let Some(output) = outputs.nth(made.number as usize) else {
            return;
        };
        let mut coming = self.rising.map_or(0, |rising| rising[output]);
        let ins = values.ins(site);
        inputs_of(self.gates[output], ins.len() as u32).for_each(|input| {
            let value = ins.get(input as usize).copied().unwrap_or(NONE);
            if value != NONE {
                coming |= words[value as usize];
                if value > made.value {
                    late.push([value, made.value]);
                }
            }
        });
        words[made.value as usize] |= coming;
    }
}

/// Words of all values, joined along the flows inside of functions and across calls.
pub(super) struct Along<'a> {
    whole: &'a Whole<'a>,
    /// Functions and dispatches, those that call each other together, callees first.
    order: &'a Rows,
    pub(super) words: Vec<u64>,
    /// Words of outputs.
    pub(super) outputs: Vec<u64>,
    /// The inputs that outputs depend on, if that is known; else `outputs` say so.
    gates: Option<&'a [u64]>,
    pub(super) is_open: Vec<bool>,
    late: Vec<[u32; 2]>,
    /// Values of the functions that were followed.
    pub(super) taken: u64,
}

impl<'a> Along<'a> {
    pub(super) fn new(whole: &'a Whole<'a>, order: &'a Rows, gates: Option<&'a [u64]>) -> Self {
        let nodes = whole.values.len();
        Self {
            whole,
            order,
            words: vec![0; whole.len()],
            outputs: vec![0; whole.interface()[1]],
            gates,
            is_open: vec![gates.is_none(); nodes],
            late: Vec::new(),
            taken: 0,
        }
    }

    /// Follows the open functions, and their callers as long as outputs change. Returns the most
    /// rounds over functions that call each other, with the last one, which changes nothing.
    pub(super) fn settle(&mut self) -> u32 {
        let (whole, order) = (self.whole, self.order);
        let mut most = 0;
        for component in 0..order.nodes() {
            let mut rounds = 0;
            let mut is_new = true;
            while std::mem::take(&mut is_new) {
                rounds += 1;
                for node in order.row(component) {
                    if !std::mem::take(&mut self.is_open[*node as usize]) {
                        continue;
                    }
                    is_new = true;
                    if self.follow(*node) {
                        for caller in whole.calls.callers.row(*node as usize) {
                            self.is_open[*caller as usize] = true;
                        }
                    }
                }
            }
            most = most.max(rounds);
        }
        most
    }

    /// Joins words of a function until none changes; returns whether its outputs did.
    fn follow(&mut self, node: u32) -> bool {
        let values = &self.whole.values[node as usize];
        self.taken += self.whole.range(node).len() as u64;
        self.join_targets(node);
        let words = &mut self.words[self.whole.range(node)];
        let across = Across {
            whole: self.whole,
            gates: self.gates.unwrap_or(&self.outputs),
            rising: self.gates.map(|_| &*self.outputs),
        };
        across.flow(values, words, &mut self.late);
        let words = &words[values.output(0) as usize..][..values.outputs as usize];
        let outputs = &mut self.outputs[self.whole.outputs(node)];
        let is_new = *words != *outputs;
        outputs.copy_from_slice(words);
        is_new
    }

    /// Joins the outputs of the functions that a dispatch calls.
    fn join_targets(&mut self, node: u32) {
        let (whole, calls) = (self.whole, &self.whole.calls);
        if (node as usize) < calls.functions {
            return;
        }
        let first = whole.value(node, whole.inputs(node).len() as u32) as usize;
        let words = &mut self.words[first..][..whole.outputs(node).len()];
        for target in calls.callees.row(node as usize) {
            let outputs = &self.outputs[whole.outputs(*target)];
            for (word, output) in words.iter_mut().zip(outputs) {
                *word |= output;
            }
        }
    }
}

/// The dependencies of all values on the inputs of their functions.
pub(super) struct Summaries {
    /// By value.
    pub(super) words: Vec<u64>,
    /// By output.
    pub(super) outputs: Vec<u64>,
    pub(super) stats: SolveStats,
}

/// Functions and dispatches, those that call each other together, callees before their callers.
pub(super) fn callees_first(calls: &Calls) -> Rows {
    let nodes = 0..calls.nodes() as u32;
    let mut place = vec![0; nodes.len()];
    for (at, node) in (0_u32..).zip(calls.callees.reverse_postorder(nodes.clone())) {
        place[node as usize] = at;
    }
    let mut order = Rows::default();
    order.offsets.push(0);
    let each = |members: &[u32]| {
        let first = order.targets.len();
        order.targets.extend(members);
        order.targets[first..]
            .sort_unstable_by_key(|node| std::cmp::Reverse(place[*node as usize]));
        order.offsets.push(order.targets.len() as u32);
    };
    calls
        .callees
        .each_component(nodes, &mut Components::default(), each);
    order
}

/// Finds the summaries of all functions.
///
/// # Errors
/// [`ModuleError::TooLarge`] before anything is allocated if the words exceed the limit of one
/// function's facts.
pub(super) fn summaries(
    whole: &Whole<'_>,
    order: &Rows,
    limits: Limits,
) -> Result<Summaries, ModuleError> {
    let clock = Instant::now();
    let needed = whole.len() as u64 * 8;
    if needed > limits.function_bytes {
        return Err(ModuleError::TooLarge {
            path: "taint".to_owned(),
            what: "bytes of the words of values".to_owned(),
            found: needed,
            most: limits.function_bytes,
        });
    }
    let mut along = Along::new(whole, order, None);
    for (first, values) in whole.first.iter().zip(&whole.values) {
        for input in 0..values.inputs {
            along.words[(first + values.input(input)) as usize] |= 1 << bit(input);
        }
    }
    let iterations = along.settle();
    let edges = whole.values.iter().map(|values| values.edges.len() as u64);
    let stats = SolveStats {
        iterations,
        nodes: whole.len() as u64,
        edges: edges.sum(),
        run_ns: elapsed_ns(clock),
        ..SolveStats::default()
    };
    Ok(Summaries {
        words: along.words,
        outputs: along.outputs,
        stats,
    })
}
