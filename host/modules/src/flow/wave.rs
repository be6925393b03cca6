//! Submissions.

use super::layout::{Arrays, Piece, arrays, column_bytes, nesting, parts, ranges};
use super::problem::{Problem, Setup};
use super::programs::{ITERATIONS_MOST, Ready, rounds, settle};
use super::solution::{Solution, SolveStats};
use crate::error::ModuleError;
use crate::model::{Body, Program};
use rayon::prelude::*;
use seawall::backend::ProgramSession;
use seawall::executor::Machine;
use seawall::graph::Graph;
use seawall::program::Problems;
use seawall::units::elapsed_ns;
use std::time::Instant;

/// Memory of a solver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of one submission on the machine. Larger work is split by functions, and the facts of
    /// one function by words.
    pub batch_bytes: u64,
    /// Bytes that all facts of one function may take over all submissions.
    pub function_bytes: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            batch_bytes: 1 << 30,
            function_bytes: 16 << 30,
        }
    }
}

impl Limits {
    /// Whether facts of a function are too many: beyond its bytes, or what they are numbered by.
    pub(crate) fn refuses(self, body: &Body, facts: u64) -> bool {
        bytes(body, facts) > self.function_bytes || facts >= u64::from(u32::MAX)
    }
}

/// Bytes that facts of a body take over all submissions.
fn bytes(body: &Body, facts: u64) -> u64 {
    column_bytes(body).saturating_mul(facts.div_ceil(64))
}

/// The machine and the limits of analyses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct On {
    /// The machine.
    pub machine: Machine,
    /// Its memory.
    pub limits: Limits,
}

impl On {
    /// A machine with the usual limits.
    #[must_use]
    pub fn new(machine: Machine) -> Self {
        Self {
            machine,
            limits: Limits::default(),
        }
    }
}

/// Solves the problems of all functions, in as few submissions as the limits allow.
///
/// `problems` has one entry for each function of the program; one without facts costs nothing.
/// The time is linear in words of facts and edges, times the iterations.
///
/// # Errors
/// [`ModuleError::TooManyFacts`] before anything is allocated for a function whose facts exceed the
/// limit; errors of the machine.
pub fn solve(
    program: &Program,
    setup: Setup,
    problems: &[Problem],
    on: On,
) -> Result<Solution, ModuleError> {
    let bodies: Vec<&Body> = program.functions.iter().map(|f| &f.body).collect();
    let label = |function: usize| program.functions[function].label();
    solve_bodies(&bodies, &label, setup, problems, on)
}

/// As [`solve`], over bodies that are no functions of a program.
pub(crate) fn solve_bodies(
    bodies: &[&Body],
    label: &dyn Fn(usize) -> String,
    setup: Setup,
    problems: &[Problem],
    on: On,
) -> Result<Solution, ModuleError> {
    let facts = problems.iter().map(|problem| problem.facts);
    check(bodies, label, setup, facts, on.limits)?;
    let mut solution = Solution::new(bodies, problems, setup);
    let clock = Instant::now();
    let nestings = bodies.par_iter().zip(problems);
    let nestings = nestings.filter(|(_, problem)| problem.facts > 0);
    solution.stats.nesting = nestings.map(|(body, _)| nesting(body)).max().unwrap_or(0);
    solution.stats.build_ns += elapsed_ns(clock);
    for by_rounds in [false, true] {
        let is_here = |body: &Body| by_rounds == (body.blocks.len() > ALONE_MOST);
        for pieces in batches(bodies, problems, on.limits, is_here) {
            let clock = Instant::now();
            let arrays = arrays(bodies, problems, setup, &pieces);
            let nodes = arrays.transfer.len() as u32;
            let program = match by_rounds {
                false => settle(nodes, ranges(bodies, &pieces))?,
                true => rounds(nodes, parts(bodies, &pieces))?,
            };
            solution.stats.build_ns += elapsed_ns(clock);
            let words = run(arrays, &program, setup, &on.machine, &mut solution.stats)?;
            solution.take(bodies, &pieces, &words);
        }
    }
    Ok(solution)
}

