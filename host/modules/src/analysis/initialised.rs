//! Definite initialisation: locals that every way has written.
//!
//! A module's locals begin as zero, so a read before any write is no error of the machine. Compilers
//! hardly ever rely on it, and in hand-written or instrumented code it is a bug more often than not.

use super::marks::{Found, Marks, Numbers, of_all};
use crate::cells::Cells;
use crate::flow::{Direction, Meet, Problem, Setup, Solution, Span, has};
use crate::model::{Function, Program};
use rayon::prelude::*;

/// A local is initialised where every way from the entry has written it.
pub const INITIALISED: Setup = Setup {
    name: "definite initialisation",
    direction: Direction::Forward,
    meet: Meet::All,
};

/// A read that a way from the entry reaches without a write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Uninitialised {
    /// The function.
    pub function: usize,
    /// The block.
    pub block: u32,
    /// Number of the operation.
    pub op: u32,
    /// The local.
    pub local: u32,
}

/// Reads of locals in blocks that have not written them, by function.
#[derive(Clone, Debug, Default)]
pub struct Reads {
    /// Block, fact, operation.
    uses: Vec<(u32, u32, u32)>,
    /// The local of each fact.
    pub(crate) locals: Vec<u32>,
}

/// The problems of all functions.
#[must_use]
pub fn initialised(program: &Program) -> (Vec<Problem>, Vec<Reads>) {
    of_all(program, problem)
}

fn problem(marks: &mut Marks, function: &Function, cells: Cells) -> (Problem, Reads) {
    let mut numbers = Numbers::default();
    let mut reads = Reads::default();
    let mut written = Vec::new();
    let own = function.parameters..cells.locals;
    marks.pass_at_once(function, cells, |found| match found {
        Found::Exposed { block, cell, op } if own.contains(&cell) => {
            reads.uses.push((block, numbers.number(cell), op));
        }
        Found::Defined { block, cell } if own.contains(&cell) => written.push((block, cell)),
        _ => {}
    });
    let made = written.into_iter().filter_map(|(block, cell)| {
        let fact = numbers.find(cell)?;
        Some(Span::one(block, fact))
    });
    let problem = Problem {
        made: made.collect(),
        facts: numbers.cells.len() as u32,
        ..Problem::default()
    };
    reads.locals = numbers.cells;
    (problem, reads)
}

/// Reads of locals that some way reaches without a write, by function and operation; one for each
/// block and local. Reads in blocks that nothing reaches are none.
#[must_use]
pub fn uninitialised_uses(
    program: &Program,
    reads: &[Reads],
    solution: &Solution,
) -> Vec<Uninitialised> {
    let all: Vec<Vec<Uninitialised>> = (0..program.functions.len())
        .into_par_iter()
        .map(|function| of_function(program, function, &reads[function], solution))
        .collect();
    all.into_iter().flatten().collect()
}

fn of_function(
    program: &Program,
    function: usize,
    reads: &Reads,
    solution: &Solution,
) -> Vec<Uninitialised> {
    if reads.uses.is_empty() {
        return Vec::new();
    }
    let mut coming = solution.arrivals(function, &program.functions[function].body, &[]);
    let mut found = Vec::new();
    for (block, fact, op) in &reads.uses {
        if !has(coming.at(*block), *fact) {
            found.push(Uninitialised {
                function,
                block: *block,
                op: *op,
                local: reads.locals[*fact as usize],
            });
        }
    }
    found.sort_unstable_by_key(|found| found.op);
    found
}
