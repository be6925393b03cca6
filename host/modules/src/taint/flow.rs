//! From sources to sinks over summaries.

use super::spec::{LOAD, Port, Spec};
use super::summary::{bit, summaries};
use super::witness::Witnesses;
use crate::analysis::Lived;
use crate::calls::Calls;
use crate::error::ModuleError;
use crate::finding::{Finding, FindingKind, Place};
use crate::flow::{Direction, Meet, On, Problem, Setup, Solution, SolveStats, Span, solve_bodies};
use crate::model::{Block, Body, Program};
use crate::order::{Rows, rows};
use crate::values::{NONE, Site, Whole};

/// Findings and times of a taint question.
#[derive(Clone, Debug)]
pub struct TaintReport {
    /// A finding for each source, call and argument.
    pub findings: Vec<Finding>,
    /// Values of all functions.
    pub values: usize,
    /// Calls.
    pub sites: usize,
    /// Work of the summaries.
    pub summaries: SolveStats,
    /// Work of the flow from the sources.
    pub flow: SolveStats,
}

const UP: Setup = Setup {
    name: "taint",
    direction: Direction::Forward,
    meet: Meet::Any,
};

/// Finds the sinks that data from the sources reaches. 64 sources share a word.
///
/// # Errors
/// [`ModuleError::NoSuchName`] for a name that the program lacks; [`ModuleError::TooLarge`]; errors
/// of the machine.
pub fn taint(
    program: &Program,
    calls: &Calls,
    sources: &[Spec],
    sinks: &[Spec],
    on: On,
) -> Result<TaintReport, ModuleError> {
    taint_over(
        program,
        calls,
        (sources, sinks),
        &Lived::of(program, on)?,
        on,
    )
}

/// As [`taint`], of a program whose liveness is known.
pub(crate) fn taint_over(
    program: &Program,
    calls: &Calls,
    (sources, sinks): (&[Spec], &[Spec]),
    lived: &Lived,
    on: On,
) -> Result<TaintReport, ModuleError> {
    let whole = Whole::of(program, calls, "taint", None, lived)?;
    let seeds = seeds(&whole, sources)?;
    let wanted = wanted(&whole, sinks)?;
    let found = summaries(&whole, on)?;
    let up = Layer::new(&whole, &found.words, true);
    let down = Layer::new(&whole, &found.words, false);
    let first = up.solve(&seeds, sources.len(), on)?;
    let risen = first.marks();
    let second = down.solve(&risen, sources.len(), on)?;
    let witnesses = Witnesses {
        whole: &whole,
        up: up.edges.reversed(),
        down: down.edges.reversed(),
        risen: &first,
        fallen: &second,
        seeds: &seeds,
    };
    let question = Question {
        whole: &whole,
        sources,
        fallen: &second,
        witnesses,
    };
    let sites = whole.values.iter().map(|values| values.sites.len()).sum();
    Ok(TaintReport {
        findings: question.findings(&wanted),
        values: whole.len(),
        sites,
        summaries: found.stats,
        flow: first.stats.plus(second.stats),
    })
}

/// Values where data of each source begins: (value, source).
fn seeds(whole: &Whole<'_>, sources: &[Spec]) -> Result<Vec<(u32, u32)>, ModuleError> {
    let mut seeds = Vec::new();
    for (number, source) in (0..).zip(sources) {
        if source.name == LOAD && source.port == Port::All {
            for (node, values) in (0..).zip(&whole.values) {
                let loads = values.loads.iter();
                seeds.extend(loads.map(|load| (whole.value(node, *load), number)));
            }
            continue;
        }
        for function in source.functions("source", whole.program)? {
            let results = whole.program.functions[function as usize].results;
            match source.port {
                Port::All => seeds.extend(
                    (0..results)
                        .filter_map(|result| whole.output(function, result))
                        .map(|value| (value, number)),
                ),
                Port::Parameter(parameter) => {
                    let input = whole.input(function, parameter);
                    seeds.extend(input.map(|value| (value, number)));
                }
                Port::Memory => {
                    let memory = whole.memory(function, results);
                    let output = whole.output(function, memory);
                    seeds.extend(output.map(|value| (value, number)));
                }
            }
        }
    }
    seeds.sort_unstable();
    seeds.dedup();
    Ok(seeds)
}

/// Inputs of functions that are sinks: (function, input), sorted.
fn wanted(whole: &Whole<'_>, sinks: &[Spec]) -> Result<Vec<(u32, u32)>, ModuleError> {
    let mut wanted = Vec::new();
    for sink in sinks {
        for function in sink.functions("sink", whole.program)? {
            let parameters = whole.program.functions[function as usize].parameters;
            match sink.port {
                Port::All => wanted.extend((0..parameters).map(|input| (function, input))),
                Port::Parameter(input) => wanted.push((function, input)),
                Port::Memory => wanted.push((function, whole.memory(function, parameters))),
            }
        }
    }
    wanted.sort_unstable();
    wanted.dedup();
    Ok(wanted)
}

/// The flows of one direction over the call graph: up to callers or down into callees, and in both
/// inside of functions and across calls.
struct Layer {
    edges: Rows,
}

/// Which sources reach which values.
pub(super) struct Reach {
    /// Place of each value in the solution; [`NONE`] for those that nothing reaches.
    place: Vec<u32>,
    /// Values by place.
    order: Vec<u32>,
    solution: Option<Solution>,
    pub(super) stats: SolveStats,
}

impl Reach {
    /// Whether data of a source reaches a value.
    pub(super) fn has(&self, value: u32, source: u32) -> bool {
        let place = self.place[value as usize];
        let solution = self.solution.as_ref().filter(|_| place != NONE);
        solution.is_some_and(|solution| solution.passes(0, place as usize, source))
    }