fn check(
    bodies: &[&Body],
    label: &dyn Fn(usize) -> String,
    setup: Setup,
    facts: impl Iterator<Item = u32>,
    limits: Limits,
) -> Result<(), ModuleError> {
    for (function, (body, facts)) in bodies.iter().zip(facts).enumerate() {
        let column = column_bytes(body);
        let facts = u64::from(facts);
        let is_long = limits.refuses(body, facts);
        if is_long || column > limits.batch_bytes && facts > 0 {
            return Err(ModuleError::TooManyFacts {
                analysis: setup.name,
                function: label(function),
                facts,
                blocks: body.blocks.len() as u64,
                needed: if is_long { bytes(body, facts) } else { column },
                limit: if is_long {
                    limits.function_bytes
                } else {
                    limits.batch_bytes
                },
            });
        }
    }
    Ok(())
}

/// Most nodes or edges of a submission: a node has four words, and their numbers are words.
const MOST: u64 = 1 << 29;

/// Most blocks of a function that is solved by itself. Of larger ones, all threads or blocks of a GPU
/// share each iteration.
const ALONE_MOST: usize = 1 << 16;

/// The pieces of each submission, of the bodies that it is for.
fn batches(
    bodies: &[&Body],
    problems: &[Problem],
    limits: Limits,
    is_for: impl Fn(&Body) -> bool,
) -> Vec<Vec<Piece>> {
    let mut all: Vec<Vec<Piece>> = Vec::new();
    let mut open: Vec<Piece> = Vec::new();
    let (mut bytes, mut nodes, mut edges) = (0, 0, 0);
    for (function, (body, problem)) in bodies.iter().zip(problems).enumerate() {
        let (blocks, successors) = (body.blocks.len() as u64, body.successors.len() as u64);
        if blocks == 0 || !is_for(body) {
            continue;
        }
        let column = column_bytes(body);
        let mut first = 0;
        while first < problem.columns() {
            let left = (limits.batch_bytes - bytes) / column;
            let left = left.min((MOST - nodes) / blocks);
            let left = left.min((MOST - edges) / successors.max(1));
            let take = left.min((problem.columns() - first) as u64);
            if take == 0 {
                if open.is_empty() {
                    // Larger than any submission; `check` has refused it.
                    break;
                }
                all.push(std::mem::take(&mut open));
                (bytes, nodes, edges) = (0, 0, 0);
                continue;
            }
            open.push(Piece {
                function,
                columns: first..first + take as usize,
                base: nodes as usize,
            });
            bytes += take * column;
            nodes += take * blocks;
            edges += take * successors;
            first += take as usize;
        }
    }
    if !open.is_empty() {
        all.push(open);
    }
    all
}

fn run(
    arrays: Arrays,
    program: &Ready,
    setup: Setup,
    machine: &Machine,
    stats: &mut SolveStats,
) -> Result<Vec<u32>, ModuleError> {
    let clock = Instant::now();
    let nodes = arrays.transfer.len() as u64;
    let edges = arrays.graph.targets.len() as u64;
    let graph = Graph::from_csr(arrays.graph)?;
    let opening = Instant::now();
    let mut session = ProgramSession::open(&graph, machine)?;
    let open_ns = elapsed_ns(opening).saturating_sub(session.upload_ns());
    session.load(&program.encoded)?;
    session.set_input(program.transfer, bytemuck::cast_slice(&arrays.transfer))?;
    session.set_input(program.problems.0, &program.problems.1)?;
    stats.open_ns += open_ns;
    stats.upload_ns += elapsed_ns(clock).saturating_sub(open_ns);
    let run = session.run()?;
    stats.run_ns += run.run_ns;
    let clock = Instant::now();
    let mut words = Vec::new();
    let iterations = match program.counters {
        Some(counters) => {
            session.read(counters, &mut words)?;
            words[Problems::SWEEPS]
        }
        None => run.control.loops.first().map_or(0, |one| one.iterations),
    };
    if iterations >= ITERATIONS_MOST {
        return Err(ModuleError::NotConverged {
            analysis: setup.name,
            iterations,
        });
    }
    session.read(program.after, &mut words)?;
    stats.read_ns += elapsed_ns(clock);
    stats.submissions += 1;
    stats.iterations = stats.iterations.max(iterations);
    stats.nodes += nodes;
    stats.edges += edges;
    Ok(words)
}
