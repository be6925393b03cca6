//! Available and very busy expressions.
//!
//! An expression is an operator without side effects on locals, globals, constants, loads and other
//! expressions. Equal ones have one number in a function; what an expression reads kills it when it
//! is written. Only expressions that several blocks compute have facts.

use crate::cells::Cells;
use crate::flow::{Direction, Meet, Problem, Setup, Span};
use crate::model::{Function, Kind, Module, Op, Program};
use hashbrown::HashMap;
use rayon::prelude::*;

/// An expression is available where every way has computed it and nothing has changed it since.
pub const AVAILABLE: Setup = Setup {
    name: "available expressions",
    direction: Direction::Forward,
    meet: Meet::All,
};

/// An expression is very busy where every way on computes it before anything changes it.
pub const VERY_BUSY: Setup = Setup {
    name: "very busy expressions",
    direction: Direction::Backward,
    meet: Meet::All,
};

/// Expressions of a function.
#[derive(Clone, Debug, Default)]
pub struct Expressions {
    /// First operation of a block that computes a fact before the block changes it: block, fact, operation.
    pub exposed: Vec<(u32, u32, u32)>,
    /// Number of facts.
    pub facts: u32,
    gen_after: Vec<(u32, u32)>,
    killed: Vec<(u32, u32)>,
}

/// Most operands of an expression that are told apart.
const OPERANDS: usize = 3;

/// No operand.
const NO_OPERAND: u32 = u32::MAX;

/// Identity of an expression: the bytes of the operator, and the numbers of its operands.
type Key<'a> = (Kind, &'a [u8], [u32; OPERANDS]);

/// Expressions of one function while they are numbered.
struct Numbering<'a> {
    function: &'a Function,
    cells: Cells,
    image: &'a [u8],
    known: HashMap<Key<'a>, u32>,
    /// Cells that each expression reads, sorted.
    reads: Vec<Vec<u32>>,
    /// Whether each is more than a cell or a constant.
    is_computed: Vec<bool>,
}

/// An event of a block.
#[derive(Clone, Copy)]
enum Event {
    Computes(u32, u32),
    Writes(u32),
    /// Calls: writes everything that outlives the function.
    Calls,
}

/// Most cells that an expression may read; one that reads more has no number.
const READS_MOST: usize = 16;

impl<'a> Numbering<'a> {
    fn new(function: &'a Function, module: &'a Module) -> Self {
        Self {
            function,
            cells: Cells::of(function, module),
            image: &module.image.0,
            known: HashMap::new(),
            reads: Vec::new(),
            is_computed: Vec::new(),
        }
    }

