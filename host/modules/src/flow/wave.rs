//! The wave program, and its submissions.

use super::layout::{Arrays, Piece, arrays, column_bytes};
use super::problem::{Problem, Setup};
use super::solution::{Solution, SolveStats};
use crate::error::ModuleError;
use crate::model::{Body, Program};
use seawall::backend::ProgramSession;
use seawall::executor::Machine;
use seawall::graph::Graph;
use seawall::program::{
    Edges, EncodedProgram, Join, Kind, Over, PlanRequest, ProgramBuilder, ProgramError, RegisterId,
};
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
    check(bodies, label, setup, problems, on.limits)?;
    let mut solution = Solution::new(bodies, problems, setup);
    for pieces in batches(bodies, problems, on.limits) {
        let clock = Instant::now();
        let arrays = arrays(bodies, problems, setup, &pieces);
        solution.stats.build_ns += elapsed(clock);
        let words = run(arrays, setup, &on.machine, &mut solution.stats)?;
        solution.take(bodies, &pieces, &words);
    }
    Ok(solution)
}

fn check(
    bodies: &[&Body],
    label: &dyn Fn(usize) -> String,
    setup: Setup,
    problems: &[Problem],
    limits: Limits,
) -> Result<(), ModuleError> {
    for (function, (body, problem)) in bodies.iter().zip(problems).enumerate() {
        let column = column_bytes(body);
        let needed = column.saturating_mul(problem.columns() as u64);
        let is_long = needed > limits.function_bytes;
        if is_long || column > limits.batch_bytes && problem.facts > 0 {
            return Err(ModuleError::TooManyFacts {
                analysis: setup.name,
                function: label(function),
                facts: u64::from(problem.facts),
                blocks: body.blocks.len() as u64,
                needed: if is_long { needed } else { column },
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

/// Most nodes or edges of a submission: numbers of both are words.
const MOST: u64 = 1 << 30;

/// The pieces of each submission.
fn batches(bodies: &[&Body], problems: &[Problem], limits: Limits) -> Vec<Vec<Piece>> {
    let mut all: Vec<Vec<Piece>> = Vec::new();
    let mut open: Vec<Piece> = Vec::new();
    let (mut bytes, mut nodes, mut edges) = (0, 0, 0);
    for (function, (body, problem)) in bodies.iter().zip(problems).enumerate() {
        let (blocks, successors) = (body.blocks.len() as u64, body.successors.len() as u64);
        if blocks == 0 {
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

/// Registers of the program.
struct Registers {
    made: RegisterId,
    kept: RegisterId,
    parts: RegisterId,
    after: RegisterId,
}

/// The program for a graph of `nodes` nodes in `parts` parts: a wave in a fixpoint. It leaves out
/// nodes of parts in which the last iteration changed nothing, since those are settled: functions
/// without loops are done after two iterations, however deep others nest.
fn program(nodes: u32, parts: u32) -> Result<(EncodedProgram, Registers), ProgramError> {
    let mut program = ProgramBuilder::new(nodes);
    let made = program.input_values("made", Kind::U64, u64::from(nodes))?;
    let kept = program.input_values("kept", Kind::U64, u64::from(nodes))?;
    let of_node = program.input_values("parts", Kind::U32, u64::from(nodes))?;
    let after = program.per_node("after", Kind::U64)?;
    let changed = program.values("last change of parts", Kind::U32, u64::from(parts))?;
    let turn = program.values("iteration", Kind::U32, 1)?;
    program.fill("nothing holds", after, 0);
    program.fill("no part has changed", changed, 0);
    program.fill("the first iteration", turn, 1);
    program.fixpoint("settle", u32::MAX - 1, |body| {
        body.each("meet and pass on", Over::Nodes, |node| {
            let (part, now) = (node.load(of_node), node.at(turn, 0));
            node.only(now.at_most(node.latest(changed, part) + 1));
            let coming = node.gather(Edges::Out, Join::Or, |edge| {
                edge.latest(after, edge.neighbour())
            });
            let passed = node.load(made) | (coming & node.load(kept));
            node.only(passed.differs(node.load(after)));
            node.store(after, passed);
            node.scatter(changed, part, Join::Max, now);
            node.changed(1);
        });
        body.each("count the iteration", Over::Count(1), |one| {
            one.store(turn, one.load(turn) + 1);
        });
    });
    program.keep(after);
    let (encoded, _) = program.encode(&PlanRequest::default())?;
    let registers = Registers {
        made,
        kept,
        parts: of_node,
        after,
    };
    Ok((encoded, registers))
}

fn run(
    arrays: Arrays,
    setup: Setup,
    machine: &Machine,
    stats: &mut SolveStats,
) -> Result<Vec<u32>, ModuleError> {
    let clock = Instant::now();
    let nodes = arrays.made.len() as u32;
    let edges = arrays.graph.targets.len() as u64;
    let graph = Graph::from_csr(arrays.graph)?;
    let (encoded, registers) = program(nodes, arrays.part_count)?;
    let mut session = ProgramSession::open(&graph, machine)?;
    session.load(&encoded)?;
    session.set_input(registers.made, bytemuck::cast_slice(&arrays.made))?;
    session.set_input(registers.kept, bytemuck::cast_slice(&arrays.kept))?;
    session.set_input(registers.parts, &arrays.parts)?;
    stats.upload_ns += elapsed(clock);
    let run = session.run()?;
    let iterations = run.control.loops.first().map_or(0, |one| one.iterations);
    if iterations >= u32::MAX - 1 {
        return Err(ModuleError::NotConverged {
            analysis: setup.name,
            iterations,
        });
    }
    stats.run_ns += run.run_ns;
    let clock = Instant::now();
    let mut words = Vec::new();
    session.read(registers.after, &mut words)?;
    stats.read_ns += elapsed(clock);
    stats.submissions += 1;
    stats.iterations = stats.iterations.max(iterations);
    stats.nodes += u64::from(nodes);
    stats.edges += edges;
    Ok(words)
}

fn elapsed(clock: Instant) -> u64 {
    u64::try_from(clock.elapsed().as_nanos()).unwrap_or(u64::MAX)
}