    /// Sources that reach a value.
    fn sources(&self, value: u32) -> Vec<u32> {
        let place = self.place[value as usize];
        let Some(solution) = self.solution.as_ref().filter(|_| place != NONE) else {
            return Vec::new();
        };
        let facts = 0..solution.facts(0);
        let passes = |source: &u32| solution.passes(0, place as usize, *source);
        facts.filter(passes).collect()
    }

    /// All pairs of a value and a source that reaches it.
    fn marks(&self) -> Vec<(u32, u32)> {
        let values = self.order.iter();
        values
            .flat_map(|value| {
                let sources = self.sources(*value).into_iter();
                sources.map(move |source| (*value, source))
            })
            .collect()
    }
}

impl Layer {
    fn new(whole: &Whole<'_>, summaries: &[u64], is_up: bool) -> Self {
        let mut edges = Vec::new();
        whole.each_own(|from, to| edges.push((from, to)));
        for (node, values) in (0..).zip(&whole.values) {
            for site in &values.sites {
                across(whole, summaries, node, site, &mut edges);
            }
        }
        if is_up {
            whole.each_dispatch_output(|from, to| edges.push((from, to)));
            whole.each_result(|callee, number, value| {
                edges.extend(whole.output(callee, number).map(|output| (output, value)));
            });
        } else {
            whole.each_dispatch_input(|from, to| edges.push((from, to)));
            whole.each_argument(|value, number, callee| {
                edges.extend(whole.input(callee, number).map(|input| (value, input)));
            });
        }
        let edges = rows(whole.len(), edges.iter().copied());
        Self { edges }
    }

    /// Solves for the values that any of the seeds reaches, in an order for iteration.
    fn solve(&self, seeds: &[(u32, u32)], sources: usize, on: On) -> Result<Reach, ModuleError> {
        let order = self.edges.reached_order(seeds.iter().map(|seed| seed.0));
        let mut place = vec![NONE; self.edges.nodes()];
        for (at, value) in (0..).zip(&order) {
            place[*value as usize] = at;
        }
        let mut body = Body::default();
        for value in &order {
            let first = body.successors.len();
            body.blocks.push(Block {
                first_successor: first as u32,
                ..Block::default()
            });
            let row = self.edges.row(*value as usize).iter();
            body.successors.extend(row.map(|to| place[*to as usize]));
            body.successors[first..].sort_unstable();
        }
        let problem = Problem {
            facts: sources as u32,
            made: seeds
                .iter()
                .map(|(value, source)| Span::one(place[*value as usize], *source))
                .collect(),
            ..Problem::default()
        };
        let label = |_| "the graph of values".to_owned();
        let solution = match order.is_empty() {
            true => None,
            false => Some(solve_bodies(&[&body], &label, UP, &[problem], on)?),
        };
        let stats = solution.as_ref().map(|solution| solution.stats);
        Ok(Reach {
            place,
            order,
            stats: stats.unwrap_or_default(),
            solution,
        })
    }
}

/// Flows of a call over the summary of its callee.
fn across(
    whole: &Whole<'_>,
    summaries: &[u64],
    node: u32,
    site: &Site,
    edges: &mut Vec<(u32, u32)>,
) {
    for number in 0..site.made {
        let Some(output) = whole.output(site.callee, number) else {
            continue;
        };
        let word = summaries[output as usize];
        for (input, value) in (0..).zip(&site.ins) {
            if *value != NONE && word >> bit(input) & 1 == 1 {
                let to = whole.value(node, site.outs + number);
                edges.push((whole.value(node, *value), to));
            }
        }
    }
}

struct Question<'a> {
    whole: &'a Whole<'a>,
    sources: &'a [Spec],
    fallen: &'a Reach,
    witnesses: Witnesses<'a>,
}

impl Question<'_> {
    /// Findings at the calls of sinks, in the order of functions and operations.
    fn findings(&self, wanted: &[(u32, u32)]) -> Vec<Finding> {
        let mut findings = Vec::new();
        for (node, values) in self.whole.values.iter().enumerate() {
            for site in &values.sites {
                let targets = match site.callee as usize >= self.whole.calls.functions {
                    true => self.whole.calls.callees.row(site.callee as usize),
                    false => std::slice::from_ref(&site.callee),
                };
                for target in targets {
                    let first = wanted.partition_point(|(function, _)| function < target);
                    let inputs = wanted[first..].iter().take_while(|(f, _)| f == target);
                    for (_, input) in inputs {
                        self.at(node, site, *target, *input, &mut findings);
                    }
                }
            }
        }
        findings
    }

    fn at(&self, node: usize, site: &Site, target: u32, input: u32, findings: &mut Vec<Finding>) {
        let Some(value) = site.ins.get(input as usize).filter(|value| **value != NONE) else {
            return;
        };
        let value = self.whole.value(node as u32, *value);
        let function = &self.whole.program.functions[node];
        let offset = function.body.ops[site.op as usize].offset;
        let callee = &self.whole.program.functions[target as usize];
        let what = match input < callee.parameters {
            true => format!("argument {input}"),
            false => "memory at the call".to_owned(),
        };
        for source in self.fallen.sources(value) {
            let place = Place::of(self.whole.program, node, Some(offset));
            let from = &self.sources[source as usize];
            let label = callee.label();
            let message = format!("data from {from} reaches {what} of {label}");
            let witness = self.witnesses.steps(value, source, from, &place);
            findings.push(Finding {
                kind: FindingKind::Taint,
                place,
                message,
                witness,
            });
        }
    }
}
