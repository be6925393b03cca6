//! Programs: modules, functions, basic blocks and operations, the same for every front end.

use std::fmt;
use std::ops::Range;

/// All functions of all files, in one numbering.
#[derive(Clone, Debug, Default)]
pub struct Program {
    /// The files, in the order in which they were given.
    pub modules: Vec<Module>,
    /// Functions of all modules; those of a module are consecutive, imports first.
    pub functions: Vec<Function>,
}

/// One file.
#[derive(Clone, Debug, Default)]
pub struct Module {
    /// Path of the file, or another name.
    pub path: String,
    /// Bytes of the file.
    pub bytes: u64,
    /// Bytes of function bodies.
    pub code_bytes: u64,
    /// Its functions in [`Program::functions`].
    pub functions: Range<usize>,
    /// Number of its globals.
    pub globals: u32,
    /// The globals, in their order; empty for text.
    pub global_values: Vec<Global>,
    /// Functions that its element segments put into tables.
    pub elements: Vec<Element>,
    /// Entries of tables when the module has been instantiated, and of segments that instructions
    /// may copy.
    pub entries: Vec<Entry>,
    /// Functions whose references may be anywhere: exported, in an element segment, or named by an
    /// instruction.
    pub referenced: Vec<u32>,
    /// Functions whose references constant expressions put into objects.
    pub boxed: Vec<u32>,
    /// Functions of which code may get a reference, to pass it on: those that it names, or constant
    /// expressions do, and if it reads tables or makes objects of segments, those of all segments.
    pub given: Vec<u32>,
    /// Whether each table may also hold functions from outside of the module.
    pub open_tables: Vec<bool>,
    /// Entries that each table has from the start; none of imported tables, which others may fill.
    pub table_sizes: Vec<u32>,
    /// Whether each table may get functions that no element segment names: instructions write to it,
    /// or an entry is the value of a global.
    pub written_tables: Vec<bool>,
    /// Canonical types that each canonical type is a declared subtype of, itself left out.
    pub supertypes: Vec<Vec<u32>>,
    /// Numbers of parameters and results of each canonical type.
    pub arities: Vec<(u32, u32)>,
    /// The function that runs when the module is instantiated.
    pub start: Option<u32>,
    /// Bytes of the module, which expressions are compared by; empty for text.
    pub image: Image,
}

/// Bytes of a file. `Debug` prints their number alone.
#[derive(Clone, Default)]
pub struct Image(pub std::sync::Arc<Vec<u8>>);

impl fmt::Debug for Image {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Image({} bytes)", self.0.len())
    }
}

/// Stands for every table of a module.
pub const ANY_TABLE: u32 = u32::MAX;

/// A function in a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Element {
    /// The table, or [`ANY_TABLE`].
    pub table: u32,
    /// Number of the function in its module.
    pub function: u32,
}

/// Stands for every index of a table, or one that no entry has.
pub const ANY_INDEX: u32 = u32::MAX;

/// The value of a constant expression, as far as calls depend on it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Initial {
    /// Any value.
    #[default]
    Unknown,
    /// A reference to nothing.
    Null,
    /// A number, which may be an index of a table.
    Index(u32),
    /// A reference to a function of the module.
    Function(u32),
    /// The value of a global.
    Global(u32),
}

/// A global.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Global {
    /// Its value when the module is instantiated.
    pub initial: Initial,
    /// Whether the outside sees it: imported or exported.
    pub is_open: bool,
}

/// An entry of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Entry {
    /// The table, or [`ANY_TABLE`].
    pub table: u32,
    /// Its index, or [`ANY_INDEX`].
    pub index: u32,
    /// The reference.
    pub initial: Initial,
}

/// A function: its signature, and its body unless it is imported.
#[derive(Clone, Debug, Default)]
pub struct Function {
    /// Number of its module.
    pub module: u32,
    /// Its number in the module.
    pub index: u32,
    /// Its name in the name section, else the name of its first export.
    pub name: Option<String>,
    /// Module and field that it is imported from.
    pub import: Option<(String, String)>,
    /// Names that it is exported under.
    pub exports: Vec<String>,
    /// Canonical type: equal in a module for equal signatures.
    pub signature: u32,
    /// Number of parameters, the first locals.
    pub parameters: u32,
    /// Number of results.
    pub results: u32,
    /// Its blocks; empty for an import.
    pub body: Body,
}

impl Function {
    /// The name, or `function N`.
    #[must_use]
    pub fn label(&self) -> String {
        match (&self.name, &self.import) {
            (_, Some((module, field))) => format!("{module}.{field}"),
            (Some(name), None) if !name.is_empty() => name.clone(),
            (_, None) => format!("function {}", self.index),
        }
    }
}

/// Basic blocks of a function, in an order in which every edge goes forward but those that close a
/// loop. The first block is the entry.
#[derive(Clone, Debug, Default)]
pub struct Body {
    /// Number of locals, parameters included.
    pub locals: u32,
    /// Operations of all blocks, block by block.
    pub ops: Vec<Op>,
    /// The blocks.
    pub blocks: Vec<Block>,
    /// Successors of all blocks, block by block.
    pub successors: Vec<u32>,
    /// Calls through tables and references.
    pub indirect: Vec<Indirect>,
    /// Names of locals and facts, for text; empty for modules.
    pub names: Vec<String>,
    /// Names of gen and kill facts, for text.
    pub facts: Vec<String>,
    /// Byte range of the body in the file, or lines of text.
    pub place: Range<u32>,
}

