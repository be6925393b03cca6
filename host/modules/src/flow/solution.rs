//! Solved problems.

use super::layout::{Piece, place};
use super::problem::{Direction, Meet, Problem, Setup, below, facts};
use crate::model::Body;
use crate::order::{Rows, rows};
use serde::Serialize;

/// Work of a solver.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct SolveStats {
    /// Graphs that went to the machine.
    pub submissions: u32,
    /// Most iterations of a function, or of all that share them; with the last one, which changes
    /// nothing.
    pub iterations: u32,
    /// Most loops around a block. A function that is solved by itself takes at most three more
    /// iterations if each of its loops has one entry.
    pub nesting: u32,
    /// Nodes of all graphs: blocks times words of facts.
    pub nodes: u64,
    /// Edges of all graphs.
    pub edges: u64,
    /// Time in which graphs and sets were laid out, nanoseconds.
    pub build_ns: u64,
    /// Time in which the machine was opened for them, nanoseconds: on a GPU, the first time in a
    /// process, a quarter of a second and more.
    pub open_ns: u64,
    /// Time in which they were checked, planned and uploaded, nanoseconds.
    pub upload_ns: u64,
    /// Time of the runs, nanoseconds.
    pub run_ns: u64,
    /// Time in which results were read, nanoseconds.
    pub read_ns: u64,
}

impl SolveStats {
    /// Time of all, nanoseconds.
    #[must_use]
    pub const fn ns(&self) -> u64 {
        self.build_ns + self.open_ns + self.upload_ns + self.run_ns + self.read_ns
    }

    /// The work of two solvers.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        Self {
            submissions: self.submissions + other.submissions,
            iterations: self.iterations.max(other.iterations),
            nesting: self.nesting.max(other.nesting),
            nodes: self.nodes + other.nodes,
            edges: self.edges + other.edges,
            build_ns: self.build_ns + other.build_ns,
            open_ns: self.open_ns + other.open_ns,
            upload_ns: self.upload_ns + other.upload_ns,
            run_ns: self.run_ns + other.run_ns,
            read_ns: self.read_ns + other.read_ns,
        }
    }
}

/// The facts of all functions.
#[derive(Clone, Debug)]
pub struct Solution {
    setup: Setup,
    /// Words of all functions: by function, column and place.
    words: Vec<u64>,
    /// Number of the first word, of blocks, and of facts of each function.
    functions: Vec<(usize, usize, u32)>,
    /// Cost of the run.
    pub stats: SolveStats,
}

impl Solution {
    pub(super) fn new(bodies: &[&Body], problems: &[Problem], setup: Setup) -> Self {
        let mut first = 0;
        let mut functions = Vec::with_capacity(bodies.len());
        for (body, problem) in bodies.iter().zip(problems) {
            functions.push((first, body.blocks.len(), problem.facts));
            first += body.blocks.len() * problem.columns();
        }
        Self {
            setup,
            words: vec![0; first],
            functions,
            stats: SolveStats::default(),
        }
    }

    /// Takes the words of a submission.
    pub(super) fn take(&mut self, bodies: &[&Body], pieces: &[Piece], words: &[u32]) {
        let is_whole = words.len() == 2 * self.words.len();
        let pairs = words.chunks_exact(2);
        let mut pairs = pairs.map(|pair| u64::from(pair[0]) | u64::from(pair[1]) << 32);
        if is_whole {
            for (word, found) in self.words.iter_mut().zip(pairs) {
                *word = found;
            }
            return;
        }
        for piece in pieces {
            let blocks = bodies[piece.function].blocks.len();
            let first = self.functions[piece.function].0 + piece.columns.start * blocks;
            let place = &mut self.words[first..first + piece.columns.len() * blocks];
            for (word, found) in place.iter_mut().zip(&mut pairs) {
                *word = found;
            }
        }
    }

    /// Number of facts of a function.
    #[must_use]
    pub fn facts(&self, function: usize) -> u32 {
        self.functions[function].2
    }

    /// Words of facts of a function.
    #[must_use]
    pub fn columns(&self, function: usize) -> usize {
        self.functions[function].2.div_ceil(64) as usize
    }

    /// The facts of a column that a block passes on: after it, or for a backward problem before it.
    #[must_use]
    pub fn passed(&self, function: usize, block: usize, column: usize) -> u64 {
        let (first, blocks, facts) = self.functions[function];
        let word = self.words[first + column * blocks + place(blocks, block, self.setup.direction)];
        match self.setup.meet {
            Meet::Any => word,
            Meet::All => !word & below(facts - column as u32 * 64),
        }
    }

    /// All facts that a block passes on.
    pub fn all_passed(&self, function: usize, block: usize) -> impl Iterator<Item = u32> {
        let columns = 0..self.columns(function);
        facts(columns.map(move |column| self.passed(function, block, column)))
    }

    /// Whether a block passes a fact on.
    #[must_use]
    pub fn passes(&self, function: usize, block: usize, fact: u32) -> bool {
        self.passed(function, block, fact as usize / 64) >> (fact % 64) & 1 == 1
    }

    /// Joins what other blocks pass on: the facts that come into a block whose row is `from` (its
    /// predecessors, or for a backward problem its successors), one word a column. `boundary` has
    /// the facts that come in from outside, if anything does.
    pub fn coming(
        &self,
        function: usize,
        from: &[u32],
        boundary: Option<&[u64]>,
        into: &mut Vec<u64>,
    ) {
        into.clear();
        let all = self.setup.meet == Meet::All;
        for column in 0..self.columns(function) {
            let passed = from
                .iter()
                .map(|block| self.passed(function, *block as usize, column));
            let outside = boundary.map(|words| words.get(column).copied().unwrap_or_default());
            let every = passed.chain(outside);
            let facts = self.facts(function) - column as u32 * 64;
            into.push(match all {
                true => every.fold(below(facts), |all, one| all & one),
                false => every.fold(0, |any, one| any | one),
            });
        }
    }

    /// The facts that come into blocks of a function of a forward problem. `entry` has those that
    /// come into the first block from outside, one word a column.
    #[must_use]
    pub fn arrivals<'a>(&'a self, function: usize, body: &Body, entry: &'a [u64]) -> Arrivals<'a> {
        Arrivals {
            solution: self,
            function,
            rows: predecessors(body),
            entry,
            block: None,
            words: Vec::new(),
        }
    }

    /// The direction in which the facts flowed.
    #[must_use]
    pub fn direction(&self) -> Direction {
        self.setup.direction
    }
}

/// The facts that come into one block after the other, each joined once.
#[derive(Debug)]
pub struct Arrivals<'a> {
    solution: &'a Solution,
    function: usize,
    rows: Rows,
    entry: &'a [u64],
    block: Option<u32>,
    words: Vec<u64>,
}

impl Arrivals<'_> {
    /// The facts that come into a block, one word a column. Costs a step for each predecessor and
    /// column, unless the block is that of the last call.
    pub fn at(&mut self, block: u32) -> &[u64] {
        if self.block != Some(block) {
            let from = self.rows.row(block as usize);
            let entry = (block == 0).then_some(self.entry);
            let words = &mut self.words;
            self.solution.coming(self.function, from, entry, words);
            self.block = Some(block);
        }
        &self.words
    }
}

/// Predecessors of every block.
#[must_use]
pub fn predecessors(body: &Body) -> Rows {
    let blocks = 0..body.blocks.len();
    let turned = blocks.clone().flat_map(|block| {
        let row = body.successors_of(block).iter();
        row.map(move |to| (*to, block as u32))
    });
    rows(blocks.len(), turned)
}
