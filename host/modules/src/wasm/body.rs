//! Cuts a function body into basic blocks.
//!
//! Blocks are numbered as they stand in the text. Structured control only goes forward, or back to
//! the start of a loop that is still open, so that this order suits iteration as it is. Code that
//! cannot be reached makes no blocks. An exception may leave a call for the handlers of the
//! enclosing `try`: the call ends its block, whose successors then are the next block and the
//! landing block of the `try`, and from there the handlers.

use super::Problem;
use super::sections::Sections;
use super::visit::Reading;
use crate::model::{ANY_TABLE, Block, Body, Indirect, Kind, Op};
use wasmparser::{
    BlockType, Catch, FuncValidator, FunctionBody, ModuleArity, Operator, TryTable,
    ValidatorResources,
};

pub(super) type Validator = FuncValidator<ValidatorResources>;

/// Cuts one body after another, and keeps its memory for the next one.
#[derive(Debug, Default)]
pub(super) struct Cutter {
    body: Body,
    /// Blocks with their jumps, in the order of the blocks.
    jumps: Vec<Jump>,
    /// Block of each label, once it is known.
    labels: Vec<Label>,
    frames: Vec<Frame>,
    /// The open block; `None` where nothing can be reached.
    open: Option<u32>,
    height: u32,
    offset: u32,
    /// Whether the last operation keeps the length of the operator that is read.
    is_measured: bool,
    /// Jumps in the order of their blocks, as [`Cutter::finish`] sorts them.
    rows: Vec<u32>,
    /// Blocks that they lead to.
    targets: Vec<u32>,
    /// Offsets of operators on references of functions and on tables.
    references: Vec<u32>,
}

/// A body that has been cut.
#[derive(Debug)]
pub(super) struct Cut {
    pub(super) body: Body,
    /// Offsets of its operators on references of functions and on tables.
    pub(super) references: Vec<u32>,
}

#[derive(Clone, Copy, Debug)]
struct Jump {
    from: u32,
    label: u32,
}

#[derive(Clone, Copy, Debug, Default)]
struct Label {
    block: u32,
    is_used: bool,
    /// Whether an exception that the function itself throws may land here.
    is_thrown: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum FrameKind {
    Function,
    Block,
    Loop,
    /// With the label of its `else`.
    If(u32),
    /// With the label of its landing block.
    Try(u32),
    /// A handler of a legacy `try`, with the label of its landing block, and whether a handler takes
    /// all exceptions.
    Handler(u32, bool),
}

#[derive(Clone, Debug)]
struct Frame {
    kind: FrameKind,
    label: u32,
    /// Height of the stack below its parameters.
    height: u32,
    parameters: u32,
    results: u32,
    /// Handlers of a `try_table`.
    catches: Vec<Catch>,
    /// Landing block of the nearest `try` around it.
    outer: Option<u32>,
}

/// A target of a jump: its label, the height of the stack there, and the values that it takes.
#[derive(Clone, Copy, Debug)]
struct Target {
    label: u32,
    height: u32,
    values: u32,
}

impl Frame {
    /// The landing block of exceptions inside.
    const fn landing(&self) -> Option<u32> {
        match self.kind {
            FrameKind::Try(landing) => Some(landing),
            _ => self.outer,
        }
    }

    const fn target(&self) -> Target {
        Target {
            label: self.label,
            height: self.height,
            values: match self.kind {
                FrameKind::Loop => self.parameters,
                _ => self.results,
            },
        }
    }
}

impl Cutter {
    /// Validates and cuts `body`. Costs one pass over its bytes.
    pub(super) fn cut(
        &mut self,
        sections: &Sections,
        validator: &mut Validator,
        body: &FunctionBody<'_>,
    ) -> Result<Cut, Problem> {
        let mut reader = body.get_binary_reader();
        validator.read_locals(&mut reader)?;
        let results = sections.results_of(validator.index());
        self.begin(body, validator.len_locals(), results);
        Reading::new(self, sections, validator).read(reader)?;
        Ok(Cut {
            body: self.finish(),
            references: std::mem::take(&mut self.references),
        })
    }