/// A basic block.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Block {
    /// Number of its first operation.
    pub first_op: u32,
    /// Number of its first successor.
    pub first_successor: u32,
    /// Offset in the file, or line.
    pub offset: u32,
    /// Values on the operand stack when it is entered.
    pub height: u32,
}

impl Body {
    /// Adds a block, whose operations are in place from its first one on, with its successors.
    pub(crate) fn push(&mut self, block: Block, successors: impl Iterator<Item = u32>) {
        let first = self.successors.len();
        self.blocks.push(Block {
            first_successor: first as u32,
            ..block
        });
        self.successors.extend(successors);
        self.successors[first..].sort_unstable();
    }

    /// Operations of a block, by number.
    #[must_use]
    pub fn ops_of(&self, block: usize) -> Range<usize> {
        let end = self.blocks.get(block + 1);
        let end = end.map_or(self.ops.len(), |next| next.first_op as usize);
        self.blocks[block].first_op as usize..end
    }

    /// Successors of a block; each once.
    #[must_use]
    pub fn successors_of(&self, block: usize) -> &[u32] {
        let end = self.blocks.get(block + 1);
        let end = end.map_or(self.successors.len(), |next| next.first_successor as usize);
        &self.successors[self.blocks[block].first_successor as usize..end]
    }

    /// Whether nothing follows a block.
    #[must_use]
    pub fn is_exit(&self, block: usize) -> bool {
        self.successors_of(block).is_empty()
    }
}

/// A call whose target is a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Indirect {
    /// The table, or [`ANY_TABLE`] for a call by reference.
    pub table: u32,
    /// Canonical type of the called functions.
    pub signature: u32,
}

/// Effect of an operation, apart from popping and pushing values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Kind {
    /// Makes a constant.
    Constant,
    /// Reads local `arg`.
    LocalGet,
    /// Writes local `arg`.
    LocalSet,
    /// Writes local `arg` and keeps the value.
    LocalTee,
    /// Reads global `arg`.
    GlobalGet,
    /// Writes global `arg`.
    GlobalSet,
    /// Computes a value from operands alone.
    Pure,
    /// Reads memory.
    Load,
    /// Writes memory.
    Store,
    /// Reads and writes memory.
    Update,
    /// Calls function `arg` of the module.
    Call,
    /// Calls by entry `arg` of [`Body::indirect`].
    Indirect,
    /// Moves the popped values to stack height `arg`.
    Move,
    /// Anything else.
    Opaque,
    /// Pops the results and returns them.
    Return,
    /// Makes fact `arg / 2` hold if `arg` is odd, else not hold, in text.
    Fact,
}

impl Kind {
    const ALL: [Self; 16] = [
        Self::Constant,
        Self::LocalGet,
        Self::LocalSet,
        Self::LocalTee,
        Self::GlobalGet,
        Self::GlobalSet,
        Self::Pure,
        Self::Load,
        Self::Store,
        Self::Update,
        Self::Call,
        Self::Indirect,
        Self::Move,
        Self::Opaque,
        Self::Return,
        Self::Fact,
    ];

    /// Whether it is a call.
    #[must_use]
    pub const fn is_call(self) -> bool {
        matches!(self, Self::Call | Self::Indirect)
    }
}

/// An operation, 12 bytes.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Op {
    /// Offset in the file, or line.
    pub offset: u32,
    /// Operand, by [`Kind`].
    pub arg: u32,
    pops: u16,
    /// Kind in the low four bits, pushes above.
    rest: u16,
}

/// Most values that an operation may push.
const PUSHES_MAX: u32 = u16::MAX as u32 >> 4;

impl Op {
    /// An operation; `None` if it pops or pushes more values than any engine allows.
    #[must_use]
    pub fn new(offset: u32, kind: Kind, arg: u32, (pops, pushes): (u32, u32)) -> Option<Self> {
        Some(Self {
            offset,
            arg,
            pops: u16::try_from(pops).ok()?,
            rest: (pushes <= PUSHES_MAX).then_some((pushes << 4) as u16)? | kind as u16,
        })
    }

    /// The same operation with another operand.
    #[must_use]
    pub const fn with(mut self, arg: u32) -> Self {
        self.arg = arg;
        self
    }

    /// Its effect.
    #[must_use]
    pub const fn kind(self) -> Kind {
        Kind::ALL[(self.rest & 15) as usize]
    }

    /// Values that it pops.
    #[must_use]
    pub const fn pops(self) -> u32 {
        self.pops as u32
    }

    /// Values that it pushes.
    #[must_use]
    pub const fn pushes(self) -> u32 {
        (self.rest >> 4) as u32
    }
}

impl fmt::Debug for Op {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (kind, pops, pushes) = (self.kind(), self.pops(), self.pushes());
        write!(f, "{}: {kind:?} {} {pops}->{pushes}", self.offset, self.arg)
    }
}

impl Program {
    /// The function with a number of a module.
    #[must_use]
    pub fn function(&self, module: u32, index: u32) -> usize {
        self.modules[module as usize].functions.start + index as usize
    }

    /// Blocks of all functions.
    #[must_use]
    pub fn blocks(&self) -> usize {
        self.functions.iter().map(|f| f.body.blocks.len()).sum()
    }

    /// Operations of all functions.
    #[must_use]
    pub fn ops(&self) -> usize {
        self.functions.iter().map(|f| f.body.ops.len()).sum()
    }
}
