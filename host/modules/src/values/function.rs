//! The values of one function, and what each depends on.
//!
//! The numbering is static single assignment form: every definition is a value, and so is each cell
//! that ways which join leave different values in. Blocks are gone through in their order, so that
//! only what loops assign has to be known before (M. Brandis and H. Mössenböck, "Single-pass
//! generation of static single-assignment form for structured languages", 1994). Inputs come
//! first, then outputs.

use super::follow::{Follow, Port};
use crate::model::{Body, Function, Initial, Kind, Module, Op, Program};
use crate::wasm::{Effect, effect};
use hashbrown::HashMap;
use std::ops::Range;

/// No value: a constant, or data that is not followed.
pub(crate) const NONE: u32 = u32::MAX;

/// Most globals of a module that are told apart. The others are one cell, which no write cleans.
const GLOBALS_MOST: u32 = 24;

/// The bit of tables, above those of globals.
const TABLES: u32 = 1 << GLOBALS_MOST;

/// The cells beside parameters and results that a call takes and returns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Shape {
    /// Globals that have a cell, as bits, and then tables, which are one cell. Data gets nowhere by
    /// those that code only reads or only writes.
    kept: u32,
    /// Whether the last bit stands for several globals.
    merges: bool,
    /// Cells of memory, at most one.
    memory: u32,
}

impl Shape {
    /// The cells of a module.
    pub(crate) fn of(program: &Program, module: &Module) -> Self {
        let last = module.globals.min(GLOBALS_MOST).saturating_sub(1);
        let (mut read, mut written) = (0, 0);
        if module.written_tables.contains(&true) {
            written |= TABLES;
        }
        let functions = &program.functions[module.functions.clone()];
        for op in functions.iter().flat_map(|function| &function.body.ops) {
            match op.kind() {
                Kind::GlobalGet => read |= 1 << op.arg.min(last),
                Kind::GlobalSet => written |= 1 << op.arg.min(last),
                Kind::Opaque if written & TABLES != 0 && (op.pops(), op.pushes()) == (1, 1) => {
                    let effect = effect(&module.image.0, op.offset);
                    read |= TABLES * u32::from(matches!(effect, Effect::TableGet(_)));
                }
                _ => {}
            }
        }
        Self {
            kept: read & written,
            merges: module.globals > GLOBALS_MOST,
            memory: 1,
        }
    }

    /// No cells beside parameters and results.
    pub(crate) const EMPTY: Self = Self {
        kept: 0,
        merges: false,
        memory: 0,
    };

    /// Cells of globals and tables.
    pub(crate) const fn globals(self) -> u32 {
        self.kept.count_ones()
    }

    /// Cells that every call takes and returns: globals, and memory as the last one.
    pub(crate) const fn shared(self) -> u32 {
        self.globals() + self.memory
    }

    /// The cell of tables, if they have one. No write cleans it.
    pub(super) fn tables(self) -> Option<usize> {
        (self.kept & TABLES != 0).then(|| (self.kept & (TABLES - 1)).count_ones() as usize)
    }

    /// The cell of a global, if it has one, and whether a write replaces all of it.
    fn global(self, number: u32) -> Option<(usize, bool)> {
        let bit = number.min(GLOBALS_MOST - 1);
        let below = self.kept & ((1 << bit) - 1);
        let is_one = !self.merges || number < GLOBALS_MOST - 1;
        (self.kept >> bit & 1 == 1).then_some((below.count_ones() as usize, is_one))
    }
}

/// A call: the values that it takes and makes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Site {
    /// Number of the operation.
    pub(crate) op: u32,
    /// The callee, a node of the call graph.
    pub(crate) callee: u32,
    /// The value that chooses the function; [`NONE`] if none does, or if it is not followed.
    pub(crate) chosen_by: u32,
    /// The first of its arguments, and the one after the last, among those of its function.
    ins: [u32; 2],
    /// The first value that it makes, and the one after the last; none of condensed values.
    outs: [u32; 2],
}

