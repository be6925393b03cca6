//! Dominators and loop nesting.
//!
//! A block dominates another if every way from the entry to that one passes it. The dominators of a
//! block are a chain, so that the nearest one is the last of them in an order in which edges go
//! forward. A loop is what reaches the source of an edge to a dominator without passing that one
//! again; its blocks are one more problem, of a fact a loop.

use crate::error::ModuleError;
use crate::flow::{
    Direction, Limits, Meet, On, Problem, Setup, Solution, SolveStats, Span, check_facts, solve,
};
use crate::model::{Body, Program};
use rayon::prelude::*;

/// No dominator: the entry, and blocks that it does not reach.
pub const NONE: u32 = u32::MAX;

const DOMINATORS: Setup = Setup {
    name: "dominators",
    direction: Direction::Forward,
    meet: Meet::All,
};

const LOOPS: Setup = Setup {
    name: "loop nesting",
    direction: Direction::Backward,
    meet: Meet::Any,
};

/// The dominator trees of all functions.
#[derive(Clone, Debug)]
pub struct Dominators {
    /// The nearest dominator of each block, by function; [`NONE`] for the entry.
    pub nearest: Vec<Vec<u32>>,
    /// Cost of the run.
    pub stats: SolveStats,
}

/// The loops of all functions.
#[derive(Clone, Debug)]
pub struct Loops {
    /// Headers of the loops, by function, in the order of their blocks.
    pub headers: Vec<Vec<u32>>,
    /// Number of loops around each block, by function.
    pub depth: Vec<Vec<u32>>,
    /// The innermost loop of each block, as a position in `headers`; [`NONE`] outside of loops.
    pub innermost: Vec<Vec<u32>>,
    /// Edges to an earlier block that does not dominate their source: what no loop explains.
    pub irreducible: usize,
    /// Cost of the run.
    pub stats: SolveStats,
}

/// Facts of a body: its blocks, of which a single one is its own only dominator.
fn facts(body: &Body) -> u32 {
    let blocks = body.blocks.len() as u32;
    if blocks > 1 { blocks } else { 0 }
}

/// Refuses functions of too many blocks, before anything is computed.
pub(crate) fn check_dominators(program: &Program, limits: Limits) -> Result<(), ModuleError> {
    check_facts(program, DOMINATORS, facts, limits)
}

/// Computes dominators. Costs a bit for each pair of blocks of a function.
///
/// # Errors
/// As for [`solve`].
pub fn dominators(program: &Program, on: On) -> Result<Dominators, ModuleError> {
    let problems: Vec<Problem> = program
        .functions
        .par_iter()
        .map(|function| {
            let facts = facts(&function.body);
            Problem {
                facts,
                made: (0..facts).map(|block| Span::one(block, block)).collect(),
                ..Problem::default()
            }
        })
        .collect();
    let solution = solve(program, DOMINATORS, &problems, on)?;
    let functions = program.functions.par_iter().enumerate();
    let nearest = functions.map(|(number, function)| nearest(&function.body, number, &solution));
    Ok(Dominators {
        nearest: nearest.collect(),
        stats: solution.stats,
    })
}

fn nearest(body: &Body, function: usize, solution: &Solution) -> Vec<u32> {
    let is_reached = reached(body);
    let all = (0..body.blocks.len()).map(|block| {
        if !is_reached[block] {
            return NONE;
        }
        let columns = (0..solution.columns(function).min(block / 64 + 1)).rev();
        for column in columns {
            let mut word = solution.passed(function, block, column);
            if column == block / 64 {
                word &= (1 << (block % 64)) - 1;
            }
            if word != 0 {
                return column as u32 * 64 + 63 - word.leading_zeros();
            }
        }
        NONE
    });
    all.collect()
}

/// Whether the entry reaches each block.
pub(crate) fn reached(body: &Body) -> Vec<bool> {
    let mut seen = vec![false; body.blocks.len()];
    let mut open = Vec::new();
    if let Some(first) = seen.first_mut() {
        *first = true;
        open.push(0);
    }
    while let Some(block) = open.pop() {
        for to in body.successors_of(block) {
            if !seen[*to as usize] {
                seen[*to as usize] = true;
                open.push(*to as usize);
            }
        }
    }
    seen
}

