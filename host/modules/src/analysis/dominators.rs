//! Dominators and loop nesting.
//!
//! A block dominates another if every way from the entry to that one passes it. The dominators of a
//! block are a chain, and the nearest ones of all blocks a tree. T. Lengauer and R. E. Tarjan, "A fast
//! algorithm for finding dominators in a flowgraph" (TOPLAS 1, 1979), find it from a depth-first
//! search with its ways compressed, in `O(m log n)` for `n` blocks and `m` edges.
//!
//! An edge to a dominator closes a loop, whose blocks reach its source without passing the dominator
//! again (its header). Loops of different headers are nested or apart, so that each block is put into
//! its innermost one, from the last header to the first; a loop that is found stands for its blocks
//! from then on. That takes `O(m α(n))`.
//!
//! Functions are dealt out to threads. As gen/kill problems, dominators would take a bit for each pair
//! of blocks, and loops one for each block and loop.

use crate::flow::{SolveStats, predecessors};
use crate::model::{Body, Program};
use crate::order::Rows;
use rayon::prelude::*;
use seawall::units::elapsed_ns;
use std::time::Instant;

/// No dominator: the entry, and blocks that it does not reach. No loop: blocks outside of loops.
pub const NONE: u32 = u32::MAX;

/// The dominator trees of all functions.
#[derive(Clone, Debug)]
pub struct Dominators {
    /// The nearest dominator of each block, by function; [`NONE`] for the entry. It comes before the
    /// block.
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

/// The work of a pass over all blocks.
fn stats(program: &Program, clock: Instant) -> SolveStats {
    let bodies = program.functions.iter().map(|function| &function.body);
    SolveStats {
        nodes: program.blocks() as u64,
        edges: bodies.map(|body| body.successors.len() as u64).sum(),
        run_ns: elapsed_ns(clock),
        ..SolveStats::default()
    }
}

/// Computes dominators, on all threads.
#[must_use]
pub fn dominators(program: &Program) -> Dominators {
    let clock = Instant::now();
    let functions = program.functions.par_iter();
    Dominators {
        nearest: functions.map(|function| nearest(&function.body)).collect(),
        stats: stats(program, clock),
    }
}

/// A depth-first search from the entry, and what Lengauer and Tarjan note of its blocks. Blocks have
/// the numbers in which they were found.
struct Search {
    /// Number of each block; [`NONE`] for those that are not reached.
    number: Vec<u32>,
    /// Blocks by number.
    blocks: Vec<u32>,
    /// From where each was found.
    parent: Vec<u32>,
    /// The least number that leads to each over larger ones.
    semi: Vec<u32>,
    /// The next one up that ways were compressed to; [`NONE`] for roots.
    above: Vec<u32>,
    /// The one of least `semi` between each and the end of its compressed way.
    least: Vec<u32>,
}

impl Search {
    fn of(body: &Body) -> Self {
        let mut number = vec![NONE; body.blocks.len()];
        let (mut blocks, mut parent) = (Vec::new(), Vec::new());
        let mut open = Vec::new();
        if !number.is_empty() {
            open.push((0, 0));
        }
        while let Some((block, from)) = open.pop() {
            let own = &mut number[block as usize];
            if *own == NONE {
                *own = blocks.len() as u32;
                parent.push(from);
                open.extend(
                    body.successors_of(block as usize)
                        .iter()
                        .map(|to| (*to, *own)),
                );
                blocks.push(block);
            }
        }
        let all: Vec<u32> = (0..blocks.len() as u32).collect();
        Self {
            number,
            above: vec![NONE; blocks.len()],
            blocks,
            parent,
            semi: all.clone(),
            least: all,
        }
    }

