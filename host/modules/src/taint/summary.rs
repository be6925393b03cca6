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
//!
//! Sources rise to callers along the same flows, a bit for each in a word of their own: those of the
//! first question of a program together with the summaries, since most of the time goes to looking
//! calls up.

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
    /// Sources whose data comes up to callers by each output, where they are followed.
    pub(super) rising: &'a [u64],
}

/// Words of a function's values: the inputs that they depend on, and the sources whose data comes to
/// them; none of what is not followed.
pub(super) struct Lanes<'w> {
    pub(super) depends: &'w mut [u64],
    pub(super) risen: &'w mut [u64],
}

impl Lanes<'_> {
    #[inline(always)]
    fn pass<const DEPENDS: bool, const RISEN: bool>(&mut self, (from, to): (u32, u32)) {
        if DEPENDS {
            self.depends[to as usize] |= self.depends[from as usize];
        }
        if RISEN {
            self.risen[to as usize] |= self.risen[from as usize];
        }
    }

    fn is_missing(&self, [from, to]: [u32; 2]) -> bool {
        let is_missing = |words: &[u64]| {
            let words = words.get(from as usize).zip(words.get(to as usize));
            words.is_some_and(|(from, to)| from & !to != 0)
        };
        is_missing(self.depends) || is_missing(self.risen)
    }
}

impl Across<'_> {
    /// Joins the words of a function's values, of the kinds that are followed, until none changes.
    /// `late` is memory.
    pub(super) fn flow<const DEPENDS: bool, const RISEN: bool>(
        &self,
        values: &Values,
        lanes: &mut Lanes<'_>,
        late: &mut Vec<[u32; 2]>,
    ) {
        // Edges of outputs come last.
        let interface = values.inputs + values.outputs;
        let inner = values.edges.partition_point(|(_, to)| *to >= interface);
        let (inner, outer) = values.edges.split_at(inner);
        loop {
            late.clear();
            let mut at = 0;
            for one in &values.results {
                while let Some(edge) = inner.get(at).filter(|(_, to)| *to <= one.value) {
                    lanes.pass::<DEPENDS, RISEN>(*edge);
                    at += 1;
                }
                self.join::<DEPENDS, RISEN>(values, *one, lanes, late);
            }
            for edge in inner[at..].iter().chain(outer) {
                lanes.pass::<DEPENDS, RISEN>(*edge);
            }
            if !late.iter().any(|pair| lanes.is_missing(*pair)) {
                return;
            }
        }
    }

    /// Joins the words of a call at one of its results. Arguments that are made after it, in loops,
    /// are listed as late.
    fn join<const DEPENDS: bool, const RISEN: bool>(
        &self,
        values: &Values,
        made: CallResult,
        lanes: &mut Lanes<'_>,
        late: &mut Vec<[u32; 2]>,
    ) {
        let site = &values.sites[made.site as usize];
        let mut outputs = self.whole.outputs(site.callee);
        let Some(output) = outputs.nth(made.number as usize) else {
            return;
        };
        let (mut depends, mut risen) = (0, if RISEN { self.rising[output] } else { 0 });
        let ins = values.ins(site);
        inputs_of(self.gates[output], ins.len() as u32).for_each(|input| {
            let value = ins.get(input as usize).copied().unwrap_or(NONE);
            if value != NONE {
                if DEPENDS {
                    depends |= lanes.depends[value as usize];
                }
                if RISEN {
                    risen |= lanes.risen[value as usize];
                }
                if value > made.value {
                    late.push([value, made.value]);
                }
            }
        });
        if DEPENDS {
            lanes.depends[made.value as usize] |= depends;
        }
        if RISEN {
            lanes.risen[made.value as usize] |= risen;
        }
    }
}

/// Words of all values of one kind, and those of outputs once more, which calls look up.
#[derive(Default)]
struct Kept {
    words: Vec<u64>,
    outputs: Vec<u64>,
}

impl Kept {
    fn new(whole: &Whole<'_>) -> Self {
        Self {
            words: vec![0; whole.len()],
            outputs: vec![0; whole.interface()[1]],
        }
    }

    /// Joins the outputs of the functions that a dispatch calls.
    fn join_targets(&mut self, whole: &Whole<'_>, node: u32) {
        let first = whole.value(node, whole.inputs(node).len() as u32) as usize;
        let words = &mut self.words[first..][..whole.outputs(node).len()];
        for target in whole.calls.callees.row(node as usize) {
            let outputs = &self.outputs[whole.outputs(*target)];
            for (word, output) in words.iter_mut().zip(outputs) {
                *word |= output;
            }
        }
    }

    /// Keeps the outputs of a function; returns whether they have changed.
    fn keep_outputs(&mut self, whole: &Whole<'_>, node: u32) -> bool {
        let first = whole.value(node, whole.inputs(node).len() as u32) as usize;
        let words = &self.words[first..][..whole.outputs(node).len()];
        let outputs = &mut self.outputs[whole.outputs(node)];
        let is_new = *words != *outputs;
        outputs.copy_from_slice(words);
        is_new
    }
}