/// Whether one block dominates another, by the chain of nearest dominators. Costs its length.
#[must_use]
pub fn dominates(nearest: &[u32], above: u32, mut below: u32) -> bool {
    // A dominator comes before what it dominates.
    while below != NONE && below > above {
        below = nearest[below as usize];
    }
    below == above
}

/// Edges that close loops, as (source, header), and the number of other edges that go back.
fn closing(body: &Body, nearest: &[u32]) -> (Vec<(u32, u32)>, usize) {
    let mut edges = Vec::new();
    let mut others = 0;
    for block in 0..body.blocks.len() {
        let from = block as u32;
        let is_reached = block == 0 || nearest[block] != NONE;
        let back = body.successors_of(block).iter().filter(|to| **to <= from);
        for to in back.filter(|_| is_reached) {
            if dominates(nearest, *to, from) {
                edges.push((from, *to));
            } else {
                others += 1;
            }
        }
    }
    (edges, others)
}

/// Finds the loops of all functions.
///
/// # Errors
/// As for [`solve`].
pub fn loops(program: &Program, dominators: &Dominators, on: On) -> Result<Loops, ModuleError> {
    let functions = program.functions.par_iter().zip(&dominators.nearest);
    let closing: Vec<_> = functions
        .map(|(function, nearest)| closing(&function.body, nearest))
        .collect();
    let headers: Vec<Vec<u32>> = closing
        .par_iter()
        .map(|(edges, _)| {
            let mut headers: Vec<u32> = edges.iter().map(|edge| edge.1).collect();
            headers.sort_unstable();
            headers.dedup();
            headers
        })
        .collect();
    let problems = closing
        .par_iter()
        .zip(&headers)
        .map(|((edges, _), headers)| {
            let number = |header: &u32| headers.binary_search(header).unwrap_or(0) as u32;
            let longer = edges.iter().filter(|(from, to)| from != to);
            Problem {
                facts: headers.len() as u32,
                made: longer
                    .map(|(from, to)| Span::one(*from, number(to)))
                    .collect(),
                killed: headers
                    .iter()
                    .map(|header| Span::one(*header, number(header)))
                    .collect(),
                ..Problem::default()
            }
        });
    let problems: Vec<Problem> = problems.collect();
    let solution = solve(program, LOOPS, &problems, on)?;
    let nests: Vec<(Vec<u32>, Vec<u32>)> = program
        .functions
        .par_iter()
        .enumerate()
        .map(|(number, function)| {
            let nearest = &dominators.nearest[number];
            nest(&function.body, number, nearest, &headers[number], &solution)
        })
        .collect();
    let (depth, innermost) = nests.into_iter().unzip();
    Ok(Loops {
        headers,
        depth,
        innermost,
        irreducible: closing.iter().map(|(_, others)| others).sum(),
        stats: solution.stats,
    })
}

/// Depth and innermost loop of each block. The innermost of nested loops has the last header. Blocks
/// that the entry does not reach are in no loop.
fn nest(
    body: &Body,
    function: usize,
    nearest: &[u32],
    headers: &[u32],
    solution: &Solution,
) -> (Vec<u32>, Vec<u32>) {
    let blocks = body.blocks.len();
    let (mut depth, mut innermost) = (vec![0; blocks], vec![NONE; blocks]);
    let is_reached = |block: &usize| *block == 0 || nearest[*block] != NONE;
    for block in (0..blocks).filter(is_reached) {
        for column in 0..solution.columns(function) {
            let word = solution.passed(function, block, column);
            depth[block] += word.count_ones();
            if word != 0 {
                innermost[block] = column as u32 * 64 + 63 - word.leading_zeros();
            }
        }
        // A header does not pass its own loop on.
        if let Ok(own) = headers.binary_search(&(block as u32)) {
            depth[block] += 1;
            innermost[block] = own as u32;
        }
    }
    (depth, innermost)
}