    /// The one of least `semi` on the compressed way of `at`, without its end; `at` for a root.
    fn evaluate(&mut self, at: u32, way: &mut Vec<u32>) -> u32 {
        let mut end = at;
        while self.above[end as usize] != NONE {
            way.push(end);
            end = self.above[end as usize];
        }
        // The last of the way is under its end already.
        let mut before = way.pop();
        while let (Some(upper), Some(lower)) = (before, way.pop()) {
            let [least_up, least_down] = [upper, lower].map(|at| self.least[at as usize]);
            if self.semi[least_up as usize] < self.semi[least_down as usize] {
                self.least[lower as usize] = least_up;
            }
            self.above[lower as usize] = self.above[upper as usize];
            before = Some(lower);
        }
        self.least[at as usize]
    }
}

/// The nearest dominator of each block.
fn nearest(body: &Body) -> Vec<u32> {
    let rows = predecessors(body);
    let mut search = Search::of(body);
    let count = search.blocks.len();
    let mut dominator = vec![0; count];
    // Lists of those with the same `semi`: the first of each, and the next one.
    let (mut first, mut next) = (vec![NONE; count], vec![NONE; count]);
    let mut way = Vec::new();
    for at in (1..count as u32).rev() {
        for from in rows.row(search.blocks[at as usize] as usize) {
            let from = search.number[*from as usize];
            if from != NONE {
                let least = search.evaluate(from, &mut way);
                let semi = search.semi[least as usize];
                search.semi[at as usize] = semi.min(search.semi[at as usize]);
            }
        }
        let list = &mut first[search.semi[at as usize] as usize];
        next[at as usize] = std::mem::replace(list, at);
        let parent = search.parent[at as usize];
        search.above[at as usize] = parent;
        let mut listed = std::mem::replace(&mut first[parent as usize], NONE);
        while listed != NONE {
            let least = search.evaluate(listed, &mut way);
            let is_lower = search.semi[least as usize] < search.semi[listed as usize];
            dominator[listed as usize] = if is_lower { least } else { parent };
            listed = next[listed as usize];
        }
    }
    let mut nearest = vec![NONE; body.blocks.len()];
    for at in 1..count {
        if dominator[at] != search.semi[at] {
            dominator[at] = dominator[dominator[at] as usize];
        }
        nearest[search.blocks[at] as usize] = search.blocks[dominator[at] as usize];
    }
    nearest
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

/// For each block, its place in a walk over the dominator tree, and that after all that it dominates.
/// Blocks that the entry does not reach dominate nothing.
fn walk(nearest: &[u32]) -> Vec<[u32; 2]> {
    let mut size = vec![1; nearest.len()];
    for (block, above) in nearest.iter().enumerate().rev() {
        if *above != NONE {
            size[*above as usize] += size[block];
        }
    }
    let mut places = vec![[0, 0]; nearest.len()];
    let mut next = vec![1; nearest.len()];
    for block in 0..nearest.len() {
        let first = match nearest[block] {
            NONE if block > 0 => continue,
            NONE => 0,
            above => {
                let place = next[above as usize];
                next[above as usize] += size[block];
                place
            }
        };
        next[block] = first + 1;
        places[block] = [first, first + size[block]];
    }
    places
}

/// The loops of one function.
struct Nest {
    headers: Vec<u32>,
    depth: Vec<u32>,
    innermost: Vec<u32>,
    irreducible: usize,
}

/// Finds the loops of all functions, on all threads.
#[must_use]
pub fn loops(program: &Program, dominators: &Dominators) -> Loops {
    let clock = Instant::now();
    let functions = program.functions.par_iter().zip(&dominators.nearest);
    let nests: Vec<Nest> = functions
        .map(|(function, nearest)| Nest::of(&function.body, nearest))
        .collect();
    let mut loops = Loops {
        headers: Vec::with_capacity(nests.len()),
        depth: Vec::with_capacity(nests.len()),
        innermost: Vec::with_capacity(nests.len()),
        irreducible: 0,
        stats: SolveStats::default(),
    };
    for nest in nests {
        loops.headers.push(nest.headers);
        loops.depth.push(nest.depth);
        loops.innermost.push(nest.innermost);
        loops.irreducible += nest.irreducible;
    }
    loops.stats = stats(program, clock);
    loops
}

impl Nest {
    fn of(body: &Body, nearest: &[u32]) -> Self {
        let blocks = body.blocks.len();
        let is_reached = |block: u32| block == 0 || nearest[block as usize] != NONE;
        // Edges that close loops, as (header, source).
        let (mut closing, mut irreducible) = (Vec::new(), 0);
        let places = walk(nearest);
        for from in (0..blocks as u32).filter(|block| is_reached(*block)) {
            let place = places[from as usize][0];
            let successors = body.successors_of(from as usize).iter();
            for to in successors.filter(|to| **to <= from) {
                let [first, end] = places[*to as usize];
                match (first..end).contains(&place) {
                    true => closing.push((*to, from)),
                    false => irreducible += 1,
                }
            }
        }
        closing.sort_unstable();
        let mut headers: Vec<u32> = closing.iter().map(|edge| edge.0).collect();
        headers.dedup();
        let mut nest = Self {
            depth: vec![0; blocks],
            innermost: vec![NONE; blocks],
            headers,
            irreducible,
        };
        let around = nest.put_blocks(&predecessors(body), &closing, is_reached);
        let mut depth: Vec<u32> = Vec::with_capacity(around.len());
        for outer in around {
            let outer = depth.get(outer as usize).copied();
            depth.push(outer.unwrap_or(0) + 1);
        }
        for (own, innermost) in nest.depth.iter_mut().zip(&nest.innermost) {
            *own = depth.get(*innermost as usize).copied().unwrap_or(0);
        }
        nest
    }

    /// Puts all blocks into their innermost loops; returns the loop around each loop.
    fn put_blocks(
        &mut self,
        rows: &Rows,
        closing: &[(u32, u32)],
        is_reached: impl Fn(u32) -> bool,
    ) -> Vec<u32> {
        let mut around = vec![NONE; self.headers.len()];
        // The header that stands for a block, a few steps up; itself if nothing does.
        let mut stands: Vec<u32> = (0..rows.nodes() as u32).collect();
        let mut rest = closing;
        for (number, header) in self.headers.iter().enumerate().rev() {
            let number = number as u32;
            let (before, own) = rest.split_at(rest.partition_point(|edge| edge.0 < *header));
            rest = before;
            let mut open: Vec<u32> = own.iter().map(|edge| edge.1).collect();
            while let Some(block) = open.pop() {
                let block = representative(&mut stands, block);
                if block == *header {
                    continue;
                }
                // The header of a loop that was found before is in that one.
                match &mut self.innermost[block as usize] {
                    own @ &mut NONE => *own = number,
                    inner => around[*inner as usize] = number,
                }
                stands[block as usize] = *header;
                let row = rows.row(block as usize).iter().copied();
                open.extend(row.filter(|from| is_reached(*from)));
            }
            self.innermost[*header as usize] = number;
        }
        around
    }
}

/// The block that stands for another one; halves the way there.
fn representative(stands: &mut [u32], mut block: u32) -> u32 {
    while stands[block as usize] != block {
        let next = stands[block as usize];
        stands[block as usize] = stands[next as usize];
        block = stands[block as usize];
    }
    block
}