    /// Begins an operator at a byte.
    pub(super) fn begin_operator(&mut self, offset: u32) {
        self.offset = offset;
        self.is_measured = false;
    }

    /// Ends the operator before a byte.
    pub(super) fn end_operator(&mut self, end: u32) {
        if let Some(op) = self.body.ops.last_mut().filter(|_| self.is_measured) {
            op.arg = end - self.offset;
        }
    }

    fn begin(&mut self, body: &FunctionBody<'_>, locals: u32, results: u32) {
        let range = body.range();
        self.body.locals = locals;
        self.body.place = range.start as u32..range.end as u32;
        self.body.ops.clear();
        self.body.blocks.clear();
        self.body.indirect.clear();
        self.jumps.clear();
        self.labels.clear();
        self.frames.clear();
        self.references.clear();
        self.open = None;
        self.height = 0;
        self.offset = range.start as u32;
        self.enter(FrameKind::Function, (0, results));
        self.start_block();
    }

    /// Pops and pushes of an operator whose arity depends on types.
    fn arity(&self, operator: &Operator<'_>, validator: &Validator) -> (u32, u32) {
        match self.open {
            Some(_) => operator.operator_arity(validator).unwrap_or_default(),
            None => (0, 0),
        }
    }

    /// Notes the open operator, if it can be reached, as one on references or tables.
    pub(super) fn note_references(&mut self) {
        if self.open.is_some() {
            self.references.push(self.offset);
        }
    }

    /// Adds an operation that keeps the length of its encoding.
    pub(super) fn add_measured(&mut self, kind: Kind, arity: (u32, u32)) -> Result<(), Problem> {
        self.is_measured = self.open.is_some();
        self.add(kind, 0, arity)
    }

    /// Adds an operation to the open block.
    pub(super) fn add(
        &mut self,
        kind: Kind,
        arg: u32,
        (pops, pushes): (u32, u32),
    ) -> Result<(), Problem> {
        if self.open.is_none() {
            return Ok(());
        }
        let op = Op::new(self.offset, kind, arg, (pops, pushes));
        let op = op.ok_or_else(|| self.error("an operation of too many values"))?;
        self.body.ops.push(op);
        self.height = self.height.saturating_sub(pops) + pushes;
        Ok(())
    }

    fn error(&self, message: &str) -> Problem {
        Problem::new(u64::from(self.offset), message)
    }

    fn new_label(&mut self) -> u32 {
        self.labels.push(Label::default());
        self.labels.len() as u32 - 1
    }

    /// Makes the next block the target of `label`.
    fn place(&mut self, label: u32) {
        self.labels[label as usize].block = self.body.blocks.len() as u32;
    }

    fn start_block(&mut self) {
        self.open = Some(self.body.blocks.len() as u32);
        self.body.blocks.push(Block {
            first_op: self.body.ops.len() as u32,
            first_successor: 0,
            offset: self.offset,
            height: self.height,
        });
    }

    fn jump(&mut self, label: u32) {
        if let Some(from) = self.open {
            self.labels[label as usize].is_used = true;
            self.jumps.push(Jump { from, label });
        }
    }

    /// Starts the block that follows the open one.
    fn fall_through(&mut self) {
        let label = self.new_label();
        self.jump(label);
        self.place(label);
        self.start_block();
    }

    fn enter(&mut self, kind: FrameKind, (parameters, results): (u32, u32)) {
        let label = self.new_label();
        let outer = self.landing();
        self.frames.push(Frame {
            kind,
            label,
            height: self.height.saturating_sub(parameters),
            parameters,
            results,
            catches: Vec::new(),
            outer,
        });
    }

