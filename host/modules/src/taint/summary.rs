//! Summaries of functions: which outputs depend on which inputs.
//!
//! Every value has a word whose bit `i` says that it depends on input `i` of its function. A result
//! of a call depends on an argument only if the callee's output depends on that input, which is a
//! bit of the output's word (IFDS: Reps, Horwitz and Sagiv, "Precise interprocedural dataflow
//! analysis via graph reachability", 1995). Functions are followed one at a time, callees first, and
//! again when the summary of a callee has changed, so that the words at hand stay in the cache.
//!
//! Inputs from number 63 on share a bit, which can only add dependencies.

use crate::error::ModuleError;
use crate::flow::{Limits, SolveStats};
use crate::values::{CallResult, NONE, Values, Whole};
use seawall::units::elapsed_ns;
use std::time::Instant;

/// The bit of an input.
pub(super) const fn bit(input: u32) -> u32 {
    if input < 63 { input } else { 63 }
}

/// The inputs of a function, of this many, that a word has the bits of.
pub(super) fn inputs_of(word: u64, inputs: u32) -> impl Iterator<Item = u32> {
    let mut word = word;
    let bits = std::iter::from_fn(move || {
        let bit = (word != 0).then(|| word.trailing_zeros());
        word &= word.wrapping_sub(1);
        bit
    });
    bits.flat_map(move |bit| bit..if bit < 63 { bit + 1 } else { inputs })
}

/// Words of all values, joined along the flows inside of functions and across calls.
pub(super) struct Along<'a> {
    pub(super) whole: &'a Whole<'a>,
    pub(super) words: Vec<u64>,
    /// The inputs that outputs depend on, if that is known; else `words` are to say so.
    pub(super) gates: Option<&'a [u64]>,
    /// Whether outputs of callees join results of calls.
    pub(super) rises: bool,
    /// Functions that are followed, in this order.
    pub(super) order: &'a [u32],
    pub(super) is_open: Vec<bool>,
    /// Arguments that are made after a result that depends on them, with it: those of loops.
    pub(super) late: Vec<(usize, usize)>,
    /// Values of the functions that were followed.
    pub(super) taken: u64,
}

impl Along<'_> {
    /// Follows the open functions, and their callers as long as outputs change. Returns the number of
    /// rounds over all functions, with the last one, which changes nothing.
    pub(super) fn settle(&mut self) -> u32 {
        let (whole, order) = (self.whole, self.order);
        let mut rounds = 0;
        let mut is_new = true;
        while is_new {
            is_new = false;
            rounds += 1;
            for node in order {
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
        rounds
    }

    /// Joins words of a function until none changes; returns whether its outputs did.
    pub(super) fn follow(&mut self, node: u32) -> bool {
        let values = &self.whole.values[node as usize];
        let first = self.whole.first[node as usize] as usize;
        let outputs =
            first + values.output(0) as usize..first + values.output(values.outputs) as usize;
        let bits = |words: &[u64]| words.iter().map(|word| word.count_ones()).sum::<u32>();
        let before = bits(&self.words[outputs.clone()]);
        self.taken += values.ops.len() as u64;
        self.join_targets(node, values);
        loop {
            self.late.clear();
            let mut results = values.results.iter();
            let mut next = results.next();
            for (from, to) in &values.edges {
                let is_inner = *to >= values.inputs + values.outputs;
                while let Some(one) = next.filter(|one| one.value < *to || !is_inner) {
                    self.join_call(first, values, *one);
                    next = results.next();
                }
                let coming = self.words[first + *from as usize];
                self.words[first + *to as usize] |= coming;
            }
            for one in next.into_iter().chain(results) {
                self.join_call(first, values, *one);
            }
            let is_missing =
                |(from, to): &(usize, usize)| self.words[*from] & !self.words[*to] != 0;
            if !self.late.iter().any(is_missing) {
                return bits(&self.words[outputs]) > before;
            }
        }
    }

    /// Joins the words of a call at one of its results.
    fn join_call(&mut self, first: usize, values: &Values, made: CallResult) {
        let site = &values.sites[made.site as usize];
        let Some(output) = self.whole.output(site.callee, made.number) else {
            return;
        };
        let output = output as usize;
        let gate = self.gates.map_or(self.words[output], |gates| gates[output]);
        let mut coming = if self.rises { self.words[output] } else { 0 };
        let made = first + made.value as usize;
        for input in inputs_of(gate, site.ins.len() as u32) {
            let value = site.ins.get(input as usize).copied().unwrap_or(NONE);
            if value != NONE {
                let value = first + value as usize;
                coming |= self.words[value];
                if value > made {
                    self.late.push((value, made));
                }
            }
        }
        self.words[made] |= coming;
    }

    /// Joins the outputs of the functions that a dispatch calls.
    fn join_targets(&mut self, node: u32, values: &Values) {
        let (whole, calls) = (self.whole, &self.whole.calls);
        if (node as usize) < calls.functions {
            return;
        }
        for target in calls.callees.row(node as usize) {
            for number in 0..values.outputs {
                if let (Some(from), Some(to)) =
                    (whole.output(*target, number), whole.output(node, number))
                {
                    self.words[to as usize] |= self.words[from as usize];
                }
            }
        }
    }
}

/// The dependencies of all values on the inputs of their functions.
pub(super) struct Summaries {
    /// By value.
    pub(super) words: Vec<u64>,
    pub(super) stats: SolveStats,
}

/// Functions and dispatches, callees before their callers but for recursion.
pub(super) fn callees_first(whole: &Whole<'_>) -> Vec<u32> {
    let nodes = 0..whole.calls.nodes() as u32;
    let mut order = whole.calls.callees.reverse_postorder(nodes);
    order.reverse();
    order
}

/// Finds the summaries of all functions.
///
/// # Errors
/// [`ModuleError::TooLarge`] before anything is allocated if the words exceed the limit of one
/// function's facts.
pub(super) fn summaries(
    whole: &Whole<'_>,
    order: &[u32],
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
    let mut along = Along {
        whole,
        words: vec![0; whole.len()],
        gates: None,
        rises: false,
        order,
        is_open: vec![true; order.len()],
        late: Vec::new(),
        taken: 0,
    };
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
        stats,
    })
}
