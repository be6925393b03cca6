//! Liveness, and the stores that it proves dead.

use super::marks::{Found, Marks, Numbers, entry, of_all};
use crate::cells::{Access, Cells, visit};
use crate::error::ModuleError;
use crate::flow::{Direction, Meet, On, Problem, Setup, Solution, Span, facts, solve};
use crate::model::{Function, Kind, Program};
use rayon::prelude::*;

/// A cell is live where some way on uses its value.
pub const LIVENESS: Setup = Setup {
    name: "liveness",
    direction: Direction::Backward,
    meet: Meet::Any,
};

/// The facts of a function: cells that some block uses before it defines them.
#[derive(Clone, Debug, Default)]
pub struct Live {
    /// The cell of each fact.
    pub cells: Vec<u32>,
}

/// Liveness of all functions.
#[derive(Clone, Debug)]
pub struct Lived {
    /// The facts of each function.
    pub live: Vec<Live>,
    /// The blocks where they hold.
    pub solution: Solution,
}

impl Lived {
    /// Solves the liveness of a program.
    ///
    /// # Errors
    /// As for [`solve`].
    pub fn of(program: &Program, on: On) -> Result<Self, ModuleError> {
        let (problems, live) = liveness(program);
        let solution = solve(program, LIVENESS, &problems, on)?;
        Ok(Self { live, solution })
    }
}

/// The problems of all functions. Costs two passes over all operations, on all threads.
#[must_use]
pub fn liveness(program: &Program) -> (Vec<Problem>, Vec<Live>) {
    of_all(program, problem)
}

fn problem(marks: &mut Marks, function: &Function, cells: Cells) -> (Problem, Live) {
    let (mut exposed, mut defined) = (Vec::new(), Vec::new());
    // Blocks that expose shared cells, and the place after what they had defined by then.
    let mut shown: Vec<(u32, usize)> = Vec::new();
    marks.pass_at_once(function, cells, |found| match found {
        Found::Exposed { block, cell, .. } => exposed.push((block, cell)),
        Found::Defined { block, cell } => defined.push((block, cell)),
        Found::Changed { .. } => {}
        Found::Outside { block, .. } => shown.push((block, defined.len())),
    });
    // Shared cells that some block exposes have the first facts, so that each block takes few spans.
    let kept = |(block, end): (u32, usize)| {
        let before = defined[..end].iter().rev();
        let here = before.take_while(move |(of, _)| *of == block);
        here.map(|(_, cell)| *cell)
            .filter(|cell| cells.outlives(*cell))
    };
    let mut times = Vec::new();
    for cell in shown.iter().flat_map(|at| kept(*at)) {
        *entry(&mut times, cell) += 1;
    }
    let mut numbers = Numbers::default();
    for cell in marks.shared() {
        if *entry(&mut times, *cell) < shown.len() as u32 {
            numbers.number(*cell);
        }
    }
    let shared = numbers.cells.len() as u32;
    let mut problem = Problem::default();
    let mut gaps = Vec::new();
    for at in shown {
        gaps.clear();
        gaps.extend(kept(at).filter_map(|cell| numbers.find(cell)));
        gaps.sort_unstable();
        let mut first = 0;
        for gap in gaps.drain(..).chain([shared]) {
            if first < gap {
                let (block, end) = (at.0, gap);
                problem.made.push(Span { block, first, end });
            }
            first = gap + 1;
        }
    }
    for (block, cell) in exposed {
        problem.made.push(Span::one(block, numbers.number(cell)));
    }
    let killed = defined.iter().filter_map(|(block, cell)| {
        let fact = numbers.find(*cell)?;
        Some(Span::one(*block, fact))
    });
    problem.killed.extend(killed);
    problem.facts = numbers.cells.len() as u32;
    (
        problem,
        Live {
            cells: numbers.cells,
        },
    )
}

/// A store whose value nothing reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DeadStore {
    /// The function.
    pub function: usize,
    /// The block.
    pub block: u32,
    /// Number of the operation.
    pub op: u32,
    /// The cell.
    pub cell: u32,
}

/// Stores to locals and globals that no way on reads, by function and operation.
#[must_use]
pub fn dead_stores(program: &Program, live: &[Live], solution: &Solution) -> Vec<DeadStore> {
    let all: Vec<Vec<DeadStore>> = (0..program.functions.len())
        .into_par_iter()
        .map_init(Scan::default, |scan, function| {
            scan.function(program, function, &live[function], solution)
        })
        .collect();
    all.into_iter().flatten().collect()
}

/// Memory of a scan, from one function to the next. Times only grow, so that nothing is cleared.
#[derive(Debug, Default)]
struct Scan {
    time: u64,
    /// When each cell was last found live, in the order of the scan.
    live_at: Vec<u64>,
    /// When each cell was last found dead.
    dead_at: Vec<u64>,
    /// When the last call was found.
    called_at: u64,
    accesses: Vec<Access>,
    words: Vec<u64>,
}

impl Scan {
    fn function(
        &mut self,
        program: &Program,
        number: usize,
        live: &Live,
        solution: &Solution,
    ) -> Vec<DeadStore> {
        let function = &program.functions[number];
        let cells = Cells::of(function, &program.modules[function.module as usize]);
        let mut dead = Vec::new();
        for block in 0..function.body.blocks.len() {
            self.time += 1;
            let from = function.body.successors_of(block);
            solution.coming(number, from, None, &mut self.words);
            for fact in facts(self.words.iter().copied()) {
                set(&mut self.live_at, live.cells[fact as usize], self.time);
            }
            if from.is_empty() {
                self.called_at = self.time;
            }
            self.accesses.clear();
            let accesses = &mut self.accesses;
            visit(function, cells, block, |access| accesses.push(access));
            let first = dead.len();
            self.backward(function, cells, |op, cell| {
                dead.push(DeadStore {
                    function: number,
                    block: block as u32,
                    op,
                    cell,
                });
            });
            dead[first..].reverse();
        }
        dead
    }

    fn backward(&mut self, function: &Function, cells: Cells, mut dead: impl FnMut(u32, u32)) {
        let start = self.time;
        for at in (0..self.accesses.len()).rev() {
            self.time += 1;
            match self.accesses[at] {
                Access::Define { cell, op } => {
                    let kind = function.body.ops[op as usize].kind();
                    let is_store =
                        matches!(kind, Kind::LocalSet | Kind::LocalTee | Kind::GlobalSet);
                    let is_value = cell <= cells.memory();
                    if is_store && is_value && !self.is_live(cells, cell, start) {
                        dead(op, cell);
                    }
                    set(&mut self.dead_at, cell, self.time);
                }
                Access::Use { cell, .. } => set(&mut self.live_at, cell, self.time),
                Access::Call { .. } => self.called_at = self.time,
                Access::Change { .. } => {}
            }
        }
    }

    /// Whether a cell is live at the place that the scan has reached in the block of `start`.
    fn is_live(&self, cells: Cells, cell: u32, start: u64) -> bool {
        let at = |times: &[u64]| times.get(cell as usize).copied().unwrap_or(0);
        let called = if cells.outlives(cell) {
            self.called_at
        } else {
            0
        };
        let live = at(&self.live_at).max(called);
        live >= start && live > at(&self.dead_at)
    }
}

fn set(times: &mut Vec<u64>, cell: u32, time: u64) {
    let at = cell as usize;
    if times.len() <= at {
        times.resize(at + 1, 0);
    }
    times[at] = time;
}