impl Site {
    /// The values that it makes: results, globals, memory.
    pub(crate) fn outs(&self) -> Range<u32> {
        self.outs[0]..self.outs[1]
    }

    /// Number of the values that it takes and makes.
    pub(crate) const fn across(&self) -> u32 {
        self.ins[1] - self.ins[0] + self.outs[1] - self.outs[0]
    }

    /// The same call of a function whose values were condensed.
    pub(super) const fn condensed(mut self) -> Self {
        self.outs = [0; 2];
        self
    }
}

/// A value that a call makes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CallResult {
    pub(crate) value: u32,
    /// Number of the call among those of its function.
    pub(crate) site: u32,
    /// Number of the value there.
    pub(crate) number: u32,
}

/// The values of a function.
#[derive(Clone, Debug, Default)]
pub(crate) struct Values {
    /// Number of inputs: parameters, globals, memory.
    pub(crate) inputs: u32,
    /// Number of outputs: results, globals, memory.
    pub(crate) outputs: u32,
    /// The operation that makes each value; [`NONE`] for inputs, outputs and joins. None of condensed
    /// values.
    pub(crate) ops: Vec<u32>,
    /// Dependencies: (value, the value that depends on it). Of condensed values, those of outputs
    /// come last, and others in the order of the values that depend.
    pub(crate) edges: Vec<(u32, u32)>,
    /// Condensed values that calls make, in their order.
    pub(crate) results: Vec<CallResult>,
    /// The calls.
    pub(crate) sites: Vec<Site>,
    /// Arguments of all calls.
    pub(crate) args: Vec<u32>,
    /// Values of loads.
    pub(crate) loads: Vec<u32>,
    /// Values that are known, or of which nothing is.
    pub(crate) known: Vec<(u32, Initial)>,
    /// Flows from and to cells of the module.
    pub(crate) ports: Vec<(u32, Port)>,
}

impl Values {
    pub(crate) fn interface(function: &Function, shape: Shape) -> Self {
        let mut values = Self::default();
        values.begin(function, shape);
        values
    }

    /// Begins with the interface of a function.
    fn begin(&mut self, function: &Function, shape: Shape) {
        self.inputs = function.parameters + shape.shared();
        self.outputs = function.results + shape.shared();
        self.ops.resize((self.inputs + self.outputs) as usize, NONE);
    }

    /// Forgets all but the memory.
    pub(super) fn clear(&mut self) {
        self.ops.clear();
        self.edges.clear();
        self.results.clear();
        self.sites.clear();
        self.args.clear();
        self.loads.clear();
        self.known.clear();
        self.ports.clear();
    }

    /// An input.
    pub(crate) const fn input(&self, number: u32) -> u32 {
        number
    }

    /// An output.
    pub(crate) const fn output(&self, number: u32) -> u32 {
        self.inputs + number
    }

    /// Values that a call takes: arguments, globals, memory; [`NONE`] for a value that is not followed.
    pub(crate) fn ins(&self, site: &Site) -> &[u32] {
        &self.args[site.ins[0] as usize..site.ins[1] as usize]
    }

    /// The call that makes a value, and the number of the value there. Calls are in order.
    pub(crate) fn site_of(&self, value: u32) -> Option<(&Site, u32)> {
        let after = self.sites.partition_point(|site| site.outs[0] <= value);
        let site = self.sites[..after].last()?;
        (value < site.outs[1]).then(|| (site, value - site.outs[0]))
    }

    /// The values that a condensed one depends on inside of its function.
    pub(crate) fn before(&self, value: u32) -> impl Iterator<Item = u32> {
        let interface = self.inputs + self.outputs;
        let is_before =
            |(_, to): &(u32, u32)| *to >= interface && (value < interface || *to < value);
        let from = self.edges.partition_point(is_before);
        let edges = self.edges[from..].iter();
        let edges = edges.skip_while(move |(_, to)| *to != value && value < interface);
        edges
            .take_while(move |(_, to)| *to == value)
            .map(|(from, _)| *from)
    }