    fn bytes(&self, op: Op) -> &'a [u8] {
        let (first, length) = (op.offset as usize, op.arg as usize);
        self.image.get(first..first + length).unwrap_or_default()
    }

    /// The number of an expression.
    fn number(&mut self, key: Key<'a>, reads: Vec<u32>, is_computed: bool) -> u32 {
        let next = self.reads.len() as u32;
        let number = *self.known.entry(key).or_insert(next);
        if number == next {
            self.reads.push(reads);
            self.is_computed.push(is_computed);
        }
        number
    }

    fn cell(&mut self, cell: u32) -> u32 {
        let key = (
            Kind::LocalGet,
            [].as_slice(),
            [cell, NO_OPERAND, NO_OPERAND],
        );
        self.number(key, vec![cell], false)
    }

    /// The number of the result of an operator on numbered operands, if it has one.
    fn computed(&mut self, op: Op, operands: &[Option<u32>]) -> Option<u32> {
        if operands.len() > OPERANDS || op.pushes() != 1 || self.image.is_empty() {
            return None;
        }
        let mut numbers = [NO_OPERAND; OPERANDS];
        let mut reads = Vec::new();
        for (place, operand) in numbers.iter_mut().zip(operands) {
            *place = (*operand)?;
            reads.extend(&self.reads[*place as usize]);
        }
        if op.kind() == Kind::Load {
            reads.push(self.cells.memory());
        }
        reads.sort_unstable();
        reads.dedup();
        if reads.len() > READS_MOST {
            return None;
        }
        Some(self.number((op.kind(), self.bytes(op), numbers), reads, true))
    }

    /// An event of a block, in order: it computes an expression or writes a cell.
    fn events(&mut self, block: usize, events: &mut Vec<Event>) {
        // Values that the block has pushed; below them lie those of earlier blocks.
        let mut stack: Vec<Option<u32>> = Vec::new();
        for at in self.function.body.ops_of(block) {
            let op = self.function.body.ops[at];
            let below = stack.len().saturating_sub(op.pops() as usize);
            let made = match op.kind() {
                Kind::Constant => {
                    let key = (Kind::Constant, self.bytes(op), [NO_OPERAND; OPERANDS]);
                    let is_known = !self.image.is_empty();
                    is_known.then(|| self.number(key, Vec::new(), false))
                }
                Kind::LocalGet => Some(self.cell(op.arg)),
                Kind::GlobalGet => Some(self.cell(self.cells.global(op.arg))),
                Kind::LocalTee | Kind::LocalSet => {
                    events.push(Event::Writes(op.arg));
                    // The value that a `tee` keeps on the stack is the local's from now on.
                    Some(self.cell(op.arg))
                }
                Kind::GlobalSet => {
                    events.push(Event::Writes(self.cells.global(op.arg)));
                    None
                }
                Kind::Pure | Kind::Load => {
                    let mut operands = stack[below..].to_vec();
                    operands.splice(0..0, (operands.len()..op.pops() as usize).map(|_| None));
                    let made = self.computed(op, &operands);
                    events.extend(made.map(|number| Event::Computes(number, at as u32)));
                    made
                }
                Kind::Store | Kind::Update => {
                    events.push(Event::Writes(self.cells.memory()));
                    None
                }
                Kind::Call | Kind::Indirect => {
                    events.push(Event::Calls);
                    None
                }
                Kind::Move | Kind::Opaque | Kind::Return | Kind::Fact => None,
            };
            stack.truncate(below);
            if matches!(op.kind(), Kind::LocalSet | Kind::LocalTee | Kind::GlobalSet)
                || matches!(
                    op.kind(),
                    Kind::Store | Kind::Update | Kind::Call | Kind::Indirect
                )
            {
                self.forget(&mut stack, events.last().copied());
            }
            stack.resize(below + op.pushes() as usize, made);
        }
    }

    /// Values on the stack that read what an event writes are no longer what their number says.
    fn forget(&self, stack: &mut [Option<u32>], event: Option<Event>) {
        for value in stack {
            let is_stale = value.is_some_and(|number| {
                let reads = &self.reads[number as usize];
                match event {
                    Some(Event::Writes(cell)) => reads.contains(&cell),
                    Some(Event::Calls) => reads.iter().any(|cell| self.cells.outlives(*cell)),
                    _ => false,
                }
            });
            if is_stale {
                *value = None;
            }
        }
    }
}

/// The expressions of all functions. Costs a pass over all operations, on all threads.
#[must_use]
pub fn expressions(program: &Program) -> Vec<Expressions> {
    let functions = program.functions.par_iter();
    functions
        .map(|function| of_function(function, &program.modules[function.module as usize]))
        .collect()
}

