//! The values of one function, and what each depends on.
//!
//! The numbering is static single assignment form: every definition is a value, and where ways
//! join, a value for each cell that is live there. Inputs come first, then outputs.

use crate::cells::Cells;
use crate::flow::Solution;
use crate::model::{Function, Kind, Program};
use hashbrown::HashMap;

/// No value: a constant, or data that is not followed.
pub(super) const NONE: u32 = u32::MAX;

/// Most globals of a module that are told apart. The others are one cell, which no write cleans.
const GLOBALS_MOST: u32 = 24;

/// The cells beside parameters and results that a call takes and returns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Shape {
    /// Cells of globals.
    pub(super) globals: u32,
    /// Whether the last of them stands for several.
    pub(super) merges: bool,
}

impl Shape {
    pub(super) fn of(globals: u32) -> Self {
        Self {
            globals: globals.min(GLOBALS_MOST),
            merges: globals > GLOBALS_MOST,
        }
    }

    /// Cells that every call takes and returns: globals, and memory as the last one.
    pub(super) const fn shared(self) -> u32 {
        self.globals + 1
    }

    /// The cell of a global, and whether a write replaces all of it.
    fn global(self, number: u32) -> (u32, bool) {
        let last = self.globals.saturating_sub(1);
        (number.min(last), !(self.merges && number >= last))
    }
}

/// A call: the values that it takes and makes.
#[derive(Clone, Debug)]
pub(super) struct Site {
    /// Number of the operation.
    pub(super) op: u32,
    /// The callee, a node of the call graph.
    pub(super) callee: u32,
    /// Arguments, globals, memory; [`NONE`] for a value that is not followed.
    pub(super) ins: Vec<u32>,
    /// The first of its results, globals, memory.
    pub(super) outs: u32,
    /// Number of them.
    pub(super) made: u32,
}

/// The values of a function.
#[derive(Clone, Debug, Default)]
pub(super) struct Values {
    /// Number of inputs: parameters, globals, memory.
    pub(super) inputs: u32,
    /// Number of outputs: results, globals, memory.
    pub(super) outputs: u32,
    /// The operation that makes each value; [`NONE`] for inputs, outputs and joins.
    pub(super) ops: Vec<u32>,
    /// Dependencies: (value, the value that depends on it).
    pub(super) edges: Vec<(u32, u32)>,
    /// The calls.
    pub(super) sites: Vec<Site>,
    /// Values of loads.
    pub(super) loads: Vec<u32>,
}

impl Values {
    fn interface(function: &Function, shape: Shape) -> Self {
        let inputs = function.parameters + shape.shared();
        let outputs = function.results + shape.shared();
        Self {
            inputs,
            outputs,
            ops: vec![NONE; (inputs + outputs) as usize],
            ..Self::default()
        }
    }

    /// An input.
    pub(super) const fn input(&self, number: u32) -> u32 {
        number
    }

    /// An output.
    pub(super) const fn output(&self, number: u32) -> u32 {
        self.inputs + number
    }

    fn make(&mut self, op: u32) -> u32 {
        self.ops.push(op);
        self.ops.len() as u32 - 1
    }

    fn depend(&mut self, from: u32, to: u32) {
        if from != NONE && from != to {
            self.edges.push((from, to));
        }
    }

    /// An import: its results depend on its arguments, and it leaves globals and memory alone.
    pub(super) fn of_import(function: &Function, shape: Shape) -> Self {
        let mut values = Self::interface(function, shape);
        for result in 0..function.results {
            for parameter in 0..function.parameters {
                let (from, to) = (values.input(parameter), values.output(result));
                values.depend(from, to);
            }
        }
        for shared in 0..shape.shared() {
            let from = values.input(function.parameters + shared);
            let to = values.output(function.results + shared);
            values.depend(from, to);
        }
        values
    }

    /// The interface of a dispatch: the summaries of its targets are joined at its outputs. One that
    /// is open may also call functions from outside, which are as imports.
    pub(super) fn of_dispatch(
        (parameters, results): (u32, u32),
        shape: Shape,
        is_open: bool,
    ) -> Self {
        let like = Function {
            parameters,
            results,
            ..Function::default()
        };
        match is_open {
            true => Self::of_import(&like, shape),
            false => Self::interface(&like, shape),
        }
    }
}

/// Live cells of a block at its start, by the liveness analysis.
pub(super) struct LiveIn<'a> {
    pub(super) cells: &'a [u32],
    pub(super) solution: &'a Solution,
    pub(super) function: usize,
}