    /// The call that makes a condensed value, if one does.
    pub(crate) fn result(&self, value: u32) -> Option<CallResult> {
        let at = self.results.binary_search_by_key(&value, |made| made.value);
        at.ok().map(|at| self.results[at])
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
    pub(crate) fn of_import(function: &Function, shape: Shape) -> Self {
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
    pub(crate) fn of_dispatch(
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

/// The locals that each loop assigns.
#[derive(Default)]
struct Loops {
    /// First blocks of loops, and where their locals begin and end, last loops first.
    heads: Vec<[u32; 3]>,
    locals: Vec<u32>,
}

impl Loops {
    /// The loops of a body. One whose blocks go on after its last edge back has those as well.
    fn of(body: &Body) -> Self {
        // The last block of the loop that begins at each.
        let mut last = vec![0; 0];
        for block in 0..body.blocks.len() {
            for to in body.successors_of(block) {
                if *to as usize <= block {
                    last.resize(body.blocks.len(), NONE);
                    last[*to as usize] = block as u32;
                }
            }
        }
        let mut loops = Self::default();
        // The next block that assigns each local.
        let mut next = vec![
            NONE;
            if last.is_empty() {
                0
            } else {
                body.locals as usize
            }
        ];
        for block in (0..last.len()).rev() {
            for op in &body.ops[body.ops_of(block)] {
                if matches!(op.kind(), Kind::LocalSet | Kind::LocalTee) {
                    next[op.arg as usize] = block as u32;
                }
            }
            if last[block] != NONE {
                let first = loops.locals.len() as u32;
                let assigned = (0..).zip(&next).filter(|(_, next)| **next <= last[block]);
                loops.locals.extend(assigned.map(|(local, _)| local));
                let end = loops.locals.len() as u32;
                loops.heads.push([block as u32, first, end]);
            }
        }
        loops
    }

    /// The locals that the next loop assigns, if it begins at a block.
    fn enter(&mut self, block: usize) -> Option<Range<usize>> {
        let [_, first, end] = self.heads.pop_if(|head| head[0] as usize == block)?;
        Some(first as usize..end as usize)
    }
}

/// Makes the values of one function after another, and keeps its memory for the next one.
pub(crate) struct Maker<'a> {
    function: &'a Function,
    shape: Shape,
    pub(super) values: Values,
    /// Values of locals, then of globals and memory, then of the stack, in the open block.
    now: Vec<u32>,
    /// The same at the starts of blocks that the way led to; those of loops stay.
    starts: Vec<Option<Vec<u32>>>,
    /// The block that each value joins ways at; [`NONE`] for others.
    homes: Vec<u32>,
    /// Memory of starts that are done with.
    free: Vec<Vec<u32>>,
    /// Operands of the operation at hand.
    operands: Vec<u32>,
    follow: Follow<'a>,
    /// Known values that the function has already.
    objects: HashMap<Initial, u32>,
    /// Stands for what is not followed.
    none: u32,
}

impl<'a> Maker<'a> {
    /// A maker that begins with a function.
    pub(crate) fn new(function: &'a Function, shape: Shape, follow: Follow<'a>) -> Self {
        Self {
            function,
            shape,
            follow,
            values: Values::default(),
            now: Vec::new(),
            starts: Vec::new(),
            homes: Vec::new(),
            free: Vec::new(),
            operands: Vec::new(),
            objects: HashMap::new(),
            none: NONE,
        }
    }

    /// Goes on with another function.
    pub(crate) fn next(&mut self, function: &'a Function, shape: Shape, follow: Follow<'a>) {
        (self.function, self.shape, self.follow) = (function, shape, follow);
    }

    /// Forgets the values that were made.
    fn clear(&mut self) {
        self.values.clear();
        self.values.begin(self.function, self.shape);
        self.now.clear();
        self.free.extend(self.starts.drain(..).flatten());
        self.homes.clear();
        self.objects.clear();
        self.none = self.object(Initial::Unknown);
    }

    /// A known value; [`NONE`] where only data is followed.
    fn object(&mut self, initial: Initial) -> u32 {
        let Follow::References(references) = &self.follow else {
            return NONE;
        };
        let initial = references.told_apart(initial);
        if let Some(value) = self.objects.get(&initial) {
            return *value;
        }
        let value = self.values.make(NONE);
        self.values.known.push((value, initial));
        self.objects.insert(initial, value);
        value
    }

    /// Makes the values; `callee` tells what an operation calls, and how many parameters that has. Of loops
    /// with several entries, every cell has to be `joined` at the start of each loop: `None` if some
    /// were not.
    pub(crate) fn make(
        &mut self,
        callee: &dyn Fn(usize) -> Option<(u32, u32)>,
        joined: bool,
    ) -> Option<()> {
        self.clear();
        let body = &self.function.body;
        let mut loops = Loops::of(body);
        self.starts.resize_with(body.blocks.len(), || None);
        self.enter();
        for block in 0..body.blocks.len() {
            self.open(block, &mut loops, joined);
            for at in body.ops_of(block) {
                self.step(at, callee);
            }
            let mut goes_on = false;
            for to in body.successors_of(block) {
                let next = *to as usize;
                if next == block + 1 && self.starts[next].is_none() {
                    goes_on = true;
                } else if next > block {
                    self.pass(*to);
                } else {
                    self.pass_back(*to)?;
                }
            }
            if goes_on {
                // The first way to the next block needs no copy.
                let height = body.blocks[block + 1].height as usize;
                self.now.truncate(self.base() + height);
                self.starts[block + 1] = Some(std::mem::take(&mut self.now));
            }
        }
        Some(())
    }

    /// Number of locals.
    const fn locals(&self) -> usize {
        self.function.body.locals as usize
    }

    /// Number of locals, globals and memory.
    const fn base(&self) -> usize {
        self.locals() + self.shape.shared() as usize
    }

    /// The value of a cell beside the locals.
    fn shared(&mut self, cell: usize) -> &mut u32 {
        let at = self.locals() + cell;
        &mut self.now[at]
    }

    /// Gives the entry its parameters, globals and memory.
    fn enter(&mut self) {
        let parameters = self.function.parameters;
        // Other locals are zero or null.
        let zero = self.object(Initial::Index(0));
        let locals = 0..self.locals() as u32;
        let of_local = |local| if local < parameters { local } else { zero };
        let shared = (0..self.shape.shared()).map(|one| parameters + one);
        if let Some(start) = self.starts.first_mut() {
            *start = Some(locals.map(of_local).chain(shared).collect());
        }
    }

    fn open(&mut self, block: usize, loops: &mut Loops, joined: bool) {
        let height = self.function.body.blocks[block].height as usize;
        let (base, count) = (self.base(), self.base() + height);
        if let Some(start) = self.starts[block].take() {
            let before = std::mem::replace(&mut self.now, start);
            self.free
                .extend(Some(before).filter(|cells| cells.capacity() > 0));
        } else {
            self.now.clear();
        }
        self.now.resize(count, NONE);
        let Some(assigned) = loops.enter(block) else {
            return;
        };
        if joined {
            (0..base).for_each(|cell| self.join_loop(block, cell));
        } else {
            for at in assigned {
                self.join_loop(block, loops.locals[at] as usize);
            }
        }
        (self.locals()..count).for_each(|cell| self.join_loop(block, cell));
        self.starts[block] = Some(self.now.clone());
    }

    /// Makes a cell of a block that a loop begins at a join.
    fn join_loop(&mut self, block: usize, cell: usize) {
        let before = self.now[cell];
        if self.home(before) != block as u32 {
            let made = self.make_join(block as u32);
            self.values.depend(before, made);
            self.now[cell] = made;
        }
    }

    fn make_join(&mut self, block: u32) -> u32 {
        let made = self.values.make(NONE);
        self.homes.resize(made as usize, NONE);
        self.homes.push(block);
        made
    }

    fn home(&self, value: u32) -> u32 {
        self.homes.get(value as usize).copied().unwrap_or(NONE)
    }

    /// Passes the values at the end of the open block on to a later one.
    fn pass(&mut self, to: u32) {
        let height = self.function.body.blocks[to as usize].height as usize;
        let count = self.now.len().min(self.base() + height);
        let Some(mut start) = self.starts[to as usize].take() else {
            let mut start = self.free.pop().unwrap_or_default();
            start.clear();
            start.extend(&self.now[..count]);
            self.starts[to as usize] = Some(start);
            return;
        };
        for (cell, before) in start.iter_mut().enumerate().take(count) {
            let coming = self.now[cell];
            if *before == coming || coming == NONE {
                continue;
            }
            if *before == NONE {
                *before = coming;
                continue;
            }
            if self.home(*before) != to {
                let made = self.make_join(to);
                self.values.depend(*before, made);
                *before = made;
            }
            self.values.depend(coming, *before);
        }
        self.starts[to as usize] = Some(start);
    }

    /// Passes the values at the end of the open block back to the start of a loop; `None` if one is
    /// no join there.
    fn pass_back(&mut self, to: u32) -> Option<()> {
        let start = self.starts[to as usize].take()?;
        for (before, coming) in start.iter().zip(&self.now) {
            if before != coming && *coming != NONE {
                let is_join = self.homes.get(*before as usize) == Some(&to);
                is_join.then(|| self.values.depend(*coming, *before))?;
            }
        }
        self.starts[to as usize] = Some(start);
        Some(())
    }

    fn step(&mut self, at: usize, callee: &dyn Fn(usize) -> Option<(u32, u32)>) {
        let op = self.function.body.ops[at];
        if matches!(self.follow, Follow::Data(_)) && self.plain(at, op) {
            return;
        }
        let base = self.base();
        let below = self.now.len().saturating_sub(op.pops() as usize).max(base);
        let mut operands = std::mem::take(&mut self.operands);
        operands.clear();
        operands.extend(self.now.drain(below..));
        let top = operands.last().copied().unwrap_or(self.none);
        let made = match op.kind() {
            Kind::LocalGet => Some(self.now[op.arg as usize]),
            Kind::LocalSet | Kind::LocalTee => {
                self.now[op.arg as usize] = top;
                Some(top)
            }
            Kind::Call | Kind::Indirect => {
                self.call(at, &operands, callee(at));
                None
            }
            Kind::Move => {
                self.now.resize(base + op.arg as usize, self.none);
                self.now.extend(&operands);
                None
            }
            Kind::Return => {
                self.leave(&operands);
                None
            }
            _ => Some(match self.follow {
                Follow::Data(image) => self.data(at, &mut operands, image),
                Follow::References(references) => {
                    self.reference(at, &operands, top, references.image)
                }
            }),
        };
        if let Some(made) = made {
            let height = self.now.len() + op.pushes() as usize;
            self.now.resize(height, made);
        }
        self.operands = operands;
    }

    /// Takes an operation that most code consists of, without a list of its operands. Returns whether
    /// it is one.
    fn plain(&mut self, at: usize, op: Op) -> bool {
        let base = self.base();
        if self.now.len() < base + op.pops() as usize {
            return false;
        }
        match (op.kind(), op.pops(), op.pushes()) {
            (Kind::Constant, 0, 1) => self.now.push(NONE),
            (Kind::LocalGet, 0, 1) => self.now.push(self.now[op.arg as usize]),
            (Kind::LocalSet, 1, 0) => {
                self.now[op.arg as usize] = self.now.pop().unwrap_or(NONE);
            }
            (Kind::LocalTee, 1, 1) => {
                self.now[op.arg as usize] = self.now.last().copied().unwrap_or(NONE);
            }
            // What has one operand makes no value of its own.
            (Kind::Pure, 1, 1) => {}
            (Kind::Opaque, 1, 0) => {
                self.now.pop();
            }
            (Kind::Pure, 2, 1) => {
                let other = self.now.pop().unwrap_or(NONE);
                if let Some(one) = self.now.pop() {
                    let made = self.join_two(at, one, other);
                    self.now.push(made);
                }
            }
            (Kind::Load, 1, 1) => {
                self.now.pop();
                let made = self.load(at, self.shape.globals() as usize);
                self.now.push(made);
            }
            (Kind::Store, 2, 0) => {
                let memory = self.locals() + self.shape.globals() as usize;
                let stored = self.now.pop().unwrap_or(NONE);
                self.now.pop();
                self.now[memory] = self.join_two(at, self.now[memory], stored);
            }
            _ => return false,
        }
        true
    }

    /// A value that depends on two; the one where there is no other.
    fn join_two(&mut self, at: usize, one: u32, other: u32) -> u32 {
        if one == other || other == NONE {
            return one;
        }
        if one == NONE {
            return other;
        }
        let made = self.values.make(at as u32);
        let edges = [(one.min(other), made), (one.max(other), made)];
        self.values.edges.extend(edges);
        made
    }

    /// The data that an operation makes.
    fn data(&mut self, at: usize, operands: &mut [u32], image: &[u8]) -> u32 {
        let op = self.function.body.ops[at];
        let top = operands.last().copied().unwrap_or(NONE);
        let memory = self.shape.globals() as usize;
        match op.kind() {
            Kind::GlobalGet => {
                let cell = self.shape.global(op.arg);
                cell.map_or(NONE, |(cell, _)| *self.shared(cell))
            }
            Kind::GlobalSet => {
                if let Some((cell, replaces)) = self.shape.global(op.arg) {
                    let kept = if replaces { NONE } else { *self.shared(cell) };
                    *self.shared(cell) = self.join(at, &[kept, top]);
                }
                NONE
            }
            Kind::Pure => self.join(at, operands),
            Kind::Opaque => self.opaque(at, operands, image),
            Kind::Load => self.load(at, memory),
            Kind::Store => {
                self.store(at, operands);
                NONE
            }
            Kind::Update => {
                let made = match op.pushes() {
                    0 => NONE,
                    _ => self.load(at, memory),
                };
                self.store(at, operands);
                made
            }
            _ => NONE,
        }
    }

    /// The data that an operation on tables or objects makes, or one that is none of these.
    fn opaque(&mut self, at: usize, operands: &[u32], image: &[u8]) -> u32 {
        let stored = match effect(image, self.function.body.ops[at].offset) {
            Effect::TableGet(_) => {
                let tables = self.shape.tables();
                return tables.map_or(NONE, |tables| self.read_cell(at, tables));
            }
            Effect::TableSet { from, .. } => self.shape.tables().zip(operands.get(from..=from)),
            // Fields count as memory.
            Effect::Builds => Some((self.shape.globals() as usize, operands)),
            _ => None,
        };
        if let Some((cell, stored)) = stored {
            let before = *self.shared(cell);
            let all: Vec<u32> = stored.iter().copied().chain([before]).collect();
            *self.shared(cell) = self.join(at, &all);
        }
        self.join(at, operands)
    }

    fn load(&mut self, at: usize, memory: usize) -> u32 {
        let made = self.read_cell(at, memory);
        self.values.loads.push(made);
        made
    }

    /// A value that is read from a cell beside the locals.
    fn read_cell(&mut self, at: usize, cell: usize) -> u32 {
        let made = self.values.make(at as u32);
        let before = *self.shared(cell);
        self.values.depend(before, made);
        made
    }

    /// The reference or index that an operation makes.
    fn reference(&mut self, at: usize, operands: &[u32], top: u32, image: &[u8]) -> u32 {
        let op = self.function.body.ops[at];
        let effect = match op.kind() {
            Kind::GlobalGet => return self.read(at, Port::FromGlobal(op.arg)),
            Kind::GlobalSet => {
                self.values.ports.push((top, Port::ToGlobal(op.arg)));
                return self.none;
            }
            _ => effect(image, op.offset),
        };
        match effect {
            Effect::Makes(initial) => return self.object(initial),
            Effect::Chooses(count) => {
                let chosen = operands.get(..count).unwrap_or(operands);
                return self.join(at, chosen);
            }
            Effect::TableGet(table) => return self.read(at, Port::FromTable(table)),
            Effect::TableSet { table, from } => {
                let value = operands.get(from).copied().unwrap_or(self.none);
                self.values.ports.push((value, Port::ToTable(table)));
            }
            Effect::TableCopy { to, from } => {
                let copied = self.read(at, Port::FromTable(from));
                self.values.ports.push((copied, Port::ToTable(to)));
            }
            Effect::TableInit(table) => {
                let copied = self.read(at, Port::FromSegments);
                self.values.ports.push((copied, Port::ToTable(table)));
            }
            Effect::SegmentEscapes => {
                let copied = self.read(at, Port::FromSegments);
                self.values.ports.push((copied, Port::Outside));
            }
            Effect::Computes => {}
            Effect::Builds | Effect::Escapes => {
                let all = operands.iter().map(|value| (*value, Port::Outside));
                self.values.ports.extend(all);
            }
        }
        self.none
    }

    /// A value that is read from a cell of the module.
    fn read(&mut self, at: usize, port: Port) -> u32 {
        let made = self.values.make(at as u32);
        self.values.ports.push((made, port));
        made
    }

    /// A value that depends on several; the one where there is no other.
    fn join(&mut self, at: usize, from: &[u32]) -> u32 {
        let mut some = from.iter().copied().filter(|value| *value != NONE);
        let Some(one) = some.next() else {
            return NONE;
        };
        if some.all(|other| other == one) {
            return one;
        }
        let made = self.values.make(at as u32);
        let edges = &mut self.values.edges;
        let first = edges.len();
        let some = from.iter().filter(|value| **value != NONE);
        edges.extend(some.map(|value| (*value, made)));
        edges[first..].sort_unstable();
        let mut end = first;
        for at in first..edges.len() {
            if at == first || edges[at] != edges[end - 1] {
                edges[end] = edges[at];
                end += 1;
            }
        }
        edges.truncate(end);
        made
    }

    /// Puts all operands but the address into memory.
    fn store(&mut self, at: usize, operands: &mut [u32]) {
        let memory = self.shape.globals() as usize;
        if let Some(address) = operands.first_mut() {
            *address = *self.shared(memory);
            *self.shared(memory) = self.join(at, operands);
        }
    }

    fn call(&mut self, at: usize, operands: &[u32], callee: Option<(u32, u32)>) {
        let op = self.function.body.ops[at];
        let Some((callee, parameters)) = callee else {
            let height = self.now.len() + op.pushes() as usize;
            self.now.resize(height, self.none);
            return;
        };
        // The last operand chooses the function.
        let (chosen_by, passed) = match (op.kind(), operands) {
            (Kind::Indirect, [passed @ .., last]) => (*last, passed),
            _ => (NONE, operands),
        };
        let shared = self.locals()..self.base();
        let args = &mut self.values.args;
        let first = args.len();
        args.extend(passed);
        // Calls of text pass no values.
        args.resize(first + parameters as usize, self.none);
        args.extend(&self.now[shared.clone()]);
        let ins = [first as u32, args.len() as u32];
        let results = self.values.ops.len() as u32;
        let changed = results + op.pushes();
        let end = changed + self.shape.shared();
        self.values.ops.resize(end as usize, at as u32);
        self.now.extend(results..changed);
        for (cell, made) in shared.zip(changed..end) {
            self.now[cell] = made;
        }
        self.values.sites.push(Site {
            op: at as u32,
            callee,
            chosen_by,
            ins,
            outs: [results, end],
        });
    }

    fn leave(&mut self, results: &[u32]) {
        debug_assert_eq!(results.len() as u32, self.function.results);
        let shared = &self.now[self.locals()..self.base()];
        for (number, value) in (0..).zip(results.iter().chain(shared)) {
            let to = self.values.output(number);
            self.values.depend(*value, to);
        }
    }
}