fn of_function(function: &Function, module: &Module) -> Expressions {
    let blocks = function.body.blocks.len();
    if blocks < 2 {
        return Expressions::default();
    }
    let mut numbering = Numbering::new(function, module);
    let mut events = Vec::new();
    let mut ends = Vec::with_capacity(blocks);
    for block in 0..blocks {
        numbering.events(block, &mut events);
        ends.push(events.len());
    }
    let facts = repeated(&numbering, &events, &ends);
    let mut found = Expressions {
        facts: facts.iter().flatten().count() as u32,
        ..Expressions::default()
    };
    let mut readers: Vec<Vec<u32>> = Vec::new();
    let mut shared = Vec::new();
    for (number, fact) in facts.iter().enumerate() {
        let Some(fact) = fact else { continue };
        for cell in &numbering.reads[number] {
            if readers.len() <= *cell as usize {
                readers.resize(*cell as usize + 1, Vec::new());
            }
            readers[*cell as usize].push(*fact);
        }
        if numbering.reads[number]
            .iter()
            .any(|cell| numbering.cells.outlives(*cell))
        {
            shared.push(*fact);
        }
    }
    let mut state = State {
        marks: vec![(0, false, false); found.facts as usize],
        touched: Vec::new(),
    };
    let mut first = 0;
    for (block, end) in ends.iter().enumerate() {
        let now = block as u32 + 1;
        for event in &events[first..*end] {
            match *event {
                Event::Computes(number, op) => {
                    let Some(fact) = facts[number as usize] else {
                        continue;
                    };
                    let mark = state.mark(fact, now);
                    if !mark.1 && !mark.2 {
                        found.exposed.push((block as u32, fact, op));
                    }
                    mark.1 = true;
                }
                Event::Writes(cell) => {
                    let killed = readers.get(cell as usize).map(Vec::as_slice);
                    state.kill(killed.unwrap_or_default(), now);
                }
                Event::Calls => state.kill(&shared, now),
            }
        }
        for fact in state.touched.drain(..) {
            let (_, is_computed, is_killed) = state.marks[fact as usize];
            if is_computed {
                found.gen_after.push((block as u32, fact));
            }
            if is_killed {
                found.killed.push((block as u32, fact));
            }
        }
        first = *end;
    }
    found
}

/// Progress of a block with each fact.
struct State {
    /// The last block, plus one; whether it has computed the fact since it last killed it; whether
    /// it has killed it.
    marks: Vec<(u32, bool, bool)>,
    /// Facts that the block has computed or killed.
    touched: Vec<u32>,
}

impl State {
    fn mark(&mut self, fact: u32, now: u32) -> &mut (u32, bool, bool) {
        let mark = &mut self.marks[fact as usize];
        if mark.0 != now {
            *mark = (now, false, false);
            self.touched.push(fact);
        }
        mark
    }

    fn kill(&mut self, facts: &[u32], now: u32) {
        for fact in facts {
            *self.mark(*fact, now) = (now, false, true);
        }
    }
}

/// The fact of each expression that more than one block computes.
fn repeated(numbering: &Numbering<'_>, events: &[Event], ends: &[usize]) -> Vec<Option<u32>> {
    let count = numbering.reads.len();
    let (mut last, mut times) = (vec![u32::MAX; count], vec![0_u32; count]);
    let mut first = 0;
    for (block, end) in (0..).zip(ends) {
        for event in &events[first..*end] {
            if let Event::Computes(number, _) = *event
                && last[number as usize] != block
            {
                last[number as usize] = block;
                times[number as usize] += 1;
            }
        }
        first = *end;
    }
    let mut next = 0;
    let facts = times.iter().zip(&numbering.is_computed);
    facts
        .map(|(times, is_computed)| {
            let is_fact = *times > 1 && *is_computed;
            is_fact.then(|| {
                next += 1;
                next - 1
            })
        })
        .collect()
}

/// The problem of [`AVAILABLE`] for a function.
#[must_use]
pub fn available(expressions: &Expressions) -> Problem {
    let span = |(block, fact): &(u32, u32)| Span::one(*block, *fact);
    Problem {
        facts: expressions.facts,
        made: expressions.gen_after.iter().map(span).collect(),
        killed: expressions.killed.iter().map(span).collect(),
        boundary: Vec::new(),
    }
}

/// The problem of [`VERY_BUSY`] for a function.
#[must_use]
pub fn very_busy(expressions: &Expressions) -> Problem {
    let exposed = expressions.exposed.iter();
    let span = |(block, fact): &(u32, u32)| Span::one(*block, *fact);
    Problem {
        facts: expressions.facts,
        made: exposed
            .map(|(block, fact, _)| Span::one(*block, *fact))
            .collect(),
        killed: expressions.killed.iter().map(span).collect(),
        boundary: Vec::new(),
    }
}
