//! Available and very busy expressions.
//!
//! An expression is an operator without side effects on locals, globals, constants, loads and other
//! expressions. Equal ones have one number in a function; what an expression reads kills it when it
//! is written. Only expressions that several blocks compute have facts.

use super::marks::entry;
use crate::cells::Cells;
use crate::flow::{Direction, FactSet, Meet, Problem, SetKill, Setup, Span};
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
    /// For each cell that a fact reads, the facts that read it; and those that a call may change.
    sets: Vec<FactSet>,
    kills: Vec<SetKill>,
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
    changes: Changes,
}

/// An event of a block.
#[derive(Clone, Copy)]
enum Event {
    Computes(u32, u32),
    Writes(u32),
    /// Calls: writes everything that outlives the function.
    Calls,
}

/// When cells were last written, as numbers of events from one on.
struct Changes {
    cells: Cells,
    written: Vec<u32>,
    called: u32,
}

impl Changes {
    fn new(cells: Cells) -> Self {
        Self {
            cells,
            written: Vec::new(),
            called: 0,
        }
    }

    /// When a cell was last written by name.
    fn written(&self, cell: u32) -> u32 {
        self.written.get(cell as usize).copied().unwrap_or(0)
    }

    fn write(&mut self, cell: u32, now: u32) {
        *entry(&mut self.written, cell) = now;
    }

    /// When what an expression reads was last written, by name or by a call.
    fn of(&self, reads: &[u32]) -> u32 {
        let times = reads.iter().map(|cell| {
            let outlives = self.cells.outlives(*cell);
            let called = if outlives { self.called } else { 0 };
            called.max(self.written(*cell))
        });
        times.max().unwrap_or(0)
    }
}

/// A numbered value on the stack, and the number of events before it was made.
#[derive(Clone, Copy)]
struct Pushed {
    number: u32,
    made: u32,
}

/// Most cells that an expression may read; one that reads more has no number.
const READS_MOST: usize = 16;

impl<'a> Numbering<'a> {
    fn new(function: &'a Function, module: &'a Module) -> Self {
        let cells = Cells::of(function, module);
        Self {
            function,
            cells,
            changes: Changes::new(cells),
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
        let mut stack: Vec<Option<Pushed>> = Vec::new();
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
                    self.write(op.arg, events);
                    // The value that a `tee` keeps on the stack is the local's from now on.
                    Some(self.cell(op.arg))
                }
                Kind::GlobalSet => {
                    self.write(self.cells.global(op.arg), events);
                    None
                }
                Kind::Pure | Kind::Load => {
                    let pushed = &stack[below..];
                    let missing = (pushed.len()..op.pops() as usize).map(|_| None);
                    let operands = pushed.iter().map(|value| self.number_of(*value));
                    let operands: Vec<Option<u32>> = missing.chain(operands).collect();
                    let made = self.computed(op, &operands);
                    events.extend(made.map(|number| Event::Computes(number, at as u32)));
                    made
                }
                Kind::Store | Kind::Update => {
                    self.write(self.cells.memory(), events);
                    None
                }
                Kind::Call | Kind::Indirect => {
                    events.push(Event::Calls);
                    self.changes.called = events.len() as u32;
                    None
                }
                Kind::Move | Kind::Opaque | Kind::Return | Kind::Fact => None,
            };
            stack.truncate(below);
            let made = made.map(|number| Pushed {
                number,
                made: events.len() as u32,
            });
            stack.resize(below + op.pushes() as usize, made);
        }
    }

    fn write(&mut self, cell: u32, events: &mut Vec<Event>) {
        events.push(Event::Writes(cell));
        self.changes.write(cell, events.len() as u32);
    }

    /// The number of a value on the stack, unless what it reads was written since: then it is no
    /// longer what the number says.
    fn number_of(&self, value: Option<Pushed>) -> Option<u32> {
        let Pushed { number, made } = value?;
        let reads = &self.reads[number as usize];
        (self.changes.of(reads) <= made).then_some(number)
    }
}

/// The expressions of all functions. Costs two passes over all operations, on all threads, and for
/// each expression a step for each cell that it reads, 16 at most.
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
    let sets = Sets::of(&numbering, &facts, &mut found.sets);
    let mut changes = Changes::new(numbering.cells);
    let mut computed = vec![0; found.facts as usize];
    // Facts that the block computes, and their expressions.
    let mut here = Vec::new();
    let mut start = 0;
    for (block, end) in (0..).zip(ends) {
        let end = end as u32;
        for (now, event) in (start + 1..).zip(&events[start as usize..end as usize]) {
            let set = match *event {
                Event::Computes(number, op) => {
                    let Some(fact) = facts[number as usize] else {
                        continue;
                    };
                    let last = &mut computed[fact as usize];
                    if *last <= start {
                        here.push((fact, number));
                        if changes.of(&numbering.reads[number as usize]) <= start {
                            found.exposed.push((block, fact, op));
                        }
                    }
                    *last = now;
                    continue;
                }
                Event::Writes(cell) => {
                    let is_first = changes.written(cell) <= start;
                    changes.write(cell, now);
                    is_first.then(|| sets.reading(cell)).flatten()
                }
                Event::Calls => {
                    let is_first = changes.called <= start;
                    changes.called = now;
                    is_first.then_some(sets.shared).flatten()
                }
            };
            found.kills.extend(set.map(|set| SetKill { block, set }));
        }
        for (fact, number) in here.drain(..) {
            if changes.of(&numbering.reads[number as usize]) < computed[fact as usize] {
                found.gen_after.push((block, fact));
            }
        }
        start = end;
    }
    found
}

/// Numbers of the sets of facts that one event kills.
struct Sets {
    /// That of each cell, plus one.
    of_cell: Vec<u32>,
    /// That of calls, if they kill any.
    shared: Option<u32>,
}

impl Sets {
    fn of(numbering: &Numbering<'_>, facts: &[Option<u32>], sets: &mut Vec<FactSet>) -> Self {
        let mut readers: Vec<Vec<u32>> = Vec::new();
        let mut of_cell = Vec::new();
        let mut shared = Vec::new();
        for (fact, reads) in facts.iter().zip(&numbering.reads) {
            let Some(fact) = fact else { continue };
            for cell in reads {
                let number = entry(&mut of_cell, *cell);
                if *number == 0 {
                    readers.push(Vec::new());
                    *number = readers.len() as u32;
                }
                readers[*number as usize - 1].push(*fact);
            }
            if reads.iter().any(|cell| numbering.cells.outlives(*cell)) {
                shared.push(*fact);
            }
        }
        let has_shared = !shared.is_empty();
        readers.extend(has_shared.then_some(shared));
        sets.extend(readers.into_iter().map(FactSet::of));
        Self {
            of_cell,
            shared: has_shared.then(|| sets.len() as u32 - 1),
        }
    }

    /// The facts that read a cell.
    fn reading(&self, cell: u32) -> Option<u32> {
        self.of_cell.get(cell as usize)?.checked_sub(1)
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
        sets: expressions.sets.clone(),
        set_kills: expressions.kills.clone(),
        ..Problem::default()
    }
}

/// The problem of [`VERY_BUSY`] for a function.
#[must_use]
pub fn very_busy(expressions: &Expressions) -> Problem {
    let exposed = expressions.exposed.iter();
    Problem {
        facts: expressions.facts,
        made: exposed
            .map(|(block, fact, _)| Span::one(*block, *fact))
            .collect(),
        sets: expressions.sets.clone(),
        set_kills: expressions.kills.clone(),
        ..Problem::default()
    }
}