impl LiveIn<'_> {
    /// Live locals and slots; globals and memory are always kept.
    fn at(&self, block: usize, cells: Cells) -> Vec<u32> {
        let mut live = Vec::new();
        for column in 0..self.solution.columns(self.function) {
            let mut word = self.solution.passed(self.function, block, column);
            while word != 0 {
                let fact = column * 64 + word.trailing_zeros() as usize;
                word &= word - 1;
                let cell = self.cells[fact];
                if !cells.outlives(cell) {
                    live.push(cell);
                }
            }
        }
        live
    }
}

/// Makes the values of a function.
pub(super) struct Maker<'a> {
    function: &'a Function,
    cells: Cells,
    shape: Shape,
    values: Values,
    /// Value of each live cell of the open block.
    now: HashMap<u32, u32>,
    /// Values of globals and memory in the open block.
    shared: Vec<u32>,
    stack: Vec<u32>,
}

/// Values at the start of a block.
#[derive(Default)]
struct Start {
    live: Vec<u32>,
    /// Values of the live cells, then of globals and memory.
    values: Vec<u32>,
    /// Whether the values are joins of several ways.
    joins: bool,
}

impl<'a> Maker<'a> {
    pub(super) fn new(program: &'a Program, function: &'a Function, shape: Shape) -> Self {
        let module = &program.modules[function.module as usize];
        Self {
            function,
            cells: Cells::of(function, module),
            shape,
            values: Values::interface(function, shape),
            now: HashMap::new(),
            shared: Vec::new(),
            stack: Vec::new(),
        }
    }

    /// The values; `callee` tells what an operation calls, and how many parameters that has.
    pub(super) fn make(
        mut self,
        live: &LiveIn<'_>,
        callee: &dyn Fn(usize) -> Option<(u32, u32)>,
    ) -> Values {
        let body = &self.function.body;
        let mut starts = self.starts(live);
        for block in 0..body.blocks.len() {
            self.open(block, &starts[block]);
            for at in body.ops_of(block) {
                self.step(at, callee);
            }
            for to in body.successors_of(block) {
                let mut next = std::mem::take(&mut starts[*to as usize]);
                let state = self.state(&next.live);
                if next.joins {
                    for (from, to) in state.into_iter().zip(&next.values) {
                        self.values.depend(from, *to);
                    }
                } else {
                    next.values = state;
                }
                starts[*to as usize] = next;
            }
            if !starts[block].joins {
                starts[block] = Start::default();
            }
        }
        self.values
    }

    /// The starts of all blocks, with values for joins.
    fn starts(&mut self, live: &LiveIn<'_>) -> Vec<Start> {
        let body = &self.function.body;
        let mut before = vec![0_u32; body.blocks.len()];
        for to in &body.successors {
            before[*to as usize] += 1;
        }
        (0..body.blocks.len())
            .map(|block| {
                let cells = live.at(block, self.cells);
                // The entry has one way in that is no edge.
                let ways = before[block] + u32::from(block == 0);
                let joins = ways > 1;
                let count = cells.len() as u32 + self.shape.shared();
                let values = match joins {
                    true => (0..count).map(|_| self.values.make(NONE)).collect(),
                    false => Vec::new(),
                };
                let mut start = Start {
                    live: cells,
                    values,
                    joins,
                };
                if block == 0 {
                    self.enter(&mut start);
                }
                start
            })
            .collect()
    }

    /// Gives the entry its parameters, globals and memory.
    fn enter(&mut self, start: &mut Start) {
        let parameters = self.function.parameters;
        let of_cell = |cell: &u32| if *cell < parameters { *cell } else { NONE };
        let coming: Vec<u32> = start.live.iter().map(of_cell).collect();
        let shared = (0..self.shape.shared()).map(|one| parameters + one);
        let coming: Vec<u32> = coming.into_iter().chain(shared).collect();
        if start.joins {
            for (from, to) in coming.into_iter().zip(&start.values) {
                self.values.depend(from, *to);
            }
        } else {
            start.values = coming;
        }
    }

    fn open(&mut self, block: usize, start: &Start) {
        self.now.clear();
        let live = start.live.iter().copied();
        self.now.extend(live.zip(start.values.iter().copied()));
        let shared = start.values.get(start.live.len()..).unwrap_or_default();
        self.shared.clear();
        self.shared.extend(shared);
        self.shared.resize(self.shape.shared() as usize, NONE);
        self.stack.clear();
        // Slots below that nothing uses any more have no value.
        let height = self.function.body.blocks[block].height;
        let slots = (0..height).map(|slot| self.now.get(&self.cells.slot(slot)));
        self.stack
            .extend(slots.map(|value| value.copied().unwrap_or(NONE)));
    }