    fn target(&self, depth: u32) -> Result<Target, Problem> {
        let place = (self.frames.len() as u32).checked_sub(depth + 1);
        let frame = place.and_then(|place| self.frames.get(place as usize));
        frame
            .map(Frame::target)
            .ok_or_else(|| self.error("a label that does not exist"))
    }

    /// Moves the values of a jump to where `target` expects them, and jumps.
    fn branch(&mut self, target: Target) -> Result<(), Problem> {
        if self.moves(target) {
            let values = (target.values, target.values);
            self.add(Kind::Move, target.height, values)?;
        }
        self.jump(target.label);
        Ok(())
    }

    /// Whether values have to move for a jump.
    const fn moves(&self, target: Target) -> bool {
        target.values > 0 && target.height + target.values != self.height
    }

    /// Ends the open block after a jump that is always taken.
    fn close(&mut self) {
        self.open = None;
    }

    /// A jump that may be taken. Values that only the jump moves or drops get a block of their own.
    fn maybe_branch(&mut self, target: Target, dropped: u32) -> Result<(), Problem> {
        if dropped == 0 && !self.moves(target) {
            self.jump(target.label);
            return Ok(());
        }
        let (from, height) = (self.open, self.height);
        self.fall_through();
        if dropped > 0 {
            self.add(Kind::Opaque, 0, (dropped, 0))?;
        }
        self.branch(target)?;
        (self.open, self.height) = (from, height);
        Ok(())
    }

    /// As [`Cutter::maybe_branch`], of an operator that goes on in a block of its own.
    fn branch_or_go_on(&mut self, depth: u32, dropped: u32) -> Result<(), Problem> {
        if self.open.is_some() {
            let target = self.target(depth)?;
            self.maybe_branch(target, dropped)?;
            self.fall_through();
        }
        Ok(())
    }

    /// Operators that end blocks or call. Inlined where the operator is known, so that its case alone
    /// is left.
    #[inline(always)]
    pub(super) fn control(
        &mut self,
        sections: &Sections,
        validator: &Validator,
        operator: &Operator<'_>,
    ) -> Result<(), Problem> {
        use Operator as O;
        let block = |ty: &BlockType| validator.block_type_arity(*ty).unwrap_or_default();
        match operator {
            O::Block { blockty } => self.enter(FrameKind::Block, block(blockty)),
            O::Loop { blockty } => self.enter_loop(block(blockty)),
            O::If { blockty } => return self.enter_if(block(blockty)),
            O::Try { blockty } => {
                let landing = self.new_label();
                self.enter(FrameKind::Try(landing), block(blockty));
            }
            O::TryTable { try_table } => self.enter_try_table(try_table, block(&try_table.ty)),
            O::Else => self.turn_to_else(),
            O::Catch { tag_index } => {
                let tag = validator.tag_type_arity(*tag_index).unwrap_or_default();
                return self.turn_to_handler(tag.0, false);
            }
            O::CatchAll => return self.turn_to_handler(0, true),
            O::Delegate { relative_depth } => return self.delegate(*relative_depth),
            O::End => return self.leave(),
            O::Br { relative_depth } => return self.always(*relative_depth),
            O::BrIf { relative_depth } => {
                self.add(Kind::Opaque, 0, (1, 0))?;
                return self.branch_or_go_on(*relative_depth, 0);
            }
            O::BrTable { targets } => return self.table(targets),
            O::BrOnNull { relative_depth } => return self.branch_or_go_on(*relative_depth, 1),
            O::BrOnNonNull { relative_depth } => {
                self.branch_or_go_on(*relative_depth, 0)?;
                return self.add(Kind::Opaque, 0, (1, 0));
            }
            O::BrOnCast { relative_depth, .. } | O::BrOnCastFail { relative_depth, .. } => {
                return self.branch_or_go_on(*relative_depth, 0);
            }
            O::Return => return self.always(self.frames.len() as u32 - 1),
            O::Unreachable => {
                self.add(Kind::Opaque, 0, (0, 0))?;
                self.close();
            }
            O::Throw { .. } | O::ThrowRef | O::Rethrow { .. } => {
                let arity = self.arity(operator, validator);
                self.add(Kind::Opaque, 0, arity)?;
                if self.landing().is_some() {
                    self.throw(self.landing(), true);
                }
                self.close();
            }
            _ => return self.calls(sections, validator, operator),
        }
        Ok(())
    }