/// Words of all values, joined along the flows inside of functions and across calls.
struct Along<'a> {
    whole: &'a Whole<'a>,
    /// Functions and dispatches, those that call each other together, callees first.
    order: &'a Rows,
    /// The inputs that values depend on, if that is not known.
    depends: Kept,
    /// The sources whose data comes to values, if some are followed.
    risen: Kept,
    /// The inputs that outputs depend on, if that is known.
    gates: &'a [u64],
    is_open: Vec<bool>,
    late: Vec<[u32; 2]>,
    /// Values of the functions that were followed.
    taken: u64,
}

impl Along<'_> {
    /// Begins with sources by the values where their data begins.
    fn begin(&mut self, seeds: &[Vec<u32>]) {
        for (source, seeds) in seeds.iter().enumerate() {
            for seed in seeds {
                self.risen.words[*seed as usize] |= 1 << source;
                self.is_open[self.whole.owner(*seed).0 as usize] = true;
            }
        }
    }

    /// Follows the open functions, and their callers as long as outputs change. Returns the most
    /// rounds over functions that call each other, with the last one, which changes nothing.
    fn settle<const DEPENDS: bool, const RISEN: bool>(&mut self) -> u32 {
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
                    if self.follow::<DEPENDS, RISEN>(*node) {
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
    fn follow<const DEPENDS: bool, const RISEN: bool>(&mut self, node: u32) -> bool {
        let whole = self.whole;
        let range = whole.range(node);
        self.taken += range.len() as u64;
        if node as usize >= whole.calls.functions {
            if DEPENDS {
                self.depends.join_targets(whole, node);
            }
            if RISEN {
                self.risen.join_targets(whole, node);
            }
        }
        let across = Across {
            whole,
            gates: if DEPENDS {
                &self.depends.outputs
            } else {
                self.gates
            },
            rising: &self.risen.outputs,
        };
        let lanes = &mut Lanes {
            depends: self
                .depends
                .words
                .get_mut(range.clone())
                .unwrap_or_default(),
            risen: self.risen.words.get_mut(range).unwrap_or_default(),
        };
        let values = &whole.values[node as usize];
        across.flow::<DEPENDS, RISEN>(values, lanes, &mut self.late);
        let is_new = DEPENDS && self.depends.keep_outputs(whole, node);
        RISEN && self.risen.keep_outputs(whole, node) || is_new
    }
}

/// Sources that were followed as far as their data comes without going down into a callee.
pub(super) struct Risen {
    /// Values where data of each source begins, sorted.
    pub(super) seeds: Vec<Vec<u32>>,
    /// The sources whose data comes to each value.
    pub(super) words: Vec<u64>,
    /// Values of the functions that were followed.
    pub(super) taken: u64,
}

impl Risen {
    /// Follows up to 64 sources by the values where their data begins.
    pub(super) fn of(
        whole: &Whole<'_>,
        order: &Rows,
        summaries: &Summaries,
        seeds: Vec<Vec<u32>>,
    ) -> Self {
        let mut along = Along {
            whole,
            order,
            depends: Kept::default(),
            risen: Kept::new(whole),
            gates: &summaries.outputs,
            is_open: vec![false; whole.values.len()],
            late: Vec::new(),
            taken: 0,
        };
        along.begin(&seeds);
        along.settle::<false, true>();
        Self {
            seeds,
            words: along.risen.words,
            taken: along.taken,
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

/// Finds the summaries of all functions, and follows up to 64 sources with them, if there are some,
/// by the values where their data begins: calls are looked up once for both.
///
/// # Errors
/// [`ModuleError::TooLarge`] before anything is allocated if the words exceed the limit of one
/// function's facts.
pub(super) fn summaries(
    whole: &Whole<'_>,
    order: &Rows,
    seeds: Vec<Vec<u32>>,
    limits: Limits,
) -> Result<(Summaries, Option<Risen>), ModuleError> {
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
    let has_sources = !seeds.is_empty();
    let mut along = Along {
        whole,
        order,
        depends: Kept::new(whole),
        risen: if has_sources {
            Kept::new(whole)
        } else {
            Kept::default()
        },
        gates: &[],
        is_open: vec![true; whole.values.len()],
        late: Vec::new(),
        taken: 0,
    };
    for (first, values) in whole.first.iter().zip(&whole.values) {
        for input in 0..values.inputs {
            along.depends.words[(first + values.input(input)) as usize] |= 1 << bit(input);
        }
    }
    along.begin(&seeds);
    let iterations = match has_sources {
        false => along.settle::<true, false>(),
        true => along.settle::<true, true>(),
    };
    let edges = whole.values.iter().map(|values| values.edges.len() as u64);
    let stats = SolveStats {
        iterations,
        nodes: whole.len() as u64,
        edges: edges.sum(),
        run_ns: elapsed_ns(clock),
        ..SolveStats::default()
    };
    let Along {
        depends,
        risen,
        taken,
        ..
    } = along;
    let summaries = Summaries {
        words: depends.words,
        outputs: depends.outputs,
        stats,
    };
    let risen = has_sources.then_some(Risen {
        seeds,
        words: risen.words,
        taken,
    });
    Ok((summaries, risen))
}