    /// Values of live cells, then of globals and memory, at the end of the open block.
    fn state(&self, live: &[u32]) -> Vec<u32> {
        let first = self.cells.slot(0);
        let value = |cell: &u32| match cell.checked_sub(first) {
            Some(slot) => self.stack.get(slot as usize).copied().unwrap_or(NONE),
            None => self.now.get(cell).copied().unwrap_or(NONE),
        };
        live.iter()
            .map(value)
            .chain(self.shared.iter().copied())
            .collect()
    }

    fn step(&mut self, at: usize, callee: &dyn Fn(usize) -> Option<(u32, u32)>) {
        let op = self.function.body.ops[at];
        let below = self.stack.len().saturating_sub(op.pops() as usize);
        let operands = self.stack.split_off(below);
        let top = operands.last().copied().unwrap_or(NONE);
        let memory = self.shape.globals as usize;
        let mut made = NONE;
        match op.kind() {
            Kind::Constant | Kind::Fact => {}
            Kind::LocalGet => made = self.now.get(&op.arg).copied().unwrap_or(NONE),
            Kind::LocalSet => {
                self.now.insert(op.arg, top);
            }
            Kind::LocalTee => {
                self.now.insert(op.arg, top);
                made = top;
            }
            Kind::GlobalGet => {
                let (cell, _) = self.shape.global(op.arg);
                made = self.shared[cell as usize];
            }
            Kind::GlobalSet => {
                let (cell, replaces) = self.shape.global(op.arg);
                let old = self.shared[cell as usize];
                let kept = if replaces { NONE } else { old };
                self.shared[cell as usize] = self.join(at, &[kept, top]);
            }
            Kind::Pure | Kind::Opaque => made = self.join(at, &operands),
            Kind::Load => {
                made = self.values.make(at as u32);
                self.values.loads.push(made);
                self.values.depend(self.shared[memory], made);
            }
            Kind::Store => self.store(at, &operands),
            Kind::Update => {
                if op.pushes() > 0 {
                    made = self.values.make(at as u32);
                    self.values.loads.push(made);
                    self.values.depend(self.shared[memory], made);
                }
                self.store(at, &operands);
            }
            Kind::Call | Kind::Indirect => return self.call(at, operands, callee(at)),
            Kind::Move => {
                self.stack.truncate(op.arg as usize);
                self.stack.resize(op.arg as usize, NONE);
                self.stack.extend(operands);
                return;
            }
            Kind::Return => return self.leave(&operands),
        }
        let height = self.stack.len() + op.pushes() as usize;
        self.stack.resize(height, made);
    }

    /// A value that depends on several; the one where there is no other.
    fn join(&mut self, at: usize, from: &[u32]) -> u32 {
        let mut some: Vec<u32> = from
            .iter()
            .copied()
            .filter(|value| *value != NONE)
            .collect();
        some.sort_unstable();
        some.dedup();
        match some.as_slice() {
            [] => NONE,
            [one] => *one,
            _ => {
                let made = self.values.make(at as u32);
                for value in some {
                    self.values.depend(value, made);
                }
                made
            }
        }
    }

    /// Puts all operands but the address into memory.
    fn store(&mut self, at: usize, operands: &[u32]) {
        let memory = self.shape.globals as usize;
        let stored = operands.get(1..).unwrap_or_default();
        let all: Vec<u32> = stored
            .iter()
            .copied()
            .chain([self.shared[memory]])
            .collect();
        self.shared[memory] = self.join(at, &all);
    }

    fn call(&mut self, at: usize, mut operands: Vec<u32>, callee: Option<(u32, u32)>) {
        let op = self.function.body.ops[at];
        let Some((callee, parameters)) = callee else {
            self.stack
                .resize(self.stack.len() + op.pushes() as usize, NONE);
            return;
        };
        if op.kind() == Kind::Indirect {
            // The last operand chooses the function.
            operands.pop();
        }
        // Calls of text pass no values.
        operands.resize(parameters as usize, NONE);
        operands.extend(&self.shared);
        let made = op.pushes() + self.shape.shared();
        let outs = self.values.ops.len() as u32;
        for _ in 0..made {
            self.values.make(at as u32);
        }
        self.values.sites.push(Site {
            op: at as u32,
            callee,
            ins: operands,
            outs,
            made,
        });
        self.stack.extend(outs..outs + op.pushes());
        self.shared.clear();
        self.shared.extend(outs + op.pushes()..outs + made);
    }

    fn leave(&mut self, results: &[u32]) {
        debug_assert_eq!(results.len() as u32, self.function.results);
        let all: Vec<u32> = results.iter().chain(&self.shared).copied().collect();
        for (number, value) in (0..).zip(all) {
            let to = self.values.output(number);
            self.values.depend(value, to);
        }
    }
}