    /// Calls, and the few operators whose arity depends on types. Inlined as [`Cutter::control`].
    #[inline(always)]
    fn calls(
        &mut self,
        sections: &Sections,
        validator: &Validator,
        operator: &Operator<'_>,
    ) -> Result<(), Problem> {
        use Operator as O;
        let is_tail = matches!(
            operator,
            O::ReturnCall { .. } | O::ReturnCallIndirect { .. } | O::ReturnCallRef { .. }
        );
        match operator {
            O::Call { function_index } | O::ReturnCall { function_index } => {
                let type_index = validator.type_index_of_function(*function_index);
                let arity = sections.arity(sections.canonical(type_index.unwrap_or(u32::MAX)));
                let arity = if is_tail {
                    (arity.0, self.results())
                } else {
                    arity
                };
                self.add(Kind::Call, *function_index, arity)?;
            }
            O::CallIndirect {
                type_index,
                table_index,
            }
            | O::ReturnCallIndirect {
                type_index,
                table_index,
            } => self.call_by(sections, *type_index, *table_index, is_tail)?,
            O::CallRef { type_index } | O::ReturnCallRef { type_index } => {
                self.call_by(sections, *type_index, ANY_TABLE, is_tail)?;
            }
            _ => {
                let arity = self.arity(operator, validator);
                return self.add(Kind::Opaque, 0, arity);
            }
        }
        if is_tail {
            return self.always(self.frames.len() as u32 - 1);
        }
        if self.open.is_some() && self.landing().is_some() {
            self.throw(self.landing(), false);
            self.fall_through();
        }
        Ok(())
    }

    fn call_by(
        &mut self,
        sections: &Sections,
        type_index: u32,
        table: u32,
        is_tail: bool,
    ) -> Result<(), Problem> {
        if self.open.is_none() {
            return Ok(());
        }
        let signature = sections.canonical(type_index);
        let (parameters, results) = sections.arity(signature);
        let results = if is_tail { self.results() } else { results };
        let entry = self.body.indirect.len() as u32;
        self.body.indirect.push(Indirect { table, signature });
        self.add(Kind::Indirect, entry, (parameters + 1, results))
    }

    /// Number of results of the function.
    fn results(&self) -> u32 {
        self.frames.first().map_or(0, |frame| frame.results)
    }

    /// A jump that is always taken.
    fn always(&mut self, depth: u32) -> Result<(), Problem> {
        if self.open.is_some() {
            let target = self.target(depth)?;
            self.branch(target)?;
            self.close();
        }
        Ok(())
    }

    fn table(&mut self, targets: &wasmparser::BrTable<'_>) -> Result<(), Problem> {
        if self.open.is_none() {
            return Ok(());
        }
        self.add(Kind::Opaque, 0, (1, 0))?;
        for depth in targets.targets() {
            let target = self.target(depth?)?;
            self.maybe_branch(target, 0)?;
        }
        let target = self.target(targets.default())?;
        self.maybe_branch(target, 0)?;
        self.close();
        Ok(())
    }

    fn enter_loop(&mut self, arity: (u32, u32)) {
        self.enter(FrameKind::Loop, arity);
        if self.open.is_some() {
            let label = self.frames.last().map_or(0, |frame| frame.label);
            self.jump(label);
            self.place(label);
            self.start_block();
        }
    }

    fn enter_if(&mut self, arity: (u32, u32)) -> Result<(), Problem> {
        self.add(Kind::Opaque, 0, (1, 0))?;
        let other = self.new_label();
        self.enter(FrameKind::If(other), arity);
        if self.open.is_some() {
            self.jump(other);
            self.fall_through();
        }
        Ok(())
    }

    fn enter_try_table(&mut self, table: &TryTable, arity: (u32, u32)) {
        let landing = self.new_label();
        self.enter(FrameKind::Try(landing), arity);
        if let Some(frame) = self.frames.last_mut() {
            frame.catches.clone_from(&table.catches);
        }
    }

    fn turn_to_else(&mut self) {
        let Some(frame) = self.frames.last_mut() else {
            return;
        };
        let FrameKind::If(other) = frame.kind else {
            return;
        };
        frame.kind = FrameKind::Block;
        let (label, height) = (frame.label, frame.height + frame.parameters);
        self.jump(label);
        self.open_if_used(other, height);
    }

    /// Opens the block of a label if anything jumps there, else nothing.
    fn open_if_used(&mut self, label: u32, height: u32) {
        self.height = height;
        self.open = None;
        if self.labels[label as usize].is_used {
            self.place(label);
            self.start_block();
        }
    }

    /// Opens the block of a label that has its place, if anything jumps there.
    fn open_again(&mut self, label: u32, height: u32) {
        let Label { block, is_used, .. } = self.labels[label as usize];
        self.open = is_used.then_some(block);
        self.height = height;
    }

    /// The landing block of exceptions.
    fn landing(&self) -> Option<u32> {
        self.frames.last().and_then(Frame::landing)
    }

    /// Leads exceptions from the open block to a landing block. Those that no handler takes leave
    /// the function, which is an end of it if it threw them itself: what it has stored since its
    /// last call is seen then.
    fn throw(&mut self, landing: Option<u32>, is_thrown: bool) {
        match landing {
            Some(label) => {
                self.jump(label);
                self.labels[label as usize].is_thrown |= is_thrown && self.open.is_some();
            }
            None if is_thrown && self.open.is_some() => {
                self.fall_through();
                self.close();
            }
            None => {}
        }
    }

    /// Begins a handler of a legacy `try`.
    fn turn_to_handler(&mut self, values: u32, takes_all: bool) -> Result<(), Problem> {
        let Some(frame) = self.frames.last().cloned() else {
            return Ok(());
        };
        self.jump(frame.label);
        let landing = match frame.kind {
            FrameKind::Try(label) => {
                self.open_if_used(label, frame.height);
                label
            }
            FrameKind::Handler(label, _) => label,
            _ => return Ok(()),
        };
        if let Some(frame) = self.frames.last_mut() {
            frame.kind = FrameKind::Handler(landing, takes_all);
        }
        self.open_again(landing, frame.height);
        if self.open.is_some() {
            self.fall_through();
        }
        self.add(Kind::Opaque, 0, (0, values))
    }

    /// Ends a legacy `try` whose exceptions go to another one.
    fn delegate(&mut self, depth: u32) -> Result<(), Problem> {
        let Some(frame) = self.frames.pop() else {
            return Ok(());
        };
        self.jump(frame.label);
        if let FrameKind::Try(landing) = frame.kind {
            self.open_if_used(landing, frame.height);
            let last = (self.frames.len() as u32).saturating_sub(depth) as usize;
            let target = last.checked_sub(1).and_then(|last| self.frames.get(last));
            let outer = target.and_then(Frame::landing);
            self.throw(outer, self.labels[landing as usize].is_thrown);
        }
        self.open_if_used(frame.label, frame.height + frame.results);
        Ok(())
    }

    /// Ends a frame, and the function after its last one.
    fn leave(&mut self) -> Result<(), Problem> {
        let Some(frame) = self.frames.pop() else {
            return Err(self.error("an end without a beginning"));
        };
        let height = frame.height + frame.results;
        match frame.kind {
            FrameKind::If(other) => {
                // Without an `else`, the condition leads on.
                self.jump(frame.label);
                self.join((frame.label, Some(other)), height);
            }
            FrameKind::Try(landing) => {
                self.jump(frame.label);
                self.land(landing, &frame)?;
                self.open_if_used(frame.label, height);
            }
            FrameKind::Handler(landing, takes_all) => {
                self.jump(frame.label);
                if !takes_all {
                    self.open_again(landing, frame.height);
                    self.throw(frame.outer, self.labels[landing as usize].is_thrown);
                }
                self.open_if_used(frame.label, height);
            }
            FrameKind::Loop => self.height = height,
            FrameKind::Block | FrameKind::Function => {
                if self.labels[frame.label as usize].is_used {
                    self.jump(frame.label);
                    self.open_if_used(frame.label, height);
                }
                self.height = height;
            }
        }
        if frame.kind == FrameKind::Function {
            self.add(Kind::Return, 0, (frame.results, 0))?;
            self.close();
        }
        Ok(())
    }

    /// Opens the block of two labels if anything jumps to either.
    fn join(&mut self, (label, other): (u32, Option<u32>), height: u32) {
        let is_used = self.labels[label as usize].is_used;
        let other = other.filter(|other| self.labels[*other as usize].is_used);
        self.height = height;
        self.open = None;
        if is_used || other.is_some() {
            self.place(label);
            if let Some(other) = other {
                self.place(other);
            }
            self.start_block();
        }
    }

    /// The landing block of a `try_table`, and a block for each handler that puts the exception's
    /// values on the stack.
    fn land(&mut self, landing: u32, frame: &Frame) -> Result<(), Problem> {
        self.open_if_used(landing, frame.height);
        let Some(from) = self.open else {
            return Ok(());
        };
        let mut takes_all = false;
        for catch in &frame.catches {
            let (label, is_all) = match catch {
                Catch::One { label, .. } | Catch::OneRef { label, .. } => (*label, false),
                Catch::All { label } | Catch::AllRef { label } => (*label, true),
            };
            takes_all |= is_all;
            let target = self.target(label)?;
            self.open = Some(from);
            self.height = target.height;
            self.fall_through();
            self.add(Kind::Opaque, 0, (0, target.values))?;
            self.jump(target.label);
        }
        if !takes_all {
            self.open_again(landing, frame.height);
            self.throw(frame.outer, self.labels[landing as usize].is_thrown);
        }
        Ok(())
    }

    /// The body, with the successors of each block sorted and without repetitions.
    fn finish(&mut self) -> Body {
        // The cutter keeps its own lists, which have grown, and gives away copies of the right size.
        let mut body = self.body.clone();
        self.rows.clear();
        self.rows.resize(body.blocks.len(), 0);
        for jump in &self.jumps {
            self.rows[jump.from as usize] += 1;
        }
        let mut first = 0;
        for row in &mut self.rows {
            first += std::mem::replace(row, first);
        }
        self.targets.clear();
        self.targets.resize(self.jumps.len(), 0);
        for jump in &self.jumps {
            // Rows end where the next one starts, once they are full.
            let place = &mut self.rows[jump.from as usize];
            self.targets[*place as usize] = self.labels[jump.label as usize].block;
            *place += 1;
        }
        let (mut start, mut kept) = (0, 0);
        for (block, end) in body.blocks.iter_mut().zip(&self.rows) {
            let end = *end as usize;
            self.targets[start..end].sort_unstable();
            block.first_successor = kept as u32;
            let first = kept;
            for at in start..end {
                let target = self.targets[at];
                if kept == first || self.targets[kept - 1] != target {
                    self.targets[kept] = target;
                    kept += 1;
                }
            }
            start = end;
        }
        body.successors = self.targets[..kept].to_vec();
        body
    }
}
